import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

let world: World
let organization: TestOrganization
let receiver: Receiver

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  receiver = await startReceiver()
})

afterAll(async () => {
  await receiver.close()
  await world.close()
})

describe('an event arrives', () => {
  test('signed, so that the public library verifies it', async () => {
    const { key } = organization
    const made = await world.request('POST', '/set-webhooks', { key, body: { url: receiver.url, events: ['*'] } })
    expect(made.status).toBe(201)
    const contact = await world.request('POST', '/contact', {
      key,
      body: { phone_number: '+5511987654321', full_name: 'Ana' },
    })
    expect(contact.status).toBe(201)
    await world.drain()
    expect(receiver.types()).toEqual(['contact.created'])
    const [got] = receiver.received
    const verified = new Webhook(made.body.webhook.secret).verify(
      got?.text as string,
      got?.headers as Record<string, string>,
    )
    expect(verified).toEqual(got?.body)
    expect(got?.body.data).toEqual({ contact: contact.body.contact })
    const log = await world.request('GET', '/webhook-deliveries', { key })
    expect(log.body.deliveries).toEqual([
      expect.objectContaining({ status: 'delivered', event_type: 'contact.created', next_attempt_at: null }),
    ])
  })
})
