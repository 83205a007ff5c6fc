import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { archiveChat } from '../../../core/instances/chats/chat-commands.js'
import { markChatUnread, markMessagesRead } from '../../../core/instances/chats/read-marks.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { given, Id, Jid, RequiredId } from './schemas.js'

const MAX_KEYS = 500

const Keys = Type.Array(
  Type.Object({ id: RequiredId, fromMe: Maybe(Type.Boolean()), remoteJid: Maybe(Jid), participant: Maybe(Jid) }),
  { minItems: 1, maxItems: MAX_KEYS, 'x-missing': true },
)
const ReadBody = named('MarkAsRead', Type.Object({ readMessages: Maybe(Keys), read_messages: Maybe(Keys) }))

const LastMessage = Type.Object({ key: Maybe(Type.Object({ id: Maybe(Id), remoteJid: Maybe(Jid) })) })
const UnreadBody = named(
  'MarkUnread',
  Type.Object({
    chat: Maybe(Jid),
    lastMessage: Maybe(Type.Union([LastMessage, Type.Array(LastMessage, { maxItems: MAX_KEYS })])),
  }),
)
const ArchiveBody = named(
  'ArchiveChat',
  Type.Object({ chat: Maybe(Jid), lastMessage: Maybe(LastMessage), archive: Type.Boolean() }),
)

/** Older clients use PUT. */
const METHODS = ['POST', 'PUT'] as const

/** `POST PUT /chat/markMessageAsRead`, `/chat/markChatUnread`, `/chat/archiveChat`. */
export function markRoutes(server: GatewayServer, ctx: Context): void {
  server.route({
    method: [...METHODS],
    url: '/chat/markMessageAsRead/:instance',
    schema: {
      summary: 'Mark received messages, and all earlier ones, as read',
      description: 'On WhatsApp and in Parley. Unknown and sent messages are ignored.',
      params: instancePath,
      body: ReadBody,
      response: responses({ 201: Type.Object({ message: Type.String(), read: Type.String() }) }, 400, 404, 500),
    },
    handler: async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const keys = request.body.readMessages ?? request.body.read_messages
      if (!keys) throw new Problem('missing_field', 'readMessages is required and must not be empty')
      await markMessagesRead(
        ctx,
        tenantOf(request),
        instance,
        keys.map(({ id }) => id),
      )
      return reply.code(201).send({ message: 'Read messages', read: 'success' })
    },
  })

  server.route({
    method: [...METHODS],
    url: '/chat/markChatUnread/:instance',
    schema: {
      summary: 'Mark a chat as unread in Parley',
      params: instancePath,
      body: UnreadBody,
      response: responses({ 201: Type.Object({ chatId: Type.String(), markedChatUnread: Type.Boolean() }) }, 400, 404),
    },
    handler: async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { chat, lastMessage } = request.body
      const [last] = [lastMessage].flat()
      const jid = given(chat) ?? given(last?.key?.remoteJid)
      if (jid === null) throw new Problem('missing_field', 'chat (or lastMessage.key.remoteJid) is required')
      await markChatUnread(ctx, tenantOf(request), instance, jid)
      return reply.code(201).send({ chatId: jid, markedChatUnread: true })
    },
  })

  server.route({
    method: [...METHODS],
    url: '/chat/archiveChat/:instance',
    schema: {
      summary: 'Archive a chat, or restore it',
      params: instancePath,
      body: ArchiveBody,
      response: responses(
        { 201: Type.Object({ chatId: Type.String(), archived: Type.Boolean() }) },
        ...([400, 404, 500, 501] as const),
      ),
    },
    handler: async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { chat, lastMessage, archive } = request.body
      const messageId = given(lastMessage?.key?.id)
      const reference = { jid: given(chat) ?? given(lastMessage?.key?.remoteJid), messageId }
      const chatId = await archiveChat(ctx, tenantOf(request), instance, { ...reference, archive })
      return reply.code(201).send({ chatId, archived: archive })
    },
  })
}
