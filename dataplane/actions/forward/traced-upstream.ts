// Wraps an upstream so that each attempt has a client span (OpenTelemetry's HTTP conventions) below the span of the
// request, whose context is sent along. It decides nothing.

import type { SpanAttributes, TraceSpan } from '../../../telemetry/tracer.ts'
import { causeOfError } from '../../upstream/failure-cause.ts'
import type {
  SwitchedConnection,
  Upstream,
  UpstreamError,
  UpstreamRequest,
  UpstreamSink,
} from '../../upstream/upstream.ts'

/** For one request: its further attempts count as resent. */
export const traceUpstream = (upstream: Upstream, parent: TraceSpan): Upstream => {
  let attempts = 0
  return {
    send: (request, sink) => {
      const resends = attempts++
      // The trace is not sampled: only that decision is propagated.
      if (!parent.isRecorded) return upstream.send(withContext(request, parent), sink)
      const attributes = attributesOf(request, resends)
      const span = parent.child({ name: request.method, kind: 'client', attributes })
      return upstream.send(withContext(request, span), new TracedSink(sink, span))
    },
    stats: () => upstream.stats(),
    close: () => upstream.close(),
  }
}

/** Replaces the trace context that the client or the document sent. */
const withContext = (request: UpstreamRequest, span: TraceSpan): UpstreamRequest => {
  const headers: string[] = []
  for (let at = 0; at + 1 < request.headers.length; at += 2) {
    const name = request.headers[at] ?? ''
    if (name !== 'traceparent' && name !== 'tracestate')
      headers.push(name, request.headers[at + 1] ?? '')
  }
  return { ...request, headers: [...headers, ...span.headers()] }
}

const attributesOf = (
  { origin, method, path }: UpstreamRequest,
  resends: number,
): SpanAttributes => {
  const { hostname, port, protocol } = new URL(origin)
  const query = path.indexOf('?')
  return {
    'http.request.method': method,
    'url.full': `${origin}${query === -1 ? path : path.slice(0, query)}`,
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    ...(resends > 0 && { 'http.request.resend_count': resends }),
  }
}

class TracedSink implements UpstreamSink {
  readonly #sink: UpstreamSink
  readonly #span: TraceSpan
  #status = 0

  constructor(sink: UpstreamSink, span: TraceSpan) {
    this.#sink = sink
    this.#span = span
  }

  onEarlyHints(rawHeaders: readonly string[]): void {
    this.#sink.onEarlyHints?.(rawHeaders)
  }

  onHead(statusCode: number, rawHeaders: readonly Buffer[] | readonly string[]): void {
    this.#status = statusCode
    this.#sink.onHead(statusCode, rawHeaders)
  }

  onSwitched(connection: SwitchedConnection): void {
    this.#status = 101
    this.#end()
    this.#sink.onSwitched?.(connection)
  }

  onData(chunk: Buffer): boolean {
    return this.#sink.onData(chunk)
  }

  onEnd(): void {
    this.#end()
    this.#sink.onEnd()
  }

  onError(error: UpstreamError): void {
    this.#end(error)
    this.#sink.onError(error)
  }

  onStale(): boolean {
    return this.#sink.onStale?.() === true
  }

  #end(error?: UpstreamError): void {
    const status = this.#status
    // A response that the gateway aborts after its head was no longer needed, which is no error.
    const failure =
      error === undefined || (error.code === 'aborted' && status > 0)
        ? undefined
        : causeOfError(error)
    const type = failure ?? (status >= 400 ? String(status) : undefined)
    this.#span.end({
      attributes: {
        ...(status > 0 && { 'http.response.status_code': status }),
        ...(type !== undefined && { 'error.type': type }),
      },
      isError: type !== undefined,
    })
  }
}
