import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import {
  holdOpen,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { endpoint, newContact, organization, useEndpoint, world } from '../one-endpoint.js'

useEndpoint(['contact.updated', 'template.status_changed'])

/** Raises an event without a contact in a transaction that stays open. */
const raiseUncommitted = (name: string) =>
  holdOpen(
    world,
    `INSERT INTO events (organization_id, id, type, data)
     VALUES ($1, $2, 'template.status_changed', jsonb_build_object('template', jsonb_build_object('name', $3::text)))`,
    [organization.id, newId(), name],
  )

describe('events', () => {
  it('of one transaction all arrive, even if they exceed one round and the places', async () => {
    await raiseAboutNobody(world, organization, 2_500)
    await world.drain()
    expect(endpoint.received).toHaveLength(2_500)
    expect(new Set(namesOf(endpoint)).size).toBe(2_500)
  })

  it('arrive once at each of several webhooks, even if they exceed one statement', async () => {
    const others = [await startEndpoint(world, organization), await startEndpoint(world, organization)]
    await raiseAboutNobody(world, organization, 1_400)
    await world.drain()
    for (const each of [endpoint, ...others]) {
      expect(each.received).toHaveLength(1_400)
      expect(new Set(namesOf(each)).size).toBe(1_400)
    }
  })

  it('of one contact keep their order across rounds', async () => {
    const contact = await newContact()
    await raiseAboutNobody(world, organization, 990, 10_000)
    await raise(world, contact, 30)
    await world.drain()
    expect(namesOf(endpoint).filter((name) => Number(name) < 10_000)).toEqual(numbers(30))
    expect(endpoint.received).toHaveLength(1_020)
  })

  it('of many contacts with several events each all arrive, in order per contact', async () => {
    const contacts = [await newContact(), await newContact(), await newContact()]
    for (const contact of contacts) await raise(world, contact, 250)
    await world.drain()
    for (const contact of contacts) {
      const theirs = endpoint.received.filter(({ body }) => body.data.contact.id === contact)
      expect(theirs.map(({ body }) => body.data.contact.full_name)).toEqual(numbers(250))
    }
  })

  it('do not wait for a transaction that started before them, and its own events arrive when it ends', async () => {
    const open = await raiseUncommitted('late')
    await raiseAboutNobody(world, organization, 1)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1'])
    await open.commit()
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', 'late'])
  })

  it('of a rolled back transaction never arrive', async () => {
    const open = await raiseUncommitted('never')
    await raiseAboutNobody(world, organization, 1)
    await world.drain()
    await open.release()
    await raiseAboutNobody(world, organization, 1, 2)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
  })

  it('of one contact arrive in causal order, whichever transactions started first', async () => {
    const contact = await newContact()
    await world.drain()
    // The transaction that started first changes the contact last; a third one, started in between, continues in the
    // meantime.
    const late = await holdOpen(world, 'SELECT pg_current_xact_id()', [])
    const between = await raiseUncommitted('between')
    await raise(world, contact, 1)
    await late.run(
      `INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT organization_id, gen_random_uuid(), 'contact.updated', id,
         jsonb_build_object('contact', to_jsonb(c) || '{"full_name": "2"}')
       FROM contacts c WHERE id = $1`,
      [contact],
    )
    await late.commit()
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
    await between.commit()
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2', 'between'])
  })

  it('of an organization do not wait for other organizations', async () => {
    const other = await world.createOrganization()
    const theirs = await startEndpoint(world, other, ['template.status_changed'])
    await raiseAboutNobody(world, organization, 1_500)
    await raiseAboutNobody(world, other, 3)
    await world.drain()
    expect(namesOf(theirs).sort()).toEqual(numbers(3))
    expect(endpoint.received).toHaveLength(1_500)
  })

  it('of an organization with a locked row delay no others, and arrive afterwards', async () => {
    const other = await world.createOrganization()
    const theirs = await startEndpoint(world, other, ['template.status_changed'])
    const lock = 'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE'
    const held = await holdOpen(world, lock, [organization.id])
    await raiseAboutNobody(world, organization, 2)
    await raiseAboutNobody(world, other, 2)
    const draining = world.drain()
    await theirs.until(2)
    expect(endpoint.received).toEqual([])
    await held.release()
    await draining
    expect(namesOf(endpoint).sort()).toEqual(numbers(2))
  })

  describe('of many organizations', () => {
    const count = async () => {
      const { rows } = await world.database.pool.query<{ count: number }>(
        `SELECT count(*) FROM webhook_deliveries d JOIN organizations o ON o.id = d.organization_id WHERE o.name = 'Many'`,
      )
      return rows[0]?.count
    }

    /** Raises an event in each of them. */
    const raiseInMany = () =>
      world.database.pool.query(
        `INSERT INTO events (organization_id, id, type, data)
         SELECT id, gen_random_uuid(), 'template.status_changed', '{"template": {"name": "1"}}' FROM organizations
         WHERE name = 'Many'`,
      )

    beforeAll(async () => {
      await world.database.pool.query(
        `WITH made AS (
           INSERT INTO organizations (id, name, slug, default_country, timezone, currency, language)
           SELECT gen_random_uuid(), 'Many', 'many-' || n, 'BR', 'UTC', 'BRL', 'pt' FROM generate_series(1, 250) n RETURNING id
         ), feeds AS (
           INSERT INTO webhook_feeds (organization_id) SELECT id FROM made
         )
         INSERT INTO webhooks (organization_id, id, url, events, secret)
         SELECT id, gen_random_uuid(), 'http://127.0.0.1:9/', '{*}', '' FROM made`,
      )
    })

    it('become deliveries even if they exceed one round', async () => {
      await raiseInMany()
      await world.drain()
      expect(await count()).toBe(250)
    })
  })
})
