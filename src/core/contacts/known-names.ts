import { nameContact } from '../../storage/contacts/known-names.js'
import {
  type Observation,
  type ResolutionContext,
  resolveContact,
  type UpstreamPerson,
} from './resolution/resolve-contact.js'

/** A person's name in the address book of the phone of the business number. */
export interface KnownName {
  person: UpstreamPerson
  name: string
}

/**
 * Gives the name to the person's contact if it has none. Who is not a contact yet becomes one, without an event, not at
 * the top of the lists, and not reached by broadcasts.
 */
export async function applyKnownName(
  ctx: ResolutionContext,
  organizationId: string,
  { person, name }: KnownName,
  observation: Observation,
): Promise<void> {
  const seen = { ...observation, profileName: name, isFromAddressBook: true }
  const contactId = await resolveContact(ctx, organizationId, person, seen)
  await nameContact(ctx.database, organizationId, contactId, name)
}
