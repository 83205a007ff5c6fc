import type { Database, Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Contact } from '../../model/contacts/contact.js'
import { addressesOfUserId } from '../../model/contacts/user-id.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { CONTACT_COLUMNS, listContacts, normalizeName } from './contacts.js'

/** A contact of an import file; fields that the file leaves out are null. */
export interface ImportedContact
  extends Pick<Contact, 'id' | 'chat_id' | 'source'>,
    Record<'full_name' | 'email' | 'contact_summary', string | null>,
    Record<'allow_broadcast' | 'archived' | 'blocked', boolean | null> {
  /** A created contact uses `id` and this, a changed one only `eventId`. */
  eventId: string
  /** For contact.opted_out. */
  optOutEventId: string
  addresses: readonly string[]
  /** The upstream's user id of a contact that is created with a number, unless it leads to another one; null: none. */
  user_id: string | null
  /** Whether it may be created; people without a number are only updated. */
  creatable: boolean
  tags: string[] | null
  bot_status: Contact['bot_status']
  /** Since when the contact is opted out, from a list of opt-outs; `allow_broadcast` is false then. */
  opted_out_at: Date | null
}

/**
 * The result of an imported contact. `unknown`: not found, and not creatable. `passed`: another one of the same batch
 * led to the same contact, or the contact was just erased or merged: import it again.
 */
export interface ImportedRow {
  outcome: 'created' | 'updated' | 'unchanged' | 'skipped' | 'unknown' | 'passed'
  id: string | null
  chat_id: string | null
}

// Rows are locked in the order of their ids and created in the order of their numbers in every import, so that two
// imports cannot deadlock. If another transaction takes a number meanwhile, a unique violation rolls everything back.
// An opt-out before the contact's last opt-in is ignored.
const importAll = statement<ImportedRow>(
  'contactImports.import',
  `WITH given AS (
     -- The contacts of the file.
     SELECT * FROM json_to_recordset($2) AS given (n int, id uuid, event_id uuid, opt_out_event_id uuid, chat_id text,
       addresses text[], user_id text, user_addresses text[], creatable boolean, full_name text, folded_name text, email text, tags text[], allow_broadcast boolean,
       archived boolean, blocked boolean, bot_status text, contact_summary text, source json, opted_out_at timestamptz)
   ), found AS (
     -- The existing contact of each row: the first form that is known decides.
     SELECT DISTINCT ON (g.n) g.n, a.contact_id
     FROM given g CROSS JOIN unnest(g.addresses) WITH ORDINALITY AS form (address, rank) CROSS JOIN LATERAL (
       SELECT contact_id FROM contact_addresses WHERE organization_id = $1 AND address = form.address LIMIT 1
     ) a
     ORDER BY g.n, form.rank
   ), chosen AS (
     -- Of several rows for one contact, only the first is imported now.
     SELECT DISTINCT ON (contact_id) n, contact_id FROM found ORDER BY contact_id, n
   ), known AS (
     -- Locks the existing contacts.
     SELECT chosen.n, c.*
     FROM chosen CROSS JOIN LATERAL (
       SELECT id, chat_id, opted_out_at, opted_in_at FROM contacts WHERE organization_id = $1 AND id = chosen.contact_id
       FOR NO KEY UPDATE
     ) c
   ), current AS (
     -- Leaves out opt-outs before the last opt-in.
     SELECT g.n, g.allow_broadcast, g.opted_out_at
     FROM known k JOIN given g USING (n)
     WHERE (k.opted_in_at <= g.opted_out_at) IS NOT FALSE
   ), changed AS (
     -- Updates existing contacts if a field changes.
     UPDATE contacts c
     SET full_name = coalesce(g.full_name, c.full_name), folded_name = coalesce(g.folded_name, c.folded_name),
       email = coalesce(g.email, c.email), tags = coalesce(g.tags, c.tags),
       allow_broadcast = coalesce(cur.allow_broadcast, c.allow_broadcast), archived = coalesce(g.archived, c.archived),
       archived_through = CASE WHEN coalesce(g.archived, c.archived) THEN c.archived_through END,
       blocked = coalesce(g.blocked, c.blocked), bot_status = coalesce(g.bot_status, c.bot_status),
       contact_summary = coalesce(g.contact_summary, c.contact_summary),
       opted_out_at = CASE WHEN cur.allow_broadcast IS NOT TRUE THEN coalesce(c.opted_out_at, cur.opted_out_at) END,
       opt_out_source = CASE WHEN cur.allow_broadcast IS NOT TRUE
         THEN coalesce(c.opt_out_source, CASE WHEN cur.opted_out_at IS NOT NULL THEN 'import' END) END,
       consent_words = CASE WHEN c.opted_out_at IS NOT NULL OR cur.opted_out_at IS NULL THEN c.consent_words END,
       contact_summary_updated_at = CASE WHEN g.contact_summary IS DISTINCT FROM c.contact_summary
         AND g.contact_summary IS NOT NULL THEN now() ELSE c.contact_summary_updated_at END,
       updated_at = now()
     FROM known k JOIN given g USING (n) LEFT JOIN current cur USING (n)
     WHERE c.organization_id = $1 AND c.id = k.id AND NOT $3::boolean
       AND ((c.full_name, c.email, c.tags, c.allow_broadcast, c.archived, c.blocked, c.bot_status, c.contact_summary)
         IS DISTINCT FROM
         (coalesce(g.full_name, c.full_name), coalesce(g.email, c.email), coalesce(g.tags, c.tags),
           coalesce(cur.allow_broadcast, c.allow_broadcast), coalesce(g.archived, c.archived), coalesce(g.blocked, c.blocked),
           coalesce(g.bot_status, c.bot_status), coalesce(g.contact_summary, c.contact_summary))
         OR (c.opted_out_at IS NULL AND cur.opted_out_at IS NOT NULL))
     RETURNING g.n, g.event_id, g.opt_out_event_id, c.id, k.opted_out_at AS opted_out_before, c AS contact
   ), aliases AS (
     -- Adds new forms of their numbers.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, form, k.id
     FROM known k JOIN given g USING (n), unnest(g.addresses) AS form
     WHERE NOT $3 AND g.creatable
     ORDER BY form
     ON CONFLICT DO NOTHING
   ), created AS (
     -- Creates the other contacts.
     INSERT INTO contacts (organization_id, id, chat_id, phone_number, user_id, full_name, folded_name, email, tags, allow_broadcast,
       archived, blocked, bot_status, contact_summary, contact_summary_updated_at, source, opted_out_at, opt_out_source)
     SELECT $1, g.id, g.chat_id, '+' || g.chat_id, CASE WHEN NOT EXISTS (
         SELECT FROM contact_addresses WHERE organization_id = $1 AND address = ANY (g.user_addresses)
       ) THEN g.user_id END, g.full_name, g.folded_name, g.email, coalesce(g.tags, '{}'),
       coalesce(g.allow_broadcast, true), coalesce(g.archived, false), coalesce(g.blocked, false), g.bot_status,
       g.contact_summary, CASE WHEN g.contact_summary IS NOT NULL THEN now() END, g.source, g.opted_out_at,
       CASE WHEN g.opted_out_at IS NOT NULL THEN 'import' END
     FROM given g
     WHERE g.creatable AND NOT EXISTS (SELECT FROM found WHERE found.n = g.n)
     ORDER BY g.chat_id
     RETURNING ${CONTACT_COLUMNS}
   ), addresses AS (
     -- Adds the addresses of created contacts.
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, address, created.id
     FROM created JOIN given g USING (id), unnest(
       g.addresses || CASE WHEN created.user_id IS NOT NULL THEN g.user_addresses ELSE '{}' END
     ) AS address
     ORDER BY address
   ), ${listContacts('created')}, raised AS (
     -- Raises contact.created, contact.updated and contact.opted_out.
     ${raiseEvents(
       contactEvents('contact.created', 'g.event_id', 'created', 'created JOIN given g USING (id)'),
       contactEvents('contact.updated', 'event_id', 'contact', 'changed'),
       contactEvents(
         'contact.opted_out',
         'g.opt_out_event_id',
         'created',
         'created JOIN given g USING (id) WHERE created.opted_out_at IS NOT NULL',
       ),
       contactEvents(
         'contact.opted_out',
         'opt_out_event_id',
         'contact',
         'changed WHERE opted_out_before IS NULL AND (contact).opted_out_at IS NOT NULL',
       ),
     )}
   )
   SELECT coalesce(created.id, known.id) AS id, coalesce(created.chat_id, known.chat_id) AS chat_id, CASE
       WHEN created.id IS NOT NULL THEN 'created'
       WHEN changed.n IS NOT NULL THEN 'updated'
       WHEN known.n IS NOT NULL THEN CASE WHEN $3 THEN 'skipped' ELSE 'unchanged' END
       WHEN found.n IS NOT NULL THEN 'passed'
       ELSE 'unknown'
     END AS outcome
   FROM given g LEFT JOIN found USING (n) LEFT JOIN known USING (n) LEFT JOIN changed USING (n)
     LEFT JOIN created ON created.id = g.id
   ORDER BY g.n`,
  { raises: 'events', isHeavy: true },
)

/**
 * Creates or changes contacts in one statement; each is found by the forms of its number. With `leaveExisting`,
 * existing contacts stay as they are. The contacts must not share addresses. Raises contact.created, contact.updated
 * and contact.opted_out. An existing opt-out keeps its date, and one before the contact's last opt-in is ignored. Fails
 * with a unique violation, and writes nothing, if a number is taken at that moment.
 */
export function importContacts(
  db: Queryable,
  organizationId: string,
  contacts: readonly ImportedContact[],
  { leaveExisting }: { leaveExisting: boolean },
): Promise<ImportedRow[]> {
  return db.raise(importAll, [organizationId, toRecordset(contacts), leaveExisting], [organizationId])
}

const wasAnalyzed = sharedStatement<{ recently: boolean }>(
  'contactImports.wasAnalyzed',
  `SELECT coalesce(greatest(last_analyze, last_autoanalyze) > now() - interval '1 minute', false) AS recently
   FROM pg_stat_user_tables WHERE relid = 'contacts'::regclass`,
)

/** Longer than a statement of a request may take. */
const ANALYZE_TIMEOUT_MS = 60_000
const ANALYZE = {
  text: `BEGIN; SET LOCAL statement_timeout = ${ANALYZE_TIMEOUT_MS};
    ANALYZE (SKIP_LOCKED) contacts, contact_addresses, contact_activity; COMMIT`,
  query_timeout: ANALYZE_TIMEOUT_MS,
}

/**
 * Updates PostgreSQL's statistics of the contacts. Plans made when there were none, including those of foreign keys,
 * read all contacts of the organization for each row: 20,000 new contacts take 106 s without this and 16 s with it.
 * False, and nothing done, if that happened within the last minute; the statistics may be too old then, so call it
 * again with the next batch. A call costs the read of one row.
 */
export async function analyzeContacts(db: Database): Promise<boolean> {
  const [known] = await db.run(wasAnalyzed, [])
  if (known?.recently) return false
  const { client, giveBack } = await db.borrow(null)
  try {
    await client.query(ANALYZE)
    giveBack()
    return true
  } catch (error) {
    giveBack(error as Error)
    throw error
  }
}

function toRecordset(contacts: readonly ImportedContact[]): string {
  return JSON.stringify(
    contacts.map(({ eventId, optOutEventId, ...contact }, n) => ({
      ...contact,
      n,
      event_id: eventId,
      opt_out_event_id: optOutEventId,
      folded_name: normalizeName(contact.full_name),
      user_addresses: contact.user_id === null ? null : addressesOfUserId(contact.user_id),
    })),
  )
}
