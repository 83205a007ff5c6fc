import type { Context } from '../../../context.js'
import { listTags } from '../../../core/inbox/list.js'
import { tenantOf } from '../../../http/access/auth.js'
import type { ConsoleServer } from '../server.js'

/** `GET /tags`. */
export function tagRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/tags', { config: { scope: 'contacts:read' } }, async (request) => {
    return { success: true, tags: await listTags(ctx, tenantOf(request).id) }
  })
}
