import type { TurnContext } from '../../context.js'
import { isDatabaseUnavailable } from '../../database/errors.js'
import { backoffDelay } from '../../lib/async/backoff.js'
import { completeCallbacks } from '../../storage/callbacks/callbacks.js'
import {
  completeSetAsideCallback,
  failSetAsideCallback,
  findDueCallback,
  findSetAsideKeys,
  noteAttempt,
  type SetAsideCallback,
  setCallbackAside,
} from '../../storage/callbacks/set-aside.js'
import { type ReadCallback, readItems } from './items.js'
import { type Progress, recordCallbacks } from './record.js'

/** The last attempt is made after about 15 minutes: the waits between attempts are 7 s, 14 s, 28 s and so on. */
const MAX_ATTEMPTS = 8
const RETRY = { baseMs: 7_000, maxMs: 10 * 60_000, jitter: 0 }

const MAX_ERROR_LENGTH = 500
/** The reason of an attempt with which the process died, and of the second such attempt in a row, which is the last. */
const DIED = 'its process died'
const DIED_TWICE = `${DIED} twice`

/**
 * Records callbacks one by one. One that fails is set aside, and so are later ones that name the same people or
 * messages. Resolves to false if it ended early because the time was over; the others are still waiting. Throws only if
 * the database is unavailable.
 */
export async function recordOneByOne(
  ctx: TurnContext,
  organizationId: string,
  callbacks: readonly ReadCallback[],
  progress: Progress,
): Promise<boolean> {
  const failedKeys = new Set<string>()
  for (const [index, read] of callbacks.entries()) {
    // At least one, so that a turn whose batch took long comes to an end.
    if (index > 0 && !progress.mayGoOn()) return false
    const { id } = read.callback
    const follows = read.keys.some((key) => failedKeys.has(key))
    const { isDone, error } = follows ? FOLLOWS : await tryToRecord(ctx, organizationId, read, progress)
    if (!follows && !isDone && error === null) return false
    if (isDone) {
      await completeCallbacks(ctx.database, organizationId, [id])
      continue
    }
    progress.recorded.delete(id)
    for (const key of read.keys) failedKeys.add(key)
    const failed = error === null ? null : { attempts: 1, error, runAt: nextAttemptAt(ctx, 1) }
    await setCallbackAside(ctx.database, organizationId, id, { keys: read.keys, failed })
  }
  return true
}

/** Sets aside the callbacks that name the same people or messages as set-aside ones; resolves to the others. */
export async function setAsideFollowing(
  ctx: TurnContext,
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
    await setCallbackAside(ctx.database, organizationId, read.callback.id, { keys: read.keys, failed: null })
  }
  return free
}

/** Sets a callback aside with which a process died after others had died; it is not retried. */
export async function setAsideDeadly(
  ctx: TurnContext,
  organizationId: string,
  id: string,
  deaths: number,
): Promise<void> {
  const failed = { attempts: deaths, error: `${DIED} ${deaths} times`, runAt: null }
  // It cannot be read for the people that it names.
  await setCallbackAside(ctx.database, organizationId, id, { keys: [], failed })
  ctx.log.error({ organizationId, callbackId: id }, 'a callback is set aside, because processes died with it')
}

/** Retries the set-aside callbacks that are due; resolves to false if it ended early because the time was over. */
export async function retrySetAside(ctx: TurnContext, organizationId: string, progress: Progress): Promise<boolean> {
  for (;;) {
    const due = await findDueCallback(ctx.database, organizationId, ctx.clock(), ctx.processId)
    if (due === null) return true
    const { id } = due.callback
    const { isDone, error } = due.died ? diedWith(due) : await tryAgain(ctx, organizationId, due, progress)
    if (isDone) await completeSetAsideCallback(ctx.database, organizationId, id, ctx.clock())
    else if (error === null) return false
    else {
      progress.recorded.delete(id)
      const attempts = due.attempts + 1
      const isLast = attempts >= MAX_ATTEMPTS || error === DIED_TWICE
      const failed = { attempts, error, runAt: isLast ? null : nextAttemptAt(ctx, attempts) }
      await failSetAsideCallback(ctx.database, organizationId, id, { ...failed, now: ctx.clock() })
      if (isLast) ctx.log.error({ organizationId, callbackId: id }, 'a callback failed on its last attempt')
    }
    if (!progress.mayGoOn()) return false
  }
}

function nextAttemptAt(ctx: TurnContext, attempts: number): Date {
  return new Date(ctx.clock().getTime() + backoffDelay(attempts, RETRY))
}

/** The result of an attempt: done, failed with an error, or neither, because the time was over. */
interface Attempt {
  isDone: boolean
  error: string | null
}

/** Of a callback that is not attempted, because one before it failed. */
const FOLLOWS: Attempt = { isDone: false, error: null }

function diedWith({ error }: SetAsideCallback): Attempt {
  return { isDone: false, error: error === DIED ? DIED_TWICE : DIED }
}

async function tryAgain(
  ctx: TurnContext,
  organizationId: string,
  { callback }: SetAsideCallback,
  progress: Progress,
): Promise<Attempt> {
  await noteAttempt(ctx.database, organizationId, callback.id, ctx.processId)
  return tryToRecord(ctx, organizationId, readItems(callback), progress)
}

/** Throws if the database is unavailable: then the callback has not failed. */
async function tryToRecord(
  ctx: TurnContext,
  organizationId: string,
  read: ReadCallback,
  progress: Progress,
): Promise<Attempt> {
  try {
    return { isDone: (await recordCallbacks(ctx, organizationId, [read], progress)).length === 1, error: null }
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    ctx.log.warn({ err: error, organizationId, callbackId: read.callback.id }, 'a callback failed and will be retried')
    return { isDone: false, error: String((error as Error).message).slice(0, MAX_ERROR_LENGTH) }
  }
}
