import type { Context } from '../../../context.js'
import { newId } from '../../../lib/bytes/id.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { addAddresses, hasMessageUntil, keepAddressSpan, leaveAddresses } from '../../../storage/contacts/addresses.js'
import { renumberContact } from '../../../storage/contacts/contacts.js'
import {
  type Book,
  covers,
  createPerson,
  findByUserId,
  findHolder,
  findSpan,
  giveUserId,
  idsContradict,
  isLate,
  moveNumber,
  type PersonNumber,
  refusesUserId,
  releaseNumber,
  takeIn,
} from './contact-addresses.js'
import { type Hearing, inBook, type PersonAddresses, personAddresses } from './contact-resolution.js'
import type { Move } from './read-address-change.js'

/** A change of address with what it names. */
interface Change {
  move: Move
  from: PersonAddresses
  to: PersonAddresses
}

/**
 * A person changed the number or the user id: the contact goes on under the new one, and is still found under the old one, until somebody
 * else writes from there. A contact of the new address is joined where it is surely the same person. Resolves to the contact's id;
 * null where others changed the same contacts at the same moment: try again.
 */
export async function movePerson(
  ctx: Context,
  organizationId: string,
  move: Move,
  profileName: string | null,
  hearing: Hearing,
): Promise<string | null> {
  const change = { move, from: personAddresses(move.from), to: personAddresses(move.to) }
  const addresses = [...new Set([...change.from.all, ...change.to.all])]
  return inBook(ctx, { organizationId, ...hearing }, addresses, (book) => apply(book, change, profileName))
}

async function apply(book: Book, change: Change, profileName: string | null): Promise<string> {
  const known = findMover(book, change)
  const arrived = await findArrived(book, change, known)
  // It was seen at both addresses already.
  const lastAtOld = change.from.number && findHolder(book, change.from.number)
  const mover = known ?? (lastAtOld?.contact.id === arrived?.contact.id ? (arrived?.contact ?? null) : null)
  if (mover && arrived && mover.id !== arrived.contact.id) {
    if (arrived.isSure) return join(book, change, mover, arrived.contact)
    return claim(book, change, mover)
  }
  const contact = mover ?? (arrived?.isSure ? arrived.contact : null)
  if (contact) return carryOn(book, change, contact, contact === mover)
  return begin(book, change, profileName)
}

/** The contact that the old address leads to, then. One that is known by another user id is somebody else. */
function findMover(book: Book, { move, from }: Change): Contact | null {
  const { userId } = move.from
  const known = userId === null ? null : findByUserId(book, userId)
  if (known || from.number === null) return known
  const holder = findHolder(book, from.number)
  const isHis = holder !== null && (covers(holder.row, book.at) || isLeftNow(book, holder.row.left_at))
  const then = isHis ? holder : findSpan(book, from.number, new Date(book.at.getTime() - 1))
  if (!then || (userId !== null && refusesUserId(book, then.contact, userId))) return null
  return then.contact
}

/** The same notice was here before. */
function isLeftNow({ at }: Book, leftAt: Date | null): boolean {
  return leftAt?.getTime() === at.getTime()
}

/** The contact that the new address leads to; `isSure` when it is surely the one who moved. */
async function findArrived(
  book: Book,
  { move, to }: Change,
  mover: Contact | null,
): Promise<{ contact: Contact; isSure: boolean } | null> {
  const { userId } = move.to
  const known = userId === null ? null : findByUserId(book, userId)
  if (known) return { contact: known, isSure: true }
  if (to.number === null) return null
  const holder = findHolder(book, to.number)
  if (!holder || !covers(holder.row, book.at)) return null
  const { contact } = holder
  if (contact.id === mover?.id) return { contact, isSure: true }
  const isOther =
    (userId !== null && refusesUserId(book, contact, userId)) || (mover && idsContradict(book, mover, contact))
  // Somebody who wrote from there before the change had the number before.
  const { transaction, organizationId, at } = book
  return { contact, isSure: !isOther && !(await hasMessageUntil(transaction, organizationId, contact.id, at)) }
}

/** Two contacts turn out to be one person before and after the change. */
async function join(book: Book, change: Change, mover: Contact, arrived: Contact): Promise<string> {
  const { transaction, organizationId } = book
  const current = arrived.phone_number === null ? null : arrived.chat_id
  const merged = await takeIn(book, mover, arrived)
  await keepIds(book, change, merged)
  await leaveOld(book, change, merged)
  if (current === null) await arrive(book, change, merged)
  else if (merged.chat_id !== current) await renumberContact(transaction, organizationId, merged.id, current, newId())
  return merged.id
}

/** The new number has a conversation of its own, which stays; what comes from the number from now on is the mover's. */
async function claim(book: Book, change: Change, mover: Contact): Promise<string> {
  const { transaction, organizationId, at } = book
  const { number } = change.to
  await keepIds(book, change, mover)
  await leaveOld(book, change, mover)
  const holder = number && findHolder(book, number)
  if (number && holder) {
    await leaveAddresses(transaction, organizationId, holder.contact.id, number.forms, at)
    const span = { address: number.digits, contact_id: mover.id, since: at, left_at: null }
    await keepAddressSpan(transaction, organizationId, span)
  }
  return mover.id
}

/** One contact is known, from before or from after. */
async function carryOn(book: Book, change: Change, contact: Contact, isMover: boolean): Promise<string> {
  await keepIds(book, change, contact)
  await leaveOld(book, change, contact)
  if (isMover || contact.phone_number === null) await arrive(book, change, contact)
  return contact.id
}

/** Nobody is known yet. */
async function begin(book: Book, change: Change, profileName: string | null): Promise<string> {
  const { transaction, organizationId, at } = book
  const { number } = change.to
  const { userId } = change.move.to
  const holder = number && findHolder(book, number)
  const isTaken = holder !== null && !(holder.row.left_at !== null && holder.row.left_at <= at)
  if (number && holder && !isTaken) await releaseNumber(book, number, at)
  const id = await createPerson(book, { number: isTaken ? null : number, userId, profileName, since: at })
  if (number && isTaken) {
    await leaveAddresses(transaction, organizationId, holder.contact.id, number.forms, at)
    await keepAddressSpan(transaction, organizationId, {
      address: number.digits,
      contact_id: id,
      since: at,
      left_at: null,
    })
  }
  await keepIds(book, change, { id })
  await leaveOld(book, change, { id })
  return id
}

/** The contact is known by both user ids, and is written to by the new one. */
async function keepIds(book: Book, { move, from }: Change, contact: Pick<Contact, 'id'>): Promise<void> {
  if (move.from.userId !== null) {
    await giveUserId(book, contact, move.from.userId, book.at)
    await leaveAddresses(book.transaction, book.organizationId, contact.id, from.ofUserId.slice(0, 1), book.at)
  }
  if (move.to.userId !== null) await giveUserId(book, contact, move.to.userId)
}

/** The old number is the contact's no more, and still leads to it until somebody else takes it. */
async function leaveOld(book: Book, { from, to }: Change, { id }: Pick<Contact, 'id'>): Promise<void> {
  const { transaction, organizationId, at } = book
  if (from.number === null || from.number.digits === to.number?.digits) return
  await addAddresses(transaction, organizationId, id, from.number.forms, { leftAt: at })
  await leaveAddresses(transaction, organizationId, id, from.number.forms, at)
}

/** The contact goes on under the new number, unless it has moved on since. */
async function arrive(book: Book, { from, to }: Change, contact: Contact): Promise<void> {
  const { transaction, organizationId, at } = book
  const { number } = to
  if (number === null) return
  const holder = findHolder(book, number)
  if (holder?.contact.id === contact.id && covers(holder.row, at)) {
    if (isAtOld(book, from.number, contact)) await moveNumber(book, contact, number, null)
    return
  }
  const isMine = findSpanOf(book, number, contact)
  if (isMine) return
  if (!isAtOld(book, from.number, contact)) {
    await addAddresses(transaction, organizationId, contact.id, number.forms, { since: at, leftAt: at })
    return
  }
  if (holder && isLate(book, holder)) {
    const span = { address: number.digits, contact_id: contact.id, since: at, left_at: holder.row.since ?? at }
    await keepAddressSpan(transaction, organizationId, span)
    return
  }
  await moveNumber(book, contact, number, holder)
}

function findSpanOf(book: Book, { digits }: PersonNumber, { id }: Contact): boolean {
  return book.known.spans.some((span) => span.address === digits && span.contact_id === id && covers(span, book.at))
}

/** Whether the contact still is where the notice says that it was. */
function isAtOld({ at }: Book, old: PersonNumber | null, contact: Contact): boolean {
  if (contact.phone_number === null) return true
  if (old !== null) return old.forms.includes(contact.chat_id)
  return contact.last_inbound_at === null || new Date(contact.last_inbound_at) <= at
}
