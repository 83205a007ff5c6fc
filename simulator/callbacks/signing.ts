import { createHmac } from 'node:crypto'

/**
 * JSON as the upstream writes it: characters beyond ASCII as `\uXXXX` in lower hex and `/` as `\/`. The signature
 * covers this form, so a receiver that parses the body and serializes it again computes another signature.
 */
export function escapeJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, escapeUnit)
}

/** The value of `X-Hub-Signature-256` for a body: `sha256=` and the lower-hex HMAC-SHA256 of its bytes. */
export function signBody(appSecret: string, bytes: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', appSecret).update(bytes).digest('hex')}`
}

/** The value of `X-Shopify-Hmac-SHA256` for a webhook of the storefront: the Base64 HMAC-SHA256 of its bytes. */
export function signShopBody(secret: string, bytes: string): string {
  return createHmac('sha256', secret).update(bytes).digest('base64')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
