import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { CALLBACK_FIELDS } from '../../../../src/core/organizations/connecting/addresses.js'
import {
  checkAfterFailure,
  checkNumberAsJob,
  scheduleNumberChecks,
} from '../../../../src/core/organizations/connecting/check.js'
import { findNumberFigures } from '../../../../src/core/organizations/connecting/figures.js'
import { changePlatform, makePlatform, type Platform, type PlatformFields, writeTo } from '../../../support/platform.js'
import { useWorld } from '../../../support/world.js'

const world = useWorld()
const DAY_MS = 86_400_000

beforeAll(() => world.sim('POST', '/settings', { strict: true }))

const CONNECTED = { number: { status: 'CONNECTED' } }

/** An organization with a connected number, which was checked once. */
async function connected(fields: PlatformFields = CONNECTED): Promise<{ id: string; platform: Platform }> {
  const platform = await makePlatform(world, fields)
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  const { id } = made.body.organization
  const given = { access_token: platform.token, app_secret: platform.secret }
  const answer = await world.admin('POST', `/organizations/${id}/upstream/connect`, given)
  expect(answer.body.connected, JSON.stringify(answer.body.steps)).toBe(true)
  await world.drain()
  return { id, platform }
}

async function send(id: string, phone_number: string) {
  const issued = await world.admin('POST', `/organizations/${id}/keys`, { name: 'test' })
  const body = { phone_number, message_type: 'text', text: 'hello', create: true }
  return world.request('POST', '/send-chat', { key: issued.body.api_key.key, body })
}

const healthOf = async (id: string, refresh = false) =>
  (await world.admin('GET', `/organizations/${id}/upstream/health${refresh ? '?refresh=true' : ''}`)).body.numbers[0]

// biome-ignore lint/suspicious/noExplicitAny: the data of an event
async function eventsOf(id: string): Promise<any[]> {
  const { rows } = await world.database.pool.query(
    "SELECT data FROM events WHERE organization_id = $1 AND type = 'number.updated' ORDER BY seq",
    [id],
  )
  return rows.map(({ data }) => data)
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer
const problemsOf = (health: any): string[] =>
  health.steps.filter(({ state }: { state: string }) => state !== 'ok').map(({ reason }: { reason: string }) => reason)

describe('the check of a number', () => {
  it('runs after it is connected, and tells all that was found', async () => {
    const { id, platform } = await connected()
    expect(await healthOf(id)).toMatchObject({
      phone_number_id: platform.number,
      state: 'ok',
      status: 'CONNECTED',
      can_send: 'AVAILABLE',
      callback_url: `${world.app.url}/hooks/upstream`,
      checked_at: expect.any(String),
      token_expires_at: null,
      last_callback_at: null,
      last_send_at: null,
    })
    expect(await eventsOf(id)).toEqual([])
  })

  it('shows the last callback and the last send', async () => {
    const { id, platform } = await connected()
    expect(await writeTo(world, platform.number)).toBe(true)
    await world.settle()
    const { last_callback_at, last_send_at } = await healthOf(id)
    expect([last_callback_at, last_send_at]).toEqual([expect.any(String), null])
    const sent = await send(id, '5511999990000')
    expect(sent.status, JSON.stringify(sent.body)).toBe(200)
    expect((await healthOf(id)).last_send_at).toEqual(expect.any(String))
  })

  it.each([
    ['the token has ended', { token: { expires_at: 1_000_000_000 } }, 'token_refused'],
    ['a permission is gone', { token: { scopes: ['whatsapp_business_management'] } }, 'token_lacks'],
    ['the number is not registered any more', { number: { status: 'DISCONNECTED' } }, 'not_registered'],
    ['another program has taken the address', { app: { callback_url: 'https://other.example' } }, 'callbacks_foreign'],
    [
      'an override has been set',
      { number: { status: 'CONNECTED', override: 'https://other.example' } },
      'override_foreign',
    ],
    ['the payment method is gone', { account: { has_payment: false } }, 'health_blocked'],
  ])('raises number.updated when %s, once, and when it is mended', async (_name, broken, reason) => {
    const { id, platform } = await connected()
    const app = { callback_url: `${world.app.url}/hooks/upstream`, fields: CALLBACK_FIELDS }
    await changePlatform(world, platform, { app, ...CONNECTED, ...broken })
    expect(problemsOf(await healthOf(id, true))).toContain(reason)
    await healthOf(id, true)
    const [event, ...others] = await eventsOf(id)
    expect([event.previous_state, event.number.state, event.number.problems]).toEqual([
      'ok',
      'failed',
      expect.arrayContaining([reason]),
    ])
    expect(others).toEqual([])
    await changePlatform(world, platform, { app, ...CONNECTED })
    expect((await healthOf(id, true)).state).toBe('ok')
    expect((await eventsOf(id)).map(({ previous_state }) => previous_state)).toEqual(['ok', 'failed'])
  })

  it('tells that a token ends, 30, 7 and 1 days before', async () => {
    const end = Math.floor(world.now().getTime() / 1_000) + 40 * 86_400
    const { id } = await connected({ ...CONNECTED, token: { expires_at: end } })
    for (const [days, events] of [
      [5, 0],
      [10, 1],
      [1, 1],
      [18, 2],
      [5, 3],
    ] as const) {
      world.advance(days * DAY_MS)
      await healthOf(id, true)
      expect((await eventsOf(id)).length).toBe(events)
    }
    expect((await healthOf(id)).state).toBe('warning')
  })

  it('waits for three hourly checks before it tells that the upstream does not answer', async () => {
    const end = Math.floor(world.now().getTime() / 1_000) + 40 * 86_400
    const { id } = await connected({ ...CONNECTED, token: { expires_at: end } })
    const { connecting } = world.app.ctx.upstream
    const { debugToken } = connecting
    connecting.debugToken = async () => ({ outcome: 'failed', text: 'no answer' })
    const asked: string[] = []
    for (let n = 0; n < 3; n += 1) asked.push((await healthOf(id, true)).state)
    expect([asked, await eventsOf(id)]).toEqual([['failed', 'failed', 'failed'], []])
    const states: string[] = []
    for (let n = 0; n < 3; n += 1) {
      await checkNumberAsJob(world.app.ctx, id)
      states.push((await healthOf(id)).state)
    }
    connecting.debugToken = debugToken
    expect(states).toEqual(['ok', 'ok', 'failed'])
    expect(await healthOf(id)).toMatchObject({
      status: 'CONNECTED',
      token_expires_at: new Date(end * 1_000).toISOString(),
    })
    expect((await healthOf(id, true)).state).toBe('ok')
  })

  it('shows what was found now if the upstream does not answer, and that it is not what is known', async () => {
    const { id } = await connected()
    const { connecting } = world.app.ctx.upstream
    const { readNumberState } = connecting
    connecting.readNumberState = async () => ({ outcome: 'failed', text: 'no answer' })
    const now = await healthOf(id, true)
    connecting.readNumberState = readNumberState
    expect(problemsOf(now)).toContain('number_unavailable')
    expect(problemsOf(await healthOf(id))).toEqual([])
  })

  it.each([
    ['the app', { app: { callback_url: 'https://hub.example', fields: ['messages'] } }, 'callbacks_passed_on'],
    ['an override', { number: { status: 'CONNECTED', override: 'https://hub.example' } }, 'override_passed_on'],
  ])('warns if %s calls another address and callbacks come', async (_name, other, reason) => {
    const { id, platform } = await connected()
    expect(await writeTo(world, platform.number)).toBe(true)
    await world.settle()
    const app = {
      callback_url: `${world.app.url}/hooks/upstream`,
      fields: ['messages', 'message_template_status_update'],
    }
    await changePlatform(world, platform, { app, ...CONNECTED, ...other })
    const health = await healthOf(id, true)
    expect([health.state, problemsOf(health)]).toEqual(['warning', [reason]])
    world.advance(2 * DAY_MS)
    expect((await healthOf(id, true)).state).toBe('failed')
  })

  it('tells that messages are sent and no callback comes', async () => {
    const { id, platform } = await connected()
    expect(await writeTo(world, platform.number)).toBe(true)
    await world.settle()
    expect((await send(id, '5511999990000')).status).toBe(200)
    await world.settle()
    // The database's clock, which gave the message its time, does not advance.
    const sent = world.now().getTime()
    const { pool } = world.database
    await pool.query('UPDATE messages SET created_at = $2 WHERE organization_id = $1', [id, new Date(sent)])
    const setCallback = (at: number | null) =>
      pool.query('UPDATE number_states SET last_callback_at = $2 WHERE phone_number_id = $1', [
        platform.number,
        at === null ? null : new Date(at),
      ])
    const problems = async () => problemsOf(await healthOf(id, true))
    await setCallback(null)
    expect(await problems()).toEqual([])
    world.advance(2 * 3_600_000)
    expect(await problems()).toEqual(['received_not'])
    await setCallback(sent - 3_600_000)
    expect(await problems()).toEqual(['received_not'])
    await setCallback(sent + 1_000)
    expect(await problems()).toEqual([])
  })

  it('shows no refused message as the last send', async () => {
    const { id } = await connected()
    expect((await send(id, '5511990000002')).status).not.toBe(200)
    expect((await healthOf(id)).last_send_at).toBeNull()
  })

  it('is made every hour for each organization with a number', async () => {
    const { id, platform } = await connected()
    await changePlatform(world, platform, { number: { status: 'BANNED' } })
    await scheduleNumberChecks(world.app.ctx)
    await world.drain()
    expect((await healthOf(id)).state).toBe('failed')
  })

  it('runs soon after a refusal that is about the number, at most once in five minutes', async () => {
    const { id, platform } = await connected()
    const other = await connected()
    world.advance(6 * 60_000)
    await changePlatform(world, platform, { ...CONNECTED, token: { expires_at: 1_000_000_000 } })
    const untouched = (await healthOf(other.id)).checked_at
    const refused = await send(id, '5511999990000')
    expect(refused.body.upstream_code).toBe(190)
    await world.drain()
    const { state, checked_at } = await healthOf(id)
    expect([state, (await eventsOf(id)).length]).toEqual(['failed', 1])
    world.advance(60_000)
    await send(id, '5511999990000')
    await world.drain()
    expect((await healthOf(id)).checked_at).toBe(checked_at)
    expect((await healthOf(other.id)).checked_at).toBe(untouched)
  })

  it('runs soon after a failed status that is about the account, and not after one that is about the person', async () => {
    const { id, platform } = await connected()
    world.advance(6 * 60_000)
    const app = { callback_url: `${world.app.url}/hooks/upstream`, fields: CALLBACK_FIELDS }
    await changePlatform(world, platform, { app, ...CONNECTED, account: { has_payment: false } })
    for (const [to, code, state] of [
      ['5511999990026', 131026, 'ok'],
      ['5511999990042', 131042, 'failed'],
    ] as const) {
      await world.sim('PUT', `/recipients/${to}`, { code, by: 'status' })
      expect((await send(id, to)).status).toBe(200)
      await world.settle()
      await world.drain()
      expect((await healthOf(id)).state).toBe(state)
    }
  })

  it('is counted, unless the organization sends through an instance', async () => {
    const before = await findNumberFigures(world.app.ctx)
    const soon = Math.floor(world.now().getTime() / 1_000) + 86_400
    const { id } = await connected({ ...CONNECTED, token: { expires_at: soon } })
    const after = await findNumberFigures(world.app.ctx)
    expect(after.expiring - before.expiring).toBe(1)
    expect(after.states.warning - before.states.warning).toBe(1)
    expect(after.nextTokenEnd).toBeLessThanOrEqual(86_400)
    expect((await world.admin('PATCH', `/organizations/${id}`, { provider: 'gateway' })).status).toBe(200)
    const { nextTokenEnd: _end, okAge: _age, callbackAge: _last, ...rest } = before
    expect(await findNumberFigures(world.app.ctx)).toMatchObject(rest)
  })

  it('is counted in the metrics, without names', async () => {
    const { id, platform } = await connected()
    await changePlatform(world, platform, { token: { scopes: [] } })
    await healthOf(id, true)
    const text = await (await fetch(`${world.app.url}/metrics`)).text()
    expect(text).toMatch(/^parley_numbers\{state="failed"\} [1-9]/m)
    expect(text).toMatch(/^parley_number_problems\{step="token"\} [1-9]/m)
    expect(text).toMatch(/^parley_tokens_expiring \d/m)
    expect(text).toMatch(/^parley_token_next_end_seconds -?\d/m)
    expect(text).toMatch(/^parley_callbacks_last_seconds (-?\d|\+Inf)/m)
    expect(text).not.toContain(platform.number)
  })

  it('shows nothing without a number, and nothing of other organizations', async () => {
    await connected()
    const made = await world.admin('POST', '/organizations', { name: 'New', slug: `new-${randomUUID().slice(0, 8)}` })
    const { body } = await world.admin(
      'GET',
      `/organizations/${made.body.organization.id}/upstream/health?refresh=true`,
    )
    expect(body).toEqual({ success: true, numbers: [] })
    expect((await world.admin('GET', `/organizations/${randomUUID()}/upstream/health`)).status).toBe(404)
    expect(
      (await world.admin('GET', `/organizations/${made.body.organization.id}/upstream/health?refresh=1`)).status,
    ).toBe(400)
  })
})

describe('a further number', () => {
  /** A second number in the same business account, reached by the same token. */
  const connectFurther = async (id: string, platform: Platform, number: object = {}) => {
    const further = `4${platform.number.slice(1)}`
    const answer = await world.sim('PUT', `/accounts/${platform.account}`, {
      numbers: [
        { id: platform.number, status: 'CONNECTED' },
        { id: further, status: 'CONNECTED', display_phone_number: '+55 11 4000-1234', ...number },
      ],
    })
    expect(answer.status).toBe(200)
    const connected = await world.admin('POST', `/organizations/${id}/upstream/connect`, { further: true })
    expect(connected.body.connected, JSON.stringify(connected.body.steps)).toBe(true)
    await world.drain()
    return further
  }

  const numbersOf = async (id: string) => (await world.admin('GET', `/organizations/${id}/numbers`)).body.numbers

  it('is connected with the token of the first, checked with it, and sends as fast as WhatsApp allows each', async () => {
    const { id, platform } = await connected()
    const further = await connectFurther(id, platform, { throughput: 'HIGH' })
    expect(await numbersOf(id)).toMatchObject([
      { phone_number_id: platform.number, is_first: true, state: 'ok', messages_per_second: 80 },
      {
        phone_number_id: further,
        is_first: false,
        instance: '551140001234',
        phone_number: '+551140001234',
        state: 'ok',
        throughput: 'HIGH',
        messages_per_second: 1_000,
      },
    ])
    expect(await writeTo(world, further)).toBe(true)
    const { body } = await world.admin('GET', `/organizations/${id}/upstream/health`)
    expect(body.numbers.map(({ phone_number_id }: { phone_number_id: string }) => phone_number_id)).toEqual([
      platform.number,
      further,
    ])
  })

  it('is checked soon after a callback whose signature does not match, which tells that the app has another secret', async () => {
    const { id, platform } = await connected()
    const other = await connected()
    await world.database.pool.query(
      "UPDATE number_states SET checked_at = checked_at - interval '6 minutes' WHERE organization_id IN ($1, $2)",
      [id, other.id],
    )
    const untouched = await healthOf(other.id)
    const app = { callback_url: `${world.app.url}/hooks/upstream`, fields: CALLBACK_FIELDS }
    await changePlatform(world, { ...platform, secret: 'another secret' }, { app, ...CONNECTED })
    expect(await writeTo(world, platform.number)).toBe(false)
    const problems = async () => {
      await world.drain()
      return problemsOf(await healthOf(id))
    }
    await expect.poll(problems).toContain('secret_wrong')
    expect(await healthOf(other.id)).toEqual(untouched)
  })

  it('is checked soon after a refusal, if it was not in the last five minutes', async () => {
    const { id, platform } = await connected()
    const further = await connectFurther(id, platform)
    const checkedAt = async () => {
      const { rows } = await world.database.pool.query(
        'SELECT checked_at FROM number_states WHERE organization_id = $1 AND phone_number_id = $2',
        [id, further],
      )
      return rows[0].checked_at.getTime() as number
    }
    await world.database.pool.query(
      "UPDATE number_states SET checked_at = checked_at - interval '6 minutes' WHERE organization_id = $1 AND phone_number_id = $2",
      [id, further],
    )
    const before = await checkedAt()
    await checkAfterFailure(world.app.ctx, id, 190)
    await world.drain()
    const checked = await checkedAt()
    expect(checked).toBeGreaterThan(before)
    world.advance(60_000)
    await checkAfterFailure(world.app.ctx, id, 190)
    await world.drain()
    expect(await checkedAt()).toBe(checked)
  })

  it('that is used on a phone, too, sends 20 messages per second', async () => {
    const { id, platform } = await connected()
    await connectFurther(id, platform, { is_on_biz_app: true })
    expect((await numbersOf(id))[1]).toMatchObject({ messages_per_second: 20 })
  })

  it('of another organization is refused', async () => {
    const { platform } = await connected()
    const other = await connected()
    const given = { further: true, access_token: platform.token, app_secret: platform.secret }
    const path = `/organizations/${other.id}/upstream/connect`
    const taken = await world.admin('POST', path, { ...given, phone_number_id: platform.number })
    expect([taken.status, taken.body.error]).toEqual([409, 'Already taken'])
    expect(await numbersOf(other.id)).toHaveLength(1)
  })
})
