import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { applyRetention } from '../../../src/core/maintenance/retention.js'
import { type FoundViolation, verifyDatabase } from '../../../src/core/maintenance/verify.js'
import { INDEX_STEP } from '../../../src/storage/conversations/search.js'
import { MESSAGES_PER_CONTACT, requestRetention } from '../../../src/storage/maintenance/pruning.js'
import { DAY, newBroadcaster, startBroadcastWorld } from '../../support/broadcasts.js'
import { receive, receiveMessages, textMessage } from '../../support/callbacks.js'
import { signIn } from '../../support/console.js'
import { insertMessages, readConversations, requestIndexes, textsOf } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { fileMessage, storedBytes } from '../../support/received-files.js'
import { eventsOf } from '../../support/rows/events.js'
import { jobRows } from '../../support/rows/jobs.js'
import { mediaRows } from '../../support/rows/media.js'
import { messageRow, messageRows } from '../../support/rows/messages.js'
import { useStarted } from '../../support/started.js'
import { insertDelivery, setWebhook } from '../../support/webhooks.js'
import type { TestOrganization, World } from '../../support/world.js'

const broadcasts = useStarted(startBroadcastWorld)
let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = broadcasts.world
  // So all files are old by their ids, and the ages of messages decide.
  world.advance(200 * DAY)
})
beforeEach(async () => {
  organization = await newBroadcaster(world)
  await keepFor({ message_retention_days: 30 })
})

function keepFor(days: object, { id }: TestOrganization = organization) {
  return world.admin('PATCH', `/organizations/${id}`, days)
}

const person = (owner = organization) => broadcasts.newContact({}, owner)

/** A contact with messages of these ages in days, oldest first; their texts are the ages. */
async function converse(ages: readonly number[], owner = organization): Promise<{ id: string; digits: string }> {
  const contact = await person(owner)
  await insertMessages(world, contact.id, ages.map(String))
  await age(contact.id)
  return contact
}

/** Gives messages of a contact the age in days that is their text, or `days`. */
async function age(contactId: string, days?: number): Promise<void> {
  await world.database.pool.query(
    `UPDATE messages SET recorded_at = $2::timestamptz - coalesce($3, text::float8) * interval '1 day' WHERE contact_id = $1`,
    [contactId, world.now(), days ?? null],
  )
}

async function run(): Promise<void> {
  await requestRetention(world.database)
  await workOffLater(world)
  expect(await jobRows(world, { task: 'apply_retention' })).toEqual([])
}

const read = ({ digits }: { digits: string }, query: Record<string, string> = {}, owner = organization) =>
  readConversations(world, owner, { chatNumber: digits, ascending: 'true', ...query })
const textsLeft = async (contact: { digits: string }, owner = organization) => textsOf(await read(contact, {}, owner))

/** What `parley verify` finds in the organization. */
async function verify({ id, slug }: TestOrganization = organization): Promise<string[]> {
  const found: FoundViolation[] = []
  const ignore = () => undefined
  const watcher = { begins: ignore, read: ignore, note: ignore, violation: (one: FoundViolation) => found.push(one) }
  await verifyDatabase(world.app.ctx, { id, slug }, watcher)
  return found.map(({ kind, row, found }) => `${kind} ${row}: ${found}`)
}

async function stateOf(contactId: string) {
  const { rows } = await world.database.pool.query(
    `SELECT pruned_seq::int, last_seq::int, has_unread_messages,
       ARRAY(SELECT seq::int FROM messages WHERE contact_id = $1 AND seq IS NOT NULL ORDER BY seq) AS seqs
     FROM contacts WHERE id = $1`,
    [contactId],
  )
  return rows[0]
}

describe('old messages', () => {
  it('are deleted from the beginning of the conversation, and nobody else loses any', async () => {
    const other = await newBroadcaster(world)
    const theirs = await converse([90, 60, 1], other)
    const contact = await converse([90, 60, 31, 29, 1])
    await run()
    expect(await textsLeft(contact)).toEqual(['29', '1'])
    expect(await textsLeft(theirs, other)).toEqual(['90', '60', '1'])
    expect([await verify(), await verify(other)]).toEqual([[], []])
  })

  it('stay for ever if no days are set', async () => {
    await keepFor({ message_retention_days: null })
    const contact = await converse([190])
    await run()
    expect(await textsLeft(contact)).toEqual(['190'])
  })

  it('stay behind an outstanding one, and behind a younger one', async () => {
    const contact = await converse([90, 60, 50])
    const mixed = await converse([90, 1, 60])
    await world.database.pool.query(
      `UPDATE messages SET outcome = 'unknown', sender_type = 'bot-chat', status = 'sent' WHERE contact_id = $1 AND text = '60'`,
      [contact.id],
    )
    await run()
    expect([await textsLeft(contact), await textsLeft(mixed)]).toEqual([
      ['60', '50'],
      ['1', '60'],
    ])
    expect(await verify()).toEqual([])
  })

  it('leave numbers, pages and totals of the rest right', async () => {
    const contact = await converse([90, 60, 4, 3, 2, 1])
    await run()
    expect(await stateOf(contact.id)).toMatchObject({ pruned_seq: 2, last_seq: 6, seqs: [3, 4, 5, 6] })
    const pages = await Promise.all(
      ['true', 'false'].flatMap((ascending) =>
        ['1', '2', '3'].map((page) => read(contact, { ascending, page, limit: '3' })),
      ),
    )
    expect(pages.map(textsOf)).toEqual([['4', '3', '2'], ['1'], [], ['1', '2', '3'], ['4'], []])
    expect(pages[0]?.body.pagination).toMatchObject({ totalMessages: 4 })
    await receiveMessages(world, organization, textMessage(contact.digits, 'new'))
    expect((await stateOf(contact.id)).seqs).toEqual([3, 4, 5, 6, 7])
  })

  it('leave an empty conversation that goes on with the next number', async () => {
    const contact = await converse([90, 60])
    await world.database.pool.query('UPDATE contacts SET has_unread_messages = true WHERE id = $1', [contact.id])
    await run()
    expect(await stateOf(contact.id)).toEqual({ pruned_seq: 2, last_seq: 2, has_unread_messages: false, seqs: [] })
    expect((await read(contact)).body).toMatchObject({ success: true, messages: [], stored: false })
    expect(await verify()).toEqual([])
    await receiveMessages(world, organization, textMessage(contact.digits, 'back'))
    expect(await textsLeft(contact)).toEqual(['back'])
    expect(await stateOf(contact.id)).toMatchObject({ has_unread_messages: true, seqs: [3] })
    expect(await verify()).toEqual([])
  })

  it('take their reactions along, and younger quotes show nothing', async () => {
    const contact = await person()
    const first = textMessage(contact.digits, 'first')
    await receiveMessages(world, organization, first)
    const reaction = {
      ...textMessage(contact.digits, ''),
      type: 'reaction',
      reaction: { message_id: first.id, emoji: '👍' },
    }
    await receiveMessages(world, organization, reaction)
    await age(contact.id, 40)
    await receiveMessages(world, organization, textMessage(contact.digits, 'quote', { context: { id: first.id } }))
    await world.database.pool.query(`UPDATE messages SET recorded_at = $2 WHERE contact_id = $1 AND text = 'quote'`, [
      contact.id,
      world.now(),
    ])
    await run()
    expect((await messageRows(world, { contact_id: contact.id })).map(({ text }) => text)).toEqual(['quote'])
    const { call } = await signIn(world, organization)
    const thread = (await call('GET', `/contacts/${contact.id}/messages`)).body
    expect(thread).toMatchObject({ first_seq: 2, last_seq: 2, messages: [{ seq: 2, context: null }] })
    expect(await verify()).toEqual([])
  })

  it('are gone from later events and from their deliveries', async () => {
    const other = await newBroadcaster(world)
    const number = '16505559001'
    for (const owner of [organization, other]) {
      await receiveMessages(world, owner, textMessage(number, 'an old secret'))
      const body = { phone_number: number, message_type: 'text', text: 'an old secret answer' }
      expect((await world.request('POST', '/send-chat', { key: owner.key, body })).status).toBe(200)
      await receiveMessages(world, owner, textMessage(number, 'a young one'))
    }
    const events = async ({ key }: TestOrganization) =>
      (await world.request('GET', '/events?limit=1000', { key })).body.events as { id: string; type: string }[]
    const before = await events(organization)
    expect(JSON.stringify(before)).toContain('an old secret answer')
    const { id: webhookId } = await setWebhook(world, organization)
    const eventId = before.find(({ type }) => type === 'message.sent')?.id as string
    const delivery = await insertDelivery(world, organization, webhookId, { eventId })
    // The events are younger than the messages, as those of late statuses are.
    await world.database.pool.query(
      `UPDATE messages
       SET recorded_at = $2::timestamptz - CASE text WHEN 'a young one' THEN interval '1 day' ELSE interval '31 days' END
       WHERE organization_id = ANY ($1)`,
      [[organization.id, other.id], world.now()],
    )
    await run()
    const left = JSON.stringify(await events(organization))
    expect([left.includes('an old secret'), left.includes('a young one')]).toEqual([false, true])
    expect(JSON.stringify(await events(other))).toContain('an old secret answer')
    const shown = await world.request('GET', `/webhook-deliveries/${delivery}`, { key: organization.key })
    expect([shown.status, shown.body.body]).toEqual([200, null])
    const stored = await world.database.pool.query(
      `SELECT count(*)::int FROM events WHERE organization_id = $1 AND data::text LIKE '%an old secret%'`,
      [organization.id],
    )
    expect(stored.rows[0].count).toBe(0)
    expect(await verify()).toEqual([])
  })

  it('leave notes of the team above the first message', async () => {
    const contact = await converse([90])
    const { call } = await signIn(world, organization)
    await call('POST', `/contacts/${contact.id}/notes`, { body: { text: 'prefers mornings' } })
    await insertMessages(world, contact.id, ['1', '0'])
    await age(contact.id)
    await run()
    const thread = (await call('GET', `/contacts/${contact.id}/messages?limit=2`)).body
    expect(thread).toMatchObject({ first_seq: 2, notes: [{ text: 'prefers mornings', after_seq: 1 }] })
    expect((await call('GET', `/contacts/${contact.id}/messages?before=3`)).body.messages).toHaveLength(1)
  })

  it('are not found by the search any more', async () => {
    const ages = [...Array.from({ length: INDEX_STEP }, () => 90), ...Array.from({ length: 20 }, () => 5)]
    const contact = await converse(ages)
    await requestIndexes(world, organization.id)
    await world.drain()
    await run()
    const found = await read(contact, { query: '90' })
    expect([textsOf(found), found.body.pagination.totalMessages]).toEqual([[], 0])
    expect(textsOf(await read(contact, { query: '5', limit: '50' }))).toHaveLength(20)
    const { rows } = await world.database.pool.query(
      'SELECT FROM message_search WHERE contact_id = $1 AND folded = $2',
      [contact.id, '90'],
    )
    expect(rows).toEqual([])
  })

  it('leave the export of the rest whole', async () => {
    const contact = await converse([90, 2, 1])
    await run()
    const { key } = organization
    const answer = await world.request('GET', `/conversations/export?chatNumber=${contact.digits}&format=json`, { key })
    expect(answer.body.messages.map(({ message }: { message: string }) => message)).toEqual(['2', '1'])
  })

  it('leave no gap when two contacts turn out to be one', async () => {
    const older = await converse([90, 1])
    const userId = 'US.1234567890'
    const user = { user_id: userId, profile: { name: 'U' } }
    const { from: _none, ...byUser } = textMessage('', '90', { from_user_id: userId })
    await receive(world, organization, { messages: [byUser], contacts: [user] })
    const { rows } = await world.database.pool.query(
      'SELECT contact_id AS id FROM contact_addresses WHERE organization_id = $1 AND address = $2',
      [organization.id, `user:${userId}`],
    )
    await insertMessages(world, rows[0].id, ['80', '2', '1'])
    await age(rows[0].id)
    await run()
    const both = textMessage(older.digits, 'both', { from_user_id: userId })
    await receive(world, organization, { messages: [both], contacts: [{ wa_id: older.digits, ...user }] })
    expect(await stateOf(older.id)).toMatchObject({ pruned_seq: 1, last_seq: 5, seqs: [2, 3, 4, 5] })
    expect(await textsLeft(older)).toEqual(['1', '2', '1', 'both'])
    expect(await verify()).toEqual([])
  })
})

describe('the deletion of old messages', () => {
  it('is done in batches, of which an interrupted one is repeated', async () => {
    const contact = await converse([...Array.from({ length: 2 * MESSAGES_PER_CONTACT + 5 }, () => 90), 1])
    const { id } = await messageRow(world, { contact_id: contact.id, seq: MESSAGES_PER_CONTACT + 1 })
    const held = await hold(world.database, 'SELECT FROM messages WHERE id = $1 FOR UPDATE', [id])
    const stop = new AbortController()
    const running = applyRetention(world.app.ctx, organization.id, {}, stop.signal)
    await untilWaiting(world.database, 1)
    expect(await stateOf(contact.id)).toMatchObject({ pruned_seq: MESSAGES_PER_CONTACT })
    expect(await verify()).toEqual([])
    // The connection of the second batch dies with its process.
    const interrupted = expect(running).rejects.toThrow()
    await world.database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    await interrupted
    await held.release()
    expect(await stateOf(contact.id)).toMatchObject({ pruned_seq: MESSAGES_PER_CONTACT })
    stop.abort(new Error('stopped'))
    await expect(applyRetention(world.app.ctx, organization.id, {}, stop.signal)).rejects.toThrow('stopped')
    await run()
    expect(await textsLeft(contact)).toEqual(['1'])
    expect(await verify()).toEqual([])
  })

  it('does not lose or gain messages that are sent and received meanwhile', async () => {
    // What is written now is 200 days old by the clock of the test.
    await keepFor({ message_retention_days: 300 })
    const people = await Promise.all(Array.from({ length: 12 }, () => converse([390, 380, 370])))
    const { key } = organization
    const sends = people.map(({ digits }) => {
      const body = { phone_number: digits, message_type: 'text', text: 'sent' }
      return world.request('POST', '/send-chat', { key, body })
    })
    const received = people.map(({ digits }) => receiveMessages(world, organization, textMessage(digits, 'received')))
    await applyRetention(world.app.ctx, organization.id, {})
    expect(await Promise.all(sends)).toMatchObject(people.map(() => ({ status: 200 })))
    await Promise.all(received)
    await run()
    for (const person of people) expect((await textsLeft(person)).toSorted()).toEqual(['received', 'sent'])
    expect(await verify()).toEqual([])
  })

  it('does nothing while a legal hold is on', async () => {
    const contact = await converse([90, 1])
    await world.admin('PUT', `/organizations/${organization.id}/hold`, { reason: 'Case 12' })
    await run()
    expect(await applyRetention(world.app.ctx, organization.id, {})).toBeNull()
    expect(await textsLeft(contact)).toEqual(['90', '1'])
    await world.admin('DELETE', `/organizations/${organization.id}/hold`)
    await run()
    expect(await textsLeft(contact)).toEqual(['1'])
  })

  it('does not keep verification from finding a lost message', async () => {
    const contact = await converse([90, 2, 1])
    await run()
    await world.database.pool.query(`DELETE FROM messages WHERE contact_id = $1 AND text = '2'`, [contact.id])
    expect(await verify()).toEqual([
      expect.stringMatching(/^conversation_numbers contacts \S+: 1 messages, numbered 3 to 3$/),
    ])
  })
})

describe('messages of broadcasts', () => {
  it('leave results, counters and analytics as they were, and are not sent again', async () => {
    organization = broadcasts.organization
    await keepFor({ message_retention_days: 30 })
    const people = await Promise.all([1, 2, 3].map(() => broadcasts.newContact()))
    await broadcasts.failing(people[2]?.digits ?? '', 131026)
    const { id } = await broadcasts.send({ audience: { contactIds: people.map((person) => person.id) } })
    const { rows } = await world.database.pool.query<{ upstream_id: string; contact_id: string }>(
      'SELECT upstream_id, contact_id FROM messages WHERE broadcast_id = $1 AND upstream_id IS NOT NULL',
      [id],
    )
    const upstreamId = rows.find((row) => row.contact_id === people[0]?.id)?.upstream_id as string
    await broadcasts.report(upstreamId, 'read')
    await world.drain()
    const analytics = async () =>
      (await world.request('GET', `/broadcast-analytics?broadcastId=${id}`, { key: organization.key })).body
    const shown = async () => ({
      broadcast: await broadcasts.read(id),
      recipients: (await broadcasts.recipients(id)).map(({ number, status, error, sent_at, read_at }) => ({
        number,
        status,
        error,
        sent_at,
        read_at,
      })),
      analytics: await analytics(),
    })
    const before = await shown()
    const arrived = (await broadcasts.arrived()).length
    for (const person of people) await age(person.id, 40)
    await run()
    expect(await messageRows(world, { broadcast_id: id })).toEqual([])
    expect(await shown()).toEqual(before)
    await broadcasts.expectNoDrift()
    expect(await verify()).toEqual([])
    await broadcasts.act(id, 'retry-failed')
    await workOffLater(world)
    expect((await broadcasts.arrived()).length).toBe(arrived)
  })
})

describe('old files', () => {
  /** An image that a new contact has sent, with its message. */
  async function receiveImage() {
    const contact = await person()
    const inbound = { phone_number_id: organization.phoneNumberId, from: contact.digits }
    await world.sim('POST', '/inbound', { ...inbound, type: 'image', image: { caption: 'look' } })
    await world.settle()
    const shown = async () => (await read(contact)).body.messages[0]
    const message = await shown()
    expect(message.media_url).not.toBeNull()
    return { contact, shown, message }
  }

  it('are removed without their messages, which say so', async () => {
    await keepFor({ message_retention_days: null, media_retention_days: 7 })
    const { contact, shown, message } = await receiveImage()
    const young = await receiveImage()
    await age(contact.id, 8)
    await age(young.contact.id, 6)
    await run()
    expect(await shown()).toMatchObject({
      message: 'look',
      media_type: 'image',
      media_url: null,
      error: { code: 'media_removed', text: 'The file was removed after the retention time' },
    })
    expect(await young.shown()).toEqual(young.message)
    const events = await eventsOf(world, organization, 'message.received')
    expect(events.map(({ data }) => [data.message.media_id, data.message.error?.code ?? null])).toEqual([
      [null, 'media_removed'],
      [young.message.id, null],
    ])
    expect(await storedBytes(world, organization, message.id)).toBeNull()
    expect(await storedBytes(world, organization, young.message.id)).not.toBeNull()
    const gone = await world.request('GET', message.media_url.slice(world.app.url.length))
    expect(gone).toMatchObject({ status: 404, body: { message: 'The file is no longer stored' } })
    expect(await verify()).toEqual([])
  })

  it('go with their messages', async () => {
    const { contact, message } = await receiveImage()
    await age(contact.id, 31)
    await run()
    expect(await textsLeft(contact)).toEqual([])
    expect(await storedBytes(world, organization, message.id)).toBeNull()
    expect((await mediaRows(world)).filter(({ id }) => id === message.id)).toEqual([])
    expect(await verify()).toEqual([])
  })

  it('wait for the end of a backup, and their messages with them', async () => {
    const { contact, shown, message } = await receiveImage()
    await age(contact.id, 31)
    const lock = 'SELECT pg_advisory_xact_lock(8097862305178542)'
    const backup = await hold(world.database, lock, [])
    expect(await applyRetention(world.app.ctx, organization.id, {})).toMatchObject({ payload: { step: 'files' } })
    expect(await shown()).toEqual(message)
    await backup.release()
    await run()
    expect(await textsLeft(contact)).toEqual([])
  })

  it('of messages whose file never came are forgotten without an error of their own', async () => {
    const contact = await person()
    await receiveMessages(world, organization, fileMessage(contact.digits, 'image', { id: 'unknown' }))
    await workOffLater(world, 100)
    await age(contact.id, 31)
    await run()
    expect(await textsLeft(contact)).toEqual([])
    expect(await verify()).toEqual([])
  })
})
