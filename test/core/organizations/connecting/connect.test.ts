import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../../../src/lib/crypto/signature.js'
import { keepVerifyToken } from '../../../../src/storage/organizations/connection-attempts.js'
import { startHttpServer } from '../../../support/http-server.js'
import { changePlatform, makePlatform, type Platform, seePlatform, writeTo } from '../../../support/platform.js'
import { useStarted } from '../../../support/started.js'
import { type Answer, useWorld } from '../../../support/world.js'

const world = useWorld()
/** The service of another program, which repeats every challenge. */
const other = useStarted(() =>
  startHttpServer((request, response) => {
    response.end(new URL(request.path, 'http://127.0.0.1').searchParams.get('hub.challenge') ?? '')
  }),
)

beforeAll(() => world.sim('POST', '/settings', { strict: true }))

async function newOrganization(): Promise<string> {
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  return made.body.organization.id
}

const connect = (id: string, body: object = {}) => world.admin('POST', `/organizations/${id}/upstream/connect`, body)
const secretsOf = ({ token, secret }: Platform) => ({ access_token: token, app_secret: secret })
const ourUrl = () => `${world.app.url}/hooks/upstream`
// biome-ignore lint/suspicious/noExplicitAny: the body of an answer
const reasonsOf = ({ body }: { body: any }): string[] => body.steps.map(({ reason }: { reason: string }) => reason)
// biome-ignore lint/suspicious/noExplicitAny: the body of an answer
const stepOf = ({ body }: { body: any }, name: string) => body.steps.find(({ step }: { step: string }) => step === name)

describe('POST /admin/organizations/{id}/upstream/connect', () => {
  it('goes from an access token to a received message, asking for what it cannot know', async () => {
    const platform = await makePlatform(world)
    const id = await newOrganization()
    const first = await connect(id, { access_token: platform.token })
    expect(first.status).toBe(200)
    expect(reasonsOf(first)).toEqual(['token_lasting', 'secret_missing'])
    expect(stepOf(first, 'app_secret')).toMatchObject({ state: 'choose', field: 'app_secret' })
    expect(await writeTo(world, platform.number)).toBe(false)

    const second = await connect(id, secretsOf(platform))
    expect(second.body).toMatchObject({ connected: false, upstream: { phone_number_id: platform.number } })
    expect(stepOf(second, 'registered')).toMatchObject({ reason: 'pin_missing', field: 'pin' })
    expect(stepOf(second, 'callbacks')).toMatchObject({ reason: 'callbacks_set', values: { url: ourUrl() } })
    const { fields } = (await seePlatform(world, platform)).app
    expect(fields).toEqual(expect.arrayContaining(['messages', 'user_preferences', 'account_update']))

    const third = await connect(id, { pin: '123456' })
    expect(third.body.connected).toBe(true)
    expect(reasonsOf(third)).toEqual([
      ...['token_lasting', 'secret_fits', 'number_found', 'callbacks_right', 'subscribed_right', 'registered_now'],
      ...['name_approved', 'quality_good', 'health_good', 'received_never'],
    ])
    expect(await writeTo(world, platform.number)).toBe(true)
    await world.settle()
    const last = await connect(id)
    expect(reasonsOf(last)).toContain('received_lately')
    expect(reasonsOf(last)).toContain('registered_right')
  })

  it('names no secret, and stores none in clear', async () => {
    const platform = await makePlatform(world, { number: { pin: '999999' } })
    const id = await newOrganization()
    const pin = '135790'
    const verify_token = randomUUID()
    const answer = await connect(id, { ...secretsOf(platform), pin, verify_token })
    expect(stepOf(answer, 'registered').reason).toBe('pin_wrong')
    for (const secret of [platform.token, platform.secret, verify_token, `"${pin}"`]) {
      expect(JSON.stringify(answer.body)).not.toContain(secret)
    }
  })

  it('changes nothing when it is repeated', async () => {
    const platform = await makePlatform(world, { number: { status: 'CONNECTED' } })
    const id = await newOrganization()
    await connect(id, secretsOf(platform))
    const before = await seePlatform(world, platform)
    const again = await connect(id)
    expect(again.body.connected).toBe(true)
    expect(reasonsOf(again)).toEqual(
      expect.arrayContaining(['callbacks_right', 'subscribed_right', 'registered_right']),
    )
    expect(await seePlatform(world, platform)).toEqual(before)
  })

  it.each([
    ['a token that nobody gave', {}, { access_token: 'EAAmadeup' }, 'token_refused'],
    ['a token that has ended', { token: { expires_at: 1_000_000_000 } }, {}, 'token_refused'],
    ['a token without a permission', { token: { scopes: ['whatsapp_business_messaging'] } }, {}, 'token_lacks'],
    ['the secret of another app', {}, { app_secret: 'another' }, 'secret_wrong'],
    ['a token that opens no account', { token: { accounts: [] } }, {}, 'account_unknown'],
    ['an account without a number', { account: { numbers: [] } }, {}, 'no_number'],
    ['the number in place of its id', {}, { phone_number_id: '5511999990000' }, 'number_unreached'],
    ["the portfolio's id", {}, { business_account_id: '999' }, 'account_refused'],
  ])('stores nothing with %s', async (_name, made, given, reason) => {
    const platform = await makePlatform(world, made)
    const id = await newOrganization()
    const answer = await connect(id, { ...secretsOf(platform), ...given })
    expect([answer.status, answer.body.connected, answer.body.upstream]).toEqual([200, false, null])
    expect(answer.body.steps.at(-1)).toMatchObject({ reason, sentence: expect.stringMatching(/./) })
    expect((await seePlatform(world, platform)).app.callback_url).toBeNull()
  })

  it('proves the secret of an app that requires it, in every call, and asks for one that it does not know', async () => {
    const platform = await makePlatform(world, { app: { requires_proof: true } })
    const id = await newOrganization()
    const asked = await connect(id, { access_token: platform.token })
    expect(asked.body.steps).toMatchObject([{ reason: 'token_needs_proof', state: 'failed', field: 'app_secret' }])
    const done = await connect(id, { ...secretsOf(platform), pin: '123456', send_to: '+5511999990000' })
    expect([done.body.connected, stepOf(done, 'sent').reason]).toEqual([true, 'sent_delivered'])
    const wrong = await connect(id, { ...secretsOf(platform), app_secret: 'another' })
    expect(wrong.body.steps.at(-1).reason).toBe('token_needs_proof')
  })

  it('warns of a token that ends soon, and of one of a person', async () => {
    const soon = Math.floor(world.now().getTime() / 1_000) + 86_400
    for (const [token, reason] of [
      [{ expires_at: soon }, 'token_ending'],
      [{ data_access_expires_at: soon }, 'data_access_ending'],
      [{ type: 'USER' }, 'token_of_person'],
      [{ expires_at: soon + 30 * 86_400 }, 'token_valid'],
    ] as const) {
      const platform = await makePlatform(world, { token })
      expect(reasonsOf(await connect(await newOrganization(), secretsOf(platform)))[0]).toBe(reason)
    }
  })

  it.each([
    ['in granular permissions', {}, {}],
    ['assigned to the user', {}, { targets: null }],
    ['of a portfolio', { business_id: '77' }, { targets: null }],
  ])('finds an account %s', async (_name, account, token) => {
    const scopes = ['whatsapp_business_messaging', 'whatsapp_business_management', 'business_management']
    const platform = await makePlatform(world, { account, token: { ...token, scopes } })
    const answer = await connect(await newOrganization(), secretsOf(platform))
    expect(answer.body.upstream).toMatchObject({ business_account_id: platform.account })
  })

  it('lets one of several numbers be chosen, and reads all pages of them', async () => {
    const prefix = randomInt(10 ** 9)
    const numbers = Array.from({ length: 120 }, (_, n) => ({ id: `4${prefix}${n}`, status: 'CONNECTED' }))
    const platform = await makePlatform(world, { account: { numbers } })
    const id = await newOrganization()
    const asked = stepOf(await connect(id, secretsOf(platform)), 'number')
    expect(asked).toMatchObject({ state: 'choose', field: 'phone_number_id', values: { count: 120 } })
    expect(asked.choices).toHaveLength(100)
    const chosen = { ...secretsOf(platform), phone_number_id: numbers[119]?.id }
    expect((await connect(id, chosen)).body.connected).toBe(true)
  })

  it.each([
    ['fails', { outcome: 'failed', text: 'no answer' }, 'number_unavailable'],
    ['is refused', { outcome: 'refused', code: 200, subcode: 0, text: 'no', isTokenAtFault: true }, 'number_choice'],
  ] as const)('takes no only number if the list of another account %s', async (_name, failure, reason) => {
    const one = await makePlatform(world)
    const two = await makePlatform(world, { token: { accounts: [] } })
    await changePlatform(world, one, { token: { accounts: [one.account, two.account] } })
    const { connecting } = world.app.ctx.upstream
    const { listNumbers } = connecting
    connecting.listNumbers = (token, list, timeoutMs) =>
      list.accountId === one.account ? Promise.resolve(failure) : listNumbers(token, list, timeoutMs)
    const answer = await connect(await newOrganization(), secretsOf(one))
    connecting.listNumbers = listNumbers
    expect([stepOf(answer, 'number').reason, answer.body.upstream]).toEqual([reason, null])
  })

  it('takes no only number of the first 20 accounts if there are more', async () => {
    const accounts = Array.from({ length: 20 }, () => `2${randomInt(10 ** 10, 10 ** 11)}`)
    for (const account of accounts) await world.sim('PUT', `/accounts/${account}`, { numbers: [] })
    const platform = await makePlatform(world)
    const [, ...rest] = accounts
    await changePlatform(world, platform, { token: { accounts: [platform.account, ...accounts] } })
    const asked = await connect(await newOrganization(), secretsOf(platform))
    expect(stepOf(asked, 'number')).toMatchObject({ reason: 'number_choice', values: { count: 1 } })
    await changePlatform(world, platform, { token: { accounts: [platform.account, ...rest] } })
    expect(stepOf(await connect(await newOrganization(), secretsOf(platform)), 'number').reason).toBe('number_found')
  })

  it('finds the connected number in its account, and asks before another one takes its place', async () => {
    const platform = await makePlatform(world)
    const id = await newOrganization()
    await connect(id, secretsOf(platform))
    const accounts = Array.from({ length: 20 }, () => `2${randomInt(10 ** 10, 10 ** 11)}`)
    for (const account of accounts) await world.sim('PUT', `/accounts/${account}`, { numbers: [] })
    await changePlatform(world, platform, { token: { accounts: [...accounts, platform.account] } })
    expect(stepOf(await connect(id, secretsOf(platform)), 'number').reason).toBe('number_found')
    const other = await makePlatform(world)
    const asked = await connect(id, secretsOf(other))
    expect(stepOf(asked, 'number')).toMatchObject({
      ...{ reason: 'number_other', field: 'phone_number_id', values: { connected: platform.number, count: 1 } },
      choices: [{ value: other.number }],
    })
    expect(asked.body.upstream.phone_number_id).toBe(platform.number)
    const chosen = await connect(id, { ...secretsOf(other), phone_number_id: other.number })
    expect(chosen.body.upstream.phone_number_id).toBe(other.number)
  })

  it('lists the numbers that the token reaches if the caller wants to choose, and changes nothing', async () => {
    const platform = await makePlatform(world)
    const id = await newOrganization()
    await connect(id, secretsOf(platform))
    const asked = await connect(id, { choose: true })
    expect(stepOf(asked, 'number')).toMatchObject({ reason: 'number_choice', choices: [{ value: platform.number }] })
    expect([asked.body.connected, asked.body.upstream.phone_number_id]).toEqual([false, platform.number])
    // Another organization has no token of its own, and gets none of this one.
    const foreign = await connect(await newOrganization(), { choose: true })
    expect([foreign.status, foreign.body.error]).toEqual([400, 'Missing required field'])
  })

  it('tells an outage while accounts are looked for from a missing permission', async () => {
    const platform = await makePlatform(world, { token: { targets: null } })
    const { connecting } = world.app.ctx.upstream
    const { listAccounts } = connecting
    connecting.listAccounts = async () => ({ outcome: 'failed', text: 'no answer' })
    const answer = await connect(await newOrganization(), secretsOf(platform))
    connecting.listAccounts = listAccounts
    expect(reasonsOf(answer).at(-1)).toBe('number_unavailable')
  })

  it("tells of a test number and of the platform's complaints", async () => {
    const platform = await makePlatform(world, {
      account: { has_payment: false },
    })
    await changePlatform(world, platform, {
      account: {
        has_payment: false,
        numbers: [{ id: platform.number, status: 'CONNECTED', quality_rating: 'RED', name_status: 'DECLINED' }],
      },
    })
    const answer = await connect(await newOrganization(), secretsOf(platform))
    expect(reasonsOf(answer)).toEqual(expect.arrayContaining(['quality_low', 'name_declined', 'health_blocked']))
    expect(stepOf(answer, 'health')).toMatchObject({ upstream_code: 141006, sentence: expect.stringContaining('WABA') })
    const test = await makePlatform(world, { number: { account_mode: 'SANDBOX' } })
    const ofTest = await connect(await newOrganization(), secretsOf(test))
    expect(reasonsOf(ofTest)).toEqual(expect.arrayContaining(['test_number', 'registered_right']))
  })

  it('is refused for ids of another organization, for bad fields, and for unknown organizations', async () => {
    const platform = await makePlatform(world)
    await connect(await newOrganization(), secretsOf(platform))
    const theirs = await newOrganization()
    const taken = await connect(theirs, secretsOf(platform))
    expect([taken.status, taken.body.error]).toEqual([409, 'Already taken'])
    expect((await connect(randomUUID(), secretsOf(platform))).status).toBe(404)
    expect((await connect(theirs)).body).toMatchObject({
      error: 'Missing required field',
      message: expect.stringContaining('access_token'),
    })
    for (const wrong of [{ pin: '12345' }, { callbacks: 'all' }, { phone_number_id: 'a/b' }, { unknown: 1 }]) {
      expect((await connect(theirs, { ...secretsOf(platform), ...wrong })).status).toBe(400)
    }
  })

  it('is refused while the organization is being connected', async () => {
    const id = await newOrganization()
    await world.database.pool.query(
      `INSERT INTO connection_attempts VALUES ($1, gen_random_uuid(), '\\x00', now() + interval '1 minute')`,
      [id],
    )
    const platform = await makePlatform(world)
    const answer = await connect(id, secretsOf(platform))
    expect([answer.status, answer.body.error]).toEqual([409, 'Request in progress'])
    await world.database.pool.query("UPDATE connection_attempts SET expires_at = now() - interval '1 second'")
    expect((await connect(id, secretsOf(platform))).status).toBe(200)
    const left = await world.database.pool.query('SELECT FROM connection_attempts WHERE organization_id = $1', [id])
    expect(left.rowCount).toBe(0)
  })

  it('says so if the upstream does not answer', async () => {
    const id = await newOrganization()
    const { upstream } = world.app.ctx
    const { debugToken } = upstream.connecting
    upstream.connecting.debugToken = async () => ({ outcome: 'failed', text: 'no answer' })
    const answer = await connect(id, { access_token: 'x', app_secret: 'y' })
    upstream.connecting.debugToken = debugToken
    expect(reasonsOf(answer)).toEqual(['token_unavailable'])
  })
})

describe('callbacks that go to another program', () => {
  async function withOther(): Promise<Platform> {
    const fields = { callback_url: `${other.url}/other`, fields: ['messages', 'message_template_status_update'] }
    const platform = await makePlatform(world, { app: fields, number: { status: 'CONNECTED' } })
    return platform
  }

  it('are left until somebody chooses', async () => {
    const platform = await withOther()
    const id = await newOrganization()
    const answer = await connect(id, secretsOf(platform))
    const step = stepOf(answer, 'callbacks')
    expect(step).toMatchObject({ reason: 'callbacks_elsewhere', state: 'choose', field: 'callbacks' })
    expect(step.choices.map(({ value }: { value: string }) => value)).toEqual(['app', 'account', 'number', 'none'])
    expect(stepOf(answer, 'subscribed')).toBeUndefined()
    const { app, account } = await seePlatform(world, platform)
    expect([app.callback_url, account.subscriptions]).toEqual([`${other.url}/other`, {}])
    expect(await writeTo(world, platform.number)).toBe(false)
    const none = await connect(id, { callbacks: 'none' })
    expect(stepOf(none, 'callbacks').reason).toBe('callbacks_left')
    expect((await seePlatform(world, platform)).app.callback_url).toBe(`${other.url}/other`)
    expect(await writeTo(world, platform.number)).toBe(true)
  })

  it.each([
    ['app', 'callbacks_set', 'subscribed_now'],
    ['account', 'callbacks_overridden', 'override_set'],
    ['number', 'callbacks_overridden', 'override_set'],
  ])('come here by the way %s', async (way, callbacks, subscribed) => {
    const platform = await withOther()
    const id = await newOrganization()
    await connect(id, secretsOf(platform))
    const answer = await connect(id, { callbacks: way })
    expect(reasonsOf(answer)).toEqual(expect.arrayContaining([callbacks, subscribed]))
    expect(answer.body.connected).toBe(true)
    const before = other.taken.length
    expect(await writeTo(world, platform.number)).toBe(true)
    expect(other.taken).toHaveLength(before)
    expect((await connect(id)).body.connected).toBe(true)
  })

  it.each([
    ['app', false, null],
    ['account', false, 'account'],
    ['number', true, 'number'],
  ])('come here by the way %s from overrides of the account and of the number', async (way, keepsAccount, whose) => {
    const platform = await withOther()
    const id = await newOrganization()
    await connect(id, { ...secretsOf(platform), callbacks: 'none' })
    const verify_token = 'other'
    const headers = { authorization: `Bearer ${platform.token}` }
    const old = { override_callback_uri: `${other.url}/old`, verify_token }
    const set = (path: string, body: object) =>
      fetch(`${world.simulator.upstreamUrl}/${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await set(`${platform.account}/subscribed_apps`, old)
    await set(platform.number, { webhook_configuration: old })
    const before = await seePlatform(world, platform)
    expect(before.account.numbers[0]?.override).toBe(`${other.url}/old`)
    const answer = await connect(id, { callbacks: way })
    expect(answer.body.connected, JSON.stringify(answer.body.steps)).toBe(true)
    if (whose !== null) expect(stepOf(answer, 'subscribed').values.whose).toBe(whose)
    const { account } = await seePlatform(world, platform)
    expect(account.subscriptions[platform.app] === `${other.url}/old`).toBe(keepsAccount)
    const taken = other.taken.length
    expect(await writeTo(world, platform.number)).toBe(true)
    expect(other.taken).toHaveLength(taken)
  })

  it.each(['account', 'number'])('do not come here by the way %s if the app has not ticked messages', async (way) => {
    const platform = await withOther()
    await changePlatform(world, platform, {
      app: { callback_url: `${other.url}/other`, fields: ['account_update'] },
      number: { status: 'CONNECTED' },
    })
    const id = await newOrganization()
    for (const given of [{ ...secretsOf(platform), callbacks: way }, {}]) {
      const answer = await connect(id, given)
      expect(stepOf(answer, 'callbacks').reason).toBe('messages_not_ticked')
      expect(answer.body.connected).toBe(false)
    }
  })

  it('come back from an old override', async () => {
    const platform = await makePlatform(world, { number: { status: 'CONNECTED', override: `${other.url}/old` } })
    const id = await newOrganization()
    const asked = await connect(id, secretsOf(platform))
    expect(stepOf(asked, 'subscribed')).toMatchObject({
      reason: 'override_elsewhere',
      field: 'callbacks',
      values: { whose: 'number', url: `${other.url}/old` },
    })
    expect((await connect(id, { callbacks: 'app' })).body.connected).toBe(true)
    expect((await seePlatform(world, platform)).account.numbers[0]?.override).toBeNull()
  })

  it('cannot be directed for a number that the phone app shares', async () => {
    const number = { is_on_biz_app: true, status: 'CONNECTED' }
    const platform = await makePlatform(world, { app: { callback_url: other.url, fields: ['messages'] }, number })
    const answer = await connect(await newOrganization(), { ...secretsOf(platform), callbacks: 'number' })
    expect(stepOf(answer, 'subscribed')).toMatchObject({ reason: 'override_refused', upstream_code: 200 })
    expect(stepOf(answer, 'callbacks')).toMatchObject({ reason: 'callbacks_foreign', values: { url: other.url } })
  })
})

describe('the phone of a number', () => {
  const onPhone = { number: { is_on_biz_app: true, status: 'CONNECTED' } }
  const postHistory = ({ number }: Platform) => {
    const messages = [{ type: 'text', text: 'before', timestamp: Math.floor(Date.now() / 1_000) - 60 }]
    return world.sim('POST', '/history', { phone_number_id: number, threads: [{ with: '5511999990000', messages }] })
  }
  const asked = (answer: Answer) => stepOf(answer, 'received')

  it('is asked for contacts and history once, and these come only then', async () => {
    const platform = await makePlatform(world, onPhone)
    const id = await newOrganization()
    expect((await postHistory(platform)).status).toBe(409)
    const contacts = { field: 'smb_app_state_sync', value: { state_sync: [] }, phone_number_id: platform.number }
    expect((await world.sim('POST', '/callback', contacts)).status).toBe(409)
    const first = await connect(id, secretsOf(platform))
    expect(asked(first)).toMatchObject({ state: 'ok', reason: 'phone_data_asked' })
    expect(asked(await connect(id)).values).toEqual(asked(first).values)
    expect(asked(await connect(id, secretsOf(platform))).values).toEqual(asked(first).values)
    const { rows } = await world.database.pool.query(
      'SELECT phone_data FROM number_states WHERE organization_id = $1',
      [id],
    )
    const { smb_app_state_sync, history } = rows[0].phone_data.requests
    const ids = [smb_app_state_sync, history]
    expect(ids).toHaveLength(2)
    expect(asked(first).values.ids).toBe(ids.join(', '))
    expect((await postHistory(platform)).body).toMatchObject({ success: true })
  })

  it('is asked again when the number is connected anew a day later', async () => {
    const platform = await makePlatform(world, onPhone)
    const id = await newOrganization()
    await connect(id, secretsOf(platform))
    await world.database.pool.query(
      `UPDATE number_states SET phone_data = phone_data || '{"at": "2026-01-01T00:00:00Z"}' WHERE organization_id = $1`,
      [id],
    )
    expect(asked(await connect(id)).reason).toBe('phone_data_asked')
    // The simulator knows no new connection of the same number.
    expect(asked(await connect(id, secretsOf(platform)))).toMatchObject({
      state: 'warning',
      reason: 'phone_data_refused',
      upstream_code: 100,
    })
    await changePlatform(world, platform, onPhone)
    expect(asked(await connect(id, secretsOf(platform))).reason).toBe('phone_data_asked')
  })

  it('is not asked while the callbacks go elsewhere, or if the number is on no phone', async () => {
    const app = { callback_url: other.url, fields: ['messages'] }
    const foreign = await connect(await newOrganization(), secretsOf(await makePlatform(world, { app, ...onPhone })))
    expect(asked(foreign).reason).toBe('received_never')
    const plain = await makePlatform(world, { number: { status: 'CONNECTED' } })
    expect(asked(await connect(await newOrganization(), secretsOf(plain))).reason).toBe('received_never')
  })
})

describe('the verify token', () => {
  const verify = async (token: string) => {
    const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': '1', 'hub.verify_token': token })
    return (await fetch(`${ourUrl()}?${query}`)).status
  }

  it('of before stays valid until the upstream has accepted the new one', async () => {
    const id = await newOrganization()
    const ids = { phone_number_id: randomUUID(), business_account_id: randomUUID() }
    await world.admin('PUT', `/organizations/${id}/upstream`, {
      ...ids,
      access_token: 'a',
      app_secret: 'b',
      verify_token: 'old',
    })
    const platform = await makePlatform(world, { number: { status: 'CONNECTED' } })
    const { publicUrl } = world.app.ctx
    world.app.ctx.publicUrl = () => 'http://127.0.0.1:1'
    const given = { ...secretsOf(platform), phone_number_id: platform.number, verify_token: 'new' }
    const failed = await connect(id, given)
    world.app.ctx.publicUrl = publicUrl
    expect(stepOf(failed, 'callbacks')).toMatchObject({ reason: 'callbacks_unverified', upstream_code: 2200 })
    expect([await verify('old'), await verify('new')]).toEqual([200, 403])
    const done = await connect(id, { verify_token: 'new' })
    expect(reasonsOf(done)).toContain('callbacks_set')
    expect(reasonsOf(done)).not.toContain('verify_token_new')
    expect([await verify('old'), await verify('new')]).toEqual([403, 200])
    await changePlatform(world, platform, { number: { status: 'CONNECTED' } })
    expect(reasonsOf(await connect(id))).toContain('verify_token_new')
    expect(await verify('new')).toBe(403)
  })

  it('of an attempt that has died is not valid', async () => {
    const id = await newOrganization()
    await world.database.pool.query(
      `INSERT INTO connection_attempts VALUES ($1, gen_random_uuid(), sha256('dead'), now() + interval '1 minute')`,
      [id],
    )
    expect(await verify('dead')).toBe(200)
    await world.database.pool.query("UPDATE connection_attempts SET expires_at = now() - interval '1 second'")
    expect(await verify('dead')).toBe(403)
  })

  it('is not kept for another number than the one that was connected', async () => {
    const platform = await makePlatform(world, { number: { status: 'CONNECTED' } })
    const id = await newOrganization()
    await connect(id, { ...secretsOf(platform), verify_token: 'first' })
    await keepVerifyToken(world.database, id, 'another', sha256('stray'))
    expect([await verify('first'), await verify('stray')]).toEqual([200, 403])
  })

  it.each([
    ['http://chat.example.com', true],
    ['http://127.0.0.1:3000', false],
    ['https://localhost', false],
  ])('is given to nobody if the address %s cannot be called', async (url, isSimulated) => {
    const platform = await makePlatform(world, { number: { status: 'CONNECTED' } })
    const { ctx } = world.app
    const before = { publicUrl: ctx.publicUrl, isSimulated: ctx.isSimulated }
    Object.assign(ctx, { publicUrl: () => url, isSimulated: async () => isSimulated })
    const answer = await connect(await newOrganization(), secretsOf(platform))
    Object.assign(ctx, before)
    expect(stepOf(answer, 'callbacks').reason).toBe('callbacks_not_public')
    expect((await seePlatform(world, platform)).account.subscriptions).toEqual({})
  })
})

describe('registration', () => {
  const minute = 60_000
  it.each([
    ['another PIN', { pin: '999999' }, 'pin_wrong', 133005],
    ['too many wrong PINs', { pin: '123456', wrong_pins: 3 }, 'number_unverified', 133006],
    ['ten attempts', { registrations: Array.from({ length: 10 }, () => Date.now()) }, 'registration_blocked', 133016],
    ['a deletion a moment ago', { deleted_at: Date.now() - minute }, 'registration_too_soon', 133015],
    ['a name in review', { name_status: 'PENDING_REVIEW' }, 'registration_needs_name', 100],
  ])('explains %s', async (_name, number, reason, code) => {
    const platform = await makePlatform(world, { number })
    const answer = await connect(await newOrganization(), { ...secretsOf(platform), pin: '123456' })
    expect(stepOf(answer, 'registered')).toMatchObject({ reason, state: 'failed', upstream_code: code })
  })

  it.each([
    ['FLAGGED', 'registered_right', true],
    ['RATE_LIMITED', 'registered_right', true],
    ['RESTRICTED', 'number_restricted', true],
    ['BANNED', 'number_banned', false],
    ['SOMETHING_NEW', 'registered_unread', false],
  ])('is not tried for a number that is %s', async (status, reason, receives) => {
    const platform = await makePlatform(world, { number: { status } })
    const answer = await connect(await newOrganization(), { ...secretsOf(platform), pin: '123456' })
    expect(stepOf(answer, 'registered').reason).toBe(reason)
    expect((await seePlatform(world, platform)).account.numbers[0]?.status).toBe(status)
    expect(await writeTo(world, platform.number)).toBe(receives)
  })

  it.each([
    [{ new_name_status: 'DECLINED' }, 'new_name_declined'],
    [{ new_name_status: 'PENDING_REVIEW' }, 'new_name_in_review'],
    [{ name_status: 'DECLINED' }, 'name_declined'],
    [{ name_status: 'NONE' }, undefined],
  ])('does not depend on a name with %j', async (names, reason) => {
    const platform = await makePlatform(world, { number: { status: 'CONNECTED', verified_name: 'Loja', ...names } })
    const answer = await connect(await newOrganization(), secretsOf(platform))
    expect(answer.body.connected).toBe(true)
    expect(stepOf(answer, 'name')?.reason).toBe(reason)
    if (reason?.startsWith('new_')) expect(stepOf(answer, 'name').sentence).toContain('Loja')
  })

  it('is repeated for a new name, if somebody wants that', async () => {
    const platform = await makePlatform(world, {
      number: { status: 'CONNECTED', new_name_status: 'APPROVED', pin: '123456' },
    })
    const id = await newOrganization()
    const left = await connect(id, secretsOf(platform))
    expect(stepOf(left, 'registered')).toMatchObject({ reason: 'name_needs_registration', field: 'pin' })
    expect(left.body.connected).toBe(true)
    expect(stepOf(await connect(id, { pin: '123456' }), 'registered').reason).toBe('registered_now')
    expect(stepOf(await connect(id, { pin: '123456' }), 'registered').reason).toBe('registered_right')
  })
})
