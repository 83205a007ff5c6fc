import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readFeed } from '../../../core/webhooks/feed.js'
import { tenantOf } from '../../../http/auth.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { EventFields } from './schemas.js'

const EVENTS_A_PAGE = 100

const FeedAnswer = Type.Object({
  success: Type.Literal(true),
  events: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid', description: 'The header webhook-id of its deliveries' }),
      ...EventFields,
    }),
  ),
  next_after: Type.String({ description: 'What to give as after next time' }),
})

/** `GET /events`: the pull feed. */
export function eventRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/events',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        summary: 'Read events in the order in which they happened',
        description:
          'None is passed over, and what follows from another comes after it. With fewer events than limit there are no more for now',
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({
              maxLength: 8_192,
              description:
                'next_after of the page before; latest: no events yet, only the position. Else the oldest kept',
            }),
          ),
          types: Type.Optional(
            Type.String({ maxLength: 1_000, description: 'Kinds that are wanted, separated by commas; else all' }),
          ),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: EVENTS_A_PAGE })),
          tenantId,
        }),
        response: responses({ 200: FeedAnswer }, 400),
      },
    },
    async (request) => {
      const { after = null, types, limit = EVENTS_A_PAGE } = request.query
      const wanted = { after, types: types?.split(',').map((type) => type.trim()) ?? null, limit }
      const { events, nextAfter } = await readFeed(ctx, tenantOf(request).id, wanted)
      return { success: true, events, next_after: nextAfter }
    },
  )
}
