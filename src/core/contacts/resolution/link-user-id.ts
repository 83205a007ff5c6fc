import { setParentUserId } from '../../../storage/contacts/addresses.js'
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

/** The recipient of a status, and the contact of its message. */
type StatusPerson = UpstreamPerson & { userId: string; contactId: string; parentUserId?: string | null }

/**
 * Adds the user id of a status' recipient to the contact of the message, so that the person is recognized when
 * callbacks no longer include the number. Another contact with this user id is merged. If the data contradicts itself,
 * nothing changes.
 */
export async function linkUserId(
  ctx: ResolutionContext,
  organizationId: string,
  { contactId, parentUserId, ...person }: StatusPerson,
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
    const isNew = known === null || known.id === contact.id
    if (!isNew && areDifferentPeople(resolution, contact, known, number ?? { digits: '', forms: [] })) return
    const { id } = isNew ? contact : await mergePair(resolution, contact, known)
    if (isNew) await addUserId(resolution, contact, person.userId)
    if (parentUserId) {
      const ids = { parentUserId, userId: person.userId }
      await setParentUserId(resolution.transaction, organizationId, id, ids)
    }
  })
}
