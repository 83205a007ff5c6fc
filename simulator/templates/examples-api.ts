import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readCaller } from '../accounts/access.js'
import { viewOf } from '../accounts/view.js'
import { checkAnyToken } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { refuse } from '../errors/refuse.js'
import { receiveFile } from '../media/files.js'
import { exampleTypes } from './examples.js'

type Query = Partial<Record<string, string>>
type BeginRoute = { Params: { appId: string }; Querystring: Query }
type BytesRoute = { Params: { session: string }; Querystring: Query }

const maxBytes = 100 * 1_024 * 1_024

/** The upstream's endpoints that take example files of templates, and where those are downloaded. */
export function examplesApi(server: FastifyInstance, context: Context): void {
  server.post<BeginRoute>('/:version(^v\\d+\\.\\d+$)/:appId/uploads', (request, reply) => {
    const session = begin(context, request)
    return 'body' in session ? refuse(reply, session) : reply.send(session)
  })
  // The bytes are streamed, whatever their type.
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.post<BytesRoute>(
      // Two colons are one in a path, and the third begins the parameter.
      '/:version(^v\\d+\\.\\d+$)/upload:::session',
      { bodyLimit: maxBytes },
      async (request, reply) => {
        const received = await receive(context, request)
        return 'body' in received ? refuse(reply, received) : reply.send(received)
      },
    )
  })
  server.get<{ Params: { id: string } }>('/template-examples/:id', (request, reply) => {
    const example = context.examples.find(request.params.id)
    if (!example?.path) return refuse(reply, refusals.expiredLink())
    const { mimeType, size, path } = example
    return reply.header('content-type', mimeType).header('content-length', size).send(createReadStream(path))
  })
}

function begin(context: Context, { params, query, headers }: FastifyRequest<BeginRoute>): { id: string } | Refusal {
  const caller = readCaller(viewOf(context), headers.authorization)
  if ('body' in caller) return caller
  if (params.appId !== caller.app.id) return refusals.unknownObject('POST', params.appId)
  const { file_length: length = '', file_type: type = '' } = query
  if (!/^[1-9]\d{0,9}$/.test(length)) return refusals.invalidParameter('The parameter file_length is required.')
  if (Number(length) > maxBytes) return refusals.invalidParameter('The file is too large.')
  if (!exampleTypes.includes(type)) {
    return refusals.invalidParameter(`Param file_type must be one of {${exampleTypes.join(', ')}} - got "${type}".`)
  }
  const { id } = context.examples.announce(type, Number(length))
  return { id: `upload:${id}?sig=simulated` }
}

async function receive(
  context: Context,
  { params, query, headers, body }: FastifyRequest<BytesRoute>,
): Promise<{ h: string } | Refusal> {
  const source = body instanceof Readable ? body : Readable.from([])
  const refusal = checkSession(context, params.session, query.sig, headers)
  if (refusal) {
    // What a refused client still sends is read, so that it receives the refusal.
    source.resume()
    return refusal
  }
  const example = context.examples.find(params.session)
  if (!example) return refusals.unknownObject('POST', `upload:${params.session}`)
  const path = await context.mediaFolder.newPath()
  const { size } = await receiveFile(source as AsyncIterable<Buffer>, { path, limit: example.size, headLength: 0 })
  if (size !== example.size) {
    await context.mediaFolder.remove(path)
    return refusals.invalidParameter(`The file has ${size} bytes, and ${example.size} were announced.`)
  }
  example.path = path
  return { h: context.examples.handleOf(example) }
}

function checkSession(
  context: Context,
  session: string,
  signature: string | undefined,
  headers: FastifyRequest['headers'],
): Refusal | null {
  // Only this call is documented with another scheme than Bearer.
  const unauthorized = checkAnyToken(context, headers.authorization?.replace(/^OAuth /i, 'Bearer '))
  if (unauthorized) return unauthorized
  if (signature !== 'simulated') return refusals.unknownObject('POST', session)
  return headers.file_offset === '0' ? null : refusals.invalidParameter('The header file_offset is required.')
}
