// Writes the one HTTP response to a request for a built-in endpoint, with the headers that all such responses carry,
// and its row in metrics and access log.

import type { IncomingHttpHeaders } from 'node:http'
import type { Method } from '../../../language/document.ts'
import { frameResponse } from '../../framing.ts'
import type { GatewayError } from '../../gateway-error.ts'
import { CLIENT_WENT_AWAY, type EndpointVisit, type Settlement } from '../arrival.ts'
import { errorAnswer, toGatewayError } from '../errors.ts'
import { report } from '../report.ts'
import { headerOf, type HeaderList } from '../response/headers.ts'
import { refusalType } from '../response/negotiate.ts'
import type { Answer } from '../response/plan.ts'
import { composeHead, writeFramedHead } from '../response/write-response.ts'
import { toMethod } from '../select-route.ts'

/** The response of an endpoint. */
export interface EndpointAnswer {
  readonly status: number
  /** Lower-case names; `set-cookie` may occur several times. */
  readonly headers: HeaderList
  readonly body: string
}

/** @param answer undefined: the client has disconnected, and there is nothing to respond to */
export const respond = (visit: EndpointVisit, answer: EndpointAnswer | undefined): void => {
  if (answer === undefined) abandon(visit)
  else write(visit, { ...answer, contentType: headerOf(answer.headers, 'content-type') })
}

/** Responds with an error record; of an unexpected error the client gets the request id and nothing else. */
export const refuse = (visit: EndpointVisit, error: unknown): void => {
  const { dispatch, arrival } = visit
  const known = toGatewayError(error)
  if (known.code === 'svc.error.internal') dispatch.onUnexpected(error, arrival.id, arrival.request)
  if (arrival.response.headersSent) {
    arrival.response.destroy()
    return
  }
  const headers = endpointHeaders(arrival.request.headers)
  write(visit, errorAnswer(known, refusalType(arrival.head.accept), headers), known)
}

/** Responds to OPTIONS with the methods of the path. */
export const respondPreflight = (visit: EndpointVisit): void => {
  const { headers } = visit.arrival.request
  respond(visit, {
    status: 204,
    headers: [
      ...endpointHeaders(headers),
      ['allow', visit.allow],
      ['access-control-allow-methods', visit.allow],
      ...askedHeaders(headers),
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

/** The header names (RFC 9110 §5.1) that a preflight asks for. */
const askedHeaders = (headers: IncomingHttpHeaders): HeaderList => {
  const asked = headers['access-control-request-headers']
  const isSound =
    asked !== undefined &&
    asked.length <= MAX_ASKED &&
    asked.split(',').every((name) => NAME.test(name))
  return isSound ? [['access-control-allow-headers', asked]] : []
}

const MAX_ASKED = 1024
const NAME = /^ ?[A-Za-z0-9!#$%&'*+.^_`|~-]+ ?$/

/** Node validates every name and value here, as they may contain input of clients and identity providers. */
const write = (visit: EndpointVisit, answer: Answer, refusal?: GatewayError): void => {
  const { arrival, version } = visit
  const { response, request } = arrival
  if (response.destroyed) {
    abandon(visit)
    return
  }
  const { status } = answer
  const { deprecation } = version
  const head = composeHead(answer, {
    requestId: arrival.id,
    language: undefined,
    deprecation,
    vary: undefined,
  })
  const body = Buffer.from(answer.body)
  const content = { kind: 'whole', bytes: body.length } as const
  const framing = frameResponse(status, request.method === 'HEAD', content)
  writeFramedHead(response, status, head, framing)
  const bytes = framing.hasBody ? body.length : 0
  response.end(bytes === 0 ? undefined : body)
  settle(visit, { status, bytes, ...(refusal && { refusal: refusal.code }) })
}

/** The client disconnected before the response was ready. */
const abandon = (visit: EndpointVisit): void => {
  settle(visit, { status: CLIENT_WENT_AWAY, bytes: 0 })
}

const settle = (visit: EndpointVisit, settlement: Settlement): void => {
  const { dispatch, arrival, version, template } = visit
  const method: Method = toMethod(arrival.request.method) ?? 'get'
  const row = dispatch.preparation.rowFor(version, template, method)
  report(dispatch, arrival, { row, version, template, action: 'endpoint' }, settlement)
}
