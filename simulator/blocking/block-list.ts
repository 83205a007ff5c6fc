import { UPSTREAM_LIMITS } from '../../src/upstream/limits.js'

const recentMs = 24 * 60 * 60 * 1_000

/** Who is blocked by which number, and who wrote to it when: only recent writers can be blocked. */
export class BlockList {
  readonly #blocked = new Map<string, Set<string>>()
  readonly #wroteAt = new Map<string, number>()

  /** `person`: a network id or user id; `at`: milliseconds. */
  recordInbound(phoneNumberId: string, person: string, at: number): void {
    this.#wroteAt.set(`${phoneNumberId} ${person}`, at)
  }

  /** Whether the person wrote to the number in the 24 hours before `now`. */
  isRecent(phoneNumberId: string, person: string, now: number): boolean {
    const at = this.#wroteAt.get(`${phoneNumberId} ${person}`)
    return at !== undefined && now - at < recentMs
  }

  isFull(phoneNumberId: string): boolean {
    return this.list(phoneNumberId).length >= UPSTREAM_LIMITS.blocked.inAll
  }

  has(phoneNumberId: string, person: string): boolean {
    return this.#blocked.get(phoneNumberId)?.has(person) === true
  }

  block(phoneNumberId: string, person: string): void {
    const people = this.#blocked.get(phoneNumberId) ?? new Set()
    this.#blocked.set(phoneNumberId, people.add(person))
  }

  unblock(phoneNumberId: string, person: string): void {
    this.#blocked.get(phoneNumberId)?.delete(person)
  }

  list(phoneNumberId: string): string[] {
    return [...(this.#blocked.get(phoneNumberId) ?? [])]
  }

  reset(): void {
    this.#blocked.clear()
    this.#wroteAt.clear()
  }
}
