import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { NetworkDetails } from '../../model/messages/message.js'
import { normalizeName } from '../contacts/contacts.js'
import { changeSearchableMessage, type SearchableMessage } from '../conversations/search.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { messageEvents, RECORDED_EVENT } from './messages.js'
import { trackNewMessages } from './new-messages.js'

/** An inbound message to be recorded. */
export interface IncomingMessage {
  id: string
  eventId: string
  upstreamId: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  /** human-chat: a member of the team typed it on the phone of a linked device. */
  sender_type: 'user-chat' | 'system' | 'human-chat'
  message_type: string
  text: string
  media_type: string | null
  content: unknown
  /** Whether it has a file to fetch. */
  awaitsMedia: boolean
  contextUpstreamId: string | null
  /** As the network of a linked device has it. */
  network: NetworkDetails | null
  created_at: Date
}

/** `no_contact`: the addresses do not lead to exactly one complete contact; resolve the contact and record again. */
export type Received = 'recorded' | 'duplicate' | 'no_contact'

interface RecordRow {
  recorded: boolean
  duplicate: boolean
}

/**
 * True if row `of` has the same author (side, instance, and in groups the participant): only the author may edit or
 * revoke a message.
 */
export const isSameAuthor = (of: string, isCustomers: string, instance: string, participant: string) =>
  `(${of}.sender_type = 'user-chat') = (${isCustomers}) AND ${of}.instance_id IS NOT DISTINCT FROM ${instance}
         AND (${of}.network ->> 'participant') IS NOT DISTINCT FROM (${participant})`

/**
 * The one contact that a sender's addresses lead to. NULL if they lead to several contacts, a required address is
 * unknown, or a number did not belong to the contact at that time: then the caller resolves the contact and passes its
 * id.
 */
const senderContact = (
  addresses: string,
  required: string,
  at: string,
  contactId: string,
) => `coalesce(${contactId}::uuid, (
       SELECT CASE
         WHEN count(DISTINCT contact_id) = 1 AND count(*) FILTER (WHERE address = ANY (${required})) = cardinality(${required}::text[])
           AND bool_and(address LIKE 'user:%' OR ((since IS NULL OR since <= ${at}) AND (left_at IS NULL OR left_at > ${at})))
         THEN (array_agg(contact_id))[1]
       END
       FROM (SELECT DISTINCT unnest(${addresses}::text[]) AS form) wanted CROSS JOIN LATERAL (
         SELECT address, contact_id, since, left_at FROM contact_addresses
         WHERE ${ofOrganization('organization_id', '$1::uuid')} AND address = wanted.form
         OFFSET 0
       ) a
     ))`

// Records nothing if the contact is unresolved or lacks the known number. If an edit or revocation came before the
// message, its text is used. A message with a file raises message.received after the first try to fetch the file (see
// incoming-media), so that the event has the file's URL; this statement enqueues that try.
const record = statement<RecordRow>(
  'incoming.record',
  `WITH known AS (
     -- The resolved contact.
     SELECT c.id, c.full_name, c.has_unread_messages, c.bot_status
     FROM contacts c
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND (c.phone_number IS NOT NULL OR NOT $15 OR $21::uuid IS NOT NULL)
       AND c.id = ${senderContact('$2', '$20', '$12', '$21')}
   ), duplicate AS (
     -- The same message, recorded before.
     SELECT FROM messages WHERE organization_id = $1 AND upstream_id = $5 AND instance_id IS NOT DISTINCT FROM $18
   ), numbered AS (
     -- Takes the next number of the conversation and updates the contact.
     UPDATE contacts c
     SET last_seq = c.last_seq + 1,
       has_unread_messages = (c.has_unread_messages OR ($6 = 'user-chat' AND NOT c.blocked)) AND $6 <> 'human-chat',
       bot_status = CASE WHEN $6 = 'human-chat' AND c.bot_status = 'active' THEN 'paused' ELSE c.bot_status END,
       last_inbound_at = CASE WHEN $6 = 'user-chat' THEN greatest(c.last_inbound_at, $12) ELSE c.last_inbound_at END,
       full_name = coalesce(c.full_name, $3), folded_name = coalesce(c.folded_name, $17),
       updated_at = now()
     FROM known
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = known.id AND NOT EXISTS (SELECT FROM duplicate)
     RETURNING c.*
   ), aliases AS (
     -- Adds new addresses of the contact.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, address, numbered.id FROM numbered, unnest($2::text[]) AS address WHERE $21::uuid IS NULL ORDER BY address
     ON CONFLICT DO NOTHING
   ), recorded AS (
     -- Records the message, with the text of an edit or revocation that came before it.
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, media_type,
       content, status, context_upstream_id, created_at, accepted_at, delivered_at, media_state, instance_id, network,
       assignee_id, gateway_type)
     SELECT $1, $4, numbered.id, numbered.last_seq, $5, $6, $7,
       coalesce((
         SELECT e.text FROM messages e
         WHERE e.organization_id = $1 AND e.context_upstream_id = $5 AND e.contact_id = numbered.id AND e.seq IS NULL
           AND e.message_type IN ('edit', 'revoke') AND ${isSameAuthor('e', "$6 = 'user-chat'", '$18', "$19::jsonb ->> 'participant'")}
         ORDER BY e.created_at DESC, e.id DESC
         LIMIT 1
       ), $8),
       $9, $10, CASE WHEN $6 = 'human-chat' THEN 'sent' ELSE 'delivered' END, $11, $12, $12,
       CASE WHEN $6 <> 'human-chat' THEN $12::timestamptz END, CASE WHEN $16 THEN 'awaited' END, $18, $19,
       CASE WHEN $6 <> 'human-chat' THEN numbered.assignee_id END, $22
     FROM numbered
     RETURNING *
   ), ${trackNewMessages('SELECT organization_id, contact_id, instance_id, seq FROM recorded')}, received AS (
     -- Raises the event of the message, unless it waits for its file.
     ${raiseEvents({ ...messageEvents(RECORDED_EVENT, '$13'), from: 'recorded m, numbered c WHERE NOT $16' })}
   ), enqueued AS (
     -- Enqueues the fetch of the file.
     ${enqueueJobs({
       task: 'fetch_media',
       from: 'recorded WHERE $16',
       payload: "jsonb_build_object('messageId', recorded.id)",
     })}
   ), named AS (
     -- Raises contact.updated if the contact got a name or was answered on the phone.
     ${raiseEvents({
       ...contactEvents('contact.updated', '$14', 'numbered'),
       from: `numbered, known
       WHERE (known.full_name IS NULL AND numbered.full_name IS NOT NULL)
         OR ($6 = 'human-chat' AND (known.has_unread_messages OR known.bot_status IS DISTINCT FROM numbered.bot_status))`,
     })}
   )
   SELECT EXISTS (SELECT FROM recorded) AS recorded, EXISTS (SELECT FROM duplicate) AS duplicate`,
  { raises: 'events' },
)

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
       context_upstream_id, created_at, accepted_at, delivered_at, instance_id, network, assignee_id, gateway_type)
     SELECT $1, $3, known.id, $4, $9, 'reaction', $5, CASE WHEN $9 = 'human-chat' THEN 'sent' ELSE 'delivered' END, $6, $7, $7,
       CASE WHEN $9 <> 'human-chat' THEN $7::timestamptz END, $10, $11, CASE WHEN $9 <> 'human-chat' THEN known.assignee_id END, $14
     FROM known
     WHERE NOT EXISTS (SELECT FROM duplicate)
     RETURNING *
   ), event AS (
     -- Raises message.reaction.
     ${raiseEvents({ ...messageEvents("'message.reaction'", '$8'), from: 'recorded m, known c' })}
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

const recordChange = statement<{ id: string }>(
  'incoming.recordChange',
  `INSERT INTO messages (organization_id, id, contact_id, upstream_id, sender_type, message_type, text, status,
     context_upstream_id, created_at, accepted_at, delivered_at, instance_id, network, gateway_type)
   VALUES ($1, $2, $3, $4, $9, $5, $6, 'delivered', $7, $8, $8, $8, $10, $11, $12)
   ON CONFLICT (organization_id, upstream_id, instance_id) WHERE upstream_id IS NOT NULL DO NOTHING
   RETURNING id`,
)

// Only the gateway has events for changes (instance.…). If the message comes later, its own event has the changed text.
const applyChanges = statement<SearchableMessage>(
  'incoming.applyChanges',
  `WITH changed AS (
     -- Sets the text of the newest edit or revocation by the same author.
     UPDATE messages m
     SET text = (
       SELECT e.text FROM messages e
       WHERE e.organization_id = $1 AND e.context_upstream_id = $3 AND e.contact_id = $2 AND e.seq IS NULL
         AND e.message_type IN ('edit', 'revoke') AND ${isSameAuthor('e', "$4 = 'user-chat'", '$7', '$8')}
       ORDER BY e.created_at DESC, e.id DESC
       LIMIT 1
     )
     WHERE m.organization_id = $1 AND m.upstream_id = $3 AND m.contact_id = $2 AND m.seq IS NOT NULL
       AND ${isSameAuthor('m', "$4 = 'user-chat'", '$7', '$8')}
     RETURNING m.*
   ), event AS (
     -- Raises the event for the gateway.
     ${raiseEvents({
       ...messageEvents('$6', '$5'),
       from: 'changed m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id',
     })}
   )
   SELECT seq, text, transcription FROM changed`,
  { raises: 'events' },
)

/** The gateway's event for each change. */
const CHANGE_EVENTS = { edit: 'instance.message_edited', revoke: 'instance.message_deleted' } as const

/** The addresses of a message's author. */
export interface SenderAddresses {
  addresses: readonly string[]
  /** The addresses that must be known: the number's digits, the user id. */
  required: readonly string[]
  /** The contact, if the addresses are not sufficient. */
  contactId: string | null
}

/** The sender of a message. */
export interface Sender extends SenderAddresses {
  /** Whether one of the addresses is a phone number. */
  hasNumber: boolean
  /** Becomes the contact's name if it has none. */
  profileName: string | null
}

/**
 * Records a message of the contact that the addresses lead to, under its next number, once per upstream id. Fails with
 * a unique violation if the same message is being recorded at this moment; a second try finds a duplicate. A message
 * that awaits its file enqueues a job: wake the workers.
 */
export async function recordIncomingMessage(
  db: Queryable,
  organizationId: string,
  sender: Sender,
  message: IncomingMessage,
  renamedEventId: string,
): Promise<Received> {
  const [row] = await db.raise(
    record,
    [
      organizationId,
      sender.addresses,
      sender.profileName,
      message.id,
      message.upstreamId,
      message.sender_type,
      message.message_type,
      message.text,
      message.media_type,
      message.content === undefined ? null : JSON.stringify(message.content),
      message.contextUpstreamId,
      message.created_at,
      message.eventId,
      renamedEventId,
      sender.hasNumber,
      message.awaitsMedia,
      normalizeName(sender.profileName),
      message.instanceId,
      message.network && JSON.stringify(message.network),
      sender.required,
      sender.contactId,
      gatewayType(message),
    ],
    [organizationId],
  )
  return toReceived(row)
}

/** A reaction, an edit or a revocation, which shows only on its target. */
export interface IncomingRecord {
  id: string
  upstreamId: string
  /** The emoji or the new text; empty removes the reaction or revokes the message. */
  text: string
  replyToUpstreamId: string
  instanceId: string | null
  sender_type: 'user-chat' | 'human-chat'
  network: NetworkDetails | null
  created_at: Date
}

/** Records a reaction, with or without a known target, and raises message.reaction. */
export async function recordIncomingReaction(
  db: Queryable,
  organizationId: string,
  { addresses, required, contactId }: SenderAddresses,
  reaction: IncomingRecord,
  eventId: string,
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
    eventId,
    ...authorValues(reaction),
    required,
    contactId,
    gatewayType({ message_type: 'reaction', content: null, network: reaction.network }),
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
  kind: 'edit' | 'revoke',
  change: IncomingRecord,
  eventId: string,
): Promise<Received> {
  const [contact] = await transaction.run(lockContact, [
    organizationId,
    addresses,
    required,
    change.created_at,
    contactId,
  ])
  if (!contact) return 'no_contact'
  const { id, upstreamId, text, replyToUpstreamId, created_at } = change
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
  const applied = [...target, eventId, CHANGE_EVENTS[kind], ...author]
  const [changed] = await transaction.raise(applyChanges, applied, [organizationId])
  if (changed) await changeSearchableMessage(transaction, organizationId, contact.id, changed)
  return 'recorded'
}

/** The parameters that identify the author and the channel of a record. */
function authorValues({ sender_type, instanceId, network }: IncomingRecord): unknown[] {
  return [sender_type, instanceId, network && JSON.stringify(network)]
}

function toReceived(row: RecordRow | undefined): Received {
  if (row?.recorded) return 'recorded'
  return row?.duplicate ? 'duplicate' : 'no_contact'
}
