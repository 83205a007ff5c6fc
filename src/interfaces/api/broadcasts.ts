import { type Static, Type } from 'typebox'
import type { Context } from '../../context.js'
import { cancelBroadcast, pauseBroadcast, resumeBroadcast, retryFailed } from '../../core/broadcasts/control.js'
import { createBroadcast } from '../../core/broadcasts/create.js'
import { getBroadcast, listBroadcasts, listRecipients, showBroadcast } from '../../core/broadcasts/read.js'
import { exportRecipients } from '../../core/broadcasts/recipients-file.js'
import type { Attempt } from '../../core/idempotency.js'
import { tenantOf } from '../../http/auth.js'
import { answerOnce } from '../../http/idempotency.js'
import { MEBIBYTE } from '../../lib/units.js'
import {
  BROADCAST_STATUSES,
  type Broadcast,
  presentBroadcast,
  presentRecipient,
  RECIPIENT_STATUSES,
} from '../../model/broadcast.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { BroadcastAnswer, BroadcastSchema, Count, CreateBody, RecipientSchema } from './broadcast-schemas.js'
import { paginate } from './pagination.js'
import { responses, tenantId } from './schemas.js'
import { sendFile } from './send-file.js'
import type { ApiServer } from './server.js'
import { readParameters } from './template-fields.js'

const BODY_LIMIT = 32 * MEBIBYTE
const MAX_PAGE = 10_000_000
const HAS_ZONE = /(Z|[+-]\d\d:\d\d)$/i

const onePath = Type.Object({ id: Type.String({ format: 'uuid' }) })
const page = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }))
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 }))

/** `/broadcasts` (contract 4, Broadcasts). */
export function broadcastRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/broadcasts',
    {
      bodyLimit: BODY_LIMIT,
      config: { scope: 'broadcasts:write' },
      schema: {
        summary: 'Send a template to many',
        querystring: Type.Object({ tenantId }),
        body: CreateBody,
        response: responses({ 202: BroadcastAnswer }, 400, 409, 422, 500),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const given = request.body
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const command = {
            id,
            name: given.name,
            templateName: given.templateName,
            language: given.language ?? undefined,
            parameters: readParameters(given),
            headerMedia: given.headerMedia ?? null,
            audience: readAudience(given.audience),
            scheduledAt: readSchedule(given.scheduled_at),
          }
          return toAttempt(202, await createBroadcast(ctx, tenant, command))
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
        summary: 'List broadcasts, newest first',
        querystring: Type.Object({
          kind: Type.Optional(
            Type.Enum(['broadcast', 'single'], {
              default: 'broadcast',
              description: 'single: what send-template sent',
            }),
          ),
          status: Type.Optional(Type.Enum([...BROADCAST_STATUSES])),
          page,
          limit,
          tenantId,
        }),
        response: responses(
          {
            200: Type.Object({
              success: Type.Literal(true),
              broadcasts: Type.Array(BroadcastSchema),
              pagination: Type.Object({
                currentPage: Type.Integer(),
                totalPages: Type.Integer(),
                totalBroadcasts: Type.Integer(),
                broadcastsPerPage: Type.Integer(),
                hasNextPage: Type.Boolean(),
                hasPrevPage: Type.Boolean(),
              }),
              count: Count,
            }),
          },
          400,
        ),
      },
    },
    async (request) => {
      const { kind = 'broadcast', status = null, page = 1, limit = 50 } = request.query
      if (kind === 'single' && status !== null) {
        throw new Problem('invalid_parameter', 'status is for kind=broadcast only: leave it out with kind=single')
      }
      const { broadcasts, total } = await listBroadcasts(ctx, tenantOf(request), { kind, status, page, limit })
      const { totalPages, ...position } = paginate(page, limit, total)
      return {
        success: true,
        broadcasts: broadcasts.map(presentBroadcast),
        pagination: { currentPage: page, totalPages, totalBroadcasts: total, broadcastsPerPage: limit, ...position },
        count: broadcasts.length,
      }
    },
  )

  server.get(
    '/broadcasts/:id',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
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

  server.get(
    '/broadcasts/:id/recipients',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        summary: 'List the recipients of a broadcast with what became of them',
        params: onePath,
        querystring: Type.Object({
          status: Type.Optional(Type.Enum([...RECIPIENT_STATUSES])),
          format: Type.Optional(Type.Enum(['json', 'csv'], { default: 'json', description: 'csv: all, as a file' })),
          page,
          limit,
          tenantId,
        }),
        response: responses(
          {
            200: {
              description: 'A page of them, or all as a file',
              content: {
                'application/json': {
                  schema: Type.Object({
                    success: Type.Literal(true),
                    recipients: Type.Array(RecipientSchema),
                    pagination: Type.Object({
                      currentPage: Type.Integer(),
                      totalPages: Type.Integer(),
                      totalRecipients: Type.Integer(),
                      recipientsPerPage: Type.Integer(),
                      hasNextPage: Type.Boolean(),
                      hasPrevPage: Type.Boolean(),
                    }),
                    count: Count,
                  }),
                },
                'text/csv': { schema: Type.String() },
              },
            },
          },
          400,
          404,
        ),
      },
    },
    async (request, reply) => {
      const tenant = tenantOf(request)
      const { id } = request.params
      const { status = null, format = 'json', page = 1, limit = 50 } = request.query
      if (format === 'csv') {
        const parts = await exportRecipients(ctx, tenant, id, status)
        return sendFile(ctx, request, reply, `recipients-${id}.csv`, parts)
      }
      const { recipients, total } = await listRecipients(ctx, tenant, id, { status, page, limit })
      const { totalPages, ...position } = paginate(page, limit, total)
      return {
        success: true,
        recipients: recipients.map(presentRecipient),
        pagination: { currentPage: page, totalPages, totalRecipients: total, recipientsPerPage: limit, ...position },
        count: recipients.length,
      }
    },
  )

  const controls = [
    ['pause', 'Pause a broadcast', pauseBroadcast, ['paused']],
    ['resume', 'Go on with a paused broadcast', resumeBroadcast, ['scheduled', 'running', 'completed']],
    ['cancel', 'Cancel a broadcast for good; whom it has not come to is skipped', cancelBroadcast, ['cancelled']],
  ] as const
  for (const [verb, summary, control, reached] of controls) {
    server.post(
      `/broadcasts/:id/${verb}`,
      {
        config: { scope: 'broadcasts:write' },
        schema: {
          summary,
          params: onePath,
          querystring: Type.Object({ tenantId }),
          response: responses({ 200: BroadcastAnswer }, 400, 404, 409, 422),
        },
      },
      (request, reply) => {
        const tenant = tenantOf(request)
        const { id } = request.params
        return answerOnce(ctx, request, reply, {
          fingerprint: request.body ?? null,
          perform: async () => toAttempt(200, await control(ctx, tenant, id)),
          recover: async () => {
            const broadcast = await getBroadcast(ctx, tenant, id)
            return reached.some((status) => status === broadcast.status) ? toAttempt(200, broadcast) : null
          },
        })
      },
    )
  }

  server.post(
    '/broadcasts/:id/retry-failed',
    {
      config: { scope: 'broadcasts:write' },
      schema: {
        summary: 'Send once more to those for whom it failed',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses(
          {
            200: Type.Object({
              success: Type.Literal(true),
              broadcast: BroadcastSchema,
              retried: Type.Integer({ description: 'To how many it is sent once more' }),
            }),
          },
          400,
          404,
          409,
          422,
        ),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const { id } = request.params
      return answerOnce(ctx, request, reply, {
        fingerprint: request.body ?? null,
        perform: async () => {
          const { broadcast, retried } = await retryFailed(ctx, tenant, id)
          return { status: 200, body: { success: true, broadcast: presentBroadcast(broadcast), retried }, final: true }
        },
        recover: async () => null,
      })
    },
  )
}

/** A time without a zone would be another one on each machine. Throws invalid_field. */
function readSchedule(given: string | null | undefined): Date | null {
  if (!given) return null
  if (HAS_ZONE.test(given)) return new Date(given)
  throw new Problem('invalid_field', 'scheduled_at must have a time zone, such as Z in 2026-12-24T18:00:00Z')
}

type GivenAudience = Static<typeof CreateBody>['audience']

/** At least one kind of recipient. Throws missing_field. */
function readAudience({ tags = [], contactIds = [], recipients = [], all = false }: GivenAudience) {
  if (tags.length + contactIds.length + recipients.length === 0 && !all) {
    throw new Problem('missing_field', 'audience is required: give tags, contactIds, recipients, or all: true')
  }
  return { ...(all ? { all: true } : tags.length > 0 ? { tags } : {}), contactIds, recipients }
}

function toAttempt(status: number, broadcast: Broadcast): Attempt {
  return { status, body: { success: true, broadcast: presentBroadcast(broadcast) }, final: true }
}

async function recover(ctx: Context, tenant: Tenant, id: string): Promise<Attempt | null> {
  try {
    return toAttempt(202, await getBroadcast(ctx, tenant, id))
  } catch (error) {
    if (error instanceof Problem && error.code === 'broadcast_not_found') return null
    throw error
  }
}
