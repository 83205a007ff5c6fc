import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { createBroadcast } from '../../../core/broadcasts/create.js'
import { getBroadcast, listBroadcasts, showBroadcast } from '../../../core/broadcasts/read.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readStart } from '../../../http/moment.js'
import { LARGER_AUDIENCES, readAudience } from '../../../model/broadcasts/audience.js'
import { BROADCAST_STATUSES, type Broadcast, presentBroadcast } from '../../../model/broadcasts/broadcast.js'
import { page } from '../../../model/fields.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { readTemplateFields } from '../messages/template-fields.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { Count, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { BroadcastAnswer, BroadcastSchema, CreateBody } from './schemas.js'

const pagination = paginationOf('totalBroadcasts', 'broadcastsPerPage')

const ListQuery = Type.Object({
  kind: Type.Optional(
    Type.Enum(['broadcast', 'single'], {
      default: 'broadcast',
      description: '`single`: sends of POST /send-template',
    }),
  ),
  status: Type.Optional(Type.Enum([...BROADCAST_STATUSES])),
  page,
  limit,
  tenantId,
})

const BroadcastsAnswer = successAnswer('BroadcastsAnswer', {
  broadcasts: Type.Array(BroadcastSchema),
  pagination: pagination.schema,
  count: Count,
})

/** `/broadcasts`: create, list, read. */
export function broadcastRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/broadcasts',
    {
      config: { scope: 'broadcasts:write', forMore: LARGER_AUDIENCES },
      schema: {
        operationId: 'broadcasts.create',
        summary: 'Send a template to many recipients',
        querystring: Type.Object({ tenantId }),
        body: CreateBody,
        response: responses({ 202: BroadcastAnswer }, 400, 409, 422, 500),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          // Members paste their lists into the console.
          const isPasted = request.caller?.memberId != null
          const asked = readCreateBody(request.body, isPasted, ctx.clock())
          return toAnswer(await createBroadcast(ctx, tenant, { id, ...asked }))
        },
        recover: (id) => recover(ctx, tenant, id),
      })
    },
  )

  server.get(
    '/broadcasts',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'broadcasts.list',
        summary: 'List broadcasts, newest first',
        querystring: ListQuery,
        response: responses({ 200: BroadcastsAnswer }, 400),
      },
    },
    async (request) => {
      const { kind = 'broadcast', status = null, page = 1, limit = PAGE_SIZE } = request.query
      if (kind === 'single' && status !== null) {
        throw new Problem('invalid_parameter', 'status is for kind=broadcast only: leave it out with kind=single')
      }
      const { broadcasts, total } = await listBroadcasts(ctx, tenantOf(request), { kind, status, page, limit })
      return {
        success: true,
        broadcasts: broadcasts.map(presentBroadcast),
        pagination: pagination.show(page, limit, total),
        count: broadcasts.length,
      }
    },
  )

  server.get(
    '/broadcasts/:id',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'broadcasts.get',
        summary: 'Read one broadcast, or one send-template by its broadcastId',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: BroadcastAnswer }, 400, 404),
      },
    },
    async (request) => {
      const broadcast = await showBroadcast(ctx, tenantOf(request), request.params.id)
      return { success: true, broadcast: presentBroadcast(broadcast) }
    },
  )
}

function readCreateBody(body: Static<typeof CreateBody>, isPasted: boolean, now: Date) {
  return {
    name: body.name,
    ...readTemplateFields(body),
    audience: readAudience(body.audience, isPasted),
    from: body.from ?? null,
    scheduledAt: body.scheduled_at ? readStart('scheduled_at', body.scheduled_at, now) : null,
  }
}

function toAnswer(broadcast: Broadcast): RepeatableAnswer {
  return { status: 202, body: { success: true, broadcast: presentBroadcast(broadcast) }, final: true }
}

async function recover(ctx: Context, tenant: Tenant, id: string): Promise<RepeatableAnswer | null> {
  try {
    return toAnswer(await getBroadcast(ctx, tenant, id))
  } catch (error) {
    if (error instanceof Problem && error.code === 'broadcast_not_found') return null
    throw error
  }
}
