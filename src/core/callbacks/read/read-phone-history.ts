import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import type { MessageError, MessageStatus } from '../../../model/messages/message.js'
import { readHistoryStatus } from '../../../model/messages/phone-history.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'
import type { IncomingItem } from './read-callback.js'
import { HISTORY_FIELD, readMessage } from './read-callback.js'
import { readDigits, readId, readPerson } from './read-sender.js'

/** A message in a history, not read yet, and what stands beside it. */
export interface HistoricMessage {
  message: JsonObject
  /** The person of its thread; empty if it is in none. */
  context: JsonObject
  /** The business number, in digits; null if the callback does not say. */
  ownNumber: string | null
}

/** How far the phone's history has been posted, as its chunks say. */
export interface HistoryReport {
  /** Percent; null: the chunk says nothing. */
  progress: number | null
  phase: number | null
  /** Why there is none: the business did not share it. */
  error: MessageError | null
}

/** A message of a history, as it would have been received. */
export interface HistoricItem {
  item: IncomingItem
  /** What the phone said about its status; null: nothing. */
  status: MessageStatus | null
}

/** Whether a callback brings a part of a history. */
export function bringsHistory(envelope: JsonObject): boolean {
  return changesOf(envelope).length > 0
}

/**
 * The messages of a history that a callback brings, oldest first in each thread: those of threads, and messages whose
 * files follow in callbacks of their own. The phone lists a thread from its newest message.
 */
export function listHistoricMessages(envelope: JsonObject): HistoricMessage[] {
  return changesOf(envelope).flatMap((value) => {
    const ownNumber = readDigits(asText(asObject(value.metadata).display_phone_number)?.replace(/[^0-9]/g, ''))
    const threads = asObjects(value.history).flatMap(({ threads }) => asObjects(threads))
    const ofThreads = threads.flatMap(({ id, context, messages }) => {
      const person = { id, ...asObject(context) }
      return oldestFirst(asObjects(messages)).map((message) => ({ message, context: person, ownNumber }))
    })
    const people = asObjects(value.contacts)
    const [person = {}] = people.length === 1 ? people : []
    const files = [...asObjects(value.messages), ...asObjects(value.message_echoes).map(asEcho)]
    return [...ofThreads, ...files.map((message) => ({ message, context: person, ownNumber }))]
  })
}

/** What the last chunk of a callback says; a refusal counts more. */
export function readHistoryReport(envelope: JsonObject): HistoryReport {
  const report: HistoryReport = { progress: null, phase: null, error: null }
  for (const { metadata, errors } of changesOf(envelope).flatMap((value) => asObjects(value.history))) {
    const { progress, phase } = asObject(metadata)
    report.progress = readCount(progress, 100) ?? report.progress
    report.phase = readCount(phase, 2) ?? report.phase
    const [error] = asObjects(errors)
    if (error) report.error = readRefusal(error)
  }
  return report
}

/**
 * Reads a message of a history; null if it has no id, or nobody is named. A notice is of the person of its thread. A
 * change of a number or user id in it is a message like others: it was long ago.
 */
export function readHistoricMessage({ message, context, ownNumber }: HistoricMessage): HistoricItem | null {
  const told = asObject(message.history_context)
  const isSent = told.from_me === true || isNamed(message.to, message.to_user_id) || isOwn(message.from, ownNumber)
  const { to, to_user_id: toUserId, from, from_user_id: fromUserId, from_parent_user_id, ...rest } = message
  const written = isSent ? readPerson(to, toUserId) : readPerson(from, fromUserId)
  const thread = readPerson(context.wa_id ?? context.id, context.user_id)
  const isOfThread = isOneOf(written, thread)
  const person = isOfThread ? { waId: written.waId ?? thread.waId, userId: written.userId ?? thread.userId } : written
  const parentUserId = isOfThread ? readId(context.parent_user_id) : readId(from_parent_user_id)
  const item = readMessage(rest, { ...person, name: null, parentUserId, username: null })
  if (item === null || !('from' in item)) return null
  const plain =
    item.kind === 'message' ? withoutEffects(item, isNamed(thread.waId, thread.userId) ? thread : person) : item
  return {
    item: isSent ? { ...plain, sentBy: 'human-chat' } : plain,
    status: readHistoryStatus(told.status),
  }
}

type MessageItem = Extract<IncomingItem, { kind: 'message' }>

function withoutEffects(item: MessageItem, person: UpstreamPerson): MessageItem {
  const isOfPerson = item.isSystem && item.groupId === undefined
  const from = isOfPerson ? { waId: person.waId, userId: person.userId } : item.from
  return { ...item, from, addressChange: null, sharedNumber: null, referral: null }
}

function changesOf(envelope: JsonObject): JsonObject[] {
  const changes = asObjects(envelope.entry).flatMap((entry) => asObjects(entry.changes))
  return changes.flatMap(({ field, value }) => (field === HISTORY_FIELD && isJsonObject(value) ? [value] : []))
}

/** A file that the business sent is marked by its list. */
function asEcho(message: JsonObject): JsonObject {
  return { ...message, history_context: { ...asObject(message.history_context), from_me: true } }
}

/** Messages of the same second keep their order, which is that of the list, or its opposite. */
function oldestFirst(messages: readonly JsonObject[]): readonly JsonObject[] {
  const [first, last] = [messages[0], messages.at(-1)]
  return Number(first?.timestamp) > Number(last?.timestamp) ? messages.toReversed() : messages
}

function readCount(value: unknown, highest: number): number | null {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= highest ? count : null
}

function readRefusal({ code, message, title, error_data: data }: JsonObject): MessageError {
  const text = asText(asObject(data).details) ?? asText(message) ?? asText(title)
  return {
    code: typeof code === 'number' ? code : (readId(code)?.slice(0, 100) ?? 'unknown'),
    text: (text ?? 'WhatsApp gave no reason').slice(0, 1_000),
  }
}

function isNamed(number: unknown, userId: unknown): boolean {
  const { waId, userId: id } = readPerson(number, userId)
  return waId !== null || id !== null
}

function isOwn(from: unknown, ownNumber: string | null): boolean {
  return ownNumber !== null && readDigits(from) === ownNumber
}

type Person = ReturnType<typeof readPerson>

/** Whether the person whom the message names may be that of its thread: neither number nor user id differ. */
function isOneOf(named: Person, thread: Person): boolean {
  return (['waId', 'userId'] as const).every(
    (key) => named[key] === null || thread[key] === null || named[key] === thread[key],
  )
}
