import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { WebhookFigures } from '../core/webhooks/dispatcher.js'

/** Measures every request for Prometheus (contract 1). */
export function measureRequests(server: FastifyInstance): Registry {
  const registry = new Registry()
  const duration = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'How long requests took, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  })
  server.addHook('onResponse', async (request, reply) => {
    // The route's pattern, never the URL: a label holds no value of a tenant.
    const route = request.routeOptions.url ?? 'none'
    duration.observe({ route, method: request.method, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  return registry
}

/**
 * Shows the process itself, from the first question on: what measures the lag of its event loop wakes it 100 times a second, the most
 * that an idle process would do.
 */
export function showProcess(registry: Registry): void {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry })
}

/** Shows what this process delivers to webhooks, as it is at the moment of asking. */
export function showWebhooks(registry: Registry, figures: () => WebhookFigures): void {
  const registers = [registry]
  new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts at deliveries to webhooks, by outcome',
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
    help: 'Attempts at deliveries to webhooks that wait for their answer',
    registers,
    collect() {
      this.set(figures().inFlight)
    },
  })
  new Gauge({
    name: 'parley_webhook_organizations',
    help: 'Organizations whose events this process delivers',
    registers,
    collect() {
      this.set(figures().organizations)
    },
  })
}

/** Shows how many callbacks nothing became of; `count` asks the database for all processes. */
export function showFailedCallbacks(registry: Registry, count: () => Promise<number>): void {
  new Gauge({
    name: 'parley_callbacks_failed',
    help: 'Callbacks of the upstream that were stored and failed each time, and are not tried any more',
    registers: [registry],
    async collect() {
      // The other figures are wanted most while the database is away.
      this.set(await count().catch(() => Number.NaN))
    },
  })
}
