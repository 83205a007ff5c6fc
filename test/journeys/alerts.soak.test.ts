import { readFile } from 'node:fs/promises'
import { setInterval } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasPrometheus, type Prometheus, startPrometheus } from '../ops/prometheus.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import { type DatabaseProxy, startProxy } from '../support/proxy.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
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
import { postInbound } from './support/traffic.js'

const PHONE_NUMBER = '5511960740001'
/** How much faster than in production time passes for the rules. */
const FASTER = 12
/** Longer than a scrape waits for the database. */
const INTERVAL = '5s'
const EVERY_MS = 100
/** Enough to fill the windows of the rules with good traffic. */
const QUIET_SENDS = 50

let folder: Awaited<ReturnType<typeof makeFolder>>
let database: TestDatabase
let toDatabase: DatabaseProxy
let toUpstream: DatabaseProxy
let sandbox: Sandbox
let env: Record<string, string>
let service: Service
let organization: TestOrganization
let rules: string
let prometheus: Prometheus | undefined
let traffic: Traffic | undefined
let mend: (() => Promise<unknown>) | undefined

/** Each fault with its alert, and what stages it; the result ends it. */
const FAULTS: [fault: string, alert: string, stage: () => Promise<() => Promise<unknown>>][] = [
  [
    'a database that is away',
    'ParleyDatabaseUnreachable',
    async () => {
      await toDatabase.cut()
      return () => toDatabase.restore()
    },
  ],
  [
    'a database that takes connections and answers nothing',
    'ParleyDatabaseUnreachable',
    async () => {
      toDatabase.freeze()
      return async () => toDatabase.thaw()
    },
  ],
  [
    'a database whose disk is full',
    'ParleyDiskFull',
    async () => {
      await database.pool.query(
        `CREATE OR REPLACE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
         END $$`,
      )
      await database.pool.query(
        'CREATE TRIGGER fill_disk BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION fill_disk()',
      )
      return () => database.pool.query('DROP TRIGGER fill_disk ON messages')
    },
  ],
  [
    'an upstream that refuses connections',
    'ParleyUpstreamRefuses',
    async () => {
      await toUpstream.cut()
      return () => toUpstream.restore()
    },
  ],
  [
    'an upstream that hangs',
    'ParleyUpstreamUnknown',
    async () => {
      toUpstream.freeze()
      return async () => toUpstream.thaw()
    },
  ],
  [
    'callbacks with another signature',
    'ParleyCallbacksRefused',
    async () => {
      const forger = { ...organization, appSecret: 'another secret' }
      const inbound = { id: 'wamid.refused', from: PHONE_NUMBER.slice(1), text: 'Hello', acknowledged: false }
      return repeat(() => postInbound(service, forger, inbound))
    },
  ],
  [
    'callbacks that do not come',
    'ParleyCallbacksMissing',
    async () => {
      await sandbox.control('POST', '/settings', { statuses: false })
      return () => sandbox.control('POST', '/settings', { statuses: true })
    },
  ],
]

describe.skipIf(!hasPrometheus)('with the alerts in a Prometheus, a service under traffic', () => {
  beforeAll(async () => {
    folder = await makeFolder()
    rules = inFasterTime(withoutDisk(await readFile('ops/alerts.yml', 'utf8')))
    database = await createTestDatabase()
    toDatabase = await startProxy(database.connection)
    sandbox = await startSandbox()
    toUpstream = await startProxy({ connectionString: sandbox.upstreamUrl })
    env = {
      ...sharedSecrets,
      PARLEY_DATA_DIR: folder.path,
      PARLEY_DATABASE_URL: urlOf(toDatabase.connection),
      PARLEY_UPSTREAM_URL: urlOf(toUpstream.connection),
      PARLEY_UPSTREAM_TIMEOUT_MS: '2000',
      PARLEY_RATE_LIMIT: '0',
    }
    service = await startService(env)
    organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
    const contact = { key: organization.key, body: { phone_number: PHONE_NUMBER } }
    await succeed(service.request('POST', '/contact', contact))
  })

  afterEach(async () => {
    await mend?.()
    await traffic?.end()
    await prometheus?.stop()
    traffic = mend = prometheus = undefined
  })

  afterAll(async () => {
    await endPrograms()
    await toUpstream?.close()
    await toDatabase?.close()
    await database?.drop()
    await folder?.remove()
  })

  it.each(FAULTS)('alerts of %s with %s, and of nothing else', async (_fault, alert, stage) => {
    traffic = startTraffic()
    prometheus = await startPrometheus([service.url], { interval: INTERVAL, rules })
    await expectQuiet(prometheus, 1, traffic)
    mend = await stage()
    await expectOnly(prometheus, alert)
  })

  it('alerts of a process that was killed with ParleyDown, and of nothing else', async () => {
    // The simulator goes on calling the first process.
    const other = await startService({ ...env, PARLEY_PUBLIC_URL: service.url })
    traffic = startTraffic()
    prometheus = await startPrometheus([service.url, other.url], { interval: INTERVAL, rules })
    await expectQuiet(prometheus, 2, traffic)
    other.program.killGroup()
    await expectOnly(prometheus, 'ParleyDown')
  })
})

/** All sends go well, and no alert is near. */
async function expectQuiet(prometheus: Prometheus, processes: number, { accepted }: Traffic): Promise<void> {
  const before = accepted()
  await vi.waitFor(() => expect(accepted()).toBeGreaterThan(before + QUIET_SENDS), patience)
  await vi.waitFor(async () => {
    expect(await prometheus.query('sum(up{job="parley"})')).toEqual([processes])
    expect(
      await prometheus.query('sum(increase(parley_upstream_sends_total{outcome="accepted"}[30s])) > 0'),
    ).toHaveLength(1)
    expect(await prometheus.alerts()).toEqual([])
  }, patience)
}

/** The alert fires, no other one has fired, and none is about to. */
async function expectOnly(prometheus: Prometheus, alert: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await prometheus.fired()).toEqual([alert])
    expect(await prometheus.alerts()).toEqual([{ name: alert, state: 'firing' }])
  }, patience)
}

interface Traffic {
  /** How many sends were accepted so far. */
  accepted(): number
  end(): Promise<void>
}

/** Sends messages, a few a second, however they are answered. */
function startTraffic(): Traffic {
  let accepted = 0
  const body = { phone_number: PHONE_NUMBER, message_type: 'text', text: 'Hello' }
  const end = repeat(async () => {
    const { status } = await service.request('POST', '/send-chat', { key: organization.key, body })
    if (status === 200) accepted += 1
  })
  return { accepted: () => accepted, end }
}

/** Does something a few times a second. The result ends it. */
function repeat(work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false
  const working = (async () => {
    for await (const _ of setInterval(EVERY_MS)) {
      if (isOver) return
      await work()
    }
  })()
  return async () => {
    isOver = true
    await working
  }
}

/** The rules without that of the disk's room: nothing stages how full the disk of this machine is. */
function withoutDisk(text: string): string {
  return text.replace(/^ {6}- alert: ParleyDiskFilling\n(?: {8}.*\n)+/m, '')
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 }

/** The rules with shorter durations: those of `for`, of ranges and of offsets. */
function inFasterTime(text: string): string {
  return text.replace(
    /(for: |\[|offset )(\d+)([smh])\b/g,
    (_match, before: string, count: string, unit: 's' | 'm' | 'h') => {
      return `${before}${(Number(count) * UNITS[unit]) / FASTER}ms`
    },
  )
}
