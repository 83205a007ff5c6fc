import { beforeAll, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { type Answering, bare, hangUp, json, startHttpServer } from '../../support/http-server.js'
import { createInstance, scan } from '../../support/instances.js'
import { receiveSamples } from '../../support/samples.js'
import { useStarted } from '../../support/started.js'
import { useOrganization, useWorld } from '../../support/world.js'

/** A message whose read mark the upstream refuses. */
const REFUSED = 'wamid.REFUSED'
const USER_ID = 'US.13491208655302741918'
/** Who calls in the samples. */
const CALLER = '12025550147'

/** The upstream's answers to marks of messages with these ids; the others are taken. */
const ANSWERS = new Map<string, Answering>([
  [REFUSED, json(400, { error: { code: 131009, message: 'title', error_data: { details: 'too old' } } })],
])

const upstream = useStarted(() =>
  startHttpServer((request, response) => {
    const special = [...ANSWERS].find(([id]) => request.body.includes(id))
    const answer = special?.[1] ?? json(200, { success: true })
    answer(request, response)
  }),
)
const world = useWorld(() => ({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
const organization = useOrganization(world)
const other = useOrganization(world)

let people = 0

/** A contact who has written `count` messages; the newest may have a given id. */
async function newWriter(count: number, lastId?: string) {
  const digits = `1650555${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  const messages = Array.from({ length: count }, (_, n) =>
    textMessage(digits, `message ${n + 1}`, lastId !== undefined && n === count - 1 ? { id: lastId } : {}),
  )
  if (count > 0) await receiveMessages(world, organization, ...messages)
  return { digits, ids: messages.map(({ id }) => String(id)) }
}

const post = (verb: 'read' | 'typing', body: object, key = organization.key, headers = {}) =>
  world.request('POST', `/conversations/${verb}`, { key, body, headers })

const statuses = async (digits: string) =>
  (await conversation(world, organization, digits)).body.messages.map(
    (message: { message_status: string }) => message.message_status,
  )
const isUnread = async (digits: string) => (await contact(world, organization, digits)).body.contact.has_unread_messages

/** What the upstream was told since. */
const told = (since: number) =>
  upstream.taken
    .slice(since)
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.parse(String(body)))

describe('POST /conversations/read', () => {
  it('marks all messages as read, here and at the upstream', async () => {
    const { digits, ids } = await newWriter(3)
    const since = upstream.taken.length
    const { status, body } = await post('read', { phone_number: `+${digits}` })
    expect([status, body]).toEqual([
      200,
      { success: true, message: expect.stringContaining(digits), marked: 3, reported: true },
    ])
    expect(told(since)).toEqual([{ messaging_product: 'whatsapp', status: 'read', message_id: ids[2] }])
    expect(await statuses(digits)).toEqual(['read', 'read', 'read'])
    expect(await isUnread(digits)).toBe(false)
  })

  it('marks the messages up to one, and tells the upstream again the second time', async () => {
    const { digits, ids } = await newWriter(3)
    const upTo = { chat_id: digits, message_id: ids[1] }
    expect((await post('read', upTo)).body.marked).toBe(2)
    expect(await statuses(digits)).toEqual(['read', 'read', 'delivered'])
    expect(await isUnread(digits)).toBe(true)
    const since = upstream.taken.length
    expect((await post('read', upTo)).body).toMatchObject({ marked: 0, reported: true })
    expect(told(since)).toMatchObject([{ status: 'read', message_id: ids[1] }])
  })

  it('can be repeated until the upstream has taken the mark', async () => {
    const id = 'wamid.LATE'
    ANSWERS.set(id, hangUp)
    const { digits } = await newWriter(2, id)
    expect((await post('read', { phone_number: digits })).body).toMatchObject({ marked: 2, reported: false })
    expect((await post('read', { phone_number: digits })).body).toMatchObject({ marked: 0, reported: false })
    ANSWERS.delete(id)
    const since = upstream.taken.length
    expect((await post('read', { phone_number: digits })).body).toMatchObject({ marked: 0, reported: true })
    expect(told(since)).toMatchObject([{ status: 'read', message_id: id }])
  })

  it('has nothing to tell of who has written nothing', async () => {
    const { digits } = await newWriter(0)
    const since = upstream.taken.length
    expect((await post('read', { phone_number: digits })).body).toMatchObject({ marked: 0, reported: true })
    expect(told(since)).toEqual([])
  })

  it('finds a message by its own id', async () => {
    const { digits } = await newWriter(2)
    const { messages } = (await conversation(world, organization, digits)).body
    expect((await post('read', { chat_id: digits, message_id: messages[0].id })).body.marked).toBe(1)
  })

  it('says that the upstream did not take the mark', async () => {
    const { digits } = await newWriter(1, REFUSED)
    expect((await post('read', { phone_number: digits })).body).toMatchObject({ marked: 1, reported: false })
    expect(await statuses(digits)).toEqual(['read'])
  })

  it('refuses an unknown message, that of somebody else, an unknown contact, and nobody', async () => {
    const ana = await newWriter(1)
    const ben = await newWriter(1)
    for (const message_id of ['wamid.UNKNOWN', ben.ids[0], '00000000-0000-7000-8000-000000000000']) {
      const { status, body } = await post('read', { phone_number: ana.digits, message_id })
      expect([status, body.error]).toEqual([404, 'Message not found'])
    }
    expect((await post('read', { phone_number: '16505559999' })).body.error).toBe('Contact not found')
    expect((await post('read', {})).body.error).toBe('Missing required field')
    expect(await statuses(ana.digits)).toEqual(['delivered'])
  })

  it('answers a repeated request once', async () => {
    const { digits } = await newWriter(1)
    const headers = { 'idempotency-key': `read-${digits}` }
    const first = await post('read', { phone_number: digits }, organization.key, headers)
    const again = await post('read', { phone_number: digits }, organization.key, headers)
    expect([first.body.marked, again.body]).toEqual([1, first.body])
  })

  it("does not find another organization's contact", async () => {
    const { digits } = await newWriter(1)
    expect((await post('read', { phone_number: digits }, other.key)).status).toBe(404)
    expect(await statuses(digits)).toEqual(['delivered'])
  })
})

describe('POST /conversations/typing', () => {
  it('shows typing below the newest received message, which is read by it', async () => {
    const { digits, ids } = await newWriter(2)
    const since = upstream.taken.length
    const { status, body } = await post('typing', { phone_number: digits })
    expect([status, body]).toEqual([200, { success: true, message: expect.stringContaining(digits) }])
    expect(told(since)).toEqual([
      {
        messaging_product: 'whatsapp',
        status: 'read',
        message_id: ids[1],
        typing_indicator: { type: 'text' },
      },
    ])
    expect(await statuses(digits)).toEqual(['read', 'read'])
    expect(await isUnread(digits)).toBe(false)
  })

  it('looks for the newest received message among the last 1,000 of the conversation', async () => {
    const { digits } = await newWriter(1)
    const comeMore = (count: number) =>
      world.database.pool.query(
        'UPDATE contacts SET last_seq = last_seq + $2 WHERE organization_id = $1 AND chat_id = $3',
        [organization.id, count, digits],
      )
    await comeMore(999)
    expect((await post('typing', { phone_number: digits })).status).toBe(200)
    await comeMore(1)
    expect((await post('typing', { phone_number: digits })).body.error).toBe('Message not found')
  })

  it('shows it below the message that is named', async () => {
    const { digits, ids } = await newWriter(2)
    const since = upstream.taken.length
    expect((await post('typing', { phone_number: digits, message_id: ids[0] })).status).toBe(200)
    expect(told(since)).toMatchObject([{ message_id: ids[0] }])
    expect(await statuses(digits)).toEqual(['read', 'delivered'])
  })

  it('shows it below what the contact wrote, and not below a call that came later', async () => {
    const message = textMessage(CALLER, 'Please call me')
    await receiveMessages(world, organization, message)
    await receiveSamples(world, organization, 'call-terminate-missed')
    const since = upstream.taken.length
    expect((await post('typing', { phone_number: CALLER })).status).toBe(200)
    expect(told(since)).toMatchObject([{ message_id: message.id }])
    const { messages } = (await conversation(world, organization, CALLER)).body
    const call = messages.find(({ message_type: type }: { message_type: string }) => type === 'call')
    expect(call).toBeDefined()
    const named = await post('typing', { phone_number: CALLER, message_id: call.id })
    expect([named.status, named.body.error]).toEqual([404, 'Message not found'])
  })

  it('marks nothing if the upstream refuses', async () => {
    const { digits } = await newWriter(1, `${REFUSED}.2`)
    const { status, body } = await post('typing', { phone_number: digits })
    expect([status, body.error, body.upstream_code]).toEqual([400, 'Upstream rejected message', 131009])
    expect(await statuses(digits)).toEqual(['delivered'])
  })

  const error = (code: number) => ({ error: { code, message: 'title' } })

  it.each<[string, Answering, [number, string], object]>([
    ['a wrong token', json(401, error(190)), [400, 'Upstream credentials rejected'], { upstream_code: 190 }],
    [
      'a rate limit',
      json(400, error(130429), { 'retry-after': '7' }),
      [429, 'Too many requests'],
      { retry_after: 7, details: 'title' },
    ],
    ['a pause', json(400, error(131016)), [500, 'Upstream unavailable'], { retryable: true }],
    ['an error of a proxy', bare(503), [500, 'Upstream unavailable'], { retryable: true }],
    ['no answer', hangUp, [500, 'Upstream unavailable'], { retryable: true }],
  ])('names %s, and marks nothing', async (what, answering, expected, extras) => {
    const id = `wamid.${what.replaceAll(' ', '_')}`
    ANSWERS.set(id, answering)
    const { digits } = await newWriter(1, id)
    const { status, body } = await post('typing', { phone_number: digits })
    expect([status, body.error]).toEqual(expected)
    expect(body).toMatchObject(extras)
    expect(await statuses(digits)).toEqual(['delivered'])
  })

  it('refuses who has written nothing, the message of somebody else, and a blocked contact', async () => {
    const silent = await newWriter(0)
    const ana = await newWriter(1)
    const changed = { key: organization.key, body: { blocked: true } }
    await world.request('PATCH', `/contact?chat_id=${ana.digits}`, changed)
    const since = upstream.taken.length
    const asked = [{ phone_number: silent.digits }, { phone_number: silent.digits, message_id: ana.ids[0] }]
    for (const body of asked) expect((await post('typing', body)).body.error).toBe('Message not found')
    expect((await post('typing', { phone_number: ana.digits })).body.error).toBe('Contact blocked')
    expect(told(since)).toEqual([])
  })

  it("does not find another organization's contact or instance", async () => {
    const { digits } = await newWriter(1)
    expect((await post('typing', { phone_number: digits }, other.key)).status).toBe(404)
    await createInstance(world, other, { instanceName: 'theirs' })
    const { status, body } = await post('typing', { phone_number: digits, instance: 'theirs' })
    expect([status, body.error]).toEqual([404, 'Instance not found'])
  })

  describe('through an instance', () => {
    beforeAll(() => createInstance(world, organization, { instanceName: 'shop' }))

    it('of the business API, shows it in the same way', async () => {
      const { digits, ids } = await newWriter(1)
      const since = upstream.taken.length
      expect((await post('typing', { phone_number: digits, instance: 'shop' })).status).toBe(200)
      expect(told(since)).toMatchObject([{ message_id: ids[0], typing_indicator: { type: 'text' } }])
    })

    it('of the business API, by the gateway, is refused for a blocked contact', async () => {
      const { digits } = await newWriter(1)
      await world.request('PATCH', `/contact?chat_id=${digits}`, { key: organization.key, body: { blocked: true } })
      const since = upstream.taken.length
      const { status, body } = await world.request('POST', '/gateway/chat/sendPresence/shop', {
        key: organization.key,
        body: { number: digits, presence: 'composing', delay: 1 },
      })
      expect([status, body.response.message]).toEqual([400, [expect.stringContaining('is blocked')]])
      expect(told(since)).toEqual([])
      expect(await statuses(digits)).toEqual(['delivered'])
    })

    it('of a phone, is refused for who has a user id only', async () => {
      await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
      await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
      await scan(world, organization, 'phone', '16505550900')
      const made = await world.request('POST', '/contact', { key: organization.key, body: { user_id: USER_ID } })
      const { status, body } = await post('typing', { chat_id: made.body.contact.chat_id, instance: 'phone' })
      expect([status, body.error]).toEqual([400, 'Contact not reachable'])
    })
  })
})
