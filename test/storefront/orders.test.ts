import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/index.js'
import { createAddressGuard } from '../../src/lib/http/address-guard.js'
import {
  createStorefrontClient,
  type ListOrdersOutcome,
  type OrderCursor,
  type OrderPage,
  type ShopOrder,
  type StorefrontClient,
} from '../../src/storefront/client.js'
import { type Answering, bare, type HttpServer, json, startHttpServer } from '../support/http-server.js'
import { call } from '../support/simulator.js'

const accessToken = 'shpat_token-of-the-test'
const SINCE = new Date('2026-03-01T00:00:00Z')

let client: StorefrontClient

beforeEach(() => {
  client = createStorefrontClient(createAddressGuard(['127.0.0.0/8']))
})
afterEach(() => client.close())

function pageOf(listed: ListOrdersOutcome): OrderPage {
  if (listed.outcome !== 'listed') throw new Error(JSON.stringify(listed))
  return listed.page
}

describe.each([
  ['GraphQL', true],
  ['REST', false],
])('listing orders by %s of the simulator', (api, shop_graphql) => {
  let simulator: Simulator

  beforeEach(async () => {
    simulator = await startSimulator()
    await control('/settings', { shop_graphql })
  })
  afterEach(() => simulator.close())

  const control = (path: string, body: object) => call('POST', `${simulator.url}/_sim${path}`, body)
  const list = (cursor: OrderCursor | null = null, token = accessToken) =>
    client.listOrders({ url: simulator.storefrontUrl, accessToken: token }, SINCE, cursor)

  async function listAll(): Promise<ShopOrder[]> {
    const orders: ShopOrder[] = []
    for (let cursor: OrderCursor | null = null; ; ) {
      const page = pageOf(await list(cursor))
      orders.push(...page.orders)
      cursor = page.next
      if (cursor === null) return orders
    }
  }

  it('returns complete orders', async () => {
    await control('/shop/orders', {
      id: 777,
      name: 'LJ#1042-BR',
      total_price: '1234.50',
      currency: 'USD',
      financial_status: 'partially_refunded',
      landing_site: '/sale?utm_source=WhatsApp&utm_campaign=Natal',
      created_at: '2026-03-02T10:00:00-03:00',
      processed_at: '2026-03-02T09:00:00-03:00',
      updated_at: '2026-03-03T00:00:00Z',
    })
    const page = pageOf(await list())
    expect(page).toMatchObject({ unreadable: 0, next: null })
    expect(page.orders).toEqual([
      {
        id: '777',
        name: 'LJ#1042-BR',
        totalPrice: '1234.50',
        currency: 'USD',
        orderedAt: new Date('2026-03-02T12:00:00Z'),
        financialStatus: 'partially_refunded',
        landingPage: '/sale?utm_source=WhatsApp&utm_campaign=Natal',
        utm: api === 'REST' ? null : { source: 'WhatsApp', campaign: 'Natal' },
        isTest: false,
        cancelledAt: null,
        updatedAt: new Date('2026-03-03T00:00:00Z'),
        buyer: { emails: [], phones: [] },
      },
    ])
  })

  it('includes closed, cancelled and test orders', async () => {
    const at = '2026-03-02T10:00:00Z'
    await control('/shop/orders', { id: 1, created_at: at, cancelled_at: at })
    await control('/shop/orders', { id: 2, created_at: at, closed_at: at })
    await control('/shop/orders', { id: 3, created_at: at, test: true })
    const orders = (await listAll()).sort((one, other) => Number(one.id) - Number(other.id))
    expect(orders).toMatchObject([
      { id: '1', cancelledAt: new Date(at), isTest: false },
      { id: '2', cancelledAt: null, isTest: false },
      { id: '3', cancelledAt: null, isTest: true },
    ])
  })

  it('returns only orders changed since the given time', async () => {
    await control('/shop/orders', { id: 1, created_at: '2026-02-01T00:00:00Z' })
    await control('/shop/orders', { id: 2, created_at: '2026-02-01T00:00:00Z', updated_at: SINCE.toISOString() })
    expect(await listAll()).toMatchObject([{ id: '2' }])
  })

  it('reads all pages', async () => {
    const start = Date.parse('2026-03-02T00:00:00Z')
    for (let n = 1; n <= 205; n++) {
      await control('/shop/orders', { id: n, created_at: new Date(start + n * 1_000).toISOString() })
    }
    const first = pageOf(await list())
    expect(first).toMatchObject({ unreadable: 0, next: { api: shop_graphql ? 'graphql' : 'rest' } })
    expect(first.orders).toHaveLength(100)
    const all = await listAll()
    expect(all.map(({ id }) => Number(id)).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 205 }, (_, index) => index + 1),
    )
  })

  it('reports a refused token', async () => {
    expect(await list(null, 'refused-token')).toMatchObject({ outcome: 'credentials_rejected' })
    expect(await list(null, '')).toMatchObject({ outcome: 'credentials_rejected' })
  })

  it('reports the wait after a rate limit', async () => {
    await control('/settings', { shop_limited_lists: 1 })
    expect(await list()).toEqual({ outcome: 'limited', retryAfterMs: shop_graphql ? 1_000 : 2_000 })
    expect(await list()).toMatchObject({ outcome: 'listed' })
  })

  it('reports an unavailable shop', async () => {
    await control('/settings', { shop_answers: 'down' })
    expect(await list()).toEqual({ outcome: 'unavailable', text: 'HTTP 503: Service Unavailable' })
  })
})

describe('the visits of an order in GraphQL', () => {
  let simulator: Simulator

  beforeEach(async () => {
    simulator = await startSimulator()
  })
  afterEach(() => simulator.close())

  async function listWith(fields: object): Promise<ShopOrder | undefined> {
    const order = { id: 1, created_at: '2026-03-02T00:00:00Z', ...fields }
    await call('POST', `${simulator.url}/_sim/shop/orders`, order)
    return pageOf(await client.listOrders({ url: simulator.storefrontUrl, accessToken }, SINCE, null)).orders[0]
  }

  const first_visit = '/?utm_source=chat&utm_campaign=first'
  const last_visit = '/?utm_source=chat&utm_campaign=last'

  it.each([
    ['the last one counts', { first_visit, last_visit }, last_visit],
    ['the first one, if there is no other', { first_visit, last_visit: null }, first_visit],
    ['none, while the shop computes them', { ready: false, first_visit, last_visit }, null],
  ])('are read: %s', async (_title, journey, landingPage) => {
    expect(await listWith({ landing_site: '/?utm_campaign=rest', journey })).toMatchObject({ landingPage })
  })
})

describe('listing orders of any server', () => {
  let answer: Answering
  let server: HttpServer

  beforeEach(async () => {
    server = await startHttpServer((request, response) => answer(request, response))
  })
  afterEach(() => server.close())

  const list = (cursor: OrderCursor | null = null, url = `${server.url}/my/shop/`) =>
    client.listOrders({ url, accessToken }, SINCE, cursor)
  const graphql = (orders: unknown, rest: object = {}) => json(200, { data: { orders }, ...rest })
  const node = (fields: object = {}) => ({
    id: 'gid://shopify/Order/1',
    createdAt: '2026-03-02T00:00:00Z',
    updatedAt: '2026-03-02T00:00:00Z',
    totalPriceSet: { shopMoney: { amount: '1.0', currencyCode: 'BRL' } },
    ...fields,
  })

  it('asks GraphQL for the earliest changes, below the path of the URL, with the token', async () => {
    answer = graphql({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null } })
    expect(await list()).toEqual({ outcome: 'listed', page: { orders: [], unreadable: 0, next: null } })
    const [asked] = server.taken
    expect(asked?.path).toBe('/my/shop/admin/api/2026-07/graphql.json')
    expect(asked?.headers['x-shopify-access-token']).toBe(accessToken)
    const { query, variables } = JSON.parse(String(asked?.body))
    expect(variables).toEqual({ first: 100, after: null, query: "updated_at:>='2026-03-01T00:00:00.000Z'" })
    expect(query).toContain('sortKey: UPDATED_AT')
  })

  it('asks REST for all orders, and on further pages only for the allowed parameters', async () => {
    answer = (request, response) => {
      if (request.method === 'POST') return json(404, {})(request, response)
      const link =
        '<https://evil.test/x?page_info=before>; rel="previous", <https://evil.test/x?limit=1&page_info=a%2Bb>; rel="next"'
      return json(200, { orders: [] }, request.path.includes('page_info') ? {} : { link })(request, response)
    }
    const { next } = pageOf(await list())
    expect(next).toEqual({ api: 'rest', place: 'a+b' })
    expect(pageOf(await list(next)).next).toBeNull()
    const [, first, second] = server.taken.map(({ path }) => new URL(path, server.url))
    expect(first?.pathname).toBe('/my/shop/admin/api/2026-07/orders.json')
    expect(Object.fromEntries(first?.searchParams ?? [])).toEqual({
      status: 'any',
      updated_at_min: '2026-03-01T00:00:00.000Z',
      order: 'updated_at asc',
      limit: '100',
      fields: expect.stringContaining('landing_site'),
    })
    expect([...(second?.searchParams.keys() ?? [])].sort()).toEqual(['fields', 'limit', 'page_info'])
    expect(second?.searchParams.get('page_info')).toBe('a+b')
  })

  it('returns orders even if some fields cannot be read', async () => {
    const errors = [{ message: 'no access to customerJourneySummary', extensions: { code: 'ACCESS_DENIED' } }]
    answer = graphql({ nodes: [node({ customerJourneySummary: null })] }, { errors })
    expect(pageOf(await list()).orders).toMatchObject([{ id: '1', landingPage: null, utm: null }])
  })

  it("returns the shop's own reading of a visit with its landing page", async () => {
    const lastVisit = { landingPage: '/', utmParameters: { source: 'chat', campaign: 'natal' } }
    answer = graphql({ nodes: [node({ customerJourneySummary: { firstVisit: null, lastVisit } })] })
    expect(pageOf(await list()).orders).toMatchObject([
      { landingPage: '/', utm: { source: 'chat', campaign: 'natal' } },
    ])
  })

  it('counts orders that cannot be read', async () => {
    const broken = [
      node({ id: null }),
      node({ id: 'gid://shopify/Customer/1' }),
      node({ updatedAt: 'yesterday' }),
      node({ updatedAt: '2026-03-02' }),
      node({ createdAt: null }),
      node({ totalPriceSet: null }),
      node({ totalPriceSet: { shopMoney: { amount: '1,00', currencyCode: 'BRL' } } }),
      node({ totalPriceSet: { shopMoney: { amount: '1.00', currencyCode: 'reais' } } }),
    ]
    answer = graphql({ nodes: [node(), ...broken, 'text', null] })
    const page = pageOf(await list())
    expect(page.orders).toHaveLength(1)
    expect(page.unreadable).toBe(broken.length)
  })

  it.each<[title: string, answering: Answering, expected: object]>([
    ['THROTTLED', json(200, { errors: [{ message: 'x', extensions: { code: 'THROTTLED' } }] }), { outcome: 'limited' }],
    ['429 with Retry-After', json(429, {}, { 'retry-after': '7' }), { outcome: 'limited', retryAfterMs: 7_000 }],
    [
      'ACCESS_DENIED',
      json(200, { errors: [{ message: 'x', extensions: { code: 'ACCESS_DENIED' } }] }),
      { outcome: 'credentials_rejected', text: 'x' },
    ],
    ['401', json(401, { errors: `no ${accessToken}` }), { outcome: 'credentials_rejected', text: 'HTTP 401: no …' }],
    ['an answer without orders', json(200, { data: {} }), { outcome: 'unavailable' }],
    ['an answer that is not JSON', bare(200), { outcome: 'unavailable' }],
    ['a redirect', bare(302, { location: 'https://evil.test/' }), { outcome: 'unavailable' }],
  ])('reports %s', async (_title, answering, expected) => {
    answer = answering
    expect(await list()).toMatchObject(expected)
  })

  it('reports a GraphQL API that disappears between two pages', async () => {
    answer = json(404, {})
    expect(await list({ api: 'graphql', place: 'x' })).toMatchObject({ outcome: 'unavailable' })
    expect(server.taken).toHaveLength(1)
  })

  it('refuses a private address before anything is sent', async () => {
    const guarded = createStorefrontClient(createAddressGuard([]))
    onTestFinished(() => guarded.close())
    expect(await guarded.listOrders({ url: server.url, accessToken }, SINCE, null)).toMatchObject({
      outcome: 'unavailable',
      text: expect.stringContaining('private'),
    })
    expect(server.taken).toEqual([])
  })
})
