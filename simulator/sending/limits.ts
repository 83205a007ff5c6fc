import { type Refusal, refusals } from '../errors/refusals.js'

const messagesPerSecond = 80
const pairBurst = 45
const pairIntervalMs = 6_000
const windowMs = 24 * 60 * 60 * 1_000
const pruneEvery = 10_000

/**
 * The upstream's limits: 80 messages per second and business number; per recipient a burst of 45, then one every 6
 * seconds; other messages than templates only within 24 hours of the recipient's last message. Times are milliseconds
 * since the epoch.
 */
export class Limits {
  readonly #acceptedAt = new Map<string, number[]>()
  /** When a pair's allowance is full again; every message delays it by one interval. */
  readonly #pairFullAt = new Map<string, number>()
  readonly #lastInboundAt = new Map<string, number>()
  #passed = 0

  /** Counts a send and returns null, or returns a refusal without counting. `recipient` is a network id or user id. */
  check(
    phoneNumberId: string,
    recipient: string,
    { isTemplate, now }: { isTemplate: boolean; now: number },
  ): Refusal | null {
    const pair = pairKey(phoneNumberId, recipient)
    const recent = (this.#acceptedAt.get(phoneNumberId) ?? []).filter((at) => at > now - 1_000)
    if (recent.length >= messagesPerSecond) return refusals.throughput()
    const fullAt = Math.max(this.#pairFullAt.get(pair) ?? 0, now) + pairIntervalMs
    if (fullAt - now > pairBurst * pairIntervalMs) return refusals.pairRate()
    if (!isTemplate && !this.#windowOpen(pair, now)) return refusals.windowClosed()
    recent.push(now)
    this.#acceptedAt.set(phoneNumberId, recent)
    this.#pairFullAt.set(pair, fullAt)
    this.#prune(now)
    return null
  }

  /** Starts the 24-hour window of a sender. */
  recordInbound(phoneNumberId: string, sender: string, at: number): void {
    const pair = pairKey(phoneNumberId, sender)
    this.#lastInboundAt.set(pair, Math.max(this.#lastInboundAt.get(pair) ?? 0, at))
  }

  reset(): void {
    this.#acceptedAt.clear()
    this.#pairFullAt.clear()
    this.#lastInboundAt.clear()
  }

  #windowOpen(pair: string, now: number): boolean {
    const last = this.#lastInboundAt.get(pair)
    return last !== undefined && now - last < windowMs
  }

  /** Removes pairs with a full allowance from time to time, so that a long run does not keep every recipient. */
  #prune(now: number): void {
    this.#passed += 1
    if (this.#passed % pruneEvery !== 0) return
    for (const [pair, fullAt] of this.#pairFullAt) if (fullAt <= now) this.#pairFullAt.delete(pair)
  }
}

function pairKey(phoneNumberId: string, person: string): string {
  return `${phoneNumberId} ${person}`
}
