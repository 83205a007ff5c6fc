import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { Message } from '../../model/messages/message.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'
import { raiseEvents } from '../events/raise.js'
import { messageEvents } from './message-events.js'

// The network's copy of the message is removed, because it has the old text.
const change = statement<SearchableMessage & { contact_id: string }>(
  'ownChanges.change',
  `WITH before AS (
     -- The message as it was.
     SELECT id, text FROM messages WHERE organization_id = $1 AND id = $2 AND sender_type <> 'user-chat'
   ), changed AS (
     -- Sets text and mark.
     UPDATE messages m
     SET text = $3, network = m.network - 'message', gateway_type = $4,
       extras = (coalesce(m.extras, '{}') - 'deleted_at') || jsonb_build_object(CASE $3 WHEN '' THEN 'deleted_at' ELSE 'edited_at' END, $5::timestamptz)
     FROM before
     WHERE m.organization_id = $1 AND m.id = before.id
     RETURNING m.*
   ), event AS (
     -- Raises the event of the change.
     ${raiseEvents({
       ...messageEvents("CASE WHEN $3 = '' THEN 'message.deleted' ELSE 'message.edited' END", '$6', {
         isWhole: 'true',
         previousText: "CASE WHEN $3 <> '' THEN before.text END",
       }),
       from: 'changed m JOIN before ON before.id = m.id JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id',
     })}
   )
   SELECT contact_id, seq, text, transcription FROM changed`,
  { raises: 'events' },
)

/**
 * Sets the text of an own message that was edited on the network, and raises message.edited; an empty one revokes it,
 * and raises message.deleted. Needs a transaction.
 */
export async function changeOwnMessage(
  transaction: Queryable,
  organizationId: string,
  message: Pick<Message, 'id' | 'message_type' | 'content'>,
  { text, at }: { text: string; at: Date },
): Promise<void> {
  const type = gatewayType({ ...message, network: null })
  const values = [organizationId, message.id, text, type, at, newId()]
  const [changed] = await transaction.raise(change, values, [organizationId])
  if (!changed || changed.seq === null) return
  await changeSearchableMessage(transaction, organizationId, changed.contact_id, changed)
}
