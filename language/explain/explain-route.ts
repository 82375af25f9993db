// Explains which route takes a request and what the gateway would do with it, step by step as the gateway does, up to the
// action. It checks no credentials, and its result has nothing but what stands in documents, beside the request itself.

import { securityOfMethod } from '../request-credentials.ts'
import type { CompiledCors, CompiledOperation, PathParts } from '../compile/compiled.ts'
import type { Method, Scheme } from '../document.ts'
import { explainHosts, type Miss, type Tried } from '../router/explain-miss.ts'
import {
  findWebSocket,
  matchPath,
  type OpenWebSocket,
  type RoutedWebSocket,
} from '../router/find-web-socket.ts'
import type { Match } from '../router/route.ts'
import type { RouteTable } from '../router/route-table.ts'
import {
  allowOf,
  type RoutedEndpoint,
  type RoutedPath,
  isRedirected,
  schemesOf,
  servingCandidate,
  selectRoute,
  toMethod,
} from '../router/select-route.ts'
import { writeHostPattern, writePathPattern } from '../router/write-pattern.ts'
import { isKeysPath, KEYS_METHODS, KEYS_PATH } from '../routes/keys-path.ts'
import {
  checkBody,
  checkCredentials,
  checkResponseType,
  checkSite,
  checkUpgrade,
} from './check-operation.ts'
import { preflightIn, preflightText } from './explain-cors.ts'
import type {
  Check,
  RouteExplanation,
  RouteTaken,
  TriedHost,
  ExplainedResult,
} from './explanation.ts'
import { headerOf, type ReadRequest } from './read-request.ts'
import { endpointText } from './list-routes.ts'

export interface ExplainedVersion {
  readonly apiId: string
  readonly name: string
  readonly realmUri: string
}

export interface ExplainedSlot {
  readonly method: Method
  load(): CompiledOperation
}

export interface ExplainedPath extends RoutedPath<ExplainedSlot> {
  readonly version: ExplainedVersion
  readonly template: string
  loadParts(): PathParts
}

export interface ExplainedEndpoint extends RoutedEndpoint {
  readonly version: ExplainedVersion
  readonly template: string
}

export interface ExplainedWebSocket extends RoutedWebSocket {
  readonly version: ExplainedVersion
  readonly template: string
}

/** What is served, as a gateway has it or as files would give it. */
export interface ServedRoutes<P extends ExplainedPath, E extends ExplainedEndpoint> {
  readonly table: RouteTable<P | E, ExplainedWebSocket>
  readonly hasRouter: (realmUri: string) => boolean
  /** A gateway whose operator has never sent it anything; if left out, it is none. */
  readonly isAwaitingOperator?: boolean
}

export const explainRoute = <P extends ExplainedPath, E extends ExplainedEndpoint>(
  request: ReadRequest,
  routes: ServedRoutes<P, E>,
): RouteExplanation => {
  const { method, scheme, authority, target } = request
  const shown = { method, scheme, host: authority.text, path: target.path }
  const found = findRoute(request, routes)
  return { request: shown, ...found }
}

type Found = Omit<RouteExplanation, 'request'>

const findRoute = <P extends ExplainedPath, E extends ExplainedEndpoint>(
  request: ReadRequest,
  routes: ServedRoutes<P, E>,
): Found => {
  const { authority, scheme, target } = request
  const { host } = authority
  if (isKeysPath(target.path)) return keysRoute(request)
  const place = { host, path: target.path, scheme }
  const webSocket = findWebSocket(routes.table, place, routes.hasRouter)
  if (webSocket !== undefined && asksForWebSocket(request)) return relayed(request, webSocket)
  const matched = matchPath(routes.table, host, target.path)
  if (matched === 'malformed')
    return rejected([], [], {
      status: 400,
      code: 'svc.error.invalid_data',
      step: 'head',
      message: 'The path has an invalid percent-encoding',
    })
  const tried = explainHosts(routes.table, host, target.path).map(triedHost)
  if (matched !== undefined) return select(request, matched, tried)
  if (webSocket !== undefined)
    return { ...rejected(tried, [], UPGRADE), route: webSocketRoute(webSocket) }
  if (tried.some(({ outcome }) => outcome === 'matched'))
    return rejected(tried, [], { message: RESERVED, ...NOT_FOUND })
  const miss = routes.isAwaitingOperator === true ? NOT_READY : NOT_FOUND
  return rejected(tried, [], { message: missMessage(tried), ...miss })
}

const NOT_FOUND = { status: 404, code: 'svc.error.not_found', step: 'route' } as const
const NOT_READY = {
  status: 503,
  code: 'svc.error.not_ready',
  step: 'route',
  message: 'The operator of this gateway has not sent it all documents yet: /ready says why',
} as const
const UPGRADE = {
  status: 426,
  code: 'svc.error.upgrade_required',
  step: 'upgrade',
  message: 'This path accepts only WebSocket connections: send Upgrade: websocket',
} as const

const RESERVED =
  'The version has wamp_websocket: false, and its /ws stays reserved: none of its paths serves it'

const missMessage = (tried: readonly TriedHost[]): string =>
  tried.length === 0
    ? 'No document has a host pattern that matches this host'
    : 'Documents have this host, and none of their paths matches'

const rejected = (
  tried: readonly TriedHost[],
  checks: readonly Check[],
  verdict: Omit<Extract<ExplainedResult, { readonly outcome: 'rejected' }>, 'outcome'>,
): Found => ({ tried, route: null, checks, verdict: { outcome: 'rejected', ...verdict } })

const served = (message: string, status: number | null = null): ExplainedResult => ({
  outcome: 'served',
  status,
  message,
})

const keysRoute = ({ method }: ReadRequest): Found => {
  const route: RouteTaken = { ...NO_ROUTE, kind: 'keys', path: KEYS_PATH, action: 'built-in keys' }
  if (KEYS_METHODS.includes(method))
    return {
      tried: [],
      route,
      checks: [],
      verdict: served('Every gateway serves its public keys here'),
    }
  return { ...rejected([], [], methodError(KEYS_METHODS.join(', '))), route }
}

const methodError = (allow: string) =>
  ({
    status: 405,
    code: 'svc.error.method_not_allowed',
    step: 'method',
    message: `This path does not serve that method: it serves ${allow}`,
  }) as const

const NO_ROUTE: RouteTaken = {
  kind: 'operation',
  document: '',
  version: '',
  realm: '',
  path: '',
  method: null,
  pointer: null,
  action: '',
}

const asksForWebSocket = (request: ReadRequest): boolean =>
  request.method === 'GET' &&
  !request.hasBody &&
  (headerOf(request, 'upgrade') ?? '')
    .split(',')
    .some((token) => token.trim().toLowerCase() === 'websocket')

const placeOf = ({
  version,
  template,
}: {
  readonly version: ExplainedVersion
  readonly template: string
}): Pick<RouteTaken, 'document' | 'version' | 'realm' | 'path'> => ({
  document: version.apiId,
  version: version.name,
  realm: version.realmUri,
  path: template,
})

const webSocketRoute = (webSocket: ExplainedWebSocket): RouteTaken => ({
  ...NO_ROUTE,
  ...placeOf(webSocket),
  kind: 'websocket',
  method: 'get',
  action: 'WebSocket → router of the realm',
})

const relayed = (request: ReadRequest, webSocket: OpenWebSocket<ExplainedWebSocket>): Found => {
  const route = webSocketRoute(webSocket)
  if (!webSocket.schemes.includes(request.scheme))
    return { ...rejected([], [], schemeError(webSocket.schemes.join(' and '))), route }
  const { check, verdict } = checkCredentials(request, webSocket.security, webSocket.version)
  return {
    tried: [],
    route,
    checks: [schemeCheck(request.scheme), check],
    verdict:
      verdict ??
      served('It is relayed to the router, if Origin and Sec-WebSocket-Protocol are allowed', 101),
  }
}

const schemeError = (schemes: string) =>
  ({
    ...NOT_FOUND,
    message: `Nothing is served here over this scheme: this path is served over ${schemes}`,
  }) as const

const schemeCheck = (scheme: Scheme): Check => ({
  name: 'scheme',
  result: 'pass',
  message: `${scheme} is served`,
})

const select = <P extends ExplainedPath, E extends ExplainedEndpoint>(
  request: ReadRequest,
  matched: Match<P | E>,
  tried: readonly TriedHost[],
): Found => {
  const { scheme } = request
  const selection = selectRoute<ExplainedSlot, P, E>(matched, scheme, toMethod(request.method))
  const first = matched.candidates[0]?.target
  const place =
    first === undefined
      ? NO_ROUTE
      : { ...NO_ROUTE, ...placeOf(first), pointer: pointerOfPath(first) }
  const methods = allowOf(matched, scheme)
  const preflight = preflightMessage(request, matched, methods)
  if (preflight !== undefined) return builtinPreflight(request, place, tried, preflight)
  if (selection.kind === 'endpoint') return endpointRoute(request, selection.endpoint, tried)
  if (selection.kind === 'operation')
    return operationRoute(request, selection.candidate.target, selection.slot, tried)
  switch (selection.lacks) {
    case 'scheme':
      if (isRedirected(matched, scheme, toMethod(request.method)))
        return {
          tried,
          route: { ...place, pointer: null, action: 'built-in redirect' },
          checks: [],
          verdict: served('The gateway redirects to the same URL over https', 308),
        }
      return { ...rejected(tried, [], schemeError(schemesOf(matched))), route: place }
    case 'method':
      return {
        ...rejected(tried, [schemeCheck(scheme)], methodError(methods)),
        route: place,
      }
    case 'OPTIONS':
      return builtinPreflight(
        request,
        place,
        tried,
        `The gateway responds with Allow: ${methods} and the headers of the path`,
      )
  }
}

/** undefined: it is no preflight, or the operation that it asks for, otherwise the path, has no `cors`. */
const preflightMessage = <P extends ExplainedPath, E extends ExplainedEndpoint>(
  request: ReadRequest,
  matched: Match<P | E>,
  methods: string,
): string | undefined => {
  const preflight = preflightIn(request)
  if (preflight === undefined) return undefined
  const cors = corsOf(request, matched, preflight.method)
  if (cors === undefined) return undefined
  const hasThis = (method: string): boolean =>
    JSON.stringify(corsOf(request, matched, method)) === JSON.stringify(cors)
  return preflightText(cors, preflight, (cors.methods ?? methods.split(', ')).filter(hasThis))
}

const corsOf = <P extends ExplainedPath, E extends ExplainedEndpoint>(
  { scheme }: ReadRequest,
  matched: Match<P | E>,
  method: string,
): CompiledCors | undefined => {
  const wanted = selectRoute<ExplainedSlot, P, E>(matched, scheme, toMethod(method))
  if (wanted.kind === 'endpoint') return undefined
  return wanted.kind === 'operation'
    ? wanted.slot.load().cors
    : servingCandidate<P, E>(matched, scheme)?.target.loadParts().cors
}

/** The OPTIONS that the gateway answers itself. */
const builtinPreflight = (
  { scheme }: ReadRequest,
  place: RouteTaken,
  tried: readonly TriedHost[],
  message: string,
): Found => ({
  tried,
  route: { ...place, pointer: null, method: 'options', action: 'built-in preflight' },
  checks: [schemeCheck(scheme), methodCheck('options')],
  verdict: served(message, 204),
})

/** The pointer below which its operations stand; null: what the gateway itself has stands in no document. */
const pointerOfPath = (target: ExplainedPath | ExplainedEndpoint): string | null => {
  if (target.kind === 'endpoint') return null
  const pointer = Object.values(target.operations)[0]?.load().pointer
  return pointer?.slice(0, pointer.lastIndexOf('/')) ?? null
}

const methodCheck = (method: Method, sent: Method = method): Check => ({
  name: 'method',
  result: 'pass',
  message:
    method === sent
      ? `${method.toUpperCase()} is served`
      : `${method.toUpperCase()} serves HEAD too`,
})

const endpointRoute = (
  request: ReadRequest,
  endpoint: ExplainedEndpoint,
  tried: readonly TriedHost[],
): Found => {
  const method = toMethod(request.method) ?? 'get'
  const { name } = endpoint.route
  return {
    tried,
    route: {
      ...NO_ROUTE,
      ...placeOf(endpoint),
      kind: 'endpoint',
      method,
      action: endpointText(name),
    },
    checks: [schemeCheck(request.scheme), methodCheck(method)],
    verdict: served('A built-in endpoint responds; what it says depends on the credentials sent'),
  }
}

const operationRoute = (
  request: ReadRequest,
  path: ExplainedPath,
  slot: ExplainedSlot,
  tried: readonly TriedHost[],
): Found => {
  const operation = slot.load()
  const sent = toMethod(request.method) ?? slot.method
  const route: RouteTaken = {
    ...NO_ROUTE,
    ...placeOf(path),
    method: slot.method,
    pointer: operation.pointer,
    action: operation.action.type,
  }
  const checks: Check[] = [schemeCheck(request.scheme), methodCheck(slot.method, sent)]
  const subject = { request, operation, method: slot.method, version: path.version }
  for (const step of STEPS) {
    const { check, verdict } = step(subject)
    checks.push(check)
    if (verdict !== undefined) return { tried, route, checks, verdict }
  }
  const { action } = operation
  if (action.type !== 'forward' || !asksForWebSocket(request))
    return { tried, route, checks, verdict: served(`The action ${action.type} responds`) }
  const { check, verdict } = checkUpgrade(action.upgrade !== undefined)
  return { tried, route, checks: [...checks, check], verdict }
}

interface Subject {
  readonly request: ReadRequest
  readonly operation: CompiledOperation
  readonly method: Method
  readonly version: ExplainedVersion
}

/** In the order of the gateway. */
const STEPS: readonly ((subject: Subject) => {
  readonly check: Check
  readonly verdict?: ExplainedResult
})[] = [
  ({ request, operation, method, version }) => {
    const security = securityOfMethod(method, operation.security)
    const found = checkCredentials(request, security, version)
    return found.verdict === undefined ? (checkSite(request, operation, method) ?? found) : found
  },
  ({ request, operation }) => checkResponseType(request, operation),
  ({ request, operation, method }) => checkBody(request, operation, method),
]

const REASONS = {
  segment: 'missed',
  'unsafe segment': 'missed',
  'path too short': 'missed',
  'path too long': 'missed',
} as const satisfies Record<Miss['reason'], 'missed'>

const triedHost = <T>(tried: Tried<T>): TriedHost => {
  if (tried.kind === 'missed') {
    const { id, host, pattern, matchedSegments, reason } = tried.miss
    return {
      outcome: REASONS[reason],
      document: id,
      host: writeHostPattern(host),
      path: writePathPattern(pattern),
      matched_segments: matchedSegments,
      reason,
    }
  }
  const { id, host, pattern } = tried.candidate
  return {
    outcome: tried.kind === 'matched' ? 'matched' : 'missed',
    document: id,
    host: writeHostPattern(host),
    path: writePathPattern(pattern),
    matched_segments: pattern.segments.length,
    reason: tried.kind === 'matched' ? null : 'older document',
  }
}
