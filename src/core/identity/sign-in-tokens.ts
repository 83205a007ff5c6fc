import { randomBytes } from 'node:crypto'
import type { DeviceTokens, SignedTokens, SignInTokens } from '../../context.js'
import { isUuid } from '../../lib/bytes/id.js'
import { sha256 } from '../../lib/crypto/signature.js'
import { createSigner, type Signer } from '../../lib/crypto/signer.js'

const SECRET_BYTES = 32

/**
 * Creates and reads tokens of sessions and sign-in links: `{organizationId}.{id}.{secret}.{signature}`. They are signed
 * with keys derived from the master keys (the first signs, all are accepted), so that a forged token is refused without
 * a query. The database has only hashes of the secrets. Throws if there is no master key.
 */
export function createSignInTokens(masterKeys: readonly string[]): SignInTokens {
  return {
    session: createTokens(createSigner(masterKeys, 'parley/member-sessions/v1')),
    link: createTokens(createSigner(masterKeys, 'parley/sign-in-links/v1')),
    device: createDeviceTokens(createSigner(masterKeys, 'parley/known-devices/v1')),
  }
}

/** `{deviceId}.{signature}`; the name is signed with it and not shown. */
function createDeviceTokens(signer: Signer): DeviceTokens {
  return {
    issue: ({ slug, email }, deviceId) => `${deviceId}.${signer.sign([deviceId, slug, email])}`,
    read: (token, { slug, email }) => {
      const [deviceId = '', signature = '', ...more] = token.split('.')
      return more.length === 0 && signer.isOurs([deviceId, slug, email], signature) ? deviceId : null
    },
  }
}

function createTokens(signer: Signer): SignedTokens {
  function compose(organizationId: string, id: string, secret: string) {
    const token = [organizationId, id, secret, signer.sign([organizationId, id, secret])].join('.')
    return { token, secretHash: sha256(secret) }
  }
  return {
    issue: (organizationId, id) => compose(organizationId, id, randomBytes(SECRET_BYTES).toString('base64url')),
    read: (token) => {
      const [organizationId = '', id = '', secret = '', signature = '', ...more] = token.split('.')
      if (more.length > 0 || !isUuid(organizationId) || !isUuid(id)) return null
      if (!signer.isOurs([organizationId, id, secret], signature)) return null
      // Derived from the current one, so that a browser that missed the answer gets the same token again.
      const next = () => compose(organizationId, id, signer.sign(['next', secret]))
      return { organizationId, id, secretHash: sha256(secret), next }
    },
  }
}
