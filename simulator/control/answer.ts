import type { FastifyReply, FastifyRequest } from 'fastify'
import { type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import { invalidField, isProblem, type Problem, problem } from './problems.js'

/** A response of the control API: an object with `success`, or a problem. */
export type Answer = object | Problem

/** Passes the parsed body to a handler; a missing body counts as an empty object. */
export async function withBody(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: (body: JsonObject) => Answer | Promise<Answer>,
): Promise<FastifyReply> {
  const text = typeof request.body === 'string' && request.body !== '' ? request.body : '{}'
  const body = parseJsonObject(text)
  return answer(reply, body ? await handle(body) : problem(400, 'Invalid JSON', 'The body must be a JSON object'))
}

export function answer(reply: FastifyReply, result: Answer): FastifyReply {
  if (!isProblem(result)) return reply.send(result)
  const { status, error, message } = result
  return reply.code(status).send({ success: false, error, message })
}

/** Reads whether a callback is repeated until the service accepts it; true by default. */
export function readRepeat({ repeat = true }: JsonObject): boolean | Problem {
  return typeof repeat === 'boolean' ? repeat : invalidField('repeat must be true or false')
}
