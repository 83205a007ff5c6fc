import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MAX_ATTEMPTS } from '../../../../src/core/webhooks/delivery/in-flight.js'
import { createContact } from '../../../support/contacts.js'
import { deliveriesOf, deliveriesTo } from '../../../support/rows/deliveries.js'
import {
  closeEndpoints,
  type Endpoint,
  expectNothingStuck,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { useOrganization, useWorld } from '../../../support/world.js'

describe('while the service runs', () => {
  const world = useWorld()
  const organization = useOrganization(world)

  beforeAll(async () => {
    world.app.webhooks.start()
  })

  afterEach(async () => {
    await expectNothingStuck(world)
  })

  afterAll(() => closeEndpoints())

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

  it('endpoints of one organization that never answer delay no other organization, and take no more than their share', async () => {
    const noisy = await world.createOrganization()
    const silent: Endpoint[] = []
    for (let n = 0; n < 4; n++) {
      const one = await startEndpoint(world, noisy, ['template.status_changed'])
      one.respond(() => () => {})
      silent.push(one)
    }
    await raiseAboutNobody(world, noisy, 200)
    world.app.ctx.notifications.send({ topic: 'events', organizationIds: [noisy.id] })
    await silent[0]?.until(1)
    const good = await startEndpoint(world, organization, ['template.status_changed'])
    await raiseAboutNobody(world, organization, 300)
    tell()
    await good.until(300)
    const received = silent.reduce((sum, { received }) => sum + received.length, 0)
    expect(received).toBeGreaterThan(0)
    expect(received).toBeLessThanOrEqual(MAX_ATTEMPTS.ofOrganization)
    const claimed = (await deliveriesOf(world, noisy)).filter(({ process_id }) => process_id !== null)
    // As many as are attempted may wait for their turn.
    expect(claimed.length).toBeLessThanOrEqual(2 * MAX_ATTEMPTS.ofOrganization)
    expect(world.app.webhooks.figures().inFlight).toBeLessThanOrEqual(2 * MAX_ATTEMPTS.ofOrganization)
  })

  it('more events than an endpoint has places arrive once each, while others are raised', async () => {
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
