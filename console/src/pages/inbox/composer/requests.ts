import type {
  InboxContact,
  ReplyChannel,
  ReplyNumber,
  ThreadMessage,
} from '../../../../../src/model/conversations/inbox.js'
import type { ContentOf, ShownContent } from '../../../../../src/model/messages/shown/schemas.js'
import { api } from '../../../api/client.js'
import type { Member } from '../../../api/types.js'
import { asObject, asObjects, asText } from '../../../shared/json.js'
import { newKey } from '../../../shared/new-key.js'
import { quoteOf } from '../thread/window.js'
import type { FileKind } from './attachments/limits.js'
import type { Attachment } from './attachments/prepare-file.js'
import { toInteractive } from './dialogs/offers.js'
import type { SendRequest, SendResult } from './pending-sends.js'

/** Sender, recipient, channel and reply target of a message. */
export interface Route {
  contact: InboxContact
  channel: ReplyChannel | ReplyNumber | undefined
  me: Member
  /** The number of the conversation's newest message. */
  lastSeq: number
  replyTo: ThreadMessage | null
  /** When it is to be sent, ISO 8601; by default now. */
  scheduledAt?: string
}

/** Fields of the message that is shown until the recorded one arrives. */
type PreviewFields = Partial<ThreadMessage> & Pick<ThreadMessage, 'message_type'>

/** A message sent with POST /send-chat. `fields`: its content. */
export function chatRequest(route: Route, fields: Record<string, unknown>, previewFields: PreviewFields): SendRequest {
  const { contact, channel, replyTo, scheduledAt } = route
  const body = {
    phone_number: contact.chat_id,
    ...(scheduledAt !== undefined && { scheduled_at: scheduledAt }),
    ...senderOf(channel),
    ...(replyTo && { context_message_id: replyTo.id }),
    message_type: previewFields.message_type,
    ...fields,
  }
  return {
    ...framed(route, previewFields),
    post: async (key) => readResult(await api.post('/send-chat', body, { idempotencyKey: key })),
  }
}

/** A file from this device. */
export function fileRequest(route: Route, attachment: Attachment, caption: string): SendRequest {
  const { contact, channel, replyTo, scheduledAt } = route
  const { file, kind } = asSent(attachment)
  const query = {
    scheduled_at: scheduledAt,
    message_type: kind,
    caption,
    filename: kind === 'document' ? file.name : null,
    voice: kind === 'audio' ? attachment.isVoice : null,
    context_message_id: replyTo?.id,
    ...senderOf(channel),
  }
  const previewFields: PreviewFields = {
    message_type: kind,
    media_type: kind,
    message: caption,
    media_url: URL.createObjectURL(file),
    content: contentOfFile(attachment, caption),
    // As stickers are recorded.
    ...(kind === 'sticker' && { media_type: 'image', message: '[sticker]' }),
  }
  return {
    ...framed(route, previewFields),
    post: async (key) =>
      readResult(await api.post(`/contacts/${contact.id}/files`, file, { query, idempotencyKey: key })),
  }
}

/** What sends: the chosen number of several, else an instance, else the default. */
function senderOf(channel: Route['channel']): { from?: string; instance?: string } {
  if (channel && 'from' in channel) return { from: channel.from }
  return channel?.instance ? { instance: channel.instance } : {}
}

/** The file and the message type. */
function asSent({ file, kind, sticker, isSticker }: Attachment): { file: File; kind: FileKind | 'sticker' } {
  return isSticker && sticker ? { file: sticker, kind: 'sticker' } : { file, kind }
}

/** The content of a file as it will be shown. */
function contentOfFile(attachment: Attachment, text: string): ShownContent {
  const { file, kind } = asSent(attachment)
  const { name, type: mime_type } = file
  const caption = text || null
  switch (kind) {
    case 'image':
      return { type: kind, caption, mime_type }
    case 'video':
      return { type: kind, caption, mime_type, animated: false }
    case 'audio':
      return { type: kind, voice: attachment.isVoice, mime_type }
    case 'document':
      return { type: kind, caption, filename: name, mime_type }
    case 'sticker':
      return { type: kind, animated: null, mime_type }
  }
}

/** A template with its values. */
export function templateRequest(
  route: Route,
  fields: Record<string, unknown>,
  previewFields: PreviewFields,
): SendRequest {
  const { contact, channel, scheduledAt } = route
  const { from } = senderOf(channel)
  const body = {
    chatNumber: contact.chat_id,
    ...(from !== undefined && { from }),
    ...(scheduledAt !== undefined && { scheduled_at: scheduledAt }),
    ...fields,
  }
  return {
    ...framed(route, previewFields),
    post: async (key) => {
      const answer = asObject(await api.post('/send-template', body, { idempotencyKey: key }))
      const [result] = asObjects(answer.results)
      const upstreamId = asText(result?.messageId) ?? undefined
      return upstreamId === undefined ? { problem: asText(answer.error) ?? undefined } : { upstreamId }
    },
  }
}

function framed(
  { contact, channel, me, lastSeq, replyTo }: Route,
  previewFields: PreviewFields,
): Omit<SendRequest, 'post'> {
  const preview: ThreadMessage = {
    message: '',
    sender_type: 'human-chat',
    created_at: new Date().toISOString(),
    message_status: 'sent',
    media_type: null,
    media_url: null,
    assignee: { id: me.id, full_name: me.full_name, email: me.email },
    voice_note_transcription: null,
    reactions: [],
    id: newKey(),
    message_id: null,
    context_message_id: replyTo?.id ?? null,
    error: null,
    outcome: 'pending',
    contact_id: contact.id,
    seq: null,
    content: null,
    instance: channel?.instance ?? null,
    context: replyTo && quoteOf(replyTo),
    changed: null,
    ...previewFields,
  }
  return { contactId: contact.id, preview, afterSeq: lastSeq }
}

function readResult(answer: unknown): SendResult {
  return { upstreamId: asText(asObject(asObject(answer).data).message_id) ?? undefined }
}

/** The Idempotency-Key for sending a failed message again: it is sent at most once more. */
export const repeatKey = ({ id }: ThreadMessage): string => `again-${id}`

/** The fields to send a message again. Null for templates and files. */
export function repeatFields({
  message_type,
  message,
  content,
  media_url,
}: ThreadMessage): Record<string, unknown> | null {
  if (media_url !== null) return null
  if (message_type === 'text') return message === '' ? null : { text: message }
  switch (content?.type) {
    case 'location': {
      const { latitude, longitude, name, address } = content
      return { location: { latitude, longitude, name, address } }
    }
    case 'contacts':
      return { contacts: content.contacts.map(toCard) }
    default:
      return message_type === 'interactive' && content ? { interactive: toInteractive(content) } : null
  }
}

/** A shown card as it is sent. */
function toCard({ name, first_name, last_name, phones }: ContentOf<'contacts'>['contacts'][number]) {
  return {
    name: { formatted_name: name, first_name, last_name },
    phones: phones.map(({ phone, type }) => ({ phone, type })),
  }
}
