import type { Context, OperatorContext } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { newId } from '../../lib/bytes/id.js'
import type { Member, MemberRole } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import {
  deleteMember,
  insertMember,
  listMembers as listMemberRows,
  lockTeamOwners,
  updateMember,
} from '../../storage/identity/members.js'
import { findInDirectory } from '../../storage/organizations/directory.js'
import { getOrganization } from '../organizations/organizations.js'
import { notifyOfSessions } from './sessions.js'

/** Adds a member to an organization's team. Throws organization_not_found, already_taken (the e-mail address). */
export async function addMember(
  ctx: OperatorContext & Pick<Context, 'passwords'>,
  organizationId: string,
  { email, full_name, role, password }: { email: string; full_name: string; role: MemberRole; password?: string },
): Promise<Member> {
  await getOrganization(ctx, organizationId)
  const password_hash =
    password === undefined
      ? null
      : await ctx.passwords.hash({ id: `organization ${organizationId}`, isKnown: true, area: null }, password)
  try {
    return await insertMember(ctx.database, organizationId, { id: newId(), email, full_name, role, password_hash })
  } catch (error) {
    if (!isUniqueViolation(error, 'members_email')) throw error
    throw new Problem('already_taken', `The organization has a member with the e-mail address ${email} already`)
  }
}

/** The organization's members. Throws organization_not_found. */
export async function listMembers(ctx: OperatorContext, organizationId: string): Promise<Member[]> {
  await getOrganization(ctx, organizationId)
  return listMemberRows(ctx.database, organizationId)
}

/** Changes the given fields of a member. Throws member_not_found, last_owner (a team keeps one). */
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
    return (await updateMember(transaction, organizationId, memberId, changes)) ?? memberNotFound(memberId)
  })
  notifyOfSessions(ctx, organizationId)
  return member
}

/**
 * Removes a member from the organization's team. Throws member_not_found, and last_owner unless `mayRemoveLastOwner`:
 * the operator of the service may leave a team without an owner, its owners may not.
 */
export async function removeMember(
  ctx: OperatorContext,
  organizationId: string,
  memberId: string,
  { mayRemoveLastOwner }: { mayRemoveLastOwner: boolean },
): Promise<void> {
  // The contacts that the member answers are locked in any order.
  await retryOnDeadlock(() =>
    ctx.database.transaction(async (transaction) => {
      if (!mayRemoveLastOwner) await requireOtherOwner(transaction, organizationId, memberId)
      // The directory holds the hash of the id in lower case.
      if (!(await deleteMember(transaction, organizationId, memberId.toLowerCase()))) memberNotFound(memberId)
    }),
  )
  notifyOfSessions(ctx, organizationId)
}

/** Removes a member, even the last owner, for the operator of the service. Throws member_not_found. */
export async function removeMemberAsOperator(ctx: OperatorContext, memberId: string): Promise<void> {
  await removeMember(ctx, await findMemberOrganization(ctx, memberId), memberId, { mayRemoveLastOwner: true })
}

/** The organization of a member. Throws member_not_found. */
export async function findMemberOrganization(ctx: OperatorContext, memberId: string): Promise<string> {
  return (await findInDirectory(ctx.database, 'member_id', memberId.toLowerCase())) ?? memberNotFound(memberId)
}

/** The owners are locked, so two owners who leave at the same moment are checked one after the other. */
async function requireOtherOwner(transaction: Queryable, organizationId: string, memberId: string): Promise<void> {
  const owners = await lockTeamOwners(transaction, organizationId)
  if (owners.length > 1 || !owners.includes(memberId.toLowerCase())) return
  throw new Problem('last_owner', 'This is the last owner of the team: make another member an owner first')
}

/** Throws member_not_found. */
export function memberNotFound(memberId: string): never {
  throw new Problem('member_not_found', `There is no member with the id ${memberId}`)
}
