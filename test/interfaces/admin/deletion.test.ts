import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { furnish } from '../../support/furnished.js'
import { mediaRows } from '../../support/rows/media.js'
import { postWebhook, shopOrder } from '../../support/storefront.js'
import { useWorld } from '../../support/world.js'

const world = useWorld({ PARLEY_RATE_LIMIT: '1000' })

/** Every row of the organization, as text, by table. Where its links lead outlives it. */
async function rowsOf(organizationId: string): Promise<Record<string, string[]>> {
  const { rows: tables } = await world.database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'organization_id' AND table_name <> 'forwards' ORDER BY 1`,
  )
  const found: Record<string, string[]> = {}
  for (const { name, column } of [
    ...tables.map((table) => ({ ...table, column: 'organization_id' })),
    { name: 'organization_rows', column: 'id' },
  ]) {
    const { rows } = await world.database.pool.query(
      `SELECT t::text AS row FROM ${name} t WHERE ${column} = $1 ORDER BY 1`,
      [organizationId],
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

/**
 * The rows are removed, and a minute later the rows written in the meantime, and the organization's own row. Jobs of
 * other organizations wait for their time: what waits for tomorrow would be put off to another moment.
 */
async function workOffDeletion(organizationId: string): Promise<void> {
  for (const _step of ['rows', 'rest']) {
    await world.database.pool.query(
      'UPDATE jobs SET run_at = now() WHERE organization_id = $1 AND process_id IS NULL AND failed_at IS NULL',
      [organizationId],
    )
    await world.drain()
  }
}

describe('DELETE /admin/organizations/{id}', () => {
  it('removes every row of the organization except the hashes of its keys, and none of another one', async () => {
    const organization = await furnish(world)
    const other = await furnish(world)
    const before = await rowsOf(organization.id)
    for (const [table, rows] of Object.entries(before))
      expect({ table, empty: rows.length === 0 }).toEqual({ table, empty: false })
    // Its webhook is not called meanwhile.
    await world.database.pool.query(
      `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at + interval '1 day' WHERE organization_id = $1`,
      [other.id],
    )
    const untouched = await rowsOf(other.id)

    const answer = await world.admin('DELETE', `/organizations/${organization.id}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ success: true, message: expect.any(String) })
    await workOffDeletion(organization.id)

    const { directory, ...rest } = await rowsOf(organization.id)
    expect(directory).toEqual(before.directory?.filter((row) => row.startsWith('(api_key,')))
    expect(directory).toHaveLength(1)
    for (const [table, rows] of Object.entries(rest)) expect({ table, rows }).toEqual({ table, rows: [] })
    expect(await rowsOf(other.id)).toEqual(untouched)
  })

  it('responds before the rows are removed, and the organization is no longer accessible from then on', async () => {
    const organization = await furnish(world)
    const { id, key, slug } = organization
    const before = await rowsOf(id)
    const [stored] = await mediaRows(world, organization)
    const inAnHour = new Date(world.now().getTime() + 3_600_000)
    const file = new URL(world.app.ctx.mediaLinks.urlOf(id, stored.id, inAnHour))
    const { shortlinks } = (await world.request('GET', '/shortlinks', { key })).body
    expect((await world.request('GET', file.pathname + file.search)).status).toBe(200)
    expect((await world.admin('DELETE', `/organizations/${id}`)).status).toBe(200)

    const { messages, contacts, events, directory, api_keys, members, member_sessions, webhooks } = await rowsOf(id)
    expect({ messages, contacts, directory }).toEqual({
      messages: before.messages,
      contacts: before.contacts,
      directory: before.directory,
    })
    expect(events).toEqual(before.events)
    expect({ api_keys, members, member_sessions, webhooks }).toEqual({
      api_keys: [],
      members: [],
      member_sessions: [],
      webhooks: [],
    })
    expect((await world.request('GET', file.pathname + file.search)).status).toBe(404)
    expect((await world.request('GET', `/s/${shortlinks[0].code}`)).status).toBe(404)
    expect((await world.request('GET', '/shortlinks', { key })).body.error).toBe('Organization not found')
    expect((await postWebhook(world, slug, JSON.stringify(shopOrder()))).status).toBe(401)
    const { organizations } = (await world.admin('GET', '/organizations')).body
    expect(organizations.map((one: { id: string }) => one.id)).not.toContain(id)
    await workOffDeletion(id)
  })

  it('frees the slug, number and code at once for another organization, which keeps them', async () => {
    const gone = await furnish(world)
    const { code } = (await world.request('GET', '/shortlinks', { key: gone.key })).body.shortlinks[0]
    await world.admin('DELETE', `/organizations/${gone.id}`)
    const next = await world.createOrganization({ slug: gone.slug })
    const settings = {
      phone_number_id: gone.phoneNumberId,
      business_account_id: gone.businessAccountId,
      access_token: 'a token',
      app_secret: next.appSecret,
      verify_token: next.verifyToken,
    }
    expect((await world.admin('PUT', `/organizations/${next.id}/upstream`, settings)).status).toBe(200)
    const link = { redirect_url: 'https://shop.example/next', code }
    expect((await world.request('POST', '/shortlinks', { key: next.key, body: link })).status).toBe(201)
    const contact = { phone_number: '5511987654321' }
    expect((await world.request('POST', '/contact', { key: next.key, body: contact })).status).toBe(201)
    await world.settle()
    const before = await rowsOf(next.id)
    await workOffDeletion(gone.id)
    expect(await rowsOf(next.id)).toEqual(before)
    expect((await rowsOf(gone.id)).contacts).toEqual([])
    expect((await world.admin('POST', '/organizations', { name: 'Shop', slug: gone.slug })).status).toBe(409)
    expect((await world.request('GET', `/s/${code}`)).headers.get('location')).toBe(link.redirect_url)
  })

  it('returns 404 the second time, and for everything below the organization', async () => {
    const { id } = await world.createOrganization()
    await world.admin('DELETE', `/organizations/${id}`)
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', ''],
      ['GET', '/keys'],
      ['GET', '/members'],
    ] as const) {
      const again = await world.admin(method, `/organizations/${id}${path}`)
      expect([again.status, again.body.error]).toEqual([404, 'Organization not found'])
    }
  })

  it('frees the slug', async () => {
    const { id, slug } = await world.createOrganization()
    await world.admin('DELETE', `/organizations/${id}`)
    expect((await world.admin('POST', '/organizations', { name: 'Shop', slug })).status).toBe(201)
  })

  it('ignores callbacks that arrive later', async () => {
    const { id, phoneNumberId, appSecret } = await world.createOrganization()
    const value = { metadata: { phone_number_id: phoneNumberId }, messages: [] }
    const body = JSON.stringify({ entry: [{ id: 'x', changes: [{ field: 'messages', value }] }] })
    const signature = createHmac('sha256', appSecret).update(body).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
    expect((await world.request('POST', '/hooks/upstream', { body, headers })).status).toBe(200)
    await world.admin('DELETE', `/organizations/${id}`)
    expect((await world.request('POST', '/hooks/upstream', { body, headers })).status).toBe(401)
    await workOffDeletion(id)
    expect((await rowsOf(id)).callbacks).toEqual([])
  })
})
