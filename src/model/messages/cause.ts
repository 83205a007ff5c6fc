import type { TraceContext } from '../../lib/http/trace-context.js'
import type { Span } from '../../lib/tracer.js'

/** What asks for a message: a request with a key, a member's request, a client of the gateway, or a broadcast. */
export type Asker = 'api_key' | 'member' | 'instance' | 'broadcast'

/** Who asked for a message, and with which request. */
export interface Cause {
  by: Asker
  /** The id of the key, the member, the instance or the broadcast. */
  id: string
  /** When the request arrived; for a broadcast, when the recipient's turn came. */
  at: Date
  requestId: string | null
  idempotencyKey: string | null
  /** The position in the trace of the request; null if it has none. */
  trace: TraceContext | null
  /** The span of the request; null if it is not recorded here. */
  span: Span | null
}
