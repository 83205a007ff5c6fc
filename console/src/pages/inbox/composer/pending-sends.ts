import { useSyncExternalStore } from 'react'
import type { ThreadMessage } from '../../../../../src/model/conversations/inbox.js'
import { ApiError } from '../../../api/client.js'
import { newKey } from '../../../shared/new-key.js'
import { messageOf } from '../../../shared/problem.js'

/** The service's answer to a send. */
export interface SendResult {
  /** WhatsApp's id of the message. */
  upstreamId?: string | undefined
  /** The message's own id. */
  id?: string | undefined
  /** Why it failed, if the service may not have recorded the message. */
  problem?: string | undefined
}

/** A message that is not confirmed yet. It is shown until the recorded message arrives. */
export interface PendingSend {
  /** The Idempotency-Key: retries send the message only once. */
  key: string
  contactId: string
  /** The message as the thread shows it. */
  preview: ThreadMessage
  /** The newest message's number at the time of the send; the recorded message has a higher one. */
  afterSeq: number
  state: 'sending' | 'accepted' | 'failed'
  result: SendResult
  post: (key: string) => Promise<SendResult>
}

/** A message to send. */
export type SendRequest = Pick<PendingSend, 'contactId' | 'preview' | 'afterSeq' | 'post'>

const NONE: readonly PendingSend[] = []
// Outside of React, so that sends continue when another conversation is opened.
const byContact = new Map<string, readonly PendingSend[]>()
const listeners = new Set<() => void>()
/** By contact: settled when the last message has been accepted or has failed. */
const queues = new Map<string, Promise<void>>()

/** The messages to a contact that are not confirmed, or have failed. */
export function usePendingSends(contactId: string): readonly PendingSend[] {
  return useSyncExternalStore(listen, () => byContact.get(contactId) ?? NONE)
}

/** Sends a message, which shows at once. Does nothing if a send with the same `key` (its Idempotency-Key) is pending. */
export function send(request: SendRequest, key = newKey()): void {
  if ((byContact.get(request.contactId) ?? NONE).some((other) => other.key === key)) return
  const pending: PendingSend = { ...request, key, state: 'sending', result: {} }
  write(pending.contactId, (all) => [...all, pending])
  enqueue(pending)
}

/** Retries a failed send with the same key: if the first attempt went through after all, nothing is sent twice. */
export function retry(pending: PendingSend): void {
  update(pending, { state: 'sending', result: {} })
  enqueue(pending)
}

/** Removes a pending send that is confirmed or discarded. */
export function drop({ contactId, key, preview }: PendingSend): void {
  releaseFile(preview)
  write(contactId, (all) => all.filter((other) => other.key !== key))
}

/** Releases the file that a preview shows. */
function releaseFile({ media_url }: ThreadMessage): void {
  if (media_url?.startsWith('blob:')) URL.revokeObjectURL(media_url)
}

/** One of the messages that are written at once and sent later. */
export interface LaterPart {
  request: SendRequest
  /** What it is among them; it stays the same when others are gone. */
  name: string
  onAccepted?: () => void
}

/**
 * Hands over messages that are to be sent later, one after the other; they do not show in the conversation. `key`:
 * repeated with the same one and the same messages, it schedules none of them twice. Throws ApiError.
 */
export async function schedule(parts: readonly LaterPart[], key: string): Promise<void> {
  try {
    for (const { request, name, onAccepted } of parts) {
      await request.post(`${key}-${name}`)
      onAccepted?.()
    }
  } finally {
    for (const { request } of parts) releaseFile(request.preview)
  }
}

/** Sends to one contact go one after the other, so that messages keep their order even after a large file. */
function enqueue(pending: PendingSend): void {
  const { contactId } = pending
  queues.set(
    contactId,
    (queues.get(contactId) ?? Promise.resolve()).then(() => attempt(pending)),
  )
}

async function attempt(pending: PendingSend): Promise<void> {
  try {
    update(pending, { state: 'accepted', result: await pending.post(pending.key) })
  } catch (error) {
    const recorded = error instanceof ApiError && typeof error.body.id === 'string' ? error.body.id : undefined
    const result = { id: recorded, problem: messageOf(error) }
    update(pending, { state: recorded === undefined ? 'failed' : 'accepted', result })
  }
}

/** Changes fields of a pending send. */
export function update({ contactId, key }: PendingSend, changes: Partial<PendingSend>): void {
  write(contactId, (all) => all.map((other) => (other.key === key ? { ...other, ...changes } : other)))
}

function write(contactId: string, change: (all: readonly PendingSend[]) => readonly PendingSend[]): void {
  byContact.set(contactId, change(byContact.get(contactId) ?? NONE))
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * The pending sends whose recorded message is not in `messages`. A recorded message may arrive before the answer to its send;
 * it then confirms one pending send that looks like it.
 */
export function unconfirmed(all: readonly PendingSend[], messages: readonly ThreadMessage[]): PendingSend[] {
  const taken = new Set<string>()
  return all.filter((pending) => {
    const recorded = messages.findLast((message) => !taken.has(message.id) && isRecordOf(message, pending))
    if (recorded) taken.add(recorded.id)
    return !recorded
  })
}

/** Whether the message is the recorded message of the send. */
export function isRecordOf(message: ThreadMessage, { result, preview, afterSeq, state }: PendingSend): boolean {
  if (result.id !== undefined) return message.id === result.id
  if (result.upstreamId !== undefined) return message.message_id === result.upstreamId
  return (
    state !== 'failed' &&
    message.sender_type === 'human-chat' &&
    (message.seq ?? 0) > afterSeq &&
    message.message_type === preview.message_type &&
    message.message === preview.message
  )
}
