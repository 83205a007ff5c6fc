import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hmacSha256Hex } from '../../../../src/lib/crypto/signature.js'
import { startHttpServer } from '../../../support/http-server.js'
import { makePlatform, type Platform, type PlatformFields, seePlatform } from '../../../support/platform.js'
import { useStarted } from '../../../support/started.js'
import { useWorld } from '../../../support/world.js'

const PAGE = 'docs/connect-a-number.md'
const RECIPIENT = '5511999990000'
const LIVE: PlatformFields = { number: { status: 'CONNECTED' } }
const TEST: PlatformFields = { number: { account_mode: 'SANDBOX', recipients: [RECIPIENT] } }
const MANAGE = ['whatsapp_business_management']

const world = useWorld()
/** The service of another program, which repeats every challenge. */
const other = useStarted(() =>
  startHttpServer((request, response) => {
    response.end(new URL(request.path, 'http://127.0.0.1').searchParams.get('hub.challenge') ?? '')
  }),
)
/** A firewall: it takes requests and answers none. */
const silent = useStarted(() => startHttpServer(() => undefined))
/** An address whose certificate nobody trusts. */
let untrusted: Server

beforeAll(async () => {
  await world.sim('POST', '/settings', { strict: true, verify_ms: 300 })
  const pem = readFileSync('test/samples/self-signed.pem')
  untrusted = createHttpsServer({ key: pem, cert: pem }, (_request, response) => response.end())
  await new Promise<void>((resolve) => untrusted.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void untrusted.close())

/** What Parley says about a mistake: a step or a refused send. */
interface Told {
  reason: string
  code?: number
  /** What to do, and where. */
  cure: string
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer
type Body = any

async function newOrganization(): Promise<string> {
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  return made.body.organization.id
}

const connect = (id: string, body: object = {}) => world.admin('POST', `/organizations/${id}/upstream/connect`, body)
const secretsOf = ({ token, secret }: Platform) => ({ access_token: token, app_secret: secret })

/** An organization that is connected without a mistake. */
async function connected(fields: PlatformFields = LIVE): Promise<{ id: string; platform: Platform }> {
  const platform = await makePlatform(world, fields)
  const id = await newOrganization()
  const { body } = await connect(id, secretsOf(platform))
  expect(body.connected, JSON.stringify(body)).toBe(true)
  return { id, platform }
}

/** The step of connecting, or of the check of a connected number, that is not ok. */
function toldBy(steps: Body[], reason: string): Told {
  const step = steps.find((one) => one.reason === reason)
  expect(step, JSON.stringify(steps)).toBeDefined()
  expect(step.state).not.toBe('ok')
  const cure = [`${step.sentence}.`, step.remedy, step.link, step.docs].filter((part) => part !== null).join(' ')
  return { reason, code: step.upstream_code, cure }
}

async function connecting(reason: string, fields: PlatformFields, given: object = {}): Promise<Told> {
  const platform = await makePlatform(world, fields)
  const { body } = await connect(await newOrganization(), { ...secretsOf(platform), ...given })
  expect(body.connected).toBe(false)
  return toldBy(body.steps, reason)
}

async function checking(id: string, reason: string): Promise<Told> {
  const { body } = await world.admin('GET', `/organizations/${id}/upstream/health?refresh=true`)
  return toldBy(body.numbers[0].steps, reason)
}

const patch = async (path: string, body: object) => {
  const answer = await world.sim('PATCH', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}
const patchNumber = ({ account, number }: Platform, fields: object) =>
  patch(`/accounts/${account}`, { numbers: [{ id: number, ...fields }] })

async function keyOf(id: string): Promise<string> {
  return (await world.admin('POST', `/organizations/${id}/keys`, { name: 'test' })).body.api_key.key
}

/** A refused send to a contact. */
async function sending(id: string, to = `+${RECIPIENT}`): Promise<Told> {
  const body = { phone_number: to, create: true, message_type: 'text', text: 'Hello' }
  const answer = await world.request('POST', '/send-chat', { key: await keyOf(id), body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(400)
  const { error, upstream_code, link, message } = answer.body
  expect(message).toContain(link)
  return { reason: error, code: upstream_code, cure: message }
}

/** Whether a person's message arrives. */
async function isHeard({ number }: Platform, from = RECIPIENT): Promise<boolean> {
  const message = { phone_number_id: number, from, type: 'text', text: 'hello', repeat: false }
  return (await world.sim('POST', '/inbound', message)).body.delivered
}

/** Calls the upstream by hand, as somebody who follows a blog. */
async function byHand(method: string, path: string, bearer: string, body?: object): Promise<Body> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return (await fetch(`${world.simulator.upstreamUrl}${path}`, { method, headers, ...sent })).json()
}

/** Connects while Parley believes to be reachable at another address. */
async function connectingAt(publicUrl: string, reason: string): Promise<Told> {
  const { ctx } = world.app
  const before = ctx.publicUrl
  ctx.publicUrl = () => publicUrl
  try {
    return await connecting(reason, LIVE)
  } finally {
    ctx.publicUrl = before
  }
}

const refused = { reason: 'Upstream rejected message' }
const credentials = { reason: 'Upstream credentials rejected' }

/** Each mistake of the page: what makes it, what Parley then says, and a part of the cure. */
const MISTAKES: Record<string, [make: () => Promise<Told>, told: Omit<Told, 'cure'>, cure: string]> = {
  "the dashboard's token was used": [
    async () => {
      const soon = Math.floor(world.now().getTime() / 1_000) + 3_600
      const { id, platform } = await connected({ ...LIVE, token: { type: 'USER', expires_at: soon } })
      await checking(id, 'token_ending')
      await patch(`/tokens/${platform.token}`, { expires_at: 1_000_000_000 })
      return sending(id)
    },
    { ...credentials, code: 190 },
    `${PAGE}#3-create-a-token-that-lasts`,
  ],
  'a permission was not ticked': [
    async () => {
      await connecting('token_lacks', { ...LIVE, token: { scopes: MANAGE } })
      const { id, platform } = await connected()
      await patch(`/tokens/${platform.token}`, { scopes: MANAGE })
      return sending(id)
    },
    { ...credentials, code: 10 },
    `${PAGE}#the-token`,
  ],
  'the system user was not given the account': [
    () => connecting('account_unknown', { ...LIVE, token: { accounts: [] } }),
    { reason: 'account_unknown' },
    'Assign the WhatsApp account and the app to the system user',
  ],
  'the phone number itself was entered for its id': [
    async () => {
      await connecting('number_unreached', LIVE, { phone_number_id: '551140001234' })
      const { id, platform } = await connected()
      const ids = { phone_number_id: `55${platform.number}`, business_account_id: platform.account }
      const given = { ...ids, ...secretsOf(platform), verify_token: randomUUID() }
      expect((await world.admin('PUT', `/organizations/${id}/upstream`, given)).status).toBe(200)
      await checking(id, 'number_refused')
      return sending(id)
    },
    { ...refused, code: 100 },
    `${PAGE}#the-token`,
  ],
  "the portfolio's id was entered for the business account's": [
    () => connecting('account_refused', LIVE, { business_account_id: '999' }),
    { reason: 'account_refused', code: 100 },
    'not of the portfolio',
  ],
  "the app requires a proof with each call, and the app secret is missing or another app's": [
    () => connecting('token_needs_proof', { ...LIVE, app: { requires_proof: true } }, { app_secret: undefined }),
    { reason: 'token_needs_proof', code: 100 },
    'Copy it from the App Dashboard',
  ],
  'the app is not subscribed to the business account': [
    async () => {
      const { id, platform } = await connected()
      expect(await isHeard(platform)).toBe(true)
      await byHand('DELETE', `/${platform.account}/subscribed_apps`, platform.token)
      expect(await isHeard(platform)).toBe(false)
      return checking(id, 'not_subscribed')
    },
    { reason: 'not_subscribed' },
    'Connect the number again',
  ],
  'the field `messages` is not ticked': [
    async () => {
      const { id, platform } = await connected()
      await patch(`/apps/${platform.app}`, { fields: ['message_template_status_update'] })
      expect(await isHeard(platform)).toBe(false)
      return checking(id, 'callbacks_lack_fields')
    },
    { reason: 'callbacks_lack_fields' },
    'the field messages',
  ],
  'the app is not live': [
    async () => {
      const { id, platform } = await connected({ ...LIVE, app: { published: false } })
      expect(await isHeard(platform)).toBe(false)
      expect((await world.sim('POST', `/apps/${platform.app}/test`)).body.delivered).toBe(true)
      return toldBy((await connect(id)).body.steps, 'received_sample')
    },
    { reason: 'received_sample' },
    'Publish the app',
  ],
  "the test number's account is subscribed, the own number's is not": [
    async () => {
      const { id, platform } = await connected(TEST)
      const own = await makePlatform(world, LIVE)
      await patch(`/tokens/${platform.token}`, { accounts: [platform.account, own.account] })
      const ids = { phone_number_id: own.number, business_account_id: own.account }
      const given = { ...ids, ...secretsOf(platform), verify_token: randomUUID() }
      expect((await world.admin('PUT', `/organizations/${id}/upstream`, given)).status).toBe(200)
      expect([await isHeard(platform), await isHeard(own)]).toEqual([false, false])
      return checking(id, 'not_subscribed')
    },
    { reason: 'not_subscribed' },
    'no message arrives',
  ],
  'the callback URL cannot be verified: another verify token': [
    async () => {
      const { platform } = await connected()
      const url = `${world.app.url}/hooks/upstream`
      const { error } = await byHand('POST', `/${platform.app}/subscriptions`, `${platform.app}|${platform.secret}`, {
        ...{ object: 'whatsapp_business_account', fields: ['messages'], callback_url: url, verify_token: 'another' },
      })
      const query = '?hub.mode=subscribe&hub.challenge=1&hub.verify_token=another'
      const { body } = await world.request('GET', `/hooks/upstream${query}`)
      return { reason: body.error, code: error.code, cure: `${error.message} ${body.message}` }
    },
    { reason: 'Invalid verify token', code: 2200 },
    'HTTP Status Code = 403 hub.verify_token is not the verify token of any organization',
  ],
  'the address is http, of this machine, or has a plus sign': [
    () => connectingAt('http://chat.example.com', 'callbacks_not_public'),
    { reason: 'callbacks_not_public' },
    `${PAGE}#1-make-parley-reachable`,
  ],
  'a certificate that is expired, self-signed or without its chain': [
    () => connectingAt(`https://127.0.0.1:${(untrusted.address() as AddressInfo).port}`, 'callbacks_unverified'),
    { reason: 'callbacks_unverified', code: 2200 },
    `${PAGE}#callbacks-do-not-come`,
  ],
  "a firewall or CDN stops Meta's requests": [
    () => connectingAt(silent.url, 'callbacks_unverified'),
    { reason: 'callbacks_unverified', code: 2200 },
    `${PAGE}#callbacks-do-not-come`,
  ],
  'the wrong app secret, of another app or before a reset': [
    async () => {
      await connecting('secret_wrong', LIVE, { app_secret: 'of-another-app' })
      const { id, platform } = await connected()
      await patch(`/apps/${platform.app}`, { secret: 'after-the-reset' })
      expect(await isHeard(platform)).toBe(false)
      return checking(id, 'secret_wrong')
    },
    { reason: 'secret_wrong', code: 100 },
    'App settings, Basic, App secret',
  ],
  "the app's one callback URL belongs to another program": [
    () => connecting('callbacks_elsewhere', { ...LIVE, app: { callback_url: 'https://other.example/hook' } }),
    { reason: 'callbacks_elsewhere' },
    'https://other.example/hook',
  ],
  'an override was set before the subscription': [
    async () => {
      const app = { callback_url: 'https://other.example/hook', fields: ['messages'] }
      const platform = await makePlatform(world, { ...LIVE, app })
      const given = { override_callback_uri: `${other.url}/hook`, verify_token: 'any' }
      const { error } = await byHand('POST', `/${platform.account}/subscribed_apps`, platform.token, given)
      const id = await newOrganization()
      const { body } = await connect(id, { ...secretsOf(platform), callbacks: 'account' })
      const step = body.steps.find(({ reason }: Body) => reason === 'override_set')
      expect(await isHeard(platform)).toBe(true)
      return { reason: step?.reason, code: error.code, cure: `${error.message} ${step?.sentence}` }
    },
    { reason: 'override_set', code: 100 },
    'Before override the current callback uri',
  ],
  'an old override still points to the last program': [
    async () => {
      const { id, platform } = await connected()
      await patchNumber(platform, { override: `${other.url}/hook` })
      return checking(id, 'override_foreign')
    },
    { reason: 'override_foreign' },
    'no message arrives here',
  ],
  'an override of a shared number is refused': [
    async () => {
      const app = { callback_url: 'https://other.example/hook', fields: ['messages'] }
      return connecting('override_refused', { number: { is_on_biz_app: true }, app }, { callbacks: 'number' })
    },
    { reason: 'override_refused', code: 200 },
    "Use the app's own callback URL",
  ],
  'the number was never registered': [
    async () => {
      await connecting('pin_missing', {})
      const { id, platform } = await connected()
      await patchNumber(platform, { status: 'PENDING' })
      expect(await isHeard(platform)).toBe(false)
      return sending(id)
    },
    { ...refused, code: 133010 },
    `${PAGE}#registration`,
  ],
  'which PIN? Another one than was set': [
    async () => {
      for (const code of [133008, 133009]) {
        const blocked = await connecting('pin_blocked', { number: { pin_refusal: code } }, { pin: '123456' })
        expect([blocked.code, blocked.cure]).toEqual([code, expect.stringContaining('Please wait')])
      }
      return connecting('pin_wrong', { number: { pin: '999999' } }, { pin: '123456' })
    },
    { reason: 'pin_wrong', code: 133005 },
    'Two-step verification; do not guess',
  ],
  'guessing on': [
    async () => {
      const registrations = Array.from({ length: 10 }, () => Date.now())
      const blocked = await connecting('registration_blocked', { number: { registrations } }, { pin: '123456' })
      expect(blocked.code).toBe(133016)
      return connecting('number_unverified', { number: { pin: '999999', wrong_pins: 3 } }, { pin: '123456' })
    },
    { reason: 'number_unverified', code: 133006 },
    'verify the number by SMS',
  ],
  'registered while the name was in review': [
    () => connecting('registration_needs_name', { number: { name_status: 'PENDING_REVIEW' } }, { pin: '123456' }),
    { reason: 'registration_needs_name', code: 100 },
    'Wait for the name',
  ],
  'deleted in the app a moment ago': [
    () => connecting('registration_too_soon', { number: { deleted_at: Date.now() } }, { pin: '123456' }),
    { reason: 'registration_too_soon', code: 133015 },
    'Wait five minutes',
  ],
  'the number is still in the phone app': [
    () => connecting('no_number', { account: { numbers: [] } }),
    { reason: 'no_number' },
    `${PAGE}#your-own-number`,
  ],
  'the last program never let it go': [
    () => connecting('no_number', { account: { numbers: [] } }),
    { reason: 'no_number' },
    `${PAGE}#your-own-number`,
  ],
  "the recipient is not on the test number's list": [
    async () => sending((await connected({ number: { account_mode: 'SANDBOX' } })).id),
    { ...refused, code: 131030 },
    `${PAGE}#sending`,
  ],
  'it is on the list in another form (Argentina, Mexico, Brazil)': [
    async () => {
      const number = { account_mode: 'SANDBOX', recipients: ['541155550000'] }
      const { id, platform } = await connected({ number })
      expect(await isHeard(platform, '5491155550000')).toBe(true)
      await world.settle()
      return sending(id, '+5491155550000')
    },
    { ...refused, code: 131030 },
    'in both forms if the country has two',
  ],
  'the first message was a text': [
    async () => {
      const { id } = await connected()
      return sending(id, '+5511900000002')
    },
    { ...refused, code: 131047 },
    `${PAGE}#6-receive-and-send`,
  ],
  'no payment method on the account': [
    async () => {
      const { id, platform } = await connected()
      await patch(`/accounts/${platform.account}`, { has_payment: false })
      await checking(id, 'health_blocked')
      const key = await keyOf(id)
      await world.request('POST', '/contact', { key, body: { phone_number: `+${RECIPIENT}` } })
      await world.request('POST', '/templates/sync', { key, body: {} })
      const template = { templateName: 'pedido_enviado', language: 'pt_BR', chatNumber: `+${RECIPIENT}` }
      const filled = { ...template, bodyParameters: { '1': 'Ana', '2': '1042' } }
      const { body } = await world.request('POST', '/send-template', { key, body: filled })
      return { reason: String(body.success), cure: body.error }
    },
    { reason: 'false' },
    `${PAGE}#your-own-number`,
  ],
  'the account is locked': [
    async () => {
      const { id, platform } = await connected()
      await patch(`/accounts/${platform.account}`, { locked: true })
      return sending(id)
    },
    { ...refused, code: 131031 },
    `${PAGE}#sending`,
  ],
  'a `555` number without an approved name': [
    async () => {
      const number = { status: 'CONNECTED', display_phone_number: '+1 555 012 3456', name_status: 'PENDING_REVIEW' }
      return sending((await connected({ number })).id)
    },
    { ...refused, code: 131037 },
    `${PAGE}#your-own-number`,
  ],
}

/** The mistakes of the page, as a reader sees them. */
function listMistakes(): string[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('## Mistakes and their cures\n')
  const [tables = ''] = section.split('\n## ')
  const rows = tables.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| mistake |'))
  return rows.map((row) => (row.split('|')[1] ?? '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim())
}

it('the page lists the mistakes that are made here, and no others', () => {
  expect(listMistakes()).toEqual(Object.keys(MISTAKES))
  expect(listMistakes().length).toBeGreaterThanOrEqual(15)
})

it.each(Object.entries(MISTAKES))('Parley explains the mistake: %s', async (_name, [make, told, cure]) => {
  const { cure: said, ...rest } = await make()
  expect(rest).toEqual({ code: undefined, ...told })
  expect(said).toContain(cure)
})

it('a callback that is signed with another secret is refused', async () => {
  const { platform } = await connected()
  const metadata = { phone_number_id: platform.number, display_phone_number: '551140001234' }
  const value = { messaging_product: 'whatsapp', metadata }
  const entry = [{ id: platform.account, changes: [{ field: 'messages', value }] }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry })
  const post = async (secret: string) => {
    const headers = { 'x-hub-signature-256': `sha256=${hmacSha256Hex(secret, body)}` }
    return (await fetch(`${world.app.url}/hooks/upstream`, { method: 'POST', headers, body })).status
  }
  expect([await post(platform.secret), await post('of-another-app')]).toEqual([200, 401])
  expect((await seePlatform(world, platform)).app.fields).toContain('messages')
})

it('a sample is counted for the organizations of its app only', async () => {
  const one = await connected()
  const another = await connected()
  const receivedOf = async (id: string) => (await connect(id)).body.steps.at(-1).reason
  expect(await world.sim('POST', `/apps/${one.platform.app}/test`)).toMatchObject({ body: { status: 200 } })
  expect([await receivedOf(one.id), await receivedOf(another.id)]).toEqual(['received_sample', 'received_never'])
  const forged = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '0', changes: [{ field: 'x' }] }],
  })
  const headers = { 'x-hub-signature-256': `sha256=${hmacSha256Hex('of-nobody', forged)}` }
  expect((await fetch(`${world.app.url}/hooks/upstream`, { method: 'POST', headers, body: forged })).status).toBe(401)
})
