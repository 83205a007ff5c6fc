import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../src/lib/text/json.js'
import type { Context } from '../context.js'
import { fixedCodes } from '../errors/fixed-errors.js'
import { isGroupOrHidden, isUserId, networkId, phoneDigits } from '../numbers/phone-numbers.js'
import { type Failure, failureWays } from '../sending/failures.js'
import { type Answer, answer, withBody } from './answer.js'
import { invalidField, invalidQuery, isProblem, missingField, type Problem, problem } from './problems.js'

type RecipientRoute = { Params: { recipient: string } }

/** The control endpoints that make all sends to a recipient fail. */
export function recipientsControl(app: FastifyInstance, context: Context): void {
  app.get('/recipients', () => ({ success: true, recipients: Array.from(context.failures, shown) }))
  app.put<RecipientRoute>('/recipients/:recipient', (request, reply) =>
    withBody(request, reply, (body) => setFailure(context, request.params.recipient, body)),
  )
  app.delete<RecipientRoute>('/recipients/:recipient', (request, reply) =>
    answer(reply, endFailure(context, request.params.recipient)),
  )
}

function setFailure(context: Context, written: string, body: JsonObject): Answer {
  const recipient = readRecipient(written)
  if (typeof recipient !== 'string') return recipient
  const failure = readFailure(body)
  if (isProblem(failure)) return failure
  context.failures.set(recipient, failure)
  return { success: true, recipient: shown([recipient, failure]) }
}

function endFailure(context: Context, written: string): Answer {
  const recipient = readRecipient(written)
  if (typeof recipient !== 'string') return recipient
  if (context.failures.delete(recipient)) return { success: true }
  return problem(404, 'Recipient not found', `No failure is set for ${written}`)
}

/** Converts a recipient to its network id, so that all forms of a number are the same recipient. */
function readRecipient(written: string): string | Problem {
  const digits = phoneDigits(written)
  if (digits) return networkId(digits)
  return isUserId(written) || isGroupOrHidden(written)
    ? written
    : invalidQuery('The recipient must be a phone number with country code, a user id or a group')
}

function readFailure({ code, by = 'answer' }: JsonObject): Failure | Problem {
  if (code === undefined) return missingField('code')
  if (typeof code !== 'number' || !fixedCodes.includes(code)) {
    return invalidField(`code must be one of ${fixedCodes.join(', ')}`)
  }
  const way = failureWays.find((known) => known === by)
  return way ? { code, by: way } : invalidField(`by must be one of ${failureWays.join(', ')}`)
}

function shown([recipient, failure]: [string, Failure]): object {
  return { recipient, ...failure }
}
