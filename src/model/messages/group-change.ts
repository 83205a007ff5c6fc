import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import type { GroupPerson } from '../contacts/business-group.js'

/** The `message_type` of a change of a group in its conversation. */
export const GROUP = 'group'

const EVENTS = [
  'created',
  'deleted',
  'renamed',
  'described',
  'picture_changed',
  'suspended',
  'resumed',
  'joined',
  'left',
  'join_requested',
  'join_request_revoked',
  'promoted',
  'demoted',
] as const

/** What happened to a group. `promoted`, `demoted`: to an admin, and no longer. */
export type GroupEvent = (typeof EVENTS)[number]

/** A change of a group, as its message stores it in `content`. */
export interface GroupChange {
  event: GroupEvent
  /** The new name, of `created` and `renamed`. */
  subject: string | null
  /** The new description, of `created` and `described`. */
  description: string | null
  /** Who joined, left, asked to join, and so on. */
  people: readonly GroupPerson[]
  /** Who caused it, if that is known. */
  by: 'business' | 'participant' | null
}

/** The text of a change's message. */
export function describeGroupChange({ event, subject, description, people, by }: GroupChange): string {
  const who = people.map(nameOf).join(', ') || 'Somebody'
  const are = people.length > 1 ? 'are' : 'is'
  const were = people.length > 1 ? 'were' : 'was'
  switch (event) {
    case 'created':
      return subject === null ? 'The group was created' : `The group "${subject}" was created`
    case 'deleted':
      return 'The group was deleted'
    case 'renamed':
      return `The group is called "${subject ?? ''}" now`
    case 'described':
      return description === null ? 'The description was removed' : `The description is now: ${description}`
    case 'picture_changed':
      return 'The picture of the group was changed'
    case 'suspended':
      return 'WhatsApp has suspended the group: nothing can be sent to it'
    case 'resumed':
      return 'The group is no longer suspended'
    case 'joined':
      return `${who} joined`
    case 'left':
      return by === 'business' ? `${who} ${were} removed` : `${who} left`
    case 'join_requested':
      return `${who} asked to join`
    case 'join_request_revoked':
      return `${who} no longer asked to join`
    case 'promoted':
      return `${who} ${are} now admin`
    case 'demoted':
      return `${who} ${are} no longer admin`
  }
}

function nameOf({ name, phone_number, username, user_id }: GroupPerson): string {
  return name ?? phone_number ?? (username === null ? null : `@${username}`) ?? user_id ?? 'Somebody'
}

/** The change of a message's stored content; null if it is none. */
export function readGroupChange(content: unknown): GroupChange | null {
  const { event, subject, description, people, by } = asObject(content)
  const known = EVENTS.find((one) => one === event)
  if (known === undefined) return null
  return {
    event: known,
    subject: asText(subject),
    description: asText(description),
    people: asObjects(people).map(readPerson),
    by: by === 'business' || by === 'participant' ? by : null,
  }
}

function readPerson({ name, phone_number, user_id, username }: JsonObject): GroupPerson {
  return {
    name: asText(name),
    phone_number: asText(phone_number),
    user_id: asText(user_id),
    username: asText(username),
  }
}
