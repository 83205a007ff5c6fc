import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { shareStatement } from '../../database/share.js'
import { coalesce } from '../../lib/coalesce.js'
import { isUuid, newId } from '../../lib/id.js'
import { asObject, asObjects } from '../../lib/json.js'
import { toStorableDeep } from '../../lib/text.js'
import { OPTED_OUT } from '../../model/message.js'
import { findCallbackBodies } from '../../storage/callbacks.js'
import {
  type IncomingMessage,
  type Received,
  recordIncomingChange,
  recordIncomingMessage,
  recordIncomingReaction,
  type Sender,
} from '../../storage/incoming-messages.js'
import { applyStatuses, type ReportedStatus } from '../../storage/message-statuses.js'
import { applyReply, readReply } from '../broadcasts/reply.js'
import { applyConnectionChanges } from '../instances/connection-changes.js'
import { optOutByUpstream } from '../opt-outs.js'
import { applyTemplateChanges } from '../templates/changes.js'
import { createLanes } from './lanes.js'
import { createLimit } from './limit.js'
import { ensurePersonContact, movePerson, personAddresses } from './person.js'
import { type CallbackItem, type IncomingItem, readCallback } from './read-callback.js'
import { readDeviceCallback } from './read-device-callback.js'

/** Works stored callbacks off. */
export interface CallbackProcessor {
  /** Records what one callback tells; done again it changes nothing. A callback that is gone is left alone. */
  process(organizationId: string, callbackId: string): Promise<void>
}

const MAX_BATCH = 100
/** A callback may hold a thousand things; recorded all at once they would leave nobody else a connection. */
const MAX_RECORDING = 8

/**
 * Makes the processor of a process. Bodies that are wanted together are read together and in order, and what one person
 * sends is recorded in the order in which it came, however many jobs run side by side.
 */
export function createCallbackProcessor(ctx: Context): CallbackProcessor {
  const readBody = coalesce(
    (wanted: { organizationId: string; callbackId: string }[]) => findCallbackBodies(ctx.database, wanted),
    MAX_BATCH,
  )
  const applyStatus = shareStatement((statuses: ReportedStatus[]) => applyStatuses(ctx.database, statuses))
  const inLanes = createLanes()
  const inTurn = createLimit(MAX_RECORDING)
  return {
    process: async (organizationId, callbackId) => {
      const callback = await readBody({ organizationId, callbackId })
      if (callback === null || callback.body.length === 0) return
      const { body, instanceId, isDevice, receivedAt } = callback
      const line = { organizationId, instanceId }
      // Without a pause: callbacks enter the lanes in the order in which they were read.
      const items = isDevice ? readDeviceBody(body) : readCallback(body)
      const recorded = items.map((item) =>
        inLanes(lanesOf(organizationId, item), () =>
          item.kind === 'status' ? recordStatus(ctx, applyStatus, line, item) : inTurn(() => record(ctx, line, item)),
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

/** What core/instances/running-session stores of a linked device. */
function readDeviceBody(body: Buffer): CallbackItem[] {
  const { events } = asObject(toStorableDeep(JSON.parse(body.toString('utf8'))))
  return readDeviceCallback(asObjects(events))
}

/** The connection that a callback came through. */
interface CallbackLine {
  organizationId: string
  /** Null: the organization's own number. */
  instanceId: string | null
}

/** Whoever is one person, by one address or by another, is in one lane; and so is a message with its statuses. */
function lanesOf(organizationId: string, item: CallbackItem): string[] {
  return addressesOf(item).map((address) => `${organizationId} ${address}`)
}

function addressesOf(item: CallbackItem): readonly string[] {
  if (item.kind === 'status') {
    const { upstreamId, messageId, typed } = item
    return [upstreamId, ...(messageId === null ? [] : [messageId]), ...(typed ? addressesOf(typed) : [])]
  }
  const movedTo = item.kind === 'message' && item.movedTo ? personAddresses(item.movedTo).all : []
  return [...personAddresses(item.from).all, ...movedTo]
}

async function record(ctx: Context, line: CallbackLine, item: IncomingItem): Promise<void> {
  await recordIncoming(ctx, line, item)
  if (item.kind === 'message' && item.movedTo) await movePerson(ctx, line.organizationId, item.from, item.movedTo)
}

/** Statuses of the same moment share a statement, so they wait for no turn. */
async function recordStatus(
  ctx: Context,
  applyStatus: (status: ReportedStatus) => Promise<{ messageId: string | null }>,
  { organizationId, instanceId }: CallbackLine,
  item: Extract<CallbackItem, { kind: 'status' }>,
): Promise<void> {
  const { messageId } = await applyStatus({
    organizationId,
    instanceId,
    upstreamId: item.upstreamId,
    messageId: item.messageId !== null && isUuid(item.messageId) ? item.messageId : null,
    status: item.status,
    at: item.createdAt ?? ctx.clock(),
    error: item.error,
    alias: item.recipient.waId,
    eventIds: [newId(), newId()],
  })
  if (item.error?.code === OPTED_OUT && messageId !== null) await optOutByUpstream(ctx, organizationId, messageId)
  if (messageId === null && item.typed) await record(ctx, { organizationId, instanceId }, item.typed)
}

/** How often a message is recorded anew when its contact or a twin of it comes in between. */
const MAX_TRIES = 5

/** The contact is made when the first statement does not find it: nearly every message is of a known one. */
async function recordIncoming(ctx: Context, line: CallbackLine, item: IncomingItem): Promise<void> {
  const { all: addresses, digits } = personAddresses(item.from)
  // What the phone sent bears the name of the phone's owner.
  const profileName = item.device?.fromMe ? null : item.profileName
  const sender = { addresses, hasNumber: digits !== null, profileName }
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const received = await tryToRecord(ctx, line, sender, item)
    if (received === 'recorded' || received === 'duplicate') return
    if (received === 'no_contact') await ensurePersonContact(ctx, line.organizationId, item.from, profileName)
  }
  throw new Error(`the message ${item.upstreamId} could not be recorded: its contact keeps changing`)
}

async function tryToRecord(
  ctx: Context,
  { organizationId, instanceId }: CallbackLine,
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
      aboutUpstreamId: item.aboutUpstreamId,
      instanceId,
      sender_type: item.device?.fromMe ? ('human-chat' as const) : ('user-chat' as const),
      network: item.device?.network ?? null,
      created_at: item.createdAt ?? ctx.clock(),
    }
    if (item.kind === 'reaction') {
      return await recordIncomingReaction(ctx.database, organizationId, sender.addresses, change, newId())
    }
    const { kind } = item
    return await ctx.database.transaction((transaction) =>
      recordIncomingChange(transaction, organizationId, sender.addresses, kind, change, newId()),
    )
  } catch (error) {
    if (isUniqueViolation(error)) return 'again'
    throw error
  }
}

/** What a reply means for broadcasts is done in the transaction that records it: neither without the other, and once. */
function recordMessage(
  ctx: Context,
  organizationId: string,
  sender: Sender,
  message: IncomingMessage,
): Promise<Received> {
  const reply = readReply(message)
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
    network: device?.network ?? null,
    created_at: item.createdAt ?? ctx.clock(),
  }
}
