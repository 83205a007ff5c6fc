import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNotificationSender, createNotifications } from '../../../src/core/processes/notifications.js'
import { type ProcessRegistration, registerThisProcess } from '../../../src/core/processes/process-registry.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import type { Notification } from '../../../src/model/notification.js'
import { post, receive, seconds, textMessage, type WireMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { cutOff } from '../../support/locks.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

const log = pino({ level: 'silent' })

/** The notifications of a process of the service. */
interface Process {
  database: Database
  registration: ProcessRegistration
  signals: ReturnType<typeof createNotifications>
  end(): Promise<void>
}

describe('notifications between two processes', () => {
  let database: TestDatabase
  let one: Process
  let other: Process

  beforeEach(async () => {
    database = await createTestDatabase()
    one = await startProcess()
    other = await startProcess()
  })

  afterEach(async () => {
    await one.end()
    await other.end()
    await database.drop()
  })

  async function startProcess(): Promise<Process> {
    const own = openDatabase(database.connection, 3, () => undefined)
    const registration = await registerThisProcess(own, log)
    const signals = createNotifications(own, registration, log)
    const end = async () => {
      await signals.close()
      await registration.leave()
      await own.close()
    }
    return { database: own, registration, signals, end }
  }

  /** All notifications that the process receives from now on. */
  async function listen(process: Process): Promise<Notification[]> {
    const heard: Notification[] = []
    process.signals.listen((notification) => heard.push(notification))
    // The warning that some may be missing arrives first.
    await expect.poll(() => heard).toEqual([{ topic: 'missed' }])
    heard.length = 0
    return heard
  }

  /** The raw NOTIFY payloads. */
  async function overhear(): Promise<{ payloads: string[]; end: () => void }> {
    const client = await database.pool.connect()
    const payloads: string[] = []
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    await client.query('LISTEN parley_signals')
    return { payloads, end: () => client.release(true) }
  }

  it('reach their own process at once, and the other one soon', async () => {
    const [heardByOne, heardByOther] = [await listen(one), await listen(other)]
    const sent: Notification[] = [
      eventsOf([randomUUID()]),
      { topic: 'webhooks', organizationId: randomUUID() },
      eventsOf(null),
    ]
    for (const [index, notification] of sent.entries()) {
      send(one, notification)
      expect(heardByOne).toEqual(sent.slice(0, index + 1))
      await expect.poll(() => heardByOther).toEqual(sent.slice(0, index + 1))
    }
  })

  it('are not repeated in the process that sent them', async () => {
    const heard = await listen(one)
    const [first, second] = [eventsOf([randomUUID()]), eventsOf([randomUUID()])]
    const { payloads, end } = await overhear()
    send(one, first)
    await expect.poll(() => payloads).toHaveLength(1)
    send(other, second)
    await expect.poll(() => heard).toEqual([first, second])
    end()
  })

  it('of one moment share one NOTIFY, with each organization once', async () => {
    const heard = await listen(other)
    const { payloads, end } = await overhear()
    const ids = Array.from({ length: 20 }, () => randomUUID())
    for (const id of [...ids, ...ids]) {
      send(one, eventsOf([id]))
      send(one, { topic: 'webhooks', organizationId: id })
    }
    await expect
      .poll(() => heard)
      .toEqual([eventsOf(ids), ...ids.map((organizationId) => ({ topic: 'webhooks', organizationId }))])
    send(one, eventsOf([ids[0] as string]))
    await expect.poll(() => payloads).toHaveLength(2)
    end()
  })

  it('name no organization if one of them concerns all', async () => {
    const heard = await listen(other)
    for (const ids of [[randomUUID()], null, [randomUUID()]]) send(one, eventsOf(ids))
    await expect.poll(() => heard).toEqual([eventsOf(null)])
  })

  it('name as many organizations as fit into one NOTIFY, and all organizations beyond that', async () => {
    const heard = await listen(other)
    const ids = Array.from({ length: 48 }, () => randomUUID())
    const webhooks = ids.map((organizationId): Notification => ({ topic: 'webhooks', organizationId }))
    send(one, eventsOf(ids))
    for (const notification of webhooks) send(one, notification)
    await expect.poll(() => heard).toEqual([eventsOf(ids), ...webhooks])

    heard.length = 0
    send(one, eventsOf([...ids, randomUUID()]))
    await expect.poll(() => heard).toEqual([eventsOf(null)])
    for (const signal of [...webhooks, { topic: 'webhooks', organizationId: randomUUID() } as const]) send(one, signal)
    await expect.poll(() => heard).toEqual([eventsOf(null), { topic: 'missed' }])
  })

  it('for sessions are also sent by commands, which receive none', async () => {
    const heard = [await listen(one), await listen(other)]
    const sender = createNotificationSender(database)
    const notification: Notification = { topic: 'sessions', organizationIds: [randomUUID()] }
    sender.send(notification)
    await sender.sent()
    await expect.poll(() => heard).toEqual([[notification], [notification]])
    one.signals.send(notification)
    await expect
      .poll(() => heard)
      .toEqual([
        [notification, notification],
        [notification, notification],
      ])
  })

  it('continue after a broken connection, with a warning that some may be lost', async () => {
    const heard = await listen(one)
    for (let round = 0; round < 2; round++) {
      await cutOff(database, one.registration.processId)
      await expect.poll(() => heard).toEqual([{ topic: 'missed' }])
      const notification = eventsOf([randomUUID()])
      send(other, notification)
      await expect.poll(() => heard).toEqual([{ topic: 'missed' }, notification])
      heard.length = 0
    }
  })

  it('reach the other listeners if one fails, and none that have stopped', async () => {
    const stopped: Notification[] = []
    one.signals.listen(() => {
      throw new Error('cannot take it in')
    })
    const stop = one.signals.listen((notification) => stopped.push(notification))
    stop()
    const heard: Notification[] = []
    one.signals.listen((notification) => heard.push(notification))
    const notification = eventsOf([randomUUID()])
    send(one, notification)
    expect(heard).toContainEqual(notification)
    expect(stopped).toEqual([])
  })

  it('ignore unreadable NOTIFY payloads', async () => {
    const heard = await listen(one)
    for (const payload of ['', 'no JSON', '{}', '[]', '{"from": 0, "signals": [null, 1]}']) {
      await database.pool.query(`SELECT pg_notify('parley_signals', $1)`, [payload])
    }
    const notification = eventsOf([randomUUID()])
    send(other, notification)
    await expect.poll(() => heard).toEqual([notification])
  })

  it('sent before the end arrive, and none is sent after it', async () => {
    const heard = await listen(other)
    const [before, after] = [eventsOf([randomUUID()]), eventsOf([randomUUID()])]
    send(one, before)
    await one.signals.close()
    send(one, after)
    await expect.poll(() => heard).toEqual([before])
    send(other, eventsOf(null))
    expect(heard).toEqual([before, eventsOf(null)])
  })

  it('are dropped without harm while the database cannot be reached', async () => {
    const heard = await listen(one)
    await one.end()
    send(one, eventsOf(null))
    expect(heard).toEqual([])
    one = await startProcess()
    await one.registration.leave()
    await one.database.close()
    one.signals.listen((notification) => heard.push(notification))
    send(one, eventsOf(null))
    expect(heard).toEqual([eventsOf(null)])
    await one.signals.close()
    one = await startProcess()
  })
})

describe('notifications of commits', () => {
  const CUSTOMER = '16505550001'
  let world: World
  let organization: TestOrganization
  let heard: Notification[]
  let stop: () => void

  beforeEach(async () => {
    world = await startWorld({ PARLEY_ROLES: 'api,worker' })
    await world.sim('POST', '/settings', { statuses: false })
    await world.createOrganization()
    organization = await world.createOrganization()
    await createContact(world, organization, `+${CUSTOMER}`)
    // The jobs of a new organization raise events of their own.
    await world.drain()
    heard = []
    stop = world.app.ctx.notifications.listen((notification) => heard.push(notification))
    await expect.poll(() => heard).toEqual([{ topic: 'missed' }])
    heard.length = 0
  })

  afterEach(() => world.close())

  /** The notifications since the last call, except for those about jobs and callbacks. */
  function takeHeard(): Notification[] {
    return heard.splice(0).filter(({ topic }) => topic !== 'jobs' && topic !== 'callbacks')
  }

  function expectOnly(notifications: readonly Notification[], ...organizations: readonly TestOrganization[]): void {
    const ids = organizations.map(({ id }) => id)
    expect(notifications.length).toBeGreaterThan(0)
    for (const notification of notifications) expect(notification.topic).toBe('events')
    const named = notifications.flatMap((notification) =>
      notification.topic === 'events' ? (notification.organizationIds ?? ['anybody']) : [],
    )
    expect([...new Set(named)].sort()).toEqual(ids.sort())
  }

  const sendText = ({ key }: TestOrganization) =>
    world.request('POST', '/send-chat', { key, body: { phone_number: CUSTOMER, message_type: 'text', text: 'hello' } })

  it('name exactly the organization that receives, sends, or gets a status', async () => {
    await post(world, organization, { messages: [textMessage('16505550002', 'from a stranger')] })
    expect(takeHeard()).toEqual([])
    await world.drain()
    expectOnly(takeHeard(), organization)

    const sent = await sendText(organization)
    expect(sent.status).toBe(200)
    expectOnly(takeHeard(), organization)

    const status = { id: sent.body.data.message_id, status: 'read', timestamp: seconds(), recipient_id: CUSTOMER }
    await receive(world, organization, { statuses: [status] })
    expectOnly(takeHeard(), organization)
  })

  it('name each organization that sends at the same moment', async () => {
    const other = await world.createOrganization()
    await createContact(world, other, `+${CUSTOMER}`)
    takeHeard()
    const answers = await Promise.all([organization, other, organization, other].map(sendText))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expectOnly(takeHeard(), organization, other)
  })

  it('wake the workers for a message with a file, which a job fetches, and not for another one', async () => {
    const jobsAfter = async (message: WireMessage) => {
      await post(world, organization, { messages: [message] })
      await world.app.callbacks.drain()
      return heard.splice(0).filter(({ topic }) => topic === 'jobs')
    }
    expect(await jobsAfter(textMessage(CUSTOMER, 'without a file'))).toEqual([])
    const image = { id: '4711', mime_type: 'image/jpeg' }
    expect(await jobsAfter(textMessage(CUSTOMER, '', { type: 'image', image }))).toEqual([{ topic: 'jobs' }])
  })

  it('are not sent if nothing changed, nor to listeners that have stopped', async () => {
    await world.request('GET', `/contact?chat_id=${CUSTOMER}`, { key: organization.key })
    expect(takeHeard()).toEqual([])
    stop()
    await sendText(organization)
    expect(takeHeard()).toEqual([])
  })
})

function eventsOf(organizationIds: string[] | null): Notification {
  return { topic: 'events', organizationIds }
}

function send({ signals }: Process, notification: Notification): void {
  if (notification.topic !== 'missed') signals.send(notification)
}
