import type { BusinessGroup, GroupParticipant, GroupPerson } from '../../model/contacts/business-group.js'
import type { GroupChange } from '../../model/messages/group-change.js'
import {
  changeBusinessGroup,
  isGroupChangeReported,
  lockBusinessGroup,
  type NamedGroup,
} from '../../storage/contacts/business-groups.js'
import { type Observation, type ResolutionContext, resolveContact } from './resolution/resolve-contact.js'

/** A group of the business API: its contact's address, and its id as the upstream writes it. */
export interface GroupAddress {
  address: string
  id: string
}

/** Who left is remembered for late reports, but not without end. */
const MAX_PARTICIPANTS = 100

/** A change, with the id of its message, which tells whether it was reported before. */
export interface ReportedChange {
  upstreamId: string
  group: GroupAddress
  change: GroupChange
}

/**
 * Applies a change to the contact of a group: name, description, participants, whether it is suspended or deleted. The newest
 * report of each counts, whatever comes first, and at the same time the last one; a repeated one changes nothing. An
 * unknown group becomes a contact. Resolves to the contact's id.
 */
export async function applyGroupChange(
  ctx: ResolutionContext,
  organizationId: string,
  { upstreamId, group: { address, id }, change }: ReportedChange,
  observation: Observation,
): Promise<string> {
  const { instanceId } = observation
  const contactId = await resolveContact(ctx, organizationId, { waId: null, userId: address }, observation)
  const known = { id, instance_id: instanceId }
  await ctx.database.transaction(async (transaction) => {
    const before = await lockBusinessGroup(transaction, organizationId, contactId)
    if (before === null || (await isGroupChangeReported(transaction, organizationId, upstreamId, instanceId))) return
    const group = { ...before.business_group, ...known }
    const after = changed({ ...before, business_group: group }, change, observation.at.toISOString())
    if (JSON.stringify(after) === JSON.stringify(before)) return
    await changeBusinessGroup(transaction, organizationId, contactId, after)
  })
  return contactId
}

/** The group after a change at this time (ISO 8601). */
function changed({ business_group: given, full_name }: NamedGroup, change: GroupChange, at: string): NamedGroup {
  const group = given as BusinessGroup
  const isNewest = (last: string | undefined) => last === undefined || last <= at
  const named = change.subject !== null && isNewest(group.subject_at)
  return {
    business_group: {
      ...group,
      ...(named && { subject_at: at }),
      ...(tellsDescription(change) &&
        isNewest(group.description_at) && { description: change.description, description_at: at }),
      ...applyState(group, change, at),
      ...applyParticipants(group, change, at),
    },
    full_name: named ? change.subject : full_name,
  }
}

function tellsDescription({ event, description }: GroupChange): boolean {
  return event === 'described' || description !== null
}

function applyState(group: BusinessGroup, { event }: GroupChange, at: string): Partial<BusinessGroup> {
  const { suspended_at: last, deleted_at: deleted } = group
  if (event === 'deleted') return { deleted_at: deleted !== undefined && deleted < at ? deleted : at }
  if (event !== 'suspended' && event !== 'resumed') return {}
  return last !== undefined && last > at ? {} : { suspended: event === 'suspended', suspended_at: at }
}

function applyParticipants(group: BusinessGroup, { event, people }: GroupChange, at: string): Partial<BusinessGroup> {
  if (event !== 'joined' && event !== 'left') return {}
  const participants = people.reduce<readonly GroupParticipant[]>(
    (known, person) => withParticipant(known, { ...person, at, has_left: event === 'left' }),
    group.participants ?? [],
  )
  return { participants: withoutOldest(participants) }
}

/** Several may turn out to be the same person: known by number, and by user id. */
function withParticipant(
  known: readonly GroupParticipant[],
  participant: GroupParticipant,
): readonly GroupParticipant[] {
  const same = known.filter((other) => isSame(other, participant))
  const [first] = same
  if (first === undefined) return [...known, participant]
  if (same.some(({ at }) => at > participant.at)) return known
  const whole = same.reduce(completed, participant)
  return known
    .filter((other) => other === first || !same.includes(other))
    .map((other) => (other === first ? whole : other))
}

function completed(participant: GroupParticipant, known: GroupPerson): GroupParticipant {
  return {
    ...participant,
    name: participant.name ?? known.name,
    phone_number: participant.phone_number ?? known.phone_number,
    user_id: participant.user_id ?? known.user_id,
    username: participant.username ?? known.username,
  }
}

function isSame(one: GroupPerson, other: GroupPerson): boolean {
  if (one.user_id !== null && other.user_id !== null) return one.user_id === other.user_id
  return one.phone_number !== null && one.phone_number === other.phone_number
}

/** Drops those who left first. */
function withoutOldest(participants: readonly GroupParticipant[]): GroupParticipant[] {
  const excess = participants.length - MAX_PARTICIPANTS
  if (excess <= 0) return [...participants]
  const dropped = new Set(
    participants
      .toSorted((one, other) => Number(other.has_left) - Number(one.has_left) || (one.at < other.at ? -1 : 1))
      .slice(0, excess),
  )
  return participants.filter((participant) => !dropped.has(participant))
}
