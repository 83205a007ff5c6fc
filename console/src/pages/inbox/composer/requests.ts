import type { InboxContact, ReplyChannel, ThreadMessage } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import type { Member } from '../../../api/types.js'
import { asObject, asObjects, asText } from '../../../shared/json.js'
import { newKey } from '../../../shared/new-key.js'
import { quoteOf } from '../thread/window.js'
import type { SendRequest, SendResult } from './pending-sends.js'

/** From whom to whom a message goes, and what it answers. */
export interface Route {
  contact: InboxContact
  channel: ReplyChannel | undefined
  me: Member
  /** The newest message's number. */
  lastSeq: number
  replyTo: ThreadMessage | null
}

/** What a message looks like before it is recorded. */
type Look = Partial<ThreadMessage> & Pick<ThreadMessage, 'message_type'>

/** A message by send-chat; `fields` beside the recipient. */
export function chatRequest(route: Route, fields: Record<string, unknown>, look: Look): SendRequest {
  const { contact, channel, replyTo } = route
  const body = {
    phone_number: contact.chat_id,
    ...(channel?.instance && { instance: channel.instance }),
    ...(replyTo && { context_message_id: replyTo.id }),
    message_type: look.message_type,
    ...fields,
  }
  return {
    ...framed(route, look),
    post: async (key) => readResult(await api.post('/send-chat', body, { idempotencyKey: key })),
  }
}

/** A file from this device. */
export function fileRequest(route: Route, file: File, kind: string, caption: string): SendRequest {
  const { contact, channel, replyTo } = route
  const query = {
    message_type: kind,
    caption,
    filename: kind === 'document' ? file.name : null,
    context_message_id: replyTo?.id,
    instance: channel?.instance,
  }
  const look: Look = {
    message_type: kind,
    media_type: kind,
    message: caption,
    media_url: URL.createObjectURL(file),
    content: kind === 'document' ? { filename: file.name } : null,
  }
  return {
    ...framed(route, look),
    post: async (key) =>
      readResult(await api.post(`/contacts/${contact.id}/files`, file, { query, idempotencyKey: key })),
  }
}

/** A template, with what fills it. */
export function templateRequest(route: Route, fields: Record<string, unknown>, look: Look): SendRequest {
  const body = { chatNumber: route.contact.chat_id, ...fields }
  return {
    ...framed(route, look),
    post: async (key) => {
      const answer = asObject(await api.post('/send-template', body, { idempotencyKey: key }))
      const [result] = asObjects(answer.results)
      const upstreamId = asText(result?.messageId) ?? undefined
      return upstreamId === undefined ? { problem: asText(answer.error) ?? undefined } : { upstreamId }
    },
  }
}

function framed({ contact, channel, me, lastSeq, replyTo }: Route, look: Look): Omit<SendRequest, 'post'> {
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
    ...look,
  }
  return { contactId: contact.id, preview, afterSeq: lastSeq }
}

function readResult(answer: unknown): SendResult {
  return { upstreamId: asText(asObject(asObject(answer).data).message_id) ?? undefined }
}

/** The key with which a message is sent once more: however often that is asked for, it is sent once. */
export const repeatKey = ({ id }: ThreadMessage): string => `again-${id}`

/** What has to be said to send the message once more; null where its file is not at hand, or it is a template. */
export function repeatFields({
  message_type,
  message,
  content,
  media_url,
}: ThreadMessage): Record<string, unknown> | null {
  if (media_url !== null) return null
  switch (message_type) {
    case 'text':
      return message === '' ? null : { text: message }
    case 'location':
      return { location: content }
    case 'contacts':
      return { contacts: content }
    case 'interactive':
      return { interactive: content }
    default:
      return null
  }
}
