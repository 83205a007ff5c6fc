import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { Message } from '../../model/messages/message.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'

// The network's copy of the message is removed, because it has the old text.
const change = statement<SearchableMessage & { contact_id: string }>(
  'ownChanges.change',
  `UPDATE messages m
   SET text = $3, network = m.network - 'message', gateway_type = $4,
     extras = (coalesce(m.extras, '{}') - 'deleted_at') || jsonb_build_object(CASE $3 WHEN '' THEN 'deleted_at' ELSE 'edited_at' END, $5::timestamptz)
   WHERE m.organization_id = $1 AND m.id = $2 AND m.sender_type <> 'user-chat'
   RETURNING m.contact_id, m.seq, m.text, m.transcription`,
)

/** Sets the text of an own message that was edited on the network; empty if it was revoked. Needs a transaction. */
export async function changeOwnMessage(
  transaction: Queryable,
  organizationId: string,
  message: Pick<Message, 'id' | 'message_type' | 'content'>,
  { text, at }: { text: string; at: Date },
): Promise<void> {
  const type = gatewayType({ ...message, network: null })
  const [changed] = await transaction.run(change, [organizationId, message.id, text, type, at])
  if (!changed || changed.seq === null) return
  await changeSearchableMessage(transaction, organizationId, changed.contact_id, changed)
}
