import type { FastifyReply, FastifyRequest } from 'fastify'
import { REQUEST_STATEMENT_MS } from '../../database/databases.js'
import { connectionShortage, isDatabaseFull, isDatabaseUnavailable, isStatementTimeout } from '../../database/errors.js'
import { isDiskFull } from '../../lib/files/disk.js'
import { PROBLEMS, Problem, type ProblemCode } from '../../model/problem.js'
import { shortageProblem } from '../../model/shortage.js'
import { idsOf } from '../cause.js'
import { bodyTooLarge } from '../json-body.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose fault the problem of the answer is, if it is neither the caller's nor the service's. */
    faultOf: FaultOf | null
  }
  interface FastifyContextConfig {
    /** The content type of a request body that is not JSON. */
    contentType?: string
  }
}

const STATUS: Record<ProblemCode, number> = {
  authorization_required: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  session_required: 401,
  sign_in_failed: 401,
  invalid_signature: 401,
  invalid_verify_token: 403,
  invalid_link: 403,
  organization_not_found: 404,
  too_many_requests: 429,
  invalid_parameter: 400,
  missing_parameter: 400,
  invalid_json: 400,
  invalid_csv: 400,
  unsupported_media_type: 415,
  payload_too_large: 413,
  missing_field: 400,
  template_name_required: 400,
  chat_number_required: 400,
  invalid_field: 400,
  invalid_message_type: 400,
  invalid_media: 400,
  invalid_provider: 400,
  contact_not_found: 404,
  recipient_not_found: 400,
  contact_exists: 409,
  contact_blocked: 400,
  contact_unreachable: 400,
  contact_opted_out: 400,
  account_restricted: 400,
  merge_not_last: 409,
  merge_too_large: 409,
  message_not_found: 404,
  template_not_found: 400,
  template_state: 409,
  template_rejected: 400,
  broadcast_not_found: 404,
  audience_not_found: 404,
  broadcast_state: 409,
  scheduled_not_found: 404,
  scheduled_state: 409,
  too_many_scheduled: 409,
  webhook_not_found: 404,
  delivery_not_found: 404,
  too_many_webhooks: 409,
  too_many_audiences: 409,
  too_many_files: 409,
  webhook_disabled: 409,
  order_not_found: 404,
  storefront_not_connected: 400,
  storefront_credentials: 400,
  storefront_unavailable: 500,
  api_key_not_found: 404,
  api_key_ended: 409,
  member_not_found: 404,
  last_owner: 409,
  instance_not_found: 404,
  instance_not_open: 500,
  instance_closed: 400,
  instance_taken: 403,
  not_supported: 501,
  not_on_network: 400,
  forbidden: 403,
  already_taken: 409,
  number_in_use: 409,
  legal_hold: 409,
  upstream_rejected: 400,
  upstream_credentials: 400,
  upstream_unavailable: 500,
  upstream_upload_failed: 500,
  outcome_unknown: 500,
  idempotency_key_reused: 422,
  request_in_progress: 409,
  not_found: 404,
  method_not_allowed: 405,
  service_unavailable: 503,
  organization_suspended: 503,
  internal: 500,
}

/** What Parley depends on, and what may fail: other servers, and room on the disks. `suspension`: nothing failed. */
export type FaultOf = 'upstream' | 'storefront' | 'disk' | 'suspension'

const FAULT_OF: Partial<Record<ProblemCode, FaultOf>> = {
  upstream_unavailable: 'upstream',
  upstream_upload_failed: 'upstream',
  outcome_unknown: 'upstream',
  storefront_unavailable: 'storefront',
  organization_suspended: 'suspension',
}

const DATABASE_RETRY_SECONDS = 2
/** A slow query is about as slow a moment later. */
const SLOW_RETRY_SECONDS = 10
/** Room is made by people. */
const FULL_RETRY_SECONDS = 30
const SWALLOW_MS = 10_000

/** A problem's HTTP status. */
export function statusOf(problem: Problem): number {
  return STATUS[problem.code]
}

/** A problem in the form of Interface A and the admin API. */
export function bodyOf(problem: Problem) {
  return { success: false, error: PROBLEMS[problem.code], message: problem.message, ...problem.extras }
}

/** Converts a thrown error to a problem; unexpected errors are logged and reported without details. */
export function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  const known = fromFastify(error, request)
  if (known) return known
  if (hasHungUp(error, request)) {
    request.log.debug({ requestId: request.id }, 'the client hung up while it sent its request')
    return new Problem('invalid_json', 'The connection was closed before the request body was complete')
  }
  if (isDatabaseFull(error) || isDiskFull(error)) return fromFullDisk(error, request)
  if (isDatabaseUnavailable(error) || isStatementTimeout(error)) return fromDatabase(error, request)
  request.log.error({ err: error, ...idsOf(request), route: request.routeOptions.url }, 'a request failed')
  return new Problem('internal', 'An unexpected error occurred: give the request_id to the operator of the service', {
    request_id: request.id,
  })
}

export type ProblemSender = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** Creates the function that answers with a problem in the form of `present`. */
export function createProblemSender(
  present: (problem: Problem, request: FastifyRequest) => { status: number; body: object },
): ProblemSender {
  return (error, request, reply) => {
    const problem = toProblem(error, request)
    request.faultOf ??= isDiskFull(problem.cause) ? 'disk' : (FAULT_OF[problem.code] ?? null)
    if (problem.code === 'payload_too_large') {
      reply.removeHeader('connection')
      swallowRest(request)
    }
    const retryAfter = problem.extras.retry_after
    if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.ceil(retryAfter)))
    const { status, body } = present(problem, request)
    reply.code(status).send(body)
  }
}

export const sendProblem = createProblemSender((problem) => ({ status: statusOf(problem), body: bodyOf(problem) }))

/**
 * Reads the rest of the request for a while: a connection that ends while the client writes would break before the
 * client reads the answer.
 */
export function swallowRest({ raw }: FastifyRequest): void {
  raw.resume()
  const timer = setTimeout(() => raw.destroy(), SWALLOW_MS)
  raw.once('close', () => clearTimeout(timer))
}

/** Node's error for an incomplete body. Any client can cause it, so it is not logged as an error. */
function hasHungUp(error: unknown, { raw }: FastifyRequest): boolean {
  return (error as { code?: unknown }).code === 'ECONNRESET' && raw.destroyed && !raw.complete
}

/** Refusals because a disk is full. */
function fromFullDisk(error: unknown, request: FastifyRequest): Problem {
  request.faultOf = 'disk'
  request.log.warn({ err: error, ...idsOf(request), route: request.routeOptions.url }, 'a disk is full')
  const text =
    'A disk of the service is full, so this could not be stored: try again later, when its operator has made room'
  return new Problem('service_unavailable', text, { retry_after: FULL_RETRY_SECONDS })
}

/** Refusals because of a limit, or because the database cannot be reached. */
function fromDatabase(error: unknown, request: FastifyRequest): Problem {
  const shortage = connectionShortage(error)
  const where = { err: error, ...idsOf(request), route: request.routeOptions.url }
  if (shortage !== null) {
    request.log.warn(where, 'a request waited too long for a connection to the database')
    const texts = {
      own: 'The other requests of your organization keep the database busy: wait for their answers, and try again',
      all: 'The database is busy with other requests: try again',
    }
    return shortageProblem(shortage, texts, DATABASE_RETRY_SECONDS)
  }
  if (isStatementTimeout(error)) {
    request.log.warn(where, 'a statement of a request took too long')
    const text = `The database needs more than ${REQUEST_STATEMENT_MS / 1000} s for this, which is too long: ask for less (a shorter period, a smaller page, other search terms), or try again later`
    return new Problem('service_unavailable', text, { retry_after: SLOW_RETRY_SECONDS })
  }
  request.log.warn({ err: error, ...idsOf(request) }, 'the database is not available')
  return new Problem('service_unavailable', 'The database cannot be reached at the moment: try again', {
    retry_after: DATABASE_RETRY_SECONDS,
  })
}

/** Refusals by the HTTP server itself. */
function fromFastify(error: unknown, request: FastifyRequest): Problem | null {
  const { code } = error as { code?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(request)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(
        'unsupported_media_type',
        `The Content-Type "${request.headers['content-type'] ?? ''}" is not supported: send ${request.routeOptions.config.contentType ?? 'application/json'}`,
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid_json', 'The length of the request body differs from Content-Length')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('not_found', 'The path of the request is malformed or too long')
    default:
      return null
  }
}
