import { afterEach, describe, expect, it } from 'vitest'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { findMatches, indexConversation } from '../../../src/core/conversations/search.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { findContactById } from '../../../src/storage/contacts/contacts.js'
import { recordIncomingChange } from '../../../src/storage/messages/incoming-changes.js'
import { setTranscription } from '../../../src/storage/messages/incoming-media.js'
import { post, receiveMessages, textMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, stateOf, textsOf } from '../../support/conversations.js'
import { besides } from '../../support/database.js'
import { type Held, hold, untilWaiting } from '../../support/locks.js'
import { jobRows } from '../../support/rows/jobs.js'
import { messageIdOf } from '../../support/rows/messages.js'
import { useOrganization, useWorld } from '../../support/world.js'

/** The number of messages of a conversation between two jobs. */
const STEP = 1_000

const world = useWorld()
const organization = useOrganization(world)
let people = 0
const holding: Held[] = []

afterEach(async () => {
  for (const held of holding.splice(0)) await held.release()
  await world.drain()
})

interface Conversation {
  digits: string
  id: string
  upstreamIds: string[]
}

async function newConversation(texts: readonly string[]): Promise<Conversation> {
  const digits = `1650556${String(++people).padStart(4, '0')}`
  const id = await createContact(world, organization, `+${digits}`)
  return { digits, id, upstreamIds: await insertMessages(world, id, texts) }
}

const index = (contactId: string) => indexConversation(world.app.ctx, organization.id, contactId)

/** The texts found by a search, oldest first. */
async function found(contactId: string, query: string): Promise<string[]> {
  return textsOf(await readConversations(world, organization, { contactId, query, ascending: 'true', limit: '100' }))
}

async function holdRow(sql: string, ...values: unknown[]): Promise<Held> {
  const held = await hold(world.database, sql, values)
  holding.push(held)
  return held
}

/** Locks one message, so that the job stops there after reading those before it. */
const holdMessage = (upstreamId: string | undefined) =>
  holdRow(
    'SELECT FROM messages WHERE organization_id = $1 AND upstream_id = $2 FOR UPDATE',
    organization.id,
    upstreamId,
  )

function edit({ digits, upstreamIds }: Conversation, number: number, text: string): Promise<unknown> {
  return world.database.transaction((transaction) =>
    recordIncomingChange(
      transaction,
      organization.id,
      { addresses: [digits], required: [digits], contactId: null },
      {
        kind: 'edit',
        id: newId(),
        upstreamId: wamid(),
        text,
        replyToUpstreamId: upstreamIds[number - 1] as string,
        instanceId: null,
        sender_type: 'user-chat',
        network: null,
        created_at: new Date(),
      },
    ),
  )
}

async function transcribe({ upstreamIds }: Conversation, number: number, text: string): Promise<void> {
  const id = await messageIdOf(world, String(upstreamIds[number - 1]))
  await world.database.transaction((transaction) => setTranscription(transaction, organization.id, id, text))
}

/** Merges both people, as a callback with both addresses does. */
const merge = (older: Conversation, userId: string) =>
  resolveContact(world.app.ctx, organization.id, { waId: older.digits, userId })

/** A conversation with a person known only by a user id. */
async function newUserConversation(texts: readonly string[]): Promise<Conversation & { userId: string }> {
  const userId = `US.${newId()}`
  await resolveContact(world.app.ctx, organization.id, { waId: null, userId })
  const { rows } = await world.database.pool.query(
    'SELECT contact_id AS id FROM contact_addresses WHERE address = $1',
    [`user:${userId}`],
  )
  return { userId, digits: '', id: rows[0].id, upstreamIds: await insertMessages(world, rows[0].id, texts) }
}

/** The rows of a contact in the search tables. */
async function rowsOf(contactId: string): Promise<number> {
  const { rows } = await world.database.pool.query(
    `SELECT (SELECT count(*) FROM message_search WHERE contact_id = $1)
       + (SELECT count(*) FROM contact_activity WHERE contact_id = $1) AS count`,
    [contactId],
  )
  return rows[0].count
}

describe('changes while a conversation is being indexed', () => {
  const changes = {
    'an edit': edit,
    'a transcription': transcribe,
  }

  it.each(Object.entries(changes))('keep %s that arrives after the job has read', async (_name, change) => {
    const conversation = await newConversation(['alfa', 'beta', 'gama'])
    const held = await holdMessage(conversation.upstreamIds[2])
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 1)
    const changing = change(conversation, 1, 'delta')
    await untilWaiting(world.database, 2)
    await held.release()
    await Promise.all([indexing, changing])
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 3, searchable_seq: 3 })
    expect(await found(conversation.id, 'delta')).toHaveLength(1)
    expect(await found(conversation.id, 'beta,gama')).toEqual(['beta', 'gama'])
  })

  it.each(Object.entries(changes))('keep %s that the job finds in progress', async (_name, change) => {
    const conversation = await newConversation(['alfa', 'beta', 'gama'])
    // The change stops when it writes into the index, because an existing row of its message is locked.
    await index(conversation.id)
    await world.database.pool.query('UPDATE contacts SET searchable_seq = 0 WHERE id = $1', [conversation.id])
    const held = await holdRow(
      'SELECT FROM message_search WHERE contact_id = $1 AND seq = 1 FOR UPDATE',
      conversation.id,
    )
    const changing = change(conversation, 1, 'delta')
    await untilWaiting(world.database, 1)
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 2)
    await held.release()
    await Promise.all([indexing, changing])
    expect(await found(conversation.id, 'delta')).toHaveLength(1)
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 3, searchable_seq: 3 })
  })

  it('keep an edit in progress of a message that no job has read yet', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    const indexing = await world.database.transaction(async (transaction) => {
      await recordIncomingChange(
        transaction,
        organization.id,
        { addresses: [conversation.digits], required: [conversation.digits], contactId: null },
        {
          kind: 'edit',
          id: newId(),
          upstreamId: wamid(),
          text: 'delta',
          replyToUpstreamId: conversation.upstreamIds[0] as string,
          instanceId: null,
          sender_type: 'user-chat',
          network: null,
          created_at: new Date(),
        },
      )
      const started = besides(() => index(conversation.id))
      await untilWaiting(world.database, 1)
      return [started]
    })
    await Promise.all(indexing)
    expect(await found(conversation.id, 'delta')).toEqual(['delta'])
    expect(await found(conversation.id, 'alfa')).toEqual([])
  })

  it('keep a recorded message for the next job, and find it', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    const held = await holdMessage(conversation.upstreamIds[1])
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 1)
    await receiveMessages(world, organization, textMessage(conversation.digits, 'alfa again'))
    await held.release()
    await indexing
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 3, searchable_seq: 2 })
    expect(await found(conversation.id, 'alfa')).toEqual(['alfa', 'alfa again'])
  })
})

describe('a search that started before the job ended', () => {
  it.each([true, false])('neither counts nor shows a message twice (ascending: %s)', async (ascending) => {
    const conversation = await newConversation(['alfa one', 'beta', 'alfa two'])
    await index(conversation.id)
    await insertMessages(world, conversation.id, ['alfa three', 'alfa four'])
    const before = await findContactById(world.database, organization.id, conversation.id)
    if (!before) throw new Error('the contact is gone')
    await index(conversation.id)
    for (const terms of [['alfa'], ['alfa', 'beta']]) {
      const given = terms.map((text) => ({ text, isWhole: false }))
      const { seqs, total } = await findMatches(world.app.ctx, before, given, { skip: 0, limit: 10, ascending })
      const expected = terms.length === 1 ? [1, 3, 4, 5] : [1, 2, 3, 4, 5]
      expect({ total, seqs }).toEqual({
        total: expected.length,
        seqs: ascending ? expected : expected.toReversed(),
      })
    }
  })
})

describe('several jobs for one conversation', () => {
  it('do the work once when they run at the same time', async () => {
    const conversation = await newConversation(['alfa', 'beta', 'gama'])
    const held = await holdMessage(conversation.upstreamIds[1])
    const indexing = [index(conversation.id), index(conversation.id), index(conversation.id)]
    await untilWaiting(world.database, 3)
    await held.release()
    await Promise.all(indexing)
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 3, searchable_seq: 3 })
    expect(await found(conversation.id, 'a')).toEqual(['alfa', 'beta', 'gama'])
  })

  it('work in steps through a long one, and end', async () => {
    const texts = Array.from({ length: 2 * STEP + 500 }, (_, number) => `message ${number + 1}`)
    const conversation = await newConversation(texts)
    await Promise.all([index(conversation.id), index(conversation.id)])
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 2_500, searchable_seq: 2_500 })
    expect(await found(conversation.id, 'message 2500,message 999')).toEqual(['message 999', 'message 2500'])
    await index(conversation.id)
    expect(await rowsOf(conversation.id)).toBe(2_501)
  })
})

describe('a merge during the job', () => {
  it.each([
    ['of the younger', 'younger'],
    ['of the older', 'older'],
  ] as const)('%s waits for it, and leaves nothing behind', async (_name, which) => {
    const older = await newConversation(['alfa', 'beta'])
    const younger = await newUserConversation(['gama', 'alfa two'])
    const [worked] = which === 'older' ? [older] : [younger]
    const held = await holdMessage(worked.upstreamIds[1])
    const indexing = index(worked.id)
    await untilWaiting(world.database, 1)
    const merging = merge(older, younger.userId)
    await untilWaiting(world.database, 2)
    await held.release()
    await Promise.all([indexing, merging])
    expect(await found(older.id, 'alfa')).toEqual(['alfa', 'alfa two'])
    expect(await rowsOf(younger.id)).toBe(0)
    await index(older.id)
    expect(await stateOf(world, older.id)).toEqual({ last_seq: 4, searchable_seq: 4 })
    expect(await found(older.id, 'alfa')).toEqual(['alfa', 'alfa two'])
  })

  it('that comes first leaves nothing to index', async () => {
    const older = await newConversation(['alfa'])
    const younger = await newUserConversation(['alfa two', 'gama'])
    const held = await holdMessage(younger.upstreamIds[1])
    const merging = merge(older, younger.userId)
    await untilWaiting(world.database, 1)
    const indexing = [index(younger.id), index(older.id)]
    await untilWaiting(world.database, 3)
    await held.release()
    await Promise.all([merging, ...indexing])
    expect(await rowsOf(younger.id)).toBe(0)
    expect(await stateOf(world, older.id)).toEqual({ last_seq: 3, searchable_seq: 3 })
    expect(await found(older.id, 'alfa')).toEqual(['alfa', 'alfa two'])
  })

  it('of two indexed conversations moves the messages, not the index', async () => {
    const older = await newConversation(['alfa', 'beta'])
    const younger = await newUserConversation(['gama', 'alfa two'])
    await Promise.all([index(older.id), index(younger.id)])
    await merge(older, younger.userId)
    expect(await rowsOf(younger.id)).toBe(0)
    expect(await found(older.id, 'alfa,gama')).toEqual(['alfa', 'gama', 'alfa two'])
    await edit({ ...older, upstreamIds: younger.upstreamIds }, 1, 'epsilon')
    expect(await found(older.id, 'gama')).toEqual([])
    await index(older.id)
    expect(await found(older.id, 'epsilon,beta')).toEqual(['beta', 'epsilon'])
  })
})

describe('a deadlock with a status', () => {
  it('does not fail the job', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    const [first, second] = conversation.upstreamIds
    const held = await holdMessage(second)
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 1)
    // PostgreSQL aborts the job or the other transaction.
    await held
      .run('SELECT FROM messages WHERE organization_id = $1 AND upstream_id = $2 FOR UPDATE', [organization.id, first])
      .catch(() => undefined)
    await held.release()
    await indexing
    expect(await found(conversation.id, 'beta')).toEqual(['beta'])
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 2, searchable_seq: 2 })
  })
})

describe('an erasure during the job', () => {
  const erase = ({ digits }: Conversation) =>
    world.request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })

  it('waits for it, and leaves nothing behind', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    const held = await holdMessage(conversation.upstreamIds[1])
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 1)
    const erasing = erase(conversation)
    await untilWaiting(world.database, 2)
    await held.release()
    await indexing
    expect((await erasing).status).toBe(200)
    expect(await rowsOf(conversation.id)).toBe(0)
  })

  it('that comes first leaves nothing to index', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    await index(conversation.id)
    const held = await holdMessage(conversation.upstreamIds[1])
    const erasing = erase(conversation)
    await untilWaiting(world.database, 1)
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 2)
    await held.release()
    await indexing
    expect((await erasing).status).toBe(200)
    expect(await rowsOf(conversation.id)).toBe(0)
  })

  it('waits for no other job, even if a message arrives in the meantime', async () => {
    const conversation = await newConversation(['alfa', 'beta'])
    const held = await holdMessage(conversation.upstreamIds[1])
    const indexing = index(conversation.id)
    await untilWaiting(world.database, 1)
    const erasing = erase(conversation)
    await untilWaiting(world.database, 2)
    const recording = await holdRow('UPDATE contacts SET updated_at = now() WHERE id = $1', conversation.id)
    await held.release()
    await untilWaiting(world.database, 1, 'searchable_seq = $3')
    await recording.commit()
    await indexing
    expect((await erasing).status).toBe(200)
    expect(await rowsOf(conversation.id)).toBe(0)
  })
})

describe('the index job', () => {
  const jobs = async () => (await jobRows(world, { task: 'index_conversation' })).map(({ payload }) => payload)
  const send = ({ digits }: Conversation, fields: object = { message_type: 'text', text: 'alfa' }) =>
    world.request('POST', '/send-chat', { key: organization.key, body: { phone_number: digits, ...fields } })
  const texts = (count: number) => Array.from({ length: count }, (_, number) => `text ${number + 1}`)

  it('is created by the thousandth sent message, and by each further thousand', async () => {
    const conversation = await newConversation(texts(STEP - 2))
    await send(conversation)
    expect(await jobs()).toEqual([])
    await send(conversation)
    await send(conversation)
    expect(await jobs()).toEqual([{ contactId: conversation.id }])
    await world.drain()
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 1_001, searchable_seq: 1_001 })
    await insertMessages(world, conversation.id, texts(STEP - 2))
    await send(conversation)
    expect(await jobs()).toEqual([{ contactId: conversation.id }])
  })

  it('is created once per conversation by concurrent sends', async () => {
    const [one, other] = [await newConversation(texts(STEP - 5)), await newConversation(texts(STEP - 5))]
    const sends = Array.from({ length: 10 }, () => [send(one), send(other)]).flat()
    for (const answer of await Promise.all(sends)) expect(answer.status).toBe(200)
    const payloads = [one, other].map(({ id }) => ({ contactId: id }))
    expect(await jobs()).toHaveLength(2)
    expect(await jobs()).toEqual(expect.arrayContaining(payloads))
  })

  it('is created by the thousandth received message', async () => {
    const conversation = await newConversation(texts(STEP - 1))
    await post(world, organization, { messages: [textMessage(conversation.digits, 'Olá')] })
    await world.drain()
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: STEP, searchable_seq: STEP })
    expect(await found(conversation.id, 'ola')).toEqual(['Olá'])
  })

  it('is not created by a reaction', async () => {
    const conversation = await newConversation(texts(STEP))
    const reaction = { message_id: conversation.upstreamIds[0], emoji: '👍' }
    expect((await send(conversation, { message_type: 'reaction', reaction })).status).toBe(200)
    const received = { ...textMessage(conversation.digits, ''), type: 'reaction', reaction }
    await receiveMessages(world, organization, received)
    expect(await jobs()).toEqual([])
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: STEP, searchable_seq: 0 })
  })

  it('is created once by searches of a long unindexed conversation, which return correct results in the meantime', async () => {
    const conversation = await newConversation(texts(2 * STEP))
    const searches = Array.from({ length: 5 }, () => found(conversation.id, 'text 1999'))
    expect(await Promise.all(searches)).toEqual(searches.map(() => ['text 1999']))
    expect(await found(conversation.id, 'text 2000')).toEqual(['text 2000'])
    expect(await jobs()).toEqual([{ contactId: conversation.id }])
    await world.drain()
    expect(await found(conversation.id, 'text 1999')).toEqual(['text 1999'])
    expect(await jobs()).toEqual([])
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 2_000, searchable_seq: 2_000 })
  })

  it('is created again after a final failure', async () => {
    const conversation = await newConversation(texts(2 * STEP))
    await found(conversation.id, 'text')
    await world.database.pool.query('UPDATE jobs SET failed_at = now()')
    await found(conversation.id, 'text')
    await world.drain()
    expect(await stateOf(world, conversation.id)).toEqual({ last_seq: 2_000, searchable_seq: 2_000 })
  })

  it('is not created by a search of a short conversation', async () => {
    const conversation = await newConversation(texts(2 * STEP - 1))
    expect(await found(conversation.id, 'text 1999')).toEqual(['text 1999'])
    expect(await jobs()).toEqual([])
  })
})
