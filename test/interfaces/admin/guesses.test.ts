import { expect, it } from 'vitest'
import { useWorld } from '../../support/world.js'

const world = useWorld()

const ask = (key: string | undefined, from: string) =>
  world.request('GET', '/admin/organizations', {
    ...(key === undefined ? {} : { key }),
    headers: { 'x-forwarded-for': from },
  })

it('a network that has sent many wrong admin tokens does not learn whether the next one is right', async () => {
  const from = '8.8.8.8'
  const guesses = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(`guess-${index}`, from)))
  expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401]))

  const refused = await ask(world.adminToken, from)
  expect(refused.status).toBe(429)
  expect(refused.body).toMatchObject({ success: false, error: 'Too many requests', retry_after: expect.any(Number) })
  expect(refused.headers.get('retry-after')).toBe(String(refused.body.retry_after))
  expect((await ask(undefined, from)).status).toBe(401)
  expect((await ask(world.adminToken, '8.8.4.4')).status).toBe(200)
  expect((await world.admin('GET', '/organizations')).status).toBe(200)

  world.advance(30_000)
  expect((await ask('another-guess', from)).status).toBe(401)
  expect((await ask(world.adminToken, from)).status).toBe(429)
  world.advance(30_000)
  expect((await ask(world.adminToken, from)).status).toBe(200)
})
