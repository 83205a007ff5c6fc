import { describe, expect, it } from 'vitest'
import { receive, receiveMessages, seconds, textMessage } from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)

/** A contact that has written; its digits and the upstream's id of the message. */
async function asking(): Promise<{ digits: string; question: string }> {
  const digits = await house.newContact()
  const message = textMessage(digits, '?')
  await receiveMessages(house.world, house.organization, message)
  return { digits, question: String(message.id) }
}

const textTo = (phone_number: string, fields: object = {}) => ({
  phone_number,
  message_type: 'text',
  text: 'hello',
  ...fields,
})

const reactionTo = (phone_number: string, message_id: string, emoji?: string, fields: object = {}) => ({
  phone_number,
  message_type: 'reaction',
  reaction: { message_id, emoji },
  ...fields,
})

const emojis = (message: { reactions: { emoji: string }[] }) => message.reactions.map(({ emoji }) => emoji)

/** Ids of no message in the conversation, which has one message from the customer. */
async function wrongIds(digits: string): Promise<string[]> {
  const { world, newContact, shown } = house
  const other = await world.createOrganization()
  const stranger = await newContact()
  const [elsewhere, abroad] = [textMessage(stranger, 'x'), textMessage(digits, 'x')]
  await receiveMessages(world, house.organization, elsewhere)
  await receiveMessages(world, other, abroad)
  const [{ id: elsewhereId }] = await shown(stranger)
  const [{ id: abroadId }] = (await conversation(world, other, digits)).body.messages
  const unknown = ['wamid.nothing', '01a1fbdb-f2f0-727b-b64b-643e13b34149', '%', ' ']
  return [String(elsewhere.id), elsewhereId, String(abroad.id), abroadId, ...unknown]
}

describe('context_message_id of media', () => {
  it.each(['id', 'message_id'])('refers to a message by its %s', async (field) => {
    const { fileUrl, sent, arrived, shown } = house
    const { digits, question } = await asking()
    const [asked] = await shown(digits)
    const context_message_id = asked[field]
    await sent({ phone_number: digits, message_type: 'image', media_url: fileUrl('png'), context_message_id })
    expect((await arrived(digits))[0].payload.context).toEqual({ message_id: question })
    expect((await shown(digits))[1]).toMatchObject({ media_type: 'image', context_message_id: question })
  })

  it('may refer to a sent file', async () => {
    const { fileUrl, sent, arrived } = house
    const digits = await house.newContact()
    const first = await sent({ phone_number: digits, message_type: 'document', media_url: fileUrl('pdf') })
    await sent({
      phone_number: digits,
      message_type: 'audio',
      media_url: fileUrl('mp3'),
      context_message_id: first,
    })
    expect((await arrived(digits))[1].payload.context).toEqual({ message_id: first })
  })

  it('from another conversation returns 404, and nothing is fetched or sent', async () => {
    const { files, fileUrl, send, arrived, shown } = house
    const { digits } = await asking()
    const ids = await wrongIds(digits)
    files.taken.splice(0)
    for (const context_message_id of ids) {
      const body = { phone_number: digits, message_type: 'image', media_url: fileUrl('png'), context_message_id }
      const answer = await send(body)
      expect([answer.status, answer.body.error], context_message_id).toEqual([404, 'Message not found'])
      expect(answer.body.message).toContain(`context_message_id "${context_message_id}"`)
    }
    expect(files.taken).toEqual([])
    expect(await arrived(digits)).toEqual([])
    expect(await shown(digits)).toHaveLength(1)
  })
})

describe('reaction.message_id', () => {
  it.each(['id', 'message_id'])('refers to a message of the customer by its %s', async (field) => {
    const { sent, arrived, shown } = house
    const { digits, question } = await asking()
    const [asked] = await shown(digits)
    await sent(reactionTo(digits, asked[field], '🎉'))
    expect((await arrived(digits))[0].payload.reaction).toEqual({ message_id: question, emoji: '🎉' })
    expect(emojis((await shown(digits))[0])).toEqual(['🎉'])
  })

  it.each(['id', 'message_id'])('refers to a sent message by its %s', async (field) => {
    const { fileUrl, sent, arrived, shown } = house
    const digits = await house.newContact()
    const target = await sent({ phone_number: digits, message_type: 'image', media_url: fileUrl('png') })
    const [own] = await shown(digits)
    await sent(reactionTo(digits, own[field]))
    expect((await arrived(digits))[1].payload.reaction).toEqual({ message_id: target, emoji: '👍' })
    expect(emojis((await shown(digits))[0])).toEqual(['👍'])
  })

  it('overrides context_message_id, which a reaction does not have', async () => {
    const { sent, arrived } = house
    const { digits, question } = await asking()
    await sent(reactionTo(digits, question, '👍', { context_message_id: 'wamid.nothing' }))
    expect((await arrived(digits))[0].payload).not.toHaveProperty('context')
  })

  it('from another conversation returns 404, and nothing is sent or shown', async () => {
    const { send, arrived, shown } = house
    const { digits } = await asking()
    for (const id of await wrongIds(digits)) {
      const answer = await send(reactionTo(digits, id))
      expect([answer.status, answer.body.success, answer.body.error], id).toEqual([404, false, 'Message not found'])
      expect(answer.body.message).toContain(`reaction.message_id "${id}"`)
    }
    expect(await arrived(digits)).toEqual([])
    expect((await shown(digits))[0].reactions).toEqual([])
  })

  it('of a reaction returns 404, for either side and either id', async () => {
    const { world, organization, send, sent, arrived } = house
    const { digits, question } = await asking()
    const liked = textMessage(digits, '', { type: 'reaction', reaction: { message_id: question, emoji: '❤️' } })
    await receiveMessages(world, organization, liked)
    const ours = await sent(reactionTo(digits, question))
    const { payload } = (await arrived(digits))[0]
    for (const id of [String(liked.id), ours, payload.biz_opaque_callback_data]) {
      expect((await send(reactionTo(digits, id))).body.error, id).toBe('Message not found')
      expect((await send(textTo(digits, { context_message_id: id }))).body.error, id).toBe('Message not found')
    }
    expect(await arrived(digits)).toHaveLength(1)
  })
})

describe('a message that the upstream refused, and that has no id there', () => {
  it('can be neither replied nor reacted to: 404', async () => {
    const { world, organization, send, shown } = house
    const digits = '5511955000001'
    await createContact(world, organization, `+${digits}`)
    await send(textTo(digits))
    const [refused] = await shown(digits)
    expect(refused).toMatchObject({ message_status: 'failed', message_id: null })
    for (const body of [reactionTo(digits, refused.id), textTo(digits, { context_message_id: refused.id })]) {
      const answer = await send(body)
      expect([answer.status, answer.body.error]).toEqual([404, 'Message not found'])
    }
    expect(await shown(digits)).toHaveLength(1)
  })
})

describe('the reactions of a message', () => {
  it('are the latest of each side, oldest first', async () => {
    const { world, organization, sent, shown } = house
    const { digits, question } = await asking()
    const react = (emoji: string, at: number) =>
      textMessage(digits, '', { timestamp: seconds(at), type: 'reaction', reaction: { message_id: question, emoji } })
    await receiveMessages(world, organization, react('❤️', 1))
    await sent(reactionTo(digits, question, '🎉'))
    await sent(reactionTo(digits, question, '🙏'))
    await receiveMessages(world, organization, react('😂', 2))
    const created_at = expect.stringMatching(/Z$/)
    expect((await shown(digits))[0].reactions).toEqual([
      { emoji: '😂', sender_type: 'user-chat', created_at },
      { emoji: '🙏', sender_type: 'bot-chat', created_at },
    ])
  })

  it('show a member as human, who replaces the bot: one side', async () => {
    const { world, organization, sent, shown } = house
    const { digits, question } = await asking()
    const member = { email: 'mia@example.com', full_name: 'Mia', role: 'agent' }
    const made = await world.admin('POST', `/organizations/${organization.id}/members`, member)
    await sent(reactionTo(digits, question, '🎉'))
    await sent(reactionTo(digits, question, '🙏', { memberId: made.body.member.id }))
    expect((await shown(digits))[0].reactions).toMatchObject([{ emoji: '🙏', sender_type: 'human-chat' }])
  })

  it('are removed by an empty one, and can be added again', async () => {
    const { sent, shown } = house
    const { digits, question } = await asking()
    const showing = []
    for (const emoji of ['🎉', '', '', '🙏']) {
      await sent(reactionTo(digits, question, emoji))
      showing.push(emojis((await shown(digits))[0]))
    }
    expect(showing).toEqual([['🎉'], [], [], ['🙏']])
  })

  it('leave out a refused one', async () => {
    const { world, organization, send, shown, arrived, eventsAbout } = house
    const digits = '5511988000001'
    const question = textMessage(digits, '?')
    await receiveMessages(world, organization, question)
    const answer = await send(reactionTo(digits, String(question.id), '🎉'))
    expect([answer.status, answer.body.error, answer.body.upstream_code]).toEqual([
      400,
      'Upstream rejected message',
      131026,
    ])
    expect(await arrived(digits)).toEqual([])
    expect((await shown(digits))[0].reactions).toEqual([])
    const told = (await eventsAbout(digits)).filter(({ data }) => data.message?.message_type === 'reaction')
    expect(told.map(({ type }) => type)).toEqual(['message.failed'])
  })

  it('leave out one that fails later, and show the previous one again', async () => {
    const { world, organization, sent, shown } = house
    const { digits, question } = await asking()
    await sent(reactionTo(digits, question, '🎉'))
    const second = await sent(reactionTo(digits, question, '🙏'))
    const errors = [{ code: 131009, title: 'Parameter value is not valid' }]
    await receive(world, organization, {
      statuses: [{ id: second, status: 'failed', timestamp: seconds(), recipient_id: digits, errors }],
    })
    expect(emojis((await shown(digits))[0])).toEqual(['🎉'])
  })

  it('are not affected by concurrent sends', async () => {
    const { fileUrl, send, shown, eventsAbout } = house
    const { digits, question } = await asking()
    const bodies = Array.from({ length: 20 }, () => [
      textTo(digits, { context_message_id: question }),
      reactionTo(digits, question),
      { phone_number: digits, message_type: 'image', media_url: fileUrl('png') },
    ]).flat()
    const answers = await Promise.all(bodies.map((body) => send(body)))
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    const messages = await shown(digits)
    expect(messages).toHaveLength(41)
    expect(emojis(messages[0])).toEqual(['👍'])
    const types = (await eventsAbout(digits)).map(({ type }) => type)
    expect(types.filter((type) => type === 'message.sent')).toHaveLength(40)
    expect(types.filter((type) => type === 'message.reaction')).toHaveLength(20)
  })

  it('are outside paging and counts', async () => {
    const { world, organization, sent } = house
    const { digits, question } = await asking()
    for (const emoji of ['🎉', '🙏', '👍']) await sent(reactionTo(digits, question, emoji))
    await sent(textTo(digits))
    const get = async (query: string) =>
      (await world.request('GET', `/conversations?chatNumber=${digits}&${query}`, { key: organization.key })).body
    expect((await get('limit=1')).pagination).toMatchObject({ totalMessages: 2, totalPages: 2 })
    expect((await get('limit=1&page=2')).messages).toMatchObject([{ message: '?', reactions: [{ emoji: '👍' }] }])
    expect((await get('limit=1&page=3')).messages).toEqual([])
  })
})

describe('the status callbacks of a reaction', () => {
  it('update it, raise its event, and change nothing visible', async () => {
    const { world, organization, sent, shown, eventsAbout } = house
    const { digits, question } = await asking()
    const id = await sent(reactionTo(digits, question, '🎉'))
    const before = await shown(digits)
    const status = { id, timestamp: seconds(), recipient_id: digits }
    await receive(world, organization, { statuses: [{ ...status, status: 'sent' }] })
    await receive(world, organization, { statuses: [{ ...status, status: 'delivered' }] })
    await receive(world, organization, { statuses: [{ ...status, status: 'delivered' }] })
    expect(await shown(digits)).toEqual(before)
    const told = (await eventsAbout(digits)).filter(({ data }) => data.message?.upstream_id === id)
    expect(told.map(({ type, data }) => [type, data.message.status])).toEqual([
      ['message.reaction', 'sent'],
      ['message.delivered', 'delivered'],
    ])
  })

  it('raise no second message.sent', async () => {
    const { world, sent, eventsAbout } = house
    const { digits, question } = await asking()
    await world.sim('POST', '/settings', { statuses: true })
    const id = await sent(reactionTo(digits, question))
    await world.settle()
    await world.sim('POST', '/settings', { statuses: false })
    const told = (await eventsAbout(digits)).filter(({ data }) => data.message?.upstream_id === id)
    expect(told.filter(({ type }) => type === 'message.reaction')).toHaveLength(1)
    expect(told.filter(({ type }) => type === 'message.sent')).toEqual([])
  })
})

describe('memberId with media and with reactions', () => {
  it('marks the message as human, pauses the bot, clears the unread mark, and raises one event', async () => {
    const { world, organization, fileUrl, sent, shown, eventsAbout } = house
    const { digits, question } = await asking()
    const path = `/contact?chat_id=${digits}`
    await world.request('PATCH', path, { key: organization.key, body: { bot_status: 'active' } })
    const fields = { email: 'bo@example.com', full_name: 'Bo', role: 'agent' }
    const { member } = (await world.admin('POST', `/organizations/${organization.id}/members`, fields)).body
    const before = (await eventsAbout(digits)).length

    await sent(reactionTo(digits, question, '👀', { memberId: member.id }))
    await sent({ phone_number: digits, message_type: 'image', media_url: fileUrl('png'), memberId: member.id })

    const assignee = { id: member.id, full_name: 'Bo', email: 'bo@example.com' }
    const messages = await shown(digits)
    expect(messages[0].reactions).toMatchObject([{ emoji: '👀', sender_type: 'human-chat' }])
    expect(messages[1]).toMatchObject({ sender_type: 'human-chat', assignee })
    expect((await contact(world, organization, digits)).body.contact).toMatchObject({
      bot_status: 'paused',
      has_unread_messages: false,
    })
    const told = (await eventsAbout(digits)).slice(before)
    expect(told.map(({ type }) => type)).toEqual(['contact.updated', 'message.reaction', 'message.sent'])
    expect(told[0]?.data.contact).toMatchObject({ bot_status: 'paused', has_unread_messages: false })
    expect(told[2]?.data.message.assignee).toEqual(assignee)
  })

  it('that is unknown returns 400 before anything is fetched or sent', async () => {
    const { files, fileUrl, send, arrived } = house
    const { digits, question } = await asking()
    files.taken.splice(0)
    const memberId = '01a1fbdb-f2f0-727b-b64b-643e13b34149'
    const image = { phone_number: digits, message_type: 'image', media_url: fileUrl('png'), memberId }
    for (const body of [image, reactionTo(digits, question, '👍', { memberId })]) {
      const answer = await send(body)
      expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
      expect(answer.body.message).toMatch(/^memberId /)
    }
    expect([files.taken, await arrived(digits)]).toEqual([[], []])
  })
})
