import { randomUUID } from 'node:crypto'
import { nameOfKind } from '../../../src/http/description/describe.js'
import type { Examples } from '../../../src/http/description/examples.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { signIn } from '../../support/console.js'
import { type ReceivedWebhook, startReceiver } from '../../support/receiver.js'
import type { TestOrganization, World } from '../../support/world.js'
import { createRecorder, type Recorder } from './recorder.js'

const ANA = '+5511987654321'
const BRUNO = '+5511912345678'
/** The simulator refuses what is sent to it. */
const UNREACHABLE = '+5511900000001'
const UNKNOWN = '+5511955550000'
const DAY_MS = 86_400_000
const CSV = { 'content-type': 'text/csv' }
const CARD = 'phone_number,full_name\n+5511912345678,Bruno Lima\n'

interface Scene extends Recorder {
  world: World
  organization: TestOrganization
  /** A plain request, which is not recorded. */
  request(method: string, path: string, body?: unknown): ReturnType<World['request']>
}

/** Records examples of Interface A and of its webhooks. */
export async function recordApi(world: World, organization: TestOrganization): Promise<Examples> {
  const recorder = await createRecorder(world, '/openapi.json', organization.key)
  const request: Scene['request'] = (method, path, body) => world.request(method, path, { key: organization.key, body })
  const scene = { ...recorder, world, organization, request }
  const endpoint = await startReceiver()
  const gone = await startReceiver()
  gone.respond(() => 410)
  try {
    const { body } = await scene.record('webhooks.set', {
      body: { url: endpoint.url, events: ['*'], description: 'Orders' },
    })
    await recordContacts(scene)
    await recordMessages(scene)
    await recordTemplates(scene)
    await recordNewTemplates(scene)
    await recordScheduled(scene)
    await recordAudiences(scene)
    const sent = await recordBroadcasts(scene)
    await recordAnalytics(scene, sent)
    await recordOptOuts(scene)
    await mergeContacts(scene)
    await breakNumber(scene)
    await recordWebhooks(scene, body.webhook.id, gone.url)
    keepEvents(scene, endpoint.received)
    // These end what the examples above show.
    await scene.record('broadcasts.retryFailed', { path: { id: sent } })
    await scene.record('webhooks.delete', { body: { id: body.webhook.id } })
    await scene.record('contacts.erase', { query: { phone_number: ANA } })
  } finally {
    await endpoint.close()
    await gone.close()
  }
  return recorder.result({
    [endpoint.url]: 'https://shop.example/hooks/parley',
    [gone.url]: 'https://old.example/hooks/parley',
    [organization.phoneNumberId]: '106540352242922',
    [organization.businessAccountId]: '102290129340398',
  })
}

async function recordContacts({ record, refuse, request }: Scene): Promise<void> {
  await record('contacts.create', { body: { phone_number: ANA, full_name: 'Ana Souza', tags: ['vip'] } })
  await refuse('contacts.create', { body: { phone_number: '12' } })
  await record('contacts.get', { query: { phone_number: ANA } })
  await refuse('contacts.get', { query: { phone_number: UNKNOWN } })
  await record('contacts.update', { query: { phone_number: ANA }, body: { tags: ['vip', 'newsletter'] } })
  await refuse('contacts.update', { query: { phone_number: UNKNOWN }, body: { tags: [] } })
  await refuse('contacts.erase', { query: { phone_number: UNKNOWN } })
  await record('contacts.import', { body: CARD, headers: CSV })
  await refuse('contacts.import', { body: 'name\nBruno Lima\n', headers: CSV })
  await record('contacts.export')
  await record('contacts.export', { query: { format: 'json' } })
  await refuse('contacts.export', { query: { format: 'xlsx' } })
  await request('POST', '/contact', { phone_number: UNREACHABLE })
}

async function recordMessages({ record, refuse, world, organization }: Scene): Promise<void> {
  const hello = { phone_number: ANA, message_type: 'text', text: 'Hello Ana' }
  await record('messages.send', { body: hello })
  const pdf = { 'content-type': 'application/pdf' }
  await record('messages.uploadMedia', { query: { filename: 'invoice.pdf' }, body: '%PDF-1.7\n', headers: pdf })
  await refuse('messages.uploadMedia', { body: 'invoice', headers: pdf })
  const headers = { 'x-request-id': 'order-1042', 'idempotency-key': 'order-1042-confirmed' }
  const refused = await refuse('messages.send', { body: { ...hello, phone_number: UNREACHABLE }, headers })
  await record('messages.trace', { path: { id: refused.body.id } })
  await refuse('messages.trace', { path: { id: 'wamid.UNKNOWN' } })
  await world.settle()
  const from = { phone_number_id: organization.phoneNumberId, from: ANA.slice(1), name: 'Ana' }
  const thanks = await world.sim('POST', '/inbound', { ...from, type: 'text', text: { body: 'Thank you!' } })
  await world.settle()
  const reaction = { message_id: thanks.body.message_id, emoji: '👍' }
  await world.sim('POST', '/inbound', { ...from, type: 'reaction', reaction })
  await world.settle()
  const typed = await world.sim('POST', '/inbound', {
    ...from,
    type: 'text',
    text: { body: 'Until when are you opne?' },
  })
  const about = { original_message_id: typed.body.message_id }
  const message = { type: 'text', text: { body: 'Until when are you open?' } }
  await world.sim('POST', '/inbound', { ...from, type: 'edit', edit: { ...about, message } })
  await world.sim('POST', '/inbound', { ...from, type: 'revoke', revoke: about })
  await world.settle()
  await record('conversations.list', { query: { chatNumber: ANA, limit: '2' } })
  await refuse('conversations.list', { query: { chatNumber: UNKNOWN } })
  await record('conversations.typing', { body: { phone_number: ANA } })
  await refuse('conversations.typing', { body: { phone_number: UNREACHABLE } })
  await record('conversations.read', { body: { phone_number: ANA } })
  await refuse('conversations.read', { body: { phone_number: UNKNOWN } })
  await record('conversations.export', { query: { chatNumber: ANA } })
  await record('conversations.export', { query: { chatNumber: ANA, format: 'json' } })
  await refuse('conversations.export', { query: { chatNumber: UNKNOWN } })
}

/** What is to be sent later: it has a time of its own, and is not sent here. */
async function recordScheduled({ record, refuse, world }: Scene): Promise<void> {
  const inDays = (days: number) => new Date(world.now().getTime() + days * DAY_MS).toISOString()
  const hello = { phone_number: ANA, message_type: 'text', text: 'Good morning', scheduled_at: inDays(1) }
  const { id } = (await record('messages.send', { body: hello })).body.scheduled
  const template = { templateName: 'hello_world', chatNumber: ANA, scheduled_at: inDays(2) }
  await record('messages.sendTemplate', { body: template })
  await record('messages.listScheduled', { query: { limit: '2' } })
  await refuse('messages.listScheduled', { query: { status: 'sent' } })
  await record('messages.changeScheduled', { path: { id }, body: { text: 'Good evening', scheduled_at: inDays(3) } })
  await refuse('messages.changeScheduled', { path: { id }, body: {} })
  await record('messages.cancelScheduled', { path: { id } })
  await refuse('messages.cancelScheduled', { path: { id } })
}

async function recordTemplates({ record, refuse, world, organization }: Scene): Promise<void> {
  const { phoneNumberId } = organization
  await record('templates.sync')
  const unconnected = await world.admin('POST', '/organizations', { name: 'Empty', slug: 'empty' })
  const key = await world.admin('POST', `/organizations/${unconnected.body.organization.id}/keys`, { name: 'one' })
  await refuse('templates.sync', { key: key.body.api_key.key })
  await record('numbers.list')
  await refuse('numbers.list', { key: 'parley_unknown' })
  await record('templates.list')
  await refuse('templates.list', { key: 'parley_unknown' })
  await record('messages.sendTemplate', { body: { templateName: 'hello_world', chatNumber: ANA } })
  await refuse('messages.sendTemplate', { body: { templateName: 'summer_sale', chatNumber: ANA } })
  const paused = { name: 'hello_world', language: 'en_US', event: 'PAUSED' }
  await world.sim('POST', '/templates/status', { phone_number_id: phoneNumberId, ...paused })
  await world.settle()
  await world.sim('POST', '/templates/status', { phone_number_id: phoneNumberId, ...paused, event: 'APPROVED' })
  await world.settle()
}

async function recordNewTemplates({ record, refuse, world, organization }: Scene): Promise<void> {
  const components = [{ type: 'BODY', text: 'Your order is ready for you.' }]
  const made = { name: 'order_ready', language: 'en', category: 'UTILITY', components }
  await record('templates.check', { body: { ...made, name: 'Order ready' } })
  await refuse('templates.check', { body: { ...made, language: 7 } })
  await record('templates.create', { body: made })
  await refuse('templates.create', { body: { ...made, name: 'Order ready' } })
  const query = { name: made.name, language: made.language }
  const edit = { components: [{ type: 'BODY', text: 'Your order is ready. Thank you for waiting!' }] }
  await refuse('templates.update', { query, body: edit })
  const rejected = {
    phone_number_id: organization.phoneNumberId,
    ...query,
    event: 'REJECTED',
    reason: 'INVALID_FORMAT',
  }
  await world.sim('POST', '/templates/status', rejected)
  await world.settle()
  await record('templates.update', { query, body: edit })
  await record('templates.delete', { query })
  await refuse('templates.delete', { query: { name: 'summer_sale' } })
  await world.settle()
  await record('templates.library', { query: { search: 'payment', language: 'en_US' } })
  await refuse('templates.library', { query: { search: 'x'.repeat(101) } })
  const type = (name: string) => ({ 'content-type': name })
  await record('templates.uploadExample', { body: '%PDF-1.4\n%%EOF\n', headers: type('application/pdf') })
  await refuse('templates.uploadExample', { body: 'hello', headers: type('application/octet-stream') })
}

async function recordAudiences({ record, refuse }: Scene): Promise<void> {
  const query = { name: 'June' }
  const file = 'chatNumber,name,bodyParameters.discount\n+5511987654321,Ana Souza,20%\n12,,\n'
  const { body } = await record('audiences.create', { query, body: file, headers: CSV })
  const path = { id: body.audience.id }
  await refuse('audiences.create', { body: 'name\nBruno Lima\n', headers: CSV })
  await record('audiences.list')
  await refuse('audiences.list', { query: { tenantId: randomUUID() } })
  await record('audiences.get', { path })
  await record('audiences.delete', { path })
  for (const verb of ['get', 'delete']) await refuse(`audiences.${verb}`, { path })
}

/** Resolves to the id of a broadcast that was sent. */
async function recordBroadcasts({ record, refuse, world, request }: Scene): Promise<string> {
  const made = { name: 'Spring', templateName: 'hello_world' }
  const recipients = [ANA, UNREACHABLE].map((chatNumber) => ({ chatNumber }))
  const sent = await request('POST', '/broadcasts', { ...made, audience: { recipients } })
  await world.settle()
  // Once the messages are sent, their statuses arrive.
  await world.settle()
  const tomorrow = new Date(world.now().getTime() + DAY_MS).toISOString()
  const later = await record('broadcasts.create', {
    body: { ...made, name: 'Easter', audience: { tags: ['newsletter'] }, scheduled_at: tomorrow },
  })
  await refuse('broadcasts.create', { body: { ...made, audience: {} } })
  const path = { id: later.body.broadcast.id }
  const unknown = { id: randomUUID() }
  await record('broadcasts.pause', { path })
  await record('broadcasts.resume', { path })
  await record('broadcasts.cancel', { path })
  for (const verb of ['pause', 'resume', 'cancel', 'retryFailed']) await refuse(`broadcasts.${verb}`, { path })
  const ofSent = { id: sent.body.broadcast.id }
  await record('broadcasts.get', { path: ofSent })
  await refuse('broadcasts.get', { path: unknown })
  await record('broadcasts.listRecipients', { path: ofSent })
  await record('broadcasts.listRecipients', { path: ofSent, query: { format: 'csv' } })
  await refuse('broadcasts.listRecipients', { path: unknown })
  await record('broadcasts.list', { query: { limit: '10' } })
  await refuse('broadcasts.list', { query: { status: 'done' } })
  return sent.body.broadcast.id
}

async function recordAnalytics({ record, refuse }: Scene, sent: string): Promise<void> {
  const spring = { redirect_url: 'https://shop.example/?utm_campaign=spring', code: 'spring' }
  await record('shortLinks.create', { body: spring })
  await refuse('shortLinks.create', { body: spring })
  await record('shortLinks.list')
  await refuse('shortLinks.list', { query: { limit: '0' } })
  await record('analytics.get', { query: { broadcast_id: sent } })
  await refuse('analytics.get', { query: { broadcast_id: randomUUID() } })
  await record('analytics.query', { body: { broadcast_id: sent } })
  await refuse('analytics.query', { body: { start_date: '2026-02-01', end_date: '2026-01-01' } })
}

async function recordOptOuts({ record, refuse }: Scene): Promise<void> {
  await record('optOuts.import', { body: `phone_number\n${BRUNO}\n`, headers: CSV })
  await refuse('optOuts.import', { body: 'name\nBruno Lima\n', headers: CSV })
  await record('optOuts.list')
  await refuse('optOuts.list', { query: { limit: '0' } })
  await record('optOuts.export')
  await record('optOuts.export', { query: { format: 'json' } })
  await refuse('optOuts.export', { query: { format: 'xlsx' } })
}

async function recordWebhooks(
  { record, refuse, world, organization, request }: Scene,
  id: string,
  gone: string,
): Promise<void> {
  const path = { id }
  const unknown = { id: randomUUID() }
  await refuse('webhooks.set', { body: { url: 'http://10.0.0.1/hook', events: ['*'] } })
  await refuse('webhooks.delete', { body: unknown })
  await record('webhooks.list')
  await refuse('webhooks.list', { key: 'parley_unknown' })
  const test = await record('webhooks.test', { path })
  await world.settle()
  const delivery = { id: test.body.delivery.id }
  await record('deliveries.get', { path: delivery })
  await refuse('deliveries.get', { path: unknown })
  await record('deliveries.list', { query: { webhook_id: id, limit: '1' } })
  await refuse('deliveries.list', { query: { status: 'lost' } })
  await record('deliveries.replay', { path: delivery })
  await refuse('deliveries.replay', { path: unknown })
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  await record('deliveries.replayRange', { body: { webhook_id: id, ...range } })
  await refuse('deliveries.replayRange', { body: { webhook_id: unknown.id, ...range } })
  await record('events.list', { query: { types: 'contact.created', limit: '1' } })
  await refuse('events.list', { query: { types: 'contact.lost' } })
  await request('POST', '/set-webhooks', { url: gone, events: ['contact.updated'] })
  await request('PATCH', `/contact?phone_number=${encodeURIComponent(ANA)}`, { email: 'ana@example.com' })
  await world.settle()
  const from = { phone_number_id: organization.phoneNumberId, from: ANA.slice(1) }
  await world.sim('POST', '/call', { ...from, id: 'wacid.MQ==' })
  await world.sim('POST', '/call', { ...from, id: 'wacid.Mg==', seconds: 125 })
  const group = { phone_number_id: organization.phoneNumberId, group_id: 'Y2FwaV9ncm91cDpleGFtcGxl' }
  await world.sim('POST', '/group', { ...group, event: 'joined', people: [{ from: ANA.slice(1) }] })
  // Times of the recording: the distance of others from it would change from hour to hour.
  const now = Math.floor(world.now().getTime() / 1_000)
  for (const [value, timestamp] of [
    ['stop', now],
    ['resume', now + 1],
  ]) {
    const words = { category: 'marketing_messages', detail: `User requested to ${value} marketing messages` }
    const preference = { wa_id: ANA.slice(1), ...words, value, timestamp }
    const callback = { field: 'user_preferences', value: { user_preferences: [preference] } }
    await world.sim('POST', '/callback', { phone_number_id: organization.phoneNumberId, ...callback })
  }
  const number = { phone_number_id: organization.phoneNumberId }
  const passed = {
    type: 'control_passed',
    control_passed: { new_owner_role: 'escalation', metadata: 'wants a refund' },
  }
  const handover = { recipient: number, sender: { phone_number: ANA.slice(1) }, timestamp: String(now), ...passed }
  await world.sim('POST', '/callback', { ...number, field: 'messaging_handovers', value: handover })
  const template = { message_template_name: 'hello_world', message_template_language: 'en_US' }
  const quality = { ...template, previous_quality_score: 'GREEN', new_quality_score: 'YELLOW' }
  const violation = { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } }
  const flagged = { display_phone_number: '15550001111', event: 'FLAGGED', current_limit: 'TIER_10K' }
  await world.sim('POST', '/callback', { ...number, field: 'message_template_quality_update', value: quality })
  await world.sim('POST', '/callback', { ...number, field: 'account_update', value: violation })
  await world.sim('POST', '/callback', { ...number, field: 'phone_number_quality_update', value: flagged })
  await world.sim('POST', '/history', { ...number, declined: true })
  await world.settle()
  await record('webhooks.rotateSecret', { path })
  await record('webhooks.enable', { path })
  for (const verb of ['rotateSecret', 'enable', 'test']) await refuse(`webhooks.${verb}`, { path: unknown })
}

/** Has a check of the number find that its access token is not valid any more. */
async function breakNumber({ world, organization }: Scene): Promise<void> {
  const { id, phoneNumberId, businessAccountId, appSecret } = organization
  const registration = { business_account_id: businessAccountId, app_secret: appSecret }
  const callback_url = `${world.app.url}/hooks/upstream`
  await world.sim('PUT', `/numbers/${phoneNumberId}`, { ...registration, callback_url })
  await world.admin('GET', `/organizations/${id}/upstream/health?refresh=true`)
  await world.settle()
}

/** A person who wrote with a number, and one with a user id, turn out to be the same; a member takes it back. */
async function mergeContacts({ world, organization }: Scene): Promise<void> {
  const [number, from_user_id] = ['5511912340099', 'BR.13491208655302741918']
  const { from: _, ...hidden } = textMessage(number, 'Hello', { from_user_id })
  await receiveMessages(world, organization, textMessage(number, 'Hello'), hidden)
  await receiveMessages(world, organization, textMessage(number, 'It is me again', { from_user_id }))
  await world.settle()
  const { body } = await world.request('GET', `/contact?phone_number=${number}`, { key: organization.key })
  const owner = await signIn(world, organization)
  const { merges } = (await owner.call('GET', `/contacts/${body.contact.id}/merges`)).body
  await owner.call('POST', `/merges/${merges[0].id}/undo`, { body: {} })
  await world.settle()
}

/** Keeps the first event of each kind; of Ana, if there is one. */
function keepEvents({ keep }: Scene, received: ReceivedWebhook[]): void {
  const bodies = received.map(({ body }) => body)
  const ofAna = bodies.filter(({ data }) => data.contact?.phone_number === ANA)
  for (const kind of [...new Set(bodies.map(({ type }) => type))].sort()) {
    keep(
      `events.on${nameOfKind(kind)}`,
      [...ofAna, ...bodies].find(({ type }) => type === kind),
    )
  }
}
