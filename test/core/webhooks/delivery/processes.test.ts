import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessRegistration, registerThisProcess } from '../../../../src/core/processes/process-registry.js'
import { createDispatcher, type Dispatcher } from '../../../../src/core/webhooks/delivery/dispatcher.js'
import { createContact } from '../../../support/contacts.js'
import { untilWaiting } from '../../../support/locks.js'
import { deliveriesTo } from '../../../support/rows/deliveries.js'
import {
  closeEndpoints,
  type Endpoint,
  expectNothingStuck,
  HOUR,
  holdOpen,
  namesOf,
  numbers,
  raise,
  raiseAboutNobody,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { startWorld, type TestOrganization, type World } from '../../../support/world.js'

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
  const one = { registration, dispatcher: createDispatcher({ ...world.app.work, processId: registration.processId }) }
  processes.push(one)
  return one
}

async function raiseAbout(contactId: string, count: number): Promise<void> {
  await raise(world, contactId, count)
}

/** The processes that have claimed deliveries, in the order of the events. */
async function claims(): Promise<(number | null)[]> {
  return (await deliveriesTo(world, endpoint.id)).map(({ process_id }) => process_id)
}

/** The endpoint answers nothing until the result is called; then 204, or `status`. */
function holdAnswers(status = 204): () => void {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  endpoint.respond(() => async (response) => {
    await released
    response.writeHead(status).end()
  })
  return release
}

const tell = () => world.app.ctx.notifications.send({ topic: 'events', organizationIds: [organization.id] })

const statuses = async () => (await deliveriesTo(world, endpoint.id)).map(({ status }) => status)

/** Breaks the connections that wait for a lock, as when the server goes down. */
const cutWaiting = () =>
  world.database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )

describe('two processes', () => {
  it('deliver each event of many organizations once', async () => {
    const organizations = [organization]
    const endpoints = [endpoint]
    for (let n = 0; n < 5; n++) {
      const one = await world.createOrganization()
      organizations.push(one)
      endpoints.push(await startEndpoint(world, one))
    }
    for (const { dispatcher } of [await startProcess(), await startProcess()]) dispatcher.start()
    for (const each of organizations) await raiseAboutNobody(world, each, 100)
    await Promise.all(endpoints.map((each) => each.until(100)))
    for (const { dispatcher } of processes) await dispatcher.stop()
    for (const each of endpoints) expect(namesOf(each).sort()).toEqual(numbers(100).sort())
  })

  it('share the deliveries of one endpoint: what finds no room in one is claimed by the other', async () => {
    const release = holdAnswers()
    await raiseAboutNobody(world, organization, 100)
    const [one, other] = [await startProcess(), await startProcess()]
    one.dispatcher.start()
    await endpoint.until(32)
    other.dispatcher.start()
    await endpoint.until(64)
    // Each attempts 32; as many more may wait for their turn.
    const countsOf = async () => {
      const claimed = await claims()
      return [one, other].map(({ registration }) => claimed.filter((id) => id === registration.processId).length)
    }
    await expect.poll(countsOf).toEqual([64, 36])
    release()
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set(['delivered']))
    expect(namesOf(endpoint).sort()).toEqual(numbers(100).sort())
  })

  it('hand over deliveries in flight without loss when one of them stops', async () => {
    const one = await startProcess()
    const release = holdAnswers()
    one.dispatcher.start()
    await raiseAbout(await newContact(), 2)
    await endpoint.until(1)
    const stopping = one.dispatcher.stop()
    release()
    await stopping
    expect(await statuses()).toEqual(['delivered', 'pending'])
    const other = await startProcess()
    await other.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1', '2'])
    expect(await statuses()).toEqual(['delivered', 'delivered'])
  })

  it('repeat what a dead process had claimed, and nothing of one that lives', async () => {
    const [dead, alive, next] = [await startProcess(), await startProcess(), await startProcess()]
    const contact = await newContact()
    const release = holdAnswers()
    await raiseAbout(contact, 2)
    dead.dispatcher.start()
    await endpoint.until(1)
    await next.dispatcher.drain()
    await alive.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1'])
    await dead.registration.leave()
    endpoint.respond(() => 204)
    await next.dispatcher.drain()
    expect(namesOf(endpoint)).toEqual(['1', '1', '2'])
    expect(new Set(endpoint.received.slice(0, 2).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    release()
  })

  it('record an outcome only if the claim was kept', async () => {
    const [slow, quick] = [await startProcess(), await startProcess()]
    const contact = await newContact()
    const release = holdAnswers(500)
    await raiseAbout(contact, 2)
    const draining = slow.dispatcher.drain()
    await endpoint.until(1)
    // As if it had lost its connection to the database for a moment.
    await world.database.pool.query('DELETE FROM processes WHERE id = $1', [slow.registration.processId])
    endpoint.respond(() => 204)
    await quick.dispatcher.drain()
    release()
    await draining
    expect(await statuses()).toEqual(['delivered', 'delivered'])
    expect((await deliveriesTo(world, endpoint.id)).map(({ attempts }) => attempts.length)).toEqual([1, 1])
    expect(namesOf(endpoint)).toEqual(['1', '1', '2'])
  })

  it('claim nothing after they were removed, until they are registered again', async () => {
    const { dispatcher, registration } = await startProcess()
    await world.database.pool.query('DELETE FROM processes WHERE id = $1', [registration.processId])
    await raiseAboutNobody(world, organization, 1)
    await dispatcher.drain()
    expect(namesOf(endpoint)).toEqual([])
    await registration.removeDead()
    const attempted = () => dispatcher.drain().then(() => namesOf(endpoint))
    await expect.poll(attempted).toEqual(['1'])
  })

  it("keep the start of an endpoint's failures, whichever process sees the next one", async () => {
    const since = new Date(world.now().getTime() - HOUR)
    await world.database.pool.query('UPDATE webhooks SET failing_since = $1', [since])
    const failingSince = async () => {
      const { rows } = await world.database.pool.query('SELECT failing_since FROM webhooks WHERE id = $1', [
        endpoint.id,
      ])
      return rows[0].failing_since
    }
    const [one, other] = [await startProcess(), await startProcess()]
    endpoint.respond(() => 500)
    await raiseAboutNobody(world, organization, 1)
    await one.dispatcher.drain()
    expect(await failingSince()).toEqual(since)
    endpoint.respond(() => 204)
    await raiseAboutNobody(world, organization, 1)
    await other.dispatcher.drain()
    expect(await failingSince()).toBeNull()
  })
})

describe('if the database fails', () => {
  it('during a round, received answers are recorded afterwards and nothing is sent again', async () => {
    const { dispatcher } = await startProcess()
    const lock = 'SELECT FROM webhook_deliveries WHERE organization_id = $1 FOR UPDATE'
    const contact = await newContact()
    dispatcher.start()
    let held = await holdOpen(world, 'SELECT FROM webhooks LIMIT 1', [])
    endpoint.respond(() => async (response) => {
      held = await holdOpen(world, lock, [organization.id])
      response.writeHead(204).end()
    })
    await raiseAbout(contact, 1)
    tell()
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
    await untilWaiting(world.database, 1, 'webhook_id uuid, event_seq bigint')
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

  it('while deliveries are claimed, they are attempted all the same, once each', async () => {
    const { dispatcher } = await startProcess()
    endpoint.respond(() => 500)
    await raiseAbout(await newContact(), 2)
    await raiseAboutNobody(world, organization, 1, 11)
    await dispatcher.drain()
    endpoint.received.length = 0
    endpoint.respond(() => 204)
    // As if a claim had succeeded a minute ago without the process learning of it.
    await world.database.pool.query(
      `UPDATE webhook_deliveries
       SET process_id = $1, claimed_at = now() - interval '1 minute', next_attempt_at = created_at
       WHERE next_attempt_at IS NOT NULL`,
      [processes[0]?.registration.processId],
    )
    await dispatcher.drain()
    expect(namesOf(endpoint).sort()).toEqual(['1', '11', '2'])
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
  })
})
