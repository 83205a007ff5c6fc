import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { CONTACT_COLUMNS } from './contacts.js'
import { type Apart, listPairsApart } from './merge-journal.js'

/** The period in which an address belonged to a contact; null: from the beginning, until now. */
export interface AddressSpan {
  address: string
  contact_id: string
  since: Date | null
  left_at: Date | null
}

/** A user id of a contact, and the instance that reported it. */
export interface UserIdRow {
  address: string
  contact_id: string
  instance_id: string | null
}

/** The stored data of some addresses, with their contacts locked. */
export interface KnownAddresses {
  /** Older first. */
  contacts: Contact[]
  /** The contacts that the addresses lead to now. */
  rows: AddressSpan[]
  /** Other periods of the numbers. */
  spans: AddressSpan[]
  /** All user ids of these contacts. */
  userIds: UserIdRow[]
  /** Pairs of them whose merge was undone. */
  apart: Apart[]
}

const lock = statement<Contact>(
  'contactAddresses.lock',
  `SELECT ${CONTACT_COLUMNS}
   FROM contacts
   WHERE organization_id = $1 AND id IN (
     SELECT contact_id FROM contact_addresses WHERE organization_id = $1 AND address = ANY ($2)
     UNION ALL
     SELECT contact_id FROM contact_address_spans WHERE organization_id = $1 AND address = ANY ($2)
     UNION ALL
     SELECT unnest($3::uuid[])
   )
   ORDER BY id
   FOR UPDATE`,
)

const listRows = statement<AddressSpan>(
  'contactAddresses.listRows',
  `SELECT address, contact_id, since, left_at FROM contact_addresses
   WHERE organization_id = $1 AND address = ANY ($2)
   ORDER BY array_position($2, address)`,
)

const listSpans = statement<AddressSpan>(
  'contactAddresses.listSpans',
  `SELECT address, contact_id, since, left_at FROM contact_address_spans
   WHERE organization_id = $1 AND address = ANY ($2)
   ORDER BY since DESC NULLS LAST, id DESC`,
)

const listUserIds = statement<UserIdRow>(
  'contactAddresses.listUserIds',
  `SELECT address, contact_id, instance_id FROM contact_addresses
   WHERE organization_id = $1 AND contact_id = ANY ($2) AND address LIKE 'user:%'
   ORDER BY left_at DESC NULLS FIRST, added_at DESC`,
)

const reassign = statement<never>(
  'contactAddresses.reassign',
  `INSERT INTO contact_addresses (organization_id, address, contact_id, since)
   SELECT $1, address, $2, $4 FROM unnest($3::text[]) AS address ORDER BY address
   ON CONFLICT (organization_id, address) DO UPDATE SET contact_id = $2, since = $4, left_at = NULL, added_at = now()`,
)

const add = statement<never>(
  'contactAddresses.add',
  `INSERT INTO contact_addresses (organization_id, address, contact_id, since, left_at, instance_id)
   SELECT $1, address, $2, $4, $5, $6 FROM unnest($3::text[]) AS address ORDER BY address
   ON CONFLICT DO NOTHING`,
)

const end = statement<never>(
  'contactAddresses.end',
  `UPDATE contact_addresses SET left_at = $4
   WHERE organization_id = $1 AND contact_id = $2 AND address = ANY ($3) AND left_at IS NULL`,
)

const endNumbers = statement<never>(
  'contactAddresses.endNumbers',
  `UPDATE contact_addresses SET left_at = $4
   WHERE organization_id = $1 AND contact_id = $2 AND address ~ '^[1-9]' AND NOT address = ANY ($3) AND left_at IS NULL`,
)

const disown = statement<never>(
  'contactAddresses.disown',
  `UPDATE contact_addresses SET since = $3, left_at = $3
   WHERE organization_id = $1 AND address = ANY ($2) AND (since IS NULL OR since < $3)`,
)

const activity = statement<{ active_at: Date }>(
  'contactAddresses.activity',
  `SELECT active_at FROM contact_activity
   WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = $2`,
)

const insertSpan = statement<never>(
  'contactAddresses.insertSpan',
  `INSERT INTO contact_address_spans (organization_id, id, address, contact_id, since, left_at) VALUES ($1, $2, $3, $4, $5, $6)`,
)

const endClaims = statement<never>(
  'contactAddresses.endClaims',
  `UPDATE contact_address_spans SET left_at = $3
   WHERE organization_id = $1 AND address = $2 AND left_at IS NULL AND (since IS NULL OR since <= $3)`,
)

const removeNumber = statement<never>(
  'contactAddresses.removeNumber',
  `WITH changed AS (
     UPDATE contacts SET chat_id = $3, phone_number = NULL, updated_at = now()
     WHERE organization_id = $1 AND id = $2
     RETURNING *
   ), address AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, $3, $2 FROM changed
     ON CONFLICT DO NOTHING
   )
   ${raiseEvents(contactEvents('contact.updated', '$4', 'changed'))}`,
  { raises: 'events' },
)

/**
 * SQL: the user id to show: the one that a send by the organization's own number would use (userAddress in
 * storage/messages/outgoing), or else one of an instance.
 */
const newestUserId = (organizationId: string, contactId: string) =>
  `SELECT substr(address, 6) AS user_id FROM contact_addresses
     WHERE organization_id = ${organizationId} AND contact_id = ${contactId} AND address LIKE 'user:%' AND address NOT LIKE '%@%'
     ORDER BY instance_id IS NOT NULL, left_at DESC NULLS FIRST, added_at DESC
     LIMIT 1`

const showUserId = statement<never>(
  'contactAddresses.showUserId',
  `WITH newest AS (
     ${newestUserId('$1', '$2')}
   ), changed AS (
     UPDATE contacts c SET user_id = newest.user_id, updated_at = now()
     FROM newest
     WHERE c.organization_id = $1 AND c.id = $2 AND c.user_id IS DISTINCT FROM newest.user_id
     RETURNING c.*
   )
   ${raiseEvents(contactEvents('contact.updated', '$3', 'changed'))}`,
  { raises: 'events' },
)

// Raises nothing: the organization has known the ids before.
const showMissing = sharedStatement<{ count: number }>(
  'contactAddresses.showMissing',
  `WITH missing AS (
     SELECT c.organization_id, c.id, newest.user_id
     FROM contacts c CROSS JOIN LATERAL (${newestUserId('c.organization_id', 'c.id')}) newest
     WHERE c.user_id IS NULL
     LIMIT $1
     FOR NO KEY UPDATE OF c SKIP LOCKED
   ), shown AS (
     UPDATE contacts c SET user_id = missing.user_id
     FROM missing
     WHERE c.organization_id = missing.organization_id AND c.id = missing.id
     RETURNING c.id
   )
   SELECT count(*) FROM shown`,
)

// Of several notices, which may come late, that of the user id that is shown counts.
const setParent = statement<never>(
  'contactAddresses.setParent',
  `WITH changed AS (
     UPDATE contacts c SET parent_user_id = $3, updated_at = now()
     WHERE c.organization_id = $1 AND c.id = $2 AND c.parent_user_id IS DISTINCT FROM $3
       AND ($4::text IS NULL OR c.user_id = $4)
     RETURNING c.*
   ), address AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id) VALUES ($1, 'parent:' || $3, $2)
     ON CONFLICT DO NOTHING
   )
   ${raiseEvents(contactEvents('contact.updated', '$5', 'changed'))}`,
  { raises: 'events' },
)

const removeRows = statement<never>(
  'contactAddresses.removeRows',
  'DELETE FROM contact_addresses WHERE organization_id = $1 AND contact_id = $2 AND address = ANY ($3)',
)

// The notice of a new user id that names no number says nothing of who had it.
const messageBefore = statement<{ wrote: boolean }>(
  'contactAddresses.hasMessageBefore',
  `SELECT EXISTS (
     SELECT FROM messages WHERE organization_id = $1 AND contact_id = $2 AND seq IS NOT NULL AND created_at <= $3
       AND (sender_type <> 'system' OR extras -> 'address_change' IS NULL
         OR extras #>> '{address_change,from,waId}' IS NOT NULL OR extras #>> '{address_change,to,waId}' IS NOT NULL)
   ) AS wrote`,
)

/**
 * Locks the contacts that the addresses lead to or led to, and those of `ids`, in the order of their ids, and reads the
 * stored data. Null if it changed meanwhile: try again.
 */
export async function lockAddresses(
  transaction: Queryable,
  organizationId: string,
  addresses: readonly string[],
  ids: readonly string[] = [],
): Promise<KnownAddresses | null> {
  const contacts = await transaction.run(lock, [organizationId, addresses, ids])
  const rows = await transaction.run(listRows, [organizationId, addresses])
  const spans = await transaction.run(listSpans, [organizationId, addresses])
  const locked = new Set(contacts.map(({ id }) => id))
  if ([...rows, ...spans].some((row) => !locked.has(row.contact_id))) return null
  const userIds = await transaction.run(listUserIds, [organizationId, [...locked]])
  const apart = locked.size < 2 ? [] : await listPairsApart(transaction, organizationId, [...locked])
  return { contacts, rows, spans, userIds, apart }
}

/** Makes the addresses lead to the contact, from `since` on if they led to another one before. */
export async function reassignAddresses(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { addresses, since }: { addresses: readonly string[]; since: Date | null },
): Promise<void> {
  await transaction.run(reassign, [organizationId, contactId, addresses, since])
}

/** Addresses that a contact gets, and what is known about them. */
export interface AddedAddresses {
  addresses: readonly string[]
  since?: Date | null
  leftAt?: Date | null
  instanceId?: string | null
}

/** Adds addresses to a contact; addresses that lead to a contact already stay as they are. */
export async function addAddresses(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { addresses, since = null, leftAt = null, instanceId = null }: AddedAddresses,
): Promise<void> {
  await transaction.run(add, [organizationId, contactId, addresses, since, leftAt, instanceId])
}

/** Records that the contact gave up these addresses at `at`. They lead to it until another contact takes them. */
export async function endAddresses(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { addresses, at }: { addresses: readonly string[]; at: Date },
): Promise<void> {
  await transaction.run(end, [organizationId, contactId, addresses, at])
}

/** Records that the contact gave up all its numbers except `kept` at `at`. */
export async function endOtherNumbers(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { kept, at }: { kept: readonly string[]; at: Date },
): Promise<void> {
  await transaction.run(endNumbers, [organizationId, contactId, kept, at])
}

/**
 * Records that the owner of the addresses is uncertain around `at`: they lead to a contact only together with a user
 * id.
 */
export async function disownAddresses(
  transaction: Queryable,
  organizationId: string,
  addresses: readonly string[],
  at: Date,
): Promise<void> {
  await transaction.run(disown, [organizationId, addresses, at])
}

/** When the contact was last active, as the list has it; null: there is no such contact. */
export async function findActivity(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
): Promise<Date | null> {
  const [row] = await transaction.run(activity, [organizationId, contactId])
  return row?.active_at ?? null
}

/** Adds a period in which an address belonged to a contact, or a claim to it from now on. */
export async function insertAddressSpan(
  transaction: Queryable,
  organizationId: string,
  span: AddressSpan,
): Promise<void> {
  const { address, contact_id, since, left_at } = span
  await transaction.run(insertSpan, [organizationId, newId(), address, contact_id, since, left_at])
}

/** Ends at `at` all open claims to an address. */
export async function endAddressClaims(
  transaction: Queryable,
  organizationId: string,
  address: string,
  at: Date,
): Promise<void> {
  await transaction.run(endClaims, [organizationId, address, at])
}

/** Removes the phone number of a contact, whose chat id becomes `chatId`, and raises contact.updated. */
export async function removeContactNumber(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  chatId: string,
): Promise<void> {
  await transaction.raise(removeNumber, [organizationId, contactId, chatId, newId()], [organizationId])
}

/** Shows the newest user id among the contact's addresses; raises contact.updated if it was another one. */
export async function showNewestUserId(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
): Promise<void> {
  await transaction.raise(showUserId, [organizationId, contactId, newId()], [organizationId])
}

/**
 * Shows the user ids of at most `limit` contacts that are known by one and show none: those of before user ids were
 * shown, and what an older process has made. Resolves to how many. Of all organizations.
 */
export async function showMissingUserIds(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.run(showMissing, [limit])
  return row?.count ?? 0
}

/**
 * Makes a parent user id lead to the contact, and shows it if the contact shows the user id that came with it, or if
 * none came. Raises contact.updated.
 */
export async function setParentUserId(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { parentUserId, userId }: { parentUserId: string; userId: string | null },
): Promise<void> {
  const values = [organizationId, contactId, parentUserId, userId, newId()]
  await transaction.raise(setParent, values, [organizationId])
}

/** Removes addresses of the contact. */
export async function removeAddresses(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  addresses: readonly string[],
): Promise<void> {
  await transaction.run(removeRows, [organizationId, contactId, addresses])
}

/** Whether the contact's conversation has a message of its number at `at` or earlier. */
export async function hasMessageBefore(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  at: Date,
): Promise<boolean> {
  const [row] = await transaction.run(messageBefore, [organizationId, contactId, at])
  return row?.wrote === true
}
