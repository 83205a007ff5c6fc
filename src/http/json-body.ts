import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { countJsonValues, createJsonValueCounter, parseJsonBytes } from '../lib/text/json-bytes.js'
import { Problem } from '../model/problem.js'
import { type BodyMemory, createBodyMemory, type HeldBody } from './body-memory.js'
import { requireUtf8 } from './charset.js'

declare module 'fastify' {
  interface FastifyInstance {
    bodyMemory: BodyMemory
  }
  interface FastifyRequest {
    /** Held until the answer begins; null if the request has no JSON body. */
    heldBody: HeldBody | null
  }
  interface FastifyContextConfig {
    /** Where more can be sent than a body of this route may have, for its 413: a phrase that ends a sentence. */
    forMore?: string
  }
}

/** What is left parses within some 10 ms; objects whose names all differ take up to 100. */
const MAX_VALUES = 100_000
/** Smaller bodies are parsed at once. */
const SMALL_BYTES = 65_536
const SMALL_VALUES = 2_000

/** Makes the server take JSON bodies, within the memory that all requests share. */
export function takeJsonBodies(server: FastifyInstance): void {
  server.decorate('bodyMemory', createBodyMemory())
  server.decorateRequest('heldBody', null)
  server.addHook('onSend', (request, _reply, payload, done) => {
    request.heldBody?.release()
    done(null, payload)
  })
  server.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    requireUtf8(request.headers['content-type'], 'the body')
    const { bytes, values } = await collect(request, payload)
    return readJsonBody(request, bytes, values)
  })
}

/** Holds memory for the body of a request until its answer begins; see BodyMemory. */
export function holdBody(request: FastifyRequest, onEvicted: (problem: Problem) => void): HeldBody {
  request.heldBody = request.server.bodyMemory.hold(request, onEvicted)
  return request.heldBody
}

/**
 * Parses the body of a request, for which memory is held, a large one in its turn; undefined for an empty one, which
 * many clients send. Throws invalid_json, payload_too_large, and what waiting for the turn throws.
 */
export async function readJsonBody(
  request: FastifyRequest,
  bytes: Buffer,
  values = countJsonValues(bytes, MAX_VALUES),
): Promise<unknown> {
  if (bytes.length === 0) return undefined
  if (values > MAX_VALUES) throw tooManyValues(request)
  if (bytes.length > SMALL_BYTES || values > SMALL_VALUES) await request.heldBody?.takeTurn()
  const read = parseJsonBytes(bytes)
  switch (read.outcome) {
    case 'not_utf8':
      throw new Problem('invalid_json', 'The request body is not UTF-8: encode the JSON as UTF-8')
    case 'malformed':
      throw new Problem('invalid_json', `The request body is not JSON: ${read.text}`)
    case 'read':
      if (read.value !== null) return read.value
      // Null stands for no body from here on.
      throw new Problem('invalid_json', 'The request body must be a JSON object, not null')
  }
}

/** The problem of a body that is too large. `what`: a sentence without a full stop. */
export function bodyTooLarge({ routeOptions }: FastifyRequest, what?: string): Problem {
  const { bodyLimit, config } = routeOptions
  const sentence = what ?? `The request body is larger than ${bodyLimit} bytes, the most that this endpoint takes`
  return new Problem('payload_too_large', config.forMore === undefined ? sentence : `${sentence}: ${config.forMore}`)
}

function tooManyValues(request: FastifyRequest): Problem {
  return bodyTooLarge(request, `The request body has more than ${MAX_VALUES} values`)
}

/** The bytes of a body, and how many values they have at most. With listeners, because an iterator costs more than all other reading of a small body. */
function collect(request: FastifyRequest, payload: Readable): Promise<{ bytes: Buffer; values: number }> {
  const { bodyLimit } = request.routeOptions
  if (Number(request.headers['content-length']) > bodyLimit) throw bodyTooLarge(request)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let values = 0
    const fail = (error: unknown) => {
      payload.off('data', onData).off('end', onEnd).off('error', fail)
      chunks.length = 0
      // What a refused client still sends is dropped, so that it reads the answer.
      payload.resume()
      reject(error)
    }
    const held = holdBody(request, fail)
    const countValues = createJsonValueCounter(MAX_VALUES)
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > bodyLimit) return fail(bodyTooLarge(request))
      // Not only when all of it is there: what will be refused needs no memory.
      values = countValues(chunk)
      if (values > MAX_VALUES) return fail(tooManyValues(request))
      try {
        held.reserve(length)
      } catch (problem) {
        fail(problem)
      }
    }
    const onEnd = () => {
      held.complete()
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length), values })
    }
    payload.on('data', onData).on('end', onEnd).on('error', fail)
  })
}
