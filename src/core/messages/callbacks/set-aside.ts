import type { Context } from '../../../context.js'
import { isDatabaseUnavailable } from '../../../database/errors.js'
import { retryOnDeadlock } from '../../../database/retry.js'
import { backoffDelay } from '../../../lib/async/backoff.js'
import { completeCallbacks } from '../../../storage/messages/callbacks.js'
import {
  completeSetAsideCallback,
  failSetAsideCallback,
  findDueCallback,
  findSetAsideKeys,
  setCallbackAside,
} from '../../../storage/messages/set-aside-callbacks.js'
import { type ReadCallback, readItems } from './items.js'
import { processCallback } from './process-callback.js'

/** The last attempt is made after about 15 minutes: the waits between attempts are 7 s, 14 s, 28 s and so on. */
const MAX_ATTEMPTS = 8
const RETRY = { baseMs: 7_000, maxMs: 10 * 60_000, jitter: 0 }

const MAX_ERROR_LENGTH = 500

/**
 * Processes callbacks one by one. One that fails is set aside, and so are later ones that name the same people or
 * messages. Resolves to false if it ended early because `mayGoOn` returned false; the others are still waiting. Throws
 * only if the database is unavailable.
 */
export async function processOneByOne(
  ctx: Context,
  organizationId: string,
  callbacks: readonly ReadCallback[],
  mayGoOn: () => boolean,
): Promise<boolean> {
  const failedKeys = new Set<string>()
  for (const read of callbacks) {
    if (!mayGoOn()) return false
    const { id } = read.callback
    const follows = read.keys.some((key) => failedKeys.has(key))
    const error = follows ? null : await tryToProcess(ctx, organizationId, read)
    if (!follows && error === null) {
      await completeCallbacks(ctx.database, organizationId, [id])
      continue
    }
    for (const key of read.keys) failedKeys.add(key)
    const failed = error === null ? null : { attempts: 1, error, runAt: nextAttemptAt(ctx, 1) }
    await setCallbackAside(ctx.database, organizationId, id, read.keys, failed)
  }
  return true
}

/** Sets aside the callbacks that name the same people or messages as set-aside ones; resolves to the others. */
export async function setAsideFollowing(
  ctx: Context,
  organizationId: string,
  callbacks: readonly ReadCallback[],
): Promise<ReadCallback[]> {
  const keys = callbacks.flatMap((read) => read.keys)
  const blocked = await findSetAsideKeys(ctx.database, organizationId, keys)
  const free: ReadCallback[] = []
  for (const read of callbacks) {
    if (!read.keys.some((key) => blocked.has(key))) {
      free.push(read)
      continue
    }
    for (const key of read.keys) blocked.add(key)
    await setCallbackAside(ctx.database, organizationId, read.callback.id, read.keys, null)
  }
  return free
}

/** Retries the set-aside callbacks that are due; resolves to false if it ended early as `mayGoOn` returned false. */
export async function retrySetAside(ctx: Context, organizationId: string, mayGoOn: () => boolean): Promise<boolean> {
  for (;;) {
    const due = await findDueCallback(ctx.database, organizationId, ctx.clock())
    if (due === null) return true
    const { id } = due.callback
    const error = await tryToProcess(ctx, organizationId, readItems(due.callback))
    if (error === null) await completeSetAsideCallback(ctx.database, organizationId, id, ctx.clock())
    else {
      const attempts = due.attempts + 1
      const isLast = attempts >= MAX_ATTEMPTS
      const failed = { attempts, error, runAt: isLast ? null : nextAttemptAt(ctx, attempts) }
      await failSetAsideCallback(ctx.database, organizationId, id, failed, ctx.clock())
      if (isLast) ctx.log.error({ organizationId, callbackId: id }, 'a callback failed on its last attempt')
    }
    if (!mayGoOn()) return false
  }
}

function nextAttemptAt(ctx: Context, attempts: number): Date {
  return new Date(ctx.clock().getTime() + backoffDelay(attempts, RETRY))
}

/** Resolves to the error's text, or null. Throws if the database is unavailable: then the callback has not failed. */
async function tryToProcess(ctx: Context, organizationId: string, read: ReadCallback): Promise<string | null> {
  try {
    await retryOnDeadlock(() => processCallback(ctx, organizationId, read))
    return null
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    ctx.log.warn({ err: error, organizationId, callbackId: read.callback.id }, 'a callback failed and will be retried')
    return String((error as Error).message).slice(0, MAX_ERROR_LENGTH)
  }
}
