/** The server as the endpoints of this interface see it. */
export type { TypedServer as GatewayServer } from '../../http/server.js'
