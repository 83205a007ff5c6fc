import { hash, randomBytes } from 'node:crypto'

const idBytes = 21
const sequenceOffset = 15
const run = randomBytes(sequenceOffset)
let sequence = 0

/** A message id in the upstream's form. Unique across restarts too, because the service identifies messages by it. */
export function newMessageId(): string {
  sequence += 1
  const bytes = Buffer.allocUnsafe(idBytes)
  run.copy(bytes)
  bytes.writeUIntBE(sequence, sequenceOffset, idBytes - sequenceOffset)
  return `wamid.${bytes.toString('base64')}`
}

/** The id of a call, in the upstream's form. */
export function newCallId(): string {
  return `wacid.${randomBytes(idBytes).toString('base64')}`
}

/** The trace id that the upstream puts in every error body. */
export function newTraceId(): string {
  return `A${randomBytes(16).toString('base64url')}`
}

/** The id of the conversation between a business number and a recipient. All statuses of the pair have the same id. */
export function conversationId(phoneNumberId: string, recipient: string): string {
  return hash('sha256', `${phoneNumberId} ${recipient}`, 'hex').slice(0, 32)
}
