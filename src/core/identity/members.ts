import type { OperatorContext } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { newId } from '../../lib/bytes/id.js'
import type { Member, MemberRole } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import { deleteMember, insertMember, listMembers as listMemberRows } from '../../storage/identity/members.js'
import { findInDirectory } from '../../storage/organizations/directory.js'
import { getOrganization } from '../organizations/organizations.js'
import { hashPassword } from './passwords.js'
import { tellOfSessions } from './sessions.js'

/** Adds a member to an organization's team. Throws organization_not_found, already_taken (the e-mail address). */
export async function addMember(
  ctx: OperatorContext,
  organizationId: string,
  { email, full_name, role, password }: { email: string; full_name: string; role: MemberRole; password?: string },
): Promise<Member> {
  await getOrganization(ctx, organizationId)
  const password_hash = password === undefined ? null : await hashPassword(password)
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

/** Removes a member. Throws member_not_found. */
export async function removeMember(ctx: OperatorContext, memberId: string): Promise<void> {
  // The directory knows the hash of the id as it is written, and ours are written in lower case.
  const id = memberId.toLowerCase()
  const organizationId = await findInDirectory(ctx.database, 'member_id', id)
  if (organizationId !== null && (await deleteMemberRows(ctx, organizationId, id))) {
    return tellOfSessions(ctx, organizationId)
  }
  throw new Problem('member_not_found', `There is no member with the id ${memberId}`)
}

/** It takes the rows of the contacts whom the member answers, in whichever order. */
function deleteMemberRows({ database }: OperatorContext, organizationId: string, id: string): Promise<boolean> {
  return retryOnDeadlock(() => database.transaction((transaction) => deleteMember(transaction, organizationId, id)))
}
