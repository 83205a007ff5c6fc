import { describe, expect, it } from 'vitest'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

function verify(query: Record<string, string>) {
  return world.request('GET', `/hooks/upstream?${new URLSearchParams(query)}`)
}

describe('GET /hooks/upstream, 200', () => {
  it('returns the challenge as plain text for the verify token of any organization', async () => {
    for (const { verifyToken } of [organization, other]) {
      const answer = await verify({
        'hub.mode': 'subscribe',
        'hub.verify_token': verifyToken,
        'hub.challenge': '1158201444',
      })
      expect(answer.status).toBe(200)
      expect(answer.body).toBe(1158201444)
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
})

describe('GET /hooks/upstream, 403', () => {
  it('refuses a wrong token, a missing token, another mode and a missing challenge', async () => {
    const token = organization.verifyToken
    const refused: Record<string, string>[] = [
      { 'hub.mode': 'subscribe', 'hub.verify_token': `${token}x`, 'hub.challenge': '1' },
      { 'hub.mode': 'subscribe', 'hub.verify_token': '', 'hub.challenge': '1' },
      { 'hub.mode': 'subscribe', 'hub.challenge': '1' },
      { 'hub.mode': 'unsubscribe', 'hub.verify_token': token, 'hub.challenge': '1' },
      { 'hub.verify_token': token, 'hub.challenge': '1' },
      { 'hub.mode': 'subscribe', 'hub.verify_token': token },
      {},
    ]
    for (const query of refused) {
      const answer = await verify(query)
      expect(answer.status, JSON.stringify(query)).toBe(403)
      expect(answer.body).toMatchObject({ success: false, error: 'Invalid verify token' })
    }
  })

  it('refuses a token given twice', async () => {
    const query = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${organization.verifyToken}`
    const answer = await world.request('GET', `/hooks/upstream?${query}&hub.verify_token=other`)
    expect(answer.status).toBe(403)
  })
})

describe('other methods on /hooks/upstream, 405', () => {
  it('lists the allowed methods', async () => {
    const answer = await world.request('DELETE', '/hooks/upstream')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toMatch(/GET.*POST/)
  })
})
