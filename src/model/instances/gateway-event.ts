import { type Contact, toIso } from '../contacts/contact.js'
import { CALL, readCall } from '../messages/call.js'
import { GROUP, type GroupEvent, readGroupChange } from '../messages/group-change.js'
import type { MediaAddress, ShownMessage } from '../messages/message.js'
import type { EventData, EventRow, GatewaySignal } from '../webhooks/event.js'
import { chatOf, type GatewayMessage, isFromMe, presentGatewayMessage } from './gateway-message.js'
import { channelIdOf, type Instance } from './instance.js'

/** The `event` of the envelope that is sent to an instance's webhook. */
export type GatewayEventName =
  | 'messages.upsert'
  | 'send.message'
  | 'messages.update'
  | 'messages.edited'
  | 'messages.delete'
  | 'contacts.upsert'
  | 'contacts.update'
  | 'connection.update'
  | 'qrcode.updated'
  | 'logout.instance'
  | 'presence.update'
  | 'call'
  | 'groups.upsert'
  | 'groups.update'
  | 'group-participants.update'

/** What events for a webhook need to know of its instance. */
export type WebhookInstance = Pick<Instance, 'id' | 'name' | 'kind' | 'phone_number_id' | 'owner'>

/** A code to be scanned, decrypted. */
export interface ShownCode {
  code: string | null
  pairingCode: string | null
  /** The QR code as a PNG in a data URL; null if there is none. */
  base64: string | null
}

/** The destination of an event. */
export interface GatewayTarget {
  instance: WebhookInstance
  /** As configured. */
  url: string
  /** The gateway's URL. */
  serverUrl: string
}

/** The event's name for this instance's webhook; null if it does not concern the instance. */
export function gatewayEventFor(event: EventRow, instance: WebhookInstance): GatewayEventName | null {
  // Only the business API has a word for it; of other kinds, send.message says so.
  if (event.type === 'instance.message_sent' && instance.kind !== 'business_api') return null
  return concerns(event.data, instance) ? gatewayEventOf(event) : null
}

/**
 * The event's name in the gateway, for any instance; null if the gateway has no such event. Stored events of versions
 * before 1.1 name edits and deletions `instance.message_…`.
 */
export function gatewayEventOf({ type, data }: Pick<EventRow, 'type' | 'data'>): GatewayEventName | null {
  // Clients of the gateway would answer what WhatsApp's own agent answers.
  if (data.message?.handled_by) return null
  switch (type) {
    case 'message.received':
      return data.message?.sender_type === 'system' ? null : 'messages.upsert'
    case 'message.sent':
    case 'message.reaction':
      return isSentByUs(data.message) ? 'send.message' : 'messages.upsert'
    case 'message.delivered':
    case 'message.read':
    case 'message.failed':
    case 'instance.message_sent':
      return 'messages.update'
    case 'message.edited':
    case 'instance.message_edited':
      return 'messages.edited'
    case 'message.deleted':
    case 'instance.message_deleted':
      return 'messages.delete'
    case 'contact.created':
      return 'contacts.upsert'
    case 'contact.updated':
      return 'contacts.update'
    case 'instance.state':
      return 'connection.update'
    case 'instance.qrcode':
      return 'qrcode.updated'
    case 'instance.logged_out':
      return 'logout.instance'
    case 'group.updated':
      return data.message ? groupEventOf(data.message) : null
    case 'instance.signal':
      return data.signal?.event ?? null
    case 'call.missed':
    case 'call.ended':
      return 'call'
    default:
      return null
  }
}

/** The `data` of the event; `code` is included only in qrcode.updated. */
export function presentGatewayData(
  event: EventRow,
  instance: WebhookInstance,
  code: ShownCode,
  mediaAddress: MediaAddress,
): object | null {
  const { message, contact, signal } = event.data
  if (signal) return presentSignal(signal, instance)
  if (message && contact) {
    if (message.message_type === GROUP) return presentGroupEvent(message, contact)
    if (message.message_type === CALL) return presentCall(message, contact)
    const shown = presentGatewayMessage(message, chatOf(contact), instance.id, mediaAddress)
    return presentMessageUpdate(event, shown, instance.kind)
  }
  if (contact) return presentContact(contact, instance)
  if (event.type === 'instance.qrcode') return { qrcode: { instance: instance.name, ...code } }
  return event.data.connection ? presentConnection(event.data, event.data.connection, instance) : null
}

/** The envelope of an event. It never contains the API key. */
export function presentGatewayEvent(
  event: EventRow,
  name: GatewayEventName,
  { instance, url, serverUrl }: GatewayTarget,
  data: object | null,
) {
  return {
    event: name,
    instance: instance.name,
    data,
    destination: url,
    date_time: toIso(event.created_at),
    sender: jidOfOwner(instance.owner) ?? '',
    server_url: serverUrl,
    apikey: null,
  }
}

/** Messages belong to their channel, contacts to all instances of the organization. */
function concerns({ message, instance: subject }: EventData, instance: WebhookInstance): boolean {
  if (message) return (message.instance_id ?? null) === channelIdOf(instance)
  return subject === undefined || subject.id === instance.id
}

/** Sent by Parley, not typed on the phone. */
function isSentByUs(message: ShownMessage | undefined): boolean {
  return message !== undefined && isFromMe(message) && message.network?.fromPhone !== true
}

function presentMessageUpdate(
  { type, data, created_at }: EventRow,
  shown: GatewayMessage,
  kind: Instance['kind'],
): object {
  const { key, instanceId } = shown
  switch (type) {
    case 'message.delivered':
    case 'message.read':
    case 'message.failed':
    case 'instance.message_sent':
      return {
        messageId: data.message?.id,
        keyId: key.id,
        remoteJid: key.remoteJid,
        fromMe: key.fromMe,
        participant: key.participant,
        status: (kind === 'business_api' ? BUSINESS_STATUS : UPDATED_STATUS)[type],
        instanceId,
      }
    case 'message.edited':
    case 'instance.message_edited': {
      const editedMessage = { conversation: data.message?.text ?? '' }
      return { key, type: 'MESSAGE_EDIT', editedMessage, timestampMs: new Date(created_at).getTime(), instanceId }
    }
    case 'message.deleted':
    case 'instance.message_deleted':
      return { ...key, ...shown, status: 'DELETED' }
    default:
      return shown
  }
}

const UPDATED_STATUS = {
  'instance.message_sent': 'SERVER_ACK',
  'message.delivered': 'DELIVERY_ACK',
  'message.read': 'READ',
  'message.failed': 'ERROR',
} as const

/** The business API's own words, as clients know them of its instances. */
const BUSINESS_STATUS = {
  'instance.message_sent': 'SENT',
  'message.delivered': 'DELIVERED',
  'message.read': 'READ',
  'message.failed': 'FAILED',
} as const

/** Votes are updates of their polls, which name the instance as all updates do. */
function presentSignal({ event, data }: GatewaySignal, { id }: WebhookInstance): object {
  return event === 'messages.update' ? { ...data, instanceId: id } : data
}

const PARTICIPANT_ACTIONS: Partial<Record<GroupEvent, string>> = {
  joined: 'add',
  left: 'remove',
  promoted: 'promote',
  demoted: 'demote',
}

/** How clients know a change of a group of the business API; null for those that linked devices do not have. */
function groupEventOf({ content }: ShownMessage): GatewayEventName | null {
  const change = readGroupChange(content)
  if (change === null) return null
  if (change.event === 'created') return 'groups.upsert'
  if (PARTICIPANT_ACTIONS[change.event] !== undefined) return 'group-participants.update'
  return change.event === 'renamed' || change.event === 'described' ? 'groups.update' : null
}

function presentGroupEvent({ content }: ShownMessage, contact: Contact): object | null {
  const change = readGroupChange(content)
  if (change === null) return null
  const { event, subject, description, people } = change
  const { jid } = chatOf(contact)
  const action = PARTICIPANT_ACTIONS[event]
  if (action !== undefined) {
    const participants = people.flatMap(({ phone_number, user_id }) => {
      const jidOfNumber = jidOfOwner(phone_number?.slice(1) ?? null)
      return jidOfNumber ?? user_id ?? []
    })
    return { id: jid, participants, action }
  }
  return [{ id: jid, ...(subject !== null && { subject }), ...(description !== null && { desc: description }) }]
}

/** The network's words for how a call ended. */
const CALL_STATUS = { missed: 'timeout', answered: 'terminate', rejected: 'reject', failed: 'timeout' } as const

function presentCall({ content, upstream_id, id, created_at }: ShownMessage, contact: Contact): object | null {
  const call = readCall(content)
  if (call === null) return null
  const { jid } = chatOf(contact)
  return {
    chatId: jid,
    from: jid,
    id: upstream_id ?? id,
    date: toIso(created_at),
    status: CALL_STATUS[call.outcome],
    isGroup: false,
  }
}

function presentContact(contact: Contact, { id }: WebhookInstance) {
  const { jid, pushName } = chatOf(contact)
  return { remoteJid: jid, pushName, profilePicUrl: null, instanceId: id }
}

const DONE = 200

function presentConnection(
  { instance: subject }: EventData,
  { state, statusReason }: NonNullable<EventData['connection']>,
  { name }: WebhookInstance,
) {
  const profile = {
    wuid: jidOfOwner(subject?.owner ?? null),
    profileName: subject?.profile_name ?? null,
    profilePictureUrl: subject?.profile_picture_url ?? null,
  }
  return { instance: name, state, statusReason: statusReason ?? DONE, ...(state === 'open' && profile) }
}

function jidOfOwner(owner: string | null): string | null {
  return owner === null ? null : `${owner}@s.whatsapp.net`
}
