import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/index.js'
import { createAddressGuard } from '../../src/lib/http/address-guard.js'
import { createStorefrontClient, readOrderId, type StorefrontClient } from '../../src/storefront/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { call } from '../support/simulator.js'

const guard = createAddressGuard(['127.0.0.0/8'])
const accessToken = 'shpat_token-of-the-test'
const SHORT_MS = 100
/** Short, but enough for an answer of this machine. */
const MEDIUM_MS = 1_000

let client: StorefrontClient

beforeEach(() => {
  client = createStorefrontClient(guard)
})
afterEach(() => client.close())

describe('the storefront client with the simulator', () => {
  let simulator: Simulator

  beforeEach(async () => {
    simulator = await startSimulator()
    await control('/shop/orders', { id: 777, order_number: 1042, name: 'LJ#1042-BR' })
  })
  afterEach(() => simulator.close())

  function control(path: string, body: object) {
    return call('POST', `${simulator.url}/_sim${path}`, body)
  }

  const findOrder = (orderId: string, token = accessToken) =>
    client.findOrder({ url: simulator.storefrontUrl, accessToken: token }, orderId)

  const found = { outcome: 'found', order: { number: '1042', name: 'LJ#1042-BR' } }

  it('finds an order by GraphQL, whether or not the URL ends in a slash', async () => {
    expect(await findOrder('777')).toEqual(found)
    expect(await client.findOrder({ url: `${simulator.storefrontUrl}/`, accessToken }, '777')).toEqual(found)
  })

  it('finds an order by REST if there is no GraphQL', async () => {
    await control('/settings', { shop_graphql: false })
    expect(await findOrder('777')).toEqual(found)
  })

  it.each([true, false])('reports an unknown order (GraphQL: %s)', async (shop_graphql) => {
    await control('/settings', { shop_graphql })
    expect(await findOrder('778')).toEqual({ outcome: 'not_found' })
  })

  it.each([true, false])('reports a refused token (GraphQL: %s)', async (shop_graphql) => {
    await control('/settings', { shop_graphql })
    expect(await findOrder('777', 'refused-token')).toEqual({
      outcome: 'credentials_rejected',
      text: 'HTTP 401: [API] Invalid API key or access token (unrecognized login or wrong password)',
    })
  })

  it.each([
    [true, 1_000],
    [false, 2_000],
  ])('reports the wait after a rate limit (GraphQL: %s)', async (shop_graphql, retryAfterMs) => {
    await control('/settings', { shop_graphql, shop_answers: 'limited' })
    expect(await findOrder('777')).toEqual({ outcome: 'limited', retryAfterMs })
  })

  it('reports an unavailable shop', async () => {
    await control('/settings', { shop_answers: 'down' })
    expect(await findOrder('777')).toEqual({ outcome: 'unavailable', text: 'HTTP 503: Service Unavailable' })
  })

  it('gives up a shop that never answers', async () => {
    await control('/settings', { shop_answers: 'silent' })
    const hasty = createStorefrontClient(guard, SHORT_MS)
    onTestFinished(() => hasty.close())
    expect(await hasty.findOrder({ url: simulator.storefrontUrl, accessToken }, '777')).toEqual({
      outcome: 'unavailable',
      text: 'no answer within 0.1 s',
    })
  })

  it('ends running look-ups when it is closed', async () => {
    await control('/settings', { shop_answers: 'silent' })
    const lookUp = findOrder('777')
    await client.close()
    expect(await lookUp).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('the storefront client with any server', () => {
  let answer: Answering
  let server: HttpServer

  beforeEach(async () => {
    server = await startHttpServer((request, response) => answer(request, response))
  })
  afterEach(() => server.close())

  const findOrder = (token = accessToken, url = `${server.url}/my/shop/?a=b#c`) =>
    client.findOrder({ url, accessToken: token }, '5')

  /** Answers GraphQL with 404, and REST with `rest`. */
  function restOnly(rest: Answering): Answering {
    const missing = json(404, { errors: 'Not Found' })
    return (request, response) => (request.method === 'POST' ? missing : rest)(request, response)
  }

  function graphqlOrder(order: unknown): Answering {
    return json(200, { data: { order } })
  }

  function graphqlError(code: string, message: unknown, cost?: object): Answering {
    return json(200, { data: null, errors: [{ message, extensions: { code } }], extensions: { cost } })
  }

  it('asks GraphQL first, below the path of the URL, with the token', async () => {
    answer = graphqlOrder({ name: '#1001', number: 1001 })
    expect(await findOrder()).toEqual({ outcome: 'found', order: { number: '1001', name: '#1001' } })
    expect(server.taken).toHaveLength(1)
    expect(server.taken[0]).toMatchObject({
      method: 'POST',
      path: '/my/shop/admin/api/2026-07/graphql.json',
      headers: { 'x-shopify-access-token': accessToken, 'content-type': 'application/json' },
    })
    expect(JSON.parse(String(server.taken[0]?.body))).toEqual({
      query: expect.stringContaining('order(id: $id)'),
      variables: { id: 'gid://shopify/Order/5' },
    })
  })

  it('asks REST if GraphQL answers 404, for only the needed fields', async () => {
    answer = restOnly(json(200, { order: { id: 5, name: '#1001', order_number: 1001 } }))
    expect(await findOrder()).toEqual({ outcome: 'found', order: { number: '1001', name: '#1001' } })
    expect(server.taken[1]).toMatchObject({
      method: 'GET',
      path: '/my/shop/admin/api/2026-07/orders/5.json?fields=id,name,order_number',
      headers: { 'x-shopify-access-token': accessToken },
    })
  })

  it.each<[string, unknown, unknown, object]>([
    ['digits are a number too', '1001', '#1001', { number: '1001', name: '#1001' }],
    ['an invalid number is left out', 1.5, '#1001', { number: null, name: '#1001' }],
    ['a negative number is left out', -7, '#1001', { number: null, name: '#1001' }],
    ['an unsafe integer is left out', 2 ** 53, '#1001', { number: null, name: '#1001' }],
    ['a text without only digits is left out', '10 01', '#1001', { number: null, name: '#1001' }],
    ['a list is left out', [1001], ['#1001', 1], { number: null, name: null }],
    ['an empty name is left out', 1001, ' ', { number: '1001', name: null }],
    ['a name of 200 characters is kept', null, 'n'.repeat(200), { number: null, name: 'n'.repeat(200) }],
    ['a name of 201 characters is left out', 1001, 'n'.repeat(201), { number: '1001', name: null }],
    ['a name that cannot be stored is left out', 1001, 'a\u0000', { number: '1001', name: null }],
  ])('%s', async (_title, number, name, order) => {
    const isNamed = Object.values(order).some((value) => value !== null)
    const expected = isNamed ? { outcome: 'found', order } : { outcome: 'unavailable', text: expect.any(String) }
    answer = graphqlOrder({ name, number })
    expect(await findOrder()).toEqual(expected)
    answer = restOnly(json(200, { order: { name, order_number: number } }))
    expect(await findOrder()).toEqual(expected)
  })

  it('accepts an order next to an error as far as it is complete', async () => {
    const errors = [{ message: 'no access to number', extensions: { code: 'ACCESS_DENIED' } }]
    answer = json(200, { data: { order: { name: '#1001', number: null } }, errors })
    expect(await findOrder()).toEqual({ outcome: 'found', order: { number: null, name: '#1001' } })
  })

  it.each([
    ['a list', [{ message: 'Timeout' }]],
    ['a text', 'Timeout'],
  ])('does not treat an error without an order as an unknown order: %s', async (_title, errors) => {
    answer = json(200, { data: { order: null }, errors })
    expect(await findOrder()).toEqual({ outcome: 'unavailable', text: 'Timeout' })
  })

  it.each<[string, object | undefined, number]>([
    ['the missing points are restored', cost(150, 50, 50), 2_000],
    ['parts of a millisecond count whole', cost(1_000, 0, 300), 3_334],
    ['nothing is missing', cost(1, 10, 50), 1_000],
    ['a rate that restores next to nothing', cost(1_000, 0, 0.000_001), 24 * 3_600_000],
    ['a rate that restores nothing', cost(1_000, 0, 0), 2_000],
    ['the cost is missing', undefined, 2_000],
  ])('waits until the points of a throttled query are restored: %s', async (_title, told, retryAfterMs) => {
    answer = graphqlError('THROTTLED', 'Throttled', told)
    expect(await findOrder()).toEqual({ outcome: 'limited', retryAfterMs })
  })

  function cost(requestedQueryCost: number, currentlyAvailable: number, restoreRate: number): object {
    return { requestedQueryCost, throttleStatus: { maximumAvailable: 2_000, currentlyAvailable, restoreRate } }
  }

  it.each<[string, Answering, object]>([
    ['a 429 with Retry-After', bare(429, { 'retry-after': '7' }), { outcome: 'limited', retryAfterMs: 7_000 }],
    ['a bare 429', bare(429), { outcome: 'limited', retryAfterMs: 2_000 }],
    ['a 401', bare(401), { outcome: 'credentials_rejected', text: 'HTTP 401' }],
    ['a 403', json(403, { errors: 'Scope' }), { outcome: 'credentials_rejected', text: 'HTTP 403: Scope' }],
    ['a 402', json(402, { errors: 'Frozen' }), { outcome: 'unavailable', text: 'HTTP 402: Frozen' }],
    ['a 500', bare(500), { outcome: 'unavailable', text: 'HTTP 500' }],
    ['a page', bare(200), { outcome: 'unavailable', text: 'HTTP 200 without a JSON object' }],
    ['a list', json(200, []), { outcome: 'unavailable', text: 'HTTP 200 without a JSON object' }],
    ['an empty object', json(200, {}), { outcome: 'unavailable', text: expect.stringContaining('order') }],
    ['a lost connection', hangUp, { outcome: 'unavailable', text: expect.any(String) }],
  ])('treats %s of both APIs alike', async (_title, answering, expected) => {
    answer = answering
    expect(await findOrder()).toEqual(expected)
    expect(server.taken).toHaveLength(1)
    answer = restOnly(answering)
    expect(await findOrder()).toEqual(expected)
  })

  it.each<[string, Answering, object]>([
    [
      'a query that is not allowed',
      graphqlError('ACCESS_DENIED', 'Required access: `read_orders`'),
      { outcome: 'credentials_rejected', text: 'Required access: `read_orders`' },
    ],
    ['an error without a text', graphqlError('INTERNAL_SERVER_ERROR', null), { outcome: 'unavailable' }],
    ['any other error', graphqlError('BAD', 'Bad'), { outcome: 'unavailable', text: 'Bad' }],
  ])('reports %s of GraphQL', async (_title, answering, expected) => {
    answer = answering
    expect(await findOrder()).toMatchObject(expected)
  })

  it('does not follow a redirect, so that the token stays with the shop', async () => {
    const elsewhere = await startHttpServer(json(200, {}))
    onTestFinished(() => elsewhere.close())
    answer = bare(307, { location: elsewhere.url })
    expect(await findOrder()).toEqual({ outcome: 'unavailable', text: expect.stringContaining('redirects') })
    expect(elsewhere.taken).toEqual([])
  })

  it('never reveals the token, even if the shop repeats it, and shortens long texts', async () => {
    answer = json(401, { errors: `${accessToken} ${'x'.repeat(250)} ${accessToken} ${'y'.repeat(250)}` })
    const outcome = await findOrder()
    expect(outcome).toMatchObject({ outcome: 'credentials_rejected', text: expect.stringContaining('xxx') })
    const { text } = outcome as { text: string }
    expect(text).not.toContain('shpat')
    expect(text).toHaveLength(300)
  })

  it.each(['', 'two words', 'line\nbreak', 'é'])('does not send an invalid token: %j', async (token) => {
    expect(await findOrder(token)).toMatchObject({ outcome: 'credentials_rejected' })
    expect(server.taken).toEqual([])
  })

  it.each(['shop', 'ftp://shop.test', 'file:///etc/passwd', 'http://user:pass@127.0.0.1'])(
    'refuses the URL of another kind of server: %s',
    async (url) => {
      expect(await findOrder(accessToken, url)).toEqual({
        outcome: 'unavailable',
        text: expect.stringContaining("the shop's URL"),
      })
    },
  )

  it('refuses a private address before anything is sent', async () => {
    const guarded = createStorefrontClient(createAddressGuard([]))
    onTestFinished(() => guarded.close())
    expect(await guarded.findOrder({ url: server.url, accessToken }, '5')).toEqual({
      outcome: 'unavailable',
      text: expect.stringContaining('private'),
    })
    expect(server.taken).toEqual([])
  })

  it('reports a refused connection', async () => {
    await server.close()
    expect(await findOrder()).toEqual({ outcome: 'unavailable', text: expect.stringContaining('ECONNREFUSED') })
  })

  it('does not read an answer of more than 1 MB to its end', async () => {
    answer = graphqlOrder({ name: '#1001', number: 1001, note: 'x'.repeat(1_048_576) })
    expect(await findOrder()).toMatchObject({ outcome: 'unavailable' })
  })

  it('uses one deadline for both APIs', async () => {
    const hasty = createStorefrontClient(guard, MEDIUM_MS)
    onTestFinished(() => hasty.close())
    answer = restOnly(() => undefined)
    expect(await hasty.findOrder({ url: server.url, accessToken }, '5')).toEqual({
      outcome: 'unavailable',
      text: 'no answer within 1 s',
    })
    expect(server.taken.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  it('gives up a slow connection, and sends nothing later', async () => {
    const lookups: Array<() => void> = []
    const slowGuard = createAddressGuard(['127.0.0.0/8'], (_host, _options, callback) => {
      lookups.push(() => callback(null, [{ address: '127.0.0.1', family: 4 }]))
    })
    const hasty = createStorefrontClient(slowGuard, SHORT_MS)
    onTestFinished(() => hasty.close())
    const { port } = new URL(server.url)
    const url = `http://shop.test:${port}`
    expect(await hasty.findOrder({ url, accessToken }, '5')).toEqual({
      outcome: 'unavailable',
      text: 'no answer within 0.1 s',
    })
    answer = graphqlOrder({ name: '#1001', number: 1001 })
    for (const resolve of lookups.splice(0)) resolve()
    // Only later ones get through to the shop.
    await expect
      .poll(async () => {
        const next = hasty.findOrder({ url, accessToken }, '6')
        for (const resolve of lookups.splice(0)) resolve()
        return (await next).outcome
      })
      .toBe('found')
    expect(server.taken.map(({ body }) => JSON.parse(String(body)).variables.id)).not.toContain('gid://shopify/Order/5')
  })
})

it('reports a server that does not speak HTTP', async () => {
  const server = createServer((socket) => socket.end('220 mail.test ESMTP\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address() as { port: number }
  const shop = { url: `http://127.0.0.1:${address.port}`, accessToken }
  expect(await client.findOrder(shop, '5')).toEqual({ outcome: 'unavailable', text: expect.any(String) })
})

describe('order ids', () => {
  it.each([
    ['450789469', '450789469'],
    ['gid://shopify/Order/450789469', '450789469'],
    ['0', '0'],
    ['9'.repeat(20), '9'.repeat(20)],
  ])('include %s', (value, expected) => {
    expect(readOrderId(value)).toBe(expected)
  })

  it.each([
    ...['', ' 1', '1\n', '#1001', '-1', '1.5', '1e3', '٣', '9'.repeat(21)],
    ...[
      'gid://shopify/Order/',
      'gid://shopify/Customer/1',
      'gid://shopify/Order/1?a=b',
      'GID://shopify/Order/1',
      '1/../2',
    ],
  ])('do not include %j', (value) => {
    expect(readOrderId(value)).toBeNull()
  })
})
