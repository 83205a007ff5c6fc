import { describe, expect, it } from 'vitest'
import { asObject, asObjects } from '../../../src/lib/text/json.js'
import { receive, receiveMessages, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { callbackSamples, sample } from '../../support/samples.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

function person(): string {
  return `1650666${String(++people).padStart(4, '0')}`
}

/** The contents of a conversation, oldest first. */
async function contentsOf(number: string, of = organization): Promise<unknown[]> {
  const { body } = await conversation(world, of, number)
  return body.messages.map(({ content }: { content: unknown }) => content)
}

const edit = (from: string, of: string, body: string, after: number) => ({
  from,
  id: wamid(),
  timestamp: seconds(after),
  type: 'edit',
  edit: { original_message_id: of, message: { type: 'text', text: { body } } },
})
const revoke = (from: string, of: string, after: number) => ({
  from,
  id: wamid(),
  timestamp: seconds(after),
  type: 'revoke',
  revoke: { original_message_id: of },
})

/** The messages of a sample and the people in it. */
function valuesOf(name: string): object[] {
  const changes = asObjects(sample(name).entry).flatMap((entry) => asObjects(entry.changes))
  return changes.flatMap(({ field, value }) => {
    const { contacts, messages } = asObject(value)
    return field === 'messages' && messages !== undefined ? [{ contacts, messages }] : []
  })
}

describe('content', () => {
  it('is the same in the conversation, the export and the feed of events', async () => {
    const from = person()
    const payload = { id: 'size-large', title: 'Large' }
    await receiveMessages(world, organization, {
      from,
      id: wamid(),
      timestamp: seconds(),
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: payload },
      referral: { source_id: '7', source_type: 'ad', ctwa_clid: 'click', welcome_message: { text: 'Hello' } },
      context: { forwarded: true },
    })
    const content = {
      type: 'button_reply',
      ...payload,
      referral: expect.objectContaining({ source_id: '7', ctwa_clid: 'click', welcome_message: 'Hello', ref: null }),
      forwarded: 'once',
    }
    expect(await contentsOf(from)).toEqual([content])
    const { key } = organization
    const json = await world.request('GET', `/conversations/export?chatNumber=${from}&format=json`, { key })
    expect(json.body.messages[0].content).toEqual(content)
    const csv = await world.request('GET', `/conversations/export?chatNumber=${from}&format=csv`, { key })
    expect(csv.body).toContain('""type"":""button_reply""')
    const events = (await world.request('GET', '/events?limit=100', { key })).body.events
    const received = events.filter(
      ({ type, data }: { type: string; data: { contact?: { chat_id: string } } }) =>
        type === 'message.received' && data.contact?.chat_id === from,
    )
    expect(received).toHaveLength(1)
    expect(received[0].data.message.content).toEqual(content)
  })

  it('is null for a plain text, and says what a sent message offers', async () => {
    const number = person()
    await createContact(world, organization, `+${number}`)
    const to = { phone_number: number }
    const sections = [{ title: null, rows: [{ id: 'r', title: 'Row', description: 'More' }] }]
    for (const body of [
      { ...to, message_type: 'text', text: 'hi' },
      {
        ...to,
        message_type: 'interactive',
        interactive: { type: 'button', body: 'Well?', footer: 'F', buttons: [{ id: 'y', title: 'Yes' }] },
      },
      { ...to, message_type: 'interactive', interactive: { type: 'list', body: 'Which?', button: 'Open', sections } },
    ]) {
      const answer = await world.request('POST', '/send-chat', { key: organization.key, body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    }
    expect(await contentsOf(number)).toEqual([
      null,
      { type: 'buttons', header: null, body: 'Well?', footer: 'F', buttons: [{ id: 'y', title: 'Yes' }] },
      { type: 'list', header: null, body: 'Which?', footer: null, button: 'Open', sections },
    ])
  })

  it.each(callbackSamples().filter((name) => valuesOf(name).length > 0))('is as it is described: %s', async (name) => {
    const other = await world.createOrganization()
    for (const value of valuesOf(name)) await receive(world, other, value)
    const { key } = other
    // Each answer is compared with its description.
    const { contacts } = (await world.request('GET', '/conversations?action=contacts&limit=100', { key })).body
    for (const { id } of contacts) {
      expect((await world.request('GET', `/conversations?contactId=${id}&limit=100`, { key })).status).toBe(200)
    }
    expect((await world.request('GET', '/events?limit=100', { key })).status).toBe(200)
  })
})

describe('an edit or a deletion', () => {
  it('marks its message, whatever comes first', async () => {
    const from = person()
    const [edited, deleted, early, late] = [wamid(), wamid(), wamid(), wamid()]
    await receiveMessages(
      world,
      organization,
      revoke(from, early, 30),
      edit(from, late, 'changed', 40),
      textMessage(from, 'one', { id: edited }),
      textMessage(from, 'two', { id: deleted, referral: { source_id: '7' } }),
      textMessage(from, 'three', { id: early }),
      textMessage(from, 'four', { id: late }),
      edit(from, edited, 'one!', 10),
      revoke(from, deleted, 20),
    )
    const { body } = await conversation(world, organization, from)
    expect(body.messages.map(({ message }: { message: string }) => message)).toEqual(['one!', '', '', 'changed'])
    expect(await contentsOf(from)).toEqual([
      { type: 'text', edited_at: '2025-06-15T15:06:50.000Z' },
      {
        type: 'text',
        deleted_at: '2025-06-15T15:07:00.000Z',
        referral: expect.objectContaining({ source_id: '7' }),
      },
      { type: 'text', deleted_at: '2025-06-15T15:07:10.000Z' },
      { type: 'text', edited_at: '2025-06-15T15:07:20.000Z' },
    ])
  })

  it('empties the content', async () => {
    const from = person()
    const [card, choice] = [wamid(), wamid()]
    await receiveMessages(
      world,
      organization,
      { from, id: card, timestamp: seconds(), type: 'contacts', contacts: [{ name: { formatted_name: 'Eve' } }] },
      {
        from,
        id: choice,
        timestamp: seconds(),
        type: 'interactive',
        interactive: { type: 'list_reply', list_reply: { id: 'r', title: 'Row' } },
      },
      revoke(from, card, 10),
      revoke(from, choice, 10),
    )
    const deleted_at = '2025-06-15T15:06:50.000Z'
    expect(await contentsOf(from)).toEqual([
      { type: 'contacts', origin: null, contacts: [], deleted_at },
      { type: 'list_reply', id: null, title: null, description: null, deleted_at },
    ])
  })

  it('of an older moment changes nothing, and a later edit takes the mark of a deletion away', async () => {
    const from = person()
    const id = wamid()
    await receiveMessages(
      world,
      organization,
      textMessage(from, 'one', { id }),
      revoke(from, id, 10),
      edit(from, id, 'two', 20),
      edit(from, id, 'older', 5),
    )
    expect(await contentsOf(from)).toEqual([{ type: 'text', edited_at: '2025-06-15T15:07:00.000Z' }])
  })

  it('does not mark the message of another contact, of the team, or of another organization', async () => {
    const [from, stranger] = [person(), person()]
    const id = wamid()
    const other = await world.createOrganization()
    await receiveMessages(world, organization, textMessage(from, 'mine', { id }))
    await receiveMessages(world, other, textMessage(from, 'theirs', { id }))
    await receiveMessages(world, organization, textMessage(stranger, 'x'), revoke(stranger, id, 10))
    expect(await contentsOf(from)).toEqual([null])
    const body = { phone_number: from, message_type: 'text', text: 'ours' }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    await receiveMessages(world, organization, revoke(from, sent.body.data.message_id, 10), revoke(from, id, 20))
    expect(await contentsOf(from)).toEqual([{ type: 'text', deleted_at: '2025-06-15T15:07:00.000Z' }, null])
    expect(await contentsOf(from, other)).toEqual([null])
  })
})
