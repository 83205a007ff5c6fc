import type { MediaLinks } from '../../context.js'
import { createSigner } from '../../lib/crypto/signer.js'

const PURPOSE = 'parley/media-links/v1'

/**
 * Creates and verifies signed media URLs, which need no API key:
 * `{publicUrl}/media/{organizationId}/{mediaId}?expires={unix seconds}&signature={base64url}`. The signature is
 * HMAC-SHA256 under a key derived from a master key: the first master key signs, all are accepted. The same inputs give
 * the same URL. Throws if there is no master key.
 */
export function createMediaLinks(masterKeys: readonly string[], publicUrl: () => string): MediaLinks {
  const signer = createSigner(masterKeys, PURPOSE)
  return {
    urlOf: (organizationId, mediaId, expiresAt) => {
      const expires = String(Math.floor(expiresAt.getTime() / 1000))
      const signature = signer.sign([organizationId, mediaId, expires])
      return `${publicUrl()}/media/${organizationId}/${mediaId}?expires=${expires}&signature=${signature}`
    },
    check: (organizationId, mediaId, { expires, signature }, now) => {
      if (!signer.isOurs([organizationId, mediaId, expires], signature)) return 'invalid'
      return now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired'
    },
  }
}
