import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertMessages } from '../../../support/conversations.js'
import { type ChatWorld, startChatWorld, text, textsOf } from './support.js'

let on: ChatWorld

beforeAll(async () => {
  on = await startChatWorld()
})

afterAll(() => on.close())

const find = (instance: string, body?: unknown) => on.chat('findMessages', instance, body)
const withNumber = (number: string, more: object = {}) => ({
  where: { key: { remoteJid: `${number}@s.whatsapp.net`, ...more } },
})

describe('findMessages', () => {
  it('shows a message whole, received or sent, newest first', async () => {
    const number = on.newNumber()
    const received = await on.receive('phone', number, { name: 'Ana', ...text('hello') })
    const sent = await on.sendText('phone', number, 'good day')
    const { status, body } = await find('phone', withNumber(number))
    expect(status).toBe(200)
    const { records, ...rest } = body.messages
    expect(rest).toEqual({ total: 2, pages: 1, currentPage: 1 })
    expect(records).toMatchObject([
      { key: { id: sent, fromMe: true }, message: { conversation: 'good day' }, source: 'web' },
      {
        key: { id: received, fromMe: false, remoteJid: `${number}@s.whatsapp.net` },
        pushName: 'Ana',
        messageType: 'conversation',
        message: { conversation: 'hello' },
        messageTimestamp: expect.any(Number),
        source: 'unknown',
        MessageUpdate: [{ status: 'DELIVERY_ACK' }],
      },
    ])
    expect(records[0].id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('shows what went through the connection alone, in the conversation and in all', async () => {
    const number = on.newNumber()
    await on.sendText('phone', number, 'by phone')
    await on.sendText('shop', number, 'by the shop')
    const id = await on.receive('shop', number, text('to the shop'))
    expect(textsOf(await find('phone', withNumber(number)))).toEqual(['by phone'])
    expect(textsOf(await find('shop', withNumber(number)))).toEqual(['to the shop', 'by the shop'])
    expect((await find('phone')).body.messages.records[0].message.conversation).toBe('by phone')
    // What is received has whole seconds, what is sent has more.
    const newest = (await find('shop', { offset: 2 })).body.messages.records
    expect(newest.map((one: { key: { id: string } }) => one.key.id)).toContain(id)
    expect((await find('second')).body.messages).toEqual({ total: 0, pages: 0, currentPage: 1, records: [] })
    expect((await find('phone', { where: { key: { id } } })).body.messages.total).toBe(0)
  })

  it('finds one by either of its ids, and holds it to the rest', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'found')
    const [record] = (await find('phone', { where: { key: { id } } })).body.messages.records
    expect(record.message.conversation).toBe('found')
    expect(textsOf(await find('phone', { where: { key: { id: record.id } } }))).toEqual(['found'])
    expect((await find('phone', withNumber(number, { id }))).body.messages.total).toBe(1)
    expect((await find('phone', withNumber(on.newNumber(), { id }))).body.messages.total).toBe(0)
    expect((await find('phone', withNumber(number, { id, fromMe: false }))).body.messages.total).toBe(0)
  })

  it('filters by side, source, kind and time', async () => {
    const number = on.newNumber()
    await on.receive('phone', number, text('in'))
    await on.sendText('phone', number, 'out')
    await on.send('sendLocation', 'phone', { number, latitude: 1, longitude: 2, name: 'here', address: 'there' })
    const of = async (where: object, key = {}) =>
      (await find('phone', { where: { ...withNumber(number, key).where, ...where } })).body.messages.total
    expect(await of({})).toBe(3)
    expect(await of({}, { fromMe: true })).toBe(2)
    expect(await of({}, { fromMe: false })).toBe(1)
    expect(await of({ source: 'web' })).toBe(2)
    expect(await of({ source: 'unknown' })).toBe(1)
    expect(await of({ source: 'ios' })).toBe(0)
    expect(await of({ source: 'web' }, { fromMe: false })).toBe(0)
    expect(await of({ messageType: 'conversation' })).toBe(2)
    expect(await of({ messageType: 'locationMessage' })).toBe(1)
    const [newest] = (await find('phone', withNumber(number))).body.messages.records
    const at = newest.messageTimestamp
    expect(await of({ messageTimestamp: { gte: at - 600, lte: at } })).toBe(3)
    expect(await of({ messageTimestamp: { gte: new Date((at + 1) * 1_000).toISOString() } })).toBe(0)
    const all = await find('phone', {
      where: { messageType: 'locationMessage', messageTimestamp: { gte: String(at) } },
    })
    expect(all.body.messages.total).toBe(1)
    const refused = await find('phone', { where: { messageTimestamp: { gte: 'yesterday' } } })
    expect([refused.status, refused.body.response.message[0][0]]).toEqual([400, expect.stringContaining('yesterday')])
  })

  it('goes through pages from either end, on all connections and on one alone', async () => {
    const world = on.world
    const organization = on.other
    const number = on.newNumber()
    const made = await world.request('POST', '/contact', {
      key: organization.key,
      body: { phone_number: `+${number}` },
    })
    await world.request('POST', '/gateway/instance/create', {
      key: organization.key,
      body: { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' },
    })
    await insertMessages(
      world,
      made.body.contact.id,
      Array.from({ length: 25 }, (_, n) => `message ${n + 1}`),
    )
    await world.database.pool.query(
      "UPDATE messages SET created_at = now() - interval '1 hour' + seq * interval '1 s' WHERE contact_id = $1",
      [made.body.contact.id],
    )
    const pages = async (where?: object) => {
      const found = []
      for (const page of [1, 2, 3, 4]) {
        const body = { where, offset: 10, page }
        found.push(await on.chat('findMessages', 'shop', body, 'POST', organization.key))
      }
      expect(found[0]?.body.messages).toMatchObject({ total: 25, pages: 3, currentPage: 1 })
      expect(found.map((one) => textsOf(one).length)).toEqual([10, 10, 5, 0])
      return found.flatMap(textsOf)
    }
    const expected = Array.from({ length: 25 }, (_, n) => `message ${25 - n}`)
    expect(await pages()).toEqual(expected)
    expect(await pages({ key: { remoteJid: number } })).toEqual(expected)
    expect(await pages({ source: 'unknown' })).toEqual(expected)
    const foreign = await on.chat('findMessages', 'phone', {}, 'POST', organization.key)
    expect(foreign.body.messages.total).toBe(0)
    // With messages on another connection those of a conversation are counted.
    await world.database.pool.query(
      `WITH moved AS (
         UPDATE messages SET instance_id = $2 WHERE contact_id = $1 AND seq = 1 RETURNING organization_id, instance_id
       )
       INSERT INTO line_counts (organization_id, instance_id, change) SELECT organization_id, instance_id, 1 FROM moved`,
      [made.body.contact.id, on.foreign.id],
    )
    const left = await on.chat(
      'findMessages',
      'shop',
      { where: { key: { remoteJid: number } } },
      'POST',
      organization.key,
    )
    expect([left.body.messages.total, textsOf(left).length]).toEqual([24, 24])
    expect((await on.chat('findMessages', 'shop', {}, 'POST', organization.key)).body.messages.total).toBe(24)
    expect(textsOf(await on.chat('findMessages', 'phone', {}, 'POST', organization.key))).toEqual(['message 1'])
  })

  it('knows nobody by what is no number, and refuses pages that are none', async () => {
    expect((await find('phone', { where: { key: { remoteJid: 'status@broadcast' } } })).body.messages.total).toBe(0)
    expect((await find('phone', { offset: 5_000 })).status).toBe(200)
    expect((await find('phone', { page: 0, offset: 0 })).body).toEqual((await find('phone')).body)
    expect((await find('phone', { page: 1e300 })).body.messages.records).toEqual([])
    expect((await find('phone', { offset: -1 })).status).toBe(400)
    expect((await find('phone', [])).body).toEqual((await find('phone', { where: [] })).body)
    expect((await find('phone', { where: 'all' })).status).toBe(400)
  })

  it("opens to the instance's own token alone, and not to another organization", async () => {
    const { second, foreign } = on
    expect((await on.chat('findMessages', 'second', {}, 'POST', second.token)).status).toBe(200)
    expect((await on.chat('findMessages', 'phone', {}, 'POST', second.token)).status).toBe(404)
    expect((await on.chat('findMessages', 'second', {}, 'POST', foreign.token)).status).toBe(404)
    expect((await on.chat('findMessages', 'second', {}, 'POST', on.other.key)).status).toBe(404)
    expect((await on.chat('findMessages', 'phone', {}, 'POST', foreign.token)).body.messages.total).toBeLessThan(2)
  })
})

describe('findStatusMessage', () => {
  it('tells how far messages came', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'sent')
    await on.receive('phone', number, text('received'))
    const where = { remoteJid: `${number}@s.whatsapp.net` }
    const { status, body } = await on.chat('findStatusMessage', 'phone', { where: { ...where, fromMe: true } })
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        id: expect.any(String),
        keyId: id,
        remoteJid: where.remoteJid,
        fromMe: true,
        participant: null,
        pollUpdates: null,
        status: 'SERVER_ACK',
        messageId: body[0].id,
        instanceId: expect.any(String),
      },
    ])
    const delivered = await on.chat('findStatusMessage', 'phone', { where: { ...where, status: 'DELIVERY_ACK' } })
    expect(delivered.body.map((one: { fromMe: boolean }) => one.fromMe)).toEqual([false])
    expect((await on.chat('findStatusMessage', 'phone', { where: { id, status: 'READ' } })).body).toEqual([])
    const byKey = async (more = {}) =>
      (await on.chat('findStatusMessage', 'phone', { where: { keyId: id, ...more } })).body
    expect(await byKey()).toEqual(body)
    expect(await byKey({ id: body[0].id })).toEqual(body)
    expect(await byKey({ id: 'another' })).toEqual([])
    expect((await on.chat('findStatusMessage', 'second', {})).body).toEqual([])
    expect((await on.chat('findStatusMessage', 'second', {}, 'POST', on.other.key)).status).toBe(404)
  })
})
