import { beforeEach, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { type DeliveryRow, deliveriesOf } from '../../../support/rows/deliveries.js'
import { forgetAnswers, insertDelivery, NO_ID, setWebhook } from '../../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
let organization: TestOrganization
let other: TestOrganization
let webhook: { id: string }

beforeEach(async () => {
  organization = await world.createOrganization()
  other = await world.createOrganization()
  webhook = await setWebhook(world, organization)
  await createContact(world, organization, '+5511987652001', { full_name: 'Ana' })
})

const ATTEMPT = {
  at: '2026-01-02T03:04:05.000Z',
  response_status: 500,
  error: 'answered 500',
  duration_ms: 12,
  response_body: 'oops',
}

const list = (query = '', key = organization.key) => request('GET', `/webhook-deliveries${query}`, { key })

const read = (id: string, key = organization.key) => request('GET', `/webhook-deliveries/${id}`, { key })

const replay = (id: string, key = organization.key, headers: Record<string, string> = {}) =>
  request('POST', `/webhook-deliveries/${id}/replay`, { key, headers })

const replayRange = (fields: object, key = organization.key, headers: Record<string, string> = {}) => {
  const body = { webhook_id: webhook.id, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', ...fields }
  return request('POST', '/webhook-deliveries/replay', { key, body, headers })
}

async function idsOf(query: string): Promise<string[]> {
  return (await list(query)).body.deliveries.map(({ id }: { id: string }) => id)
}

/** Inserts events with these times, in this order; resolves to their ids. */
async function insertEvents(
  events: readonly (readonly [type: string, at: string, data?: string])[],
): Promise<string[]> {
  const ids: string[] = []
  for (const [type, at, data = '{"contact": {}}'] of events) {
    const { rows } = await world.database.pool.query(
      `INSERT INTO events (organization_id, id, type, data, created_at) VALUES ($1, gen_random_uuid(), $2, $3, $4)
       RETURNING id`,
      [organization.id, type, data, at],
    )
    ids.push(rows[0].id)
  }
  return ids
}

const eraseEvents = () =>
  world.database.pool.query(`UPDATE events SET data = '{}' WHERE organization_id = $1`, [organization.id])

const removeEvents = () => world.database.pool.query('DELETE FROM events WHERE organization_id = $1', [organization.id])

describe('GET /webhook-deliveries', () => {
  it('returns 200 with the deliveries and their attempts, newest first', async () => {
    const next = new Date(world.now().getTime() + 5_000)
    const first = await insertDelivery(world, organization, webhook.id, {
      status: 'pending',
      attempts: [ATTEMPT],
      next_attempt_at: next,
    })
    const second = await insertDelivery(world, organization, webhook.id)
    const [{ event_id, created_at }] = (await deliveriesOf(world, organization)) as [DeliveryRow, DeliveryRow]
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      deliveries: [
        expect.objectContaining({ id: second, status: 'delivered', attempts: [], next_attempt_at: null }),
        {
          id: first,
          webhook_id: webhook.id,
          event_id,
          event_type: 'contact.created',
          status: 'pending',
          attempts: [ATTEMPT],
          next_attempt_at: next.toISOString(),
          created_at: created_at.toISOString(),
        },
      ],
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalDeliveries: 2,
        deliveriesPerPage: 50,
        hasNextPage: false,
        hasPrevPage: false,
      },
      count: 2,
    })
  })

  it('filters by webhook, by status, and by both', async () => {
    const another = await setWebhook(world, organization)
    const failed = await insertDelivery(world, organization, webhook.id, { status: 'failed' })
    const delivered = await insertDelivery(world, organization, webhook.id)
    const elsewhere = await insertDelivery(world, organization, another.id, { status: 'failed' })
    expect(await idsOf(`?webhook_id=${webhook.id}`)).toEqual([delivered, failed])
    expect(await idsOf('?status=failed')).toEqual([elsewhere, failed])
    expect(await idsOf(`?webhook_id=${webhook.id}&status=failed`)).toEqual([failed])
    expect(await idsOf('?status=pending')).toEqual([])
    expect(await idsOf(`?webhook_id=${NO_ID}`)).toEqual([])
    const { pagination } = (await list(`?webhook_id=${webhook.id}&status=failed`)).body
    expect(pagination.totalDeliveries).toBe(1)
  })

  it('has pages', async () => {
    const made: string[] = []
    for (let n = 0; n < 5; n++) made.unshift(await insertDelivery(world, organization, webhook.id))
    expect(await idsOf('?limit=2')).toEqual(made.slice(0, 2))
    expect(await idsOf('?limit=2&page=3')).toEqual(made.slice(4))
    const { pagination } = (await list(`?limit=2&page=2&webhook_id=${webhook.id}`)).body
    expect(pagination).toMatchObject({ currentPage: 2, totalPages: 3, hasNextPage: true, hasPrevPage: true })
    expect(await idsOf('?limit=2&page=4')).toEqual([])
  })

  it("shows only the organization's own deliveries", async () => {
    await insertDelivery(world, organization, webhook.id)
    const { body } = await list(`?webhook_id=${webhook.id}`, other.key)
    expect(body).toMatchObject({ deliveries: [], pagination: { totalDeliveries: 0 } })
    expect((await list('', other.key)).body.deliveries).toEqual([])
  })

  it.each(['?limit=0', '?limit=101', '?page=0', '?webhook_id=x', '?status=lost'])(
    'returns 400 for %s',
    async (query) => {
      const { status, body } = await list(query)
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
    },
  )
})

describe('GET /webhook-deliveries/{id}', () => {
  it('returns 200 with the delivery and its posted body', async () => {
    const id = await insertDelivery(world, organization, webhook.id)
    const { status, body } = await read(id)
    expect(status).toBe(200)
    const contact = await request('GET', '/contact?chat_id=5511987652001', { key: organization.key })
    expect(body.delivery).toEqual((await list()).body.deliveries[0])
    expect(body.body).toEqual({
      type: 'contact.created',
      timestamp: expect.any(String),
      data: { contact: contact.body.contact },
    })
  })

  it.each([
    ['erased', eraseEvents],
    ['not kept any more', removeEvents],
  ])('returns a null body if the event is %s', async (_name, lose) => {
    const id = await insertDelivery(world, organization, webhook.id)
    await lose()
    expect((await read(id)).body).toMatchObject({ success: true, delivery: { id }, body: null })
  })

  it("returns 404 for an unknown delivery, and for another organization's", async () => {
    const id = await insertDelivery(world, organization, webhook.id)
    for (const answer of [await read(NO_ID), await read(id, other.key)]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'Delivery not found'])
    }
  })
})

describe('POST /webhook-deliveries/{id}/replay', () => {
  it('returns 200 with a new delivery of the same event, which is sent at once', async () => {
    const id = await insertDelivery(world, organization, webhook.id, { status: 'failed', attempts: [ATTEMPT] })
    const { status, body } = await replay(id)
    expect(status).toBe(200)
    const [old, made] = (await deliveriesOf(world, organization)) as [DeliveryRow, DeliveryRow]
    expect(old).toMatchObject({ id, status: 'failed', attempts: [ATTEMPT] })
    expect(body.delivery).toMatchObject({
      id: made.id,
      webhook_id: webhook.id,
      event_id: old.event_id,
      status: 'pending',
      attempts: [],
    })
    expect(made).toMatchObject({ event_seq: old.event_seq, contact_id: old.contact_id, in_order: false })
    expect(made.next_attempt_at?.getTime()).toBeLessThanOrEqual(world.now().getTime())
  })

  it('creates one delivery per Idempotency-Key, even if the first request left no answer', async () => {
    const id = await insertDelivery(world, organization, webhook.id)
    const headers = { 'idempotency-key': 'replay' }
    const first = await replay(id, organization.key, headers)
    expect((await replay(id, organization.key, headers)).body).toEqual(first.body)
    await forgetAnswers(world)
    expect((await replay(id, organization.key, headers)).body).toEqual(first.body)
    expect(await deliveriesOf(world, organization)).toHaveLength(2)
  })

  it.each([
    ['event was erased', eraseEvents],
    ['event is not kept any more', removeEvents],
  ])('returns 404 if its %s', async (_name, lose) => {
    const id = await insertDelivery(world, organization, webhook.id)
    await lose()
    const { status, body } = await replay(id)
    expect([status, body.error]).toEqual([404, 'Delivery not found'])
    expect(body.message).toContain('cannot be replayed')
    expect(await deliveriesOf(world, organization)).toHaveLength(1)
  })

  it('returns 404 if its webhook is deleted, and 409 if it is disabled', async () => {
    const id = await insertDelivery(world, organization, webhook.id)
    await world.database.pool.query(`UPDATE webhooks SET active = false, disabled_reason = 'it said 410'`)
    const disabled = await replay(id)
    expect([disabled.status, disabled.body.error]).toEqual([409, 'Webhook disabled'])
    expect(disabled.body.message).toContain('it said 410')
    expect(disabled.body.message).toContain(`POST /set-webhooks/${webhook.id}/enable`)
    await world.database.pool.query('DELETE FROM webhooks WHERE id = $1', [webhook.id])
    const gone = await replay(id)
    expect([gone.status, gone.body.error]).toEqual([404, 'Webhook not found'])
    expect(await deliveriesOf(world, organization)).toHaveLength(1)
  })

  it("returns 404 for an unknown delivery, and for another organization's", async () => {
    const id = await insertDelivery(world, organization, webhook.id)
    for (const answer of [await replay(NO_ID), await replay(id, other.key)]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'Delivery not found'])
    }
    expect(await deliveriesOf(world, organization)).toHaveLength(1)
  })
})

describe('POST /webhook-deliveries/replay', () => {
  const RANGE = { from: '2026-02-01T00:00:00Z', to: '2026-02-02T00:00:00+00:00' }

  it('returns 200 with the number of events in the range, one delivery each, delivered before or not', async () => {
    const ids = await insertEvents([
      ['contact.updated', '2026-01-31T23:59:59.999Z'],
      ['contact.created', '2026-02-01T00:00:00.000Z'],
      ['message.sent', '2026-02-01T12:00:00Z'],
      ['webhook.test', '2026-02-01T12:00:00Z'],
      ['message.received', '2026-02-01T12:00:00Z', '{}'],
      ['contact.updated', '2026-02-02T00:00:00.000999Z'],
      ['contact.updated', '2026-02-02T00:00:00.001Z'],
    ])
    await insertDelivery(world, organization, webhook.id, { eventId: ids[1] })
    const { status, body } = await replayRange(RANGE)
    expect([status, body]).toEqual([200, { success: true, message: expect.stringContaining('3'), count: 3 }])
    const [, ...made] = await deliveriesOf(world, organization)
    expect(made.map(({ event_id }) => event_id)).toEqual([ids[1], ids[2], ids[5]])
    for (const row of made) {
      expect(row).toMatchObject({ webhook_id: webhook.id, in_order: false, status: 'pending' })
      expect(row.next_attempt_at?.getTime()).toBeLessThanOrEqual(world.now().getTime())
    }
  })

  it('includes only the kinds of the webhook', async () => {
    const { id } = await setWebhook(world, organization, { events: ['message.sent', 'contact.updated'] })
    await insertEvents([
      ['contact.created', '2026-02-01T01:00:00Z'],
      ['message.sent', '2026-02-01T02:00:00Z'],
    ])
    expect((await replayRange({ ...RANGE, webhook_id: id })).body.count).toBe(1)
    expect(await deliveriesOf(world, organization)).toMatchObject([{ event_type: 'message.sent', webhook_id: id }])
  })

  it('returns 200 with 0 for a range without events, and nothing of another organization', async () => {
    const theirs = await setWebhook(world, other)
    expect((await replayRange({ webhook_id: theirs.id }, other.key)).body.count).toBe(0)
    expect((await replayRange(RANGE)).body.count).toBe(0)
  })

  it('replays once per Idempotency-Key, even if the first request left no answer', async () => {
    await eraseEvents()
    for (const number of ['+5511987652002', '+5511987652003']) await createContact(world, organization, number)
    const headers = { 'idempotency-key': 'range' }
    const first = await replayRange({}, organization.key, headers)
    expect(first.body.count).toBe(2)
    expect((await replayRange({}, organization.key, headers)).body).toEqual(first.body)
    await forgetAnswers(world)
    const recovered = await replayRange({}, organization.key, headers)
    expect(recovered.body).toEqual(first.body)
    expect(recovered.headers.get('idempotent-replayed')).toBe('true')
    expect(await deliveriesOf(world, organization)).toHaveLength(2)
  })

  it('returns 400 beyond 100,000 events, and 200 for 100,000', async () => {
    await world.database.pool.query(
      `INSERT INTO events (organization_id, id, type, data, created_at)
       SELECT $1, gen_random_uuid(), 'contact.updated', '{"contact": {}}', '2026-02-01T00:00:00Z'::timestamptz + n * interval '1 ms'
       FROM generate_series(0, 100000) AS n`,
      [organization.id],
    )
    const { status, body } = await replayRange(RANGE)
    expect([status, body.error]).toEqual([400, 'Invalid field'])
    expect(body.message).toMatch(/100000 events.*narrow/)
    expect(await deliveriesOf(world, organization)).toEqual([])
    expect((await replayRange({ ...RANGE, to: '2026-02-01T00:01:39.999Z' })).body.count).toBe(100_000)
  })

  it('returns 409 for a disabled webhook', async () => {
    await insertEvents([['contact.updated', '2026-02-01T12:00:00Z']])
    await world.database.pool.query('UPDATE webhooks SET active = false WHERE id = $1', [webhook.id])
    const { status, body } = await replayRange(RANGE)
    expect([status, body.error]).toEqual([409, 'Webhook disabled'])
    expect(await deliveriesOf(world, organization)).toEqual([])
  })

  it("returns 404 for an unknown webhook, and for another organization's", async () => {
    const theirs = await setWebhook(world, other)
    for (const webhook_id of [NO_ID, theirs.id]) {
      const { status, body } = await replayRange({ webhook_id })
      expect([status, body.error]).toEqual([404, 'Webhook not found'])
    }
    expect(await deliveriesOf(world, other)).toEqual([])
  })

  it.each([
    [{ from: '2026-02-01T00:00:00' }, 'Invalid field', 'from'],
    [{ to: '2026-02-01' }, 'Invalid field', 'to'],
    [{ to: 7 }, 'Invalid field', 'to'],
    [{ from: '2026-02-03T00:00:00Z', to: '2026-02-02T00:00:00Z' }, 'Invalid field', 'before'],
    [{ webhook_id: 'x' }, 'Invalid field', 'webhook_id'],
    [{ webhook_id: undefined }, 'Missing required field', 'webhook_id'],
    [{ from: null }, 'Missing required field', 'from'],
    [{ to: '' }, 'Missing required field', 'to'],
  ])('returns 400 for %j', async (fields, error, part) => {
    const answer = await replayRange(fields)
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(part)
  })
})
