import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, statement } from '../../database/statement.js'
import { searchableText } from '../../model/conversations/search-terms.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { MessageStatus } from '../../model/messages/message.js'
import type { Fall } from '../../model/messages/phone-history.js'
import { INDEX_STEP } from '../conversations/search.js'
import { countOnChannels } from '../counts/channels.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { authorOf, type IncomingMessage, newestChange, withChangeMark } from './incoming.js'
import { firstNotes, noteOfChange } from './trace-notes.js'

// What a phone's history adds to a conversation, within one transaction that locks the contact. Older messages fall to
// lower numbers, so that the numbers of newer ones stay: see docs/decisions/phone-history.md.

/** A conversation that is locked. */
export interface LockedConversation {
  pruned_seq: number
  last_seq: number
  searchable_seq: number
  /** The first number that an undone merge would move; null: there is none. Nothing is added behind it. */
  merged_seq: number | null
}

const lock = statement<LockedConversation>(
  'phoneHistory.lock',
  `SELECT c.pruned_seq, c.last_seq, c.searchable_seq, (
       SELECT min(m.first_seq) FROM contact_merges m
       WHERE m.organization_id = $1 AND m.kept_id = c.id AND m.undone_at IS NULL
     ) AS merged_seq
   FROM contacts c
   WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2
   FOR UPDATE OF c`,
)

/** A recorded message with an upstream id that a history names. */
export interface FoundMessage {
  id: string
  upstream_id: string
  contact_id: string
  status: MessageStatus
  is_placeholder: boolean
  is_deleted: boolean
  /** Whether Parley sent it. */
  is_own: boolean
  only_in_history: boolean
}

const find = statement<FoundMessage>(
  'phoneHistory.find',
  `SELECT m.id, m.upstream_id, m.contact_id,
     CASE WHEN m.only_in_history AND m.sender_type <> 'human-chat' AND m.read_at IS NULL THEN 'delivered' ELSE m.status END AS status,
     m.placeholder IS NOT NULL AND m.media_state IS NULL AS is_placeholder,
     coalesce(m.extras ? 'deleted_at', false) AS is_deleted, coalesce(m.only_in_history, false) AS only_in_history,
     m.sender_type <> 'user-chat' AND (m.network ->> 'fromPhone') IS NULL AS is_own
   FROM unnest($2::text[]) AS wanted (upstream_id) CROSS JOIN LATERAL (
     SELECT * FROM messages
     WHERE organization_id = $1 AND upstream_id = wanted.upstream_id AND instance_id IS NOT DISTINCT FROM $3
     OFFSET 0
   ) m`,
)

const readTimes = statement<{ time: number }>(
  'phoneHistory.readTimes',
  `SELECT (extract(epoch FROM created_at) * 1000)::float8 AS time FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq > $3 AND seq < $4
   ORDER BY seq
   LIMIT $5`,
)

/** Beyond the numbers of any conversation. */
export const FAR = 1_000_000_000_000

// Numbers are unique, and rows change one by one: from afar, no number meets one that is still there.
const lift = statement<never>(
  'phoneHistory.lift',
  `UPDATE messages SET seq = seq - ${FAR} WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3 AND $4`,
)

const land = statement<never>(
  'phoneHistory.land',
  `UPDATE messages m SET seq = m.seq + ${FAR} - fall.by
   FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS fall (low, high, by)
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq BETWEEN fall.low - ${FAR} AND fall.high - ${FAR}`,
)

// A note stays below its message; one below messages that are gone falls with the first one.
const moveNotes = statement<never>(
  'phoneHistory.moveNotes',
  `UPDATE notes n SET after_seq = n.after_seq - fall.by
   FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS fall (low, high, by, place)
   WHERE n.organization_id = $1 AND n.contact_id = $2 AND n.after_seq <= fall.high AND (n.after_seq >= fall.low OR fall.place = 1)`,
)

const deleteWords = statement<never>(
  'phoneHistory.deleteWords',
  'DELETE FROM message_search WHERE organization_id = $1 AND contact_id = $2',
)

const addWords = statement<never>(
  'phoneHistory.addWords',
  `INSERT INTO message_search (organization_id, contact_id, seq, folded)
   SELECT $1, $2, spoken.seq, spoken.folded FROM unnest($3::bigint[], $4::text[]) AS spoken (seq, folded)`,
)

/** Minutes until the words of a long conversation are indexed again: more of its history may come until then. */
const INDEXED_AFTER = 5

const widen = statement<never>(
  'phoneHistory.widen',
  `WITH widened AS (
     UPDATE contacts c SET pruned_seq = c.pruned_seq - $3::bigint, searchable_seq = $4
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2
     RETURNING c.last_seq - c.pruned_seq AS total, greatest(c.searchable_seq, c.pruned_seq) AS searchable, c.last_seq
   ), active AS (
     UPDATE contact_activity a SET active_at = greatest(a.active_at, least($5::timestamptz, now()))
     WHERE ${ofOrganization('a.organization_id', '$1::uuid')} AND a.contact_id = $2
   ), indexing AS (
     ${enqueueJobs({
       task: 'index_conversation',
       key: '$2::uuid',
       payload: "jsonb_build_object('contactId', $2::uuid)",
       runAt: `now() + interval '${INDEXED_AFTER} minutes'`,
       from: `widened WHERE total >= ${INDEX_STEP} AND last_seq - searchable >= ${INDEX_STEP}`,
     })}
   )
   SELECT`,
  { enqueues: 'later' },
)

// Text and mark of an edit or revocation that came before are used, as in incoming.record. What was deleted has no file
// to fetch. Nothing waits for the file, so media_state is that of a further attempt. Its age is that of the message.
const insert = statement<{ seq: number; text: string; media_state: string | null }>(
  'phoneHistory.insert',
  `WITH given AS MATERIALIZED (
     SELECT * FROM json_to_recordset($3) AS given (seq bigint, id uuid, upstream_id text, instance_id uuid, sender_type text,
       message_type text, text text, media_type text, content jsonb, extras jsonb, status text, is_read boolean, error jsonb,
       context_upstream_id text, network jsonb, awaits_media boolean, placeholder text, gateway_type text, note jsonb,
       created_at timestamptz)
     ${FEW_ROWS}
   ), recorded AS (
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, media_type,
       content, extras, status, error, context_upstream_id, created_at, recorded_at, accepted_at, read_at, media_state,
       instance_id, network, gateway_type, trace, notes, placeholder, only_in_history)
     SELECT $1, g.id, $2, g.seq, g.upstream_id, g.sender_type, g.message_type, coalesce(change.text, g.text), g.media_type,
       g.content, CASE WHEN change.text IS NULL THEN g.extras ELSE ${withChangeMark('g.extras', 'change')} END, g.status,
       g.error, g.context_upstream_id, g.created_at, least(g.created_at, now()), g.created_at,
       CASE WHEN g.is_read THEN g.created_at END,
       CASE WHEN g.awaits_media AND change.message_type IS DISTINCT FROM 'revoke' THEN 'retried' END,
       g.instance_id, g.network, g.gateway_type, ${firstNotes(noteOfChange('g.note'))},
       g.placeholder, true
     FROM given g LEFT JOIN LATERAL (
       ${newestChange('$2', 'g.upstream_id', ...authorOf('g'))}
     ) change ON true
     ORDER BY g.seq
     RETURNING organization_id, id, instance_id, seq, text, media_state
   ), counted_on_channels AS (
     ${countOnChannels('recorded', 'count(*)')}
   ), enqueued AS (
     ${enqueueJobs({
       task: 'fetch_media',
       from: 'recorded WHERE media_state IS NOT NULL',
       payload: "jsonb_build_object('messageId', recorded.id)",
     })}
   )
   SELECT seq, text, media_state FROM recorded`,
  { enqueues: ({ media_state }) => media_state !== null },
)

const advance = statement<never>(
  'phoneHistory.advance',
  `UPDATE messages m
   SET status = g.status,
     read_at = CASE WHEN g.status = 'read' AND m.sender_type <> 'human-chat' THEN coalesce(m.read_at, m.created_at) ELSE m.read_at END,
     error = CASE WHEN g.status = 'failed' THEN '{"code": "unknown", "text": "The phone says that it was not sent"}'::jsonb ELSE NULL END
   FROM json_to_recordset($2) AS g (id uuid, status text)
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = g.id`,
)

const fill = statement<{
  id: string
  contact_id: string
  seq: number
  text: string
  transcription: string | null
  media_state: string | null
}>(
  'phoneHistory.fill',
  `WITH filled AS (
     UPDATE messages m
     SET message_type = $3, text = CASE WHEN m.extras ? 'edited_at' THEN m.text ELSE $4 END, media_type = $5, content = $6,
       extras = CASE WHEN m.extras ? 'edited_at'
         THEN coalesce($7::jsonb, '{}') || jsonb_build_object('edited_at', m.extras -> 'edited_at') ELSE $7 END,
       context_upstream_id = coalesce($8, m.context_upstream_id), gateway_type = $9, placeholder = NULL,
       media_state = CASE WHEN $10::boolean AND m.media_id IS NULL THEN 'retried' END
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND m.only_in_history AND m.placeholder IS NOT NULL
     RETURNING m.id, m.contact_id, m.seq, m.text, m.transcription, m.media_state
   ), enqueued AS (
     ${enqueueJobs({
       task: 'fetch_media',
       from: 'filled WHERE media_state IS NOT NULL',
       payload: "jsonb_build_object('messageId', filled.id)",
     })}
   )
   SELECT * FROM filled`,
  { enqueues: ({ media_state }) => media_state !== null },
)

/** A message of a history that is not recorded yet, with its number. */
export interface NewHistoricMessage {
  seq: number
  message: IncomingMessage
  /** What the phone said; null: nothing. */
  status: MessageStatus | null
}

/**
 * Locks a contact's conversation against everything that numbers its messages, and against the index of words, which goes
 * by the numbers; null if there is no such contact.
 */
export async function lockConversation(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
): Promise<LockedConversation | null> {
  const [conversation] = await transaction.run(lock, [organizationId, contactId])
  return conversation ?? null
}

/** The recorded messages of a number (`instanceId`; null: the organization's own) with these upstream ids. */
export function findRecorded(
  transaction: Queryable,
  organizationId: string,
  instanceId: string | null,
  upstreamIds: readonly string[],
): Promise<FoundMessage[]> {
  return transaction.run(find, [organizationId, upstreamIds, instanceId])
}

/** The times, in ms, of `limit` messages of a conversation after the number `after` and before `before`, in order. */
export async function readMessageTimes(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { after, before, limit }: { after: number; before: number; limit: number },
): Promise<number[]> {
  const rows = await transaction.run(readTimes, [organizationId, contactId, after, before, limit])
  return rows.map(({ time }) => time)
}

/** Lowers the numbers of messages by FAR, from where they get their new ones. */
export async function liftMessages(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { from, to }: Omit<Fall, 'by'>,
): Promise<void> {
  await transaction.run(lift, [organizationId, contactId, from, to])
}

/** Makes room: messages and notes fall to lower numbers, and the words of the conversation are to be indexed again. */
export async function lowerMessages(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  falls: readonly Fall[],
): Promise<void> {
  const [first, last] = [falls[0], falls.at(-1)]
  if (!first || !last) return
  const of = [organizationId, contactId]
  await liftMessages(transaction, organizationId, contactId, { from: first.from, to: last.to })
  const values = [...of, falls.map(({ from }) => from), falls.map(({ to }) => to), falls.map(({ by }) => by)]
  await transaction.run(land, values)
  await transaction.run(moveNotes, values)
  await transaction.run(deleteWords, of)
}

/**
 * Records messages of a history under their numbers, which are free: nothing is told, no chat is unread, and the contact
 * moves in the list only to the time of the newest one. `hasFallen`: others made room for them. Needs a transaction that
 * has locked the conversation.
 */
export async function insertHistoricMessages(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  {
    conversation,
    messages,
    hasFallen,
  }: { conversation: LockedConversation; messages: readonly NewHistoricMessage[]; hasFallen: boolean },
): Promise<void> {
  const { pruned_seq: pruned, searchable_seq: searchable } = conversation
  const recorded = await transaction.run(insert, [organizationId, contactId, JSON.stringify(messages.map(toRecord))])
  // The words of what is before the indexed part are added to it.
  const isIndexed = !hasFallen && searchable > pruned
  if (isIndexed) {
    const words = recorded.map(({ text }) => searchableText(text, null))
    await transaction.run(addWords, [organizationId, contactId, recorded.map(({ seq }) => seq), words])
  }
  const newest = new Date(Math.max(...messages.map(({ message }) => message.created_at.getTime())))
  const indexedTo = isIndexed ? searchable : pruned - messages.length
  await transaction.run(widen, [organizationId, contactId, messages.length, indexedTo, newest])
}

/** A later status of a recorded message. */
export interface StatusChange {
  id: string
  status: MessageStatus
}

/** Moves the statuses of messages forward. Nothing is told about it. */
export async function advanceStatuses(
  transaction: Queryable,
  organizationId: string,
  changes: readonly StatusChange[],
): Promise<void> {
  if (changes.length > 0) await transaction.run(advance, [organizationId, JSON.stringify(changes)])
}

/** A message of a conversation whose search text may have changed. */
export type FilledMessage = { contact_id: string; seq: number; text: string; transcription: string | null }

/**
 * Replaces a placeholder that came with a history only; it keeps its id, number and time. Null if there is none any more.
 */
export async function fillHistoricPlaceholder(
  transaction: Queryable,
  organizationId: string,
  id: string,
  message: IncomingMessage,
): Promise<FilledMessage | null> {
  const values = [organizationId, id, message.message_type, message.text, message.media_type, toJson(message.content)]
  const more = [toJson(message.extras), message.contextUpstreamId, gatewayType(message), message.awaitsMedia]
  const [filled] = await transaction.run(fill, [...values, ...more])
  return filled ?? null
}

function toRecord({ seq, message, status }: NewHistoricMessage): Record<string, unknown> {
  const isSent = message.sender_type === 'human-chat'
  return {
    seq,
    id: message.id,
    upstream_id: message.upstreamId,
    instance_id: message.instanceId,
    sender_type: message.sender_type,
    message_type: message.message_type,
    text: message.text,
    media_type: message.media_type,
    content: message.content,
    extras: message.extras,
    // What was received is read, so that it is not unread anywhere; read_at tells whether the phone said so.
    status: isSent ? (status ?? 'sent') : message.sender_type === 'system' ? 'delivered' : 'read',
    is_read: !isSent && status === 'read',
    error: isSent && status === 'failed' ? { code: 'unknown', text: 'The phone says that it was not sent' } : null,
    context_upstream_id: message.contextUpstreamId,
    network: message.network,
    awaits_media: message.awaitsMedia,
    placeholder: message.placeholder === null ? null : 'told',
    gateway_type: gatewayType(message),
    note: message.note,
    created_at: message.created_at,
  }
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
