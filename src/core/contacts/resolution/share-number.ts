import { assignNumber, findByUserId, findCurrentOwner, findOwnerThen } from './addresses.js'
import {
  type Observation,
  personAddresses,
  type ResolutionContext,
  resolveContact,
  type UpstreamPerson,
  withResolution,
} from './resolve-contact.js'

/** Somebody without a known number who answers the request for it. */
export interface NumberSharing {
  person: UpstreamPerson & { userId: string }
  profileName: string | null
  /** Digits. */
  number: string
}

/**
 * Gives a contact without a number the number that the person shared when asked for it. Nothing proves that the number
 * is the person's, so a number of another contact stays there: the upstream names number and user id together soon, and
 * then the contacts become one. Resolves to the contact's id.
 */
export async function shareNumber(
  ctx: ResolutionContext,
  organizationId: string,
  { person, profileName, number: waId }: NumberSharing,
  observation: Observation,
): Promise<string> {
  const contactId = await resolveContact(ctx, organizationId, person, { ...observation, profileName })
  const { number, all } = personAddresses({ waId, userId: person.userId })
  if (number === null) return contactId
  return withResolution(ctx, { organizationId, ...observation }, { addresses: all }, async (resolution) => {
    const known = findByUserId(resolution, person.userId)
    const isTaken = findCurrentOwner(resolution, number) !== null || findOwnerThen(resolution, number) !== null
    if (known && known.phone_number === null && !isTaken) await assignNumber(resolution, known, number, null)
    return known?.id ?? contactId
  })
}
