import type { Context } from '../../../context.js'
import { issueApiKey, listKeys, revokeKey, rotateKey } from '../../../core/identity/api-keys.js'
import { auditAccess } from '../../../http/access/audit.js'
import { tenantOf } from '../../../http/access/auth.js'
import { IdParams } from '../../../model/fields.js'
import { CreateKey, RotateKey, readKeyFields } from '../../../model/organizations/operator-input.js'
import type { ConsoleServer } from '../server.js'

/** `/keys`: the organization's API keys, for owners. Only the answer that creates a key contains its text. */
export function keyRoutes(server: ConsoleServer, ctx: Context): void {
  const config = { role: 'owner' } as const

  server.get('/keys', { config }, async (request) => {
    return { success: true, api_keys: await listKeys(ctx, tenantOf(request).id) }
  })

  server.post('/keys', { config, schema: { body: CreateKey } }, async (request, reply) => {
    const key = await issueApiKey(ctx, tenantOf(request).id, readKeyFields(request.body))
    auditAccess(ctx, request, 'api_key_issued', { keyId: key.id })
    return reply.code(201).send({ success: true, api_key: key })
  })

  server.post('/keys/:id/rotate', { config, schema: { params: IdParams, body: RotateKey } }, async (request, reply) => {
    const { overlap_seconds = 0 } = request.body
    const key = await rotateKey(ctx, tenantOf(request).id, request.params.id, overlap_seconds)
    auditAccess(ctx, request, 'api_key_rotated', { keyId: request.params.id, newKeyId: key.id })
    return reply.code(201).send({ success: true, api_key: key })
  })

  server.delete('/keys/:id', { config, schema: { params: IdParams } }, async (request) => {
    const revoked = await revokeKey(ctx, tenantOf(request).id, request.params.id)
    auditAccess(ctx, request, 'api_key_revoked', { keyId: revoked.id })
    return { success: true, message: 'The API key has been revoked', api_key: revoked }
  })
}
