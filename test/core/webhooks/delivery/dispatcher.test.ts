import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import type { ReceivedWebhook } from '../../../support/receiver.js'
import { deliveriesTo } from '../../../support/rows/deliveries.js'
import {
  closeEndpoints,
  DAY,
  MINUTE,
  namesOf,
  rename,
  SECOND,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let people = 0

beforeEach(async () => {
  organization = await world.createOrganization()
})

afterEach(() => closeEndpoints())

const newContact = (owner = organization) =>
  createContact(world, owner, `+1650555${String(1_000 + ++people)}`, { full_name: 'Ana' })

const headersOf = ({ headers }: ReceivedWebhook) => headers as Record<string, string>

/** Checks only the signature: the library compares timestamps with the machine's clock, not with the test's. */
function isSignedBy(secret: string, one: ReceivedWebhook): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headersOf(one)
  const expected = new Webhook(secret).sign(id as string, new Date(Number(at) * 1_000), one.text)
  return (signatures as string).split(' ').includes(expected)
}

describe('delivering an event', () => {
  it('signs it, so that the public library verifies it', async () => {
    const endpoint = await startEndpoint(world, organization)
    await newContact()
    await world.drain()
    expect(endpoint.types()).toEqual(['contact.created'])
    const [got] = endpoint.received as [ReceivedWebhook]
    // The test's clock has not been moved yet.
    expect(new Webhook(endpoint.secret).verify(got.text, headersOf(got))).toEqual(got.body)
    expect(headersOf(got)['content-type']).toBe('application/json')
    const log = await world.request('GET', '/webhook-deliveries', { key: organization.key })
    expect(log.body.deliveries).toEqual([
      expect.objectContaining({ status: 'delivered', event_type: 'contact.created', next_attempt_at: null }),
    ])
    expect(log.body.deliveries[0].event_id).toBe(headersOf(got)['webhook-id'])
  })

  it('skips webhooks that did not subscribe to its kind', async () => {
    const created = await startEndpoint(world, organization, ['contact.created'])
    const changed = await startEndpoint(world, organization, ['contact.updated', 'message.sent'])
    const all = await startEndpoint(world, organization, ['*'])
    const mixed = await startEndpoint(world, organization, ['message.read', '*'])
    await rename(world, organization, await newContact(), 'Bea')
    await world.drain()
    expect(created.types()).toEqual(['contact.created'])
    expect(changed.types()).toEqual(['contact.updated'])
    expect(all.types()).toEqual(['contact.created', 'contact.updated'])
    expect(mixed.types()).toEqual(['contact.created', 'contact.updated'])
  })

  it('sends it to every webhook once, with one id and the same bytes', async () => {
    const endpoints = [await startEndpoint(world, organization), await startEndpoint(world, organization)]
    await newContact()
    await world.drain()
    await world.drain()
    const [one, other] = endpoints.map(({ received }) => received)
    expect([one, other].map((received) => received?.length)).toEqual([1, 1])
    expect(other?.[0]?.text).toBe(one?.[0]?.text)
    expect(other?.[0]?.headers['webhook-id']).toBe(one?.[0]?.headers['webhook-id'])
  })

  it("never uses another organization's webhook", async () => {
    const other = await world.createOrganization()
    const theirs = await startEndpoint(world, other)
    const mine = await startEndpoint(world, organization)
    await newContact()
    await newContact(other)
    await world.drain()
    expect(mine.received.map(({ body }) => body.data.contact.organization_id)).toEqual([organization.id])
    expect(theirs.received.map(({ body }) => body.data.contact.organization_id)).toEqual([other.id])
  })

  it('skips webhooks that were created after the event', async () => {
    const contact = await newContact()
    const first = await startEndpoint(world, organization)
    await rename(world, organization, contact, 'first')
    const second = await startEndpoint(world, organization)
    await rename(world, organization, contact, 'second')
    await world.drain()
    expect(namesOf(first)).toEqual(['first', 'second'])
    expect(namesOf(second)).toEqual(['second'])
  })

  it('stops when the webhook is deleted, even for deliveries in progress', async () => {
    const { key } = organization
    const deleted = await startEndpoint(world, organization)
    const stays = await startEndpoint(world, organization)
    deleted.respond(() => 500)
    const contact = await newContact()
    await world.drain()
    expect(deleted.received).toHaveLength(1)
    const { status } = await world.request('DELETE', '/set-webhooks', { key, body: { id: deleted.id } })
    expect(status).toBe(200)
    await rename(world, organization, contact, 'Bea')
    world.advance(DAY)
    await world.drain()
    expect(stays.types()).toEqual(['contact.created', 'contact.updated'])
    expect(deleted.received).toHaveLength(1)
    expect(await deliveriesTo(world, deleted.id)).toEqual([])
  })

  it('works for a webhook created after the last one was deleted', async () => {
    const { key } = organization
    const first = await startEndpoint(world, organization)
    const contact = await newContact()
    await world.drain()
    await world.request('DELETE', '/set-webhooks', { key, body: { id: first.id } })
    await rename(world, organization, contact, 'between')
    const second = await startEndpoint(world, organization)
    await rename(world, organization, contact, 'after')
    await world.drain()
    expect(first.received).toHaveLength(1)
    expect(namesOf(second)).toEqual(['after'])
  })
})

describe('the attempts of a delivery', () => {
  it('have the same id and bytes, each with its own timestamp and a signature over it', async () => {
    const endpoint = await startEndpoint(world, organization)
    endpoint.respond(() => 500)
    await newContact()
    for (const wait of [0, 7 * SECOND, 7 * MINUTE]) {
      world.advance(wait)
      await world.drain()
    }
    const { received, secret } = endpoint
    expect(received).toHaveLength(3)
    expect(new Set(received.map(({ text }) => text)).size).toBe(1)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const times = received.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(new Set(times).size).toBe(3)
    expect(times).toEqual([...times].sort())
    expect(received.map((one) => isSignedBy(secret, one))).toEqual([true, true, true])
  })
})

describe('after a secret rotation', () => {
  it('both secrets sign for 24 hours, then the new one alone', async () => {
    const endpoint = await startEndpoint(world, organization)
    const contact = await newContact()
    await world.drain()
    const path = `/set-webhooks/${endpoint.id}/rotate-secret`
    const { body } = await world.request('POST', path, { key: organization.key })
    const renewed: string = body.webhook.secret
    expect(renewed).not.toBe(endpoint.secret)
    await rename(world, organization, contact, 'at once')
    await world.drain()
    world.advance(DAY - MINUTE)
    await rename(world, organization, contact, 'within the day')
    await world.drain()
    world.advance(MINUTE)
    await rename(world, organization, contact, 'after the day')
    await world.drain()
    const signers = endpoint.received.map((one) => [isSignedBy(endpoint.secret, one), isSignedBy(renewed, one)])
    expect(signers).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, true],
    ])
  })
})

describe('/metrics', () => {
  it('counts successful and failed attempts without naming organizations', async () => {
    const endpoint = await startEndpoint(world, organization)
    const read = async () => {
      const { body } = await world.request('GET', '/metrics')
      const count = (outcome: string) =>
        Number(new RegExp(`parley_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)`).exec(body)?.[1])
      return { delivered: count('delivered'), failed: count('failed'), body }
    }
    const before = await read()
    await newContact()
    await world.drain()
    endpoint.respond(() => 500)
    await newContact()
    await world.drain()
    const after = await read()
    expect(after).toMatchObject({ delivered: before.delivered + 1, failed: before.failed + 1 })
    expect(after.body).toContain('parley_webhook_attempts_in_flight 0')
    expect(after.body).toMatch(/^parley_webhook_request_duration_seconds_count\{outcome="delivered"\} [1-9]/m)
    expect(after.body).toMatch(/^parley_webhook_request_duration_seconds_count\{outcome="refused"\} [1-9]/m)
    // The failed one waits for its next attempt.
    expect(after.body).toMatch(/^parley_webhook_deliveries_pending [1-9]/m)
    expect(after.body).toMatch(/^parley_webhook_deliveries_due 0$/m)
    expect(after.body).toMatch(/^parley_webhook_deliveries_oldest_seconds 0$/m)
    for (const value of [organization.id, endpoint.id, endpoint.url]) expect(after.body).not.toContain(value)
  })
})
