import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { listNumbers } from '../../core/organizations/numbers.js'
import { tenantOf } from '../../http/access/auth.js'
import { successAnswer } from '../../http/description/name-schemas.js'
import { OwnNumberSchema } from '../../http/description/number-schemas.js'
import { presentOwnNumber } from '../../model/organizations/own-number.js'
import { responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const NumbersAnswer = successAnswer('NumbersAnswer', { numbers: Type.Array(OwnNumberSchema) })

/** `GET /numbers`. */
export function numberRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/numbers',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'numbers.list',
        summary: "List the organization's business numbers, the first one first",
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: NumbersAnswer }, 400),
      },
    },
    async (request) => {
      const numbers = await listNumbers(ctx, tenantOf(request))
      return { success: true, numbers: numbers.map(presentOwnNumber) }
    },
  )
}
