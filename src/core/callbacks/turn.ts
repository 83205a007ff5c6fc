import type { Context } from '../../context.js'
import { isDatabaseUnavailable } from '../../database/errors.js'
import { createSteps } from '../../lib/async/steps.js'
import { readTraceparent } from '../../lib/http/trace-context.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { Span } from '../../lib/tracer.js'
import {
  correctDeaths,
  releaseCallbacks,
  type TakenCallbacks,
  takeCallbacks,
} from '../../storage/callbacks/callbacks.js'
import { type ReadCallback, readItems } from './items.js'
import type { Pace } from './process-callback.js'
import { recordBatch } from './record-batch.js'
import { processOneByOne, retrySetAside, setAsideDeadly, setAsideFollowing } from './set-aside.js'

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
export function takeTurn(ctx: Context, organizationId: string, pace: Pace): Promise<TurnEnd> {
  // Everything runs on the connection that holds the lock: once the lock is lost, nothing more is recorded.
  return ctx.database.session(async (session) => {
    const taken = await takeCallbacks(session, organizationId, ctx.processId, LIMITS)
    if (taken === null) return 'taken'
    const span = startSpan(ctx, organizationId, taken)
    const isDone = await processTaken({ ...ctx, database: session }, organizationId, taken, pace).finally(() =>
      span?.end(),
    )
    await releaseCallbacks(session, organizationId)
    return isDone ? 'idle' : 'more'
  })
}

/** The span of a batch, in the trace of its first callback that has one; null if it is not recorded. */
function startSpan({ tracer }: Context, organizationId: string, { callbacks }: TakenCallbacks): Span | null {
  if (tracer === null || callbacks.length === 0) return null
  const traced = callbacks.find(({ traceparent }) => traceparent !== null)
  const parent = readTraceparent(traced?.traceparent)
  if (!tracer.samples(parent)) return null
  const fields = { 'parley.organization_id': organizationId, 'parley.callbacks': callbacks.length }
  return tracer.begin('process callbacks', parent, 'internal', fields)
}

/** Resolves to false if callbacks may still be waiting. */
async function processTaken(ctx: Context, organizationId: string, taken: TakenCallbacks, pace: Pace): Promise<boolean> {
  const { callbacks, hasSetAside } = taken
  if (taken.deaths >= DEATHS_BEFORE_ALONE) return processAlone(ctx, organizationId, taken, pace)
  const batch = await readBatch(callbacks, pace)
  const free = hasSetAside ? await setAsideFollowing(ctx, organizationId, batch) : batch
  // The items before those that are left of a large callback are recorded.
  const isContinued = pace.recorded.has(callbacks[0]?.id ?? '')
  const left = isContinued ? free : await tryToRecord(ctx, organizationId, free)
  if (left === null || !(await processOneByOne(ctx, organizationId, left, pace))) return false
  if (hasSetAside && !(await retrySetAside(ctx, organizationId, pace))) return false
  const bytes = callbacks.reduce((sum, { body }) => sum + body.length, 0)
  return batch.length === callbacks.length && callbacks.length < LIMITS.limit && bytes < LIMITS.bytes
}

/**
 * Processes the callbacks one after the other: the next is read only when the one before is done, so that the first of
 * those that are left is the one with which a process dies. Resolves to false: others may be waiting.
 */
async function processAlone(
  ctx: Context,
  organizationId: string,
  { callbacks, deaths, suspects }: TakenCallbacks,
  pace: Pace,
): Promise<false> {
  const deadly = deaths > DEATHS_BEFORE_ALONE ? callbacks.find(({ id }) => suspects.includes(id)) : undefined
  if (deadly) await setAsideDeadly(ctx, organizationId, deadly.id, deaths)
  await correctDeaths(ctx.database, organizationId, DEATHS_BEFORE_ALONE)
  for (const callback of callbacks) {
    if (callback === deadly) continue
    const read = readItems(callback)
    const free = await setAsideFollowing(ctx, organizationId, [read])
    if (!(await processOneByOne(ctx, organizationId, free, pace)) || !pace.mayGoOn()) break
  }
  return false
}

/** The first callbacks, with at most MAX_ITEMS items together; at least one callback, and only one that is continued. */
async function readBatch([first, ...others]: TakenCallbacks['callbacks'], pace: Pace): Promise<ReadCallback[]> {
  if (first === undefined) return []
  const step = createSteps()
  const batch = [readItems(first)]
  if (pace.recorded.has(first.id)) return batch
  let items = batch[0]?.items.length ?? 0
  for (const callback of others) {
    await step()
    const read = readItems(callback)
    items += read.items.length
    if (items > MAX_ITEMS) break
    batch.push(read)
  }
  return batch
}

/** The callbacks that are left to be processed one by one: all of them if the batch failed; null as of recordBatch. */
async function tryToRecord(
  ctx: Context,
  organizationId: string,
  callbacks: readonly ReadCallback[],
): Promise<readonly ReadCallback[] | null> {
  try {
    return await recordBatch(ctx, organizationId, callbacks)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    return callbacks
  }
}
