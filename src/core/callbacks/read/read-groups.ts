import { sha256 } from '../../../lib/crypto/signature.js'
import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { readTimestamp } from '../../../lib/text/timestamp.js'
import type { GroupPerson } from '../../../model/contacts/business-group.js'
import type { GroupChange, GroupEvent } from '../../../model/messages/group-change.js'
import { readId, readPerson, readUsername } from './read-sender.js'

/** A change of a group that a number of the business API is in. */
export interface ReportedGroupChange {
  id: string
  /** As the upstream writes it. */
  groupId: string
  change: GroupChange
  /** As it came. */
  timestamp: unknown
}

/** Groups of the business API have at most 8 members. */
const MAX_PEOPLE = 100
const MAX_SUBJECT = 300
const MAX_DESCRIPTION = 4_096

/** The upstream's words, in all published spellings. */
const EVENTS = new Map<unknown, GroupEvent>([
  ['group_create', 'created'],
  ['group_delete', 'deleted'],
  ['group_suspend', 'suspended'],
  ['group_suspend_cleared', 'resumed'],
  ['group_participants_add', 'joined'],
  ['group_add_participants', 'joined'],
  ['group_participants_remove', 'left'],
  ['group_remove_participants', 'left'],
  ['group_join_request_created', 'join_requested'],
  ['group_join_request_revoked', 'join_request_revoked'],
])

/**
 * Reads a change of any of the fields `group_…_update`. Left out is what failed: those are the answers to whoever
 * manages the group with the API.
 */
export function readGroups(value: JsonObject): ReportedGroupChange[] {
  const profiles = asObjects(value.contacts)
  return asObjects(value.groups).flatMap((group) => {
    const groupId = readId(group.group_id)
    if (groupId === null) return []
    const { timestamp } = group
    const by = readInitiator(group.initiated_by ?? value.initiated_by)
    return readChanges(group, profiles).map((change) => {
      const at = readTimestamp(timestamp)?.getTime() ?? ''
      // Changes of groups have no id of their own.
      const digest = sha256(JSON.stringify([groupId, at, change])).toString('hex')
      return { id: `group:${digest}`, groupId, change: { ...change, by }, timestamp }
    })
  })
}

type Change = Omit<GroupChange, 'by'>

function readChanges(group: JsonObject, profiles: JsonObject[]): Change[] {
  const event = EVENTS.get(group.type)
  if (event === undefined) return readSettings(group)
  const subject = readText(group.subject, MAX_SUBJECT)
  const description = readText(group.description, MAX_DESCRIPTION)
  switch (event) {
    case 'created':
      return [{ event, subject, description, people: [] }]
    case 'joined':
    case 'left':
    case 'join_requested':
    case 'join_request_revoked': {
      const given =
        event === 'joined' ? group.added_participants : event === 'left' ? group.removed_participants : [group]
      const people = asObjects(given)
        .slice(0, MAX_PEOPLE)
        .map((person) => readMember(person, profiles))
        .filter((person) => person.phone_number !== null || person.user_id !== null)
      return people.length === 0 ? [] : [{ event, ...NOTHING, people }]
    }
    default:
      return [{ event, ...NOTHING, people: [] }]
  }
}

const NOTHING = { subject: null, description: null }

/** Name, description and picture; one report may have several. */
function readSettings(group: JsonObject): Change[] {
  const { group_subject: name, group_description: about, profile_picture: picture } = group
  const subject = readText(asObject(name).text, MAX_SUBJECT)
  const description = readText(asObject(about).text, MAX_DESCRIPTION)
  return [
    ...(hasSucceeded(name) && subject !== null ? [{ event: 'renamed' as const, ...NOTHING, subject, people: [] }] : []),
    ...(hasSucceeded(about) ? [{ event: 'described' as const, ...NOTHING, description, people: [] }] : []),
    ...(hasSucceeded(picture) ? [{ event: 'picture_changed' as const, ...NOTHING, people: [] }] : []),
  ]
}

function hasSucceeded(setting: unknown): boolean {
  const { update_successful: isDone } = asObject(setting)
  return isDone === true || isDone === 'true'
}

function readMember(given: JsonObject, profiles: JsonObject[]): GroupPerson {
  const { waId, userId } = readPerson(given.wa_id ?? given.input, given.user_id)
  const profile = profiles.find((one) => {
    const other = readPerson(one.wa_id, one.user_id)
    return (waId !== null && other.waId === waId) || (userId !== null && other.userId === userId)
  })
  return {
    name: asText(asObject(profile?.profile).name),
    phone_number: waId === null ? null : `+${waId}`,
    user_id: userId,
    username: readUsername({ profile: given }) ?? (profile ? readUsername(profile) : null),
  }
}

function readInitiator(word: unknown): GroupChange['by'] {
  return word === 'business' || word === 'participant' ? word : null
}

function readText(value: unknown, length: number): string | null {
  const text = asText(value)?.trim()
  return text ? beginningOf(text, length) : null
}
