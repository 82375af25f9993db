// Serves `/oidc/verify` and `/oauth/verify` (behaviour §6), which report the identity of a caller, in JSON and in
// headers, to proxies that ask before they forward a request (nginx auth_request, Envoy ext_authz).

import { toJson } from '../../../language/expression/json.ts'
import { isList, type Value } from '../../../language/expression/value.ts'
import { isServedFlow } from '../../../language/realm/token-flows.ts'
import type { EndpointRoute } from '../../../language/compile/endpoint-routes.ts'
import type { Identity } from '../../security/schemes/authentication.ts'
import type { RoutedBuiltinRequest } from './builtin-request.ts'
import { authenticateRequest } from '../authenticate-request.ts'
import type { Guard } from '../operation-shape.ts'
import type { HeaderList } from '../response/headers.ts'
import { follow } from '../steps/request-steps.ts'
import { endpointHeaders, refuse, respond } from './respond.ts'

/**
 * Demands nothing but the scheme, as groups, roles and scopes belong to operations. Responds synchronously if the
 * credentials are known already, because a request at the proxy waits for it.
 */
export const respondVerified = (builtinRequest: RoutedBuiltinRequest): void => {
  const { dispatch, incomingRequest, version, route } = builtinRequest
  const rejectBuiltinRequest = (error: unknown): void => {
    refuse(builtinRequest, error)
  }
  const demand = { guard: guardOf(route), realmUri: version.realmUri }
  follow(
    authenticateRequest(dispatch, incomingRequest, demand),
    () => incomingRequest.request.socket.destroyed,
    {
      proceed: () => {
        const { identity } = incomingRequest
        if (identity === undefined) throw new Error('A caller passed without an identity')
        respond(builtinRequest, {
          status: 200,
          headers: [
            ...endpointHeaders(incomingRequest.request.headers),
            ...identityHeaders(identity),
            ['content-type', 'application/json'],
          ],
          body: toJson(identity),
        })
      },
      refuse: rejectBuiltinRequest,
      abandon: () => {
        respond(builtinRequest, undefined)
      },
      fail: rejectBuiltinRequest,
    },
  )
}

/** With several oauth2 schemes, satisfying any one of them authenticates the caller. */
const guardOf = ({ endpoint, flows }: EndpointRoute): Guard => {
  switch (endpoint.type) {
    case 'oidc':
      return [endpoint]
    case 'oauth2':
      return [{ ...endpoint, flow: flows.find(isServedFlow) ?? endpoint.flow }]
  }
}

/**
 * Omits empty values and joins lists with commas. Characters that a header cannot carry are percent-encoded, so that
 * no value can pass for another.
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

/** A map (the scope of a ticket) is only in the body. */
const toText = (value: Value | undefined): string => {
  if (typeof value === 'string') return encode(value)
  return isList(value ?? null) ? texts(value).map(encodeElement).join(',') : ''
}

const texts = (value: Value | undefined): readonly string[] =>
  (isList(value ?? null) ? (value as readonly Value[]) : []).filter(
    (each): each is string => typeof each === 'string',
  )

/** Encodes `%` too, or an escape could be forged; and spaces at the ends, as they would be trimmed. */
const encode = (text: string): string => text.toWellFormed().replace(UNSAFE, encodeURIComponent)

const UNSAFE = /[^ -~]|%|^ | $/gu

/** Encodes a comma within a name, so that it does not become two names. */
const encodeElement = (text: string): string => encode(text).replaceAll(',', '%2C')
