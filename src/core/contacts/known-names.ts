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

/** Gives the name to the person's contact if it has none. Who is not a contact yet becomes one. */
export async function applyKnownName(
  ctx: ResolutionContext,
  organizationId: string,
  { person, name }: KnownName,
  observation: Observation,
): Promise<void> {
  const contactId = await resolveContact(ctx, organizationId, person, { ...observation, profileName: name })
  await nameContact(ctx.database, organizationId, contactId, name)
}
