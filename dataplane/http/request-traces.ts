// Creates a server span for each request of a public listener (OpenTelemetry's HTTP conventions). It wraps dispatch,
// so that without traces dispatch does nothing for them. It never records a query or a header.

import type { IncomingMessage } from 'node:http'
import type { Scheme } from '../../language/document.ts'
import { pathOf } from '../../telemetry/access-log.ts'
import type { SpanEnd, Tracer, TraceSpan } from '../../telemetry/tracer.ts'
import type { Authority } from '../../language/routes/authority.ts'
import { clientAddress } from '../client-address.ts'
import type { ServerHandlers } from '../listen/http-server.ts'
import type { RequestSpans } from '../request-spans.ts'
import { CLIENT_WENT_AWAY, type Settlement, type TracedOperation } from './settlement.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { SettledTraces } from './report.ts'
import type { ReadClient } from './request/forwarded.ts'
import { toMethod } from '../../language/router/select-route.ts'

export interface RequestTraces extends SettledTraces {
  /** Wraps `handlers` so that a span begins before each request. */
  traced(handlers: ServerHandlers, scheme: Scheme): ServerHandlers
  /** Ends the spans of connections that are still open. */
  close(): void
}

export interface RequestTracesOptions {
  readonly tracer: Tracer
  readonly spans: RequestSpans
  /** Decides whose `traceparent` is trusted: that of trusted proxies. */
  readonly readClient: ReadClient
}

/** @example createRequestTraces({ tracer, spans, readClient }).traced({ onRequest }, 'http') */
export const createRequestTraces = ({
  tracer,
  spans,
  readClient,
}: RequestTracesOptions): RequestTraces => {
  const upgraded = new Set<() => void>()

  const begin = (request: IncomingMessage, scheme: Scheme): void => {
    const { traceparent, tracestate } = request.headers
    const incoming = {
      traceparent: single(traceparent),
      tracestate: single(tracestate),
      isTrusted: traceparent !== undefined && readClient(request, scheme) !== undefined,
    }
    const name = methodOf(request) ?? 'HTTP'
    spans.set(request, tracer.begin({ name, kind: 'server' }, incoming))
  }

  const endWithConnection = (socket: IncomingMessage['socket'], end: () => void): void => {
    const once = (): void => {
      if (upgraded.delete(once)) end()
    }
    upgraded.add(once)
    if (socket.destroyed) once()
    else socket.once('close', once)
  }

  return {
    traced: (handlers, scheme) => {
      const { onRequest, onUpgrade } = handlers
      return {
        ...handlers,
        onRequest: (request, response) => {
          begin(request, scheme)
          onRequest(request, response)
        },
        ...(onUpgrade && {
          onUpgrade: (request, socket, head) => {
            begin(request, scheme)
            onUpgrade(request, socket, head)
          },
        }),
      }
    },
    settled: (incomingRequest, settlement, operation) => {
      const { request } = incomingRequest
      const span: TraceSpan | undefined = spans.of(request)
      if (span?.isRecorded !== true) return
      const end = endOf(incomingRequest, settlement, operation)
      if (settlement.status !== 101) span.end(end)
      else {
        endWithConnection(request.socket, () => {
          span.end(end)
        })
      }
    },
    traceIdOf: (request) => spans.of(request)?.traceId,
    close: () => {
      for (const end of upgraded) end()
    },
  }
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value

/** Upper case; undefined for a method that is not well known, whose text a client has chosen. */
const methodOf = ({ method = '' }: IncomingMessage): string | undefined =>
  toMethod(method) === undefined && method !== 'TRACE' && method !== 'CONNECT' ? undefined : method

const endOf = (
  incomingRequest: Omit<IncomingRequest, 'response'>,
  settlement: Settlement,
  operation: TracedOperation | undefined,
): SpanEnd => {
  const { request, head, scheme, client, id } = incomingRequest
  const method = methodOf(request)
  return {
    name: `${method ?? 'HTTP'}${operation === undefined ? '' : ` ${operation.template}`}`,
    isError: settlement.status >= 500,
    attributes: {
      'http.request.method': method ?? '_OTHER',
      'url.path': pathOf(request.url ?? ''),
      'url.scheme': scheme,
      'network.protocol.version': request.httpVersion,
      'client.address': clientAddress(request, client),
      ...serverOf(head.authority),
      ...endAttributesOf(settlement),
      'svc.request_id': id,
      ...documentOf(operation),
    },
  }
}

const endAttributesOf = ({
  status,
  bytes,
  refusal,
  why,
}: Settlement): Record<string, string | number> => {
  if (status === CLIENT_WENT_AWAY) return { 'error.type': 'client_went_away' }
  return {
    'http.response.status_code': status,
    'http.response.body.size': bytes,
    ...(status >= 500 && { 'error.type': refusal ?? why?.reason ?? String(status) }),
    ...(why?.upstream !== undefined && { 'svc.upstream': why.upstream }),
    ...(refusal !== undefined && { 'svc.refusal': refusal }),
  }
}

/** Longer names are not valid (RFC 1035). */
const MAX_HOST = 255

const serverOf = ({ host, port }: Authority): Record<string, string | number> => ({
  ...(host !== '' && { 'server.address': host.slice(0, MAX_HOST) }),
  ...(port !== '' && { 'server.port': Number(port) }),
})

const documentOf = (operation: TracedOperation | undefined): Record<string, string> =>
  operation === undefined
    ? {}
    : {
        'http.route': operation.template,
        'svc.document.id': operation.version.apiId,
        'svc.document.version': operation.version.name,
        'svc.realm': operation.version.realmUri,
        'svc.action': operation.action,
      }
