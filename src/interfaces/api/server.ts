/** The server as the endpoints of this interface see it. */
export type { TypedServer as ApiServer } from '../../http/server.js'
