// Provides the headers of a path for responses that no operation creates: 405, the 404 of another scheme, an OPTIONS
// that is not declared. CORS thus works on all of them, also if the origin is echoed.

import { type ContextRead, readsOf } from '../../language/expression/reads.ts'
import type { OwningParts } from '../../language/compile/compiled.ts'
import type { ServedEndpoint } from '../served.ts'
import { Context } from '../context.ts'
import type { Match } from '../../language/router/route.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { Path, Served } from './prepared-operation.ts'
import { endpointHeaders } from './builtin/respond.ts'
import { pickLanguage } from '../../language/routes/negotiate.ts'
import { fillRequestView, needsOf } from './request/view.ts'
import { type HeaderList, prepareHeaders } from './response/headers.ts'
import { owningParts } from './response/own-headers.ts'
import { servingCandidate } from '../../language/router/select-route.ts'

/** A request whose path some document serves. */
export interface Found {
  readonly incomingRequest: IncomingRequest
  readonly match: Match<Served>
}

/** What the same document says of every response of the path. */
export const pathParts = ({ incomingRequest, match }: Found): OwningParts => {
  const { scheme } = incomingRequest
  const parts = servingCandidate<Path, ServedEndpoint>(match, scheme)?.target.loadParts()
  return parts === undefined ? {} : owningParts(parts)
}

/**
 * The headers of the oldest document that serves the scheme, otherwise of the oldest; endpoints come last. What
 * cannot be evaluated is left out.
 */
export const pathHeaders = ({ incomingRequest, match }: Found): HeaderList => {
  const candidate = servingCandidate<Path, ServedEndpoint>(match, incomingRequest.scheme)
  if (candidate === undefined) return endpointHeaders(incomingRequest.request.headers)
  const { version } = candidate.target
  const { headers: template } = candidate.target.loadParts()
  const writer = prepareHeaders(template)
  if (writer.constant !== undefined) return writer.constant
  const context = new Context()
  context.status_codes = version.statusCodes
  const reads: readonly ContextRead[] = readsOf(template)
  fillRequestView(context.request, needsOf(reads), {
    request: incomingRequest.request,
    head: incomingRequest.head,
    method: (incomingRequest.request.method ?? '').toLowerCase(),
    scheme: incomingRequest.scheme,
    id: incomingRequest.id,
    language: pickLanguage(incomingRequest.head.acceptLanguage, version.languages),
    client: incomingRequest.client,
    match,
    candidate,
  })
  return writer.writeWhatIsKnown(context)
}
