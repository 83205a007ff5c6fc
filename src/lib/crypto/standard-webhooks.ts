import { createHmac, randomBytes } from 'node:crypto'

export interface SignedWebhook {
  /** The same at every attempt, so that the receiver can recognize duplicates. Contains no dot. */
  id: string
  /** The time of this attempt; receivers refuse old ones. */
  timestamp: Date
  /** The exact bytes that are sent. */
  body: string
}

/** The headers of Standard Webhooks 1.0.0. A type alias, so that it is assignable to header records. */
export type WebhookHeaders = {
  'webhook-id': string
  /** Unix seconds. */
  'webhook-timestamp': string
  /** One `v1,<base64>` per secret, separated by spaces. */
  'webhook-signature': string
}

const PREFIX = 'whsec_'
const NEW_SECRET_BYTES = 32
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

/** A new secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64')
}

/** Normalizes a given secret, with or without its prefix: 24 to 64 bytes in base64. Null if it is not one. */
export function readWebhookSecret(text: string): string | null {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) return null
  // Node ignores invalid characters, but the receiver's library may read them as other bytes.
  const written = bytes.toString('base64')
  return base64 === written || base64 === written.replace(/=+$/, '') ? PREFIX + written : null
}

/**
 * Signs a webhook with each of the prefixed secrets. During a rotation there are two, and the receiver accepts either.
 * Decoded secrets are not cached: decoding takes a twentieth of the time of signing.
 */
export function signWebhook(secrets: readonly string[], { id, timestamp, body }: SignedWebhook): WebhookHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000))
  const content = `${id}.${seconds}.${body}`
  const signatures = secrets.map((secret) => `v1,${hmac(secret, content)}`)
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}

function hmac(secret: string, content: string): string {
  return createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(content)
    .digest('base64')
}
