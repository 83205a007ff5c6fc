import type { MediaLinks } from '../../context.js'
import { createSigner } from '../../lib/crypto/signer.js'

const PURPOSE = 'parley/media-links/v1'

/**
 * Makes and checks the addresses under which stored files are read without an API key (spec 4.3; contract 2, `/media`):
 * `{publicUrl}/media/{organizationId}/{mediaId}?expires={unix seconds}&signature={base64url}`. The signature is HMAC-SHA256
 * under a key derived from a master key: the first signs, all are accepted. The same inputs always make the same address.
 * Throws when there is no master key.
 */
export function createMediaLinks(masterKeys: readonly string[], publicUrl: () => string): MediaLinks {
  const signer = createSigner(masterKeys, PURPOSE)
  return {
    urlOf: (organizationId, mediaId, expiresAt) => {
      const expires = String(Math.floor(expiresAt.getTime() / 1000))
      const signature = signer.sign([organizationId, mediaId, expires])
      return `${publicUrl()}/media/${organizationId}/${mediaId}?expires=${expires}&signature=${signature}`
    },
    check: (organizationId, mediaId, expires, signature, now) => {
      if (!signer.isOurs([organizationId, mediaId, expires], signature)) return 'invalid'
      return now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired'
    },
  }
}
