import { parse } from 'csv-parse/sync'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RangeRevenue } from '../../../src/model/broadcasts/revenue.js'
import type { StorefrontOrder } from '../../../src/model/broadcasts/storefront-order.js'
import { putStorefrontOrders } from '../../../src/storage/storefront/orders.js'
import { seedCampaign, seedRecipient } from '../../support/campaigns.js'
import { type SignedInMember, signIn } from '../../support/console.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'
const MARCH = { startDate: '2026-03-01', endDate: '2026-03-31' }

const world = useWorld()
let organization: TestOrganization
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  stranger = await signIn(world, await world.createOrganization())
})
beforeEach(async () => {
  organization = await world.createOrganization()
  owner = await signIn(world, organization)
})

type Question = Record<string, string>

const ask = (question: Question, by = owner) => by.call('GET', `/analytics/export?${new URLSearchParams(question)}`)

/** The rows of a table, and its file's name. */
async function tableOf(question: Question) {
  const { status, headers, body } = await ask(question)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [header, ...rows]: string[][] = parse(body, { bom: true })
  return { name: headers.get('content-disposition'), header, rows }
}

/** A campaign's revenue has separate cells. */
function toCells({ revenue, ...row }: { revenue?: RangeRevenue }): object {
  if (revenue === undefined) return row
  const { attributed, totalRevenue: campaignRevenue, orderCount: campaignOrders, currency } = revenue
  const { totalRevenue: attributedRevenue, orderCount: attributedOrders } = attributed
  return { ...row, attributedRevenue, attributedOrders, campaignRevenue, campaignOrders, currency }
}

/** The answer of /broadcast-analytics, as cells of a table with these columns. */
async function figuresOf(question: string, pick: (data: never) => object[]) {
  const { body } = await owner.call('GET', `/broadcast-analytics?${question}`)
  const rows = pick(body.data as never)
  return rows.map(toCells).map((row) => Object.values(row).map((value) => String(value ?? '')))
}

describe('the tables of a range', () => {
  beforeEach(async () => {
    const counts = { total: 10, sent: 8, delivered: 6, read: 3, failed: 2, 'error: 131026': 2 }
    await seedCampaign(world, organization, { name: 'Spring', counts })
    await seedCampaign(world, organization, { kind: 'singles', template: 'hello', counts: { total: 2, sent: 2 } })
    await seedCampaign(world, organization, { started_at: '2026-04-01T12:00:00Z', counts: { total: 99, sent: 99 } })
  })

  it.each([
    ['campaigns', 'campaignPerformance', 2],
    ['days', 'timeSeriesData', 31],
    ['templates', 'templateAnalytics', 2],
    ['errors', 'errorAnalysis', 1],
  ] as const)('contain the figures of /broadcast-analytics: %s', async (table, name, count) => {
    const { rows, header, name: disposition } = await tableOf({ table, ...MARCH })
    const pick = (data: Record<string, object[]>) => data[name] as object[]
    const query = 'start_date=2026-03-01&end_date=2026-03-31'
    expect(rows).toEqual(await figuresOf(query, pick))
    expect(rows).toHaveLength(count)
    const { body } = await owner.call('GET', `/broadcast-analytics?${query}`)
    expect(header).toEqual(Object.keys(toCells(body.data[name][0])))
    expect(disposition).toBe(`attachment; filename="${table}-2026-03-01-2026-03-31.csv"`)
  })

  it('have only a header without data', async () => {
    const { header, rows } = await tableOf({ table: 'campaigns', startDate: '2025-01-01', endDate: '2025-01-31' })
    expect([header?.[0], rows]).toEqual(['broadcastId', []])
  })

  it('contain no formulas', async () => {
    await seedCampaign(world, organization, { name: '=HYPERLINK("http://evil.example")' })
    const { rows } = await tableOf({ table: 'campaigns', ...MARCH })
    expect(rows.map((row) => row[1])).toContain(`'=HYPERLINK("http://evil.example")`)
  })

  it('contain nothing of another organization', async () => {
    const { body } = await ask({ table: 'campaigns', ...MARCH }, stranger)
    expect(parse(body, { bom: true })).toHaveLength(1)
  })

  it.each([
    [{ startDate: '2026-03-01' }, 'Missing required parameter', 'endDate'],
    [{ startDate: 'never', endDate: '2026-03-31' }, 'Invalid parameter', 'startDate'],
    [{ startDate: '2026-03-31', endDate: '2026-03-01' }, 'Invalid parameter', 'startDate'],
    [{ startDate: '2000-01-01', endDate: '2026-03-31' }, 'Invalid parameter', 'endDate'],
  ])('return 400 for %j', async (range, error, name) => {
    const { status, body } = await ask({ table: 'days', ...(range as Question) })
    expect([status, body.error, body.message]).toEqual([400, error, expect.stringContaining(name)])
  })
})

describe('the tables of a broadcast', () => {
  it('contain the figures of /broadcast-analytics for buttons', async () => {
    const counts = { sent: 4, delivered: 4, 'button: Sim': 3 }
    const id = await seedCampaign(world, organization, { buttons: ['Sim', 'Não'], counts })
    const { header, rows, name } = await tableOf({ table: 'buttons', broadcast_id: id })
    expect(header).toEqual(['buttonText', 'clicks', 'conversionRate'])
    expect(rows).toEqual([
      ['Sim', '3', '75'],
      ['Não', '0', '0'],
    ])
    expect(name).toBe(`attachment; filename="buttons-${id}.csv"`)
  })

  it('contain the orders of its revenue', async () => {
    const shop = { url: 'https://shop.example', access_token: 'token', webhook_secret: 'secret' }
    await world.admin('PUT', `/organizations/${organization.id}/storefront`, shop)
    const code = `abc-${organization.slug}`
    const redirect_url = 'https://shop.example/?utm_source=chat&utm_campaign=spring'
    await world.request('POST', '/shortlinks', { key: organization.key, body: { redirect_url, code } })
    const at = new Date('2026-03-11T10:00:00Z')
    const order: StorefrontOrder = {
      id: '1',
      name: '#1001',
      total_price: '10.5',
      currency: 'BRL',
      ordered_at: at,
      financial_status: null,
      utm_source: 'chat',
      utm_campaign: 'spring',
      contact_id: null,
      is_test: false,
      cancelled_at: null,
      updated_at: at,
    }
    await putStorefrontOrders(world.database, organization.id, [order], null)
    const id = await seedCampaign(world, organization, { parameters: { buttons: { param1: code } } })
    const { header, rows } = await tableOf({ table: 'orders', broadcast_id: id })
    expect(header).toEqual([
      'orderName',
      'totalPrice',
      'currency',
      'orderDate',
      'financialStatus',
      'utmCampaign',
      'attributed',
    ])
    expect(rows).toEqual([['#1001', '10.5', 'BRL', at.toISOString(), '', 'spring', 'false']])
  })

  it('contain the same recipients as /broadcasts/{id}/recipients', async () => {
    const id = await seedCampaign(world, organization, { prepared_n: 1 })
    await seedRecipient(world, organization, id, { n: 1 })
    const { headers, body } = await ask({ table: 'recipients', broadcast_id: id })
    expect(headers.get('content-disposition')).toBe(`attachment; filename="recipients-${id}.csv"`)
    expect(body).toBe((await owner.call('GET', `/broadcasts/${id}/recipients?format=csv`)).body)
    expect(parse(body, { bom: true })).toHaveLength(2)
  })

  it.each(['recipients', 'orders', 'buttons'])(
    "return 404 for %s of another organization's broadcast, and of an unknown one",
    async (table) => {
      const id = await seedCampaign(world, organization)
      for (const answer of [
        await ask({ table, broadcast_id: id }, stranger),
        await ask({ table, broadcast_id: NO_ID }),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([404, 'Broadcast not found'])
        expect(answer.headers.get('content-disposition')).toBeNull()
      }
    },
  )

  it('return 400 without a broadcast', async () => {
    const { status, body } = await ask({ table: 'orders', ...MARCH })
    expect([status, body.error]).toEqual([400, 'Missing required parameter'])
    expect(body.message).toContain('broadcast_id')
  })
})

it.each([
  [{}, 'Missing required parameter'],
  [{ table: 'secrets' }, 'Invalid parameter'],
])('an unknown table %j returns 400', async (question, error) => {
  const { status, body } = await ask(question as Question)
  expect([status, body.error, body.message]).toEqual([400, error, expect.stringContaining('table')])
})

it('every role may export', async () => {
  for (const role of ['agent', 'analyst'] as const) {
    const member = await signIn(world, organization, { role })
    expect((await ask({ table: 'days', ...MARCH }, member)).status).toBe(200)
  }
})

it('exporting requires a session', async () => {
  expect((await world.request('GET', '/console/api/analytics/export?table=days')).status).toBe(401)
})
