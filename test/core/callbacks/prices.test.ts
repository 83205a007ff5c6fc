import { beforeEach, describe, expect, it } from 'vitest'
import { readCallback } from '../../../src/core/callbacks/read/read-callback.js'
import { receive } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { sampleFor } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'
const MARKETING = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'marketing' }

const world = useWorld()
let organization: TestOrganization
let id: string

beforeEach(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  organization = await world.createOrganization()
  await createContact(world, organization, ANA)
  const body = { phone_number: ANA, message_type: 'text', text: 'Hello' }
  const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
  id = sent.body.data.message_id
})

/** The upstream reports a status of the message, this number of seconds later. */
async function report(status: string, offset: number, fields: object, at = organization): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1_000) + offset)
  await receive(world, at, { statuses: [{ id, status, timestamp, recipient_id: ANA, ...fields }] })
}

async function prices({ id: organizationId } = organization) {
  const { rows } = await world.database.pool.query(
    'SELECT billable, model, type, category, country, status FROM message_prices WHERE organization_id = $1',
    [organizationId],
  )
  return rows
}

const KNOWN = { billable: true, model: 'PMP', type: 'regular', category: 'marketing', country: 'US' }

describe('the price of a message', () => {
  it('is kept once, and told with the status', async () => {
    await report('delivered', 1, { pricing: MARKETING })
    await report('read', 2, { pricing: MARKETING })
    expect(await prices()).toEqual([{ ...KNOWN, status: 'delivered' }])
    const { body } = await world.request('GET', '/events?types=message.delivered,message.read', {
      key: organization.key,
    })
    expect(body.events.map(({ data }: { data: { pricing: object } }) => data.pricing)).toEqual([KNOWN, KNOWN])
  })

  it('is not forgotten when a later status says nothing, which does not mean free', async () => {
    await report('delivered', 1, { pricing: MARKETING })
    await report('read', 2, {})
    await report('read', 3, { pricing: {} })
    expect(await prices()).toMatchObject([KNOWN])
    const [read] = await eventsOf(world, organization, 'message.read')
    expect(read?.data).toBeDefined()
    expect(read?.data).not.toHaveProperty('pricing')
  })

  it('is the newest one that was said, whatever comes first', async () => {
    await report('read', 5, { pricing: { ...MARKETING, type: 'free_entry_point', billable: false } })
    await report('delivered', 1, { pricing: MARKETING })
    expect(await prices()).toMatchObject([{ billable: false, type: 'free_entry_point', status: 'read' }])
  })

  it('keeps the parts of which a later status says nothing', async () => {
    await report('delivered', 1, { pricing: MARKETING })
    await report('read', 2, { pricing: { category: 'utility' } })
    expect(await prices()).toEqual([{ ...KNOWN, category: 'utility', status: 'read' }])
  })

  it('is that of the later status within the same second, whatever comes first', async () => {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    await report('delivered', 0, { timestamp, pricing: { ...MARKETING, category: 'service' } })
    await report('sent', 0, { timestamp, pricing: MARKETING })
    expect(await prices()).toMatchObject([{ category: 'service', status: 'delivered' }])
  })

  it('is not known if the message is of another organization', async () => {
    const other = await world.createOrganization()
    await report('delivered', 1, { pricing: MARKETING }, other)
    expect([await prices(), await prices(other)]).toEqual([[], []])
  })
})

describe('the published statuses', () => {
  const priceOf = (name: string) => {
    const [item] = readCallback(JSON.parse(sampleFor(organization, name)))
    return item?.kind === 'status' ? item.price : 'not a status'
  }

  it.each([
    ['status-sent', KNOWN],
    [
      'status-sent-conversation',
      { ...KNOWN, billable: false, type: 'free_entry_point', category: 'referral_conversion' },
    ],
    ['status-delivered-2025', { ...KNOWN, model: 'CBP', type: null, category: 'utility' }],
    ['status-delivered-authentication', { ...KNOWN, category: 'authentication_international' }],
    ['status-read', undefined],
  ])('%s says %j', (name, price) => {
    expect(priceOf(name)).toEqual(price)
  })

  it('of payments and unknown words are no statuses of messages', () => {
    expect([priceOf('status-payment'), priceOf('status-unknown')]).toEqual(['not a status', 'not a status'])
  })

  it('of a failed payment does not fail the message', async () => {
    await report('failed', 1, { type: 'payment', payment: {} })
    expect(await eventsOf(world, organization, 'message.failed')).toEqual([])
  })
})
