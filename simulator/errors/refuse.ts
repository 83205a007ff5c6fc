import type { FastifyReply } from 'fastify'
import type { Refusal } from './refusals.js'

/** Answers a call with the upstream's error. */
export function refuse(reply: FastifyReply, { status, body }: Refusal): FastifyReply {
  return reply.code(status).send(body)
}
