import { STATUS_CODES } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { createProblemSender, statusOf } from '../../http/problems.js'
import { PROBLEMS, type Problem, type ProblemCode } from '../../model/problem.js'
import { withoutTrailingSlash } from './path.js'

/** An error body of this interface; further fields stand in `response`, beside `message`. */
export interface GatewayError {
  status: number
  /** The phrase of the status. */
  error: string
  response: { message: unknown; [field: string]: unknown }
}

/** Keys that open nothing; which of them it was is nobody's business. */
const UNAUTHORIZED: readonly ProblemCode[] = ['authorization_required', 'invalid_api_key', 'organization_not_found']

/** What is wrong with the shape of a body; clients know its message by an array in an array. */
const MALFORMED: readonly ProblemCode[] = ['missing_field', 'invalid_field']

/** A problem's status in this interface. */
export function gatewayStatusOf(problem: Problem): number {
  return UNAUTHORIZED.includes(problem.code) ? 401 : statusOf(problem)
}

/** A problem as this interface shows it (contract 5, Error bodies). */
export function gatewayBodyOf(problem: Problem): GatewayError {
  const status = gatewayStatusOf(problem)
  return { status, error: STATUS_CODES[status] ?? 'Error', response: responseOf(problem) }
}

/** Answers with a problem in this interface's shape. */
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
