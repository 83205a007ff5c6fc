import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The header with the id of a request, in requests and answers. */
export const REQUEST_ID = 'x-request-id'

/** Safe in headers, logs and URLs. */
const SAFE = /^[\w.~:+/=@-]{1,128}$/

/**
 * Creates the function that names requests: by the client's id if it is 1 to 128 safe characters, otherwise by a cheap
 * id that is unique over all processes.
 */
export function createRequestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return (request) => {
    const given = request?.headers[REQUEST_ID]
    return typeof given === 'string' && SAFE.test(given) ? given : `${prefix}-${(++count).toString(36)}`
  }
}
