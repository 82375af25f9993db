// `/oidc/verify` and `/oauth/verify` (behaviour §6): a request in, who sends it out, in JSON and in headers, for
// proxies that ask before they pass a request on (nginx auth_request, Envoy ext_authz).

import type { EndpointRoute } from '../../../language/routes/endpoint-routes.ts'
import { toJson } from '../../../language/expression/json.ts'
import { isServedFlow } from '../../../language/realm/token-flows.ts'
import type { Identity } from '../../security/authentication.ts'
import { authenticateRequest } from '../authenticate-request.ts'
import { type EndpointAnswer, endpointHeaders } from './endpoint-headers.ts'
import type { EndpointVisit } from '../arrival.ts'
import { identityHeaders } from './identity-headers.ts'
import type { Guard } from '../prepared-operation.ts'

/**
 * Asks for nothing but the scheme: groups, roles and scopes are of operations. Rejects with the refusal.
 * @returns undefined when the client has gone
 */
export const verify = ({
  dispatch,
  arrival,
  version: { realmUri },
  route,
}: EndpointVisit): Promise<EndpointAnswer | undefined> =>
  new Promise((resolve, reject: (error: unknown) => void) => {
    if (route === undefined) throw new TypeError('the public keys are no scheme')
    const { headers } = arrival.request
    authenticateRequest(
      dispatch,
      arrival,
      { guard: guardOf(route), realmUri },
      {
        proceed: (identity) => {
          resolve(identityAnswer(identity, endpointHeaders(headers)))
        },
        refuse: reject,
        abandon: () => {
          resolve(undefined)
        },
        fail: reject,
      },
    )
  })

/** Of several oauth2 schemes whoever may pass one of them is somebody. */
const guardOf = ({ endpoint, flows }: EndpointRoute): Guard =>
  endpoint.type === 'oidc'
    ? endpoint
    : { ...endpoint, flow: flows.find(isServedFlow) ?? endpoint.flow }

const identityAnswer = (
  identity: Identity,
  headers: EndpointAnswer['headers'],
): EndpointAnswer => ({
  status: 200,
  headers: [...headers, ...identityHeaders(identity), ['content-type', 'application/json']],
  body: toJson(identity),
})
