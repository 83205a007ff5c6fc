import type { Context } from '../../../context.js'
import type { Queryable } from '../../../database/pool.js'
import { retryOnConflict } from '../../../database/retry.js'
import { slices } from '../../../lib/async/batches.js'
import { OPTED_OUT } from '../../../model/messages/message.js'
import { completeCallbacks } from '../../../storage/messages/callbacks.js'
import { recordIncomingMessages } from '../../../storage/messages/incoming.js'
import { applyStatuses } from '../../../storage/messages/statuses.js'
import { applyReply } from '../../broadcasts/reply.js'
import { optOutByUpstream } from '../../contacts/opt-outs.js'
import type { ReadCallback } from './items.js'
import { type BatchPlan, type PlannedMessage, type PlannedStatus, planBatch } from './plan-batch.js'

const MAX_PER_STATEMENT = 100

/** Another process has completed some of the callbacks. */
class CompletedElsewhere extends Error {}

/**
 * Records what the callbacks report, as far as few statements can, and completes those that need no more: in one
 * transaction if needed. Resolves to the callbacks that are left, in order, to be processed one by one; null if another process
 * has completed some of them. If it fails, none is completed.
 */
export async function recordBatch(
  ctx: Context,
  organizationId: string,
  callbacks: readonly ReadCallback[],
): Promise<ReadCallback[] | null> {
  const plan = planBatch(ctx, organizationId, callbacks)
  const hasWork = plan.left.size < callbacks.length || plan.messages.length + plan.statuses.length > 0
  if (!hasWork) return [...callbacks]
  const record = (db: Queryable) => recordPlan(db, organizationId, plan)
  // Recording it again changes nothing, so one statement needs no transaction with the one that completes the callbacks.
  const isSimple = isOneStatement(plan)
  try {
    const recording = await retryOnConflict(() => (isSimple ? record(ctx.database) : ctx.database.transaction(record)))
    if (recording.awaitsMedia) ctx.wakeWorkers()
    return callbacks.filter((callback) => recording.left.has(callback))
  } catch (error) {
    if (error instanceof CompletedElsewhere) return null
    throw error
  }
}

/** Whether one statement records all items, and no reply takes effect with its message. */
function isOneStatement({ messages, statuses }: BatchPlan): boolean {
  const rounds = [...messages, ...statuses]
  const [first] = rounds
  return (
    rounds.length === 1 &&
    first !== undefined &&
    first.length <= MAX_PER_STATEMENT &&
    !messages[0]?.some(({ reply }) => reply !== null)
  )
}

/** The state of a batch that is being recorded. */
interface Recording {
  db: Queryable
  organizationId: string
  left: Set<ReadCallback>
  /** The groups with an item that could not be recorded. */
  deferred: Set<number>
  awaitsMedia: boolean
}

async function recordPlan(db: Queryable, organizationId: string, plan: BatchPlan): Promise<Recording> {
  const left = new Set(plan.left)
  const recording: Recording = { db, organizationId, left, deferred: new Set(), awaitsMedia: false }
  // Contacts are locked before messages, as everywhere.
  for (const messages of plan.messages.flatMap((round) => slices(round, MAX_PER_STATEMENT)))
    await recordMessages(recording, messages)
  for (const statuses of plan.statuses.flatMap((round) => slices(round, MAX_PER_STATEMENT)))
    await recordStatuses(recording, statuses)
  const done = plan.callbacks.filter((callback) => !left.has(callback)).map(({ callback }) => callback.id)
  const completed = done.length === 0 ? 0 : await completeCallbacks(db, organizationId, done)
  if (completed < done.length) throw new CompletedElsewhere()
  return recording
}

/** Without those whose group has an item that could not be recorded: they are left too. */
function withoutDeferred<Item extends { of: ReadCallback; group: number }>(
  { left, deferred }: Recording,
  items: readonly Item[],
): Item[] {
  for (const { of, group } of items) if (deferred.has(group)) left.add(of)
  return items.filter(({ group }) => !deferred.has(group))
}

async function recordMessages(recording: Recording, planned: readonly PlannedMessage[]): Promise<void> {
  const { db, organizationId, left, deferred } = recording
  const messages = withoutDeferred(recording, planned)
  if (messages.length === 0) return
  const sent = messages.map((message) => message.sent)
  const results = await recordIncomingMessages(db, organizationId, sent)
  for (const [index, { of, group, sent, reply }] of messages.entries()) {
    if (results[index] === 'no_contact') {
      left.add(of)
      deferred.add(group)
    }
    if (results[index] !== 'recorded') continue
    if (sent.message.awaitsMedia) recording.awaitsMedia = true
    if (reply) await applyReply(db, organizationId, sent.message, reply)
  }
}

async function recordStatuses(recording: Recording, planned: readonly PlannedStatus[]): Promise<void> {
  const { db, organizationId, left, deferred } = recording
  const statuses = withoutDeferred(recording, planned)
  if (statuses.length === 0) return
  const applied = await applyStatuses(
    db,
    statuses.map(({ status }) => status),
  )
  for (const [index, { messageId, contactId, isLinked }] of applied.entries()) {
    const { of, group, item } = statuses[index] as PlannedStatus
    if (item.error?.code === OPTED_OUT && messageId !== null) {
      await optOutByUpstream({ database: db }, organizationId, messageId)
    }
    if (contactId !== null && !isLinked) {
      left.add(of)
      deferred.add(group)
    }
  }
}
