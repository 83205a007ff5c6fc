import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { checkUploadQuota, keepUploadedFile } from '../../../core/media/keep-uploaded-file.js'
import { findKeptFile } from '../../../core/media/uploaded-files.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { FORM_OVERHEAD, withRequestFile } from '../../../http/form/request-file.js'
import { answerOnce } from '../../../http/idempotency.js'
import { Nullable, OptionalText } from '../../../model/fields.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { MEDIA_RULES, type MediaKind } from '../../../model/messages/media.js'
import { presentUploadedFile, type UploadedFile } from '../../../model/messages/uploaded-file.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const FORM = 'multipart/form-data'
const BYTES = 'application/octet-stream'
const KINDS = Object.keys(MEDIA_RULES) as MediaKind[]
const MAX_BYTES = Math.max(...KINDS.map((kind) => MEDIA_RULES[kind].maxBytes))

const UploadedFileSchema = named(
  'UploadedFile',
  Type.Object({
    id: Type.String({ format: 'uuid', description: 'For `media_id`, `headerMediaId`, `interactive.header_media.id`' }),
    media_type: Type.Enum([...KINDS], {
      description: 'The type of message that can carry the file, after a conversion if need be (`voice`, stickers)',
    }),
    mime_type: Type.String({ description: 'Read from the content' }),
    size: Type.Integer({ minimum: 1, description: 'In bytes' }),
    filename: Nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    expires_at: Type.String({ format: 'date-time', description: '24 hours later; then the file is removed' }),
  }),
)

const Answer = successAnswer('UploadedFileAnswer', { media: UploadedFileSchema })

/** `POST /media`: the body is a form with the part `file`, or the file itself. */
export function mediaRoutes(server: ApiServer, ctx: Context): void {
  server.register(async (scope: ApiServer) => {
    scope.removeAllContentTypeParsers()
    // The type is read from the content, so any may be declared.
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.post(
      '/media',
      {
        config: { scope: 'messages:send', contentType: `${FORM} or ${BYTES}` },
        bodyLimit: MAX_BYTES + FORM_OVERHEAD,
        schema: {
          operationId: 'messages.uploadMedia',
          summary: 'Upload a file, to send it by its id',
          description:
            'The body is a form whose part `file` is the file, or the file itself under any Content-Type. The file can be sent as often as you like for 24 hours.',
          querystring: Type.Object({
            filename: OptionalText(
              LIMITS.filename,
              'The name of the file, which documents show. By default that in the form',
            ),
            tenantId,
          }),
          response: responses({ 201: Answer }, 400, 409, 422),
        },
      },
      async (request, reply) => {
        const tenant = tenantOf(request)
        // Before the file is received; uploads at the same time are counted when each is complete.
        await checkUploadQuota(ctx.database, tenant, ctx.clock())
        return withRequestFile(ctx, request, MAX_BYTES, ({ path, sha256, filename: givenName }) => {
          const filename = request.query.filename || givenName
          return answerOnce(ctx, request, reply, {
            fingerprint: { file: sha256, filename },
            perform: async (id) => toAnswer(await keepUploadedFile(ctx, tenant, { id, path, filename })),
            recover: async (id) => {
              const file = await findKeptFile(ctx, tenant.id, id)
              return file && toAnswer(file)
            },
          })
        })
      },
    )
  })
}

function toAnswer(file: UploadedFile): RepeatableAnswer {
  return { status: 201, body: { success: true, media: presentUploadedFile(file) }, final: true }
}
