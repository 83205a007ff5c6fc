import { describe, expect, it } from 'vitest'
import { findAppSecret } from '../../../../src/core/callbacks/receive/signature.js'
import { createSecretBox } from '../../../../src/lib/crypto/secret-box.js'
import { hmacSha256Hex } from '../../../../src/lib/crypto/signature.js'

const secrets = createSecretBox(['a master key'])
const body = Buffer.from('{}')

function claimOf(appSecret: string, changes: number) {
  const organizationId = `organization of ${appSecret}`
  const sealed = secrets.seal(appSecret, `${organizationId}:upstream.app_secret`)
  return { claim: { organizationId, instanceId: null, appSecret: sealed, isSuspended: false }, changes }
}

function find(named: Parameters<typeof findAppSecret>[1], signedWith: string) {
  return findAppSecret({ secrets }, named, body, hmacSha256Hex(signedWith, body))
}

describe('the app secret of a callback', () => {
  it('is the one that signed it; unclaimed ids have none', async () => {
    const named = [{ claim: null, changes: 5 }, claimOf('one', 1), claimOf('other', 1)]
    expect(await find(named, 'other')).toBe('other')
    expect(await find(named, 'third')).toBeNull()
    expect(await find([{ claim: null, changes: 1 }], 'nobody')).toBeNull()
  })

  it('is looked for among the 20 ids with the most changes', async () => {
    const named = Array.from({ length: 25 }, (_, index) => claimOf(`secret ${index}`, 1 + index))
    expect(await find(named, 'secret 5')).toBe('secret 5')
    expect(await find(named, 'secret 4')).toBeNull()
    // Claims of one app add up.
    expect(await find([...named, ...Array.from({ length: 10 }, () => claimOf('secret 4', 1))], 'secret 4')).toBe(
      'secret 4',
    )
  })
})
