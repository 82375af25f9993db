// Writes the one HTTP response to a request for a built-in endpoint, with the headers that all such responses carry,
// and its row in metrics and access log.

import type { IncomingHttpHeaders } from 'node:http'
import { http } from '../../../base/node-http.ts'
import { CLIENT_WENT_AWAY, type Settlement } from '../settlement.ts'
import type { BuiltinRequest } from './builtin-request.ts'
import { countedRefusal, renderGatewayError, toGatewayError } from '../errors.ts'
import { report } from '../report.ts'
import { soundNames } from '../response/cors.ts'
import { headerOf, type HeaderList } from '../response/headers.ts'
import type { RenderedResponse } from '../response/plan.ts'
import { writeResponse } from '../response/write-response.ts'

/** The response of an endpoint. */
export interface EndpointResponse {
  readonly status: number
  /** Lower-case names; `set-cookie` may occur several times. */
  readonly headers: HeaderList
  readonly body: string
  /** The code of its error, if it is one: for the access log and `GET /why/:id`. */
  readonly code?: string
}

/** @param response undefined: the client has disconnected, and there is nothing to respond to */
export const respond = (
  builtinRequest: BuiltinRequest,
  response: EndpointResponse | undefined,
): void => {
  if (response === undefined) abandon(builtinRequest)
  else {
    const contentType = headerOf(response.headers, 'content-type')
    write(builtinRequest, { ...response, contentType }, { failure: response.code })
  }
}

/** Responds with an error record; of an unexpected error the client gets the request id and nothing else. */
export const refuse = (builtinRequest: BuiltinRequest, error: unknown): void => {
  const { dispatch, incomingRequest } = builtinRequest
  const known = toGatewayError(error, incomingRequest.id)
  if (known.code === 'svc.error.internal')
    dispatch.onUnexpected(error, incomingRequest.id, incomingRequest.request)
  if (incomingRequest.response.headersSent) {
    incomingRequest.response.destroy()
    return
  }
  const headers = endpointHeaders(incomingRequest.request.headers)
  const counted = countedRefusal(known)
  write(builtinRequest, renderGatewayError(known, { incomingRequest }, headers), counted)
}

/** Responds to OPTIONS with the methods of the path. */
export const respondPreflight = (builtinRequest: BuiltinRequest): void => {
  const { headers } = builtinRequest.incomingRequest.request
  respond(builtinRequest, {
    status: 204,
    headers: [
      ...endpointHeaders(headers),
      ['allow', builtinRequest.allow],
      ['access-control-allow-methods', builtinRequest.allow],
      ...requestedHeaders(headers),
    ],
    body: '',
  })
}

/**
 * The headers of every response but the public keys (behaviour §6): it is not cached, no referrer is sent, any origin
 * may read it, but not with credentials.
 */
export const endpointHeaders = ({ origin }: IncomingHttpHeaders): HeaderList => [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['vary', 'Origin'],
  ...(origin === undefined ? [] : ([['access-control-allow-origin', origin]] as const)),
]

const requestedHeaders = (headers: IncomingHttpHeaders): HeaderList => {
  const names = soundNames(headers['access-control-request-headers'])
  return names === '' ? [] : [['access-control-allow-headers', names]]
}

/** Values are validated here, as they may contain input of clients and identity providers. */
const write = (
  builtinRequest: BuiltinRequest,
  rendered: RenderedResponse,
  { failure, ...refusal }: Failed,
): void => {
  const { incomingRequest, version } = builtinRequest
  const { response, request } = incomingRequest
  if (response.destroyed) {
    abandon(builtinRequest)
    return
  }
  const { status, headers } = rendered
  for (const [name, value] of headers) http.validateHeaderValue(name, value)
  const { id: requestId, rateLimit } = incomingRequest
  const envelope = { requestId, rateLimit, deprecation: version.deprecation }
  const bytes = writeResponse(response, rendered, envelope, request.method === 'HEAD')
  settle(builtinRequest, {
    status,
    bytes,
    ...refusal,
    ...(failure !== undefined && { failure }),
  })
}

/** What went wrong: neither, if nothing did. */
interface Failed extends Omit<Settlement, 'status' | 'bytes' | 'failure'> {
  readonly failure?: string | undefined
}

/** The client disconnected before the response was ready. */
const abandon = (builtinRequest: BuiltinRequest): void => {
  settle(builtinRequest, { status: CLIENT_WENT_AWAY, bytes: 0 })
}

const settle = (builtinRequest: BuiltinRequest, settlement: Settlement): void => {
  const { dispatch, incomingRequest, row, version, template } = builtinRequest
  report(dispatch, incomingRequest, { row, version, template, action: 'endpoint' }, settlement)
}
