// What an endpoint of the gateway's own answers in, one HTTP response and its row in metrics and access log out.

import type { Method } from '../../../language/document.ts'
import { frameResponse } from '../../framing.ts'
import type { GatewayError } from '../../gateway-error.ts'
import { errorAnswer, toGatewayError } from '../errors.ts'
import { type EndpointAnswer, endpointHeaders } from './endpoint-headers.ts'
import { CLIENT_WENT_AWAY, type EndpointVisit, type Settlement } from '../arrival.ts'
import { refusalType } from '../response/negotiate.ts'
import { report } from '../report.ts'
import { headerOf } from '../response/headers.ts'
import type { Answer } from '../response/plan.ts'
import { toMethod } from '../select-route.ts'
import { composeHead, writeFramedHead } from '../response/write-response.ts'

export const answerVisit = (
  visit: EndpointVisit,
  { status, headers, body }: EndpointAnswer,
): void => {
  const contentType = headerOf(headers, 'content-type')
  write(visit, { status, headers, contentType, body })
}

/** An error record; of a fault of our own the client learns the request id and nothing else. */
export const refuseVisit = (visit: EndpointVisit, error: unknown): void => {
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

/** The client went away while it was waited for. */
export const abandonVisit = (visit: EndpointVisit): void => {
  settle(visit, { status: CLIENT_WENT_AWAY, bytes: 0 })
}

/** Node checks every name and value here: they come from rooms that speak with strangers. */
const write = (visit: EndpointVisit, answer: Answer, refusal?: GatewayError): void => {
  const { arrival, version } = visit
  const { response, request } = arrival
  if (response.destroyed) {
    abandonVisit(visit)
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

const settle = (visit: EndpointVisit, settlement: Settlement): void => {
  const { dispatch, arrival, version, template } = visit
  const method: Method = toMethod(arrival.request.method) ?? 'get'
  const row = dispatch.preparation.rowFor(version, template, method)
  report(dispatch, arrival, { row, version, template, action: 'endpoint' }, settlement)
}
