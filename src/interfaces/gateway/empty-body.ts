import type { FastifyRequest } from 'fastify'

/** Accepts `[]` as a whole body: PHP encodes an empty object this way. */
export async function readEmptyBody(request: FastifyRequest): Promise<void> {
  if (Array.isArray(request.body) && request.body.length === 0) request.body = {}
}
