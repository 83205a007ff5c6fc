import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.js'
import { MAX_IMPORT_BYTES, tooLarge, type Upload, withUpload } from '../core/contacts/receive-import.js'
import { withArriving } from '../core/requests/arriving-files.js'
import { Problem } from '../model/problem.js'
import { tenantOf } from './access/auth.js'
import { requireCharset, UTF_8 } from './charset.js'
import type { TypedServer } from './server.js'

/** Adds routes whose body is a file of one of these types, in a scope of their own: all other bodies are JSON. */
export function takeFiles(server: TypedServer, addRoutes: (scope: TypedServer) => void, types = ['text/csv']): void {
  server.register(async (scope: TypedServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(types, (request, payload, done) => {
      if (Number(request.headers['content-length']) > MAX_IMPORT_BYTES) done(tooLarge())
      else done(null, payload)
    })
    addRoutes(scope)
  })
}

/** Receives the file of a request within the limits of imports, and passes it to `work`. Throws as withUpload. */
export function receiveFile<Result>(
  ctx: Context,
  request: FastifyRequest,
  work: (upload: Upload) => Promise<Result>,
  invalid: keyof typeof CHARSETS = 'invalid_csv',
): Promise<Result> {
  const { id } = tenantOf(request)
  const { importedFiles } = ctx.limits
  const file = fileOf(request, invalid)
  importedFiles.check(id)
  return withArriving(ctx, id, file, (arriving) =>
    withUpload(ctx, arriving, (upload) => importedFiles.pass(id, () => work(upload)), invalid),
  )
}

/** The encodings that a file is read in. The file itself shows which one it has. */
const CHARSETS = {
  invalid_csv: /^(utf-?8|(us-)?ascii|utf-?16([lb]e)?|(iso[-_]?8859-|latin-?)1|(windows-|cp)1252)$/i,
  invalid_json: UTF_8,
}

/** Refuses a file that is sent compressed. Throws unsupported_media_type. */
export function requireIdentity(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return
  throw new Problem(
    'unsupported_media_type',
    `The Content-Encoding "${encoding}" is not supported: send the file as it is`,
  )
}

/** No body at all is an empty file. */
function fileOf({ body, headers }: FastifyRequest, invalid: keyof typeof CHARSETS): Readable {
  requireIdentity(headers)
  requireCharset(headers['content-type'], 'the file', CHARSETS[invalid])
  return body instanceof Readable ? body : Readable.from([])
}
