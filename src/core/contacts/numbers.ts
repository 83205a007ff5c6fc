import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { excerpt } from '../../lib/text/text.js'
import type { Contact } from '../../model/contacts/contact.js'
import {
  type ContactNumber,
  chooseReading,
  type NumberField,
  type NumberReading,
  needsKnown,
  readNumber,
  readUserId,
} from '../../model/contacts/written-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { sentence } from '../../model/sentence.js'
import { findContactsByAddresses } from '../../storage/contacts/contacts.js'

/** A number, or the user id of a person, as it was given: the name of its field, for errors, and the text. */
export interface GivenNumber {
  name: string
  value: string
}

/** Where a number was: an impossible one is `Invalid parameter` in a query, `Invalid field` in a body. */
export type NumberPlace = 'query' | 'body'

/**
 * How a number can be read. A chat id of digits begins with its country code, as the API hands it out. A field for user
 * ids is not read as a number.
 */
export function readGiven(
  { default_country }: Organization,
  { name, value }: GivenNumber,
  field: NumberField,
): NumberReading {
  if (name === 'to_user_id') return readUserId(value)
  const isChatId = name === 'chat_id' && field === 'api' && /^\d+$/.test(value)
  return readNumber(value, default_country, isChatId ? 'international' : field)
}

/** Reads the number of a recipient. Throws like `notNumber`. */
export async function requireNumber(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  given: GivenNumber,
  { field, place }: { field: NumberField; place: NumberPlace },
): Promise<ContactNumber> {
  const reading = readGiven(organization, given, field)
  const [number] = await settleReadings(ctx.database, organization, [reading])
  if (!number) throw notNumber(given, reading, place)
  return number
}

/**
 * The numbers that were meant, in the given order; null: not a possible number, and no contact has it. Known contacts
 * decide where a text can be read in several ways, and so do earlier numbers of the list, and those for which
 * `isTaken` is true. One statement for all of them, or none if nothing is open.
 */
export async function settleReadings(
  db: Queryable,
  organization: Pick<Organization, 'id'>,
  readings: readonly (NumberReading | null)[],
  isTaken: (address: string) => boolean = () => false,
): Promise<(ContactNumber | null)[]> {
  const known = await findKnown(db, organization, readings)
  return readings.map((reading) => {
    const number = reading && chooseReading(reading, (address) => known.has(address) || isTaken(address))
    for (const form of number?.forms ?? []) known.add(form)
    return number
  })
}

/** The addresses that lead to contacts, of those on which the choice between readings depends. */
async function findKnown(
  db: Queryable,
  { id }: Pick<Organization, 'id'>,
  readings: readonly (NumberReading | null)[],
): Promise<Set<string>> {
  const open = readings.flatMap((reading) => (reading && needsKnown(reading) ? reading.candidates : []))
  if (open.length === 0) return new Set()
  const lookups = open.map(({ forms }) => ({ organizationId: id, addresses: forms }))
  const found = await findContactsByAddresses(db, lookups)
  return new Set(open.flatMap(({ forms }, index) => (found[index] ? forms : [])))
}

/** The address of a contact that is known already. */
export function numberOf({ chat_id }: Pick<Contact, 'chat_id'>): Pick<ContactNumber, 'digits' | 'forms'> {
  return { digits: chat_id, forms: [chat_id] }
}

/** The problem of a text that is not a possible number, and that no contact has. */
export function notNumber({ name, value }: GivenNumber, { isRounded }: NumberReading, place: NumberPlace): Problem {
  const message = sentence(isRounded ? 'rounded_number' : 'phone_number', { field: name, given: excerpt(value) })
  return new Problem(place === 'query' ? 'invalid_parameter' : 'invalid_field', message)
}
