import type { SecretBox } from '../../lib/crypto/secret-box.js'
import type { Webhook } from '../../model/webhooks/webhook.js'

type Secrets = Pick<Webhook, 'organization_id' | 'secret' | 'previous_secret' | 'previous_secret_until'>

/** Encrypts a webhook's secret for storage. */
export function encryptWebhookSecret(box: SecretBox, organizationId: string, secret: string): Buffer {
  return box.seal(secret, contextOf(organizationId))
}

/** The secrets that sign for a webhook at `now`, newest first; two for a day after a rotation. */
export function decryptWebhookSecrets(box: SecretBox, webhook: Secrets, now: Date): string[] {
  const { organization_id, secret, previous_secret, previous_secret_until } = webhook
  const signsStill = previous_secret !== null && previous_secret_until !== null && previous_secret_until > now
  const encrypted = signsStill ? [secret, previous_secret] : [secret]
  return encrypted.map((one) => box.open(one, contextOf(organization_id)))
}

/** Encrypts the additional headers for storage; null if there are none. */
export function encryptWebhookHeaders(
  box: SecretBox,
  organizationId: string,
  headers: Readonly<Record<string, string>>,
): Buffer | null {
  if (Object.keys(headers).length === 0) return null
  return box.seal(JSON.stringify(headers), headersContextOf(organizationId))
}

export function decryptWebhookHeaders(
  box: SecretBox,
  { organization_id, headers }: Pick<Webhook, 'organization_id' | 'headers'>,
): Record<string, string> {
  return headers === null ? {} : JSON.parse(box.open(headers, headersContextOf(organization_id)))
}

function headersContextOf(organizationId: string): string {
  return `${organizationId}:webhook.headers`
}

function contextOf(organizationId: string): string {
  return `${organizationId}:webhook.secret`
}
