import { createHmac, randomBytes } from 'node:crypto'

/** What is signed: see the three headers. */
export interface SignedWebhook {
  /** The same at every attempt: by it the receiver tells what it has had. Has no dot. */
  id: string
  /** Of this attempt: receivers refuse what is older than some minutes. */
  timestamp: Date
  /** As it goes out. */
  body: string
}

/** The headers of Standard Webhooks 1.0.0. A type, so that it passes as any headers. */
export type WebhookHeaders = {
  'webhook-id': string
  /** Seconds since 1970. */
  'webhook-timestamp': string
  /** One `v1,<base64>` for each secret, separated by spaces. */
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

/** A secret that somebody gives, with or without its prefix, as it is written here: 24 to 64 bytes in base64. Null if it is none. */
export function readWebhookSecret(text: string): string | null {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) return null
  // What Node passes over in silence, such as other letters, the receiver's library may read as other bytes.
  const written = bytes.toString('base64')
  return base64 === written || base64 === written.replace(/=+$/, '') ? PREFIX + written : null
}

/**
 * Signs a webhook with each of the secrets, which have their prefix. While a secret is being replaced there are two; the receiver takes
 * what either has signed. Decoding a secret takes a twentieth of the time of signing, so it is not remembered.
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
