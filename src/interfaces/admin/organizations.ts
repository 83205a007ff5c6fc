import type { Context } from '../../context.js'
import { deleteOrganization } from '../../core/maintenance/organization-deletion.js'
import { previewRetention } from '../../core/maintenance/retention-preview.js'
import { holdOrganization, releaseOrganization } from '../../core/organizations/legal-hold.js'
import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
} from '../../core/organizations/organizations.js'
import { auditAccess } from '../../http/access/audit.js'
import type { TypedServer } from '../../http/server.js'
import { readOrganizationFields, readRetentionDays } from '../../model/organizations/operator-input.js'
import { presentOrganization } from '../../model/organizations/organization.js'
import * as schemas from './schemas.js'

/** The holder of the admin token, if nobody else is named. */
const OPERATOR = 'operator'

/** `/organizations`: create, list, read, change, preview retention, hold, delete. */
export function organizationRoutes(server: TypedServer, ctx: Context): void {
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

  server.post('/organizations/:id/retention-preview', { schema: schemas.previewRetention }, async (request) => {
    const organization = await getOrganization(ctx, request.params.id)
    return { success: true, kinds: await previewRetention(ctx, organization, readRetentionDays(request.body)) }
  })

  server.put('/organizations/:id/hold', { schema: schemas.setHold }, async (request) => {
    const { reason, by = OPERATOR } = request.body
    const organization = await holdOrganization(ctx, request.params.id, { reason, by })
    auditAccess(ctx, request, 'legal_hold_set', { organizationId: request.params.id, holder: by })
    return { success: true, organization: presentOrganization(organization) }
  })

  server.delete('/organizations/:id/hold', { schema: schemas.releaseHold }, async (request) => {
    const organization = await releaseOrganization(ctx, request.params.id, OPERATOR)
    auditAccess(ctx, request, 'legal_hold_released', { organizationId: request.params.id })
    return { success: true, organization: presentOrganization(organization) }
  })

  server.delete('/organizations/:id', { schema: schemas.deleteOrganization }, async (request) => {
    await deleteOrganization(ctx, request.params.id)
    auditAccess(ctx, request, 'organization_deleted', { organizationId: request.params.id })
    return { success: true, message: 'The organization has been deleted; its data is removed within minutes' }
  })
}
