import { expect, it } from 'vitest'
import { readBroadcastAnalytics } from '../../../src/core/analytics/read.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { putStorefrontOrders } from '../../../src/storage/storefront/orders.js'
import { seedCampaign } from '../../support/campaigns.js'
import { createContact } from '../../support/contacts.js'
import { connectStorefront } from '../../support/storefront.js'
import { useWorld } from '../../support/world.js'

const HOUR_MS = 3_600_000
const WINDOW_MS = 7 * 24 * HOUR_MS
const BEGIN = Date.parse('2026-03-01T00:00:00Z')

const world = useWorld()

/** Numbers from 0 to below `limit`, the same in every run of a seed. */
function randomOf(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

it.each([1, 2, 3, 4, 5, 6])(
  'every order is attributed to at most one earlier broadcast within the window (%i)',
  async (seed) => {
    const random = randomOf(seed)
    const made = await world.createOrganization({ currency: 'BRL' })
    await connectStorefront(world, made)
    const organization = await getOrganization(world.app.ctx, made.id)
    const contacts: string[] = []
    for (let n = 0; n < 3; n++)
      contacts.push(await createContact(world, made, `+55119${seed}7654${String(n).padStart(3, '0')}`))
    const links: { code: string; campaign: string }[] = []
    for (let n = 0; n < 6; n++) {
      const link = { code: `random-${seed}-${n}`, campaign: n % 3 === 2 ? 'other' : 'spring' }
      const redirect_url = `https://shop.example/?utm_source=chat&utm_campaign=${link.campaign}`
      await world.request('POST', '/shortlinks', { key: made.key, body: { redirect_url, code: link.code } })
      links.push(link)
    }
    const query = (sql: string, ...values: unknown[]) => world.database.pool.query(sql, [made.id, ...values])
    const starts = new Map<string, number>()
    // Either close together, or apart and without send-templates: then most orders are unambiguous.
    const [days, singles] = seed % 2 === 1 ? [20, 4] : [80, 0]
    for (let n = 0; n < 8; n++) {
      const startedAt = BEGIN + random(days * 24) * HOUR_MS
      const link = links[random(links.length)] as (typeof links)[number]
      const to = contacts.filter(() => random(2) === 0)
      const id = await seedCampaign(world, made, {
        started_at: new Date(startedAt).toISOString(),
        parameters: { buttons: { param1: link.code } },
        counts: { total: to.length, recorded: to.length, sent: to.length },
        prepared_n: to.length,
      })
      starts.set(id, startedAt)
      if (random(3) > 0)
        await query(
          'UPDATE broadcasts SET completed_at = $3 WHERE organization_id = $1 AND id = $2',
          id,
          new Date(startedAt + 5 * HOUR_MS),
        )
      await query(
        `INSERT INTO sent_links (organization_id, broadcast_id, n, code, campaign_id, campaign, noted_at)
       VALUES ($1, $2, 0, $3, $2, $4, $5)`,
        ...[id, link.code, link.campaign, new Date(startedAt)],
      )
      for (const [index, contactId] of to.entries()) {
        const [messageId, at] = [newId(), new Date(startedAt + random(5) * HOUR_MS)]
        const status = random(4) === 0 ? 'failed' : 'read'
        await query(
          `WITH said AS (
           INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at,
             accepted_at, campaign_id, broadcast_id, recipient_n)
           VALUES ($1, $2, $3, $7, 'bot-chat', 'template', 'An offer', $4, $5, $5, $6, $6, $8)
         )
         INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id)
         VALUES ($1, $6, $8, $6, $3, $2)`,
          ...[messageId, contactId, status, at, id, n + 1, index + 1],
        )
      }
    }
    const day = await seedCampaign(world, made, { kind: 'singles', started_at: new Date(BEGIN).toISOString() })
    for (let n = 0; n < singles; n++) {
      const [id, messageId, at] = [newId(), newId(), BEGIN + random(days * 24) * HOUR_MS]
      const link = links[random(links.length)] as (typeof links)[number]
      await query(
        `WITH said AS (
         INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at,
           accepted_at, campaign_id, broadcast_id, recipient_n)
         VALUES ($1, $2, $3, $7, 'bot-chat', 'template', 'An offer', $4, $5, $5, $6, $8, 0)
       ), to_one AS (
         INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id)
         VALUES ($1, $8, 0, $6, $3, $2)
       )
       INSERT INTO sent_links (organization_id, broadcast_id, n, code, campaign_id, campaign, noted_at)
       VALUES ($1, $8, 0, $9, $6, $10, $5)`,
        ...[messageId, contacts[random(3)], random(4) === 0 ? 'failed' : 'read', new Date(at), day, 20 + n, id],
        ...[link.code, link.campaign],
      )
      starts.set(id, at)
    }
    for (let n = 0; n < 20; n++) {
      await query(
        'INSERT INTO short_link_visits (organization_id, code, visited_at) VALUES ($1, $2, $3)',
        ...[links[random(links.length)]?.code, new Date(BEGIN + random(30 * 24) * HOUR_MS)],
      )
    }
    const orders = Array.from({ length: 40 }, (_, n) => {
      const begun = [...starts.values()][random(starts.size)] as number
      const at = new Date(
        random(2) === 0 ? begun + random(8 * 60) * 60_000 : BEGIN + random((days + 15) * 24 * 60) * 60_000,
      )
      return {
        ...{
          id: String(n),
          name: `#${n}`,
          total_price: `${random(10_000)}.${10 + random(90)}`,
          currency: 'BRL',
          ordered_at: at,
        },
        ...{ financial_status: 'paid', utm_source: 'chat', utm_campaign: random(3) === 0 ? 'SPRING_vm' : 'spring' },
        ...{ contact_id: contacts[random(5)] ?? null, is_test: random(10) === 0, cancelled_at: null, updated_at: at },
      }
    })
    await putStorefrontOrders(world.database, made.id, orders, null)

    const cents = (price: number | string) => Math.round(Number(price) * 100)
    const taken = new Map<string, string>()
    let sum = 0
    for (const [id, startedAt] of starts) {
      const { revenue } = await readBroadcastAnalytics(world.app.ctx, organization, id)
      const due = revenue.orders.filter(({ attributed }) => attributed)
      for (const { orderName, orderDate } of due) {
        expect(taken.get(orderName)).toBeUndefined()
        taken.set(orderName, id)
        const after = Date.parse(orderDate) - startedAt
        expect(after).toBeGreaterThanOrEqual(0)
        const { rows } = await query(
          'SELECT clicked_broadcast_id, clicked_at FROM storefront_orders WHERE organization_id = $1 AND name = $2',
          orderName,
        )
        const isClick =
          rows[0].clicked_broadcast_id === id && Date.parse(orderDate) - rows[0].clicked_at.getTime() <= WINDOW_MS
        // A message may be sent some hours after its broadcast started.
        if (!isClick) expect(after).toBeLessThanOrEqual(WINDOW_MS + 5 * HOUR_MS)
      }
      expect(revenue.attributed.orderCount).toBe(due.length)
      expect(cents(revenue.attributed.totalRevenue)).toBe(
        due.reduce((all, { totalPrice }) => all + cents(totalPrice), 0),
      )
      sum += cents(revenue.attributed.totalRevenue)
    }
    expect(taken.size).toBeGreaterThan(0)
    // An order that is unambiguous without the buyer's messages gets the same result with them.
    await query('UPDATE broadcasts SET completed_at = NULL WHERE organization_id = $1')
    for (const id of starts.keys()) {
      const { orders: again } = (await readBroadcastAnalytics(world.app.ctx, organization, id)).revenue
      for (const { attributed, orderName } of again) expect(attributed).toBe(taken.get(orderName) === id)
    }
    const counted = orders.filter((order) => !order.is_test)
    expect(sum).toBeLessThanOrEqual(counted.reduce((all, order) => all + cents(order.total_price), 0))
  },
)
