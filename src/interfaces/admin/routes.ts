import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { findKeyOrganization, issueApiKey, listKeys, revokeKey, rotateKey } from '../../core/identity/api-keys.js'
import { addMember, listMembers, removeMemberAsOperator } from '../../core/identity/members.js'
import { createSignInLinkOfMember } from '../../core/identity/sign-in-links.js'
import { connectStorefront, connectUpstream, getStorefrontUrl } from '../../core/organizations/connections.js'
import { deleteOrganization } from '../../core/organizations/deletion.js'
import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
} from '../../core/organizations/organizations.js'
import { auditAccess } from '../../http/access/audit.js'
import type { AdminGuard } from '../../http/access/auth.js'
import { refuseUnknown } from '../../http/unknown-fields.js'
import {
  readKeyFields,
  readOrganizationFields,
  readUpstreamCredentials,
} from '../../model/organizations/operator-input.js'
import { presentOrganization } from '../../model/organizations/organization.js'
import { presentUpstream } from '../../model/organizations/settings.js'
import * as schemas from './schemas.js'

/** `/admin`: the operator's API. */
export function adminRoutes(ctx: Context, guard: AdminGuard): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.addHook('onRequest', guard)
    refuseUnknown(plain)
    server.get('/openapi.json', { schema: { hide: true } as object }, () => server.adminSwagger())

    server.post('/organizations', { schema: schemas.createOrganization }, async (request, reply) => {
      const organization = await createOrganization(ctx, readOrganizationFields(request.body))
      return reply.code(201).send({ success: true, organization: presentOrganization(organization) })
    })

    server.get('/organizations', { schema: schemas.listOrganizations }, async () => {
      const organizations = await listOrganizations(ctx)
      return { success: true, organizations: organizations.map(presentOrganization) }
    })

    server.get('/organizations/:id', { schema: schemas.getOrganization }, async (request) => {
      return { success: true, organization: presentOrganization(await getOrganization(ctx, request.params.id)) }
    })

    server.patch('/organizations/:id', { schema: schemas.changeOrganization }, async (request) => {
      const organization = await changeOrganization(ctx, request.params.id, readOrganizationFields(request.body))
      return { success: true, organization: presentOrganization(organization) }
    })

    server.delete('/organizations/:id', { schema: schemas.deleteOrganization }, async (request) => {
      await deleteOrganization(ctx, request.params.id)
      auditAccess(ctx, request, 'organization_deleted', { organizationId: request.params.id })
      return { success: true, message: 'The organization has been deleted; its data is removed within minutes' }
    })

    server.put('/organizations/:id/upstream', { schema: schemas.connectUpstream }, async (request) => {
      const credentials = readUpstreamCredentials(request.body)
      const organization = await connectUpstream(ctx, request.params.id, credentials)
      return {
        success: true,
        organization: presentOrganization(organization),
        upstream: presentUpstream(credentials),
      }
    })

    server.get('/organizations/:id/storefront', { schema: schemas.getStorefront }, async (request) => {
      const url = await getStorefrontUrl(ctx, request.params.id)
      return { success: true, storefront: url === null ? null : { url } }
    })

    server.put('/organizations/:id/storefront', { schema: schemas.connectStorefront }, async (request) => {
      const { url, access_token, webhook_secret } = request.body
      await connectStorefront(ctx, request.params.id, { url, access_token, webhook_secret })
      return { success: true, storefront: { url } }
    })

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

    server.post('/organizations/:id/members', { schema: schemas.createMember }, async (request, reply) => {
      const { email, full_name, role, password } = request.body
      const member = await addMember(ctx, request.params.id, { email, full_name, role, password })
      const ids = { organizationId: request.params.id, memberId: member.id, role }
      auditAccess(ctx, request, 'member_added', ids)
      return reply.code(201).send({ success: true, member })
    })

    server.get('/organizations/:id/members', { schema: schemas.listMembers }, async (request) => {
      return { success: true, members: await listMembers(ctx, request.params.id) }
    })

    server.post('/members/:id/sign-in-link', { schema: schemas.createSignInLink }, async (request, reply) => {
      const link = await createSignInLinkOfMember(ctx, request.params.id)
      auditAccess(ctx, request, 'sign_in_link_made', { memberId: request.params.id })
      return reply.code(201).send({ success: true, link })
    })

    server.delete('/members/:id', { schema: schemas.removeMember }, async (request) => {
      await removeMemberAsOperator(ctx, request.params.id)
      auditAccess(ctx, request, 'member_removed', { memberId: request.params.id })
      return { success: true, message: 'The member has been removed' }
    })
  }
}
