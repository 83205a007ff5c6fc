import type { TurnContext, WorkContext } from '../../context.js'
import { isDatabaseUnavailable } from '../../database/errors.js'
import type { Database } from '../../database/pool.js'
import { createSteps } from '../../lib/async/steps.js'
import { readTraceparent } from '../../lib/http/trace-context.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { Span } from '../../lib/tracer.js'
import {
  completeCallbacks,
  correctDeaths,
  releaseCallbacks,
  type TakenCallbacks,
  takeCallbacks,
} from '../../storage/callbacks/callbacks.js'
import { noteCallbacksOf } from '../../storage/numbers/number-states.js'
import { type ReadCallback, readItems } from './items.js'
import { type Progress, recordCallbacks } from './record.js'
import { recordOneByOne, retrySetAside, setAsideDeadly, setAsideFollowing } from './set-aside.js'

const LIMITS = { limit: 100, bytes: 4 * MEBIBYTE }
/** The maximum number of items of a batch, unless its first callback has more: one may have a thousand. */
const MAX_ITEMS = 500

/** After so many deaths in a row, callbacks are processed alone; one that a process dies with alone is set aside. */
const DEATHS_BEFORE_ALONE = 2

/** How a turn ended. `taken`: another process holds the lock; `more`: callbacks may still be waiting. */
export type TurnEnd = 'taken' | 'more' | 'idle'

/**
 * Processes the first waiting callbacks of an organization, and set-aside ones that are due, unless another process
 * holds the lock. Callbacks that name the same people or messages are completed in the order of their arrival. Ends
 * early when the time is over. Throws if the database is unavailable; then nothing is lost.
 */
export function takeTurn(ctx: WorkContext, organizationId: string, progress: Progress): Promise<TurnEnd> {
  // Everything runs on the connection that holds the lock: once the lock is lost, nothing more is recorded.
  return ctx.database.session(async (session) => {
    const taken = await takeCallbacks(session, organizationId, ctx.processId, LIMITS)
    if (taken === null) return 'taken'
    const span = startSpan(ctx, organizationId, taken)
    const turn = processTaken(turnContextOf(ctx, session), organizationId, taken, progress)
    const isDone = await turn.finally(() => span?.end())
    await releaseCallbacks(session, organizationId)
    return isDone ? 'idle' : 'more'
  })
}

function turnContextOf({ clock, log, notifications, processId }: WorkContext, session: Database): TurnContext {
  return { database: session, clock, log, notifications, processId, purpose: 'turn' }
}

/** The span of a batch, in the trace of its first callback that has one; null if it is not recorded. */
function startSpan({ tracer }: WorkContext, organizationId: string, { callbacks }: TakenCallbacks): Span | null {
  if (tracer === null || callbacks.length === 0) return null
  const traced = callbacks.find(({ traceparent }) => traceparent !== null)
  const parent = readTraceparent(traced?.traceparent)
  if (!tracer.samples(parent)) return null
  const fields = { 'parley.organization_id': organizationId, 'parley.callbacks': callbacks.length }
  return tracer.begin('process callbacks', parent, 'internal', fields)
}

/** Resolves to false if callbacks may still be waiting. */
async function processTaken(
  ctx: TurnContext,
  organizationId: string,
  taken: TakenCallbacks,
  progress: Progress,
): Promise<boolean> {
  const { callbacks, hasSetAside } = taken
  if (taken.deaths >= DEATHS_BEFORE_ALONE) return processAlone(ctx, organizationId, taken, progress)
  const batch = await readBatch(callbacks)
  const free = hasSetAside ? await setAsideFollowing(ctx, organizationId, batch) : batch
  if (!(await recordBatch(ctx, organizationId, free, progress))) return false
  await noteNumbers(ctx, organizationId, batch)
  if (hasSetAside && !(await retrySetAside(ctx, organizationId, progress))) return false
  const bytes = callbacks.reduce((sum, { body }) => sum + body.length, 0)
  return batch.length === callbacks.length && callbacks.length < LIMITS.limit && bytes < LIMITS.bytes
}

/**
 * Processes the callbacks one after the other: the next is read only when the one before is done, so that the first of
 * those that are left is the one with which a process dies. Resolves to false: others may be waiting.
 */
async function processAlone(
  ctx: TurnContext,
  organizationId: string,
  { callbacks, deaths, suspects }: TakenCallbacks,
  progress: Progress,
): Promise<false> {
  const deadly = deaths > DEATHS_BEFORE_ALONE ? callbacks.find(({ id }) => suspects.includes(id)) : undefined
  if (deadly) await setAsideDeadly(ctx, organizationId, deadly.id, deaths)
  await correctDeaths(ctx.database, organizationId, DEATHS_BEFORE_ALONE)
  for (const callback of callbacks) {
    if (callback === deadly) continue
    const read = readItems(callback)
    const free = await setAsideFollowing(ctx, organizationId, [read])
    if (!(await recordOneByOne(ctx, organizationId, free, progress)) || !progress.mayGoOn()) break
  }
  return false
}

/** Notes that callbacks of these numbers come, which shows that a number stays connected. */
async function noteNumbers(ctx: TurnContext, organizationId: string, batch: readonly ReadCallback[]): Promise<void> {
  const numbers = [...new Set(batch.flatMap((read) => read.numbers))]
  await noteCallbacksOf(ctx.database, organizationId, numbers, ctx.clock())
}

/** The first callbacks, with at most MAX_ITEMS items together; at least one callback. */
async function readBatch(callbacks: TakenCallbacks['callbacks']): Promise<ReadCallback[]> {
  const step = createSteps()
  const batch: ReadCallback[] = []
  let items = 0
  for (const callback of callbacks) {
    await step()
    const read = readItems(callback)
    items += read.items.length
    if (items > MAX_ITEMS && batch.length > 0) break
    batch.push(read)
  }
  return batch
}

/** Records the callbacks together; one by one if that fails. Resolves to false if some are still waiting. */
async function recordBatch(
  ctx: TurnContext,
  organizationId: string,
  callbacks: readonly ReadCallback[],
  progress: Progress,
): Promise<boolean> {
  if (callbacks.length === 0) return true
  try {
    const done = (await recordCallbacks(ctx, organizationId, callbacks, progress)).map(({ callback }) => callback.id)
    const completed = await completeCallbacks(ctx.database, organizationId, done)
    // Fewer if another process has completed some of them: they were read before the lock was free.
    return completed === callbacks.length
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    return recordOneByOne(ctx, organizationId, callbacks, progress)
  }
}
