import type { WorkContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import { changeByHistory, MAX_FALLING, placeByTime } from '../../model/messages/phone-history.js'
import { countHistoricMessages, type HistoryChunk } from '../../storage/callbacks/phone-histories.js'
import { changeSearchableMessage } from '../../storage/conversations/search.js'
import type { IncomingMessage } from '../../storage/messages/incoming.js'
import { recordIncomingChange, recordIncomingReaction } from '../../storage/messages/incoming-changes.js'
import {
  advanceStatuses,
  type FoundMessage,
  fillHistoricPlaceholder,
  findRecorded,
  insertHistoricMessages,
  type LockedConversation,
  lockConversation,
  lowerMessages,
  type NewHistoricMessage,
  readMessageTimes,
  type StatusChange,
} from '../../storage/messages/phone-history.js'
import { fillPlaceholder, releasePlaceholder } from '../../storage/messages/placeholders.js'
import { type Observation, resolveContact } from '../contacts/resolution/resolve-contact.js'
import { type MessageItem, networkOf, senderTypeOf, toIncomingMessage, toSender } from './items.js'
import type { IncomingItem } from './read/read-callback.js'
import type { HistoricItem } from './read/read-phone-history.js'

/** How many messages of a conversation are read at a time. */
const READ_STEP = 1_000
/** How often the person is resolved, if the contact is merged or erased each time before the messages are recorded. */
const MAX_TRIES = 5

/** A message of a history, as it would be recorded. */
interface Told extends Pick<HistoricItem, 'status'> {
  message: IncomingMessage
}

/**
 * Records messages of one person that a history brings, in one transaction, and what it changes about recorded ones.
 * Nothing is told about them. Resolves to the number of those that were not known before. Repeated, it changes nothing;
 * retry it after a conflict.
 */
export async function recordHistory(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  items: readonly HistoricItem[],
): Promise<number> {
  const [first] = items
  if (!first) return 0
  const { from } = first.item
  const times = items.map(({ item }) => timeOf(item, chunk).getTime())
  const newest = observe(ctx, chunk, Math.max(...times))
  const oldest = observe(ctx, chunk, Math.min(...times))
  const told = items.flatMap(({ item, status }) =>
    item.kind === 'message' ? [{ status, message: toMessage(ctx, chunk, item) }] : [],
  )
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const contactId = await resolveContact(ctx, organizationId, from, newest)
    // The number may have been somebody else's before.
    if (
      items.length > 1 &&
      from.userId === null &&
      (await resolveContact(ctx, organizationId, from, oldest)) !== contactId
    )
      return recordEach(ctx, organizationId, chunk, items)
    const added = await ctx.database.transaction((transaction) =>
      recordMessages(transaction, organizationId, { contactId, chunk }, told),
    )
    if (added === null) continue
    for (const { item } of items) {
      if (item.kind !== 'message') await recordChange(ctx, organizationId, chunk, { item, contactId })
    }
    return added
  }
  throw new Error('messages of a history could not be recorded: their contact keeps changing')
}

/** Each is of the person whose number it was then. */
async function recordEach(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  items: readonly HistoricItem[],
): Promise<number> {
  let added = 0
  for (const item of items) added += await recordHistory(ctx, organizationId, chunk, [item])
  return added
}

function observe(ctx: WorkContext, chunk: HistoryChunk, time: number): Observation {
  const activeAt = new Date(Math.min(time, ctx.clock().getTime()))
  return { at: new Date(time), instanceId: chunk.instance_id, toldByPhone: { source: 'phone_history', activeAt } }
}

function timeOf({ createdAt }: IncomingItem, { received_at }: HistoryChunk): Date {
  return createdAt ?? received_at
}

function toMessage(ctx: WorkContext, chunk: HistoryChunk, item: MessageItem): IncomingMessage {
  const { callback_id: id, instance_id: instanceId, body, received_at: receivedAt, traceparent } = chunk
  const of = { id, instanceId, body, receivedAt, traceparent, isDevice: false }
  return toIncomingMessage(ctx, of, { ...item, createdAt: timeOf(item, chunk) })
}

/** Resolves to the number of those that were not known before; null: the contact is no more. */
async function recordMessages(
  transaction: Queryable,
  organizationId: string,
  { contactId, chunk }: { contactId: string; chunk: HistoryChunk },
  told: readonly Told[],
): Promise<number | null> {
  const conversation = await lockConversation(transaction, organizationId, contactId)
  if (conversation === null) return null
  const byId = new Map<string, Told>()
  for (const one of told) byId.set(one.message.upstreamId, richer(byId.get(one.message.upstreamId), one))
  const found = await findRecorded(transaction, organizationId, chunk.instance_id, [...byId.keys()])
  const known = new Set(found.map(({ upstream_id }) => upstream_id))
  const fresh = [...byId.values()].filter(({ message }) => !known.has(message.upstreamId))
  await changeRecorded(transaction, organizationId, found, byId)
  if (fresh.length === 0) return 0
  await insertByTime(transaction, organizationId, { contactId, conversation }, fresh)
  const { length: messages } = fresh
  await countHistoricMessages(transaction, organizationId, { id: newId(), instanceId: chunk.instance_id, messages })
  return messages
}

/** Of two messages with one id, the one that is no placeholder, with the status that is further. */
function richer(one: Told | undefined, other: Told): Told {
  if (!one) return other
  const { fills, status } = changeByHistory(
    { status: one.status ?? 'sent', isPlaceholder: one.message.placeholder !== null, isDeleted: false, isOwn: false },
    { status: other.status, isPlaceholder: other.message.placeholder !== null },
  )
  return { message: fills ? other.message : one.message, status: status ?? one.status }
}

async function changeRecorded(
  transaction: Queryable,
  organizationId: string,
  found: readonly FoundMessage[],
  byId: ReadonlyMap<string, Told>,
): Promise<void> {
  const advanced: StatusChange[] = []
  for (const recorded of found) {
    const one = byId.get(recorded.upstream_id)
    if (!one) continue
    const { is_placeholder: isPlaceholder, is_deleted: isDeleted, is_own: isOwn, status: known } = recorded
    const told = { status: one.status, isPlaceholder: one.message.placeholder !== null }
    const { fills, status } = changeByHistory({ status: known, isPlaceholder, isDeleted, isOwn }, told)
    if (status !== null) advanced.push({ id: recorded.id, status })
    if (fills) await fill(transaction, organizationId, recorded, one.message)
  }
  await advanceStatuses(transaction, organizationId, advanced)
}

/** A placeholder that came as a message is told when it is filled; one that came with a history is not. */
async function fill(
  transaction: Queryable,
  organizationId: string,
  { id, only_in_history: isHistoric }: FoundMessage,
  message: IncomingMessage,
): Promise<void> {
  if (!isHistoric) {
    await fillPlaceholder(transaction, organizationId, message)
    return
  }
  const filled = await fillHistoricPlaceholder(transaction, organizationId, id, message)
  if (filled) await changeSearchableMessage(transaction, organizationId, filled.contact_id, filled)
}

/** Inserts new messages by their times; the older ones of the conversation make room. */
async function insertByTime(
  transaction: Queryable,
  organizationId: string,
  { contactId, conversation }: { contactId: string; conversation: LockedConversation },
  fresh: readonly Told[],
): Promise<void> {
  const sorted = fresh.toSorted((a, b) => a.message.created_at.getTime() - b.message.created_at.getTime())
  const added = sorted.map(({ message }) => message.created_at.getTime())
  const [oldest = 0, newest = 0] = [added[0], added.at(-1)]
  const times = await readOlder(transaction, organizationId, { contactId, conversation }, { oldest, newest })
  const { seqs, falls } = placeByTime(conversation.pruned_seq + 1, times, added)
  const messages = sorted.map((one, n): NewHistoricMessage => ({ ...one, seq: seqs[n] as number }))
  await lowerMessages(transaction, organizationId, contactId, falls)
  const hasFallen = falls.length > 0
  await insertHistoricMessages(transaction, organizationId, contactId, { conversation, messages, hasFallen })
}

/**
 * The times of the conversation's messages from the first one on, up to the first one that is newer than `newest`. None if
 * more than may fall are older than `oldest`: then nothing makes room.
 */
async function readOlder(
  transaction: Queryable,
  organizationId: string,
  { contactId, conversation }: { contactId: string; conversation: LockedConversation },
  { oldest, newest }: { oldest: number; newest: number },
): Promise<number[]> {
  const { pruned_seq: first, last_seq: last, merged_seq } = conversation
  const before = Math.min(last + 1, merged_seq ?? last + 1)
  const beyond = { after: first + MAX_FALLING, before, limit: 1 }
  const [next] = await readMessageTimes(transaction, organizationId, contactId, beyond)
  if (next !== undefined && next <= oldest) return []
  const times: number[] = []
  while (times.length < MAX_FALLING) {
    const range = { after: first + times.length, before, limit: READ_STEP }
    const page = await readMessageTimes(transaction, organizationId, contactId, range)
    times.push(...page)
    if (page.length < READ_STEP || page.some((one) => one > newest)) break
  }
  return times
}

/** A reaction, an edit or a revocation. */
async function recordChange(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  { item, contactId }: { item: Exclude<IncomingItem, MessageItem>; contactId: string },
): Promise<void> {
  const { kind, upstreamId, text, replyToUpstreamId } = item
  const change = {
    id: newId(),
    upstreamId,
    text,
    replyToUpstreamId,
    instanceId: chunk.instance_id,
    sender_type: senderTypeOf(item),
    network: networkOf(item),
    created_at: timeOf(item, chunk),
    isHistoric: true,
  }
  const sender = { ...toSender(item), contactId }
  await ctx.database.transaction(async (transaction) => {
    const record = () =>
      kind === 'reaction'
        ? recordIncomingReaction(transaction, organizationId, sender, change)
        : recordIncomingChange(transaction, organizationId, sender, { kind, ...change })
    if ((await record()) !== 'duplicate') return
    // A placeholder with its id stood for it.
    const place = { upstreamId, instanceId: chunk.instance_id }
    if (await releasePlaceholder(transaction, organizationId, place, change.created_at)) await record()
  })
}
