import type { Context } from '../../context.js'
import type { InboxRow } from '../../model/conversations/inbox.js'
import { Problem } from '../../model/problem.js'
import { assignContact } from '../../storage/inbox/inbox.js'
import { requireInboxContact } from './find.js'

/**
 * Assigns a contact to a member of the team (null: to none) and raises contact.updated. Messages from the contact are
 * recorded with the member from now on. Throws contact_not_found, invalid_field.
 */
export async function assignConversation(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  contactId: string,
  memberId: string | null,
): Promise<InboxRow> {
  await requireInboxContact(ctx, organizationId, contactId)
  if (!(await assignContact(ctx.database, organizationId, contactId, memberId))) {
    throw new Problem('invalid_field', `member_id ${memberId} is not a member of this organization`)
  }
  return requireInboxContact(ctx, organizationId, contactId)
}
