import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, statement } from '../../database/statement.js'
import type { BusinessGroup } from '../../model/contacts/business-group.js'
import type { ContactReferral } from '../../model/contacts/referral.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import type { Message, NetworkDetails } from '../../model/messages/message.js'
import type { MessageExtras } from '../../model/messages/shown/extras.js'
import type { CallbackNote } from '../../model/messages/trace.js'
import { earlierReferral, laterReferral, normalizeName, searchUsernames } from '../contacts/contacts.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { messageEvents } from './message-events.js'
import { RECORDED_EVENT } from './messages.js'
import { trackNewMessages } from './new-messages.js'
import { addIdleNote, firstNotes, noteOfChange, takesIdleNote } from './trace-notes.js'

/** An inbound message to be recorded. */
export interface IncomingMessage {
  id: string
  eventId: string
  upstreamId: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  /**
   * human-chat: a member of the team typed it on the phone of a linked device or of the business number. bot-chat: the
   * upstream's agent sent it.
   */
  sender_type: 'user-chat' | 'system' | 'human-chat' | 'bot-chat'
  message_type: string
  text: string
  media_type: string | null
  content: unknown
  extras: MessageExtras | null
  /** Whether it has a file to download. */
  awaitsMedia: boolean
  contextUpstreamId: string | null
  /** As the network of a linked device has it. */
  network: NetworkDetails | null
  /** The phone leaves chats in its archive when a message comes. */
  keepsArchived: boolean
  /** Whether the contact did something after which free messages may be sent for 24 hours: wrote, or called. */
  opensWindow: boolean
  /** Whether it came to a business number, not to a linked device. */
  isToNumber: boolean
  /** Whether the team should look at it: it marks the contact unread and takes it out of the archive. */
  isNews: boolean
  /**
   * Set if the upstream could not say yet what the message is. `held`: the real one will probably follow, and
   * message.received waits for it, at most 10 minutes.
   */
  placeholder: 'held' | 'told' | null
  handled_by: Message['handled_by']
  /** The ad or post that the sender came from. */
  referral: ContactReferral | null
  /** The group of the business API that it was written in. */
  businessGroup: Pick<BusinessGroup, 'id' | 'instance_id'> | null
  created_at: Date
  /** The callback that brought it. */
  note: CallbackNote
  /** The trace of the request that brought it, if it is recorded; as in the header. */
  traceparent: string | null
}

/**
 * `no_contact`: the addresses do not lead to exactly one complete contact; resolve the contact and record again.
 * `fills`: a placeholder with the same upstream id is there; see placeholders. `was_history`: a phone's history brought
 * the message before; see history-messages.
 */
export type Received = 'recorded' | 'duplicate' | 'fills' | 'was_history' | 'no_contact'

/** Whether a message was recorded, or had been before. */
export interface RecordRow {
  recorded: boolean
  duplicate: boolean
  /** Whether the one before is a placeholder that this one fills. */
  fills?: boolean
  /** Whether the one before came with a history only. */
  was_history?: boolean
}

/**
 * True if row `of` has the same author (side, instance, and in groups the participant): only the author may edit or
 * revoke a message.
 */
export const isSameAuthor = (of: string, isCustomers: string, instance: string, participant: string) =>
  `(${of}.sender_type = 'user-chat') = (${isCustomers}) AND ${of}.instance_id IS NOT DISTINCT FROM ${instance}
         AND (${of}.network ->> 'participant') IS NOT DISTINCT FROM (${participant})`

/** SQL: the newest edit or revocation, by its author, of a message that may not be stored yet. */
export const newestChange = (contactId: string, upstreamId: string, ...author: [string, string, string]) =>
  `SELECT e.id, e.text, e.message_type, e.created_at FROM messages e
       WHERE e.organization_id = $1 AND e.context_upstream_id = ${upstreamId} AND e.contact_id = ${contactId}
         AND e.seq IS NULL AND e.message_type IN ('edit', 'revoke') AND ${isSameAuthor('e', ...author)}
       ORDER BY e.created_at DESC, e.id DESC
       LIMIT 1`

/** SQL: the author of the new row `of`, for isSameAuthor. */
export const authorOf = (of: string): [string, string, string] => [
  `${of}.sender_type = 'user-chat'`,
  `${of}.instance_id`,
  `${of}.network ->> 'participant'`,
]

/** SQL: `extras` with the mark of `change`, the newest edit or revocation of a message. An edit may follow a revocation. */
export const withChangeMark = (extras: string, change: string) =>
  `(coalesce(${extras}, '{}') - 'deleted_at') || jsonb_build_object(
         CASE ${change}.message_type WHEN 'edit' THEN 'edited_at' ELSE 'deleted_at' END, ${change}.created_at)`

/**
 * The one contact that a sender's addresses lead to. NULL if they lead to several contacts, a required address is
 * unknown, or a number did not belong to the contact at that time: then the caller resolves the contact and passes its
 * id.
 */
export const senderContact = (
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

/** SQL: whether the organization sent the message `k`, but not with Parley. */
const IS_OURS = "k.sender_type IN ('human-chat', 'bot-chat')"

/** For how many minutes message.received waits for what a placeholder stands for. */
const HELD_MINUTES = 10

// Does not record a message whose contact is unresolved or lacks the known number, nor later ones of the same person,
// nor those after one that a history brought. If an edit or revocation came before the message, its text is used. A
// message with a file raises message.received after the first attempt to download the file (see incoming-media), so that
// the event has the file's URL; this statement enqueues that job. The contacts are locked in the order of their ids.
const record = statement<RecordRow & { awaits_media: boolean }>(
  'incoming.record',
  `WITH given AS MATERIALIZED (
     SELECT * FROM json_to_recordset($2) AS given (n int, person int, contact_id uuid, addresses text[], required text[],
       has_number boolean, profile_name text, folded_name text, user_id text, parent_user_id text,
       username text, referral jsonb, business_group jsonb, id uuid, event_id uuid, renamed_event_id uuid,
       upstream_id text, instance_id uuid, keeps_archived boolean, sender_type text, message_type text, text text, media_type text, content jsonb, extras jsonb,
       awaits_media boolean, context_upstream_id text, network jsonb, created_at timestamptz, gateway_type text,
       note jsonb, traceparent text, opens_window boolean, is_to_number boolean, is_news boolean, placeholder text,
       handled_by text)
     ${FEW_ROWS}
   ), found AS MATERIALIZED (
     -- The contact of each sender, and whether the same message was recorded before, or a placeholder for it.
     SELECT f.*, f.known IS NOT NULL AS is_duplicate, f.known = 'history' AS was_history,
       f.known NOT IN ('', 'history') AND f.placeholder IS NULL AS fills
     FROM (
       SELECT g.*, ${senderContact('g.addresses', 'g.required', 'g.created_at', 'g.contact_id')} AS sender_id, (
           SELECT CASE WHEN m.only_in_history THEN 'history' ELSE coalesce(m.placeholder, '') END FROM messages m
           WHERE m.organization_id = $1 AND m.upstream_id = g.upstream_id AND m.instance_id IS NOT DISTINCT FROM g.instance_id
         ) AS known
       FROM given g
     ) f
   ), known AS MATERIALIZED (
     -- The new messages with a resolved contact, and the contact as it was.
     SELECT f.*, c.full_name AS name_before, c.has_unread_messages AS unread_before, c.bot_status AS bot_before,
       c.last_inbound_at AS inbound_before, c.archived AS archived_before, c.user_id AS user_id_before,
       c.parent_user_id AS parent_before, c.username AS username_before,
       c.referral_first AS first_before, c.referral_last AS last_before,
       f.is_news AND NOT (f.keeps_archived AND f.instance_id IS NOT DISTINCT FROM c.archived_through) AS unarchives
     FROM found f CROSS JOIN LATERAL (
       SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = f.sender_id OFFSET 0
     ) c
     WHERE NOT f.is_duplicate AND (c.phone_number IS NOT NULL OR NOT f.has_number OR f.contact_id IS NOT NULL)
   ), unknown AS MATERIALIZED (
     -- The people with an unresolved contact, and their first message that cannot be recorded. One of a history gets its
     -- number before later ones do.
     SELECT person, min(n) AS n FROM found
     WHERE was_history OR (NOT is_duplicate AND n NOT IN (SELECT n FROM known))
     GROUP BY person
   ), next AS MATERIALIZED (
     -- What is recorded now: each message, its position among those of its contact, and the newest time until then.
     SELECT k.*, row_number() OVER so_far AS position, count(*) OVER (PARTITION BY k.sender_id) AS total,
       max(k.created_at) FILTER (WHERE k.opens_window) OVER so_far AS inbound_until
     FROM known k
     WHERE NOT EXISTS (SELECT FROM unknown u WHERE u.person = k.person AND u.n < k.n)
     WINDOW so_far AS (PARTITION BY k.sender_id ORDER BY k.n)
   ), numbered AS (
     -- Takes the next numbers of the conversations and updates the contacts.
     UPDATE contacts c
     SET last_seq = c.last_seq + t.total,
       has_unread_messages = (c.has_unread_messages OR (t.has_news AND NOT c.blocked)) AND NOT t.has_typed,
       bot_status = CASE WHEN t.has_typed AND c.bot_status = 'active' THEN 'paused' ELSE c.bot_status END,
       last_inbound_at = greatest(c.last_inbound_at, t.inbound_at),
       wrote_to = CASE WHEN t.wrote_at >= coalesce(c.last_inbound_at, '-infinity') THEN t.wrote_to ELSE c.wrote_to END,
       full_name = coalesce(c.full_name, t.profile_name), folded_name = coalesce(c.folded_name, t.folded_name),
       user_id = coalesce(c.user_id, (
         SELECT t.user_id FROM contact_addresses a
         WHERE ${ofOrganization('a.organization_id', '$1::uuid')} AND a.address = 'user:' || t.user_id AND a.contact_id = c.id
           AND a.left_at IS NULL AND a.instance_id IS NULL
       )), parent_user_id = coalesce(t.parent_user_id, c.parent_user_id),
       username = CASE WHEN t.username_at >= coalesce(c.username_at, '-infinity') THEN t.username ELSE c.username END,
       username_at = greatest(c.username_at, t.username_at),
       referral_first = ${earlierReferral('c.referral_first', 't.referral_first')},
       referral_last = ${laterReferral('c.referral_last', 't.referral_last')},
       business_group = CASE WHEN c.business_group @> t.business_group THEN c.business_group
         ELSE coalesce(c.business_group || t.business_group, t.business_group, c.business_group) END,
       archived = c.archived AND (c.blocked OR NOT t.unarchives),
       archived_through = CASE WHEN c.archived AND (c.blocked OR NOT t.unarchives) THEN c.archived_through END,
       updated_at = now()
     FROM (
       SELECT sender_id, count(*) AS total, bool_or(is_news) AS has_news, bool_or(unarchives) AS unarchives,
         bool_or(sender_type = 'human-chat') AS has_typed, max(created_at) FILTER (WHERE opens_window) AS inbound_at,
         max(created_at) FILTER (WHERE opens_window AND is_to_number) AS wrote_at,
         (array_agg(instance_id ORDER BY created_at DESC, n DESC) FILTER (WHERE opens_window AND is_to_number))[1] AS wrote_to,
         (array_agg(profile_name ORDER BY n) FILTER (WHERE profile_name IS NOT NULL))[1] AS profile_name,
         (array_agg(folded_name ORDER BY n) FILTER (WHERE profile_name IS NOT NULL))[1] AS folded_name,
         (array_agg(user_id ORDER BY n) FILTER (WHERE user_id IS NOT NULL))[1] AS user_id,
         (array_agg(parent_user_id ORDER BY n DESC) FILTER (WHERE parent_user_id IS NOT NULL))[1] AS parent_user_id,
         (array_agg(username ORDER BY created_at DESC, n DESC) FILTER (WHERE username IS NOT NULL))[1] AS username,
         max(created_at) FILTER (WHERE username IS NOT NULL) AS username_at,
         (array_agg(business_group ORDER BY n DESC) FILTER (WHERE business_group IS NOT NULL))[1] AS business_group,
         (array_agg(referral ORDER BY created_at, n) FILTER (WHERE referral IS NOT NULL))[1] AS referral_first,
         (array_agg(referral ORDER BY created_at DESC, n DESC) FILTER (WHERE referral IS NOT NULL))[1] AS referral_last
       FROM next
       GROUP BY sender_id
       ORDER BY sender_id
       ${FEW_ROWS}
     ) t
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = t.sender_id
     RETURNING c.*
   ), aliases AS (
     -- Adds new addresses of the contacts.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, address, numbered.id FROM next k JOIN numbered ON numbered.id = k.sender_id, unnest(k.addresses) AS address
     WHERE k.contact_id IS NULL
     ORDER BY address
     ON CONFLICT DO NOTHING
   ), parents AS (
     -- Makes new parent user ids lead to the contacts.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, 'parent:' || numbered.parent_user_id, numbered.id
     FROM numbered JOIN next k ON k.sender_id = numbered.id AND k.position = 1
     WHERE numbered.parent_user_id IS DISTINCT FROM k.parent_before
     ORDER BY numbered.parent_user_id
     ON CONFLICT DO NOTHING
   ), usernames AS (
     -- Makes new usernames searchable.
     ${searchUsernames(`SELECT numbered.id, numbered.username
       FROM numbered JOIN next k ON k.sender_id = numbered.id AND k.position = 1
       WHERE numbered.username IS DISTINCT FROM k.username_before`)}
   ), recorded AS (
     -- Records the messages, with text and mark of an edit or revocation that came before.
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, media_type,
       content, extras, status, context_upstream_id, created_at, accepted_at, delivered_at, media_state, instance_id, network,
       assignee_id, gateway_type, trace, notes, traceparent, placeholder, handled_by)
     SELECT $1, k.id, c.id, c.last_seq - k.total + k.position, k.upstream_id, k.sender_type, k.message_type,
       coalesce(change.text, k.text), k.media_type, k.content,
       CASE WHEN change.text IS NULL THEN k.extras ELSE ${withChangeMark('k.extras', 'change')} END,
       CASE WHEN ${IS_OURS} THEN 'sent' ELSE 'delivered' END, k.context_upstream_id, k.created_at, k.created_at,
       CASE WHEN NOT ${IS_OURS} THEN k.created_at END, CASE WHEN k.awaits_media THEN 'awaited' END,
       k.instance_id, k.network, CASE WHEN NOT ${IS_OURS} THEN c.assignee_id END, k.gateway_type,
       ${firstNotes(noteOfChange('k.note'))}, k.traceparent,
       k.placeholder, k.handled_by
     FROM next k JOIN numbered c ON c.id = k.sender_id LEFT JOIN LATERAL (
       ${newestChange('c.id', 'k.upstream_id', ...authorOf('k'))}
     ) change ON true
     ORDER BY k.n
     RETURNING *
   ), repeated AS (
     -- Notes further callbacks that bring a recorded message, each once.
     UPDATE messages m SET ${addIdleNote('m', 'f.note')}
     FROM found f
     WHERE f.is_duplicate AND NOT f.fills AND NOT f.was_history
       AND ${ofOrganization('m.organization_id', '$1::uuid')} AND m.upstream_id = f.upstream_id
       AND m.instance_id IS NOT DISTINCT FROM f.instance_id
       AND ${takesIdleNote('m', 'f.note')}
   ), ${trackNewMessages('SELECT organization_id, contact_id, instance_id, seq FROM recorded')}, received AS (
     -- Raises the events of the messages, unless they wait for their files or are held. Whole ones have the contacts as they
     -- were then.
     ${raiseEvents({
       ...messageEvents(RECORDED_EVENT, 'k.event_id', {
         isWhole: 'k.placeholder IS NOT NULL',
         contact: `CASE WHEN k.position = k.total THEN to_jsonb(c) ELSE to_jsonb(c) || jsonb_build_object('last_seq', m.seq,
           'last_inbound_at', greatest(k.inbound_before, k.inbound_until))
         END`,
       }),
       from: `recorded m JOIN next k ON k.id = m.id JOIN numbered c ON c.id = m.contact_id
     WHERE NOT k.awaits_media AND k.placeholder IS DISTINCT FROM 'held'
     ORDER BY k.n`,
     })}
   ), enqueued AS (
     -- Enqueues the downloads of the files.
     ${enqueueJobs({
       task: 'fetch_media',
       from: "recorded WHERE media_state = 'awaited'",
       payload: "jsonb_build_object('messageId', recorded.id)",
     })}
   ), telling AS (
     -- Enqueues the events of placeholders that nothing will have filled by then.
     ${enqueueJobs({
       task: 'tell_placeholder',
       from: "recorded WHERE placeholder = 'held'",
       payload: "jsonb_build_object('messageId', recorded.id)",
       runAt: `now() + interval '${HELD_MINUTES} minutes'`,
     })}
   ), named AS (
     -- Raises contact.updated for contacts that got a name, username, id or referral, left the archive or were answered
     -- on the phone.
     ${raiseEvents({
       ...contactEvents('contact.updated', 'k.renamed_event_id', 'numbered'),
       from: `numbered JOIN next k ON k.sender_id = numbered.id AND k.position = 1
       WHERE (k.name_before IS NULL AND numbered.full_name IS NOT NULL) OR (k.archived_before AND NOT numbered.archived)
         OR (k.user_id_before, k.parent_before, k.username_before)
           IS DISTINCT FROM (numbered.user_id, numbered.parent_user_id, numbered.username)
         OR (k.first_before, k.last_before) IS DISTINCT FROM (numbered.referral_first, numbered.referral_last)
         OR (k.sender_type = 'human-chat' AND (k.unread_before OR k.bot_before IS DISTINCT FROM numbered.bot_status))`,
     })}
   )
   SELECT EXISTS (SELECT FROM recorded WHERE recorded.id = f.id) AS recorded, f.is_duplicate AS duplicate,
     f.awaits_media, f.fills, f.was_history
   FROM found f
   ORDER BY f.n`,
  { raises: 'events', enqueues: ({ recorded, awaits_media }) => recorded && awaits_media },
)

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
  /** The upstream's user id; null for ids of the network of linked devices. */
  userId: string | null
  /** The newest one that was seen is shown. */
  parentUserId: string | null
  /** The one of the newest message is shown. */
  username: string | null
}

/** An inbound message with its sender. Messages with the same `person` may be of one contact. */
export interface SentMessage {
  person: number
  sender: Sender
  message: IncomingMessage
  /** For contact.updated, if the message changes the contact. */
  renamedEventId: string
}

/**
 * Records messages of the contacts that the addresses lead to, under their next numbers, once per upstream id; at most
 * one of them may have a certain upstream id. A message is not recorded, and counts as no_contact, if an earlier one of
 * the same person has no contact yet, or was in a history. The messages of one person must have the same type of sender
 * and the same profile name. Throws a unique violation if another transaction records one of the messages at the same time; a retry finds a
 * duplicate. Resolves to the results, in order.
 */
export async function recordIncomingMessages(
  db: Queryable,
  organizationId: string,
  messages: readonly SentMessage[],
): Promise<Received[]> {
  const rows = await db.raise(record, [organizationId, JSON.stringify(messages.map(toRecord))], [organizationId])
  return rows.map(toReceived)
}

function toRecord({ person, sender, message, renamedEventId }: SentMessage, n: number): Record<string, unknown> {
  return {
    n,
    person,
    contact_id: sender.contactId,
    addresses: sender.addresses,
    required: sender.required,
    has_number: sender.hasNumber,
    profile_name: sender.profileName,
    folded_name: normalizeName(sender.profileName),
    user_id: sender.userId,
    parent_user_id: sender.parentUserId,
    username: sender.username,
    referral: message.referral,
    business_group: message.businessGroup,
    id: message.id,
    event_id: message.eventId,
    renamed_event_id: renamedEventId,
    upstream_id: message.upstreamId,
    instance_id: message.instanceId,
    keeps_archived: message.keepsArchived,
    opens_window: message.opensWindow,
    is_to_number: message.isToNumber,
    is_news: message.isNews,
    sender_type: message.sender_type,
    message_type: message.message_type,
    text: message.text,
    media_type: message.media_type,
    content: message.content,
    extras: message.extras,
    awaits_media: message.awaitsMedia,
    context_upstream_id: message.contextUpstreamId,
    network: message.network,
    created_at: message.created_at,
    gateway_type: gatewayType(message),
    note: message.note,
    traceparent: message.traceparent,
    placeholder: message.placeholder,
    handled_by: message.handled_by,
  }
}

/** `no_contact` if the message is not recorded, and neither it nor a placeholder was before. */
export function toReceived(row: RecordRow | undefined): Received {
  if (row?.recorded) return 'recorded'
  if (row?.fills) return 'fills'
  if (row?.was_history) return 'was_history'
  return row?.duplicate ? 'duplicate' : 'no_contact'
}
