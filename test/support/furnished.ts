import { expect } from 'vitest'
import { makeSignInLink, signIn } from './console.js'
import { requestIndexes } from './conversations.js'
import { createInstance, scan } from './instances.js'
import { png } from './media.js'
import { connectStorefront, postWebhook, shopOrder } from './storefront.js'
import { uploadFile } from './uploaded-files.js'
import type { TestOrganization, World } from './world.js'

/** An organization with a row in every table of its data. */
export async function furnish(world: World): Promise<TestOrganization> {
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
  await sendBroadcast(world, organization)
  await useInstance(world, organization)
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
async function useInstance(world: World, organization: TestOrganization): Promise<void> {
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
async function sendBroadcast(world: World, { id, key, phoneNumberId }: TestOrganization): Promise<void> {
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
