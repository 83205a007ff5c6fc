import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { GROUP_SERVER } from '../../../model/contacts/contact.js'
import { isUserId } from '../../../model/contacts/user-id.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'

export interface NamedSender extends UpstreamPerson {
  name: string | null
  /** The id of the person that is valid in all linked portfolios. */
  parentUserId: string | null
  username: string | null
}

/** Longer ids would not fit into an index; no upstream creates them. */
const MAX_ID_LENGTH = 512

/** The value if it is a text that can be an id, else null. */
export function readId(value: unknown): string | null {
  const text = asText(value)
  return text !== null && text.length <= MAX_ID_LENGTH ? text : null
}

/**
 * The digits of a phone number, from text or a whole number. Numbers never begin with 0, but the chat ids of people
 * without a number do.
 */
export function readDigits(value: unknown): string | null {
  const given = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  const digits = asText(given)?.replace(/^\+/, '')
  return digits !== undefined && /^[1-9]\d{0,19}$/.test(digits) ? digits : null
}

/** A user id in a field for numbers; null for other values. */
function readMisplacedId(value: unknown): string | null {
  const text = asText(value)
  return text !== null && isUserId(text) ? text : null
}

/** Reads a person from the fields for the number and the user id. */
export function readPerson(number: unknown, userId: unknown): UpstreamPerson {
  return { waId: readDigits(number), userId: readId(userId) ?? readMisplacedId(number) }
}

/** The parent user id of a status' recipient, in both spellings. */
export function readRecipientParent(status: JsonObject): string | null {
  return readId(status.recipient_parent_user_id) ?? readId(status.parent_recipient_user_id)
}

function sharesAddress(one: UpstreamPerson, other: UpstreamPerson): boolean {
  return (one.waId !== null && one.waId === other.waId) || (one.userId !== null && one.userId === other.userId)
}

function areDifferent(one: UpstreamPerson, other: UpstreamPerson): boolean {
  return one.userId !== null && other.userId !== null && one.userId !== other.userId
}

/**
 * Returns a function that finds the sender of a message among the profiles of its callback. A profile belongs to a
 * message if they share an id. If all messages have the same sender and there is only one profile, it belongs to them
 * even if its number differs.
 */
export function createSenderFinder(value: JsonObject, others: JsonObject[]): (message: JsonObject) => NamedSender {
  const profiles = asObjects(value.contacts)
  const senders = asObjects(value.messages).map(readSender)
  const [only] = profiles
  const [first] = senders
  const hasOneProfile =
    profiles.length === 1 && first !== undefined && senders.every((one) => isSame(one, first) || isUnknown(one))
  return (message) => {
    const sender = readSender(message)
    const sharing = profiles.filter((profile) => sharesAddress(sender, readProfile(profile)))
    const isOnly =
      hasOneProfile && sharing.length === 0 && only !== undefined && !areDifferent(sender, readProfile(only))
    const matching = isOnly ? [only] : sharing
    const person = complete(sender, matching)
    const siblings = others.filter((profile) => sharesAddress(person, readProfile(profile)))
    const named = [...matching, ...siblings]
    const own = named.filter((profile) => !areDifferent(person, readProfile(profile)))
    return {
      ...person,
      name: firstName(named),
      parentUserId: readId(message.from_parent_user_id) ?? firstOf(own, (profile) => readId(profile.parent_user_id)),
      username: firstOf(own, readUsername),
    }
  }
}

function readSender(message: JsonObject): UpstreamPerson {
  return readPerson(message.from, message.from_user_id)
}

function readProfile(profile: JsonObject): UpstreamPerson {
  return readPerson(profile.wa_id, profile.user_id)
}

function isSame(one: UpstreamPerson, other: UpstreamPerson): boolean {
  return one.waId === other.waId && one.userId === other.userId
}

function isUnknown({ waId, userId }: UpstreamPerson): boolean {
  return waId === null && userId === null
}

/** Adds from the profiles what the message does not say about its sender. */
function complete(sender: UpstreamPerson, profiles: JsonObject[]): UpstreamPerson {
  const people = profiles.map(readProfile).filter((profile) => !areDifferent(sender, profile))
  const userId = sender.userId ?? people.find((profile) => profile.userId !== null)?.userId ?? null
  const waId = sender.waId ?? people.find((profile) => profile.waId !== null)?.waId ?? null
  return { waId, userId }
}

/** WhatsApp's have at most 35 characters. */
const MAX_USERNAME_LENGTH = 64

/** The username of a profile (`{profile: {username}}`), without @; null if it has none. */
export function readUsername({ profile }: JsonObject): string | null {
  const username = asText(asObject(profile).username)?.trim().replace(/^@/, '') ?? ''
  return username !== '' && username.length <= MAX_USERNAME_LENGTH ? username : null
}

function firstName(profiles: JsonObject[]): string | null {
  return firstOf(profiles, ({ profile }) => asText(asObject(profile).name))
}

/** The first value that a profile has; null if none has one. */
function firstOf(profiles: JsonObject[], read: (profile: JsonObject) => string | null): string | null {
  for (const profile of profiles) {
    const value = read(profile)
    if (value !== null) return value
  }
  return null
}

/** Stands for the id of a group that is not named. */
export const UNNAMED_GROUP = 'unknown'

/** The fields of a status that name the member of a group whom it is about. */
const PARTICIPANTS = [
  ...['recipient_participant_id', 'recipient_participant_user_id'],
  // As three published examples have them.
  ...['participant_recipient_id', 'participant_recipient_user_id'],
]

/** Whether a status is about one member of a group. */
export function isOfMember(status: JsonObject): boolean {
  return PARTICIPANTS.some((name) => readId(status[name]) !== null)
}

/** The group of a message or status, in any of its spellings; null in private chats. */
export function readGroup(message: JsonObject): string | null {
  const group = asObject(message.group)
  const context = asObject(message.context)
  const named = readId(message.group_id) ?? readId(group.id) ?? readId(group.group_id) ?? readId(context.group_id)
  if (named !== null) return named
  const types = [message.recipient_type, context.recipient_type]
  if (!types.includes('group') && !isOfMember(message)) return null
  // Without a known id it still belongs to some group, not to a private conversation.
  return readId(message.recipient_id) ?? readId(message.to) ?? readId(context.recipient_id) ?? UNNAMED_GROUP
}

/** The address of a group, in the form that linked devices use. */
export function groupAddress(groupId: string): string {
  return groupId.endsWith(GROUP_SERVER) ? groupId : `${groupId}${GROUP_SERVER}`
}
