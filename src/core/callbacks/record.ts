import type { TurnContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnConflict, retryOnDeadlock } from '../../database/retry.js'
import { slices } from '../../lib/async/batches.js'
import { newId } from '../../lib/bytes/id.js'
import { OPTED_OUT } from '../../model/messages/message.js'
import { isAboutNumber } from '../../model/messages/upstream-codes.js'
import { countWishAsOptOut } from '../../storage/broadcasts/replies.js'
import { storeHistoryChunk } from '../../storage/callbacks/phone-histories.js'
import { nameContact } from '../../storage/contacts/known-names.js'
import { tellHistoricMessage } from '../../storage/messages/history-messages.js'
import { type Received, recordIncomingMessages } from '../../storage/messages/incoming.js'
import { recordIncomingChange, recordIncomingReaction } from '../../storage/messages/incoming-changes.js'
import { fillPlaceholder, releasePlaceholder } from '../../storage/messages/placeholders.js'
import { type AppliedStatus, applyStatuses } from '../../storage/messages/statuses.js'
import { applyReply } from '../broadcasts/reply.js'
import { applyGroupChange } from '../contacts/business-groups.js'
import { applyKnownName } from '../contacts/known-names.js'
import { optOutByUpstream } from '../contacts/opt-outs.js'
import { applyPreference, type Preference } from '../contacts/preferences.js'
import { applyAddressChange } from '../contacts/resolution/address-change.js'
import { linkUserId } from '../contacts/resolution/link-user-id.js'
import { type Observation, resolveContact } from '../contacts/resolution/resolve-contact.js'
import { shareNumber } from '../contacts/resolution/share-number.js'
import { applyConnectionChanges } from '../instances/manage/connection-changes.js'
import { checkAfterFailure } from '../organizations/connecting/check.js'
import { applyTemplateChanges } from '../templates/changes.js'
import { applyEarlyStatuses, keepForLater } from './early-statuses.js'
import { handledBy, isSent, type MessageItem, networkOf, type ReadCallback, senderTypeOf, toSender } from './items.js'
import { applyNotices } from './notices.js'
import {
  type BatchItem,
  type PlannedMessage,
  type PlannedStatus,
  planMessage,
  planRounds,
  type Round,
  type Sent,
} from './plan.js'
import type { IncomingItem } from './read/read-callback.js'

const MAX_PER_STATEMENT = 100
/** How often the sender of an item is resolved, if its contact is merged or erased each time before it is recorded. */
const MAX_TRIES = 5

/** How long callbacks may take, and how far they have come. */
export interface Progress {
  /** Whether there is time for more, asked after each item that needed statements of its own. */
  mayGoOn: () => boolean
  /** The indexes of the items that are recorded, by the id of the callback, until all of its items are. */
  recorded: Map<string, Set<number>>
}

interface Recording extends Progress {
  ctx: TurnContext
  organizationId: string
}

/**
 * Records what the callbacks report, in rounds: all that can share a statement do, and the items of a person, and those
 * of a message, are recorded in the order of their arrival. Doing it again changes nothing. Resolves to the first
 * callbacks, of which everything is recorded: all of them, unless the time was over; the next call continues there.
 * Throws if one of them could not be read or recorded.
 *
 * Each statement commits by itself: within one transaction, events would be committed long after they got their
 * numbers, and an event of the same contact with a higher number could be read before them.
 */
export function recordCallbacks(
  ctx: TurnContext,
  organizationId: string,
  callbacks: readonly ReadCallback[],
  progress: Progress,
): Promise<ReadCallback[]> {
  return retryOnDeadlock(async () => {
    await recordItems({ ctx, organizationId, ...progress }, callbacks)
    const done: ReadCallback[] = []
    for (const one of callbacks) {
      if ((progress.recorded.get(one.callback.id)?.size ?? 0) < one.items.length) break
      await applyChanges(ctx, organizationId, one)
      done.push(one)
    }
    for (const { callback } of done) progress.recorded.delete(callback.id)
    return done
  })
}

async function recordItems(recording: Recording, callbacks: readonly ReadCallback[]): Promise<void> {
  const { ctx, organizationId, recorded } = recording
  const items = callbacks.flatMap((of) => {
    const known = recorded.get(of.callback.id)
    return of.items.map((item, index) => ({ of, index, item })).filter(({ index }) => !known?.has(index))
  })
  for (const round of planRounds(ctx, organizationId, items)) if (!(await recordRound(recording, round))) return
}

/** Applies what a callback reports besides its items. */
async function applyChanges(
  ctx: TurnContext,
  organizationId: string,
  { callback, templateChanges, connectionChanges: changes, notices, hasHistory, problem }: ReadCallback,
): Promise<void> {
  if (problem !== undefined) throw problem
  await applyTemplateChanges(ctx, organizationId, templateChanges)
  const { instanceId, receivedAt } = callback
  await applyConnectionChanges(ctx, organizationId, { instanceId, changes, receivedAt })
  await applyNotices(ctx, organizationId, notices, callback)
  // It may be large and is not urgent: a job takes it in, behind nobody's messages.
  if (hasHistory)
    await storeHistoryChunk(ctx.database, organizationId, { callbackId: callback.id, instanceId, id: newId() })
}

function addRecorded({ recorded }: Recording, { of: { callback }, index }: BatchItem): void {
  const indexes = recorded.get(callback.id)
  if (indexes) indexes.add(index)
  else recorded.set(callback.id, new Set([index]))
}

/** Resolves to false if the time is over. */
async function recordRound(recording: Recording, { messages, statuses, others }: Round): Promise<boolean> {
  for (const some of slices(messages, MAX_PER_STATEMENT)) if (!(await recordMessages(recording, some))) return false
  for (const some of slices(statuses, MAX_PER_STATEMENT)) if (!(await recordStatuses(recording, some))) return false
  for (const other of others) {
    await recordOther(recording, other)
    addRecorded(recording, other)
    if (!recording.mayGoOn()) return false
  }
  return true
}

/** Records an item that shares no statement with others. */
function recordOther(recording: Recording, other: Round['others'][number]): Promise<unknown> {
  const { ctx, organizationId } = recording
  const { of, index, item } = other
  switch (item.kind) {
    case 'address_change':
      return applyAddressChange(ctx, organizationId, item.addressChange, observe(recording, other))
    case 'preference':
      return recordPreference(recording, item.preference, observe(recording, other))
    case 'known_name':
      return applyKnownName(ctx, organizationId, item.knownName, observe(recording, other))
    default:
      return recordAlone(recording, { of, index, item })
  }
}

/** A stop counts as an opt-out in the broadcasts that were sent to the contact in the two days before. */
async function recordPreference(
  { ctx, organizationId }: Recording,
  preference: Preference,
  observation: Observation,
): Promise<void> {
  const contactId = await applyPreference(ctx, organizationId, preference, observation)
  if (preference.wish === 'stop') await countWishAsOptOut(ctx.database, organizationId, contactId, observation.at)
}

/** When and through which channel the person of an item was seen. */
function observe({ ctx }: Recording, { of, item }: BatchItem): Observation {
  return { at: item.createdAt ?? ctx.clock(), instanceId: of.callback.instanceId }
}

/** Resolves the contacts of unknown senders, then records their messages. Resolves to false if the time is over. */
async function recordMessages(recording: Recording, messages: readonly PlannedMessage[]): Promise<boolean> {
  let unknown = await recordKnown(recording, messages)
  while (unknown.length > 0) {
    const people = new Set<number>()
    for (const message of unknown) {
      if (people.has(message.person)) continue
      await resolveSender(recording, message)
      people.add(message.person)
      if (!recording.mayGoOn()) break
    }
    const resolved = unknown.filter(({ person }) => people.has(person))
    const isOver = resolved.length < unknown.length
    unknown = await recordKnown(recording, resolved)
    if (isOver) return false
  }
  return true
}

/**
 * Records the messages whose contacts the statement finds; resolves to the others. The effect of a reply on broadcasts
 * is recorded in the same transaction, so it happens exactly once.
 */
async function recordKnown(
  recording: Recording,
  messages: readonly PlannedMessage[],
): Promise<readonly PlannedMessage[]> {
  const { ctx, organizationId } = recording
  const record = async (db: Queryable) => {
    const results = await recordIncomingMessages(db, organizationId, messages)
    for (const [index, { message, reply }] of messages.entries())
      if (reply && results[index] === 'recorded') await applyReply(db, organizationId, message, reply)
    return results
  }
  const hasReplies = messages.some(({ reply }) => reply !== null)
  const results = await retryOnConflict(() => (hasReplies ? ctx.database.transaction(record) : record(ctx.database)))
  await applyEarlyStatuses(
    ctx,
    organizationId,
    messages.filter(isSentElsewhere).map(({ item }) => item.upstreamId),
  )
  const left: PlannedMessage[] = []
  for (const [index, message] of messages.entries()) {
    const result = results[index]
    // One of a history gets the last number now, so it waits for those before it.
    const isHeld = result === 'was_history' && left.some(({ person }) => person === message.person)
    if (result === 'no_contact' || isHeld) {
      left.push(message)
      continue
    }
    if (result === 'fills') await fill(recording, message)
    if (result === 'was_history') await tellAfterHistory(recording, message)
    for (const item of [message, ...message.repeated]) addRecorded(recording, item)
  }
  return left
}

/** Whether it was written on the phone of a business number; its statuses may come before it. */
function isSentElsewhere({ of, item }: BatchItem<MessageItem>): boolean {
  return !of.callback.isDevice && isSent(item)
}

/** The message is what a placeholder of before stood for; a reply has its effect now. */
async function fill(recording: Recording, filling: PlannedMessage): Promise<void> {
  const { ctx, organizationId } = recording
  const { message, reply, item, sender } = filling
  const filled = await ctx.database.transaction(async (transaction) => {
    const found = await fillPlaceholder(transaction, organizationId, message)
    if (found && reply) await applyReply(transaction, organizationId, { ...message, id: found.id }, reply)
    return found
  })
  if (filled === null) return
  const { contactId } = filled
  const { profileName, userId } = sender
  if (profileName !== null) await nameContact(ctx.database, organizationId, contactId, profileName)
  const observation = observe(recording, filling)
  if (userId !== null) await linkUserId(ctx, organizationId, { ...item.from, userId, contactId }, observation)
}

/**
 * The message is one that a phone's history brought before: now it counts as every other one. What it says about its
 * sender is new, too.
 */
async function tellAfterHistory(recording: Recording, planned: PlannedMessage): Promise<void> {
  const { ctx, organizationId } = recording
  const { item, sender, message, reply } = planned
  await resolveContact(ctx, organizationId, item.from, observe(recording, planned))
  await ctx.database.transaction(async (transaction) => {
    const id = await tellHistoricMessage(transaction, organizationId, sender, message)
    if (id !== null && reply) await applyReply(transaction, organizationId, { ...message, id }, reply)
  })
}

/** Resolves the contact that the addresses of a sender do not decide. */
async function resolveSender(recording: Recording, sent: Sent): Promise<void> {
  const { ctx, organizationId } = recording
  const { item, sender } = sent
  if (sent.tries === MAX_TRIES) {
    throw new Error(`the message ${item.upstreamId} could not be recorded: its contact keeps changing`)
  }
  sent.tries++
  const observation = { ...observe(recording, sent), profileName: sender.profileName }
  setContact(sent, await resolveContact(ctx, organizationId, item.from, observation))
}

/** A notice in a group is about one member, but belongs to the group. */
function setContact(sent: Sent, contactId: string): void {
  sent.sender = { ...sent.sender, contactId: sent.item.author ? null : contactId }
}

async function recordStatuses(recording: Recording, statuses: readonly PlannedStatus[]): Promise<boolean> {
  const { ctx, organizationId } = recording
  const applied = await retryOnConflict(() =>
    applyStatuses(
      ctx.database,
      statuses.map(({ status }) => status),
    ),
  )
  const early = statuses.filter(
    ({ of, item }, n) => !of.callback.isDevice && item.messageId === null && applied[n]?.messageId === null,
  )
  await keepForLater(
    ctx,
    organizationId,
    early.map(({ status }) => status),
  )
  const errors = statuses.flatMap(({ of, item }) => (of.callback.instanceId === null ? (item.error ?? []) : []))
  const atFault = errors.find(({ code }) => isAboutNumber(code))
  if (atFault) await checkAfterFailure(ctx, organizationId, atFault.code)
  for (const [n, planned] of statuses.entries()) {
    const { of, index, item } = planned
    const { recipient, typed } = item
    const { messageId, contactId, isLinked } = applied[n] as AppliedStatus
    if (item.error?.code === OPTED_OUT && messageId !== null) await optOutByUpstream(ctx, organizationId, messageId)
    const { userId } = recipient
    const hasNewUserId = contactId !== null && userId !== null && !isLinked
    if (hasNewUserId) {
      await linkUserId(ctx, organizationId, { ...recipient, userId, contactId }, observe(recording, planned))
    }
    const isTyped = messageId === null && typed !== undefined
    if (isTyped) await recordAlone(recording, { of, index, item: typed })
    addRecorded(recording, planned)
    if ((hasNewUserId || isTyped) && !recording.mayGoOn()) return false
  }
  return true
}

/** Records a message, or a change of one, that shares no statement with others. */
async function recordAlone(recording: Recording, one: BatchItem<IncomingItem>): Promise<void> {
  const { ctx, organizationId } = recording
  const { item } = one
  if (item.kind !== 'message') {
    const change = { ...one, item, sender: toSender(item), tries: 0 }
    while ((await recordChange(recording, change)) === 'no_contact') await resolveSender(recording, change)
    return
  }
  const message = planMessage(ctx, { ...one, item }, 0)
  if (item.addressChange) {
    const observation = { ...observe(recording, one), profileName: message.sender.profileName }
    setContact(message, await applyAddressChange(ctx, organizationId, item.addressChange, observation))
  }
  const { groupChange, groupId, from } = item
  if (groupChange && groupId !== undefined && from.userId !== null) {
    const { upstreamId } = item
    const change = { upstreamId, group: { address: from.userId, id: groupId }, change: groupChange }
    setContact(message, await applyGroupChange(ctx, organizationId, change, observe(recording, one)))
  }
  const { userId } = item.from
  if (item.sharedNumber && userId !== null) {
    const { profileName } = message.sender
    const sharing = { person: { ...item.from, userId }, profileName, number: item.sharedNumber }
    setContact(message, await shareNumber(ctx, organizationId, sharing, observe(recording, one)))
  }
  while ((await recordKnown(recording, [message])).length > 0) await resolveSender(recording, message)
}

/** A reaction, an edit or a revocation. A placeholder with its id stood for it. */
async function recordChange(recording: Recording, change: Sent<Exclude<IncomingItem, MessageItem>>): Promise<Received> {
  const received = await tryToRecordChange(recording, change)
  if (received !== 'duplicate') return received
  const { ctx, organizationId } = recording
  const { upstreamId, createdAt } = change.item
  const place = { upstreamId, instanceId: change.of.callback.instanceId }
  const isReleased = await ctx.database.transaction((transaction) =>
    releasePlaceholder(transaction, organizationId, place, createdAt ?? ctx.clock()),
  )
  return isReleased ? tryToRecordChange(recording, change) : received
}

function tryToRecordChange(
  recording: Recording,
  { of, item, sender }: Sent<Exclude<IncomingItem, MessageItem>>,
): Promise<Received> {
  const { ctx, organizationId } = recording
  const { kind, upstreamId, text, replyToUpstreamId } = item
  const { instanceId } = of.callback
  const change = {
    id: newId(),
    upstreamId,
    text,
    replyToUpstreamId,
    instanceId,
    sender_type: senderTypeOf(item),
    network: networkOf(item),
    handled_by: handledBy(item),
    created_at: item.createdAt ?? ctx.clock(),
  }
  return retryOnConflict(() =>
    kind === 'reaction'
      ? recordIncomingReaction(ctx.database, organizationId, sender, change)
      : ctx.database.transaction((transaction) =>
          recordIncomingChange(transaction, organizationId, sender, { kind, ...change }),
        ),
  )
}
