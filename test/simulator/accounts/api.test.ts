import { createHmac, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { startHttpServer } from '../../support/http-server.js'
import { call, errorOf, textTo, useWorld } from '../../support/simulator.js'
import { useStarted } from '../../support/started.js'

const world = useWorld({ strict: true })

const VERIFY_TOKEN = 'verify me'
/** A service that repeats challenges with the right token and takes all callbacks. */
const service = useStarted(() =>
  startHttpServer((request, response) => {
    const asked = new URL(request.path, 'http://127.0.0.1').searchParams
    const isRight = request.method === 'POST' || asked.get('hub.verify_token') === VERIFY_TOKEN
    response.writeHead(isRight ? 200 : 403).end(asked.get('hub.challenge') ?? '')
  }),
)

let ids: { app: string; account: string; number: string; token: string }

const put = (path: string, body: object) => world.control('PUT', path, body)
const ask = (method: string, path: string, body?: object, token: string | null = ids.token) =>
  call(method, `${world.simulator.upstreamUrl}/${path}`, body, token)
const codeOf = async (answer: ReturnType<typeof ask>) => errorOf((await answer).body).code
const send = (to = '5511999990000', body: object = textTo(to)) => ask('POST', `${ids.number}/messages`, body)
const hello = (to: string) => ({
  ...{ messaging_product: 'whatsapp', to, type: 'template' },
  template: { name: 'hello_world', language: { code: 'en_US' } },
})
const receive = () =>
  world.control('POST', '/inbound', {
    ...{ phone_number_id: ids.number, from: '5511999990000', type: 'text', text: 'hi', repeat: false },
  })
const address = (path = '/hooks/upstream') => ({ callback_url: `${service.url}${path}`, verify_token: VERIFY_TOKEN })
const subscription = { object: 'whatsapp_business_account', fields: ['messages'] }
const setAddress = (fields: object = {}) =>
  ask('POST', `${ids.app}/subscriptions`, { ...subscription, ...address(), ...fields }, `${ids.app}|secret`)

async function makeWorld({ app = {}, account = {}, number = {}, token = {} }: Record<string, object> = {}) {
  await put(`/apps/${ids.app}`, { secret: 'secret', ...app })
  const numbers = [{ id: ids.number, status: 'CONNECTED', ...number }]
  await put(`/accounts/${ids.account}`, { numbers, ...account })
  await put(`/tokens/${ids.token}`, { app_id: ids.app, accounts: [ids.account], ...token })
}

beforeEach(async () => {
  const unique = () => String(Number.parseInt(randomUUID().slice(0, 8), 16))
  ids = { app: `1${unique()}`, account: `2${unique()}`, number: `3${unique()}`, token: `token-${randomUUID()}` }
})

describe('a strict simulator', () => {
  it('says what a token may do, and only to its own app', async () => {
    await makeWorld({ token: { expires_at: 4_000_000_000, targets: null } })
    const { body } = await ask('GET', `debug_token?input_token=${ids.token}`)
    expect(body.data).toMatchObject({ app_id: ids.app, is_valid: true, expires_at: 4_000_000_000 })
    expect(JSON.stringify(body)).not.toContain('target_ids')
    const other = await ask('GET', 'debug_token?input_token=another')
    expect(other.body.data).toMatchObject({ is_valid: false })
  })

  it.each([
    ['an unknown token', {}, 'another', 190],
    ['a token that has ended', { token: { expires_at: 1_000_000_000 } }, null, 190],
    ['a token without the permission', { token: { scopes: ['whatsapp_business_management'] } }, null, 10],
    ['a token that does not open the account', { token: { accounts: [] } }, null, 100],
    ['an app that requires a proof', { app: { requires_proof: true } }, null, 100],
    ['a number that is not registered', { number: { status: 'PENDING' } }, null, 133010],
    ['a locked account', { account: { locked: true } }, null, 131031],
    ['a recipient that a test number may not write to', { number: { account_mode: 'SANDBOX' } }, null, 131030],
  ])('refuses sends with %s', async (_name, made, token, code) => {
    await makeWorld(made)
    if (token !== null) ids.token = token
    expect(await codeOf(send())).toBe(code)
  })

  it('sends hello_world from test numbers only, and no templates without a payment method', async () => {
    await makeWorld({ account: { has_payment: false } })
    expect(await codeOf(send('', hello('5511999990000')))).toBe(131058)
    await makeWorld({
      account: { has_payment: false },
      number: { account_mode: 'SANDBOX', recipients: ['5511999990000'] },
    })
    expect((await send('', hello('5511999990000'))).status).toBe(200)
  })

  it('takes templates of an account with a token that may manage it, and example files for the app of the token', async () => {
    const components = [{ type: 'BODY', text: 'Good day to you' }]
    const template = { name: 'plain', language: 'en', category: 'UTILITY', components }
    const create = () => ask('POST', `${ids.account}/message_templates`, template)
    await makeWorld({ token: { accounts: [] } })
    expect(await codeOf(create())).toBe(100)
    await makeWorld({ token: { scopes: ['whatsapp_business_messaging'] } })
    expect(await codeOf(create())).toBe(200)
    await makeWorld()
    const { id } = (await create()).body
    expect((await ask('GET', `${id}?fields=name`)).body).toEqual({ id, name: 'plain' })
    const begin = (app: string) => ask('POST', `${app}/uploads?file_length=1&file_type=image/png`)
    expect((await begin(ids.app)).body.id).toMatch(/^upload:/)
    expect(await codeOf(begin('1'))).toBe(100)
  })

  it('ignores the registration of a service', async () => {
    const registered = await put('/numbers/42', { app_secret: 's', callback_url: service.url, access_token: ids.token })
    expect(registered.body).toEqual({ success: true, number: null })
    await makeWorld()
    ids.number = '42'
    expect(await codeOf(send())).toBe(100)
  })

  it('reads numbers by pages', async () => {
    await makeWorld({ account: { numbers: ['a', 'b', 'c'].map((id) => ({ id: ids.number + id })) } })
    const first = await ask('GET', `${ids.account}/phone_numbers?fields=status&limit=2`)
    expect(first.body.data).toHaveLength(2)
    const { next, cursors } = first.body.paging as { next: string; cursors: { after: string } }
    expect(next).toBeTruthy()
    const second = await ask('GET', `${ids.account}/phone_numbers?fields=status&limit=2&after=${cursors.after}`)
    expect(second.body.data).toEqual([{ id: `${ids.number}c`, status: 'PENDING' }])
    expect(second.body.paging).not.toHaveProperty('next')
  })

  it('checks a proof that is given', async () => {
    await makeWorld()
    const proof = createHmac('sha256', 'secret').update(ids.token).digest('hex')
    expect((await ask('GET', `app?appsecret_proof=${proof}`)).body).toMatchObject({ id: ids.app })
    expect(await codeOf(ask('GET', 'app?appsecret_proof=0000'))).toBe(100)
    expect(await codeOf(ask('GET', `${ids.number}?appsecret_proof=0000`))).toBe(100)
  })

  it('refuses every call without a proof to an app that requires one', async () => {
    await makeWorld({ app: { requires_proof: true } })
    const proof = createHmac('sha256', 'secret').update(ids.token).digest('hex')
    for (const path of ['app', ids.number, `${ids.account}/message_templates`]) {
      expect(await codeOf(ask('GET', path))).toBe(100)
      expect((await ask('GET', `${path}?appsecret_proof=${proof}`)).status).toBe(200)
    }
    expect(await codeOf(send())).toBe(100)
  })
})

describe('callbacks of a strict simulator', () => {
  const arrives = async () => (await receive()).body.delivered

  it('come only with an address, the field, a subscription and a published app', async () => {
    await makeWorld({ app: { published: false } })
    expect((await setAddress({ fields: ['calls'] })).status).toBe(200)
    expect(await arrives()).toBe(false)
    await ask('POST', `${ids.account}/subscribed_apps`)
    expect(await arrives()).toBe(false)
    await setAddress()
    expect(await arrives()).toBe(false)
    await put(`/apps/${ids.app}`, { secret: 'secret', fields: ['messages'], callback_url: address().callback_url })
    expect(await arrives()).toBe(true)
    await ask('DELETE', `${ids.account}/subscribed_apps`)
    expect(await arrives()).toBe(false)
  })

  it('of a number that is not registered come to nobody', async () => {
    await makeWorld({ number: { status: 'PENDING' } })
    await setAddress()
    await ask('POST', `${ids.account}/subscribed_apps`)
    expect(await arrives()).toBe(false)
  })

  it('go to the override of the number, else of the account, except for reports on templates', async () => {
    await makeWorld()
    await setAddress({ ...address('/app'), fields: 'messages,message_template_status_update' })
    const override = (path: string) => ({ override_callback_uri: `${service.url}${path}`, verify_token: VERIFY_TOKEN })
    expect(await codeOf(ask('POST', `${ids.account}/subscribed_apps`, override('/account')))).toBe(100)
    await ask('POST', `${ids.account}/subscribed_apps`)
    await ask('POST', `${ids.account}/subscribed_apps`, override('/account'))
    await receive()
    await ask('POST', ids.number, { webhook_configuration: override('/number') })
    await receive()
    const approved = { phone_number_id: ids.number, name: 'hello_world', language: 'en_US', event: 'PAUSED' }
    await world.control('POST', '/templates/status', approved)
    await ask('POST', ids.number, { webhook_configuration: { override_callback_uri: '' } })
    await ask('POST', `${ids.account}/subscribed_apps`)
    await receive()
    const posts = service.taken.filter(({ method, body }) => method === 'POST' && body.includes(ids.account))
    expect(posts.map(({ path }) => path)).toEqual(['/account', '/number', '/app', '/app'])
  })

  it.each([
    ['the wrong verify token', { verify_token: 'another' }, 'HTTP Status Code = 403'],
    ['no answer', { callback_url: 'http://127.0.0.1:1/' }, 'curl_errno = 28'],
  ])('are not directed to an address with %s', async (_name, fields, text) => {
    await makeWorld()
    const { error } = (await setAddress(fields)).body as { error: { code: number; message: string } }
    expect([error.code, error.message]).toEqual([2200, expect.stringContaining(text)])
  })

  it('are set by the token of the app alone', async () => {
    await makeWorld()
    expect(await codeOf(ask('POST', `${ids.app}/subscriptions`, { ...subscription, ...address() }))).toBe(15)
  })
})

describe('PATCH', () => {
  it('changes only the given fields of what was made', async () => {
    await makeWorld({
      app: { published: false },
      number: { recipients: ['5511999990000'] },
      account: { business_id: '7' },
    })
    await setAddress()
    await ask('POST', `${ids.account}/subscribed_apps`)
    expect((await receive()).body.delivered).toBe(false)
    await world.control('PATCH', `/apps/${ids.app}`, { published: true })
    expect((await receive()).body.delivered).toBe(true)
    const numbers = [{ id: ids.number, pin: '123456' }]
    const { body } = await world.control('PATCH', `/accounts/${ids.account}`, { locked: true, numbers })
    expect(body.account).toMatchObject({
      ...{ locked: true, business_id: '7', subscriptions: { [ids.app]: null } },
      numbers: [{ status: 'CONNECTED', recipients: ['5511999990000'], has_pin: true }],
    })
    expect(await codeOf(send())).toBe(131031)
    await world.control('PATCH', `/tokens/${ids.token}`, { expires_at: 1 })
    expect(await codeOf(send())).toBe(190)
  })

  it('refuses what was not made, and fields that there are not', async () => {
    await makeWorld()
    for (const kind of ['apps', 'accounts', 'tokens']) {
      expect((await world.control('PATCH', `/${kind}/${randomUUID()}`, {})).status).toBe(404)
    }
    expect((await world.control('PATCH', `/apps/${ids.app}`, { colour: 'red' })).status).toBe(400)
    expect((await world.control('PATCH', `/accounts/${ids.account}`, { numbers: 'all' })).status).toBe(400)
  })
})

describe('the button Test of a strict simulator', () => {
  const test = () => world.control('POST', `/apps/${ids.app}/test`)

  it("posts the sample to an app's address, published or not, signed with its secret", async () => {
    await makeWorld({ app: { published: false } })
    expect((await test()).status).toBe(409)
    await setAddress()
    expect((await test()).body).toMatchObject({ delivered: true, status: 200 })
    const { body, headers } = service.taken.at(-1) ?? {}
    expect(String(body)).toContain('"phone_number_id":"123456123"')
    const signature = createHmac('sha256', 'secret').update(String(body)).digest('hex')
    expect(headers?.['x-hub-signature-256']).toBe(`sha256=${signature}`)
  })
})

describe('registration at a strict simulator', () => {
  const register = (pin: unknown = '123456') =>
    ask('POST', `${ids.number}/register`, { messaging_product: 'whatsapp', pin })

  it('connects a number and sets its PIN', async () => {
    await makeWorld({ number: { status: 'PENDING' } })
    expect((await register()).status).toBe(200)
    expect((await send()).status).toBe(200)
    expect(await codeOf(register('654321'))).toBe(133005)
  })

  it.each([
    ['a PIN of five digits', { status: 'PENDING' }, '12345', 100],
    ['another PIN', { status: 'PENDING', pin: '654321' }, '123456', 133005],
    ['after three wrong PINs', { status: 'PENDING', pin: '123456', wrong_pins: 3 }, '123456', 133006],
    ['a name in review', { status: 'PENDING', name_status: 'PENDING_REVIEW' }, '123456', 100],
    ['after ten attempts', { registrations: Array.from({ length: 10 }, () => Date.now()) }, '123456', 133016],
    ['a moment after the deletion', { deleted_at: Date.now() }, '123456', 133015],
  ])('is refused with %s', async (_name, number, pin, code) => {
    await makeWorld({ number })
    expect(await codeOf(register(pin))).toBe(code)
  })
})
