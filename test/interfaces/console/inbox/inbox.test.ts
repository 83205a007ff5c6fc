import { beforeAll, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { createInstance, scan } from '../../../support/instances.js'
import { type Answer, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember
let stranger: SignedInMember
/** The contact's id by the last digits of the number. */
const ids: Record<string, string> = {}

const number = (last: string) => `1650555${last}`
const write = (last: string, text: string) =>
  receiveMessages(
    world,
    organization,
    textMessage(number(last), text, { timestamp: String(Math.floor(Date.now() / 1_000)) }),
  )
const list = (query: Record<string, string> = {}) => agent.call('GET', `/inbox?${new URLSearchParams(query)}`)
const namesOf = ({ body }: Answer): string[] => body.contacts.map(({ full_name }: { full_name: string }) => full_name)
const change = (last: string, body: object) =>
  world.request('PATCH', `/contact?chat_id=${number(last)}`, { key: organization.key, body })

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  agent = await signIn(world, organization, { role: 'agent', fullName: 'Ana Agent' })
  stranger = await signIn(world, await world.createOrganization())
  for (const [last, full_name, tags] of [
    ['0001', 'Álvaro Old', ['vip', 'new']],
    ['0002', 'Bea', ['vip']],
    ['0003', 'Carl', []],
    ['0004', 'Dora', ['new']],
  ] as const) {
    ids[last] = await createContact(world, organization, `+${number(last)}`, { full_name, tags })
  }
})

describe('GET /console/api/inbox', () => {
  it('lists contacts by their latest activity, with the newest message of each', async () => {
    await write('0002', 'x'.repeat(300))
    await write('0001', 'hello')
    const answer = await list()
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(namesOf(answer)).toEqual(['Álvaro Old', 'Bea', 'Dora', 'Carl'])
    expect(answer.body.next_cursor).toBeNull()
    const [first, second, , last] = answer.body.contacts
    expect(first).toMatchObject({
      id: ids['0001'],
      chat_id: number('0001'),
      tags: ['vip', 'new'],
      has_unread_messages: true,
      assignee_id: null,
      last_seq: 1,
      last_inbound_at: expect.stringMatching(/Z$/),
      active_at: expect.stringMatching(/Z$/),
      last_message: {
        id: expect.any(String),
        seq: 1,
        text: 'hello',
        message_type: 'text',
        media_type: null,
        sender_type: 'user-chat',
        status: 'delivered',
        created_at: expect.stringMatching(/Z$/),
        detail: null,
        has_error: false,
      },
    })
    expect(second.last_message.text).toBe('x'.repeat(200))
    expect(last).toMatchObject({ last_seq: 0, last_inbound_at: null, last_message: null })
  })

  it('tells what messages without words of their own are', async () => {
    const other = await world.createOrganization()
    const member = await signIn(world, other)
    const newest = async (message: object) => {
      await receiveMessages(world, other, { ...textMessage(number('0009'), ''), text: undefined, ...message })
      const { contacts } = (await member.call('GET', '/inbox')).body
      return [contacts.length, contacts[0].last_message.message_type, contacts[0].last_message.detail]
    }
    const change = { type: 'customer_identity_changed', body: 'changed', wa_id: number('0009') }
    const permission = { type: 'call_permission_reply', call_permission_reply: { response: 'reject' } }
    const poll = { type: 'unsupported', unsupported: { type: 'poll_creation' }, errors: [{ code: 131_051 }] }
    expect(await newest({ type: 'system', system: change })).toEqual([1, 'system', 'identity_changed'])
    expect(await newest({ type: 'system', system: { ...change, type: 'new_word' } })).toEqual([1, 'system', 'new_word'])
    expect(await newest({ type: 'interactive', interactive: permission })).toEqual([1, 'interactive', 'reject'])
    expect(await newest(poll)).toEqual([1, 'unsupported', 'poll_creation'])
  })

  it('filters, and combines several filters', async () => {
    await change('0004', { archived: true })
    await agent.call('PUT', `/contacts/${ids['0003']}/assignee`, { body: { member_id: agent.member.id } })
    await agent.call('PUT', `/contacts/${ids['0001']}/assignee`, { body: { member_id: agent.member.id } })
    expect(namesOf(await list())).toEqual(['Álvaro Old', 'Bea', 'Carl'])
    expect(namesOf(await list({ filter: 'archived' }))).toEqual(['Dora'])
    expect(namesOf(await list({ filter: 'unread' }))).toEqual(['Álvaro Old', 'Bea'])
    expect(namesOf(await list({ filter: 'mine' }))).toEqual(['Álvaro Old', 'Carl'])
    expect(namesOf(await list({ tag: 'new' }))).toEqual(['Álvaro Old'])
    expect(namesOf(await list({ tag: 'new', filter: 'archived' }))).toEqual(['Dora'])
    expect(namesOf(await list({ tag: 'vip', filter: 'mine' }))).toEqual(['Álvaro Old'])
    expect(namesOf(await list({ tag: 'vi' }))).toEqual([])
    expect(namesOf(await stranger.call('GET', '/inbox'))).toEqual([])
  })

  it('searches names and numbers, ignoring case and accents', async () => {
    expect(namesOf(await list({ search: 'ALVARO' }))).toEqual(['Álvaro Old'])
    expect(namesOf(await list({ search: '5550002' }))).toEqual(['Bea'])
    expect(namesOf(await list({ search: '+1 (650) 555-0003' }))).toEqual(['Carl'])
    expect(namesOf(await list({ search: 'a', filter: 'mine' }))).toEqual(['Álvaro Old', 'Carl'])
    expect(namesOf(await list({ search: 'dora' }))).toEqual([])
    expect(namesOf(await list({ search: '%' }))).toEqual([])
  })

  it('has stable pages while messages arrive', async () => {
    const first = await list({ limit: '1' })
    expect(namesOf(first)).toEqual(['Álvaro Old'])
    await write('0003', 'up')
    const second = await list({ limit: '1', cursor: first.body.next_cursor })
    expect(namesOf(second)).toEqual(['Bea'])
    expect(second.body.next_cursor).toBeNull()
    expect(namesOf(await list({ limit: '1' }))).toEqual(['Carl'])
  })

  it('refuses an invalid cursor, filter or limit', async () => {
    for (const [name, value] of [
      ['cursor', 'nonsense'],
      ['filter', 'some'],
      ['limit', '101'],
      ['limit', '0'],
    ] as const) {
      expect((await list({ [name]: value })).status).toBe(400)
    }
    expect((await world.request('GET', '/console/api/inbox')).status).toBe(401)
  })

  it('finds a few matches far down in a long list, with or without an index, each once and in order', async () => {
    const big = await world.createOrganization()
    const member = await signIn(world, big, { role: 'agent' })
    await world.database.pool.query(
      `WITH made AS (
         INSERT INTO contacts (organization_id, id, chat_id, full_name, folded_name, tags, allow_broadcast, has_unread_messages,
           archived, assignee_id)
         SELECT $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'c' || n, 'P' || n, 'p' || n,
           CASE WHEN n % 3000 = 0 THEN ARRAY['rare'] ELSE '{}' END, true, n % 3000 = 0, n = 1, CASE WHEN n % 3000 = 0 THEN $2::uuid END
         FROM generate_series(1, 12500) n
         RETURNING id
       )
       INSERT INTO contact_activity (organization_id, contact_id, active_at)
       SELECT $1, id, '2026-01-01'::timestamptz + substr(id::text, 25)::int / 2 * interval '1.000001 seconds' FROM made`,
      [big.id, member.member.id],
    )
    const page = (query: string) => member.call('GET', `/inbox?${query}`)
    const rare = ['P12000', 'P9000', 'P6000', 'P3000']
    for (const query of [
      'filter=unread',
      'filter=mine',
      'tag=rare',
      'filter=mine&tag=rare&search=p',
      'tag=rare&search=000',
    ]) {
      expect(namesOf(await page(query)), query).toEqual(rare)
      const first = await page(`${query}&limit=3`)
      expect(namesOf(first), query).toEqual(rare.slice(0, 3))
      const second = await page(`${query}&limit=3&cursor=${first.body.next_cursor}`)
      expect([namesOf(second), second.body.next_cursor], query).toEqual([rare.slice(3), null])
    }
    expect(namesOf(await page('filter=archived'))).toEqual(['P1'])
    const seen: string[] = []
    for (let cursor = ''; seen.length < 300; ) {
      const { body } = await page(`limit=100${cursor}`)
      seen.push(...body.contacts.map(({ full_name }: { full_name: string }) => full_name))
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => `P${12_500 - index}`))
  })
})

describe('GET /console/api/inbox/{contactId}', () => {
  const open = (id: string | undefined, member = agent) => member.call('GET', `/inbox/${id}`)

  it("shows the contact, and the organization's number as reply channel", async () => {
    const { status, body } = await open(ids['0001'])
    expect(status).toBe(200)
    expect(body.contact).toMatchObject({ id: ids['0001'], last_message: { text: 'hello' } })
    expect(body.line).toEqual({ instance: null, kind: 'business_api', has_window: true, is_ready: true })
  })

  it("shows the instance of the contact's last message as reply channel", async () => {
    await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
    await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
    await scan(world, organization, 'phone', '16505550900')
    await world.settle()
    await world.sim('POST', '/inbound', {
      organization_id: organization.id,
      instance: 'phone',
      ...textMessage(number('0002'), 'by phone'),
    })
    await world.settle()
    const { body } = await open(ids['0002'])
    expect(body.line).toEqual({ instance: 'phone', kind: 'sandbox', has_window: false, is_ready: true })
  })

  it('shows for a contact without a number the first open instance, or none', async () => {
    const other = await world.createOrganization()
    const member = await signIn(world, other)
    const contact = await createContact(world, other, '+16505550001')
    await world.database.pool.query('DELETE FROM upstream_settings WHERE organization_id = $1', [other.id])
    expect((await open(contact, member)).body.line).toEqual({
      instance: null,
      kind: null,
      has_window: false,
      is_ready: false,
    })
    for (const name of ['closed', 'open']) {
      await createInstance(world, other, { instanceName: name, integration: 'SANDBOX', number: '16505550901' })
    }
    await world.request('GET', '/gateway/instance/connect/open', { key: other.key })
    await scan(world, other, 'open', '16505550901')
    await world.settle()
    expect((await open(contact, member)).body.line).toMatchObject({ instance: 'open', kind: 'sandbox', is_ready: true })
  })

  it("returns 404 for an unknown contact, and for another organization's", async () => {
    expect((await open(ids['0001'], stranger)).status).toBe(404)
    expect((await open('00000000-0000-7000-8000-000000000000')).body.error).toBe('Contact not found')
    expect((await open('nonsense')).status).toBe(404)
  })
})
