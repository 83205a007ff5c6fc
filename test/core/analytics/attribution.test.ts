import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyCounters } from '../../../src/core/analytics/verify.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import { requestRetention } from '../../../src/storage/maintenance/pruning.js'
import { receiveMessages, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { contactRow } from '../../support/rows/contacts.js'
import { startTemplateWorld } from '../../support/send-template.js'
import { useStarted } from '../../support/started.js'
import { connectStorefront, postOrders } from '../../support/storefront.js'
import type { TestOrganization, World } from '../../support/world.js'

const DAY_MS = 86_400_000

const template = useStarted(startTemplateWorld)
let world: World
let organization: TestOrganization
let codes = 0

beforeAll(async () => {
  world = template.world
  await world.sim('POST', '/settings', { statuses: true })
})

beforeEach(async () => {
  organization = await world.createOrganization({ language: 'pt_BR', currency: 'BRL' })
  await connectStorefront(world, organization)
})

async function link(campaign = 'spring', { key } = organization): Promise<string> {
  const redirect_url = `https://shop.example/?utm_source=whatsapp&utm_campaign=${campaign}`
  const code = `attribution-${++codes}`
  const made = await world.request('POST', '/shortlinks', { key, body: { redirect_url, code } })
  expect(made.status).toBe(201)
  return code
}

type Recipient = { chatNumber: string; buttonParameters?: Record<string, string> }

/** Sends a broadcast to these numbers, and waits until it has ended. */
async function send(code: string | null, recipients: (string | Recipient)[]): Promise<string> {
  const given = recipients.map((one) => (typeof one === 'string' ? { chatNumber: one } : one))
  const answer = await world.request('POST', '/broadcasts', {
    key: organization.key,
    body: {
      name: 'Spring',
      templateName: 'oferta_da_semana',
      bodyParameters: { name: 'Ana', discount: '20%' },
      ...(code === null ? {} : { buttonParameters: { param1: code } }),
      audience: { recipients: given },
    },
  })
  expect(answer.status).toBe(202)
  await world.settle()
  return answer.body.broadcast.id
}

async function sendOneOff(code: string, chatNumber: string): Promise<string> {
  const body = {
    templateName: 'oferta_da_semana',
    chatNumber,
    bodyParameters: { name: 'Ana', discount: '20%' },
    buttonParameters: { param1: code },
  }
  const answer = await template.send(body, undefined, organization)
  expect(answer.body.success).toBe(true)
  await world.settle()
  return answer.body.broadcastId
}

/** An order placed now, or this number of milliseconds later. */
function order(name: string, fields: Record<string, unknown> = {}, afterMs = 0): Promise<void> {
  const at = new Date(world.now().getTime() + afterMs).toISOString()
  const landing_site = '/?utm_source=whatsapp&utm_campaign=spring'
  return postOrders(world, organization, { name, landing_site, processed_at: at, updated_at: at, ...fields })
}

const revenueOf = async (id: string, { key } = organization) =>
  (await world.request('GET', `/broadcast-analytics?broadcast_id=${id}`, { key })).body.data.revenue

/** The names of the orders attributed to each broadcast. Checks the sum too. */
async function dueTo(...ids: string[]): Promise<string[][]> {
  return Promise.all(
    ids.map(async (id) => {
      const { orders, attributed } = await revenueOf(id)
      const due = orders.filter((one: { attributed: boolean }) => one.attributed)
      expect(attributed.orderCount).toBe(due.length)
      return due.map(({ orderName }: { orderName: string }) => orderName).sort()
    }),
  )
}

const dayOf = (days: number) => new Date(world.now().getTime() + days * DAY_MS).toISOString().slice(0, 10)

const visit = async (code: string) => expect((await world.request('GET', `/s/${code}`)).status).toBe(302)

describe('attribution', () => {
  it('never picks a broadcast sent after the order, however many share its campaign', async () => {
    const code = await link()
    await order('#1001')
    world.advance(39_000)
    const first = await send(code, [template.newNumber(), template.newNumber()])
    world.advance(60_000)
    await order('#1002', { total_price: '349.90' })
    world.advance(60_000)
    const second = await send(code, [template.newNumber()])
    expect(await dueTo(first, second)).toEqual([['#1002'], []])
    expect(await revenueOf(second)).toMatchObject({
      totalRevenue: 449.9,
      orderCount: 2,
      attributed: { totalRevenue: 0, orderCount: 0, avgOrderValue: 0, currency: 'BRL', window_days: 7 },
    })
    expect((await revenueOf(first)).attributed).toEqual({
      totalRevenue: 349.9,
      orderCount: 1,
      avgOrderValue: 349.9,
      currency: 'BRL',
      window_days: 7,
    })
  })

  it('picks the last broadcast of the campaign, also with a suffix', async () => {
    const first = await send(await link(), [template.newNumber()])
    const ofAnother = await send(await link('summer'), [template.newNumber()])
    await order('#1')
    world.advance(60_000)
    const second = await send(await link('SPRING'), [template.newNumber()])
    world.advance(60_000)
    await order('#2')
    await order('#3', { landing_site: '/?utm_source=chat&utm_campaign=Spring_ViewMore' })
    expect(await dueTo(first, second, ofAnother)).toEqual([['#1'], ['#2', '#3'], []])
  })

  it('ends with the window of the organization', async () => {
    const id = await send(await link(), [template.newNumber()])
    await order('#1', {}, 7 * DAY_MS - 60_000)
    await order('#2', {}, 7 * DAY_MS + 60_000)
    expect(await dueTo(id)).toEqual([['#1']])
    const changed = await world.admin('PATCH', `/organizations/${organization.id}`, { attribution_window_days: 8 })
    expect(changed.body.organization.attribution_window_days).toBe(8)
    expect(await dueTo(id)).toEqual([['#1', '#2']])
    expect((await revenueOf(id)).attributed).toMatchObject({ window_days: 8, totalRevenue: 200 })
  })

  it('finds what the buyer received by phone number or e-mail address', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const code = await link()
    const toAna = await send(code, [ana])
    await world.request('PATCH', `/contact?chat_id=${ana}`, {
      key: organization.key,
      body: { email: 'Ana@shop.example' },
    })
    world.advance(60_000)
    const toBob = await send(code, [bob])
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    await order('#2', { customer: { phone: ana } })
    await order('#3', { billing_address: { phone: `+${ana}` } })
    await order('#4', { email: 'ana@SHOP.example' })
    await order('#5', { phone: `+${bob}`, email: 'ana@shop.example' })
    await order('#6', { phone: 'no number', email: 'eve@shop.example' })
    expect(await dueTo(toAna, toBob)).toEqual([
      ['#1', '#2', '#3', '#4'],
      ['#5', '#6'],
    ])
  })

  it('skips broadcasts that failed for the buyer or for all recipients', async () => {
    const code = await link()
    const first = await send(code, [template.newNumber()])
    world.advance(60_000)
    const failed = await send(code, [template.newNumber('000001')])
    await order('#1')
    expect(await dueTo(first, failed)).toEqual([['#1'], []])
  })

  it('picks the last followed link if it was given to the buyer only', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const [own, other, third] = [await link(), await link(), await link()]
    const first = await send(null, [
      { chatNumber: ana, buttonParameters: { param1: own } },
      { chatNumber: bob, buttonParameters: { param1: other } },
    ])
    world.advance(60_000)
    const second = await send(third, [ana])
    world.advance(60_000)
    await visit(own)
    await visit(other)
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    await visit(third)
    world.advance(60_000)
    await order('#2', { phone: `+${ana}` })
    await order('#3', { phone: `+${ana}` }, 7 * DAY_MS + 60_000)
    expect(await dueTo(first, second)).toEqual([['#1'], ['#2']])
  })

  it('picks the last sent broadcast if the followed link was also given to others', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const [shared, later] = [await link(), await link()]
    const first = await send(shared, [ana, bob])
    world.advance(60_000)
    const second = await send(later, [ana])
    await visit(shared)
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    expect(await dueTo(first, second)).toEqual([[], ['#1']])
  })

  it('treats a send-template as a broadcast of one', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const code = await link()
    const broadcast = await send(code, [ana, bob])
    world.advance(60_000)
    const single = await sendOneOff(code, ana)
    world.advance(60_000)
    await order('#1')
    await order('#2', { phone: `+${bob}` })
    await order('#3', { phone: `+${ana}`, landing_site: '/?utm_source=chat&utm_campaign=spring_vm' })
    expect(await dueTo(broadcast, single)).toEqual([['#2'], ['#1', '#3']])
  })

  it('stays as it is when the messages are deleted for their age', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const code = await link()
    const toAna = await send(code, [ana])
    world.advance(60_000)
    const toBob = await send(code, [bob])
    world.advance(60_000)
    const single = await sendOneOff(code, ana)
    const last = await send(code, [template.newNumber('000001')])
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    await order('#2', { phone: `+${bob}` })
    await order('#3')
    const ids = [toAna, toBob, single, last]
    const shown = async () =>
      Promise.all(
        ids.map(async (id) => {
          const path = `/broadcast-analytics?broadcast_id=${id}`
          const { data } = (await world.request('GET', path, { key: organization.key })).body
          // Of a one-off send without a message it is the time of its id, which the clock of the test does not make.
          return { ...data, broadcastInfo: { ...data.broadcastInfo, createdAt: null } }
        }),
      )
    const [due, before] = [await dueTo(...ids), await shown()]
    expect(due.flat().toSorted()).toEqual(['#1', '#2', '#3'])
    await world.admin('PATCH', `/organizations/${organization.id}`, { message_retention_days: 30 })
    await world.database.pool.query(
      "UPDATE messages SET recorded_at = recorded_at - interval '40 days' WHERE organization_id = $1",
      [organization.id],
    )
    await requestRetention(world.database)
    await world.drain()
    const left = await world.database.pool.query('SELECT FROM messages WHERE organization_id = $1', [organization.id])
    expect(left.rows).toEqual([])
    expect([await dueTo(...ids), await shown()]).toEqual([due, before])
  })

  it("follows merges of the buyer's contacts, and keeps no person after an erasure", async () => {
    const ana = template.newNumber()
    const code = await link()
    const toAna = await send(code, [ana])
    world.advance(60_000)
    const later = await send(code, [template.newNumber()])
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    expect(await dueTo(toAna, later)).toEqual([['#1'], []])
    await world.request('DELETE', `/contact?chat_id=${ana}`, { key: organization.key })
    const { rows } = await world.database.pool.query(
      'SELECT contact_id FROM storefront_orders WHERE organization_id = $1',
      [organization.id],
    )
    expect(rows).toEqual([{ contact_id: null }])
    expect(await dueTo(toAna, later)).toEqual([[], ['#1']])
  })

  it('counts each order once if two contacts with broadcasts turn out to be one buyer', async () => {
    const [ana, userId, email] = [template.newNumber(), `BR.${++codes}34912086553027`, `buyer-${codes}@example.com`]
    const code = await link()
    const toAna = await send(code, [ana])
    const fromUser = { from_user_id: userId, id: wamid(), timestamp: seconds(), type: 'text', text: { body: 'Oi' } }
    await receiveMessages(world, organization, fromUser)
    const user = await contactRow(world, { organization_id: organization.id, phone_number: null })
    await world.database.pool.query('UPDATE contacts SET email = $2 WHERE id = $1', [user.id, email])
    world.advance(60_000)
    const later = await send(code, [template.newNumber()])
    world.advance(60_000)
    await order('#1', { phone: `+${ana}`, total_price: '1.00' })
    await order('#2', { email, total_price: '2.00' })
    const buyers = async () => {
      const { rows } = await world.database.pool.query<{ contact_id: string }>(
        'SELECT contact_id FROM storefront_orders WHERE organization_id = $1 ORDER BY name',
        [organization.id],
      )
      return new Set(rows.map(({ contact_id }) => contact_id)).size
    }
    expect([await buyers(), await dueTo(toAna, later)]).toEqual([2, [['#1'], ['#2']]])
    await receiveMessages(world, organization, textMessage(ana, 'It is me', { from_user_id: userId }))
    expect([await buyers(), await dueTo(toAna, later)]).toEqual([1, [['#1', '#2'], []]])
    expect((await revenueOf(toAna)).attributed).toMatchObject({ orderCount: 2, totalRevenue: 3 })
    const verified = await verifyCounters(world.app.ctx, await getOrganization(world.app.ctx, organization.id))
    expect(verified.drifts).toEqual([])
  })

  it('matches the analytics of the day, where each order counts once', async () => {
    const [ana, bob] = [template.newNumber(), template.newNumber()]
    const code = await link()
    const first = await send(code, [ana, bob])
    world.advance(60_000)
    const second = await send(code, [bob])
    const single = await sendOneOff(code, ana)
    world.advance(60_000)
    await order('#1', { phone: `+${ana}`, total_price: '1.10' })
    await order('#2', { phone: `+${bob}`, total_price: '2.20' })
    await order('#3', { total_price: '4.40', currency: 'USD' })
    await order('#4', { total_price: '8.80' }, 30 * DAY_MS)
    const days = { start_date: dayOf(-2), end_date: dayOf(2) }
    const answer = await world.request('GET', `/broadcast-analytics?${new URLSearchParams(days)}`, {
      key: organization.key,
    })
    const { overallStats, campaignPerformance } = answer.body.data
    expect(overallStats).toMatchObject({ totalCampaigns: 3, totalBroadcasts: 2 })
    expect(overallStats.revenue).toEqual({
      totalRevenue: 12.1,
      orderCount: 3,
      avgOrderValue: 4.03,
      currency: 'BRL',
      attributed: { totalRevenue: 3.3, orderCount: 2, avgOrderValue: 1.65, currency: 'BRL', window_days: 7 },
    })
    const attributed = campaignPerformance.map(
      (one: {
        broadcastId: string | null
        revenue: { totalRevenue: number; attributed: { totalRevenue: number } }
      }) => [one.broadcastId, one.revenue.totalRevenue, one.revenue.attributed.totalRevenue],
    )
    expect(attributed).toEqual(
      expect.arrayContaining([
        [null, 12.1, 1.1],
        [second, 12.1, 2.2],
        [first, 12.1, 0],
      ]),
    )
    expect(await dueTo(first, second, single)).toEqual([[], ['#2'], ['#1']])
    const verified = await verifyCounters(world.app.ctx, await getOrganization(world.app.ctx, organization.id))
    expect(verified).toEqual({ campaigns: 3, drifts: [] })
  })

  it('skips orders that are cancelled, tests, in another currency, or from another source', async () => {
    const id = await send(await link(), [template.newNumber()])
    await order('#1', { test: true })
    await order('#2', { cancelled_at: world.now().toISOString() })
    await order('#3', { currency: 'USD' })
    await order('#4', { landing_site: '/?utm_source=google&utm_campaign=spring' })
    expect(await dueTo(id)).toEqual([[]])
    expect((await revenueOf(id)).otherCurrencies).toEqual([{ currency: 'USD', totalRevenue: 100, orderCount: 1 }])
  })

  it('never uses contacts or clicks of another organization', async () => {
    const ana = template.newNumber()
    const mine = organization
    const id = await send(await link(), [ana])
    organization = await world.createOrganization({ language: 'pt_BR', currency: 'BRL' })
    await connectStorefront(world, organization)
    const theirs = await send(await link(), [template.newNumber()])
    world.advance(60_000)
    await order('#1', { phone: `+${ana}` })
    expect(await dueTo(theirs)).toEqual([['#1']])
    organization = mine
    expect(await dueTo(id)).toEqual([[]])
    expect((await revenueOf(id)).orderCount).toBe(0)
  })
})
