import type { Context } from '../../context.js'
import { addMember, listMembers, removeMemberAsOperator } from '../../core/identity/members.js'
import { createSignInLinkOfMember } from '../../core/identity/sign-in-links.js'
import { auditAccess } from '../../http/access/audit.js'
import type { TypedServer } from '../../http/server.js'
import * as schemas from './schemas.js'

/** Members: add and list those of an organization, create a sign-in link for one, remove one. */
export function memberRoutes(server: TypedServer, ctx: Context): void {
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
