import type { Queryable } from '../../../database/pool.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Contact } from '../../../model/contacts/contact.js'
import type { MergeCause } from '../../../model/contacts/merge.js'
import { userIdChatId } from '../../../model/contacts/phone-number.js'
import { addressesOfUserId, isNetworkId } from '../../../model/contacts/user-id.js'
import {
  type AddressSpan,
  addAddresses,
  disownAddresses,
  endAddressClaims,
  endOtherNumbers,
  findActivity,
  insertAddressSpan,
  type KnownAddresses,
  reassignAddresses,
  removeAddresses,
  removeContactNumber,
  showNewestUserId,
} from '../../../storage/contacts/addresses.js'
import { insertContact, renumberContact } from '../../../storage/contacts/contacts.js'
import type { Apart } from '../../../storage/contacts/merge-journal.js'
import { mergeContacts } from '../../../storage/contacts/merges.js'

/**
 * A phone number of the upstream: its canonical digits (the raw digits if the number is not possible) and all its
 * forms.
 */
export interface NumberForms {
  digits: string
  forms: readonly string[]
}

/** What the phone of a business number tells of a person. A contact that is created for it raises no event. */
export interface ToldByPhone {
  /** Where the person is named: only in its address book, or in its conversations. */
  source: 'address_book' | 'phone_history'
  /** When the person was last active. */
  activeAt: Date
}

/** The state of resolving some addresses to contacts, inside a transaction that has locked these contacts. */
export interface Resolution {
  transaction: Queryable
  organizationId: string
  /** The upstream's time of the message or notice. */
  at: Date
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  /** See Observation. */
  toldByPhone?: ToldByPhone | null
  now: Date
  known: KnownAddresses
  /** Whether contacts were merged. */
  hasMerged: boolean
}

/** A contact, and the period in which the address belonged to it. */
export interface AddressOwner {
  contact: Contact
  row: AddressSpan
}

/** Whether the moment is in the period. A moment in the same second as a change counts as after the change. */
export function isOwnerAt({ since, left_at }: AddressSpan, at: Date): boolean {
  return (since === null || since <= at) && (left_at === null || left_at > at)
}

/** The contact that the number leads to now, or null. */
export function findCurrentOwner(resolution: Resolution, { forms }: NumberForms): AddressOwner | null {
  return toOwner(
    resolution,
    resolution.known.rows.find(({ address }) => forms.includes(address)),
  )
}

/**
 * The contact that had the number at the moment `at`, or that announced it, even if the number leads to another contact
 * now.
 */
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

export function findByUserId(resolution: Resolution, userId: string): Contact | null {
  const row = resolution.known.rows.find(({ address }) => address === `user:${userId}`)
  return resolution.known.contacts.find(({ id }) => id === row?.contact_id) ?? null
}

/** User ids of linked devices are valid everywhere; those of the business API only within one business. */
function scopeOf(address: string, instanceId: string | null): string {
  return address.includes('@') ? '@' : (instanceId ?? '')
}

function userIdsOf(resolution: Resolution, { id }: Contact) {
  return resolution.known.userIds.filter((row) => row.contact_id === id)
}

/** Whether the contact has another user id in the same scope, so it is a different person. */
export function hasOtherUserId(resolution: Resolution, contact: Contact, userId: string): boolean {
  const address = `user:${userId}`
  const scope = scopeOf(address, resolution.instanceId)
  const ids = userIdsOf(resolution, contact)
  if (ids.some((row) => row.address === address)) return false
  return ids.some((row) => scopeOf(row.address, row.instance_id) === scope)
}

/** Whether the contacts have different user ids in the same scope, so they are different people. */
export function haveDifferentUserIds(resolution: Resolution, one: Contact, other: Contact): boolean {
  const [userIds, otherUserIds] = [userIdsOf(resolution, one), userIdsOf(resolution, other)]
  return userIds.some(({ address, instance_id }) => {
    const scope = scopeOf(address, instance_id)
    return otherUserIds.some((row) => scopeOf(row.address, row.instance_id) === scope)
  })
}

/**
 * Whether the contacts are different people: both have a number other than the given one, or they have different user
 * ids, or a member of the team has said so, by undoing their merge.
 */
export function areDifferentPeople(
  resolution: Resolution,
  one: Contact,
  other: Contact,
  { forms }: NumberForms,
): boolean {
  const numbers = [one, other].filter(({ phone_number }) => phone_number !== null)
  const areTwo = numbers.length === 2 && !numbers.every(({ chat_id }) => forms.includes(chat_id))
  return areTwo || findApart(resolution, one, other).length > 0 || haveDifferentUserIds(resolution, one, other)
}

/** The merges of the two contacts that were undone. */
export function findApart({ known }: Resolution, one: Contact, other: Contact): Apart[] {
  const pair = [one.id, other.id]
  return known.apart.filter(({ kept_id, gone_id }) => pair.includes(kept_id) && pair.includes(gone_id))
}

/** Whether newer information about the number is known than that of the message. */
export async function isOutdated(resolution: Resolution, { contact, row }: AddressOwner): Promise<boolean> {
  const { at } = resolution
  if (row.left_at !== null && row.left_at <= at) return false
  if (row.since !== null && row.since > at) return true
  return isKnownSince(resolution, contact)
}

/** Whether the contact did something after the message. What a phone's history tells of is only in the list's order. */
export async function isKnownSince(resolution: Resolution, { id, last_inbound_at }: Contact): Promise<boolean> {
  const { transaction, organizationId, at, toldByPhone } = resolution
  const isHistoric = toldByPhone?.source === 'phone_history'
  const newest = isHistoric ? await findActivity(transaction, organizationId, id) : last_inbound_at
  return newest !== null && new Date(newest) > at
}

/**
 * The number was another person's at the moment of the message, which is late. The owner of today stays the owner after
 * it if the phone's history tells of the message; else nobody is, until a message shows who.
 */
export async function disownBefore(
  { transaction, organizationId, at, toldByPhone, known }: Resolution,
  { contact, row }: AddressOwner,
  { forms }: NumberForms,
): Promise<void> {
  if (toldByPhone?.source !== 'phone_history') return disownAddresses(transaction, organizationId, forms, at)
  if (row.left_at !== null || (row.since !== null && row.since >= at)) return
  const theirs = known.rows.filter(({ contact_id, address }) => contact_id === contact.id && forms.includes(address))
  const addresses = theirs.map(({ address }) => address)
  await reassignAddresses(transaction, organizationId, contact.id, { addresses, since: at })
}

/** Merges two contacts into the older one. */
export async function mergePair(
  resolution: Resolution,
  one: Contact,
  other: Contact,
  cause: MergeCause = 'seen_together',
): Promise<Contact> {
  const { transaction, organizationId, known } = resolution
  const [older, younger] = one.id < other.id ? [one, other] : [other, one]
  const when = { at: resolution.now, seenAt: resolution.at }
  const merged = await mergeContacts(transaction, organizationId, { older, younger, cause, ...when })
  const stay = (id: string) => (id === younger.id ? older.id : id)
  const redirect = <Row extends { contact_id: string }>(row: Row): Row => ({ ...row, contact_id: stay(row.contact_id) })
  resolution.known = {
    contacts: known.contacts
      .filter(({ id }) => id !== younger.id)
      .map((contact) => (contact.id === older.id ? merged : contact)),
    rows: known.rows.map(redirect),
    spans: known.spans.map(redirect),
    userIds: known.userIds.map(redirect),
    apart: known.apart.map((pair) => ({ ...pair, kept_id: stay(pair.kept_id), gone_id: stay(pair.gone_id) })),
  }
  resolution.hasMerged = true
  await showNewestUserId(transaction, organizationId, merged.id)
  return merged
}

/** Makes a user id lead to the contact. `leftAt`: when the person gave it up. */
export async function addUserId(
  resolution: Resolution,
  { id }: Pick<Contact, 'id'>,
  userId: string,
  leftAt: Date | null = null,
) {
  const { transaction, organizationId, instanceId } = resolution
  const [address, chatId] = addressesOfUserId(userId)
  const ofNetwork = isNetworkId(userId)
  const added = { addresses: [address], leftAt, instanceId: ofNetwork ? null : instanceId }
  await addAddresses(transaction, organizationId, id, added)
  await addAddresses(transaction, organizationId, id, { addresses: [chatId] })
  if (leftAt === null && !ofNetwork) await showNewestUserId(transaction, organizationId, id)
}

/**
 * Assigns the number to the contact from the moment of the message on; the contact gives up its other numbers.
 * `owner`: the number's current owner.
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
  await reassignAddresses(transaction, organizationId, contact.id, { addresses: number.forms, since })
  await endOtherNumbers(transaction, organizationId, contact.id, { kept: number.forms, at })
  if (contact.chat_id !== number.digits) {
    await renumberContact(transaction, organizationId, contact.id, number.digits)
  }
}

/**
 * Takes a number from all contacts that have it, except from `except`. It belonged to them until `leftAt`; they keep
 * everything else.
 */
export async function releaseNumber(
  resolution: Resolution,
  { digits, forms }: NumberForms,
  leftAt: Date,
  except: Contact | null = null,
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
    if (contact.id === except?.id) continue
    await removeAddresses(transaction, organizationId, contact.id, forms)
    if (contact.phone_number !== null && forms.includes(contact.chat_id)) {
      await removeContactNumber(transaction, organizationId, contact.id, chatIdWithoutNumber(resolution, contact))
    }
  }
}

/** The chat id of a contact without a number: that of its user id, or else one derived from the contact's id. */
function chatIdWithoutNumber(resolution: Resolution, contact: Contact): string {
  const ids = userIdsOf(resolution, contact).map(({ address }) => address.slice('user:'.length))
  const [first = `contact:${contact.id}`] = [...ids.filter((id) => !id.includes('@')), ...ids]
  return userIdChatId(first)
}

export interface NewContactDetails {
  number: NumberForms | null
  userId: string | null
  profileName: string | null
  /** Since when the number belongs to the contact, if another contact had it before. */
  since?: Date | null
}

/**
 * Creates a contact; resolves to its id. Fails with a unique violation if an address leads to a contact already. An entry
 * of an address book may be anybody, such as a relative, so broadcasts do not reach it until somebody allows it.
 */
export async function createResolvedContact(
  resolution: Resolution,
  { number, userId, profileName, since = null }: NewContactDetails,
): Promise<string> {
  const { transaction, organizationId, toldByPhone } = resolution
  const id = newId()
  const chatIdOfUser = userIdChatId(userId ?? `contact:${id}`)
  const ofNetwork = userId?.includes('@') ? [`user:${userId}`] : []
  await insertContact(transaction, organizationId, {
    id,
    eventId: newId(),
    chat_id: number?.digits ?? chatIdOfUser,
    phone_number: number ? `+${number.digits}` : null,
    user_id: userId === null || isNetworkId(userId) ? null : userId,
    addresses: [...(number?.forms ?? []), ...ofNetwork, ...(number && userId === null ? [] : [chatIdOfUser])],
    full_name: profileName,
    email: null,
    tags: [],
    allow_broadcast: toldByPhone?.source !== 'address_book',
    source: { type: toldByPhone?.source ?? 'inbound_message', created_at: resolution.now.toISOString() },
    quietSince: toldByPhone?.activeAt ?? null,
  })
  if (userId !== null) await addUserId(resolution, { id }, userId)
  if (number && since) await reassignAddresses(transaction, organizationId, id, { addresses: number.forms, since })
  if (number) await endAddressClaims(transaction, organizationId, number.digits, resolution.at)
  return id
}
