import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { freePort } from '../support/free-port.js'
import { onDatabase } from '../support/global-setup.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import type { TestOrganization } from '../support/world.js'
import { type Haproxy, hasHaproxy, startHaproxy } from './support/haproxy.js'
import { endPrograms, runProgram } from './support/programs.js'
import {
  call,
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
  urlOf,
} from './support/service.js'
import { type Inbound, readConversation, tellInbound } from './support/traffic.js'
import { versionBefore } from './support/version-before.js'
import { createFeedReader } from './support/webhook-proof.js'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const CONTACTS = 24
/** Clients that send, one after the other; each reads and is told messages between its sends. */
const CLIENTS = 4
/** The least that each client has to do between two steps, so that every step has traffic around it. */
const ROUNDS_BETWEEN = 10
const patience = { timeout: 60_000, interval: 100 }

const older = await versionBefore()
let database: Database & { drop(): Promise<void>; url: string }
let folder: Awaited<ReturnType<typeof makeFolder>>
let sandbox: Sandbox
let proxy: Haproxy
let receiver: Receiver
let organization: TestOrganization
let env: Record<string, string>
const ports: number[] = []
/** The proxy, as a client sees the service. */
let service: Service

beforeAll(async () => {
  if (older === null || !hasHaproxy) return
  folder = await makeFolder()
  database = await createEmptyDatabase()
  sandbox = await startSandbox()
  for (let n = 0; n < 4; n++) ports.push(await freePort())
  proxy = await startHaproxy(folder.path, ports)
  receiver = await startReceiver()
  env = {
    ...sharedSecrets,
    PARLEY_PUBLIC_URL: proxy.url,
    PARLEY_DATA_DIR: folder.path,
    PARLEY_DATABASE_URL: database.url,
    PARLEY_DATABASE_CONNECTIONS: '20',
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
})

afterAll(async () => {
  await endPrograms()
  await proxy?.stop()
  await receiver?.close()
  await database?.drop()
  await folder?.remove()
})

async function createEmptyDatabase() {
  const server = inject('server')
  const name = `parley_upgrade_${process.pid}`
  const admin = openDatabase(server, 1, () => undefined)
  await admin.pool.query(`CREATE DATABASE ${name}`)
  const connection = onDatabase(server, name)
  const opened = openDatabase(connection, 2, () => undefined)
  return {
    ...opened,
    url: urlOf(connection),
    drop: async () => {
      await opened.close()
      await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

/** A process behind the proxy, at the port of this place; `main`: of the version before. */
async function startProcess(place: number, main?: string): Promise<Service> {
  // Versions before 0.2 do not know it, and have nothing like it.
  const settings: Record<string, string> = main ? {} : { PARLEY_DRAIN_SECONDS: '2' }
  const started = await startService({ ...env, ...settings, PARLEY_PORT: String(ports[place]) }, [], main)
  await vi.waitFor(async () => expect((await started.request('GET', '/readyz')).status).toBe(200), patience)
  return started
}

async function stopProcess({ program }: Service): Promise<void> {
  program.kill('SIGTERM')
  expect(await program.exited).toEqual({ code: 0, signal: null })
}

const runNew = (...args: string[]) => runProgram(args, { env })
const runOld = (...args: string[]) => runProgram(args, { env, main: older ?? '' })

/** Clients that use the service until they are stopped. */
function startTraffic() {
  const sent: { id: string; text: string; to: string }[] = []
  const told: Inbound[] = []
  const failures: string[] = []
  let rounds = 0
  let isStopped = false
  const numberOf = (n: number) => `55119601${String(n % CONTACTS).padStart(5, '0')}`

  async function ask(what: string, method: string, path: string, body?: object) {
    // As clients should; the proxy repeats only such sends when a process refuses them.
    const headers: Record<string, string> = body ? { 'idempotency-key': randomUUID() } : {}
    const options = { key: organization.key, body, headers }
    const answer = await service.request(method, path, options).catch((error: Error) => error)
    if (answer instanceof Error || answer.status >= 300) {
      failures.push(
        `${what}: ${answer instanceof Error ? answer.message : JSON.stringify([answer.status, answer.body])}`,
      )
    }
    return answer
  }

  async function client(): Promise<void> {
    while (!isStopped) {
      const n = rounds++
      const [to, text] = [numberOf(n), `message ${n}`]
      const answer = await ask('send', 'POST', '/send-chat', { phone_number: to, message_type: 'text', text })
      if (!(answer instanceof Error) && answer.status === 200) sent.push({ id: answer.body.message.id, text, to })
      await ask('read', 'GET', `/conversations?chatNumber=${to}&limit=5`)
      const inbound = { id: `wamid.upgrade-${n}`, from: numberOf(n + 1), text: `reply ${n}`, acknowledged: false }
      await tellInbound(service, organization, inbound).catch((error: Error) => failures.push(error.message))
      told.push(inbound)
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  return {
    sent,
    told,
    failures,
    /** Resolves when the clients have gone on for a while. */
    goesOn: async () => {
      const enough = rounds + CLIENTS * ROUNDS_BETWEEN
      await vi.waitFor(() => expect(rounds).toBeGreaterThan(enough), patience)
    },
    stop: async () => {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

describe.skipIf(older === null || !hasHaproxy)('an upgrade from the version before, under load', () => {
  it('fails no request, loses nothing, does nothing twice, and can be taken back', async () => {
    expect((await runOld('migrate')).code).toBe(0)
    let [one, two] = await Promise.all([startProcess(0, older ?? ''), startProcess(1, older ?? '')])
    const { url } = proxy
    service = { ...one, url, request: (method, path, options) => call(`${url}${path}`, method, options) }
    organization = await createOrganization(one)
    const { key } = organization
    await succeed(service.request('POST', '/set-webhooks', { key, body: { url: receiver.url, events: ['*'] } }))
    for (let n = 0; n < CONTACTS; n++) {
      const phone = `+55119601${String(n).padStart(5, '0')}`
      await succeed(service.request('POST', '/contact', { key, body: { phone_number: phone } }))
    }

    const traffic = startTraffic()
    await traffic.goesOn()

    const migrated = await runNew('migrate')
    expect({ code: migrated.code, errors: migrated.errors }).toEqual({ code: 0, errors: [] })
    await traffic.goesOn()
    const three = await startProcess(2)
    expect((await runNew('migrate', '--status')).output.join('\n')).toMatch(/processes +2 of 0\.1 or older, 1 of /)
    await stopProcess(one)
    const four = await startProcess(3)
    await stopProcess(two)
    await traffic.goesOn()

    // And back.
    ;[one, two] = await Promise.all([startProcess(0, older ?? ''), startProcess(1, older ?? '')])
    await stopProcess(three)
    await traffic.goesOn()
    await stopProcess(four)
    await traffic.goesOn()
    await traffic.stop()

    expect(traffic.failures).toEqual([])
    await untilSettled()
    await everythingIsThereOnce(traffic)
  })
})

async function untilSettled(): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      `SELECT (SELECT count(*) FROM callbacks WHERE waiting) AS callbacks,
         (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS deliveries,
         (SELECT count(*) FROM messages WHERE status = 'sent' AND sender_type <> 'user-chat') AS unsettled`,
    )
    expect(rows[0]).toEqual({ callbacks: 0, deliveries: 0, unsettled: 0 })
  }, patience)
}

async function everythingIsThereOnce({ sent, told }: ReturnType<typeof startTraffic>): Promise<void> {
  const accepted = (await sandbox.accepted()).map(({ payload }) => payload.text.body)
  expect(accepted.sort()).toEqual(sent.map(({ text }) => text).sort())

  const kept: string[] = []
  for (let n = 0; n < CONTACTS; n++) {
    const { messages, total } = await readConversation(service, organization, `55119601${String(n).padStart(5, '0')}`)
    expect(total).toBe(messages.length)
    kept.push(...messages.map(({ message }) => message))
  }
  expect(kept.sort()).toEqual([...sent, ...told].map(({ text }) => text).sort())

  const feed = createFeedReader(organization)
  await feed.readOn(service)
  const ids = feed.events.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  // Deliveries that a stopped process was making are repeated, under the same id.
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids))
}
