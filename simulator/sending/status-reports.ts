import type { CallbackError, MessageStatus } from '../../src/upstream/wire.js'
import type { CallbackSender } from '../callbacks/callback-sender.js'
import { conversationId } from '../ids.js'
import type { Numbers } from '../numbers/business-numbers.js'
import type { SeededRandom } from '../random.js'
import type { Settings } from '../settings.js'
import type { SentMessage } from './message-record.js'

/** An accepted message whose statuses are to be told. */
export interface ReportedMessage {
  record: SentMessage
  /** The message's `biz_opaque_callback_data`, returned in every status. */
  callbackData: string | undefined
  /** Whether the recipient ever reads it. */
  read: boolean
  /** With which error it fails; null when it is delivered. */
  failure: CallbackError | null
  /** Milliseconds that pass before its life begins. */
  startsAfterMs: number
}

interface StatusSequence {
  message: ReportedMessage
  /** The statuses still to come, in the order in which they are told. */
  remaining: MessageStatus[]
  generation: number
}

interface ReportsOptions {
  numbers: Numbers
  settings: Settings
  random: SeededRandom
  sender: CallbackSender
  onProgress: () => void
}

const dayInSeconds = 24 * 60 * 60

/**
 * Tells the life of accepted messages: sent, delivered, read; or failed. Each status waits until the one before was
 * taken, so that they come in order unless disorder is asked for.
 */
export class StatusReports {
  readonly #options: ReportsOptions
  #waiting = 0
  #generation = 0

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** How many statuses are to come that were not handed to the sender yet. */
  get pending(): number {
    return this.#waiting
  }

  /**
   * Starts the statuses of a message; nothing happens when statuses are off or the business number is not registered.
   */
  report(message: ReportedMessage): void {
    const { settings, numbers } = this.#options
    if (!settings.statuses || !numbers.has(message.record.phone_number_id)) return
    const remaining = this.#shuffled(statusesOf(message, settings.delay_ms))
    this.#waiting += remaining.length
    this.#next({ message, remaining, generation: this.#generation }, message.startsAfterMs)
  }

  /** Gives up every status still to come. */
  reset(): void {
    this.#generation += 1
    this.#waiting = 0
    this.#options.onProgress()
  }

  #next(sequence: StatusSequence, extraMs: number): void {
    if (sequence.remaining.length === 0) return
    const delay = Math.min(this.#options.settings.delay_ms + extraMs, 2 ** 31 - 1)
    setTimeout(() => this.#send(sequence), delay).unref()
  }

  #send(sequence: StatusSequence): void {
    if (sequence.generation !== this.#generation) return
    const status = sequence.remaining.shift()
    if (!status) return
    this.#waiting -= 1
    const { record } = sequence.message
    this.#options.sender.send({
      phoneNumberId: record.phone_number_id,
      content: { kind: 'status', status },
      repeat: true,
      onAttempt: ({ outcome }) => {
        if (sequence.generation !== this.#generation) return
        if (outcome === 'accepted') this.#accepted(sequence, status)
        if (outcome === 'dropped') this.#drop(sequence)
      },
    })
  }

  #accepted(sequence: StatusSequence, status: MessageStatus): void {
    sequence.message.record.statuses.push(status.status)
    this.#next(sequence, 0)
  }

  #drop(sequence: StatusSequence): void {
    this.#waiting -= sequence.remaining.length
    sequence.remaining = []
    this.#options.onProgress()
  }

  /** The statuses in another order than theirs, when chance will have it: turned around, or turned by one. */
  #shuffled(statuses: MessageStatus[]): MessageStatus[] {
    const { random, settings } = this.#options
    if (statuses.length < 2 || !random.chance(settings.disorder)) return statuses
    if (random.chance(0.5)) return statuses.reverse()
    return [...statuses.slice(1), ...statuses.slice(0, 1)]
  }
}

function statusesOf(message: ReportedMessage, delayMs: number): MessageStatus[] {
  const kinds = kindsOf(message)
  const start = message.record.accepted_at + message.startsAfterMs
  return kinds.map((kind, index) => statusOf(kind, message, Math.floor((start + (index + 1) * delayMs) / 1_000)))
}

/** A reaction is only ever sent: the upstream tells no more of it. */
function kindsOf({ record, read, failure }: ReportedMessage): string[] {
  if (failure) return ['failed']
  if (record.type === 'reaction') return ['sent']
  return read ? ['sent', 'delivered', 'read'] : ['sent', 'delivered']
}

function statusOf(kind: string, { record, callbackData, failure }: ReportedMessage, seconds: number): MessageStatus {
  const status: MessageStatus = {
    id: record.id,
    status: kind,
    timestamp: String(seconds),
    ...(record.wa_id === null ? { recipient_user_id: record.to } : { recipient_id: record.wa_id }),
    ...(record.user_id && { recipient_user_id: record.user_id }),
  }
  if (callbackData !== undefined) status.biz_opaque_callback_data = callbackData
  if (kind === 'failed' && failure) status.errors = [failure]
  if (kind === 'sent' || kind === 'delivered') addBilling(status, record, seconds)
  return status
}

/** Conversation and price stand in `sent` and `delivered`, the conversation's end in `sent` only. */
function addBilling(status: MessageStatus, record: SentMessage, seconds: number): void {
  status.conversation = {
    id: conversationId(record.phone_number_id, record.wa_id ?? record.to),
    ...(status.status === 'sent' ? { expiration_timestamp: String(seconds + dayInSeconds) } : {}),
    origin: { type: 'service' },
  }
  status.pricing = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' }
}
