import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/index.js'
import { type Answer, call } from '../../support/simulator.js'

const sample = JSON.parse(
  readFileSync(new URL('../../samples/shop-order-get.rest-2026-07.json', import.meta.url), 'utf8'),
) as { order: Record<string, unknown> }

let simulator: Simulator

beforeEach(async () => {
  simulator = await startSimulator()
})
afterEach(() => simulator.close())

function control(method: string, path: string, body?: object): Promise<Answer> {
  return call(method, `${simulator.url}/_sim${path}`, body)
}

async function place(order: object): Promise<Record<string, unknown>> {
  const { status, body } = await control('POST', '/shop/orders', order)
  expect(status).toBe(200)
  return body.order as Record<string, unknown>
}

async function ask(
  method: string,
  path: string,
  body?: object,
  token = 'token',
): Promise<Answer & { headers: Headers }> {
  const response = await fetch(`${simulator.storefrontUrl}/admin/api/2026-07${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body: answer }
}

function query(text: string, variables?: object): Promise<Answer> {
  return ask('POST', '/graphql.json', { query: text, variables })
}

describe('orders', () => {
  it('have sensible defaults, each with the next id', async () => {
    const first = await place({})
    expect(first).toMatchObject({
      id: 450789469,
      admin_graphql_api_id: 'gid://shopify/Order/450789469',
      name: '#1001',
      order_number: 1001,
      number: 1,
      total_price: '100.00',
      financial_status: 'paid',
      landing_site: null,
      test: false,
      cancelled_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(await place({ id: 600_000_000, order_number: 2000 })).toMatchObject({ name: '#2000', number: 2 })
    expect(await place({ id: 5 })).toMatchObject({ id: 5, order_number: 2001, number: 3 })
    expect(await place({})).toMatchObject({ id: 600_000_001, order_number: 2002, number: 4 })
  })

  it('have the types of the published sample', async () => {
    const order = await place({ landing_site: '/?utm_source=chat', referring_site: 'https://example.com' })
    for (const [field, value] of Object.entries(order)) {
      expect(sample.order, field).toHaveProperty(field)
      expect(typeof value, field).toBe(typeof sample.order[field])
    }
  })

  it('keep all given fields, and can be changed by their id', async () => {
    await place({ id: 7, note_attributes: [{ name: 'a', value: 'b' }] })
    await place({ id: 7, financial_status: 'refunded', cancelled_at: '2026-01-01T00:00:00Z', name: 'LJ7' })
    const { body } = await control('GET', '/shop/orders')
    expect(body.orders).toMatchObject([{ id: 7, name: 'LJ7', financial_status: 'refunded' }])
    await place({ ...sample.order })
    expect((await ask('GET', `/orders/${sample.order.id}.json`)).body).toEqual(sample)
  })

  it.each([
    [{ id: '7' }, 'id must be a whole number'],
    [{ order_number: 0 }, 'order_number must be a whole number'],
    [{ total_price: 10 }, 'total_price must be a string with an amount'],
    [{ name: '' }, 'name must be a string that is not empty'],
    [{ landing_site: 1 }, 'landing_site must be a string or null'],
    [{ test: 'no' }, 'test must be true or false'],
    [{ created_at: 'yesterday' }, 'created_at must be a moment'],
    [{ cancelled_at: '' }, 'cancelled_at must be a moment in ISO 8601 or null'],
  ])('refuse %j', async (order, message) => {
    expect(await control('POST', '/shop/orders', order)).toMatchObject({
      status: 400,
      body: { error: 'Invalid field', message: expect.stringContaining(message) },
    })
    expect((await control('GET', '/shop/orders')).body.orders).toEqual([])
  })

  it('are deleted by a reset, along with the settings', async () => {
    await place({})
    await control('POST', '/settings', { shop_answers: 'down', shop_graphql: false })
    await control('POST', '/reset')
    expect((await control('GET', '/shop/orders')).body).toEqual({ success: true, orders: [] })
    expect(await place({})).toMatchObject({ id: 450789469, order_number: 1001, number: 1 })
    expect((await query('{ order(id: "gid://shopify/Order/450789469") { name } }')).body).toMatchObject({
      data: { order: { name: '#1001' } },
    })
  })
})

describe('the REST API', () => {
  it('returns the order, or its requested fields', async () => {
    const order = await place({ id: 7 })
    expect(await ask('GET', '/orders/7.json')).toMatchObject({ status: 200, body: { order } })
    const { body } = await ask('GET', '/orders/7.json?fields=id,name,order_number,nothing')
    expect(body).toEqual({ order: { id: 7, name: '#1001', order_number: 1001 } })
  })

  it.each(['/orders/8.json', '/orders/x.json', '/orders/7', '/nothing'])('returns 404 at %s', async (path) => {
    await place({ id: 7 })
    expect(await ask('GET', path)).toMatchObject({ status: 404, body: { errors: 'Not Found' } })
  })
})

describe('the GraphQL API', () => {
  it('returns the requested fields of an order named by a variable', async () => {
    await place({ id: 7, order_number: 1042 })
    const { status, body } = await query('query Q($id: ID!) { order(id: $id) { name number } }', {
      id: 'gid://shopify/Order/7',
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { order: { name: '#1042', number: 1042 } },
      extensions: { cost: expect.objectContaining({ requestedQueryCost: 1 }) },
    })
  })

  it('returns an order named in the query, with the field names of GraphQL', async () => {
    await place({ id: 7, total_price: '598.94', currency: 'USD', financial_status: 'partially_refunded' })
    const { body } = await query(
      '{ order(id: "gid://shopify/Order/7") { id displayFinancialStatus totalPriceSet { shopMoney { amount currencyCode } } } }',
    )
    expect(body.data).toEqual({
      order: {
        id: 'gid://shopify/Order/7',
        displayFinancialStatus: 'PARTIALLY_REFUNDED',
        totalPriceSet: { shopMoney: { amount: '598.94', currencyCode: 'USD' } },
      },
    })
  })

  it('returns null for an unknown order', async () => {
    const { body } = await query('{ order(id: "gid://shopify/Order/7") { name } }')
    expect(body.data).toEqual({ order: null })
  })

  it.each([
    ['{ shop { name } }', undefined, 'undefinedField'],
    ['query Q($id: ID!) { order(id: $id) { name } }', { id: '7' }, 'INVALID_VARIABLE'],
    ['query Q($id: ID!) { order(id: $id) { name } }', {}, 'INVALID_VARIABLE'],
  ])('returns an error for %s', async (text, variables, code) => {
    const { status, body } = await query(text, variables)
    expect(status).toBe(200)
    expect(body.errors).toMatchObject([{ message: expect.any(String), extensions: { code } }])
    expect(body).not.toHaveProperty('data')
  })

  it('requires a query', async () => {
    expect(await ask('POST', '/graphql.json', {})).toMatchObject({
      status: 400,
      body: { errors: { query: expect.any(String) } },
    })
  })

  it('can be switched off', async () => {
    await control('POST', '/settings', { shop_graphql: false })
    expect(await query('{ order(id: "gid://shopify/Order/7") { name } }')).toMatchObject({ status: 404 })
  })
})

describe('the storefront', () => {
  const order = 'order(id: "gid://shopify/Order/7") { name }'

  it.each(['', 'refused-token'])('requires a token, and refuses %j', async (token) => {
    await place({ id: 7 })
    for (const answer of [
      await ask('GET', '/orders/7.json', undefined, token),
      await ask('POST', '/graphql.json', { query: `{ ${order} }` }, token),
    ]) {
      expect(answer).toMatchObject({ status: 401, body: { errors: expect.stringContaining('Invalid API key') } })
    }
    expect((await call('GET', `${simulator.storefrontUrl}/admin/api/2026-07/orders/7.json`)).status).toBe(401)
  })

  it('reports a rate limit in the form of each API', async () => {
    await control('POST', '/settings', { shop_answers: 'limited' })
    const rest = await ask('GET', '/orders/7.json')
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([429, '2.0'])
    expect(await query(`{ ${order} }`)).toMatchObject({
      status: 200,
      body: {
        errors: [{ extensions: { code: 'THROTTLED' } }],
        extensions: { cost: { requestedQueryCost: 1, throttleStatus: { currentlyAvailable: 0, restoreRate: 100 } } },
      },
    })
  })

  it('can be switched to unavailable', async () => {
    await control('POST', '/settings', { shop_answers: 'down' })
    expect((await ask('GET', '/orders/7.json')).status).toBe(503)
    expect((await query(`{ ${order} }`)).status).toBe(503)
  })

  it('can stay silent until the simulator ends', async () => {
    await control('POST', '/settings', { shop_answers: 'silent' })
    const asked = ask('GET', '/orders/7.json').catch(() => 'hung up')
    const first = await Promise.race([asked, control('GET', '/shop/orders')])
    expect(first).toMatchObject({ body: { success: true } })
    await simulator.close()
    expect(await asked).toBe('hung up')
  })

  it('accepts only known kinds of answers', async () => {
    expect(await control('POST', '/settings', { shop_answers: 'odd' })).toMatchObject({
      status: 400,
      body: { message: 'shop_answers must be one of normal, limited, down, silent' },
    })
  })
})
