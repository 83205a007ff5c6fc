import { describe, expect, it } from 'vitest'
import { createInstance, scan } from '../../../support/instances.js'
import { useStarted } from '../../../support/started.js'
import { startChatWorld, text } from './support.js'

const on = useStarted(startChatWorld)

const jids = (rows: { remoteJid: string }[]) => rows.map(({ remoteJid }) => remoteJid.split('@')[0])

describe('findChats', () => {
  it('lists the contacts with messages on the instance, newest first', async () => {
    const [older, newer, elsewhere] = [on.newNumber(), on.newNumber(), on.newNumber()]
    await on.receive('phone', older, { name: 'Ana', ...text('first') })
    await on.sendText('phone', newer, 'second')
    await on.sendText('shop', elsewhere, 'third')
    const { status, body } = await on.chat('findChats', 'phone', { take: 2 })
    expect(status).toBe(200)
    expect(jids(body)).toEqual([newer, older])
    expect(body[1]).toMatchObject({
      remoteJid: `${older}@s.whatsapp.net`,
      pushName: 'Ana',
      windowActive: true,
      windowStart: expect.any(String),
      windowExpires: expect.any(String),
      lastMessage: { message: { conversation: 'first' }, key: { fromMe: false } },
      unreadCount: 1,
      isSaved: true,
      archived: false,
    })
    expect(body[0]).toMatchObject({ windowActive: false, windowStart: null, unreadCount: 0 })
    expect(jids((await on.chat('findChats', 'phone', { take: 1, skip: 1 })).body)).toEqual([older])
    expect(jids((await on.chat('findChats', 'phone', { take: 0 })).body).slice(0, 2)).toEqual([newer, older])
    expect((await on.chat('findChats', 'phone', { take: 1e9, skip: 100_000 })).body).toEqual([])
    const tooFar = await on.chat('findChats', 'phone', { skip: 100_001 })
    expect([tooFar.status, tooFar.body.response.message[0][0]]).toEqual([400, expect.stringMatching(/skip.*100,?000/)])
    expect(jids((await on.chat('findChats', 'phone', undefined, { method: 'GET' })).body).slice(0, 2)).toEqual([
      newer,
      older,
    ])
    expect(jids((await on.chat('findChats', 'shop', { take: 1 })).body)).toEqual([elsewhere])
    expect((await on.chat('findChats', 'second', {})).body).toEqual([])
  })

  it('shows the last message of the instance, ignoring newer ones on other channels', async () => {
    const number = on.newNumber()
    await on.sendText('phone', number, 'by phone')
    await on.sendText('shop', number, 'by the shop')
    const where = { remoteJid: `${number}@s.whatsapp.net` }
    const { body } = await on.chat('findChats', 'phone', { where })
    expect(body.map((one: { lastMessage: object }) => one.lastMessage)).toMatchObject([
      { message: { conversation: 'by phone' } },
    ])
    expect((await on.chat('findChats', 'phone', { where: { remoteJid: on.newNumber() } })).body).toEqual([])
    const later = { messageTimestamp: { gte: Math.floor(Date.now() / 1_000) + 600 } }
    expect((await on.chat('findChats', 'phone', { where: later })).body).toEqual([])
  })

  it('filters by the time of the newest message, for one chat and for all', async () => {
    const number = on.newNumber()
    for (const at of ['2001-06-01T00:00:00Z', '2002-06-01T00:00:00Z']) {
      const id = await on.sendText('phone', number, `of ${at.slice(0, 4)}`)
      await on.world.database.pool.query('UPDATE messages SET created_at = $2 WHERE upstream_id = $1', [id, at])
    }
    const found = async (where: object) => {
      const { body } = await on.chat('findChats', 'phone', { where })
      return body.map((one: { lastMessage: { message: object } }) => one.lastMessage.message)
    }
    const newest = [{ conversation: 'of 2002' }]
    for (const [gte, lte, expected] of [
      ['2001-01-01', '2001-12-31', []],
      ['2001-01-01', '2002-12-31', newest],
      ['2002-01-01', '2002-12-31', newest],
      ['2002-06-01T00:00:00Z', '2002-06-01T00:00:00Z', newest],
      [null, '2002-12-31', newest],
      [null, '2002-05-31', []],
      ['2002-07-01', '2003-12-31', []],
    ]) {
      const messageTimestamp = { gte, lte }
      expect(await found({ messageTimestamp })).toEqual(expected)
      expect(await found({ messageTimestamp, remoteJid: number })).toEqual(expected)
    }
    expect(await found({ messageTimestamp: { gte: '2002-01-01' }, remoteJid: number })).toEqual(newest)
    expect(await found({ messageTimestamp: { gte: '2003-01-01' }, remoteJid: number })).toEqual([])
  })

  it('reads further back if the newest messages belong to few chats', async () => {
    const { database } = on.world
    const [quiet, loud] = [on.newNumber(), on.newNumber()]
    await on.sendText('second', quiet, 'long ago').catch(() => undefined)
    await on.sendText('phone', quiet, 'long ago')
    await on.sendText('phone', loud, 'much')
    await database.pool.query(
      `UPDATE messages SET instance_id = $1 WHERE contact_id IN (SELECT contact_id FROM contact_addresses WHERE address = ANY ($2))`,
      [on.second.id, [quiet, loud]],
    )
    await database.pool.query(
      `INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at, instance_id)
       SELECT organization_id, gen_random_uuid(), contact_id, 1 + n, 'user-chat', 'text', 'x', 'delivered', now() + n * interval '1 ms', $1
       FROM contact_addresses, generate_series(1, 1200) n WHERE address = $2`,
      [on.second.id, loud],
    )
    expect(jids((await on.chat('findChats', 'second', {})).body)).toEqual([loud, quiet])
    expect(jids((await on.chat('findChats', 'second', { take: 1, skip: 1 })).body)).toEqual([quiet])
  })

  it("accepts the instance's own token, and not another organization's key", async () => {
    expect((await on.chat('findChats', 'second', {}, { key: on.second.token })).status).toBe(200)
    expect((await on.chat('findChats', 'phone', {}, { key: on.second.token })).status).toBe(404)
    expect((await on.chat('findChats', 'second', {}, { key: on.other.key })).status).toBe(404)
    expect((await on.chat('findChats', 'phone', {}, { key: on.other.key })).body).toEqual([])
  })
})

describe('findChatByRemoteJid', () => {
  it('returns the chat, null for an unknown one, and 400 without remoteJid', async () => {
    const number = on.newNumber()
    await on.sendText('phone', number, 'hello')
    const ask = (query: string) =>
      on.world.request('GET', `/gateway/chat/findChatByRemoteJid/phone${query}`, { key: on.organization.key })
    expect((await ask(`?remoteJid=${number}@s.whatsapp.net`)).body.remoteJid).toBe(`${number}@s.whatsapp.net`)
    const none = await ask(`?remoteJid=${on.newNumber()}`)
    expect([none.status, none.body]).toEqual([200, null])
    const missing = await ask('')
    expect([missing.status, missing.body]).toEqual([400, { error: 'remoteJid is a required query parameter' }])
  })
})

describe('findContacts', () => {
  it("lists the organization's contacts, all or filtered", async () => {
    const number = on.newNumber()
    await on.receive('shop', number, { name: 'Zoë Quint', ...text('hi') })
    const find = async (body: object = {}) => (await on.chat('findContacts', 'phone', body)).body
    const [contact] = await find({ offset: 1 })
    expect(contact).toMatchObject({
      remoteJid: `${number}@s.whatsapp.net`,
      pushName: 'Zoë Quint',
      profilePicUrl: null,
      isGroup: false,
      isSaved: true,
      type: 'contact',
    })
    expect(await find({ where: { id: contact.id } })).toEqual([contact])
    expect(await find({ where: { remoteJid: contact.remoteJid } })).toEqual([contact])
    expect(await find({ where: { id: contact.remoteJid } })).toEqual([contact])
    expect(await find({ where: { pushName: 'zoe' } })).toEqual([contact])
    expect(await find({ where: { pushName: { contains: 'quint' } } })).toEqual([contact])
    expect((await on.chat('findContacts', 'phone', undefined, { method: 'GET' })).body).toEqual(
      await find({ where: [], offset: 0 }),
    )
    expect(await find({ where: { pushName: 'nobody' } })).toEqual([])
    expect((await find()).length).toBeGreaterThan(1)
    expect((await find({ offset: 1, page: 2 }))[0].id).not.toBe(contact.id)
    const foreign = await on.chat('findContacts', 'phone', { where: { id: contact.id } }, { key: on.other.key })
    expect(foreign.body).toEqual([])
  })

  it("lists only contacts with messages on the instance for the instance's token", async () => {
    const [here, elsewhere] = [on.newNumber(), on.newNumber()]
    await on.receive('shop', elsewhere, { name: 'Yara Elsewhere', ...text('hi') })
    const fields = { instanceName: 'third', integration: 'SANDBOX' }
    const { token } = await createInstance(on.world, on.organization, fields)
    await on.world.request('GET', '/gateway/instance/connect/third', { key: token })
    await scan(on.world, on.organization, 'third', '5511988887766')
    await on.sendText('third', here, 'hello')
    const find = async (where: object = {}, key = token) =>
      (await on.chat('findContacts', 'third', { where }, { key })).body
    const [contact] = await find()
    expect(jids(await find())).toEqual([here])
    expect(await find({ remoteJid: here })).toEqual([contact])
    expect(await find({ id: contact.id })).toEqual([contact])
    const [foreign] = await find({ remoteJid: elsewhere }, on.organization.key)
    expect(foreign.pushName).toBe('Yara Elsewhere')
    expect([
      await find({ remoteJid: elsewhere }),
      await find({ id: foreign.id }),
      await find({ pushName: 'yara' }),
    ]).toEqual([[], [], []])
    await on.world.request('PATCH', `/contact?chat_id=${here}`, {
      key: on.organization.key,
      body: { full_name: 'Yara Here' },
    })
    const nameOf = async (number: string, key = token) =>
      (await on.chat('fetchProfile', 'third', { number }, { key })).body.name
    expect(await nameOf(elsewhere, on.organization.key)).toBe('Yara Elsewhere')
    expect([await nameOf(here), await nameOf(elsewhere)]).toEqual(['Yara Here', null])
    expect(jids(await find({ pushName: 'yara' }))).toEqual([here])
  })

  it('shows the id of a group as remoteJid', async () => {
    const group = '120363041234567890@g.us'
    await on.send('sendText', 'phone', { number: group, text: 'hello all' })
    const { body } = await on.chat('findContacts', 'phone', { where: { remoteJid: group } })
    expect(body).toMatchObject([{ remoteJid: group, isGroup: true, type: 'group' }])
    const chats = await on.chat('findChats', 'phone', { where: { remoteJid: group } })
    expect(jids(chats.body)).toEqual([group.split('@')[0]])
  })
})
