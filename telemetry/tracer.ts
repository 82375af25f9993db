// The door to tracing: what a span is begun and ended with, and what it passes on. Types only; whoever
// implements it stands in otlp-tracer.ts, which nothing loads unless traces are asked for.

export type SpanKind = 'server' | 'client' | 'producer'

export type SpanAttributes = Readonly<Record<string, string | number>>

export interface SpanStart {
  /** Of few different values: a method and a pattern, never the path of a request. */
  readonly name: string
  readonly kind: SpanKind
  readonly attributes?: SpanAttributes
}

export interface SpanEnd {
  /** Instead of the name it began with. */
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
  /** False: nothing of it is exported, so nobody need make attributes. */
  readonly isRecorded: boolean
  /** What the next hop is sent, `traceparent` and perhaps `tracestate`: name, value, name, value. */
  headers(): readonly string[]
  child(start: SpanStart): TraceSpan
  /** Once. */
  end(end: SpanEnd): void
}

/** Spans of this process so far. */
export interface TracerCounts {
  readonly exported: number
  /** The collector did not take them. */
  readonly failed: number
  /** There was no place for them to wait. */
  readonly dropped: number
  /** Ended, and not with the collector yet. */
  readonly waiting: number
}

export interface Tracer {
  begin(start: SpanStart, incoming: IncomingTrace): TraceSpan
  counts(): TracerCounts
  /** Exports what waits, within two seconds; what is left then is lost. Never rejects. */
  close(): Promise<void>
}
