import { createHmac, hkdfSync } from 'node:crypto'
import type { MediaLinks } from '../../context.js'
import { equalInConstantTime } from '../../lib/signature.js'

const PURPOSE = 'parley/media-links/v1'
const KEY_BYTES = 32

/**
 * Makes and checks the addresses under which stored files are read without an API key (spec 4.3; contract 2, `/media`):
 * `{publicUrl}/media/{organizationId}/{mediaId}?expires={unix seconds}&signature={base64url}`. The signature is HMAC-SHA256
 * under a key derived from a master key: the first signs, all are accepted. The same inputs always make the same address.
 * Throws when there is no master key.
 */
export function createMediaLinks(masterKeys: readonly string[], publicUrl: () => string): MediaLinks {
  const keys = masterKeys.map((masterKey) => Buffer.from(hkdfSync('sha256', masterKey, '', PURPOSE, KEY_BYTES)))
  const [signingKey] = keys
  if (signingKey === undefined) throw new Error('Media links need at least one master key, and none was given.')
  return {
    urlOf: (organizationId, mediaId, expiresAt) => {
      const expires = String(Math.floor(expiresAt.getTime() / 1000))
      const signature = sign(signingKey, organizationId, mediaId, expires)
      return `${publicUrl()}/media/${organizationId}/${mediaId}?expires=${expires}&signature=${signature}`
    },
    check: (organizationId, mediaId, expires, signature, now) => {
      const isOurs = keys.some((key) => equalInConstantTime(signature, sign(key, organizationId, mediaId, expires)))
      if (!isOurs) return 'invalid'
      return now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired'
    },
  }
}

/** Over JSON, in which no two different triples read the same. */
function sign(key: Buffer, organizationId: string, mediaId: string, expires: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([organizationId, mediaId, expires]))
    .digest('base64url')
}
