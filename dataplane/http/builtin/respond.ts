// Answers a request for an endpoint of the gateway's own: writes its one HTTP response, with the headers that all
// such answers carry, and its row in metrics and access log.

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

/** What an endpoint answers. */
export interface EndpointAnswer {
  readonly status: number
  /** Lower-case names; `set-cookie` may stand several times. */
  readonly headers: HeaderList
  readonly body: string
}

/** @param answer undefined: the client has gone, and there is nobody to answer */
export const respond = (visit: EndpointVisit, answer: EndpointAnswer | undefined): void => {
  if (answer === undefined) abandon(visit)
  else write(visit, { ...answer, contentType: headerOf(answer.headers, 'content-type') })
}

/** An error record; of a fault of our own the client learns the request id and nothing else. */
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

/** OPTIONS: what may be done at the path. */
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
 * What every answer but the public keys carries (behaviour §6): nothing is cached, no referrer leaves, any origin may
 * read it, and none with credentials.
 */
export const endpointHeaders = ({ origin }: IncomingHttpHeaders): HeaderList => [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['vary', 'Origin'],
  ...(origin === undefined ? [] : ([['access-control-allow-origin', origin]] as const)),
]

/** Names (RFC 9110 §5.1), as they were asked for. */
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

/** Node checks every name and value here: they come from rooms that speak with strangers. */
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

/** The client went away while it was waited for. */
const abandon = (visit: EndpointVisit): void => {
  settle(visit, { status: CLIENT_WENT_AWAY, bytes: 0 })
}

const settle = (visit: EndpointVisit, settlement: Settlement): void => {
  const { dispatch, arrival, version, template } = visit
  const method: Method = toMethod(arrival.request.method) ?? 'get'
  const row = dispatch.preparation.rowFor(version, template, method)
  report(dispatch, arrival, { row, version, template, action: 'endpoint' }, settlement)
}
