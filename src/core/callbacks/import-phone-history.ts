import type { WorkContext } from '../../context.js'
import { retryOnConflict } from '../../database/retry.js'
import { sleep } from '../../lib/async/backoff.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { newId } from '../../lib/bytes/id.js'
import { errorMessage } from '../../lib/text/error-message.js'
import type { Again } from '../../model/jobs.js'
import {
  beginNextChunk,
  finishChunk,
  type HistoryChunk,
  reachInChunk,
  setChunkAside,
} from '../../storage/callbacks/phone-histories.js'
import { applyEarlyStatuses } from './early-statuses.js'
import { isSent } from './items.js'
import { parseStoredBody } from './read/parse-body.js'
import {
  type HistoricItem,
  type HistoricMessage,
  listHistoricMessages,
  readHistoricMessage,
  readHistoryReport,
} from './read/read-phone-history.js'
import { recordHistory } from './record-phone-history.js'

/** About how many messages are taken in before the job pauses. */
const BATCH = 100
/** How long a slice of the job may take, in ms: then others get its place. */
const SLICE_MS = 2_000
/** How often a callback is begun without taking in any of it; then it counts as failed. */
const MAX_ATTEMPTS = 10
/** When a callback that could not be taken in is tried again. */
const AGAIN_MS = 60_000

/**
 * Takes in for a while what callbacks have brought of the histories of an organization's numbers, in the order of their
 * arrival, in batches, and pauses for as long as each batch took, so that the service is slowed down little. A callback
 * that cannot be taken in comes after the others, some times; then it counts as failed. Returns when the job continues;
 * null: nothing is left. Throws when `signal` aborts. Taking a batch in again changes nothing.
 */
export async function importPhoneHistory(
  ctx: WorkContext,
  organizationId: string,
  signal?: AbortSignal,
): Promise<Again | null> {
  const leftMs = startCountdown(SLICE_MS)
  while (leftMs() > 0) {
    const chunk = await beginNextChunk(ctx.database, organizationId, ctx.clock())
    if (chunk === null) return null
    if (chunk.attempts > MAX_ATTEMPTS) {
      await setChunkAside(ctx.database, organizationId, chunk.callback_id, 'its process died')
      continue
    }
    try {
      if (!(await importChunk(ctx, organizationId, chunk, { leftMs, signal }))) break
    } catch (error) {
      signal?.throwIfAborted()
      await failChunk(ctx, organizationId, chunk, error)
      return { againInMs: AGAIN_MS }
    }
  }
  return { againInMs: 0 }
}

async function failChunk(
  { database, log }: WorkContext,
  organizationId: string,
  { callback_id: callbackId, attempts }: HistoryChunk,
  error: unknown,
): Promise<void> {
  log.error({ err: error, organizationId, callbackId, attempts }, "a part of a phone's history could not be taken in")
  if (attempts >= MAX_ATTEMPTS) await setChunkAside(database, organizationId, callbackId, errorMessage(error))
}

interface Pace {
  leftMs: () => number
  signal: AbortSignal | undefined
}

/** Resolves to false if the time is over. */
async function importChunk(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  { leftMs, signal }: Pace,
): Promise<boolean> {
  // An erased body has nothing.
  const envelope = chunk.body.length === 0 ? {} : parseStoredBody(chunk.body)
  const messages = listHistoricMessages(envelope)
  let { reached } = chunk
  while (reached < messages.length) {
    signal?.throwIfAborted()
    if (leftMs() === 0 && reached > chunk.reached) return false
    const batch = lastMessages(messages, messages.length - reached)
    const started = performance.now()
    const added = await takeIn(ctx, organizationId, chunk, batch)
    reached += batch.length
    await reachInChunk(ctx.database, organizationId, chunk.callback_id, { reached, added })
    await sleep(performance.now() - started, signal)
  }
  const { callback_id: callbackId, instance_id: instanceId } = chunk
  const ids = { id: newId(), eventId: newId(), at: ctx.clock() }
  await finishChunk(ctx.database, organizationId, { callbackId, instanceId, ...readHistoryReport(envelope), ...ids })
  return true
}

/**
 * The next batch of the first `left` messages: their last ones. Threads are listed from the oldest message to the newest,
 * so what is taken in already need not make room for it. Messages of the same second stay together, within limits: later
 * ones would come behind them.
 */
function lastMessages(messages: readonly HistoricMessage[], left: number): HistoricMessage[] {
  let first = Math.max(0, left - BATCH)
  const isTogether = (n: number) => messages[n - 1]?.message.timestamp === messages[n]?.message.timestamp
  while (first > 0 && left - first < 2 * BATCH && isTogether(first)) first--
  return messages.slice(first, left)
}

/** Records the messages that are kept, those of a person together. Resolves to the number of those that were not known before. */
async function takeIn(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  batch: readonly HistoricMessage[],
): Promise<number> {
  const groups = new Map<string, HistoricItem[]>()
  for (const message of batch) {
    const read = readHistoricMessage(message)
    if (read === null || isTooOld(chunk, read)) continue
    const key = JSON.stringify(read.item.from)
    const group = groups.get(key)
    if (group) group.push(read)
    else groups.set(key, [read])
  }
  let added = 0
  for (const items of groups.values()) {
    added += await retryOnConflict(() => recordHistory(ctx, organizationId, chunk, items))
    const sent = items.filter(({ item }) => isSent(item))
    const ids = sent.map(({ item }) => item.upstreamId)
    await applyEarlyStatuses(ctx, organizationId, ids)
  }
  return added
}

/** Whether retention would delete it again. */
function isTooOld({ kept_since: keptSince }: HistoryChunk, { item: { createdAt } }: HistoricItem): boolean {
  return keptSince !== null && createdAt !== null && createdAt < keptSince
}
