import type { Sentence } from '../../../src/model/sentence.js'

/** The body of an error, in the format of the API. */
export class ApiError extends Error {
  readonly status: number
  /** The error's name, such as `Contact not found`. */
  readonly error: string
  /** The message as a sentence, if it is one. */
  readonly sentence: Sentence | undefined
  /** The whole body. */
  readonly body: Record<string, unknown>

  constructor(status: number, body: Record<string, unknown>) {
    super(typeof body.message === 'string' ? body.message : `HTTP ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.error = typeof body.error === 'string' ? body.error : ''
    this.sentence = body.sentence as Sentence | undefined
    this.body = body
  }
}

/** Options of a request. */
export interface Options {
  /** Query parameters; undefined, null and empty values are left out. */
  query?: Record<string, string | number | boolean | null | undefined>
  /** Sent as JSON; a Blob is sent unchanged. */
  body?: unknown
  /** The type of a Blob, if the service does not detect it. */
  contentType?: string
  /** The Idempotency-Key, which makes a POST safe to repeat. */
  idempotencyKey?: string
  signal?: AbortSignal
}

const BASE = '/console/api'

let actor: string | null = null

/** The member of the following requests. The service refuses them if another tab has signed in another member. */
export function actAs(memberId: string | null): void {
  actor = memberId
}

/** A URL under /console/api. */
export function apiUrl(path: string, query: Options['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  )
  return `${BASE}${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`
}

/**
 * Requests a `path` under /console/api. Throws ApiError for an error of the service, TypeError without a connection.
 */
async function request<Answer>(method: string, path: string, options: Options = {}): Promise<Answer> {
  const { query, body, idempotencyKey, signal, contentType = 'application/octet-stream' } = options
  const isFile = body instanceof Blob
  const response = await fetch(apiUrl(path, query), {
    method,
    headers: {
      ...(actor !== null && { 'x-parley-member': actor }),
      ...(body !== undefined && { 'content-type': isFile ? contentType : 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: body === undefined ? null : isFile ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
  const answer = await readJson(response)
  if (response.ok) return answer as Answer
  if (response.status === 401) window.dispatchEvent(new Event(SIGNED_OUT))
  throw new ApiError(response.status, answer)
}

/** Dispatched on window when a request fails because the session has ended. */
export const SIGNED_OUT = 'parley:signed-out'

async function readJson(response: Response): Promise<Record<string, unknown>> {
  try {
    return (await response.json()) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Requests to the service, by method. */
export const api = {
  get: <Answer>(path: string, query?: Options['query'], signal?: AbortSignal) =>
    request<Answer>('GET', path, { ...(query && { query }), ...(signal && { signal }) }),
  post: <Answer>(path: string, body: unknown = {}, options?: Omit<Options, 'body'>) =>
    request<Answer>('POST', path, { ...options, body }),
  put: <Answer>(path: string, body: unknown, options?: Omit<Options, 'body'>) =>
    request<Answer>('PUT', path, { ...options, body }),
  patch: <Answer>(path: string, body: unknown, options?: Omit<Options, 'body'>) =>
    request<Answer>('PATCH', path, { ...options, body }),
  delete: <Answer>(path: string, query?: Options['query'], body?: unknown) =>
    request<Answer>('DELETE', path, { ...(query && { query }), ...(body !== undefined && { body }) }),
}
