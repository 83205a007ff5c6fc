import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import {
  FILE_KINDS,
  type FileKind,
  scheduleFile,
  sendFile,
  tooBig,
  withSpooledFile,
} from '../../../core/inbox/send-file.js'
import { findSendResult } from '../../../core/messages/send/outcome.js'
import { findScheduledMessage } from '../../../core/scheduled/schedule.js'
import { tenantOf } from '../../../http/access/auth.js'
import { memberOf } from '../../../http/access/session.js'
import { swallowRest } from '../../../http/answers/problems.js'
import { toScheduledAnswer } from '../../../http/answers/scheduled.js'
import { toAnswer } from '../../../http/answers/sent.js'
import { causeOf } from '../../../http/cause.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readSendTime } from '../../../http/moment.js'
import { requireIdentity } from '../../../http/uploads.js'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { MEDIA_RULES } from '../../../model/messages/media.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

const FILE_TYPE = 'application/octet-stream'
const MAX_BYTES = Math.max(...FILE_KINDS.map((kind) => MEDIA_RULES[kind].maxBytes))

const Query = Type.Object({
  message_type: Type.Enum([...FILE_KINDS]),
  caption: Type.Optional(Type.String({ maxLength: LIMITS.caption })),
  filename: Type.Optional(Type.String({ maxLength: LIMITS.filename })),
  voice: Type.Optional(Type.Boolean()),
  context_message_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  instance: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.instanceName })),
  from: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NUMBER_INPUT })),
  scheduled_at: Type.Optional(Type.String({ format: 'date-time' })),
})

/** `POST /contacts/{contactId}/files`: the body is the file itself. */
export function fileRoutes(server: ConsoleServer, ctx: Context): void {
  server.register(async (scope: ConsoleServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(FILE_TYPE, (_request, payload, done) => done(null, payload))
    scope.post(
      '/contacts/:contactId/files',
      {
        bodyLimit: MAX_BYTES,
        config: { scope: 'messages:send', contentType: FILE_TYPE },
        schema: { params: contactPath, querystring: Query },
      },
      async (request, reply) => {
        const tenant = tenantOf(request)
        const { message_type: kind, ...given } = request.query
        const { contactId } = request.params
        const memberId = memberOf(request).id
        const isLater = Boolean(given.scheduled_at)
        try {
          return await withSpooledFile(ctx, tenant.id, { kind, source: bodyOf(request, kind) }, ({ path, sha256 }) =>
            answerOnce(ctx, request, reply, {
              fingerprint: { kind, ...given, file: sha256 },
              perform: async (id) => {
                const scheduledAt = readSendTime(given.scheduled_at, ctx.clock())
                const { voice = null, context_message_id: replyToId = null, instance = null, from = null } = given
                const texts = { caption: given.caption || null, filename: given.filename || null }
                const named = { ...texts, voice, replyToId, instance, from, memberId }
                const cause = causeOf(request, ctx.clock())
                const send = { id, contactId, kind, path, cause, ...named }
                if (scheduledAt === null) return toAnswer(tenant, kind, await sendFile(ctx, tenant, send))
                return toScheduledAnswer(await scheduleFile(ctx, tenant, { ...send, scheduledAt }))
              },
              recover: async (id) => {
                if (isLater) {
                  const scheduled = await findScheduledMessage(ctx, tenant, id)
                  return scheduled && toScheduledAnswer(scheduled)
                }
                const result = await findSendResult(ctx, tenant, id)
                return result && toAnswer(tenant, kind, result)
              },
            }),
          )
        } finally {
          if (!request.raw.readableEnded) swallowRest(request)
        }
      },
    )
  })
}

/** A request without a body is an empty file. */
function bodyOf({ body, headers }: FastifyRequest, kind: FileKind): Readable {
  requireIdentity(headers)
  if (Number(headers['content-length']) > MEDIA_RULES[kind].maxBytes) {
    throw tooBig(kind)
  }
  return body instanceof Readable ? body : Readable.from([])
}
