import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'
import type { DueJobs } from '../core/maintenance/failed-work.js'
import type { CallbackFigures } from '../core/maintenance/maintenance.js'
import type { DeliveryFigures, LeaseFigures, OrganizationQueue, QueueName } from '../core/maintenance/queues.js'
import type { NumberFigures } from '../core/organizations/connecting/figures.js'
import type { WebhookFigures } from '../core/webhooks/delivery/dispatcher.js'
import type { Purpose } from '../database/databases.js'
import type { PoolFigures } from '../database/pool.js'
import type { EndpointAnswer } from '../endpoints/client.js'
import { type DiskRoom, findDiskRoom } from '../lib/files/disk.js'
import { JOB_CLASSES, type JobClassName } from '../model/jobs.js'
import { CONNECTION_STEPS } from '../model/organizations/connection-steps.js'
import type { EndedCall } from '../upstream/client.js'

/** Measures all requests. */
export function measureRequests(server: FastifyInstance, registry: Registry): void {
  const duration = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'Duration of requests, by route, method, status and whose fault an answer is (service, upstream, storefront, disk)',
    labelNames: ['route', 'method', 'status', 'fault_of'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  })
  server.decorateRequest('faultOf', null)
  server.addHook('onResponse', async (request, reply) => {
    // The route's pattern, not the URL: labels contain no data of tenants.
    const route = request.routeOptions.url ?? 'none'
    const labels = { route, method: request.method, status: reply.statusCode, fault_of: request.faultOf ?? 'service' }
    duration.observe(labels, reply.elapsedTime / 1000)
  })
}

/** Calls to other servers take longer than requests that we answer. */
const CALL_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30]

/**
 * The upstream's error codes that have a value of their own; the others are `other`. A stranger's server may answer
 * with any number of different codes.
 */
const KNOWN_CODES = new Set([
  ...[0, 1, 2, 3, 4, 10, 100, 104, 190, 200, 368, 80007, 130429, 130472, 130497, 131000, 131005, 131008, 131009],
  ...[131016, 131021, 131026, 131031, 131037, 131042, 131045, 131047, 131048, 131049, 131050, 131051, 131052, 131053],
  ...[131030, 131056, 131057, 131058, 132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068, 132069, 133004],
  ...[133010, 135000],
])

function labelOfCode(code: number | null): string {
  if (code === null) return 'none'
  return KNOWN_CODES.has(code) || (code >= 400 && code < 600) ? String(code) : 'other'
}

/** Measures the calls to the upstream; the result is called with each. */
export function measureUpstream(registry: Registry): (ended: EndedCall) => void {
  const registers = [registry]
  const duration = new Histogram({
    name: 'parley_upstream_request_duration_seconds',
    help: 'Duration of calls to the upstream, by call and outcome',
    labelNames: ['call', 'outcome'],
    buckets: CALL_BUCKETS,
    registers,
  })
  const sends = new Counter({
    name: 'parley_upstream_sends_total',
    help: "Calls to the upstream that send a message, by outcome and the upstream's error code",
    labelNames: ['outcome', 'code'],
    registers,
  })
  return ({ call, outcome, code, seconds }) => {
    duration.observe({ call, outcome }, seconds)
    if (call === 'send') sends.inc({ outcome, code: labelOfCode(code) })
  }
}

/** Counts the callbacks that were refused; the result is called with each. `isKnown`: it names a number that is known here. */
export function countRefusedCallbacks(registry: Registry): (isKnown: boolean) => void {
  const refused = new Counter({
    name: 'parley_callbacks_refused_total',
    help: 'Callbacks that were refused because of their signature, by whether an organization has their number',
    labelNames: ['number'],
    registers: [registry],
  })
  refused.inc({ number: 'known' }, 0)
  return (isKnown) => refused.inc({ number: isKnown ? 'known' : 'unknown' })
}

/** Measures the calls to webhooks; the result is called with each. */
export function measureEndpoints(registry: Registry): (answer: EndpointAnswer) => void {
  const duration = new Histogram({
    name: 'parley_webhook_request_duration_seconds',
    help: 'Duration of calls to webhooks, by outcome: delivered, refused (another status), or unanswered',
    labelNames: ['outcome'],
    buckets: CALL_BUCKETS,
    registers: [registry],
  })
  return ({ outcome, status, durationMs }) => {
    const label = outcome === 'delivered' ? 'delivered' : status === null ? 'unanswered' : 'refused'
    duration.observe({ outcome: label }, durationMs / 1_000)
  }
}

/**
 * Adds metrics of the process, from the first scrape on: measuring the event loop's lag wakes the process 100 times a
 * second.
 */
export function showProcess(registry: Registry): void {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry })
}

/** Adds the current figures of webhook deliveries in this process. */
export function showWebhooks(registry: Registry, figures: () => WebhookFigures): void {
  const registers = [registry]
  new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts of webhook deliveries, by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { delivered, failed } = figures()
      this.reset()
      this.inc({ outcome: 'delivered' }, delivered)
      this.inc({ outcome: 'failed' }, failed)
    },
  })
  new Gauge({
    name: 'parley_webhook_attempts_in_flight',
    help: 'Attempts of webhook deliveries that are in progress in this process',
    registers,
    collect() {
      this.set(figures().inFlight)
    },
  })
}

/** The figures of the connections of each purpose. */
export type ConnectionFigures = () => Record<Purpose, PoolFigures>

/** Adds the connections of this process to the database. */
export function showConnections(registry: Registry, figures: ConnectionFigures): void {
  new Gauge({
    name: 'parley_database_connections',
    help: 'Connections to the database, by purpose: in use, and the maximum (limit)',
    labelNames: ['purpose', 'state'],
    registers: [registry],
    collect() {
      for (const [purpose, { size, inUse }] of Object.entries(figures())) {
        this.set({ purpose, state: 'in_use' }, inUse)
        this.set({ purpose, state: 'limit' }, size)
      }
    },
  })
  new Gauge({
    name: 'parley_database_waiting',
    help: 'Statements and transactions that wait for a connection to the database, by purpose',
    labelNames: ['purpose'],
    registers: [registry],
    collect() {
      for (const [purpose, { waiting }] of Object.entries(figures())) this.set({ purpose }, waiting)
    },
  })
}

/** The folders in which this process writes, by what they hold. */
export type Disks = Record<string, string>

/** Adds the room of the disks. */
export function showDisks(registry: Registry, disks: Disks): void {
  const show = (name: string, help: string, figureOf: (room: DiskRoom) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['folder'],
      registers: [registry],
      async collect() {
        for (const [folder, path] of Object.entries(disks)) {
          const room = await findDiskRoom(path).catch(() => null)
          if (room !== null) this.set({ folder }, figureOf(room))
        }
      },
    })
  show('parley_disk_free_bytes', 'What may still be written to the disk that holds a folder', ({ free }) => free)
  show('parley_disk_size_bytes', 'Size of the disk that holds a folder', ({ size }) => size)
}

/** Adds the point of the last backup that the service knows of. */
export function showBackup(registry: Registry, find: () => Promise<Date | null>): void {
  new Gauge({
    name: 'parley_backup_last_timestamp_seconds',
    help: 'Point of the last backup of the embedded database, in Unix time; NaN if there was none',
    registers: [registry],
    async collect() {
      const at = await find().catch(() => null)
      this.set(at === null ? Number.NaN : at.getTime() / 1_000)
    },
  })
}

/** A function that reads once for all the gauges of a scrape: calls during a read get what it finds. */
function shared<Figures>(read: () => Promise<Figures>): () => Promise<Figures> {
  let reading: Promise<Figures> | null = null
  return () => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
}

/**
 * The function that adds one gauge of figures that are read from the database, for all processes. The gauges of a
 * scrape share one query.
 */
function gaugesOf<Figures>(registry: Registry, read: () => Promise<Figures>) {
  const readOnce = shared(read)
  return (name: string, help: string, figureOf: (figures: Figures) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // The other metrics are needed most while the database is down.
        this.set(await readOnce().then(figureOf, () => Number.NaN))
      },
    })
}

/** Adds the state of the queue of callbacks; `read` reads it from the database, for all processes. */
export function showCallbacks(registry: Registry, read: () => Promise<CallbackFigures>): void {
  const show = gaugesOf(registry, read)
  show(
    'parley_callbacks_waiting',
    'Stored callbacks that are not processed yet, counted up to 100,000',
    ({ waiting }) => waiting,
  )
  show(
    'parley_callbacks_oldest_seconds',
    'Age of the oldest stored callback that is not processed yet',
    ({ oldestSeconds }) => oldestSeconds ?? 0,
  )
  show(
    'parley_callbacks_set_aside',
    'Callbacks that failed and are retried, and later ones that wait for them',
    (figures) => figures.setAside,
  )
  show('parley_callbacks_failed', 'Callbacks that failed on every attempt and are not retried', ({ failed }) => failed)
}

/** Adds the sizes of the database's tables; `measure` reads them, for all processes. */
export function showTables(
  registry: Registry,
  measure: () => Promise<readonly { name: string; bytes: number; rows: number }[]>,
): void {
  const rows = new Gauge({
    name: 'parley_table_rows',
    help: 'Rows of the tables that grow with traffic, as PostgreSQL estimates them',
    labelNames: ['table'],
    registers: [registry],
  })
  new Gauge({
    name: 'parley_table_bytes',
    help: 'Disk space of the tables that grow with traffic, with their indexes',
    labelNames: ['table'],
    registers: [registry],
    async collect() {
      // The other metrics are needed most while the database is down.
      const tables = await measure().catch(() => [])
      this.reset()
      rows.reset()
      for (const table of tables) {
        this.set({ table: table.name }, table.bytes)
        rows.set({ table: table.name }, table.rows)
      }
    },
  })
}

/** Adds the webhook deliveries that are not done; `read` reads them from the database, for all processes. */
export function showDeliveries(registry: Registry, read: () => Promise<DeliveryFigures>): void {
  const show = gaugesOf(registry, read)
  show(
    'parley_webhook_deliveries_pending',
    'Webhook deliveries that are not done, counted up to 10,000 of each webhook',
    ({ pending }) => pending,
  )
  show(
    'parley_webhook_deliveries_due',
    'Webhook deliveries whose time has come, counted up to 10,000 of each webhook',
    ({ due }) => due,
  )
  show(
    'parley_webhook_deliveries_oldest_seconds',
    'How long the oldest webhook delivery whose time has come has been due',
    ({ oldestSeconds }) => oldestSeconds,
  )
}

/** Adds the leases of linked devices; `read` reads them from the database, for all processes. */
export function showLeases(registry: Registry, read: () => Promise<LeaseFigures>): void {
  const show = gaugesOf(registry, read)
  show('parley_linked_devices_held', 'Linked devices that a process runs', ({ held }) => held)
  show(
    'parley_linked_devices_unheld',
    'Linked devices that are to be kept connected and that no process runs',
    ({ unheld }) => unheld,
  )
}

/** Adds the scheduled messages that wait for somebody; `read` reads them from the database, for all processes. */
export function showScheduled(registry: Registry, read: () => Promise<number>): void {
  gaugesOf(registry, read)(
    'parley_scheduled_paused',
    'Scheduled messages that are paused, after a restore or because their time is long past',
    (paused) => paused,
  )
}

/** Adds the numbers at the upstream by their last checks; `read` reads them from the database, for all processes. */
export function showNumbers(registry: Registry, read: () => Promise<NumberFigures>): void {
  const readOnce = shared(read)
  const registers = [registry]
  const countBy = <Name extends string>(
    { name, help, label }: { name: string; help: string; label: string },
    names: readonly Name[],
    countsOf: (figures: NumberFigures) => Partial<Record<Name, number>>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        const counts = await readOnce().then(countsOf, () => null)
        for (const one of names) this.set({ [label]: one }, counts === null ? Number.NaN : (counts[one] ?? 0))
      },
    })
  const states = {
    name: 'parley_numbers',
    help: 'Numbers at the upstream, by the state of their last check',
    label: 'state',
  }
  countBy(states, ['ok', 'warning', 'failed', 'unchecked'], (figures) => figures.states)
  const steps = { name: 'parley_number_problems', help: 'Problems of numbers at the upstream, by step', label: 'step' }
  countBy(steps, CONNECTION_STEPS, ({ problems }) => problems)
  const show = (name: string, help: string, figureOf: (figures: NumberFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await readOnce().then(figureOf, () => Number.NaN))
      },
    })
  show(
    'parley_tokens_expiring',
    'Access tokens of numbers at the upstream that end within 7 days, or have ended',
    ({ expiring }) => expiring,
  )
  show(
    'parley_token_next_end_seconds',
    'Seconds until the next access token of a number at the upstream ends; below 0 if one has ended, +Inf if none is known to end',
    ({ nextTokenEnd }) => nextTokenEnd ?? Number.POSITIVE_INFINITY,
  )
  show(
    'parley_callbacks_last_seconds',
    'Seconds since the last valid callback of any number, to the minute; +Inf if none has come',
    ({ callbackAge }) => callbackAge ?? Number.POSITIVE_INFINITY,
  )
}

/** Figures that are read from the database, for all processes. */
export interface FleetFigures {
  /** The longest queue of one organization, of each queue that has any. */
  longestQueues: () => Promise<readonly OrganizationQueue[]>
  processes: () => Promise<readonly { version: string }[]>
}

const QUEUES: readonly QueueName[] = ['callbacks', 'jobs', 'webhook_deliveries']

/** Adds the longest queue that one organization has, without its name, and the processes by version. */
export function showFleet(registry: Registry, { longestQueues, processes }: FleetFigures): void {
  const registers = [registry]
  new Gauge({
    name: 'parley_processes',
    help: 'Processes of the service that run on this database, by version',
    labelNames: ['version'],
    registers,
    async collect() {
      this.reset()
      for (const { version } of await processes().catch(() => [])) this.inc({ version })
    },
  })
  new Gauge({
    name: 'parley_queue_longest',
    help: 'What waits for the organization with the longest queue: callbacks, jobs and webhook deliveries that are due',
    labelNames: ['queue'],
    registers,
    async collect() {
      const found = await longestQueues().catch(() => null)
      for (const queue of QUEUES) {
        const length = found?.find((one) => one.queue === queue)?.waiting ?? 0
        this.set({ queue }, found === null ? Number.NaN : length)
      }
    },
  })
}

/** The number of jobs of each class that has any. */
export type CountJobs = () => Promise<Partial<Record<JobClassName, number>>>

/** Where the numbers of jobs come from: those of this process, and those that are due or failed, of all processes. */
export interface JobFigures {
  running: CountJobs
  failed: CountJobs
  due: () => Promise<readonly DueJobs[]>
}

/** Adds the numbers of jobs by class, and the age of the oldest due one. */
export function showJobs(registry: Registry, { running, failed, due }: JobFigures): void {
  const show = (name: string, help: string, read: CountJobs) =>
    new Gauge({
      name,
      help,
      labelNames: ['class'],
      registers: [registry],
      async collect() {
        const counted = await read().catch(() => null)
        for (const name of Object.keys(JOB_CLASSES) as JobClassName[]) {
          this.set({ class: name }, counted === null ? Number.NaN : (counted[name] ?? 0))
        }
      },
    })
  // Both gauges of a scrape share one query.
  const readDue = shared(due)
  const ofDue = (figureOf: (jobs: DueJobs) => number) => async () =>
    Object.fromEntries((await readDue()).map((jobs) => [jobs.class, figureOf(jobs)]))
  show('parley_jobs_running', 'Jobs that are running in this process, by class', running)
  show(
    'parley_jobs_due',
    'Jobs that are due and wait for a place, of all processes, by class',
    ofDue((jobs) => jobs.due),
  )
  show(
    'parley_jobs_oldest_seconds',
    'How long the oldest job that waits for a place has been due, by class',
    ofDue((jobs) => jobs.oldest_seconds),
  )
  show('parley_jobs_failed', 'Jobs that failed on every attempt, of all processes, by class', failed)
}
