// Serves `/oidc/verify` and `/oauth/verify` (behaviour §6): tells who sends a request, in JSON and in headers, to
// proxies that ask before they pass a request on (nginx auth_request, Envoy ext_authz).

import { toJson } from '../../../language/expression/json.ts'
import { isList, type Value } from '../../../language/expression/value.ts'
import { isServedFlow } from '../../../language/realm/token-flows.ts'
import type { EndpointRoute } from '../../../language/routes/endpoint-routes.ts'
import type { Identity } from '../../security/schemes/authentication.ts'
import type { RoutedVisit } from '../arrival.ts'
import { authenticateRequest } from '../authenticate-request.ts'
import type { Guard } from '../prepared-operation.ts'
import type { HeaderList } from '../response/headers.ts'
import { endpointHeaders, refuse, respond } from './respond.ts'

/**
 * Asks for nothing but the scheme: groups, roles and scopes are of operations. At once where the credentials are
 * known already, as each request of somebody else waits for this one.
 */
export const respondVerified = (visit: RoutedVisit): void => {
  const { dispatch, arrival, version, route } = visit
  const refuseVisit = (error: unknown): void => {
    refuse(visit, error)
  }
  authenticateRequest(
    dispatch,
    arrival,
    { guard: guardOf(route), realmUri: version.realmUri },
    {
      proceed: (identity) => {
        respond(visit, {
          status: 200,
          headers: [
            ...endpointHeaders(arrival.request.headers),
            ...identityHeaders(identity),
            ['content-type', 'application/json'],
          ],
          body: toJson(identity),
        })
      },
      refuse: refuseVisit,
      abandon: () => {
        respond(visit, undefined)
      },
      fail: refuseVisit,
    },
  )
}

/** Of several oauth2 schemes whoever may pass one of them is somebody. */
const guardOf = ({ endpoint, flows }: EndpointRoute): Guard => {
  switch (endpoint.type) {
    case 'oidc':
      return endpoint
    case 'oauth2':
      return { ...endpoint, flow: flows.find(isServedFlow) ?? endpoint.flow }
  }
}

/**
 * What is empty is left out; lists are joined with commas. What a header can't hold is percent-encoded, so that
 * nothing can pass for something else.
 */
const identityHeaders = (identity: Identity): HeaderList =>
  MEMBERS.flatMap(([name, member]) => {
    const text = toText(identity[member])
    return text === '' ? [] : [[name, text] as const]
  })

const MEMBERS = [
  ['x-svc-type', 'type'],
  ['x-svc-realm-uri', 'realm_uri'],
  ['x-svc-authid', 'authid'],
  ['x-svc-username', 'username'],
  ['x-svc-authmethod', 'authmethod'],
  ['x-svc-authroles', 'authroles'],
  ['x-svc-groups', 'groups'],
  ['x-svc-client-id', 'client_id'],
  ['x-svc-session', 'session'],
  ['x-svc-scope', 'scope'],
  ['x-svc-locale', 'locale'],
] as const satisfies readonly (readonly [string, keyof Identity])[]

/** A map (the scope of a ticket) is in the body alone. */
const toText = (value: Value | undefined): string => {
  if (typeof value === 'string') return encode(value)
  return isList(value ?? null) ? texts(value).map(encodeElement).join(',') : ''
}

const texts = (value: Value | undefined): readonly string[] =>
  (isList(value ?? null) ? (value as readonly Value[]) : []).filter(
    (each): each is string => typeof each === 'string',
  )

/** `%` too, else an escape could be forged; blanks at the ends, for they would be trimmed. */
const encode = (text: string): string => text.toWellFormed().replace(UNSAFE, encodeURIComponent)

const UNSAFE = /[^ -~]|%|^ | $/gu

/** A comma within a name makes no two of it. */
const encodeElement = (text: string): string => encode(text).replaceAll(',', '%2C')
