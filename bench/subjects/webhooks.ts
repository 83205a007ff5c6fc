import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { packageRoot } from '../../src/lib/files/package-root.js'
import { type Child, startChild } from '../child.js'
import { insertContacts, insertEvents, notification } from '../event-data.js'
import { quantile } from '../measure.js'
import { cpuOf, peakMemoryOf, resetPeakMemory } from '../processes.js'
import { type Run, type Server, startServer } from '../server.js'
import { until } from '../until.js'
import {
  call,
  MAIN,
  makeFolder,
  makeOrganization,
  type Organization,
  serviceEnvironment,
  startService,
} from '../world.js'

/** The costs of delivering events to endpoints. */
export interface WebhookCost {
  title: string
  events: number
  endpoints: number
  /** Seconds from the commit of the events until the last endpoint has received the last one. */
  seconds: number
  /** Seconds of CPU in total, until everything is recorded. */
  nodeCpu: number
  postgresCpu: number
  /** Peak memory of the process, in MB of 1,000,000 bytes. */
  peakMb: number
}

/**
 * Milliseconds from the request for a change until the endpoint has its event, including the change itself and its
 * commit.
 */
export interface WebhookLatency {
  p50Ms: number
  p95Ms: number
  /** Until the answer to the request. */
  answerP50Ms: number
}

export interface WebhookCosts {
  costs: WebhookCost[]
  fetchLoop: WebhookCost
  latency: WebhookLatency
}

/** The pause between two changes, so that all processes are idle when the next one arrives. */
const PAUSE_MS = 20
const POLLING = { what: 'the events have not arrived', pollMs: 20, timeoutMs: 15 * 60_000 }
const CONTACTS = 2_000
const MANY_ENDPOINTS = 100
const MANY_SHARE = 20
const ROUNDS = 3
const LATENCY_CHANGES = 300
const CONNECTIONS = 32

interface Setup {
  run: Run
  database: pg.Pool
  cpu: Server['cpu']
  organization: Organization
  service: Child
  receiver: Child
}

/**
 * Delivers this number of events to one endpoint, and a twentieth of them to many, compared with a bare fetch loop to
 * the same receiver.
 */
export async function measureWebhooks(run: Run, events: number): Promise<WebhookCosts> {
  const folder = await makeFolder(run)
  const { database, url, cpu } = await startServer(run, folder)
  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  const env = {
    ...serviceEnvironment(folder, `${sandbox.url}/v23.0`),
    PARLEY_DATABASE_URL: url,
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8',
  }
  const organization = await makeOrganization(run, env)
  await database.query(insertContacts, [organization.id, CONTACTS])
  await database.query('VACUUM (ANALYZE)')
  const receiver = await startChild(run, [`${packageRoot()}/dist/bench/webhook-receiver.js`], {})
  const service = await startService(run, env)
  const setup = { run, database, cpu, organization, service, receiver }

  const latency = await measureLatency(setup)
  const [first] = await setWebhooks(setup, 1)
  await deliver(setup, 'warm-up', events / 4, 1)
  await database.query('VACUUM (ANALYZE)')
  const { ours, theirs } = await measureBesideFetch(setup, events)
  await removeWebhook(setup, first as string)
  await setWebhooks(setup, MANY_ENDPOINTS)
  const many = await deliver(setup, `${MANY_ENDPOINTS} endpoints`, events / MANY_SHARE, MANY_ENDPOINTS)
  await service.stop()
  return { costs: [ours, many], fetchLoop: theirs, latency }
}

async function measureBesideFetch(setup: Setup, events: number): Promise<{ ours: WebhookCost; theirs: WebhookCost }> {
  const loop = await startChild(setup.run, [`${packageRoot()}/dist/bench/fetch-loop.js`], {})
  const body = await sampleBody(setup)
  await runFetchLoop(setup, loop, body, events / 4)
  const ours: WebhookCost[] = []
  const theirs: WebhookCost[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    theirs.push(await runFetchLoop(setup, loop, body, events))
    ours.push(await deliver(setup, '1 endpoint', events, 1))
  }
  await loop.stop()
  return { ours: sum(ours), theirs: sum(theirs) }
}

function sum(costs: readonly WebhookCost[]): WebhookCost {
  const total = (read: (cost: WebhookCost) => number) => costs.reduce((so_far, cost) => so_far + read(cost), 0)
  return {
    ...(costs[0] as WebhookCost),
    events: total(({ events }) => events),
    seconds: total(({ seconds }) => seconds),
    nodeCpu: total(({ nodeCpu }) => nodeCpu),
    postgresCpu: total(({ postgresCpu }) => postgresCpu),
    peakMb: Math.max(...costs.map(({ peakMb }) => peakMb)),
  }
}

async function deliver(setup: Setup, title: string, events: number, endpoints: number): Promise<WebhookCost> {
  const { database, organization, service, cpu, receiver } = setup
  await database.query('CHECKPOINT')
  resetPeakMemory(service.pid)
  const goal = (await countReceived(receiver)) + events * endpoints
  await database.query(insertEvents, [organization.id, events, CONTACTS])
  const before = [cpuOf(service.pid), cpu()] as const
  const begun = performance.now()
  await database.query(notification)
  await until(async () => (await countReceived(receiver)) >= goal, POLLING)
  const seconds = (performance.now() - begun) / 1_000
  await until(async () => (await countPending(setup)) === 0, POLLING)
  return {
    title,
    events,
    endpoints,
    seconds,
    nodeCpu: cpuOf(service.pid) - before[0],
    postgresCpu: cpu() - before[1],
    peakMb: peakMemoryOf(service.pid),
  }
}

async function runFetchLoop(setup: Setup, loop: Child, body: string, count: number): Promise<WebhookCost> {
  resetPeakMemory(loop.pid)
  const before = cpuOf(loop.pid)
  const run = { url: setup.receiver.url, count, connections: CONNECTIONS, body }
  const { seconds } = await call('POST', loop.url, run)
  const nodeCpu = cpuOf(loop.pid) - before
  return {
    title: 'fetch loop',
    events: count,
    endpoints: 1,
    seconds,
    nodeCpu,
    postgresCpu: 0,
    peakMb: peakMemoryOf(loop.pid),
  }
}

/**
 * Makes one change after the other, with a pause between them, so that all processes are idle when the next one
 * arrives.
 */
async function measureLatency({ service, organization, database }: Setup): Promise<WebhookLatency> {
  let arrive = () => {}
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      response.writeHead(204).end()
      arrive()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { webhook } = await call('POST', `${service.url}/set-webhooks`, { url, events: ['*'] }, organization.key)
  const { rows } = await database.query('SELECT chat_id FROM contacts WHERE organization_id = $1 LIMIT $2', [
    organization.id,
    LATENCY_CHANGES,
  ])
  const arrivals: number[] = []
  const answers: number[] = []
  for (const { chat_id } of rows) {
    await setTimeout(PAUSE_MS)
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const begun = performance.now()
    const answered = fetch(`${service.url}/contact?chat_id=${chat_id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ full_name: `Ana ${begun}` }),
    }).then(async (answer) => {
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`the contact could not be changed: ${answer.status}`)
      answers.push(performance.now() - begun)
    })
    await Promise.all([answered, arrived.then(() => arrivals.push(performance.now() - begun))])
  }
  await database.query('DELETE FROM webhooks WHERE organization_id = $1 AND id = $2', [organization.id, webhook.id])
  server.closeAllConnections()
  server.close()
  const [sorted, sortedAnswers] = [Float64Array.from(arrivals).sort(), Float64Array.from(answers).sort()]
  return {
    p50Ms: quantile(sorted, 0.5) ?? Number.NaN,
    p95Ms: quantile(sorted, 0.95) ?? Number.NaN,
    answerP50Ms: quantile(sortedAnswers, 0.5) ?? Number.NaN,
  }
}

async function setWebhooks({ service, organization, receiver }: Setup, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const body = { url: `${receiver.url}/${index}`, events: ['*'] }
    const { webhook } = await call('POST', `${service.url}/set-webhooks`, body, organization.key)
    ids.push(webhook.id)
  }
  return ids
}

async function removeWebhook({ service, organization }: Setup, id: string): Promise<void> {
  const answer = await fetch(`${service.url}/set-webhooks`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`the webhook could not be removed: ${answer.status}`)
}

/** The body of a delivery. */
async function sampleBody({ service, organization }: Setup): Promise<string> {
  const answer = await fetch(`${service.url}/events?limit=1&types=message.received`, {
    headers: { authorization: `Bearer ${organization.key}` },
  })
  const { events } = (await answer.json()) as { events: { type: string; timestamp: string; data: object }[] }
  const [{ type, timestamp, data } = { type: '', timestamp: '', data: {} }] = events
  return JSON.stringify({ type, timestamp, data })
}

async function countReceived(receiver: Child): Promise<number> {
  const answer = await fetch(receiver.url)
  return ((await answer.json()) as { count: number }).count
}

async function countPending({ database, organization }: Setup): Promise<number> {
  const { rows } = await database.query(
    `SELECT count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 AND status = 'pending'`,
    [organization.id],
  )
  return rows[0].count
}
