import { afterAll, beforeAll, expect, it } from 'vitest'
import { startReceiver } from '../../support/receiver.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import { createRecorder } from './recorder.js'

let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization({ name: 'Acme', slug: 'acme', default_country: 'BR', currency: 'BRL' })
})

afterAll(() => world.close())

const NUMBER = '+5511987654321'
const CSV = { 'content-type': 'text/csv' }

/** Compares what was recorded with the examples of the descriptions; `vitest -u` writes them. */
async function expectExamples(name: string, printed: string): Promise<void> {
  await expect(printed).toMatchFileSnapshot(`../../../src/interfaces/${name}/examples.ts`)
}

it('the examples of the API are its answers', async () => {
  const receiver = await startReceiver()
  const { record, keep, print } = await createRecorder(world, '/openapi.json', organization.key)
  await record('contacts.create', { body: { phone_number: NUMBER, full_name: 'Ana Souza', tags: ['vip'] } })
  const contact = await record('contacts.get', { query: { phone_number: NUMBER } })
  await record('contacts.get', { name: 'unknown', query: { phone_number: '+5511900000000' } })
  await record('contacts.update', { query: { phone_number: NUMBER }, body: { tags: ['vip', 'newsletter'] } })
  await record('contacts.import', { body: 'phone_number,full_name\n+5511912345678,Bruno Lima\n', headers: CSV })
  await record('contacts.export')

  const hook = await record('webhooks.set', { body: { url: receiver.url, events: ['*'], description: 'Orders' } })
  const id = hook.body.webhook.id
  await record('webhooks.list')
  await record('messages.send', {
    name: 'text',
    body: { phone_number: NUMBER, message_type: 'text', text: 'Hello Ana' },
  })
  await record('messages.send', { name: 'missing_text', body: { phone_number: NUMBER, message_type: 'text' } })
  const from = { phone_number_id: organization.phoneNumberId, from: '5511987654321', name: 'Ana' }
  await world.settle()
  await world.sim('POST', '/inbound', { ...from, type: 'text', text: { body: 'Thank you!' } })
  await world.settle()
  await record('conversations.list', { query: { chatNumber: '5511987654321', limit: '2' } })
  await record('conversations.export', { query: { chatNumber: '5511987654321', format: 'json' } })

  await record('templates.sync')
  await record('messages.sendTemplate', { body: { templateName: 'hello_world', chatNumber: NUMBER } })
  const made = { name: 'Spring', templateName: 'hello_world', audience: { tags: ['newsletter'] } }
  const later = await record('broadcasts.create', { body: { ...made, scheduled_at: '2099-01-01T09:00:00Z' } })
  const path = { id: later.body.broadcast.id }
  await record('broadcasts.get', { path })
  await record('broadcasts.pause', { path })
  await record('broadcasts.resume', { path })
  await record('broadcasts.listRecipients', { path })
  await record('broadcasts.cancel', { path })
  await record('broadcasts.retryFailed', { path })
  await record('broadcasts.list', { query: { limit: '10' } })
  await record('shortLinks.create', {
    body: { redirect_url: 'https://shop.example/?utm_campaign=spring', code: 'spring' },
  })
  await record('shortLinks.list')
  await record('analytics.get', { query: path.id ? { broadcast_id: path.id } : {} })
  await record('analytics.query', { body: { broadcast_id: path.id } })

  await record('optOuts.import', { body: 'phone_number\n+5511912345678\n', headers: CSV })
  await record('optOuts.list')
  await record('optOuts.export')

  const test = await record('webhooks.test', { path: { id } })
  await world.settle()
  await record('deliveries.get', { path: { id: test.body.delivery.id } })
  await record('deliveries.list', { query: { webhook_id: id, limit: '1' } })
  await record('deliveries.replay', { path: { id: test.body.delivery.id } })
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  await record('deliveries.replayRange', { body: { webhook_id: id, ...range } })
  await record('events.list', { query: { types: 'contact.created', limit: '1' } })
  await world.settle()
  for (const body of new Map(receiver.received.map((one) => [one.body.type, one.body])).values()) {
    const kind = body.type.replace(/(?:^|[._])([a-z])/g, (_match: string, letter: string) => letter.toUpperCase())
    keep(`events.on${kind}`, body)
  }
  await record('webhooks.rotateSecret', { path: { id } })
  await record('webhooks.enable', { path: { id } })
  await record('webhooks.delete', { body: { id } })
  await record('contacts.erase', { query: { phone_number: NUMBER } })
  await receiver.close()
  expect(contact.status).toBe(200)
  await expectExamples('api', print({ [receiver.url]: 'https://shop.example/hooks/parley' }))
})

it('the examples of the gateway are its answers', async () => {
  const { record, print } = await createRecorder(world, '/gateway/openapi.json', organization.key)
  const path = { instance: 'shop' }
  const number = '5511955554444'
  await record('instance.create', { body: { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' } })
  await record('instance.connectionState', { path })
  await record('settings.set', { path, body: { groupsIgnore: true } })
  await record('settings.find', { path })
  await record('webhook.set', { path, body: { webhook: { url: 'https://shop.example/hooks/chat', events: [] } } })
  await record('webhook.find', { path })
  await record('message.sendText', { path, body: { number, text: 'Hello' } })
  await record('message.sendText', { name: 'missing_text', path, body: { number } })
  await record('message.sendLocation', { path, body: { number, latitude: -23.55, longitude: -46.63, name: 'Shop' } })
  await record('chat.findMessages', {
    path,
    body: { where: { key: { remoteJid: `${number}@s.whatsapp.net` } }, offset: 1 },
  })
  await record('chat.findContacts', { path, body: { where: { remoteJid: `${number}@s.whatsapp.net` } } })
  await record('instance.fetchInstances')
  await record('instance.delete', { path })
  await expectExamples(
    'gateway',
    print({ [organization.phoneNumberId]: '106540352242922', [organization.businessAccountId]: '102290129340398' }),
  )
})

it('the examples of the admin API are its answers', async () => {
  const { record, print } = await createRecorder(world, '/docs/admin.json', world.adminToken)
  const made = await record('organizations.create', { body: { name: 'Globex', slug: 'globex', country: 'BR' } })
  const path = { id: made.body.organization.id }
  await record('organizations.create', { name: 'taken', body: { name: 'Globex', slug: 'globex' } })
  await record('organizations.get', { path })
  await record('organizations.update', { path, body: { timezone: 'America/Sao_Paulo' } })
  const upstream = {
    phone_number_id: '106540352242922',
    business_account_id: '102290129340398',
    access_token: 'EAAG…',
    app_secret: 'a1b2c3d4',
    verify_token: 'my-verify-token',
  }
  await record('organizations.connectUpstream', { path, body: upstream })
  const shop = { url: 'https://globex.example', access_token: 'shpat_example', webhook_secret: 'secret' }
  await record('organizations.connectStorefront', { path, body: shop })
  await record('organizations.getStorefront', { path })
  const key = await record('keys.create', {
    path,
    body: { name: 'Website', scopes: ['contacts:read', 'messages:send'] },
  })
  const rotated = await record('keys.rotate', { path: { id: key.body.api_key.id }, body: { overlap_seconds: 3600 } })
  await record('keys.list', { path })
  await record('keys.revoke', { path: { id: rotated.body.api_key.id } })
  const member = { email: 'carla@globex.example', full_name: 'Carla Dias', role: 'owner' }
  const added = await record('members.create', { path, body: member })
  await record('members.list', { path })
  await record('members.createSignInLink', { path: { id: added.body.member.id } })
  await record('members.remove', { path: { id: added.body.member.id } })
  await record('organizations.delete', { path })
  await expectExamples('admin', print({}))
})
