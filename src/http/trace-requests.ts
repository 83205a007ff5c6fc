import type { FastifyInstance } from 'fastify'
import { readTraceparent } from '../lib/http/trace-context.js'
import type { Span, Tracer } from '../lib/tracer.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the request is not recorded. */
    span: Span | null
  }
}

/** Probes, event streams, and files of the page: they say nothing about messages. */
const LEFT_OUT = /^\/(healthz|readyz|metrics|docs|media|console(?!\/api\/)|console\/api\/live)/

/** Records the requests of the interfaces; without a tracer none. */
export function traceRequests(server: FastifyInstance, tracer: Tracer | null): void {
  server.decorateRequest('span', null)
  if (tracer === null) return
  server.addHook('onRequest', (request, _reply, done) => {
    const { url = '(unknown)' } = request.routeOptions
    if (!LEFT_OUT.test(url)) {
      const fields = { 'http.request.method': request.method, 'http.route': url, 'parley.request_id': request.id }
      const parent = readTraceparent(request.headers.traceparent)
      request.span = tracer.start(`${request.method} ${url}`, parent, 'server', fields)
    }
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const organizationId = request.span && request.caller?.tenant.id
    request.span?.end(
      {
        'http.response.status_code': reply.statusCode,
        ...(organizationId && { 'parley.organization_id': organizationId }),
      },
      reply.statusCode >= 500 ? `HTTP ${reply.statusCode}` : undefined,
    )
    done()
  })
}
