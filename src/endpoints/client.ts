import { signWebhook } from '../lib/crypto/standard-webhooks.js'
import type { AddressGuard } from '../lib/http/address-guard.js'
import { createHttpClient } from '../lib/http/client.js'
import { findObstacle, readUrl } from './address.js'
import { makeCall } from './call.js'
import { type EndpointAnswer, failure } from './outcome.js'

export type { EndpointAnswer } from './outcome.js'

export interface EndpointCall {
  url: string
  /** With their prefix (lib/crypto/standard-webhooks); each of them signs. */
  secrets: readonly string[]
  /** The webhook-id, which is the same at every attempt. */
  id: string
  /** The time of this attempt. */
  at: Date
  /** JSON. */
  body: string
  /** Additional headers in lower case; they cannot replace ours, except the user-agent. */
  headers?: Readonly<Record<string, string>>
}

/** Calls endpoints given by users. */
export interface EndpointClient {
  /**
   * Posts a signed webhook once. It counts as delivered if a 2xx status arrives within the time-out, which covers name
   * resolution, TLS and headers. Redirects are not followed and private addresses are refused. Failures are outcomes;
   * it rejects only if the signal aborts before the status. Any number of calls may run at the same time.
   */
  post(call: EndpointCall, signal: AbortSignal): Promise<EndpointAnswer>
  /**
   * Why `url` may not be called, as a short sentence; null if it may. A name that cannot be resolved within 3 s passes,
   * since addresses are checked again at every call.
   */
  check(url: string): Promise<string | null>
  /** Aborts all running calls. */
  close(): Promise<void>
}

/** Endpoints have 15 s to answer. */
const TIMEOUT_MS = 15_000
/** Servers usually close connections after 5 idle seconds without saying so. */
const KEEP_ALIVE_MS = 4_000

/** Creates the client of all endpoints; its connections pass the guard. `onAnswer` is called with each outcome. */
export function createEndpointClient({
  guard,
  timeoutMs = TIMEOUT_MS,
  onAnswer = () => undefined,
}: {
  guard: AddressGuard
  timeoutMs?: number
  onAnswer?: (answer: EndpointAnswer) => void
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
      const request = { origin: target.url, path, method: 'POST', headers, body } as const
      const answer = await makeCall(client, request, timeoutMs, signal)
      onAnswer(answer)
      return answer
    },
    check: (url) => findObstacle(guard, url),
    close: async () => client.close(),
  }
}
