import type { Contact } from '../../../model/contacts/contact.js'
import {
  addAddresses,
  endAddresses,
  hasMessageBefore,
  insertAddressSpan,
  setParentUserId,
} from '../../../storage/contacts/addresses.js'
import { renumberContact } from '../../../storage/contacts/contacts.js'
import {
  type AddressOwner,
  addUserId,
  areDifferentPeople,
  assignNumber,
  createResolvedContact,
  findApart,
  findByUserId,
  findCurrentOwner,
  findOwnerThen,
  hasOtherUserId,
  haveDifferentUserIds,
  isOutdated,
  isOwnerAt,
  mergePair,
  type NumberForms,
  type Resolution,
  releaseNumber,
} from './addresses.js'
import {
  type Observation,
  type PersonAddresses,
  personAddresses,
  type ResolutionContext,
  type UpstreamPerson,
  withResolution,
} from './resolve-contact.js'

/** A change of a person's number or user id: the addresses before and after it. Either side may be incomplete. */
export interface AddressChange {
  from: UpstreamPerson
  to: UpstreamPerson
  /** The new parent user id, if the notice names it. */
  parentUserId?: string | null
}

/** A change of address, with the addresses read. */
interface Change {
  addressChange: AddressChange
  from: PersonAddresses
  to: PersonAddresses
}

/**
 * Applies a change of number or user id. The contact continues under the new address, and the old one still leads to it
 * until another person writes from there. A contact of the new address is merged if it is certainly the same person.
 * Resolves to the contact's id.
 */
export async function applyAddressChange(
  ctx: ResolutionContext,
  organizationId: string,
  addressChange: AddressChange,
  { profileName = null, ...observation }: Observation,
): Promise<string> {
  const change = { addressChange, from: personAddresses(addressChange.from), to: personAddresses(addressChange.to) }
  const addresses = [...new Set([...change.from.all, ...change.to.all])]
  return withResolution(ctx, { organizationId, ...observation }, { addresses }, async (resolution) => {
    const contactId = await applyChange(resolution, change, profileName)
    const { parentUserId, to } = addressChange
    if (parentUserId) {
      const ids = { parentUserId, userId: to.userId }
      await setParentUserId(resolution.transaction, organizationId, contactId, ids)
    }
    return contactId
  })
}

async function applyChange(resolution: Resolution, change: Change, profileName: string | null): Promise<string> {
  const known = await resolveOldAddress(resolution, change)
  const arrived = await findByNewAddress(resolution, change, known)
  // A contact that has both addresses has applied this change before.
  const lastAtOld = change.from.number && findCurrentOwner(resolution, change.from.number)
  const mover = known ?? (lastAtOld?.contact.id === arrived?.contact.id ? (arrived?.contact ?? null) : null)
  if (mover && arrived && mover.id !== arrived.contact.id) {
    if (isUndone(resolution, mover, arrived.contact)) return mover.id
    if (arrived.isSure) return mergeBoth(resolution, change, mover, arrived.contact)
    return claimNumber(resolution, change, mover)
  }
  const contact = mover ?? (arrived?.isSure ? arrived.contact : null)
  if (contact) return continueWith(resolution, change, contact, contact === mover)
  return createAtNewAddress(resolution, change, profileName)
}

/** A copy of a notice that a member of the team has undone changes nothing. A newer notice counts. */
function isUndone(resolution: Resolution, one: Contact, other: Contact): boolean {
  return findApart(resolution, one, other).some(({ undone_at }) => resolution.at <= undone_at)
}

/**
 * The contact that the old address led to at that moment. A contact with another user id is a different person. Two
 * contacts, one of the old number and one of the old user id, are merged if they can be one person.
 */
async function resolveOldAddress(resolution: Resolution, { addressChange, from }: Change): Promise<Contact | null> {
  const { userId } = addressChange.from
  const known = userId === null ? null : findByUserId(resolution, userId)
  const owner = from.number && findOldOwner(resolution, from.number)
  if (!from.number || !owner || (userId !== null && hasOtherUserId(resolution, owner.contact, userId))) return known
  if (known === null || known.id === owner.contact.id) return owner.contact
  if (areDifferentPeople(resolution, known, owner.contact, from.number)) return known
  return (await isOutdated(resolution, owner)) ? known : mergePair(resolution, known, owner.contact)
}

/** The owner of the old number at that moment. */
function findOldOwner(resolution: Resolution, number: NumberForms): AddressOwner | null {
  const current = findCurrentOwner(resolution, number)
  const isOwner =
    current !== null && (isOwnerAt(current.row, resolution.at) || wasLeftNow(resolution, current.row.left_at))
  return isOwner ? current : findOwnerThen(resolution, number, new Date(resolution.at.getTime() - 1))
}

/** The same notice was applied before. */
function wasLeftNow({ at }: Resolution, leftAt: Date | null): boolean {
  return leftAt?.getTime() === at.getTime()
}

/** The contact that the new address leads to; `isSure` if it is certainly the person who moved. */
async function findByNewAddress(
  resolution: Resolution,
  { addressChange, to }: Change,
  mover: Contact | null,
): Promise<{ contact: Contact; isSure: boolean } | null> {
  const { userId } = addressChange.to
  const known = userId === null ? null : findByUserId(resolution, userId)
  if (known) return { contact: known, isSure: true }
  if (to.number === null) return null
  const { transaction, organizationId, at } = resolution
  const current = findCurrentOwner(resolution, to.number)
  const isCurrent = current !== null && isOwnerAt(current.row, at)
  const owner = isCurrent ? current : findOwnerThen(resolution, to.number)
  if (!owner) return null
  const { contact } = owner
  if (contact.id === mover?.id) return { contact, isSure: true }
  const isOther =
    (userId !== null && hasOtherUserId(resolution, contact, userId)) ||
    (mover && haveDifferentUserIds(resolution, mover, contact))
  // A contact that wrote from the new number before the change is a different person.
  const isSure = !isOther && !(await hasMessageBefore(transaction, organizationId, contact.id, at))
  return isSure || isCurrent ? { contact, isSure } : null
}

/** The contacts of the old and the new address are one person. */
async function mergeBoth(resolution: Resolution, change: Change, mover: Contact, arrived: Contact): Promise<string> {
  const { transaction, organizationId } = resolution
  const current = arrived.phone_number === null ? null : arrived.chat_id
  const merged = await mergePair(resolution, mover, arrived, 'announced')
  await addUserIds(resolution, change, merged)
  await leaveOldNumber(resolution, change, merged)
  if (current === null) await takeNewNumber(resolution, change, merged)
  else if (merged.chat_id !== current) await renumberContact(transaction, organizationId, merged.id, current)
  return merged.id
}

/**
 * The new number has a conversation of its own, which stays. Messages from the number belong to the mover from now on.
 */
async function claimNumber(resolution: Resolution, change: Change, mover: Contact): Promise<string> {
  const { transaction, organizationId, at } = resolution
  const { number } = change.to
  await addUserIds(resolution, change, mover)
  await leaveOldNumber(resolution, change, mover)
  const owner = number && findCurrentOwner(resolution, number)
  if (number && owner) {
    await endAddresses(transaction, organizationId, owner.contact.id, { addresses: number.forms, at })
    const span = { address: number.digits, contact_id: mover.id, since: at, left_at: null }
    await insertAddressSpan(transaction, organizationId, span)
  }
  return mover.id
}

/** One contact is known, by the old or the new address. */
async function continueWith(
  resolution: Resolution,
  change: Change,
  contact: Contact,
  isMover: boolean,
): Promise<string> {
  await addUserIds(resolution, change, contact)
  await leaveOldNumber(resolution, change, contact)
  if (isMover || contact.phone_number === null) await takeNewNumber(resolution, change, contact)
  return contact.id
}

/** No contact is known yet. */
async function createAtNewAddress(resolution: Resolution, change: Change, profileName: string | null): Promise<string> {
  const { transaction, organizationId, at } = resolution
  const { number } = change.to
  const { userId } = change.addressChange.to
  const owner = number && findCurrentOwner(resolution, number)
  const isTaken = owner !== null && !(owner.row.left_at !== null && owner.row.left_at <= at)
  if (number && owner && !isTaken) await releaseNumber(resolution, number, at)
  const id = await createResolvedContact(resolution, {
    number: isTaken ? null : number,
    userId,
    profileName,
    since: at,
  })
  if (number && isTaken) {
    await endAddresses(transaction, organizationId, owner.contact.id, { addresses: number.forms, at })
    await insertAddressSpan(transaction, organizationId, {
      address: number.digits,
      contact_id: id,
      since: at,
      left_at: null,
    })
  }
  await addUserIds(resolution, change, { id })
  await leaveOldNumber(resolution, change, { id })
  return id
}

/** The contact is known by both user ids, and messages go to the new one. */
async function addUserIds(
  resolution: Resolution,
  { addressChange, from }: Change,
  contact: Pick<Contact, 'id'>,
): Promise<void> {
  if (addressChange.from.userId !== null) {
    await addUserId(resolution, contact, addressChange.from.userId, resolution.at)
    await endAddresses(resolution.transaction, resolution.organizationId, contact.id, {
      addresses: from.ofUserId.slice(0, 1),
      at: resolution.at,
    })
  }
  if (addressChange.to.userId !== null) await addUserId(resolution, contact, addressChange.to.userId)
}

/** The contact gives up the old number, which still leads to it until another contact takes it. */
async function leaveOldNumber(
  resolution: Resolution,
  { from, to }: Change,
  { id }: Pick<Contact, 'id'>,
): Promise<void> {
  const { transaction, organizationId, at } = resolution
  if (from.number === null || from.number.digits === to.number?.digits) return
  await addAddresses(transaction, organizationId, id, { addresses: from.number.forms, leftAt: at })
  await endAddresses(transaction, organizationId, id, { addresses: from.number.forms, at })
}

/** Assigns the new number to the contact, unless the contact has moved on since. */
async function takeNewNumber(resolution: Resolution, { from, to }: Change, contact: Contact): Promise<void> {
  const { transaction, organizationId, at } = resolution
  const { number } = to
  if (number === null) return
  const owner = findCurrentOwner(resolution, number)
  if (owner?.contact.id === contact.id && isOwnerAt(owner.row, at)) {
    if (isStillAtOldNumber(resolution, from.number, contact)) await assignNumber(resolution, contact, number, null)
    return
  }
  const hasClaim = hasSpan(resolution, number, contact)
  if (hasClaim) return
  if (!isStillAtOldNumber(resolution, from.number, contact)) {
    await addAddresses(transaction, organizationId, contact.id, { addresses: number.forms, since: at, leftAt: at })
    return
  }
  if (owner && (await isOutdated(resolution, owner))) {
    const span = { address: number.digits, contact_id: contact.id, since: at, left_at: owner.row.since ?? at }
    await insertAddressSpan(transaction, organizationId, span)
    return
  }
  await assignNumber(resolution, contact, number, owner)
}

function hasSpan(resolution: Resolution, { digits }: NumberForms, { id }: Contact): boolean {
  return resolution.known.spans.some(
    (span) => span.address === digits && span.contact_id === id && isOwnerAt(span, resolution.at),
  )
}

/** Whether the contact still has the old address of the notice. */
function isStillAtOldNumber({ at }: Resolution, old: NumberForms | null, contact: Contact): boolean {
  if (contact.phone_number === null) return true
  if (old !== null) return old.forms.includes(contact.chat_id)
  return contact.last_inbound_at === null || new Date(contact.last_inbound_at) <= at
}
