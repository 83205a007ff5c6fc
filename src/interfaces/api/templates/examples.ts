import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { EXAMPLE_TYPES, MAX_EXAMPLE_BYTES, uploadExample, withExample } from '../../../core/templates/examples.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { takeFiles } from '../../../http/uploads.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

/** The content decides the type, so a client need not know it. */
const TYPES = [...EXAMPLE_TYPES, 'application/octet-stream']

const ExampleAnswer = successAnswer('TemplateExampleAnswer', {
  handle: Type.String({ description: 'For `example.header_handle` of a header' }),
  format: Type.Enum(['IMAGE', 'VIDEO', 'DOCUMENT'], { description: 'The format of the header that it fits' }),
})

/** `/templates/examples`: the body is the example file of a header. */
export function templateExampleRoutes(server: ApiServer, ctx: Context): void {
  takeFiles(server, (scope) => uploadRoute(scope, ctx), TYPES)
}

function uploadRoute(scope: ApiServer, ctx: Context): void {
  scope.post(
    '/templates/examples',
    {
      config: { scope: 'templates:write', contentType: TYPES.join(' or ') },
      bodyLimit: MAX_EXAMPLE_BYTES,
      schema: {
        operationId: 'templates.uploadExample',
        summary: 'Upload the example file of a header',
        description: 'The body is the file: JPEG or PNG (5 MB), MP4 (16 MB) or PDF (100 MB).',
        querystring: Type.Object({ tenantId }),
        response: responses({ 201: ExampleAnswer }, 400, 409, 422, 500),
      },
    },
    async (request, reply) => {
      const source = request.body instanceof Readable ? request.body : Readable.from([])
      try {
        const tenant = tenantOf(request)
        return await withExample(ctx, tenant, source, ({ path, sha256 }) =>
          answerOnce(ctx, request, reply, {
            fingerprint: { file: sha256 },
            perform: async () => {
              const example = await uploadExample(ctx, tenant, path)
              return { status: 201, body: { success: true, ...example }, final: true }
            },
            recover: async () => null,
          }),
        )
      } finally {
        // Reads and drops what a refused client still sends, so that the client reads the answer.
        if (!request.raw.readableEnded) request.raw.resume()
      }
    },
  )
}
