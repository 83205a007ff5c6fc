import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import type { Change } from '../../src/upstream/wire.js'
import { invalidField, missingField, type Problem } from '../control/problems.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'
import { isGroupId, isUserId, phoneDigits } from '../numbers/phone-numbers.js'

/** A change of a group, as the change that reports it. */
export interface SimulatedGroupChange {
  groupId: string
  /** Network ids or user ids of who joined and left. */
  joined: string[]
  left: string[]
  change: Change
}

/** A group has at most 8 members besides the business. */
const maxPeople = 8

interface Report {
  field: string
  type: string
  /** The list that names the people; null: none. `self`: the report itself names one. */
  people: 'added_participants' | 'removed_participants' | 'self' | null
}

const reports: Record<string, Report> = {
  created: { field: 'group_lifecycle_update', type: 'group_create', people: null },
  deleted: { field: 'group_lifecycle_update', type: 'group_delete', people: null },
  settings: { field: 'group_settings_update', type: 'group_settings_update', people: null },
  suspended: { field: 'group_status_update', type: 'group_suspend', people: null },
  resumed: { field: 'group_status_update', type: 'group_suspend_cleared', people: null },
  joined: { field: 'group_participants_update', type: 'group_participants_add', people: 'added_participants' },
  left: { field: 'group_participants_update', type: 'group_participants_remove', people: 'removed_participants' },
  join_requested: { field: 'group_participants_update', type: 'group_join_request_created', people: 'self' },
  join_request_revoked: { field: 'group_participants_update', type: 'group_join_request_revoked', people: 'self' },
}

/**
 * Reads a control body as a change of a group: `group_id`, `event`, and by event `subject` and `description`, or
 * `people` (`{from?, user_id?, username?}`).
 */
export function readGroupChange(number: BusinessNumber, body: JsonObject): SimulatedGroupChange | Problem {
  const { group_id: groupId, event, subject, description, initiated_by, timestamp = now() } = body
  if (groupId === undefined) return missingField('group_id')
  if (typeof groupId !== 'string' || !isGroupId(groupId)) return invalidField('group_id must be the id of a group')
  const report = typeof event === 'string' && Object.hasOwn(reports, event) ? reports[event] : undefined
  if (report === undefined) return invalidField(`event must be one of ${Object.keys(reports).join(', ')}`)
  for (const [name, value] of Object.entries({ subject, description, initiated_by })) {
    if (value !== undefined && typeof value !== 'string') return invalidField(`${name} must be a string`)
  }
  const people = report.people === null ? [] : readPeople(body.people)
  if (!Array.isArray(people)) return people
  const named = report.people === 'self' ? people[0] : report.people === null ? {} : { [report.people]: people }
  const told = event === 'settings' ? settingsOf({ subject, description }) : { subject, description }
  const group = { timestamp: String(timestamp), group_id: groupId, type: report.type, initiated_by, ...told, ...named }
  const value = { messaging_product: 'whatsapp', metadata: metadataOf(number), groups: [group] }
  const ids = people.map(({ wa_id, user_id }) => String(wa_id ?? user_id))
  return {
    groupId,
    joined: event === 'joined' ? ids : [],
    left: event === 'left' ? ids : [],
    change: { field: report.field, value },
  }
}

function settingsOf({ subject, description }: JsonObject): JsonObject {
  const done = { update_successful: true }
  return {
    ...(subject === undefined ? {} : { group_subject: { text: subject, ...done } }),
    ...(description === undefined ? {} : { group_description: { text: description, ...done } }),
  }
}

function readPeople(given: unknown): JsonObject[] | Problem {
  if (!Array.isArray(given) || given.length === 0 || given.length > maxPeople) {
    return invalidField(`people must be a list of 1 to ${maxPeople} people`)
  }
  const people: JsonObject[] = []
  for (const person of given) {
    const { from, user_id: userId, username }: JsonObject = isJsonObject(person) ? person : {}
    const digits = typeof from === 'string' ? phoneDigits(from) : null
    const id = typeof userId === 'string' && isUserId(userId) ? userId : null
    if (digits === null && id === null) return invalidField('each of people needs from (a phone number) or user_id')
    people.push({
      ...(digits === null ? {} : { wa_id: digits }),
      ...(id === null ? {} : { user_id: id }),
      ...(typeof username === 'string' ? { username } : {}),
    })
  }
  return people
}

function now(): number {
  return Math.floor(Date.now() / 1_000)
}
