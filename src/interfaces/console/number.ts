import type { Context } from '../../context.js'
import { readRestrictions, readTrouble } from '../../core/organizations/connecting/check.js'
import { tenantOf } from '../../http/access/auth.js'
import type { ConsoleServer } from './server.js'

/** `GET /number`: what is wrong with the organization's number, and what its account may not send; for all members. */
export function numberRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/number', async (request) => {
    const tenant = tenantOf(request)
    return { success: true, trouble: await readTrouble(ctx, tenant), restrictions: readRestrictions(ctx, tenant) }
  })
}
