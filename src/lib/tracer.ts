import type { TraceContext } from './http/trace-context.js'

/** What a span has besides its name and its time. */
export type SpanFields = Readonly<Record<string, string | number | boolean>>

/** The part of a trace that something took; it is exported when it has ended. */
export interface Span {
  /** Its position, for what it causes. */
  readonly context: TraceContext
  /** Begins a part of it. `isCall`: a call to another service. */
  child(name: string, fields?: SpanFields, isCall?: boolean): Span
  /** Ends it, once. `error`: why it failed. */
  end(fields?: SpanFields, error?: string): void
}

/** Records traces, or those that are sampled. */
export interface Tracer {
  /**
   * Whether to record something. What belongs to a trace is recorded if its caller records it; without `parent` it is
   * one of the sampled ones, or not.
   */
  samples(parent: TraceContext | null): boolean
  /** Begins a span; without `parent` that of a new trace. */
  begin(name: string, parent: TraceContext | null, kind: SpanKind, fields?: SpanFields): Span
  /** Exports what has ended, within 3 s. */
  close(): Promise<void>
}

/** A request that is answered, a call that is made, or work inside the service. */
export type SpanKind = 'server' | 'client' | 'internal'
