// Dispatches a request, the hot path: it matches it against the current route table, performs only the steps that the
// document needs, and sends one response. Nothing awaits unless a body must be read or an action waits.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { OwningParts } from '../../language/compile/compiled.ts'
import type { Scheme } from '../../language/document.ts'
import { GatewayError } from '../gateway-error.ts'
import { findVersion, type FoundVersion } from '../../language/router/find-version.ts'
import { matchPath } from '../../language/router/find-web-socket.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { type Path, prepareOperation, type PreparedOperation } from './prepared-operation.ts'
import { type Matched, MatchedRequest } from './matched-request.ts'
import { writeWhole } from './response/write-response.ts'
import { stepsOfPath, takeSteps } from './steps/request-steps.ts'
import type { ExchangeObserver } from './exchange.ts'
import { createEventStreams } from './sse/registry.ts'
import { createTurns } from '../turns.ts'
import { redirectToHttps } from './https-redirect.ts'
import { isFramingError, refuseHead } from './request/head-error.ts'
import { isKeysPath } from '../../language/routes/keys-path.ts'
import { loginInstead } from './login-instead.ts'
import { pickContentType, writtenType } from '../../language/routes/negotiate.ts'
import { createOperationCache, type OperationCache } from './operation-cache.ts'
import { type AnswerPreflight, preflightAnswer, preflightOf } from './preflight.ts'
import type { HeaderList } from './response/headers.ts'
import { type OwnHeaders, ownHeaders } from './response/own-headers.ts'
import { type Found, pathHeaders, pathParts } from './path-headers.ts'
import { refuseUnmatched, report, type UnmatchedWording, writeUnmatched } from './report.ts'
import { spokenBy } from './refusal.ts'
import type { RenderedResponse } from './response/plan.ts'
import { CLIENT_WENT_AWAY } from './settlement.ts'
import { hasBody, readHead, type RequestHead } from './request/head.ts'
import {
  allowOf,
  hasRedirect,
  type Lacks,
  schemesOf,
  servingCandidate,
  selectRoute,
  toMethod,
} from '../../language/router/select-route.ts'
import type { MountedVersion, OperationSlot, ServedEndpoint, ServedVersion } from '../served.ts'
import { SeenRequest, type UnservedRequest } from './steps/request-step.ts'
import {
  abandonOperation,
  answerOperation,
  refuseOperation,
  serveOperation,
} from './serve-operation.ts'
import type { ClientUpgrade } from './upgrade/client-upgrade.ts'
import { upgradeRequired } from './upgrade/handshake.ts'
import { serveBuiltinEndpoint, visitKeys } from './builtin/endpoints.ts'

/** Operations whose closures are cached even while memory is short: a few MB. */
const LEAST_PREPARED = 1000

/** @param upgrade of a request whose connection may be switched to a WebSocket */
export type Dispatch = (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: ClientUpgrade,
) => void

/** The listener of a public server that speaks `scheme`. */
export const createDispatch = (options: DispatchOptions, scheme: Scheme): Dispatch => {
  const cache = createOperationCache<PreparedOperation>({
    build: (slot) => prepareOperation(slot, options.preparation),
    hasRoom: () => options.memory.hasRoomForCaches,
    least: LEAST_PREPARED,
  })
  const observer: ExchangeObserver = {
    settled: ({ incomingRequest, operation }, settlement) => {
      report(options, incomingRequest, operation, settlement)
    },
    unexpected: options.onUnexpected,
    onResult: options.onResult,
    streams: options.eventStreams ?? createEventStreams(),
    memory: options.memory,
    isScarce: options.isScarce,
    turns: options.turns ?? createTurns(),
  }
  const faulty = new WeakSet<Socket>()
  return (request, response, upgrade) => {
    const { socket } = request
    // It follows a request whose end is ambiguous, so the connection is being closed.
    if (faulty.has(socket)) return
    options.inFlight.count++
    const client = options.readClient(request, scheme)
    const incomingRequest: IncomingRequest = {
      request,
      response,
      head: readHead(request),
      scheme: client?.scheme ?? scheme,
      client,
      id: client?.requestId ?? options.nextRequestId(),
      startedMs: options.now(),
      upgrade,
      identity: undefined,
    }
    const { error } = incomingRequest.head
    if (error !== undefined && isFramingError(error)) faulty.add(socket)
    try {
      route(options, cache, incomingRequest, observer)
    } catch (error) {
      refuseUnmatched(options, incomingRequest, error, wordingOfVersion(options, incomingRequest))
    }
  }
}

const route = (
  options: DispatchOptions,
  cache: OperationCache<PreparedOperation>,
  incomingRequest: IncomingRequest,
  observer: ExchangeObserver,
): void => {
  const { error, target } = incomingRequest.head
  if (error !== undefined) throw refuseHead(error)
  if (options.endpoints !== undefined && isKeysPath(target.path)) {
    visitKeys(options, incomingRequest)
    return
  }
  const found = find(options, incomingRequest)
  const { request } = incomingRequest
  const preflight = preflightOf(request)
  const answer = preflight && preflightAnswer(preflight, (method) => partsFor(found, cache, method))
  if (answer !== undefined) {
    serveUnserved(options, found, 'OPTIONS', answer)
    return
  }
  const selected = select(found, request.method)
  if (selected.kind === 'none') {
    serveUnserved(options, found, selected.lacks)
    return
  }
  if (selected.kind === 'endpoint') {
    serveBuiltinEndpoint(options, found, selected.endpoint)
    return
  }
  const operation = cache.get(selected.slot)
  const matched = new MatchedRequest(options, found, selected, operation)
  if (operation.shape.isQuick && serveFixed(options, matched)) return
  serveMatched(options, matched, observer)
}

/** @throws GatewayError */
const find = (options: DispatchOptions, incomingRequest: IncomingRequest): Found => {
  const { authority, target } = incomingRequest.head
  const found = matchPath(options.table(), authority.host, target.path)
  if (found === 'malformed')
    throw new GatewayError('svc.error.invalid_data', 'The path has an invalid percent-encoding')
  if (found === undefined) throw unmatchedError(options, incomingRequest)
  return { incomingRequest, match: found }
}

const serveMatched = (
  options: DispatchOptions,
  matched: MatchedRequest,
  observer: ExchangeObserver,
): void => {
  const { incomingRequest, operation } = matched
  const { shape } = operation
  takeSteps(shape.steps, matched, shape, {
    proceed: () => {
      if (shape.isFixed && serveFixed(options, matched)) return
      serveOperation(matched, observer)
    },
    answer: (rendered) => {
      answerOperation(matched, observer, rendered)
    },
    refuse: (error) => {
      refuseOperation(matched, observer, loginInstead(options, matched, error))
    },
    abandon: () => {
      abandonOperation(matched, observer)
    },
    fail: (error) => {
      incomingRequest.body?.memory.close()
      const { own } = matched.fields
      refuseUnmatched(options, incomingRequest, error, { headers: [], own })
    },
  })
}

/** What is said of every response of what serves a method. */
const partsFor = (
  found: Found,
  cache: OperationCache<PreparedOperation>,
  method: string,
): OwningParts => {
  const selected = select(found, method)
  if (selected.kind === 'endpoint') return {}
  return selected.kind === 'operation' ? cache.get(selected.slot).shape : pathParts(found)
}

const select = ({ incomingRequest, match: matched }: Found, method: string | undefined) =>
  selectRoute<OperationSlot<PreparedOperation>, Path, ServedEndpoint>(
    matched,
    incomingRequest.scheme,
    toMethod(method),
  )

/** False: this request needs an exchange, for its body, its Accept, or because it is the first of its type. */
const serveFixed = (
  options: DispatchOptions,
  { incomingRequest, operation, fields }: Pick<Matched, 'incomingRequest' | 'operation' | 'fields'>,
): boolean => {
  const { head, request, response } = incomingRequest
  if (hasBody(head)) return false
  const offered = pickContentType(head.accept, operation.shape.offers)
  const fixed =
    offered === undefined ? undefined : operation.fixed.get(writtenType(offered, head.accept))
  if (fixed === undefined) return false
  const isHead = request.method === 'HEAD'
  const bytes = writeWhole(response, fixed, fields, isHead)
  report(options, incomingRequest, operation, { status: fixed.status, bytes })
  return true
}

/** How a path words that it has no operation for the request. */
const wordingOfPath = (
  found: Found,
  headers: HeaderList,
  own: OwnHeaders | undefined,
): UnmatchedWording => {
  const { incomingRequest, match: matched } = found
  const candidate = servingCandidate<Path, ServedEndpoint>(matched, incomingRequest.scheme)
  if (candidate === undefined) return { headers, own }
  const { target } = candidate
  const { version, template } = target
  return {
    version,
    template,
    speaker: target,
    match: matched,
    candidate,
    headers,
    own,
  }
}

/** How the version below whose base path it is words that no path matches. */
const wordingOfVersion = (
  { table }: DispatchOptions,
  { head, request }: IncomingRequest,
): UnmatchedWording => {
  const found = head.error === undefined ? versionBelow(table, head) : undefined
  if (found === undefined) return NO_HEADERS
  const { version } = found.candidate.target
  const { basePath: template } = version
  const own = ownHeaders(spokenBy(version).own, request.headers)
  return { ...found, headers: [], own, version, template, speaker: version }
}

const NO_HEADERS = { headers: [] } as const

const versionBelow = (
  table: DispatchOptions['table'],
  { authority, target }: Pick<RequestHead, 'authority' | 'target'>,
): FoundVersion<MountedVersion> | undefined =>
  findVersion(table(), { host: authority.host, path: target.path }, isOfNamespace)

/** Documents that were loaded by hand are of none. */
const isOfNamespace = ({ version: owner }: MountedVersion, { version }: MountedVersion): boolean =>
  namespaceOf(owner) === namespaceOf(version)

const namespaceOf = ({ resource }: ServedVersion): string | undefined => resource?.split('/', 1)[0]

const unmatchedError = (
  { isAwaitingOperator, webSockets }: DispatchOptions,
  { head, scheme }: IncomingRequest,
): GatewayError => {
  if (webSockets?.find(head.authority.host, head.target.path, scheme) !== undefined)
    return upgradeRequired('This path accepts only WebSocket connections')
  if (isAwaitingOperator?.() === true) return notReady()
  return notFound()
}

/** It is not known yet what will be served, and clients would take a 404 as final and cache it. */
const notReady = (): GatewayError =>
  new GatewayError('svc.error.not_ready', 'This gateway waits for its documents', {
    description: 'Its operator has not sent them all yet; /ready of the gateway says why.',
    headers: { 'retry-after': '1' },
  })

const notFound = (): GatewayError =>
  new GatewayError('svc.error.not_found', 'Nothing is served at this host and path')

/** A request whose path has no operation for it. */
class RequestOfPath extends SeenRequest {
  readonly isAcceptable = true
  protected readonly incomingRequest: IncomingRequest

  constructor(incomingRequest: IncomingRequest) {
    super()
    this.incomingRequest = incomingRequest
  }

  checkOrigin(): undefined {
    return undefined
  }

  checkHead(): readonly [] {
    return []
  }

  checkHandshake(): undefined {
    return undefined
  }

  limit(): undefined {
    return undefined
  }

  authenticate(): Error {
    return new TypeError('A path without an operation authenticates no caller')
  }
}

/** Counted, never sent: the client has disconnected. */
const ABANDONED: RenderedResponse = {
  status: CLIENT_WENT_AWAY,
  headers: [],
  contentType: undefined,
  body: '',
}

/** Answers or refuses a request whose path no operation serves, by the steps of the path. */
const serveUnserved = (
  options: DispatchOptions,
  found: Found,
  lacked: Lacks,
  answer?: AnswerPreflight,
): void => {
  const { incomingRequest, match: matched } = found
  const { request, scheme } = incomingRequest
  // Browsers follow no redirect of a preflight.
  const lacks =
    lacked === 'scheme' && preflightOf(request) !== undefined && hasRedirect(matched)
      ? 'OPTIONS'
      : lacked
  const allow = allowOf(matched, lacks === 'OPTIONS' && hasRedirect(matched) ? 'https' : scheme)
  const own = answer?.(allow) ?? ownHeaders(pathParts(found), request.headers)
  const headers = (): HeaderList => pathHeaders(found)
  const unserved: UnservedRequest = {
    lacks,
    schemes: schemesOf(matched),
    allow,
    redirect: () => redirectToHttps(found, headers, options.baseUrl),
    headers,
    isPreflight: answer !== undefined,
  }
  const refuse = (error: unknown): void => {
    refuseUnmatched(options, incomingRequest, error, wordingOfPath(found, headers(), own))
  }
  takeSteps(stepsOfPath(unserved), new RequestOfPath(incomingRequest), unserved, {
    proceed: () => {
      refuse(new TypeError('No step has answered a request that no operation serves'))
    },
    answer: (rendered) => {
      writeUnmatched(options, incomingRequest, rendered, { own })
    },
    refuse,
    abandon: () => {
      writeUnmatched(options, incomingRequest, ABANDONED)
    },
    fail: refuse,
  })
}
