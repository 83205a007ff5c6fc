import type { WorkContext } from '../../../context.js'
import { createSemaphore } from '../../../lib/async/semaphore.js'
import { withTimeout } from '../../../lib/async/timeout.js'
import { releaseDeliveries } from '../../../storage/webhooks/deliveries.js'
import { type AttemptContext, createAttempter } from './attempt.js'
import { Claims } from './claim.js'
import { FanOut } from './fan-out.js'
import { InFlight, type WebhookFigures } from './in-flight.js'
import { KnownEndpoints } from './known-endpoints.js'
import { createRecorder } from './record.js'

export type { WebhookFigures } from './in-flight.js'

/** Delivers events to webhooks. */
export interface Dispatcher {
  start(): void
  /** Lets deliveries in flight end for a while, and aborts the rest; other processes repeat these. */
  stop(): Promise<void>
  /** For tests, instead of start: delivers everything that is due and returns. */
  drain(): Promise<void>
  figures(): WebhookFigures
}

export type DispatcherContext = AttemptContext &
  Pick<WorkContext, 'database' | 'processId' | 'notifications' | 'purpose'>

/** How long a stop waits for attempts, and then for their results to be recorded. */
const GRACE_MS = 5_000
const LAST_MS = 2_000

/**
 * Creates the dispatcher of a process: events are fanned out to deliveries, due deliveries are claimed and attempted,
 * and the attempts are recorded. Every state is in the database before anything follows from it, so memory may be lost
 * at any moment.
 */
export function createDispatcher(ctx: DispatcherContext): Dispatcher {
  const givesUp = new AbortController()
  const oneAtATime = createSemaphore(1)
  const endpoints = new KnownEndpoints()
  const flight: InFlight = new InFlight({
    clock: ctx.clock,
    endpoints,
    attempt: createAttempter(ctx),
    record: (ended) => record(ended),
    release: async (deliveries) => {
      if (deliveries.length === 0) return
      // A claim that is not ended is taken for lost after a while.
      await releaseDeliveries(ctx.database, ctx.processId, deliveries).catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'claims of webhook deliveries could not be ended'),
      )
    },
    onFree: () => claims.wake(),
  })
  const claims = new Claims(ctx, { flight, endpoints })
  const fanOut = new FanOut(ctx, { endpoints, claims, oneAtATime })
  const record = createRecorder(ctx, { claims, oneAtATime, signal: givesUp.signal })
  let stopListening = () => {}

  return {
    start: () => {
      stopListening = ctx.notifications.listen((notification) => {
        fanOut.onNotification(notification)
        claims.onNotification(notification)
      })
      fanOut.start()
      claims.start()
    },
    stop: async () => {
      stopListening()
      const closing = flight.close(GRACE_MS)
      await Promise.all([fanOut.stop(), claims.stop()])
      await withTimeout(closing, GRACE_MS + LAST_MS)
      givesUp.abort()
      await closing
    },
    drain: async () => {
      // An attempt that has ended may have raised events, and made deliveries due.
      for (let before = -1, isFanned = false; !isFanned || before !== ended(flight.figures); ) {
        before = ended(flight.figures)
        isFanned = await fanOut.run()
        await claims.run()
        await flight.settle()
      }
    },
    figures: () => flight.figures,
  }
}

/** The number of attempts that have ended. */
const ended = ({ delivered, failed }: WebhookFigures) => delivered + failed
