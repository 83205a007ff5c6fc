import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { newId } from '../../lib/id.js'
import { readPhoneNumber, userIdChatId } from '../../model/phone-number.js'
import { lockContactsByAddresses, mergeContacts } from '../../storage/contact-merges.js'
import { addContactAddresses, findContactByAddresses, insertContact, renumberContact } from '../../storage/contacts.js'
import type { UpstreamPerson } from './read-callback.js'

/** The addresses by which the upstream's people are known here. */
export interface PersonAddresses {
  /** The canonical digits; the raw ones where the number is not possible; null for a person without a number. */
  digits: string | null
  all: readonly string[]
}

/** The upstream's number always has its country code; the country only matters where that is missing. */
const ANY_COUNTRY = 'US'

/** Reads a person's addresses (contract 4, Conversations): every form of the number, the user id, and its literal chat id. */
export function personAddresses({ waId, userId }: UpstreamPerson): PersonAddresses {
  const ofUser = userId === null ? [] : [`user:${userId}`, userIdChatId(userId)]
  if (waId === null) return { digits: null, all: ofUser }
  const reading = readPhoneNumber(`+${waId}`, ANY_COUNTRY)
  const digits = reading.possible ? reading.digits : waId
  const forms = reading.possible ? reading.forms : [waId]
  return { digits, all: [...new Set([...forms, waId, ...ofUser])] }
}

/** Sees to it that all addresses of a person lead to one contact: merges two that turn out to be one, or makes a new one. */
export async function ensurePersonContact(
  ctx: Context,
  organizationId: string,
  person: UpstreamPerson,
  profileName: string | null,
): Promise<void> {
  const addresses = personAddresses(person)
  if (await joinContacts(ctx, organizationId, addresses)) return
  try {
    await insertContact(ctx.database, organizationId, {
      id: newId(),
      eventId: newId(),
      chat_id: addresses.digits ?? userIdChatId(person.userId ?? ''),
      phone_number: addresses.digits === null ? null : `+${addresses.digits}`,
      addresses: addresses.all,
      full_name: profileName,
      email: null,
      tags: [],
      allow_broadcast: true,
      source: { type: 'inbound_message', created_at: ctx.clock().toISOString() },
    })
  } catch (error) {
    // Somebody else made it at the same moment.
    if (!isUniqueViolation(error)) throw error
  }
}

/** Makes all addresses lead to one contact; of two existing ones the older takes the younger in. False when there is none. */
async function joinContacts(ctx: Context, organizationId: string, addresses: PersonAddresses): Promise<boolean> {
  const found = await ctx.database.transaction(async (transaction) => {
    const contacts = await lockContactsByAddresses(transaction, organizationId, addresses.all)
    const [older, ...younger] = contacts
    if (!older) return 0
    let joined = older
    for (const contact of younger) {
      joined = await mergeContacts(transaction, organizationId, joined, contact, newId())
    }
    if (joined.phone_number === null && addresses.digits !== null) {
      await renumberContact(transaction, organizationId, joined.id, addresses.digits, newId())
    }
    await addContactAddresses(transaction, organizationId, joined.id, addresses.all)
    return contacts.length
  })
  // Deliveries to be made are held in memory, with the contacts that they were about.
  if (found > 1) ctx.signals.send({ topic: 'webhooks', organizationId })
  return found > 0
}

/** A person changed the number or the user id: the contact goes on under the new one, and is still found under the old. */
export async function movePerson(
  ctx: Context,
  organizationId: string,
  from: UpstreamPerson,
  to: UpstreamPerson,
): Promise<void> {
  const previous = personAddresses(from)
  const next = personAddresses(to)
  if (next.all.length === 0) return
  await ctx.database.transaction(async (transaction) => {
    const contact = await findContactByAddresses(transaction, organizationId, previous.all)
    const holder = await findContactByAddresses(transaction, organizationId, next.all)
    // Where the new number has a conversation of its own already, that one goes on.
    if (!contact || (holder && holder.id !== contact.id)) return
    await addContactAddresses(transaction, organizationId, contact.id, next.all)
    // An old notice that comes again must not take a contact back that has moved on since.
    if (next.digits !== null && previous.all.includes(contact.chat_id)) {
      await renumberContact(transaction, organizationId, contact.id, next.digits, newId())
    }
  })
}
