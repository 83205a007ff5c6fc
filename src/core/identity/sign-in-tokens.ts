import { randomBytes } from 'node:crypto'
import type { SignedTokens, SignInTokens } from '../../context.js'
import { isUuid } from '../../lib/bytes/id.js'
import { sha256 } from '../../lib/crypto/signature.js'
import { createSigner, type Signer } from '../../lib/crypto/signer.js'

const SECRET_BYTES = 32

/**
 * Makes and reads the tokens of sessions and of the links that begin them: `{organizationId}.{id}.{secret}.{signature}`. Signed under
 * keys derived from the master keys (the first signs, all are accepted), so that one that is not ours is refused without a look
 * at the database, where only hashes of the secrets stand. Throws when there is no master key.
 */
export function createSignInTokens(masterKeys: readonly string[]): SignInTokens {
  return {
    session: createTokens(createSigner(masterKeys, 'parley/member-sessions/v1')),
    link: createTokens(createSigner(masterKeys, 'parley/sign-in-links/v1')),
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
      // Always the same one, which none but us can tell: whoever misses the answer that brought it is given it again.
      const next = () => compose(organizationId, id, signer.sign(['next', secret]))
      return { organizationId, id, secretHash: sha256(secret), next }
    },
  }
}
