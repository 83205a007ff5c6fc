import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scheduleOrderSyncs, syncOrders, syncOrdersAsJob } from '../../../src/core/storefront/sync.js'
import { type Answering, type HttpServer, json, startHttpServer } from '../../support/http-server.js'
import { connectStorefront, ordersOf, postOrders } from '../../support/storefront.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

afterEach(() => world.reset())

const sell = (order: object) => world.sim('POST', '/shop/orders', order)
const ago = (ms: number) => new Date(world.now().getTime() - ms).toISOString()
const idsOf = async (one = organization) => (await ordersOf(world, one)).map(({ id }) => Number(id))
const connect = (one = organization) => connectStorefront(world, one, { url: world.simulator.storefrontUrl })
const sync = (one = organization) => syncOrders(world.app.ctx, one.id)

async function cursorOf({ id }: TestOrganization) {
  const { rows } = await world.database.pool.query(
    `SELECT orders_synced_until AS until, orders_synced_at IS NOT NULL AS "isSynced"
     FROM storefront_settings WHERE organization_id = $1`,
    [id],
  )
  return rows[0]
}

async function runHourly(): Promise<void> {
  await scheduleOrderSyncs(world.app.ctx)
  await world.drain()
}

it.each([true, false])('a newly connected storefront is asked for the orders of 60 days (GraphQL: %s)', async (on) => {
  await world.sim('POST', '/settings', { shop_graphql: on })
  await sell({ id: 1, created_at: ago(61 * DAY) })
  await sell({ id: 2, created_at: ago(59 * DAY), landing_site: '/?utm_source=Chat&utm_campaign=Natal' })
  await sell({ id: 3, created_at: ago(DAY), updated_at: ago(HOUR) })
  await connect()
  await world.drain()
  expect(await ordersOf(world, organization)).toMatchObject([
    { id: '2', utm_source: 'chat', utm_campaign: 'Natal', campaign: 'natal' },
    { id: '3' },
  ])
  const { until, isSynced } = await cursorOf(organization)
  expect(isSynced).toBe(true)
  expect(Math.abs(until.getTime() - (world.now().getTime() - HOUR))).toBeLessThan(60_000)
})

it('every storefront is asked every hour for changed orders', async () => {
  await connect()
  await world.drain()
  await sell({ id: 1 })
  const other = await world.createOrganization()
  await connect(other)
  await runHourly()
  expect(await idsOf()).toEqual([1])
  expect(await idsOf(other)).toEqual([1])
  await sell({ id: 1, financial_status: 'refunded' })
  await sell({ id: 2 })
  await runHourly()
  expect(await ordersOf(world, organization)).toMatchObject([{ id: '1', financial_status: 'refunded' }, { id: '2' }])
})

it('a storefront with a pending job gets no second job, and one with failed jobs gets a new one', async () => {
  await connect()
  const { pool } = world.database
  const waiting = async () => {
    const { rows } = await pool.query(
      `SELECT attempts, failed_at IS NOT NULL AS failed FROM jobs WHERE task = 'sync_orders'`,
    )
    return rows
  }
  await scheduleOrderSyncs(world.app.ctx)
  await scheduleOrderSyncs(world.app.ctx)
  expect(await waiting()).toEqual([{ attempts: 0, failed: false }])
  await pool.query('UPDATE jobs SET attempts = 25, failed_at = now()')
  await scheduleOrderSyncs(world.app.ctx)
  expect(await waiting()).toEqual([{ attempts: 0, failed: false }])
})

it('visits that the shop learns about after the order are read within the next hours', async () => {
  const created_at = ago(HOUR)
  const landing_site = '/?utm_source=chat&utm_campaign=natal'
  await sell({ id: 1, created_at, landing_site, journey: { ready: false } })
  await connect()
  await world.drain()
  expect(await ordersOf(world, organization)).toMatchObject([{ campaign: null }])
  await sell({ id: 1, created_at, updated_at: created_at, landing_site })
  await runHourly()
  expect(await ordersOf(world, organization)).toMatchObject([{ campaign: 'natal' }])
})

it('visits from a webhook stay if the shop knows none', async () => {
  const at = ago(HOUR)
  const order = { id: 1, created_at: at, processed_at: at, updated_at: at }
  await connect()
  await postOrders(world, organization, { ...order, landing_site: '/?utm_source=chat&utm_campaign=natal' })
  await sell({ ...order, journey: { ready: false } })
  await world.drain()
  expect(await ordersOf(world, organization)).toMatchObject([{ campaign: 'natal', utm_source: 'chat' }])
})

it('a shop that reports a rate limit is asked again later', async () => {
  await world.sim('POST', '/settings', { shop_limited_lists: 1 })
  await sell({ id: 1 })
  await connect()
  expect(await sync()).toEqual({ outcome: 'done', orders: 1 })
})

it('another storefront is asked from the beginning, the same one is not', async () => {
  await sell({ id: 1 })
  await connect()
  await world.drain()
  const { until } = await cursorOf(organization)
  await connect()
  expect((await cursorOf(organization)).until).toEqual(until)
  await connectStorefront(world, organization, { url: `${world.simulator.storefrontUrl}/` })
  expect((await cursorOf(organization)).until).toBeNull()
})

it('an organization without a storefront is skipped', async () => {
  expect(await sync()).toEqual({ outcome: 'not_connected', orders: 0 })
})

describe('with a scripted server', () => {
  let server: HttpServer
  let pages: Answering[]

  beforeEach(async () => {
    pages = []
    server = await startHttpServer((request, response) => (pages.shift() ?? json(503, {}))(request, response))
    await connectStorefront(world, organization, { url: server.url })
  })
  afterEach(() => server.close())

  const node = (id: number, at: string) => ({
    id: `gid://shopify/Order/${id}`,
    createdAt: at,
    updatedAt: at,
    totalPriceSet: { shopMoney: { amount: '1.00', currencyCode: 'BRL' } },
  })
  const page = (nodes: object[], next: string | null) =>
    json(200, { data: { orders: { nodes, pageInfo: { hasNextPage: next !== null, endCursor: next } } } })
  const asked = () => server.taken.map(({ body }) => JSON.parse(String(body)).variables)

  it('an interrupted sync continues where it stopped', async () => {
    const [first, second] = [ago(3 * DAY), ago(2 * DAY)]
    pages = [page([node(1, first)], 'a'), page([node(2, second)], 'b')]
    expect(await sync()).toEqual({ outcome: 'unavailable', text: 'HTTP 503', orders: 2 })
    expect(await cursorOf(organization)).toEqual({ until: new Date(second), isSynced: false })
    pages = [page([node(3, ago(DAY))], null)]
    expect(await sync()).toEqual({ outcome: 'done', orders: 1 })
    expect(asked().map(({ after }) => after)).toEqual([null, 'a', 'b', null])
    const overlap = new Date(Date.parse(second) - 2 * HOUR).toISOString()
    expect(asked().at(-1).query).toBe(`updated_at:>='${overlap}'`)
    expect(await idsOf()).toEqual([1, 2, 3])
  })

  it('a list in another order yields no position before its end', async () => {
    pages = [page([node(2, ago(DAY)), node(1, ago(2 * DAY))], 'a')]
    expect(await sync()).toMatchObject({ outcome: 'unavailable' })
    expect((await cursorOf(organization)).until).toBeNull()
    pages = [page([node(2, ago(DAY))], 'a'), page([node(1, ago(2 * DAY))], null)]
    await sync()
    const { until } = await cursorOf(organization)
    expect(Math.abs(until.getTime() - (world.now().getTime() - DAY))).toBeLessThan(60_000)
  })

  it('a long list continues in a further job', async () => {
    const start = world.now().getTime() - 50 * DAY
    pages = Array.from({ length: 200 }, (_, n) =>
      page([node(n, new Date(start + n * 6 * HOUR).toISOString())], `p${n}`),
    )
    pages.push(page([node(1_000, ago(HOUR))], null))
    await world.drain()
    expect(asked().map(({ after }) => after)).toEqual([null, ...Array.from({ length: 199 }, (_, n) => `p${n}`), null])
    expect(await idsOf()).toHaveLength(201)
    expect((await cursorOf(organization)).isSynced).toBe(true)
  })

  describe('in a job', () => {
    const job = async () => {
      const { rows } = await world.database.pool.query(
        "SELECT payload, process_id FROM jobs WHERE task = 'sync_orders'",
      )
      return rows[0]
    }
    const run = async () => {
      const { payload } = await job()
      const again = await syncOrdersAsJob(world.app.ctx, organization.id, payload.list ?? null)
      await world.database.pool.query("UPDATE jobs SET payload = $1 WHERE task = 'sync_orders'", [again?.payload ?? {}])
      return again
    }
    const slowly =
      (answer: Answering): Answering =>
      (request, response) => {
        world.advance(HOUR / 2)
        return answer(request, response)
      }

    it.each([
      ['in order', [1, 2]],
      ['in another order', [2, 1]],
    ])('a slow list %s gives its place back, and continues at the next page', async (title, ids) => {
      const nodes = ids.map((id) => node(id, ago((3 - id) * DAY)))
      pages = [slowly(page(nodes, 'a')), page([node(3, ago(HOUR))], null)]
      expect(await run()).toMatchObject({ againInMs: 0 })
      expect((await cursorOf(organization)).until !== null).toBe(title === 'in order')
      expect(await run()).toBeNull()
      expect(asked().map(({ after }) => after)).toEqual([null, 'a'])
      expect(await idsOf()).toEqual([1, 2, 3])
      expect((await cursorOf(organization)).isSynced).toBe(true)
    })

    it('a shop that asks to wait keeps no place meanwhile', async () => {
      pages = [page([node(1, ago(DAY))], 'a'), json(429, {}, { 'retry-after': '30' }), page([node(2, ago(HOUR))], null)]
      expect(await run()).toMatchObject({ againInMs: 30_000 })
      expect(await run()).toBeNull()
      expect(asked().map(({ after }) => after)).toEqual([null, 'a', 'a'])
      expect(await idsOf()).toEqual([1, 2])
    })

    it('a slice whose process died is repeated, which records nothing twice', async () => {
      pages = [slowly(page([node(1, ago(2 * DAY))], 'a')), page([node(2, ago(DAY))], 'b')]
      await run()
      const { payload } = await job()
      // Its process dies at the third page.
      await syncOrdersAsJob(world.app.ctx, organization.id, payload.list)
      pages = [page([node(2, ago(DAY))], 'b'), page([node(3, ago(HOUR))], null)]
      expect(await syncOrdersAsJob(world.app.ctx, organization.id, payload.list)).toBeNull()
      expect(asked().map(({ after }) => after)).toEqual([null, 'a', 'b', 'a', 'b'])
      expect(await idsOf()).toEqual([1, 2, 3])
    })

    it('the list of another storefront is not continued', async () => {
      pages = [slowly(page([node(1, ago(DAY))], 'a'))]
      await run()
      await connectStorefront(world, organization, { url: `${server.url}/` })
      pages = [page([node(2, ago(HOUR))], null)]
      expect(await run()).toBeNull()
      expect(asked().map(({ after }) => after)).toEqual([null, null])
    })
  })

  it('a shop that repeatedly asks to wait is left alone until the next hour', async () => {
    const limited = json(429, {}, { 'retry-after': '0.01' })
    pages = Array.from({ length: 6 }, () => limited)
    expect(await sync()).toEqual({ outcome: 'limited', retryAfterMs: 10, orders: 0 })
    pages = [json(429, {}, { 'retry-after': '3600' })]
    expect(await sync()).toEqual({ outcome: 'limited', retryAfterMs: 3_600_000, orders: 0 })
    expect(server.taken).toHaveLength(7)
  })

  it('a job of an unreachable storefront ends, and the next one tries again', async () => {
    await world.drain()
    const { rows } = await world.database.pool.query('SELECT count(*)::int AS jobs FROM jobs')
    expect(rows[0].jobs).toBe(0)
    pages = [page([node(1, ago(HOUR))], null)]
    await runHourly()
    expect(await idsOf()).toEqual([1])
  })

  it('a replaced storefront is not mistaken for the new one', async () => {
    pages = [
      async (request, response) => {
        await connectStorefront(world, organization, { url: 'http://127.0.0.1:9' })
        page([node(1, ago(HOUR))], null)(request, response)
      },
    ]
    expect(await sync()).toMatchObject({ outcome: 'not_connected' })
    expect((await cursorOf(organization)).until).toBeNull()
  })
})
