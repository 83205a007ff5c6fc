import { setTimeout } from 'node:timers/promises'
import { hmacSha256Hex } from '../../src/lib/crypto/signature.js'
import { MEBIBYTE } from '../../src/lib/text/units.js'
import { memoryOf } from '../processes.js'
import { type Run, startServer } from '../server.js'
import { call, makeFolder, makeOrganization, type Organization, serviceEnvironment, startService } from '../world.js'
import { type FloodRow, measureFloods } from './body-floods.js'

/** What one request did to the service. */
export interface BodyRow {
  name: string
  megabytes: number
  status: number
  /** Until the answer, in milliseconds. */
  answeredMs: number
  /** How long the event loop was blocked at most, in milliseconds. */
  blockedMs: number
  /** RSS after it, in MB. */
  memoryMb: number
}

/** What large bodies do to the service, one by one and many at the same time. */
export interface Bodies {
  rows: BodyRow[]
  floods: FloodRow[]
}

interface Body {
  name: string
  path: string
  body: string
  headers?: Record<string, string>
}

const INSTANCE = 'bodies'
/** What the event loop's monitor measures of an idle loop: the interval of its timer. */
const RESOLUTION_MS = 10
/** Longer than the monitor needs to notice a block that has ended. */
const SETTLE_MS = 200

/**
 * Sends large bodies of every shape one by one, and measures how long each blocks the event loop of the service; then
 * many at the same time, and measures the memory.
 */
export async function measureBodies(run: Run): Promise<Bodies> {
  const folder = await makeFolder(run)
  const { url } = await startServer(run, folder)
  // Nothing is sent to the upstream.
  const env = { ...serviceEnvironment(folder, 'http://127.0.0.1:9/v23.0'), PARLEY_DATABASE_URL: url }
  const organization = await makeOrganization(run, env)
  const service = await startService(run, env)
  const instance = { instanceName: INSTANCE, integration: 'WHATSAPP-BUSINESS' }
  await call('POST', `${service.url}/gateway/instance/create`, instance, organization.key)
  await readBlockedMs(service.url)
  const rows: BodyRow[] = []
  for (const body of corpus(organization)) {
    await setTimeout(SETTLE_MS)
    await readBlockedMs(service.url)
    const begunAt = performance.now()
    const status = await post(service.url, body, organization)
    const answeredMs = performance.now() - begunAt
    await setTimeout(SETTLE_MS)
    const blockedMs = await readBlockedMs(service.url)
    const megabytes = Buffer.byteLength(body.body) / MEBIBYTE
    rows.push({ name: body.name, megabytes, status, answeredMs, blockedMs, memoryMb: memoryOf(service.pid) })
  }
  const floods = await measureFloods(service, { key: organization.key, instance: INSTANCE })
  await service.stop()
  return { rows, floods }
}

async function post(url: string, { path, body, headers }: Body, { key }: Organization): Promise<number> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  })
  await answer.text()
  return answer.status
}

/** The longest block since the last call. */
async function readBlockedMs(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])
  return Math.max(0, seconds * 1_000 - RESOLUTION_MS)
}

const fill = (size: number, before: string, item: string, after: string) =>
  before + item.repeat(Math.floor((size - before.length - after.length) / item.length)) + after

function* corpus({ appSecret, phoneNumberId }: Organization): Generator<Body> {
  // What this machine does to the figures.
  yield { name: 'an empty body', path: '/contact', body: '{}' }
  for (const [path, megabytes] of [
    ['/contact', 1],
    ['/broadcasts', 1],
    [`/gateway/message/sendText/${INSTANCE}`, 1],
  ] as const) {
    const size = megabytes * MEBIBYTE - 1
    const headers = { 'idempotency-key': 'bench' }
    for (const [name, body] of [
      ['opening brackets', fill(size, '', '[', '')],
      ['opening objects', fill(size, '', '{"a":', '')],
      ['a list of empty lists', fill(size, '{"a":[', '[],', '1]}')],
      ['a list of empty objects', fill(size, '{"a":[', '{},', '1]}')],
      ['a list of numbers', fill(size, '{"a":[', '1,', '1]}')],
      ['many fields', `{${Array.from({ length: Math.floor(size / 14) }, (_, n) => `"k${n + 1e7}":1`).join(',')}}`],
      ['escapes', fill(size, '{"a":"', '\\u0041', '"}')],
      ['emoji', fill(size / 2, '{"a":"', '😀', '"}')],
      ['a long text', fill(size, '{"a":"', 'x', '"}')],
    ] as const) {
      yield { name: `${path}: ${name}`, path, body, headers }
    }
  }
  yield* listBodies()
  yield* hookBodies(appSecret, phoneNumberId)
  yield* fileBodies()
}

/** The most recipients that a body can have, in its lists. */
function* listBodies(): Generator<Body> {
  const path = '/broadcasts'
  const numbers = Array.from({ length: 30_000 }, (_, n) => ({ chatNumber: String(5_511_960_000_010 + n) }))
  const ids = Array.from({ length: 26_000 }, () => '01a207a6-35e3-7d24-99a0-f18c1bdea0a4')
  for (const [name, audience] of [
    ['30,000 recipients', { recipients: numbers }],
    ['26,000 contacts', { contactIds: ids }],
  ] as const) {
    const body = JSON.stringify({ name: 'x', templateName: 'none', audience })
    yield { name: `${path}: ${name}`, path, body, headers: { 'idempotency-key': name } }
  }
}

function* hookBodies(appSecret: string, phoneNumberId: string): Generator<Body> {
  const path = '/hooks/upstream'
  const change = `{"entry":[{"id":"1","changes":[{"value":{"metadata":{"phone_number_id":"${phoneNumberId}"},"x":[`
  const body = fill(4 * MEBIBYTE, change, '[],', '1]}}]}]}')
  for (const [name, signature] of [
    ['wrongly signed', '0'.repeat(64)],
    ['signed', hmacSha256Hex(appSecret, Buffer.from(body))],
  ] as const) {
    yield {
      name: `${path}: empty lists, ${name}`,
      path,
      body,
      headers: { 'x-hub-signature-256': `sha256=${signature}` },
    }
  }
}

function* fileBodies(): Generator<Body> {
  const rows = Array.from({ length: 20_000 }, (_, n) => `${5_511_960_000_010 + n},Ana Souza ${n},"newsletter,vip"`)
  const body = `phone_number,full_name,tags\n${rows.join('\n')}\n`
  yield {
    name: '/contacts/import: 20,000 rows',
    path: '/contacts/import',
    body,
    headers: { 'content-type': 'text/csv' },
  }
  const path = `/gateway/message/sendMedia/${INSTANCE}`
  yield {
    name: `${path}: base64`,
    path,
    body: fill(100 * MEBIBYTE, '{"number":"5511960000010","media":"', 'QUJD', '"}'),
  }
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  yield { name: `${path}: many parts`, path, body: fill(16 * MEBIBYTE, '', part, '--b--\r\n'), headers }
}
