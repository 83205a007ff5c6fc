import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { type MessageFile, openMessageFile } from '../../../core/instances/chats/media-file.js'
import { tenantOf } from '../../../http/access/auth.js'
import { startStream } from '../../../http/answers/stream.js'
import { named } from '../../../http/description/name-schemas.js'
import { encodeBase64 } from '../../../lib/bytes/base64.js'
import { asObject } from '../../../lib/text/json.js'
import type { FileSink } from '../../../lib/text/json-file-reader.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { Maybe } from '../../../model/fields.js'
import { chatOf, presentGatewayMessage } from '../../../model/instances/gateway-message.js'
import type { Instance } from '../../../model/instances/instance.js'
import { requireRouteInstance } from '../auth.js'
import { receiveValue } from '../body/json.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { RequiredId } from './schemas.js'

/** Clients send the message of a webhook back unchanged, with its file in base64. */
const BODY_LIMIT = 32 * MEBIBYTE

/** Where a message has its file. */
const FILE_PATHS = new Set(['message.base64', 'message.message.base64'])
const NOWHERE: FileSink = { write: async () => undefined }

const Body = named(
  'ReadFile',
  Type.Object({
    message: Type.Object({ key: Type.Object({ id: RequiredId }, { 'x-missing': true }) }, { 'x-missing': true }),
    convertToMp4: Maybe(Type.Boolean({ description: 'Has no effect: files are returned as they are' })),
  }),
)

const OptionalInteger = Type.Union([Type.Integer(), Type.Null()])

const Answer = named(
  'FileAnswer',
  Type.Object({
    mediaType: Type.String({ description: 'For example imageMessage' }),
    fileName: Type.String(),
    caption: Type.Union([Type.String(), Type.Null()]),
    size: Type.Object({ fileLength: Type.Integer(), height: OptionalInteger, width: OptionalInteger }),
    mimetype: Type.String(),
    base64: Type.String(),
    buffer: Type.Null(),
  }),
)

/** `POST /chat/getBase64FromMediaMessage`. The file in a body is not kept in memory. */
export function fileRoutes(server: GatewayServer, ctx: Context): void {
  server.register(async (scope: GatewayServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
      const { value } = await receiveValue(request, payload, FILE_PATHS, async () => NOWHERE)
      return value
    })
    readFileRoute(scope, ctx)
  })
}

function readFileRoute(scope: GatewayServer, ctx: Context): void {
  scope.post(
    '/chat/getBase64FromMediaMessage/:instance',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        summary: 'Read the file of a message in Base64',
        params: instancePath,
        body: Body,
        response: responses({ 201: Answer }, 400, 404),
      },
    },
    async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const file = await openMessageFile(ctx, tenantOf(request), instance, request.body.message.key.id)
      reply.raw.once('close', () => file.bytes.destroy())
      return reply
        .code(201)
        .type('application/json; charset=utf-8')
        .send(await startStream(writeFile(ctx, instance, file)))
    },
  )
}

/** Streams the response, so that the file is never in memory as a whole. */
async function* writeFile(
  ctx: Context,
  { id }: Instance,
  { message, media, bytes }: MessageFile,
): AsyncGenerator<string> {
  const shown = presentGatewayMessage(message, chatOf(message), id, ctx.mediaLinks.urlOf)
  const { caption = null, fileName, height = null, width = null } = asObject(shown.message[shown.messageType])
  const head = {
    mediaType: shown.messageType,
    fileName: media.filename ?? fileName ?? `${shown.key.id}.${media.mime_type.split(/[/;]/)[1] ?? 'bin'}`,
    caption,
    size: { fileLength: media.size, height, width },
    mimetype: media.mime_type,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"base64":"`
  yield* encodeBase64(bytes)
  yield '","buffer":null}'
}
