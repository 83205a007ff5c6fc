import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** Measures every request, and the process itself, for Prometheus (contract 1). */
export function measureRequests(server: FastifyInstance): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
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
