import { beforeAll, expect, it } from 'vitest'
import { createInstance, type TestInstance } from '../../support/instances.js'
import { type Answer, useOrganization, useWorld } from '../../support/world.js'

const world = useWorld({ PARLEY_RATE_LIMIT: '5' })
const organization = useOrganization(world)
let instance: TestInstance

beforeAll(async () => {
  instance = await createInstance(world, organization)
})

const ask = (apikey: string, body = '{}') =>
  world.request('POST', '/gateway/instance/restart/shop', { headers: { apikey }, body })

/** Empties all rate limit buckets for longer than a test lasts. */
const drainBuckets = () => world.database.pool.query('UPDATE rate_limits SET tokens = -1000')

function expectLimited({ status, headers, body }: Answer): void {
  expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([429, '10', '0'])
  expect(body).toEqual({
    status: 429,
    error: 'Too Many Requests',
    response: { message: [expect.stringContaining('try again')], retry_after: expect.any(Number) },
  })
  expect(headers.get('retry-after')).toBe(String(body.response.retry_after))
}

it('sends rate limit headers, returns 429 before it reads the body, and limits tokens of instances separately', async () => {
  const passed = await ask(organization.key)
  expect([passed.status, passed.headers.get('ratelimit-limit')]).toEqual([200, '10'])
  await drainBuckets()
  expectLimited(await ask(organization.key, '{'))
  expect((await ask(instance.token)).status).toBe(200)
  await drainBuckets()
  expectLimited(await ask(instance.token, '{'))
})
