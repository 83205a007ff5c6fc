import type { TracingConfig } from './config/settings.js'
import { packageVersion } from './lib/files/package-version.js'
import type { TraceContext } from './lib/http/trace-context.js'
import type { Span, SpanFields, SpanKind, Tracer } from './lib/tracer.js'
import type { Logger } from './log.js'

/** Spans wait for an export at most this long, and at most this many; later ones are dropped. */
const EXPORT_EVERY_MS = 1_000
const MAX_WAITING = 4_096
const MAX_EXPORTED = 512
const EXPORT_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 3_000
/** Failures of the export are logged at most this often. */
const LOG_EVERY_MS = 60_000

/**
 * Exports spans by OTLP over HTTP (JSON). The packages are loaded here, so a service that exports none does not have
 * them in memory. Throws if they are not installed.
 */
export async function openTracer({ url, headers, sampling }: TracingConfig, log: Logger): Promise<Tracer> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }, { setGlobalErrorHandler }] =
    await importPackages()
  setGlobalErrorHandler(createErrorLog(log))
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_TIMEOUT_MS })
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'parley', 'service.version': packageVersion }),
    // Spans are begun only for what is sampled.
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [
      new sdk.BatchSpanProcessor(exporter, {
        scheduledDelayMillis: EXPORT_EVERY_MS,
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_EXPORTED,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('parley')
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL }

  function begin(name: string, parent: TraceContext | null, kind: SpanKind, attributes: SpanFields = {}): Span {
    const around = parent === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, toRemote(parent))
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, around)
    const { traceId, spanId } = span.spanContext()
    const context = { traceId, spanId, isSampled: true }
    return {
      context,
      child: (childName, fields, isCall = false) => begin(childName, context, isCall ? 'client' : 'internal', fields),
      end: (fields = {}, error) => {
        if (!span.isRecording()) return
        span.setAttributes(fields)
        if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error })
        span.end()
      },
    }
  }
  const toRemote = ({ traceId, spanId }: TraceContext) => {
    return { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true }
  }

  return {
    samples: (parent) => (parent === null ? Math.random() < sampling : parent.isSampled),
    begin,
    close: async () => {
      const timer = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref())
      await Promise.race([provider.shutdown().catch(() => undefined), timer])
    },
  }
}

function importPackages() {
  return Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
  ]).catch((error: unknown) => {
    throw new Error(
      'PARLEY_OTLP_URL needs the packages @opentelemetry/*, which npm installs unless optional ones are omitted',
      { cause: error },
    )
  })
}

function createErrorLog(log: Logger): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - loggedAt < LOG_EVERY_MS) return
    loggedAt = performance.now()
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'traces could not be exported')
  }
}
