import { useSyncExternalStore } from 'react'
import type { ThreadMessage } from '../../../../../src/model/conversations/inbox.js'
import { ApiError } from '../../../api/client.js'
import { newKey } from '../../../shared/new-key.js'
import { messageOf } from '../../../shared/problem.js'

/** What the service says of a send. */
export interface Sent {
  /** The network's id of the message. */
  upstreamId?: string | undefined
  /** The message's own id. */
  id?: string | undefined
  /** Why it did not leave, where nothing may have been recorded of it. */
  problem?: string | undefined
}

/** A message on its way: shown at once, until the recorded one is there. */
export interface Outgoing {
  /** Its Idempotency-Key: however often it is tried, it is sent once. */
  key: string
  contactId: string
  /** As it will look. */
  preview: ThreadMessage
  /** The newest message when it was sent: the recorded one comes after. */
  afterSeq: number
  state: 'sending' | 'accepted' | 'failed'
  /** What is known of it by now. */
  sent: Sent
  post: (key: string) => Promise<Sent>
}

/** A message that is to be sent. */
export type OutgoingRequest = Pick<Outgoing, 'contactId' | 'preview' | 'afterSeq' | 'post'>

const NONE: readonly Outgoing[] = []
// Outlives the conversation's page: what is on its way stays so when another contact is looked at.
const byContact = new Map<string, readonly Outgoing[]>()
const listeners = new Set<() => void>()
/** When the last message to each contact has been handed over, or has failed. */
const turns = new Map<string, Promise<void>>()

/** The messages to a contact that are on their way, or did not leave. */
export function useOutbox(contactId: string): readonly Outgoing[] {
  return useSyncExternalStore(listen, () => byContact.get(contactId) ?? NONE)
}

/** Sends a message; it shows at once. `key`: its Idempotency-Key, where that is to be the same for each try; one that is on its way is not sent again. */
export function send(request: OutgoingRequest, key = newKey()): void {
  if ((byContact.get(request.contactId) ?? NONE).some((other) => other.key === key)) return
  const outgoing: Outgoing = { ...request, key, state: 'sending', sent: {} }
  write(outgoing.contactId, (all) => [...all, outgoing])
  inTurn(outgoing)
}

/** Tries once more what did not leave. With the same key: where it did leave after all, it is not sent again. */
export function retry(outgoing: Outgoing): void {
  update(outgoing, { state: 'sending', sent: {} })
  inTurn(outgoing)
}

/** Takes a message out: the recorded one shows in its place, or nobody wants it any more. */
export function drop({ contactId, key, preview }: Outgoing): void {
  if (preview.media_url?.startsWith('blob:')) URL.revokeObjectURL(preview.media_url)
  write(contactId, (all) => all.filter((other) => other.key !== key))
}

/** One after the other to each contact: what is said comes in the order in which it was said, however large a file is. */
function inTurn(outgoing: Outgoing): void {
  const { contactId } = outgoing
  turns.set(
    contactId,
    (turns.get(contactId) ?? Promise.resolve()).then(() => attempt(outgoing)),
  )
}

async function attempt(outgoing: Outgoing): Promise<void> {
  try {
    update(outgoing, { state: 'accepted', sent: await outgoing.post(outgoing.key) })
  } catch (error) {
    const recorded = error instanceof ApiError && typeof error.body.id === 'string' ? error.body.id : undefined
    const sent = { id: recorded, problem: messageOf(error) }
    update(outgoing, { state: recorded === undefined ? 'failed' : 'accepted', sent })
  }
}

/** Says of a message what is known by now. */
export function update({ contactId, key }: Outgoing, news: Partial<Outgoing>): void {
  write(contactId, (all) => all.map((other) => (other.key === key ? { ...other, ...news } : other)))
}

function write(contactId: string, change: (all: readonly Outgoing[]) => readonly Outgoing[]): void {
  byContact.set(contactId, change(byContact.get(contactId) ?? NONE))
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * Those that still show: a recorded message may be here before the answer to its send is. Each recorded one stands for one of those
 * that look like it.
 */
export function stillShown(all: readonly Outgoing[], messages: readonly ThreadMessage[]): Outgoing[] {
  const taken = new Set<string>()
  return all.filter((outgoing) => {
    const recorded = messages.findLast((message) => !taken.has(message.id) && isRecordOf(message, outgoing))
    if (recorded) taken.add(recorded.id)
    return !recorded
  })
}

/** Whether the message is the recorded one of what was sent. */
export function isRecordOf(message: ThreadMessage, { sent, preview, afterSeq, state }: Outgoing): boolean {
  if (sent.id !== undefined) return message.id === sent.id
  if (sent.upstreamId !== undefined) return message.message_id === sent.upstreamId
  return (
    state !== 'failed' &&
    message.sender_type === 'human-chat' &&
    (message.seq ?? 0) > afterSeq &&
    message.message_type === preview.message_type &&
    message.message === preview.message
  )
}
