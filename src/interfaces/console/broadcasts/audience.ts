import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { countAudience } from '../../../core/broadcasts/count-audience.js'
import { tenantOf } from '../../../http/access/auth.js'
import { AudienceBody, LARGER_AUDIENCES, readAudience } from '../../../model/broadcasts/audience.js'
import type { ConsoleServer } from '../server.js'

/** `POST /audience`: how many people a broadcast would reach. */
export function audienceRoutes(server: ConsoleServer, ctx: Context): void {
  server.post(
    '/audience',
    {
      config: { scope: 'broadcasts:read', forMore: LARGER_AUDIENCES },
      schema: { body: Type.Object({ audience: AudienceBody }) },
    },
    async (request) => {
      const count = await countAudience(ctx, tenantOf(request), readAudience(request.body.audience, true))
      return { success: true, ...count }
    },
  )
}
