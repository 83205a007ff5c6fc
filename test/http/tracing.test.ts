import { beforeAll, describe, expect, it, vi } from 'vitest'
import { receiveMessages, textMessage } from '../support/callbacks.js'
import { createContact } from '../support/contacts.js'
import { conversation } from '../support/conversations.js'
import { patience } from '../support/patience.js'
import { startReceiver } from '../support/receiver.js'
import { useStarted } from '../support/started.js'
import { setWebhook } from '../support/webhooks.js'
import { useOrganization, useWorld } from '../support/world.js'

const CUSTOMER = '16505559801'
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN_ID = '00f067aa0ba902b7'

interface ExportedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

const collector = useStarted(startReceiver)
const endpoint = useStarted(startReceiver)
const world = useWorld(() => ({
  PARLEY_OTLP_URL: collector.url,
  PARLEY_OTLP_TOKEN: 'the-collectors-token',
  PARLEY_TRACE_SAMPLING: '0',
}))
const organization = useOrganization(world)

beforeAll(async () => {
  collector.respond(() => 200)
  await createContact(world, organization, `+${CUSTOMER}`)
})

function exported(): ExportedSpan[] {
  return collector.received.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: ExportedSpan[] }[] }) =>
      scopeSpans.flatMap(({ spans }) => spans),
    ),
  )
}

const send = (flags: string | null, headers: Record<string, string> = {}) =>
  world.request('POST', '/send-chat', {
    key: organization.key,
    body: { phone_number: CUSTOMER, message_type: 'text', text: 'a private text' },
    headers: { ...headers, ...(flags && { traceparent: `00-${TRACE_ID}-${SPAN_ID}-${flags}` }) },
  })

describe('a request of a recorded trace', () => {
  it('is exported with its steps, and so are the calls of webhooks that it causes', async () => {
    await setWebhook(world, organization, { url: endpoint.url, events: ['message.sent'] })
    const sent = await send('01', { 'idempotency-key': 'one' })
    expect(sent.status).toBe(200)
    await world.settle()
    await vi.waitFor(() => expect(exported().map(({ name }) => name)).toContain('call webhook'), patience)
    const spans = exported().filter(({ traceId }) => traceId === TRACE_ID)
    const request = spans.find(({ name }) => name === 'POST /send-chat')
    expect(request?.parentSpanId).toBe(SPAN_ID)
    const steps = spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId).map(({ name }) => name)
    expect(new Set(steps)).toEqual(
      new Set(['claim idempotency key', 'record message', 'call WhatsApp', 'record outcome', 'call webhook']),
    )
    const call = spans.find(({ name }) => name === 'call webhook')
    expect(endpoint.received[0]?.headers.traceparent).toBe(`00-${TRACE_ID}-${call?.spanId}-01`)
    const { id } = (await conversation(world, organization, CUSTOMER)).body.messages[0]
    const { body } = await world.request('GET', `/messages/${id}/trace`, { key: organization.key })
    expect(body.trace.trace_id).toBe(TRACE_ID)
  })

  it('tells nobody’s number, text or key to the collector, which gets its token', async () => {
    const text = collector.received.map((request) => request.text).join()
    for (const secret of [CUSTOMER, 'a private text', organization.key]) expect(text).not.toContain(secret)
    expect(collector.received[0]?.headers.authorization).toBe('Bearer the-collectors-token')
    expect(collector.received[0]?.path).toBe('/hook/v1/traces')
  })
})

describe('a request of no recorded trace', () => {
  it('is not exported if it is not sampled, nor are its callbacks', async () => {
    const before = exported().length
    await send('00')
    await send(null)
    await receiveMessages(world, organization, textMessage(CUSTOMER, 'hello'))
    await world.settle()
    await send('01')
    await vi.waitFor(() => expect(exported().length).toBeGreaterThan(before), patience)
    expect(new Set(exported().map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]))
    const requests = exported().filter(({ name }) => name === 'POST /send-chat')
    expect(requests).toHaveLength(2)
  })

  it('is not exported because a stranger names a recorded one', async () => {
    const traceparent = `00-${'5'.repeat(32)}-${SPAN_ID}-01`
    const headers = { traceparent }
    const before = exported().length
    const credentials = { organization: 'x', email: 'a@example.com', password: 'wrong' }
    expect((await world.request('POST', '/console/api/session', { body: credentials, headers })).status).toBe(401)
    expect((await world.request('POST', '/send-chat', { key: 'parley_wrong', body: {}, headers })).status).toBe(401)
    const signed = { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
    expect((await world.request('POST', '/hooks/upstream', { body: '{}', headers: signed })).status).toBe(401)
    await send('01')
    await vi.waitFor(() => expect(exported().length).toBeGreaterThan(before), { timeout: 10_000 })
    expect(new Set(exported().map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]))
  })
})
