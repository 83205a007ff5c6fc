/** A position in a trace, as the header `traceparent` carries it (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  traceId: string
  /** 16 lower-case hexadecimal digits. */
  spanId: string
  /** Whether the caller records the trace. */
  isSampled: boolean
}

/** Version, trace id, span id, flags; a version after 00 may add fields. */
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const MAX_LENGTH = 512

/** Reads a `traceparent`; null if there is none or it is not valid, as the standard asks. */
export function readTraceparent(given: unknown): TraceContext | null {
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return null
  const [, version, traceId, spanId, flags, further] = FORM.exec(given) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === '00' && further !== undefined) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The header's value. */
export function writeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
