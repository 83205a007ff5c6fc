import type { Context } from '../../../context.js'
import { addMember, changeMember, listMembers, removeMember } from '../../../core/identity/members.js'
import { createSignInLink, createSignInLinkByOwner } from '../../../core/identity/sign-in-links.js'
import { auditAccess } from '../../../http/access/audit.js'
import { tenantOf } from '../../../http/access/auth.js'
import { memberOf } from '../../../http/access/session.js'
import { IdParams } from '../../../model/fields.js'
import { presentTeamMember } from '../../../model/organizations/member.js'
import { ChangeMember, InviteMember } from '../../../model/organizations/operator-input.js'
import type { ConsoleServer } from '../server.js'

/**
 * `/team`: visible to all members, changed by owners. Only the answer that creates a member contains the sign-in link.
 */
export function teamRoutes(server: ConsoleServer, ctx: Context): void {
  const config = { role: 'owner' } as const

  server.get('/team', async (request) => {
    const members = await listMembers(ctx, tenantOf(request).id)
    return { success: true, members: members.map(presentTeamMember) }
  })

  server.post('/team', { config, schema: { body: InviteMember } }, async (request, reply) => {
    const { id } = tenantOf(request)
    const { email, full_name, role } = request.body
    const member = await addMember(ctx, id, { email, full_name, role })
    const link = await createSignInLink(ctx, id, member.id)
    auditAccess(ctx, request, 'member_added', { memberId: member.id, role })
    return reply.code(201).send({ success: true, member: presentTeamMember(member), link })
  })

  server.patch('/team/:id', { config, schema: { params: IdParams, body: ChangeMember } }, async (request) => {
    const { full_name, role } = request.body
    const member = await changeMember(ctx, tenantOf(request).id, request.params.id, { full_name, role })
    if (role !== undefined) auditAccess(ctx, request, 'role_changed', { memberId: member.id, role })
    return { success: true, member: presentTeamMember(member) }
  })

  server.delete('/team/:id', { config, schema: { params: IdParams } }, async (request) => {
    await removeMember(ctx, tenantOf(request).id, request.params.id, { mayRemoveLastOwner: false })
    auditAccess(ctx, request, 'member_removed', { memberId: request.params.id })
    return { success: true, message: 'The member has been removed' }
  })

  server.post('/team/:id/link', { config, schema: { params: IdParams } }, async (request, reply) => {
    const { id: memberId } = request.params
    const link = await createSignInLinkByOwner(ctx, tenantOf(request).id, memberOf(request).id, memberId)
    auditAccess(ctx, request, 'sign_in_link_made', { memberId })
    return reply.code(201).send({ success: true, link })
  })
}
