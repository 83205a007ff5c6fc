import type { Context } from '../../context.js'
import { DESCRIPTION_VERSION } from '../../http/description/describe.js'
import type { GatewayServer } from './server.js'

/** `GET /gateway/`: clients use it without a key to check that they have found a gateway. */
export function welcomeRoutes(server: GatewayServer, ctx: Context): void {
  server.get('', { schema: { hide: true } as object }, () => ({
    status: 200,
    message: 'Welcome to the Parley gateway, it is working!',
    version: DESCRIPTION_VERSION,
    clientName: 'parley',
    manager: `${ctx.publicUrl()}/console`,
    documentation: `${ctx.publicUrl()}/docs`,
  }))
}
