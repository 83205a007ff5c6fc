import type { Database, Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, placesOf, statement } from '../../database/statement.js'
import { NIL_UUID, newId } from '../../lib/bytes/id.js'
import { countOnChannels } from '../counts/channels.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { isPacked, unpackBody } from '../organizations/callback-bodies.js'
import { awaitsImport } from '../organizations/waiting-histories.js'
import { lockFeed } from '../webhooks/feeds.js'
import { eraseRecipients } from './broadcast-recipients.js'
import { rememberErased } from './erased-addresses.js'

// A contact is erased in two steps. The first deletes its row, which hides it with its messages and events: every
// statement that finds messages without their contact checks that the contact is there. Jobs delete the messages and
// remove what it left elsewhere, slice by slice. See docs/decisions/contact-erasure.md.

const lock = statement<{ id: string }>(
  'contacts.lock',
  `SELECT id FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 FOR UPDATE`,
)

/**
 * The kept answers that name contacts but do not belong to one of their rows: those to uploaded files, also in the
 * console, and those to marks of conversations.
 */
const NAMING = ['contacts/import', 'opt-outs/import', 'audiences', 'conversations/read', 'conversations/typing']
const REPORTS = ['', '/console/api'].flatMap((base) => NAMING.map((path) => `'POST ${base}/${path}'`)).join(', ')

const hide = statement<{ id: string }>(
  'contacts.hide',
  `WITH addresses AS (
     SELECT coalesce(json_agg(address), '[]') AS list
     FROM (
       SELECT address FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2
       UNION
       SELECT address FROM contact_address_spans WHERE organization_id = $1 AND contact_id = $2
     ) known
   ), erased AS (
     DELETE FROM contacts WHERE organization_id = $1 AND id = $2 RETURNING id
   ), counted AS (
     INSERT INTO contact_counts (organization_id, change) SELECT $1, -1 FROM erased
   ), scheduled AS (
     -- The file of one that has become a message belongs to that, which may be of another contact.
     DELETE FROM scheduled_messages s WHERE s.organization_id = $1 AND s.contact_id = $2
     RETURNING s.id, s.has_file AND NOT EXISTS (
       SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = s.id
     ) AS has_file
   ), scheduled_files AS (
     DELETE FROM media WHERE organization_id = $1 AND id IN (SELECT id FROM scheduled WHERE has_file)
   ), uploaded AS (
     UPDATE audience_recipients SET address = NULL, name = NULL, parameters = NULL
     WHERE organization_id = $1 AND address IN (SELECT json_array_elements_text(list) FROM addresses)
   ), remembered AS (
     -- What the history of a phone brings of the contact is left out.
     ${rememberErased('(SELECT json_array_elements_text(list) AS address FROM addresses, erased)')}
   ), kept_answers AS (
     DELETE FROM idempotency_keys
     WHERE organization_id = $1 AND resource_id IN (SELECT id FROM erased UNION ALL SELECT id FROM scheduled)
   ), kept_reports AS (
     DELETE FROM idempotency_keys
     WHERE organization_id = $1 AND operation IN (${REPORTS}) AND EXISTS (
       SELECT FROM addresses, json_array_elements_text(addresses.list) AS address
       WHERE position(address IN answer::text) > 0
     )
   ), rows_job AS (
     ${enqueueJobs({ task: 'erase_contact', from: 'erased', payload: "jsonb_build_object('contactId', $2::uuid)" })}
   ), files_job AS (
     ${enqueueJobs({
       task: 'remove_media',
       from: '(SELECT json_agg(id) AS ids FROM scheduled WHERE has_file) files WHERE ids IS NOT NULL',
       payload: "jsonb_build_object('mediaIds', files.ids)",
     })}
   ), traces_job AS (
     ${enqueueJobs({
       task: 'erase_traces',
       from: 'erased, addresses',
       payload: "jsonb_build_object('contactId', $2::uuid, 'addresses', addresses.list)",
     })}
   ), event AS (
     ${raiseEvents({
       from: 'erased',
       id: '$3',
       type: "'contact.erased'",
       data: "jsonb_build_object('erased', jsonb_build_object('id', id))",
     })}
   )
   SELECT id FROM erased`,
  { raises: 'events', enqueues: 'now' },
)

// The messages are locked before they are deleted, so that the deletion sees the outcomes that broadcasts count. The
// outstanding ones of an organization are few, and have an index; OFFSET 0 keeps the planner from another one.
const lockOutstanding = statement<LockedMessage>(
  'contacts.lockOutstanding',
  `SELECT m.id, NULL AS seq
   FROM (
     SELECT id, contact_id FROM messages WHERE organization_id = $1 AND outcome IS NOT NULL OFFSET 0
   ) outstanding
   JOIN messages m ON ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = outstanding.id
   WHERE outstanding.contact_id = $2 AND m.outcome IS NOT NULL
   ORDER BY m.id
   FOR UPDATE OF m`,
)

const lockUnnumbered = statement<LockedMessage>(
  'contacts.lockUnnumbered',
  `SELECT id, NULL AS seq FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq IS NULL
   LIMIT $3
   FOR UPDATE`,
)

const lockNumbered = statement<LockedMessage>(
  'contacts.lockNumbered',
  `SELECT id, seq FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq < $4
   ORDER BY seq DESC
   LIMIT $3
   FOR UPDATE`,
)

// The rows of files are deleted at once, so their URLs stop working; a job removes the bytes. The file of an inbound
// message has the message's id, and may be stored in part; the file of a broadcast belongs to all its recipients, and
// stays.
const eraseMessages = statement<never>(
  'contacts.eraseMessages',
  `WITH ${eraseRecipients(`(
       SELECT * FROM messages
       WHERE ctid = ANY (${placesOf('messages', '$2::uuid[]')}) AND broadcast_id IS NOT NULL
       ${FEW_ROWS}
     ) m CROSS JOIN LATERAL (
       SELECT * FROM broadcast_recipients
       WHERE ${ofOrganization('organization_id', '$1::uuid')} AND broadcast_id = m.broadcast_id AND n = m.recipient_n AND message_id = m.id
       OFFSET 0
     ) r`)}, messages AS (
     DELETE FROM messages WHERE ctid = ANY (${placesOf('messages', '$2::uuid[]')})
     RETURNING id, seq, instance_id, CASE WHEN media_id = id OR media_state IS NOT NULL THEN id END AS file_id
   ), files AS (
     DELETE FROM media WHERE organization_id = $1 AND id IN (SELECT file_id FROM messages)
   ), numbered AS (
     SELECT $1::uuid AS organization_id, instance_id FROM messages WHERE seq IS NOT NULL
   ), counted_on_channels AS (
     ${countOnChannels('numbered', '-count(*)')}
   ), kept_answers AS (
     DELETE FROM idempotency_keys
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND resource_id = ANY ($2::uuid[])
   ), files_job AS (
     ${enqueueJobs({
       task: 'remove_media',
       from: '(SELECT json_agg(file_id) AS ids FROM messages WHERE file_id IS NOT NULL) files WHERE ids IS NOT NULL',
       payload: "jsonb_build_object('mediaIds', files.ids)",
     })}
   )
   SELECT`,
  { enqueues: 'later' },
)

/** Those that have no message, which are few or were sent before the messages that are kept. */
const eraseOtherRecipients = statement<Slice>(
  'contacts.eraseRecipients',
  `WITH slice AS (
     SELECT * FROM broadcast_recipients
     WHERE organization_id = $1 AND contact_id = $2 AND broadcast_id >= $4
     ORDER BY broadcast_id
     LIMIT $3
   ), ${eraseRecipients(`slice r LEFT JOIN LATERAL (
       SELECT * FROM messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = r.message_id OFFSET 0
     ) m ON true`)}
   SELECT (SELECT broadcast_id::text FROM slice ORDER BY slice.broadcast_id DESC LIMIT 1) AS reached,
     (SELECT count(*) FROM slice) AS walked`,
)

const eraseWords = statement<Slice>(
  'contacts.eraseWords',
  `WITH slice AS (
     SELECT ctid, seq FROM message_search
     WHERE organization_id = $1 AND contact_id = $2 AND seq >= $4
     ORDER BY seq
     LIMIT $3
   ), erased AS (
     DELETE FROM message_search WHERE ctid = ANY (ARRAY(SELECT ctid FROM slice))
   )
   SELECT max(seq)::text AS reached, count(*) AS walked FROM slice`,
)

/** SQL: a merge with the contact `$2`, undone after the event with the number `seq`. */
const mergeUntil = (contactId: string, seq: string) => `contact_merges m
       WHERE m.organization_id = $1 AND m.gone_id = $2 AND m.undone_at IS NOT NULL AND m.kept_id = ${contactId}
         AND ${seq} <= (m.kept ->> 'to_seq')::bigint`

/** SQL: the merge, undone meanwhile, by which the contact of the event with the number `seq` was also the contact `$2`. */
const mergeAt = (contactId: string, seq: string) =>
  `${mergeUntil(contactId, seq)} AND ${seq} > (m.kept ->> 'from_seq')::bigint`

// An event may show this contact and be of another one: it is blanked. One of the time when the other one was this one,
// too, shows the other with names and addresses of this one: it shows the other as it is now. The walk through the
// deliveries finds blank events by their contact.
const eraseEvents = statement<Slice>(
  'contacts.eraseEvents',
  `WITH slice AS (
     SELECT seq, contact_id, contact_id = $2 OR data -> 'contact' ->> 'id' = $2::text AS is_theirs
     FROM events WHERE organization_id = $1 AND seq > $3
     ORDER BY seq
     LIMIT $4
   ), erased AS (
     UPDATE events e SET data = '{}', contact_id = $2
     FROM slice
     WHERE e.organization_id = $1 AND e.seq = slice.seq AND slice.is_theirs AND e.data <> '{}'
   ), shown AS (
     UPDATE events e SET data = e.data || jsonb_build_object('contact', to_jsonb(c))
     FROM slice JOIN contacts c ON c.organization_id = $1 AND c.id = slice.contact_id
     WHERE e.organization_id = $1 AND e.seq = slice.seq AND NOT slice.is_theirs AND e.data ? 'contact'
       AND EXISTS (SELECT FROM ${mergeAt('slice.contact_id', 'slice.seq')})
   )
   SELECT max(seq)::text AS reached, count(*) AS walked FROM slice`,
)

/** SQL: the attempts of the delivery `d`, without what the endpoint answered, which may repeat what it was sent. */
export const ATTEMPTS_WITHOUT_ANSWERS = `(
         SELECT coalesce(jsonb_agg(attempt || '{"response_body": null}' ORDER BY n), '[]')
         FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS made (attempt, n)
       )`

// An attempt shows the contact as it was then, so the answer to one of an earlier event may name this contact, too. Without
// OFFSET 0 all events of the organization would be read and hashed.
const eraseDeliveries = statement<Slice>(
  'contacts.eraseDeliveries',
  `WITH slice AS (
     SELECT id, event_seq, contact_id FROM webhook_deliveries WHERE organization_id = $1 AND id > $3 ORDER BY id LIMIT $4
   ), named AS (
     SELECT slice.id, coalesce(slice.contact_id = $2, false) OR EXISTS (
         SELECT FROM events e
         WHERE ${ofOrganization('e.organization_id', '$1::uuid')} AND e.seq = slice.event_seq AND e.contact_id = $2 OFFSET 0
       ) AS is_theirs, EXISTS (SELECT FROM ${mergeUntil('slice.contact_id', 'slice.event_seq')}) AS was_theirs
     FROM slice
   ), erased AS (
     UPDATE webhook_deliveries d
     SET status = CASE WHEN named.is_theirs AND d.status = 'pending' THEN 'failed' ELSE d.status END,
       next_attempt_at = CASE WHEN NOT named.is_theirs THEN d.next_attempt_at END,
       attempts = ${ATTEMPTS_WITHOUT_ANSWERS}
     FROM named
     WHERE d.organization_id = $1 AND d.id = named.id AND (named.is_theirs OR named.was_theirs)
   )
   SELECT (SELECT id::text FROM slice ORDER BY slice.id DESC LIMIT 1) AS reached, (SELECT count(*) FROM slice) AS walked`,
)

// The groups of business numbers that the person is or was in.
const eraseParticipants = statement<Slice>(
  'contacts.eraseParticipants',
  `WITH slice AS (
     SELECT id, business_group -> 'participants' AS participants FROM contacts
     WHERE organization_id = $1 AND id > $3
     ORDER BY id
     LIMIT $4
   ), left_over AS (
     SELECT slice.id, slice.participants, (
         SELECT coalesce(jsonb_agg(person ORDER BY n), '[]')
         FROM jsonb_array_elements(slice.participants) WITH ORDINALITY AS named (person, n)
         WHERE NOT coalesce(ltrim(person ->> 'phone_number', '+') = ANY ($2), false)
           AND NOT coalesce('user:' || (person ->> 'user_id') = ANY ($2), false)
       ) AS others
     FROM slice
     WHERE slice.participants IS NOT NULL
   ), erased AS (
     UPDATE contacts c SET business_group = c.business_group || jsonb_build_object('participants', l.others)
     FROM left_over l
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = l.id AND l.others <> l.participants
       AND c.business_group -> 'participants' = l.participants
   )
   SELECT (SELECT id::text FROM slice ORDER BY slice.id DESC LIMIT 1) AS reached, (SELECT count(*) FROM slice) AS walked`,
)

// A callback that waits or is set aside, or whose history is not taken in, cannot be blanked yet. One that failed on every
// attempt may have work for other people, so it is blanked and forgotten only if an address is a whole value in it ($5),
// but not as a text. SQL cannot look into packed bodies: $6 are the ids of those that contain an address, $7 the ids of
// those in which it is a whole value.
const eraseCallbacks = statement<{ is_waiting: boolean }>(
  'contacts.eraseCallbacks',
  `WITH slice AS (
     SELECT id, waiting, body FROM callbacks WHERE organization_id = $1 AND id > $3 AND id <= $4
   ), named AS (
     SELECT c.id, c.waiting OR (s.callback_id IS NOT NULL AND s.failed_at IS NULL) OR ${awaitsImport('$1')} AS is_waiting
     FROM slice c
     LEFT JOIN set_aside_callbacks s ON s.organization_id = $1 AND s.callback_id = c.id
     WHERE (c.id = ANY ($6::uuid[]) OR EXISTS (
         SELECT FROM unnest($2::text[]) AS address WHERE position(convert_to(address, 'UTF8') IN c.body) > 0
       )) AND (s.failed_at IS NULL OR c.id = ANY ($7::uuid[]) OR encode(c.body, 'escape') ~ $5)
   ), failed AS (
     DELETE FROM set_aside_callbacks s USING named
     WHERE s.organization_id = $1 AND s.callback_id = named.id AND NOT named.is_waiting
   ), erased AS (
     UPDATE callbacks c SET body = '' FROM named
     WHERE c.organization_id = $1 AND c.id = named.id AND NOT named.is_waiting
   )
   SELECT EXISTS (SELECT FROM named WHERE is_waiting) AS is_waiting`,
)

// It decides where the slice ends, since old callbacks may be deleted meanwhile: none is passed that was not looked into.
const listSlice = statement<{ id: string; packed: Buffer | null }>(
  'contacts.listCallbackSlice',
  `SELECT id, CASE WHEN ${isPacked('body')} THEN body END AS packed
   FROM callbacks WHERE organization_id = $1 AND id > $2
   ORDER BY id
   LIMIT $3`,
)

/** How many rows of an erased contact a slice deletes. */
export const ERASED_ROWS = 1_000
/** How many rows of an organization a statement looks at. Raw callbacks can be large. */
const ROWS = 5_000
const CALLBACKS = 500

interface Slice {
  /** The key of the last row; null: there was none. */
  reached: string | null
  walked: number
}

interface LockedMessage {
  id: string
  /** Its number; null: it has none, or it does not matter. */
  seq: number | null
}

/** The rows of an erased contact, in the order in which they are deleted: the newest messages first. */
export const ERASED_PARTS = ['messages', 'unnumbered', 'recipients', 'words'] as const
export type ErasedPart = (typeof ERASED_PARTS)[number]

/** Before the first row of a part. */
export const FIRST_ERASED = {
  messages: '9223372036854775807',
  unnumbered: '',
  recipients: NIL_UUID,
  words: '-9223372036854775808',
} as const satisfies Record<ErasedPart, string>

/**
 * Deletes a contact, so that it and its messages are not shown any more, raises contact.erased, and enqueues the jobs
 * for the rest; false if there is none. What is outstanding is deleted at once: nothing may be counted for it later.
 * Needs a transaction: the lock comes first, so that every message recorded before is seen.
 */
export async function hideContact(transaction: Queryable, organizationId: string, id: string): Promise<boolean> {
  await transaction.run(lock, [organizationId, id])
  const outstanding = await transaction.run(lockOutstanding, [organizationId, id])
  await deleteMessages(transaction, organizationId, outstanding)
  const rows = await transaction.raise(hide, [organizationId, id, newId()], [organizationId])
  return rows.length > 0
}

/**
 * Deletes the next rows of an erased contact, after the one at which the last slice ended. Returns where this one ended;
 * null: there are no more. Needs a transaction.
 */
export async function eraseContactSlice(
  transaction: Queryable,
  organizationId: string,
  id: string,
  { part, after }: { part: ErasedPart; after: string },
): Promise<string | null> {
  const values = [organizationId, id, ERASED_ROWS]
  switch (part) {
    case 'messages': {
      const locked = await transaction.run(lockNumbered, [...values, after])
      await deleteMessages(transaction, organizationId, locked)
      const last = locked.at(-1)
      return last === undefined || locked.length < ERASED_ROWS ? null : String(last.seq)
    }
    case 'unnumbered': {
      const locked = await transaction.run(lockUnnumbered, values)
      await deleteMessages(transaction, organizationId, locked)
      return locked.length < ERASED_ROWS ? null : after
    }
    case 'recipients':
      return endOf(await transaction.run(eraseOtherRecipients, [...values, after]), ERASED_ROWS)
    case 'words':
      return endOf(await transaction.run(eraseWords, [...values, after]), ERASED_ROWS)
  }
}

async function deleteMessages(
  transaction: Queryable,
  organizationId: string,
  messages: readonly LockedMessage[],
): Promise<void> {
  if (messages.length > 0) await transaction.run(eraseMessages, [organizationId, messages.map(({ id }) => id)])
}

/**
 * Blanks events of an erased contact, among the next ones of the organization after the number `after`. Returns the
 * number of the last one; null: there are no more. While the feed is locked, no event of the contact becomes a delivery.
 */
export function eraseContactEvents(
  db: Database,
  organizationId: string,
  id: string,
  after: string,
): Promise<string | null> {
  return db.transaction(async (transaction) => {
    await lockFeed(transaction, organizationId)
    return endOf(await transaction.run(eraseEvents, [organizationId, id, after, ROWS]), ROWS)
  })
}

/** Ends deliveries of an erased contact and blanks their answers; walks like eraseContactEvents, by id. */
export async function eraseContactDeliveries(
  db: Queryable,
  organizationId: string,
  id: string,
  after: string,
): Promise<string | null> {
  return endOf(await db.run(eraseDeliveries, [organizationId, id, after, ROWS]), ROWS)
}

/**
 * Removes who has one of the addresses from the participants of groups of business numbers; walks like
 * eraseContactEvents, by id.
 */
export async function eraseParticipation(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  after: string,
): Promise<string | null> {
  return endOf(await db.run(eraseParticipants, [organizationId, addresses, after, ROWS]), ROWS)
}

/**
 * Blanks raw callbacks that contain one of the addresses; walks like eraseContactEvents, by id. `isWaiting`: some of them
 * are not processed yet and stay.
 */
export async function eraseCallbacksNaming(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  after: string,
): Promise<{ reached: string | null; isWaiting: boolean }> {
  const spellings = addresses.map((address) => address.replace(/^(?:user|parent):/, ''))
  const whole = wholeValue(spellings)
  const slice = await db.run(listSlice, [organizationId, after, CALLBACKS])
  const last = slice.at(-1)?.id
  if (last === undefined) return { reached: null, isWaiting: false }
  const bodies = slice.flatMap(({ id, packed }) => (packed ? [{ id, text: unpackBody(packed).toString('utf8') }] : []))
  const naming = bodies.filter(({ text }) => spellings.some((spelling) => text.includes(spelling)))
  const wholly = naming.filter(({ text }) => new RegExp(whole).test(text))
  const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)
  const values = [organizationId, spellings, after, last, whole, idsOf(naming), idsOf(wholly)]
  const rows = await db.run(eraseCallbacks, values)
  return { reached: slice.length < CALLBACKS ? null : last, isWaiting: rows[0]?.is_waiting === true }
}

/** A regular expression, the same in SQL and here, for one of the addresses as a JSON string, alone or as that of a JID. */
function wholeValue(spellings: readonly string[]): string {
  const literals = spellings.map((spelling) => spelling.replace(/[^A-Za-z0-9]/g, '\\$&'))
  return `(?<!"(?:body|caption|conversation|text)"\\s*:\\s*)"\\+?(?:${literals.join('|')})(?::[0-9]+)?(?:@[a-z.]+)?"`
}

function endOf([slice]: readonly Slice[], limit: number): string | null {
  return slice && slice.walked >= limit ? slice.reached : null
}
