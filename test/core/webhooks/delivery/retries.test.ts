import { describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { type DeliveryRow, deliveryTo } from '../../../support/rows/deliveries.js'
import { HOUR, MINUTE, rename, SECOND, startEndpoint } from '../../../support/webhook-endpoints.js'
import { startWorld } from '../../../support/world.js'
import { endpoint, newContact, organization, useEndpoint, world } from '../one-endpoint.js'

const WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)]

useEndpoint(['contact.created'])

/** Creates a contact, and makes the first attempt of its event. */
async function attempt(): Promise<DeliveryRow> {
  await newContact()
  await world.drain()
  return deliveryTo(world, endpoint.id)
}

/** The wait after the last attempt of a delivery; null: no further attempt. */
function waitOf({ attempts, next_attempt_at }: DeliveryRow): number | null {
  const last = attempts.at(-1)
  return next_attempt_at && last ? next_attempt_at.getTime() - Date.parse(last.at) : null
}

/** Advances the clock to the next attempt of the delivery, and makes it. */
async function attemptAgain({ next_attempt_at }: DeliveryRow): Promise<DeliveryRow> {
  world.advance((next_attempt_at?.getTime() ?? 0) - world.now().getTime())
  await world.drain()
  return deliveryTo(world, endpoint.id)
}

/** The endpoint answers with the status and this Retry-After. */
function askToWait(retryAfter: string, status = 503): void {
  endpoint.respond(() => (response) => void response.writeHead(status, { 'retry-after': retryAfter }).end())
}

describe('a failing delivery', () => {
  it('is pending with the result of the attempt, as the API shows it', async () => {
    endpoint.respond(() => (response) => void response.writeHead(500).end('out of order'))
    const { id } = await attempt()
    const { body } = await world.request('GET', '/webhook-deliveries', { key: organization.key })
    expect(body.deliveries).toMatchObject([
      { id, status: 'pending', event_type: 'contact.created', attempts: [{ response_status: 500 }] },
    ])
    const [made] = (await deliveryTo(world, endpoint.id)).attempts
    expect(made).toMatchObject({ response_body: 'out of order', error: 'the endpoint answered 500' })
  })

  it('is tried ten times with longer and longer waits, and then fails for good', async () => {
    endpoint.respond(() => 500)
    let delivery = await attempt()
    for (const [index, wait] of WAITS.entries()) {
      expect(delivery).toMatchObject({ status: 'pending' })
      expect(delivery.attempts).toHaveLength(index + 1)
      const waited = waitOf(delivery) as number
      expect(waited).toBeGreaterThanOrEqual(wait)
      // The wait starts at the end of the attempt, which took a moment.
      expect(waited).toBeLessThanOrEqual(1.2 * wait + 2 * SECOND)
      delivery = await attemptAgain(delivery)
    }
    expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null })
    expect(delivery.attempts).toHaveLength(10)
    world.advance(48 * HOUR)
    await world.drain()
    expect(endpoint.received).toHaveLength(10)
  })

  it('is not tried early', async () => {
    endpoint.respond(() => 500)
    await attempt()
    world.advance(4 * SECOND)
    await world.drain()
    expect(endpoint.received).toHaveLength(1)
    world.advance(2 * SECOND)
    await world.drain()
    expect(endpoint.received).toHaveLength(2)
  })

  it('is delivered by a later attempt', async () => {
    endpoint.respond(() => 500)
    const first = await attempt()
    endpoint.respond(() => 200)
    const second = await attemptAgain(first)
    expect(second).toMatchObject({ status: 'delivered', next_attempt_at: null })
    expect(second.attempts.map(({ response_status }) => response_status)).toEqual([500, 200])
  })
})

describe('Retry-After', () => {
  it('in seconds applies if it is later than the schedule', async () => {
    askToWait('90')
    const delivery = await attempt()
    const waited = waitOf(delivery) as number
    expect(waited).toBeGreaterThanOrEqual(90 * SECOND)
    expect(waited).toBeLessThanOrEqual(92 * SECOND)
    expect((await attemptAgain(delivery)).attempts).toHaveLength(2)
  })

  it('as a date applies if it is later than the schedule', async () => {
    // A date has whole seconds, and uses the machine's clock.
    askToWait(new Date(Date.now() + 600 * SECOND).toUTCString(), 429)
    const waited = waitOf(await attempt()) as number
    expect(waited).toBeGreaterThanOrEqual(590 * SECOND)
    expect(waited).toBeLessThanOrEqual(602 * SECOND)
  })

  it.each(['1', '0', '-5', new Date(0).toUTCString(), 'soon'])('does not shorten the wait: %s', async (retryAfter) => {
    askToWait(retryAfter)
    expect(waitOf(await attempt())).toBeGreaterThanOrEqual(5 * SECOND)
  })

  it('of one event delays the other deliveries of the endpoint, for at most a minute', async () => {
    askToWait('3600')
    await attempt()
    endpoint.respond(() => 204)
    await newContact()
    await world.drain()
    expect(endpoint.received).toHaveLength(1)
    world.advance(MINUTE)
    await world.drain()
    expect(endpoint.received).toHaveLength(2)
  })
})

describe('an attempt fails', () => {
  it.each([301, 302, 307, 308])('with redirect %i, which is not followed', async (status) => {
    const target = await startEndpoint(world, organization, ['contact.updated'])
    endpoint.respond(() => (response) => void response.writeHead(status, { location: target.url }).end())
    const { attempts } = await attempt()
    expect(attempts).toMatchObject([{ response_status: status, error: expect.stringContaining('not followed') }])
    expect(target.received).toEqual([])
  })

  it.each([304, 400, 401, 404, 429, 500, 503])('with the status %i', async (status) => {
    endpoint.respond(() => status)
    expect(await attempt()).toMatchObject({ status: 'pending', attempts: [{ response_status: status }] })
  })

  it('if the endpoint closes the connection', async () => {
    endpoint.respond(() => (response) => void response.socket?.destroy())
    expect(await attempt()).toMatchObject({ status: 'pending', attempts: [{ response_status: null }] })
  })

  it('if the endpoint does not listen', async () => {
    await endpoint.close()
    const { status, attempts } = await attempt()
    expect({ status, attempts }).toMatchObject({ status: 'pending', attempts: [{ response_status: null }] })
    expect(attempts[0]?.error).toContain('ECONNREFUSED')
  })

  it.each([200, 201, 202, 204, 299])('unless the status is %i', async (status) => {
    endpoint.respond(() => status)
    expect(await attempt()).toMatchObject({ status: 'delivered', attempts: [{ response_status: status, error: null }] })
  })
})

describe('a private address', () => {
  it('is not called even if the webhook was public when it was set, and the attempt gives the reason', async () => {
    const target = new URL(endpoint.url)
    await world.database.pool.query('UPDATE webhooks SET url = $2 WHERE id = $1', [
      endpoint.id,
      `http://10.255.255.1:${target.port}/hook`,
    ])
    const { status, attempts } = await attempt()
    expect(status).toBe('pending')
    expect(attempts).toMatchObject([
      { response_status: null, error: expect.stringMatching(/10\.255\.255\.1 is private/) },
    ])
    expect(endpoint.received).toEqual([])
  })

  it('is not called behind a name that now resolves to it', async () => {
    const strict = await startWorld({ PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
    try {
      const theirs = await strict.createOrganization()
      const { port } = new URL(endpoint.url)
      const body = { url: `http://127.0.0.1:${port}/hook`, events: ['*'] }
      const made = await strict.request('POST', '/set-webhooks', { key: theirs.key, body })
      expect(made.status).toBe(201)
      await strict.database.pool.query('UPDATE webhooks SET url = $1', [`http://[::ffff:127.0.0.2]:${port}/hook`])
      await createContact(strict, theirs, '+16505553999')
      await strict.drain()
      const { attempts } = await deliveryTo(strict, made.body.webhook.id)
      expect(attempts).toMatchObject([{ response_status: null, error: expect.stringContaining('is private') }])
      expect(endpoint.received).toEqual([])
    } finally {
      await strict.close()
    }
  })
})

describe('an endpoint that keeps failing', () => {
  it('is left alone after eight failures in a row, so that the other deliveries keep their attempts', async () => {
    endpoint.respond(() => 500)
    for (let n = 0; n < 50; n++) await newContact()
    await world.drain()
    const tried = endpoint.received.length
    expect(tried).toBeGreaterThanOrEqual(8)
    expect(tried).toBeLessThan(50)
    endpoint.respond(() => 204)
    for (let n = 0; n < 10; n++) {
      world.advance(10 * SECOND)
      await world.drain()
    }
    const { rows } = await world.database.pool.query(
      `SELECT status, count(*) FROM webhook_deliveries WHERE webhook_id = $1 GROUP BY status`,
      [endpoint.id],
    )
    expect(rows).toEqual([{ status: 'delivered', count: 50 }])
    expect(endpoint.received).toHaveLength(50 + tried)
  })

  it('receives at most 32 at a time', async () => {
    let inFlight = 0
    let most = 0
    endpoint.respond(() => async (response) => {
      inFlight += 1
      most = Math.max(most, inFlight)
      if (inFlight === 32) full()
      await released
      inFlight -= 1
      response.writeHead(204).end()
    })
    let full = () => {}
    let release = () => {}
    const isFull = new Promise<void>((resolve) => {
      full = resolve
    })
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    for (let n = 0; n < 50; n++) await newContact()
    const delivering = world.drain()
    await isFull
    await rename(world, organization, await newContact(), 'Bea')
    release()
    await delivering
    await world.drain()
    expect(most).toBe(32)
    expect(endpoint.received).toHaveLength(51)
  })
})
