import { describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.js'
import { authenticateSession } from '../../../src/core/identity/sessions.js'
import { createSignInTokens } from '../../../src/core/identity/sign-in-tokens.js'
import { newId } from '../../../src/lib/bytes/id.js'

const [organizationId, id] = [newId(), newId()]
const tokensOf = (...masterKeys: string[]) => createSignInTokens(masterKeys)

describe('sign-in tokens', () => {
  it('contain their purpose and distinct secrets', () => {
    const { session } = tokensOf('master')
    const [one, two] = [session.issue(organizationId, id), session.issue(organizationId, id)]
    expect(one.token).not.toBe(two.token)
    expect(session.read(one.token)).toMatchObject({ organizationId, id, secretHash: one.secretHash })
    expect(one.secretHash).toHaveLength(32)
    expect(one.token).not.toContain(one.secretHash.toString('base64url'))
  })

  it('are accepted under a previous master key, and under no other', () => {
    const { token } = tokensOf('old').session.issue(organizationId, id)
    expect(tokensOf('new', 'old').session.read(token)).toMatchObject({ id })
    expect(tokensOf('new').session.read(token)).toBeNull()
  })

  it('of one kind are rejected as the other kind', () => {
    const tokens = tokensOf('master')
    expect(tokens.link.read(tokens.session.issue(organizationId, id).token)).toBeNull()
    expect(tokens.session.read(tokens.link.issue(organizationId, id).token)).toBeNull()
  })

  it('derive a next token that needs the master key', () => {
    const nextOf = (masterKey: string, token: string) => tokensOf(masterKey, 'old').session.read(token)?.next()
    const { token } = tokensOf('old').session.issue(organizationId, id)
    const next = nextOf('old', token)
    expect(next).toEqual(nextOf('old', token))
    expect(next?.token).not.toBe(nextOf('new', token)?.token)
    expect(tokensOf('old').session.read(String(next?.token))).toMatchObject({ id, secretHash: next?.secretHash })
  })

  it('need a master key', () => {
    expect(() => tokensOf()).toThrow('at least one master key')
  })
})

describe('authenticating a session', () => {
  it('refuses a malformed token without querying the database', async () => {
    const noDatabase = new Proxy({} as Context['database'], {
      get: () => {
        throw new Error('the database was asked')
      },
    })
    const ctx = { signInTokens: tokensOf('ours'), database: noDatabase, clock: () => new Date() } as unknown as Context
    const { token } = ctx.signInTokens.session.issue(organizationId, id)
    await expect(authenticateSession(ctx, token)).rejects.toThrow('the database was asked')
    const { token: forged } = tokensOf('theirs').session.issue(organizationId, id)
    for (const wrong of [forged, `${token}x`, token.slice(0, -1), token.replace(id, newId()), 'x', '', undefined]) {
      await expect(authenticateSession(ctx, wrong)).rejects.toMatchObject({ code: 'session_required' })
    }
  })
})
