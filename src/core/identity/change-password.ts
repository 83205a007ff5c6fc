import type { Context, PasswordSource } from '../../context.js'
import type { TeamMember } from '../../model/organizations/member.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findMemberPassword, setMemberPassword } from '../../storage/identity/members.js'
import { endOtherSessions } from '../../storage/identity/sessions.js'
import { withdrawSignInLinks } from '../../storage/identity/sign-in-links.js'
import { readSignInName, tryPassword } from './lockout.js'
import { notifyOfSessions, type Session } from './sessions.js'

/**
 * Changes a member's password. The old password is required, except in a session that began with a link or if there is
 * none. The member's other sessions and open sign-in links end. Throws missing_field, invalid_field (wrong old
 * password), too_many_requests, service_unavailable, session_required.
 */
export async function changePassword(
  ctx: Context,
  tenant: Tenant,
  { id, member, byLink }: Session,
  { current, next }: { current: string | undefined; next: string },
): Promise<void> {
  const before = await findMemberPassword(ctx.database, tenant.id, member.id)
  if (before === undefined) throw new Problem('session_required', 'You have been removed from the team')
  if (before !== null && !byLink) await checkCurrent(ctx, tenant, member, { before, current })
  const after = await ctx.passwords.hash(sourceOf(member), next)
  const changed = await ctx.database.transaction(async (transaction) => {
    if (!(await setMemberPassword(transaction, tenant.id, member.id, { before, after }))) return false
    // Links first: a session of a link that is used at this moment exists by the time sessions are ended.
    await withdrawSignInLinks(transaction, tenant.id, member.id)
    await endOtherSessions(transaction, tenant.id, member.id, id)
    return true
  })
  if (!changed) throw new Problem('invalid_field', 'Your password was changed at this moment: try again')
  notifyOfSessions(ctx, tenant.id)
}

/** All sessions of the member together. */
function sourceOf({ id }: TeamMember): PasswordSource {
  return { id: `member ${id}`, isKnown: true, area: null }
}

async function checkCurrent(
  ctx: Context,
  tenant: Tenant,
  member: TeamMember,
  { before, current }: { before: string; current: string | undefined },
): Promise<void> {
  if (current === undefined) {
    throw new Problem('missing_field', 'current_password is required: the password that you have now')
  }
  const name = readSignInName(tenant.slug, member.email)
  const source = sourceOf(member)
  const attempt = async () => (await ctx.passwords.matches(source, before, current)) || null
  const right = await tryPassword(ctx, name, source, attempt)
  if (right === null) throw new Problem('invalid_field', 'current_password is not the password that you have now')
}
