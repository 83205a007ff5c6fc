import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readTraceparent, type TraceContext } from '../lib/http/trace-context.js'
import type { Span, SpanFields, Tracer } from '../lib/tracer.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the request is not recorded. */
    span: Span | null
  }
}

/** Probes, event streams, and files of the page: they say nothing about messages. */
const LEFT_OUT = /^\/(healthz|readyz|metrics|docs|media|console(?!\/api\/)|console\/api\/live)/

/** Records the requests of the interfaces; without a tracer none. A request that is not recorded costs next to nothing. */
export function traceRequests(server: FastifyInstance, tracer: Tracer | null): void {
  server.decorateRequest('span', null)
  if (tracer === null) return
  server.addHook('onRequest', (request, reply, done) => {
    if (request.headers.traceparent === undefined && tracer.samples(null)) begin(request, reply, null)
    done()
  })
  // After the guards: a trace that strangers name is not recorded for them, and gets none of their ids.
  server.addHook('preParsing', (request, reply, payload, done) => {
    const { traceparent } = request.headers
    if (traceparent !== undefined) {
      const isVerified = request.caller !== null || request.isOperator
      const parent = isVerified ? readTraceparent(traceparent) : null
      if (tracer.samples(parent)) begin(request, reply, parent)
    }
    done(null, payload)
  })

  function begin(request: FastifyRequest, reply: FastifyReply, parent: TraceContext | null): void {
    const { url = '(unknown)' } = request.routeOptions
    if (LEFT_OUT.test(url)) return
    const fields = { 'http.request.method': request.method, 'http.route': url, 'parley.request_id': request.id }
    const span = (tracer as Tracer).begin(`${request.method} ${url}`, parent, 'server', fields)
    request.span = span
    reply.raw.once('close', () => {
      const organizationId = request.caller?.tenant.id
      const told: SpanFields = organizationId === undefined ? {} : { 'parley.organization_id': organizationId }
      const { statusCode } = reply.raw
      span.end(
        { 'http.response.status_code': statusCode, ...told },
        statusCode >= 500 ? `HTTP ${statusCode}` : undefined,
      )
    })
  }
}
