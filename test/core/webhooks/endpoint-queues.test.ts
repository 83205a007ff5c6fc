import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EndedAttempt } from '../../../src/core/webhooks/attempt.js'
import { EndpointQueue } from '../../../src/core/webhooks/endpoint-queue.js'
import type { DueDelivery, DueQuery } from '../../../src/storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../src/storage/webhooks/health.js'
import { createContact } from '../../interfaces/hooks/support.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import {
  closeEndpoints,
  deliveriesTo,
  expectNothingStuck,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from './support.js'

describe('while the service runs', () => {
  let world: World
  let organization: TestOrganization

  beforeAll(async () => {
    world = await startWorld()
    organization = await world.createOrganization()
    world.app.webhooks.start()
  })

  afterEach(async () => {
    await expectNothingStuck(world)
  })

  afterAll(async () => {
    await closeEndpoints()
    await world.close()
  })

  /** Events that a test inserts by SQL send no notification. */
  const tell = () => world.app.ctx.notifications.send({ topic: 'events', organizationIds: [organization.id] })

  it('an endpoint that never answers delays no other, nor does one that refuses everything', async () => {
    const silent = await startEndpoint(world, organization, ['contact.updated'])
    silent.respond(() => () => {})
    const dead = await startEndpoint(world, organization, ['contact.updated'])
    dead.respond(() => 500)
    const good = await startEndpoint(world, organization, ['contact.updated'])
    for (let n = 0; n < 3; n++) {
      const contact = await createContact(world, organization, `+1650555${String(8_000 + n)}`)
      await raise(world, contact, 40)
    }
    await raiseAboutNobody(world, organization, 1)
    tell()
    await good.until(120)
    // One per contact at a time; the others wait for it.
    await silent.until(3)
    expect(silent.received).toHaveLength(3)
    expect(new Set(namesOf(dead))).toEqual(new Set(['1']))
  })

  it('more events than an endpoint queue can hold arrive once each, while others are raised', async () => {
    const endpoint = await startEndpoint(world, organization, ['template.status_changed'])
    for (let n = 0; n < 4; n++) {
      await raiseAboutNobody(world, organization, 600, n * 600 + 1)
      tell()
    }
    await endpoint.until(2_400)
    expect(namesOf(endpoint).sort()).toEqual(numbers(2_400).sort())
    await expect
      .poll(async () => (await deliveriesTo(world, endpoint.id)).every(({ status }) => status === 'delivered'))
      .toBe(true)
  })

  it('a change arrives without polling', async () => {
    const endpoint = await startEndpoint(world, organization, ['contact.created'])
    await createContact(world, organization, '+16505558900')
    await endpoint.until(1)
    expect(endpoint.types()).toEqual(['contact.created'])
  })
})

describe('an endpoint queue', () => {
  const NOW = new Date('2026-01-01T00:00:00Z')
  const LATER = new Date(NOW.getTime() + 1_000)
  const MUCH_LATER = new Date(NOW.getTime() + 600_000)
  const LIMIT = 1_000

  let sent: { id: string; end: (ended: Partial<EndedAttempt> | null) => Promise<void> }[]
  let ended: EndedAttempt[]
  let calls: number

  beforeEach(() => {
    sent = []
    ended = []
    calls = 0
  })

  const due = (count: number, from = 0): DueDelivery[] =>
    Array.from({ length: count }, (_, n) => ({
      organization_id: 'organization',
      id: String(from + n),
      webhook_id: 'webhook',
      attempted: 0,
      event: null,
    }))

  const createQueue = () =>
    new EndpointQueue({ organization_id: 'organization', id: 'webhook' } as EndpointRow, {
      clock: () => NOW,
      attempt: (_endpoint, { id }) =>
        new Promise((resolve) => {
          const end = async (outcome: Partial<EndedAttempt> | null) => {
            resolve(
              outcome &&
                ({ result: { id, next_attempt_at: null }, sample: null, begunAt: NOW, ...outcome } as EndedAttempt),
            )
            await new Promise((done) => setImmediate(done))
          }
          sent.push({ id, end })
        }),
      onEnd: (one) => ended.push(one),
      onWork: () => {
        calls += 1
      },
    })

  /** Asks, and receives the given answer. */
  const answer = (queue: EndpointQueue, deliveries: DueDelivery[], nextDueAt: Date | null = null) => {
    const query = queue.nextQuery(NOW, LIMIT)
    expect(query).not.toBeNull()
    queue.accept(query as DueQuery, { due: deliveries, nextDueAt })
  }

  /** A queue that knows that no delivery waits in the database. */
  const createEmptyQueue = () => {
    const queue = createQueue()
    answer(queue, [])
    return queue
  }

  it('asks first of all, and later only when notified or when something is due', () => {
    const queue = createQueue()
    expect(queue.nextQuery(NOW, LIMIT)).toMatchObject({ room: 200, known: [] })
    expect(queue.nextQuery(NOW, LIMIT)).toBeNull()
    queue.refresh()
    answer(queue, [], LATER)
    expect(queue.nextQuery(NOW, LIMIT)).toBeNull()
    expect(queue.wakesAt(NOW)).toEqual(LATER)
    expect(queue.nextQuery(LATER, LIMIT)).not.toBeNull()
    queue.refresh()
    expect(queue.nextQuery(NOW, LIMIT)).not.toBeNull()
  })

  it('asks for no more than it may, and then again', async () => {
    const queue = createQueue()
    const query = queue.nextQuery(NOW, 3)
    expect(query?.room).toBe(3)
    queue.accept(query as DueQuery, { due: due(3), nextDueAt: null })
    expect(queue.nextQuery(NOW, 3)?.known).toEqual(['0', '1', '2'])
  })

  it('reports work when notified, when it is given some, and at the end of an attempt', async () => {
    const queue = createEmptyQueue()
    calls = 0
    queue.refresh()
    expect(calls).toBe(1)
    answer(queue, due(1))
    queue.pump()
    await sent[0]?.end({})
    expect(calls).toBe(2)
    queue.enqueue(due(1, 1))
    expect(calls).toBe(3)
  })

  it('sends 32 at a time, and the next when one has ended', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(40))
    queue.pump()
    expect(sent).toHaveLength(32)
    await sent[0]?.end({})
    expect(sent.map(({ id }) => id)).toEqual(due(33).map(({ id }) => id))
  })

  it('does not accept deliveries that it already holds until they are recorded', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(1))
    queue.pump()
    queue.enqueue(due(1))
    await sent[0]?.end({})
    queue.enqueue(due(1))
    queue.pump()
    expect(sent).toHaveLength(1)
    expect(queue.isIdle()).toBe(false)
    queue.recorded(ended[0] as EndedAttempt)
    expect(queue.isIdle()).toBe(true)
    queue.enqueue(due(1))
    queue.pump()
    expect(sent).toHaveLength(2)
  })

  it('accepts interrupted deliveries again', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(1))
    queue.pump()
    await sent[0]?.end(null)
    expect({ ended, idle: queue.isIdle() }).toEqual({ ended: [], idle: true })
  })

  it('asks for skipped deliveries when few are left, and keeps the order', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(200))
    queue.enqueue(due(10, 200))
    queue.enqueue(due(1, 500))
    queue.pump()
    expect(queue.nextQuery(NOW, LIMIT)).toBeNull()
    for (let n = 0; n < 104; n++) await sent[n]?.end({})
    expect(sent).toHaveLength(136)
    const query = queue.nextQuery(NOW, LIMIT)
    expect(query?.room).toBe(136)
    expect(query?.known).toHaveLength(200)
    expect(query?.known).not.toContain('500')
  })

  it('reloads waiting deliveries that were changed, and not those in flight', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(40))
    queue.pump()
    queue.reload()
    await sent[0]?.end({})
    expect(sent).toHaveLength(32)
    expect(queue.nextQuery(NOW, LIMIT)?.known).toEqual(due(32).map(({ id }) => id))
  })

  it('ignores an answer to a question asked before a change', () => {
    const queue = createQueue()
    const query = queue.nextQuery(NOW, LIMIT)
    queue.reload()
    queue.accept(query as DueQuery, { due: due(1), nextDueAt: null })
    queue.pump()
    expect(sent).toEqual([])
    answer(queue, due(1))
    queue.pump()
    expect(sent).toHaveLength(1)
  })

  it('asks for nothing more while too many results are not recorded', async () => {
    const queue = createQueue()
    for (let n = 0; n < 2; n++) {
      answer(queue, due(200, n * 200))
      queue.pump()
      for (let m = 0; m < 200; m++) await sent[n * 200 + m]?.end({})
    }
    expect(queue.nextQuery(NOW, LIMIT)).toBeNull()
    queue.recorded(ended[0] as EndedAttempt)
    expect(queue.nextQuery(NOW, LIMIT)).not.toBeNull()
  })

  it('holds few deliveries of a dead endpoint', async () => {
    const queue = createEmptyQueue()
    queue.enqueue(due(150))
    queue.pump()
    const failed = { sample: { at: NOW, delivered: false, status: 500 }, retryAfterMs: null }
    for (const one of sent.slice(0, 8)) await one.end(failed)
    expect(queue.wakesAt(NOW)).not.toBeNull()
    for (const one of sent.slice(8)) await one.end(failed)
    for (const one of ended) queue.recorded(one)
    expect(queue.isIdle()).toBe(true)
    expect(queue.nextQuery(MUCH_LATER, LIMIT)?.room).toBe(8)
  })

  it('ignores due deliveries while enough are waiting', () => {
    const queue = createQueue()
    answer(queue, due(150), NOW)
    queue.pump()
    expect(queue.wakesAt(LATER)).toBeNull()
  })
})
