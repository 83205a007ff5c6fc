import { beforeEach, describe, expect, it } from 'vitest'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const messages = async (at = organization) => (await conversation(world, at, ANA)).body.messages ?? []
const received = async () => (await eventsOf(world, organization)).map(({ type }) => type)

async function call(fields: object): Promise<void> {
  const body = { phone_number_id: organization.phoneNumberId, from: ANA, name: 'Ana', ...fields }
  expect((await world.sim('POST', '/call', body)).status).toBe(200)
  await world.settle()
  await world.drain()
}

describe('a missed call', () => {
  it('shows in the conversation, marks it unread and opens the window, as published', async () => {
    await receiveSamples(world, organization, 'call-connect', 'call-terminate-missed')
    expect(await messages()).toMatchObject([
      { message_type: 'call', sender_type: 'system', message: 'Missed call', created_at: '2026-11-18T11:20:00.000Z' },
    ])
    const shown = (await contact(world, organization, ANA)).body.contact
    expect(shown).toMatchObject({ full_name: 'Ana Example', has_unread_messages: true })
    const [row] = await world.database.pool
      .query('SELECT last_inbound_at FROM contacts WHERE id = $1', [shown.id])
      .then(({ rows }) => rows)
    expect(row.last_inbound_at.toISOString()).toBe('2026-11-18T11:20:00.000Z')
  })

  it('raises call.missed, and nothing that a bot would answer', async () => {
    await receiveSamples(world, organization, 'call-terminate-missed', 'call-terminate-missed')
    const types = await received()
    expect(types.filter((type) => type === 'call.missed')).toHaveLength(1)
    expect(types).not.toContain('message.received')
  })

  it('by another person, or of another organization, is in another conversation', async () => {
    const other = await world.createOrganization()
    await receiveSamples(world, other, 'call-terminate-missed')
    expect(await messages()).toEqual([])
    expect(await messages(other)).toHaveLength(1)
  })
})

describe('an answered call', () => {
  it('shows how long it was, and leaves no unread mark, as published', async () => {
    await receiveSamples(world, organization, 'call-terminate-answered')
    expect(await messages()).toMatchObject([{ message_type: 'call', message: 'Call, 2:00' }])
    expect((await contact(world, organization, ANA)).body.contact.has_unread_messages).toBe(false)
    const [ended] = await eventsOf(world, organization, 'call.ended')
    expect(ended?.data.message.content).toEqual({ direction: 'inbound', outcome: 'answered', seconds: 120 })
  })
})

describe('a call by the business', () => {
  it('belongs to the person, although the published numbers are swapped, and opens no window', async () => {
    await receiveSamples(world, organization, 'call-terminate-mixed-case')
    expect(await messages()).toMatchObject([{ message: 'Call not answered' }])
    expect((await contact(world, organization, ANA)).body.contact).toMatchObject({
      active_status: false,
      has_unread_messages: false,
    })
  })

  it('that was declined shows so, whatever ends it', async () => {
    const declined = { id: 'wacid.1', type: 'call', status: 'REJECTED', timestamp: '1795000810', recipient_id: ANA }
    const value = { statuses: [declined] }
    const callback = { phone_number_id: organization.phoneNumberId, field: 'calls', value }
    expect((await world.sim('POST', '/callback', callback)).status).toBe(200)
    await world.settle()
    await call({ id: 'wacid.1', direction: 'outbound' })
    expect(await messages()).toMatchObject([{ message: 'Call declined' }])
  })

  it('that only rings shows nothing', async () => {
    await receiveSamples(world, organization, 'call-status')
    expect(await messages()).toEqual([])
  })
})

describe('the simulator', () => {
  it.each([
    [{}, 'Missed call'],
    [{ seconds: 65 }, 'Call, 1:05'],
    [{ direction: 'outbound' }, 'Call not answered'],
    [{ direction: 'outbound', seconds: 5 }, 'Call, 0:05'],
  ])('reports the call %j', async (fields, message) => {
    await call(fields)
    expect((await messages()).map((one: { message: string }) => one.message)).toEqual([message])
  })
})
