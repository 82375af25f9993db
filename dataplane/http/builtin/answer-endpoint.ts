// Which room answers which endpoint: a visit in, its answer out, by one table. Adapts what the shell knows to the
// plain requests that rooms take.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { EndpointName } from '../../../language/routes/endpoint-routes.ts'
import type { OAuth2, OAuthRequest } from '../../oauth2/oauth2-endpoint.ts'
import type { Oidc, OidcRequest } from '../../oidc/oidc-endpoint.ts'
import { readAuthorization } from '../../security/authorization-header.ts'
import { callerOf } from '../authenticate-request.ts'
import { readForm, readText } from './endpoint-body.ts'
import { type EndpointAnswer, preflight } from './endpoint-headers.ts'
import type { EndpointDeps } from './endpoint-deps.ts'
import type { EndpointVisit } from '../arrival.ts'
import { answerKeys } from './keys-endpoint.ts'
import { verify } from './verify-endpoint.ts'

/**
 * Rejects with what becomes an error record.
 * @returns undefined when the client has gone: there is nobody to answer
 */
export const answerEndpoint = async (
  deps: EndpointDeps,
  visit: EndpointVisit,
): Promise<EndpointAnswer | undefined> => {
  const { route, arrival, allow } = visit
  if (arrival.request.method === 'OPTIONS') return preflight(arrival.request.headers, allow)
  if (route === undefined) return answerKeys(deps.tokenKeys, visit)
  return ANSWERS[route.name](deps, visit)
}

type Answering = (deps: EndpointDeps, visit: EndpointVisit) => Promise<EndpointAnswer | undefined>

const ofOidc =
  (name: keyof Oidc): Answering =>
  async ({ loadOidc, ownOrigin }, visit) => {
    const { arrival, dispatch } = visit
    const body = arrival.request.method === 'POST' ? await readForm(arrival, dispatch.memory) : ''
    if (body === undefined) return undefined
    return (await loadOidc())[name](oidcRequest(visit, ownOrigin, body))
  }

const ofOAuth2 =
  (name: keyof OAuth2): Answering =>
  async ({ loadOAuth2 }, visit) => {
    const body = await readText(visit.arrival, visit.dispatch.memory)
    if (body === undefined) return undefined
    return (await loadOAuth2())[name](oauthRequest(visit, body))
  }

const ANSWERS = {
  login: ofOidc('login'),
  callback: ofOidc('callback'),
  logout: ofOidc('logout'),
  backChannelLogout: ofOidc('backChannelLogout'),
  token: ofOAuth2('token'),
  revoke: ofOAuth2('revoke'),
  oidcVerify: (_, visit) => verify(visit),
  oauthVerify: (_, visit) => verify(visit),
} as const satisfies Record<EndpointName, Answering>

const oidcRequest = (
  { arrival, version, route, bound }: EndpointVisit,
  ownOrigin: string | undefined,
  body: string,
): OidcRequest => ({
  method: arrival.request.method ?? '',
  path: arrival.head.target.path,
  query: arrival.head.target.query,
  headers: arrival.request.headers,
  address: callerOf(arrival).address,
  requestId: arrival.id,
  ownOrigin,
  realmUri: version.realmUri,
  routeProvider: route?.endpoint.type === 'oidc' ? route.endpoint.provider : 'default',
  pathProvider: bound,
  body,
})

const oauthRequest = ({ arrival, version, route }: EndpointVisit, body: string): OAuthRequest => {
  const { address, isAddressKnown } = callerOf(arrival)
  return {
    query: arrival.head.target.query,
    headers: headersOf(arrival.request),
    body,
    address,
    isAddressKnown,
    requestId: arrival.id,
    realmUri: version.realmUri,
    flows: route?.flows ?? [],
  }
}

/** Node keeps the first of two `Authorization` headers: whoever stands before us may have looked at the other. */
const headersOf = ({ headers, rawHeaders }: IncomingMessage): IncomingHttpHeaders =>
  readAuthorization(rawHeaders)?.scheme === '' ? { ...headers, authorization: '' } : headers
