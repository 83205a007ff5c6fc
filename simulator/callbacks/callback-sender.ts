import { createHttpClient } from '../../src/lib/http/client.js'
import { exchange } from '../../src/lib/http/exchange.js'
import { errorMessage } from '../../src/lib/text/error-message.js'
import type { BusinessNumber, Numbers } from '../numbers/business-numbers.js'
import type { SeededRandom } from '../random.js'
import type { Settings } from '../settings.js'
import { type BatchItem, type CallbackContent, envelopeOf } from './batches.js'
import { Queue } from './queue.js'
import { escapeJson, signBody } from './signing.js'

/**
 * The outcome of one attempt to deliver a callback: accepted (the service answered 200), refused (another answer, or
 * none: `status` is null), or dropped without a further attempt.
 */
export interface Attempt {
  outcome: 'accepted' | 'refused' | 'dropped'
  status: number | null
}

/** A callback to deliver. */
export interface Callback {
  phoneNumberId: string
  content: CallbackContent
  /** True if it is repeated until the service accepts it. */
  repeat: boolean
  /** Called for every attempt; the last one is `accepted` or `dropped`. */
  onAttempt(attempt: Attempt): void
}

interface PendingCallback extends Callback {
  number: BusinessNumber
  attempts: number
  /** True for the duplicate of a callback, which is not duplicated again. */
  isCopy: boolean
}

interface SenderOptions {
  numbers: Numbers
  settings: Settings
  random: SeededRandom
  /** The number with each address that a callback of it goes to. */
  destinationsOf: (phoneNumberId: string, content: CallbackContent) => BusinessNumber[]
  log: (line: string) => void
  /** Called when fewer callbacks are waiting than before. */
  onProgress: () => void
}

/** Maximum number of concurrent posts. */
export const concurrency = 64

const answerTimeoutMs = 10_000
const idleMs = 4_000
const firstRepeatMs = 200
const maxRepeatMs = 5_000

/**
 * Posts signed callbacks to the services of the business numbers. Callbacks that are due at the same time for one
 * service share a body, some posts run concurrently, and a body that is not answered with 200 is repeated with growing
 * delay.
 */
export class CallbackSender {
  readonly #options: SenderOptions
  readonly #client = createHttpClient({ connectTimeoutMs: answerTimeoutMs, keepAliveMs: idleMs })
  /** Every callback that is neither accepted nor dropped yet. */
  readonly #outstanding = new Set<PendingCallback>()
  /** The callbacks due now, by destination. */
  readonly #due = new Map<string, Queue<PendingCallback>>()
  #running = 0
  #abort = new AbortController()
  #pumpScheduled = false

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** The number of callbacks that are neither accepted nor dropped yet. */
  get pending(): number {
    return this.#outstanding.size
  }

  /**
   * Accepts a callback for delivery. One that goes nowhere is dropped at once; of several addresses, the first one's
   * attempts are reported.
   */
  send(callback: Callback): void {
    const [first, ...others] = this.#options.destinationsOf(callback.phoneNumberId, callback.content)
    if (!first) callback.onAttempt({ outcome: 'dropped', status: null })
    else this.#accept({ ...callback, number: first, attempts: 0, isCopy: false })
    for (const number of others) {
      this.#accept({ ...callback, number, attempts: 0, isCopy: false, onAttempt: () => {} })
    }
  }

  /** Sends pending callbacks of a number to its new URL, or drops them if it was removed. */
  numberChanged(phoneNumberId: string): void {
    const number = this.#options.numbers.get(phoneNumberId)
    const affected = [...this.#outstanding].filter((callback) => callback.phoneNumberId === phoneNumberId)
    if (!number) {
      this.#drop(affected)
      return
    }
    const due = this.#removeDue(new Set(affected))
    for (const callback of affected) callback.number = number
    for (const callback of due) this.#enqueue(callback)
  }

  /** Drops all pending callbacks and aborts running posts, so that nothing old arrives later. */
  reset(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#drop([...this.#outstanding])
  }

  /** Resets and closes all connections. */
  async close(): Promise<void> {
    this.reset()
    this.#client.close()
  }

  #accept(callback: PendingCallback): void {
    this.#outstanding.add(callback)
    this.#enqueue(callback)
  }

  #enqueue(callback: PendingCallback): void {
    const destination = destinationOf(callback.number)
    const queue = this.#due.get(destination)
    if (queue) queue.push(callback)
    else this.#due.set(destination, new Queue([callback]))
    this.#schedulePump()
  }

  /** Waits for the end of this iteration of the event loop, so that callbacks due in it share a body. */
  #schedulePump(): void {
    if (this.#pumpScheduled) return
    this.#pumpScheduled = true
    setImmediate(() => {
      this.#pumpScheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#running < concurrency) {
      const batch = this.#nextBatch()
      if (!batch) return
      this.#running += 1
      void this.#post(batch).finally(() => {
        this.#running -= 1
        this.#schedulePump()
      })
    }
  }

  /** Takes the next callbacks of one destination, and moves that destination to the end of the queue. */
  #nextBatch(): PendingCallback[] | null {
    const next = this.#due.entries().next()
    if (next.done) return null
    const [destination, queue] = next.value
    const batch = queue.take(batchLength(queue, this.#options.settings.batch))
    this.#due.delete(destination)
    if (queue.length > 0) this.#due.set(destination, queue)
    return batch
  }

  async #post(batch: PendingCallback[]): Promise<void> {
    const [first] = batch
    if (!first) return
    const bytes = bodyOf(batch)
    if (this.#isDoubled(batch)) this.#accept(duplicateOf(first, bytes))
    const status = await this.#deliver(first.number, bytes)
    for (const callback of batch) {
      if (!this.#outstanding.has(callback)) continue
      if (status === 200) this.#finish(callback, { outcome: 'accepted', status })
      else this.#refused(callback, status)
    }
    this.#options.onProgress()
  }

  #isDoubled(batch: PendingCallback[]): boolean {
    const isFirstSending = batch.every((callback) => callback.attempts === 0 && !callback.isCopy)
    return isFirstSending && this.#options.random.chance(this.#options.settings.duplicate)
  }

  /** The HTTP status of the answer; null if there was none. */
  async #deliver(number: BusinessNumber, bytes: string): Promise<number | null> {
    const { signal } = this.#abort
    try {
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signBody(number.app_secret, bytes) }
      const origin = new URL(number.callback_url)
      const request = { origin, path: origin.pathname + origin.search, method: 'POST', headers, body: bytes }
      const answer = await exchange(
        this.#client,
        request,
        AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      )
      if (answer.statusCode !== 200)
        this.#options.log(`${number.callback_url} answered ${answer.statusCode} to a callback`)
      return answer.statusCode
    } catch (error) {
      if (signal.aborted) return null
      const reason = errorMessage(error)
      this.#options.log(`${number.callback_url} did not answer a callback: ${reason}`)
      return null
    }
  }

  #refused(callback: PendingCallback, status: number | null): void {
    callback.attempts += 1
    callback.onAttempt({ outcome: 'refused', status })
    if (!callback.repeat) {
      this.#finish(callback, { outcome: 'dropped', status })
      return
    }
    const delay = Math.min(firstRepeatMs * 2 ** (callback.attempts - 1), maxRepeatMs)
    setTimeout(() => this.#repeat(callback), delay).unref()
  }

  #repeat(callback: PendingCallback): void {
    if (this.#outstanding.has(callback)) this.#enqueue(callback)
  }

  #drop(given: PendingCallback[]): void {
    this.#removeDue(new Set(given))
    for (const callback of given) this.#finish(callback, { outcome: 'dropped', status: null })
    this.#options.onProgress()
  }

  #finish(callback: PendingCallback, attempt: Attempt): void {
    this.#outstanding.delete(callback)
    callback.onAttempt(attempt)
  }

  /** Removes the given callbacks from the queues of due callbacks, and returns those that it found there. */
  #removeDue(given: Set<PendingCallback>): PendingCallback[] {
    const taken: PendingCallback[] = []
    for (const [destination, queue] of this.#due) {
      const left: PendingCallback[] = []
      for (const callback of queue.all()) (given.has(callback) ? taken : left).push(callback)
      if (left.length > 0) this.#due.set(destination, new Queue(left))
      else this.#due.delete(destination)
    }
    return taken
  }
}

/** Numbers of one service share bodies only if they share the secret, because a body has one signature. */
function destinationOf(number: BusinessNumber): string {
  return `${number.callback_url} ${number.app_secret}`
}

/** How many of the queue's first callbacks share a body; a complete body is sent alone. */
function batchLength(queue: Queue<PendingCallback>, limit: number): number {
  const firstBody = queue.first(limit).findIndex((callback) => callback.content.kind === 'body')
  if (firstBody === -1) return limit
  return Math.max(1, firstBody)
}

function bodyOf(batch: PendingCallback[]): string {
  const items: BatchItem[] = []
  for (const { number, content } of batch) {
    if (content.kind === 'body') return content.bytes
    items.push({ number, content })
  }
  return escapeJson(envelopeOf(items))
}

function duplicateOf(first: PendingCallback, bytes: string): PendingCallback {
  return { ...first, content: { kind: 'body', bytes }, isCopy: true, attempts: 0, onAttempt: () => {} }
}
