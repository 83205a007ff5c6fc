import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { type BroadcastTable, exportBroadcast, exportRange, type RangeTable } from '../../core/analytics/export.js'
import { onReplica } from '../../core/requests/replica.js'
import { tenantOf } from '../../http/access/auth.js'
import { sendFile } from '../../http/answers/send-file.js'
import { readDateRange } from '../../model/broadcasts/analytics.js'
import { Problem } from '../../model/problem.js'
import type { ConsoleServer } from './server.js'

const OF_RANGE = ['campaigns', 'days', 'templates', 'errors'] as const satisfies readonly RangeTable[]
const OF_BROADCAST = ['recipients', 'orders', 'buttons'] as const satisfies readonly BroadcastTable[]

const Query = Type.Object({
  table: Type.Enum([...OF_RANGE, ...OF_BROADCAST]),
  startDate: Type.Optional(Type.Unknown()),
  endDate: Type.Optional(Type.Unknown()),
  broadcast_id: Type.Optional(Type.String({ format: 'uuid', maxLength: 100 })),
})

/** `GET /analytics/export`: the figures of /broadcast-analytics as CSV files. */
export function analyticsExportRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/analytics/export',
    { config: { scope: 'analytics:read' }, schema: { querystring: Query } },
    async (request, reply) => {
      const tenant = tenantOf(request)
      const { table, startDate, endDate, broadcast_id: id } = request.query
      if (isOfRange(table)) {
        const range = readDateRange(startDate, endDate, 'query', ['startDate', 'endDate'])
        const filename = `${table}-${range.from}-${range.to}.csv`
        return sendFile(ctx, reply, filename, await exportRange(onReplica(ctx), tenant, table, range))
      }
      if (id === undefined) {
        throw new Problem('missing_parameter', `broadcast_id is required for the table ${table}`)
      }
      return sendFile(ctx, reply, `${table}-${id}.csv`, await exportBroadcast(onReplica(ctx), tenant, table, id))
    },
  )
}

function isOfRange(table: string): table is RangeTable {
  return (OF_RANGE as readonly string[]).includes(table)
}
