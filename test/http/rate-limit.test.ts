import { describe, expect, it } from 'vitest'
import { ENDPOINTS, urlOf } from '../support/endpoints.js'
import { type Answer, startWorld, useOrganization, useWorld } from '../support/world.js'

const world = useWorld({ PARLEY_RATE_LIMIT: '5' })
const organization = useOrganization(world)

async function newKey(): Promise<string> {
  const issued = await world.admin('POST', `/organizations/${organization.id}/keys`, { name: 'one' })
  return issued.body.api_key.key
}

const ask = (key: string, path = '/contact?chat_id=5511987654321') => world.request('GET', path, { key })

function expectLimit({ headers }: Answer): void {
  expect(headers.get('ratelimit-limit')).toBe('10')
  expect(headers.get('ratelimit-remaining')).toMatch(/^\d+$/)
  expect(headers.get('ratelimit-reset')).toMatch(/^\d+$/)
}

/** Takes all tokens of all keys away, for longer than a test lasts. */
async function drainBuckets(): Promise<void> {
  await world.database.pool.query('UPDATE rate_limits SET tokens = -1000')
}

describe('PARLEY_RATE_LIMIT=5', () => {
  it('allows a burst of 10, with headers', async () => {
    const key = await newKey()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(key)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    for (const { headers } of answers) {
      expect(headers.get('ratelimit-limit')).toBe('10')
      expect(Number(headers.get('ratelimit-remaining'))).toBeLessThan(10)
      expect(Number(headers.get('ratelimit-reset'))).toBeLessThanOrEqual(2)
      expect(headers.get('retry-after')).toBeNull()
    }
  })

  it('answers 429 with retry_after and headers beyond the burst, on every endpoint', async () => {
    const key = await newKey()
    expect((await ask(key)).status).toBe(404)
    await drainBuckets()
    const answers = [
      await ask(key),
      await ask(key, '/conversations?chatNumber=5511987654321'),
      await world.request('POST', '/contact', { key, body: { phone_number: '5511987654321' } }),
      await world.request('POST', '/send-chat', { key, body: '{' }),
    ]
    for (const { status, body, headers } of answers) {
      expect(status).toBe(429)
      expect(body).toMatchObject({ success: false, error: 'Too many requests', message: expect.any(String) })
      expect(body.retry_after).toBeGreaterThanOrEqual(1)
      expect(headers.get('retry-after')).toBe(String(body.retry_after))
      expect(headers.get('ratelimit-limit')).toBe('10')
      expect(headers.get('ratelimit-remaining')).toBe('0')
      expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1)
    }
    expect((await world.request('GET', '/contact?chat_id=5511987654321', { key: organization.key })).status).toBe(404)
  })

  describe.each(ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s shows the limit',
    (_name, endpoint) => {
      const { method, path, body } = endpoint
      const request = (key: string, url = urlOf(endpoint), options: object = { body }) =>
        world.request(method, url, { key, ...options })

      it('in every answer', async () => {
        const key = await newKey()
        const answers = [
          await request(key),
          await request(key),
          await request(key, path, body ? { body: {} } : {}),
          await request(key, path, body ? { body: '{' } : {}),
          await request(key, path, body ? { body, headers: { 'content-type': 'text/plain' } } : {}),
          await request(key, urlOf(endpoint, 'tenantId=nobody')),
        ]
        expect(answers.some(({ status }) => status >= 400)).toBe(true)
        for (const answer of answers) expectLimit(answer)
      })

      it('when it is exceeded', async () => {
        const key = await newKey()
        await request(key)
        await drainBuckets()
        const refused = await request(key)
        expect(refused.status).toBe(429)
        expectLimit(refused)
        expect(refused.headers.get('ratelimit-remaining')).toBe('0')
        expect(refused.headers.get('retry-after')).toBe(String(refused.body.retry_after))
      })
    },
  )

  it('is checked after key and scope, before tenantId and body', async () => {
    const issued = await world.admin('POST', `/organizations/${organization.id}/keys`, {
      name: 'one',
      scopes: ['contacts:read'],
    })
    const { key } = issued.body.api_key
    await ask(key)
    await drainBuckets()
    expect((await ask(key, '/conversations')).status).toBe(403)
    expect((await ask(key, '/contact?tenantId=nobody')).status).toBe(429)
    expect((await ask('parley_unknown')).status).toBe(401)
  })

  it('counts keys separately', async () => {
    const [one, two] = [await newKey(), await newKey()]
    await ask(one)
    await drainBuckets()
    expect((await ask(one)).status).toBe(429)
    expect((await ask(two)).status).toBe(404)
  })

  it('does not apply to the operator and the health checks', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => world.admin('GET', '/organizations')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })
})

describe('PARLEY_RATE_LIMIT=0', () => {
  it('limits nothing, and adds no headers', async () => {
    const unlimited = await startWorld()
    try {
      const { key } = await unlimited.createOrganization()
      const answers = await Promise.all(
        Array.from({ length: 500 }, () => unlimited.request('GET', '/contact?chat_id=5511987654321', { key })),
      )
      expect(answers.every(({ status }) => status === 404)).toBe(true)
      expect(answers[0]?.headers.get('ratelimit-limit')).toBeNull()
    } finally {
      await unlimited.close()
    }
  })
})
