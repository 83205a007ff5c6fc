import { describe, expect, it } from 'vitest'
import { applyRetention } from '../../../../src/core/maintenance/retention.js'
import { idBefore } from '../../../../src/lib/bytes/id.js'
import { MEBIBYTE } from '../../../../src/lib/text/units.js'
import { readConversations } from '../../../support/conversations.js'
import { FILES } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'
import { startChatWorld, text } from './support.js'

const on = useStarted(startChatWorld)

/** The commands that the simulated phone got, newest last. */
async function commands() {
  const { body } = await on.world.sim('GET', '/phones')
  const phone = body.phones.find((one: { instance: string }) => one.instance === 'phone')
  return phone.commands.map((one: { command: unknown }) => one.command)
}

async function contact(number: string) {
  const { body } = await on.world.request('GET', `/contact?phone_number=${number}`, { key: on.organization.key })
  return body.contact
}

/** The content of the newest message of a conversation, as Interface A shows it. */
async function contentOf(number: string): Promise<unknown> {
  const { body } = await readConversations(on.world, on.organization, { chatNumber: number, limit: '1' })
  return body.messages[0].content
}

const jid = (number: string) => `${number}@s.whatsapp.net`

describe('markMessageAsRead', () => {
  it.each([
    ['POST', 'readMessages'],
    ['PUT', 'read_messages'],
  ])('marks messages as read on the phone and in the database, with %s', async (method, field) => {
    const number = on.newNumber()
    await on.receive('phone', number, text('first'))
    const id = await on.receive('phone', number, text('second'))
    expect((await contact(number)).has_unread_messages).toBe(true)
    const keys = [{ id, fromMe: false, remoteJid: jid(number) }]
    const { status, body } = await on.chat('markMessageAsRead', 'phone', { [field]: keys }, { method })
    expect([status, body]).toEqual([201, { message: 'Read messages', read: 'success' }])
    expect((await commands()).at(-1)).toEqual({ verb: 'mark_read', keys })
    expect((await contact(number)).has_unread_messages).toBe(false)
    const conversation = await readConversations(on.world, on.organization, { chatNumber: number })
    expect(conversation.body.messages.map((one: { message_status: string }) => one.message_status)).toEqual([
      'read',
      'read',
    ])
  })

  it('leaves the contact unread while a later message is, and marks at the business API too', async () => {
    const number = on.newNumber()
    const first = await on.receive('shop', number, text('first'))
    await on.receive('shop', number, text('second'))
    expect((await on.chat('markMessageAsRead', 'shop', { readMessages: [{ id: first }] })).status).toBe(201)
    expect((await contact(number)).has_unread_messages).toBe(true)
    const found = await on.chat('findChats', 'shop', { where: { remoteJid: number } })
    expect(found.body[0].unreadCount).toBe(1)
  })

  it('marks only messages of this instance; the contact stays unread while any message is', async () => {
    const number = on.newNumber()
    const toShop = await on.receive('shop', number, text('to the shop'))
    const toPhone = await on.receive('phone', number, text('to the phone'))
    const unread = async (instance: string) =>
      (await on.chat('findChats', instance, { where: { remoteJid: number } })).body[0].unreadCount
    await on.chat('markMessageAsRead', 'phone', { readMessages: [{ id: toPhone }] })
    expect([await unread('phone'), await unread('shop')]).toEqual([0, 1])
    expect((await contact(number)).has_unread_messages).toBe(true)
    await on.chat('markMessageAsRead', 'shop', { readMessages: [{ id: toShop }] })
    expect((await contact(number)).has_unread_messages).toBe(false)
  })

  it('treats messages that a person has replied to as read', async () => {
    const number = on.newNumber()
    const fields = { email: `${number}@example.com`, full_name: 'Mia', role: 'agent' }
    const made = await on.world.admin('POST', `/organizations/${on.organization.id}/members`, fields)
    await on.receive('shop', number, text('to the shop'))
    const body = { phone_number: number, message_type: 'text', text: 'answered', memberId: made.body.member.id }
    expect((await on.world.request('POST', '/send-chat', { key: on.organization.key, body })).status).toBe(200)
    const id = await on.receive('phone', number, text('to the phone'))
    await on.chat('markMessageAsRead', 'phone', { readMessages: [{ id }] })
    expect((await contact(number)).has_unread_messages).toBe(false)
  })

  it('ignores messages that are unknown, sent or of another instance; fails if the instance is closed', async () => {
    const number = on.newNumber()
    const id = await on.receive('shop', number, text('to the shop'))
    expect((await on.chat('markMessageAsRead', 'phone', { readMessages: [{ id }, { id: 'unknown' }] })).status).toBe(
      201,
    )
    expect((await contact(number)).has_unread_messages).toBe(true)
    expect((await on.chat('markMessageAsRead', 'phone', { readMessages: [] })).status).toBe(400)
    expect((await on.chat('markMessageAsRead', 'phone', {})).status).toBe(400)
    expect(
      (await on.chat('markMessageAsRead', 'second', { readMessages: [{ id }] }, { key: on.other.key })).status,
    ).toBe(404)
  })
})

describe('markChatUnread', () => {
  it('marks a chat as unread', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'hello')
    const body = { lastMessage: { key: { id, fromMe: true, remoteJid: jid(number) } } }
    const answer = await on.chat('markChatUnread', 'phone', body)
    expect([answer.status, answer.body]).toEqual([201, { chatId: jid(number), markedChatUnread: true }])
    expect((await contact(number)).has_unread_messages).toBe(true)
    expect((await on.chat('markChatUnread', 'phone', { chat: on.newNumber() })).status).toBe(404)
    expect(
      (await on.chat('markChatUnread', 'second', { chat: number }, { method: 'PUT', key: on.other.key })).status,
    ).toBe(404)
  })

  it('shows at least one unread message in a chat marked as unread', async () => {
    const number = on.newNumber()
    await on.sendText('phone', number, 'hello')
    await on.chat('markChatUnread', 'phone', { chat: number })
    const find = async (instance: string) =>
      (await on.chat('findChats', instance, { where: { remoteJid: number } })).body[0].unreadCount
    expect(await find('phone')).toBe(1)
    // Unread messages on other channels do not count.
    await on.sendText('shop', number, 'hello')
    await on.receive('shop', number, text('hi'))
    expect([await find('phone'), await find('shop')]).toEqual([0, 1])
  })

  it('refuses chats that the instance does not have', async () => {
    const number = on.newNumber()
    await on.sendText('shop', number, 'by the shop')
    expect((await on.chat('markChatUnread', 'phone', { chat: number })).status).toBe(404)
    expect((await contact(number)).has_unread_messages).toBe(false)
  })
})

describe('archiveChat', () => {
  it('archives a chat and unarchives it', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'hello')
    const archived = await on.chat('archiveChat', 'phone', { chat: jid(number), archive: true })
    expect([archived.status, archived.body]).toEqual([201, { chatId: jid(number), archived: true }])
    expect((await commands()).at(-1)).toMatchObject({
      verb: 'archive',
      jid: jid(number),
      archive: true,
      last: { key: { id } },
    })
    expect((await contact(number)).archived).toBe(true)
    await on.chat('archiveChat', 'phone', { lastMessage: { key: { id } }, archive: false }, { method: 'PUT' })
    expect((await contact(number)).archived).toBe(false)
    expect((await on.chat('archiveChat', 'phone', { archive: true })).status).toBe(400)
    expect((await on.chat('archiveChat', 'phone', { chat: on.newNumber(), archive: true })).status).toBe(404)
    expect(
      (await on.chat('archiveChat', 'second', { chat: number, archive: true }, { key: on.other.key })).status,
    ).toBe(404)
  })

  it('archives the given chat, even if a message of another is given with it', async () => {
    const [number, other] = [on.newNumber(), on.newNumber()]
    const first = await on.sendText('phone', number, 'hello')
    const newest = await on.sendText('phone', number, 'hello again')
    const elsewhere = await on.sendText('phone', other, 'hello')
    const archive = async (id: string) => {
      const body = { chat: number, lastMessage: { key: { id } }, archive: true }
      const answer = await on.chat('archiveChat', 'phone', body)
      expect([answer.status, answer.body.chatId]).toEqual([201, jid(number)])
      return (await commands()).at(-1).last.key.id
    }
    expect(await archive(first)).toBe(first)
    expect(await archive(elsewhere)).toBe(newest)
    expect(await archive('unknown')).toBe(newest)
    expect((await contact(other)).archived).toBe(false)
    const byMessage = { lastMessage: { key: { id: 'unknown' } }, archive: true }
    expect((await on.chat('archiveChat', 'phone', byMessage)).status).toBe(404)
  })

  it('returns 501 for the business API', async () => {
    const number = on.newNumber()
    await on.sendText('shop', number, 'hello')
    expect((await on.chat('archiveChat', 'shop', { chat: number, archive: true })).status).toBe(501)
    expect((await on.chat('archiveChat', 'shop', { lastMessage: [], archive: true })).status).toBe(501)
    expect((await on.chat('archiveChat', 'second', { chat: number, archive: true })).status).toBe(500)
    expect((await contact(number)).archived).toBe(false)
  })
})

describe('updateMessage', () => {
  it.each(['POST', 'PUT'])('edits a message on the phone and in the database, with %s', async (method) => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'god day')
    const body = { number, text: 'good day', key: { id, fromMe: true, remoteJid: jid(number) } }
    const answer = await on.chat('updateMessage', 'phone', body, { method })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      key: { fromMe: true, remoteJid: jid(number) },
      message: { protocolMessage: { key: { id }, type: 'MESSAGE_EDIT' } },
      messageType: 'protocolMessage',
    })
    expect((await commands()).at(-1)).toEqual({ verb: 'edit_message', key: body.key, text: 'good day' })
    expect(await on.conversation(number)).toEqual(['good day'])
    expect(await contentOf(number)).toEqual({ type: 'text', edited_at: expect.any(String) })
  })

  it('takes the mark of a deletion away', async () => {
    const number = on.newNumber()
    const key = { id: await on.sendText('phone', number, 'one'), fromMe: true, remoteJid: jid(number) }
    expect((await on.chat('deleteMessageForEveryone', 'phone', key, { method: 'DELETE' })).status).toBe(201)
    expect((await on.chat('updateMessage', 'phone', { number, text: 'two', key })).status).toBe(200)
    expect(await on.conversation(number)).toEqual(['two'])
    expect(await contentOf(number)).toEqual({ type: 'text', edited_at: expect.any(String) })
  })

  it('is refused while a legal hold is on, and nothing reaches the phone', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'evidence')
    const hold = `/organizations/${on.organization.id}/hold`
    expect((await on.world.admin('PUT', hold, { reason: 'Case 12' })).status).toBe(200)
    const before = await commands()
    const body = { number, text: '.', key: { id, fromMe: true, remoteJid: jid(number) } }
    const refused = await on.chat('updateMessage', 'phone', body)
    expect([refused.status, refused.body.response.message[0]]).toEqual([409, expect.stringContaining('legal hold')])
    expect(await commands()).toEqual(before)
    expect(await on.conversation(number)).toEqual(['evidence'])
    expect((await on.world.admin('DELETE', hold)).status).toBe(200)
    expect((await on.chat('updateMessage', 'phone', body)).status).toBe(200)
  })

  it('refuses messages that are received, unknown, or of another instance or organization', async () => {
    const number = on.newNumber()
    const received = await on.receive('phone', number, text('mine'))
    const sent = await on.sendText('shop', number, 'ours')
    const change = async (instance: string, id: string, key?: string) =>
      (await on.chat('updateMessage', instance, { number, text: 'changed', key: { id } }, { key })).status
    expect(await change('phone', received)).toBe(400)
    expect(await change('phone', 'unknown')).toBe(404)
    expect(await change('phone', sent)).toBe(404)
    expect(await change('shop', sent)).toBe(501)
    expect(await change('shop', 'unknown')).toBe(501)
    expect(await change('second', 'unknown')).toBe(500)
    const own = await on.sendText('phone', number, 'ours')
    const elsewhere = { number: on.newNumber(), text: 'changed', key: { id: own } }
    expect((await on.chat('updateMessage', 'phone', elsewhere)).status).toBe(404)
    expect(await change('second', sent, on.other.key)).toBe(404)
    expect(await on.conversation(number)).toEqual(['mine', 'ours', 'ours'])
  })
})

describe('deleteMessageForEveryone', () => {
  it('deletes a message, also from the search', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'regrettable')
    const elsewhere = { id, remoteJid: jid(on.newNumber()) }
    expect((await on.chat('deleteMessageForEveryone', 'phone', elsewhere, { method: 'DELETE' })).status).toBe(404)
    expect((await on.chat('deleteMessageForEveryone', 'shop', elsewhere, { method: 'DELETE' })).status).toBe(501)
    expect((await on.chat('deleteMessageForEveryone', 'second', elsewhere, { method: 'DELETE' })).status).toBe(500)
    const answer = await on.chat(
      'deleteMessageForEveryone',
      'phone',
      { id, fromMe: true, remoteJid: jid(number) },
      { method: 'DELETE' },
    )
    expect(answer.status).toBe(201)
    expect(answer.body.message).toMatchObject({ protocolMessage: { key: { id }, type: 'REVOKE' } })
    expect(await on.conversation(number)).toEqual([''])
    expect(await contentOf(number)).toEqual({ type: 'text', deleted_at: expect.any(String) })
    const searched = await readConversations(on.world, on.organization, { chatNumber: number, query: 'regrettable' })
    expect(searched.body.messages).toEqual([])
    const again = { id, fromMe: true, remoteJid: jid(number) }
    expect(
      (await on.chat('deleteMessageForEveryone', 'second', again, { method: 'DELETE', key: on.other.key })).status,
    ).toBe(404)
    expect(
      (await on.chat('deleteMessageForEveryone', 'phone', again, { method: 'DELETE', key: on.second.token })).status,
    ).toBe(404)
    expect((await on.chat('deleteMessageForEveryone', 'phone', {}, { method: 'DELETE' })).status).toBe(400)
  })

  it('is refused while a legal hold is on, and nothing reaches the phone', async () => {
    const number = on.newNumber()
    const id = await on.sendText('phone', number, 'evidence')
    const hold = `/organizations/${on.organization.id}/hold`
    expect((await on.world.admin('PUT', hold, { reason: 'Case 12' })).status).toBe(200)
    const before = await commands()
    const body = { id, fromMe: true, remoteJid: jid(number) }
    const refused = await on.chat('deleteMessageForEveryone', 'phone', body, { method: 'DELETE' })
    expect([refused.status, refused.body.response.message[0]]).toEqual([409, expect.stringContaining('legal hold')])
    expect(await commands()).toEqual(before)
    expect(await on.conversation(number)).toEqual(['evidence'])
    expect((await on.world.admin('DELETE', hold)).status).toBe(200)
  })
})

describe('whatsappNumbers', () => {
  it('returns for each number whether it exists', async () => {
    const { status, body } = await on.chat('whatsappNumbers', 'phone', {
      numbers: ['+55 11 98888-1234', 'nobody', '120363041234567890@g.us', '16505000001'],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { exists: true, number: '+55 11 98888-1234', jid: expect.stringMatching(/^55\d+@s\.whatsapp\.net$/) },
      { exists: false, number: 'nobody' },
      { exists: true, number: '120363041234567890@g.us', jid: '120363041234567890@g.us' },
      { exists: false, number: '16505000001', jid: '16505000001@s.whatsapp.net' },
    ])
  })

  it('needs an open instance of a kind that can check numbers', async () => {
    const numbers = ['16505551234']
    expect((await on.chat('whatsappNumbers', 'shop', { numbers })).status).toBe(501)
    const closed = await on.chat('whatsappNumbers', 'second', { numbers })
    expect([closed.status, closed.body.response.message]).toEqual([500, 'Connection Closed'])
    expect((await on.chat('whatsappNumbers', 'phone', { numbers: Array(501).fill('1') })).status).toBe(400)
    expect((await on.chat('whatsappNumbers', 'second', { numbers }, { key: on.other.key })).status).toBe(404)
  })
})

describe('sendPresence', () => {
  it.each([
    ['flat', { presence: 'composing', delay: 5 }],
    ['nested', { options: { presence: 'composing', delay: 5 } }],
  ])('shows the presence for the given time, %s', async (_name, fields) => {
    const number = on.newNumber()
    const { status, body } = await on.chat('sendPresence', 'phone', { number, ...fields })
    expect([status, body]).toEqual([201, { presence: 'composing' }])
    expect((await commands()).slice(-2)).toEqual([
      { verb: 'show_presence', jid: jid(number), presence: 'composing' },
      { verb: 'show_presence', jid: jid(number), presence: 'paused' },
    ])
  })

  it('shows typing by a business number below the newest message of the person', async () => {
    const number = on.newNumber()
    const send = (presence: string) => on.chat('sendPresence', 'shop', { number, presence })
    expect((await send('composing')).status).toBe(501)
    await on.receive('shop', number, text('hi'))
    const { status, body } = await send('composing')
    expect([status, body]).toEqual([201, { presence: 'composing' }])
    expect((await send('recording')).status).toBe(501)
    const conversation = await readConversations(on.world, on.organization, { chatNumber: number })
    expect(conversation.body.messages[0].message_status).toBe('read')
  })

  it('refuses invalid presences, delays and numbers', async () => {
    const send = async (fields: object, instance = 'phone', key?: string) =>
      (await on.chat('sendPresence', instance, { number: '16505551234', ...fields }, { key })).status
    expect(await send({})).toBe(400)
    expect(await send({ presence: 'asleep' })).toBe(400)
    expect(await send({ presence: 'composing', delay: 1e9 })).toBe(400)
    expect(await send({ presence: 'composing', number: 'nobody' })).toBe(400)
    expect(await send({ presence: 'composing', number: 'nobody' }, 'shop')).toBe(501)
    expect(await send({ presence: 'composing' }, 'second')).toBe(500)
    expect(await send({ presence: 'composing' }, 'second', on.other.key)).toBe(404)
  })
})

describe('fetchProfile and fetchProfilePictureUrl', () => {
  it('return the profile of a person, or of the instance itself', async () => {
    const number = on.newNumber()
    await on.receive('phone', number, { name: 'Ana', ...text('hi') })
    const picture = await on.chat('fetchProfilePictureUrl', 'phone', { number })
    expect([picture.status, picture.body]).toEqual([200, { wuid: jid(number), profilePictureUrl: null }])
    const profile = await on.chat('fetchProfile', 'phone', { number: jid(number) })
    expect(profile.body).toMatchObject({ wuid: jid(number), name: 'Ana', numberExists: true, picture: null })
    expect((await on.chat('fetchProfilePictureUrl', 'phone', {})).body.wuid).toBe(jid('5511988887777'))
    for (const verb of ['fetchProfile', 'fetchProfilePictureUrl']) {
      expect((await on.chat(verb, 'shop', { number: 'nobody' })).status).toBe(501)
      expect((await on.chat(verb, 'shop', [])).status).toBe(501)
      expect((await on.chat(verb, 'second', { number }, { key: on.other.key })).status).toBe(404)
      expect((await on.chat(verb, 'phone', { number: 'nobody' })).status).toBe(400)
    }
  })
})

describe('getBase64FromMediaMessage', () => {
  const ask = (instance: string, id: string, key?: string) =>
    on.chat('getBase64FromMediaMessage', instance, { message: { key: { id } } }, { key })

  it('returns the file of a message', async () => {
    const number = on.newNumber()
    const media = { number, mediatype: 'image', media: on.fileUrl('jpeg'), caption: 'look' }
    const sent = await on.send('sendMedia', 'phone', media)
    expect(sent.status, JSON.stringify(sent.body)).toBe(201)
    const { status, headers, body } = await ask('phone', sent.body.key.id)
    expect([status, headers.get('content-type')]).toEqual([201, expect.stringContaining('application/json')])
    const bytes = FILES.jpeg()
    expect(body).toEqual({
      mediaType: 'imageMessage',
      fileName: expect.stringMatching(/\.jpeg$/),
      caption: 'look',
      size: { fileLength: bytes.length, height: null, width: null },
      mimetype: 'image/jpeg',
      base64: bytes.toString('base64'),
      buffer: null,
    })
    expect((await ask('shop', sent.body.key.id)).status).toBe(404)
    expect((await ask('phone', sent.body.key.id, on.other.key)).status).toBe(404)
    expect((await ask('phone', sent.body.key.id, on.second.token)).status).toBe(404)
  })

  it('accepts the message of a webhook unchanged, with its file', async () => {
    const media = { number: on.newNumber(), mediatype: 'image', media: on.fileUrl('jpeg') }
    const { key } = (await on.send('sendMedia', 'phone', media)).body
    const handBack = (length: number) =>
      on.chat('getBase64FromMediaMessage', 'phone', { message: { key, message: { base64: 'A'.repeat(length) } } })
    expect((await handBack(22 * MEBIBYTE)).status).toBe(201)
    const { status, body } = await handBack(32 * MEBIBYTE)
    expect([status, body.response.message[0]]).toEqual([413, expect.stringContaining(String(32 * MEBIBYTE))])
  })

  it('says that a file was removed for its age', async () => {
    const media = { number: on.newNumber(), mediatype: 'image', media: on.fileUrl('jpeg') }
    const { key } = (await on.send('sendMedia', 'phone', media)).body
    const { admin, app, database } = on.world
    const path = `/organizations/${on.organization.id}`
    await admin('PATCH', path, { media_retention_days: 7 })
    await database.pool.query(
      `WITH old AS (
         UPDATE messages SET recorded_at = now() - interval '8 days', id = $2, media_id = $2 WHERE upstream_id = $1
         RETURNING media_id
       )
       UPDATE media SET id = $2 WHERE message_id = (SELECT id FROM messages WHERE upstream_id = $1)`,
      [key.id, idBefore(new Date(app.ctx.clock().getTime() - 8 * 86_400_000))],
    )
    expect(await applyRetention(app.ctx, on.organization.id, {})).toBeNull()
    await admin('PATCH', path, { media_retention_days: null })
    const gone = await ask('phone', key.id)
    expect([gone.status, gone.body.response.message[0]]).toEqual([404, expect.stringContaining('no longer stored')])
  })

  it('explains why there is no file', async () => {
    const number = on.newNumber()
    const plain = await ask('phone', await on.sendText('phone', number, 'no file'))
    expect([plain.status, plain.body.response.message[0]]).toEqual([400, expect.stringContaining('has no file')])
    expect((await ask('phone', 'unknown')).status).toBe(404)
    const id = await on.receive('phone', number, text('to be fetched'))
    const { database } = on.world
    const state = (value: string) =>
      database.pool.query('UPDATE messages SET media_state = $2 WHERE upstream_id = $1', [id, value])
    await state('retried')
    expect((await ask('phone', id)).body.response.message[0]).toContain('still being fetched')
    await state('missing')
    expect((await ask('phone', id)).body.response.message[0]).toContain('could not be downloaded')
    expect((await on.chat('getBase64FromMediaMessage', 'phone', { message: {} })).status).toBe(400)
  })
})
