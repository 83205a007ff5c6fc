import type { TurnContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { SentMessage } from '../../storage/messages/incoming.js'
import type { ReportedStatus } from '../../storage/messages/statuses.js'
import type { Reply } from '../broadcasts/reply.js'
import {
  isSent,
  keysOf,
  type MessageItem,
  type ReadCallback,
  replyOf,
  type StatusItem,
  toIncomingMessage,
  toReportedStatus,
  toSender,
} from './items.js'
import type { CallbackItem, IncomingItem, PersonItem } from './read/read-callback.js'

/** An item of a batch: `items[index]` of the callback `of`. */
export interface BatchItem<Item extends CallbackItem = CallbackItem> {
  of: ReadCallback
  index: number
  item: Item
}

/** A message or a change of one, with its sender, whose contact may have to be resolved. */
export interface Sent<Item extends IncomingItem = IncomingItem> extends BatchItem<Item> {
  sender: SentMessage['sender']
  /** How often its contact has been resolved. */
  tries: number
}

export interface PlannedMessage extends Sent<MessageItem>, SentMessage {
  reply: Reply | null
  /** The items of the batch that bring the same message again. */
  repeated: BatchItem[]
}

export interface PlannedStatus extends BatchItem<StatusItem> {
  status: ReportedStatus
}

/** What is recorded before the next round: messages with one statement, statuses with one, others one by one. */
export interface Round {
  messages: PlannedMessage[]
  statuses: PlannedStatus[]
  others: BatchItem<IncomingItem | PersonItem>[]
}

/** The items that share keys, directly or through others: those of a person, or of a message. */
interface Group {
  id: number
  /** The group that it was merged into, because an item names keys of both. */
  joined: Group | null
  /** The round of its next item. */
  round: number
  /** Its last item, if it is a message that others may join. */
  last: PlannedMessage | null
}

/**
 * Plans in which rounds the items are recorded. Items of a group keep their order: a message is in the same round as
 * earlier ones of its person if they change the contact in the same way; all other items have a round of their own in
 * their group.
 */
export function planRounds(ctx: TurnContext, organizationId: string, items: readonly BatchItem[]): Round[] {
  const groupOf = groupByKeys(items.map(({ item }) => item))
  const rounds: Round[] = []
  const roundAt = (n: number) => (rounds[n] ??= { messages: [], statuses: [], others: [] })
  const planned = new Map<string, { first: PlannedMessage; round: number }>()
  for (const { of, index, item } of statusesLast(items)) {
    const group = groupOf(item)
    if (item.kind === 'message' && isPlain(item)) {
      const message = planMessage(ctx, { of, index, item }, group.id)
      const key = `${of.callback.instanceId ?? ''} ${item.upstreamId}`
      const known = planned.get(key)
      if (known && !isFilledBy(known.first, message)) known.first.repeated.push(message)
      else {
        if (known) endRound(group, known.round + 1)
        const round = joinRound(group, message)
        roundAt(round).messages.push(message)
        planned.set(key, { first: message, round })
      }
    } else if (item.kind === 'status') {
      const status = toReportedStatus(ctx, organizationId, of.callback, item)
      roundAt(takeRound(group)).statuses.push({ of, index, item, status })
    } else roundAt(takeRound(group)).others.push({ of, index, item })
  }
  return rounds
}

/**
 * The items, with the statuses that are posted before the message they are about behind it. Only what the organization
 * wrote elsewhere can come so late.
 */
function statusesLast(items: readonly BatchItem[]): readonly BatchItem[] {
  const sent = new Map<string, number>(
    items.flatMap(({ item }, place) =>
      item.kind === 'message' && isSent(item) ? [[item.upstreamId, place] as const] : [],
    ),
  )
  if (sent.size === 0) return items
  const placeOf = ({ item }: BatchItem, place: number) =>
    item.kind === 'status' ? Math.max(place, (sent.get(item.upstreamId) ?? -1) + 0.5) : place
  return items
    .map((one, place) => ({ one, place: placeOf(one, place) }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}

/** `person`: messages with the same number may be of one contact. */
export function planMessage(
  ctx: TurnContext,
  { of, index, item }: BatchItem<MessageItem>,
  person: number,
): PlannedMessage {
  const sender = toSender(item)
  const message = toIncomingMessage(ctx, of.callback, item)
  const reply = replyOf(sender, message)
  return { of, index, item, person, sender, message, renamedEventId: newId(), reply, tries: 0, repeated: [] }
}

/** Whether the message can share a statement with others. */
function isPlain(item: MessageItem): boolean {
  return item.addressChange === null && !item.sharedNumber && !item.groupChange && !isSent(item)
}

/** The round of a message: that of the last one, if it changes the contact alike. */
function joinRound(group: Group, message: PlannedMessage): number {
  if (group.last && !changeAlike(group.last, message)) group.round++
  group.last = message
  return group.round
}

/** A round of its own. */
function takeRound(group: Group): number {
  endRound(group)
  return group.round++
}

/** The next item comes into a later round, `round` at the earliest. */
function endRound(group: Group, round = 0): void {
  if (group.last) group.round++
  group.round = Math.max(group.round, round)
  group.last = null
}

/** Whether the first message is only a placeholder for the other one, which has the same id. */
function isFilledBy(first: PlannedMessage, { message }: PlannedMessage): boolean {
  return first.message.placeholder !== null && message.placeholder === null
}

/** Whether two messages of a person can be recorded at once, with the contact in their events as it was after each. */
function changeAlike(one: PlannedMessage, other: PlannedMessage): boolean {
  return (
    one.reply === null &&
    one.item.isSystem === other.item.isSystem &&
    one.message.isNews === other.message.isNews &&
    one.sender.profileName === other.sender.profileName &&
    one.sender.parentUserId === other.sender.parentUserId &&
    one.sender.username === other.sender.username &&
    other.message.referral === null
  )
}

function groupByKeys(items: readonly CallbackItem[]): (item: CallbackItem) => Group {
  const groups = new Map<string, Group>()
  const ofItems = new Map<CallbackItem, Group>()
  for (const item of items) {
    const group: Group = { id: ofItems.size, joined: null, round: 0, last: null }
    ofItems.set(item, group)
    for (const key of keysOf(item)) {
      const known = endOf(groups.get(key) ?? group)
      if (known !== endOf(group)) known.joined = endOf(group)
      groups.set(key, group)
    }
  }
  return (item) => endOf(ofItems.get(item) as Group)
}

function endOf(group: Group): Group {
  let end = group
  while (end.joined) end = end.joined
  // Path compression: the next search is shorter.
  if (group !== end) group.joined = end
  return end
}
