import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../../../src/lib/crypto/standard-webhooks.js'
import { besideService, useFolder } from '../../support/cli.js'
import { createContact } from '../../support/contacts.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { type TestOrganization, useWorld } from '../../support/world.js'
import { type Followed, follow } from '../webhooks-support.js'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization
let receiver: Receiver

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
})

beforeEach(async () => {
  organization = await world.createOrganization()
  receiver = await startReceiver()
})

afterAll(() => receiver.close())

/** The number of lines of a request, including the empty one after it. */
const LINES = 7

async function listen(...args: string[]): Promise<Followed> {
  const followed = follow(['webhooks', 'listen', '--org', organization.slug, ...args], env)
  await followed.says(/Ctrl-C ends/)
  return followed
}

async function feedOf({ key } = organization) {
  return (await world.request('GET', '/events', { key })).body.events
}

function positionOf(followed: Followed): string {
  return /To continue from here: --from (\S+)\n$/.exec(followed.err())?.[1] ?? 'none'
}

describe('webhooks listen', () => {
  it('prints new events as the signed requests that an endpoint would receive; Ctrl-C ends it with 0', async () => {
    await createContact(world, organization, '5511970006001')
    const followed = await listen()
    await createContact(world, organization, '5511970006002')
    const lines = await followed.lines(LINES)
    expect(await followed.end()).toBe(0)
    const [method, type, ...rest] = lines
    const [id, timestamp, signature, empty, body = '', last] = rest
    const [, { id: eventId, ...event }] = await feedOf()
    expect(lines).toHaveLength(LINES + 1)
    expect([method, type, empty, last]).toEqual(['POST', 'content-type: application/json', '', ''])
    expect(JSON.parse(body)).toEqual(event)
    expect(id).toBe(`webhook-id: ${eventId}`)
    const headers = Object.fromEntries([id, timestamp, signature].map((line = '') => line.split(': ')))
    const secret = /They are signed with (whsec_\S+)\n/.exec(followed.err())?.[1] ?? ''
    expect(new Webhook(secret).verify(body, headers)).toEqual(event)
  })

  it('starts at the given position, and prints the position to continue from', async () => {
    for (const number of ['5511970006003', '5511970006004']) await createContact(world, organization, number)
    const first = await listen('--from', 'oldest')
    await first.lines(2 * (LINES + 1))
    expect(await first.end()).toBe(0)
    await createContact(world, organization, '5511970006005')
    const second = await listen('--from', positionOf(first))
    await second.lines(LINES)
    expect(await second.end()).toBe(0)
    const ids = `${first.out()}${second.out()}`.match(/(?<=webhook-id: ).+/g)
    expect(ids).toEqual((await feedOf()).map((event: { id: string }) => event.id))
  })

  it('shows only the requested kinds, and nothing of another organization', async () => {
    const other = await world.createOrganization()
    const followed = await listen('--types', 'contact.updated,message.sent')
    await createContact(world, other, '5511970006006')
    await createContact(world, organization, '5511970006006')
    for (const { key } of [other, organization]) {
      const body = { full_name: 'Ana' }
      await world.request('PATCH', '/contact?phone_number=5511970006006', { key, body })
    }
    await createContact(world, organization, '5511970006007')
    const body = { full_name: 'Eva' }
    await world.request('PATCH', '/contact?phone_number=5511970006007', { key: organization.key, body })
    await followed.lines(2 * (LINES + 1))
    expect(await followed.end()).toBe(0)
    const updated = (await feedOf()).filter((event: { type: string }) => event.type === 'contact.updated')
    expect(followed.out().match(/(?<=webhook-id: ).+/g)).toEqual(updated.map((event: { id: string }) => event.id))
  })
})

describe('webhooks listen --forward', () => {
  it('posts the events in order, signed with the given secret, and prints a line for each', async () => {
    const secret = newWebhookSecret()
    const followed = await listen('--forward', receiver.url, '--secret', secret)
    for (const number of ['5511970006011', '5511970006012']) await createContact(world, organization, number)
    await receiver.until(2)
    const lines = await followed.lines(2)
    expect(await followed.end()).toBe(0)
    expect(followed.err()).not.toContain(secret)
    const events = await feedOf()
    for (const [index, { id, ...event }] of events.entries()) {
      const got = receiver.received[index]
      const verified = new Webhook(secret).verify(got?.text as string, got?.headers as Record<string, string>)
      expect(verified).toEqual(event)
      expect(got?.headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' })
      expect(lines[index]).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d  contact\\.created  ${id}  204  \\d+ ms$`))
    }
    expect(events).toHaveLength(2)
  })

  it('retries a failed event before it continues', async () => {
    receiver.respond(() => (receiver.received.length === 1 ? 500 : 204))
    const followed = await listen('--forward', receiver.url)
    for (const number of ['5511970006013', '5511970006014']) await createContact(world, organization, number)
    const lines = await followed.lines(3)
    expect(await followed.end()).toBe(0)
    const [first, second] = await feedOf()
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([first.id, first.id, second.id])
    expect(lines[0]).toMatch(new RegExp(`  ${first.id}  the endpoint answered 500  \\d+ ms  again in 1 s$`))
    expect(lines[1]).toMatch(/ {2}204 {2}\d+ ms$/)
  })

  it('stops in the middle of an attempt, and starts with the same event next time', async () => {
    receiver.respond(() => () => undefined)
    const followed = await listen('--forward', receiver.url)
    await createContact(world, organization, '5511970006015')
    await receiver.until(1)
    expect(await followed.end()).toBe(0)
    const page = await world.request('GET', `/events?after=${positionOf(followed)}`, { key: organization.key })
    expect(page.body.events).toEqual(await feedOf())
    expect(followed.out()).toBe('')
  })
})
