import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { type ChatRow, findChat, findChats } from '../../../core/instances/chats/find-chats.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe } from '../../../model/fields.js'
import { chatOf, jidOf, presentGatewayMessage } from '../../../model/instances/gateway-message.js'
import type { Instance } from '../../../model/instances/instance.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { Counted, given, Jid, MAX_PAGE, readTimestamps, Timestamps } from './schemas.js'

/** How long after a customer's message a business may send messages other than templates. */
const WINDOW_MS = 24 * 3_600_000
/** All messages before a page are read for it. To get older chats, clients filter by time. */
const MAX_SKIP = 100_000

const FindBody = named(
  'FindChats',
  Type.Object({
    where: Maybe(Type.Object({ remoteJid: Maybe(Jid), messageTimestamp: Timestamps })),
    take: Counted(MAX_PAGE, MAX_PAGE, 'How many'),
    skip: Maybe(
      Type.Integer({ minimum: 0, maximum: MAX_SKIP, default: 0, description: 'How many of the newest chats to skip' }),
    ),
  }),
)

const OptionalText = Type.Union([Type.String(), Type.Null()])

const ChatSchema = named(
  'Chat',
  Type.Object({
    id: Type.String({ description: "The contact's id" }),
    remoteJid: Type.String(),
    pushName: OptionalText,
    profilePicUrl: Type.Null(),
    updatedAt: Type.String({ description: 'When the newest message was sent, ISO 8601' }),
    windowStart: OptionalText,
    windowExpires: OptionalText,
    windowActive: Type.Boolean({ description: 'True if the contact wrote or called within the last 24 hours' }),
    lastMessage: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The message as findMessages returns it, with status, participant and sessionId',
      },
    ),
    unreadCount: Type.Integer({ minimum: 0, description: 'Unread messages among the 100 newest of the contact' }),
    isSaved: Type.Boolean(),
    archived: Type.Boolean(),
  }),
)

const ByJidAnswer: object = {
  ...responses({ 200: Type.Union([ChatSchema, Type.Null()]) }, 404),
  400: { ...Type.Object({ error: Type.String() }), description: 'remoteJid is missing' },
}

/** `POST GET /chat/findChats`, `GET /chat/findChatByRemoteJid`. */
export function chatListRoutes(server: GatewayServer, ctx: Context): void {
  const answer = responses({ 200: Type.Array(ChatSchema) }, 400, 404)

  server.post(
    '/chat/findChats/:instance',
    {
      schema: {
        summary: 'Find the chats of the instance, the one with the newest message first',
        params: instancePath,
        body: FindBody,
        response: answer,
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const { where, take, skip } = request.body
      const search = {
        remoteJid: given(where?.remoteJid),
        ...readTimestamps(where?.messageTimestamp),
        skip: skip ?? 0,
        take: Math.min(take || MAX_PAGE, MAX_PAGE),
      }
      const chats = await findChats(ctx, tenantOf(request), instance, search)
      return chats.map((chat) => presentChat(ctx, instance, chat))
    },
  )

  server.get(
    '/chat/findChats/:instance',
    {
      schema: {
        summary: 'List the newest chats, as older clients do',
        params: instancePath,
        response: answer,
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const search = { remoteJid: null, from: null, to: null, skip: 0, take: MAX_PAGE }
      const chats = await findChats(ctx, tenantOf(request), instance, search)
      return chats.map((chat) => presentChat(ctx, instance, chat))
    },
  )

  server.get(
    '/chat/findChatByRemoteJid/:instance',
    {
      schema: {
        summary: 'Read one chat of the instance; null if there is none',
        params: instancePath,
        querystring: Type.Object({ remoteJid: Type.Optional(Jid) }),
        response: ByJidAnswer,
      },
    },
    async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { remoteJid } = request.query
      if (!remoteJid) return reply.code(400).send({ error: 'remoteJid is a required query parameter' })
      const chat = await findChat(ctx, tenantOf(request), instance, remoteJid)
      // Returning null would send an empty body.
      return reply.type('application/json').send(JSON.stringify(chat && presentChat(ctx, instance, chat)))
    },
  )
}

function presentChat(ctx: Context, instance: Instance, chat: ChatRow) {
  const start = chat.last_inbound_at
  const expires = start && new Date(start.getTime() + WINDOW_MS)
  const message = presentGatewayMessage(chat, chatOf(chat), instance.id, ctx.mediaLinks.urlOf)
  const { participant = null } = message.key
  return {
    id: chat.contact_id,
    remoteJid: jidOf(chat),
    pushName: chat.full_name,
    profilePicUrl: null,
    updatedAt: new Date(chat.created_at).toISOString(),
    windowStart: start?.toISOString() ?? null,
    windowExpires: expires?.toISOString() ?? null,
    windowActive: expires !== null && expires > ctx.clock(),
    lastMessage: { id: chat.id, ...message, participant, sessionId: null, MessageUpdate: [{ status: message.status }] },
    unreadCount: chat.unread,
    isSaved: chat.full_name !== null,
    archived: chat.archived,
  }
}
