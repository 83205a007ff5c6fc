import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { StorefrontOrder } from '../../../../src/model/broadcasts/storefront-order.js'
import { putStorefrontOrders } from '../../../../src/storage/storefront/orders.js'
import { seedCampaign, seedRecipient } from '../../../support/campaigns.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
const request = requestAsDescribed(world)
const other = useOrganization(world)
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization({ timezone: 'America/Sao_Paulo', currency: 'BRL' })
})

type Question = Record<string, string>

function get(question: Question, { key } = organization) {
  return request('GET', `/broadcast-analytics?${new URLSearchParams(question)}`, { key })
}

function post(body: unknown, headers: Record<string, string> = {}) {
  return request('POST', '/broadcast-analytics', { key: organization.key, body, headers })
}

/** The data of an answer, which must be the same for GET and POST. */
async function dataOf(question: Question) {
  const answer = await get(question)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  expect((await post(question)).body).toEqual(answer.body)
  return answer.body.data
}

const broadcast = (id: string) => dataOf({ broadcast_id: id })
const range = (start_date: string, end_date: string) => dataOf({ start_date, end_date })

const NO_REVENUE = {
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

const NO_RANGE_REVENUE = {
  totalRevenue: 0,
  currency: 'BRL',
  orderCount: 0,
  avgOrderValue: 0,
  attributed: NO_REVENUE.attributed,
}

describe('the analytics of one broadcast', () => {
  it.each([
    [{ sent: 4, delivered: 1, clicked: 2, 'button: Yes': 2 }, 100],
    [{ sent: 4, delivered: 1, clicked: 4, 'button: Yes': 2 }, 50],
    [{ sent: 4, delivered: 0, clicked: 2, 'button: Yes': 2 }, 0],
  ])(
    'show %j with a conversion rate of %d, because a contact that clicked was reached',
    async (counts, conversionRate) => {
      const id = await seedCampaign(world, organization, { buttons: ['Yes'], counts: { total: 4, ...counts } })
      expect((await broadcast(id)).allButtons).toEqual([{ buttonText: 'Yes', clicks: 2, conversionRate }])
    },
  )

  it('contain every field, counted from rolled-up and new counts', async () => {
    const id = await seedCampaign(world, organization, {
      name: 'Black Friday',
      template: 'offer',
      buttons: ['Yes', 'No', 'Later'],
      created_at: '2026-03-09T12:34:56.789Z',
      counts: { total: 8, sent: 6, delivered: 5, read: 2, failed: 1, 'error: 131026': 1, 'button: Yes': 1, clicked: 1 },
      deltas: { sent: 1, delivered: 1, read: 1, opted_out: 2, 'button: Later': 2, clicked: 1, skipped: 4 },
    })
    const data = await broadcast(id)
    expect(data).toEqual({
      broadcastInfo: {
        id,
        name: 'Black Friday',
        templateName: 'offer',
        createdAt: '2026-03-09T12:34:56.789Z',
        totalRecipients: 8,
      },
      deliveryStats: { sent: 7, delivered: 6, read: 3, failed: 1, deliveryRate: 85.71, readRate: 50 },
      conversionFunnel: { sent: 7, delivered: 6, read: 3, buttonClicked: 2, optedOut: 2 },
      buttonAnalytics: { quickReplyButton: 'Yes', quickReplyClicks: 1, quickReplyConversionRate: 16.67 },
      allButtons: [
        { buttonText: 'Yes', clicks: 1, conversionRate: 16.67 },
        { buttonText: 'No', clicks: 0, conversionRate: 0 },
        { buttonText: 'Later', clicks: 2, conversionRate: 33.33 },
      ],
      totalButtonClicks: 3,
      optOutAnalytics: { totalOptOuts: 2, optOutRate: 33.33 },
      revenue: NO_REVENUE,
    })
    expect(Object.keys(data.conversionFunnel)).toEqual(['sent', 'delivered', 'read', 'buttonClicked', 'optedOut'])
  })

  it('are zeros before the first message, and if the template has no quick replies', async () => {
    const id = await seedCampaign(world, organization, { status: 'scheduled', started_at: null, counts: { total: 3 } })
    expect(await broadcast(id)).toMatchObject({
      broadcastInfo: { totalRecipients: 3 },
      deliveryStats: { sent: 0, delivered: 0, read: 0, failed: 0, deliveryRate: 0, readRate: 0 },
      conversionFunnel: { sent: 0, delivered: 0, read: 0, buttonClicked: 0, optedOut: 0 },
      buttonAnalytics: null,
      allButtons: [],
      totalButtonClicks: 0,
      optOutAnalytics: { totalOptOuts: 0, optOutRate: 0 },
    })
  })

  it('accept any button text, even names that all objects have', async () => {
    const buttons = ['constructor', '__proto__']
    const id = await seedCampaign(world, organization, { buttons, counts: { delivered: 4, 'button: __proto__': 1 } })
    expect((await broadcast(id)).allButtons).toEqual([
      { buttonText: 'constructor', clicks: 0, conversionRate: 0 },
      { buttonText: '__proto__', clicks: 1, conversionRate: 25 },
    ])
  })

  it.each([
    [200, 1, 0.5],
    [800, 1, 0.13],
    [1_600, 1, 0.06],
    [3, 2, 66.67],
    [7, 7, 100],
  ])('round rates half up to two decimals: %i sent, %i delivered', async (sent, delivered, rate) => {
    const id = await seedCampaign(world, organization, { counts: { sent, delivered } })
    expect((await broadcast(id)).deliveryStats.deliveryRate).toBe(rate)
  })

  it('leave out recipients that a cancelled broadcast had not reached', async () => {
    const counts = { total: 10, recorded: 4, sent: 4 }
    const id = await seedCampaign(world, organization, { status: 'cancelled', counts })
    expect((await broadcast(id)).broadcastInfo.totalRecipients).toBe(4)
  })

  it('ignore the dates', async () => {
    const id = await seedCampaign(world, organization)
    expect((await get({ broadcast_id: id, start_date: 'never', end_date: '2026-02-30' })).status).toBe(200)
    expect((await post({ broadcast_id: id, start_date: 5, end_date: { no: 'date' } })).status).toBe(200)
    expect((await get({ broadcast_id: id.toUpperCase() })).body.data.broadcastInfo.id).toBe(id)
  })

  it("return 404 for an unknown id, another organization's id, and an id that counts one-off sends", async () => {
    const foreign = await seedCampaign(world, other)
    const singles = await seedCampaign(world, organization, { kind: 'singles' })
    for (const id of [NO_ID, foreign, singles]) {
      for (const answer of [await get({ broadcast_id: id }), await post({ broadcast_id: id })]) {
        expect([answer.status, answer.body.error]).toEqual([404, 'Broadcast not found'])
        expect(answer.body.message).toContain(id)
      }
    }
    expect((await get({ broadcast_id: foreign }, other)).status).toBe(200)
  })
})

function makeOrder(id: string, total_price: number, utm_campaign: string): StorefrontOrder {
  const at = new Date('2026-03-11T10:00:00Z')
  return {
    ...{
      id,
      name: `#${id}`,
      total_price: String(total_price),
      currency: 'BRL',
      ordered_at: at,
      financial_status: 'paid',
    },
    ...{ utm_source: 'chat', utm_campaign, contact_id: null, is_test: false, cancelled_at: null, updated_at: at },
  }
}

describe('the revenue of a broadcast', () => {
  beforeEach(async () => {
    const shop = { url: 'https://shop.example', access_token: 'token', webhook_secret: 'secret' }
    await world.admin('PUT', `/organizations/${organization.id}/storefront`, shop)
    for (const [code, campaign] of [
      ['abc', 'spring'],
      ['xyz', 'summer'],
    ] as const) {
      const redirect_url = `https://shop.example/?utm_source=chat&utm_campaign=${campaign}`
      const made = await world.request('POST', '/shortlinks', {
        key: organization.key,
        body: { redirect_url, code: `${code}-${organization.slug}` },
      })
      expect(made.status).toBe(201)
    }
    const orders = [makeOrder('1', 10.5, 'spring'), makeOrder('2', 20.25, 'summer')]
    await putStorefrontOrders(world.database, organization.id, orders, null)
  })

  it('is found by the short code in its button parameters', async () => {
    const parameters = { buttons: { param1: `abc-${organization.slug}`, param2: 'no code' } }
    const { revenue } = await broadcast(await seedCampaign(world, organization, { parameters }))
    expect(revenue).toMatchObject({ totalRevenue: 10.5, orderCount: 1, utmCampaign: 'spring' })
  })

  it('is found by the links of its recipients too', async () => {
    const parameters = { buttons: { param1: `abc-${organization.slug}` } }
    const id = await seedCampaign(world, organization, { parameters })
    await world.database.pool.query("INSERT INTO broadcast_utm_campaigns VALUES ($1, $2, 'summer')", [
      organization.id,
      id,
    ])
    expect((await broadcast(id)).revenue).toMatchObject({ totalRevenue: 30.75, orderCount: 2, utmCampaign: 'spring' })
  })

  it('of a send-template is found by its own parameters', async () => {
    const campaign = await seedCampaign(world, organization, { kind: 'singles' })
    const broadcastId = newId()
    const parameters = { buttons: { param1: `xyz-${organization.slug}` } }
    await seedRecipient(world, organization, campaign, { broadcastId, n: 0, status: 'sent', parameters })
    expect((await broadcast(broadcastId)).revenue).toMatchObject({ totalRevenue: 20.25, utmCampaign: 'summer' })
  })
})

describe('the analytics of one send-template', () => {
  it('are those of a broadcast of one', async () => {
    const campaign = await seedCampaign(world, organization, {
      kind: 'singles',
      template: 'offer',
      buttons: ['Yes', 'No'],
      counts: { total: 50 },
    })
    const broadcastId = newId()
    await seedRecipient(world, organization, campaign, {
      broadcastId,
      n: 0,
      status: 'read',
      clicked: ['Yes'],
      opted_out: true,
    })
    expect(await broadcast(broadcastId)).toEqual({
      broadcastInfo: {
        id: broadcastId,
        name: 'offer',
        templateName: 'offer',
        createdAt: '2026-03-10T15:00:00.000Z',
        totalRecipients: 1,
      },
      deliveryStats: { sent: 1, delivered: 1, read: 1, failed: 0, deliveryRate: 100, readRate: 100 },
      conversionFunnel: { sent: 1, delivered: 1, read: 1, buttonClicked: 1, optedOut: 1 },
      buttonAnalytics: { quickReplyButton: 'Yes', quickReplyClicks: 1, quickReplyConversionRate: 100 },
      allButtons: [
        { buttonText: 'Yes', clicks: 1, conversionRate: 100 },
        { buttonText: 'No', clicks: 0, conversionRate: 0 },
      ],
      totalButtonClicks: 1,
      optOutAnalytics: { totalOptOuts: 1, optOutRate: 100 },
      revenue: NO_REVENUE,
    })
    expect((await get({ broadcast_id: broadcastId }, other)).status).toBe(404)
  })

  const error = { code: 131026, text: 'Message undeliverable' }

  it.each([
    ['outstanding', { status: 'sent', outstanding: 'pending', accepted: false }, [1, 0, 0, 0, 0]],
    ['accepted', { status: 'sent' }, [1, 1, 0, 0, 0]],
    ['delivered', { status: 'delivered' }, [1, 1, 1, 0, 0]],
    ['refused', { status: 'failed', accepted: false, error }, [1, 0, 0, 0, 1]],
    ['reported failed', { status: 'failed', error }, [1, 1, 0, 0, 1]],
    ['skipped', { skip_reason: 'opted out' }, [0, 0, 0, 0, 0]],
    ['read, its contact erased', { outcome: { status: 'read', accepted_at: '2026-03-10T15:00:01Z' } }, [1, 1, 1, 1, 0]],
    ['never recorded', { outcome: { status: 'failed', error } }, [1, 0, 0, 0, 1]],
  ] as const)('match: %s', async (_name, fields, [total, sent, delivered, read, failed]) => {
    const campaign = await seedCampaign(world, organization, { kind: 'singles' })
    const broadcastId = newId()
    await seedRecipient(world, organization, campaign, { broadcastId, n: 0, ...fields })
    const { broadcastInfo, deliveryStats } = await broadcast(broadcastId)
    expect(broadcastInfo.totalRecipients).toBe(total)
    expect(deliveryStats).toMatchObject({ sent, delivered, read, failed })
  })
})

describe('the analytics of a range', () => {
  it('contain every field', async () => {
    const first = await seedCampaign(world, organization, {
      name: 'First',
      template: 'offer',
      started_at: '2026-03-10T12:00:00Z',
      counts: { total: 10, sent: 8, delivered: 6, read: 3, failed: 3, 'error: 131026': 2, 'error: outcome_unknown': 1 },
      deltas: { read: 1 },
    })
    const second = await seedCampaign(world, organization, {
      name: 'Second',
      template: 'hello',
      started_at: '2026-03-12T12:00:00Z',
      counts: { total: 2, sent: 2 },
      deltas: { failed: 1, 'error: 131026': 1 },
    })
    await world.database.pool.query('INSERT INTO campaign_errors VALUES ($1, $2, $3), ($4, $2, $5)', [
      organization.id,
      '131026',
      'Message undeliverable',
      other.id,
      'The words of another',
    ])
    expect(await range('2026-03-10', '2026-03-12')).toEqual({
      overallStats: {
        totalCampaigns: 2,
        totalRecipients: 12,
        sent: 10,
        delivered: 6,
        read: 4,
        failed: 4,
        deliveryRate: 60,
        readRate: 66.67,
        failureRate: 33.33,
        totalBroadcasts: 2,
        revenue: NO_RANGE_REVENUE,
      },
      campaignPerformance: [
        {
          broadcastId: second,
          name: 'Second',
          templateName: 'hello',
          createdAt: '2026-03-12T12:00:00.000Z',
          totalRecipients: 2,
          sent: 2,
          delivered: 0,
          read: 0,
          failed: 1,
          deliveryRate: 0,
          readRate: 0,
          revenue: NO_RANGE_REVENUE,
        },
        {
          broadcastId: first,
          name: 'First',
          templateName: 'offer',
          createdAt: '2026-03-10T12:00:00.000Z',
          totalRecipients: 10,
          sent: 8,
          delivered: 6,
          read: 4,
          failed: 3,
          deliveryRate: 75,
          readRate: 66.67,
          revenue: NO_RANGE_REVENUE,
        },
      ],
      timeSeriesData: [
        { date: '2026-03-10', sent: 8, delivered: 6, read: 4, failed: 3 },
        { date: '2026-03-11', sent: 0, delivered: 0, read: 0, failed: 0 },
        { date: '2026-03-12', sent: 2, delivered: 0, read: 0, failed: 1 },
      ],
      templateAnalytics: [
        {
          templateName: 'hello',
          usageCount: 1,
          sent: 2,
          delivered: 0,
          read: 0,
          failed: 1,
          deliveryRate: 0,
          readRate: 0,
        },
        {
          templateName: 'offer',
          usageCount: 1,
          sent: 8,
          delivered: 6,
          read: 4,
          failed: 3,
          deliveryRate: 75,
          readRate: 66.67,
        },
      ],
      errorAnalysis: [
        { errorCode: 131026, errorMessage: 'Message undeliverable', count: 3, percentage: 75 },
        { errorCode: 'outcome_unknown', errorMessage: 'outcome_unknown', count: 1, percentage: 25 },
      ],
    })
  })

  it('without data are zeros', async () => {
    expect(await range('2026-03-10', '2026-03-10')).toEqual({
      overallStats: {
        totalCampaigns: 0,
        totalRecipients: 0,
        sent: 0,
        delivered: 0,
        read: 0,
        failed: 0,
        deliveryRate: 0,
        readRate: 0,
        failureRate: 0,
        totalBroadcasts: 0,
        revenue: NO_RANGE_REVENUE,
      },
      campaignPerformance: [],
      timeSeriesData: [{ date: '2026-03-10', sent: 0, delivered: 0, read: 0, failed: 0 }],
      templateAnalytics: [],
      errorAnalysis: [],
    })
  })

  it("count a broadcast on the day of its start in the organization's time zone", async () => {
    // Midnight of São Paulo is 03:00 in UTC.
    const late = { started_at: '2026-03-11T02:30:00Z', counts: { sent: 1 } }
    const early = { started_at: '2026-03-11T03:30:00Z', counts: { sent: 10 } }
    await seedCampaign(world, organization, late)
    await seedCampaign(world, organization, early)
    expect((await range('2026-03-10', '2026-03-10')).overallStats.sent).toBe(1)
    expect((await range('2026-03-11', '2026-03-11')).overallStats.sent).toBe(10)
    const { timeSeriesData, overallStats } = await range('2026-03-10', '2026-03-11')
    expect(timeSeriesData.map((day: { sent: number }) => day.sent)).toEqual([1, 10])
    expect(overallStats.totalCampaigns).toBe(2)
  })

  it.each([
    ['Pacific/Kiritimati', '2026-03-09T10:30:00Z', '2026-03-10'],
    ['Pacific/Pago_Pago', '2026-03-11T10:30:00Z', '2026-03-10'],
    ['America/Havana', '2025-11-02T04:30:00Z', '2025-11-02'], // the first 00:30 of two
    ['America/Havana', '2025-11-02T05:30:00Z', '2025-11-02'], // the second
    ['Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24'], // a day without midnight
  ])('assign for %s %s to %s', async (timezone, started_at, day) => {
    organization = await world.createOrganization({ timezone })
    await seedCampaign(world, organization, { started_at, counts: { sent: 1 } })
    expect((await range(day, day)).timeSeriesData).toEqual([{ date: day, sent: 1, delivered: 0, read: 0, failed: 0 }])
  })

  it('contain each day once, even if the clocks change', async () => {
    organization = await world.createOrganization({ timezone: 'Europe/Lisbon' })
    for (const [from, to, days] of [
      ['2026-03-27', '2026-03-31', 5],
      ['2025-10-24', '2025-10-28', 5],
      ['2024-02-28', '2024-03-01', 3],
      ['2025-01-01', '2025-12-31', 365],
    ] as const) {
      const { timeSeriesData } = await range(from, to)
      const dates = timeSeriesData.map(({ date }: { date: string }) => date)
      expect([dates.length, new Set(dates).size, dates[0], dates.at(-1)]).toEqual([days, days, from, to])
    }
  })

  it('leave out broadcasts that have not started, or started outside the range', async () => {
    const counts = { total: 1, failed: 1, 'error: 1': 1 }
    await seedCampaign(world, organization, { status: 'scheduled', started_at: null, counts })
    await seedCampaign(world, organization, { started_at: '2026-03-09T12:00:00Z', counts })
    await seedCampaign(world, organization, { started_at: '2026-03-11T12:00:00Z', counts })
    const { overallStats, errorAnalysis } = await range('2026-03-10', '2026-03-10')
    expect([overallStats.totalCampaigns, errorAnalysis]).toEqual([0, []])
  })

  it('show the one-off sends of one template and day as one campaign, across languages', async () => {
    const singles = { kind: 'singles', template: 'offer', started_at: '2026-03-10T15:00:00Z' } as const
    await seedCampaign(world, organization, {
      ...singles,
      language: 'pt_BR',
      counts: { total: 2, sent: 2, delivered: 1 },
    })
    await seedCampaign(world, organization, {
      ...singles,
      language: 'en',
      created_at: '2026-03-10T14:00:00Z',
      counts: { total: 1, sent: 1, failed: 1, 'error: 5': 1 },
    })
    await seedCampaign(world, organization, { ...singles, started_at: '2026-03-11T15:00:00Z', counts: { total: 1 } })
    await seedCampaign(world, organization, { ...singles, template: 'hello', counts: { total: 1 } })
    // Broadcasts of the same template and day are listed separately.
    await seedCampaign(world, organization, { template: 'offer', started_at: '2026-03-10T16:00:00Z' })
    await seedCampaign(world, organization, { template: 'offer', started_at: '2026-03-10T13:00:00Z' })
    const { overallStats, campaignPerformance, templateAnalytics } = await range('2026-03-10', '2026-03-11')
    expect(overallStats).toMatchObject({ totalCampaigns: 5, totalRecipients: 5, sent: 3, delivered: 1, failed: 1 })
    expect(campaignPerformance.filter(({ broadcastId }: { broadcastId: string | null }) => broadcastId)).toHaveLength(2)
    expect(campaignPerformance).toContainEqual({
      broadcastId: null,
      name: 'offer',
      templateName: 'offer',
      createdAt: '2026-03-10T14:00:00.000Z',
      totalRecipients: 3,
      sent: 3,
      delivered: 1,
      read: 0,
      failed: 1,
      deliveryRate: 33.33,
      readRate: 0,
      revenue: NO_RANGE_REVENUE,
    })
    expect(templateAnalytics).toMatchObject([
      { templateName: 'offer', usageCount: 4, sent: 3 },
      { templateName: 'hello', usageCount: 1, sent: 0 },
    ])
  })

  it('count a cancelled broadcast with the recipients it reached', async () => {
    await seedCampaign(world, organization, { status: 'cancelled', counts: { total: 100, recorded: 40, failed: 10 } })
    expect((await range('2026-03-10', '2026-03-10')).overallStats).toMatchObject({
      totalRecipients: 40,
      failureRate: 25,
    })
  })

  it('rank errors by frequency, and include one without a code', async () => {
    await seedCampaign(world, organization, {
      counts: { failed: 7, 'error: 9': 1, 'error: 131047': 4, error: 1, 'error: 2': 1 },
    })
    await seedCampaign(world, organization, { deltas: { failed: 2, 'error: 2': 2 } })
    expect((await range('2026-03-10', '2026-03-10')).errorAnalysis).toEqual([
      { errorCode: 131047, errorMessage: '131047', count: 4, percentage: 44.44 },
      { errorCode: 2, errorMessage: '2', count: 3, percentage: 33.33 },
      { errorCode: 'unknown', errorMessage: 'unknown', count: 1, percentage: 11.11 },
      { errorCode: 9, errorMessage: '9', count: 1, percentage: 11.11 },
    ])
  })

  it('leave out an error that was resolved for all recipients', async () => {
    await seedCampaign(world, organization, { counts: { 'error: 5': 2 }, deltas: { 'error: 5': -2, delivered: 2 } })
    expect((await range('2026-03-10', '2026-03-10')).errorAnalysis).toEqual([])
  })

  it('contain nothing of another organization', async () => {
    await seedCampaign(world, other, { counts: { total: 1, sent: 1, failed: 1, 'error: 1': 1 } })
    const { overallStats, errorAnalysis } = await range('2026-03-10', '2026-03-10')
    expect([overallStats.totalCampaigns, overallStats.sent, errorAnalysis]).toEqual([0, 0, []])
  })

  it('are consistent: the columns of the days and of the campaigns add up to the totals', async () => {
    for (let n = 0; n < 40; n++) {
      const started_at = new Date(Date.UTC(2026, 2, 1, n * 13)).toISOString()
      const counts = { total: 5 * n, sent: 4 * n, delivered: 3 * n, read: 2 * n, failed: n, [`error: ${n % 3}`]: n }
      const kind = n % 2 === 0 ? 'broadcast' : 'singles'
      await seedCampaign(world, organization, { kind, started_at, language: `l${n}`, template: `t${n % 5}`, counts })
    }
    const data = await range('2026-03-01', '2026-03-31')
    const sum = (items: Record<string, number>[], name: string) =>
      items.reduce((all, item) => all + (item[name] ?? NaN), 0)
    for (const name of ['sent', 'delivered', 'read', 'failed']) {
      for (const part of ['timeSeriesData', 'campaignPerformance', 'templateAnalytics']) {
        expect([part, name, sum(data[part], name)]).toEqual([part, name, data.overallStats[name]])
      }
    }
    expect(sum(data.templateAnalytics, 'usageCount')).toBe(data.overallStats.totalCampaigns)
    expect(sum(data.errorAnalysis, 'count')).toBe(data.overallStats.failed)
    const times = data.campaignPerformance.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(times).toEqual(times.toSorted().reverse())
  })
})

describe('an invalid question', () => {
  it('returns 400 Missing required parameter without either mode, naming both', async () => {
    for (const answer of [await get({}), await post({})]) {
      expect([answer.status, answer.body.error]).toEqual([400, 'Missing required parameter'])
      for (const name of ['broadcast_id', 'start_date', 'end_date']) expect(answer.body.message).toContain(name)
    }
  })

  it.each([
    ['start_date', { end_date: '2026-03-10' }],
    ['end_date', { start_date: '2026-03-10' }],
    ['end_date', { start_date: '2026-03-10', end_date: '' }],
  ])('returns 400 Missing required parameter without %s', async (missing, question) => {
    for (const answer of [await get(question as Question), await post(question)]) {
      expect([answer.status, answer.body.error]).toEqual([400, 'Missing required parameter'])
      expect(answer.body.message).toMatch(new RegExp(`^${missing} `))
    }
  })

  it.each([
    ['2026-02-30', '2026-03-10'],
    ['2025-02-29', '2026-03-10'],
    ['2026-3-1', '2026-03-10'],
    ['10/03/2026', '2026-03-10'],
    ['2026-03-10T00:00:00Z', '2026-03-10'],
    ['0000-01-01', '0000-01-02'],
    ['+02026-03-10', '2026-03-10'],
    ['2026-03-10', '2026-13-01'],
    ['2026-03-10', '2026-03-09'],
    ['2016-01-01', '2026-03-09'],
  ])('returns 400 for %s to %s', async (start_date, end_date) => {
    const asked = await get({ start_date, end_date })
    expect([asked.status, asked.body.error]).toEqual([400, 'Invalid parameter'])
    expect(asked.body.message).toMatch(/^(start|end)_date /)
    const posted = await post({ start_date, end_date })
    expect([posted.status, posted.body.error]).toEqual([400, 'Invalid field'])
  })

  it('is not one with the first or last possible date, or the longest range', async () => {
    expect((await get({ start_date: '0001-01-01', end_date: '0001-01-01' })).status).toBe(200)
    expect((await get({ start_date: '9999-12-31', end_date: '9999-12-31' })).status).toBe(200)
    expect((await range('2016-03-03', '2026-03-10')).timeSeriesData).toHaveLength(3_660)
  })

  it.each(['nonsense', '123', `${NO_ID}0`, '%00'])('returns 400 for the broadcast_id "%s"', async (broadcast_id) => {
    const asked = await request('GET', `/broadcast-analytics?broadcast_id=${broadcast_id}`, { key: organization.key })
    expect([asked.status, asked.body.error]).toEqual([400, 'Invalid parameter'])
    expect(asked.body.message).toContain('broadcast_id')
  })

  it.each([5, true, ['x'], {}, 'nonsense'])('returns 400 Invalid field for %j in a body', async (value) => {
    const named = await post({ broadcast_id: value, start_date: '2026-03-10', end_date: '2026-03-10' })
    expect([named.status, named.body.error]).toEqual([400, 'Invalid field'])
    expect(named.body.message).toContain('broadcast_id')
    const dated = await post({ start_date: '2026-03-10', end_date: value })
    expect([dated.status, dated.body.error]).toEqual([400, 'Invalid field'])
    expect(dated.body.message).toContain('end_date')
  })

  it('returns 400 for a date that is given twice', async () => {
    const twice = 'start_date=2026-03-10&start_date=2026-03-11&end_date=2026-03-12'
    const answer = await request('GET', `/broadcast-analytics?${twice}`, { key: organization.key })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid parameter'])
  })
})

it('a POST with an Idempotency-Key is replayed, and refused for another question', async () => {
  const id = await seedCampaign(world, organization, { counts: { sent: 1 } })
  const headers = { 'idempotency-key': newId() }
  const first = await post({ broadcast_id: id }, headers)
  await world.database.pool.query('UPDATE campaign_counts SET value = 2 WHERE campaign_id = $1', [id])
  const again = await post({ broadcast_id: id }, headers)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(again.body).toEqual(first.body)
  expect((await post({ broadcast_id: NO_ID }, headers)).status).toBe(422)
  expect((await post({ broadcast_id: id })).body.data.deliveryStats.sent).toBe(2)
})
