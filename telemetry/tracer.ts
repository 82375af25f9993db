// Defines the interface of tracing: how spans begin and end, and what is passed on. Types only; the implementation is
// otlp-tracer.ts, which is loaded only when traces are enabled.

export type SpanKind = 'server' | 'client' | 'producer'

export type SpanAttributes = Readonly<Record<string, string | number>>

export interface SpanStart {
  /** One of few values: a method and a pattern, never the path of a request. */
  readonly name: string
  readonly kind: SpanKind
  readonly attributes?: SpanAttributes
}

export interface SpanEnd {
  /** Replaces the name that it began with. */
  readonly name?: string
  readonly attributes: SpanAttributes
  readonly isError: boolean
}

/** W3C Trace Context as it came with a request. */
export interface IncomingTrace {
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
  /** True: its trace is continued, and its decision to sample holds. False: a new trace is linked to it. */
  readonly isTrusted: boolean
}

export interface TraceSpan {
  /** 32 hex digits. */
  readonly traceId: string
  /** False: nothing of it is exported, so no attributes need be computed. */
  readonly isRecorded: boolean
  /** The headers for the next hop, `traceparent` and perhaps `tracestate`: name, value, name, value. */
  headers(): readonly string[]
  child(start: SpanStart): TraceSpan
  /** To be called once. */
  end(end: SpanEnd): void
}

/** Spans of this process so far. */
export interface TracerCounts {
  readonly exported: number
  /** The collector did not accept them. */
  readonly failed: number
  /** There was no place in the queue. */
  readonly dropped: number
  /** Ended, and not delivered to the collector yet. */
  readonly waiting: number
}

export interface Tracer {
  begin(start: SpanStart, incoming: IncomingTrace): TraceSpan
  counts(): TracerCounts
  /** Exports what waits, within two seconds; the rest is lost. Never rejects. */
  close(): Promise<void>
}
