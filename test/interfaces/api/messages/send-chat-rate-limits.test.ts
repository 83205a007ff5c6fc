import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../src/app.js'
import { readConfig } from '../../../../src/config/read.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { forAllPurposes } from '../../../support/database.js'
import { freePort } from '../../../support/free-port.js'
import { type Answering, bare, hangUp, json, startHttpServer } from '../../../support/http-server.js'
import { useStarted } from '../../../support/started.js'
import {
  type Answer,
  startWorld,
  type TestOrganization,
  useOrganization,
  useWorld,
  type World,
} from '../../../support/world.js'

/** A call may take the whole 25 s of a request, so that no time is left to wait for the recipient's next slot. */
const ENV = { PARLEY_UPSTREAM_TIMEOUT_MS: '25000', PARLEY_RATE_LIMIT: '1000' }
const BURST = 45

const world = useWorld(ENV)
let anotherFolder: string
let people = 0

beforeAll(async () => {
  anotherFolder = await mkdtemp(join(tmpdir(), 'parley-rate-'))
  await world.sim('POST', '/settings', { statuses: false })
})

afterAll(() => rm(anotherFolder, { recursive: true }))

/** An organization whose number has these limits. */
async function createLimited(
  limits: { messages_per_second?: number; pair_limit?: boolean },
  inWorld = world,
): Promise<TestOrganization> {
  const organization = await inWorld.createOrganization()
  const changed = await inWorld.admin('PUT', `/organizations/${organization.id}/upstream`, {
    phone_number_id: organization.phoneNumberId,
    business_account_id: organization.businessAccountId,
    access_token: 'token',
    app_secret: organization.appSecret,
    verify_token: organization.verifyToken,
    messages_per_second: 0,
    pair_limit: false,
    ...limits,
  })
  expect(changed.status).toBe(200)
  return organization
}

async function newContact(organization: TestOrganization, inWorld = world): Promise<string> {
  const digits = `1650557${String(++people).padStart(4, '0')}`
  await createContact(inWorld, organization, `+${digits}`)
  return digits
}

function send(organization: TestOrganization, to: string, fields: object = {}, headers: Record<string, string> = {}) {
  const body = { phone_number: to, message_type: 'text', text: 'hello', ...fields }
  return world.request('POST', '/send-chat', { key: organization.key, body, headers })
}

function sendMany(organization: TestOrganization, to: string, count: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => send(organization, to)))
}

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status)
const all = (count: number, status: number) => Array.from({ length: count }, () => status)

/** The number of messages in the conversation, and the number that arrived at the upstream. */
async function countOf(organization: TestOrganization, digits: string): Promise<[recorded: number, sent: number]> {
  const shown = await conversation(world, organization, digits)
  const arrived = await world.sim('GET', `/messages?to=${digits}&phone_number_id=${organization.phoneNumberId}`)
  return [shown.body.pagination.totalMessages, arrived.body.total]
}

/** Sets the clock to the recipient's next slot, or this long after it. */
async function goToTurn(organization: TestOrganization, digits: string, afterMs = 0): Promise<void> {
  const { rows } = await world.database.pool.query<{ slot: Date }>(
    `SELECT paced_until - interval '268.4 seconds' AS slot FROM contacts WHERE organization_id = $1 AND chat_id = $2`,
    [organization.id, digits],
  )
  world.advance((rows[0]?.slot.getTime() ?? Number.NaN) + afterMs - world.now().getTime())
}

/** Checks that the messages keep the upstream's limit: never more than 45 at once, and 6 s for each further one. */
async function expectPaced({ id }: TestOrganization, digits: string): Promise<void> {
  const { rows } = await world.database.pool.query<{ at: number }>(
    `SELECT extract(epoch FROM m.created_at)::float8 * 1000 AS at
     FROM messages m JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
     WHERE c.organization_id = $1 AND c.chat_id = $2 ORDER BY m.created_at`,
    [id, digits],
  )
  expect(rows.length).toBeGreaterThanOrEqual(BURST)
  rows.forEach(({ at }, last) => {
    rows.slice(0, last).forEach((first, index) => {
      expect(last - index + 1).toBeLessThanOrEqual(BURST + Math.floor((at - first.at) / 6_000))
    })
  })
}

function expectTooMany({ status, body, headers }: Answer): void {
  expect(status, JSON.stringify(body)).toBe(429)
  expect(body).toMatchObject({
    success: false,
    error: 'Too many requests',
    message: expect.stringMatching(/try again/),
  })
  expect(body.retry_after).toBeGreaterThanOrEqual(1)
  expect(headers.get('retry-after')).toBe(String(body.retry_after))
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    expect(headers.get(name), name).toMatch(/^\d+$/)
  }
}

describe('the rate limit for one recipient', () => {
  let organization: TestOrganization

  beforeAll(async () => {
    organization = await createLimited({ pair_limit: true })
  })

  it('ignores a time that no messages can have led to, as one that was written while a clock was wrong', async () => {
    const digits = await newContact(organization)
    await world.database.pool.query(
      `UPDATE contacts SET paced_until = $1::timestamptz + interval '2 hours' WHERE organization_id = $2 AND chat_id = $3`,
      [world.now(), organization.id, digits],
    )
    expect(statusesOf(await sendMany(organization, digits, BURST))).toEqual(all(BURST, 200))
    expectTooMany(await send(organization, digits))
  })

  it('allows 45 at once; the 46th is refused with the time to wait, and neither recorded nor sent', async () => {
    const digits = await newContact(organization)
    expect(statusesOf(await sendMany(organization, digits, BURST))).toEqual(all(BURST, 200))
    await goToTurn(organization, digits, -5_000)
    const refused = await send(organization, digits)
    expectTooMany(refused)
    expect(refused.body.message).toContain(digits)
    expect(refused.body.retry_after).toBeLessThanOrEqual(5)
    expect(await countOf(organization, digits)).toEqual([BURST, BURST])
  })

  it('allows the same number in 60 concurrent requests', async () => {
    const digits = await newContact(organization)
    const answers = await sendMany(organization, digits, 60)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const answer of refused) expectTooMany(answer)
    const passed = 60 - refused.length
    expect(await countOf(organization, digits)).toEqual([passed, passed])
    await expectPaced(organization, digits)
  })

  it('allows one more every 6.1 s, and 45 again after a while', async () => {
    const digits = await newContact(organization)
    await sendMany(organization, digits, BURST)
    await goToTurn(organization, digits)
    expect(statusesOf([await send(organization, digits), await send(organization, digits)])).toEqual([200, 429])
    await goToTurn(organization, digits, 12_200)
    expect(statusesOf(await sendMany(organization, digits, 5)).sort()).toEqual([200, 200, 200, 429, 429])
    world.advance(3_600_000)
    expect(statusesOf(await sendMany(organization, digits, BURST))).toEqual(all(BURST, 200))
  })

  it('applies to that recipient only: not to another, nor to the same number at another organization', async () => {
    const digits = await newContact(organization)
    const another = await newContact(organization)
    const elsewhere = await createLimited({ pair_limit: true })
    await createContact(world, elsewhere, `+${digits}`)
    await sendMany(organization, digits, BURST)
    await goToTurn(organization, digits, -5_000)
    expectTooMany(await send(organization, digits))
    expect(statusesOf(await sendMany(organization, another, BURST))).toEqual(all(BURST, 200))
    expect(statusesOf(await sendMany(elsewhere, digits, BURST))).toEqual(all(BURST, 200))
  })

  it('counts the forms of a number as one recipient', async () => {
    await createContact(world, organization, '+5511987651234')
    await sendMany(organization, '5511987651234', BURST)
    await goToTurn(organization, '5511987651234', -5_000)
    expectTooMany(await send(organization, '551187651234'))
  })

  it('counts reactions', async () => {
    const digits = await newContact(organization)
    const first = await send(organization, digits)
    const reaction = { message_type: 'reaction', reaction: { message_id: first.body.data.message_id, emoji: '👍' } }
    expect((await send(organization, digits, reaction)).status).toBe(200)
    expect(statusesOf(await sendMany(organization, digits, BURST - 2))).toEqual(all(BURST - 2, 200))
    await goToTurn(organization, digits, -5_000)
    expectTooMany(await send(organization, digits))
    expectTooMany(await send(organization, digits, reaction))
    expect(await countOf(organization, digits)).toEqual([BURST - 1, BURST])
  })

  it('does not count requests refused before anything is sent', async () => {
    const digits = await newContact(organization)
    const unknown = { context_message_id: 'wamid.unknown' }
    const refused = await Promise.all(Array.from({ length: 20 }, () => send(organization, digits, unknown)))
    expect(statusesOf(refused)).toEqual(all(20, 404))
    expect(statusesOf(await sendMany(organization, digits, BURST))).toEqual(all(BURST, 200))
    expect((await send(organization, digits, unknown)).status).toBe(404)
  })

  it('is not kept for an Idempotency-Key', async () => {
    const digits = await newContact(organization)
    await sendMany(organization, digits, BURST)
    const headers = { 'idempotency-key': 'when there is room' }
    await goToTurn(organization, digits, -5_000)
    expectTooMany(await send(organization, digits, {}, headers))
    await goToTurn(organization, digits)
    const later = await send(organization, digits, {}, headers)
    expect(later.status).toBe(200)
    expect(later.headers.get('idempotent-replayed')).toBeNull()
    expect(await countOf(organization, digits)).toEqual([BURST + 1, BURST + 1])
  })

  it('is off with pair_limit false', async () => {
    const unpaced = await createLimited({ pair_limit: false })
    const digits = await newContact(unpaced)
    expect(statusesOf(await sendMany(unpaced, digits, 60))).toEqual(all(60, 200))
  })

  it('is shared by the processes', async () => {
    const app = await startAnother(world)
    try {
      const digits = await newContact(organization)
      const body = { phone_number: digits, message_type: 'text', text: 'hello' }
      const elsewhere = async () => {
        const headers = { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' }
        return (await fetch(`${app.url}/send-chat`, { method: 'POST', headers, body: JSON.stringify(body) })).status
      }
      const here = async () => (await send(organization, digits)).status
      const statuses = await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? here() : elsewhere())))
      const passed = statuses.filter((status) => status === 200).length
      expect(statuses.sort()).toEqual([...all(passed, 200), ...all(60 - passed, 429)])
      expect(await countOf(organization, digits)).toEqual([passed, passed])
      await expectPaced(organization, digits)
    } finally {
      await app.close()
    }
  })
})

/** Another process of the service, which shares our organization. */
async function startAnother({ app, database, simulator, now, adminToken }: World): Promise<App> {
  const read = readConfig({
    ...ENV,
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: simulator.upstreamUrl,
    PARLEY_DATA_DIR: anotherFolder,
  })
  if (!read.ok) throw new Error(read.problem)
  return startApp({
    config: read.config,
    secrets: { adminToken, masterKeys: ['master-key-of-the-tests'] },
    log: app.ctx.log,
    databases: forAllPurposes(database),
    upstreamUrl: simulator.upstreamUrl,
    simulator: null,
    clock: now,
    runWorker: false,
  })
}

describe('a short wait for a recipient', () => {
  it('happens before the send: the message is recorded when its slot begins', async () => {
    const patient = await startWorld()
    try {
      const organization = await createLimited({ pair_limit: true }, patient)
      const digits = await newContact(organization, patient)
      const { rows } = await patient.database.pool.query<{ slot: Date }>(
        `UPDATE contacts SET paced_until = $1::timestamptz + interval '268.8 seconds' WHERE organization_id = $2
         RETURNING paced_until - interval '268.4 seconds' AS slot`,
        [patient.now(), organization.id],
      )
      const body = { phone_number: digits, message_type: 'text', text: 'hello' }
      const answer = await patient.request('POST', '/send-chat', { key: organization.key, body })
      expect(answer.status).toBe(200)
      const [message] = (await conversation(patient, organization, digits)).body.messages
      expect(Date.parse(message.created_at)).toBeGreaterThanOrEqual(rows[0]?.slot.getTime() ?? Number.NaN)
    } finally {
      await patient.close()
    }
  })
})

describe('the rate limit of a number', () => {
  /** Reserves the number's slots for other messages. */
  async function speakFor({ id, phoneNumberId }: TestOrganization, seconds: number): Promise<void> {
    await world.database.pool.query(
      `INSERT INTO sending_paces VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
       ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET paced_until = excluded.paced_until`,
      [id, phoneNumberId, seconds],
    )
  }

  it('refuses a message whose slot would be too late, and neither records nor sends it', async () => {
    const organization = await createLimited({ messages_per_second: 1 })
    const digits = await newContact(organization)
    expect((await send(organization, digits)).status).toBe(200)
    await speakFor(organization, 60)
    const answers = await sendMany(organization, digits, 12)
    for (const answer of answers) {
      expectTooMany(answer)
      expect(answer.body.retry_after).toBeGreaterThan(30)
    }
    expect(await countOf(organization, digits)).toEqual([1, 1])
  })

  it('applies to that number only', async () => {
    const [busy, free] = [
      await createLimited({ messages_per_second: 1 }),
      await createLimited({ messages_per_second: 1 }),
    ]
    await speakFor(busy, 60)
    expectTooMany(await send(busy, await newContact(busy)))
    expect((await send(free, await newContact(free))).status).toBe(200)
  })

  it('is not used up by refused requests: unknown contacts, blocked ones, unknown messages', async () => {
    const organization = await createLimited({ messages_per_second: 1 })
    const digits = await newContact(organization)
    const blocked = await newContact(organization)
    const key = organization.key
    await world.request('PATCH', `/contact?chat_id=${blocked}`, { key, body: { blocked: true } })
    const text = { message_type: 'text', text: 'hello' }
    const wrong = [
      { ...text, phone_number: '16505569999' },
      { ...text, phone_number: blocked },
      { ...text, phone_number: digits, context_message_id: 'wamid.unknown' },
    ]
    const bodies = Array.from({ length: 30 }, (_, index) => wrong[index % wrong.length])
    const answers = await Promise.all(bodies.map((body) => world.request('POST', '/send-chat', { key, body })))
    expect(statusesOf(answers)).toEqual(bodies.map((_, index) => [404, 400, 404][index % 3]))
    const { rows } = await world.database.pool.query('SELECT FROM sending_paces WHERE organization_id = $1', [
      organization.id,
    ])
    expect(rows).toEqual([])
  })

  it('is off with messages_per_second 0', async () => {
    const organization = await createLimited({ messages_per_second: 0 })
    await speakFor(organization, 60)
    expect((await send(organization, await newContact(organization))).status).toBe(200)
  })

  it('spreads a burst over time, and refuses the rest', async () => {
    const organization = await createLimited({ messages_per_second: 1 })
    const digits = await newContact(organization)
    const answers = await sendMany(organization, digits, 24)
    const refused = answers.filter(({ status }) => status === 429)
    const passed = answers.filter(({ status }) => status === 200)
    expect(passed.length).toBeGreaterThanOrEqual(5)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    expect(passed.length + refused.length).toBe(answers.length)
    for (const answer of refused) expectTooMany(answer)
    expect(await countOf(organization, digits)).toEqual([passed.length, passed.length])
  })
})

describe('a call that the upstream did not accept', () => {
  const upstream = useStarted(() =>
    startHttpServer((request, response) => {
      const { to } = JSON.parse(String(request.body))
      const rest = answerings.get(to) ?? []
      const answering = rest.length > 1 ? rest.shift() : rest[0]
      answering?.(request, response)
    }),
  )
  const retrying = useWorld(() => ({ ...ENV, PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
  const organization = useOrganization(retrying)
  const answerings = new Map<string, Answering[]>()

  const refusing = (code: number, status = 400, headers: Record<string, string> = {}) =>
    json(status, { error: { code, message: `(#${code}) no` } }, headers)
  const accepting: Answering = ({ body }, response) => {
    const { biz_opaque_callback_data: id } = JSON.parse(String(body))
    json(200, { messages: [{ id: `wamid.${id}` }] })({ body } as never, response)
  }

  /** Sends to a new contact while the upstream gives these answers in order, and then the last one repeatedly. */
  async function sendAgainst(...replies: Answering[]) {
    const digits = await newContact(organization, retrying)
    answerings.set(digits, replies)
    const body = { phone_number: digits, message_type: 'text', text: 'hello' }
    const answer = await retrying.request('POST', '/send-chat', { key: organization.key, body })
    const shown = await conversation(retrying, organization, digits)
    expect(shown.body.count).toBe(1)
    const calls = upstream.taken.filter((one) => JSON.parse(String(one.body)).to === digits)
    return { answer, message: shown.body.messages[0], calls: calls.map((one) => JSON.parse(String(one.body))) }
  }

  it('because of its pair limit is retried with the same id', async () => {
    const { answer, message, calls } = await sendAgainst(refusing(131056), accepting)
    expect(answer.status).toBe(200)
    expect(calls.map((call) => call.biz_opaque_callback_data)).toEqual([message.id, message.id])
    expect(message).toMatchObject({ message_status: 'sent', outcome: null })
  })

  it('in any attempt leads to 429 for a limit, and 500 for a busy upstream', async () => {
    const limited = [4, 80007, 130429].map(async (code) => {
      const { answer, message, calls } = await sendAgainst(refusing(code))
      expectTooMany(answer)
      expect(answer.body).toMatchObject({ id: message.id, details: `(#${code}) no` })
      expect(message).toMatchObject({ message_status: 'failed', error: { code }, outcome: null })
      expect(calls).toHaveLength(5)
    })
    const busy = [2, 131016, 131057, 133004].map(async (code) => {
      const { answer, message, calls } = await sendAgainst(refusing(code, 500))
      expect(answer.status).toBe(500)
      expect(answer.body).toMatchObject({ error: 'Upstream unavailable', retryable: true, id: message.id })
      expect(message).toMatchObject({ message_status: 'failed', error: { code }, outcome: null })
      expect(calls).toHaveLength(5)
    })
    await Promise.all([...limited, ...busy])
  })

  it.each([4, 80007, 130429, 131056])(
    'with code %i for longer than the deadline leads to 429 at once, with the time to wait',
    async (code) => {
      const { answer, message, calls } = await sendAgainst(refusing(code, 400, { 'retry-after': '90' }), accepting)
      expectTooMany(answer)
      expect(answer.body).toMatchObject({ retry_after: 90, id: message.id })
      expect(calls).toHaveLength(1)
    },
  )

  it.each([2, 131016, 131057, 133004])(
    'with code %i for longer than the deadline leads to 500 at once',
    async (code) => {
      const { answer, calls } = await sendAgainst(refusing(code, 503, { 'retry-after': '90' }), accepting)
      expect(answer.status).toBe(500)
      expect(answer.body).toMatchObject({ error: 'Upstream unavailable', retryable: true })
      expect(calls).toHaveLength(1)
    },
  )

  it('is not retried again after an unclear answer', async () => {
    for (const unclear of [bare(503), hangUp, refusing(131000, 500)]) {
      const { answer, message, calls } = await sendAgainst(refusing(130429), unclear, accepting)
      expect(answer.status).toBe(500)
      expect(answer.body).toMatchObject({ error: 'Outcome unknown', retryable: false, id: message.id })
      expect(message).toMatchObject({ message_status: 'sent', outcome: 'unknown' })
      expect(calls).toHaveLength(2)
    }
  })

  it('is not retried again after a final refusal', async () => {
    const { answer, message, calls } = await sendAgainst(refusing(131016, 500), refusing(131026), accepting)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Upstream rejected message', upstream_code: 131026 })
    expect(message).toMatchObject({ message_status: 'failed', error: { code: 131026 } })
    expect(calls).toHaveLength(2)
  })

  it.each([
    ...[1, 33, 100, 368, 131000, 131008, 131009, 131021, 131026, 131031, 131042, 131045, 131047, 131048, 131049],
    ...[131050, 131051, 131052, 131053, 132000, 132001, 132015, 133010, 135000, 999999],
    ...[0, 3, 10, 104, 190, 200, 299, 131005],
  ])('is final with code %i, after one call', async (code) => {
    const { answer, message, calls } = await sendAgainst(refusing(code), accepting)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ upstream_code: code })
    expect(message).toMatchObject({ message_status: 'failed', error: { code } })
    expect(calls).toHaveLength(1)
  })
})

describe('an unreachable upstream', () => {
  let server: Server | undefined
  let waking: World | undefined

  afterAll(async () => {
    await waking?.close()
    server?.closeAllConnections()
    server?.close()
  })

  it('is retried until a connection succeeds', async () => {
    const port = await freePort()
    waking = await startWorld({ PARLEY_UPSTREAM_URL: `http://127.0.0.1:${port}/v23.0` })
    const organization = await waking.createOrganization()
    const digits = await newContact(organization, waking)
    let calls = 0
    let failures = 0
    server = createServer((_request, response) => {
      calls++
      response.end(JSON.stringify({ messages: [{ id: 'wamid.awake' }] }))
    })
    // It starts to listen after the first call has failed to connect.
    const wake = () => {
      if (failures++ === 0) server?.listen(port, '127.0.0.1')
    }
    const watch = (message: unknown) => void (message as { socket: Socket }).socket.once('error', wake)
    subscribe('net.client.socket', watch)
    try {
      const body = { phone_number: digits, message_type: 'text', text: 'hello' }
      const answer = await waking.request('POST', '/send-chat', { key: organization.key, body })
      expect(answer.body).toMatchObject({ success: true, data: { message_id: 'wamid.awake' } })
    } finally {
      unsubscribe('net.client.socket', watch)
    }
    expect(failures).toBeGreaterThanOrEqual(1)
    expect(calls).toBe(1)
    const shown = await conversation(waking, organization, digits)
    expect(shown.body.messages).toMatchObject([{ message_status: 'sent', message_id: 'wamid.awake' }])
  })
})
