import type { Context } from '../../../context.js'
import { isDatabaseUnavailable } from '../../../database/errors.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { releaseCallbacks, type TakenCallbacks, takeCallbacks } from '../../../storage/messages/callbacks.js'
import { type ReadCallback, readItems } from './items.js'
import { recordBatch } from './record-batch.js'
import { processOneByOne, retrySetAside, setAsideFollowing } from './set-aside.js'

const MAX_CALLBACKS = 100
const MAX_BYTES = 4 * MEBIBYTE
/** A callback may hold a thousand items. */
const MAX_ITEMS = 500

/** How a turn ended. `taken`: another process works on the organization; `more`: something may still be waiting. */
export type TurnEnd = 'taken' | 'more' | 'idle'

/**
 * Works on the first waiting callbacks of an organization, and on those that are set aside and due, unless another
 * process does. Callbacks are completed in the order of their arrival as far as they name the same people or messages.
 * Ends early when `mayGoOn` does not hold. Throws if the database is unavailable; then nothing is lost.
 */
export function takeTurn(ctx: Context, organizationId: string, mayGoOn: () => boolean): Promise<TurnEnd> {
  // Everything runs on the connection that holds the lock: once it is lost, nothing more is recorded.
  return ctx.database.session(async (session) => {
    const taken = await takeCallbacks(session, organizationId, MAX_CALLBACKS, MAX_BYTES)
    if (taken === null) return 'taken'
    const isDone = await workOff({ ...ctx, database: session }, organizationId, taken, mayGoOn)
    await releaseCallbacks(session, organizationId)
    return isDone ? 'idle' : 'more'
  })
}

/** Resolves to false if something may still be waiting. */
async function workOff(
  ctx: Context,
  organizationId: string,
  { callbacks, hasSetAside }: TakenCallbacks,
  mayGoOn: () => boolean,
): Promise<boolean> {
  const batch = readBatch(callbacks)
  const free = hasSetAside ? await setAsideFollowing(ctx, organizationId, batch) : batch
  const left = await tryToRecord(ctx, organizationId, free)
  if (left === null || !(await processOneByOne(ctx, organizationId, left, mayGoOn))) return false
  if (hasSetAside && !(await retrySetAside(ctx, organizationId, mayGoOn))) return false
  const bytes = callbacks.reduce((sum, { body }) => sum + body.length, 0)
  return batch.length === callbacks.length && callbacks.length < MAX_CALLBACKS && bytes < MAX_BYTES
}

/** The first callbacks, with MAX_ITEMS items at most; at least one. */
function readBatch([first, ...others]: TakenCallbacks['callbacks']): ReadCallback[] {
  if (first === undefined) return []
  const batch = [readItems(first)]
  let items = batch[0]?.items.length ?? 0
  for (const callback of others) {
    const read = readItems(callback)
    items += read.items.length
    if (items > MAX_ITEMS) break
    batch.push(read)
  }
  return batch
}

/** The callbacks that are left for one by one: all, if they could not be recorded together. */
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
