import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The header by which a request is named, to us and by us. */
export const REQUEST_ID = 'x-request-id'

/** What may stand in headers, logs and addresses as it is. */
const SAFE = /^[\w.~:+/=@-]{1,128}$/

/**
 * Makes the function that names requests: by the id that a request brings, where that is 1 to 128 safe characters, else by one
 * that tells it from every other request of all processes, and costs next to nothing.
 */
export function createRequestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return (request) => {
    const given = request?.headers[REQUEST_ID]
    return typeof given === 'string' && SAFE.test(given) ? given : `${prefix}-${(++count).toString(36)}`
  }
}
