import type { Context } from '../../../context.js'
import { sleep } from '../../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import { NIL_UUID } from '../../../lib/bytes/id.js'
import { listWaitingOrganizations } from '../../../storage/messages/callbacks.js'
import { takeTurn } from './turn.js'

/** Works off the stored callbacks of all organizations, each organization in one process at a time. */
export interface CallbackQueue {
  /** These organizations have new callbacks. */
  wake(organizationIds: readonly string[]): void
  start(): void
  /** Lets the turns of this moment end; what is left waits for another process. */
  stop(): Promise<void>
  /** Works off everything that waits or is due; for tests, in which the queue does not start. */
  drain(): Promise<void>
}

/** How many organizations are worked on at the same time; each takes a database connection. */
const PLACES = 4
/** How long callbacks are processed one by one before other organizations have their turn. */
const TURN_MS = 1_000
/** How often the queue looks for callbacks that it was not told of: of a dead process, or due for another attempt. */
const POLL_MS = 1_000
const MAX_FOUND = 500
/** How long `drain` waits for another process that works on an organization. */
const TAKEN_PAUSE_MS = 10

/**
 * Creates the queue of callbacks of this process. Organizations have turns of one batch each, one after the other, so
 * that none waits for the backlog of another.
 */
export function createCallbackQueue(ctx: Context): CallbackQueue {
  /** The organizations that wait for their turn, in order. */
  const waiting = new Set<string>()
  /** Those that have their turn now, and whether they were woken meanwhile. */
  const running = new Map<string, { isWoken: boolean; turn: Promise<void> }>()
  let isStopping = false
  let isTelling = false
  let polling: Loop | null = null
  let unsubscribe = () => {}

  function wake(organizationIds: readonly string[]): void {
    for (const id of organizationIds) {
      const turn = running.get(id)
      if (turn) turn.isWoken = true
      else waiting.add(id)
    }
    fillPlaces()
  }

  function fillPlaces(): void {
    for (const id of waiting) {
      if (isStopping || running.size >= PLACES) return
      waiting.delete(id)
      running.set(id, { isWoken: false, turn: run(id) })
    }
  }

  async function run(id: string): Promise<void> {
    // The entry of `running` is made first.
    await null
    const until = Date.now() + TURN_MS
    const end = await takeTurn(ctx, id, () => !isStopping && Date.now() < until).catch((error: unknown) => {
      // The next poll finds what is left.
      ctx.log.warn({ err: error, organizationId: id }, 'callbacks could not be worked off; trying again')
      return null
    })
    const isWoken = running.get(id)?.isWoken === true
    running.delete(id)
    if (end === 'taken') tellHolder(id)
    else if (end === 'more' || isWoken) waiting.add(id)
    fillPlaces()
  }

  /** The process that works on the organization may have read its callbacks before the newest one was stored. */
  function tellHolder(id: string): void {
    isTelling = true
    ctx.notifications.send({ topic: 'callbacks', organizationIds: [id] })
    isTelling = false
  }

  let after = NIL_UUID
  async function poll(): Promise<boolean> {
    const found = await listWaitingOrganizations(ctx.database, after, ctx.clock(), MAX_FOUND)
    after = found.length < MAX_FOUND ? NIL_UUID : (found.at(-1) ?? NIL_UUID)
    wake(found)
    return false
  }

  async function drain(): Promise<void> {
    for (;;) {
      const found = await listWaitingOrganizations(ctx.database, NIL_UUID, ctx.clock(), MAX_FOUND)
      if (found.length === 0) return
      for (const id of found) {
        if ((await takeTurn(ctx, id, () => true)) === 'taken') await sleep(TAKEN_PAUSE_MS)
      }
    }
  }

  return {
    wake,
    drain,
    start: () => {
      unsubscribe = ctx.notifications.listen((notification) => {
        if (notification.topic === 'missed') polling?.wake()
        if (notification.topic !== 'callbacks' || isTelling) return
        if (notification.organizationIds === null) polling?.wake()
        else wake(notification.organizationIds)
      })
      polling = startLoop({
        round: poll,
        pauseMs: () => POLL_MS,
        onFailure: (error) => ctx.log.warn({ err: error }, 'waiting callbacks could not be looked for; trying again'),
      })
    },
    stop: async () => {
      isStopping = true
      unsubscribe()
      await polling?.stop()
      await Promise.all(Array.from(running.values(), ({ turn }) => turn))
    },
  }
}
