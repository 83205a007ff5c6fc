import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cookies from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../src/app.js'
import { readConfig } from '../../../../src/config/read.js'
import { type Database, openDatabase } from '../../../../src/database/pool.js'
import { createSessionGuard } from '../../../../src/http/access/session.js'
import { liveRoutes } from '../../../../src/interfaces/console/live/live.js'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { contact as contactOf, createContact } from '../../../support/contacts.js'
import { forAllPurposes } from '../../../support/database.js'
import { type EventSource, openEventSource } from '../../../support/event-source.js'
import { createInstance } from '../../../support/instances.js'
import { cutOff } from '../../../support/locks.js'
import { startWorld, useOrganization, useWorld, type World } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember
let agent: SignedInMember
let contactId: string
const open: EventSource[] = []

beforeAll(async () => {
  owner = await signIn(world, organization)
  agent = await signIn(world, organization, { role: 'agent' })
  contactId = await createContact(world, organization, '+16505550001', { full_name: 'Eve' })
})

afterEach(() => {
  for (const source of open.splice(0)) source.close()
})

/** Connects, and resolves when all later events will be received. */
async function listen(
  member: SignedInMember,
  options: Parameters<typeof openEventSource>[2] & { of?: World } = {},
): Promise<EventSource> {
  const source = await openEventSource(options.of ?? world, member.cookie, options)
  open.push(source)
  expect(source.status).toBe(200)
  await expect.poll(() => source.events.length).toBeGreaterThan(0)
  return source
}

/** The events without the initial one, once there are this many. */
async function heard({ events }: EventSource, count: number) {
  await expect.poll(() => events.filter(({ type }) => type !== null).length).toBeGreaterThanOrEqual(count)
  return events.filter(({ type }) => type !== null)
}

const typesOf = (events: readonly { type: string | null }[]) => events.map(({ type }) => type)
const rename = (name: string, of = organization) =>
  world.request('PATCH', '/contact?chat_id=16505550001', { key: of.key, body: { full_name: name } })
const namesOf = (events: readonly { data: { contact?: { full_name: string } } | null }[]) =>
  events.map(({ data }) => data?.contact?.full_name)

describe('GET /console/api/live', () => {
  it('is a stream of events that is not cached', async () => {
    const source = await listen(agent)
    expect(source.status).toBe(200)
    expect(source.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(source.headers.get('cache-control')).toContain('no-store')
    expect((await openEventSource(world, 'parley_session=nonsense')).status).toBe(401)
  })

  it('reports received and sent messages, with their contact', async () => {
    const source = await listen(agent)
    await receiveMessages(world, organization, textMessage('16505550001', 'hello'))
    const [received] = await heard(source, 1)
    expect(received?.type).toBe('message.received')
    expect(received?.data).toEqual({
      id: expect.any(String),
      type: 'message.received',
      timestamp: expect.stringMatching(/Z$/),
      contact_id: contactId,
      contact: expect.objectContaining({
        id: contactId,
        full_name: 'Eve',
        has_unread_messages: true,
        assignee_id: null,
        last_seq: 1,
        active_at: expect.stringMatching(/Z$/),
      }),
      message: expect.objectContaining({
        message: 'hello',
        seq: 1,
        contact_id: contactId,
        content: null,
        instance: null,
        context: null,
      }),
    })
    expect(received?.data.contact).not.toHaveProperty('last_message')
    const sent = await agent.call('POST', '/send-chat', {
      body: { phone_number: '16505550001', message_type: 'text', text: 'hi' },
    })
    expect(sent.status).toBe(200)
    await world.settle()
    const events = await heard(source, 5)
    expect(typesOf(events)).toEqual([
      'message.received',
      'contact.updated',
      'message.sent',
      'message.delivered',
      'message.read',
    ])
    const { id } = (await agent.call('GET', `/contacts/${contactId}/messages`)).body.messages[1]
    expect(events.slice(2).map(({ data }) => data.message.id)).toEqual([id, id, id])
  })

  it('reports notes, assignments, and instances', async () => {
    const source = await listen(agent)
    const { note } = (await agent.call('POST', `/contacts/${contactId}/notes`, { body: { text: 'look' } })).body
    await agent.call('PUT', `/contacts/${contactId}/assignee`, { body: { member_id: agent.member.id } })
    await agent.call('DELETE', `/notes/${note.id}`)
    await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
    await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
    const events = await heard(source, 4)
    expect(typesOf(events).slice(0, 3)).toEqual(['note.created', 'contact.updated', 'note.deleted'])
    expect(events[0]?.data).toMatchObject({ contact_id: contactId, note })
    expect(events[1]?.data.contact.assignee_id).toBe(agent.member.id)
    expect(events[2]?.data.note).toMatchObject({ id: note.id, text: '' })
    const instances = events.slice(3)
    expect(instances.every(({ type }) => type?.startsWith('instance.'))).toBe(true)
    expect(instances[0]?.data.instance).toEqual({
      id: expect.any(String),
      name: 'phone',
      kind: 'sandbox',
      state: expect.any(String),
    })
    expect(JSON.stringify(instances)).not.toContain('sealed')
  })

  it('reports the erasure of a contact, without its data', async () => {
    const erased = await createContact(world, organization, '+16505550099', { full_name: 'Gone' })
    const source = await listen(agent)
    await world.request('DELETE', '/contact?chat_id=16505550099', { key: organization.key })
    const [event] = await heard(source, 1)
    expect(event?.data).toEqual({
      id: expect.any(String),
      type: 'contact.erased',
      timestamp: expect.stringMatching(/Z$/),
      contact_id: null,
      erased: { id: erased },
    })
    await world.drain()
    const again = await listen(agent, { lastEventId: source.events[0]?.id })
    expect(typesOf(await heard(again, 1))).toEqual(['contact.erased'])
    const feed = await world.request('GET', '/events?limit=1000', { key: organization.key })
    expect(typesOf(feed.body.events)).not.toContain('contact.erased')
  })

  it('reports a broadcast, not each of its messages, and a one-off send with its message', async () => {
    await world.drain()
    const source = await listen(owner)
    const audience = { recipients: [{ chatNumber: '16505550001' }] }
    const begun = await owner.call('POST', '/broadcasts', {
      body: { name: 'Hello', templateName: 'hello_world', audience },
    })
    expect(begun.status).toBe(202)
    await world.settle()
    await world.settle()
    expect(new Set(typesOf(await heard(source, 2)))).toEqual(new Set(['broadcast.started', 'broadcast.completed']))
    const single = { templateName: 'hello_world', chatNumber: '16505550001' }
    expect((await owner.call('POST', '/send-template', { body: single })).body).toMatchObject({ success: true })
    expect(typesOf(await heard(source, 3))).toContain('message.sent')
  })

  it('reports webhooks to owners only', async () => {
    const webhook = { url: 'http://127.0.0.1:9/hook', events: ['broadcast.started'] }
    const made = await world.request('POST', '/set-webhooks', { key: organization.key, body: webhook })
    const [ofOwner, ofAgent] = [await listen(owner), await listen(agent)]
    await world.request('POST', `/set-webhooks/${made.body.webhook.id}/test`, { key: organization.key })
    await world.database.pool.query(
      `INSERT INTO events (organization_id, id, type, data)
       SELECT organization_id, gen_random_uuid(), 'webhook.disabled', jsonb_build_object('webhook', to_jsonb(w), 'reason', 'gone')
       FROM webhooks w WHERE organization_id = $1`,
      [organization.id],
    )
    await rename('Eve Two')
    expect(typesOf(await heard(ofOwner, 2))).toEqual(['webhook.disabled', 'contact.updated'])
    expect(typesOf(await heard(ofAgent, 1))).toEqual(['contact.updated'])
  })

  it('reports nothing to another organization', async () => {
    const other = await world.createOrganization()
    const stranger = await signIn(world, other)
    await createContact(world, other, '+16505550001')
    const [theirs, ours] = [await listen(stranger), await listen(agent)]
    await rename('Eve Three')
    await heard(ours, 1)
    await rename('Stranger', other)
    expect(namesOf(await heard(theirs, 1))).toEqual(['Stranger'])
    expect(namesOf(await heard(ours, 1))).toEqual(['Eve Three'])
  })
})

describe('a reader that reconnects', () => {
  it('receives missed events once each, and continues', async () => {
    const first = await listen(agent)
    await rename('One')
    const [one] = await heard(first, 1)
    first.close()
    for (const name of ['Two', 'Three', 'Four']) await rename(name)
    const again = await listen(agent, { lastEventId: one?.id })
    await rename('Five')
    expect(namesOf(await heard(again, 4))).toEqual(['Two', 'Three', 'Four', 'Five'])
    const middle = again.events.find(({ data }) => data?.contact?.full_name === 'Three')
    const third = await listen(agent, { lastEventId: middle?.id })
    expect(namesOf(await heard(third, 2))).toEqual(['Four', 'Five'])
  })

  it('continues from its start, even before the first event', async () => {
    const first = await listen(agent)
    const begun = first.events[0]?.id
    first.close()
    await rename('Six')
    const again = await listen(agent, { lastEventId: begun })
    expect(namesOf(await heard(again, 1))).toEqual(['Six'])
  })

  it('misses no event and receives none twice, however much happens in the meantime', async () => {
    const first = await listen(agent)
    const begun = first.events[0]?.id
    first.close()
    const wanted = Array.from({ length: 60 }, (_, index) => `Busy ${index}`)
    const again: EventSource[] = []
    for (const [index, name] of wanted.entries()) {
      const renamed = rename(name)
      if (index % 20 === 10) again.push(await listen(agent, { lastEventId: begun }))
      await renamed
    }
    for (const source of again) {
      await heard(source, wanted.length)
      expect(namesOf(source.events.filter(({ type }) => type !== null))).toEqual(wanted)
    }
  })

  it('reads past a broadcast without reported events, up to a limit', async () => {
    const first = await listen(agent)
    await rename('Before')
    const [before] = await heard(first, 1)
    first.close()
    const broadcast = (count: number) =>
      world.database.pool.query(
        `INSERT INTO events (organization_id, id, type, contact_id, data)
         SELECT $1, gen_random_uuid(), 'message.sent', $2, '{"message": {"recipient_n": 1}}' FROM generate_series(1, $3)`,
        [organization.id, contactId, count],
      )
    await broadcast(2_000)
    await rename('After')
    const again = await listen(agent, { lastEventId: before?.id })
    expect(namesOf(await heard(again, 1))).toEqual(['After'])
    await broadcast(8_100)
    const late = await listen(agent, { lastEventId: before?.id })
    await expect.poll(() => late.events.at(-1)?.type).toBe('reset')
  })

  it('must reload if it missed too much, was away too long, or comes from another database', async () => {
    const first = await listen(agent)
    await rename('Seven')
    const [seven] = await heard(first, 1)
    first.close()
    const [at = '', position = ''] = (seven?.id ?? '').split('.')
    const old = `${(Number.parseInt(at, 36) - 8 * 24 * 3_600_000).toString(36)}.${position}`
    const history = Buffer.from(position, 'base64url').toString().split('/').at(-1)
    const elsewhere = `${at}.${Buffer.from(`999999999:999999999:///${history}`).toString('base64url')}`
    await world.database.pool.query(
      `INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT $1, gen_random_uuid(), 'contact.updated', $2, jsonb_build_object('contact', to_jsonb(c))
       FROM contacts c, generate_series(1, 1001) WHERE c.id = $2`,
      [organization.id, contactId],
    )
    for (const [index, lastEventId] of [seven?.id, old, elsewhere, 'nonsense'].entries()) {
      const source = await openEventSource(world, agent.cookie, { lastEventId })
      open.push(source)
      await expect.poll(() => source.events.at(-1)?.type).toBe('reset')
      await rename(`after ${index}`)
      await expect.poll(() => source.events.at(-1)?.type).toBe('contact.updated')
      expect(namesOf(source.events.slice(-1))).toEqual([`after ${index}`])
    }
  })
})

describe('a live stream', () => {
  /** The live events only, with a heartbeat of the test. */
  async function startLive(beatMs: number) {
    const server = fastify()
    await server.register(cookies)
    server.decorateRequest('caller', null)
    server.decorateRequest('memberSession', null)
    server.register(
      async (plain) => {
        plain.addHook('onRequest', createSessionGuard(world.app.ctx, null))
        liveRoutes(
          plain.withTypeProvider<TypeBoxTypeProvider>() as never,
          { ...world.app.ctx, purpose: 'live' },
          beatMs,
        )
      },
      { prefix: '/console/api' },
    )
    const url = await server.listen({ port: 0, host: '127.0.0.1' })
    return { server, url }
  }

  it('ends with its session, and no other one', async () => {
    const { server, url } = await startLive(20)
    const leaving = await signIn(world, organization)
    const [ending, staying] = [await listen(leaving, { url }), await listen(agent, { url })]
    await expect.poll(() => ending.comments()).toBeGreaterThan(2)
    await leaving.call('DELETE', '/session')
    await ending.ended
    const beats = staying.comments()
    await expect.poll(() => staying.comments()).toBeGreaterThan(beats + 2)
    staying.close()
    await server.close()
  })

  it('ends at once when its member signs out, gets another role or is removed', async () => {
    const { server, url } = await startLive(3_600_000)
    const [leaving, changed, removed] = await Promise.all([
      signIn(world, organization),
      signIn(world, organization, { role: 'agent' }),
      signIn(world, organization, { role: 'agent' }),
    ])
    const staying = await listen(agent, { url })
    const ending = [await listen(leaving, { url }), await listen(changed, { url }), await listen(removed, { url })]
    await leaving.call('DELETE', '/session')
    await owner.call('PATCH', `/team/${changed.member.id}`, { body: { role: 'analyst' } })
    await world.admin('DELETE', `/members/${removed.member.id}`)
    await Promise.all(ending.map(({ ended }) => ended))
    await rename('Still Heard')
    expect(namesOf(await heard(staying, 1))).toContain('Still Heard')
    staying.close()
    await server.close()
  })

  it('ends even if the notification of the end was lost with the connection that listens', async () => {
    const { server, url } = await startLive(3_600_000)
    const leaving = await signIn(world, organization)
    const [ending, staying] = [await listen(leaving, { url }), await listen(agent, { url })]
    const { pool } = world.database
    await pool.query('DELETE FROM member_sessions WHERE member_id = $1', [leaving.member.id])
    await cutOff(world.database, world.app.ctx.processId)
    await ending.ended
    await rename('Heard After That')
    expect(namesOf(await heard(staying, 1))).toContain('Heard After That')
    staying.close()
    await server.close()
  })

  it('is one of at most twenty per member', async () => {
    const busy = await signIn(world, organization)
    const sources = await Promise.all(Array.from({ length: 20 }, () => listen(busy)))
    const refused = await openEventSource(world, busy.cookie)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    await listen(agent)
    sources[0]?.close()
    await expect
      .poll(async () => {
        const again = await openEventSource(world, busy.cookie)
        open.push(again)
        return again.status
      })
      .toBe(200)
    for (const source of open.splice(0)) source.close()
  })

  it("ends when its member's role changes, and uses the new role after a reconnect", async () => {
    const { server, url } = await startLive(20)
    const member = await signIn(world, organization, { role: 'agent' })
    const [ending, staying] = [await listen(member, { url }), await listen(agent, { url })]
    await owner.call('PATCH', `/team/${member.member.id}`, { body: { full_name: 'Another Name' } })
    const beats = ending.comments()
    await expect.poll(() => ending.comments()).toBeGreaterThan(beats + 2)
    await owner.call('PATCH', `/team/${member.member.id}`, { body: { role: 'owner' } })
    await ending.ended
    await expect.poll(() => staying.comments()).toBeGreaterThan(staying.comments() + 2)
    expect((await listen(member, { url })).status).toBe(200)
    for (const source of open.splice(0)) source.close()
    await server.close()
  })

  it('ends at once when the service stops', async () => {
    const own = await startWorld()
    const shop = await own.createOrganization()
    const source = await listen(await signIn(own, shop), { of: own })
    const began = performance.now()
    await own.close()
    await source.ended
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  it('that is not read is closed before it fills the memory', async () => {
    const { server, url } = await startLive(60_000)
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.pause()
    socket.write(`GET /console/api/live HTTP/1.1\r\nhost: x\r\ncookie: ${agent.cookie}\r\n\r\n`)
    const cut = new Promise((resolve) => socket.once('close', resolve))
    const reading = await listen(agent, { url })
    for (let n = 0; n < 30; n++) {
      await world.database.pool.query(
        `INSERT INTO events (organization_id, id, type, contact_id, data)
         SELECT $1, gen_random_uuid(), 'contact.updated', $2,
           jsonb_build_object('contact', to_jsonb(c) || jsonb_build_object('contact_summary', repeat('x', 100000)))
         FROM contacts c, generate_series(1, 4) WHERE c.id = $2`,
        [organization.id, contactId],
      )
      await rename(`filled ${n}`)
      // A reader that keeps up is not disconnected.
      const newest = () => reading.events.at(-1)?.data?.contact?.full_name
      await expect.poll(newest).toBe(`filled ${n}`)
    }
    socket.resume()
    await cut
    await server.close()
  })
})

describe('two services over one database', () => {
  let other: App
  let database: Database
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-live-'))
    database = openDatabase(world.database.connection, 5, () => undefined)
    const read = readConfig({
      PARLEY_PORT: '0',
      PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl,
      PARLEY_DATA_DIR: folder,
      PARLEY_RATE_LIMIT: '0',
    })
    if (!read.ok) throw new Error(read.problem)
    other = await startApp({
      config: read.config,
      secrets: { adminToken: world.adminToken, masterKeys: ['master-key-of-the-tests'] },
      log: world.app.ctx.log,
      databases: forAllPurposes(database),
      upstreamUrl: world.simulator.upstreamUrl,
      simulator: null,
      clock: world.now,
      runWorker: false,
    })
  })

  afterAll(async () => {
    await other.close()
    await database.close()
    await rm(folder, { recursive: true })
  })

  it('each report events of the other, and a reader can switch between them', async () => {
    const here = await listen(agent)
    const there = await listen(agent, { url: other.url })
    await rename('Across')
    expect(namesOf(await heard(there, 1))).toEqual(['Across'])
    const [across] = await heard(here, 1)
    here.close()
    await rename('Beyond')
    const moved = await listen(agent, { url: other.url, lastEventId: across?.id })
    expect(namesOf(await heard(moved, 1))).toEqual(['Beyond'])
    expect((await contactOf(world, organization, '16505550001')).body.contact.full_name).toBe('Beyond')
  })
})
