import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'

// The network's copy of the message is removed, because it has the old text.
const change = statement<SearchableMessage & { contact_id: string }>(
  'ownChanges.change',
  `UPDATE messages m
   SET text = $3, network = m.network - 'message'
   WHERE m.organization_id = $1 AND m.id = $2 AND m.sender_type <> 'user-chat'
   RETURNING m.contact_id, m.seq, m.text, m.transcription`,
)

/** Sets the text of an own message that was edited on the network; empty if it was revoked. Needs a transaction. */
export async function changeOwnMessage(
  transaction: Queryable,
  organizationId: string,
  messageId: string,
  text: string,
): Promise<void> {
  const [changed] = await transaction.run(change, [organizationId, messageId, text])
  if (!changed || changed.seq === null) return
  await changeSearchableMessage(transaction, organizationId, changed.contact_id, changed)
}
