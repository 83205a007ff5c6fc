import type { ContactCard, RawTemplate, ReadyContent } from '../model/messages/content.js'
import type { BusinessNumber, UpstreamClient } from '../upstream/client.js'
import type * as wire from '../upstream/wire.js'
import { toInteractive } from './business-interactive.js'
import { optional, toReference } from './business-parts.js'
import { toTemplate } from './business-template.js'
import type { ChannelDriver, DriverMessage, Recipient } from './driver.js'

/** The driver of a number at the upstream's business API. */
export function businessApiDriver(upstream: UpstreamClient, number: BusinessNumber): ChannelDriver {
  return {
    upload: (file, timeoutMs) => upstream.uploadMedia(number, file, timeoutMs),
    send: async (message, timeoutMs) => {
      const outcome = await upstream.send(number, toOutbound(message), timeoutMs)
      // A group's id is in the place of the number, which would become another form of the contact's.
      return outcome.outcome === 'accepted' && 'group' in message.recipient
        ? { ...outcome, waId: null, userId: null }
        : outcome
    },
  }
}

/** Converts a message to the upstream's format. */
export function toOutbound({ id, recipient, content, replyToUpstreamId }: DriverMessage): wire.OutboundMessage {
  // A reaction names its message in its own payload.
  const isReply = replyToUpstreamId !== null && content.type !== 'reaction'
  return {
    messaging_product: 'whatsapp',
    ...toRecipient(recipient),
    ...(isReply ? { context: { message_id: replyToUpstreamId } } : {}),
    biz_opaque_callback_data: id,
    ...toPayload(content, replyToUpstreamId ?? ''),
  }
}

function toRecipient(recipient: Recipient): wire.OutboundRecipient {
  if ('group' in recipient) return { recipient_type: 'group', to: recipient.group }
  return {
    recipient_type: 'individual',
    ...('phone' in recipient ? { to: recipient.phone } : { recipient: recipient.userId }),
  }
}

function toPayload(content: ReadyContent, replyToUpstreamId: string): wire.OutboundContent {
  switch (content.type) {
    case 'text': {
      const { text, linkPreview } = content
      return { type: 'text', text: { body: text, ...(linkPreview === undefined ? {} : { preview_url: linkPreview }) } }
    }
    case 'image':
      return { type: 'image', image: { ...toReference(content), ...optional('caption', content.caption) } }
    case 'video':
      return { type: 'video', video: { ...toReference(content), ...optional('caption', content.caption) } }
    case 'audio':
      return { type: 'audio', audio: { ...toReference(content), ...(content.voice ? { voice: true } : {}) } }
    case 'sticker':
      return { type: 'sticker', sticker: toReference(content) }
    case 'document': {
      const { caption, filename } = content
      const document = { ...toReference(content), ...optional('caption', caption), ...optional('filename', filename) }
      return { type: 'document', document }
    }
    case 'location': {
      const { latitude, longitude, name, address } = content
      const location = { latitude, longitude, ...optional('name', name), ...optional('address', address) }
      return { type: 'location', location }
    }
    case 'contacts':
      return { type: 'contacts', contacts: content.contacts.map(toCard) }
    case 'interactive':
      return { type: 'interactive', interactive: toInteractive(content.interactive, content.header) }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: replyToUpstreamId, emoji: content.emoji } }
    case 'poll': {
      const { name, options, selectableCount } = content
      return { type: 'poll', poll: { name, options: [...options], selectable_count: selectableCount } }
    }
    case 'template':
      return { type: 'template', template: toTemplate(content) }
    case 'raw_template': {
      const { name, language, components } = content
      return { type: 'template', template: { name, language: { code: language }, components: asGiven(components) } }
    }
  }
}

/** Components that a client wrote in the upstream's format are passed on; the upstream validates them. */
function asGiven(components: RawTemplate['components']): wire.TemplateComponent[] {
  return components as wire.TemplateComponent[]
}

function toCard({ name, phones, organization, email, url }: ContactCard): wire.ContactCardPayload {
  const { formatted_name, first_name, last_name } = name
  return {
    name: { formatted_name, first_name, ...optional('last_name', last_name) },
    phones: phones.map(({ phone, type, wa_id }) => ({
      phone,
      ...optional('type', type),
      ...optional('wa_id', wa_id ?? null),
    })),
    ...(organization ? { org: { company: organization } } : {}),
    ...(email ? { emails: [{ email }] } : {}),
    ...(url ? { urls: [{ url }] } : {}),
  }
}
