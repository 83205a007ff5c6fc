import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeSignInLink, signIn } from '../../support/console.js'
import { requestIndexes } from '../../support/conversations.js'
import { createInstance, scan } from '../../support/instances.js'
import { png } from '../../support/media.js'
import { mediaRows } from '../../support/rows/media.js'
import { connectStorefront, postWebhook, shopOrder } from '../../support/storefront.js'
import { uploadFile } from '../../support/uploaded-files.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld({ PARLEY_RATE_LIMIT: '1000' })

/** An organization with a row in every table of its data. */
async function furnish(): Promise<TestOrganization> {
  const organization = await world.createOrganization()
  const { id, key, phoneNumberId } = organization
  await connectStorefront(world, organization)
  const order = JSON.stringify(shopOrder())
  await postWebhook(world, organization.slug, order, { headers: { 'x-shopify-webhook-id': 'one' } })
  const link = { redirect_url: 'https://shop.example' }
  const { shortlink } = (await world.request('POST', '/shortlinks', { key, body: link })).body
  await world.request('GET', `/s/${shortlink.code}`)
  const file = { key, body: 'chatNumber\n+5511987654321\n', headers: { 'content-type': 'text/csv' } }
  expect((await world.request('POST', '/audiences', file)).status).toBe(201)
  await uploadFile(world, organization, png())
  const { member } = await signIn(world, organization)
  await makeSignInLink(world, member.id)
  await world.request('POST', '/contact', {
    key,
    headers: { 'idempotency-key': 'one' },
    body: { phone_number: '5511987654321' },
  })
  const inbound = { phone_number_id: phoneNumberId, from: '5511987654321', type: 'text', text: { body: 'Oi' } }
  await world.sim('POST', '/inbound', inbound)
  await world.sim('POST', '/inbound', { ...inbound, type: 'image', image: {} })
  await world.settle()
  await requestIndexes(world, id)
  const { webhook } = (
    await world.request('POST', '/set-webhooks', { key, body: { url: 'http://127.0.0.1:9/', events: ['*'] } })
  ).body
  await world.request('POST', `/set-webhooks/${webhook.id}/test`, { key })
  await sendBroadcast(organization)
  await useInstance(organization)
  await world.database.pool.query(
    `INSERT INTO contact_address_spans (organization_id, id, address, contact_id)
     SELECT organization_id, gen_random_uuid(), '5511900000000', id FROM contacts WHERE organization_id = $1 LIMIT 1`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO contact_usernames (organization_id, contact_id, username)
     SELECT organization_id, id, '@ana' FROM contacts WHERE organization_id = $1 LIMIT 1`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO contact_merges (organization_id, id, kept_id, gone_id, cause, merged_at, first_seq, last_seq, seq_offset)
     SELECT organization_id, gen_random_uuid(), id, gen_random_uuid(), 'announced', now(), 1, 1, 0 FROM contacts
     WHERE organization_id = $1 LIMIT 1`,
    [id],
  )
  const violation = { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } }
  await world.sim('POST', '/callback', { phone_number_id: phoneNumberId, field: 'account_update', value: violation })
  await world.settle()
  await world.database.pool.query(
    `INSERT INTO notes (organization_id, id, contact_id, after_seq, member_id, text, event_seq)
     SELECT organization_id, gen_random_uuid(), id, 1, $2, 'regular', 1 FROM contacts WHERE organization_id = $1 LIMIT 1`,
    [id, member.id],
  )
  await world.admin('PUT', `/organizations/${id}/hold`, { reason: 'Case 12' })
  await world.admin('DELETE', `/organizations/${id}/hold`)
  await world.database.pool.query(
    `INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, failed_at)
     SELECT organization_id, id, '{}', 8, now(), now() FROM callbacks WHERE organization_id = $1 LIMIT 1`,
    [id],
  )
  await world.database.pool.query(
    `WITH chunk AS (
       INSERT INTO phone_history_chunks (organization_id, callback_id)
       SELECT organization_id, id FROM callbacks WHERE organization_id = $1 LIMIT 1
     )
     INSERT INTO phone_histories (organization_id, id) VALUES ($1, gen_random_uuid())`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload, failed_at) VALUES ($1, 'sync', 'sync_orders', '{}', now())`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO broadcast_deferrals (organization_id, broadcast_id, n, since, attempts, retry_at)
     SELECT organization_id, id, 1, now(), 1, now() FROM broadcasts WHERE organization_id = $1 LIMIT 1`,
    [id],
  )
  await world.admin('PUT', `/organizations/${id}/upstream`, {
    phone_number_id: phoneNumberId,
    business_account_id: organization.businessAccountId,
    access_token: 'a token',
    app_secret: organization.appSecret,
    verify_token: organization.verifyToken,
  })
  const paced = { phone_number: '5511987654321', message_type: 'text', text: 'Olá' }
  await world.request('POST', '/send-chat', { key, body: paced })
  const scheduled_at = new Date(world.now().getTime() + 86_400_000).toISOString()
  expect((await world.request('POST', '/send-chat', { key, body: { ...paced, scheduled_at } })).status).toBe(202)
  await world.database.pool.query(
    `INSERT INTO connection_attempts (organization_id, id, verify_token_hash, expires_at)
     VALUES ($1, gen_random_uuid(), decode('00', 'hex'), now())`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO erased_addresses (organization_id, hash) VALUES ($1, decode('00', 'hex'))`,
    [id],
  )
  await world.database.pool.query(
    `INSERT INTO early_statuses (organization_id, upstream_id, status, reported) VALUES ($1, 'wamid.1', 'read', '{}')`,
    [id],
  )
  await world.settle()
  return organization
}

/** A message goes through an instance, which has a session and a command, like a linked device. */
async function useInstance(organization: TestOrganization): Promise<void> {
  const { id, key } = organization
  const instance = await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
  await world.request('GET', '/gateway/instance/connect/phone', { key })
  await scan(world, organization, 'phone', '5511988887777')
  await world.settle()
  const body = { number: '5511987654321', text: 'Olá' }
  expect((await world.request('POST', '/gateway/message/sendText/phone', { key, body })).status).toBe(201)
  for (const [table, columns, values] of [
    ['device_credentials', 'credentials', `'sealed'`],
    ['device_keys', 'type, key_id, value', `'session', 'one', 'sealed'`],
    ['instance_commands', 'id, command, connects, expires_at', `gen_random_uuid(), '{}', false, now()`],
  ]) {
    await world.database.pool.query(
      `INSERT INTO ${table} (organization_id, instance_id, ${columns}) VALUES ($1, $2, ${values})`,
      [id, instance.id],
    )
  }
}

/** With links per recipient; one phone refuses it. Its counters are partly rolled up. */
async function sendBroadcast({ id, key, phoneNumberId }: TestOrganization): Promise<void> {
  const template = {
    name: 'spring',
    language: 'pt_BR',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Spring' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See', url: 'https://shop.example/{{1}}', example: ['x'] }] },
    ],
  }
  await world.sim('PUT', '/templates', { phone_number_id: phoneNumberId, template })
  const link = { redirect_url: 'https://shop.example/?utm_campaign=spring' }
  const { shortlink } = (await world.request('POST', '/shortlinks', { key, body: link })).body
  const buttonParameters = { param1: shortlink.code }
  const recipients = ['5511987654321', '5511987000001'].map((chatNumber) => ({ chatNumber, buttonParameters }))
  const body = { name: 'Spring', templateName: 'spring', audience: { recipients } }
  const answer = await world.request('POST', '/broadcasts', { key, body })
  expect(answer.body).toMatchObject({ success: true, broadcast: { totalRecipients: 2 } })
  await world.settle()
  const retried = await world.request('POST', `/broadcasts/${answer.body.broadcast.id}/retry-failed`, { key })
  expect(retried.status).toBe(200)
  await world.settle()
  await world.database.pool.query(
    `INSERT INTO campaign_counts (organization_id, campaign_id, counter, detail, value) VALUES ($1, $2, 'read', '', 0)`,
    [id, answer.body.broadcast.id],
  )
}

/** Every row of the organization, as text, by table. */
async function rowsOf(organizationId: string): Promise<Record<string, string[]>> {
  const { rows: tables } = await world.database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'organization_id' ORDER BY 1`,
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
    const organization = await furnish()
    const other = await furnish()
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
    const organization = await furnish()
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
    const gone = await furnish()
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
