import type { WorkContext } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { listWaitingOrganizations } from '../../storage/callbacks/callbacks.js'
import type { Progress } from './record.js'
import { takeTurn } from './turn.js'

/** How many turns run at the same time; each takes a database connection. */
const PLACES = 4
/** A turn that records items one by one ends after this time, so that other organizations get turns. */
const TURN_MS = 1_000
/**
 * How often the queue polls for callbacks: those of a dead process, those whose notification was lost, and set-aside
 * ones that are due for another attempt.
 */
const POLL_MS = 1_000
/**
 * The pause of an organization between two turns, unless callbacks are left over. So callbacks that arrive at about the
 * same time share a batch: the statements of a batch of one cost as much as those of a batch of ten.
 */
const REST_MS = 10
/** The maximum number of organizations that a poll finds. */
const MAX_FOUND = 500
/** The pause of `drain` while another process holds the lock of an organization. */
const TAKEN_PAUSE_MS = 10

/**
 * Processes the stored callbacks of all organizations, those of one organization in one process at a time.
 * Organizations get turns of one batch each, round robin, so that none waits for the backlog of another.
 */
export class CallbackQueue {
  readonly #ctx: WorkContext
  /** The organizations that wait for their turn, in order. */
  readonly #waiting = new Set<string>()
  /** The turns that are running or resting, by organization, and whether the organization was woken meanwhile. */
  readonly #running = new Map<string, { isWoken: boolean; turn: Promise<void> }>()
  /** The organizations with callbacks that this process has stored since their last turn began. */
  readonly #stored = new Set<string>()
  /** By organization: the recorded items of callbacks that the last turn has left. */
  readonly #recorded = new Map<string, Progress['recorded']>()
  /** The number of turns that are running. */
  #taken = 0
  #isStopping = false
  #isNotifying = false
  #polling: Loop | null = null
  /** Where the next poll begins: after the last organization found, if the poll before did not find all. */
  #polledTo = NIL_UUID
  #unsubscribe = () => {}

  constructor(ctx: WorkContext) {
    this.#ctx = ctx
  }

  start(): void {
    const { notifications, log } = this.#ctx
    this.#unsubscribe = notifications.listen((notification) => {
      if (notification.topic === 'missed') this.#polling?.wake()
      if (notification.topic !== 'callbacks' || this.#isNotifying) return
      if (notification.organizationIds === null) this.#polling?.wake()
      else this.#schedule(notification.organizationIds)
    })
    this.#polling = startLoop({
      round: () => this.#poll(),
      pauseMs: () => POLL_MS,
      onFailure: (error) => log.warn({ err: error }, 'polling for waiting callbacks failed and is retried'),
    })
  }

  /** Lets the running turns end; what is left waits for another process. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#unsubscribe()
    await this.#polling?.stop()
    await Promise.all(Array.from(this.#running.values(), ({ turn }) => turn))
  }

  /** Gives turns to these organizations, for which this process has stored callbacks. */
  wake(organizationIds: readonly string[]): void {
    for (const id of organizationIds) this.#stored.add(id)
    this.#schedule(organizationIds)
  }

  /** Processes everything that is waiting or due; for tests, in which the queue is not started. */
  async drain(): Promise<void> {
    const { database, clock } = this.#ctx
    for (;;) {
      const found = await listWaitingOrganizations(database, NIL_UUID, clock(), MAX_FOUND)
      if (found.length === 0) return
      for (const id of found) {
        if ((await takeTurn(this.#ctx, id, { mayGoOn: () => true, recorded: new Map() })) === 'taken')
          await sleep(TAKEN_PAUSE_MS)
      }
    }
  }

  #schedule(organizationIds: readonly string[]): void {
    for (const id of organizationIds) {
      const turn = this.#running.get(id)
      if (turn) turn.isWoken = true
      else this.#waiting.add(id)
    }
    this.#fillPlaces()
  }

  #fillPlaces(): void {
    for (const id of this.#waiting) {
      if (this.#isStopping || this.#taken >= PLACES) return
      this.#waiting.delete(id)
      this.#taken += 1
      this.#running.set(id, { isWoken: false, turn: this.#run(id) })
    }
  }

  async #run(id: string): Promise<void> {
    // Lets the caller add this turn to `#running` first.
    await null
    const hasStored = this.#stored.delete(id)
    const leftMs = startCountdown(TURN_MS)
    const mayGoOn = () => !this.#isStopping && leftMs() > 0
    const recorded = this.#recorded.get(id) ?? new Map<string, Set<number>>()
    const end = await takeTurn(this.#ctx, id, { mayGoOn, recorded }).catch((error: unknown) => {
      // The next poll finds what is left.
      this.#ctx.log.warn({ err: error, organizationId: id }, 'callbacks could not be processed; they are retried')
      return null
    })
    if (end === 'more' && recorded.size > 0) this.#recorded.set(id, recorded)
    else this.#recorded.delete(id)
    this.#taken -= 1
    this.#fillPlaces()
    if (end === 'taken' && (this.#stored.delete(id) || hasStored)) this.#notifyHolder(id)
    if (end !== 'more') await sleep(REST_MS)
    const isWoken = this.#running.get(id)?.isWoken === true
    this.#running.delete(id)
    if (end === 'more' || isWoken) this.#schedule([id])
  }

  /**
   * The process that holds the lock may have read its batch before this one stored its callbacks. A process that stored
   * none sends no notification: otherwise the processes would notify each other until the turn ends.
   */
  #notifyHolder(id: string): void {
    this.#isNotifying = true
    this.#ctx.notifications.send({ topic: 'callbacks', organizationIds: [id] })
    this.#isNotifying = false
  }

  async #poll(): Promise<boolean> {
    const { database, clock } = this.#ctx
    const found = await listWaitingOrganizations(database, this.#polledTo, clock(), MAX_FOUND)
    this.#polledTo = found.length < MAX_FOUND ? NIL_UUID : (found.at(-1) ?? NIL_UUID)
    this.#schedule(found)
    return false
  }
}
