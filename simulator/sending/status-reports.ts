import type { CallbackError, MessageStatus } from '../../src/upstream/wire.js'
import type { CallbackSender } from '../callbacks/callback-sender.js'
import { conversationId } from '../ids.js'
import type { Numbers } from '../numbers/business-numbers.js'
import { isUserId } from '../numbers/phone-numbers.js'
import type { SeededRandom } from '../random.js'
import type { Settings } from '../settings.js'
import type { SentMessage } from './message-record.js'

/** An accepted message whose statuses are to be sent. */
export interface ReportedMessage {
  record: SentMessage
  /** The message's `biz_opaque_callback_data`, returned in every status. */
  callbackData: string | undefined
  /** Whether the recipient reads the message. */
  read: boolean
  /** The error with which the message fails; null if it is delivered. */
  failure: CallbackError | null
  /** The members of the group that it was sent to, by network id or user id: each has statuses of its own. */
  members: string[]
  /** Milliseconds to wait before the first status. */
  startsAfterMs: number
}

interface StatusSequence {
  message: ReportedMessage
  /** The statuses still to be sent, in order. */
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
 * Sends the statuses of accepted messages: sent, delivered, read; or failed. Each status waits until the service
 * accepted the previous one, so they arrive in order unless `disorder` is set.
 */
export class StatusReports {
  readonly #options: ReportsOptions
  #waiting = 0
  #generation = 0

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** The number of statuses not yet passed to the sender. */
  get pending(): number {
    return this.#waiting
  }

  /**
   * Starts sending the statuses of a message. Does nothing if statuses are off or the business number is not
   * registered.
   */
  report(message: ReportedMessage): void {
    const { settings, numbers } = this.#options
    if (!settings.statuses || !numbers.has(message.record.phone_number_id)) return
    const remaining = this.#shuffled(statusesOf(message, settings.delay_ms))
    this.#waiting += remaining.length
    this.#next({ message, remaining, generation: this.#generation }, message.startsAfterMs)
  }

  /** Drops all statuses that are still to be sent. */
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

  /** Reorders the statuses with the probability `disorder`: reversed, or rotated by one. */
  #shuffled(statuses: MessageStatus[]): MessageStatus[] {
    const { random, settings } = this.#options
    if (statuses.length < 2 || !random.chance(settings.disorder)) return statuses
    if (random.chance(0.5)) return statuses.reverse()
    return [...statuses.slice(1), ...statuses.slice(0, 1)]
  }
}

function statusesOf(message: ReportedMessage, delayMs: number): MessageStatus[] {
  const steps = stepsOf(message)
  const start = message.record.accepted_at + message.startsAfterMs
  return steps.map((step, index) => statusOf(step, message, Math.floor((start + (index + 1) * delayMs) / 1_000)))
}

/** A status, and the member of a group whom it is about. */
interface Step {
  kind: string
  member?: string
}

/** `sent` and `failed` are about the group, the others about its members. */
function stepsOf(message: ReportedMessage): Step[] {
  return kindsOf(message).flatMap((kind) => {
    const isOfMembers = (kind === 'delivered' || kind === 'read') && message.members.length > 0
    return isOfMembers ? message.members.map((member) => ({ kind, member })) : [{ kind }]
  })
}

/** The upstream reports only `sent` for a reaction. */
function kindsOf({ record, read, failure }: ReportedMessage): string[] {
  if (failure) return ['failed']
  if (record.type === 'reaction') return ['sent']
  return read ? ['sent', 'delivered', 'read'] : ['sent', 'delivered']
}

function statusOf(
  { kind, member }: Step,
  { record, callbackData, failure }: ReportedMessage,
  seconds: number,
): MessageStatus {
  const status: MessageStatus = {
    id: record.id,
    status: kind,
    timestamp: String(seconds),
    ...recipientOf(record, member),
  }
  if (callbackData !== undefined) status.biz_opaque_callback_data = callbackData
  if (kind === 'failed' && failure) status.errors = [failure]
  if (kind === 'sent' || kind === 'delivered') addBilling(status, record, seconds)
  return status
}

function recipientOf(record: SentMessage, member: string | undefined): Partial<MessageStatus> {
  if (record.group_id === undefined) {
    return {
      ...(record.wa_id === null ? { recipient_user_id: record.to } : { recipient_id: record.wa_id }),
      ...(record.user_id && { recipient_user_id: record.user_id }),
    }
  }
  const isId = member !== undefined && isUserId(member)
  return {
    recipient_id: record.group_id,
    recipient_type: 'group',
    ...(member !== undefined && { [isId ? 'recipient_participant_user_id' : 'recipient_participant_id']: member }),
  }
}

/** `sent` and `delivered` contain conversation and price; only `sent` contains the conversation's end. */
function addBilling(status: MessageStatus, record: SentMessage, seconds: number): void {
  status.conversation = {
    id: conversationId(record.phone_number_id, record.wa_id ?? record.to),
    ...(status.status === 'sent' ? { expiration_timestamp: String(seconds + dayInSeconds) } : {}),
    origin: { type: record.group_id === undefined ? 'service' : 'group_service' },
  }
  const category = record.group_id === undefined ? 'service' : 'group_service'
  status.pricing = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category }
}
