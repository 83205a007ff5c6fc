import { nameContact } from '../../storage/contacts/known-names.js'
import {
  type Observation,
  type ResolutionContext,
  resolveToldByPhone,
  type UpstreamPerson,
} from './resolution/resolve-contact.js'

/** A person's name in the address book of the phone of the business number. */
export interface KnownName {
  person: UpstreamPerson
  name: string
}

/** Before all messages: who never wrote is at the end of the lists. */
const NEVER = new Date(0)

/**
 * Gives the name to the person's contact if it has none. Who is not a contact yet becomes one, without an event, not at
 * the top of the lists, and not reached by broadcasts. Nothing happens if the person was erased since.
 */
export async function applyKnownName(
  ctx: ResolutionContext,
  organizationId: string,
  { person, name }: KnownName,
  observation: Observation,
): Promise<void> {
  const toldByPhone = { source: 'address_book', activeAt: NEVER } as const
  const seen = { ...observation, profileName: name, toldByPhone }
  const told = await resolveToldByPhone(ctx, organizationId, person, seen)
  if (told !== null) await nameContact(ctx.database, organizationId, told.contactId, name)
}
