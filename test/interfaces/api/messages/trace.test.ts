import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noteFailure } from '../../../../src/core/messages/trace/note-answers.js'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { createInstance } from '../../../support/instances.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { startReceiver } from '../../../support/receiver.js'
import { writeAsBefore } from '../../../support/rows/events.js'
import { useStarted } from '../../../support/started.js'
import { setWebhook } from '../../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const receiver = useStarted(startReceiver)
const world = useWorld()
const request = requestAsDescribed(world)
let organization: TestOrganization
let people = 0

beforeEach(async () => {
  organization = await world.createOrganization()
})

async function newContact(): Promise<string> {
  const digits = `1650557${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  return digits
}

const send = (digits: string, headers: Record<string, string> = {}) =>
  request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number: digits, message_type: 'text', text: 'hi' },
    headers,
  })

const trace = (id: string, key = organization.key) =>
  request('GET', `/messages/${encodeURIComponent(id)}/trace`, { key })

/** The last message of a conversation. */
async function lastOf(digits: string) {
  return (await conversation(world, organization, digits)).body.messages.at(-1)
}

async function entriesOf(id: string) {
  const answer = await trace(id)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.trace.entries
}

const kindsOf = async (id: string): Promise<string[]> =>
  (await entriesOf(id)).map(({ kind, status, event_type: type }: Record<string, string>) =>
    [kind, status ?? type].filter(Boolean).join(' '),
  )

describe('the trace of a message that is sent', () => {
  it('tells who asked, the call, its callbacks, its events and each attempt to deliver them, in order', async () => {
    await setWebhook(world, organization, { url: receiver.url, events: ['message.sent', 'message.delivered'] })
    const digits = await newContact()
    const headers = { 'x-request-id': 'order-17', 'idempotency-key': 'o-17' }
    const sent = await send(digits, headers)
    expect(sent.status).toBe(200)
    await world.settle()
    const { id } = await lastOf(digits)
    const { body } = await trace(id)
    expect(body.trace).toMatchObject({
      message_id: id,
      direction: 'outbound',
      outcome: null,
      trace_id: null,
      is_cut: false,
    })
    const { entries } = body.trace
    expect(entries[0]).toEqual({
      at: expect.any(String),
      kind: 'requested',
      by: { type: 'api_key', id: expect.any(String), name: expect.any(String) },
      request_id: 'order-17',
      idempotency_key: 'o-17',
    })
    const kinds = await kindsOf(id)
    for (const kind of [
      'recorded',
      'called',
      'callback_received sent',
      'callback_received delivered',
      'event_raised message.sent',
      'event_raised message.delivered',
      'delivery_created delivered',
      'delivery_attempted',
    ]) {
      expect(
        kinds.some((one) => one.startsWith(kind)),
        `${kind} in ${kinds}`,
      ).toBe(true)
    }
    expect(entries.find(({ kind }: { kind: string }) => kind === 'called')).toMatchObject({
      outcome: 'accepted',
      http_status: 200,
    })
    const times = entries.map(({ at }: { at: string }) => at)
    expect(times).toEqual([...times].sort())
    expect(kinds.indexOf('recorded')).toBeLessThan(kinds.indexOf('called'))
    expect((await trace(sent.body.data.message_id)).body).toEqual((await trace(id)).body)
  })

  it('names only the host of a webhook, and no header or token', async () => {
    const url = `${receiver.url}/a-secret-path?token=a-secret-query`
    await setWebhook(world, organization, { url, events: ['message.sent'] })
    const digits = await newContact()
    await send(digits)
    await world.drain()
    const text = JSON.stringify((await trace((await lastOf(digits)).id)).body)
    expect(text).toContain(new URL(receiver.url).host)
    for (const secret of ['a-secret-path', 'a-secret-query', organization.key, 'Bearer'])
      expect(text).not.toContain(secret)
  })

  it('belongs to the trace of its request, and so do the calls of webhooks if that trace is recorded', async () => {
    await setWebhook(world, organization, { url: receiver.url, events: ['message.sent', 'message.read'] })
    const before = receiver.received.length
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    for (const flags of ['01', '00', 'xx']) {
      const digits = await newContact()
      await send(digits, { traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}` })
      const { body } = await trace((await lastOf(digits)).id)
      expect(body.trace.trace_id).toBe(flags === 'xx' ? null : traceId)
    }
    await world.settle()
    const traces = receiver.received.slice(before).flatMap(({ headers }) => headers.traceparent ?? [])
    expect(new Set(traces)).toEqual(new Set([`00-${traceId}-00f067aa0ba902b7-01`]))
    expect(traces).toHaveLength(2)
  })

  it('tells that a repeated request got the first answer', async () => {
    const digits = await newContact()
    await send(digits, { 'idempotency-key': 'k-1' })
    await send(digits, { 'idempotency-key': 'k-1', 'x-request-id': 'again-1' })
    const entries = await entriesOf((await lastOf(digits)).id)
    expect(entries.filter(({ kind }: { kind: string }) => kind === 'answer_repeated')).toEqual([
      { at: expect.any(String), kind: 'answer_repeated', request_id: 'again-1' },
    ])
  })

  it('tells that the upstream refused it, with code, reason and the upstream’s id of the call', async () => {
    const digits = '5511101000001'
    await createContact(world, organization, `+${digits}`)
    const sent = await send(digits)
    const entries = await entriesOf(sent.body.id)
    expect(entries.find(({ kind }: { kind: string }) => kind === 'called')).toMatchObject({
      outcome: 'refused',
      http_status: 400,
      error_code: 131026,
      upstream_request_id: expect.any(String),
    })
    expect(await kindsOf(sent.body.id)).toContain('event_raised message.failed')
  })

  it('tells with which failure the request was answered, and nothing of the kind for a success', async () => {
    const digits = '5511101000001'
    await createContact(world, organization, `+${digits}`)
    const sent = await send(digits, { 'x-request-id': 'order-18' })
    const told = async (id: string) =>
      (await entriesOf(id)).filter(({ kind }: { kind: string }) => kind === 'failure_answered')
    await expect
      .poll(() => told(sent.body.id))
      .toEqual([
        {
          at: expect.any(String),
          kind: 'failure_answered',
          request_id: 'order-18',
          http_status: sent.status,
          text: 'Upstream rejected message',
        },
      ])
    expect(sent.body.error).toBe('Upstream rejected message')
    const fine = await newContact()
    await send(fine)
    expect(await told((await lastOf(fine)).id)).toEqual([])
  })

  it('tells what the gateway answered, and notes nothing in a message of another organization', async () => {
    const digits = '5511101000001'
    await createInstance(world, organization, { instanceName: 'told' })
    const sent = await world.request('POST', '/gateway/message/sendText/told', {
      headers: { apikey: organization.key },
      body: { number: digits, text: 'Hello' },
    })
    const { id } = sent.body.response
    const told = async () => (await entriesOf(id)).filter(({ kind }: { kind: string }) => kind === 'failure_answered')
    await expect.poll(told).toMatchObject([{ http_status: sent.status }])
    const other = await world.createOrganization()
    await noteFailure(world.app.ctx, other.id, id, { requestId: 'r', status: 500, text: 'Outcome unknown' })
    expect(await told()).toHaveLength(1)
  })

  it('tells that no answer is known if the process that called has ended', async () => {
    const digits = await newContact()
    await send(digits)
    const { id } = await lastOf(digits)
    await world.database.pool.query(
      `UPDATE messages SET outcome = 'pending', accepted_at = NULL, notes = jsonb_build_array(notes -> -1 || '{"process": 2147483647}')
       WHERE id = $1`,
      [id],
    )
    expect((await kindsOf(id)).filter((kind) => !kind.startsWith('callback'))).toEqual([
      'requested',
      'recorded',
      'unanswered',
    ])
  })
})

describe('the trace of a received message', () => {
  it('tells of the callback, the event, its delivery and the answer', async () => {
    await setWebhook(world, organization, { url: receiver.url, events: ['message.received'] })
    const digits = await newContact()
    await receiveMessages(world, organization, textMessage(digits, 'hello'))
    const { id } = await lastOf(digits)
    await send(digits)
    const { trace: told } = (await trace(id)).body
    expect(told).toMatchObject({ direction: 'inbound' })
    const kinds = await kindsOf(id)
    expect(kinds).toEqual(
      expect.arrayContaining([
        'callback_received',
        'recorded',
        'event_raised message.received',
        'delivery_created delivered',
        'delivery_attempted message.received',
        'answered',
      ]),
    )
  })

  it('tells of a callback that brings it again', async () => {
    const digits = await newContact()
    const message = textMessage(digits, 'hello')
    await receiveMessages(world, organization, message)
    await receiveMessages(world, organization, message)
    const entries = await entriesOf((await lastOf(digits)).id)
    const callbacks = entries.filter(({ kind }: { kind: string }) => kind === 'callback_received')
    expect(callbacks.map(({ is_new: isNew }: { is_new: boolean }) => isNew)).toEqual([true, false])
  })
})

describe('a trace that cannot be told in full', () => {
  it('does not exist for another organization, for an unknown id and without the scope', async () => {
    const digits = await newContact()
    await send(digits)
    const { id } = await lastOf(digits)
    const other = await world.createOrganization()
    for (const answer of [
      await trace(id, other.key),
      await trace('00000000-0000-4000-8000-000000000000'),
      await trace('wamid.NONE'),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.body.error).toBe('Message not found')
    }
  })
})

describe('a trace that is noted while processes of 1.0 may run', () => {
  afterEach(() => writeAsBefore(world, false))

  it('is noted as they read it, goes on when they are gone, and is in no event', async () => {
    await writeAsBefore(world, true)
    const digits = await newContact()
    const message = textMessage(digits, 'hello')
    await receiveMessages(world, organization, message)
    const received = (await lastOf(digits)).id
    await send(digits)
    await world.settle()
    const sent = (await lastOf(digits)).id
    await writeAsBefore(world, false)
    await receiveMessages(world, organization, message)

    const callbacks = (await entriesOf(received)).filter(({ kind }: { kind: string }) => kind === 'callback_received')
    expect(callbacks.map(({ is_new: isNew }: { is_new: boolean }) => isNew)).toEqual([true, false])
    expect((await kindsOf(sent)).slice(0, 3)).toEqual(['requested', 'recorded', 'called'])
    const { rows } = await world.database.pool.query(
      `SELECT trace -> 0 ->> 'k' AS first, jsonb_array_length(notes) AS later FROM messages WHERE id = ANY ($1) ORDER BY seq`,
      [[received, sent]],
    )
    expect(rows).toEqual([
      { first: 'callback', later: 1 },
      { first: 'asked', later: null },
    ])
    const events = await world.database.pool.query(
      `SELECT count(*)::int AS whole, count(*) FILTER (WHERE data -> 'message' ?| '{trace,notes}')::int AS traced
       FROM events WHERE organization_id = $1 AND message_id IS NULL AND data ? 'message'`,
      [organization.id],
    )
    expect(events.rows[0]).toEqual({ whole: expect.any(Number), traced: 0 })
    expect(events.rows[0].whole).toBeGreaterThan(1)
  })
})
