import { describe, expect, it } from 'vitest'
import { receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

function person(): string {
  return `1650555${String(++people).padStart(4, '0')}`
}

function reaction(from: string, about: string, emoji: string | undefined, at = 0): WireMessage {
  const payload = emoji === undefined ? { message_id: about } : { message_id: about, emoji }
  return { from, id: wamid(), timestamp: seconds(at), type: 'reaction', reaction: payload }
}

function edit(from: string, about: string, text: string, at = 0): WireMessage {
  const message = { type: 'text', text: { body: text } }
  return {
    from,
    id: wamid(),
    timestamp: seconds(at),
    type: 'edit',
    edit: { original_message_id: about, message },
  }
}

function revoke(from: string, about: string, at = 0): WireMessage {
  return { from, id: wamid(), timestamp: seconds(at), type: 'revoke', revoke: { original_message_id: about } }
}

async function only(from: string) {
  const { body } = await conversation(world, organization, from)
  expect(body.pagination.totalMessages).toBe(1)
  return body.messages[0]
}

const take = (...messages: WireMessage[]) => receiveMessages(world, organization, ...messages)

describe('a reaction', () => {
  it('shows on its message, outside paging and counts, and raises message.reaction', async () => {
    const from = person()
    const original = textMessage(from, 'nice')
    const liked = reaction(from, String(original.id), '👍', 60)
    await take(original, liked)
    expect((await only(from)).reactions).toEqual([
      { emoji: '👍', sender_type: 'user-chat', created_at: '2025-06-15T15:07:40.000Z' },
    ])
    const events = await eventsOf(world, organization, 'message.reaction')
    expect(events.at(-1)?.data).toMatchObject({
      message: { upstream_id: liked.id, context_upstream_id: original.id, text: '👍', message_type: 'reaction' },
      contact: { chat_id: from },
    })
  })

  it.each([
    ['without emoji', undefined],
    ['with an empty one', ''],
  ])('is removed by one %s', async (_name, nothing) => {
    const from = person()
    const original = textMessage(from, 'nice')
    await take(original, reaction(from, String(original.id), '👍', 1), reaction(from, String(original.id), nothing, 2))
    expect((await only(from)).reactions).toEqual([])
    await take(reaction(from, String(original.id), '🎉', 3))
    expect((await only(from)).reactions).toMatchObject([{ emoji: '🎉' }])
  })

  it('replaces the previous one, even in the same second', async () => {
    const from = person()
    const original = textMessage(from, 'nice')
    await take(original, reaction(from, String(original.id), '👍', 1), reaction(from, String(original.id), '❤️', 1))
    expect((await only(from)).reactions).toMatchObject([{ emoji: '❤️' }])
  })

  it('that arrives late neither replaces a newer one nor undoes a removal', async () => {
    const [from, other] = [person(), person()]
    const [original, second] = [textMessage(from, 'nice'), textMessage(other, 'nice')]
    await take(original, reaction(from, String(original.id), '❤️', 9), reaction(from, String(original.id), '👍', 5))
    expect((await only(from)).reactions).toMatchObject([{ emoji: '❤️' }])
    await take(second, reaction(other, String(second.id), '', 9), reaction(other, String(second.id), '👍', 5))
    expect((await only(other)).reactions).toEqual([])
  })

  it('that arrives before its message shows once the message arrives', async () => {
    const from = person()
    const original = textMessage(from, 'nice')
    await take(reaction(from, String(original.id), '👍', 1))
    expect((await conversation(world, organization, from)).body).toMatchObject({ count: 0, stored: false })
    await take(original)
    expect((await only(from)).reactions).toMatchObject([{ emoji: '👍' }])
  })

  it('sent twice raises one event', async () => {
    const from = person()
    const original = textMessage(from, 'nice')
    const liked = reaction(from, String(original.id), '👍', 1)
    await take(original, liked, liked, liked)
    const events = await eventsOf(world, organization, 'message.reaction')
    expect(events.filter((event) => event.data.message.upstream_id === liked.id)).toHaveLength(1)
  })

  it('of another person to the same message does not show', async () => {
    const [from, stranger] = [person(), person()]
    const original = textMessage(from, 'private')
    await take(original, reaction(stranger, String(original.id), '👀', 1))
    expect((await only(from)).reactions).toEqual([])
  })

  it('leaves no unread mark, and creates a contact for its sender', async () => {
    const from = person()
    await take(reaction(from, wamid(), '👍'))
    expect((await contact(world, organization, from)).body.contact.has_unread_messages).toBe(false)
  })

  it('without a target message is kept as a message of its kind', async () => {
    const from = person()
    await take({ from, id: wamid(), timestamp: seconds(), type: 'reaction', reaction: { emoji: '👍' } })
    expect(await only(from)).toMatchObject({ message: '[reaction]', message_type: 'reaction' })
  })
})

describe('an edit', () => {
  it('changes only the text of its message', async () => {
    const from = person()
    const original = textMessage(from, 'Helo')
    await take(original)
    const before = await only(from)
    await take(edit(from, String(original.id), 'Hello', 5))
    const content = { type: 'text', edited_at: '2025-06-15T15:06:45.000Z' }
    expect(await only(from)).toEqual({ ...before, message: 'Hello', content })
  })

  it('changes a caption', async () => {
    const from = person()
    const id = wamid()
    const image = { id: '1', mime_type: 'image/jpeg', sha256: 'x' }
    await take(
      { from, id, timestamp: seconds(), type: 'image', image: { ...image, caption: 'old' } },
      {
        from,
        id: wamid(),
        timestamp: seconds(1),
        type: 'edit',
        edit: { original_message_id: id, message: { type: 'image', image: { ...image, caption: 'new' } } },
      },
    )
    expect(await only(from)).toMatchObject({ message: 'new', media_type: 'image' })
  })

  it('applies even if it arrives before its message', async () => {
    const from = person()
    const original = textMessage(from, 'first')
    await take(edit(from, String(original.id), 'second', 5), original)
    expect((await only(from)).message).toBe('second')
  })

  it('that is older than the newest one changes nothing', async () => {
    const from = person()
    const original = textMessage(from, 'first')
    await take(original, edit(from, String(original.id), 'third', 9), edit(from, String(original.id), 'second', 5))
    expect((await only(from)).message).toBe('third')
  })

  it('by another person changes nothing', async () => {
    const [from, stranger] = [person(), person()]
    const original = textMessage(from, 'mine')
    await take(original, edit(stranger, String(original.id), 'forged', 5))
    expect((await only(from)).message).toBe('mine')
  })

  it.each([
    ['without the new message', { original_message_id: 'wamid.x' }],
    ['without the original', { message: { type: 'text', text: { body: 'x' } } }],
  ])('%s is kept as a message of its kind', async (_name, payload) => {
    const from = person()
    await take({ from, id: wamid(), timestamp: seconds(), type: 'edit', edit: payload })
    expect(await only(from)).toMatchObject({ message: '[edit]', message_type: 'edit' })
  })

  it("by the customer cannot change the organization's messages", async () => {
    const from = person()
    await take(textMessage(from, 'hello'))
    const body = { phone_number: from, message_type: 'text', text: 'our word' }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    await take(edit(from, sent.body.data.message_id, 'forged', 5), revoke(from, sent.body.data.message_id, 6))
    const { messages } = (await conversation(world, organization, from)).body
    expect(messages.map((message: { message: string }) => message.message)).toEqual(['hello', 'our word'])
  })
})

describe('a revocation', () => {
  it('empties its message, which stays in place', async () => {
    const from = person()
    const original = textMessage(from, 'oops')
    await take(original)
    const before = await only(from)
    await take(revoke(from, String(original.id), 5))
    const content = { type: 'text', deleted_at: '2025-06-15T15:06:45.000Z' }
    expect(await only(from)).toEqual({ ...before, message: '', content })
  })

  it('applies even if it arrives before its message, and after an edit', async () => {
    const from = person()
    const original = textMessage(from, 'oops')
    await take(revoke(from, String(original.id), 9), edit(from, String(original.id), 'ooops', 5), original)
    expect((await only(from)).message).toBe('')
  })

  it('sent twice has no further effect, and neither raises message.received', async () => {
    const from = person()
    const original = textMessage(from, 'oops')
    const gone = revoke(from, String(original.id), 5)
    await take(original, gone, gone)
    expect((await only(from)).message).toBe('')
    const received = await eventsOf(world, organization, 'message.received')
    expect(received.filter((event) => event.data.contact.chat_id === from)).toHaveLength(1)
  })
})

describe('the events of changes', () => {
  const textEdited = (events: { data: { message: { text: string } } }[]) => events.map(({ data }) => data.message.text)

  it('are raised once each, with the text before an edit', async () => {
    const from = person()
    const original = textMessage(from, 'one')
    const id = String(original.id)
    const second = edit(from, id, 'two', 5)
    await take(original, second, second, edit(from, id, 'three', 9))
    const mine = (await eventsOf(world, organization, 'message.edited')).filter(
      ({ data }) => data.message.upstream_id === id,
    )
    expect(mine.map(({ data }) => [data.previous_message, data.message.text])).toEqual([
      ['one', 'two'],
      ['two', 'three'],
    ])
    expect(await only(from)).toMatchObject({ message: 'three' })
  })

  it('are not raised by an edit that is older than the newest one, or by another person', async () => {
    const [from, stranger] = [person(), person()]
    const original = textMessage(from, 'one')
    const id = String(original.id)
    await take(original, edit(from, id, 'three', 9), edit(from, id, 'two', 5), edit(stranger, id, 'forged', 12))
    const mine = (await eventsOf(world, organization, 'message.edited')).filter(
      ({ data }) => data.message.upstream_id === id,
    )
    expect(textEdited(mine)).toEqual(['three'])
  })

  it('are not raised if they come before the message; then message.received has the text', async () => {
    const from = person()
    const original = textMessage(from, 'one')
    await take(edit(from, String(original.id), 'two', 5), original)
    expect(await only(from)).toMatchObject({ message: 'two' })
    const edited = await eventsOf(world, organization, 'message.edited')
    expect(edited.filter(({ data }) => data.message.upstream_id === original.id)).toEqual([])
    const received = await eventsOf(world, organization, 'message.received')
    expect(received.at(-1)?.data.message).toMatchObject({ upstream_id: original.id, text: 'two' })
  })

  it('tell that the message was deleted, and not what it said', async () => {
    const from = person()
    const original = textMessage(from, 'a secret')
    await take(original, revoke(from, String(original.id), 5))
    const told = (await eventsOf(world, organization, 'message.deleted')).at(-1)
    expect(told?.data.message).toMatchObject({ upstream_id: original.id, text: '' })
    expect(JSON.stringify(told)).not.toContain('a secret')
    expect(await only(from)).toMatchObject({ message: '' })
  })

  it('are those of one organization only', async () => {
    const other = await world.createOrganization()
    const from = person()
    const original = textMessage(from, 'one')
    await take(original)
    await receiveMessages(world, other, edit(from, String(original.id), 'forged', 5))
    expect(await eventsOf(world, other, 'message.edited')).toEqual([])
    expect((await only(from)).message).toBe('one')
  })
})
