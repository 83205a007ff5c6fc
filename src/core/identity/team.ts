import type { OperatorContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnDeadlock } from '../../database/retry.js'
import type { Member, MemberRole } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import { deleteMember, lockTeamOwners, updateMember } from '../../storage/identity/members.js'
import { tellOfSessions } from './sessions.js'

/** Changes what is given of a member of the organization's team. Throws member_not_found, and last_owner: a team keeps one. */
export async function changeMember(
  ctx: OperatorContext,
  organizationId: string,
  memberId: string,
  changes: { full_name?: string | undefined; role?: MemberRole | undefined },
): Promise<Member> {
  const member = await ctx.database.transaction(async (transaction) => {
    if (changes.role !== undefined && changes.role !== 'owner') {
      await requireOtherOwner(transaction, organizationId, memberId)
    }
    return (await updateMember(transaction, organizationId, memberId, changes)) ?? notFound(memberId)
  })
  tellOfSessions(ctx, organizationId)
  return member
}

/** Removes a member from the organization's team, as one of its owners may. Throws member_not_found, and last_owner: a team keeps one. */
export async function dismissMember(ctx: OperatorContext, organizationId: string, memberId: string): Promise<void> {
  // It takes the rows of the contacts whom the member answers, in whichever order.
  await retryOnDeadlock(() =>
    ctx.database.transaction(async (transaction) => {
      await requireOtherOwner(transaction, organizationId, memberId)
      // The directory knows the hash of the id as ours are written.
      if (!(await deleteMember(transaction, organizationId, memberId.toLowerCase()))) notFound(memberId)
    }),
  )
  tellOfSessions(ctx, organizationId)
}

/** Two owners who go at the same moment are asked one after the other. */
async function requireOtherOwner(transaction: Queryable, organizationId: string, memberId: string): Promise<void> {
  const owners = await lockTeamOwners(transaction, organizationId)
  if (owners.length > 1 || !owners.includes(memberId.toLowerCase())) return
  throw new Problem('last_owner', 'This is the last owner of the team: make somebody else an owner first')
}

function notFound(memberId: string): never {
  throw new Problem('member_not_found', `There is no member with the id ${memberId}`)
}
