// Maps each request in progress to its trace span, so that the code which begins and ends spans need not know what an
// action does. The entry goes away with its request.

import type { IncomingMessage } from 'node:http'
import type { TraceSpan } from '../telemetry/tracer.ts'

/** undefined for a request that is not traced. */
export type SpanOf = (incoming: IncomingMessage) => TraceSpan | undefined

export interface RequestSpans {
  readonly of: SpanOf
  set(incoming: IncomingMessage, span: TraceSpan): void
  /** The log's field for a line about that request. */
  field(incoming: IncomingMessage): { readonly traceId?: string }
}

export const createRequestSpans = (): RequestSpans => {
  const spans = new WeakMap<IncomingMessage, TraceSpan>()
  return {
    of: (incoming) => spans.get(incoming),
    set: (incoming, span) => {
      spans.set(incoming, span)
    },
    field: (incoming) => {
      const span = spans.get(incoming)
      return span === undefined ? {} : { traceId: span.traceId }
    },
  }
}
