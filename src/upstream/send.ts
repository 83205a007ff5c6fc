import { NotConnectedError } from '../lib/http/dispatch.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObjects, asText, type JsonObject } from '../lib/text/json.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import { PAIR_LIMIT } from './errors.js'
import type { OutboundMessage } from './wire.js'

/** The HTTP answer to a call: its status, and the upstream's own id of the request, if it names one. */
export interface HttpTold {
  status: number
  requestId: string | null
}

/**
 * The outcome of one call. After `not_accepted` the message may be sent again; after `unknown` it may or may not have
 * been accepted. `http` is absent if there was no answer.
 */
export type SendOutcome = { http?: HttpTold } & (
  | {
      outcome: 'accepted'
      upstreamId: string
      waId: string | null
      userId?: string | null
      /** It is held back until the upstream knows how the first recipients of its template react. */
      isHeld?: boolean
      answer: JsonObject
    }
  /** `code` is the upstream's, or the HTTP status if there is none. */
  | { outcome: 'refused'; because: 'message' | 'credentials'; code: number; text: string }
  | {
      outcome: 'not_accepted'
      /** Whose rate limit was exceeded, if that is the reason. */
      limit: 'number' | 'pair' | null
      code: number | null
      text: string
      retryAfterMs: number | null
      /** True if this call may be retried at once; otherwise the caller retries later. */
      mayRetry: boolean
    }
  | { outcome: 'unknown'; text: string }
)

/** Sends one message, waiting at most `timeoutMs`. Never throws. */
export async function send(
  connection: Connection,
  number: BusinessNumber,
  message: OutboundMessage,
  timeoutMs: number,
): Promise<SendOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/messages`
  const headers = { 'content-type': 'application/json' }
  try {
    const body = JSON.stringify(message)
    const answer = await makeCall(connection, number, { method: 'POST', path, headers, body }, timeoutMs)
    return { ...toOutcome(answer), http: { status: answer.status, requestId: answer.requestId } }
  } catch (error) {
    const text = errorMessage(error)
    if (!(error instanceof NotConnectedError)) return { outcome: 'unknown', text: `no answer: ${text}` }
    return {
      outcome: 'not_accepted',
      limit: null,
      code: null,
      text: `no connection: ${text}`,
      retryAfterMs: null,
      mayRetry: true,
    }
  }
}

/** A message id counts only with a 2xx status, an error body with any status. Without either, the status decides. */
function toOutcome(answer: Answer): SendOutcome {
  const accepted = answer.isSuccess && answer.body !== null ? readAcceptance(answer.body) : null
  if (accepted) return accepted
  if (answer.error) return readError(answer, answer.error)
  if (answer.isSuccess) return { outcome: 'unknown', text: `HTTP ${answer.status} without a message id` }
  return readBareStatus(answer)
}

const HELD = 'held_for_quality_assessment'

function readAcceptance(answer: JsonObject): SendOutcome | null {
  const [message = {}] = asObjects(answer.messages)
  const upstreamId = readId(message.id)
  if (upstreamId === null) return null
  const [contact = {}] = asObjects(answer.contacts)
  const person = { waId: asText(contact.wa_id), userId: readId(contact.user_id) }
  return {
    outcome: 'accepted',
    upstreamId,
    ...person,
    ...(message.message_status === HELD && { isHeld: true }),
    answer,
  }
}

function readError({ status, retryAfterMs }: Answer, { code, kind, text }: NonNullable<Answer['error']>): SendOutcome {
  if (kind === 'limited' || kind === 'busy') {
    const limit = kind === 'busy' ? null : code === PAIR_LIMIT ? 'pair' : 'number'
    return { outcome: 'not_accepted', limit, code, text, retryAfterMs, mayRetry: true }
  }
  if (status >= 500) return { outcome: 'unknown', text: `HTTP ${status}: ${text}` }
  return { outcome: 'refused', because: kind === 'credentials' ? 'credentials' : 'message', code, text }
}

/**
 * An answer without an error body comes from a proxy in between; only a 4xx shows that the upstream accepted nothing.
 */
function readBareStatus({ status, retryAfterMs }: Answer): SendOutcome {
  const text = bareStatusText(status)
  if (status === 429)
    return { outcome: 'not_accepted', limit: 'number', code: null, text, retryAfterMs, mayRetry: false }
  if (status === 401 || status === 403) return { outcome: 'refused', because: 'credentials', code: status, text }
  if (status >= 500 || status === 408) return { outcome: 'unknown', text }
  return { outcome: 'refused', because: 'message', code: status, text }
}
