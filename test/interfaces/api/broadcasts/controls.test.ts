import { describe, expect, it } from 'vitest'
import { type ControlContext, retryFailed } from '../../../../src/core/broadcasts/control.js'
import { reconcileBroadcasts } from '../../../../src/core/broadcasts/reconcile.js'
import { getOrganization } from '../../../../src/core/organizations/organizations.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import { HOUR, MINUTE, startBroadcastWorld } from '../../../support/broadcasts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)

const inTime = (ms: number) => new Date(at.world.now().getTime() + ms).toISOString()
const toNew = () => ({ audience: { recipients: [{ chatNumber: at.newNumber() }] } })

/** The work of every minute. */
async function tend(): Promise<void> {
  await reconcileBroadcasts(at.world.app.ctx)
  await at.world.drain()
}

async function statusesOf(id: string): Promise<string[]> {
  return (await at.recipients(id)).map(({ status }) => status)
}

async function eventsAbout(id: string) {
  const events = await eventsOf(at.world, at.organization)
  return events.filter(({ data }) => data.broadcast?.id === id).map(({ type }) => type)
}

/** Creates a broadcast in each state. */
const STATES = {
  scheduled: () => at.create({ ...toNew(), scheduled_at: inTime(HOUR) }),
  running: () => at.create(toNew()),
  paused: async () => {
    const { id } = await at.create(toNew())
    return (await at.act(id, 'pause')).body.broadcast
  },
  cancelled: async () => {
    const { id } = await at.create(toNew())
    return (await at.act(id, 'cancel')).body.broadcast
  },
  completed: () => at.send(toNew()),
}

type State = keyof typeof STATES
const ALLOWED = {
  pause: ['scheduled', 'running'],
  resume: ['paused'],
  cancel: ['scheduled', 'running', 'paused'],
  'retry-failed': ['running', 'paused', 'completed'],
} as const
const CASES = Object.entries(ALLOWED).flatMap(([verb, states]) =>
  Object.keys(STATES).map((state) => [verb, state, (states as readonly string[]).includes(state)] as const),
)

describe('controlling a broadcast', () => {
  it.each(CASES.filter(([, , allowed]) => !allowed))(
    'with %s while it is %s returns 409 and changes nothing',
    async (verb, state) => {
      const before = await STATES[state as State]()
      expect(before.status).toBe(state)
      const answer = await at.act(before.id, verb as keyof typeof ALLOWED)
      expect(answer).toMatchObject({ status: 409, body: { success: false, error: 'Invalid broadcast state' } })
      expect(answer.body.message).toContain(`is ${state}`)
      expect(await at.read(before.id)).toEqual(before)
    },
  )

  it.each(CASES.filter(([, , allowed]) => allowed))('works: %s of one that is %s', async (verb, state) => {
    const { id } = await STATES[state as State]()
    const answer = await at.act(id, verb as keyof typeof ALLOWED)
    const after = { pause: 'paused', resume: 'running', cancel: 'cancelled', 'retry-failed': state }
    expect(answer).toMatchObject({ status: 200, body: { broadcast: { id, status: after[verb as 'pause'] } } })
    expect(await at.read(id)).toEqual(answer.body.broadcast)
  })
})

describe('scheduled_at', () => {
  it('in the future starts the broadcast at that time, not earlier', async () => {
    const scheduled_at = inTime(10 * MINUTE)
    const made = await at.create({ ...toNew(), scheduled_at })
    expect(made).toMatchObject({ status: 'scheduled', scheduled_at, started_at: null, totalRecipients: 1 })
    at.world.advance(9 * MINUTE)
    await tend()
    expect(await at.read(made.id)).toEqual(made)
    expect(await statusesOf(made.id)).toEqual(['pending'])
    expect(await eventsAbout(made.id)).toEqual([])
    at.world.advance(MINUTE)
    await tend()
    const ended = await at.read(made.id)
    expect(ended).toMatchObject({ status: 'completed', started_at: expect.any(String) })
    expect(ended.started_at >= scheduled_at).toBe(true)
    expect(await statusesOf(made.id)).toEqual(['sent'])
    expect(await eventsAbout(made.id)).toEqual(['broadcast.started', 'broadcast.completed'])
    await tend()
    expect(await eventsAbout(made.id)).toHaveLength(2)
  })

  it.each([
    ['a year ago', () => '2020-01-01T09:00:00Z'],
    ['an hour ago', () => inTime(-HOUR)],
    ['just over five minutes ago', () => inTime(-5 * MINUTE - 1_000)],
  ])('in the past is refused, and nothing is created: %s', async (_when, when) => {
    const before = (await at.ask('GET', '/broadcasts')).body.pagination.totalBroadcasts
    const answer = await at.post({ ...toNew(), scheduled_at: when() })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
    expect(answer.body.message).toMatch(/^scheduled_at .* is in the past/)
    expect((await at.ask('GET', '/broadcasts')).body.pagination.totalBroadcasts).toBe(before)
  })

  it('of a repeated request gets the first answer, even if it has passed since', async () => {
    const fields = { ...toNew(), scheduled_at: inTime(MINUTE) }
    const first = await at.post(fields, { 'idempotency-key': 'scheduled' })
    at.world.advance(10 * MINUTE)
    const again = await at.post(fields, { 'idempotency-key': 'scheduled' })
    expect([again.status, again.body]).toEqual([202, first.body])
    expect((await at.act(first.body.broadcast.id, 'cancel')).status).toBe(200)
  })

  it.each(['', null])('that is %j starts the broadcast at once', async (scheduled_at) => {
    expect(await at.create({ ...toNew(), scheduled_at })).toMatchObject({ status: 'running', scheduled_at: null })
  })

  it.each([
    ['2099-01-01T12:00:00+0000', '2099-01-01T12:00:00.000Z'],
    ['2099-01-01T12:00:00+00', '2099-01-01T12:00:00.000Z'],
    ['2099-01-01T09:00:00-0300', '2099-01-01T12:00:00.000Z'],
    ['2099-01-01t12:00:00z', '2099-01-01T12:00:00.000Z'],
    ['2099-01-01 09:00-03', '2099-01-01T12:00:00.000Z'],
  ])('is read as programs write it: %s', async (scheduled_at, shown) => {
    const made = await at.create({ ...toNew(), scheduled_at })
    expect([made.status, made.scheduled_at]).toEqual(['scheduled', shown])
    expect((await at.act(made.id, 'cancel')).status).toBe(200)
  })

  it('a few minutes ago starts the broadcast at once', async () => {
    const scheduled_at = inTime(-4 * MINUTE)
    const made = await at.create({ ...toNew(), scheduled_at })
    expect(made).toMatchObject({ status: 'running', scheduled_at })
    await at.world.drain()
    expect((await at.read(made.id)).status).toBe('completed')
  })

  it('is shown in UTC, even if it was given in another time zone', async () => {
    const made = await at.create({ ...toNew(), scheduled_at: '2099-01-01T09:00:00.5-03:00' })
    expect(made.scheduled_at).toBe('2099-01-01T12:00:00.500Z')
    expect((await at.act(made.id, 'cancel')).status).toBe(200)
  })

  it('creates a job that starts the broadcast just after its time', async () => {
    const scheduled_at = inTime(20 * MINUTE)
    const made = await at.create({ ...toNew(), scheduled_at })
    const { rowCount } = await at.world.database.pool.query(
      `UPDATE jobs SET run_at = now()
       WHERE task = 'start_broadcast' AND run_at > $1::timestamptz AND run_at < $1::timestamptz + interval '1 second'`,
      [scheduled_at],
    )
    expect(rowCount).toBe(1)
    at.world.advance(20 * MINUTE)
    await at.world.drain()
    expect((await at.read(made.id)).status).toBe('completed')
  })

  it('does not start a paused broadcast', async () => {
    const { id } = await at.create({ ...toNew(), scheduled_at: inTime(MINUTE) })
    await at.act(id, 'pause')
    at.world.advance(2 * MINUTE)
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'paused', started_at: null })
    expect((await at.act(id, 'resume')).body.broadcast.status).toBe('running')
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'completed', started_at: expect.any(String) })
    expect(await eventsAbout(id)).toEqual(['broadcast.started', 'broadcast.completed'])
  })

  it('still applies to a broadcast that is resumed earlier', async () => {
    const made = await at.create({ ...toNew(), scheduled_at: inTime(2 * MINUTE) })
    await at.act(made.id, 'pause')
    expect((await at.act(made.id, 'resume')).body.broadcast).toEqual(made)
    await tend()
    expect(await at.read(made.id)).toEqual(made)
    at.world.advance(2 * MINUTE)
    await tend()
    expect((await at.read(made.id)).status).toBe('completed')
  })
})

describe('pause', () => {
  it('keeps all pending recipients, and resume continues with them', async () => {
    const made = await at.create({ audience: { recipients: [{ chatNumber: at.newNumber() }, { chatNumber: 'x' }] } })
    await at.act(made.id, 'pause')
    await tend()
    expect(await at.outcomes(made.id)).toEqual(['pending', 'skipped: not a number'])
    expect(await at.read(made.id)).toMatchObject({ status: 'paused', reason: null, completed_at: null })
    await at.act(made.id, 'resume')
    await at.act(made.id, 'pause')
    await at.act(made.id, 'resume')
    await at.world.drain()
    expect(await statusesOf(made.id)).toEqual(['sent', 'skipped'])
    const [{ chatNumber }] = await at.recipients(made.id)
    expect((await at.arrived()).filter(({ to }) => to === chatNumber)).toHaveLength(1)
    expect(await eventsAbout(made.id)).toEqual(['broadcast.started', 'broadcast.completed'])
  })

  it('still records outcomes, and after resume the broadcast completes', async () => {
    const { id } = await at.send(unknown())
    expect((await at.read(id)).status).toBe('running')
    await at.act(id, 'pause')
    const [{ biz_opaque_callback_data }] = (await at.arrived()).slice(-1)
    await at.report('wamid.LATE1', 'read', { biz_opaque_callback_data })
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'paused' })
    expect(await statusesOf(id)).toEqual(['read'])
    await at.act(id, 'resume')
    await at.world.drain()
    expect((await at.read(id)).status).toBe('completed')
    expect((await at.arrived()).at(-1)).toMatchObject({ biz_opaque_callback_data })
  })
})

describe('during the sending', () => {
  it.each([
    ['pause', 'pending'],
    ['cancel', 'skipped'],
  ] as const)('%s: no further recipient is sent to (the rest is %s)', async (verb, rest) => {
    await pace(10)
    const before = (await at.arrived()).length
    const numbers = Array.from({ length: 60 }, at.newNumber)
    const { id } = await at.create({ audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) } })
    const draining = at.world.drain()
    await expect.poll(async () => (await at.arrived()).length).toBeGreaterThan(before + 1)
    await at.act(id, verb)
    await draining
    const sent = (await statusesOf(id)).filter((status) => status === 'sent').length
    expect(sent).toBe((await at.arrived()).length - before)
    expect(sent).toBeLessThan(60)
    expect(await at.recipients(id, `status=${rest}&limit=100`)).toHaveLength(60 - sent)
    await pace(0)
    if (verb === 'cancel') {
      expect(await at.read(id)).toMatchObject({ totalRecipients: sent, skippedRecipients: 60 - sent })
      return
    }
    await at.act(id, 'resume')
    await at.world.drain()
    const arrived = (await at.arrived()).slice(before).map(({ to }) => to)
    expect(arrived.sort()).toEqual(numbers)
  })

  const pace = async (messages_per_second: number) => {
    const { id, phoneNumberId, businessAccountId, appSecret, verifyToken } = at.organization
    const settings = {
      phone_number_id: phoneNumberId,
      business_account_id: businessAccountId,
      access_token: 'a-token',
      app_secret: appSecret,
      verify_token: verifyToken,
      messages_per_second,
      pair_limit: false,
    }
    expect((await at.world.admin('PUT', `/organizations/${id}/upstream`, settings)).status).toBe(200)
  }
})

let dropped = 1_650
/** To a number whose connection is dropped after the message was accepted, so that the outcome is unknown. */
function unknown() {
  return { audience: { recipients: [{ chatNumber: `${++dropped}5000005` }] } }
}

describe('cancel', () => {
  it('skips pending recipients, leaves them out of the total, and is final', async () => {
    const { id } = await at.create({
      audience: { recipients: [at.newNumber(), at.newNumber(), 'x'].map((chatNumber) => ({ chatNumber })) },
      scheduled_at: inTime(MINUTE),
    })
    const cancelled = (await at.act(id, 'cancel')).body.broadcast
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      totalRecipients: 0,
      skippedRecipients: 3,
      started_at: null,
      completed_at: expect.any(String),
    })
    at.world.advance(HOUR)
    await tend()
    expect(await at.read(id)).toEqual(cancelled)
    expect(await at.outcomes(id)).toEqual(['skipped: cancelled', 'skipped: cancelled', 'skipped: not a number'])
    expect(await at.recipients(id, 'status=skipped')).toHaveLength(3)
    expect(await at.recipients(id, 'status=pending')).toEqual([])
    expect(await eventsAbout(id)).toEqual([])
  })

  it('counts recipients that were already sent to', async () => {
    const stuck = at.newNumber()
    await at.failing(stuck, 131026)
    const numbers = [stuck, at.newNumber(), ...unknown().audience.recipients.map(({ chatNumber }) => chatNumber)]
    const { id } = await at.send({ audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) } })
    expect(await at.read(id)).toMatchObject({ status: 'running', totalRecipients: 3 })
    expect(await at.act(id, 'cancel')).toMatchObject({
      body: { broadcast: { status: 'cancelled', totalRecipients: 3, skippedRecipients: 0 } },
    })
    const [, { messageId }] = await at.recipients(id)
    await at.report(messageId, 'read')
    expect(await statusesOf(id)).toEqual(['failed', 'read', 'pending'])
    await at.giveUp()
    expect(await statusesOf(id)).toEqual(['failed', 'read', 'failed'])
    const analytics = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
    expect(analytics.body.data).toMatchObject({
      broadcastInfo: { totalRecipients: 3 },
      deliveryStats: { sent: 1, delivered: 1, read: 1, failed: 2 },
    })
    expect(await eventsAbout(id)).toEqual(['broadcast.started'])
  })
})

describe('a refusal that would repeat for the next message', () => {
  it.each([
    [190, 'access token'],
    [10, 'access token'],
    [368, 'policies'],
    [131031, 'locked'],
    [131042, 'payment'],
    [131048, 'spam'],
    [132015, 'paused the template'],
    [132016, 'disabled the template'],
  ])('pauses the broadcast with code %i and a reason; it continues once the cause is resolved', async (code, words) => {
    const digits = at.newNumber()
    await at.failing(digits, code)
    // One outcome is unknown, so the broadcast is not completed when all have a message.
    const { audience } = unknown()
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits }, ...audience.recipients] } })
    const paused = await at.read(id)
    expect(paused).toMatchObject({ status: 'paused', completed_at: null, totalRecipients: 2 })
    expect(paused.reason).toContain(words)
    expect((await at.recipients(id))[0]).toMatchObject({ status: 'failed', errorCode: code, sent_at: null })
    await tend()
    expect(await at.read(id)).toEqual(paused)

    await at.healed(digits)
    expect((await at.act(id, 'resume')).body.broadcast).toMatchObject({ status: 'running', reason: null })
    await at.world.drain()
    expect(await statusesOf(id)).toEqual(['failed', 'pending'])
    const retried = await at.act(id, 'retry-failed')
    expect(retried.body).toMatchObject({ retried: 1, broadcast: { status: 'running', completed_at: null } })
    await at.world.drain()
    expect(await statusesOf(id)).toEqual(['sent', 'pending'])
    const lost = (await at.arrived()).find(({ to }) => to === audience.recipients[0]?.chatNumber)
    const { biz_opaque_callback_data } = lost
    await at.report(`wamid.SETTLED${code}`, 'delivered', { biz_opaque_callback_data })
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'completed', reason: null })
  })

  it('does not pause the broadcast if it arrives as a status', async () => {
    const digits = at.newNumber()
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits }] } })
    const [{ messageId }] = await at.recipients(id)
    await at.report(messageId, 'failed', { errors: [{ code: 131049, title: 'Not delivered' }] })
    expect(await at.read(id)).toMatchObject({ status: 'completed', reason: null })
    expect(await at.recipients(id)).toMatchObject([
      { status: 'failed', errorCode: 131049, errorMessage: 'Not delivered', sent_at: expect.any(String) },
    ])
  })

  it('of a single recipient does not stop the others', async () => {
    const numbers = [at.newNumber(), at.newNumber(), at.newNumber()]
    await at.failing(numbers[1] as string, 131026)
    const { id } = await at.send({ audience: { recipients: numbers.map((chatNumber) => ({ chatNumber })) } })
    expect(await at.read(id)).toMatchObject({ status: 'completed', reason: null, totalRecipients: 3 })
    expect(await statusesOf(id)).toEqual(['sent', 'failed', 'sent'])
  })
})

describe('retry-failed', () => {
  it('sends once more to failed recipients, and to no others', async () => {
    const [good, bad, late] = [at.newNumber(), at.newNumber(), at.newNumber()]
    await at.failing(bad, 131026)
    const { id } = await at.send({ audience: { recipients: [good, bad, late].map((chatNumber) => ({ chatNumber })) } })
    const first = (await at.recipients(id))[2].messageId
    await at.report(first, 'failed', { errors: [{ code: 131026, title: 'Message undeliverable' }] })
    expect(await statusesOf(id)).toEqual(['sent', 'failed', 'failed'])
    await at.healed(bad)
    const retried = await at.act(id, 'retry-failed')
    expect(retried.body).toMatchObject({ retried: 2, broadcast: { status: 'running', totalRecipients: 3 } })
    expect(await statusesOf(id)).toEqual(['sent', 'pending', 'pending'])
    await at.world.drain()
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 3, skippedRecipients: 0 })
    const shown = await at.recipients(id)
    expect(shown.map(({ status, errorCode }) => [status, errorCode])).toEqual(Array(3).fill(['sent', null]))
    expect(shown[2].messageId).not.toBe(first)
    const arrived = (await at.arrived()).map(({ to }) => to)
    expect([good, bad, late].map((digits) => arrived.filter((to) => to === digits).length)).toEqual([1, 1, 2])
    expect((await at.act(id, 'retry-failed')).body).toMatchObject({ retried: 0, broadcast: { status: 'completed' } })
    expect(await eventsAbout(id)).toEqual(['broadcast.started', 'broadcast.completed', 'broadcast.completed'])
  })

  it('ignores late reports of the first message', async () => {
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: at.newNumber() }] } })
    const [{ messageId: first, chatNumber }] = await at.recipients(id)
    await at.report(first, 'failed', { errors: [{ code: 131026, title: 'Undeliverable' }] })
    await at.act(id, 'retry-failed')
    await at.report(first, 'read')
    expect(await statusesOf(id)).toEqual(['sent'])
    const { body } = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
    expect(body.data.deliveryStats).toMatchObject({ sent: 1, delivered: 0, read: 0, failed: 0 })
    const conversation = await at.world.request('GET', `/conversations?chatNumber=${chatNumber}&ascending=true`, {
      key: at.organization.key,
    })
    expect(conversation.body.messages).toMatchObject([
      { message_id: first, message_status: 'read' },
      { message_status: 'sent' },
    ])
  })

  it('includes unknown outcomes only after they were given up', async () => {
    const { id } = await at.send(unknown())
    expect(await statusesOf(id)).toEqual(['pending'])
    expect((await at.act(id, 'retry-failed')).body).toMatchObject({ retried: 0, broadcast: { status: 'running' } })
    await tend()
    expect((await at.read(id)).status).toBe('running')
    await at.giveUp()
    await tend()
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 1 })
    expect(await at.recipients(id)).toMatchObject([{ status: 'failed', errorCode: 'outcome_unknown', sent_at: null }])
    const before = (await at.arrived()).length
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(1)
    await at.world.drain()
    expect(await at.arrived()).toHaveLength(before + 1)
    expect(await statusesOf(id)).toEqual(['pending'])
    const [first, second] = (await at.arrived()).slice(-2).map((sent) => sent.biz_opaque_callback_data)
    await at.report('wamid.LATE2', 'read', { biz_opaque_callback_data: first })
    expect(await statusesOf(id)).toEqual(['pending'])
    await at.report('wamid.LATE3', 'delivered', { biz_opaque_callback_data: second })
    expect(await at.recipients(id)).toMatchObject([{ status: 'delivered', messageId: 'wamid.LATE3' }])
    await tend()
    expect((await at.read(id)).status).toBe('completed')
  })

  it('skips recipients whose message was delivered after all', async () => {
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: at.newNumber() }] } })
    const [{ messageId }] = await at.recipients(id)
    await at.report(messageId, 'failed', { errors: [{ code: 131026, title: 'Undeliverable' }] })
    await at.report(messageId, 'delivered')
    expect((await at.act(id, 'retry-failed')).body).toMatchObject({ retried: 0, broadcast: { status: 'completed' } })
    expect(await at.recipients(id)).toMatchObject([{ status: 'delivered', errorCode: null }])
  })

  it('skips recipients that opted out through the refusal', async () => {
    const { id: contactId, digits } = await at.newContact()
    await at.failing(digits, 131050)
    const { id } = await at.send({ audience: { contactIds: [contactId] } })
    expect(await at.recipients(id)).toMatchObject([{ status: 'failed', errorCode: 131050 }])
    const { body } = await at.ask('GET', `/contact?chat_id=${digits}`)
    expect(body.contact.allow_broadcast).toBe(false)
    const optOuts = await at.ask('GET', '/opt-outs')
    expect(optOuts.body.optOuts).toMatchObject([{ contactId, source: 'upstream' }])
    const stats = await at.ask('GET', `/broadcast-analytics?broadcast_id=${id}`)
    expect(stats.body.data.optOutAnalytics.totalOptOuts).toBe(1)
    await at.healed(digits)
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(1)
    await at.world.drain()
    expect(await at.outcomes(id)).toEqual(['skipped: opted out'])
    expect(await at.read(id)).toMatchObject({ status: 'completed', totalRecipients: 0, skippedRecipients: 1 })
    expect((await at.arrived()).filter(({ to }) => to === digits)).toEqual([])
    expect(
      (await eventsOf(at.world, at.organization, 'contact.opted_out')).map(({ contact_id }) => contact_id),
    ).toEqual([contactId])
  })

  it('leaves a paused broadcast without failures paused', async () => {
    const { id } = await at.create(toNew())
    await at.act(id, 'pause')
    expect((await at.act(id, 'retry-failed')).body).toMatchObject({ retried: 0, broadcast: { status: 'paused' } })
  })
})

describe('retry-failed in batches', () => {
  const organization = () => getOrganization(at.world.app.ctx, at.organization.id)

  /** The service's context, with a hook before each transaction. */
  function withBefore(happens: (transaction: number) => Promise<void>): ControlContext {
    const { database, clock } = at.world.app.ctx
    let count = 0
    const transaction: typeof database.transaction = async (work) => {
      await happens(++count)
      return database.transaction(work)
    }
    return { database: { ...database, transaction }, clock }
  }

  async function makeFailed() {
    const digits = at.newNumber()
    await at.failing(digits, 131026)
    const { id } = await at.send({ audience: { recipients: [{ chatNumber: digits }] } })
    expect(await statusesOf(id)).toEqual(['failed'])
    return { id, digits }
  }

  it('retries each recipient once, even if it fails again in the meantime', async () => {
    const { id } = await makeFailed()
    const ctx = withBefore(async (transaction) => {
      if (transaction > 2) throw new Error('it goes on and on')
      await at.world.drain()
    })
    expect(await retryFailed(ctx, await organization(), id, newId())).toMatchObject({ retried: 1, broadcast: { id } })
    expect(await statusesOf(id)).toEqual(['failed'])
    expect(await at.read(id)).toMatchObject({ status: 'completed' })
    expect((await at.act(id, 'retry-failed')).body.retried).toBe(1)
    await at.world.drain()
  })

  it('interrupted between batches leaves no recipient pending in an ended broadcast', async () => {
    const { id, digits } = await makeFailed()
    const ctx = withBefore(async (transaction) => {
      if (transaction === 2) throw new Error('the connection broke')
    })
    await expect(retryFailed(ctx, await organization(), id, newId())).rejects.toThrow('the connection broke')
    expect(await statusesOf(id)).toEqual(['pending'])
    expect(await at.read(id)).toMatchObject({ status: 'running', completed_at: null })
    await at.healed(digits)
    await at.world.drain()
    expect(await statusesOf(id)).toEqual(['sent'])
    expect(await at.read(id)).toMatchObject({ status: 'completed' })
  })

  it('repeated with its Idempotency-Key after its process died continues, without a third try for any recipient', async () => {
    const { id } = await makeFailed()
    const retryId = newId()
    const ctx = withBefore(async (transaction) => {
      if (transaction === 2) throw new Error('the process died')
    })
    await expect(retryFailed(ctx, await organization(), id, retryId)).rejects.toThrow('the process died')
    await at.world.drain()
    expect(await statusesOf(id)).toEqual(['failed'])
    await at.world.database.pool.query(
      `INSERT INTO idempotency_keys (organization_id, operation, key, body_hash, resource_id, process_id)
       VALUES ($1, $2, 'a retry', sha256('null'), $3, 1000000)`,
      [at.organization.id, `POST /broadcasts/${id}/retry-failed`, retryId],
    )
    const sent = (await at.arrived()).length
    const headers = { 'idempotency-key': 'a retry' }
    for (let repeated = 0; repeated < 2; repeated++) {
      const answer = await at.ask('POST', '/broadcasts/{id}/retry-failed', { id, headers })
      expect(answer).toMatchObject({ status: 200, body: { retried: 1, broadcast: { id, status: 'completed' } } })
      expect(answer.headers.get('idempotent-replayed')).toBe('true')
      await at.world.drain()
    }
    expect((await at.arrived()).length).toBe(sent)
  })

  it('repeated after its process died early runs', async () => {
    const { id } = await makeFailed()
    await at.world.database.pool.query(
      `INSERT INTO idempotency_keys (organization_id, operation, key, body_hash, resource_id, process_id)
       VALUES ($1, $2, 'not begun', sha256('null'), $3, 1000000)`,
      [at.organization.id, `POST /broadcasts/${id}/retry-failed`, newId()],
    )
    const answer = await at.ask('POST', '/broadcasts/{id}/retry-failed', {
      id,
      headers: { 'idempotency-key': 'not begun' },
    })
    expect(answer.body).toMatchObject({ retried: 1 })
    await at.world.drain()
  })

  it('of an unknown broadcast queries no table across tenants', async () => {
    const run: string[] = []
    const { database, clock } = at.world.app.ctx
    const query: typeof database.pool.query = (...args: unknown[]) => {
      run.push(JSON.stringify(args[0]))
      return Reflect.apply(database.pool.query, database.pool, args)
    }
    const watched = { ...database, pool: Object.assign(Object.create(database.pool), { query }) }
    const ctx = { database: watched, clock }
    await expect(retryFailed(ctx, await organization(), newId(), newId())).rejects.toThrow('No broadcast with the id')
    expect(run.filter((text) => /analyze/i.test(text))).toEqual([])
  })

  it('includes all failed recipients, beyond one batch', async () => {
    const { id } = await at.send(toNew())
    // PostgreSQL's statistics then say that there are almost none.
    await at.world.database.pool.query('VACUUM ANALYZE broadcast_recipients, broadcast_failures, messages')
    await at.world.database.pool.query(
      `WITH seeded AS MATERIALIZED (
         SELECT n, gen_random_uuid() AS message_id, gen_random_uuid() AS contact_id FROM generate_series(2, 5002) AS n
       ), recipients AS (
         INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id)
         SELECT $1, $2, n, $2, contact_id, message_id FROM seeded
       ), failures AS (
         INSERT INTO broadcast_failures (organization_id, broadcast_id, n) SELECT $1, $2, n FROM seeded
       )
       INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, error, created_at,
         recorded_at, campaign_id, broadcast_id, recipient_n)
       SELECT $1, message_id, contact_id, 1, 'bot-chat', 'template', 'An offer', 'failed', '{"code": 131026}', $3, $3, $2, $2, n
       FROM seeded`,
      [at.organization.id, id, at.world.now()],
    )
    expect((await at.act(id, 'retry-failed')).body).toMatchObject({ retried: 5_001, broadcast: { status: 'running' } })
    const left = await at.world.database.pool.query('SELECT FROM broadcast_failures WHERE broadcast_id = $1', [id])
    expect(left.rowCount).toBe(0)
    expect((await at.act(id, 'cancel')).status).toBe(200)
    await at.world.drain()
  })
})

describe('broadcasts without jobs', () => {
  const forget = (tasks: string[]) => at.world.database.pool.query('DELETE FROM jobs WHERE task = ANY ($1)', [tasks])

  it('continue', async () => {
    const { id } = await at.create(toNew())
    await forget(['send_broadcast', 'prepare_broadcast'])
    await at.world.drain()
    expect(await statusesOf(id)).toEqual(['pending'])
    await tend()
    expect((await at.read(id)).status).toBe('completed')
    expect(await eventsAbout(id)).toEqual(['broadcast.started', 'broadcast.completed'])
  })
})
