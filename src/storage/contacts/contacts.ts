import type { Queryable } from '../../database/pool.js'
import { ofOrganization, opaqueArray, statement } from '../../database/statement.js'
import { normalizeText } from '../../lib/text/normalize.js'
import type { Contact, ContactLookup } from '../../model/contacts/contact.js'
import { ERASE_RECIPIENTS } from '../broadcasts/contact-changes.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { countOnChannels } from '../instances/channel-counts.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { lockFeed } from '../webhooks/feeds.js'

/** The columns of a contact, the same in all statements. */
export const CONTACT_COLUMNS = `organization_id, id, chat_id, phone_number, full_name, email, tags, bot_status, allow_broadcast,
  archived, blocked, has_unread_messages, source, contact_summary, contact_summary_updated_at, last_seq, searchable_seq,
  last_inbound_at, opted_out_at, opt_out_source, opted_in_at, assignee_id, network_id, created_at, updated_at`

/** The same for a row `c`. */
export const QUALIFIED_CONTACT_COLUMNS = CONTACT_COLUMNS.replaceAll(/(\w+)/g, 'c.$1')

// Look-ups of several tenants may share a statement; OFFSET 0 keeps each under its own organization.
const findByAddresses = statement<Contact & { lookup: number }>(
  'contacts.findByAddresses',
  `SELECT DISTINCT ON (wanted.lookup) wanted.lookup, ${QUALIFIED_CONTACT_COLUMNS}
   FROM unnest(${opaqueArray('$1', 'integer')}, ${opaqueArray('$2', 'uuid')}, ${opaqueArray('$3', 'text')})
     WITH ORDINALITY AS wanted (lookup, organization_id, address, rank)
   CROSS JOIN LATERAL (
     SELECT contact_id FROM contact_addresses
     WHERE ${ofOrganization('organization_id', 'wanted.organization_id')} AND address = wanted.address
     OFFSET 0
   ) a CROSS JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', 'wanted.organization_id')} AND id = a.contact_id OFFSET 0
   ) c
   ORDER BY wanted.lookup, wanted.rank`,
)

const findByEmails = statement<{ email: string; id: string }>(
  'contacts.findByEmails',
  `SELECT lower(email) AS email, (array_agg(id))[1] AS id FROM contacts
   WHERE organization_id = $1 AND lower(email) = ANY (${opaqueArray('$2', 'text')})
   GROUP BY lower(email)
   HAVING count(*) = 1`,
)

const findById = statement<Contact>(
  'contacts.findById',
  `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2`,
)

/** The parts of a WITH that list and count new contacts: rows of `contacts` of the organization `$1`. */
export const listContacts = (created: string) => `active AS (
     INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, created_at FROM ${created}
   ), counted AS (
     INSERT INTO contact_counts (organization_id, change) SELECT $1, count(*) FROM ${created} HAVING count(*) > 0
   )`

const insert = statement<Contact>(
  'contacts.insert',
  `WITH inserted AS (
     INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, email, tags, allow_broadcast, source,
       folded_name, network_id)
     VALUES ($1, $2, $4, $5, $6, $7, $8, $9, $10, $12, (
       SELECT substr(address, 6) FROM unnest($3::text[]) AS address WHERE address LIKE 'user:%@%' LIMIT 1
     ))
     RETURNING ${CONTACT_COLUMNS}
   ), ${listContacts('inserted')}, addresses AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, address, $2 FROM unnest($3::text[]) AS address ORDER BY address
   ), event AS (
     ${raiseEvents(contactEvents('contact.created', '$11', 'inserted'))}
   )
   SELECT ${CONTACT_COLUMNS} FROM inserted`,
  { raises: 'events' },
)

// jsonb_populate_record keeps the fields that the patch leaves out. The event is raised only if something changed.
// Allowing broadcasts again ends an opt-out. Its time is stored in whole seconds, like the upstream's times, so that a
// "stop" within the same second is not considered older.
const update = statement<Contact>(
  'contacts.update',
  `WITH before AS (
     SELECT c AS contact FROM contacts c WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 FOR UPDATE
   ), wanted AS (
     SELECT p.* FROM before, jsonb_populate_record(before.contact, $3) p
   ), changed AS (
     UPDATE contacts c
     SET full_name = w.full_name, folded_name = w.folded_name, email = w.email, tags = w.tags, allow_broadcast = w.allow_broadcast,
       opted_out_at = CASE WHEN NOT w.allow_broadcast THEN c.opted_out_at END,
       opt_out_source = CASE WHEN NOT w.allow_broadcast THEN c.opt_out_source END,
       opted_in_at = CASE WHEN w.allow_broadcast AND c.opted_out_at IS NOT NULL THEN date_trunc('second', now())
         ELSE c.opted_in_at END,
       archived = w.archived, blocked = w.blocked, bot_status = w.bot_status, contact_summary = w.contact_summary,
       contact_summary_updated_at = CASE WHEN c.contact_summary IS DISTINCT FROM w.contact_summary THEN now()
         ELSE c.contact_summary_updated_at END,
       updated_at = now()
     FROM wanted w
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2
       AND (c.full_name, c.email, c.tags, c.allow_broadcast, c.archived, c.blocked, c.bot_status, c.contact_summary)
         IS DISTINCT FROM
         (w.full_name, w.email, w.tags, w.allow_broadcast, w.archived, w.blocked, w.bot_status, w.contact_summary)
     RETURNING c.*
   ), event AS (
     ${raiseEvents(contactEvents('contact.updated', '$4', 'changed'))}
   )
   SELECT ${CONTACT_COLUMNS} FROM (
     SELECT * FROM changed
     UNION ALL
     SELECT (contact).* FROM before WHERE NOT EXISTS (SELECT FROM changed)
   ) shown`,
  { raises: 'events' },
)

const renumber = statement<Contact>(
  'contacts.renumber',
  `WITH renumbered AS (
     UPDATE contacts SET chat_id = $3, phone_number = '+' || $3, updated_at = now()
     WHERE organization_id = $1 AND id = $2
     RETURNING *
   ), event AS (
     ${raiseEvents(contactEvents('contact.updated', '$4', 'renumbered'))}
   )
   SELECT ${CONTACT_COLUMNS} FROM renumbered`,
  { raises: 'events' },
)

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

/** The kept answers that may contain data of other contacts: import reports, also in the console. */
const REPORTS = ['', '/console/api']
  .flatMap((base) => [`'POST ${base}/contacts/import'`, `'POST ${base}/opt-outs/import'`])
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

const eraseEvents = statement<never>(
  'contacts.eraseEvents',
  `WITH happened AS (
     UPDATE events SET data = '{}' WHERE organization_id = $1 AND contact_id = $2 RETURNING seq
   )
   UPDATE webhook_deliveries d
   SET status = CASE d.status WHEN 'pending' THEN 'failed' ELSE d.status END, next_attempt_at = NULL,
     attempts = (
       SELECT coalesce(jsonb_agg(attempt || '{"response_body": null}' ORDER BY n), '[]')
       FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS made (attempt, n)
     )
   WHERE d.organization_id = $1 AND d.event_seq IN (SELECT seq FROM happened)`,
)

// A callback that waits or is set aside cannot be blanked yet; another job does it later. One that failed on every
// attempt is blanked and forgotten.
const eraseCallbacks = statement<never>(
  'contacts.eraseCallbacks',
  `WITH named AS (
     SELECT c.id, c.waiting OR (s.callback_id IS NOT NULL AND s.failed_at IS NULL) AS is_waiting
     FROM callbacks c
     LEFT JOIN set_aside_callbacks s ON s.organization_id = $1 AND s.callback_id = c.id
     WHERE c.organization_id = $1
       AND EXISTS (SELECT FROM unnest($3::text[]) AS address WHERE position(convert_to(address, 'UTF8') IN c.body) > 0)
   ), later AS (
     ${enqueueJobs({
       task: 'erase_traces',
       from: '(SELECT WHERE EXISTS (SELECT FROM named WHERE is_waiting)) waiting',
       payload: "jsonb_build_object('contactId', $2::uuid, 'addresses', $3::text[])",
       runAt: "now() + interval '1 minute'",
     })}
   ), failed AS (
     DELETE FROM set_aside_callbacks s USING named
     WHERE s.organization_id = $1 AND s.callback_id = named.id AND NOT named.is_waiting
   )
   UPDATE callbacks c
   SET body = ''
   FROM named
   WHERE c.organization_id = $1 AND c.id = named.id AND NOT named.is_waiting`,
)

/** The contacts of these look-ups, in the given order; null if no address leads to one. */
export async function findContactsByAddresses(
  db: Queryable,
  lookups: readonly ContactLookup[],
): Promise<(Contact | null)[]> {
  const addresses = lookups.flatMap(({ organizationId, addresses: forms }, lookup) =>
    forms.map((address) => ({ lookup, organizationId, address })),
  )
  const rows = await db.run(findByAddresses, [
    addresses.map((one) => one.lookup),
    addresses.map((one) => one.organizationId),
    addresses.map((one) => one.address),
  ])
  const found: (Contact | null)[] = lookups.map(() => null)
  for (const { lookup, ...contact } of rows) found[lookup] = contact
  return found
}

/** The contact of the first known address; null if none is known. */
export async function findContactByAddresses(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Contact | null> {
  const [contact] = await findContactsByAddresses(db, [{ organizationId, addresses }])
  return contact ?? null
}

/** The ids of contacts by their lower-case e-mail addresses; addresses that several contacts share are left out. */
export async function findContactIdsByEmail(
  db: Queryable,
  organizationId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map()
  const rows = await db.run(findByEmails, [organizationId, emails])
  return new Map(rows.map(({ email, id }) => [email, id]))
}

/** One contact by its id, or null. */
export async function findContactById(db: Queryable, organizationId: string, id: string): Promise<Contact | null> {
  const rows = await db.run(findById, [organizationId, id])
  return rows[0] ?? null
}

export interface NewContact {
  id: string
  eventId: string
  chat_id: string
  phone_number: string | null
  addresses: readonly string[]
  full_name: string | null
  email: string | null
  tags: readonly string[]
  allow_broadcast: boolean
  source: Record<string, unknown> | null
}

/**
 * Inserts a contact with its addresses and its event. Fails with a unique violation if an address belongs to another
 * contact.
 */
export async function insertContact(db: Queryable, organizationId: string, contact: NewContact): Promise<Contact> {
  const { id, eventId, chat_id, phone_number, addresses, full_name, email, tags, allow_broadcast, source } = contact
  const [row] = await db.raise(
    insert,
    [
      organizationId,
      id,
      addresses,
      chat_id,
      phone_number,
      full_name,
      email,
      tags,
      allow_broadcast,
      source === null ? null : JSON.stringify(source),
      eventId,
      normalizeName(full_name),
    ],
    [organizationId],
  )
  return row as Contact
}

/** The fields of a contact that its organization may change. */
export type ContactChanges = Partial<
  Pick<
    Contact,
    'full_name' | 'email' | 'tags' | 'allow_broadcast' | 'archived' | 'blocked' | 'bot_status' | 'contact_summary'
  >
>

/** Changes a contact; raises contact.updated if something changed. Null if there is no such contact. */
export async function updateContact(
  db: Queryable,
  organizationId: string,
  id: string,
  changes: ContactChanges,
  eventId: string,
): Promise<Contact | null> {
  const name = changes.full_name === undefined ? {} : { folded_name: normalizeName(changes.full_name) }
  const rows = await db.raise(
    update,
    [organizationId, id, JSON.stringify({ ...changes, ...name }), eventId],
    [organizationId],
  )
  return rows[0] ?? null
}

/** A contact's name, normalized for search. */
export function normalizeName(name: string | null): string | null {
  return name === null ? null : normalizeText(name)
}

/** Sets a contact's phone number; the caller changes its addresses. */
export async function renumberContact(
  db: Queryable,
  organizationId: string,
  id: string,
  digits: string,
  eventId: string,
): Promise<void> {
  await db.raise(renumber, [organizationId, id, digits, eventId], [organizationId])
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
 * Blanks the events of an erased contact, which ends their deliveries. Needs a transaction: while the feed is locked,
 * no event of the contact becomes a delivery.
 */
export async function eraseContactEvents(transaction: Queryable, organizationId: string, id: string): Promise<void> {
  await lockFeed(transaction, organizationId)
  await transaction.run(eraseEvents, [organizationId, id])
}

/**
 * Blanks the raw callbacks that name an address of an erased contact; enqueues another job if some of them are
 * unprocessed. Reads all callbacks of the organization.
 */
export async function eraseContactCallbacks(
  db: Queryable,
  organizationId: string,
  id: string,
  addresses: readonly string[],
): Promise<void> {
  const spellings = addresses.map((address) => address.replace(/^user:/, ''))
  await db.run(eraseCallbacks, [organizationId, id, spellings])
}
