import { describe, expect, it } from 'vitest'
import { eraseTraces } from '../../../../src/core/contacts/erase-traces.js'
import { resolveContact } from '../../../../src/core/contacts/resolution/resolve-contact.js'
import { createDispatcher } from '../../../../src/core/webhooks/delivery/dispatcher.js'
import { untilWaiting } from '../../../support/locks.js'
import { contactRows } from '../../../support/rows/contacts.js'
import { type DeliveryRow, deliveriesTo } from '../../../support/rows/deliveries.js'
import {
  expectNothingStuck,
  HOUR,
  holdOpen,
  MINUTE,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  SECOND,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { endpoint, newContact, newNumber, organization, useEndpoint, world } from '../one-endpoint.js'

useEndpoint(['contact.updated', 'template.status_changed'])

const deliveries = () => deliveriesTo(world, endpoint.id)

/** Each delivery's status, and whether it is scheduled. */
const shown = async () =>
  (await deliveries()).map(({ status, next_attempt_at }) => (next_attempt_at ? `${status}, timed` : status))

/** The endpoint refuses requests with this name. */
function refuse(...names: string[]): void {
  endpoint.respond(({ body: { data } }) => (names.includes(data.contact?.full_name ?? data.template?.name) ? 500 : 204))
}

describe('the events of a contact', () => {
  it('arrive in order, however many', async () => {
    const contact = await newContact()
    await raise(world, contact, 40)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(numbers(40))
  })

  it('wait for a failing one, while those of others and those without a contact continue', async () => {
    const [ana, bea] = [await newContact(), await newContact()]
    refuse('1')
    await raise(world, ana, 2)
    await raise(world, bea, 2, 11)
    await raiseAboutNobody(world, organization, 1, 21)
    await world.drain()
    expect(namesOf(endpoint).sort()).toEqual(['1', '11', '12', '21'])
    expect(await shown()).toEqual(['pending, timed', 'pending', 'delivered', 'delivered', 'delivered'])
    await raise(world, ana, 1, 3)
    await world.drain()
    expect((await shown()).at(-1)).toBe('pending')
    refuse()
    endpoint.received.length = 0
    world.advance(7 * SECOND)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2', '3'])
  })

  it('continue with the next one after the first has failed for good', async () => {
    const contact = await newContact()
    refuse('1')
    await raise(world, contact, 2)
    await world.drain()
    for (let attempt = 2; attempt <= 10; attempt++) {
      expect(namesOf(endpoint)).not.toContain('2')
      world.advance(29 * HOUR)
      // Within five days, a success of another contact keeps the webhook enabled.
      await raiseAboutNobody(world, organization, 1, 100)
      await world.drain()
    }
    expect((await deliveries()).slice(0, 2)).toMatchObject([{ status: 'failed' }, { status: 'delivered' }])
    expect(namesOf(endpoint).filter((name) => name === '1')).toHaveLength(10)
  })

  it('wait at each webhook separately', async () => {
    const other = await startEndpoint(world, organization, ['contact.updated'])
    const contact = await newContact()
    refuse('1')
    await raise(world, contact, 3)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1'])
    expect(namesOf(other)).toEqual(numbers(3))
  })

  it('are not delayed by a replay, nor is the replay delayed', async () => {
    const contact = await newContact()
    refuse('1')
    await raise(world, contact, 2)
    await world.drain()
    const second = (await deliveries())[1] as DeliveryRow
    const path = `/webhook-deliveries/${second.id}/replay`
    expect((await world.request('POST', path, { key: organization.key })).status).toBeLessThan(300)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
    expect((await deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending', 'delivered'])
    refuse()
    world.advance(7 * SECOND)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2', '1', '2'])
  })

  it('stay in order if another process takes over', async () => {
    const contact = await newContact()
    refuse('1')
    await raise(world, contact, 5)
    await world.drain()
    // As after a kill: everything in its memory is lost.
    const restarted = createDispatcher(world.app.work)
    refuse()
    endpoint.received.length = 0
    await restarted.drain()
    expect(namesOf(endpoint)).toEqual([])
    world.advance(7 * SECOND)
    await restarted.drain()
    await restarted.stop()
    expect(namesOf(endpoint)).toEqual(numbers(5))
  })
})

describe('two contacts that are merged', () => {
  const userId = () => `US.52${newNumber()}`

  /** A contact with a number and a younger one with a user id, both with waiting events. */
  async function twoPeople() {
    const digits = newNumber()
    const user = userId()
    const older = await newContact(digits)
    await resolveContact(world.app.ctx, organization.id, { waId: null, userId: user })
    const younger = (await contactRows(world, { organization_id: organization.id })).at(-1)?.id as string
    const merge = () => resolveContact(world.app.ctx, organization.id, { waId: digits, userId: user })
    return { older, younger, merge }
  }

  it('have the deliveries of both in order, and none stuck', async () => {
    const { older, younger, merge } = await twoPeople()
    refuse('1', '11')
    await raise(world, older, 2)
    await raise(world, younger, 2, 11)
    await world.drain()
    await merge()
    await expectNothingStuck(world)
    await world.drain()
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    world.advance(MINUTE)
    await world.drain()
    expect(namesOf(endpoint).slice(0, 4)).toEqual(['1', '2', '11', '12'])
    expect((await deliveries()).map(({ status }) => status)).not.toContain('pending')
  })

  it('have none stuck if the first one ends at the same moment', async () => {
    const { younger, merge } = await twoPeople()
    refuse('11')
    await raise(world, younger, 2, 11)
    await world.drain()
    const [first, second] = (await deliveries()) as [DeliveryRow, DeliveryRow]
    // The dispatcher's work at the end of an attempt.
    const round = await holdOpen(world, 'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    await round.run(
      `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE organization_id = $1 AND id = $2`,
      [organization.id, first.id],
    )
    await round.run('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE organization_id = $1 AND id = $2', [
      organization.id,
      second.id,
    ])
    const merging = merge()
    await untilWaiting(world.database, 1)
    await round.commit()
    await merging
    await expectNothingStuck(world)
    endpoint.respond(() => 204)
    await world.drain()
    expect(namesOf(endpoint).slice(0, 2)).toEqual(['11', '12'])
  })

  it('have none stuck if an event becomes a delivery at the same moment', async () => {
    const { younger, merge } = await twoPeople()
    refuse('11')
    await raise(world, younger, 1, 11)
    await world.drain()
    const round = await holdOpen(world, 'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    await round.run(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order)
       SELECT organization_id, gen_random_uuid(), webhook_id, event_seq + 1, event_id, event_type, contact_id, true
       FROM webhook_deliveries WHERE organization_id = $1`,
      [organization.id],
    )
    const merging = merge()
    await untilWaiting(world.database, 1)
    await round.commit()
    await merging
    await expectNothingStuck(world)
  })

  it('have their events in order if these were read before, and become deliveries afterwards', async () => {
    const { older, younger, merge } = await twoPeople()
    refuse('1')
    await raise(world, older, 1)
    await world.drain()
    await raise(world, younger, 1, 11)
    await raise(world, older, 1, 2)
    const round = await holdOpen(world, 'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    const merging = merge()
    await untilWaiting(world.database, 1)
    const draining = world.drain()
    await round.commit()
    await Promise.all([merging, draining])
    await expectNothingStuck(world)
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1'])
  })
})

describe('a contact that is erased', () => {
  it('leaves nothing stuck: waiting deliveries fail, and other contacts continue', async () => {
    const digits = newNumber()
    const [ana, bea] = [await newContact(digits), await newContact()]
    refuse('1', '11')
    await raise(world, ana, 3)
    await raise(world, bea, 2, 11)
    await world.drain()
    const { status } = await world.request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })
    expect(status).toBe(200)
    await world.drain()
    await expectNothingStuck(world)
    endpoint.respond(() => 204)
    world.advance(MINUTE)
    await world.drain()
    expect((await deliveries()).map((one) => one.status)).toEqual([
      'failed',
      'failed',
      'failed',
      'delivered',
      'delivered',
    ])
    expect(namesOf(endpoint).filter((name) => ['2', '3'].includes(name))).toEqual([])
  })

  it('leaves nothing stuck if one of its events becomes a delivery at the same moment', async () => {
    const digits = newNumber()
    const contact = await newContact(digits)
    refuse('1')
    await raise(world, contact, 1)
    await world.drain()
    const { rows } = await world.database.pool.query<{ seq: number }>(
      `INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT organization_id, gen_random_uuid(), type, contact_id, data FROM events
       WHERE organization_id = $1 AND type = 'contact.updated' RETURNING seq`,
      [organization.id],
    )
    const round = await holdOpen(world, 'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    await round.run(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order)
       SELECT organization_id, gen_random_uuid(), webhook_id, $2, event_id, event_type, contact_id, true
       FROM webhook_deliveries WHERE organization_id = $1`,
      [organization.id, rows[0]?.seq],
    )
    const erasing = eraseTraces(world.app.ctx, organization.id, { contactId: contact, addresses: [digits] })
    await untilWaiting(world.database, 1)
    await round.commit()
    await erasing
    await expectNothingStuck(world)
  })

  it('stays erased if an attempt ends after that', async () => {
    const digits = newNumber()
    const contact = await newContact(digits)
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    endpoint.respond(() => async (response) => {
      await ended
      response.writeHead(204).end()
    })
    await raise(world, contact, 2)
    const delivering = world.drain()
    await endpoint.until(1)
    await eraseTraces(world.app.ctx, organization.id, { contactId: contact, addresses: [digits] })
    end()
    await delivering
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: [] },
      { status: 'failed', attempts: [] },
    ])
  })
})
