import type { DriverOutcome } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import type { Span } from '../../../lib/tracer.js'
import type { Cause } from '../../../model/messages/cause.js'
import type { AskedNote, CallNote, CallsNote, Wait, WaitReason } from '../../../model/messages/trace.js'

/** A reason is stored with each failed call, so it is cut. */
const MAX_TEXT_LENGTH = 300

/** What a send has done and waited for since the last note about it. */
export class SendLog {
  #waits: Wait[] = []
  #calls: CallNote[] = []
  #recordMs: number | null = null
  readonly #clock: Context['clock']
  readonly #span: Span | null

  /** `span`: what the steps are parts of; null if they are not recorded. */
  constructor(clock: Context['clock'], span: Span | null) {
    this.#clock = clock
    this.#span = span
  }

  /** How often the upstream was called. */
  get calls(): number {
    return this.#calls.length
  }

  /** Does what the send waits for. */
  async wait<Result>(reason: WaitReason, work: () => Promise<Result>): Promise<Result> {
    const at = this.#clock().getTime()
    const startedAt = performance.now()
    const span = this.#span?.child(`wait: ${reason}`)
    try {
      return await work()
    } finally {
      span?.end()
      this.#waits.push([reason, at, Math.round(performance.now() - startedAt)])
    }
  }

  /** Records the message. */
  async record<Result>(work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    const result = await this.step('record message', work)
    this.#recordMs = Math.round(performance.now() - startedAt)
    return result
  }

  /** Does a step that has a span of its own. */
  async step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#span === null) return work()
    const span = this.#span.child(name)
    try {
      return await work()
    } finally {
      span.end()
    }
  }

  /** Makes one call. */
  async call(work: () => Promise<DriverOutcome>): Promise<DriverOutcome> {
    const at = this.#clock().getTime()
    const startedAt = performance.now()
    const span = this.#span?.child('call WhatsApp', {}, true)
    const outcome = await work()
    span?.end({ outcome: outcome.outcome }, 'text' in outcome ? outcome.text : undefined)
    this.#calls.push(toNote(at, Math.round(performance.now() - startedAt), outcome))
    return outcome
  }

  /** The waits since the last note. */
  takeWaits(): Pick<AskedNote, 'waits'> {
    const waits = this.#waits
    this.#waits = []
    return waits.length === 0 ? {} : { waits }
  }

  /** The note of the calls since the last one. */
  takeCalls(): CallsNote {
    const calls = this.#calls
    const recordMs = this.#recordMs
    this.#calls = []
    this.#recordMs = null
    const recorded = recordMs === null ? {} : { recorded: recordMs }
    return { k: 'calls', at: this.#clock().getTime(), calls, ...recorded, ...this.takeWaits() }
  }
}

/** The first note of a message. */
export function askedNote({ processId }: Pick<Context, 'processId'>, cause: Cause): AskedNote {
  const { by, id, at, requestId, idempotencyKey, trace } = cause
  return {
    k: 'asked',
    at: at.getTime(),
    by,
    id,
    ...(requestId !== null && { request: requestId }),
    ...(idempotencyKey !== null && { key: idempotencyKey }),
    ...(trace !== null && { trace: trace.traceId }),
    process: processId,
  }
}

function toNote(at: number, ms: number, outcome: DriverOutcome): CallNote {
  const { status, requestId } = outcome.http ?? {}
  return {
    at,
    ms,
    outcome: outcome.outcome,
    ...(status !== undefined && { status }),
    ...('code' in outcome && outcome.code !== null && { code: outcome.code }),
    ...('text' in outcome && { text: outcome.text.slice(0, MAX_TEXT_LENGTH) }),
    ...(requestId != null && { upstream: requestId }),
  }
}
