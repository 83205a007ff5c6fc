import type { ContactContext, Context, LookUps } from '../../context.js'
import { isForeignKeyViolation, isUniqueViolation } from '../../database/errors.js'
import type { Database } from '../../database/pool.js'
import { batch } from '../../lib/async/batcher.js'
import { newId } from '../../lib/bytes/id.js'
import { excerpt } from '../../lib/text/text.js'
import type { Contact, ContactLookup } from '../../model/contacts/contact.js'
import { addressesOfUserId, isParentUserId, isUserId } from '../../model/contacts/user-id.js'
import {
  addressesOf,
  type ContactNumber,
  commonReading,
  type NumberField,
  type NumberReading,
  ofUserId,
  readUserId,
} from '../../model/contacts/written-number.js'
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
import { type GivenNumber, type NumberPlace, notNumber, readGiven } from './numbers.js'

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
  user_id?: string
  chatNumber?: string
  contactId?: string
}

/**
 * Finds the contact that a reference names. Throws contact_not_found with the number, invalid_parameter or
 * invalid_field for an impossible number or for two values that name two contacts.
 */
export async function findContact(
  ctx: ContactContext,
  organization: Organization,
  reference: ContactReference,
  place: NumberPlace,
): Promise<Contact> {
  const given = Object.entries(reference).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const found = await Promise.all(given.map(([name, value]) => lookUp(ctx, organization, { name, value }, place)))
  const [first] = found
  if (found.some((contact) => contact?.id !== first?.id)) {
    throw new Problem(
      place === 'query' ? 'invalid_parameter' : 'invalid_field',
      `${given.map(([name, value]) => `${name} "${excerpt(value)}"`).join(' and ')} do not name the same contact: give one of them`,
    )
  }
  if (first) return first
  const [name, value] = given[0] as [string, string]
  throw new Problem('contact_not_found', `No contact with ${name} ${excerpt(value)} in this organization`)
}

async function lookUp(
  ctx: ContactContext,
  organization: Organization,
  given: GivenNumber,
  place: NumberPlace,
): Promise<Contact | null> {
  if (given.name === 'contactId') return findContactById(ctx.database, organization.id, given.value)
  if (given.name === 'user_id') return findByUserId(ctx, organization, given.value)
  const reading = readGiven(organization, given, 'api')
  const contact = await ctx.lookUp.contact({ organizationId: organization.id, addresses: addressesOf(reading) })
  if (contact === null && reading.preferred === null) throw notNumber(given, reading, place)
  return contact
}

/** The contact of a user id or parent user id. */
function findByUserId(ctx: ContactContext, organization: Organization, userId: string): Promise<Contact | null> {
  return ctx.lookUp.contact({ organizationId: organization.id, addresses: addressesOf(readUserId(userId)) })
}

/** One contact of the organization by its id, or null. */
export function getContact(ctx: Context, organization: Organization, id: string): Promise<Contact | null> {
  return findContactById(ctx.database, organization.id, id)
}

/** The fields of a new contact, with the number as the request gave it. */
export interface ContactInput {
  phone_number?: string | null
  chat_id?: string | null
  user_id?: string | null
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
  const { given, reading } = readInputNumber(organization, input, 'api')
  const source = readSource(input.source)
  const number = reading.preferred
  const userId = userIdOf(input, number)
  const known = [...addressesOf(reading), ...(userId === null ? [] : ofUserId(userId).forms)]
  const existing = await findContactByAddresses(ctx.database, organization.id, known)
  if (existing) throw contactExists(existing)
  if (number?.kind !== 'phone' && number?.kind !== 'user') throw notNumber(given, reading, 'body')
  const isPhone = number.kind === 'phone'
  try {
    return await insertContact(ctx.database, organization.id, {
      id,
      eventId: newId(),
      chat_id: number.digits,
      phone_number: isPhone ? `+${number.digits}` : null,
      user_id: userId,
      addresses: [...(isPhone ? number.forms : []), ...(userId === null ? [] : addressesOfUserId(userId))],
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
      ? await findContactByAddresses(ctx.database, organization.id, known)
      : null
    throw createdMeanwhile ? contactExists(createdMeanwhile) : error
  }
}

/** The user id of a new contact, or null. Throws invalid_field if it has not the form of one, or is a parent's. */
function userIdOf({ user_id }: Pick<ContactInput, 'user_id'>, number: ContactNumber | null): string | null {
  const userId = number?.userId ?? (user_id?.trim() || null)
  if (userId === null || (isUserId(userId) && !isParentUserId(userId))) return userId
  throw new Problem(
    'invalid_field',
    `user_id "${excerpt(userId)}" is not a person's user id: give it as WhatsApp writes it, such as US.13491208655302741918`,
  )
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
 * How the number of a contact in a body or a row can be read. If it is given twice, each says how the other is meant.
 * Without a number, the user id names the person. Throws missing_field, and invalid_field if the two are different
 * numbers.
 */
export function readInputNumber(
  organization: Organization,
  { phone_number, chat_id, user_id }: Pick<ContactInput, 'phone_number' | 'chat_id' | 'user_id'>,
  field: NumberField,
): { given: GivenNumber; reading: NumberReading } {
  const numbers = Object.entries({ phone_number, chat_id }).flatMap(([name, value]) =>
    value ? [{ given: { name, value }, reading: readGiven(organization, { name, value }, field) }] : [],
  )
  const [number, other] = numbers
  // A table may have a column of this name with the ids of another system.
  const hasUserId = user_id && (field !== 'table' || isUserId(user_id.trim()))
  if (!number && hasUserId) return { given: { name: 'user_id', value: user_id }, reading: readUserId(user_id) }
  if (!number) throw new Problem('missing_field', 'phone_number (or chat_id, or user_id) is required')
  if (!other) return number
  const common = commonReading(number.reading, other.reading)
  if (common) return { given: number.given, reading: common }
  const wrong = numbers.find(({ reading }) => reading.candidates.length === 0)
  if (wrong) throw notNumber(wrong.given, wrong.reading, 'body')
  throw new Problem(
    'invalid_field',
    `phone_number "${phone_number}" and chat_id "${chat_id}" are different numbers: give one of them`,
  )
}

function contactExists({ id, chat_id }: Contact): Problem {
  return new Problem('contact_exists', `A contact with the number ${chat_id} already exists`, { id })
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
  const changed = await updateContact(ctx.database, organization.id, contact.id, wanted)
  if (!changed) throw new Problem('contact_not_found', `The contact ${contact.chat_id} was just erased`)
  return changed
}
