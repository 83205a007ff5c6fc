import type { Context } from '../../context.js'
import { findKeyOrganization, issueApiKey, listKeys, revokeKey, rotateKey } from '../../core/identity/api-keys.js'
import { auditAccess } from '../../http/access/audit.js'
import type { TypedServer } from '../../http/server.js'
import { readKeyFields } from '../../model/organizations/operator-input.js'
import * as schemas from './schemas.js'

/** API keys: issue and list those of an organization, rotate and revoke one. */
export function keyRoutes(server: TypedServer, ctx: Context): void {
  server.post('/organizations/:id/keys', { schema: schemas.createKey }, async (request, reply) => {
    const key = await issueApiKey(ctx, request.params.id, readKeyFields(request.body))
    auditAccess(ctx, request, 'api_key_issued', { organizationId: request.params.id, keyId: key.id })
    return reply.code(201).send({ success: true, api_key: key })
  })

  server.get('/organizations/:id/keys', { schema: schemas.listKeys }, async (request) => {
    return { success: true, api_keys: await listKeys(ctx, request.params.id) }
  })

  server.post('/keys/:id/rotate', { schema: schemas.rotateKey }, async (request, reply) => {
    const { id } = request.params
    const organizationId = await findKeyOrganization(ctx, id)
    const key = await rotateKey(ctx, organizationId, id, request.body.overlap_seconds ?? 0)
    auditAccess(ctx, request, 'api_key_rotated', { organizationId, keyId: id, newKeyId: key.id })
    return reply.code(201).send({ success: true, api_key: key })
  })

  server.delete('/keys/:id', { schema: schemas.revokeKey }, async (request) => {
    const { id } = request.params
    const organizationId = await findKeyOrganization(ctx, id)
    const revoked = await revokeKey(ctx, organizationId, id)
    auditAccess(ctx, request, 'api_key_revoked', { organizationId, keyId: revoked.id })
    return { success: true, message: 'The API key has been revoked', api_key: revoked }
  })
}
