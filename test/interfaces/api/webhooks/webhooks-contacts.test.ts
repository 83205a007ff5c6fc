import { beforeEach, describe, expect, it } from 'vitest'
import { receive, seconds, wamid } from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { deliveriesOf } from '../../../support/rows/deliveries.js'
import { insertDelivery, setWebhook } from '../../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let webhook: { id: string }

beforeEach(async () => {
  organization = await world.createOrganization()
  webhook = await setWebhook(world, organization, { events: ['broadcast.started'] })
})

const HOUR = 3_600_000
const later = () => new Date(world.now().getTime() + HOUR)

const attempt = { at: '2026-01-02T03:04:05.000Z', response_status: 500, error: 'answered 500', duration_ms: 12 }

describe('an erased contact', () => {
  const erase = () => world.request('DELETE', '/contact?chat_id=5511987652003', { key: organization.key })

  it('gets no more deliveries, and the responses of endpoints to its events are deleted', async () => {
    await createContact(world, organization, '+5511987652003')
    const attempts = [
      { ...attempt, response_body: 'Ana 5511987652003' },
      { ...attempt, response_body: null },
    ]
    const pending = { status: 'pending', attempts, next_attempt_at: later() }
    await insertDelivery(world, organization, webhook.id, pending)
    await insertDelivery(world, organization, webhook.id, { status: 'delivered', attempts })
    // By the event, not by its contact at the time of dispatch.
    await world.database.pool.query('UPDATE webhook_deliveries SET contact_id = NULL WHERE organization_id = $1', [
      organization.id,
    ])
    await createContact(world, organization, '+5511987652004')
    await insertDelivery(world, organization, webhook.id, pending)
    expect((await erase()).status).toBe(200)
    await world.drain()
    const blanked = [1, 2].map(() => ({ ...attempt, response_body: null }))
    expect(await deliveriesOf(world, organization)).toMatchObject([
      { status: 'failed', next_attempt_at: null, attempts: blanked },
      { status: 'delivered', next_attempt_at: null, attempts: blanked },
      { status: 'pending', next_attempt_at: pending.next_attempt_at, attempts },
    ])
  })

  it('affects no delivery of another organization', async () => {
    const other = await world.createOrganization()
    const theirs = await setWebhook(world, other, { events: ['broadcast.started'] })
    await createContact(world, other, '+5511987652003')
    const next_attempt_at = later()
    await insertDelivery(world, other, theirs.id, { status: 'pending', next_attempt_at })
    await createContact(world, organization, '+5511987652003')
    await erase()
    await world.drain()
    expect(await deliveriesOf(world, other)).toMatchObject([{ status: 'pending', next_attempt_at }])
  })
})

describe('two contacts that are merged', () => {
  const number = '16505550177'
  const userId = 'US.13491208655302741'

  it('have one order of deliveries: the later of two that were due waits', async () => {
    const older = await createContact(world, organization, `+${number}`)
    const text = { timestamp: seconds(), type: 'text', text: { body: 'hi' } }
    await insertDelivery(world, organization, webhook.id, { status: 'pending', next_attempt_at: later() })
    await receive(world, organization, { messages: [{ ...text, from_user_id: userId, id: wamid() }] })
    const another = await setWebhook(world, organization, { events: ['broadcast.started'] })
    for (const { id } of [webhook, another]) {
      await insertDelivery(world, organization, id, { status: 'pending', next_attempt_at: later() })
    }
    await insertDelivery(world, organization, webhook.id, { status: 'delivered' })
    const before = await deliveriesOf(world, organization)
    expect(new Set(before.map(({ contact_id }) => contact_id)).size).toBe(2)

    await receive(world, organization, { messages: [{ ...text, from: number, from_user_id: userId, id: wamid() }] })
    expect((await contact(world, organization, number)).body.contact.id).toBe(older)
    const [first, second, elsewhere, ended] = await deliveriesOf(world, organization)
    expect(first).toEqual(before[0])
    expect(second).toEqual({ ...before[1], contact_id: older, next_attempt_at: null })
    expect(elsewhere).toEqual({ ...before[2], contact_id: older })
    expect(ended).toEqual(before[3])
  })
})
