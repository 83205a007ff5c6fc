import { describe, expect, it } from 'vitest'
import { createRateLimiter, type RateDecision } from '../../../src/core/requests/rate-limit.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

type Limiter = ReturnType<typeof createRateLimiter>

async function ask(limiter: Limiter, keyId: string, times: number): Promise<RateDecision[]> {
  const decisions: RateDecision[] = []
  for (let asked = 0; asked < times; asked++) decisions.push(await limiter(organization.id, keyId))
  return decisions
}

const allowed = (decisions: RateDecision[]) => decisions.filter((decision) => decision.allowed).length

/** Empties or fills the key's bucket: sets its level at a time in seconds ago. */
async function setBucket(keyId: string, tokens: number, secondsAgo: number): Promise<void> {
  const changed = await world.database.pool.query(
    `UPDATE rate_limits SET tokens = $2, refilled_at = clock_timestamp() - make_interval(secs => $3) WHERE key_id = $1`,
    [keyId, tokens, secondsAgo],
  )
  expect(changed.rowCount).toBe(1)
}

/** Too slow to refill anything during a test. */
const SLOW = 0.001

describe('the limiter', () => {
  it('allows a burst of twice the rate, then nothing', async () => {
    const limiter = createRateLimiter(world.app.ctx, SLOW * 5_000)
    const keyId = newId()
    const [first] = await ask(limiter, keyId, 1)
    expect(first).toMatchObject({ allowed: true, limit: 10, retryAfterSeconds: 0 })
    await setBucket(keyId, 3, 0)
    const decisions = await ask(limiter, keyId, 3)
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true])
    await setBucket(keyId, 0, 0)
    const [refused] = await ask(limiter, keyId, 1)
    expect(refused).toMatchObject({ allowed: false, limit: 10, remaining: 0, retryAfterSeconds: 1, resetSeconds: 2 })
  })

  it('refills with time, up to the burst', async () => {
    const limiter = createRateLimiter(world.app.ctx, 1)
    const keyId = newId()
    await ask(limiter, keyId, 1)
    await setBucket(keyId, 0, 3_600)
    expect(allowed(await ask(limiter, keyId, 2))).toBe(2)
    await setBucket(keyId, 0, 1)
    expect(allowed(await ask(limiter, keyId, 1))).toBe(1)
    await setBucket(keyId, -100, 0)
    expect(allowed(await ask(limiter, keyId, 1))).toBe(0)
  })

  it('does not empty a bucket when the clock of the database is set back', async () => {
    const limiter = createRateLimiter(world.app.ctx, SLOW * 5_000)
    const keyId = newId()
    await ask(limiter, keyId, 1)
    await setBucket(keyId, 3, -7_200)
    expect(allowed(await ask(limiter, keyId, 3))).toBe(3)
  })

  it('gives each key a bucket of its own', async () => {
    const limiter = createRateLimiter(world.app.ctx, 1)
    const [one, two] = [newId(), newId()]
    await ask(limiter, one, 1)
    await setBucket(one, -100, 0)
    expect(allowed(await ask(limiter, one, 5))).toBe(0)
    expect(allowed(await ask(limiter, two, 1))).toBe(1)
  })

  it('counts concurrent requests', async () => {
    const limiter = createRateLimiter(world.app.ctx, SLOW)
    const keyId = newId()
    await ask(limiter, keyId, 1)
    await setBucket(keyId, 0.5, 0)
    const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter(organization.id, keyId)))
    expect(allowed(decisions)).toBe(0)
  })

  it('allows a whole burst at once', async () => {
    const limiter = createRateLimiter(world.app.ctx, 50)
    const decisions = await Promise.all(Array.from({ length: 100 }, () => limiter(organization.id, newId())))
    expect(allowed(decisions)).toBe(100)
    const keyId = newId()
    const burst = await Promise.all(Array.from({ length: 100 }, () => limiter(organization.id, keyId)))
    expect(allowed(burst)).toBe(100)
  })

  it('shares one bucket among processes, except for one batch each', async () => {
    const rate = 40
    const batch = rate / 10
    const processes = [createRateLimiter(world.app.ctx, rate), createRateLimiter(world.app.ctx, rate)]
    const keyId = newId()
    for (const limiter of processes) await ask(limiter, keyId, 1)
    // Far below zero, so that nothing is refilled during the test and only reserved tokens are left.
    await setBucket(keyId, -1_000_000, 0)
    let used = 0
    for (const limiter of processes) used += allowed(await ask(limiter, keyId, 20))
    expect(used).toBe(processes.length * (batch - 1))
  })
})
