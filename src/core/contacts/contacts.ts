import type { ContactContext, Context, LookUps } from '../../context.js'
import { isForeignKeyViolation, isUniqueViolation } from '../../database/errors.js'
import type { Database } from '../../database/pool.js'
import { batch } from '../../lib/async/batcher.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact, ContactLookup } from '../../model/contacts/contact.js'
import { isUserIdChatId, readPhoneNumber } from '../../model/contacts/phone-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  type ContactChanges,
  findContactByAddresses,
  findContactById,
  findContactsByAddresses,
  insertContact,
  updateContact,
} from '../../storage/contacts/contacts.js'

const MAX_BATCH = 500
const MAX_SOURCE_LENGTH = 10_000

/** Creates the look-up of this process: contacts that are looked up at the same moment share one statement. */
export function createContactLookup(database: Database): LookUps['contact'] {
  return batch((lookups: ContactLookup[]) => findContactsByAddresses(database, lookups), MAX_BATCH)
}

/** How a request names a contact; at least one field is given. The keys are the public names of the fields. */
export interface ContactReference {
  phone_number?: string
  chat_id?: string
  chatNumber?: string
  contactId?: string
}

/** Where the reference was: an impossible number is `Invalid parameter` in a query, `Invalid field` in a body. */
export type ReferencePlace = 'query' | 'body'

/** A number's canonical digits and all its forms. */
export interface ContactNumber {
  digits: string
  forms: readonly string[]
}

/** Reads a phone number with the organization's country; refuses an impossible one. */
function readNumber(organization: Organization, name: string, value: string, place: ReferencePlace): ContactNumber {
  // A chat id always includes the country code. Read as a national number, it could lead to another person.
  const reading = readPhoneNumber(
    name === 'chat_id' && /^\d/.test(value) ? `+${value}` : value,
    organization.default_country,
  )
  if (reading.possible) return reading
  throw new Problem(
    place === 'query' ? 'invalid_parameter' : 'invalid_field',
    `${name} "${shorten(value)}" is not a possible phone number: give it with its country code, such as +5511999990000`,
  )
}

/**
 * The addresses under which a contact may be found: the forms of a phone number, or the literal chat id of a person
 * without one. Refuses an impossible number.
 */
export function readAddresses(
  organization: Organization,
  name: string,
  value: string,
  place: ReferencePlace,
): ContactNumber {
  if (isUserIdChatId(value)) return { digits: value, forms: [value] }
  return readNumber(organization, name, value, place)
}

/**
 * Finds the contact that a reference names. Throws contact_not_found with the number, invalid_parameter or
 * invalid_field for an impossible number or for two values that name two contacts.
 */
export async function findContact(
  ctx: ContactContext,
  organization: Organization,
  reference: ContactReference,
  place: ReferencePlace,
): Promise<Contact> {
  const given = Object.entries(reference).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const found = await Promise.all(given.map(([name, value]) => lookUp(ctx, organization, name, value, place)))
  const [first] = found
  if (found.some((contact) => contact?.id !== first?.id)) {
    throw new Problem(
      place === 'query' ? 'invalid_parameter' : 'invalid_field',
      `${given.map(([name, value]) => `${name} "${shorten(value)}"`).join(' and ')} do not name the same contact: give one of them`,
    )
  }
  if (first) return first
  const [name, value] = given[0] as [string, string]
  throw new Problem('contact_not_found', `No contact with ${name} ${shorten(value)} in this organization`)
}

function lookUp(
  ctx: ContactContext,
  organization: Organization,
  name: string,
  value: string,
  place: ReferencePlace,
): Promise<Contact | null> {
  if (name === 'contactId') return findContactById(ctx.database, organization.id, value)
  const { forms } = readAddresses(organization, name, value, place)
  return ctx.lookUp.contact({ organizationId: organization.id, addresses: forms })
}

/** One contact of the organization by its id, or null. */
export function getContact(ctx: Context, organization: Organization, id: string): Promise<Contact | null> {
  return findContactById(ctx.database, organization.id, id)
}

/** The fields of a new contact, with the number as the request gave it. */
export interface ContactInput {
  phone_number?: string | null
  chat_id?: string | null
  full_name?: string | null
  email?: string | null
  tags?: string[]
  allow_broadcast?: boolean
  source?: Record<string, unknown> | null
}

/** Creates a contact under the given id. Throws contact_exists (with the existing one's id), or invalid_field. */
export async function createContact(
  ctx: Context,
  organization: Organization,
  input: ContactInput,
  id: string,
): Promise<Contact> {
  const number = readInputNumber(organization, input)
  const source = readSource(input.source)
  const existing = await findContactByAddresses(ctx.database, organization.id, number.forms)
  if (existing) throw contactExists(existing, number)
  try {
    return await insertContact(ctx.database, organization.id, {
      id,
      eventId: newId(),
      chat_id: number.digits,
      phone_number: `+${number.digits}`,
      addresses: number.forms,
      full_name: input.full_name ?? null,
      email: input.email ?? null,
      tags: [...new Set(input.tags ?? [])],
      allow_broadcast: input.allow_broadcast ?? true,
      source,
    })
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw new Problem('organization_not_found', 'The organization of this API key was deleted')
    }
    const createdMeanwhile = isUniqueViolation(error)
      ? await findContactByAddresses(ctx.database, organization.id, number.forms)
      : null
    throw createdMeanwhile ? contactExists(createdMeanwhile, number) : error
  }
}

/**
 * The source is stored as it is given and returned with every contact, so its size is limited. Throws invalid_field.
 */
export function readSource(source: ContactInput['source']): Record<string, unknown> | null {
  if (!source) return null
  const { length } = JSON.stringify(source)
  if (length <= MAX_SOURCE_LENGTH) return source
  throw new Problem(
    'invalid_field',
    `source has ${length} characters as JSON, and may have at most ${MAX_SOURCE_LENGTH}`,
  )
}

/**
 * The number of a contact to be created. Throws missing_field, and invalid_field if it is not a number or if there are
 * two.
 */
export function readInputNumber(
  organization: Organization,
  input: Pick<ContactInput, 'phone_number' | 'chat_id'>,
): ContactNumber {
  const { phone_number, chat_id } = input
  const numbers = Object.entries({ phone_number, chat_id }).flatMap(([name, value]) =>
    value ? [readNumber(organization, name, value, 'body')] : [],
  )
  const [number, other] = numbers
  if (!number) throw new Problem('missing_field', 'phone_number (or chat_id) is required')
  if (other && !number.forms.includes(other.digits)) {
    throw new Problem(
      'invalid_field',
      `phone_number "${phone_number}" and chat_id "${chat_id}" are different numbers: give one of them`,
    )
  }
  return number
}

function contactExists(contact: Contact, number: ContactNumber): Problem {
  return new Problem('contact_exists', `A contact with the number ${number.digits} already exists`, { id: contact.id })
}

/** Changes the given fields of a contact. Throws like findContact. */
export async function changeContact(
  ctx: Context,
  organization: Organization,
  reference: ContactReference,
  changes: ContactChanges,
): Promise<Contact> {
  const contact = await findContact(ctx, organization, reference, 'query')
  const wanted = changes.tags ? { ...changes, tags: [...new Set(changes.tags)] } : changes
  const changed = await updateContact(ctx.database, organization.id, contact.id, wanted, newId())
  if (!changed) throw new Problem('contact_not_found', `The contact ${contact.chat_id} was just erased`)
  return changed
}

/** Shortens a value for an error message. */
function shorten(value: string): string {
  return value.length > 64 ? `${value.slice(0, 64)}…` : value
}
