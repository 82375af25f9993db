// Handles requests for built-in endpoints. Those without a login (OPTIONS, verify, public keys) are answered here;
// the rest goes to an Express router, which is loaded with its rooms at the first such request, or as soon as a
// document with such endpoints is served.

import { loadOnce } from '../../../base/single-flight.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { TokenKeys } from '../../security/tokens/token-keys.ts'
import type { ServedEndpoint } from '../../served.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { DispatchOptions } from '../dispatch-options.ts'
import type { EndpointHandler, BuiltinRequest, RoutedBuiltinRequest } from './builtin-request.ts'
import { refuseUnmatched } from '../report.ts'
import type { Found } from '../path-headers.ts'
import { allowOf, toMethod } from '../../../language/router/select-route.ts'
import type { RequestRow } from '../../../telemetry/request-row.ts'
import type { Rooms } from './handlers.ts'
import { KEYS_VERSION, respondKeys } from './keys.ts'
import { KEYS_METHODS, KEYS_PATH } from '../../../language/routes/keys-path.ts'
import { limitByVersion, limitsOfVersion } from '../rate-limits/limit-version.ts'
import type { CheckResult } from '../steps/request-step.ts'
import { follow } from '../steps/request-steps.ts'
import { endpointHeaders, refuse, respond, respondPreflight } from './respond.ts'
import { respondVerified } from './verify.ts'

/** Handles a request that the route table has matched to a built-in endpoint. */
export const serveBuiltinEndpoint = (
  dispatch: DispatchOptions,
  { incomingRequest, match }: Found,
  { version, template, route }: ServedEndpoint,
): void => {
  if (dispatch.endpoints === undefined)
    throw new GatewayError('svc.error.not_found', 'Nothing is served at this host and path')
  const allow = allowOf(match, incomingRequest.scheme)
  const handle = dispatch.endpoints
  const builtinRequest: RoutedBuiltinRequest = {
    dispatch,
    incomingRequest,
    version,
    template,
    row: rowFor(dispatch, incomingRequest, { version, template, allow }),
    route,
    bound: route.path.includes('/:') ? match.captures.at(-1) : undefined,
    allow,
  }
  follow(limitLogin(builtinRequest), () => incomingRequest.request.socket.destroyed, {
    proceed: () => {
      handle(builtinRequest)
    },
    refuse: (error) => {
      refuse(builtinRequest, error)
    },
    abandon: () => {
      respond(builtinRequest, undefined)
    },
    fail: (error) => {
      refuse(builtinRequest, error)
    },
  })
}

/** Where programs and people log in, before anything of the request is looked at. No caller is known there. */
const limitLogin = ({
  dispatch,
  incomingRequest,
  version,
  route,
}: RoutedBuiltinRequest): CheckResult | Promise<CheckResult> => {
  const limits = limitsOfVersion(version)
  const isLogin = route.name === 'token' || route.name === 'login'
  if (limits === undefined || !isLogin || incomingRequest.request.method === 'OPTIONS')
    return undefined
  return limitByVersion(dispatch.limits, { incomingRequest, version, limits, when: 'early' })
}

/** Handles a request for the public keys, on any host: they are the keys of all realms. */
export const visitKeys = (dispatch: DispatchOptions, incomingRequest: IncomingRequest): void => {
  const { method = '', headers } = incomingRequest.request
  const allow = KEYS_METHODS.join(', ')
  if (!KEYS_METHODS.includes(method)) {
    const error = new GatewayError(
      'svc.error.method_not_allowed',
      'This path does not serve that method',
      { description: `It serves ${allow}.`, headers: { allow } },
    )
    refuseUnmatched(dispatch, incomingRequest, error, { headers: endpointHeaders(headers) })
    return
  }
  dispatch.endpoints?.({
    dispatch,
    incomingRequest,
    version: KEYS_VERSION,
    template: KEYS_PATH,
    row: rowFor(dispatch, incomingRequest, {
      version: KEYS_VERSION,
      template: KEYS_PATH,
      allow,
    }),
    route: undefined,
    bound: undefined,
    allow,
  })
}

/** As with paths of documents: what clients send must not make series. */
const rowFor = (
  { preparation, unmatched }: DispatchOptions,
  { request: { method = '' } }: IncomingRequest,
  { version, template, allow }: Pick<BuiltinRequest, 'version' | 'template' | 'allow'>,
): RequestRow => {
  const offered = allow.split(', ').includes(method) ? toMethod(method) : undefined
  return offered === undefined ? unmatched : preparation.rowFor(version, template, offered)
}

/** One call at a time loads the rooms; a failure is logged, and the next request tries again. */
export interface EndpointDeps extends Rooms {
  readonly tokenKeys: Pick<TokenKeys, 'publicKeys'>
}

export interface Endpoints {
  readonly handle: EndpointHandler
  /** Loads all rooms now, so that the first login does not wait for them. Never rejects. */
  readonly warmUp: () => Promise<void>
}

/**
 * @example
 * const { handle } = createEndpoints({ loadOidc: async () => (await import('../../oidc/create-oidc.ts')).createOidc(deps), … })
 * createDispatch({ …, endpoints: handle }, 'http')
 */
export const createEndpoints = ({ tokenKeys, ...rooms }: EndpointDeps): Endpoints => {
  const loadOidc = loadOnce(rooms.loadOidc)
  const loadOAuth2 = loadOnce(rooms.loadOAuth2)
  const loadRouter = loadOnce(async () => {
    const { createRoutes, routeBuiltinRequest } = await import('./routes.ts')
    const routes = createRoutes({ ...rooms, loadOidc, loadOAuth2 })
    return (builtinRequest: RoutedBuiltinRequest): void => {
      routeBuiltinRequest(routes, builtinRequest)
    }
  })
  let router: ((builtinRequest: RoutedBuiltinRequest) => void) | undefined
  const load = async (): Promise<(builtinRequest: RoutedBuiltinRequest) => void> =>
    (router = await loadRouter())

  const answer = (builtinRequest: BuiltinRequest): void => {
    if (builtinRequest.incomingRequest.request.method === 'OPTIONS')
      respondPreflight(builtinRequest)
    else if (!isRouted(builtinRequest)) respondKeys(builtinRequest, tokenKeys)
    else if (
      builtinRequest.route.name === 'oidcVerify' ||
      builtinRequest.route.name === 'oauthVerify'
    )
      respondVerified(builtinRequest)
    else if (router === undefined) answerLater(load, builtinRequest)
    else router(builtinRequest)
  }

  return {
    handle: (builtinRequest) => {
      try {
        answer(builtinRequest)
      } catch (error) {
        refuse(builtinRequest, error)
      }
    },
    warmUp: async () => {
      await Promise.allSettled([load(), loadOidc(), loadOAuth2()])
    },
  }
}

const isRouted = (builtinRequest: BuiltinRequest): builtinRequest is RoutedBuiltinRequest =>
  builtinRequest.route !== undefined

const answerLater = (
  load: () => Promise<(builtinRequest: RoutedBuiltinRequest) => void>,
  builtinRequest: RoutedBuiltinRequest,
): void => {
  load()
    .then((router) => {
      router(builtinRequest)
    })
    .catch((error: unknown) => {
      refuse(builtinRequest, error)
    })
}
