import type { Context } from '../../../context.js'
import { isDatabaseUnavailable } from '../../../database/errors.js'
import { createSteps } from '../../../lib/async/steps.js'
import { readTraceparent } from '../../../lib/http/trace-context.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import type { Span } from '../../../lib/tracer.js'
import { releaseCallbacks, type TakenCallbacks, takeCallbacks } from '../../../storage/messages/callbacks.js'
import { type ReadCallback, readItems } from './items.js'
import { recordBatch } from './record-batch.js'
import { processOneByOne, retrySetAside, setAsideFollowing } from './set-aside.js'

const MAX_CALLBACKS = 100
const MAX_BYTES = 4 * MEBIBYTE
/** The maximum number of items of a batch, unless its first callback has more: one may have a thousand. */
const MAX_ITEMS = 500

/** How a turn ended. `taken`: another process holds the lock; `more`: callbacks may still be waiting. */
export type TurnEnd = 'taken' | 'more' | 'idle'

/**
 * Processes the first waiting callbacks of an organization, and set-aside ones that are due, unless another process
 * holds the lock. Callbacks that name the same people or messages are completed in the order of their arrival. Ends
 * early when `mayGoOn` returns false. Throws if the database is unavailable; then nothing is lost.
 */
export function takeTurn(ctx: Context, organizationId: string, mayGoOn: () => boolean): Promise<TurnEnd> {
  // Everything runs on the connection that holds the lock: once the lock is lost, nothing more is recorded.
  return ctx.database.session(async (session) => {
    const taken = await takeCallbacks(session, organizationId, MAX_CALLBACKS, MAX_BYTES)
    if (taken === null) return 'taken'
    const span = startSpan(ctx, organizationId, taken)
    const isDone = await processTaken({ ...ctx, database: session }, organizationId, taken, mayGoOn).finally(() =>
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
async function processTaken(
  ctx: Context,
  organizationId: string,
  { callbacks, hasSetAside }: TakenCallbacks,
  mayGoOn: () => boolean,
): Promise<boolean> {
  const batch = await readBatch(callbacks)
  const free = hasSetAside ? await setAsideFollowing(ctx, organizationId, batch) : batch
  const left = await tryToRecord(ctx, organizationId, free)
  if (left === null || !(await processOneByOne(ctx, organizationId, left, mayGoOn))) return false
  if (hasSetAside && !(await retrySetAside(ctx, organizationId, mayGoOn))) return false
  const bytes = callbacks.reduce((sum, { body }) => sum + body.length, 0)
  return batch.length === callbacks.length && callbacks.length < MAX_CALLBACKS && bytes < MAX_BYTES
}

/** The first callbacks, with at most MAX_ITEMS items together; at least one callback. */
async function readBatch([first, ...others]: TakenCallbacks['callbacks']): Promise<ReadCallback[]> {
  if (first === undefined) return []
  const step = createSteps()
  const batch = [readItems(first)]
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
