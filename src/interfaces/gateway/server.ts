/** The server type that the routes of this interface take. */
export type { TypedServer as GatewayServer } from '../../http/server.js'
