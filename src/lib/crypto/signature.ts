import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createSteps } from '../async/steps.js'

/** How many bytes are hashed between two looks at the clock. */
const SLICE_BYTES = 262_144

/** HMAC-SHA256 of `bytes` (a string counts as UTF-8) under `secret`, as 64 lower-case hexadecimal digits. */
export function hmacSha256Hex(secret: string, bytes: Uint8Array | string): string {
  return createHmac('sha256', secret).update(bytes).digest('hex')
}

/** The same of many bytes, in steps, between which other requests are handled. */
export async function hmacInSteps(secret: string, bytes: Buffer): Promise<string> {
  const hmac = createHmac('sha256', secret)
  const step = createSteps()
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    hmac.update(bytes.subarray(at, at + SLICE_BYTES))
    await step()
  }
  return hmac.digest('hex')
}

/** The HMAC-SHA256 in base64, with padding. */
export function hmacSha256Base64(secret: string, bytes: Uint8Array | string): string {
  return createHmac('sha256', secret).update(bytes).digest('base64')
}

/** SHA-256 of `value` (a string counts as UTF-8): 32 bytes. */
export function sha256(value: Uint8Array | string): Buffer {
  return createHash('sha256').update(value).digest()
}

/** Compares a secret or signature with the expected one in constant time. */
export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(hashOfCodeUnits(a), hashOfCodeUnits(b))
}

/** UTF-16, because in UTF-8 all lone surrogates become the same bytes. */
function hashOfCodeUnits(value: string): Buffer {
  return createHash('sha256').update(value, 'utf16le').digest()
}
