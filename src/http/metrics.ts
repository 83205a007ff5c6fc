import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CallbackFigures } from '../core/runtime/maintenance.js'
import type { WebhookFigures } from '../core/webhooks/delivery/dispatcher.js'
import type { Purpose } from '../database/databases.js'
import type { PoolFigures } from '../database/pool.js'
import { batch } from '../lib/async/batcher.js'
import { JOB_CLASSES, type JobClassName } from '../model/jobs.js'

/** Measures all requests for Prometheus. */
export function measureRequests(server: FastifyInstance): Registry {
  const registry = new Registry()
  const duration = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'Duration of requests, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  })
  server.addHook('onResponse', async (request, reply) => {
    // The route's pattern, not the URL: labels contain no data of tenants.
    const route = request.routeOptions.url ?? 'none'
    duration.observe({ route, method: request.method, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  return registry
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

/** Adds the state of the queue of callbacks; `read` reads it from the database, for all processes. */
export function showCallbacks(registry: Registry, read: () => Promise<CallbackFigures>): void {
  // All gauges of a request share one query.
  const readOnce = batch(async (gauges: null[]) => {
    const figures = await read()
    return gauges.map(() => figures)
  }, Number.MAX_SAFE_INTEGER)
  const show = (name: string, help: string, figureOf: (figures: CallbackFigures) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // The other metrics are needed most while the database is down.
        this.set(await readOnce(null).then(figureOf, () => Number.NaN))
      },
    })
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
    'Callbacks that failed and are retried, and those that wait for them',
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
      for (const table of await measure().catch(() => [])) {
        this.set({ table: table.name }, table.bytes)
        rows.set({ table: table.name }, table.rows)
      }
    },
  })
}

/** The number of jobs of each class that has any. */
export type CountJobs = () => Promise<Partial<Record<JobClassName, number>>>

/** Adds the numbers of jobs by class: those of this process, and those that are due or failed, of all processes. */
export function showJobs(registry: Registry, counts: Record<'running' | 'due' | 'failed', CountJobs>): void {
  const helps = {
    running: 'Jobs that are running in this process, by class',
    due: 'Jobs that are due and wait for a place, of all processes, by class',
    failed: 'Jobs that failed on every attempt, of all processes, by class',
  } as const
  for (const [state, help] of Object.entries(helps) as [keyof typeof helps, string][]) {
    new Gauge({
      name: `parley_jobs_${state}`,
      help,
      labelNames: ['class'],
      registers: [registry],
      async collect() {
        const counted = await counts[state]().catch(() => null)
        for (const name of Object.keys(JOB_CLASSES) as JobClassName[]) {
          this.set({ class: name }, counted === null ? Number.NaN : (counted[name] ?? 0))
        }
      },
    })
  }
}
