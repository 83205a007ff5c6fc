import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signToken } from '../../../src/lib/crypto/json-web-token.js'

describe('a JSON web token', () => {
  it('contains its claims, signed with the secret', () => {
    const claims = { iat: 1_300_819_380, app: 'evolução' }
    const [header, payload, signature] = signToken(claims, 'secret').split('.')
    const read = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(header)).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(read(payload)).toEqual(claims)
    expect(signature).toBe(createHmac('sha256', 'secret').update(`${header}.${payload}`).digest('base64url'))
  })
})
