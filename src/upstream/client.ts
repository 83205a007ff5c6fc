import { Agent, type Dispatcher } from 'undici'
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../lib/json.js'
import { isStorable, toStorable } from '../lib/text.js'
import { classifyRefusal, PAIR_LIMIT, wasNeverConnected } from './errors.js'
import type { OutboundMessage } from './wire.js'

/** A business number and the credential to send from it. */
export interface BusinessNumber {
  phoneNumberId: string
  accessToken: string
}

/** What became of one call. `not_accepted` may be sent again; of `unknown` nobody can tell (contract 4, Sending). */
export type SendOutcome =
  | { outcome: 'accepted'; upstreamId: string; waId: string | null; answer: JsonObject }
  /** `code` is the upstream's, or the HTTP status where its answer has none. */
  | { outcome: 'refused'; because: 'message' | 'credentials'; code: number; text: string }
  | {
      outcome: 'not_accepted'
      /** Whose rate was exceeded, if that is the reason. */
      limit: 'number' | 'pair' | null
      code: number | null
      text: string
      retryAfterMs: number | null
      /** Whether this call may be tried again at once; else it is for the caller to come back later. */
      mayRetry: boolean
    }
  | { outcome: 'unknown'; text: string }

/** The business API as far as it is used. */
export interface UpstreamClient {
  /** Sends one message; gives up waiting after `timeoutMs`. Never throws. */
  send(number: BusinessNumber, message: OutboundMessage, timeoutMs: number): Promise<SendOutcome>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 1_048_576
/** An id longer than this would not fit into an index, and no upstream makes one. */
const MAX_ID_LENGTH = 512
const MAX_REASON_LENGTH = 1_000

/** A client of the business API at `baseUrl` (with its version, such as https://host/v23.0). */
export function createUpstreamClient(baseUrl: string): UpstreamClient {
  const { origin, pathname } = new URL(baseUrl)
  const base = pathname.replace(/\/$/, '')
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: MAX_ANSWER_BYTES,
    keepAliveTimeout: 30_000,
  })
  return {
    send: (number, message, timeoutMs) => send(agent, origin, base, number, message, timeoutMs),
    close: () => agent.close(),
  }
}

async function send(
  agent: Agent,
  origin: string,
  base: string,
  { phoneNumberId, accessToken }: BusinessNumber,
  message: OutboundMessage,
  timeoutMs: number,
): Promise<SendOutcome> {
  try {
    const response = await agent.request({
      origin,
      path: `${base}/${encodeURIComponent(phoneNumberId)}/messages`,
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      // The other two end silences; this one ends an answer that trickles.
      signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS + timeoutMs),
    })
    return readAnswer(response, await response.body.text())
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (!wasNeverConnected(error)) return { outcome: 'unknown', text: `no answer: ${text}` }
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

/** An acceptance or an error body is believed whatever the HTTP status; without either, the status has to do. */
function readAnswer({ statusCode, headers }: Dispatcher.ResponseData, body: string): SendOutcome {
  const answer = parseObject(body)
  const isSuccess = statusCode >= 200 && statusCode < 300
  const accepted = isSuccess && answer !== null ? readAcceptance(answer) : null
  if (accepted) return accepted
  const error = asObject(answer?.error)
  if (Number.isSafeInteger(error.code)) return readError(error, error.code as number, statusCode, headers)
  if (isSuccess) return { outcome: 'unknown', text: `HTTP ${statusCode} without a message id` }
  return readBareStatus(statusCode, headers)
}

function readAcceptance(answer: JsonObject): SendOutcome | null {
  const upstreamId = asText(asObjects(answer.messages)[0]?.id)
  if (upstreamId === null || upstreamId.length > MAX_ID_LENGTH || !isStorable(upstreamId)) return null
  return { outcome: 'accepted', upstreamId, waId: asText(asObjects(answer.contacts)[0]?.wa_id), answer }
}

function readError(
  error: JsonObject,
  code: number,
  statusCode: number,
  headers: Dispatcher.ResponseData['headers'],
): SendOutcome {
  const reason = asText(asObject(error.error_data).details) ?? asText(error.message) ?? `error ${code}`
  const text = toStorable(reason.slice(0, MAX_REASON_LENGTH))
  const kind = classifyRefusal(code)
  if (kind === 'limited' || kind === 'busy') {
    const limit = kind === 'busy' ? null : code === PAIR_LIMIT ? 'pair' : 'number'
    return { outcome: 'not_accepted', limit, code, text, retryAfterMs: readRetryAfter(headers), mayRetry: true }
  }
  if (statusCode >= 500) return { outcome: 'unknown', text: `HTTP ${statusCode}: ${text}` }
  return { outcome: 'refused', because: kind === 'credentials' ? 'credentials' : 'message', code, text }
}

/** An answer without an error body comes from something in between; only a 4xx tells that nothing was accepted. */
function readBareStatus(statusCode: number, headers: Dispatcher.ResponseData['headers']): SendOutcome {
  const text = `HTTP ${statusCode} without an error body: what answers at PARLEY_UPSTREAM_URL may not be the upstream's API`
  if (statusCode === 429) {
    const retryAfterMs = readRetryAfter(headers)
    return { outcome: 'not_accepted', limit: 'number', code: null, text, retryAfterMs, mayRetry: false }
  }
  if (statusCode === 401 || statusCode === 403)
    return { outcome: 'refused', because: 'credentials', code: statusCode, text }
  if (statusCode >= 500 || statusCode === 408) return { outcome: 'unknown', text }
  return { outcome: 'refused', because: 'message', code: statusCode, text }
}

/** Milliseconds; the header holds seconds or a date. */
function readRetryAfter(headers: Dispatcher.ResponseData['headers']): number | null {
  const value = String(headers['retry-after'] ?? '')
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : null
}

function parseObject(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
