import { Agent } from 'undici'

/** A business number and the credential to use it. */
export interface BusinessNumber {
  phoneNumberId: string
  accessToken: string
}

/** The connections to one upstream, and where its API stands there. */
export interface Connection {
  agent: Agent
  origin: string
  /** The path of the API, such as `/v23.0`. */
  base: string
}

export const CONNECT_TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 1_048_576

/** Connections to the API at `baseUrl` (with its version, such as https://host/v23.0); made when they are needed. */
export function openConnection(baseUrl: string): Connection {
  const { origin, pathname } = new URL(baseUrl)
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: MAX_ANSWER_BYTES,
    keepAliveTimeout: 30_000,
  })
  return { agent, origin, base: pathname.replace(/\/$/, '') }
}

/** The limits of one call that may wait `timeoutMs` for its answer. */
export function callLimits(timeoutMs: number) {
  return {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // The other two end silences; this one ends an answer that trickles.
    signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS + timeoutMs),
  }
}
