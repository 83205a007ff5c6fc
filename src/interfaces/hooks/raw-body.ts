import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'
import { createHookMemory, type HookMemory } from './body-memory.js'

/** Maximum size of a webhook's body, in bytes. */
export const BODY_LIMIT = 4 * MEBIBYTE

/** Makes the server pass bodies of every Content-Type as raw bytes, since signatures cover the bytes. */
export function takeRawBodies(server: FastifyInstance): HookMemory {
  const memory = createHookMemory()
  server.addHook('preParsing', (request, reply, payload, done) =>
    done(null, memory.bound(request, payload as Readable, reply.raw)),
  )
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  )
  return memory
}

/** A header that holds the signature of a body. */
export interface SignatureHeader {
  name: string
  /** Pattern of a valid value; its first group is the signature. */
  form: RegExp
}

/**
 * The signature of a request. Throws authorization_required if the header is missing, and invalid_signature if it has
 * the wrong form.
 */
export function readSignature(request: FastifyRequest, { name, form }: SignatureHeader): string {
  const value = readHeader(request, name.toLowerCase())
  if (!value) throw new Problem('authorization_required', `The webhook has no ${name}`)
  const signature = form.exec(value)?.[1]
  if (signature === undefined)
    throw new Problem('invalid_signature', `${name} is not a valid signature: it must match ${form}`)
  return signature
}

/** The body of a request; empty if it has none. */
export function readBytes({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** The value of a header; undefined if it is missing. `name` is in lower case. */
export function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
