/** What a refusal of the upstream means for the message; decided by `error.code`, never by HTTP status or title. */
export type RefusalClass = 'credentials' | 'limited' | 'busy' | 'permanent'

const CREDENTIALS = new Set([0, 3, 10, 104, 190, 131005])
const LIMITED = new Set([4, 80007, 130429, 131056])
const BUSY = new Set([2, 131016, 131057, 133004])

/** Too many messages from one number to one recipient: clears far more slowly than the other limits. */
export const PAIR_LIMIT = 131056

/**
 * Classifies a code of an error body. `limited` and `busy` are surely not accepted and may be sent again; the rest of the
 * codes with a 4xx status are final for this message.
 */
export function classifyRefusal(code: number): RefusalClass {
  if (CREDENTIALS.has(code) || (code >= 200 && code <= 299)) return 'credentials'
  if (LIMITED.has(code)) return 'limited'
  if (BUSY.has(code)) return 'busy'
  return 'permanent'
}

/** Errors of a connection that was never made, so that nothing can have been accepted. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** Whether a transport error happened before the request could leave. */
export function wasNeverConnected(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  if (typeof code === 'string' && NEVER_CONNECTED.has(code)) return true
  if (error instanceof AggregateError) return error.errors.every(wasNeverConnected)
  return cause !== undefined && cause !== null && wasNeverConnected(cause)
}
