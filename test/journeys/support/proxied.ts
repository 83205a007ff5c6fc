import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect, inject, vi } from 'vitest'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { freePort } from '../../support/free-port.js'
import { onDatabase } from '../../support/global-setup.js'
import { patience } from '../../support/patience.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import type { TestOrganization } from '../../support/world.js'
import { endPrograms } from './programs.js'
import { type ProxyName, startProxy } from './proxies.js'
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
 * The answers of the proxy itself after which a client repeats a request. nginx asks no process for /readyz, so that one
 * can close a connection while nginx sends a request on it.
 */
const REPEATED: Record<ProxyName, readonly number[]> = { haproxy: [], nginx: [502], caddy: [] }

/** A database, a sandbox and a webhook's receiver, and a proxy in front of places for four processes. */
export interface Proxied {
  env: Record<string, string>
  /** The proxy's address. */
  url: string
  database: Database
  /** Starts a process at a place and waits until it is ready; `main`: of another version. */
  start(place: number, more?: Record<string, string>, main?: string): Promise<Service>
  /** Makes an organization with contacts and a webhook; `first`: a process that runs. Returns clients to be started. */
  prepare(first: Service): Promise<Traffic>
  close(): Promise<void>
}

/** Clients that use the service through the proxy. */
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

/** Starts everything but the processes; the database is empty. `behind`: the places that the proxy knows, by default all. */
export async function startProxied(behind = [0, 1, 2, 3], name: ProxyName = 'haproxy'): Promise<Proxied> {
  const folder = await makeFolder()
  const database = await createEmptyDatabase()
  const sandbox = await startSandbox()
  const ports: number[] = []
  for (let n = 0; n < 4; n++) ports.push(await freePort())
  const proxy = await startProxy(
    name,
    folder.path,
    ports.filter((_port, place) => behind.includes(place)),
  )
  const receiver = await startReceiver()
  const env = {
    ...sharedSecrets,
    PARLEY_PUBLIC_URL: proxy.url,
    PARLEY_DATA_DIR: folder.path,
    PARLEY_DATABASE_URL: database.url,
    PARLEY_DATABASE_CONNECTIONS: '20',
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  return {
    env,
    url: proxy.url,
    database,
    start: async (place, more = {}, main) => {
      const started = await startService({ ...env, ...more, PARLEY_PORT: String(ports[place]) }, [], main)
      await vi.waitFor(async () => expect((await started.request('GET', '/readyz')).status).toBe(200), patience)
      return started
    },
    prepare: async (first) => {
      const { url } = proxy
      const service: Service = {
        ...first,
        url,
        request: (method, path, options) => call(`${url}${path}`, method, options),
      }
      // With the limits of the upstream, clients would mostly wait for the next send to the same person.
      const organization = await createOrganization(first, { messages_per_second: 0, pair_limit: false })
      const { key } = organization
      await succeed(service.request('POST', '/set-webhooks', { key, body: { url: receiver.url, events: ['*'] } }))
      for (let n = 0; n < CONTACTS; n++) {
        await succeed(service.request('POST', '/contact', { key, body: { phone_number: `+${numberOf(n)}` } }))
      }
      return createTraffic({ service, organization, sandbox, database, receiver, repeated: REPEATED[name] })
    },
    close: async () => {
      await endPrograms()
      await proxy.stop()
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

interface Parts {
  service: Service
  organization: TestOrganization
  sandbox: Sandbox
  database: Database
  receiver: Receiver
  repeated: readonly number[]
}

function createTraffic({ service, organization, sandbox, database, receiver, repeated }: Parts): Traffic {
  const sent: string[] = []
  const told: Inbound[] = []
  const unsent: Traffic['unsent'] = []
  const failures: string[] = []
  let clients: Promise<void>[] = []
  let rounds = 0
  let isStopped = false

  /** As clients should: with an Idempotency-Key, and again while the first attempt is under way. */
  async function send(to: string, text: string): Promise<void> {
    const body = { phone_number: to, message_type: 'text', text }
    const options = { key: organization.key, body, headers: { 'idempotency-key': randomUUID() } }
    for (;;) {
      const answer = await service.request('POST', '/send-chat', options).catch((error: Error) => error)
      if (!(answer instanceof Error) && [409, ...repeated].includes(answer.status)) continue
      if (!(answer instanceof Error) && answer.status === 200 && answer.body.success) sent.push(text)
      else unsent.push({ text, problem: answer instanceof Error ? answer.message : JSON.stringify(answer.body) })
      return
    }
  }

  async function read(from: string): Promise<void> {
    const path = `/conversations?chatNumber=${from}&limit=5`
    const answer = await service.request('GET', path, { key: organization.key }).catch((error: Error) => error)
    if (answer instanceof Error) failures.push(`read: ${answer.message}`)
    else if (answer.status !== 200) failures.push(`read: ${JSON.stringify(answer.body)}`)
  }

  async function client(): Promise<void> {
    while (!isStopped) {
      const n = rounds++
      await send(numberOf(n), `message ${n}`)
      await read(numberOf(n))
      const inbound = { id: `wamid.proxied-${n}`, from: numberOf(n + 1), text: `reply ${n}`, acknowledged: false }
      told.push(inbound)
      // The upstream repeats a callback that was not acknowledged, such as one that a process refused while it stopped.
      while (!inbound.acknowledged) {
        const answer = await postInbound(service, organization, inbound)
        if (answer && ![200, 503, ...repeated].includes(answer.status))
          failures.push(`a callback was answered ${answer.status}`)
      }
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
      clients = Array.from({ length: CLIENTS }, client)
    },
    goesOn: async () => {
      const enough = rounds + CLIENTS * ROUNDS_BETWEEN
      await vi.waitFor(() => expect(rounds).toBeGreaterThan(enough), patience)
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
        const { messages, total } = await readConversation(service, organization, numberOf(n))
        expect(total).toBe(messages.length)
        kept.push(...messages.map(({ message }) => message))
      }
      expectOnce(
        kept,
        told.map(({ text }) => text),
      )
      const feed = createFeedReader(organization)
      await feed.readOn(service)
      const ids = feed.events.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // Deliveries that an ended process was making are repeated, under the same id.
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids))
    },
  }
}
