import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { type FoundMessages, findMessages, type MessageSearch } from '../../../core/instances/chats/find-messages.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe } from '../../../model/fields.js'
import {
  chatOf,
  GATEWAY_STATUSES,
  type GatewayStatus,
  presentGatewayMessage,
} from '../../../model/instances/gateway-message.js'
import { ContentSchema } from '../../../model/messages/shown/schemas.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { given, Id, Jid, paging, readPage, readTimestamps, Timestamps } from './schemas.js'

const PAGE_SIZE = 50
/** Statuses of other gateways, which clients may filter by. No message has them. */
const UNUSED_STATUSES = ['PLAYED', 'DELETED', 'EDITED'] as const

const FindBody = named(
  'FindMessages',
  Type.Object({
    where: Maybe(
      Type.Object({
        key: Maybe(Type.Object({ id: Maybe(Id), fromMe: Maybe(Type.Boolean()), remoteJid: Maybe(Jid) })),
        messageType: Maybe(Type.String({ maxLength: 100, description: 'For example conversation or imageMessage' })),
        source: Maybe(
          Type.String({ maxLength: 32, description: '`web`: sent messages; `unknown`: received messages' }),
        ),
        messageTimestamp: Timestamps,
      }),
    ),
    ...paging(PAGE_SIZE),
  }),
)

const StatusBody = named(
  'FindStatuses',
  Type.Object({
    where: Maybe(
      Type.Object({
        id: Maybe(Id),
        keyId: Maybe(Id),
        remoteJid: Maybe(Jid),
        fromMe: Maybe(Type.Boolean()),
        status: Maybe(Type.Enum([...GATEWAY_STATUSES, ...UNUSED_STATUSES])),
      }),
    ),
    ...paging(PAGE_SIZE),
  }),
)

const Key = Type.Object({
  id: Type.String(),
  fromMe: Type.Boolean(),
  remoteJid: Type.String(),
  participant: Type.Optional(Type.String()),
})

const FindAnswer = named(
  'MessagesAnswer',
  Type.Object({
    messages: Type.Object({
      total: Type.Integer({ description: 'On all pages' }),
      pages: Type.Integer(),
      currentPage: Type.Integer(),
      records: Type.Array(
        Type.Object({
          id: Type.String({ description: "Parley's id" }),
          key: Key,
          pushName: Type.String(),
          messageType: Type.String(),
          content: ContentSchema,
          message: Type.Object({}, { additionalProperties: true }),
          messageTimestamp: Type.Integer({ description: 'Unix seconds' }),
          instanceId: Type.String(),
          source: Type.String(),
          contextInfo: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
          MessageUpdate: Type.Array(Type.Object({ status: Type.Enum([...GATEWAY_STATUSES]) })),
        }),
      ),
    }),
  }),
)

const StatusAnswer = Type.Array(
  Type.Object({
    id: Type.String({ description: "Parley's id" }),
    keyId: Type.String(),
    remoteJid: Type.String(),
    fromMe: Type.Boolean(),
    participant: Type.Union([Type.String(), Type.Null()]),
    pollUpdates: Type.Null(),
    status: Type.Enum([...GATEWAY_STATUSES]),
    messageId: Type.String(),
    instanceId: Type.String(),
  }),
)

/** `POST /chat/findMessages`, `POST /chat/findStatusMessage`. */
export function messageRoutes(server: GatewayServer, ctx: Context): void {
  server.post(
    '/chat/findMessages/:instance',
    {
      schema: {
        summary: 'Find messages of the instance, newest first',
        description:
          'A message must match everything in `where`. Reactions are shown on their messages; to find one, give its `key.id`.',
        params: instancePath,
        body: FindBody,
        response: responses({ 200: FindAnswer }, 400, 404),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const page = readPage(request.body, PAGE_SIZE)
      const search = readSearch(request.body)
      const found: FoundMessages =
        search === null
          ? { messages: [], total: 0 }
          : await findMessages(ctx, tenantOf(request), instance, { search, page })
      return {
        messages: {
          total: found.total,
          pages: Math.ceil(found.total / page.limit),
          currentPage: page.page,
          records: found.messages.map((message) => {
            const { status, ...shown } = presentGatewayMessage(
              message,
              chatOf(message),
              instance.id,
              ctx.mediaLinks.urlOf,
            )
            return { id: message.id, ...shown, MessageUpdate: [{ status }] }
          }),
        },
      }
    },
  )

  server.post(
    '/chat/findStatusMessage/:instance',
    {
      schema: {
        summary: 'Find the status of messages of the instance, newest first',
        params: instancePath,
        body: StatusBody,
        response: responses({ 200: StatusAnswer }, 400, 404),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const { where } = request.body
      const status = where?.status ?? null
      if (isUnused(status)) return []
      const search: MessageSearch = {
        ...readKey({ ...where, id: given(where?.keyId) ?? where?.id }),
        messageType: null,
        status,
        from: null,
        to: null,
      }
      const page = readPage(request.body, PAGE_SIZE)
      const { messages } = await findMessages(ctx, tenantOf(request), instance, { search, page })
      const id = given(where?.id)
      const matching = messages.filter((message) => id === null || [message.id, message.upstream_id].includes(id))
      return matching.map((message) => {
        const { key, status } = presentGatewayMessage(message, chatOf(message), instance.id, ctx.mediaLinks.urlOf)
        const { id: keyId, remoteJid, fromMe, participant = null } = key
        return {
          ...{ id: message.id, keyId, remoteJid, fromMe, participant, pollUpdates: null, status },
          ...{ messageId: message.id, instanceId: instance.id },
        }
      })
    },
  )
}

type SearchedStatus = GatewayStatus | (typeof UNUSED_STATUSES)[number] | null

function isUnused(status: SearchedStatus): status is (typeof UNUSED_STATUSES)[number] {
  return UNUSED_STATUSES.some((unused) => unused === status)
}

/** Null if no message can match the filters. */
function readSearch({ where }: Static<typeof FindBody>): MessageSearch | null {
  const key = readKey(where?.key)
  const bySource = readSource(given(where?.source))
  if (bySource === 'none' || (bySource !== null && key.fromMe !== null && key.fromMe !== bySource)) return null
  return {
    ...key,
    fromMe: key.fromMe ?? bySource,
    messageType: given(where?.messageType),
    status: null,
    ...readTimestamps(where?.messageTimestamp),
  }
}

/** The filter `fromMe` that a source stands for: sent messages have `web`, received ones `unknown`. Null: no filter. */
function readSource(source: string | null): boolean | 'none' | null {
  if (source === null) return null
  if (source === 'web') return true
  return source === 'unknown' ? false : 'none'
}

type GivenKey = { id?: string | null; remoteJid?: string | null; fromMe?: boolean | null } | null | undefined

function readKey(key: GivenKey): Pick<MessageSearch, 'keyId' | 'remoteJid' | 'fromMe'> {
  return { keyId: given(key?.id), remoteJid: given(key?.remoteJid), fromMe: key?.fromMe ?? null }
}
