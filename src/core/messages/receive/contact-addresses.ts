import type { Queryable } from '../../../database/pool.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { userIdChatId } from '../../../model/contacts/phone-number.js'
import {
  type AddressSpan,
  addAddresses,
  endAddressClaims,
  endOtherNumbers,
  insertAddressSpan,
  type KnownAddresses,
  reassignAddresses,
  removeAddresses,
  removeContactNumber,
} from '../../../storage/contacts/addresses.js'
import { insertContact, renumberContact } from '../../../storage/contacts/contacts.js'
import { mergeContacts } from '../../../storage/contacts/merges.js'

/** A phone number of the upstream: its canonical digits, the raw ones where it is not possible, and all its forms. */
export interface NumberForms {
  digits: string
  forms: readonly string[]
}

/** What is known of some addresses, as a transaction that holds their contacts sees and changes it. */
export interface Resolution {
  transaction: Queryable
  organizationId: string
  /** When the news was: the upstream's time of a message. */
  at: Date
  /** The instance through which it came; null: the organization's own number. */
  instanceId: string | null
  now: Date
  known: KnownAddresses
  /** Whether contacts were merged. */
  hasMerged: boolean
}

/** A contact, and since when and until when an address was its own. */
export interface AddressOwner {
  contact: Contact
  row: AddressSpan
}

/** Whether the moment lies within the time. What happens in the second of a change comes after it. */
export function isOwnerAt({ since, left_at }: AddressSpan, at: Date): boolean {
  return (since === null || since <= at) && (left_at === null || left_at > at)
}

/** The contact that a number leads to now. */
export function findCurrentOwner(resolution: Resolution, { forms }: NumberForms): AddressOwner | null {
  return toOwner(
    resolution,
    resolution.known.rows.find(({ address }) => forms.includes(address)),
  )
}

/** The contact whose the number was at the moment of the news, or that has said that it is; where it leads to another one now. */
export function findOwnerThen(
  resolution: Resolution,
  { digits }: NumberForms,
  at = resolution.at,
): AddressOwner | null {
  return toOwner(
    resolution,
    resolution.known.spans.find((span) => span.address === digits && isOwnerAt(span, at)),
  )
}

function toOwner(resolution: Resolution, row: AddressSpan | undefined): AddressOwner | null {
  const contact = row && resolution.known.contacts.find(({ id }) => id === row.contact_id)
  return contact ? { contact, row } : null
}

/** The contact that a user id leads to. */
export function findByUserId(resolution: Resolution, userId: string): Contact | null {
  const row = resolution.known.rows.find(({ address }) => address === `user:${userId}`)
  return resolution.known.contacts.find(({ id }) => id === row?.contact_id) ?? null
}

/** The ids of a device's network are the same everywhere, those of the business API hold within one business. */
function scopeOf(address: string, instanceId: string | null): string {
  return address.includes('@') ? '@' : (instanceId ?? '')
}

function userIdsOf(resolution: Resolution, { id }: Contact) {
  return resolution.known.userIds.filter((row) => row.contact_id === id)
}

/** Whether the contact is known by another user id, so that it is somebody else. */
export function hasOtherUserId(resolution: Resolution, contact: Contact, userId: string): boolean {
  const address = `user:${userId}`
  const scope = scopeOf(address, resolution.instanceId)
  const ids = userIdsOf(resolution, contact)
  if (ids.some((row) => row.address === address)) return false
  return ids.some((row) => scopeOf(row.address, row.instance_id) === scope)
}

/** Whether the user ids of two contacts are those of two people. */
export function haveDifferentUserIds(resolution: Resolution, one: Contact, other: Contact): boolean {
  const [userIds, otherUserIds] = [userIdsOf(resolution, one), userIdsOf(resolution, other)]
  return userIds.some(({ address, instance_id }) => {
    const scope = scopeOf(address, instance_id)
    return otherUserIds.some((row) => scopeOf(row.address, row.instance_id) === scope)
  })
}

/** Whether two contacts cannot be one person: each has a number of its own, other than the given one, or other user ids. */
export function areDifferentPeople(
  resolution: Resolution,
  one: Contact,
  other: Contact,
  { forms }: NumberForms,
): boolean {
  const numbers = [one, other].filter(({ phone_number }) => phone_number !== null)
  const areTwo = numbers.length === 2 && !numbers.every(({ chat_id }) => forms.includes(chat_id))
  return areTwo || haveDifferentUserIds(resolution, one, other)
}

/** Whether the news is older than what is known of the number since. */
export function isOutdated({ at }: Resolution, { contact, row }: AddressOwner): boolean {
  if (row.left_at !== null && row.left_at <= at) return false
  if (row.since !== null && row.since > at) return true
  return contact.last_inbound_at !== null && new Date(contact.last_inbound_at) > at
}

/** Makes two contacts one: the older takes the younger in. */
export async function mergePair(resolution: Resolution, one: Contact, other: Contact): Promise<Contact> {
  const { transaction, organizationId, known } = resolution
  const [older, younger] = one.id < other.id ? [one, other] : [other, one]
  const merged = await mergeContacts(transaction, organizationId, older, younger, newId())
  const redirect = <Row extends { contact_id: string }>(row: Row): Row =>
    row.contact_id === younger.id ? { ...row, contact_id: older.id } : row
  resolution.known = {
    contacts: known.contacts
      .filter(({ id }) => id !== younger.id)
      .map((contact) => (contact.id === older.id ? merged : contact)),
    rows: known.rows.map(redirect),
    spans: known.spans.map(redirect),
    userIds: known.userIds.map(redirect),
  }
  resolution.hasMerged = true
  return merged
}

/** Keeps a user id as an address of the contact. */
export async function addUserId(
  resolution: Resolution,
  { id }: Pick<Contact, 'id'>,
  userId: string,
  leftAt: Date | null = null,
) {
  const { transaction, organizationId, instanceId } = resolution
  const address = `user:${userId}`
  const facts = { leftAt, instanceId: userId.includes('@') ? null : instanceId }
  await addAddresses(transaction, organizationId, id, [address], facts)
  await addAddresses(transaction, organizationId, id, [userIdChatId(userId)])
}

/**
 * Makes the number the contact's, from the moment of the news on, wherever it led before; the contact leaves its other numbers then.
 * `holder`: whose it is now.
 */
export async function assignNumber(
  resolution: Resolution,
  contact: Contact,
  number: NumberForms,
  owner: AddressOwner | null,
): Promise<void> {
  const { transaction, organizationId, at } = resolution
  let since: Date | null = contact.phone_number === null ? null : at
  if (owner) {
    since = owner.contact.id === contact.id ? at : (owner.row.left_at ?? at)
    await releaseNumber(resolution, number, since, contact)
  }
  await endAddressClaims(transaction, organizationId, number.digits, at)
  await reassignAddresses(transaction, organizationId, contact.id, number.forms, since)
  await endOtherNumbers(transaction, organizationId, contact.id, number.forms, at)
  if (contact.chat_id !== number.digits) {
    await renumberContact(transaction, organizationId, contact.id, number.digits, newId())
  }
}

/** Takes a number from the contacts that have it, all but one: it was theirs until `leftAt`, and they keep all else. */
export async function releaseNumber(
  resolution: Resolution,
  { digits, forms }: NumberForms,
  leftAt: Date,
  kept: Contact | null = null,
): Promise<void> {
  const { transaction, organizationId, known } = resolution
  const owned = known.rows.filter(({ address }) => forms.includes(address))
  for (const contactId of new Set(owned.map((row) => row.contact_id))) {
    const contact = known.contacts.find(({ id }) => id === contactId)
    const row = owned.find((one) => one.contact_id === contactId)
    if (!contact || !row) continue
    const left = row.left_at ?? leftAt
    if (row.since === null || row.since < left) {
      await insertAddressSpan(transaction, organizationId, { ...row, address: digits, left_at: left })
    }
    if (contact.id === kept?.id) continue
    await removeAddresses(transaction, organizationId, contact.id, forms)
    if (contact.phone_number !== null && forms.includes(contact.chat_id)) {
      await removeContactNumber(transaction, organizationId, contact.id, chatIdWithoutNumber(resolution, contact))
    }
  }
}

/** The chat id of a contact without a number: that of its user id, or where it has none one of its own. */
function chatIdWithoutNumber(resolution: Resolution, contact: Contact): string {
  const ids = userIdsOf(resolution, contact).map(({ address }) => address.slice('user:'.length))
  const [first = `contact:${contact.id}`] = [...ids.filter((id) => !id.includes('@')), ...ids]
  return userIdChatId(first)
}

/** What a new contact is known by. */
export interface NewContactDetails {
  number: NumberForms | null
  userId: string | null
  profileName: string | null
  /** From when on the number is its own, where it was another contact's before. */
  since?: Date | null
}

/** Makes a contact of a person; resolves to its id. A unique violation where an address leads somewhere already. */
export async function createResolvedContact(
  resolution: Resolution,
  { number, userId, profileName, since = null }: NewContactDetails,
): Promise<string> {
  const { transaction, organizationId } = resolution
  const id = newId()
  const chatIdOfUser = userIdChatId(userId ?? `contact:${id}`)
  const ofNetwork = userId?.includes('@') ? [`user:${userId}`] : []
  await insertContact(transaction, organizationId, {
    id,
    eventId: newId(),
    chat_id: number?.digits ?? chatIdOfUser,
    phone_number: number ? `+${number.digits}` : null,
    addresses: [...(number?.forms ?? []), ...ofNetwork, ...(number && userId === null ? [] : [chatIdOfUser])],
    full_name: profileName,
    email: null,
    tags: [],
    allow_broadcast: true,
    source: { type: 'inbound_message', created_at: resolution.now.toISOString() },
  })
  if (userId !== null) await addUserId(resolution, { id }, userId)
  if (number && since) await reassignAddresses(transaction, organizationId, id, number.forms, since)
  if (number) await endAddressClaims(transaction, organizationId, number.digits, resolution.at)
  return id
}
