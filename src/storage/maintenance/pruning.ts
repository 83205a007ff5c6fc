import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, placesOf, sharedStatement, statement } from '../../database/statement.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { ONLY_ONE } from '../../model/jobs.js'
import { keepOutcomes } from '../contacts/broadcast-recipients.js'
import { countOnChannels } from '../counts/channels.js'
import { MESSAGE_OF_EVENT } from '../events/message-rows.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { HAS_OLD_FILE, IS_OLD_MESSAGE, OLD_FILES_BEFORE } from '../organizations/retention.js'

// Old messages are deleted from the beginning of each conversation, so that the numbers of the kept ones have no gap.
// See docs/decisions/retention.md.

/** How many contacts a statement looks at, how many of them have messages deleted, and how many messages of each. */
const LOOKED_AT = 1_000
const CONTACTS = 20
export const MESSAGES_PER_CONTACT = 100
/** How many files are removed at a time. */
const FILES = 500
/** How many events are looked at. */
const EVENTS = 1_000

const request = sharedStatement<never>(
  'messagePruning.request',
  enqueueJobs({
    task: 'apply_retention',
    organizationId: 'o.id',
    key: `'${ONLY_ONE}'`,
    from: `organizations o
     WHERE (o.message_retention_days IS NOT NULL OR o.media_retention_days IS NOT NULL) AND o.legal_hold IS NULL`,
  }),
  { enqueues: 'now' },
)

/** The file of a message has its id; the rows of files go first. */
const HAS_FILE = `EXISTS (
         SELECT FROM media f WHERE ${ofOrganization('f.organization_id', '$1::uuid')} AND f.id = m.id OFFSET 0
       )`

/** SQL: the first message of the contact `c` that is kept, and its records without a number, if they are old. */
const NEXT_NUMBERED = `SELECT FROM messages m
         WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.contact_id = c.id AND m.seq = c.pruned_seq + 1
           AND ${IS_OLD_MESSAGE}
         OFFSET 0`
const UNNUMBERED = `m.organization_id = $1 AND m.contact_id = c.id AND m.seq IS NULL AND ${IS_OLD_MESSAGE}`

const findDue = statement<DueContacts>(
  'messagePruning.findDue',
  `WITH page AS (
     SELECT id, pruned_seq FROM contacts WHERE organization_id = $1 AND id > $3 ORDER BY id LIMIT ${LOOKED_AT}
   ), due AS (
     SELECT c.id FROM page c JOIN organizations o ON o.id = $1
     WHERE EXISTS (${NEXT_NUMBERED}) OR EXISTS (SELECT FROM messages m WHERE ${UNNUMBERED})
     ORDER BY c.id
     LIMIT ${CONTACTS}
   )
   SELECT ARRAY(SELECT id FROM due ORDER BY id) AS ids,
     CASE WHEN (SELECT count(*) FROM due) = ${CONTACTS} THEN (SELECT id FROM due ORDER BY id DESC LIMIT 1)
       WHEN (SELECT count(*) FROM page) = ${LOOKED_AT} THEN (SELECT id FROM page ORDER BY id DESC LIMIT 1) END AS reached`,
)

const lockContacts = statement<{ id: string; pruned_seq: number }>(
  'messagePruning.lockContacts',
  `SELECT id, pruned_seq FROM contacts
   WHERE organization_id = $1 AND id = ANY ($2::uuid[])
   ORDER BY id
   FOR NO KEY UPDATE`,
)

// Locked, so that no status changes what broadcasts count between this statement and the deletion.
const lockNumbered = statement<DoomedMessage & { seq: number }>(
  'messagePruning.lockNumbered',
  `SELECT m.id, m.contact_id, m.seq
   FROM organizations o CROSS JOIN unnest($3::uuid[], $4::bigint[]) AS c (id, pruned_seq)
   CROSS JOIN LATERAL (
     SELECT m.id, m.contact_id, m.seq FROM messages m
     WHERE m.organization_id = $1 AND m.contact_id = c.id AND m.seq > c.pruned_seq
       AND m.seq <= c.pruned_seq + ${MESSAGES_PER_CONTACT} AND ${IS_OLD_MESSAGE} AND NOT ${HAS_FILE}
     ORDER BY m.seq
     FOR UPDATE
   ) m
   WHERE o.id = $1`,
)

const lockUnnumbered = statement<DoomedMessage>(
  'messagePruning.lockUnnumbered',
  `SELECT m.id, m.contact_id
   FROM organizations o CROSS JOIN unnest($3::uuid[]) AS c (id)
   CROSS JOIN LATERAL (
     SELECT m.id, m.contact_id FROM messages m WHERE ${UNNUMBERED} LIMIT ${MESSAGES_PER_CONTACT} FOR UPDATE
   ) m
   WHERE o.id = $1`,
)

/** SQL: the number up to which the messages of the contact `c` are deleted. */
const REACHED = '($4::bigint[])[array_position($3::uuid[], c.id)]'

// The messages and contacts are locked. The words of the search are found one by one by their key, too.
const remove = statement<never>(
  'messagePruning.remove',
  `WITH deleted AS (
     DELETE FROM messages WHERE ctid = ANY (${placesOf('messages', '$2::uuid[]')})
     RETURNING organization_id, id, contact_id, seq, instance_id, broadcast_id, recipient_n, accepted_at, delivered_at, read_at,
       status, error
   ), advanced AS (
     UPDATE contacts c
     SET pruned_seq = ${REACHED}, has_unread_messages = c.has_unread_messages AND c.last_seq > ${REACHED}
     WHERE c.ctid = ANY (${placesOf('contacts', '$3::uuid[]')})
   ), words AS (
     DELETE FROM message_search WHERE ctid = ANY (ARRAY(
       SELECT w.place FROM deleted d CROSS JOIN LATERAL (
         SELECT ctid AS place FROM message_search
         WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = d.contact_id AND seq = d.seq
         OFFSET 0
       ) w
     ))
   ), ${keepOutcomes(`(SELECT * FROM deleted ${FEW_ROWS})`)}, counted_on_channels AS (
     ${countOnChannels('(SELECT * FROM deleted WHERE seq IS NOT NULL) d', '-count(*)')}
   ), answers AS (
     DELETE FROM idempotency_keys
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND resource_id = ANY ($2::uuid[])
   )
   SELECT`,
)

// A file that is stored in part belongs to the message with its id, too. The file of a broadcast belongs to no message.
const findFiles = statement<{ ids: string[]; reached: string | null }>(
  'messagePruning.findFiles',
  `WITH page AS (
     SELECT f.id FROM organizations o CROSS JOIN LATERAL (
       SELECT f.id FROM media f
       WHERE f.organization_id = $1 AND f.id > $3 AND f.id < ${OLD_FILES_BEFORE}
       ORDER BY f.id
       LIMIT ${FILES}
     ) f
     WHERE o.id = $1
   )
   SELECT ARRAY(
       SELECT f.id FROM page f JOIN organizations o ON o.id = $1 CROSS JOIN LATERAL (
         SELECT FROM messages m
         WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = f.id
           AND (m.media_id = f.id OR m.media_state IS NOT NULL) AND ${HAS_OLD_FILE}
         OFFSET 0
       ) m
       ORDER BY f.id
     ) AS ids,
     CASE WHEN (SELECT count(*) FROM page) = ${FILES} THEN (SELECT id FROM page ORDER BY id DESC LIMIT 1) END AS reached`,
)

const forgetFiles = statement<never>(
  'messagePruning.forgetFiles',
  `UPDATE messages m
   SET media_id = NULL, media_expires_at = NULL,
     error = CASE WHEN m.status = 'failed' OR m.media_id IS NULL THEN m.error ELSE coalesce(m.error, $3) END
   WHERE m.organization_id = $1 AND m.id = ANY ($2::uuid[])`,
)

// An event may be younger than its message by months. Whole ones have the message as it was.
const blankEvents = statement<{ reached: string | null; walked: number; blanked: number }>(
  'messagePruning.blankEvents',
  `WITH slice AS (
     SELECT e.seq, ${MESSAGE_OF_EVENT} AS message_id
     FROM events e WHERE e.organization_id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT ${EVENTS}
   ), blanked AS (
     UPDATE events e SET data = '{}'
     FROM slice
     WHERE e.organization_id = $1 AND e.seq = slice.seq AND slice.message_id IS NOT NULL AND NOT EXISTS (
       SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = slice.message_id OFFSET 0
     )
     RETURNING e.seq
   )
   SELECT max(seq)::text AS reached, count(*) AS walked, (SELECT count(*) FROM blanked) AS blanked FROM slice`,
)

const hasten = sharedStatement<{ is_running: boolean }>(
  'pruning.hasten',
  `UPDATE jobs SET run_at = now()
   WHERE organization_id = '${NIL_UUID}' AND task = 'prune' AND key = 'recurring'
   RETURNING process_id IS NOT NULL AS is_running`,
  { enqueues: 'now' },
)

/** The next contacts with old messages, and after which contact to look next; null: at none. */
export interface DueContacts {
  ids: string[]
  reached: string | null
}

interface DoomedMessage {
  id: string
  contact_id: string
}

/** Makes the daily job that deletes what is old due now. Whether it runs already; null: no worker has made it yet. */
export async function hastenPruning(db: Queryable): Promise<boolean | null> {
  const [row] = await db.run(hasten, [])
  return row?.is_running ?? null
}

/** Requests the job that deletes old messages and files, for each organization that wants it. */
export async function requestRetention(db: Queryable): Promise<void> {
  await db.run(request, [])
}

/** The next contacts after this one that have messages to be deleted at `now`. */
export async function findContactsToPrune(
  db: Queryable,
  organizationId: string,
  now: Date,
  after: string,
): Promise<DueContacts> {
  const [due] = await db.run(findDue, [organizationId, now, after])
  return due as DueContacts
}

/**
 * Deletes the oldest messages of these contacts that are not kept at `now`, up to `MESSAGES_PER_CONTACT` of each.
 * Returns whether a contact may have more. Needs a transaction: the contacts and the messages are locked first.
 */
export async function pruneMessages(
  transaction: Queryable,
  organizationId: string,
  contactIds: readonly string[],
  now: Date,
): Promise<boolean> {
  const contacts = await transaction.run(lockContacts, [organizationId, contactIds])
  const reached = new Map(contacts.map(({ id, pruned_seq }) => [id, pruned_seq]))
  const values = [organizationId, now, [...reached.keys()]]
  const numbered = await transaction.run(lockNumbered, [...values, [...reached.values()]])
  const doomed: string[] = []
  const taken = new Map<string, number>()
  // What follows a message that is kept has a later number, so it is kept, too.
  for (const { id, contact_id, seq } of numbered.toSorted((one, other) => one.seq - other.seq)) {
    if (seq !== (reached.get(contact_id) ?? 0) + 1) continue
    reached.set(contact_id, seq)
    taken.set(contact_id, (taken.get(contact_id) ?? 0) + 1)
    doomed.push(id)
  }
  const unnumbered = await transaction.run(lockUnnumbered, values)
  const unnumberedOf = new Map<string, number>()
  for (const { id, contact_id } of unnumbered) {
    unnumberedOf.set(contact_id, (unnumberedOf.get(contact_id) ?? 0) + 1)
    doomed.push(id)
  }
  if (doomed.length === 0) return false
  await transaction.run(remove, [
    organizationId,
    doomed,
    [...taken.keys()],
    [...taken.keys()].map((id) => reached.get(id)),
  ])
  return [...taken.values(), ...unnumberedOf.values()].some((count) => count === MESSAGES_PER_CONTACT)
}

/**
 * Blanks the events of deleted messages among the next ones of the organization after the number `after`. `reached`:
 * the number of the last one; null: there are no more.
 */
export async function blankEventsOfPruned(
  db: Queryable,
  organizationId: string,
  after: string,
): Promise<{ reached: string | null; blanked: number }> {
  const [slice] = await db.run(blankEvents, [organizationId, after])
  const { reached, walked, blanked } = slice as { reached: string | null; walked: number; blanked: number }
  return { reached: walked < EVENTS ? null : reached, blanked }
}

/** The next files after this one whose messages are too old to have them at `now`; as for contacts. */
export async function findFilesToPrune(
  db: Queryable,
  organizationId: string,
  now: Date,
  after: string,
): Promise<{ ids: string[]; reached: string | null }> {
  const [found] = await db.run(findFiles, [organizationId, now, after])
  return found as { ids: string[]; reached: string | null }
}

/** Records in the messages of these files that they were removed. */
export async function forgetFilesOfMessages(
  transaction: Queryable,
  organizationId: string,
  fileIds: readonly string[],
  error: { code: string; text: string },
): Promise<void> {
  await transaction.run(forgetFiles, [organizationId, fileIds, JSON.stringify(error)])
}
