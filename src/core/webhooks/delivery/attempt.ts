import type { Context } from '../../../context.js'
import type { EndpointAnswer, EndpointCall } from '../../../endpoints/client.js'
import { memoize } from '../../../lib/async/memoize.js'
import { readTraceparent, type TraceContext, writeTraceparent } from '../../../lib/http/trace-context.js'
import type { Span } from '../../../lib/tracer.js'
import { toBusinessNumbers } from '../../../model/organizations/own-number.js'
import { type EventRow, presentEvent } from '../../../model/webhooks/event.js'
import type { AttemptResult, ClaimedDelivery } from '../../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import { decryptWebhookSecrets } from '../secrets.js'
import { createGatewayComposer, type GatewayContext } from './gateway-call.js'
import { GONE, type HealthSample } from './health.js'
import { nextAttemptAt } from './schedule.js'

export type AttemptContext = GatewayContext & Pick<Context, 'clock' | 'log' | 'endpoints' | 'tracer'>

/** A finished attempt: the result to record, and what it says about the endpoint. */
export interface EndedAttempt {
  endpoint: EndpointRow
  delivery: ClaimedDelivery
  result: AttemptResult
  begunAt: Date
  /** Null if the endpoint was not called. */
  sample: HealthSample | null
  /** The endpoint's Retry-After. */
  retryAfterMs: number | null
}

/**
 * Attempts a delivery once. Null if the signal was aborted: the outcome is unknown and the delivery stays due. Never
 * rejects.
 */
export type Attempter = (
  endpoint: EndpointRow,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
) => Promise<EndedAttempt | null>

/** Creates the function that posts a delivery's event to its endpoint, signed with all current secrets. */
export function createAttempter(ctx: AttemptContext): Attempter {
  const bodyOf = memoize((event: EventRow, { numbers }: EndpointRow) => ({
    text: JSON.stringify(presentEvent(event, ctx.mediaLinks.urlOf, toBusinessNumbers(numbers ?? []), ctx.clock())),
  }))

  const composeGatewayCall = createGatewayComposer(ctx)

  function post(endpoint: EndpointRow, event: EventRow, signal: AbortSignal): Promise<Answered> {
    const send = async (call: Composed): Promise<Answered> => {
      // A large body may have waited for memory.
      signal.throwIfAborted()
      const begunAt = ctx.clock()
      const secrets = decryptWebhookSecrets(ctx.secrets, endpoint, begunAt)
      const trace = readTraceparent(event.data.message?.traceparent)
      const span = trace && startSpan(ctx, trace, endpoint, event)
      const headers = withTrace(call.headers, span?.context ?? trace)
      try {
        const answer = await ctx.endpoints.post({ ...call, headers, secrets, id: event.id, at: begunAt }, signal)
        span?.end(
          answer.status === null ? {} : { 'http.response.status_code': answer.status },
          answer.error ?? undefined,
        )
        return { begunAt, answer }
      } finally {
        span?.end({}, 'it was not attempted')
      }
    }
    const { url, instance } = endpoint
    if (instance === null) return send({ url, body: bodyOf(event, endpoint).text })
    return composeGatewayCall({ ...endpoint, instance }, event, send)
  }

  return async (endpoint, delivery, signal) => {
    const { event, attempted } = delivery
    const calledAt = ctx.clock()
    if (event === null) {
      return toEnded(endpoint, delivery, { begunAt: calledAt, answer: NOT_KEPT }, { next: null, sample: null })
    }
    try {
      const { begunAt, answer } = await post(endpoint, event, signal)
      const at = ctx.clock()
      const delivered = answer.outcome === 'delivered'
      const isOver = delivered || answer.status === GONE
      const next = isOver ? null : nextAttemptAt(attempted + 1, answer.retryAfterMs, at)
      const sample = { at, delivered, status: answer.status }
      return toEnded(endpoint, delivery, { begunAt, answer }, { next, sample })
    } catch (error) {
      if (signal.aborted) return null
      ctx.log.error({ err: error, webhook: endpoint.id, event: event.id }, 'a webhook could not be sent')
      const next = nextAttemptAt(attempted + 1, null, ctx.clock())
      return toEnded(endpoint, delivery, { begunAt: calledAt, answer: OUR_FAULT }, { next, sample: null })
    }
  }
}

type Composed = Pick<EndpointCall, 'url' | 'body' | 'headers'>

/** The span of an attempt in the trace that its event belongs to; null if traces are not exported. */
function startSpan(
  { tracer }: AttemptContext,
  trace: TraceContext,
  endpoint: EndpointRow,
  event: EventRow,
): Span | null {
  if (!tracer?.samples(trace)) return null
  const fields = {
    'parley.organization_id': event.organization_id,
    'parley.webhook_id': endpoint.id,
    'parley.event_type': event.type,
    'parley.message_id': event.data.message?.id ?? '',
  }
  return tracer.begin('call webhook', trace, 'client', fields)
}

/** The headers of a call, with the trace that its event belongs to. */
function withTrace(
  headers: EndpointCall['headers'] = {},
  trace: TraceContext | null,
): Readonly<Record<string, string>> {
  return trace === null ? headers : { ...headers, traceparent: writeTraceparent(trace) }
}

interface Answered {
  begunAt: Date
  answer: EndpointAnswer
}

const NO_ANSWER = { outcome: 'failed', status: null, retryAfterMs: null, responseBody: null, durationMs: 0 } as const
const NOT_KEPT = { ...NO_ANSWER, error: 'the event is no longer stored: its contact was erased, or it is too old' }
const OUR_FAULT = { ...NO_ANSWER, error: 'it could not be sent because of an internal error; see the log' }

function toEnded(
  endpoint: EndpointRow,
  delivery: ClaimedDelivery,
  { begunAt, answer }: Answered,
  { next, sample }: { next: Date | null; sample: HealthSample | null },
): EndedAttempt {
  const attempt = {
    at: begunAt.toISOString(),
    response_status: answer.status,
    error: answer.error,
    duration_ms: Math.round(answer.durationMs),
    response_body: answer.responseBody,
  }
  const status = answer.outcome === 'delivered' ? 'delivered' : next === null ? 'failed' : 'pending'
  const { organization_id, id } = delivery
  return {
    endpoint,
    delivery,
    result: { organization_id, id, status, attempt, next_attempt_at: next },
    begunAt,
    sample,
    retryAfterMs: answer.retryAfterMs,
  }
}
