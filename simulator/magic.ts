import type { CallbackError } from '../src/upstream/wire.js'
import { type Refusal, refusals } from './errors/refusals.js'
import type { Recipient } from './sending/validation.js'

/** An accepted send: how it is answered, and what happens to the message afterwards. */
export interface AcceptedOutcome {
  kind: 'accepted'
  answer: 'at-once' | 'slow' | 'dropped'
  /** Whether the message is ever read. */
  read: boolean
  /** The error in the later failed status; null if the message is delivered. */
  failure: CallbackError | null
}

/** The outcome of a send, chosen by its recipient. */
export type SimulatedOutcome = { kind: 'refused'; refusal: Refusal } | AcceptedOutcome

/** Answered at once, delivered and read. */
export const ordinaryOutcome: AcceptedOutcome = { kind: 'accepted', answer: 'at-once', read: true, failure: null }

/** Recipients whose last six digits select the outcome of every send, so that outcomes can be repeated. */
export class MagicRecipients {
  readonly #throttledOnce = new Set<string>()

  /** The outcome of a send from a business number; only the throttling of `000003` depends on earlier sends. */
  outcomeFor(phoneNumberId: string, recipient: Recipient): SimulatedOutcome {
    if (recipient.kind !== 'phone') return ordinaryOutcome
    switch (recipient.digits.slice(-6)) {
      case '000001':
        return { kind: 'refused', refusal: refusals.undeliverable() }
      case '000002':
        return { kind: 'refused', refusal: refusals.windowClosed() }
      case '000003':
        return this.#throttleOnce(`${phoneNumberId} ${recipient.digits}`)
      case '000004':
        return { ...ordinaryOutcome, answer: 'slow' }
      case '000005':
        return { ...ordinaryOutcome, answer: 'dropped' }
      case '000006':
        return { ...ordinaryOutcome, read: false }
      default:
        return ordinaryOutcome
    }
  }

  reset(): void {
    this.#throttledOnce.clear()
  }

  #throttleOnce(pair: string): SimulatedOutcome {
    if (this.#throttledOnce.has(pair)) return ordinaryOutcome
    this.#throttledOnce.add(pair)
    return { kind: 'refused', refusal: refusals.throughput() }
  }
}

/** Media ids whose last six digits select a failure, so that failures can be repeated. */
export class MagicMedia {
  readonly #failedOnce = new Set<string>()
  readonly #brokenOffOnce = new Set<string>()

  /** True if the upstream does not know the id, although an inbound message contains it. */
  isMissing(id: string): boolean {
    return id.endsWith('000404')
  }

  /** True if the look-up of its URL fails this time. */
  failsNow(id: string): boolean {
    return id.endsWith('000500') && isFirst(this.#failedOnce, id)
  }

  /** True if its download breaks off this time. */
  breaksOffNow(id: string): boolean {
    return id.endsWith('000408') && isFirst(this.#brokenOffOnce, id)
  }

  reset(): void {
    this.#failedOnce.clear()
    this.#brokenOffOnce.clear()
  }
}

function isFirst(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return false
  seen.add(id)
  return true
}
