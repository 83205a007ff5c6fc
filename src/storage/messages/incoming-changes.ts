import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { Message, NetworkDetails } from '../../model/messages/message.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'
import { raiseEvents } from '../events/raise.js'
import {
  isSameAuthor,
  newestChange,
  type Received,
  type RecordRow,
  type SenderAddresses,
  senderContact,
  toReceived,
  withChangeMark,
} from './incoming.js'
import { messageEvents } from './message-events.js'
import { RECORDED_EVENT } from './messages.js'

// Locks the contact's row against erasure, as the update of a numbered message does.
const recordReaction = statement<RecordRow>(
  'incoming.recordReaction',
  `WITH known AS (
     -- The resolved contact.
     SELECT c.* FROM contacts c
     WHERE c.organization_id = $1 AND c.id = ${senderContact('$2', '$12', '$7', '$13')}
     FOR SHARE
   ), duplicate AS (
     -- The same reaction, recorded before.
     SELECT FROM messages WHERE organization_id = $1 AND upstream_id = $4 AND instance_id IS NOT DISTINCT FROM $10
   ), recorded AS (
     -- Records the reaction without a number in the conversation.
     INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status,
       context_upstream_id, created_at, accepted_at, delivered_at, instance_id, network, assignee_id, gateway_type,
       handled_by)
     SELECT $1, $3, known.id, $4, $9, 'reaction', $5, CASE WHEN $9 = 'user-chat' THEN 'delivered' ELSE 'sent' END, $6, $7, $7,
       CASE WHEN $9 = 'user-chat' THEN $7::timestamptz END, $10, $11, CASE WHEN $9 = 'user-chat' THEN known.assignee_id END, $14, $15
     FROM known
     WHERE NOT EXISTS (SELECT FROM duplicate)
     RETURNING *
   ), event AS (
     -- Raises message.reaction, unless a history brought it.
     ${raiseEvents({ ...messageEvents("'message.reaction'", '$8'), from: 'recorded m, known c WHERE NOT $16::boolean' })}
   )
   SELECT EXISTS (SELECT FROM recorded) AS recorded, EXISTS (SELECT FROM duplicate) AS duplicate`,
  { raises: 'events' },
)

const lockContact = statement<{ id: string }>(
  'incoming.lockContact',
  `SELECT id FROM contacts
   WHERE organization_id = $1 AND id = ${senderContact('$2', '$3', '$4', '$5')}
   FOR UPDATE`,
)

// While a legal hold is on, the record keeps the text that it replaces.
const recordChange = statement<{ id: string }>(
  'incoming.recordChange',
  `INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status,
     context_upstream_id, created_at, accepted_at, delivered_at, instance_id, network, gateway_type, content)
   VALUES ($1, $2, $3, $4, $9, $5, $6, 'delivered', $7, $8, $8, $8, $10, $11, $12, (
     SELECT jsonb_build_object('earlier_text', m.text)
     FROM organizations o JOIN messages m ON m.organization_id = $1
     WHERE o.id = $1 AND o.legal_hold IS NOT NULL AND m.upstream_id = $7 AND m.contact_id = $3 AND m.seq IS NOT NULL
       AND m.instance_id IS NOT DISTINCT FROM $10
   ))
   ON CONFLICT (organization_id, upstream_id, instance_id) WHERE upstream_id IS NOT NULL DO NOTHING
   RETURNING id`,
)

/** SQL: the changed message, as it was before, and its contact. */
const CHANGED =
  'changed m JOIN before ON before.id = m.id JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id'

// Changes and raises nothing if the change is not the newest one. If the message comes later, its own event has the
// changed text, and so it has if it still waits for the real message or the file. What is deleted before its file has
// come is told first, without the file.
const applyChanges = statement<SearchableMessage>(
  'incoming.applyChanges',
  `WITH newest AS (
     -- The newest edit or revocation by the author, if it is this one.
     SELECT * FROM (
       ${newestChange('$2', '$3', "$4 = 'user-chat'", '$7', '$8')}
     ) e
     WHERE e.id = $9
   ), before AS (
     -- The message as it was.
     SELECT m.id, m.text, m.placeholder, m.media_state FROM messages m
     WHERE m.organization_id = $1 AND m.upstream_id = $3 AND m.contact_id = $2 AND m.seq IS NOT NULL
       AND ${isSameAuthor('m', "$4 = 'user-chat'", '$7', '$8')}
   ), changed AS (
     -- Sets text and mark of the change.
     UPDATE messages m
     SET text = newest.text, extras = ${withChangeMark('m.extras', 'newest')},
       media_state = CASE WHEN m.media_state = 'awaited' AND $6 = 'message.deleted' THEN 'retried' ELSE m.media_state END
     FROM newest, before
     WHERE m.organization_id = $1 AND m.id = before.id
     RETURNING m.*
   ), event AS (
     -- Raises the event of the change, unless a history brought it.
     ${raiseEvents(
       {
         ...messageEvents(RECORDED_EVENT, '$5'),
         from: `${CHANGED} WHERE before.media_state = 'awaited' AND before.placeholder IS NULL AND $6 = 'message.deleted'`,
       },
       {
         ...messageEvents('$6', '$10', {
           isWhole: 'true',
           previousText: "CASE WHEN $6 = 'message.edited' THEN before.text END",
         }),
         from: `${CHANGED} WHERE NOT $11::boolean AND before.placeholder IS DISTINCT FROM 'held'
           AND (before.media_state IS DISTINCT FROM 'awaited' OR $6 = 'message.deleted')`,
       },
     )}
   )
   SELECT seq, text, transcription FROM changed`,
  { raises: 'events' },
)

const CHANGE_EVENTS = { edit: 'message.edited', revoke: 'message.deleted' } as const

/** A reaction, an edit or a revocation, which shows only on its target. */
export interface IncomingRecord {
  id: string
  upstreamId: string
  /** The emoji or the new text; empty removes the reaction or revokes the message. */
  text: string
  replyToUpstreamId: string
  instanceId: string | null
  sender_type: 'user-chat' | 'human-chat' | 'bot-chat'
  network: NetworkDetails | null
  /** Of a reaction; an edit or revocation shows on its message. */
  handled_by?: Message['handled_by']
  created_at: Date
  /** Whether a phone's history brought it: then no event is raised. */
  isHistoric?: boolean
}

/** Records a reaction, with or without a known target, and raises message.reaction. */
export async function recordIncomingReaction(
  db: Queryable,
  organizationId: string,
  { addresses, required, contactId }: SenderAddresses,
  reaction: IncomingRecord,
): Promise<Received> {
  const { id, upstreamId, text, replyToUpstreamId, created_at } = reaction
  const values = [
    organizationId,
    addresses,
    id,
    upstreamId,
    text,
    replyToUpstreamId,
    created_at,
    newId(),
    ...authorValues(reaction),
    required,
    contactId,
    gatewayType({ message_type: 'reaction', content: null, network: reaction.network }),
    reaction.handled_by ?? null,
    reaction.isHistoric === true,
  ]
  const [row] = await db.raise(recordReaction, values, [organizationId])
  return toReceived(row)
}

/**
 * Records an edit or a revocation and gives its message the text of the newest one. If the message comes later,
 * recording it applies the change. Needs a transaction, because the contact's lock guarantees the order of changes.
 */
export async function recordIncomingChange(
  transaction: Queryable,
  organizationId: string,
  { addresses, required, contactId }: SenderAddresses,
  change: IncomingRecord & { kind: 'edit' | 'revoke' },
): Promise<Received> {
  const [contact] = await transaction.run(lockContact, [
    organizationId,
    addresses,
    required,
    change.created_at,
    contactId,
  ])
  if (!contact) return 'no_contact'
  const { kind, id, upstreamId, text, replyToUpstreamId, created_at } = change
  const values = [
    organizationId,
    id,
    contact.id,
    upstreamId,
    kind,
    text,
    replyToUpstreamId,
    created_at,
    ...authorValues(change),
    gatewayType({ message_type: kind, content: null, network: change.network }),
  ]
  const recorded = await transaction.run(recordChange, values)
  if (recorded.length === 0) return 'duplicate'
  const target = [organizationId, contact.id, replyToUpstreamId, change.sender_type]
  const author = [change.instanceId, change.network?.participant ?? null]
  const events = [newId(), CHANGE_EVENTS[kind]]
  const applied = [...target, ...events, ...author, id, newId(), change.isHistoric === true]
  const [changed] = await transaction.raise(applyChanges, applied, [organizationId])
  if (changed) await changeSearchableMessage(transaction, organizationId, contact.id, changed)
  return 'recorded'
}

/** The parameters that identify the author and the channel of a record. */
function authorValues({ sender_type, instanceId, network }: IncomingRecord): unknown[] {
  return [sender_type, instanceId, network && JSON.stringify(network)]
}
