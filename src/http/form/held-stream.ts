import { PassThrough, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { HeldBody } from '../body-memory.js'
import { holdBody } from '../json-body.js'

/**
 * Holds memory for a body that is read from a stream. The returned stream has the same bytes; it ends with the problem if
 * the memory is given to others, without destroying the request, which would lose its answer.
 */
export function heldStream(request: FastifyRequest, source: Readable): { stream: Readable; held: HeldBody } {
  const stream = new PassThrough()
  const held = holdBody(request, (problem) => stream.destroy(problem))
  source.once('error', (error) => stream.destroy(error))
  source.pipe(stream)
  // After the pipe has let go of it: what a refused client still sends is dropped, so that it reads the answer.
  stream.once('close', () => source.resume())
  return { stream, held }
}
