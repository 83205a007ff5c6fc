import { beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld({ PARLEY_UPSTREAM_TIMEOUT_MS: '300' })
const organization = useOrganization(world)
let people = 0

beforeAll(async () => {
  await world.sim('POST', '/settings', { slow_ms: 1_000 })
})

/** A contact whose number ends in the magic digits. */
async function contactEndingIn(magic: string): Promise<string> {
  const digits = `5511${++people + 100}${magic}`
  await createContact(world, organization, `+${digits}`)
  return digits
}

const send = (phone_number: string) =>
  world.request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number, message_type: 'text', text: 'hello' },
  })

async function only(digits: string) {
  const { body } = await conversation(world, organization, digits)
  expect(body.count).toBe(1)
  return body.messages[0]
}

async function eventTypes(digits: string): Promise<string[]> {
  const events = (await eventsOf(world, organization)).filter((event) => event.type.startsWith('message.'))
  return events.filter((event) => event.data.contact.chat_id === digits).map((event) => event.type)
}

describe('POST /send-chat returns 400 Upstream rejected message', () => {
  it.each([
    ['000001', 131026],
    ['000002', 131047],
  ])('for a number ending in %s, with code %i, stored as failed', async (magic, code) => {
    const digits = await contactEndingIn(magic)
    const answer = await send(digits)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      success: false,
      error: 'Upstream rejected message',
      upstream_code: code,
      details: expect.stringMatching(/.{10}/),
    })
    expect(await only(digits)).toMatchObject({
      id: answer.body.id,
      message_status: 'failed',
      error: { code, text: answer.body.details },
      outcome: null,
      message_id: null,
    })
    const failed = (await eventsOf(world, organization, 'message.failed')).at(-1)
    expect(failed?.data).toMatchObject({
      message: { id: answer.body.id, status: 'failed', error: { code } },
      contact: { chat_id: digits },
      previous_status: 'sent',
    })
    expect(await eventTypes(digits)).toEqual(['message.failed'])
  })
})

describe('POST /send-chat retries', () => {
  it('a send that was definitely not accepted: a number ending in 000003 is throttled once', async () => {
    const digits = await contactEndingIn('000003')
    expect((await send(digits)).status).toBe(200)
    const { body } = await world.sim('GET', `/messages?to=${digits}`)
    expect(body.total).toBe(1)
    await world.settle()
    expect(await only(digits)).toMatchObject({ message_status: 'read' })
    expect(await eventTypes(digits)).toEqual(['message.sent', 'message.delivered', 'message.read'])
  })
})

describe('POST /send-chat returns 500 Outcome unknown', () => {
  it.each([
    ['a slow answer', '000004'],
    ['a dropped connection', '000005'],
  ])('if %s, and the callback then records the outcome', async (_name, magic) => {
    await world.sim('POST', '/settings', { statuses: magic === '000004' })
    const digits = await contactEndingIn(magic)
    const answer = await send(digits)
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({ success: false, error: 'Outcome unknown', retryable: false })
    const before = await only(digits)
    expect(before).toMatchObject({ id: answer.body.id, message_status: 'sent', outcome: 'unknown', message_id: null })
    expect(await eventTypes(digits)).toEqual([])
    const { body } = await world.sim('GET', `/messages?to=${digits}`)
    expect(body.total).toBe(1)

    await world.sim('POST', '/settings', { statuses: true })
    const [sent] = body.messages
    await world.sim('POST', '/callback', {
      phone_number_id: organization.phoneNumberId,
      value: {
        statuses: [
          {
            id: sent.id,
            status: 'delivered',
            timestamp: '1750000000',
            recipient_id: digits,
            biz_opaque_callback_data: answer.body.id,
          },
        ],
      },
    })
    await world.settle()
    const after = await only(digits)
    expect(after).toMatchObject({ outcome: null, message_id: sent.id })
    expect(['delivered', 'read']).toContain(after.message_status)
    expect((await eventTypes(digits)).slice(0, 2)).toEqual(['message.sent', 'message.delivered'])
  })

  it("until the simulator's statuses arrive", async () => {
    const digits = await contactEndingIn('000005')
    expect((await send(digits)).status).toBe(500)
    await world.settle()
    expect(await only(digits)).toMatchObject({ message_status: 'read', outcome: null })
    expect(await eventTypes(digits)).toEqual(['message.sent', 'message.delivered', 'message.read'])
  })
})

describe('POST /send-chat to a number ending in 000006', () => {
  it('is delivered and never read', async () => {
    const digits = await contactEndingIn('000006')
    expect((await send(digits)).status).toBe(200)
    await world.settle()
    expect(await only(digits)).toMatchObject({ message_status: 'delivered' })
  })
})

describe('POST /send-chat returns 400 Upstream credentials rejected', () => {
  it('if the token is no longer valid', async () => {
    const digits = await contactEndingIn('123456')
    await world.sim('PUT', `/numbers/${organization.phoneNumberId}`, {
      business_account_id: organization.businessAccountId,
      access_token: 'another token',
      app_secret: organization.appSecret,
      callback_url: `${world.app.url}/hooks/upstream`,
    })
    const answer = await send(digits)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Upstream credentials rejected', upstream_code: 190 })
    expect(JSON.stringify(answer.body)).not.toContain(organization.accessToken)
    expect(await only(digits)).toMatchObject({ message_status: 'failed', error: { code: 190 } })
    expect(await eventTypes(digits)).toEqual(['message.failed'])
  })
})
