import { asObjects, isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import type { Change, InboundMessage } from '../../src/upstream/wire.js'
import { invalidField, isProblem, missingField, type Problem } from '../control/problems.js'
import { isMediaKind } from '../media/types.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'
import { readInbound } from './message.js'

/** A message of a history: as an inbound one, or as one that the business wrote. */
export interface HistoryMessage {
  message: InboundMessage
  isSent: boolean
  status: string
}

export interface HistoryThread {
  id: string
  context: JsonObject | null
  messages: HistoryMessage[]
}

/** A history to post, or that the business does not share it. */
export interface PhoneHistory {
  threads: HistoryThread[]
  /** The most messages of a chunk. */
  chunkSize: number
  isDeclined: boolean
}

const DAY_S = 86_400
/** The end of each phase in days before the number was connected. */
const PHASES = [1, 90, 180] as const
/** Files of older messages are not passed on. */
const FILES_S = 14 * DAY_S
const MAX_CHUNK = 10_000
const DEFAULT_CHUNK = 500

const declined = {
  code: 2593109,
  title: 'History sync is turned off by the business from the WhatsApp Business App',
  message: 'History sync is turned off by the business from the WhatsApp Business App',
  error_data: { details: 'History sharing is turned off by the business' },
}

/**
 * Reads a control body: `threads`, each with `with` (a number or user id) and `messages` as in `/inbound`, with
 * `from_me` and `status`; or `declined`.
 */
export function readHistory(body: JsonObject): PhoneHistory | Problem {
  const { threads, declined: isDeclined = false, chunk_size: chunkSize = DEFAULT_CHUNK } = body
  if (typeof isDeclined !== 'boolean') return invalidField('declined must be true or false')
  if (typeof chunkSize !== 'number' || !Number.isInteger(chunkSize) || chunkSize < 1 || chunkSize > MAX_CHUNK)
    return invalidField(`chunk_size must be a whole number from 1 to ${MAX_CHUNK}`)
  if (isDeclined) return { threads: [], chunkSize, isDeclined }
  if (!Array.isArray(threads)) return missingField('threads')
  const read: HistoryThread[] = []
  for (const thread of threads) {
    const one = isJsonObject(thread) ? readThread(thread) : invalidField('threads must be objects')
    if (isProblem(one)) return one
    read.push(one)
  }
  return { threads: read, chunkSize, isDeclined }
}

function readThread({ with: person, user_id: userId, username, messages }: JsonObject): HistoryThread | Problem {
  if (person === undefined) return missingField('threads[].with')
  if (!Array.isArray(messages)) return missingField('threads[].messages')
  let id: string | null = null
  const read: HistoryMessage[] = []
  for (const { from_me: isSent = false, status = isSent ? 'DELIVERED' : 'READ', ...fields } of asObjects(messages)) {
    if (typeof isSent !== 'boolean') return invalidField('from_me must be true or false')
    if (typeof status !== 'string') return invalidField('status must be a string')
    const inbound = readInbound({ ...fields, from: person, user_id: userId })
    if (isProblem(inbound)) return inbound
    id ??= inbound.message.from ?? inbound.message.from_user_id ?? null
    read.push({ message: inbound.message, isSent, status })
  }
  if (id === null) return { id: String(person), context: null, messages: read }
  const named = {
    ...(typeof userId === 'string' && { user_id: userId }),
    ...(typeof username === 'string' && { username }),
  }
  return { id, context: Object.keys(named).length === 0 ? null : { wa_id: id, ...named }, messages: read }
}

/**
 * The changes that post a history, as the upstream does: by age in three phases, each in chunks, then the files of the
 * newest two weeks. `now`: Unix seconds.
 */
export function historyChanges(number: BusinessNumber, history: PhoneHistory, now: number): Change[] {
  const change = (value: JsonObject): Change => ({
    field: 'history',
    value: { messaging_product: 'whatsapp', metadata: metadataOf(number), ...value },
  })
  if (history.isDeclined) return [change({ history: [{ errors: [declined] }] })]
  const chunks = PHASES.flatMap((days, phase) => {
    const from = phase === 0 ? Number.NEGATIVE_INFINITY : (PHASES[phase - 1] as number)
    const inPhase = (one: HistoryMessage) => {
      const age = (now - Number(one.message.timestamp)) / DAY_S
      return age > from && age <= days
    }
    return cut(history.threads, inPhase, history.chunkSize).map((threads, n) => ({ phase, order: n + 1, threads }))
  })
  const posted = chunks.length === 0 ? [{ phase: 2, order: 1, threads: [] }] : chunks
  const ofThreads = posted.map(({ phase, order, threads }, n) => {
    const progress = Math.floor((100 * (n + 1)) / posted.length)
    const shown = threads.map((thread) => showThread(number, thread))
    return change({ history: [{ metadata: { phase, chunk_order: order, progress }, threads: shown }] })
  })
  return [...ofThreads, ...filesOf(number, history, now).map(change)]
}

/** The messages of a phase, newest first in each thread, in chunks of at most `size` messages. */
function cut(
  threads: readonly HistoryThread[],
  inPhase: (one: HistoryMessage) => boolean,
  size: number,
): HistoryThread[][] {
  const chunks: HistoryThread[][] = []
  let room = 0
  for (const thread of threads) {
    const wanted = thread.messages.filter(inPhase)
    const newestFirst = wanted.sort((a, b) => Number(b.message.timestamp) - Number(a.message.timestamp))
    for (let at = 0; at < newestFirst.length; ) {
      if (room === 0) {
        chunks.push([])
        room = size
      }
      const messages = newestFirst.slice(at, at + room)
      chunks.at(-1)?.push({ ...thread, messages })
      at += messages.length
      room -= messages.length
    }
  }
  return chunks
}

function showThread(number: BusinessNumber, { id, context, messages }: HistoryThread): JsonObject {
  return { id, ...(context && { context }), messages: messages.map((one) => showMessage(number, one)) }
}

function showMessage(number: BusinessNumber, one: HistoryMessage): JsonObject {
  const { type } = one.message
  const shown = isMediaKind(type) ? { ...without(one.message, type), type: 'media_placeholder' } : { ...one.message }
  return { ...addressed(number, one, shown), history_context: { status: one.status } }
}

function filesOf(number: BusinessNumber, { threads }: PhoneHistory, now: number): JsonObject[] {
  const withFiles = threads.flatMap(({ messages }) => messages).filter(({ message }) => isMediaKind(message.type))
  return withFiles
    .filter(({ message }) => now - Number(message.timestamp) <= FILES_S)
    .map((one) => ({ [one.isSent ? 'message_echoes' : 'messages']: [addressed(number, one, { ...one.message })] }))
}

function without(message: InboundMessage, key: string): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== key))
}

/** What the business wrote is from its number, and names who got it. */
function addressed(number: BusinessNumber, { isSent }: HistoryMessage, message: JsonObject): JsonObject {
  if (!isSent) return message
  const { from, from_user_id: userId, ...rest } = message
  const recipient = {
    ...(from === undefined ? {} : { to: from }),
    ...(userId === undefined ? {} : { to_user_id: userId }),
  }
  return { from: number.display_phone_number, ...recipient, ...rest }
}
