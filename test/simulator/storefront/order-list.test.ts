import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/index.js'
import { type Answer, call } from '../../support/simulator.js'

let simulator: Simulator

beforeEach(async () => {
  simulator = await startSimulator()
})
afterEach(() => simulator.close())

function control(path: string, body?: object): Promise<Answer> {
  return call('POST', `${simulator.url}/_sim${path}`, body)
}

async function place(order: object): Promise<void> {
  expect((await control('/shop/orders', order)).status).toBe(200)
}

const headers = { 'content-type': 'application/json', 'x-shopify-access-token': 'token' }

interface Page {
  status: number
  ids: number[]
  body: Record<string, unknown>
  /** The URLs of the neighbouring pages. */
  links: Record<string, string>
  retryAfter: string | null
}

async function list(query: string): Promise<Page> {
  const isAddress = query.startsWith('http')
  const url = isAddress ? query : `${simulator.storefrontUrl}/admin/api/2026-07/orders.json?${query}`
  const response = await fetch(url, { headers })
  const body = (await response.json()) as Record<string, unknown>
  const links = Array.from((response.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g))
  return {
    status: response.status,
    ids: ((body.orders ?? []) as Array<{ id: number }>).map(({ id }) => id),
    body,
    links: Object.fromEntries(links.map(([, link, rel]) => [rel, link])),
    retryAfter: response.headers.get('retry-after'),
  }
}

async function ask(query: string, variables?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${simulator.storefrontUrl}/admin/api/2026-07/graphql.json`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Record<string, unknown>
}

/** Orders with ids 1 to `count`, created on consecutive days from 1 January on. */
async function placeDays(count: number): Promise<void> {
  for (let id = 1; id <= count; id += 1) {
    await place({ id, created_at: `2026-01-${String(id).padStart(2, '0')}T12:00:00Z` })
  }
}

describe('the list of the REST API', () => {
  it('contains open orders, newest first, unless another status or order is requested', async () => {
    await placeDays(4)
    await place({ id: 2, created_at: '2026-01-02T12:00:00Z', cancelled_at: '2026-01-03T00:00:00Z' })
    await place({ id: 3, created_at: '2026-01-03T12:00:00Z', closed_at: '2026-01-03T00:00:00Z' })
    expect((await list('')).ids).toEqual([4, 1])
    expect((await list('status=any')).ids).toEqual([4, 3, 2, 1])
    expect((await list('status=cancelled')).ids).toEqual([2])
    expect((await list('status=closed')).ids).toEqual([3])
    expect((await list('status=any&order=created_at%20asc')).ids).toEqual([1, 2, 3, 4])
    expect((await list('status=any&order=updated_at+DESC')).ids).toEqual([3, 2, 4, 1])
  })

  it.each([
    ['created_at_min=2026-01-02T12:00:00Z', [4, 3, 2]],
    ['created_at_max=2026-01-02T13:00:00%2B01:00', [2, 1]],
    ['created_at_min=2026-01-02&created_at_max=2026-01-03', [2]],
    ['updated_at_min=2026-01-04', [4, 1]],
    ['updated_at_max=2026-01-03', [2]],
  ])('is filtered by %s', async (query, ids) => {
    await placeDays(4)
    await place({ id: 1, created_at: '2026-01-01T12:00:00Z', updated_at: '2026-02-01T12:00:00Z' })
    expect((await list(query)).ids).toEqual(ids)
  })

  it('has pages whose URLs contain the whole query', async () => {
    await placeDays(5)
    await place({ id: 9, created_at: '2025-12-01T00:00:00Z' })
    const first = await list('status=any&created_at_min=2026-01-01&limit=2&fields=id,name')
    expect(first.body.orders).toEqual([
      { id: 5, name: '#1005' },
      { id: 4, name: '#1004' },
    ])
    expect(Object.keys(first.links)).toEqual(['next'])
    const query = new URL(String(first.links.next)).searchParams
    expect([...query.keys()]).toEqual(['limit', 'fields', 'page_info'])
    // Orders placed in the meantime shift no page.
    await place({ id: 6, created_at: '2026-01-06T12:00:00Z' })
    const second = await list(String(first.links.next))
    expect(second.ids).toEqual([3, 2])
    const third = await list(String(second.links.next))
    expect([third.ids, Object.keys(third.links)]).toEqual([[1], ['previous']])
    const back = await list(String(third.links.previous))
    expect([back.ids, Object.keys(back.links)]).toEqual([
      [3, 2],
      ['previous', 'next'],
    ])
  })

  it('keeps its order across pages', async () => {
    await placeDays(3)
    const first = await list('order=updated_at%20asc&limit=2')
    expect(first.ids).toEqual([1, 2])
    expect((await list(String(first.links.next))).ids).toEqual([3])
  })

  it('shows 50 at a time', async () => {
    for (let n = 0; n < 51; n += 1) await place({})
    const page = await list('')
    expect([page.ids.length, Object.keys(page.links)]).toEqual([50, ['next']])
    expect((await list('limit=250')).ids).toHaveLength(51)
  })

  it.each([
    ['limit=0', { limit: 'must be a number from 1 to 250' }],
    ['limit=251', { limit: 'must be a number from 1 to 250' }],
    ['status=lost', { status: 'is invalid' }],
    ['order=name', { order: 'is invalid' }],
    ['created_at_min=yesterday', { created_at_min: 'is invalid' }],
    ['page_info=nonsense', { page_info: 'Invalid value.' }],
    ['page_info=x&status=any', 'status cannot be passed when page_info is provided'],
    ['page_info=x&updated_at_min=2026-01-01', 'updated_at_min cannot be passed when page_info is provided'],
  ])('refuses %s', async (query, errors) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { errors } })
  })

  it('is refused as often as set, while single orders are not', async () => {
    await place({ id: 7 })
    await control('/settings', { shop_limited_lists: 2 })
    const one = await fetch(`${simulator.storefrontUrl}/admin/api/2026-07/orders/7.json`, { headers })
    expect(one.status).toBe(200)
    for (const _time of [1, 2]) expect(await list('')).toMatchObject({ status: 429, retryAfter: '2.0' })
    expect(await list('')).toMatchObject({ status: 200, ids: [7] })
    await control('/settings', { shop_answers: 'limited' })
    expect((await list('')).status).toBe(429)
  })
})

describe('the list of the GraphQL API', () => {
  interface Connection {
    nodes: Array<Record<string, unknown>>
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
  }

  async function changed(first: number, query = '', after: string | null = null): Promise<Connection> {
    const text = `query Changed($first: Int!, $after: String, $query: String!) {
      orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
        nodes { legacyResourceId } # the ids
        pageInfo { hasNextPage endCursor }
      }
    }`
    const { data } = (await ask(text, { first, after, query })) as { data: { orders: Connection } }
    return data.orders
  }

  const idsOf = ({ nodes }: Connection) => nodes.map(({ legacyResourceId }) => legacyResourceId)

  it('has pages, oldest change first', async () => {
    await placeDays(3)
    await place({ id: 1, created_at: '2026-01-01T12:00:00Z', updated_at: '2026-02-01T12:00:00Z' })
    const first = await changed(2)
    expect([idsOf(first), first.pageInfo.hasNextPage]).toEqual([['2', '3'], true])
    const last = await changed(2, '', first.pageInfo.endCursor)
    expect([idsOf(last), last.pageInfo.hasNextPage]).toEqual([['1'], false])
    expect(await changed(2, '', last.pageInfo.endCursor)).toEqual({
      nodes: [],
      pageInfo: { hasNextPage: false, endCursor: null },
    })
  })

  it.each([
    ["updated_at:>='2026-01-02T12:00:00Z'", ['2', '3', '4']],
    ['updated_at:>2026-01-02T12:00:00Z', ['3', '4']],
    ['created_at:<="2026-01-02T12:00:00Z"', ['1', '2']],
    ['updated_at:>=2026-01-02 AND updated_at:<2026-01-04', ['2', '3']],
    ['created_at:>2026-01-02 processed_at:<2026-01-04', ['2', '3']],
  ])('is filtered by %s', async (query, ids) => {
    await placeDays(4)
    expect(idsOf(await changed(10, query))).toEqual(ids)
  })

  it('can start with the newest, and has edges too', async () => {
    await placeDays(2)
    const { data } = await ask(
      '{ orders(first: 1, sortKey: CREATED_AT, reverse: true) { edges { cursor node { name } } pageInfo { startCursor } } }',
    )
    expect(data).toEqual({
      orders: {
        edges: [{ cursor: expect.any(String), node: { name: '#1002' } }],
        pageInfo: { startCursor: expect.any(String) },
      },
    })
  })

  it('contains all amounts of an order and the source of its buyer', async () => {
    await place({
      id: 7,
      total_price: '598.94',
      currency: 'USD',
      financial_status: 'partially_refunded',
      landing_site: '/collections/new?utm_source=chat&utm_campaign=Spring+Sale&utm_source=twice',
      created_at: '2026-01-01T12:00:00Z',
      updated_at: '2026-01-02T12:00:00Z',
    })
    const visit = '{ landingPage utmParameters { source campaign } }'
    const { data } = await ask(`{ orders(first: 5) { nodes {
      id legacyResourceId name number test cancelledAt createdAt processedAt updatedAt displayFinancialStatus
      totalPriceSet { shopMoney { amount currencyCode } }
      customerJourneySummary { ready firstVisit ${visit} lastVisit ${visit} }
    } } }`)
    const shownVisit = {
      landingPage: '/collections/new?utm_source=chat&utm_campaign=Spring+Sale&utm_source=twice',
      utmParameters: { source: 'chat', campaign: 'Spring Sale' },
    }
    expect(data).toEqual({
      orders: {
        nodes: [
          {
            id: 'gid://shopify/Order/7',
            legacyResourceId: '7',
            name: '#1001',
            number: 1001,
            test: false,
            cancelledAt: null,
            createdAt: '2026-01-01T12:00:00Z',
            processedAt: '2026-01-01T12:00:00Z',
            updatedAt: '2026-01-02T12:00:00Z',
            displayFinancialStatus: 'PARTIALLY_REFUNDED',
            totalPriceSet: { shopMoney: { amount: '598.94', currencyCode: 'USD' } },
            customerJourneySummary: { ready: true, firstVisit: shownVisit, lastVisit: shownVisit },
          },
        ],
      },
    })
  })

  it.each([
    [{}, { ready: true, firstVisit: null, lastVisit: null }],
    [{ landing_site: '/' }, { ready: true, firstVisit: { utmParameters: null }, lastVisit: { utmParameters: null } }],
    [
      { landing_site: '/', journey: { ready: false } },
      { ready: false, firstVisit: null, lastVisit: null },
    ],
    [
      { landing_site: '/', journey: { first_visit: 'https://shop.example/?utm_source=a', last_visit: null } },
      { ready: true, firstVisit: { utmParameters: { source: 'a' } }, lastVisit: null },
    ],
  ])('contains the journey of %j', async (order, journey) => {
    await place(order)
    const visit = '{ utmParameters { source } }'
    const { data } = await ask(
      `{ orders(first: 1) { nodes { customerJourneySummary { ready firstVisit ${visit} lastVisit ${visit} } } } }`,
    )
    expect(data).toEqual({ orders: { nodes: [{ customerJourneySummary: journey }] } })
    const [shown] = (await list('')).body.orders as object[]
    expect(shown).not.toHaveProperty('journey')
  })

  it.each([
    ['{ orders(first: 5) { nodes { nothing } } }', 'undefinedField'],
    ['{ orders(first: 5) { nodes { totalPriceSet } } }', 'selectionMismatch'],
    ['{ orders(first: 5) { nodes { name { first } } } }', 'selectionMismatch'],
    ['{ orders(first: 5) { nodes { name }', 'parseError'],
    ['mutation { orders(first: 5) { nodes { name } } }', 'parseError'],
    ['{ orders { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 251) { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 5, last: 5) { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 5, sortKey: NAME) { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 5, after: "nonsense") { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 5, query: "name:x") { nodes { name } } }', 'argumentLiteralsIncompatible'],
    ['{ orders(first: 5, query: "sold_at:>2026-01-01") { nodes { name } } }', 'argumentLiteralsIncompatible'],
  ])('returns an error for %s', async (query, code) => {
    await place({})
    const body = await ask(query)
    expect(body.errors).toMatchObject([{ message: expect.any(String), extensions: { code } }])
    expect(body).not.toHaveProperty('data')
  })

  it('is refused as often as set, while single orders are not', async () => {
    await place({ id: 7 })
    await control('/settings', { shop_limited_lists: 1 })
    const one = '{ order(id: "gid://shopify/Order/7") { number } }'
    expect(await ask(one)).toMatchObject({ data: { order: { number: 1001 } } })
    const orders = '{ orders(first: 1) { nodes { number } } }'
    expect(await ask(orders)).toMatchObject({ errors: [{ extensions: { code: 'THROTTLED' } }] })
    expect(await ask(orders)).toMatchObject({ data: { orders: { nodes: [{ number: 1001 }] } } })
  })
})

describe('an order', () => {
  it('is updated when it is created, and again when it is changed', async () => {
    const placed = { id: 7, created_at: '2026-01-01T12:00:00Z' }
    expect((await control('/shop/orders', placed)).body.order).toMatchObject({ updated_at: '2026-01-01T12:00:00Z' })
    const { updated_at: updatedAt } = (await control('/shop/orders', placed)).body.order as { updated_at: string }
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse('2026-01-01T12:00:00Z'))
  })

  it.each([{ journey: [] }, { journey: { ready: 'no' } }, { journey: { visits: 1 } }, { closed_at: 'never' }])(
    'is refused with %j',
    async (order) => {
      expect((await control('/shop/orders', order)).status).toBe(400)
    },
  )
})

describe('a webhook of the storefront', () => {
  interface Received {
    headers: IncomingHttpHeaders
    raw: string
  }

  async function startShopReceiver(status = 200): Promise<{ url: string; received: Received[] }> {
    const received: Received[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      received.push({ headers: request.headers, raw: Buffer.concat(chunks).toString() })
      response.writeHead(status).end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
  }

  it('is signed over its raw body, which contains only the order', async () => {
    const { url, received } = await startShopReceiver()
    const order = { id: 7, name: 'Número 7', journey: { ready: false } }
    const sent = await control('/shop/webhooks', {
      url,
      secret: 's3cret',
      order,
      topic: 'orders/paid',
      webhook_id: 'w-1',
    })
    expect(sent).toMatchObject({ status: 200, body: { success: true, status: 200 } })
    const [{ headers: given, raw } = { headers: {}, raw: '' }] = received
    expect(given).toMatchObject({
      'content-type': 'application/json',
      'x-shopify-topic': 'orders/paid',
      'x-shopify-webhook-id': 'w-1',
      'x-shopify-triggered-at': expect.stringMatching(/^\d{4}-.*Z$/),
      'x-shopify-hmac-sha256': createHmac('sha256', 's3cret').update(raw).digest('base64'),
    })
    expect(JSON.parse(raw)).toMatchObject({ id: 7, name: 'Número 7', total_price: '100.00' })
    expect(JSON.parse(raw)).not.toHaveProperty('journey')
    expect((await list('')).ids).toEqual([])
  })

  it('may be sent several times for an order, each time with a new id', async () => {
    const { url, received } = await startShopReceiver(503)
    await place({ id: 7, total_price: '598.94' })
    for (const _time of [1, 2]) {
      const { body } = await control('/shop/webhooks', { url, secret: 's', order: 7 })
      expect(body).toEqual({ success: false, status: 503 })
    }
    expect(received.map(({ raw }) => JSON.parse(raw))).toMatchObject([{ total_price: '598.94' }, { id: 7 }])
    expect(received[0]?.headers['x-shopify-topic']).toBe('orders/create')
    expect(new Set(received.map(({ headers: given }) => given['x-shopify-webhook-id'])).size).toBe(2)
  })

  it('reports a receiver that does not accept it', async () => {
    const { body } = await control('/shop/webhooks', { url: 'http://127.0.0.1:1/', secret: 's', order: {} })
    expect(body).toEqual({ success: false, status: null })
  })

  it.each([
    [{ secret: 's', order: {} }, 400, 'url is required'],
    [{ url: 'ftp://a/', secret: 's', order: {} }, 400, 'url must be an http or https URL'],
    [{ url: 'http://a/', order: {} }, 400, 'secret is required'],
    [{ url: 'http://a/', secret: 's' }, 400, 'order is required'],
    [{ url: 'http://a/', secret: 's', order: 'x' }, 400, 'order must be an object or the id'],
    [{ url: 'http://a/', secret: 's', order: { test: 1 } }, 400, 'test must be true or false'],
    [{ url: 'http://a/', secret: 's', order: {}, topic: 7 }, 400, 'topic must be a string'],
    [{ url: 'http://a/', secret: 's', order: 8 }, 404, 'There is no order 8'],
  ])('is not sent for %j', async (body, status, message) => {
    expect(await control('/shop/webhooks', body)).toMatchObject({
      status,
      body: { success: false, message: expect.stringContaining(message) },
    })
  })
})
