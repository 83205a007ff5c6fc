import type { Context } from '../../context.js'
import { readTrouble } from '../../core/organizations/connecting/check.js'
import { tenantOf } from '../../http/access/auth.js'
import type { ConsoleServer } from './server.js'

/** `GET /number`: what is wrong with the organization's number, for all members; null: nothing. */
export function numberRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/number', async (request) => ({ success: true, trouble: await readTrouble(ctx, tenantOf(request)) }))
}
