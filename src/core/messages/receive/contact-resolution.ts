import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { readPhoneNumber, userIdChatId } from '../../../model/contacts/phone-number.js'
import { addAddresses, doubtAddresses, keepAddressSpan, lockAddresses } from '../../../storage/contacts/addresses.js'
import { renumberContact } from '../../../storage/contacts/contacts.js'
import {
  type Book,
  contradict,
  covers,
  createPerson,
  findByUserId,
  findHolder,
  findSpan,
  giveUserId,
  type Holder,
  isLate,
  moveNumber,
  type PersonNumber,
  refusesUserId,
  releaseNumber,
  takeIn,
} from './contact-addresses.js'
import type { UpstreamPerson } from './read-sender.js'

/** The addresses by which the upstream's people are known here. */
export interface PersonAddresses {
  number: PersonNumber | null
  /** The address of the user id and its literal chat id; none for a person who is known by a number alone. */
  ofUserId: readonly string[]
  all: readonly string[]
}

/** The upstream's number always has its country code; the country only matters where that is missing. */
const ANY_COUNTRY = 'US'

/** Reads a person's addresses: every form of the number, the user id, and its literal chat id. */
export function personAddresses({ waId, userId }: UpstreamPerson): PersonAddresses {
  const ofUserId = userId === null ? [] : [`user:${userId}`, userIdChatId(userId)]
  if (waId === null) return { number: null, ofUserId, all: ofUserId }
  const reading = readPhoneNumber(`+${waId}`, ANY_COUNTRY)
  const digits = reading.possible ? reading.digits : waId
  const forms = [...new Set([...(reading.possible ? reading.forms : []), waId])]
  return { number: { digits, forms }, ofUserId, all: [...forms, ...ofUserId] }
}

/** When and through what a person was heard of. */
export interface Hearing {
  at: Date
  /** The instance; null: the organization's own number. User ids are those of one business. */
  instanceId: string | null
}

/** A person as a message names it. */
interface Sighting {
  userId: string | null
  profileName: string | null
}

/**
 * Finds the contact that a person is, or makes it, and sees to it that the person's addresses lead there; two contacts that turn out to
 * be one person are joined where nothing contradicts. Where number and user id speak for two people, the user id decides, and the number
 * passes on. Resolves to the contact's id; null where others changed the same contacts at the same moment: try again.
 */
export async function ensurePersonContact(
  ctx: Context,
  organizationId: string,
  person: UpstreamPerson,
  profileName: string | null,
  { at, instanceId }: Hearing = { at: ctx.clock(), instanceId: null },
): Promise<string | null> {
  const addresses = personAddresses(person)
  return inBook(ctx, { organizationId, at, instanceId }, addresses.all, (book) =>
    identify(book, addresses, { userId: person.userId, profileName }),
  )
}

/** Does what needs to be known of the addresses, in one transaction; null where others changed their contacts meanwhile. */
export async function inBook<Result>(
  ctx: Context,
  hearing: Hearing & { organizationId: string },
  addresses: readonly string[],
  work: (book: Book) => Promise<Result>,
  ids: readonly string[] = [],
): Promise<Result | null> {
  const { organizationId } = hearing
  try {
    return await ctx.database
      .transaction(async (transaction) => {
        const known = await lockAddresses(transaction, organizationId, addresses, ids)
        if (known === null) return { result: null, hasMerged: false }
        const book: Book = { ...hearing, transaction, known, now: ctx.clock(), hasMerged: false }
        const result = await work(book)
        return { result, hasMerged: book.hasMerged }
      })
      .then(({ result, hasMerged }) => {
        // Deliveries to be made are held in memory, with the contacts that they were about.
        if (hasMerged) ctx.notifications.send({ topic: 'webhooks', organizationId })
        return result
      })
  } catch (error) {
    // Somebody else made the same contact at the same moment.
    if (isUniqueViolation(error)) return null
    throw error
  }
}

async function identify(
  book: Book,
  { number, ofUserId }: PersonAddresses,
  { userId, profileName }: Sighting,
): Promise<string> {
  const known = userId === null ? null : findByUserId(book, userId)
  if (number === null) return known?.id ?? (await createPerson(book, { number: null, userId, profileName }))
  const holder = findHolder(book, number)
  if (userId === null) return identifyByNumber(book, number, holder, profileName)
  if (known === null) return identifyNew(book, number, holder, { userId, profileName })
  const id = await identifyKnown(book, known, number, holder)
  await addAddresses(book.transaction, book.organizationId, id, ofUserId)
  return id
}

/** A message that names a number alone. */
async function identifyByNumber(
  book: Book,
  number: PersonNumber,
  holder: Holder | null,
  profileName: string | null,
): Promise<string> {
  if (holder && covers(holder.row, book.at)) return settle(book, holder.contact, number)
  const span = findSpan(book, number)
  if (span) {
    if (span.row.left_at === null) await moveNumber(book, span.contact, number, holder)
    return span.contact.id
  }
  if (!holder) return createPerson(book, { number, userId: null, profileName })
  const { left_at: leftAt } = holder.row
  if (leftAt !== null && leftAt <= book.at) {
    await releaseNumber(book, number, leftAt)
    return createPerson(book, { number, userId: null, profileName, since: leftAt })
  }
  // It comes late: the number was somebody's then who is not known otherwise.
  const id = await createPerson(book, { number: null, userId: null, profileName })
  await keepAddressSpan(book.transaction, book.organizationId, {
    address: number.digits,
    contact_id: id,
    since: lastLeft(book, number),
    left_at: holder.row.since,
  })
  return id
}

function lastLeft(book: Book, { digits }: PersonNumber): Date | null {
  const earlier = book.known.spans
    .filter((span) => span.address === digits && span.left_at !== null && span.left_at <= book.at)
    .map((span) => span.left_at?.getTime() ?? 0)
  return earlier.length === 0 ? null : new Date(Math.max(...earlier))
}

/** A message whose user id is new here. */
async function identifyNew(
  book: Book,
  number: PersonNumber,
  holder: Holder | null,
  { userId, profileName }: { userId: string; profileName: string | null },
): Promise<string> {
  const isFree = (one: Holder | null) => one !== null && !refusesUserId(book, one.contact, userId)
  if (holder && covers(holder.row, book.at) && isFree(holder)) {
    await giveUserId(book, holder.contact, userId)
    return settle(book, holder.contact, number)
  }
  const span = findSpan(book, number)
  if (span && isFree(span)) {
    await giveUserId(book, span.contact, userId)
    if (span.row.left_at === null) await moveNumber(book, span.contact, number, holder)
    return span.contact.id
  }
  if (!holder) return createPerson(book, { number, userId, profileName })
  if (isLate(book, holder)) {
    await doubtAddresses(book.transaction, book.organizationId, number.forms, book.at)
    return createPerson(book, { number: null, userId, profileName })
  }
  const since = holder.row.left_at ?? book.at
  await releaseNumber(book, number, since)
  return createPerson(book, { number, userId, profileName, since })
}

/** A message whose user id leads to a contact: that is the one, whoever has the number here. */
async function identifyKnown(book: Book, known: Contact, number: PersonNumber, holder: Holder | null): Promise<string> {
  if (holder?.contact.id === known.id) {
    const { left_at: leftAt } = holder.row
    if (leftAt !== null && leftAt <= book.at) await moveNumber(book, known, number, holder)
    else await settle(book, known, number)
    return known.id
  }
  if (holder && covers(holder.row, book.at) && !contradict(book, holder.contact, known, number)) {
    return settle(book, await takeIn(book, holder.contact, known), number)
  }
  const wroteSince = known.phone_number !== null && isAfter(known.last_inbound_at, book.at)
  if (!wroteSince && (!holder || !isLate(book, holder))) await moveNumber(book, known, number, holder)
  else if (holder) await doubtAddresses(book.transaction, book.organizationId, number.forms, book.at)
  else {
    const span = { since: book.at, leftAt: book.at }
    await addAddresses(book.transaction, book.organizationId, known.id, number.forms, span)
  }
  return known.id
}

/** The contact has the number: it is told so where it had none, and is found by all its forms. */
async function settle(book: Book, contact: Contact, number: PersonNumber): Promise<string> {
  const { transaction, organizationId } = book
  let settled = contact
  for (const row of book.known.rows.filter(({ address }) => number.forms.includes(address))) {
    const other = book.known.contacts.find(({ id }) => id === row.contact_id && id !== settled.id)
    if (other && covers(row, book.at) && !contradict(book, settled, other, number)) {
      settled = await takeIn(book, settled, other)
    }
  }
  const [held] = book.known.rows.filter(({ address }) => number.forms.includes(address))
  if (settled.phone_number === null && held?.left_at === null) {
    await renumberContact(transaction, organizationId, settled.id, number.digits, newId())
  }
  await addAddresses(transaction, organizationId, settled.id, number.forms)
  return settled.id
}

function isAfter(date: Date | string | null, at: Date): boolean {
  return date !== null && new Date(date) > at
}
