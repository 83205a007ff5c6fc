import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import { batchStatement } from '../../../database/share.js'
import { batch } from '../../../lib/async/batcher.js'
import { createSemaphore } from '../../../lib/async/semaphore.js'
import { createSerialQueues } from '../../../lib/async/serial-queues.js'
import { isUuid, newId } from '../../../lib/bytes/id.js'
import { asObject, asObjects } from '../../../lib/text/json.js'
import { toStorableDeep } from '../../../lib/text/text.js'
import { GROUP_SERVER } from '../../../model/contacts/contact.js'
import { OPTED_OUT } from '../../../model/messages/message.js'
import { findCallbackBodies } from '../../../storage/messages/callbacks.js'
import {
  type IncomingMessage,
  type Received,
  recordIncomingChange,
  recordIncomingMessage,
  recordIncomingReaction,
  type Sender,
} from '../../../storage/messages/incoming.js'
import { type AppliedStatus, applyStatuses, type ReportedStatus } from '../../../storage/messages/statuses.js'
import { applyReply, readReply } from '../../broadcasts/reply.js'
import { optOutByUpstream } from '../../contacts/opt-outs.js'
import { applyConnectionChanges } from '../../instances/manage/connection-changes.js'
import { applyTemplateChanges } from '../../templates/changes.js'
import { applyAddressChange } from './address-change.js'
import { personAddresses, resolveContact } from './contact-resolution.js'
import { linkUserId } from './link-user-id.js'
import type { AddressChange } from './read-address-change.js'
import { type CallbackItem, type IncomingItem, readCallback } from './read-callback.js'
import { readDeviceCallback } from './read-device-callback.js'

/** Processes stored callbacks. */
export interface CallbackProcessor {
  /** Records the items of one callback. Processing it again changes nothing; a callback that was deleted is skipped. */
  process(organizationId: string, callbackId: string): Promise<void>
}

const MAX_BATCH = 100
/** A callback may hold a thousand items. Recording all at once would use up the connection pool. */
const MAX_RECORDING = 8

/**
 * Creates the callback processor of this process. Bodies read at the same moment are read with one statement, in order.
 * Messages of one person are recorded in the order in which they came, even if jobs run in parallel.
 */
export function createCallbackProcessor(ctx: Context): CallbackProcessor {
  const readBody = batch(
    (callbacks: { organizationId: string; callbackId: string }[]) => findCallbackBodies(ctx.database, callbacks),
    MAX_BATCH,
  )
  const applyStatus = batchStatement((statuses: ReportedStatus[]) => applyStatuses(ctx.database, statuses))
  const inQueues = createSerialQueues()
  const limited = createSemaphore(MAX_RECORDING)
  return {
    process: async (organizationId, callbackId) => {
      const callback = await readBody({ organizationId, callbackId })
      if (callback === null || callback.body.length === 0) return
      const { body, instanceId, isDevice, receivedAt } = callback
      const channel = { organizationId, instanceId }
      // No `await` before the items are queued: they must enter their queues in the order in which they were read.
      const items = isDevice ? readDeviceBody(body) : readCallback(body)
      const recorded = items.map((item) =>
        inQueues(queueKeysOf(organizationId, item), () =>
          item.kind === 'status'
            ? recordStatus(ctx, applyStatus, channel, item)
            : limited(() => processItem(ctx, channel, item)),
        ),
      )
      await Promise.all([
        ...recorded,
        applyTemplateChanges(ctx, organizationId, body),
        applyConnectionChanges(ctx, organizationId, instanceId, body, receivedAt),
      ])
    },
  }
}

/** The format that core/instances/sessions/running-session stores for linked devices. */
function readDeviceBody(body: Buffer): CallbackItem[] {
  const { events } = asObject(toStorableDeep(JSON.parse(body.toString('utf8'))))
  return readDeviceCallback(asObjects(events))
}

/** The channel that a callback came through. */
interface CallbackChannel {
  organizationId: string
  /** Null: the organization's own number. */
  instanceId: string | null
}

/** All addresses of a person share a queue, and so do a message and its statuses. */
function queueKeysOf(organizationId: string, item: CallbackItem): string[] {
  return addressesOf(item).map((address) => `${organizationId} ${address}`)
}

function addressesOf(item: CallbackItem): readonly string[] {
  if (item.kind === 'status') {
    const { upstreamId, messageId, typed } = item
    return [upstreamId, ...(messageId === null ? [] : [messageId]), ...(typed ? addressesOf(typed) : [])]
  }
  if (item.kind === 'address_change') return addressesOfChange(item.addressChange)
  const changed = item.kind === 'message' && item.addressChange ? addressesOfChange(item.addressChange) : []
  return [...personAddresses(item.from).all, ...changed]
}

function addressesOfChange({ from, to }: AddressChange): readonly string[] {
  return [...personAddresses(from).all, ...personAddresses(to).all]
}

async function processItem(
  ctx: Context,
  channel: CallbackChannel,
  item: IncomingItem | Extract<CallbackItem, { kind: 'address_change' }>,
): Promise<void> {
  if (item.kind !== 'address_change') return recordIncoming(ctx, channel, item)
  await changeAddress(ctx, channel, item.addressChange, null, item.createdAt ?? ctx.clock())
}

/** Statuses of the same moment share a statement, so they do not count against the semaphore. */
async function recordStatus(
  ctx: Context,
  applyStatus: (status: ReportedStatus) => Promise<AppliedStatus>,
  { organizationId, instanceId }: CallbackChannel,
  item: Extract<CallbackItem, { kind: 'status' }>,
): Promise<void> {
  const { waId, userId } = item.recipient
  const { messageId, contactId, isLinked } = await applyStatus({
    organizationId,
    instanceId,
    upstreamId: item.upstreamId,
    messageId: item.messageId !== null && isUuid(item.messageId) ? item.messageId : null,
    status: item.status,
    at: item.createdAt ?? ctx.clock(),
    error: item.error,
    alias: waId,
    userAddress: userId === null ? null : `user:${userId}`,
    eventIds: [newId(), newId()],
  })
  if (item.error?.code === OPTED_OUT && messageId !== null) await optOutByUpstream(ctx, organizationId, messageId)
  if (contactId !== null && userId !== null && !isLinked) {
    const observation = { at: item.createdAt ?? ctx.clock(), instanceId }
    await linkUserId(ctx, organizationId, contactId, { waId, userId }, observation)
  }
  if (messageId === null && item.typed) await recordIncoming(ctx, { organizationId, instanceId }, item.typed)
}

/**
 * Maximum attempts to record a message if its contact, or a duplicate of it, is created at the same moment.
 */
const MAX_TRIES = 5

/**
 * Records the message; if the statement does not know the sender, resolves the contact first. Nearly all senders are
 * known.
 */
async function recordIncoming(ctx: Context, channel: CallbackChannel, item: IncomingItem): Promise<void> {
  const { number, all: addresses } = personAddresses(item.from)
  // A message typed on the phone carries the name of the phone's owner.
  const profileName = item.device?.fromMe ? null : item.profileName
  const required = [
    ...(number ? [number.digits] : []),
    ...(item.from.userId === null ? [] : [`user:${item.from.userId}`]),
  ]
  const known: Sender = { addresses, required, hasNumber: number !== null, contactId: null, profileName }
  const observation = { at: item.createdAt ?? ctx.clock(), instanceId: channel.instanceId }
  const addressChange = item.kind === 'message' ? item.addressChange : null
  let contactId = addressChange && (await changeAddress(ctx, channel, addressChange, profileName, observation.at))
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    // A notice in a group is about one member, but belongs to the group.
    const sender = contactId === null || item.author ? known : { ...known, contactId }
    const received = await tryToRecord(ctx, channel, sender, item)
    if (received === 'recorded' || received === 'duplicate') return
    if (received === 'no_contact') {
      contactId = await resolveContact(ctx, channel.organizationId, item.from, profileName, observation)
    }
  }
  throw new Error(`the message ${item.upstreamId} could not be recorded: its contact keeps changing`)
}

/** Resolves to the id of the contact whose address changed. */
async function changeAddress(
  ctx: Context,
  { organizationId, instanceId }: CallbackChannel,
  addressChange: AddressChange,
  profileName: string | null,
  at: Date,
): Promise<string> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const contactId = await applyAddressChange(ctx, organizationId, addressChange, profileName, { at, instanceId })
    if (contactId !== null) return contactId
  }
  throw new Error('a change of address could not be applied: its contacts keep changing')
}

async function tryToRecord(
  ctx: Context,
  { organizationId, instanceId }: CallbackChannel,
  sender: Sender,
  item: IncomingItem,
): Promise<Received | 'again'> {
  try {
    if (item.kind === 'message') {
      const message = toIncomingMessage(ctx, instanceId, item)
      const received = await recordMessage(ctx, organizationId, sender, message)
      if (received === 'recorded' && message.awaitsMedia) ctx.wakeWorkers()
      return received
    }
    const change = {
      id: newId(),
      upstreamId: item.upstreamId,
      text: item.text,
      replyToUpstreamId: item.replyToUpstreamId,
      instanceId,
      sender_type: item.device?.fromMe ? ('human-chat' as const) : ('user-chat' as const),
      network: item.device?.network ?? item.author ?? null,
      created_at: item.createdAt ?? ctx.clock(),
    }
    if (item.kind === 'reaction') {
      return await recordIncomingReaction(ctx.database, organizationId, sender, change, newId())
    }
    const { kind } = item
    return await ctx.database.transaction((transaction) =>
      recordIncomingChange(transaction, organizationId, sender, kind, change, newId()),
    )
  } catch (error) {
    if (isUniqueViolation(error)) return 'again'
    throw error
  }
}

/** The effect of a reply on broadcasts is recorded in the same transaction, so it happens exactly once. */
function recordMessage(
  ctx: Context,
  organizationId: string,
  sender: Sender,
  message: IncomingMessage,
): Promise<Received> {
  // A group is not a recipient of broadcasts, and the wish of one member is not the wish of all.
  const isGroup = sender.addresses.some((address) => address.endsWith(GROUP_SERVER))
  const reply = isGroup ? null : readReply(message)
  if (reply === null) return recordIncomingMessage(ctx.database, organizationId, sender, message, newId())
  return ctx.database.transaction(async (transaction) => {
    const received = await recordIncomingMessage(transaction, organizationId, sender, message, newId())
    if (received === 'recorded') await applyReply(transaction, organizationId, message, reply)
    return received
  })
}

function toIncomingMessage(
  ctx: Context,
  instanceId: string | null,
  item: Extract<CallbackItem, { kind: 'message' }>,
): IncomingMessage {
  const { device } = item
  return {
    id: newId(),
    eventId: newId(),
    upstreamId: item.upstreamId,
    instanceId,
    sender_type: item.isSystem ? 'system' : device?.fromMe ? 'human-chat' : 'user-chat',
    message_type: item.message_type,
    text: item.text,
    media_type: item.media_type,
    content: item.content,
    awaitsMedia: item.awaitsMedia,
    contextUpstreamId: item.contextUpstreamId,
    network: device?.network ?? item.author ?? null,
    created_at: item.createdAt ?? ctx.clock(),
  }
}
