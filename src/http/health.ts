import type { FastifyPluginAsync } from 'fastify'
import type { Registry } from 'prom-client'

/** What the service needs in order to take traffic; a check answers null, or what is not usable. */
export type ReadinessChecks = Record<string, () => Promise<string | null>>

/** `/healthz`, `/readyz` and `/metrics` (contract 1). None of them shows anything of a tenant. */
export function healthRoutes(checks: ReadinessChecks, registry: Registry): FastifyPluginAsync {
  return async (server) => {
    server.get('/healthz', { schema: { hide: true } as object }, async () => ({ status: 'ok' }))
    server.get('/readyz', { schema: { hide: true } as object }, async (_request, reply) => {
      const problems = await runChecks(checks)
      const ready = Object.keys(problems).length === 0
      reply.code(ready ? 200 : 503)
      return ready ? { status: 'ready' } : { status: 'not ready', problems }
    })
    server.get('/metrics', { schema: { hide: true } as object }, async (_request, reply) => {
      reply.type(registry.contentType)
      return reply.send(await registry.metrics())
    })
  }
}

async function runChecks(checks: ReadinessChecks): Promise<Record<string, string>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await check().catch((error: Error) => error.message)]),
  )
  return Object.fromEntries(results.filter(([, problem]) => problem !== null))
}
