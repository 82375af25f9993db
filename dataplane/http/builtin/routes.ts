// Routes requests for built-in endpoints of logins: an Express router behind the gateway's own route table, which has
// found the document already. It matches method and path below `base_path`.

import cookieParser from 'cookie-parser'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { EndpointName } from '../../../language/compile/endpoint-routes.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { RoutedBuiltinRequest } from './builtin-request.ts'
import { type EndpointTask, oauthTask, oidcTask, type Routed, type Rooms } from './handlers.ts'
import { refuse, respond } from './respond.ts'

/** The routes and methods are those of `language/compile/endpoint-routes.ts`, against which documents are validated. */
export const createRoutes = (rooms: Rooms): Router => {
  const routes = Router({ caseSensitive: true, strict: true })
  routes.use(cookieParser())
  routes.head('/*path', leave)
  for (const mount of Object.values(MOUNTS)) mount(routes, rooms)
  return routes
}

/** What is verified is answered without the router (`endpoints.ts`). */
type RoutedName = Exclude<EndpointName, 'oidcVerify' | 'oauthVerify'>

const MOUNTS: Readonly<Record<RoutedName, (routes: Router, rooms: Rooms) => void>> = {
  login: (routes, rooms) => {
    routes.get('/oidc/login', answer(oidcTask(rooms, 'login')))
  },
  callback: (routes, rooms) => {
    routes.get('/oidc/:provider/callback', answer(oidcTask(rooms, 'callback')))
  },
  logout: (routes, rooms) => {
    routes.get('/oidc/logout', answer(oidcTask(rooms, 'logout')))
    routes.post('/oidc/logout', answer(oidcTask(rooms, 'logout')))
  },
  backChannelLogout: (routes, rooms) => {
    routes.post('/oidc/:provider/backchannel-logout', answer(oidcTask(rooms, 'backChannelLogout')))
  },
  token: (routes, rooms) => {
    routes.post('/oauth/token', answer(oauthTask(rooms, 'token')))
  },
  revoke: (routes, rooms) => {
    routes.post('/oauth/revoke', answer(oauthTask(rooms, 'revoke')))
  },
}

/** Express would serve HEAD by GET, but HEAD must not begin a login. */
const leave: RequestHandler = (_request, _response, next) => {
  next('router')
}

const answer =
  (task: EndpointTask): RequestHandler =>
  async (request) => {
    const routed = request as unknown as Routed
    respond(routed.builtinRequest, await task(routed))
  }

/** Passes a request to the router, and rejects it if no route takes it. */
export const routeBuiltinRequest = (routes: Router, builtinRequest: RoutedBuiltinRequest): void => {
  const { request, response } = builtinRequest.incomingRequest
  // The router adds properties (`params`, `cookies`, `next`, …). Adding them to the request itself would slow down
  // requests for documents too, as node's code would see requests of several shapes. Log and traces need its `url`.
  const routed = {
    method: request.method,
    url: pathBelowBase(builtinRequest),
    headers: request.headers,
    builtinRequest,
  }
  routes(routed as unknown as Request, response as Response, (error: unknown) => {
    refuse(builtinRequest, error ?? methodNotAllowed(builtinRequest))
  })
}

/**
 * The path as the routes declare it: segments decoded once, as the route table compares them, no `/` at the end, and
 * the endpoints of OAuth 2 at their default paths, wherever `token_path` and `revoke_token_path` have put them.
 */
const pathBelowBase = ({ route: { name, path }, bound = '' }: RoutedBuiltinRequest): string => {
  if (name === 'token' || name === 'revoke') return `/oauth/${name}`
  return path.replace(/:[^/]+/, () => encodeURIComponent(bound))
}

/** The route table rejects such a method itself; this is for the case that the two ever differ. */
const methodNotAllowed = ({ allow }: RoutedBuiltinRequest): GatewayError =>
  new GatewayError('svc.error.method_not_allowed', 'This path does not serve that method', {
    description: `It serves ${allow}.`,
    headers: { allow },
  })
