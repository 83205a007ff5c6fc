import type { DeviceAnswer } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { withTimeout } from '../../../lib/async/timeout.js'
import type { Notification } from '../../../model/notification.js'
import { type TakenAnswer, takeAnswers } from '../../../storage/instances/commands.js'
import { decryptFromProcess } from './encrypted-command.js'

interface Waiter {
  organizationId: string
  id: string
  take(answer: DeviceAnswer): void
}

/** How soon an answer is found if its notification was lost. */
const POLL_MS = 250

/** Waits for answers of other processes. Reads all awaited answers with one query, on notifications and regularly. */
export class CommandAnswers {
  readonly #ctx: Pick<Context, 'database' | 'notifications' | 'secrets' | 'log'>
  readonly #waiting = new Map<string, Waiter>()
  #reading: Promise<void> | null = null
  #isListening = false
  #isPolling = false
  #isNotified = false
  #endNap = () => {}

  constructor(ctx: Pick<Context, 'database' | 'notifications' | 'secrets' | 'log'>) {
    this.#ctx = ctx
  }

  /** The answer to a command, which is then deleted; null if there is none within `timeoutMs`. */
  async wait(organizationId: string, id: string, timeoutMs: number): Promise<DeviceAnswer | null> {
    this.#listen()
    let answer: DeviceAnswer | null = null
    const taken = new Promise<void>((resolve) => {
      const take = (given: DeviceAnswer) => {
        answer = given
        resolve()
      }
      this.#waiting.set(id, { organizationId, id, take })
    })
    if (!this.#isPolling) void this.#poll()
    await withTimeout(taken, timeoutMs)
    // A read in progress may have taken the answer from the table.
    if (answer === null) await this.#reading
    this.#waiting.delete(id)
    return answer
  }

  #listen(): void {
    if (this.#isListening) return
    this.#ctx.notifications.listen((notification) => this.#onNotification(notification))
    this.#isListening = true
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      this.#isNotified = false
      this.#reading = this.#readAnswers()
      await this.#reading
      this.#reading = null
      if (!this.#isNotified) await this.#nap()
    }
    this.#isPolling = false
  }

  async #readAnswers(): Promise<void> {
    try {
      for (const taken of await takeAnswers(this.#ctx.database, [...this.#waiting.values()])) {
        this.#waiting.get(taken.id)?.take(this.#open(taken))
        this.#waiting.delete(taken.id)
      }
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'answers of linked devices could not be read; trying again')
    }
  }

  /** One unreadable answer must not lose the others, which are already deleted from the table. */
  #open({ organization_id: organizationId, id, answer }: TakenAnswer): DeviceAnswer {
    try {
      return decryptFromProcess<DeviceAnswer>(this.#ctx.secrets, organizationId, answer)
    } catch (error) {
      this.#ctx.log.warn({ err: error, organizationId, id }, 'the answer of a linked device could not be decrypted')
      return { outcome: 'unknown', text: 'the answer of the process that runs this instance could not be read' }
    }
  }

  #nap(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      this.#endNap = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #onNotification(notification: Notification): void {
    if (notification.topic !== 'commands' && notification.topic !== 'missed') return
    const organizationIds = notification.topic === 'commands' ? notification.organizationIds : null
    const isConcerned = [...this.#waiting.values()].some(
      ({ organizationId }) => organizationIds === null || organizationIds.includes(organizationId),
    )
    if (!isConcerned) return
    this.#isNotified = true
    this.#endNap()
  }
}
