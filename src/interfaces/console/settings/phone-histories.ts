import type { Context } from '../../../context.js'
import { listHistories } from '../../../core/callbacks/phone-histories.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentPhoneHistory } from '../../../model/organizations/phone-history.js'
import type { ConsoleServer } from '../server.js'

/** `GET /phone-histories`: what has been taken in of the histories of numbers that are also used on a phone; for owners. */
export function phoneHistoryRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/phone-histories', { config: { role: 'owner' } }, async (request) => ({
    success: true,
    histories: (await listHistories(ctx, tenantOf(request).id)).map(presentPhoneHistory),
  }))
}
