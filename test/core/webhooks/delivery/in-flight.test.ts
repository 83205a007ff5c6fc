import { beforeEach, describe, expect, it } from 'vitest'
import type { EndedAttempt } from '../../../../src/core/webhooks/delivery/attempt.js'
import { InFlight } from '../../../../src/core/webhooks/delivery/in-flight.js'
import type { ClaimedDelivery } from '../../../../src/storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../../src/storage/webhooks/health.js'

const NOW = new Date('2026-01-01T00:00:00Z')

const endpoint = { organization_id: 'a', id: 'w', url: 'http://a.example/hook' } as EndpointRow

const deliveries = (count: number): ClaimedDelivery[] =>
  Array.from({ length: count }, (_, n) => {
    return { organization_id: 'a', id: `delivery ${n}`, webhook_id: 'w', in_order: false, attempted: 0, event: null }
  })

/** Attempts that have not ended: each function ends one, delivered or failed. */
let ends: ((delivered: boolean) => void)[]
let released: string[]
let flight: InFlight

beforeEach(() => {
  ends = []
  released = []
  flight = new InFlight({
    clock: () => NOW,
    endpoints: { get: () => endpoint },
    attempt: (_endpoint, delivery) =>
      new Promise<EndedAttempt>((resolve) => ends.push((delivered) => resolve(endedOf(delivery, delivered)))),
    record: () => Promise.resolve(),
    release: async (given) => void released.push(...given.map(({ id }) => id)),
    onFree: () => undefined,
  })
})

function endedOf(delivery: ClaimedDelivery, delivered: boolean): EndedAttempt {
  const attempt = { at: NOW.toISOString(), response_status: null, error: null, duration_ms: 0, response_body: null }
  const { organization_id, id } = delivery
  const result = { organization_id, id, status: 'pending' as const, attempt, next_attempt_at: NOW }
  const sample = { at: NOW, delivered, status: null }
  return { endpoint, delivery, result, begunAt: NOW, sample, retryAfterMs: null }
}

function add(count: number): void {
  flight.add(endpoint, deliveries(count), performance.now())
  flight.start()
}

describe('claimed deliveries', () => {
  it('are attempted in 32 places, and 32 more wait for one', async () => {
    expect(flight.roomFor(endpoint)).toBe(32)
    add(32)
    expect(ends).toHaveLength(32)
    expect(flight.roomFor(endpoint)).toBe(32)
    add(32)
    expect(ends).toHaveLength(32)
    expect(flight.roomFor(endpoint)).toBe(0)
    ends[0]?.(true)
    await expect.poll(() => ends.length).toBe(33)
    expect(flight.roomFor(endpoint)).toBe(1)
  })

  it('that wait are given up when their endpoint pauses, and none is claimed ahead while it fails', async () => {
    add(60)
    for (let n = 0; n < 8; n++) ends[n]?.(false)
    await expect.poll(() => released.length).toBeGreaterThan(0)
    expect(flight.waiting()).toEqual([])
    expect(flight.roomFor(endpoint)).toBe(0)
  })

  it('of an organization that wait are given up when it has changed', async () => {
    add(40)
    await flight.releaseAll('b')
    expect(released).toEqual([])
    await flight.releaseAll('a')
    expect(released).toEqual(
      deliveries(40)
        .map(({ id }) => id)
        .slice(32),
    )
    expect(flight.roomFor(endpoint)).toBe(32)
    ends[0]?.(true)
    await Promise.resolve()
    expect(ends).toHaveLength(32)
  })

  it('that wait are given up at the end, and no more are added', async () => {
    add(40)
    for (const end of ends) end(true)
    await flight.close(60_000)
    expect(released.length).toBeGreaterThanOrEqual(8)
    add(1)
    await expect.poll(() => released).toContain('delivery 0')
    expect(flight.waiting()).toEqual([])
  })
})
