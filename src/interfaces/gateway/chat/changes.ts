import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { editMessage, revokeMessage } from '../../../core/instances/chats/change-message.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe } from '../../../model/fields.js'
import type { Instance } from '../../../model/instances/instance.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { given, Jid, RequiredId } from './schemas.js'

/** The longest text that any channel accepts. */
const MAX_TEXT = 65_536

const DeleteBody = named(
  'DeleteMessage',
  Type.Object({
    id: RequiredId,
    fromMe: Maybe(Type.Boolean()),
    remoteJid: Maybe(Jid),
    participant: Maybe(Jid),
  }),
)

const UpdateBody = named(
  'UpdateMessage',
  Type.Object({
    number: Maybe(Jid),
    text: Type.String({ minLength: 1, maxLength: MAX_TEXT, 'x-missing': true }),
    key: Type.Object({ id: RequiredId, fromMe: Maybe(Type.Boolean()), remoteJid: Maybe(Jid) }, { 'x-missing': true }),
  }),
)

const SentAnswer = named(
  'ChangedMessage',
  Type.Object({
    key: Type.Object({ id: Type.String(), fromMe: Type.Boolean(), remoteJid: Type.String() }),
    message: Type.Object(
      {},
      { additionalProperties: true, description: '`protocolMessage`: which message was changed, and how' },
    ),
    messageType: Type.String(),
    messageTimestamp: Type.Integer(),
    status: Type.String(),
    instanceId: Type.String(),
    source: Type.String(),
  }),
)

/** `POST PUT /chat/updateMessage`, `DELETE /chat/deleteMessageForEveryone`. */
export function changeRoutes(server: GatewayServer, ctx: Context): void {
  server.route({
    // Older clients send it with PUT.
    method: ['POST', 'PUT'],
    url: '/chat/updateMessage/:instance',
    schema: {
      summary: 'Edit the text of a sent message',
      params: instancePath,
      body: UpdateBody,
      response: responses({ 200: SentAnswer }, 400, 404, 500, 501),
    },
    handler: async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const { key, text, number } = request.body
      const edit = { keyId: key.id, chats: chatsOf(key.remoteJid, number), text }
      return presentSent(ctx, instance, await editMessage(ctx, tenantOf(request), instance, edit))
    },
  })

  server.delete(
    '/chat/deleteMessageForEveryone/:instance',
    {
      schema: {
        summary: 'Delete a sent message for everyone',
        params: instancePath,
        body: DeleteBody,
        response: responses({ 201: SentAnswer }, 400, 404, 409, 500, 501),
      },
    },
    async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { id: keyId, remoteJid } = request.body
      const sent = await revokeMessage(ctx, tenantOf(request), instance, { keyId, chats: chatsOf(remoteJid) })
      return reply.code(201).send(presentSent(ctx, instance, sent))
    },
  )
}

/** The given JIDs, without empty ones. */
function chatsOf(...jids: (string | null | undefined)[]): string[] {
  return jids.filter((jid) => given(jid) !== null) as string[]
}

function presentSent(ctx: Context, { id }: Instance, { key, message }: Awaited<ReturnType<typeof editMessage>>) {
  return {
    key,
    message: message ?? {},
    messageType: 'protocolMessage',
    messageTimestamp: Math.floor(ctx.clock().getTime() / 1_000),
    status: 'PENDING',
    instanceId: id,
    source: 'web',
  }
}
