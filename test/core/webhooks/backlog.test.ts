import { describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { disableOverfullWebhooks, MAX_PENDING_FOR_REPLAY } from '../../../src/core/webhooks/backlog.js'
import {
  DAY,
  expectNothingStuck,
  namesOf,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from '../../support/webhook-endpoints.js'
import { enable, endpoint, newContact, organization, statuses, useEndpoint, webhook, world } from './one-endpoint.js'

useEndpoint(['contact.updated', 'template.status_changed'])

const disable = () =>
  world.database.pool.query(`UPDATE webhooks SET active = false, disabled_reason = 'gone' WHERE id = $1`, [endpoint.id])

describe('a replay of a range', () => {
  const replay = async () => {
    const body = { webhook_id: endpoint.id, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }
    return await world.request('POST', '/webhook-deliveries/replay', { key: organization.key, body })
  }

  /** Pending deliveries, whose attempts are far away. */
  const insertPending = (count: number) =>
    world.database.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, next_attempt_at)
       SELECT $1, gen_random_uuid(), $2, 1, $1, 'contact.updated', n % 2 = 0, 'infinity' FROM generate_series(1, $3::integer) AS n`,
      [organization.id, endpoint.id, count],
    )

  it('is refused while too many deliveries of the webhook are pending', async () => {
    await insertPending(MAX_PENDING_FOR_REPLAY)
    expect((await replay()).status).toBe(200)
    await insertPending(1)
    const refused = await replay()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body.message).toContain(`More than 100000 deliveries of the webhook ${endpoint.id} are pending`)
    await world.database.pool.query(
      `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_id = $1 LIMIT 1)`,
      [endpoint.id],
    )
    expect((await replay()).status).toBe(200)
  })
})

describe('a webhook with too many pending deliveries', () => {
  it('is disabled, others are not, and it delivers them when it is enabled', async () => {
    const other = await startEndpoint(world, await world.createOrganization(), ['template.status_changed'])
    endpoint.respond(() => 503)
    const contact = await newContact()
    await raise(world, contact, 3)
    await raiseAboutNobody(world, organization, 1, 11)
    await world.drain()
    await disableOverfullWebhooks(world.app.ctx, 4)
    expect(await webhook()).toMatchObject({ active: true })
    await disableOverfullWebhooks(world.app.ctx, 3)
    expect(await webhook()).toMatchObject({ active: false, disabled_reason: 'More than 3 deliveries were pending' })
    const { rows } = await world.database.pool.query('SELECT active FROM webhooks WHERE id = $1', [other.id])
    expect(rows).toEqual([{ active: true }])
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    await enable()
    await disableOverfullWebhooks(world.app.ctx, 3)
    expect(await webhook()).toMatchObject({ active: true })
    world.advance(DAY)
    await world.drain()
    expect(namesOf(endpoint).sort()).toEqual(['1', '11', '2', '3'])
  })
})

describe('webhooks with too many pending deliveries together', () => {
  it('are disabled, the fullest ones first; those of other organizations are not', async () => {
    const neighbour = await world.createOrganization()
    const other = await startEndpoint(world, neighbour, ['template.status_changed'])
    const less = await startEndpoint(world, organization, ['template.status_changed'])
    for (const one of [endpoint, other, less]) one.respond(() => 503)
    await raise(world, await newContact(), 1)
    await raiseAboutNobody(world, organization, 1, 2)
    await raiseAboutNobody(world, neighbour, 1, 2)
    await world.drain()
    const active = async () => {
      const ids = [endpoint, other, less].map(({ id }) => id)
      const { rows } = await world.database.pool.query('SELECT id FROM webhooks WHERE active AND id = ANY ($1)', [ids])
      return rows.map(({ id }) => id).sort()
    }
    await disableOverfullWebhooks(world.app.ctx, 100, 3)
    expect(await active()).toEqual([endpoint.id, other.id, less.id].sort())
    await disableOverfullWebhooks(world.app.ctx, 100, 2)
    expect(await active()).toEqual([other.id, less.id].sort())
    expect((await webhook()).disabled_reason).toBe(
      "More than 2 deliveries of the organization's webhooks were pending, and this webhook was one of those with the most",
    )
  })
})

describe('pending deliveries of a disabled webhook', () => {
  /** As if the deliveries were this old. */
  const age = (ms: number, names: readonly string[]) =>
    world.database.pool.query(
      `UPDATE webhook_deliveries d SET id = overlay(d.id::text PLACING $3 FROM 1 FOR 13)::uuid
       FROM events e
       WHERE d.webhook_id = $1 AND e.seq = d.event_seq AND e.data #>> '{contact,full_name}' = ANY ($2)`,
      [endpoint.id, names, timeOfId(new Date(world.now().getTime() - ms))],
    )

  const timeOfId = (time: Date) => {
    const ms = time.getTime().toString(16).padStart(12, '0')
    return `${ms.slice(0, 8)}-${ms.slice(8)}`
  }

  it('fail when they are no longer kept, and the others of the contact continue when it is enabled', async () => {
    endpoint.respond(() => 503)
    await raise(world, await newContact(), 4)
    await world.drain()
    await age(31 * DAY, ['1', '2'])
    await prune(world.app.work)
    expect(await statuses()).toEqual(['pending', 'pending', 'pending', 'pending'])
    await disable()
    // It fails them, and deletes them, since they are no longer kept.
    await prune(world.app.work)
    expect(await statuses()).toEqual(['pending', 'pending'])
    await expectNothingStuck(world)
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    await enable()
    world.advance(DAY)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['3', '4'])
  })
})
