import { STATUS_CODES } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { createProblemSender, statusOf } from '../../http/answers/problems.js'
import { PROBLEMS, type Problem, type ProblemCode } from '../../model/problem.js'
import { withoutTrailingSlash } from './path.js'

/** An error body of this interface. Extra fields of an error are in `response`. */
export interface GatewayError {
  status: number
  /** The reason phrase of the status, such as "Not Found". */
  error: string
  response: { message: unknown; [field: string]: unknown }
}

/** Errors of authentication. All look the same to clients, so that they cannot probe for keys. */
const UNAUTHORIZED: readonly ProblemCode[] = ['authorization_required', 'invalid_api_key', 'organization_not_found']

/** Errors of validation. Clients recognize them by a message that is an array within an array. */
const MALFORMED: readonly ProblemCode[] = ['missing_field', 'invalid_field']

/** The HTTP status of a problem in this interface. */
export function gatewayStatusOf(problem: Problem): number {
  return UNAUTHORIZED.includes(problem.code) ? 401 : statusOf(problem)
}

/** The error body of a problem in this interface. */
export function gatewayBodyOf(problem: Problem): GatewayError {
  const status = gatewayStatusOf(problem)
  return { status, error: STATUS_CODES[status] ?? 'Error', response: responseOf(problem) }
}

/** Error handler: responds with the problem as an error body of this interface. */
export const sendGatewayProblem = createProblemSender((problem, request) => {
  const body = gatewayBodyOf(problem)
  if (problem.code === 'not_found') body.response.message = [`Cannot ${request.method} ${pathOf(request)}`]
  return { status: body.status, body }
})

function responseOf(problem: Problem): GatewayError['response'] {
  if (UNAUTHORIZED.includes(problem.code)) return { message: 'Unauthorized' }
  const { numbers, ...extras } = problem.extras
  if (problem.code === 'instance_not_open') return { message: PROBLEMS.instance_not_open, ...extras }
  if (problem.code === 'not_on_network') return { message: numbers ?? [problem.message], ...extras }
  return { message: MALFORMED.includes(problem.code) ? [[problem.message]] : [problem.message], ...extras }
}

function pathOf({ originalUrl }: FastifyRequest): string {
  return (withoutTrailingSlash(originalUrl).split('?')[0] ?? '').slice(0, 200)
}
