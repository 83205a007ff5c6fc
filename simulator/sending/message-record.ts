/**
 * One accepted message. Its body is kept as text, which is smaller than the object, and parsed only when it is shown.
 */
export interface SentMessage {
  id: string
  phone_number_id: string
  /** The recipient in digits, or the user id, or the id of the group. */
  to: string
  /** The recipient's network id; null for sends by user id and to groups. */
  wa_id: string | null
  /** The id of the group that it was sent to. */
  group_id?: string
  /** The user id of the number, if an inbound message contained one. */
  user_id?: string
  type: string
  payload: string
  /** Milliseconds since the epoch. */
  accepted_at: number
  /** The statuses that the service has accepted so far, in order. */
  statuses: string[]
}

/** The newest accepted messages, up to a fixed number, and the numbers of accepted and refused sends. */
export class MessageRecord {
  readonly #capacity: number
  #ring: SentMessage[] = []
  #written = 0
  accepted = 0
  refused = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(message: SentMessage): void {
    this.#ring[this.#written % this.#capacity] = message
    this.#written += 1
  }

  /** Returns the number of matching messages, and the newest `limit` of them, newest last. */
  find(matches: (message: SentMessage) => boolean, limit: number): { total: number; messages: SentMessage[] } {
    const found = this.#oldestFirst().filter(matches)
    return { total: found.length, messages: found.slice(Math.max(0, found.length - limit)) }
  }

  reset(): void {
    this.#ring = []
    this.#written = 0
    this.accepted = 0
    this.refused = 0
  }

  #oldestFirst(): SentMessage[] {
    const start = this.#written % this.#capacity
    if (this.#written <= this.#capacity) return this.#ring
    return [...this.#ring.slice(start), ...this.#ring.slice(0, start)]
  }
}
