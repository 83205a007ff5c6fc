import type { FastifyRequest } from 'fastify'
import { readTraceparent, type TraceContext, writeTraceparent } from '../lib/http/trace-context.js'
import type { Cause } from '../model/messages/cause.js'

/** The position of a request in its trace: its span, or what it names; null if it has none. */
export function traceOf({ headers, span }: Pick<FastifyRequest, 'headers' | 'span'>): TraceContext | null {
  if (span) return span.context
  return headers.traceparent === undefined ? null : readTraceparent(headers.traceparent)
}

/** Who asks for a message with this authenticated request. */
export function causeOf(request: FastifyRequest, now: Date): Cause {
  const { caller, headers } = request
  if (!caller) throw new Error('the route has no guard')
  const { keyId, instance, memberId } = caller
  const by = memberId !== null ? 'member' : instance !== null ? 'instance' : 'api_key'
  const key = headers['idempotency-key']
  return {
    by,
    id: by === 'instance' ? (instance as NonNullable<typeof instance>).id : keyId,
    at: now,
    requestId: request.id,
    idempotencyKey: typeof key === 'string' ? key : null,
    trace: traceOf(request),
    span: request.span,
  }
}

/** The `traceparent` to store with what a request causes; null if its trace is not recorded. */
export function storedTraceOf(request: FastifyRequest): string | null {
  const trace = traceOf(request)
  return trace?.isSampled ? writeTraceparent(trace) : null
}

/** The ids by which the log names a request: its own, and those of its trace if it has one. */
export function idsOf(request: FastifyRequest): { requestId: string; trace_id?: string; span_id?: string } {
  const trace = traceOf(request)
  return { requestId: request.id, ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }) }
}
