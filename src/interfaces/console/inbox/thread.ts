import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readThread, type ThreadPlace } from '../../../core/inbox/thread.js'
import { markThreadRead } from '../../../core/instances/chats/mark-thread-read.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentNote, presentThreadMessage } from '../../../model/conversations/inbox.js'
import { Problem } from '../../../model/problem.js'
import type { ConsoleServer } from '../server.js'
import { contactPath, Seq } from './paths.js'

const MESSAGES_A_PAGE = 50

const Query = Type.Object({
  before: Type.Optional(Seq),
  after: Type.Optional(Seq),
  around: Type.Optional(Seq),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: MESSAGES_A_PAGE })),
})

/** `GET /contacts/{contactId}/messages`, `POST /contacts/{contactId}/read`. */
export function threadRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/contacts/:contactId/messages',
    { config: { scope: 'conversations:read' }, schema: { params: contactPath, querystring: Query } },
    async (request) => {
      const { limit = MESSAGES_A_PAGE } = request.query
      const place = readPlace(request.query)
      const thread = await readThread(ctx, tenantOf(request).id, request.params.contactId, { place, limit })
      return {
        success: true,
        messages: thread.messages.map((message) => presentThreadMessage(message, ctx.mediaLinks.urlOf)),
        notes: thread.notes.map(presentNote),
        first_seq: thread.firstSeq,
        last_seq: thread.lastSeq,
      }
    },
  )

  server.post(
    '/contacts/:contactId/read',
    {
      config: { scope: 'contacts:write' },
      schema: { params: contactPath, body: Type.Object({ seq: Type.Unsafe<number>({ ...Seq, 'x-missing': true }) }) },
    },
    async (request) => {
      await markThreadRead(ctx, tenantOf(request), request.params.contactId, request.body.seq)
      return { success: true }
    },
  )
}

function readPlace(query: Static<typeof Query>): ThreadPlace {
  const given = (['before', 'after', 'around'] as const).filter((at) => query[at] !== undefined)
  if (given.length > 1) {
    throw new Problem('invalid_parameter', `${given.join(' and ')} cannot be combined`)
  }
  const [at] = given
  return at === undefined ? null : { at, seq: query[at] as number }
}
