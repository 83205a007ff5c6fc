import type { Queryable } from '../../database/pool.js'
import { FEW, ofOrganization, organizationsOf, sharedStatement, statement } from '../../database/statement.js'
import { isUuid, newId } from '../../lib/bytes/id.js'
import { gatewayType, networkType } from '../../model/instances/gateway-message.js'
import { mediaExpiry } from '../../model/messages/media.js'
import type { MessageError } from '../../model/messages/message.js'
import type { Acceptance, NotRecorded, OutgoingMessage, Recorded } from '../../model/messages/outgoing.js'
import type { CallsNote, FailureNote, RepeatedNote, SettledNote } from '../../model/messages/trace.js'
import { countChanges } from '../counts/campaigns.js'
import { HISTORY_GOES_ON } from '../events/histories.js'
import { ASSIGNEE, MESSAGE_ROW } from '../events/message-rows.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'
import { messageEvents, messageState } from './message-events.js'
import { ACCEPTED_EVENT } from './messages.js'
import { trackNewMessages } from './new-messages.js'
import { addNote, addNoteOfChange, firstNotes, hasRoomForNote } from './trace-notes.js'

/** Why a batch skipped a message: another one is to the same contact, or the row is locked. */
type Skipped = 'same_contact' | 'locked'

interface RecordRow {
  contact_id: string | null
  chat_id: string | null
  phone_number: string | null
  blocked: boolean
  allow_broadcast: boolean | null
  opted_out: boolean | null
  reply_to_upstream_id: string | null
  wait_ms: number | null
  is_chosen: boolean
  recorded: boolean
  user_address: string | null
  is_group: boolean
  group_id: string | null
}

/**
 * The upstream's limit per recipient: one message per 6 s, and at most 45 at once. The interval is a little longer
 * here, because the upstream counts when messages arrive, and they do not all take the same time.
 */
const PAIR_INTERVAL = `interval '6.1 seconds'`
const PAIR_AHEAD = `44 * ${PAIR_INTERVAL}`

/**
 * Until when the messages of a contact `c` and the number of an instance (null: the organization's own) are paced. A time
 * that no burst can reach was written while a clock was wrong, and counts as none. A burst reaches 45 intervals; the rest
 * allows for clocks that differ a little.
 */
const pacedUntil = (c: string, instanceId: string, now: string) => {
  const stored = `CASE
         WHEN ${instanceId} IS NULL THEN ${c}.paced_until ELSE (${c}.paces ->> ${instanceId}::text)::timestamptz
       END`
  return `CASE WHEN ${stored} <= ${now} + 50 * ${PAIR_INTERVAL} THEN ${stored} END`
}

/** Whether the limit per recipient keeps a message to a contact `c` back now, from any of the organization's numbers. */
export const isPaced = (c: string) => `EXISTS (
       SELECT FROM (SELECT ${c}.paced_until AS until UNION ALL SELECT p.value::timestamptz FROM jsonb_each_text(${c}.paces) p) paced
       WHERE until > now() + ${PAIR_AHEAD} AND until <= now() + 50 * ${PAIR_INTERVAL}
     )`

/** The user id for a contact `c` without a number: the newest one of the right kind that it has not given up. */
export const userAddress = (c: string, usesJids: string) => `CASE WHEN ${c}.phone_number IS NULL THEN (
       SELECT a.address FROM contact_addresses a
       WHERE a.organization_id = ${c}.organization_id AND a.contact_id = ${c}.id AND a.address LIKE 'user:%'
         AND (a.address LIKE '%@%') = ${usesJids}
       ORDER BY a.left_at DESC NULLS FIRST, a.added_at DESC
       LIMIT 1
     ) END`

const isGroup = (c: string) => `coalesce(${c}.network_id LIKE '%@g.us', false)`

/**
 * The address of a contact `c` without a number on a channel: a group's, if the channel is in the group, else the user
 * id. A group of the business API has one number of it; groups of linked devices are reached by all that use JIDs.
 */
const addressOn = (c: string, usesJids: string, instanceId: string) => `CASE
       WHEN NOT ${isGroup(c)} THEN ${userAddress(c, usesJids)}
       WHEN ${c}.business_group IS NULL AND ${usesJids}
         OR (${c}.business_group ->> 'instance_id')::uuid IS NOT DISTINCT FROM ${instanceId} AND ${c}.business_group IS NOT NULL
       THEN 'user:' || ${c}.network_id
     END`

// Finds the contacts, checks the conditions, numbers the messages under the contacts' row locks, and records them. Many
// sends share the statement, so it does not wait for locks: of several messages to one contact it records only the
// first, and none to a contact whose row is locked. The recipient of a broadcast is read after its contact is locked,
// and is locked itself, because merging and erasing lock the contact first.
const record = sharedStatement<RecordRow>(
  'outgoing.record',
  `WITH given AS (
     -- The messages to record.
     SELECT * FROM json_to_recordset($1) AS given (n int, organization_id uuid, id uuid, addresses text[], sender_type text,
       message_type text, text text, media_type text, content jsonb, media_id uuid, media_expires_at timestamptz,
       reply_to_id text, reply_to_uuid uuid, is_reaction boolean, pair_limit boolean, assignee_id uuid, created_at timestamptz,
       contact_event_id uuid, is_promotional boolean, instance_id uuid, uses_jids boolean, fits_groups boolean, campaign_id uuid,
       broadcast_id uuid, recipient_n int, parameters jsonb, gateway_type text, note jsonb, traceparent text)
     ${FEW}
   ), found AS (
     -- The contact of each message: the first address that is known decides.
     SELECT g.n, g.organization_id, a.contact_id
     FROM given g CROSS JOIN LATERAL (
       SELECT a.contact_id
       FROM unnest(g.addresses) WITH ORDINALITY AS form (address, rank) CROSS JOIN LATERAL (
         SELECT contact_id FROM contact_addresses
         WHERE ${ofOrganization('organization_id', 'g.organization_id')} AND address = form.address
         OFFSET 0
       ) a
       ORDER BY form.rank
       LIMIT 1
     ) a
   ), chosen AS (
     -- Of several messages to one contact, only the first is recorded now.
     SELECT DISTINCT ON (organization_id, contact_id) n, organization_id, contact_id
     FROM found
     ORDER BY organization_id, contact_id, n
   ), known AS (
     -- Locks the contacts; rows that are locked already are skipped.
     SELECT chosen.n, c.*, ${addressOn('c', 'g.uses_jids', 'g.instance_id')} AS user_address
     FROM chosen JOIN given g USING (n) CROSS JOIN LATERAL (
       SELECT organization_id, id, chat_id, phone_number, network_id, business_group, blocked, bot_status, has_unread_messages,
         ${pacedUntil('contacts', 'g.instance_id', 'g.created_at')} AS paced_until, allow_broadcast, opted_out_at
       FROM contacts
       WHERE ${ofOrganization('organization_id', 'chosen.organization_id')} AND id = chosen.contact_id
       FOR NO KEY UPDATE SKIP LOCKED
     ) c
     ${FEW}
   ), reply_targets AS (
     -- The reply targets: accepted messages of the same conversation and channel.
     SELECT g.n, m.upstream_id
     FROM given g JOIN known USING (n) CROSS JOIN LATERAL (
       SELECT m.upstream_id FROM messages m
       WHERE m.organization_id = g.organization_id AND m.contact_id = known.id AND m.seq IS NOT NULL
         AND m.upstream_id IS NOT NULL AND (m.upstream_id = g.reply_to_id OR m.id = g.reply_to_uuid)
         AND m.instance_id IS NOT DISTINCT FROM g.instance_id
       LIMIT 1
     ) m
     WHERE g.reply_to_id IS NOT NULL
   ), open AS (
     -- Locks the recipients of running broadcasts that still wait for this message. None after a restore, until the
     -- broadcasts are paused with the new history.
     SELECT g.n
     FROM given g JOIN known USING (n) CROSS JOIN LATERAL (
       SELECT FROM broadcast_recipients r JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.broadcast_id
       WHERE r.organization_id = g.organization_id AND r.broadcast_id = g.broadcast_id AND r.n = g.recipient_n
         AND r.message_id = g.id AND r.skip_reason IS NULL AND b.status = 'running' AND ${HISTORY_GOES_ON}
       FOR KEY SHARE OF r
     ) r
     WHERE g.recipient_n > 0
   ), numbered AS (
     -- Checks all conditions, and takes the next number of each conversation.
     UPDATE contacts c
     SET last_seq = c.last_seq + CASE WHEN g.is_reaction THEN 0 ELSE 1 END,
       paced_until = CASE WHEN g.pair_limit AND g.instance_id IS NULL
         THEN greatest(known.paced_until, g.created_at) + ${PAIR_INTERVAL} ELSE c.paced_until END,
       paces = CASE WHEN g.pair_limit AND g.instance_id IS NOT NULL
         THEN coalesce(c.paces, '{}') || jsonb_build_object(g.instance_id::text, greatest(known.paced_until, g.created_at) + ${PAIR_INTERVAL})
         ELSE c.paces END,
       has_unread_messages = c.has_unread_messages AND g.sender_type <> 'human-chat',
       bot_status = CASE WHEN g.sender_type = 'human-chat' AND c.bot_status = 'active' THEN 'paused' ELSE c.bot_status END,
       updated_at = CASE WHEN g.sender_type = 'human-chat' THEN now() ELSE c.updated_at END
     FROM known JOIN given g USING (n) LEFT JOIN reply_targets USING (n) LEFT JOIN open USING (n)
     WHERE ${ofOrganization('c.organization_id', 'known.organization_id')} AND c.id = known.id AND NOT known.blocked
       AND (known.phone_number IS NOT NULL OR known.user_address IS NOT NULL)
       AND (g.fits_groups OR NOT ${isGroup('known')})
       AND (g.reply_to_id IS NULL OR reply_targets.upstream_id IS NOT NULL)
       AND (NOT g.is_promotional OR known.allow_broadcast)
       AND (g.recipient_n IS NULL OR g.recipient_n = 0 OR open.n IS NOT NULL)
       AND (NOT g.pair_limit OR coalesce(known.paced_until, g.created_at) <= g.created_at + ${PAIR_AHEAD})
     RETURNING g.n, g.is_reaction, c AS contact, c.organization_id, c.id, c.last_seq, c.bot_status, c.has_unread_messages, known.bot_status AS bot_status_before,
       known.has_unread_messages AS had_unread_messages, reply_targets.upstream_id AS reply_to_upstream_id
   ), changed AS (
     -- Raises contact.updated if a send by a human changed the contact.
     ${raiseEvents({
       ...contactEvents('contact.updated', 'g.contact_event_id', 'c.contact'),
       organizationId: 'g.organization_id',
       from: `numbered c JOIN given g USING (n)
       WHERE (c.bot_status, c.has_unread_messages) IS DISTINCT FROM (c.bot_status_before, c.had_unread_messages)`,
     })}
   ), recorded AS (
     -- Records the messages as pending.
     INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, media_type, content, media_id,
       media_expires_at, status, outcome, context_upstream_id, assignee_id, created_at, recorded_at, instance_id, campaign_id,
       broadcast_id, recipient_n, gateway_type, trace, notes, traceparent)
     SELECT g.organization_id, g.id, c.id, CASE WHEN g.is_reaction THEN NULL ELSE c.last_seq END, g.sender_type, g.message_type,
       g.text, g.media_type, g.content, g.media_id, g.media_expires_at, 'sent', 'pending', c.reply_to_upstream_id, g.assignee_id,
       g.created_at, g.created_at, g.instance_id, g.campaign_id, g.broadcast_id, g.recipient_n, g.gateway_type,
       ${firstNotes('g.note')}, g.traceparent
     FROM numbered c JOIN given g USING (n)
   ), singles AS (
     -- Creates the recipients of one-off sends.
     INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, parameters, message_id)
     SELECT g.organization_id, g.broadcast_id, 0, g.campaign_id, c.id, g.parameters, g.id
     FROM numbered c JOIN given g USING (n)
     WHERE g.recipient_n = 0
   ), counted AS (
     -- Counts the messages in their campaigns.
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
     SELECT g.organization_id, g.campaign_id, counter, count(*)
     FROM numbered JOIN given g USING (n) CROSS JOIN unnest(ARRAY['recorded', 'total']) AS counter
     WHERE g.recipient_n = 0 OR (g.recipient_n IS NOT NULL AND counter = 'recorded')
     GROUP BY g.organization_id, g.campaign_id, counter
   ), ${trackNewMessages(`SELECT g.organization_id, c.id AS contact_id, g.instance_id, c.last_seq AS seq
     FROM numbered c JOIN given g USING (n)
     WHERE NOT g.is_reaction`)}, attached AS (
     -- Attaches stored files to their messages.
     UPDATE media SET message_id = g.id
     FROM numbered JOIN given g USING (n)
     WHERE media.organization_id = g.organization_id AND media.id = g.media_id AND media.message_id IS NULL
   )
   SELECT found.contact_id, known.chat_id, known.phone_number, coalesce(known.blocked, false) AS blocked,
     known.allow_broadcast, known.opted_out_at IS NOT NULL AS opted_out, reply_targets.upstream_id AS reply_to_upstream_id,
     extract(epoch FROM known.paced_until - ${PAIR_AHEAD} - g.created_at)::float8 * 1000 AS wait_ms,
     chosen.n IS NOT NULL AS is_chosen, numbered.n IS NOT NULL AS recorded,
     known.user_address, ${isGroup('known')} AS is_group, known.business_group ->> 'id' AS group_id
   FROM given g LEFT JOIN found USING (n) LEFT JOIN chosen USING (n) LEFT JOIN known USING (n)
     LEFT JOIN reply_targets USING (n) LEFT JOIN numbered USING (n)
   ORDER BY g.n`,
  { raises: 'events', enqueues: 'later' },
)

const check = statement<{
  chat_id: string
  blocked: boolean
  allow_broadcast: boolean
  opted_out: boolean
  wait_ms: number | null
  is_reply_to_found: boolean
  is_reachable: boolean
  is_group: boolean
}>(
  'outgoing.check',
  `SELECT c.chat_id, c.blocked, c.allow_broadcast, c.opted_out_at IS NOT NULL AS opted_out,
     extract(epoch FROM ${pacedUntil('c', '$6::uuid', '$5::timestamptz')} - ${PAIR_AHEAD} - $5)::float8 * 1000 AS wait_ms, EXISTS (
     SELECT FROM messages m
     WHERE m.organization_id = $1 AND m.contact_id = c.id AND m.seq IS NOT NULL AND m.upstream_id IS NOT NULL
       AND (m.upstream_id = $3 OR m.id = $4) AND m.instance_id IS NOT DISTINCT FROM $6::uuid
   ) AS is_reply_to_found,
     c.phone_number IS NOT NULL OR ${addressOn('c', '$7::boolean', '$6::uuid')} IS NOT NULL AS is_reachable, ${isGroup('c')} AS is_group
   FROM contact_addresses a
   JOIN contacts c ON c.organization_id = a.organization_id AND c.id = a.contact_id
   WHERE a.organization_id = $1 AND a.address = ANY ($2::text[])
   ORDER BY array_position($2, a.address)
   LIMIT 1`,
)

// A status callback may have reported the acceptance before; then nothing changes. The event's message has no
// reactions, since a message just accepted cannot have any. The statement does not wait for locks either.
const accept = sharedStatement<{ is_locked: boolean }>(
  'outgoing.accept',
  `WITH given AS (
     -- The acceptances, in the order in which rows are locked.
     SELECT * FROM json_to_recordset($1) AS given (n int, organization_id uuid, id uuid, upstream_id text, accepted_at timestamptz,
       alias text, user_address text, event_id uuid, network jsonb, gateway_type text, note jsonb, is_held boolean)
     ORDER BY organization_id, id
     ${FEW}
   ), waiting AS (
     -- Locks the messages that are not accepted yet; locked rows are skipped.
     SELECT g.n, m.*
     FROM given g CROSS JOIN LATERAL (
       SELECT organization_id, id, accepted_at AS accepted_at_before, status AS status_before, error AS error_before
       FROM messages
       WHERE ${ofOrganization('organization_id', 'g.organization_id')} AND id = g.id AND accepted_at IS NULL
       FOR NO KEY UPDATE SKIP LOCKED
     ) m
     ${FEW}
   ), accepted AS (
     -- Marks the messages accepted.
     UPDATE messages m
     SET upstream_id = coalesce(m.upstream_id, g.upstream_id), status = 'sent', outcome = NULL, error = NULL, failed_at = NULL,
       accepted_at = g.accepted_at, held_at = CASE WHEN g.is_held THEN g.accepted_at END, network = coalesce(g.network, m.network),
       gateway_type = coalesce(g.gateway_type, m.gateway_type), ${addNoteOfChange('m', 'g.note')}
     FROM waiting JOIN given g USING (n)
     WHERE ${ofOrganization('m.organization_id', 'waiting.organization_id')} AND m.id = waiting.id
     RETURNING g.n, m.organization_id, m.id, m.contact_id, m.instance_id, m.message_type, m.assignee_id,
       CASE WHEN ${WRITES_AS_BEFORE} THEN ${MESSAGE_ROW} END AS row, ${messageState('NULL')} AS state, m.campaign_id, m.broadcast_id,
       m.recipient_n, m.accepted_at, m.status, m.error, accepted_at_before, status_before, error_before
   ), kept AS (
     -- Keeps the call and the network's message if a status came before the answer to the call.
     UPDATE messages m
     SET network = coalesce(m.network, g.network), ${addNoteOfChange('m', 'g.note')},
       gateway_type = CASE WHEN m.network IS NULL THEN coalesce(g.gateway_type, m.gateway_type) ELSE m.gateway_type END
     FROM (
       SELECT g.n, g.organization_id, m.id, g.network, g.gateway_type, g.note
       FROM given g LEFT JOIN waiting USING (n) CROSS JOIN LATERAL (
         SELECT id FROM messages
         WHERE ${ofOrganization('organization_id', 'g.organization_id')} AND id = g.id AND accepted_at IS NOT NULL
         FOR NO KEY UPDATE SKIP LOCKED
       ) m
       WHERE waiting.n IS NULL
       ${FEW}
     ) g
     WHERE ${ofOrganization('m.organization_id', 'g.organization_id')} AND m.id = g.id
     RETURNING g.n
   ), ${countChanges('accepted')}, aliases AS (
     -- Adds the form of the number that the upstream uses.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT m.organization_id, g.alias, m.contact_id FROM accepted m JOIN given g USING (n)
     WHERE g.alias IS NOT NULL
     ORDER BY m.organization_id, g.alias
     ON CONFLICT DO NOTHING
   ), ids AS (
     -- If the contact has another user id of the same business, the number's current owner is a different person.
     INSERT INTO contact_addresses (organization_id, address, contact_id, instance_id)
     SELECT m.organization_id, g.user_address, m.contact_id, m.instance_id FROM accepted m JOIN given g USING (n)
     WHERE g.user_address IS NOT NULL AND NOT EXISTS (
       SELECT FROM contact_addresses a
       WHERE a.organization_id = m.organization_id AND a.contact_id = m.contact_id AND a.address LIKE 'user:%'
         AND a.address NOT LIKE '%@%' AND a.instance_id IS NOT DISTINCT FROM m.instance_id
     )
     ORDER BY m.organization_id, g.user_address
     ON CONFLICT DO NOTHING
   ), raised AS (
     -- Raises message.sent or message.reaction.
     ${raiseEvents({
       ...messageEvents(ACCEPTED_EVENT, 'g.event_id', {
         message: `CASE WHEN m.assignee_id IS NULL THEN m.row ELSE m.row || jsonb_build_object('assignee', ${ASSIGNEE}) END`,
         state: 'm.state',
       }),
       organizationId: 'm.organization_id',
       from: `accepted m JOIN given g USING (n)
       JOIN contacts c ON ${ofOrganization('c.organization_id', 'm.organization_id')} AND c.id = m.contact_id`,
     })}
   )
   SELECT accepted.n IS NULL AND kept.n IS NULL AND EXISTS (
       SELECT FROM messages m
       WHERE ${ofOrganization('m.organization_id', 'g.organization_id')} AND m.id = g.id
     ) AS is_locked
   FROM given g LEFT JOIN accepted USING (n) LEFT JOIN kept USING (n)
   ORDER BY g.n`,
  { raises: 'events' },
)

const refuse = statement<never>(
  'outgoing.refuse',
  `WITH refused AS (
     -- Marks the outstanding message failed.
     UPDATE messages m
     SET status = 'failed', outcome = NULL, error = $3, failed_at = $4, ${addNoteOfChange('m', '$6::jsonb')}
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND m.outcome IS NOT NULL
     RETURNING *
   ), kept AS (
     -- Keeps the call if a status came before the answer to it.
     UPDATE messages m SET ${addNoteOfChange('m', '$6::jsonb')}
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND m.outcome IS NULL
   ), changed AS (
     SELECT *, accepted_at AS accepted_at_before, 'sent' AS status_before, NULL::jsonb AS error_before FROM refused
   ), ${countChanges('changed')}, event AS (
     -- Raises message.failed.
     ${raiseEvents({
       ...messageEvents("'message.failed'", '$5', { previousStatus: "'sent'" }),
       from: 'refused m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id',
     })}
   )
   SELECT`,
  { raises: 'events' },
)

const markUnknown = statement<never>(
  'outgoing.markUnknown',
  `UPDATE messages m
   SET outcome = CASE m.outcome WHEN 'pending' THEN 'unknown' ELSE m.outcome END,
     ${addNoteOfChange('m', '$3::jsonb')}
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND (m.outcome = 'pending' OR $3::jsonb IS NOT NULL)`,
)

const noteOfAnswer = statement<never>(
  'outgoing.noteAnswer',
  `UPDATE messages m SET ${addNote('m', '$3::jsonb')}
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND ${hasRoomForNote('m')}`,
)

const markAbandoned = sharedStatement<never>(
  'outgoing.markAbandoned',
  `UPDATE messages m SET outcome = 'unknown'
   FROM organizations o
   WHERE m.organization_id = o.id AND m.outcome = 'pending' AND m.recorded_at < $1`,
)

const listOverdue = sharedStatement<{ organization_id: string; id: string }>(
  'outgoing.listOverdue',
  `SELECT m.organization_id, m.id
   FROM organizations o JOIN messages m ON m.organization_id = o.id
   WHERE m.outcome IS NOT NULL AND m.recorded_at < $1 AND NOT o.id = ANY ($3::uuid[]) AND NOT m.id = ANY ($4::uuid[])
   ORDER BY m.recorded_at
   LIMIT $2`,
)

/**
 * Records messages with the outcome `pending`, or says why not. Each contact is found by the forms of the address. If a
 * human's send changes the contact, contact.updated is raised. `same_contact`: another message to the same contact came
 * first; `locked`: the contact's row is locked. Fails with a unique violation, and records nothing, if an id is taken.
 */
export async function recordOutgoingMessages(
  db: Queryable,
  messages: readonly OutgoingMessage[],
): Promise<(Recorded | Skipped)[]> {
  const rows = await db.raise(record, [toRecordset(messages)], organizationsOf(messages))
  return rows.map((row, index) => toRecorded(row, messages[index] as OutgoingMessage))
}

/** The reason why recording the message now would fail, or null; writes nothing. */
export async function checkRecipient(db: Queryable, message: OutgoingMessage): Promise<NotRecorded | null> {
  const { organizationId, instanceId, usesJids, addresses, replyToId, pairLimit, isPromotional, created_at } = message
  const replyTo = [replyToId, toUuid(replyToId)]
  const [contact] = await db.run(check, [organizationId, addresses, ...replyTo, created_at, instanceId, usesJids])
  if (!contact) return { recorded: false, reason: 'no_contact' }
  const { chat_id: chatId, wait_ms: waitMs } = contact
  if (contact.blocked) return { recorded: false, reason: 'blocked', chatId }
  if (!contact.is_reachable) return { recorded: false, reason: 'unreachable', chatId, isGroup: contact.is_group }
  if (contact.is_group && !message.fitsGroups) return { recorded: false, reason: 'unfit', chatId }
  if (replyToId !== null && !contact.is_reply_to_found) return { recorded: false, reason: 'not_found', chatId }
  if (isPromotional && !contact.allow_broadcast) {
    return { recorded: false, reason: 'unwanted', chatId, optedOut: contact.opted_out }
  }
  if (pairLimit && waitMs !== null && waitMs > 0) return { recorded: false, reason: 'paced', chatId, waitMs }
  return null
}

function toUuid(id: string | null): string | null {
  return id !== null && isUuid(id) ? id : null
}

function toRecordset(messages: readonly OutgoingMessage[]): string {
  return JSON.stringify(
    messages.map((message, n) => ({
      n,
      organization_id: message.organizationId,
      id: message.id,
      addresses: message.addresses,
      sender_type: message.sender_type,
      message_type: message.message_type,
      text: message.text,
      media_type: message.media_type,
      content: message.content,
      media_id: message.mediaId,
      media_expires_at: message.mediaId === null ? null : mediaExpiry(message.created_at),
      reply_to_id: message.replyToId,
      reply_to_uuid: toUuid(message.replyToId),
      is_reaction: message.isReaction,
      pair_limit: message.pairLimit,
      assignee_id: message.assignee_id,
      created_at: message.created_at,
      contact_event_id: message.contactEventId,
      instance_id: message.instanceId,
      uses_jids: message.usesJids,
      fits_groups: message.fitsGroups,
      is_promotional: message.isPromotional,
      campaign_id: message.recipient?.campaignId,
      broadcast_id: message.recipient?.broadcastId,
      recipient_n: message.recipient?.n,
      parameters: message.recipient?.parameters,
      gateway_type: gatewayType({ ...message, network: null }),
      note: message.asked,
      traceparent: message.traceparent,
    })),
  )
}

function toRecorded(
  row: RecordRow,
  { replyToId, isPromotional, pairLimit, recipient, usesJids, fitsGroups }: OutgoingMessage,
): Recorded | Skipped {
  const { contact_id: contactId, chat_id: chatId, reply_to_upstream_id: replyToUpstreamId } = row
  if (contactId === null) return { recorded: false, reason: 'no_contact' }
  if (chatId === null) return row.is_chosen ? 'locked' : 'same_contact'
  if (row.recorded) {
    return {
      recorded: true,
      contactId,
      chatId,
      userId: row.user_address?.slice('user:'.length) ?? null,
      groupId: usesJids ? null : row.group_id,
      replyToUpstreamId,
    }
  }
  if (row.blocked) return { recorded: false, reason: 'blocked', chatId }
  if (row.phone_number === null && row.user_address === null) {
    return { recorded: false, reason: 'unreachable', chatId, isGroup: row.is_group }
  }
  if (row.is_group && !fitsGroups) return { recorded: false, reason: 'unfit', chatId }
  if (replyToId !== null && replyToUpstreamId === null) return { recorded: false, reason: 'not_found', chatId }
  if (isPromotional && !row.allow_broadcast) {
    return { recorded: false, reason: 'unwanted', chatId, optedOut: row.opted_out === true }
  }
  if (pairLimit && row.wait_ms !== null && row.wait_ms > 0) {
    return { recorded: false, reason: 'paced', chatId, waitMs: Math.ceil(row.wait_ms) }
  }
  return recipient
    ? { recorded: false, reason: 'withdrawn', chatId }
    : { recorded: false, reason: 'paced', chatId, waitMs: 1 }
}

/**
 * Marks messages accepted and raises message.sent or message.reaction, unless they are marked already. `locked`: the
 * message's row is locked. Fails with a unique violation, and marks none, if an upstream id is taken.
 */
export async function acceptMessages(
  db: Queryable,
  acceptances: readonly Acceptance[],
): Promise<('settled' | 'locked')[]> {
  const rows = await db.raise(accept, [toAcceptanceset(acceptances)], organizationsOf(acceptances))
  return rows.map(({ is_locked: isLocked }) => (isLocked ? 'locked' : 'settled'))
}

function toAcceptanceset(acceptances: readonly Acceptance[]): string {
  return JSON.stringify(
    acceptances.map(
      ({ organizationId, id, upstreamId, network, at, alias, userId, isHeld = false, eventId, note }, n) => ({
        n,
        organization_id: organizationId,
        id,
        upstream_id: upstreamId,
        accepted_at: at,
        alias,
        user_address: userId === null ? null : `user:${userId}`,
        event_id: eventId,
        network,
        gateway_type: network?.message && networkType(network.message),
        note,
        is_held: isHeld,
      }),
    ),
  )
}

/** Marks an outstanding message failed and raises message.failed. `note`: why, for its trace. */
export async function refuseMessage(
  db: Queryable,
  organizationId: string,
  id: string,
  { error, at, note }: { error: MessageError; at: Date; note: CallsNote | SettledNote },
): Promise<void> {
  const values = [organizationId, id, JSON.stringify(error), at, newId(), JSON.stringify(note)]
  await db.raise(refuse, values, [organizationId])
}

/**
 * Marks an outstanding message as unknown: the call ended without an answer. A callback may still report its outcome.
 * `note`: the call, for its trace; null if it is not known.
 */
export async function markMessageUnknown(
  db: Queryable,
  organizationId: string,
  id: string,
  note: CallsNote | null,
): Promise<void> {
  await db.run(markUnknown, [organizationId, id, note && JSON.stringify(note)])
}

/** Notes on the message with this id, if there is one, what a request was answered. */
export async function noteAnswer(
  db: Queryable,
  organizationId: string,
  id: string,
  note: RepeatedNote | FailureNote,
): Promise<void> {
  await db.run(noteOfAnswer, [organizationId, id, JSON.stringify(note)])
}

/** Marks messages recorded before `before` as unknown if their process died during the send. Of all tenants. */
export async function markAbandonedMessages(db: Queryable, before: Date): Promise<void> {
  await db.run(markAbandoned, [before])
}

/** Messages recorded before `before` that are still outstanding, oldest first. Of all tenants but those in `except`. */
export function listOverdueMessages(
  db: Queryable,
  before: Date,
  except: { organizations: readonly string[]; ids: readonly string[] },
  limit: number,
): Promise<{ organization_id: string; id: string }[]> {
  return db.run(listOverdue, [before, limit, except.organizations, except.ids])
}
