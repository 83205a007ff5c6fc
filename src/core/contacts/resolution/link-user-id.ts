import {
  addUserId,
  areDifferentPeople,
  findByUserId,
  findCurrentOwner,
  hasOtherUserId,
  mergePair,
} from './addresses.js'
import {
  type Observation,
  personAddresses,
  type ResolutionContext,
  type UpstreamPerson,
  withResolution,
} from './resolve-contact.js'

/**
 * Adds the user id of a status' recipient to the contact of the message, so that the person is recognized when
 * callbacks no longer include the number. Another contact with this user id is merged. If the data contradicts itself,
 * nothing changes.
 */
export async function linkUserId(
  ctx: ResolutionContext,
  organizationId: string,
  { contactId, ...person }: UpstreamPerson & { userId: string; contactId: string },
  observation: Observation,
): Promise<void> {
  const { number, all } = personAddresses(person)
  const found = { addresses: all, ids: [contactId] }
  await withResolution(ctx, { organizationId, ...observation }, found, async (resolution) => {
    const contact = resolution.known.contacts.find(({ id }) => id === contactId)
    if (!contact || hasOtherUserId(resolution, contact, person.userId)) return
    const owner = number && findCurrentOwner(resolution, number)
    if (owner && (owner.contact.id !== contact.id || owner.row.left_at !== null)) return
    const known = findByUserId(resolution, person.userId)
    // An id that the answer to a send brought leads to the contact already, and is not shown yet.
    if (known === null || known.id === contact.id) await addUserId(resolution, contact, person.userId)
    else if (!areDifferentPeople(resolution, contact, known, number ?? { digits: '', forms: [] })) {
      await mergePair(resolution, contact, known)
    }
  })
}
