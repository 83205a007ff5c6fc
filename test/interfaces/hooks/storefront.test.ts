import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { hmacSha256Base64, hmacSha256Hex } from '../../../src/lib/crypto/signature.js'
import { packageRoot } from '../../../src/lib/files/package-root.js'
import {
  connectStorefront,
  ordersOf,
  postOrders,
  postWebhook,
  shopOrder,
  WEBHOOK_SECRET,
} from '../../support/storefront.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const DAY = 86_400_000

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
  await connectStorefront(world, organization)
})

const post = (body: object | string, options?: Parameters<typeof postWebhook>[3]) =>
  postWebhook(world, organization.slug, typeof body === 'string' ? body : JSON.stringify(body), options)

describe('a webhook of a storefront', () => {
  it('records the order with the parameters of its landing page', async () => {
    const landing_site = '/sale?utm_source=WhatsApp&utm_campaign=Natal_VM&utm_campaign=other#top'
    const order = shopOrder({ landing_site, total_price: '0.10', processed_at: '2026-03-01T09:00:00-03:00' })
    expect(await post(order)).toMatchObject({ status: 200, body: { success: true } })
    expect(await ordersOf(world, organization)).toEqual([
      {
        id: String(order.id),
        name: order.name,
        total_price: '0.10',
        currency: 'BRL',
        ordered_at: new Date('2026-03-01T12:00:00Z'),
        financial_status: 'paid',
        utm_source: 'whatsapp',
        utm_campaign: 'Natal_VM',
        campaign: 'natal_vm',
        is_test: false,
        cancelled_at: null,
        updated_at: new Date('2026-03-01T13:00:00Z'),
      },
    ])
  })

  it('can have the form of the real API', async () => {
    const sample = await readFile(join(packageRoot(), 'test/samples/shop-order-get.rest-2026-07.json'), 'utf8')
    expect((await post(JSON.stringify(JSON.parse(sample).order))).status).toBe(200)
    expect(await ordersOf(world, organization)).toMatchObject([
      {
        id: '450789469',
        name: '#1001',
        total_price: '598.94',
        currency: 'USD',
        financial_status: 'partially_refunded',
      },
    ])
  })

  it.each([
    ['no landing page', null],
    ['the landing page of an express checkout', '/wallets/checkouts.json'],
    ['a landing page that is not a string', 42],
  ])('is recorded with %s', async (_title, landing_site) => {
    await post(shopOrder({ landing_site }))
    expect(await ordersOf(world, organization)).toMatchObject([{ utm_source: null, utm_campaign: null }])
  })

  it('is signed over its bytes, not over its parsed content', async () => {
    const body = `{ "id": 7, "name": "caf\\u00e9 \\/ x", "total_price": "1.00", "currency": "BRL",
      "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z" }`
    expect((await post(body)).status).toBe(200)
    expect(await ordersOf(world, organization)).toMatchObject([{ id: '7', name: 'café / x' }])
  })

  it('updates the order with a newer state, and is ignored with an older one', async () => {
    const order = shopOrder({ financial_status: 'pending', landing_site: '/?utm_source=chat&utm_campaign=natal' })
    const later = {
      ...order,
      updated_at: '2026-03-01T10:00:02-03:00',
      financial_status: 'refunded',
      total_price: '90.00',
    }
    const between = { ...order, updated_at: '2026-03-01T10:00:01-03:00', financial_status: 'paid' }
    for (const one of [order, later, between, order]) expect((await post(one)).status).toBe(200)
    expect(await ordersOf(world, organization)).toMatchObject([{ financial_status: 'refunded', total_price: '90.00' }])
  })

  it('keeps the recorded visit if it has none', async () => {
    const order = shopOrder({ landing_site: '/?utm_source=chat&utm_campaign=natal' })
    await post(order)
    await post({ ...order, landing_site: null, updated_at: '2026-03-02T10:00:00-03:00', financial_status: 'voided' })
    expect(await ordersOf(world, organization)).toMatchObject([
      { financial_status: 'voided', utm_source: 'chat', utm_campaign: 'natal', campaign: 'natal' },
    ])
  })

  it('is processed once per id; another organization may get the same id', async () => {
    const headers = { 'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043' }
    const order = shopOrder()
    const changed = { ...order, updated_at: '2026-03-02T10:00:00-03:00', total_price: '7.00' }
    await post(order, { headers })
    expect((await post(changed, { headers })).status).toBe(200)
    expect(await ordersOf(world, organization)).toMatchObject([{ total_price: '100.00' }])
    const other = await world.createOrganization()
    await connectStorefront(world, other)
    await postWebhook(world, other.slug, JSON.stringify(changed), { headers })
    expect(await ordersOf(world, other)).toMatchObject([{ id: String(order.id), total_price: '7.00' }])
    expect(await ordersOf(world, organization)).toMatchObject([{ total_price: '100.00' }])
  })

  it('permanently removes a deleted order from the revenue, and no other', async () => {
    const [gone, kept] = [shopOrder(), shopOrder()]
    const other = await world.createOrganization()
    await connectStorefront(world, other)
    await postOrders(world, organization, gone, kept)
    await postOrders(world, other, gone)
    const headers = { 'x-shopify-topic': 'orders/delete' }
    for (const _time of ['once', 'again']) expect((await post({ id: gone.id }, { headers })).status).toBe(200)
    await postOrders(world, organization, { ...gone, updated_at: '2026-03-02T10:00:00-03:00' })
    const cancelled = async (one: TestOrganization) =>
      (await ordersOf(world, one)).map(({ id, cancelled_at }) => [Number(id), cancelled_at])
    expect(await cancelled(organization)).toEqual([
      [gone.id, expect.any(Date)],
      [kept.id, null],
    ])
    expect(await cancelled(other)).toEqual([[gone.id, null]])
  })

  it('creates one order if it arrives twice at the same moment', async () => {
    const headers = { 'x-shopify-webhook-id': 'twice' }
    const order = shopOrder()
    const answers = await Promise.all([1, 2, 3].map(() => post(order, { headers })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await ordersOf(world, organization)).toHaveLength(1)
  })

  it.each([
    ['of another topic', shopOrder(), { 'x-shopify-topic': 'products/update' }],
    ['without an order', { id: 42 }, {}],
    ['of the deletion of an unknown order', { id: 42 }, { 'x-shopify-topic': 'orders/delete' }],
    ['of a deletion without id', { id: null }, { 'x-shopify-topic': 'orders/delete' }],
    ['with an invalid amount', shopOrder({ total_price: '1e3' }), {}],
    ['with an order without a time', shopOrder({ updated_at: null }), {}],
    ['with an invalid id', shopOrder({ id: "1'; --" }), {}],
  ])('%s is acknowledged and ignored', async (_title, body, headers: Record<string, string>) => {
    expect((await post(body, { headers })).status).toBe(200)
    expect(await ordersOf(world, organization)).toEqual([])
  })

  it('is recorded without characters that cannot be stored', async () => {
    const landing_site = `/?utm_source=chat&utm_campaign=a%00b${'\0'}`
    await post(shopOrder({ name: '#1\0', landing_site, financial_status: '\ud800' }))
    expect(await ordersOf(world, organization)).toMatchObject([
      { name: '#1\ufffd', utm_campaign: 'a\ufffdb\ufffd', financial_status: '\ufffd' },
    ])
  })
})

describe('a refused webhook', () => {
  const order = JSON.stringify(shopOrder({ id: 1 }))
  const refusal = { success: false, error: 'Invalid signature', message: expect.any(String) }

  it('gets the same response for a wrong signature as for an unknown storefront', async () => {
    const lonely = await world.createOrganization()
    const other = await world.createOrganization()
    await connectStorefront(world, other, { secret: 'another secret' })
    const answers = await Promise.all([
      post(order, { secret: 'another secret' }),
      post(order, { headers: { 'x-shopify-hmac-sha256': hmacSha256Base64(WEBHOOK_SECRET, `${order} `) } }),
      postWebhook(world, other.slug, order),
      postWebhook(world, lonely.slug, order),
      postWebhook(world, lonely.slug, order, { secret: 'nobody' }),
      postWebhook(world, 'nobody-has-this', order),
      postWebhook(world, 'nobody-has-this', order, { secret: 'nobody' }),
      postWebhook(world, '%00', order),
    ])
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 401, body: refusal })
    expect(new Set(answers.map(({ body }) => body.message)).size).toBe(1)
    for (const { id } of [organization, other, lonely]) {
      expect(await ordersOf(world, { id } as TestOrganization)).toEqual([])
    }
  })

  it('is refused before its body is read if the signature is malformed', async () => {
    const headers = { 'x-shopify-hmac-sha256': hmacSha256Hex(WEBHOOK_SECRET, order) }
    expect(await post('x'.repeat(5_000_000), { headers })).toMatchObject({ status: 401, body: refusal })
  })

  it('has no signature', async () => {
    const answer = await world.request('POST', `/hooks/storefront/${organization.slug}`, { body: order })
    expect(answer).toMatchObject({ status: 401, body: { error: 'Authorization required' } })
  })

  it.each(['', 'not json', '[]', 'null', '"text"'])('is signed, but not a JSON object: %j', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error: 'Invalid JSON' } })
  })

  it('has more than 4 MB', async () => {
    const order = (size: number) => {
      const empty = JSON.stringify(shopOrder({ note: '' }))
      return empty.replace('"note":""', `"note":"${'x'.repeat(size - empty.length)}"`)
    }
    expect((await post(order(4 * 1_048_576))).status).toBe(200)
    expect(await post(order(4 * 1_048_576 + 1))).toMatchObject({ status: 413, body: { error: 'Payload too large' } })
  })

  it('uses another method', async () => {
    const { status, headers } = await world.request('GET', `/hooks/storefront/${organization.slug}`)
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
  })
})

it('the simulator signs as the shop does', async () => {
  const url = `${world.app.url}/hooks/storefront/${organization.slug}`
  const order = { id: 42, total_price: '12.34', landing_site: '/?utm_source=chat&utm_campaign=natal' }
  const sent = await world.sim('POST', '/shop/webhooks', { url, secret: WEBHOOK_SECRET, topic: 'orders/create', order })
  expect(sent.body).toMatchObject({ success: true, status: 200 })
  expect(await ordersOf(world, organization)).toMatchObject([{ id: '42', total_price: '12.34', campaign: 'natal' }])
})

it('forgets ids of webhooks after 30 days, but keeps orders', async () => {
  const countIds = async () => {
    const { rows } = await world.database.pool.query('SELECT count(*)::int AS ids FROM storefront_webhooks')
    return rows[0].ids
  }
  await world.database.pool.query('DELETE FROM storefront_webhooks')
  await post(shopOrder(), { headers: { 'x-shopify-webhook-id': 'old' } })
  world.advance(29 * DAY)
  await prune(world.app.work)
  expect(await countIds()).toBe(1)
  world.advance(2 * DAY)
  await prune(world.app.work)
  expect(await countIds()).toBe(0)
  expect(await ordersOf(world, organization)).toHaveLength(1)
})

it('deletes the orders of a deleted organization', async () => {
  await postOrders(world, organization, {})
  await world.admin('DELETE', `/organizations/${organization.id}`)
  await world.drain()
  expect(await ordersOf(world, organization)).toEqual([])
  expect((await post(shopOrder())).status).toBe(401)
})
