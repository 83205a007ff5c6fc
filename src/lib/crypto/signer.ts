import { createHmac, hkdfSync } from 'node:crypto'
import { equalInConstantTime } from './signature.js'

/** Signs lists of texts, and knows its own signatures again. */
export interface Signer {
  /** The signature: the same list always has the same one, base64url. */
  sign(parts: readonly string[]): string
  /** Whether `signature` is ours of `parts`, under any of the keys. */
  isOurs(parts: readonly string[], signature: string): boolean
}

const KEY_BYTES = 32

/**
 * Makes a signer of HMAC-SHA256 whose keys are derived from the master keys for one `purpose`, such as parley/media-links/v1: the
 * first signs, all are accepted. Throws when there is no master key.
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

/** Over JSON, in which no two different lists read the same. */
function sign(key: Buffer, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
}
