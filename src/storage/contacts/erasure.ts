import type { Database, Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { ERASE_RECIPIENTS } from '../broadcasts/contact-changes.js'
import { raiseEvents } from '../events/raise.js'
import { countOnChannels } from '../instances/channel-counts.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { lockFeed } from '../webhooks/feeds.js'

// A contact is erased with its messages at once. Jobs remove afterwards what it left elsewhere, slice by slice.

const lock = statement<{ id: string }>(
  'contacts.lock',
  `SELECT id FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 FOR UPDATE`,
)

const lockCounted = statement<{ id: string }>(
  'contacts.lockCounted',
  `SELECT id FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND broadcast_id IS NOT NULL
   ORDER BY id
   FOR UPDATE`,
)

/** The kept answers that may contain data of several contacts: those to uploaded files, also in the console. */
const REPORTS = ['', '/console/api']
  .flatMap((base) => ['contacts/import', 'opt-outs/import', 'audiences'].map((path) => `'POST ${base}/${path}'`))
  .join(', ')

// This statement enqueues one job that blanks traces elsewhere (raw callbacks, events) and another that removes the
// bytes of files. The rows of files are deleted at once, so their URLs stop working. The file of an inbound message has
// the message's id, and may be stored in part; the file of a broadcast belongs to all its recipients, and stays.
const erase = statement<{ id: string }>(
  'contacts.erase',
  `WITH addresses AS (
     SELECT coalesce(json_agg(address), '[]') AS list
     FROM (
       SELECT address FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2
       UNION
       SELECT address FROM contact_address_spans WHERE organization_id = $1 AND contact_id = $2
     ) known
   ), erased AS (
     DELETE FROM contacts WHERE organization_id = $1 AND id = $2 RETURNING id
   ), ${ERASE_RECIPIENTS}, messages AS (
     DELETE FROM messages WHERE organization_id = $1 AND contact_id = (SELECT id FROM erased)
     RETURNING id, seq, instance_id, CASE WHEN media_id = id OR media_state IS NOT NULL THEN id END AS file_id
   ), files AS (
     DELETE FROM media WHERE organization_id = $1 AND id IN (SELECT file_id FROM messages)
   ), counted AS (
     INSERT INTO contact_counts (organization_id, change) SELECT $1, -1 FROM erased
   ), numbered AS (
     SELECT $1::uuid AS organization_id, instance_id FROM messages WHERE seq IS NOT NULL
   ), counted_on_channels AS (
     ${countOnChannels('numbered', '-count(*)')}
   ), uploaded AS (
     UPDATE audience_recipients SET address = NULL, name = NULL, parameters = NULL
     WHERE organization_id = $1 AND address IN (SELECT json_array_elements_text(list) FROM addresses)
   ), kept_answers AS (
     DELETE FROM idempotency_keys
     WHERE organization_id = $1
       AND (resource_id = (SELECT id FROM erased) OR resource_id IN (SELECT id FROM messages))
   ), kept_reports AS (
     DELETE FROM idempotency_keys
     WHERE organization_id = $1 AND operation IN (${REPORTS}) AND EXISTS (
       SELECT FROM addresses, json_array_elements_text(addresses.list) AS address
       WHERE position(address IN answer::text) > 0
     )
   ), job AS (
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
   ), files_job AS (
     ${enqueueJobs({
       task: 'remove_media',
       from: '(SELECT json_agg(file_id) AS ids FROM messages WHERE file_id IS NOT NULL) files WHERE ids IS NOT NULL',
       payload: "jsonb_build_object('mediaIds', files.ids)",
     })}
   )
   SELECT id FROM erased`,
  { raises: 'events' },
)

const eraseEvents = statement<Slice>(
  'contacts.eraseEvents',
  `WITH slice AS (
     SELECT seq, contact_id FROM events WHERE organization_id = $1 AND seq > $3 ORDER BY seq LIMIT $4
   ), erased AS (
     UPDATE events e SET data = '{}'
     FROM slice
     WHERE e.organization_id = $1 AND e.seq = slice.seq AND slice.contact_id = $2 AND e.data <> '{}'
   )
   SELECT max(seq)::text AS reached, count(*) AS walked FROM slice`,
)

const eraseDeliveries = statement<Slice>(
  'contacts.eraseDeliveries',
  `WITH slice AS (
     SELECT id, event_seq, contact_id FROM webhook_deliveries WHERE organization_id = $1 AND id > $3 ORDER BY id LIMIT $4
   ), erased AS (
     UPDATE webhook_deliveries d
     SET status = CASE d.status WHEN 'pending' THEN 'failed' ELSE d.status END, next_attempt_at = NULL,
       attempts = (
         SELECT coalesce(jsonb_agg(attempt || '{"response_body": null}' ORDER BY n), '[]')
         FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS made (attempt, n)
       )
     FROM slice
     WHERE d.organization_id = $1 AND d.id = slice.id AND (slice.contact_id = $2 OR EXISTS (
       SELECT FROM events e WHERE e.organization_id = $1 AND e.seq = slice.event_seq AND e.contact_id = $2
     ))
   )
   SELECT (SELECT id::text FROM slice ORDER BY id DESC LIMIT 1) AS reached, (SELECT count(*) FROM slice) AS walked`,
)

// A callback that waits or is set aside cannot be blanked yet. One that failed on every attempt is blanked and forgotten.
const eraseCallbacks = statement<Slice & { is_waiting: boolean }>(
  'contacts.eraseCallbacks',
  `WITH slice AS (
     SELECT id, waiting, body FROM callbacks WHERE organization_id = $1 AND id > $3 ORDER BY id LIMIT $4
   ), named AS (
     SELECT c.id, c.waiting OR (s.callback_id IS NOT NULL AND s.failed_at IS NULL) AS is_waiting
     FROM slice c
     LEFT JOIN set_aside_callbacks s ON s.organization_id = $1 AND s.callback_id = c.id
     WHERE EXISTS (SELECT FROM unnest($2::text[]) AS address WHERE position(convert_to(address, 'UTF8') IN c.body) > 0)
   ), failed AS (
     DELETE FROM set_aside_callbacks s USING named
     WHERE s.organization_id = $1 AND s.callback_id = named.id AND NOT named.is_waiting
   ), erased AS (
     UPDATE callbacks c SET body = '' FROM named
     WHERE c.organization_id = $1 AND c.id = named.id AND NOT named.is_waiting
   )
   SELECT (SELECT id::text FROM slice ORDER BY id DESC LIMIT 1) AS reached, (SELECT count(*) FROM slice) AS walked,
     EXISTS (SELECT FROM named WHERE is_waiting) AS is_waiting`,
)

/** How many rows of an organization a statement looks at. Raw callbacks can be large. */
const ROWS = 5_000
const CALLBACKS = 500

interface Slice {
  /** The key of the last row; null: there was none. */
  reached: string | null
  walked: number
}

/**
 * Erases a contact with its messages and kept answers, raises contact.erased, and enqueues the jobs for its traces;
 * false if there is none. Needs a transaction: the locks come first, so that the last statement sees every message
 * recorded before, and the outcomes that broadcasts count.
 */
export async function eraseContact(
  transaction: Queryable,
  organizationId: string,
  id: string,
  eventId: string,
): Promise<boolean> {
  await transaction.run(lock, [organizationId, id])
  await transaction.run(lockCounted, [organizationId, id])
  const rows = await transaction.raise(erase, [organizationId, id, eventId], [organizationId])
  return rows.length > 0
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
 * Blanks raw callbacks that name one of the addresses; walks like eraseContactEvents, by id. `isWaiting`: some of them
 * are not processed yet and stay.
 */
export async function eraseCallbacksNaming(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  after: string,
): Promise<{ reached: string | null; isWaiting: boolean }> {
  const spellings = addresses.map((address) => address.replace(/^user:/, ''))
  const rows = await db.run(eraseCallbacks, [organizationId, spellings, after, CALLBACKS])
  return { reached: endOf(rows, CALLBACKS), isWaiting: rows[0]?.is_waiting === true }
}

function endOf([slice]: readonly Slice[], limit: number): string | null {
  return slice && slice.walked >= limit ? slice.reached : null
}
