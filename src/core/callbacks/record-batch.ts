import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnConflict } from '../../database/retry.js'
import { slices } from '../../lib/async/batches.js'
import { OPTED_OUT } from '../../model/messages/message.js'
import { completeCallbacks } from '../../storage/callbacks/callbacks.js'
import { recordIncomingMessages } from '../../storage/messages/incoming.js'
import { applyStatuses } from '../../storage/messages/statuses.js'
import { applyReply } from '../broadcasts/reply.js'
import { optOutByUpstream } from '../contacts/opt-outs.js'
import type { ReadCallback } from './items.js'
import { type PlannedMessage, type PlannedStatus, planBatch } from './plan-batch.js'

const MAX_PER_STATEMENT = 100

/**
 * Records what the callbacks report, as far as a few statements can, and completes those that need no more. Resolves to
 * the callbacks that are left, in order, to be processed one by one; null if another process has completed some of
 * them. If it throws, none is completed, and recording them again changes nothing.
 *
 * Each statement commits by itself: within one transaction, events would be committed long after they got their
 * numbers, and an event of the same contact with a higher number could be read before them.
 */
export async function recordBatch(
  ctx: Context,
  organizationId: string,
  callbacks: readonly ReadCallback[],
): Promise<ReadCallback[] | null> {
  const plan = planBatch(ctx, organizationId, callbacks)
  const left = new Set(plan.left)
  const hasWork = left.size < callbacks.length || plan.messages.length + plan.statuses.length > 0
  if (!hasWork) return [...callbacks]
  const recording: Recording = { ctx, organizationId, left, deferred: new Set() }
  // One statement after the other, because the items of a person keep their order.
  for (const messages of plan.messages.flatMap((round) => slices(round, MAX_PER_STATEMENT)))
    await recordMessages(recording, messages)
  for (const statuses of plan.statuses.flatMap((round) => slices(round, MAX_PER_STATEMENT)))
    await recordStatuses(recording, statuses)
  const done = callbacks.filter((callback) => !left.has(callback)).map(({ callback }) => callback.id)
  const completed = done.length === 0 ? 0 : await completeCallbacks(ctx.database, organizationId, done)
  return completed < done.length ? null : callbacks.filter((callback) => left.has(callback))
}

/** The state of a batch that is being recorded. */
interface Recording {
  ctx: Context
  organizationId: string
  left: Set<ReadCallback>
  /** The groups with an item that could not be recorded. */
  deferred: Set<number>
}

/** The items whose group has no item that could not be recorded. The callbacks of the others are left too. */
function withoutDeferred<Item extends { of: ReadCallback; group: number }>(
  { left, deferred }: Recording,
  items: readonly Item[],
): Item[] {
  for (const { of, group } of items) if (deferred.has(group)) left.add(of)
  return items.filter(({ group }) => !deferred.has(group))
}

/** The effect of a reply on broadcasts is recorded in the same transaction, so it happens exactly once. */
async function recordMessages(recording: Recording, planned: readonly PlannedMessage[]): Promise<void> {
  const { ctx, organizationId, left, deferred } = recording
  const messages = withoutDeferred(recording, planned)
  if (messages.length === 0) return
  const record = async (db: Queryable) => {
    const sent = messages.map((message) => message.sent)
    const results = await recordIncomingMessages(db, organizationId, sent)
    for (const [index, { sent, reply }] of messages.entries()) {
      if (reply && results[index] === 'recorded') await applyReply(db, organizationId, sent.message, reply)
    }
    return results
  }
  const hasReplies = messages.some(({ reply }) => reply !== null)
  const results = await retryOnConflict(() => (hasReplies ? ctx.database.transaction(record) : record(ctx.database)))
  for (const [index, { of, group }] of messages.entries()) {
    if (results[index] !== 'no_contact') continue
    left.add(of)
    deferred.add(group)
  }
  const isAwaited = messages.some(({ sent }, index) => results[index] === 'recorded' && sent.message.awaitsMedia)
  if (isAwaited) ctx.wakeWorkers()
}

async function recordStatuses(recording: Recording, planned: readonly PlannedStatus[]): Promise<void> {
  const { ctx, organizationId, left, deferred } = recording
  const statuses = withoutDeferred(recording, planned)
  if (statuses.length === 0) return
  const reported = statuses.map(({ status }) => status)
  const applied = await retryOnConflict(() => applyStatuses(ctx.database, reported))
  for (const [index, { messageId, contactId, isLinked }] of applied.entries()) {
    const { of, group, item } = statuses[index] as PlannedStatus
    if (item.error?.code === OPTED_OUT && messageId !== null) {
      await optOutByUpstream(ctx, organizationId, messageId)
    }
    if (contactId !== null && !isLinked) {
      left.add(of)
      deferred.add(group)
    }
  }
}
