import { beforeEach, describe, expect, it } from 'vitest'
import { parseStoredBody } from '../../../src/core/callbacks/read/parse-body.js'
import {
  type HistoricItem,
  type HistoricMessage,
  listHistoricMessages,
  readHistoricMessage,
} from '../../../src/core/callbacks/read/read-phone-history.js'
import { recordHistory } from '../../../src/core/callbacks/record-phone-history.js'
import { exportConversation } from '../../../src/core/conversations/export.js'
import { listFailedWork, retryFailedWork } from '../../../src/core/maintenance/failed-work.js'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import type { Contact } from '../../../src/model/contacts/contact.js'
import { MAX_FALLING } from '../../../src/model/messages/phone-history.js'
import type { Organization } from '../../../src/model/organizations/organization.js'
import { beginNextChunk, type HistoryChunk, reachInChunk } from '../../../src/storage/callbacks/phone-histories.js'
import { findContactById } from '../../../src/storage/contacts/contacts.js'
import { markConversationRead } from '../../../src/storage/conversations/marks.js'
import { lockConversation } from '../../../src/storage/messages/phone-history.js'
import { receiveMessages, textMessage, type WireMessage } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import {
  conversation,
  insertMessages,
  moveToInstance,
  readConversations,
  requestIndexes,
  stateOf,
} from '../../support/conversations.js'
import { makeJobsDue } from '../../support/jobs.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { chunkOf, OWN_NUMBER, pastText, postField, receiveHistory } from '../../support/phone-history.js'
import { contactRows } from '../../support/rows/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { messageRows } from '../../support/rows/messages.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'
import { makeInstance } from '../webhooks/delivery/gateway-support.js'

const ANA = '12025550147'
const BEN = '447700900123'
/** Unix seconds of a day about which the histories of these tests are. */
const DAY = 1_750_000_000

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const messages = async (of = ANA, at = organization) => (await conversation(world, at, of)).body.messages ?? []
const texts = async (of = ANA) => (await messages(of)).map(({ message }: { message: string }) => message)
const shownContact = async (of = ANA) => (await contact(world, organization, of)).body.contact
const histories = async () => (await eventsOf(world, organization, 'history.imported')).map(({ data }) => data.history)
/** The types of all events but those about the history itself. */
const told = async () =>
  (await eventsOf(world, organization)).map(({ type }) => type).filter((type) => type !== 'history.imported')
const past = (id: string, time: number, text: string, fields: WireMessage = {}) =>
  pastText(id, DAY + time, text, { from: ANA, ...fields })
const sentTo = (id: string, time: number, text: string, fields: WireMessage = {}) =>
  past(id, time, text, { to: ANA, ...fields })
const take = (...list: WireMessage[]) => receiveHistory(world, organization, { person: ANA, messages: list })
const echo = (id: string, time: number, text: string) => {
  const message = { from: OWN_NUMBER, to: ANA, id, timestamp: String(DAY + time), type: 'text', text: { body: text } }
  return postField(world, organization, 'smb_message_echoes', { message_echoes: [message] })
}
const live = (id: string, time: number, text: string) => textMessage(ANA, text, { id, timestamp: String(DAY + time) })

async function lastInboundAt(): Promise<Date | null> {
  const { rows } = await world.database.pool.query('SELECT last_inbound_at FROM contacts WHERE organization_id = $1', [
    organization.id,
  ])
  return rows[0].last_inbound_at
}

async function expectGapless(of = ANA): Promise<void> {
  const [row] = await contactRows(world, { organization_id: organization.id, chat_id: of })
  const state = await world.database.pool.query('SELECT pruned_seq, last_seq FROM contacts WHERE id = $1', [row?.id])
  const { pruned_seq, last_seq } = state.rows[0]
  const rows = (await messageRows(world, { contact_id: row?.id as string })).filter(({ seq }) => seq !== null)
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => pruned_seq + 1 + n))
  expect(pruned_seq + rows.length).toBe(last_seq)
}

describe('the history of the phone, as published', () => {
  it('becomes conversations, with what was sent and how far it came', async () => {
    await receiveSamples(world, organization, 'history-threads')
    expect(await messages()).toMatchObject([
      { message: 'Do you have mugs?', sender_type: 'user-chat', message_status: 'read' },
      { message: 'Ten colours.', sender_type: 'human-chat', message_status: 'delivered' },
      { message: '[file]', sender_type: 'human-chat', message_status: 'read', message_type: 'media_placeholder' },
    ])
    expect(await texts(BEN)).toEqual(['Hi'])
    expect(await shownContact()).toMatchObject({
      user_id: 'US.10990000000000000147',
      source: { type: 'phone_history' },
    })
    await expectGapless()
  })

  it('gets its files by callbacks of their own, in any order', async () => {
    await receiveSamples(world, organization, 'history-media-received', 'history-media', 'history-threads')
    await receiveSamples(world, organization, 'history-media', 'history-threads')
    expect(await messages()).toMatchObject([
      // Of the same second: in the order in which they came.
      { message_type: 'image', sender_type: 'user-chat' },
      { message: 'Do you have mugs?' },
      { message: 'Ten colours.' },
      { message: 'All colours', message_type: 'image', sender_type: 'human-chat', message_status: 'read' },
    ])
    // The user id came with the second callback.
    expect(await told()).toEqual(['contact.updated'])
  })

  it('tells how far it is, that it is done, and that it was refused', async () => {
    await receiveSamples(world, organization, 'history-threads')
    expect(await histories()).toMatchObject([{ status: 'running', progress: 55, phase: 1, messages: 4 }])
    await receiveSamples(world, organization, 'history-complete')
    expect((await histories()).at(-1)).toMatchObject({ status: 'done', progress: 100, messages: 4, error: null })
    await receiveSamples(world, organization, 'history-complete', 'history-threads')
    expect(await histories()).toHaveLength(2)
    await receiveSamples(world, organization, 'history-declined')
    expect((await histories()).at(-1)).toMatchObject({
      status: 'refused',
      error: { code: 2593109, text: 'History sharing is turned off by the business' },
    })
  })
})

describe('what a history brings', () => {
  it('raises no event, marks nothing unread and opens no window', async () => {
    await take(past('a', 1, 'first', { status: 'DELIVERED' }), sentTo('b', 2, 'second'))
    expect(await told()).toEqual([])
    expect(await shownContact()).toMatchObject({ has_unread_messages: false, active_status: false })
    expect(await lastInboundAt()).toBeNull()
  })

  it('does not move the list, and puts new contacts where their newest message belongs', async () => {
    await createContact(world, organization, BEN)
    await createContact(world, organization, ANA)
    await receiveHistory(
      world,
      organization,
      { person: BEN, messages: [pastText('a', DAY, 'old', { from: BEN })] },
      { person: '12025550199', messages: [pastText('b', DAY + 9, 'newer', { from: '12025550199' })] },
      { person: '12025550198', messages: [pastText('c', DAY, 'older', { from: '12025550198' })] },
    )
    const { rows } = await world.database.pool.query(
      `SELECT c.chat_id FROM contact_activity a JOIN contacts c ON c.id = a.contact_id
       WHERE a.organization_id = $1 ORDER BY a.active_at DESC`,
      [organization.id],
    )
    expect(rows.map(({ chat_id }) => chat_id)).toEqual([ANA, BEN, '12025550199', '12025550198'])
  })

  it('is before what came live, in the order of time, whatever chunk comes first', async () => {
    await receiveMessages(world, organization, live('z', 100, 'live'))
    await take(past('c', 30, 'c'), past('d', 40, 'd'))
    await take(past('a', 10, 'a'))
    await take(sentTo('b', 20, 'b'), past('e', 50, 'e'))
    expect(await texts()).toEqual(['a', 'b', 'c', 'd', 'e', 'live'])
    await expectGapless()
    await receiveMessages(world, organization, live('y', 200, 'next'))
    expect((await texts()).slice(-2)).toEqual(['live', 'next'])
    const page = await world.request('GET', `/conversations?chatNumber=${ANA}&limit=3&page=2`, {
      key: organization.key,
    })
    expect(page.body.messages.map(({ message }: { message: string }) => message)).toEqual(['d', 'c', 'b'])
    await expectGapless()
  })

  it('is taken in from its newest message, so that none of it has to fall, in the order of the phone', async () => {
    // Of 100 that are taken in together, the first one is of the same second as the one before it.
    const many = Array.from({ length: 231 }, (_, n) => past(`m${n}`, Math.floor(n / 2), `text ${n}`))
    await take(...many)
    const { rows } = await world.database.pool.query(
      'SELECT text, xmin::text AS written FROM messages WHERE organization_id = $1 ORDER BY seq',
      [organization.id],
    )
    expect(rows.map(({ text }) => text)).toEqual(many.map((_, n) => `text ${n}`))
    // As many transactions as batches: none has written those of another one again.
    expect(new Set(rows.map(({ written }) => written)).size).toBe(3)
    await expectGapless()
  })

  it('comes before all that is older if that is more than may make room', async () => {
    await receiveMessages(world, organization, live('z', 100, 'live'))
    const [{ id } = { id: '' }] = await contactRows(world, { organization_id: organization.id })
    const lines = Array.from({ length: MAX_FALLING + 1 }, (_, n) => `line ${n}`)
    await insertMessages(world, id, lines)
    await world.database.pool.query("UPDATE messages SET created_at = '2020-01-01' WHERE contact_id = $1", [id])
    await take(past('a', 10, 'a'), past('b', 20, 'b'))
    expect((await texts()).slice(0, 4)).toEqual(['a', 'b', 'live', 'line 0'])
    expect((await stateOf(world, id))?.last_seq).toBe(MAX_FALLING + 2)
  })

  it('is found by its words, in long conversations too', async () => {
    await receiveMessages(world, organization, live('z', 100, 'live'))
    const [{ id } = { id: '' }] = await contactRows(world, { organization_id: organization.id })
    await insertMessages(
      world,
      id,
      Array.from({ length: 1_200 }, (_, n) => `filler ${n}`),
    )
    await requestIndexes(world, organization.id)
    await world.drain()
    const search = async (query: string) =>
      (await world.request('GET', `/conversations?chatNumber=${ANA}&query=${query}`, { key: organization.key })).body
        .messages.length
    await take(past('a', 10, 'giraffe'), past('c', 30, 'zebra'))
    expect([await search('giraffe'), await search('zebra')]).toEqual([1, 1])
    await take(past('b', 20, 'elephant'))
    expect([await search('giraffe'), await search('elephant'), await search('zebra')]).toEqual([1, 1, 1])
    await requestIndexes(world, organization.id)
    await world.drain()
    expect((await stateOf(world, id))?.searchable_seq).toBe((await stateOf(world, id))?.last_seq)
    expect([await search('giraffe'), await search('elephant'), await search('filler')]).toEqual([1, 1, 10])
  })

  it('waits until the words of a step are indexed, which go by the numbers', async () => {
    await receiveMessages(world, organization, live('z', 100, 'live'))
    const [{ id } = { id: '' }] = await contactRows(world, { organization_id: organization.id })
    // As the index of words locks it.
    const held = await hold(world.database, 'SELECT FROM contacts WHERE id = $1 FOR KEY SHARE', [id])
    const locked = world.database.transaction((transaction) => lockConversation(transaction, organization.id, id))
    await untilWaiting(world.database, 1, 'merged_seq')
    await held.release()
    expect(await locked).toMatchObject({ last_seq: 1 })
  })

  it('is taken in once if it is posted again, or if the job was killed before it wrote down how far it was', async () => {
    await take(past('a', 1, 'a'), past('b', 2, 'b'))
    await take(past('a', 1, 'a'), past('b', 2, 'b'), past('c', 3, 'c'))
    expect(await texts()).toEqual(['a', 'b', 'c'])
    await postField(
      world,
      organization,
      'history',
      chunkOf({ person: ANA, messages: [past('d', 4, 'd'), past('e', 5, 'e')] }),
    )
    await world.app.callbacks.drain()
    const chunk = await beginNextChunk(world.database, organization.id, new Date())
    await reachInChunk(world.database, organization.id, chunk?.callback_id as string, { reached: 1, added: 0 })
    await world.drain()
    expect(await texts()).toEqual(['a', 'b', 'c', 'd'])
    expect(await beginNextChunk(world.database, organization.id, new Date())).toBeNull()
  })

  it('of another organization is in its conversations only', async () => {
    const other = await world.createOrganization()
    await receiveHistory(world, other, { person: ANA, messages: [past('a', 1, 'theirs')] })
    await take(past('a', 1, 'ours'))
    expect(await texts()).toEqual(['ours'])
    expect(await messages(ANA, other)).toMatchObject([{ message: 'theirs' }])
    expect(await histories()).toHaveLength(1)
  })

  it('is of the person whose number it was then', async () => {
    const said = (id: string, time: number, user: string) => ({ ...live(id, time, id), from_user_id: user })
    await receiveMessages(world, organization, said('ana', 10, 'US.ana'), said('ben', 50, 'US.ben'))
    await take(past('before', 20, 'before'), past('after', 60, 'after'))
    const rows = await messageRows(world, { organization_id: organization.id })
    const owner = (id: string) => rows.find(({ upstream_id }) => upstream_id === id)?.contact_id
    expect(owner('ana')).not.toBe(owner('ben'))
    expect([owner('before'), owner('after')]).toEqual([owner('ana'), owner('ben')])
  })

  it.each([
    ['newest first', [100, 1]],
    ['oldest first', [1, 100]],
  ])('does not give a number back to who had it before, %s', async (_, times) => {
    const owners = new Map([
      [1, 'US.ana'],
      [100, 'US.ben'],
    ])
    for (const time of times) await take(past(`m${time}`, time, `at ${time}`, { from_user_id: owners.get(time) }))
    expect(await shownContact()).toMatchObject({ user_id: 'US.ben' })
    expect(await texts()).toEqual(['at 100'])
    expect(await contactRows(world, { organization_id: organization.id })).toHaveLength(2)
  })

  it.each([
    ['newest first', [100, 1]],
    ['oldest first', [1, 100]],
  ])('shows the newest number of a person, %s', async (_, times) => {
    const numbers = new Map([
      [1, BEN],
      [100, ANA],
    ])
    for (const time of times) {
      const from = numbers.get(time) as string
      const message = pastText(`m${time}`, DAY + time, `at ${time}`, { from, from_user_id: 'US.ana' })
      await receiveHistory(world, organization, { person: from, messages: [message] })
    }
    expect(await shownContact()).toMatchObject({ chat_id: ANA, user_id: 'US.ana' })
    expect(await texts()).toEqual(['at 1', 'at 100'])
  })

  it('has notices of new numbers in the conversation of its thread', async () => {
    const body = 'Ana changed from 447700900123 to 12025550147'
    const system = { body, wa_id: ANA, type: 'user_changed_number' }
    await take(past('a', 1, 'a'), { ...past('n', 2, '', { from: BEN }), type: 'system', system })
    expect(await texts()).toHaveLength(2)
    expect(await contactRows(world, { organization_id: organization.id })).toHaveLength(1)
  })

  it('names who wrote it also without `to`, by the number or the mark of the phone', async () => {
    const marked = past('b', 2, 'marked', { from: '12025550999' })
    const { history_context } = marked as { history_context: object }
    await take(past('a', 1, 'by number', { from: OWN_NUMBER }), {
      ...marked,
      history_context: { ...history_context, from_me: true },
    })
    expect((await messages()).map(({ sender_type }: { sender_type: string }) => sender_type)).toEqual([
      'human-chat',
      'human-chat',
    ])
  })

  it('harms nothing if it is broken', async () => {
    const broken: unknown[] = [
      null,
      7,
      {},
      { history: 7 },
      { history: [null, { threads: [7, { id: {}, messages: [null, {}] }] }] },
    ]
    for (const value of broken) await postField(world, organization, 'history', value as object)
    await take({ id: 'x' }, { from: ANA, timestamp: 'soon', type: 7, id: 'y' }, past('z', 3, 'whole'))
    expect(await texts()).toEqual(['whole', '[unsupported]', '[unsupported]'])
    await expectGapless()
  })
})

type Part = () => Promise<unknown>

function permute(parts: readonly Part[]): Part[][] {
  if (parts.length <= 1) return [[...parts]]
  return parts.flatMap((part, n) => permute(parts.toSpliced(n, 1)).map((rest) => [part, ...rest]))
}

describe('a status that comes before its message', () => {
  const status = (word: string, time: number) =>
    postField(world, organization, 'messages', {
      statuses: [{ id: 'a', status: word, timestamp: String(DAY + time), recipient_id: ANA }],
    })
  const countKept = async () =>
    (await world.database.pool.query('SELECT FROM early_statuses WHERE organization_id = $1', [organization.id]))
      .rowCount

  it.each<[string, Part]>([
    ['an echo', () => echo('a', 1, 'typed')],
    ['in a history', () => take(sentTo('a', 1, 'typed', { status: 'SENT' }))],
  ])('is applied when that is known: %s', async (_name, tell) => {
    const other = await world.createOrganization()
    await postField(
      world,
      other,
      'history',
      chunkOf({ person: ANA, messages: [sentTo('a', 1, 'typed', { status: 'SENT' })] }),
    )
    for (const order of permute([tell, () => status('delivered', 2), () => status('read', 3)])) {
      organization = await world.createOrganization()
      for (const post of order) {
        await post()
        await world.drain()
      }
      expect(await messages()).toMatchObject([{ message: 'typed', message_status: 'read' }])
      expect(await countKept()).toBe(0)
    }
    expect(await messages(ANA, other)).toMatchObject([{ message: 'typed', message_status: 'sent' }])
  })

  it('is kept for a day', async () => {
    await status('read', 1)
    await world.drain()
    await prune(world.app.work)
    expect(await countKept()).toBe(1)
    await world.database.pool.query("UPDATE early_statuses SET received_at = now() - interval '25 hours'")
    await prune(world.app.work)
    expect(await countKept()).toBe(0)
  })
})

describe('a wish about broadcasts in a history', () => {
  async function consent(of = organization) {
    const { rows } = await world.database.pool.query(
      `SELECT allow_broadcast, opted_out_at, opt_out_source, opted_in_at, consent_words FROM contacts
       WHERE organization_id = $1 AND chat_id = $2`,
      [of.id, ANA],
    )
    return rows[0]
  }

  const at = (time: number) => new Date((DAY + time) * 1_000)
  const optedOut = (time: number, words: string, before: Date | null = null) => ({
    ...{ allow_broadcast: false, opted_out_at: at(time), opt_out_source: 'reply', consent_words: words },
    opted_in_at: before,
  })
  const optedIn = (time: number, words: string) => ({
    ...{ allow_broadcast: true, opted_out_at: null, opt_out_source: null, opted_in_at: at(time), consent_words: words },
  })
  const consents = async () => (await told()).filter((type) => type.startsWith('contact.opted_'))

  it('opts out with its words and its time, and tells nothing; the same contact of another tenant is left alone', async () => {
    const other = await world.createOrganization()
    await createContact(world, other, ANA)
    await take(past('a', 1, 'PARAR!'), past('b', 2, 'Hello'), sentTo('c', 3, 'start'))
    expect(await consent()).toEqual(optedOut(1, 'PARAR!'))
    expect(await consent(other)).toMatchObject({ allow_broadcast: true, opted_out_at: null })
    expect(await told()).toEqual([])
  })

  it('is told when that message comes live', async () => {
    await take(past('a', 1, 'stop'))
    await receiveMessages(world, organization, live('a', 1, 'stop'), live('a', 1, 'stop'))
    expect(await consent()).toEqual(optedOut(1, 'stop'))
    expect(await consents()).toEqual(['contact.opted_out'])
  })

  it.each([
    ['a later STOP', { time: 3, text: 'Stop', expected: optedOut(3, 'Stop', at(2)), events: ['contact.opted_out'] }],
    ['a later START', { time: 3, text: 'Start', expected: optedIn(3, 'Start'), events: [] }],
    // Whether it is told depends on whether it is known yet that it is over.
    ['an earlier STOP', { time: 0, text: 'Stop', expected: optedIn(2, 'start'), events: null }],
    ['something else', { time: 3, text: 'Hello', expected: optedIn(2, 'start'), events: [] }],
  ])('counts by time in every order with %s that comes live', async (_name, { time, text, expected, events }) => {
    const parts: Part[] = [
      () => take(past('a', 1, 'stop')),
      () => take(past('b', 2, 'start')),
      () => receiveMessages(world, organization, live('c', time, text)),
    ]
    for (const order of permute(parts)) {
      organization = await world.createOrganization()
      for (const post of order) await post()
      expect(await consent()).toEqual(expected)
      if (events) expect(await consents()).toEqual(events)
      await parts[0]?.()
      expect(await consent()).toEqual(expected)
    }
  })
})

describe('a message that comes live, as an echo and in a history', () => {
  it('is one; live after the history, it is told as any other', async () => {
    await take(past('a', 1, 'a', { status: 'DELIVERED' }), past('b', 2, 'b'))
    await receiveMessages(world, organization, live('b', 2, 'b'), live('b', 2, 'b'))
    expect(await texts()).toEqual(['a', 'b'])
    expect((await told()).filter((type) => type.startsWith('message.'))).toEqual(['message.received'])
    const state = await shownContact()
    expect(state).toMatchObject({ has_unread_messages: true })
    expect(await lastInboundAt()).toEqual(new Date((DAY + 2) * 1_000))
    await expectGapless()
  })

  it('stays unread if another channel is read, also below number 1', async () => {
    await take(past('a', 1, 'a', { status: 'DELIVERED' }), past('b', 2, 'b', { status: 'DELIVERED' }))
    await receiveMessages(world, organization, live('a', 1, 'a'), live('b', 2, 'b'))
    const [{ id: contactId } = { id: '' }] = await contactRows(world, { organization_id: organization.id })
    const { id: channelId } = await makeInstance(world, organization, { kind: 'linked_device' })
    await moveToInstance(world, contactId, channelId, [0])
    const read = (seq: number, channel: string | null) =>
      world.database.transaction((transaction) =>
        markConversationRead(transaction, organization.id, { contactId, channelId: channel, seq }, new Date()),
      )
    await read(0, channelId)
    expect(await shownContact()).toMatchObject({ has_unread_messages: true })
    await read(0, null)
    expect(await shownContact()).toMatchObject({ has_unread_messages: false })
  })

  it('keeps its place before later ones of the same moment', async () => {
    await take(past('b', 2, 'b'), past('d', 4, 'd'))
    const [b, c, d, e] = [live('b', 2, 'b'), live('c', 3, 'c'), live('d', 4, 'd'), live('e', 5, 'e')]
    await receiveMessages(world, organization, b, c, d, e)
    expect(await texts()).toEqual(['b', 'c', 'd', 'e'])
    const received = await eventsOf(world, organization, 'message.received')
    expect(received.map(({ data }) => data.message.text)).toEqual(['b', 'c', 'd', 'e'])
    await expectGapless()
  })

  it('is one; in the history after it came live, nothing happens again', async () => {
    await receiveMessages(world, organization, live('b', 2, 'b'))
    await take(past('a', 1, 'a'), past('b', 2, 'b'))
    expect(await texts()).toEqual(['a', 'b'])
    expect((await told()).filter((type) => type.startsWith('message.'))).toEqual(['message.received'])
  })

  it('takes the name, the answer to a broadcast and the id of the person from the live one', async () => {
    await take(past('a', 1, 'STOP'))
    const value = {
      contacts: [{ wa_id: ANA, user_id: 'US.1', profile: { name: 'Ana' } }],
      messages: [{ ...live('a', 1, 'STOP'), from_user_id: 'US.1' }],
    }
    await postField(world, organization, 'messages', value)
    await world.drain()
    expect(await shownContact()).toMatchObject({ full_name: 'Ana', user_id: 'US.1', allow_broadcast: false })
  })

  it('takes what else it says about the person from the live one', async () => {
    await take(past('a', 1, 'a'))
    const profile = { name: 'Ana', username: 'ana.example' }
    const ids = { user_id: 'US.1', parent_user_id: 'US.ENT.1' }
    const value = {
      contacts: [{ wa_id: ANA, ...ids, profile }],
      messages: [{ ...live('a', 1, 'a'), from_user_id: 'US.1', from_parent_user_id: 'US.ENT.1' }],
    }
    await postField(world, organization, 'messages', value)
    await world.drain()
    expect(await shownContact()).toMatchObject({ ...ids, username: 'ana.example', full_name: 'Ana' })
    const found = await readConversations(world, organization, { action: 'contacts', search: 'ana.example' })
    expect(found.body.contacts).toMatchObject([{ chat_id: ANA }])
  })

  it('as an echo pauses the bot and is told as sent, once', async () => {
    await createContact(world, organization, ANA)
    await world.request('PATCH', `/contact?chat_id=${ANA}`, { key: organization.key, body: { bot_status: 'active' } })
    await take(sentTo('a', 1, 'typed'))
    expect(await shownContact()).toMatchObject({ bot_status: 'active' })
    for (let n = 0; n < 2; n++) await echo('a', 1, 'typed')
    await world.drain()
    expect(await shownContact()).toMatchObject({ bot_status: 'paused' })
    expect((await told()).filter((type) => type.startsWith('message.'))).toEqual(['message.sent'])
    expect(await messages()).toMatchObject([{ message: 'typed', sender_type: 'human-chat', message_status: 'read' }])
  })

  it('has the status that is furthest', async () => {
    await echo('a', 1, 'typed')
    await world.drain()
    const statuses = async () =>
      (await messages()).map(({ message_status }: { message_status: string }) => message_status)
    for (const status of ['ERROR', 'DELIVERED', 'SENT', 'READ', 'DELIVERED'])
      await take(sentTo('a', 1, 'typed', { status }))
    expect(await statuses()).toEqual(['read'])
    await take(sentTo('b', 2, 'failed', { status: 'ERROR' }))
    expect(await statuses()).toEqual(['read', 'failed'])
  })

  it('stays deleted', async () => {
    const revoke = (id: string) => ({
      ...{ from: ANA, id: `r-${id}`, timestamp: String(DAY + 5), type: 'revoke', revoke: { original_message_id: id } },
    })
    await receiveMessages(world, organization, revoke('early'), live('late', 2, 'secret'), revoke('late'))
    await take(past('early', 1, 'secret'), past('late', 2, 'secret'))
    expect(await texts()).toEqual(['', ''])
    await receiveMessages(world, organization, live('early', 1, 'secret'))
    expect(await texts()).toEqual(['', ''])
    const found = await world.request('GET', `/conversations?chatNumber=${ANA}&query=secret`, { key: organization.key })
    expect(found.body.messages).toEqual([])
  })

  it('fills a placeholder that came live, which is then told', async () => {
    const { text: _text, ...common } = live('a', 1, '')
    await receiveMessages(world, organization, { ...common, type: 'unsupported', errors: [{ code: 131_060 }] })
    expect(await told()).not.toContain('message.received')
    await take(past('a', 1, 'real'))
    expect(await texts()).toEqual(['real'])
    expect((await told()).filter((type) => type.startsWith('message.'))).toEqual(['message.received'])
  })

  it('keeps what the history said if only a placeholder comes live', async () => {
    await take(past('a', 1, 'real'))
    const { text: _text, ...common } = live('a', 1, '')
    await receiveMessages(world, organization, { ...common, type: 'unsupported', errors: [{ code: 131_060 }] })
    expect(await texts()).toEqual(['real'])
    expect((await told()).filter((type) => type.startsWith('message.'))).toEqual(['message.received'])
  })
})

describe('reactions, edits and deletions in a history', () => {
  it('show on their messages, and are not told', async () => {
    const at = (time: number) => ({ from: ANA, timestamp: String(DAY + time), history_context: { status: 'READ' } })
    await take(
      past('a', 1, 'first'),
      past('b', 2, 'second'),
      past('c', 3, 'third'),
      { ...at(4), id: 'r', type: 'reaction', reaction: { message_id: 'a', emoji: '👍' } },
      {
        ...at(5),
        id: 'e',
        type: 'edit',
        edit: { original_message_id: 'b', message: { type: 'text', text: { body: 'edited' } } },
      },
      { ...at(6), id: 'd', type: 'revoke', revoke: { original_message_id: 'c' } },
    )
    expect(await messages()).toMatchObject([
      { message: 'first', reactions: [{ emoji: '👍' }] },
      { message: 'edited' },
      { message: '' },
    ])
    expect(await told()).toEqual([])
  })
})

describe('a reaction in a history', () => {
  it('takes the place of a placeholder that came live', async () => {
    await receiveMessages(world, organization, live('a', 1, 'first'))
    const { text: _text, ...common } = live('r', 2, '')
    await receiveMessages(world, organization, { ...common, type: 'unsupported', errors: [{ code: 131_060 }] })
    const reaction = { message_id: 'a', emoji: '👍' }
    await take({ from: ANA, timestamp: String(DAY + 2), id: 'r', type: 'reaction', reaction })
    expect(await messages()).toMatchObject([{ message: 'first', reactions: [{ emoji: '👍' }] }, { message: '' }])
  })
})

describe('notes of the team', () => {
  it('stay below their messages', async () => {
    await receiveMessages(world, organization, live('m', 50, 'm'), live('n', 60, 'n'))
    const [row] = await contactRows(world, { organization_id: organization.id })
    const add = (after: number) =>
      world.database.pool.query(
        `INSERT INTO notes (organization_id, id, contact_id, after_seq, text, event_seq)
         VALUES ($1, gen_random_uuid(), $2, $3::bigint, 'note ' || $3::bigint, nextval('events_seq'))`,
        [organization.id, row?.id, after],
      )
    for (const after of [0, 1, 2]) await add(after)
    await take(past('a', 10, 'a'), past('x', 55, 'x'))
    const { rows } = await world.database.pool.query('SELECT text, after_seq FROM notes ORDER BY text')
    expect(rows.map(({ text, after_seq }) => [text, Number(after_seq)])).toEqual([
      ['note 0', -1],
      ['note 1', 0],
      ['note 2', 2],
    ])
    expect(await texts()).toEqual(['a', 'm', 'x', 'n'])
  })
})

describe('an export of the conversation', () => {
  it('fails if a history moves messages meanwhile', async () => {
    await receiveMessages(world, organization, live('z', 100, 'live'))
    const [{ id } = { id: '' }] = await contactRows(world, { organization_id: organization.id })
    await insertMessages(
      world,
      id,
      Array.from({ length: 500 }, (_, n) => `line ${n}`),
    )
    const exported = async (meanwhile: () => Promise<void>) => {
      const found = await findContactById(world.database, organization.id, id)
      const of = { id: organization.id } as Organization
      const parts = exportConversation(world.app.ctx, of, found as Contact, 'json')
      let text = (await parts.next()).value ?? ''
      await meanwhile()
      for await (const part of parts) text += part
      return JSON.parse(text).messages.length
    }
    expect(await exported(async () => {})).toBe(501)
    await expect(exported(() => take(past('a', 101, 'a')))).rejects.toThrow('export it again')
    expect(await exported(async () => {})).toBe(502)
  })
})

describe('a callback with a history that cannot be taken in', () => {
  it('lets others go first, fails in the end, and can be retried', async () => {
    const broken = past('bad', 1, 'bad')
    const of = { id: organization.id } as Organization
    const failed = () => listFailedWork(world.app.ctx, of, 10)
    await world.database.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.upstream_id = 'bad') EXECUTE FUNCTION refuse()`,
    )
    try {
      await take(broken)
      await take(past('good', 2, 'good'))
      await makeJobsDue(world)
      await world.drain()
      expect(await texts()).toEqual(['good'])
      for (let attempt = 0; attempt < 12; attempt++) {
        await makeJobsDue(world)
        await world.drain()
      }
      expect(await beginNextChunk(world.database, organization.id, new Date())).toBeNull()
      expect(await failed()).toMatchObject([
        { task: 'callback', attempts: 10, error: expect.stringContaining('refused') },
      ])
    } finally {
      await world.database.pool.query('DROP TRIGGER refuse ON messages; DROP FUNCTION refuse()')
    }
    await take(past('later', 3, 'later'))
    expect(await texts()).toEqual(['good', 'later'])
    await retryFailedWork(world.app.ctx, of, null)
    await world.drain()
    expect(await texts()).toEqual(['bad', 'good', 'later'])
    expect(await failed()).toEqual([])
  })
})

describe('messages that the organization no longer keeps', () => {
  const set = (days: number) =>
    world.admin('PATCH', `/organizations/${organization.id}`, { message_retention_days: days })
  const today = () => Math.floor(Date.now() / 1_000) - DAY

  it('are not taken in', async () => {
    await set(365)
    const other = await world.createOrganization()
    await receiveHistory(world, other, { person: ANA, messages: [past('old', 1, 'theirs')] })
    await take(past('old', 1, 'old'), past('new', today(), 'new'))
    expect(await texts()).toEqual(['new'])
    expect(await messages(ANA, other)).toMatchObject([{ message: 'theirs' }])
    await receiveHistory(world, organization, { person: BEN, messages: [pastText('only', DAY, 'old', { from: BEN })] })
    expect(await contactRows(world, { organization_id: organization.id })).toMatchObject([{ chat_id: ANA }])
    await expectGapless()
  })

  it('are taken in while a legal hold is on', async () => {
    await set(365)
    await world.admin('PUT', `/organizations/${organization.id}/hold`, { reason: 'Case 12' })
    await take(past('old', 1, 'old'))
    expect(await texts()).toEqual(['old'])
  })
})

describe('an erased contact', () => {
  const erase = (of = ANA) => world.request('DELETE', `/contact?chat_id=${of}`, { key: organization.key })
  const people = async (at = organization) =>
    (await contactRows(world, { organization_id: at.id })).map(({ chat_id }) => chat_id)
  const now = () => Math.floor(Date.now() / 1_000) - DAY
  const named = (number: string, time: number) => ({
    state_sync: [
      {
        type: 'contact',
        action: 'add',
        contact: { full_name: 'Somebody', phone_number: number },
        metadata: { timestamp: String(DAY + time) },
      },
    ],
  })

  it('does not come back from later parts of the history, or from the address book', async () => {
    const other = await world.createOrganization()
    await receiveHistory(world, other, { person: ANA, messages: [past('a', 1, 'theirs')] })
    await take(past('a', 1, 'a', { from_user_id: 'US.1' }))
    await erase()
    await take(past('b', 2, 'b'), sentTo('c', 3, 'c'))
    await take(past('d', 4, 'd', { from: undefined, from_user_id: 'US.1' }))
    await postField(world, organization, 'smb_app_state_sync', named(ANA, 5))
    await receiveHistory(world, other, { person: ANA, messages: [past('b', 2, 'theirs, too')] })
    expect(await people()).toEqual([])
    expect(await messages(ANA, other)).toHaveLength(2)
  })

  it('begins anew with what is written afterwards', async () => {
    await take(past('a', 1, 'a'))
    await erase()
    await receiveMessages(
      world,
      organization,
      textMessage(ANA, 'live', { id: 'z', timestamp: String(DAY + now() + 60) }),
    )
    await take(past('b', 2, 'b'), past('y', now() + 30, 'later'), past('z', now() + 60, 'live'))
    expect(await texts()).toEqual(['later', 'live'])
    await expectGapless()
  })

  it('does not come back if it is erased while a process has a part of the history in its memory', async () => {
    await take(past('a', 1, 'a'))
    await postField(world, organization, 'history', chunkOf({ person: ANA, messages: [past('b', 2, 'b')] }))
    await world.app.callbacks.drain()
    const chunk = (await beginNextChunk(world.database, organization.id, new Date())) as HistoryChunk
    const [message] = listHistoricMessages(parseStoredBody(chunk.body))
    const item = readHistoricMessage(message as HistoricMessage) as HistoricItem
    await erase()
    expect(await recordHistory(world.app.work, organization.id, chunk, [item])).toBe(0)
    expect(await people()).toEqual([])
  })

  it('is forgotten in the end, and is not remembered where there is no history', async () => {
    const remembered = async (at = organization) =>
      (await world.database.pool.query('SELECT hash FROM erased_addresses WHERE organization_id = $1', [at.id])).rows
    const other = await world.createOrganization()
    await createContact(world, other, ANA)
    await world.request('DELETE', `/contact?chat_id=${ANA}`, { key: other.key })
    expect(await remembered(other)).toEqual([])
    await take(past('a', 1, 'a'))
    await erase()
    await prune(world.app.work)
    expect(await remembered()).not.toEqual([])
    await world.database.pool.query("UPDATE erased_addresses SET erased_at = now() - interval '31 days'")
    await prune(world.app.work)
    expect(await remembered()).toEqual([])
  })

  it('does not come back from what waits to be taken in', async () => {
    const post = (id: string, time: number, of: string) =>
      postField(
        world,
        organization,
        'history',
        chunkOf({ person: of, messages: [pastText(id, DAY + time, id, { from: of })] }),
      )
    await take(past('a', 1, 'a'))
    await post('b', 2, ANA)
    await post('c', 3, BEN)
    await world.app.callbacks.drain()
    await world.request('DELETE', `/contact?chat_id=${ANA}`, { key: organization.key })
    await world.drain()
    expect((await messageRows(world, { organization_id: organization.id })).map(({ text }) => text)).toEqual(['c'])
    expect(await contactRows(world, { organization_id: organization.id })).toMatchObject([{ chat_id: BEN }])
  })

  it('leaves nothing of a history', async () => {
    await take(past('a', 1, 'a'), sentTo('b', 2, 'b'))
    const [row] = await contactRows(world, { organization_id: organization.id })
    await world.request('DELETE', `/contact?chat_id=${ANA}`, { key: organization.key })
    await world.drain()
    expect(await messageRows(world, { contact_id: row?.id as string })).toEqual([])
  })
})
