/** The server, as the console's routes see it. */
export type { TypedServer as ConsoleServer } from '../../http/server.js'
