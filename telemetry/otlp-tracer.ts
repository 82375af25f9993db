// Exports spans in batches to an OpenTelemetry collector (OTLP over HTTP, JSON); the only door to OpenTelemetry.
// Bounded: spans beyond the queue are counted and dropped, and nothing ever waits for the collector.

import { withTimeout } from '../base/timeout.ts'
import {
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer as VendorTracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import type {
  IncomingTrace,
  SpanAttributes,
  SpanStart,
  Tracer,
  TracerCounts,
  TraceSpan,
} from './tracer.ts'
import { parseTraceparent } from './traceparent.ts'

export interface OtlpTracerOptions {
  /** The whole URL, with its path. */
  readonly url: string
  /** Called before each export; an error that it throws fails that export. */
  readonly headers: () => Readonly<Record<string, string>>
  /** Trusted CAs in PEM; the system's when left out. */
  readonly ca?: readonly string[]
  /** From 0 to 1: the share of requests that are sampled when they bring no sampling decision that counts. */
  readonly share: number
  /** Attributes of the sender: `service.name` and so on. */
  readonly resource: SpanAttributes
  /** Called at every export that failed, and for every span that was dropped. */
  readonly onLost: (reason: string, counts: TracerCounts) => void
}

/** Spans of this process, those being exported included: about 8 MB. */
const MAX_WAITING = 4096
/** Written as JSON in one go: 256 spans cost about 2 ms. */
const BATCH = 256
const BATCH_AFTER_MS = 2000
/** The time for one export with its retries. */
const EXPORT_MS = 5000
const CLOSE_MS = 2000

/** @example createOtlpTracer({ url: 'http://127.0.0.1:4318/v1/traces', headers: () => ({}), share: 1, resource, onLost }) */
export const createOtlpTracer = (options: OtlpTracerOptions): Tracer => {
  const tally: Tally = { exported: 0, failed: 0, dropped: 0, waiting: 0 }
  const lose = (reason: string): void => {
    options.onLost(reason, { ...tally })
  }
  const batches = new BatchSpanProcessor(counting(createExporter(options), tally, lose), {
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: BATCH_AFTER_MS,
    exportTimeoutMillis: EXPORT_MS + 1000,
  })
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    // A parent that is not trusted is no parent, so its decision never gets here.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    spanLimits: LIMITS,
    spanProcessors: [bounded(batches, tally, lose)],
  })
  const vendor = provider.getTracer('svc-gateway')
  return {
    begin: (start, incoming) => new OtlpSpan(vendor, startSpan(vendor, start, incoming)),
    counts: () => ({ ...tally }),
    close: async () => {
      // The failure has been counted and logged already.
      const ending = provider.shutdown().catch(() => undefined)
      await withTimeout(ending, { ms: CLOSE_MS, onTimeout: () => undefined })
      if (tally.waiting > 0) lose('the collector did not take the last spans in time')
    },
  }
}

type Tally = { -readonly [K in keyof TracerCounts]: TracerCounts[K] }

const LIMITS = {
  attributeValueLengthLimit: 2048,
  attributeCountLimit: 32,
  eventCountLimit: 0,
  linkCountLimit: 1,
  attributePerEventCountLimit: 0,
  attributePerLinkCountLimit: 0,
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
} as const satisfies Record<SpanStart['kind'], SpanKind>

/**
 * A caller that is not trusted must not choose what is recorded, nor write into traces of others: its trace is only
 * linked.
 */
const startSpan = (vendor: VendorTracer, start: SpanStart, incoming: IncomingTrace): Span => {
  const { name, attributes = {} } = start
  const kind = KINDS[start.kind]
  const parent = parseTraceparent(incoming.traceparent)
  if (parent === undefined) return vendor.startSpan(name, { kind, attributes }, ROOT_CONTEXT)
  const { traceId, spanId, isSampled } = parent
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  const context = { traceId, spanId, traceFlags, isRemote: true }
  if (!incoming.isTrusted) {
    const links: Link[] = [{ context }]
    return vendor.startSpan(name, { kind, attributes, links }, ROOT_CONTEXT)
  }
  const traceState = createTraceState(incoming.tracestate)
  const remote = trace.setSpanContext(ROOT_CONTEXT, { ...context, traceState })
  return vendor.startSpan(name, { kind, attributes }, remote)
}

class OtlpSpan implements TraceSpan {
  readonly traceId: string
  readonly isRecorded: boolean
  readonly #vendor: VendorTracer
  readonly #span: Span

  constructor(vendor: VendorTracer, span: Span) {
    this.#vendor = vendor
    this.#span = span
    this.traceId = span.spanContext().traceId
    this.isRecorded = span.isRecording()
  }

  headers(): readonly string[] {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext()
    const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'
    const parent = ['traceparent', `00-${traceId}-${spanId}-${flags}`]
    const state = traceState?.serialize() ?? ''
    return state === '' ? parent : [...parent, 'tracestate', state]
  }

  child({ name, kind, attributes = {} }: SpanStart): TraceSpan {
    const context = trace.setSpan(ROOT_CONTEXT, this.#span)
    const options = { kind: KINDS[kind], attributes }
    return new OtlpSpan(this.#vendor, this.#vendor.startSpan(name, options, context))
  }

  end({ name, attributes, isError }: Parameters<TraceSpan['end']>[0]): void {
    // False as well once it has ended.
    if (!this.#span.isRecording()) return
    if (name !== undefined) this.#span.updateName(name)
    this.#span.setAttributes(attributes)
    if (isError) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}

const createExporter = ({ url, headers, ca }: OtlpTracerOptions): SpanExporter =>
  new OTLPTraceExporter({
    url,
    // Async, so that an error becomes a rejection, which the exporter treats as a failure.
    headers: async () => Promise.resolve({ ...headers() }),
    timeoutMillis: EXPORT_MS,
    concurrencyLimit: MAX_WAITING / BATCH,
    userAgent: 'svc-gateway',
    httpAgentOptions: { keepAlive: true, maxSockets: 4, ...(ca && { ca: [...ca] }) },
  })

/** Every span that the processor accepts leaves the count once, whatever the collector does. */
const counting = (
  exporter: SpanExporter,
  tally: Tally,
  lose: (reason: string) => void,
): SpanExporter => ({
  export: (spans, done) => {
    let isSettled = false
    const settle = (error?: Error): void => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      tally.waiting -= spans.length
      tally[error === undefined ? 'exported' : 'failed'] += spans.length
      if (error !== undefined) lose(reasonOf(error))
    }
    // A collector that responds byte by byte keeps the vendor's own time-out from ever firing.
    const timer = setTimeout(() => {
      settle(new Error('the collector took too long'))
    }, EXPORT_MS + 500).unref()
    exporter.export(spans, (result) => {
      settle(result.error)
      done(result)
    })
  },
  shutdown: () => exporter.shutdown(),
})

/** The error's message, which is empty for a refused connection to several addresses, and its code or status. */
const reasonOf = (error: Error): string => {
  const { code } = error as { readonly code?: unknown }
  const text = typeof code === 'string' || typeof code === 'number' ? `${code} ` : ''
  return `${text}${error.message}`.trim().slice(0, 256)
}

const bounded = (
  inner: SpanProcessor,
  tally: Tally,
  lose: (reason: string) => void,
): SpanProcessor => ({
  onStart: () => undefined,
  onEnd: (span) => {
    if (tally.waiting >= MAX_WAITING) {
      tally.dropped++
      lose('more spans than the collector takes')
      return
    }
    tally.waiting++
    inner.onEnd(span)
  },
  forceFlush: () => inner.forceFlush(),
  shutdown: () => inner.shutdown(),
})
