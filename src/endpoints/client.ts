import { signWebhook } from '../lib/crypto/standard-webhooks.js'
import type { AddressGuard } from '../lib/http/address-guard.js'
import { createHttpClient } from '../lib/http/client.js'
import { findObstacle, readUrl } from './address.js'
import { makeCall } from './call.js'
import { type EndpointAnswer, failure } from './outcome.js'

export type { EndpointAnswer } from './outcome.js'

/** One webhook on its way to one endpoint. */
export interface EndpointCall {
  url: string
  /** Each with its prefix (lib/crypto/standard-webhooks); every one signs. */
  secrets: readonly string[]
  /** The webhook's id: the same at every attempt. */
  id: string
  /** The time of this attempt. */
  at: Date
  /** JSON. */
  body: string
  /** Further ones, in lower case; of ours only the user-agent gives way. */
  headers?: Readonly<Record<string, string>>
}

/** Calls the endpoints that users name. */
export interface EndpointClient {
  /**
   * Posts a signed webhook, once. It is delivered when a 2xx status comes within the time-out, which is for everything together: name
   * resolution, TLS, headers. Redirects are not followed, private addresses not connected to. What goes wrong is an outcome; only an
   * aborted signal rejects, with its reason, at any moment until the status is there. Any number of calls may be under way.
   */
  post(call: EndpointCall, signal: AbortSignal): Promise<EndpointAnswer>
  /**
   * Why `url` may not be called, as one short sentence; null when it may. A name that cannot be resolved within 3 s passes: addresses
   * are checked at every call again.
   */
  check(url: string): Promise<string | null>
  /** Hangs up on whatever is still being called. */
  close(): Promise<void>
}

/** What the contract gives an endpoint. */
const TIMEOUT_MS = 15_000
/** Servers usually hang up on connections that are idle for 5 s, and strangers do not say. */
const KEEP_ALIVE_MS = 4_000

/** A client of all endpoints; its connections pass the guard. */
export function createEndpointClient({
  guard,
  timeoutMs = TIMEOUT_MS,
}: {
  guard: AddressGuard
  timeoutMs?: number
}): EndpointClient {
  const client = createHttpClient({ guard, connectTimeoutMs: timeoutMs, keepAliveMs: KEEP_ALIVE_MS })
  return {
    post: async ({ url, secrets, id, at, body, headers: further }, signal) => {
      signal.throwIfAborted()
      const target = readUrl(url)
      if ('problem' in target) return failure({ error: target.problem })
      const headers = {
        'user-agent': 'Parley-Webhooks/1.0',
        ...further,
        'content-type': 'application/json',
        ...signWebhook(secrets, { id, timestamp: at, body }),
      }
      const path = target.url.pathname + target.url.search
      return makeCall(client, { origin: target.url, path, method: 'POST', headers, body }, timeoutMs, signal)
    },
    check: (url) => findObstacle(guard, url),
    close: async () => client.close(),
  }
}
