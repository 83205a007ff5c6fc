import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { normalizeText } from '../../lib/text/normalize.js'
import type { Contact, ContactLookup } from '../../model/contacts/contact.js'
import { contactEvents, raiseEvents } from '../events/raise.js'

/** The columns of a contact, the same in all statements. */
export const CONTACT_COLUMNS = `organization_id, id, chat_id, phone_number, user_id, parent_user_id, username, username_at, referral_first,
  referral_last, full_name, email, tags, bot_status, allow_broadcast,
  archived, blocked, has_unread_messages, source, contact_summary, contact_summary_updated_at, last_seq, pruned_seq,
  searchable_seq, last_inbound_at, wrote_to, opted_out_at, opt_out_source, opted_in_at, consent_words, assignee_id, network_id, business_group, created_at, updated_at`

/** The same for a row `c`. */
export const QUALIFIED_CONTACT_COLUMNS = CONTACT_COLUMNS.replaceAll(/(\w+)/g, 'c.$1')

// Look-ups of several tenants may share a statement; OFFSET 0 keeps each under its own organization.
const findByAddresses = sharedStatement<Contact & { lookup: number }>(
  'contacts.findByAddresses',
  `SELECT DISTINCT ON (wanted.lookup) wanted.lookup, ${QUALIFIED_CONTACT_COLUMNS}
   FROM unnest($1::integer[], $2::uuid[], $3::text[])
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
   WHERE organization_id = $1 AND lower(email) = ANY ($2::text[])
   GROUP BY lower(email)
   HAVING count(*) = 1`,
)

const findById = statement<Contact>(
  'contacts.findById',
  `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2`,
)

const findUser = statement<{ address: string }>(
  'contacts.findUserId',
  `SELECT address FROM contact_addresses
   WHERE organization_id = $1 AND contact_id = $2 AND address LIKE 'user:%' AND address NOT LIKE '%@%' AND left_at IS NULL
   ORDER BY added_at DESC LIMIT 1`,
)

/**
 * The parts of a WITH that list and count new contacts: rows of `contacts` of the organization `$1`. `activeAt`: SQL of
 * their place in lists by activity.
 */
export const listContacts = (created: string, activeAt = 'created_at') => `active AS (
     INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, ${activeAt} FROM ${created}
   ), counted AS (
     INSERT INTO contact_counts (organization_id, change) SELECT $1, count(*) FROM ${created} HAVING count(*) > 0
   )`

/**
 * The INSERT that makes the usernames of some contacts searchable, as one part of a WITH; `rows`: what follows SELECT,
 * which returns id and username of contacts of the organization `$1`.
 */
export const searchUsernames = (rows: string) => `INSERT INTO contact_usernames (organization_id, contact_id, username)
     SELECT $1, id, '@' || lower(username) FROM (${rows}) named
     ORDER BY id
     ON CONFLICT (organization_id, contact_id) DO UPDATE SET username = excluded.username`

/** The earlier of two referrals, as SQL; NULL is none. The known one stays if both are of the same moment. */
export const earlierReferral = (known: string, other: string) =>
  `CASE WHEN ${other} IS NULL OR (${known} ->> 'at') COLLATE "C" <= ${other} ->> 'at' THEN ${known} ELSE ${other} END`

/** The later of two referrals; the other one if both are of the same moment. */
export const laterReferral = (known: string, other: string) =>
  `CASE WHEN ${other} IS NULL OR (${known} ->> 'at') COLLATE "C" > ${other} ->> 'at' THEN ${known} ELSE ${other} END`

const insert = statement<Contact>(
  'contacts.insert',
  `WITH inserted AS (
     INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, email, tags, allow_broadcast, source,
       folded_name, user_id, network_id)
     VALUES ($1, $2, $4, $5, $6, $7, $8, $9, $10, $12, $13, (
       SELECT substr(address, 6) FROM unnest($3::text[]) AS address WHERE address LIKE 'user:%@%' LIMIT 1
     ))
     RETURNING ${CONTACT_COLUMNS}
   ), ${listContacts('inserted', 'coalesce($14::timestamptz, created_at)')}, addresses AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, address, $2 FROM unnest($3::text[]) AS address ORDER BY address
   ), event AS (
     ${raiseEvents(contactEvents('contact.created', '$11', 'inserted', 'inserted WHERE $14::timestamptz IS NULL'))}
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
       archived = w.archived, archived_through = w.archived_through, blocked = w.blocked, bot_status = w.bot_status, contact_summary = w.contact_summary,
       contact_summary_updated_at = CASE WHEN c.contact_summary IS DISTINCT FROM w.contact_summary THEN now()
         ELSE c.contact_summary_updated_at END,
       updated_at = now()
     FROM wanted w
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2
       AND (c.full_name, c.email, c.tags, c.allow_broadcast, c.archived, c.archived_through, c.blocked, c.bot_status,
         c.contact_summary)
         IS DISTINCT FROM
         (w.full_name, w.email, w.tags, w.allow_broadcast, w.archived, w.archived_through, w.blocked, w.bot_status,
         w.contact_summary)
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

/** The upstream's user id of a contact, or null. */
export async function findUserId(db: Queryable, organizationId: string, contactId: string): Promise<string | null> {
  const [row] = await db.run(findUser, [organizationId, contactId])
  return row?.address.slice('user:'.length) ?? null
}

export interface NewContact {
  id: string
  eventId: string
  chat_id: string
  phone_number: string | null
  /** The upstream's user id, which is also among the addresses. */
  user_id: string | null
  addresses: readonly string[]
  full_name: string | null
  email: string | null
  tags: readonly string[]
  allow_broadcast: boolean
  source: Record<string, unknown> | null
  /** Set if the contact raises no event: its place in lists by activity. */
  quietSince?: Date | null
}

/**
 * Inserts a contact with its addresses and its event. Fails with a unique violation if an address belongs to another
 * contact.
 */
export async function insertContact(db: Queryable, organizationId: string, contact: NewContact): Promise<Contact> {
  const { id, eventId, chat_id, phone_number, user_id, addresses, full_name, email, tags } = contact
  const { allow_broadcast, source, quietSince = null } = contact
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
      user_id,
      quietSince,
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

/**
 * Changes a contact; raises contact.updated if something changed. `archivedThrough`: the instance on whose phone the
 * chat is archived too. Null if there is no such contact.
 */
export async function updateContact(
  db: Queryable,
  organizationId: string,
  id: string,
  changes: ContactChanges & { archivedThrough?: string | null },
): Promise<Contact | null> {
  const { archivedThrough = null, ...fields } = changes
  const name = fields.full_name === undefined ? {} : { folded_name: normalizeName(fields.full_name) }
  const archive = fields.archived === undefined ? {} : { archived_through: fields.archived ? archivedThrough : null }
  const rows = await db.raise(
    update,
    [organizationId, id, JSON.stringify({ ...fields, ...name, ...archive }), newId()],
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
): Promise<void> {
  await db.raise(renumber, [organizationId, id, digits, newId()], [organizationId])
}
