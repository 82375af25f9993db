// Redirects a GET or HEAD over http to the same URL over https, where the document says so (behaviour §3). The host is the
// one that the request was routed by, and never one that a client could choose freely.

import type { Candidate } from '../../language/router/route.ts'
import { redirectsHttp } from '../../language/router/select-route.ts'
import { routedName } from '../../language/routes/authority.ts'
import { isNameless } from '../../language/routes/host-pattern.ts'
import { GatewayError } from '../gateway-error.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { Served } from './prepared-operation.ts'
import type { Found } from './path-headers.ts'
import type { HeaderList } from './response/headers.ts'
import type { RenderedResponse } from './response/plan.ts'

/** undefined: the request is for no path that is redirected, or of a method that is not. */
export const redirectToHttps = (
  { incomingRequest, match }: Found,
  headers: () => HeaderList,
  baseUrl: string | null | undefined,
): RenderedResponse | GatewayError | undefined => {
  const { request, head, scheme } = incomingRequest
  const candidate = match.candidates.find(({ target }) => redirectsHttp(target))
  if (candidate === undefined || scheme !== 'http') return undefined
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  const own = URL.parse(baseUrl ?? '')
  const name = routedName(head.authority.host)
  const isOwn = own?.protocol === 'https:' && own.hostname === name
  const reason = loopReason(incomingRequest) ?? (isOwn ? undefined : hostReason(candidate))
  if (reason !== undefined)
    return new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
      description: `This path is served over https, and http is not redirected: ${reason}.`,
    })
  const origin = isOwn ? own.origin : `https://${name}`
  return {
    status: 308,
    headers: [
      ...headers().filter(([header]) => header !== 'location'),
      ['location', `${origin}${sentTarget(incomingRequest)}`],
    ],
    contentType: undefined,
    body: '',
  }
}

/** Behind a proxy that ends TLS the client would come back by http, again and again. */
const loopReason = ({ request, client }: IncomingRequest): string | undefined => {
  // Node joins several of them with a comma.
  const proto = request.headers['x-forwarded-proto']
  const text = String(proto ?? '')
  if (client === undefined)
    return NAMES_TLS.test(text)
      ? 'an X-Forwarded-Proto of https or wss came from an address that is not trusted'
      : undefined
  if (proto === undefined) return 'the trusted proxy in front sends no X-Forwarded-Proto'
  return text.trim().toLowerCase() === 'http'
    ? undefined
    : 'X-Forwarded-Proto of the trusted proxy in front is neither http nor https'
}

/** Also as one of several. */
const NAMES_TLS = /\b(?:https|wss)\b/i

const hostReason = ({ host }: Candidate<Served>): string | undefined =>
  isNameless(host) ? 'its document is on any host, and --base-url names another one' : undefined

/** Path and query as they were sent; the parser takes a `#`, which would begin a fragment. */
const sentTarget = ({ request, head: { target } }: IncomingRequest): string => {
  const query = request.url?.includes('?') === true ? `?${target.query}` : ''
  return `${target.path}${query}`.replaceAll('#', '%23')
}
