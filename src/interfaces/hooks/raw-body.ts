import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'
import { createBodyMemoryLimit } from './body-memory.js'

/** How large a webhook may be, in bytes. */
export const BODY_LIMIT = 4 * MEBIBYTE

/** Takes bodies of every type as they come: the signatures are over their bytes. */
export function takeRawBodies(server: FastifyInstance): void {
  const limitMemory = createBodyMemoryLimit()
  server.addHook('preParsing', (_request, reply, payload, done) => done(null, limitMemory(payload, reply.raw)))
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  )
}

/** A header that signs a body. */
export interface SignatureHeader {
  name: string
  /** What it must look like; its group is the signature. */
  form: RegExp
}

/**
 * The signature of a request. Throws authorization_required where there is none, and invalid_signature where it cannot be one.
 */
export function readSignature(request: FastifyRequest, { name, form }: SignatureHeader): string {
  const value = readHeader(request, name.toLowerCase())
  if (!value) throw new Problem('authorization_required', `The webhook has no ${name}`)
  const signature = form.exec(value)?.[1]
  if (signature === undefined)
    throw new Problem('invalid_signature', `${name} is not a valid signature: it must match ${form}`)
  return signature
}

/** The bytes of a request; none where it has no body. */
export function readBytes({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** The header of this name, in lower case; undefined where there is none. */
export function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
