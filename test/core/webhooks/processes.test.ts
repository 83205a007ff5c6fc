import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessRegistration, registerThisProcess } from '../../../src/core/runtime/process-registry.js'
import { createDispatcher, type Dispatcher } from '../../../src/core/webhooks/dispatcher.js'
import { createContact } from '../../interfaces/hooks/support.js'
import { untilWaiting } from '../../support/locks.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import {
  closeEndpoints,
  deliveriesTo,
  type Endpoint,
  expectNothingStuck,
  HOUR,
  holdOpen,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from './support.js'

/** A process that delivers. */
interface Process {
  registration: ProcessRegistration
  dispatcher: Dispatcher
}

let world: World
let organization: TestOrganization
let endpoint: Endpoint
let processes: Process[] = []
let people = 0

beforeEach(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  endpoint = await startEndpoint(world, organization, ['contact.updated', 'template.status_changed'])
})

afterEach(async () => {
  await closeEndpoints()
  for (const { dispatcher, registration: presence } of processes.splice(0)) {
    await dispatcher.stop()
    await presence.leave()
  }
  await expectNothingStuck(world)
  await world.close()
})

afterAll(() => {
  processes = []
})

const newContact = () => createContact(world, organization, `+1650555${String(6_000 + ++people)}`)

async function startProcess(): Promise<Process> {
  const registration = await registerThisProcess(world.database, pino({ level: 'silent' }))
  await registration.addWorker(`worker-${registration.processId}`)
  const one = { registration, dispatcher: createDispatcher({ ...world.app.ctx, processId: registration.processId }) }
  processes.push(one)
  return one
}

async function raiseAbout(contactId: string, count: number): Promise<void> {
  await raise(world, contactId, count)
}

async function holders(): Promise<(number | null)[]> {
  const { rows } = await world.database.pool.query<{ holder: number | null }>('SELECT holder FROM webhook_feeds')
  return rows.map(({ holder }) => holder)
}

const giveTo = ({ registration: presence }: Process) =>
  world.database.pool.query('UPDATE webhook_feeds SET holder = $1', [presence.processId])

const statuses = async () => (await deliveriesTo(world, endpoint.id)).map(({ status }) => status)

/** Breaks the connections that wait for a lock, as when the server goes down. */
const cutWaiting = () =>
  world.database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )

describe('two processes', () => {
  it('share the organizations, and deliver each event once', async () => {
    const organizations = [organization]
    const endpoints = [endpoint]
    for (let n = 0; n < 5; n++) {
      const one = await world.createOrganization()
      organizations.push(one)
      endpoints.push(await startEndpoint(world, one))
    }
    const [one, other] = [await startProcess(), await startProcess()]
    one.dispatcher.start()
    other.dispatcher.start()
    await expect
      .poll(async () => (await holders()).filter((holder) => holder === one.registration.processId).length)
      .toBe(3)
    await expect
      .poll(async () => (await holders()).filter((holder) => holder === other.registration.processId).length)
      .toBe(3)
    for (const each of organizations) await raiseAboutNobody(world, each, 30)
    await Promise.all(endpoints.map((each) => each.until(30)))
    await one.dispatcher.stop()
    await other.dispatcher.stop()
    for (const each of endpoints) expect(namesOf(each).sort()).toEqual(numbers(30).sort())
    expect(await holders()).toEqual([null, null, null, null, null, null])
  })

  it('hand over deliveries in flight without loss when one of them stops', async () => {
    const one = await startProcess()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    endpoint.respond(() => async (response) => {
      await released
      response.writeHead(204).end()
    })
    one.dispatcher.start()
    await raiseAbout(await newContact(), 2)
    await endpoint.until(1)
    const stopping = one.dispatcher.stop()
    release()
    await stopping
    expect(await statuses()).toEqual(['delivered', 'pending'])
    expect(await holders()).toEqual([null])
    const other = await startProcess()
    await other.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
    expect(await statuses()).toEqual(['delivered', 'delivered'])
  })

  it('keep the attempts of a process that has lost an organization, and the other one continues', async () => {
    const [one, other] = [await startProcess(), await startProcess()]
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    endpoint.respond(() => async (response) => {
      await released
      response.writeHead(204).end()
    })
    await raiseAbout(await newContact(), 3)
    const draining = one.dispatcher.drain()
    await endpoint.until(1)
    await giveTo(other)
    release()
    await draining
    expect((await statuses())[0]).toBe('delivered')
    await other.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(numbers(3))
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
    expect(await holders()).toEqual([other.registration.processId])
  })

  it("keep the start of an endpoint's failures, even if the process that saw the last one has lost the organization", async () => {
    const since = new Date(world.now().getTime() - HOUR)
    await world.database.pool.query('UPDATE webhooks SET failing_since = $1', [since])
    const [one, other] = [await startProcess(), await startProcess()]
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    endpoint.respond(() => async (response) => {
      await released
      response.writeHead(500).end()
    })
    one.dispatcher.start()
    await raiseAboutNobody(world, organization, 1)
    await endpoint.until(1)
    await world.database.pool.query('UPDATE webhook_feeds SET holder = $2 WHERE organization_id = $1', [
      organization.id,
      other.registration.processId,
    ])
    const theirs = await world.createOrganization()
    const sentinel = await startEndpoint(world, theirs)
    await createContact(world, theirs, '+16505556999')
    // This happens only in a round after it has checked its ownership.
    await sentinel.until(1)
    release()
    await expect.poll(async () => (await deliveriesTo(world, endpoint.id))[0]?.attempts.length).toBe(1)
    await one.dispatcher.stop()
    const { rows } = await world.database.pool.query('SELECT failing_since FROM webhooks WHERE id = $1', [endpoint.id])
    expect(rows).toEqual([{ failing_since: since }])
  })

  it('take over from one that has died, including deliveries that only waited for its attempt', async () => {
    const one = await startProcess()
    endpoint.respond(() => 500)
    await raiseAbout(await newContact(), 2)
    await one.dispatcher.drain()
    await world.database.pool.query(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL
      WHERE next_attempt_at IS NOT NULL`)
    endpoint.respond(() => 204)
    await one.registration.leave()
    const other = await startProcess()
    await other.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
  })
})

describe('if the database fails', () => {
  it('during a round, received answers are recorded afterwards and nothing is sent again', async () => {
    const { dispatcher } = await startProcess()
    const lock = 'SELECT FROM webhook_deliveries WHERE organization_id = $1 FOR UPDATE'
    const contact = await newContact()
    dispatcher.start()
    await expect.poll(async () => (await holders())[0]).not.toBeNull()
    let held = await holdOpen(world, 'SELECT FROM webhooks LIMIT 1', [])
    endpoint.respond(() => async (response) => {
      held = await holdOpen(world, lock, [organization.id])
      response.writeHead(204).end()
    })
    await raiseAbout(contact, 1)
    world.app.ctx.notifications.send({ topic: 'events', organizationIds: [organization.id] })
    await endpoint.until(1)
    await untilWaiting(world.database, 1, 'webhook_deliveries')
    await cutWaiting()
    await untilWaiting(world.database, 1, 'webhook_deliveries')
    await cutWaiting()
    await held.release()
    await expect.poll(statuses).toEqual(['delivered'])
    expect(endpoint.received).toHaveLength(1)
    expect((await deliveriesTo(world, endpoint.id))[0]?.attempts).toHaveLength(1)
  })

  it('during the writing of deliveries, they are written afterwards, once', async () => {
    const { dispatcher } = await startProcess()
    const contact = await newContact()
    await dispatcher.drain()
    await raiseAbout(contact, 3)
    const table = await holdOpen(world, 'SELECT 1', [])
    await table.run('LOCK TABLE webhook_deliveries IN SHARE ROW EXCLUSIVE MODE', [])
    const draining = dispatcher.drain().catch((error: Error) => error)
    await untilWaiting(world.database, 1, 'INSERT INTO webhook_deliveries')
    await cutWaiting()
    expect(await draining).toBeInstanceOf(Error)
    await table.release()
    await dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(numbers(3))
  })

  it('after the writing, the same deliveries are not written again', async () => {
    const { dispatcher } = await startProcess()
    const contact = await newContact()
    await dispatcher.drain()
    await raiseAbout(contact, 2)
    const { rows } = await world.database.pool.query('SELECT pg_current_snapshot() AS position')
    // As if a commit succeeded without the process learning of it.
    await world.database.pool.query('UPDATE webhook_feeds SET window_from = $1, window_to = NULL, seq = NULL', [
      rows[0].position,
    ])
    await dispatcher.drain()
    expect(namesOf(endpoint)).toEqual([])
    await raiseAbout(contact, 1)
    await dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1'])
  })

  it('while an organization is taken over, it is taken over afterwards', async () => {
    const { dispatcher } = await startProcess()
    endpoint.respond(() => 500)
    await raiseAbout(await newContact(), 2)
    await dispatcher.drain()
    await world.database.pool.query('UPDATE webhook_feeds SET holder = NULL')
    await world.database.pool.query('UPDATE webhook_deliveries SET next_attempt_at = NULL')
    await dispatcher.stop()
    const row = await holdOpen(world, 'SELECT FROM webhook_deliveries WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    const next = await startProcess()
    const draining = next.dispatcher.drain().catch((error: Error) => error)
    await untilWaiting(world.database, 1, 'webhook_deliveries')
    await cutWaiting()
    expect(await draining).toBeInstanceOf(Error)
    await row.release()
    endpoint.respond(() => 204)
    endpoint.received.length = 0
    await next.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
  })
})
