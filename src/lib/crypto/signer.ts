import { createHmac, hkdfSync } from 'node:crypto'
import { equalInConstantTime } from './signature.js'

/** Signs lists of texts and verifies its signatures. */
export interface Signer {
  /** The signature in base64url; the same list always gives the same one. */
  sign(parts: readonly string[]): string
  /** True if `signature` is valid for `parts` under any of the keys. */
  isOurs(parts: readonly string[], signature: string): boolean
}

const KEY_BYTES = 32

/**
 * Creates an HMAC-SHA256 signer with keys derived from the master keys for one `purpose`, such as
 * parley/media-links/v1. The first key signs, all are accepted. Throws if there is no master key.
 */
export function createSigner(masterKeys: readonly string[], purpose: string): Signer {
  const keys = masterKeys.map((masterKey) => Buffer.from(hkdfSync('sha256', masterKey, '', purpose, KEY_BYTES)))
  const [signingKey] = keys
  if (signingKey === undefined)
    throw new Error(`Signing (${purpose}) needs at least one master key, and none was given.`)
  return {
    sign: (parts) => sign(signingKey, parts),
    isOurs: (parts, signature) => keys.some((key) => equalInConstantTime(signature, sign(key, parts))),
  }
}

/** Signs the JSON, which is different for different lists. */
function sign(key: Buffer, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
}
