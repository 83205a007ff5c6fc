import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readFeed } from '../../../core/webhooks/feed.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { EventSchema } from './event-schemas.js'

const EVENTS_A_PAGE = 100

const FeedAnswer = successAnswer('EventsAnswer', {
  events: Type.Array(EventSchema),
  next_after: Type.String({ description: 'The value of `after` for the next request' }),
})

/** `GET /events`: the pull feed. */
export function eventRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/events',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'events.list',
        summary: 'Read events in the order in which they happened',
        description:
          'The feed skips no event, and an event comes after the events that caused it. An answer with fewer events than `limit` is the end for now. An answer looks through 10,000 events at most, so with rare `types` it may have fewer although more follow: its `next_after` has moved on.',
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({
              maxLength: 8_192,
              description:
                'The `next_after` of the previous answer. `latest` returns no events, only the position. By default the feed begins with the oldest event that is kept.',
            }),
          ),
          types: Type.Optional(
            Type.String({ maxLength: 1_000, description: 'Kinds of events, separated by commas. By default all.' }),
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
