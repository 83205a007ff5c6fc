import { type Contact, toIso } from '../contacts/contact.js'
import type { MediaAddress, ShownMessage } from '../messages/message.js'
import type { EventData, EventRow } from '../webhooks/event.js'
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
    default:
      return null
  }
}

/** The `data` of the event; `code` is included only in qrcode.updated. Always the same for the same event. */
export function presentGatewayData(
  event: EventRow,
  instance: WebhookInstance,
  code: ShownCode,
  mediaAddress: MediaAddress,
): object | null {
  const { message, contact } = event.data
  if (message && contact) {
    return presentMessageUpdate(event, presentGatewayMessage(message, chatOf(contact), instance.id, mediaAddress))
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

function presentMessageUpdate({ type, data, created_at }: EventRow, shown: GatewayMessage): object {
  const { key, instanceId } = shown
  switch (type) {
    case 'message.delivered':
    case 'message.read':
    case 'message.failed':
      return {
        messageId: data.message?.id,
        keyId: key.id,
        remoteJid: key.remoteJid,
        fromMe: key.fromMe,
        participant: key.participant,
        status: UPDATED_STATUS[type],
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

/** The same names for all kinds of channel. */
const UPDATED_STATUS = {
  'message.delivered': 'DELIVERY_ACK',
  'message.read': 'READ',
  'message.failed': 'ERROR',
} as const

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
