import { type Contact, toIso } from '../contacts/contact.js'
import type { MediaAddress, ShownMessage } from '../messages/message.js'
import type { EventData, EventRow } from '../webhooks/event.js'
import { chatOf, type GatewayMessage, isFromMe, presentGatewayMessage } from './gateway-message.js'
import { channelIdOf, type Instance } from './instance.js'

/** What is told to the webhook of an instance, as `event` of the envelope (facts 4). */
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

/** A code to be scanned, in clear. */
export interface ShownCode {
  code: string | null
  pairingCode: string | null
  /** The QR code as a PNG in a data URL; null where there is none. */
  base64: string | null
}

/** Where an event goes. */
export interface GatewayTarget {
  instance: WebhookInstance
  /** As it was set. */
  url: string
  /** Where the gateway is reached. */
  serverUrl: string
}

/** What an event is called where it goes to the webhook of this instance; null where it does not concern the instance. */
export function gatewayEventFor(event: EventRow, instance: WebhookInstance): GatewayEventName | null {
  return concerns(event.data, instance) ? gatewayEventOf(event) : null
}

/** What an event is called by the gateway, whatever instance it is for; null where the gateway has no such event. */
export function gatewayEventOf({ type, data }: Pick<EventRow, 'type' | 'data'>): GatewayEventName | null {
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
    case 'instance.message_edited':
      return 'messages.edited'
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

/** What the event tells (facts 4, `data`); `code` is shown of a qrcode.updated alone. The same at every time. */
export function presentGatewayData(
  event: EventRow,
  instance: WebhookInstance,
  code: ShownCode,
  mediaAddress: MediaAddress,
): object | null {
  const { message, contact } = event.data
  if (message && contact) {
    return presentAboutMessage(event, presentGatewayMessage(message, chatOf(contact), instance.id, mediaAddress))
  }
  if (contact) return presentContact(contact, instance)
  if (event.type === 'instance.qrcode') return { qrcode: { instance: instance.name, ...code } }
  return event.data.connection ? presentConnection(event.data, event.data.connection, instance) : null
}

/** The envelope around it. The key is never in it. */
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

/** Messages belong to the connection that they went through, contacts to all instances of the organization. */
function concerns({ message, instance: subject }: EventData, instance: WebhookInstance): boolean {
  if (message) return (message.instance_id ?? null) === channelIdOf(instance)
  return subject === undefined || subject.id === instance.id
}

/** By the organization, and not on the phone that an instance is linked with. */
function isSentByUs(message: ShownMessage | undefined): boolean {
  return message !== undefined && isFromMe(message) && message.network?.fromPhone !== true
}

function presentAboutMessage({ type, data, created_at }: EventRow, shown: GatewayMessage): object {
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
    case 'instance.message_edited': {
      const editedMessage = { conversation: data.message?.text ?? '' }
      return { key, type: 'MESSAGE_EDIT', editedMessage, timestampMs: new Date(created_at).getTime(), instanceId }
    }
    case 'instance.message_deleted':
      return { ...key, ...shown, status: 'DELETED' }
    default:
      return shown
  }
}

/** One scale for all kinds of connection. */
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
