import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { SentMessage } from '../../storage/messages/incoming.js'
import type { ReportedStatus } from '../../storage/messages/statuses.js'
import type { Reply } from '../broadcasts/reply.js'
import {
  keysOf,
  type MessageItem,
  type ReadCallback,
  replyOf,
  type StatusItem,
  toIncomingMessage,
  toReportedStatus,
  toSender,
} from './items.js'
import type { CallbackItem } from './read/read-callback.js'

/** The items that share keys, directly or through others: those of a person, or of a message. */
interface Group {
  id: number
  /** The group that it was merged into, because an item names keys of both. */
  joined: Group | null
  /** Whether one of its items, and therefore all later ones, must be processed one by one. */
  isDeferred: boolean
  /** The number of the statement that records its last item. */
  round: number
  last: PlannedMessage | null
}

/** An item of a batch, and the callback that it belongs to. */
interface Planned {
  of: ReadCallback
  group: number
}

export interface PlannedMessage extends Planned {
  item: MessageItem
  sent: SentMessage
  reply: Reply | null
}

export interface PlannedStatus extends Planned {
  item: StatusItem
  status: ReportedStatus
}

/** Which items of a batch are recorded by which statement. */
export interface BatchPlan {
  /** The callbacks that need more than these statements. */
  left: ReadonlySet<ReadCallback>
  /** The messages of each statement. */
  messages: PlannedMessage[][]
  /** The statuses of each statement. */
  statuses: PlannedStatus[][]
}

/**
 * Plans which items of the callbacks are recorded together. Items of a group keep their order: a message shares a
 * statement with earlier ones of its person if they change the contact in the same way; a status never shares one with
 * another of its message. Items that need more than a statement, and later ones of their group, are left.
 */
export function planBatch(ctx: Context, organizationId: string, callbacks: readonly ReadCallback[]): BatchPlan {
  const groupOf = groupByKeys(callbacks.flatMap(({ items }) => items))
  const left = new Set(callbacks.filter(isLeft))
  const messages: PlannedMessage[][] = []
  const statuses: PlannedStatus[][] = []
  const seen = new Set<string>()

  function planMessage(of: ReadCallback, item: MessageItem, group: Group): void {
    const { instanceId } = of.callback
    const key = `${instanceId ?? ''} ${item.upstreamId}`
    if (seen.has(key)) return
    seen.add(key)
    const sender = toSender(item)
    const message = toIncomingMessage(ctx, of.callback, item)
    const sent = { person: group.id, sender, message, renamedEventId: newId() }
    const planned = { of, group: group.id, item, sent, reply: replyOf(sender, message) }
    if (group.last && !changeAlike(group.last, planned)) group.round++
    group.last = planned
    push(messages, group.round, planned)
  }

  for (const of of callbacks) {
    for (const item of of.items) {
      const group = groupOf(item)
      if (!isPlain(item) || group.isDeferred) {
        group.isDeferred = true
        left.add(of)
      } else if (item.kind === 'message') planMessage(of, item, group)
      else {
        const status = toReportedStatus(ctx, organizationId, of.callback, item)
        push(statuses, group.round++, { of, group: group.id, item, status })
      }
    }
  }
  return { left, messages, statuses }
}

function push<Item>(rounds: Item[][], round: number, item: Item): void {
  const items = rounds[round]
  if (items) items.push(item)
  else rounds[round] = [item]
}

/** Whether the item can be recorded by a statement that records several. */
function isPlain(item: CallbackItem): item is MessageItem | StatusItem {
  if (item.kind === 'status') return item.typed === undefined
  return item.kind === 'message' && item.addressChange === null && !item.device?.fromMe
}

/** Whether two messages of a person can be recorded at once, with the contact in their events as it was after each. */
function changeAlike(one: PlannedMessage, other: PlannedMessage): boolean {
  return (
    one.reply === null &&
    one.item.isSystem === other.item.isSystem &&
    one.sent.sender.profileName === other.sent.sender.profileName
  )
}

function groupByKeys(items: readonly CallbackItem[]): (item: CallbackItem) => Group {
  const groups = new Map<string, Group>()
  const ofItems = new Map<CallbackItem, Group>()
  for (const item of items) {
    const group: Group = { id: ofItems.size, joined: null, isDeferred: false, round: 0, last: null }
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

/** It could not be read, or reports changes besides its items. */
function isLeft({ templateChanges, connectionChanges, problem }: ReadCallback): boolean {
  return templateChanges.length + connectionChanges.length > 0 || problem !== undefined
}
