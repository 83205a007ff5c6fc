import { describe, expect, it } from 'vitest'
import { gatewayType } from '../../../../src/model/instances/gateway-message.js'
import { insertMessages, moveToInstance } from '../../../support/conversations.js'
import { createInstance } from '../../../support/instances.js'
import { useStarted } from '../../../support/started.js'
import type { Answer, TestOrganization } from '../../../support/world.js'
import { startChatWorld, text, textsOf } from './support.js'

const on = useStarted(startChatWorld)

const find = (instance: string, body?: unknown) => on.chat('findMessages', instance, body)
const withNumber = (number: string, more: object = {}) => ({
  where: { key: { remoteJid: `${number}@s.whatsapp.net`, ...more } },
})

describe('findMessages', () => {
  it('returns received and sent messages with all fields, newest first', async () => {
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

  it('returns the content of forms, orders and products beside their text', async () => {
    const number = on.newNumber()
    await on.receive('shop', number, {
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"day":"Friday"}' } },
    })
    await on.receive('shop', number, {
      type: 'order',
      order: {
        catalog_id: 'c',
        text: 'please',
        product_items: [{ product_retailer_id: 'mug', quantity: 2, item_price: 7.99, currency: 'USD' }],
      },
    })
    await on.receive('shop', number, {
      type: 'interactive',
      interactive: { type: 'product', product: { catalog_id: 'c', product_retailer_id: 'mug' } },
    })
    await on.receive('shop', number, {
      ...text('from an ad'),
      context: { frequently_forwarded: true },
      referral: { source_id: '7', source_type: 'ad', headline: 'Mugs', ctwa_clid: 'click' },
    })
    const { records } = (await find('shop', withNumber(number))).body.messages
    const content = { catalog_id: 'c', product_id: 'mug' }
    expect(records.toReversed()).toMatchObject([
      {
        messageType: 'conversation',
        message: { conversation: 'Sent' },
        content: { type: 'flow', flow: { day: 'Friday' } },
      },
      {
        messageType: 'conversation',
        message: { conversation: 'please\n2 × mug (7.99 USD)' },
        content: { type: 'order', items: [{ product_id: 'mug', quantity: 2 }], total: 15.98 },
      },
      {
        messageType: 'conversation',
        message: { conversation: '[product: mug]' },
        content: { type: 'product', ...content },
      },
      {
        messageType: 'conversation',
        message: { conversation: 'from an ad' },
        contextInfo: {
          isForwarded: true,
          forwardingScore: 5,
          externalAdReply: { title: 'Mugs', sourceId: '7', sourceType: 'ad', ctwaClid: 'click' },
        },
        content: { type: 'text', forwarded: 'often', referral: { source_id: '7' } },
      },
    ])
    const filtered = await find('shop', { where: { ...withNumber(number).where, messageType: 'conversation' } })
    expect(filtered.body.messages.total).toBe(4)
  })

  it.each([
    ['shop', 'contactMessage', { type: 'contacts', contacts: [{ name: { formatted_name: 'Eve' } }] }],
    ['shop', 'locationMessage', { type: 'location', location: { latitude: 1, longitude: 2 } }],
    ['phone', 'conversation', text('regrettable')],
  ])('returns only the type of a deleted message: %s, %s', async (instance, messageType, message) => {
    const number = on.newNumber()
    const id = await on.receive(instance, number, message)
    await on.receive(instance, number, { type: 'revoke', revoke: { original_message_id: id } })
    const { records } = (await find(instance, { where: { ...withNumber(number).where, messageType } })).body.messages
    expect(records).toMatchObject([{ messageType, content: { deleted_at: expect.any(String) } }])
    expect(records[0].message).toEqual({ [messageType]: messageType === 'conversation' ? '' : {} })
  })

  it('returns only messages of the instance, for one conversation and for all', async () => {
    const number = on.newNumber()
    await on.sendText('phone', number, 'by phone')
    await on.sendText('shop', number, 'by the shop')
    const id = await on.receive('shop', number, text('to the shop'))
    expect(textsOf(await find('phone', withNumber(number)))).toEqual(['by phone'])
    expect(textsOf(await find('shop', withNumber(number)))).toEqual(['to the shop', 'by the shop'])
    expect((await find('phone')).body.messages.records[0].message.conversation).toBe('by phone')
    // Received messages have whole seconds, sent ones have milliseconds.
    const newest = (await find('shop', { offset: 2 })).body.messages.records
    expect(newest.map((one: { key: { id: string } }) => one.key.id)).toContain(id)
    expect((await find('second')).body.messages).toEqual({ total: 0, pages: 0, currentPage: 1, records: [] })
    expect((await find('phone', { where: { key: { id } } })).body.messages.total).toBe(0)
  })

  it('finds a message by either of its ids, if the other filters match too', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'found')
    const [record] = (await find('phone', { where: { key: { id } } })).body.messages.records
    expect(record.message.conversation).toBe('found')
    expect(textsOf(await find('phone', { where: { key: { id: record.id } } }))).toEqual(['found'])
    expect((await find('phone', withNumber(number, { id }))).body.messages.total).toBe(1)
    expect((await find('phone', withNumber(on.newNumber(), { id }))).body.messages.total).toBe(0)
    expect((await find('phone', withNumber(number, { id, fromMe: false }))).body.messages.total).toBe(0)
  })

  it('filters by fromMe, source, type and time', async () => {
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
    expect(await of({ messageTimestamp: { gte: '0001-01-01T00:00:00Z', lte: '9999-12-31T23:59:59Z' } })).toBe(3)
    for (const gte of ['yesterday', '-200000-01-01T00:00:00Z', '+200000-01-01T00:00:00Z']) {
      const { status, body } = await find('phone', { where: { messageTimestamp: { gte } } })
      expect([status, body.response.message[0][0]]).toEqual([400, expect.stringContaining(gte)])
    }
  })

  it('refuses a deeply nested body', async () => {
    const levels = 20_000
    const { status, body } = await find('phone', `${'{"where":'.repeat(levels)}1${'}'.repeat(levels)}`)
    expect([status, body.response.message[0][0]]).toEqual([400, expect.stringContaining('nests deeper')])
  })

  it('returns every page, with messages on one channel or on several', async () => {
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
        found.push(await on.chat('findMessages', 'shop', body, { key: organization.key }))
      }
      expect(found[0]?.body.messages).toMatchObject({ total: 25, pages: 3, currentPage: 1 })
      expect(found.map((one) => textsOf(one).length)).toEqual([10, 10, 5, 0])
      return found.flatMap(textsOf)
    }
    const expected = Array.from({ length: 25 }, (_, n) => `message ${25 - n}`)
    expect(await pages()).toEqual(expected)
    expect(await pages({ key: { remoteJid: number } })).toEqual(expected)
    expect(await pages({ source: 'unknown' })).toEqual(expected)
    const foreign = await on.chat('findMessages', 'phone', {}, { key: organization.key })
    expect(foreign.body.messages.total).toBe(0)
    // Once another channel has messages of the conversation too, it is paged by counting.
    await moveToInstance(world, made.body.contact.id, on.foreign.id, [1])
    const left = await on.chat(
      'findMessages',
      'shop',
      { where: { key: { remoteJid: number } } },
      { key: organization.key },
    )
    expect([left.body.messages.total, textsOf(left).length]).toEqual([24, 24])
    expect((await on.chat('findMessages', 'shop', {}, { key: organization.key })).body.messages.total).toBe(24)
    expect(textsOf(await on.chat('findMessages', 'phone', {}, { key: organization.key }))).toEqual(['message 1'])
  })

  it('pages a conversation by sequence if it is on one channel, and by counting if it is on several', async () => {
    const { world } = on
    const [mine, theirs] = [await world.createOrganization(), await world.createOrganization()]
    const number = on.newNumber()
    const talk = async (organization: TestOrganization, texts: string[]) => {
      const body = { phone_number: `+${number}` }
      const { id } = (await world.request('POST', '/contact', { key: organization.key, body })).body.contact
      await insertMessages(world, id, texts)
      return id
    }
    const contact = await talk(mine, ['1', '2', '3', '4', '5', '6', '7'])
    await createInstance(world, mine)
    const phone = await createInstance(world, mine, { instanceName: 'phone', integration: 'SANDBOX' })
    const second = await createInstance(world, mine, { instanceName: 'second', integration: 'SANDBOX' })
    await talk(theirs, ['theirs', 'too'])
    await createInstance(world, theirs)

    const pages = async (instance: string, offset = 3, { key } = mine) => {
      const found: Answer[] = []
      for (const page of [1, 2, 3, 4]) {
        found.push(await on.chat('findMessages', instance, { ...withNumber(number), offset, page }, { key }))
      }
      return [found[0]?.body.messages.total, ...found.map((one) => textsOf(one).join(' '))]
    }
    const whole = [7, '7 6 5', '4 3 2', '1', '']
    const nothing = [0, '', '', '', '']
    expect(await pages('shop')).toEqual(whole)
    expect(await pages('shop', 7)).toEqual([7, '7 6 5 4 3 2 1', '', '', ''])
    expect(await pages('shop', 50)).toEqual([7, '7 6 5 4 3 2 1', '', '', ''])
    expect(await pages('phone')).toEqual(nothing)
    expect(await pages('shop', 1, theirs)).toEqual([2, 'too', 'theirs', '', ''])

    await moveToInstance(world, contact, phone.id)
    expect(await pages('phone')).toEqual(whole)
    expect(await pages('shop')).toEqual(nothing)

    await moveToInstance(world, contact, second.id, [2, 6])
    expect(await pages('phone')).toEqual([5, '7 5 4', '3 1', '', ''])
    expect(await pages('second', 1)).toEqual([2, '6', '2', '', ''])
    expect(await pages('shop')).toEqual(nothing)
    expect(await pages('shop', 1, theirs)).toEqual([2, 'too', 'theirs', '', ''])
  })

  it('filters messages of linked devices by the type that is shown', async () => {
    const number = on.newNumber()
    const held = { conversation: 'held' }
    const wrap = (name: string, message: object) => ({ [name]: { message } })
    const deep = ['viewOnceMessage', 'deviceSentMessage', 'ephemeralMessage', 'editedMessage'].reduceRight<
      Record<string, unknown>
    >((message, name) => wrap(name, message), { imageMessage: { caption: 'deep' } })
    const kinds: [Record<string, unknown>, string][] = [
      [{ ptvMessage: { seconds: 3 } }, 'ptvMessage'],
      [{ extendedTextMessage: { text: 'hello' } }, 'conversation'],
      [{ extendedTextMessage: { title: 'a link alone' } }, 'extendedTextMessage'],
      [{ messageContextInfo: {}, pollCreationMessageV3: { name: 'Lunch?' } }, 'pollCreationMessageV3'],
      [wrap('ephemeralMessage', { documentMessage: { title: 'invoice' } }), 'documentMessage'],
      [deep, 'imageMessage'],
      [wrap('botForwardedMessage', wrap('lottieStickerMessage', deep)), 'editedMessage'],
      [{ ephemeralMessage: { message: null } }, 'ephemeralMessage'],
      [wrap('groupMentionedMessage', { extendedTextMessage: { text: 'all' }, messageContextInfo: {} }), 'conversation'],
      [{ messageContextInfo: held }, 'conversation'],
      [{ senderKeyDistributionMessage: {}, imageMessage: {} }, 'imageMessage'],
      [{}, 'conversation'],
    ]
    const ids: string[] = []
    for (const [message, kind] of kinds) {
      const id = await on.sendText('phone', number, kind)
      ids.unshift(id)
      await on.world.database.pool.query(
        `UPDATE messages
         SET message_type = 'video', network = $2, gateway_type = $3
         WHERE upstream_id = $1`,
        [id, { message }, gatewayType({ message_type: 'video', content: null, network: { message } })],
      )
    }
    const shown = async (messageType?: string) => {
      const { body } = await find('phone', { where: { ...withNumber(number).where, messageType } })
      return body.messages.records.map((one: { key: { id: string }; messageType: string }) => [
        one.key.id,
        one.messageType,
      ])
    }
    const all = await shown()
    expect(all).toEqual(
      kinds
        .map(([, kind]) => kind)
        .reverse()
        .map((kind, n) => [ids[n], kind]),
    )
    for (const kind of new Set(kinds.map(([, one]) => one))) {
      expect(await shown(kind)).toEqual(all.filter(([, one]: [string, string]) => one === kind))
    }
    expect(await shown('videoMessage')).toEqual([])
  })

  it('finds nothing for an invalid number, and refuses invalid pages', async () => {
    expect((await find('phone', { where: { key: { remoteJid: 'status@broadcast' } } })).body.messages.total).toBe(0)
    expect((await find('phone', { offset: 5_000 })).status).toBe(200)
    expect((await find('phone', { page: 0, offset: 0 })).body).toEqual((await find('phone')).body)
    expect((await find('phone', { page: 1e300 })).body.messages.records).toEqual([])
    expect((await find('phone', { offset: -1 })).status).toBe(400)
    expect((await find('phone', [])).body).toEqual((await find('phone', { where: [] })).body)
    expect((await find('phone', { where: 'all' })).status).toBe(400)
  })

  it("accepts the instance's own token, and no other instance's or organization's", async () => {
    const { second, foreign } = on
    expect((await on.chat('findMessages', 'second', {}, { key: second.token })).status).toBe(200)
    expect((await on.chat('findMessages', 'phone', {}, { key: second.token })).status).toBe(404)
    expect((await on.chat('findMessages', 'second', {}, { key: foreign.token })).status).toBe(404)
    expect((await on.chat('findMessages', 'second', {}, { key: on.other.key })).status).toBe(404)
    expect((await on.chat('findMessages', 'phone', {}, { key: foreign.token })).body.messages.total).toBeLessThan(2)
  })
})

describe('findStatusMessage', () => {
  it('returns the status of messages', async () => {
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
    const played = await on.chat('findStatusMessage', 'phone', { where: { id, status: 'PLAYED' } })
    expect([played.status, played.body]).toEqual([200, []])
    expect((await on.chat('findStatusMessage', 'phone', { where: { id, status: 'LOST' } })).status).toBe(400)
    const byKey = async (more = {}) =>
      (await on.chat('findStatusMessage', 'phone', { where: { keyId: id, ...more } })).body
    expect(await byKey()).toEqual(body)
    expect(await byKey({ id: body[0].id })).toEqual(body)
    expect(await byKey({ id: 'another' })).toEqual([])
    expect((await on.chat('findStatusMessage', 'second', {})).body).toEqual([])
    expect((await on.chat('findStatusMessage', 'second', {}, { key: on.other.key })).status).toBe(404)
  })
})
