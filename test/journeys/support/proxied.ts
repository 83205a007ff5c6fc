import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect, inject, vi } from 'vitest'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { freePort } from '../../support/free-port.js'
import { onDatabase } from '../../support/global-setup.js'
import { patience } from '../../support/patience.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import type { Answer, RequestOptions, TestOrganization } from '../../support/world.js'
import { endPrograms } from './programs.js'
import { type ProxyName, type RunningProxy, startProxy } from './proxies.js'
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
} from './service.js'
import { type Inbound, postInbound, readConversation } from './traffic.js'
import { createFeedReader } from './webhook-proof.js'

const CONTACTS = 24
/** Clients that send, one after the other; each reads and is told messages between its sends. */
const CLIENTS = 4
/** The pause of a client between two rounds. Without it, clients use the processors that a process needs to start. */
const PAUSE_MS = 200
/** The least that each client has to do between two steps, so that every step has traffic around it. */
const ROUNDS_BETWEEN = 5

/**
 * The answers after which a client repeats a request, by the proxy in between: 409 while the first attempt is under way.
 * nginx asks no process for /readyz, so it can send a request to a process that ends at this moment.
 */
const REPEATED: Record<ProxyName, readonly number[]> = { haproxy: [409], nginx: [409, 502, 503], caddy: [409] }
/** The answers after which the upstream repeats a callback. No proxy gives a callback to a second process. */
const REFUSED = [502, 503]
const METRICS_TOKEN = 'metrics-token-of-the-journeys'

/** A database, a sandbox and a webhook's receiver, and proxies in front of places for four processes. */
export interface Proxied {
  env: Record<string, string>
  proxies: NamedProxy[]
  database: Database
  /** Starts a process at a place and waits until it is ready; `main`: of another version. */
  start(place: number, more?: Record<string, string>, main?: string): Promise<Service>
  /** Resolves when each proxy passes requests on to this process, which was started seconds after the others. */
  isUsed(service: Service): Promise<void>
  /** Makes an organization with contacts and a webhook; `first`: a process that runs. Returns clients to be started. */
  prepare(first: Service): Promise<Traffic>
  close(): Promise<void>
}

interface NamedProxy extends RunningProxy {
  name: ProxyName
}

/** Clients that use the service through the proxies. */
export interface Traffic {
  /** What went wrong, besides what could not be sent. */
  failures: string[]
  /** The texts of sends that were not answered with 200. */
  unsent: { text: string; problem: string }[]
  start(): void
  /** Resolves when the clients have gone on for a while. */
  goesOn(): Promise<void>
  stop(): Promise<void>
  /** Waits until all work is done, and expects everything to be there once: in conversations, upstream, feed, webhook. */
  isThereOnce(): Promise<void>
}

/** Starts everything but the processes; the database is empty. `behind`: the places that the proxies know, by default all. */
export async function startProxied(behind = [0, 1, 2, 3], names: readonly ProxyName[] = ['haproxy']): Promise<Proxied> {
  const folder = await makeFolder()
  const database = await createEmptyDatabase()
  const sandbox = await startSandbox()
  const ports: number[] = []
  for (let n = 0; n < 4; n++) ports.push(await freePort())
  const known = ports.filter((_port, place) => behind.includes(place))
  const proxies: NamedProxy[] = []
  for (const name of names) proxies.push({ name, ...(await startProxy(name, folder.path, known)) })
  const [{ url }] = proxies as [NamedProxy]
  const receiver = await startReceiver()
  const env = {
    ...sharedSecrets,
    PARLEY_PUBLIC_URL: url,
    PARLEY_DATA_DIR: folder.path,
    PARLEY_DATABASE_URL: database.url,
    PARLEY_DATABASE_CONNECTIONS: '20',
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    PARLEY_METRICS_TOKEN: METRICS_TOKEN,
  }
  return {
    env,
    proxies,
    database,
    start: async (place, more = {}, main) => {
      const started = await startService({ ...env, ...more, PARLEY_PORT: String(ports[place]) }, [], main)
      await vi.waitFor(async () => expect((await started.request('GET', '/readyz')).status).toBe(200), patience)
      return started
    },
    isUsed: async (service) => {
      const startedAt = await startOf(service.url)
      const slowly = { ...patience, interval: PAUSE_MS }
      for (const proxy of proxies) {
        await vi.waitFor(async () => expect(await startOf(proxy.url)).toBe(startedAt), slowly)
      }
    },
    prepare: async (first) => {
      for (const proxy of proxies) {
        await vi.waitFor(async () => expect((await call(`${proxy.url}/readyz`, 'GET')).status).toBe(200), patience)
      }
      const ways = proxies.map(({ name, url }) => ({ name, service: through(url, first) }))
      const [{ service }] = ways as [Way]
      // With the limits of the upstream, clients would mostly wait for the next send to the same person.
      const organization = await createOrganization(first, { messages_per_second: 0, pair_limit: false })
      const { key } = organization
      await succeed(service.request('POST', '/set-webhooks', { key, body: { url: receiver.url, events: ['*'] } }))
      for (let n = 0; n < CONTACTS; n++) {
        await succeed(service.request('POST', '/contact', { key, body: { phone_number: `+${numberOf(n)}` } }))
      }
      return createTraffic({ ways, organization, sandbox, database, receiver })
    },
    close: async () => {
      await endPrograms()
      for (const proxy of proxies) await proxy.stop()
      await receiver.close()
      await database.drop()
      await folder.remove()
    },
  }
}

/** SIGTERM, and an end in order. */
export async function stopInOrder({ program }: Service): Promise<void> {
  program.kill('SIGTERM')
  expect(await program.exited).toEqual({ code: 0, signal: null })
}

/** The service at a proxy's address. */
function through(url: string, service: Service): Service {
  return { ...service, url, request: (method, path, options) => call(`${url}${path}`, method, options) }
}

/** When the process that answers was started, in seconds: the processes differ in it. */
async function startOf(url: string): Promise<string> {
  const { body } = await succeed(call(`${url}/metrics`, 'GET', { key: METRICS_TOKEN }))
  const [line] = /^process_start_time_seconds \d+$/m.exec(body) ?? []
  if (line === undefined) throw new Error(`the metrics of ${url} lack the start of the process`)
  return line
}

const numberOf = (n: number) => `55119601${String(n % CONTACTS).padStart(5, '0')}`

async function createEmptyDatabase() {
  const server = inject('server')
  const name = `parley_proxied_${process.pid}`
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

/** The service as a client reaches it. */
interface Way {
  name: ProxyName
  service: Service
}

interface Parts {
  /** Clients share them out. */
  ways: readonly Way[]
  organization: TestOrganization
  sandbox: Sandbox
  database: Database
  receiver: Receiver
}

function createTraffic({ ways, organization, sandbox, database, receiver }: Parts): Traffic {
  const [{ service: first }] = ways as [Way]
  const sent: string[] = []
  const told: Inbound[] = []
  const unsent: Traffic['unsent'] = []
  const failures: string[] = []
  const rounds = Array.from({ length: CLIENTS }, () => 0)
  let clients: Promise<void>[] = []
  let started = 0
  let isStopped = false

  async function ask({ name, service }: Way, method: string, path: string, options: RequestOptions = {}) {
    for (;;) {
      const asked = service.request(method, path, { key: organization.key, ...options })
      const answer = await asked.catch((error: Error) => error)
      if (answer instanceof Error || !REPEATED[name].includes(answer.status)) return answer
      await setTimeout(PAUSE_MS)
    }
  }

  /** As clients should: with an Idempotency-Key. */
  async function send(way: Way, to: string, text: string): Promise<void> {
    const body = { phone_number: to, message_type: 'text', text }
    const answer = await ask(way, 'POST', '/send-chat', { body, headers: { 'idempotency-key': randomUUID() } })
    if (!(answer instanceof Error) && answer.status === 200 && answer.body.success) sent.push(text)
    else unsent.push({ text, problem: `${way.name}: ${problemOf(answer)}` })
  }

  async function read(way: Way, from: string): Promise<void> {
    const answer = await ask(way, 'GET', `/conversations?chatNumber=${from}&limit=5`)
    if (answer instanceof Error || answer.status !== 200) failures.push(`${way.name}: read: ${problemOf(answer)}`)
  }

  /** The upstream repeats a callback that was not acknowledged, such as one that a process refused while it stopped. */
  async function tell({ name, service }: Way, inbound: Inbound): Promise<void> {
    for (;;) {
      const answer = await postInbound(service, organization, inbound)
      if (inbound.acknowledged) return
      if (answer && !REFUSED.includes(answer.status)) failures.push(`${name}: callback: ${problemOf(answer)}`)
      await setTimeout(PAUSE_MS)
    }
  }

  async function client(place: number): Promise<void> {
    const way = ways[place % ways.length] as Way
    while (!isStopped) {
      const n = started++
      await send(way, numberOf(n), `message ${n}`)
      await read(way, numberOf(n))
      const inbound = { id: `wamid.proxied-${n}`, from: numberOf(n + 1), text: `reply ${n}`, acknowledged: false }
      told.push(inbound)
      await tell(way, inbound)
      rounds[place] = (rounds[place] as number) + 1
      await setTimeout(PAUSE_MS)
    }
  }

  /** What the upstream got. */
  const acceptedTexts = async () => (await sandbox.accepted()).map(({ payload }) => payload.text.body)

  async function untilSettled(): Promise<void> {
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query(
        `SELECT (SELECT count(*) FROM callbacks WHERE waiting) AS callbacks,
           (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS deliveries,
           (SELECT coalesce(array_agg(text), '{}') FROM messages
            WHERE status = 'sent' AND sender_type <> 'user-chat') AS unsettled`,
      )
      const { unsettled, ...waiting } = rows[0]
      expect(waiting).toEqual({ callbacks: 0, deliveries: 0 })
      // A process can be killed between the record of a message and the call: the upstream never reports such a message.
      const accepted = new Set(unsettled.length === 0 ? [] : await acceptedTexts())
      expect(unsettled.filter((text: string) => accepted.has(text))).toEqual([])
    }, patience)
  }

  /** All of `sent`, each once, and besides them at most those that were not answered. */
  function expectOnce(texts: string[], others: readonly string[] = []): void {
    const possible = new Set(unsent.map(({ text }) => text))
    const settled = texts.filter((text) => possible.has(text))
    expect(texts.sort()).toEqual([...sent, ...others, ...new Set(settled)].sort())
  }

  return {
    failures,
    unsent,
    start: () => {
      clients = rounds.map((_none, place) => client(place))
    },
    goesOn: async () => {
      const enough = rounds.map((done) => done + ROUNDS_BETWEEN)
      const haveGoneOn = () => rounds.every((done, place) => done >= (enough[place] as number))
      await vi.waitFor(() => expect(haveGoneOn(), String(rounds)).toBe(true), patience)
    },
    stop: async () => {
      isStopped = true
      await Promise.all(clients)
    },
    isThereOnce: async () => {
      await untilSettled()
      expectOnce(await acceptedTexts())
      const kept: string[] = []
      for (let n = 0; n < CONTACTS; n++) {
        const { messages, total } = await readConversation(first, organization, numberOf(n))
        expect(total).toBe(messages.length)
        kept.push(...messages.map(({ message }) => message))
      }
      expectOnce(
        kept,
        told.map(({ text }) => text),
      )
      const feed = createFeedReader(organization)
      await feed.readOn(first)
      const ids = feed.events.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // Deliveries that an ended process was making are repeated, under the same id.
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids))
    },
  }
}

function problemOf(answer: Answer | Error): string {
  return answer instanceof Error ? answer.message : `${answer.status} ${JSON.stringify(answer.body)}`
}
