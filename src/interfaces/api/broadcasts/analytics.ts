import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readAnalytics, readBroadcastAnalytics } from '../../../core/analytics/read.js'
import { onReplica } from '../../../core/requests/replica.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readDateRange } from '../../../model/broadcasts/analytics.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { BroadcastAnalyticsSchema, RangeAnalyticsSchema } from './analytics-schemas.js'

// The schema allows any type, because the dates are ignored if broadcast_id is given, even if they are invalid.
const question = {
  broadcast_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'One broadcast. The dates are then ignored.', maxLength: 100 }),
  ),
  start_date: Type.Optional(
    Type.Unknown({
      description: "First day of the range, YYYY-MM-DD in the organization's time zone",
      examples: ['2026-01-01'],
    }),
  ),
  end_date: Type.Optional(
    Type.Unknown({
      description: 'Last day of the range, inclusive. The range has at most 3,660 days.',
      examples: ['2026-01-31'],
    }),
  ),
}

const Question = named('AnalyticsQuestion', Type.Object(question))

const Answer = successAnswer('AnalyticsAnswer', {
  data: Type.Union([BroadcastAnalyticsSchema, RangeAnalyticsSchema], {
    description: 'Of one broadcast, or of a range of days',
  }),
})

/** `GET` and `POST /broadcast-analytics`: the same question in the query or in a body. */
export function broadcastAnalyticsRoutes(server: ApiServer, ctx: Context): void {
  const config = { scope: 'analytics:read' } as const

  server.get(
    '/broadcast-analytics',
    {
      config,
      schema: {
        operationId: 'analytics.get',
        summary: 'Read the analytics of one broadcast, or of all broadcasts that started in a range of days',
        querystring: Type.Object({ ...question, tenantId }),
        response: responses({ 200: Answer }, 400, 404),
      },
    },
    (request) => answer(ctx, tenantOf(request), request.query, 'query'),
  )

  server.post(
    '/broadcast-analytics',
    {
      config,
      schema: {
        operationId: 'analytics.query',
        summary: 'Read analytics, with the parameters in the body',
        querystring: Type.Object({ tenantId }),
        body: Question,
        response: responses({ 200: Answer }, 400, 404, 409, 422),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const body = await answer(ctx, tenantOf(request), request.body, 'body')
          return { status: 200, body, final: true }
        },
        // A read stores nothing, so a repeat starts over.
        recover: async () => null,
      }),
  )
}

interface Asked {
  broadcast_id?: string
  start_date?: unknown
  end_date?: unknown
}

async function answer(
  ctx: Context,
  organization: Organization,
  { broadcast_id: id, start_date: start, end_date: end }: Asked,
  source: 'query' | 'body',
) {
  if (id !== undefined) return { success: true, data: await readBroadcastAnalytics(onReplica(ctx), organization, id) }
  if (start === undefined && end === undefined) {
    throw new Problem(
      'missing_parameter',
      'Give broadcast_id for one broadcast, or start_date and end_date for all that started in a range of days',
    )
  }
  return { success: true, data: await readAnalytics(onReplica(ctx), organization, readDateRange(start, end, source)) }
}
