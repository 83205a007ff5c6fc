import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { post, receive, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '16505550001'

const world = useWorld()
const organization = useOrganization(world)

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  await createContact(world, organization, `+${CUSTOMER}`)
})

type Status = 'sent' | 'delivered' | 'read' | 'failed'

function statusOf(id: string, status: string, fields: object = {}): object {
  const errors = [{ code: 131026, title: 'Undeliverable', error_data: { details: 'Not on the network' } }]
  return {
    id,
    status,
    timestamp: seconds(),
    recipient_id: CUSTOMER,
    ...(status === 'failed' ? { errors } : {}),
    ...fields,
  }
}

/** Sends a text; resolves to both ids of the message. */
async function send(): Promise<{ id: string; upstreamId: string }> {
  const body = { phone_number: CUSTOMER, message_type: 'text', text: 'hello' }
  const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
  const upstreamId = sent.body.data.message_id
  const { body: list } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=1`)
  return { id: list.messages[0].payload.biz_opaque_callback_data, upstreamId }
}

async function shown(id: string) {
  const path = `/conversations?chatNumber=${CUSTOMER}&limit=100`
  const { body } = await world.request('GET', path, { key: organization.key })
  return body.messages.find((message: { id: string }) => message.id === id)
}

async function eventTypes(id: string): Promise<string[]> {
  const events = await eventsOf(world, organization)
  return events.filter((event) => event.data.message?.id === id).map((event) => event.type)
}

async function report(...statuses: object[]): Promise<void> {
  for (const status of statuses) await post(world, organization, { statuses: [status] })
  await world.drain()
}

/** The rule, written a second time: the new status after each one; null means unchanged. */
function step(before: Status, reported: Status): Status | null {
  const allowed: Record<Status, Status[]> = {
    sent: ['delivered', 'read', 'failed'],
    delivered: ['read'],
    read: [],
    failed: ['delivered', 'read'],
  }
  return allowed[before].includes(reported) ? reported : null
}

describe('statuses', () => {
  it('never go backwards if they arrive repeatedly and in any order, and raise one event per step', async () => {
    const reported = fc.constantFrom<Status>('sent', 'delivered', 'read', 'failed')
    await fc.assert(
      fc.asyncProperty(fc.array(reported, { maxLength: 8 }), async (sequence) => {
        const { id, upstreamId } = await send()
        await report(...sequence.map((status) => statusOf(upstreamId, status)))
        let expected: Status = 'sent'
        const steps: Status[] = ['sent']
        for (const status of sequence) {
          const next = step(expected, status)
          if (next === null) continue
          expected = next
          steps.push(next)
        }
        expect((await shown(id)).message_status).toBe(expected)
        expect(await eventTypes(id)).toEqual(steps.map((status) => `message.${status}`))
      }),
      { numRuns: 40 },
    )
  })

  it('that arrive at the same time raise each step once', async () => {
    const { id, upstreamId } = await send()
    const statuses = ['delivered', 'read', 'delivered', 'read', 'sent'].map((status) => statusOf(upstreamId, status))
    await Promise.all([...statuses, ...statuses].map((status) => post(world, organization, { statuses: [status] })))
    await world.drain()
    expect((await shown(id)).message_status).toBe('read')
    const types = await eventTypes(id)
    expect(new Set(types).size).toBe(types.length)
    expect(types).toContain('message.read')
  })

  it('with failed show code and text, and give way to delivered', async () => {
    const { id, upstreamId } = await send()
    await report(statusOf(upstreamId, 'failed'))
    expect(await shown(id)).toMatchObject({
      message_status: 'failed',
      error: { code: 131026, text: 'Not on the network' },
      outcome: null,
    })
    await report(statusOf(upstreamId, 'delivered'))
    expect(await shown(id)).toMatchObject({ message_status: 'delivered', error: null })
    const events = (await eventsOf(world, organization)).filter((event) => event.data.message?.id === id)
    expect(events.map((event) => [event.type, event.data.previous_status])).toEqual([
      ['message.sent', undefined],
      ['message.failed', 'sent'],
      ['message.delivered', 'failed'],
    ])
  })

  it.each([
    ['a title alone', [{ code: 131053, title: 'Media upload error' }], { code: 131053, text: 'Media upload error' }],
    ['no errors', undefined, { code: 'unknown', text: 'WhatsApp gave no reason' }],
    ['errors of rubbish', [7, null], { code: 'unknown', text: 'WhatsApp gave no reason' }],
  ])('with failed are read: %s', async (_name, errors, expected) => {
    const { id, upstreamId } = await send()
    await report(statusOf(upstreamId, 'failed', { errors }))
    expect((await shown(id)).error).toEqual(expected)
  })

  it('treat played as read', async () => {
    const { id, upstreamId } = await send()
    await report(statusOf(upstreamId, 'played'))
    expect((await shown(id)).message_status).toBe('read')
    expect(await eventTypes(id)).toEqual(['message.sent', 'message.read'])
  })

  it('of other kinds change nothing', async () => {
    const { id, upstreamId } = await send()
    await report(statusOf(upstreamId, 'deleted'), statusOf(upstreamId, 'warning'), statusOf(upstreamId, 'constructor'))
    expect((await shown(id)).message_status).toBe('sent')
  })

  it('of unknown messages are ignored', async () => {
    const before = (await eventsOf(world, organization)).length
    await report(statusOf(wamid(), 'read'), statusOf(wamid(), 'read', { biz_opaque_callback_data: 'no uuid' }))
    expect((await eventsOf(world, organization)).length).toBe(before)
  })

  it('of another organization change nothing, by either id', async () => {
    const { id, upstreamId } = await send()
    const other = await world.createOrganization()
    await receive(world, other, {
      statuses: [
        statusOf(upstreamId, 'read'),
        statusOf(wamid(), 'read', { biz_opaque_callback_data: id }),
        statusOf(upstreamId, 'read', { biz_opaque_callback_data: id }),
      ],
    })
    expect((await shown(id)).message_status).toBe('sent')
    expect(await eventsOf(world, other)).toEqual([])
  })

  it('of an inbound message change nothing', async () => {
    const message = textMessage(CUSTOMER, 'from them')
    await receive(world, organization, { messages: [message] })
    await report(statusOf(String(message.id), 'failed'))
    const path = `/conversations?chatNumber=${CUSTOMER}&limit=1`
    const { body } = await world.request('GET', path, { key: organization.key })
    expect(body.messages).toMatchObject([{ message_id: message.id, message_status: 'delivered', error: null }])
  })
})

describe('statuses that arrive before the answer was recorded', () => {
  /** A message with an unknown outcome. */
  async function pending(): Promise<string> {
    const { id } = await send()
    await world.database.pool.query(
      `UPDATE messages SET outcome = 'pending', upstream_id = NULL, accepted_at = NULL WHERE organization_id = $1 AND id = $2`,
      [organization.id, id],
    )
    await world.database.pool.query(`DELETE FROM events WHERE organization_id = $1`, [organization.id])
    return id
  }

  it.each([
    ['sent', 'sent', ['message.sent']],
    ['delivered', 'delivered', ['message.sent', 'message.delivered']],
    ['read', 'read', ['message.sent', 'message.read']],
    ['failed', 'failed', ['message.sent', 'message.failed']],
  ])('record the outcome with %s, raising message.sent first', async (status, shownStatus, types) => {
    const id = await pending()
    const upstreamId = wamid()
    await report(statusOf(upstreamId, status, { biz_opaque_callback_data: id }))
    expect(await shown(id)).toMatchObject({ message_status: shownStatus, outcome: null, message_id: upstreamId })
    expect(await eventTypes(id)).toEqual(types)
    const [sent] = await eventsOf(world, organization, 'message.sent')
    expect(sent?.data.message).toMatchObject({ status: 'sent', error: null })
  })

  it('keep the id that came first', async () => {
    const id = await pending()
    const upstreamId = wamid()
    await report(
      statusOf(upstreamId, 'sent', { biz_opaque_callback_data: id }),
      statusOf(wamid(), 'read', { biz_opaque_callback_data: id }),
      statusOf(upstreamId, 'delivered'),
    )
    expect(await shown(id)).toMatchObject({ message_status: 'delivered', message_id: upstreamId })
  })

  it('with an id that another message has are matched by our id, and both messages continue', async () => {
    const first = await send()
    const id = await pending()
    await report(statusOf(first.upstreamId, 'delivered', { biz_opaque_callback_data: id }))
    expect(await shown(id)).toMatchObject({ message_status: 'delivered', message_id: null })
    expect((await shown(first.id)).message_status).toBe('sent')
    await report(statusOf(first.upstreamId, 'read', { biz_opaque_callback_data: first.id }))
    expect((await shown(first.id)).message_status).toBe('read')
  })
})
