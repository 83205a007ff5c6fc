import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFileStore } from '../../src/blobs/files.js'
import { type FoundViolation, verifyDatabase } from '../../src/core/maintenance/verify.js'
import { openDatabase } from '../../src/database/pool.js'
import { type Receiver, startReceiver } from '../support/receiver.js'
import { IS_LONG } from '../support/times.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import { type ArchivedServer, findPostgres, startArchivedServer } from './support/archiving-server.js'
import { endPrograms, runProgram, startProgram } from './support/programs.js'
import {
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
} from './support/service.js'
import { seeded } from './support/traffic.js'

const POINTS = IS_LONG ? 20 : 5
/** The first and the last; each takes seconds. */
const SERVED = [0, POINTS - 1]
const SENDERS = 4

let folder: Awaited<ReturnType<typeof makeFolder>>
let sandbox: Sandbox

beforeAll(async () => {
  folder = await makeFolder()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, duplicate: 0.1, disorder: 0.2 })
})

afterAll(async () => {
  await endPrograms()
  await folder?.remove()
})

/** A send that was answered, by the upstream's id; the times are those of this machine, which the servers share. */
interface Sent {
  id: string
  askedAt: number
  answeredAt: number
}

/** Creates a contact and sends it a text; the upstream's id of the message. */
async function sendText(service: Service, key: string, number: string, text: string): Promise<string> {
  await succeed(service.request('POST', '/contact', { key, body: { phone_number: `+${number}` } }))
  const body = { phone_number: `+${number}`, message_type: 'text', text }
  return (await succeed(service.request('POST', '/send-chat', { key, body }))).body.data.message_id
}

/** Sends, and makes customers write and send pictures, until it is stopped. */
function startLoad(service: Service, { key, phoneNumberId }: TestOrganization) {
  const sent: Sent[] = []
  let stopped = false
  let people = 0
  const worker = async () => {
    while (!stopped) {
      const number = `1650${String(5_550_000 + ++people)}`
      const askedAt = Date.now()
      const id = await sendText(service, key, number, `message ${people}`)
      sent.push({ id, askedAt, answeredAt: Date.now() })
      const inbound = { phone_number_id: phoneNumberId, from: number }
      if (people % 2 === 0)
        await sandbox.control('POST', '/inbound', { ...inbound, type: 'text', text: { body: 'Hi' } })
      if (people % 5 === 0) await sandbox.control('POST', '/inbound', { ...inbound, type: 'image', image: {} })
    }
  }
  const workers = Array.from({ length: SENDERS }, worker)
  return {
    sent,
    stop: async () => {
      stopped = true
      await Promise.all(workers)
    },
  }
}

async function findViolations(url: string, media: string): Promise<{ violations: FoundViolation[]; rows: number }> {
  const database = openDatabase({ connectionString: url }, 2, () => undefined)
  const violations: FoundViolation[] = []
  let rows = 0
  const ctx = { database, blobs: createFileStore(media), clock: () => new Date(), channelNames: ['chat'] }
  await verifyDatabase(ctx, undefined, {
    begins: () => undefined,
    read: (more) => {
      rows += more
    },
    violation: (violation) => violations.push(violation),
    note: () => undefined,
  })
  await database.close()
  return { violations, rows }
}

describe.skipIf(findPostgres() === null)('a service under load, restored to points in time', () => {
  let server: ArchivedServer
  let receiver: Receiver
  let organization: TestOrganization
  let sent: Sent[]
  let points: number[]
  let lastPosition: string
  let env: Record<string, string>

  beforeAll(async () => {
    server = await startArchivedServer(String(findPostgres()), folder.path)
    receiver = await startReceiver()
    env = {
      ...sharedSecrets,
      PARLEY_DATABASE_URL: server.url,
      PARLEY_DATA_DIR: join(folder.path, 'data'),
      PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
      PARLEY_RATE_LIMIT: '0',
      PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
    }
    const service = await startService(env, ['--migrate'])
    organization = await createOrganization(service)
    const { key } = organization
    await succeed(service.request('POST', '/set-webhooks', { key, body: { url: receiver.url, events: ['*'] } }))
    await server.takeBaseBackup()
    const beganAt = Date.now()
    const load = startLoad(service, organization)
    await until(() => load.sent.length > 400)
    const endedAt = Date.now()
    const random = seeded(11)
    points = Array.from({ length: POINTS }, () => Math.floor(beganAt + random() * (endedAt - beganAt))).sort()
    await until(() => load.sent.length > 440)
    await load.stop()
    sent = load.sent
    lastPosition = (await succeed(service.request('GET', '/events?after=latest', { key }))).body.next_after
    service.program.kill('SIGTERM')
    await service.program.exited
    await server.query('SELECT pg_switch_wal()')
    await until(async () => (await server.query(PENDING))[0]?.pending === 0)
  })

  afterAll(async () => {
    await server?.stop()
    await receiver?.close()
  })

  it.each(Array.from({ length: POINTS }, (_, place) => place))('point %i: everything agrees', async (place) => {
    const point = points[place] ?? 0
    const restored = await server.restoreTo(new Date(point).toISOString().replace('Z', '+00'), `restored-${place}`)
    try {
      const { violations, rows } = await findViolations(restored.url, join(folder.path, 'data', 'media'))
      expect(violations).toEqual([])
      expect(rows).toBeGreaterThan(0)
      const known = await idsOf(restored.url)
      const lost = sent.filter(({ id, answeredAt }) => answeredAt < point && !known.has(id))
      expect(lost).toEqual([])
      expect(sent.filter(({ id, askedAt }) => askedAt > point && known.has(id))).toEqual([])
      if (SERVED.includes(place)) await serveOn(restored.url)
    } finally {
      await restored.stop()
    }
  })

  /** The feed and webhooks go on from the point, and a position from after it is refused. */
  async function serveOn(url: string): Promise<void> {
    const service = await startService({ ...env, PARLEY_DATABASE_URL: url })
    const { key } = organization
    const refused = await service.request('GET', `/events?after=${lastPosition}`, { key })
    expect(refused).toMatchObject({ status: 400 })
    const [, named] = /before a backup was restored .*: continue with ([\w-]+),/.exec(refused.body.message) ?? []
    const id = await sendText(service, key, '16505559999', 'after the restore')
    await until(() => receiver.received.some(({ text }) => text.includes(id)))
    let after = String(named)
    await until(async () => {
      const feed = await succeed(service.request('GET', `/events?limit=1000&after=${after}`, { key }))
      after = feed.body.next_after
      return JSON.stringify(feed.body.events).includes(id)
    })
    const { violations } = await findViolations(url, join(folder.path, 'data', 'media'))
    expect(violations).toEqual([])
    service.program.kill('SIGTERM')
    await service.program.exited
  }
})

const PENDING = `SELECT count(*) FILTER (WHERE name LIKE '%.ready')::int AS pending FROM pg_ls_archive_statusdir()`

async function idsOf(url: string): Promise<Set<string>> {
  const database = openDatabase({ connectionString: url }, 1, () => undefined)
  const { rows } = await database.pool.query<{ id: string }>(
    'SELECT upstream_id AS id FROM messages WHERE upstream_id IS NOT NULL',
  )
  await database.close()
  return new Set(rows.map(({ id }) => id))
}

describe('a service on the embedded database', () => {
  it('is backed up under load and restored, also after kills in the midst of both', async () => {
    const dataDir = join(folder.path, 'embedded')
    const backups = join(folder.path, 'backups')
    const archive = join(backups, 'parley.tar')
    const target = join(folder.path, 'restored')
    const start = (path: string) =>
      startService({ PARLEY_DATA_DIR: path, PARLEY_UPSTREAM_URL: sandbox.upstreamUrl, PARLEY_RATE_LIMIT: '0' })
    const service = await start(dataDir)
    const organization = await createOrganization(service)
    const load = startLoad(service, organization)
    await expect.poll(() => load.sent.length).toBeGreaterThan(50)

    await mkdir(backups)
    const killed = await startProgram(['backup', archive], { env: { PARLEY_DATA_DIR: dataDir } })
    killed.firstLine.catch(() => undefined)
    await expect.poll(() => readdir(backups), { interval: 5 }).toEqual([expect.stringMatching(/\.unfinished$/)])
    killed.kill('SIGKILL')
    await killed.exited
    expect(await readdir(backups)).not.toContain('parley.tar')

    const beganAt = Date.now()
    const taken = await runProgram(['backup', archive, '--json'], { env: { PARLEY_DATA_DIR: dataDir } })
    expect(taken.code, taken.errors.join('\n')).toBe(0)
    await load.stop()
    const proof = await runProgram(['backup', 'verify', archive], { env: { PARLEY_DATA_DIR: dataDir } })
    expect(proof.output.join('\n'), proof.errors.join('\n')).toContain('everything agrees')
    expect(proof.code).toBe(0)
    service.program.kill('SIGTERM')
    await service.program.exited

    const interrupted = await startProgram(['restore', archive], { env: { PARLEY_DATA_DIR: target } })
    interrupted.firstLine.catch(() => undefined)
    await expect.poll(() => filesIn(join(target, 'restoring')), { interval: 5 }).toBeGreaterThan(100)
    interrupted.kill('SIGKILL')
    await interrupted.exited
    const restored = await runProgram(['restore', archive], { env: { PARLEY_DATA_DIR: target } })
    expect(restored.code, restored.errors.join('\n')).toBe(0)
    const verified = await runProgram(['verify', '--json'], { env: { PARLEY_DATA_DIR: target } })
    expect(JSON.parse(verified.output.join('\n'))).toMatchObject({ violations: [] })

    const again = await start(target)
    await sendText(again, organization.key, '16505558888', 'after the restore')
    const older = load.sent.filter(({ answeredAt }) => answeredAt < beganAt)
    expect(older.length).toBeGreaterThan(0)
    for (const { id } of older.slice(-20)) {
      await succeed(again.request('GET', `/messages/${encodeURIComponent(id)}/trace`, { key: organization.key }))
    }
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(
      await readFile(join(dataDir, 'secrets.json'), 'utf8'),
    )
    again.program.kill('SIGTERM')
    await again.program.exited
  })
})

describe('a broadcast of a restored service', () => {
  it('waits for a person, and then reaches those who have no message', async () => {
    const [dataDir, archive, target] = ['sender', 'of-sender.tar', 'sender-restored'].map((name) =>
      join(folder.path, name),
    )
    const env = { PARLEY_DATA_DIR: String(dataDir), PARLEY_UPSTREAM_URL: sandbox.upstreamUrl, PARLEY_RATE_LIMIT: '0' }
    const service = await startService(env)
    const access_token = 'token-of-the-sender'
    // So slow that it runs for longer than the backup takes.
    const organization = await createOrganization(service, { access_token, messages_per_second: 1 })
    const { key, slug, phoneNumberId } = organization
    const hurry = ({ admin }: Service) =>
      succeed(
        admin('PUT', `/organizations/${organization.id}/upstream`, {
          phone_number_id: phoneNumberId,
          business_account_id: organization.businessAccountId,
          app_secret: organization.appSecret,
          verify_token: organization.verifyToken,
          access_token,
          messages_per_second: 0,
        }),
      )
    const received = async (numbers: readonly string[]) => {
      const sent = (await sandbox.accepted()).filter(({ phone_number_id }) => phone_number_id === phoneNumberId)
      return numbers.map((number) => sent.filter(({ to }) => to === number).length)
    }
    const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)
    const send = async ({ request }: Service, name: string, numbers: readonly string[]) => {
      const audience = { recipients: numbers.map((chatNumber) => ({ chatNumber })) }
      const body = { name, templateName: 'hello_world', audience }
      return (await succeed(request('POST', '/broadcasts', { key, body }))).body.broadcast.id as string
    }
    const people = Array.from({ length: 1_000 }, (_, n) => `1650556${1_000 + n}`)
    const id = await send(service, 'Now', people)
    await until(async () => sum(await received(people)) > 0)
    const taken = await runProgram(['backup', String(archive)], { env })
    expect(taken.code, taken.errors.join('\n')).toBe(0)
    await hurry(service)
    await until(async () => sum(await received(people)) === people.length)
    service.program.kill('SIGTERM')
    await service.program.exited

    const restoredEnv = { ...env, PARLEY_DATA_DIR: String(target) }
    const restored = await runProgram(['restore', String(archive), '--json'], { env: restoredEnv })
    expect(restored.code, restored.errors.join('\n')).toBe(0)
    const { interruptedBroadcasts } = JSON.parse(restored.output.join('\n'))
    expect(interruptedBroadcasts).toMatchObject([
      { id, name: 'Now', organization: slug, status: 'running', prepared: true },
    ])
    const [{ withoutMessage }] = interruptedBroadcasts
    expect(withoutMessage).toBeGreaterThan(0)
    expect(withoutMessage).toBeLessThan(people.length)

    const again = await startService(restoredEnv)
    expect(again.program.errors.join('\n')).toContain('"waitingBroadcasts":1')
    const { body } = await again.request('GET', `/broadcasts/${id}`, { key })
    expect(body.broadcast).toMatchObject({ status: 'paused', reason: 'restored' })
    await hurry(again)
    // One that is sent after it shows that the workers had time for what they have to send.
    const later = ['16505559001', '16505559002']
    await send(again, 'New', later)
    await until(async () => sum(await received(later)) === later.length)
    expect(sum(await received(people))).toBe(people.length)

    await succeed(again.request('POST', `/broadcasts/${id}/resume`, { key }))
    await until(async () => sum(await received(people)) === people.length + withoutMessage)
    expect(Math.max(...(await received(people)))).toBe(2)
    again.program.kill('SIGTERM')
    await again.program.exited
  })
})

async function filesIn(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true }).catch(() => [])).length
}
