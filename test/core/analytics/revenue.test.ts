import { beforeEach, describe, expect, it } from 'vitest'
import { type CampaignSources, findRevenue } from '../../../src/core/analytics/revenue.js'
import { newId } from '../../../src/lib/bytes/id.js'
import type { Organization } from '../../../src/model/organizations/organization.js'
import { resolveUtmCampaigns } from '../../../src/storage/storefront/short-links.js'
import { connectStorefront, postOrders } from '../../support/storefront.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let codes = 0

beforeEach(async () => {
  organization = await world.createOrganization({ currency: 'BRL' })
  await connectStorefront(world, organization)
})

const landing = (campaign: string, source = 'whatsapp') =>
  `/sale?${new URLSearchParams({ utm_source: source, utm_campaign: campaign })}`

const tell = (...orders: Record<string, unknown>[]) => postOrders(world, organization, ...orders)

const find = (sources: Partial<CampaignSources>, { id }: TestOrganization = organization) =>
  findRevenue(world.app.ctx, { id, currency: 'BRL', attribution_window_days: 7 } as Organization, {
    ...{ codes: [], campaigns: [], broadcastId: newId(), sent: null },
    ...sources,
  })

async function link(campaign: string | null, { key }: TestOrganization = organization): Promise<string> {
  const query = campaign === null ? '' : `?${new URLSearchParams({ utm_source: 'whatsapp', utm_campaign: campaign })}`
  const body = { redirect_url: `https://shop.example/sale${query}`, code: `revenue-${++codes}` }
  await world.request('POST', '/shortlinks', { key, body })
  return body.code
}

const nothing = {
  totalRevenue: 0,
  currency: 'BRL',
  orderCount: 0,
  avgOrderValue: 0,
  utmCampaign: null,
  utmCampaigns: [],
  orders: [],
  otherCurrencies: [],
  attributed: { totalRevenue: 0, orderCount: 0, avgOrderValue: 0, currency: 'BRL', window_days: 7 },
}

describe('revenue', () => {
  it('sums the orders of a campaign and of its suffixes, one entry each', async () => {
    await tell(
      { name: '#1', landing_site: landing('Natal'), total_price: '10.10', processed_at: '2026-03-01T10:00:00Z' },
      {
        name: '#2',
        landing_site: landing('natal_ViewMore'),
        total_price: '20.20',
        processed_at: '2026-03-02T10:00:00Z',
      },
      {
        name: '#3',
        landing_site: landing('NATAL_view_more'),
        total_price: '0.05',
        processed_at: '2026-03-03T10:00:00Z',
      },
      { name: '#4', landing_site: landing('natal_VM'), total_price: '1.00', processed_at: '2026-03-04T10:00:00Z' },
      { name: '#5', landing_site: landing('nAtal_vm'), total_price: '2.00', processed_at: '2026-03-05T10:00:00Z' },
      { name: '#6', landing_site: landing('natalvm') },
      { name: '#7', landing_site: landing('natal_vm_vm') },
      { name: '#8', landing_site: landing('xnatal') },
    )
    expect(await find({ codes: [await link('Natal')] })).toEqual({
      totalRevenue: 33.35,
      currency: 'BRL',
      orderCount: 5,
      avgOrderValue: 6.67,
      utmCampaign: 'Natal',
      utmCampaigns: [
        { campaign: 'Natal', orderCount: 1, revenue: 10.1, avgOrderValue: 10.1 },
        { campaign: 'Natal_viewmore', orderCount: 1, revenue: 20.2, avgOrderValue: 20.2 },
        { campaign: 'Natal_view_more', orderCount: 1, revenue: 0.05, avgOrderValue: 0.05 },
        { campaign: 'Natal_vm', orderCount: 2, revenue: 3, avgOrderValue: 1.5 },
      ],
      orders: [
        ['#5', 2, '2026-03-05', 'nAtal_vm'],
        ['#4', 1, '2026-03-04', 'natal_VM'],
        ['#3', 0.05, '2026-03-03', 'NATAL_view_more'],
        ['#2', 20.2, '2026-03-02', 'natal_ViewMore'],
        ['#1', 10.1, '2026-03-01', 'Natal'],
      ].map(([orderName, totalPrice, day, utmCampaign]) => ({
        orderName,
        totalPrice,
        currency: 'BRL',
        orderDate: `${day}T10:00:00.000Z`,
        financialStatus: 'paid',
        utmCampaign,
        attributed: false,
      })),
      otherCurrencies: [],
      attributed: nothing.attributed,
    })
  })

  it('adds decimals, not floats, and rounds an average half up', async () => {
    await tell(
      ...Array.from({ length: 10 }, () => ({ landing_site: landing('dimes'), total_price: '0.10' })),
      { landing_site: landing('half'), total_price: '0.01' },
      { landing_site: landing('half'), total_price: '0.02' },
      { landing_site: landing('big'), total_price: '9007199254.09' },
      { landing_site: landing('big'), total_price: '0.01' },
    )
    expect(await find({ campaigns: ['dimes'] })).toMatchObject({ totalRevenue: 1, avgOrderValue: 0.1 })
    expect(await find({ campaigns: ['half'] })).toMatchObject({ totalRevenue: 0.03, avgOrderValue: 0.02 })
    expect(await find({ campaigns: ['big'] })).toMatchObject({
      totalRevenue: 9_007_199_254.1,
      avgOrderValue: 4_503_599_627.05,
    })
  })

  it('accepts the names of the channel as sources in any case, and no others', async () => {
    await tell(
      { landing_site: landing('natal', 'whatsapp'), total_price: '1.00' },
      { landing_site: landing('natal', 'WhatsApp'), total_price: '2.00' },
      { landing_site: landing('natal', 'CHAT'), total_price: '4.00' },
      { landing_site: landing('natal', 'google'), total_price: '8.00' },
      { landing_site: '/?utm_campaign=natal', total_price: '16.00' },
      { landing_site: '/wallets/checkouts.json', total_price: '32.00' },
      { landing_site: null, total_price: '64.00' },
    )
    expect(await find({ campaigns: ['natal'] })).toMatchObject({ totalRevenue: 7, orderCount: 3 })
  })

  it('leaves out tests and cancelled orders, and counts the rest regardless of payment status', async () => {
    const landing_site = landing('natal')
    await tell(
      { landing_site, total_price: '1.00', test: true },
      { landing_site, total_price: '2.00', cancelled_at: '2026-03-02T10:00:00Z' },
      ...['paid', 'pending', 'voided', 'refunded', 'partially_refunded'].map((financial_status) => ({
        landing_site,
        total_price: '4.00',
        financial_status,
      })),
    )
    const revenue = await find({ campaigns: ['natal'] })
    expect(revenue).toMatchObject({ totalRevenue: 20, orderCount: 5 })
    expect(revenue.orders).toHaveLength(5)
  })

  it('drops an order that is cancelled later', async () => {
    const order = { id: 99, landing_site: landing('natal') }
    await tell(order)
    expect(await find({ campaigns: ['natal'] })).toMatchObject({ orderCount: 1 })
    const later = '2026-03-02T10:00:00Z'
    await tell({ ...order, cancelled_at: later, updated_at: later })
    expect(await find({ campaigns: ['natal'] })).toMatchObject({ orderCount: 0, orders: [] })
  })

  it('keeps currencies apart', async () => {
    const landing_site = landing('natal')
    await tell(
      { landing_site, total_price: '10.00', currency: 'BRL' },
      { landing_site, total_price: '1.25', currency: 'USD' },
      { landing_site, total_price: '2.25', currency: 'USD' },
      { landing_site: landing('natal_vm'), total_price: '5.00', currency: 'EUR' },
    )
    const revenue = await find({ campaigns: ['natal'] })
    expect(revenue).toMatchObject({
      totalRevenue: 10,
      orderCount: 1,
      avgOrderValue: 10,
      utmCampaigns: [{ campaign: 'natal', orderCount: 1, revenue: 10, avgOrderValue: 10 }],
      otherCurrencies: [
        { currency: 'EUR', totalRevenue: 5, orderCount: 1 },
        { currency: 'USD', totalRevenue: 3.5, orderCount: 2 },
      ],
    })
    expect(revenue.orders.map(({ currency }) => currency).sort()).toEqual(['BRL', 'EUR', 'USD', 'USD'])
  })

  it('of several campaigns counts each order once', async () => {
    await tell(
      { landing_site: landing('natal'), total_price: '1.00' },
      { landing_site: landing('natal_vm'), total_price: '2.00' },
      { landing_site: landing('pascoa'), total_price: '4.00' },
    )
    // natal_vm is a separate campaign here, and also one of the suffixes of natal.
    const all = [await link('natal'), await link('Natal'), await link('natal_vm')]
    expect(await find({ codes: all, campaigns: ['pascoa', 'NATAL'] })).toMatchObject({
      totalRevenue: 7,
      orderCount: 3,
      utmCampaign: 'natal',
      utmCampaigns: [{ campaign: 'natal' }, { campaign: 'natal_vm' }, { campaign: 'pascoa' }],
    })
  })

  it('finds campaigns with spaces and other letters in any case', async () => {
    await tell(
      { landing_site: '/?utm_source=chat&utm_campaign=PROMO%C3%87%C3%83O+de+VER%C3%83O', total_price: '3.00' },
      { landing_site: '/?utm_source=chat&utm_campaign=50%-off', total_price: '5.00' },
    )
    expect(await find({ codes: [await link('Promoção de Verão')] })).toMatchObject({
      totalRevenue: 3,
      utmCampaign: 'Promoção de Verão',
      utmCampaigns: [{ campaign: 'Promoção de Verão' }],
    })
    expect(await find({ codes: [await link('50%-OFF')] })).toMatchObject({ totalRevenue: 5 })
  })

  it('lists the newest 1,000 orders and sums all', async () => {
    await world.database.pool.query(
      `INSERT INTO storefront_orders (organization_id, id, name, total_price, currency, ordered_at, utm_source, utm_campaign,
         campaign, is_test, updated_at)
       SELECT $1, n::text, '#' || n, 1.01, 'BRL', timestamptz '2026-01-01' + n * interval '1 minute', 'chat', 'Many', 'many',
         false, now()
       FROM generate_series(1, 1200) n`,
      [organization.id],
    )
    const revenue = await find({ campaigns: ['many'] })
    expect(revenue).toMatchObject({ totalRevenue: 1_212, orderCount: 1_200, avgOrderValue: 1.01 })
    expect(revenue.orders.map(({ orderName }) => orderName)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `#${1_200 - index}`),
    )
  })

  it('excludes the orders of another organization', async () => {
    const other = await world.createOrganization()
    await connectStorefront(world, other)
    await tell({ landing_site: landing('natal') })
    const code = await link('natal')
    expect(await find({ campaigns: ['natal'] }, other)).toEqual({ ...nothing, utmCampaign: 'natal' })
    expect(await find({ codes: [code] }, other)).toEqual(nothing)
    expect(await find({ codes: [code] })).toMatchObject({ orderCount: 1 })
  })

  it.each<[title: string, sources: Partial<CampaignSources>]>([
    ['codes and campaigns', {}],
    ['a working code', { codes: ['', 'unknown-code', '/', 'a b', '\0'] }],
  ])('is zeros without %s', async (_title, sources) => {
    await tell({ landing_site: landing('natal') })
    expect(await find(sources)).toEqual(nothing)
  })

  it('is zeros with a link without a campaign, and without a storefront', async () => {
    expect(await find({ codes: [await link(null)] })).toEqual(nothing)
    const lonely = await world.createOrganization()
    expect(await find({ codes: [await link('natal', lonely)] }, lonely)).toEqual(nothing)
  })
})

describe('the campaigns of button values', () => {
  it('are found by the short code in each, once, in order', async () => {
    const [first, second] = [await link('Natal'), await link('Pascoa')]
    const values = [
      `offers/${second}?x=1`,
      first,
      `${first}#top`,
      'unknown-code',
      `https://chat.example/s/${second}/`,
      '',
    ]
    expect(await resolveUtmCampaigns(world.database, organization.id, values)).toEqual(['Pascoa', 'Natal'])
    const other = await world.createOrganization()
    expect(await resolveUtmCampaigns(world.database, other.id, values)).toEqual([])
  })
})
