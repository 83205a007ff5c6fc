import { describe, expect, it } from 'vitest'
import { CallbackQueue } from '../../../src/core/callbacks/queue.js'
import { registerThisProcess } from '../../../src/core/processes/process-registry.js'
import { startJobRunner } from '../../../src/jobs/runner.js'
import { createTasks } from '../../../src/jobs/tasks.js'
import { post, receiveMessages, textMessage, type WireMessage } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { callbackRows } from '../../support/rows/callbacks.js'
import { eventsOf } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

async function numbersOf(chatId: string): Promise<number[]> {
  const { rows } = await world.database.pool.query<{ seq: number }>(
    `SELECT m.seq FROM messages m JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND c.chat_id = $2 AND m.seq IS NOT NULL ORDER BY m.seq`,
    [organization.id, chatId],
  )
  return rows.map((row) => row.seq)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

async function texts(chatNumber: string): Promise<string[]> {
  const { body } = await conversation(world, organization, chatNumber)
  return body.messages.map((message: { message: string }) => message.message)
}

/**
 * Runs two workers and two queues of callbacks, as in two processes, until the conversation has this number of
 * messages.
 */
async function withTwoWorkers(work: () => Promise<void>): Promise<void> {
  const { work: ctx } = world.app
  const other = await registerThisProcess(world.database, ctx.log)
  const runners = [ctx.processId, other.processId].map((processId) =>
    startJobRunner({ ...ctx, processId }, createTasks(ctx)),
  )
  const queues = [new CallbackQueue(ctx), new CallbackQueue(ctx)]
  for (const queue of queues) queue.start()
  try {
    await work()
  } finally {
    await Promise.all([...runners, ...queues].map((one) => one.stop()))
    await other.leave()
  }
}

describe('concurrent callbacks', () => {
  it('store 200 messages of one new person in 200 posts once each, numbered 1 to 200', async () => {
    const from = '16505551001'
    await withTwoWorkers(async () => {
      const messages = upTo(200).map((count) => textMessage(from, `message ${count}`))
      await Promise.all(messages.map((message) => post(world, organization, { messages: [message] })))
      await expect.poll(async () => (await numbersOf(from)).length).toBe(200)
    })
    expect(await numbersOf(from)).toEqual(upTo(200))
    const pages = await Promise.all(
      [1, 2].map((page) =>
        world.request('GET', `/conversations?chatNumber=${from}&limit=100&page=${page}`, { key: organization.key }),
      ),
    )
    const shown = pages.flatMap((page) => page.body.messages.map((message: { message: string }) => message.message))
    expect(new Set(shown)).toEqual(new Set(upTo(200).map((count) => `message ${count}`)))
    const created = await eventsOf(world, organization, 'contact.created')
    expect(created.filter((event) => event.data.contact.chat_id === from)).toHaveLength(1)
  })

  it('store the same message once when it arrives 20 times', async () => {
    const from = '16505551002'
    const message = textMessage(from, 'once')
    await withTwoWorkers(async () => {
      const twin = textMessage(from, 'last')
      await Promise.all(upTo(20).map(() => post(world, organization, { messages: [message] })))
      await post(world, organization, { messages: [twin] })
      await expect.poll(waitingCallbacks).toBe(0)
    })
    expect((await texts(from)).sort()).toEqual(['last', 'once'])
    expect(await numbersOf(from)).toEqual([1, 2])
    const received = await eventsOf(world, organization, 'message.received')
    expect(received.filter((event) => event.data.message.upstream_id === message.id)).toHaveLength(1)
  })

  it('create one contact for two forms of one number', async () => {
    const messages = upTo(20).map((count) =>
      textMessage(count % 2 === 0 ? '5531988887777' : '553188887777', `message ${count}`),
    )
    await withTwoWorkers(async () => {
      await Promise.all(messages.map((message) => post(world, organization, { messages: [message] })))
      await expect.poll(waitingCallbacks).toBe(0)
    })
    expect(await numbersOf('5531988887777')).toEqual(upTo(20))
  })

  it('number received and sent messages of one conversation without gaps', async () => {
    const from = '16505551003'
    await createContact(world, organization, `+${from}`)
    const body = { phone_number: from, message_type: 'text', text: 'out' }
    await withTwoWorkers(async () => {
      const answers = await Promise.all(
        upTo(20).flatMap((count) => [
          world.request('POST', '/send-chat', { key: organization.key, body }).then((answer) => answer.status),
          post(world, organization, { messages: [textMessage(from, `in ${count}`)] }).then(() => 200),
        ]),
      )
      expect(answers).toEqual(answers.map(() => 200))
      await expect.poll(async () => (await numbersOf(from)).length).toBe(40)
    })
    expect(await numbersOf(from)).toEqual(upTo(40))
  })
})

const waitingCallbacks = async () => (await callbackRows(world, { waiting: true })).length

describe("the order of one person's messages", () => {
  it('is kept across consecutive posts', async () => {
    const from = '16505551004'
    const messages = upTo(100).map((count) => textMessage(from, String(count)))
    await receiveMessages(world, organization, ...messages)
    expect(await texts(from)).toEqual(upTo(100).map(String))
  })

  it('is kept within one post that contains others', async () => {
    const people = ['16505551005', '16505551006']
    const messages: WireMessage[] = upTo(60).map((count) => textMessage(people[count % 2] as string, String(count)))
    await post(world, organization, { messages })
    await world.drain()
    for (const [index, person] of people.entries()) {
      expect(await texts(person)).toEqual(
        upTo(60)
          .filter((count) => count % 2 === index)
          .map(String),
      )
    }
  })
})

describe('a blocked contact', () => {
  it('receives messages without an unread mark', async () => {
    const from = '16505551007'
    await createContact(world, organization, `+${from}`)
    const blocked = await world.request('PATCH', `/contact?chat_id=${from}`, {
      key: organization.key,
      body: { blocked: true },
    })
    expect(blocked.body.contact.blocked).toBe(true)
    await receiveMessages(world, organization, textMessage(from, 'let me in'))
    expect(await texts(from)).toEqual(['let me in'])
    expect((await contact(world, organization, from)).body.contact.has_unread_messages).toBe(false)
  })
})

describe('a contact that is erased while its messages arrive', () => {
  it('leaves nothing behind except messages that arrived after the erasure', async () => {
    const from = '16505551008'
    await receiveMessages(world, organization, textMessage(from, 'before'))
    const { id } = (await contact(world, organization, from)).body.contact
    const message = textMessage(from, 'nice')
    const liked = { ...textMessage(from, ''), type: 'reaction', reaction: { message_id: message.id, emoji: '👍' } }
    await withTwoWorkers(async () => {
      const posts = upTo(40).flatMap((count) => [
        post(world, organization, { messages: [textMessage(from, `during ${count}`)] }),
        ...(count === 20 ? [post(world, organization, { messages: [message, liked] })] : []),
      ])
      await Promise.all(posts.slice(0, 10))
      const erased = await world.request('DELETE', `/contact?chat_id=${from}`, { key: organization.key })
      expect(erased.status).toBe(200)
      await Promise.all(posts)
      await expect.poll(waitingCallbacks).toBe(0)
    })
    await world.drain()
    const left = await world.database.pool.query(
      `SELECT 'contact' AS what FROM contacts WHERE id = $1
       UNION ALL SELECT 'message' FROM messages WHERE contact_id = $1
       UNION ALL SELECT 'address' FROM contact_addresses WHERE contact_id = $1
       UNION ALL SELECT 'event' FROM events WHERE contact_id = $1 AND data <> '{}'`,
      [id],
    )
    expect(left.rows).toEqual([])
    const { rows: orphans } = await world.database.pool.query(
      `SELECT id FROM messages m
       WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM contacts c WHERE c.id = m.contact_id)`,
      [organization.id],
    )
    expect(orphans).toEqual([])
    const numbers = await numbersOf(from)
    expect(numbers).toEqual(upTo(numbers.length))
  })

  it('in a plain erasure leaves no trace in callbacks and events', async () => {
    const from = '16505551009'
    await receiveMessages(world, organization, textMessage(from, 'my secret'))
    const { id } = (await contact(world, organization, from)).body.contact
    await world.request('DELETE', `/contact?chat_id=${from}`, { key: organization.key })
    await world.drain()
    expect((await conversation(world, organization, from)).status).toBe(404)
    const { rows } = await world.database.pool.query<{ traces: number }>(
      `SELECT count(*) AS traces FROM events WHERE contact_id = $1 AND data <> '{}'`,
      [id],
    )
    expect(rows).toEqual([{ traces: 0 }])
    const callbacks = await callbackRows(world, { organization_id: organization.id })
    expect(callbacks.filter(({ body }) => body.includes('my secret'))).toEqual([])
  })
})
