// Receives spans as an OpenTelemetry collector does, as far as tests need one: OTLP/HTTP with JSON. It answers as a
// test sets: at once, with a status, or never.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedSpan {
  readonly name: string
  /** As OTLP numbers them: 2 server, 3 client, 4 producer. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
  readonly milliseconds: number
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly spans: () => readonly ReceivedSpan[]
  /** Of every export, in order. */
  readonly requests: () => readonly {
    readonly path: string
    readonly headers: IncomingHttpHeaders
  }[]
  /** `hang`: takes the connection and says nothing. */
  answerWith(status: number | 'hang'): void
}

/** @example await using collector = await startOtlpReceiver() */
export const startOtlpReceiver = async (port = 0): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  let status: number | 'hang' = 200
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers })
    const answer = (body: string): void => {
      if (status === 'hang') return
      if (status === 200) spans.push(...flatten(JSON.parse(body) as Exported))
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    }
    // A gateway that is killed, or this receiver at its end, breaks an export off.
    text(request).then(answer, () => undefined)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    spans: () => spans,
    requests: () => requests,
    answerWith: (next) => {
      status = next
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Pair {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] }
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
  }[]
}

interface ExportedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly attributes: readonly Pair[]
  readonly links: ReceivedSpan['links']
  readonly status: { readonly code: number }
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

const flatten = ({ resourceSpans }: Exported): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => flat(span, resource.attributes))),
  )

const flat = (span: ExportedSpan, resource: readonly Pair[]): ReceivedSpan => ({
  name: span.name,
  kind: span.kind,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  traceState: span.traceState ?? '',
  attributes: mapOf(span.attributes),
  resource: mapOf(resource),
  links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
  isError: span.status.code === 2,
  milliseconds: Number(
    (BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000n,
  ),
})

const mapOf = (pairs: readonly Pair[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
