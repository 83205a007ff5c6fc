import type { WorkContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { idAt, newId } from '../../lib/bytes/id.js'
import { changeByHistory, MAX_FALLING, placeByTime } from '../../model/messages/phone-history.js'
import { countHistoricMessages, type HistoryChunk } from '../../storage/callbacks/phone-histories.js'
import { changeSearchableMessage } from '../../storage/conversations/search.js'
import type { IncomingMessage, Received } from '../../storage/messages/incoming.js'
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
import { applyHistoricReply, applyReply, type Reply } from '../broadcasts/reply.js'
import { resolveToldByPhone } from '../contacts/resolution/resolve-contact.js'
import { type MessageItem, networkOf, replyOf, senderTypeOf, toIncomingMessage, toSender } from './items.js'
import type { IncomingItem } from './read/read-callback.js'
import type { HistoricItem } from './read/read-phone-history.js'

/** How many messages of a conversation are read at a time. */
const READ_STEP = 1_000
/** How often the person is resolved, if the contact is merged or erased each time before the messages are recorded. */
const MAX_TRIES = 5

/** A message of a history, as it would be recorded. */
interface Told extends Pick<HistoricItem, 'status'> {
  message: IncomingMessage
  /** What it means for broadcasts, if anything. */
  reply: Reply | null
}

/**
 * Records messages of one person that a history brings, in one transaction, and what it changes about recorded ones.
 * Nothing is told about them. What was written before the person was erased is left out. Resolves to the number of those
 * that were not known before. Repeated, it changes nothing; retry it after a conflict.
 */
export async function recordHistory(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  items: readonly HistoricItem[],
): Promise<number> {
  let added = 0
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const of = await resolvePerson(ctx, organizationId, chunk, items)
    if (of === 'nobody') return added
    if (of === 'several') return added + (await recordEach(ctx, organizationId, chunk, items))
    const recorded = await ctx.database.transaction((transaction) =>
      recordMessages(transaction, organizationId, { contactId: of.contactId, chunk }, messagesOf(ctx, chunk, of.items)),
    )
    added += recorded ?? 0
    if (recorded !== null && (await recordChanges(ctx, organizationId, chunk, of))) return added
  }
  throw new Error('messages of a history could not be recorded: their contact keeps changing')
}

/** The items of a person that are to be recorded. */
interface OfPerson {
  contactId: string
  items: readonly HistoricItem[]
}

/** Without what was written before the person was erased. The number may have had several owners. */
async function resolvePerson(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  items: readonly HistoricItem[],
): Promise<OfPerson | 'nobody' | 'several'> {
  const [first] = items
  if (!first) return 'nobody'
  const { from } = first.item
  const resolve = (time: number) => resolveToldByPhone(ctx, organizationId, from, observe(ctx, chunk, time))
  const timeOfItem = ({ item }: HistoricItem) => timeOf(item, chunk).getTime()
  const found = await resolve(Math.max(...items.map(timeOfItem)))
  if (found === null) return 'nobody'
  const { contactId, erasedAt } = found
  const kept = erasedAt === null ? items : items.filter((item) => timeOfItem(item) > erasedAt.getTime())
  if (kept.length > 1 && from.userId === null) {
    const before = await resolve(Math.min(...kept.map(timeOfItem)))
    if (before?.contactId !== contactId) return 'several'
  }
  return { contactId, items: kept }
}

function messagesOf(ctx: WorkContext, chunk: HistoryChunk, items: readonly HistoricItem[]): Told[] {
  return items.flatMap(({ item, status }) => {
    if (item.kind !== 'message') return []
    const message = toMessage(ctx, chunk, item)
    return [{ status, message, reply: replyOf(toSender(item), message) }]
  })
}

/** Records reactions, edits and revocations. Resolves to false if the contact is no more. */
async function recordChanges(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  { contactId, items }: OfPerson,
): Promise<boolean> {
  for (const { item } of items) {
    if (item.kind === 'message') continue
    if ((await recordChange(ctx, organizationId, chunk, { item, contactId })) === 'no_contact') return false
  }
  return true
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

function observe(ctx: WorkContext, { instance_id: instanceId }: HistoryChunk, time: number) {
  const toldByPhone = { source: 'phone_history', activeAt: new Date(Math.min(time, ctx.clock().getTime())) } as const
  return { at: new Date(time), instanceId, toldByPhone }
}

function timeOf({ createdAt }: IncomingItem, { received_at }: HistoryChunk): Date {
  return createdAt ?? received_at
}

function toMessage(ctx: WorkContext, chunk: HistoryChunk, item: MessageItem): IncomingMessage {
  const { callback_id: id, instance_id: instanceId, body, received_at: receivedAt, traceparent } = chunk
  const of = { id, instanceId, body, receivedAt, traceparent, isDevice: false }
  const createdAt = timeOf(item, chunk)
  // Its file gets this id, too, and both are kept as long as they are old.
  return { ...toIncomingMessage(ctx, of, { ...item, createdAt }), id: idAt(createdAt) }
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
  return { ...(fills ? other : one), status: status ?? one.status }
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
    if (fills) await fill(transaction, organizationId, recorded, one)
  }
  await advanceStatuses(transaction, organizationId, advanced)
}

/** A placeholder that came as a message is told when it is filled; one that came with a history is not. */
async function fill(
  transaction: Queryable,
  organizationId: string,
  { id, only_in_history: isHistoric }: FoundMessage,
  { message, reply }: Told,
): Promise<void> {
  if (!isHistoric) {
    const found = await fillPlaceholder(transaction, organizationId, message)
    if (found && reply) await applyReply(transaction, organizationId, { ...message, id: found.id }, reply)
    return
  }
  const filled = await fillHistoricPlaceholder(transaction, organizationId, id, message)
  if (filled === null) return
  await changeSearchableMessage(transaction, organizationId, filled.contact_id, filled)
  const of = { contactId: filled.contact_id, message: { ...message, id } }
  if (reply) await applyHistoricReply(transaction, organizationId, of, reply)
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
  for (const { message, reply } of sorted) {
    if (reply) await applyHistoricReply(transaction, organizationId, { contactId, message }, reply)
  }
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

async function recordChange(
  ctx: WorkContext,
  organizationId: string,
  chunk: HistoryChunk,
  { item, contactId }: { item: Exclude<IncomingItem, MessageItem>; contactId: string },
): Promise<Received> {
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
  return ctx.database.transaction(async (transaction) => {
    const record = () =>
      kind === 'reaction'
        ? recordIncomingReaction(transaction, organizationId, sender, change)
        : recordIncomingChange(transaction, organizationId, sender, { kind, ...change })
    const received = await record()
    if (received !== 'duplicate') return received
    // A placeholder with its id stood for it.
    const place = { upstreamId, instanceId: chunk.instance_id }
    const isReleased = await releasePlaceholder(transaction, organizationId, place, change.created_at)
    return isReleased ? record() : received
  })
}
