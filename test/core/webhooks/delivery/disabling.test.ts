import { beforeEach, describe, expect, it } from 'vitest'
import {
  DAY,
  type Endpoint,
  HOUR,
  MINUTE,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  rename,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { enable, endpoint, newContact, organization, statuses, useEndpoint, webhook, world } from '../one-endpoint.js'

useEndpoint()

let others: Endpoint

beforeEach(async () => {
  others = await startEndpoint(world, organization, ['webhook.disabled'])
})

/** Advances the time in steps, and tries all due deliveries in each. */
async function pass(ms: number, step = 6 * HOUR): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    world.advance(step)
    await world.drain()
  }
}

describe('an endpoint that is gone (410)', () => {
  it('fails the delivery for good and is disabled, and the other webhooks and the feed report it', async () => {
    endpoint.respond(() => 410)
    await newContact()
    await world.drain()
    expect(await statuses()).toEqual(['failed'])
    expect(await webhook()).toMatchObject({ active: false, disabled_reason: 'The endpoint answered 410: it is gone' })
    expect(others.types()).toEqual(['webhook.disabled'])
    const { body } = await world.request('GET', '/events?types=webhook.disabled', { key: organization.key })
    expect(body.events.map(({ type, data }: { type: string; data: object }) => ({ type, data }))).toEqual([
      { type: 'webhook.disabled', data: others.received[0]?.body.data },
    ])
  })

  it('receives nothing more: pending deliveries wait, and later events are skipped', async () => {
    endpoint.respond(() => 503)
    const contact = await newContact()
    await rename(world, organization, contact, 'waits')
    await world.drain()
    endpoint.respond(() => 410)
    await raiseAboutNobody(world, organization, 1)
    await world.drain()
    const before = endpoint.received.length
    await rename(world, organization, contact, 'meanwhile')
    await pass(DAY)
    expect(endpoint.received).toHaveLength(before)
    expect(await statuses()).toEqual(['pending', 'pending', 'failed'])
  })

  it('continues when it is enabled, with pending deliveries and with later events', async () => {
    endpoint.respond(() => 503)
    const contact = await newContact()
    await rename(world, organization, contact, 'pending')
    await world.drain()
    endpoint.respond(() => 410)
    await raiseAboutNobody(world, organization, 1)
    await world.drain()
    await rename(world, organization, contact, 'meanwhile')
    await world.drain()
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    await enable()
    await rename(world, organization, contact, 'afterwards')
    world.advance(MINUTE)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['Ana', 'pending', 'afterwards'])
    expect(await webhook()).toMatchObject({ active: true, disabled_reason: null })
  })

  it('gets few further attempts: none starts after the first 410', async () => {
    let answers = 0
    endpoint.respond(() => {
      answers += 1
      return 410
    })
    await raiseAboutNobody(world, organization, 300)
    await world.drain()
    expect(answers).toBeLessThanOrEqual(32)
    expect((await statuses()).filter((status) => status === 'pending')).toHaveLength(300 - answers)
  })
})

describe('an endpoint that only fails', () => {
  it('is disabled after 5 days, not before', async () => {
    endpoint.respond(() => 500)
    for (let day = 0; day < 5; day++) {
      await newContact()
      await world.drain()
      expect(await webhook()).toMatchObject({ active: true })
      await pass(day < 4 ? DAY : DAY - HOUR, day < 4 ? 6 * HOUR : 23 * HOUR)
    }
    expect(await webhook()).toMatchObject({ active: true })
    world.advance(2 * HOUR)
    await newContact()
    await world.drain()
    const disabled = await webhook()
    expect(disabled).toMatchObject({ active: false })
    expect(disabled.disabled_reason).toMatch(/^Nothing but failures since /)
    expect(others.received.map(({ body }) => body.data)).toEqual([
      { webhook: disabled, reason: disabled.disabled_reason },
    ])
  })

  it('stays enabled after a success in between', async () => {
    endpoint.respond(() => 500)
    await newContact()
    await world.drain()
    await pass(4 * DAY)
    endpoint.respond(() => 204)
    await newContact()
    await world.drain()
    endpoint.respond(() => 500)
    for (let day = 0; day < 2; day++) {
      await newContact()
      await world.drain()
      await pass(2 * DAY)
    }
    expect(await webhook()).toMatchObject({ active: true })
    expect(others.received).toEqual([])
  })

  it('gets another 5 days when it is enabled again', async () => {
    endpoint.respond(() => 500)
    await newContact()
    await world.drain()
    world.advance(6 * DAY)
    await world.drain()
    expect(await webhook()).toMatchObject({ active: false })
    await enable()
    world.advance(HOUR)
    await world.drain()
    expect(await webhook()).toMatchObject({ active: true })
  })
})

describe('a webhook that is disabled and enabled', () => {
  it('keeps the order of its events if it missed none', async () => {
    const contact = await newContact()
    endpoint.respond(() => 503)
    await raise(world, contact, 3)
    await world.drain()
    await world.database.pool.query('UPDATE webhooks SET active = false WHERE id = $1', [endpoint.id])
    await world.drain()
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    await enable()
    world.advance(MINUTE)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['Ana', ...numbers(3)])
  })
})
