import { errorMessage } from '../../lib/text/error-message.js'
import type { JsonObject } from '../../lib/text/json.js'
import { bareStatusText } from '../answer.js'
import { type Call, type Connection, makeCall, type UpstreamAccess } from '../connection.js'

/**
 * The upstream's refusal of a call. `code` is its own, or the HTTP status if there is none; `subcode` 0 if there is
 * none. `isTokenAtFault`: the token is not valid, or may not make this call.
 */
export interface Refused {
  outcome: 'refused'
  code: number
  subcode: number
  text: string
  isTokenAtFault: boolean
}

/** A call that nobody answered, or that can be repeated later; nothing is known. `code`: of the upstream's error. */
export interface NotAsked {
  outcome: 'failed'
  code?: number
  text: string
}

/** The outcome of a call about connections. */
export type Asked<Found extends object> = ({ outcome: 'done' } & Found) | Refused | NotAsked

/** One call, and the access token that it is made with, or the app's own token. */
export interface Question extends Call {
  access: UpstreamAccess
}

/**
 * Makes a call within `timeoutMs` and reads its answer with `read`, which returns null if the answer is not what was
 * asked for. Never throws.
 */
export async function ask<Found extends object>(
  connection: Connection,
  { access, ...call }: Question,
  timeoutMs: number,
  read: (body: JsonObject) => Found | null,
): Promise<Asked<Found>> {
  if (timeoutMs <= 0) return { outcome: 'failed', text: 'there was no time left' }
  try {
    const answer = await makeCall(connection, access, call, timeoutMs)
    const { status, isSuccess, body, error } = answer
    if (error) {
      const { code, subcode, kind, message } = error
      // The details say how long to wait, and the message what happened.
      const text = error.text === message ? message : `${message}: ${error.text}`
      if (kind === 'limited' || kind === 'busy' || status >= 500) return { outcome: 'failed', code, text }
      return { outcome: 'refused', code, subcode, text, isTokenAtFault: kind === 'credentials' }
    }
    const found = isSuccess && body !== null ? read(body) : null
    if (found) return { outcome: 'done', ...found }
    const text = isSuccess ? `HTTP ${status} with another content than expected` : bareStatusText(status)
    if (status !== 401 && status !== 403) return { outcome: 'failed', text }
    return { outcome: 'refused', code: status, subcode: 0, text, isTokenAtFault: true }
  } catch (error) {
    return { outcome: 'failed', text: `no answer: ${errorMessage(error)}` }
  }
}

/** A request with a JSON body. */
export function post(path: string, body: object): Pick<Call, 'method' | 'path' | 'headers' | 'body'> {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The path of an object by its id. */
export function objectPath(id: string): string {
  return `/${encodeURIComponent(id)}`
}
