import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { userIdChatId } from '../../../model/contacts/phone-number.js'
import { ANY_COUNTRY, addressesOf, readNumber } from '../../../model/contacts/written-number.js'
import { addAddresses, insertAddressSpan, lockAddresses } from '../../../storage/contacts/addresses.js'
import { renumberContact } from '../../../storage/contacts/contacts.js'
import { findErasure } from '../../../storage/contacts/erased-addresses.js'
import {
  type AddressOwner,
  addUserId,
  areDifferentPeople,
  assignNumber,
  createResolvedContact,
  disownBefore,
  findByUserId,
  findCurrentOwner,
  findOwnerThen,
  hasOtherUserId,
  isKnownSince,
  isOutdated,
  isOwnerAt,
  mergePair,
  type NumberForms,
  type Resolution,
  releaseNumber,
  type ToldByPhone,
} from './addresses.js'

/**
 * The sender of a message or the recipient of a status: the digits of a phone number, the upstream's user id, or both.
 */
export interface UpstreamPerson {
  waId: string | null
  userId: string | null
}

/** The addresses by which a person is found. */
export interface PersonAddresses {
  number: NumberForms | null
  /** The address of the user id and its literal chat id; empty for a person who is known by a number only. */
  ofUserId: readonly string[]
  all: readonly string[]
}

/** Reads a person's addresses: every form of the number, the user id, and its literal chat id. */
export function personAddresses({ waId, userId }: UpstreamPerson): PersonAddresses {
  const ofUserId = userId === null ? [] : [`user:${userId}`, userIdChatId(userId)]
  if (waId === null) return { number: null, ofUserId, all: ofUserId }
  const reading = readNumber(`+${waId}`, ANY_COUNTRY, 'international')
  const forms = addressesOf(reading)
  return { number: { digits: reading.preferred?.digits ?? waId, forms }, ofUserId, all: [...forms, ...ofUserId] }
}

/** When, through which channel and under which name a person was seen. */
export interface Observation {
  at: Date
  /** The instance; null: the organization's own number. User ids are valid within one business. */
  instanceId: string | null
  /** The name that the person gave to the upstream; a contact that is created gets it. */
  profileName?: string | null
  /** Set if the phone of the business number tells of the person, who has done nothing now. */
  toldByPhone?: ToldByPhone | null
}

/** What finding the contact of a person needs. */
export type ResolutionContext = Pick<Context, 'database' | 'clock' | 'notifications'>

/** The facts about the sender that a message contains. */
interface SenderDetails {
  userId: string | null
  profileName: string | null
}

/**
 * Finds or creates the contact of a person and makes the person's addresses lead to it. Two contacts that turn out to
 * be one person are merged unless something contradicts that. If number and user id belong to two people, the user id
 * decides, and the number passes to its contact. Resolves to the contact's id.
 */
export async function resolveContact(
  ctx: ResolutionContext,
  organizationId: string,
  person: UpstreamPerson,
  { profileName = null, ...observation }: Observation = { at: ctx.clock(), instanceId: null },
): Promise<string> {
  const addresses = personAddresses(person)
  return withResolution(ctx, { organizationId, ...observation }, { addresses: addresses.all }, (resolution) =>
    resolve(resolution, addresses, { userId: person.userId, profileName }),
  )
}

/** The contact of a person of whom a phone tells, and when the person was erased before, if that is remembered. */
export interface ToldPerson {
  contactId: string
  erasedAt: Date | null
}

/**
 * As resolveContact, for a person of whom the phone of a business number tells; null if the person was erased since then,
 * whom the phone still has.
 */
export async function resolveToldByPhone(
  ctx: ResolutionContext,
  organizationId: string,
  person: UpstreamPerson,
  { profileName = null, ...observation }: Observation & { toldByPhone: ToldByPhone },
): Promise<ToldPerson | null> {
  const addresses = personAddresses(person)
  return withResolution(ctx, { organizationId, ...observation }, { addresses: addresses.all }, async (resolution) => {
    // With the contacts locked, so that no erasure is missed.
    const erasedAt = await findErasure(resolution.transaction, organizationId, addresses.all)
    if (erasedAt !== null && observation.at <= erasedAt) return null
    return { contactId: await resolve(resolution, addresses, { userId: person.userId, profileName }), erasedAt }
  })
}

/** Maximum attempts, if other transactions change the same contacts at the same moment. */
const MAX_TRIES = 5

/**
 * Runs `work` in a transaction with the contacts of the addresses and ids locked. If another transaction changes them
 * in the meantime, it runs again.
 */
export async function withResolution<Result>(
  ctx: ResolutionContext,
  observation: Observation & { organizationId: string },
  { addresses, ids = [] }: { addresses: readonly string[]; ids?: readonly string[] },
  work: (resolution: Resolution) => Promise<Result>,
): Promise<Result> {
  const { organizationId } = observation
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    try {
      const done = await ctx.database.transaction(async (transaction) => {
        const known = await lockAddresses(transaction, organizationId, addresses, ids)
        if (known === null) return null
        const resolution: Resolution = { ...observation, transaction, known, now: ctx.clock(), hasMerged: false }
        return { result: await work(resolution), hasMerged: resolution.hasMerged }
      })
      if (done === null) continue
      // Pending deliveries are cached in memory with their contacts.
      if (done.hasMerged) ctx.notifications.send({ topic: 'webhooks', organizationId })
      return done.result
    } catch (error) {
      // Another transaction created the same contact at the same moment.
      if (!isUniqueViolation(error)) throw error
    }
  }
  throw new Error('a contact could not be resolved: others keep changing it')
}

async function resolve(
  resolution: Resolution,
  { number, ofUserId }: PersonAddresses,
  { userId, profileName }: SenderDetails,
): Promise<string> {
  const known = userId === null ? null : findByUserId(resolution, userId)
  if (number === null)
    return known?.id ?? (await createResolvedContact(resolution, { number: null, userId, profileName }))
  const owner = findCurrentOwner(resolution, number)
  if (userId === null) return resolveByNumber(resolution, number, owner, profileName)
  if (known === null) return resolveNewUserId(resolution, number, owner, { userId, profileName })
  const id = await resolveKnownUserId(resolution, known, number, owner)
  await addAddresses(resolution.transaction, resolution.organizationId, id, { addresses: ofUserId })
  return id
}

/** Resolves a message that names only a number. */
async function resolveByNumber(
  resolution: Resolution,
  number: NumberForms,
  owner: AddressOwner | null,
  profileName: string | null,
): Promise<string> {
  if (owner && isOwnerAt(owner.row, resolution.at)) return confirmNumber(resolution, owner.contact, number)
  const span = findOwnerThen(resolution, number)
  if (span) {
    if (span.row.left_at === null) await assignNumber(resolution, span.contact, number, owner)
    return span.contact.id
  }
  if (!owner) return createResolvedContact(resolution, { number, userId: null, profileName })
  const { left_at: leftAt } = owner.row
  if (leftAt !== null && leftAt <= resolution.at) {
    await releaseNumber(resolution, number, leftAt)
    return createResolvedContact(resolution, { number, userId: null, profileName, since: leftAt })
  }
  // The message is late: the number belonged to an unknown person then.
  const id = await createResolvedContact(resolution, { number: null, userId: null, profileName })
  await insertAddressSpan(resolution.transaction, resolution.organizationId, {
    address: number.digits,
    contact_id: id,
    since: lastReleasedAt(resolution, number),
    left_at: owner.row.since,
  })
  return id
}

function lastReleasedAt(resolution: Resolution, { digits }: NumberForms): Date | null {
  const earlier = resolution.known.spans
    .filter((span) => span.address === digits && span.left_at !== null && span.left_at <= resolution.at)
    .map((span) => span.left_at?.getTime() ?? 0)
  return earlier.length === 0 ? null : new Date(Math.max(...earlier))
}

/** Resolves a message with an unknown user id. */
async function resolveNewUserId(
  resolution: Resolution,
  number: NumberForms,
  owner: AddressOwner | null,
  { userId, profileName }: { userId: string; profileName: string | null },
): Promise<string> {
  const isFree = (one: AddressOwner | null) => one !== null && !hasOtherUserId(resolution, one.contact, userId)
  if (owner && isOwnerAt(owner.row, resolution.at) && isFree(owner)) {
    await addUserId(resolution, owner.contact, userId)
    return confirmNumber(resolution, owner.contact, number)
  }
  const span = findOwnerThen(resolution, number)
  if (span && isFree(span)) {
    await addUserId(resolution, span.contact, userId)
    if (span.row.left_at === null) await assignNumber(resolution, span.contact, number, owner)
    return span.contact.id
  }
  if (!owner) return createResolvedContact(resolution, { number, userId, profileName })
  if (await isOutdated(resolution, owner)) {
    await disownBefore(resolution, owner, number)
    return createResolvedContact(resolution, { number: null, userId, profileName })
  }
  const since = owner.row.left_at ?? resolution.at
  await releaseNumber(resolution, number, since)
  return createResolvedContact(resolution, { number, userId, profileName, since })
}

/** Resolves a message with a known user id: it decides, even if another contact has the number. */
async function resolveKnownUserId(
  resolution: Resolution,
  known: Contact,
  number: NumberForms,
  owner: AddressOwner | null,
): Promise<string> {
  if (owner?.contact.id === known.id) {
    const { left_at: leftAt } = owner.row
    if (leftAt !== null && leftAt <= resolution.at) await assignNumber(resolution, known, number, owner)
    else await confirmNumber(resolution, known, number)
    return known.id
  }
  if (owner && isOwnerAt(owner.row, resolution.at) && !areDifferentPeople(resolution, owner.contact, known, number)) {
    return confirmNumber(resolution, await mergePair(resolution, owner.contact, known), number)
  }
  const wroteSince = known.phone_number !== null && (await isKnownSince(resolution, known))
  const isLate = wroteSince || (owner !== null && (await isOutdated(resolution, owner)))
  if (!isLate) await assignNumber(resolution, known, number, owner)
  else if (owner) await disownBefore(resolution, owner, number)
  else {
    const left = { addresses: number.forms, since: resolution.at, leftAt: resolution.at }
    await addAddresses(resolution.transaction, resolution.organizationId, known.id, left)
  }
  return known.id
}

/** The number belongs to the contact: stores it if the contact had none, and adds all its forms. */
async function confirmNumber(resolution: Resolution, contact: Contact, number: NumberForms): Promise<string> {
  const { transaction, organizationId } = resolution
  let confirmed = contact
  for (const row of resolution.known.rows.filter(({ address }) => number.forms.includes(address))) {
    const other = resolution.known.contacts.find(({ id }) => id === row.contact_id && id !== confirmed.id)
    if (other && isOwnerAt(row, resolution.at) && !areDifferentPeople(resolution, confirmed, other, number)) {
      confirmed = await mergePair(resolution, confirmed, other)
    }
  }
  const [currentRow] = resolution.known.rows.filter(({ address }) => number.forms.includes(address))
  if (confirmed.phone_number === null && currentRow?.left_at === null) {
    await renumberContact(transaction, organizationId, confirmed.id, number.digits)
  }
  await addAddresses(transaction, organizationId, confirmed.id, { addresses: number.forms })
  return confirmed.id
}
