// Dispatches a request, the hot path: it matches it against the current route table, performs only the steps that the
// document needs, and sends one response. Nothing awaits unless a body must be read or an action waits.

import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Scheme } from '../../language/document.ts'
import { GatewayError } from '../gateway-error.ts'
import { match } from '../../language/router/match.ts'
import type { IncomingRequest, DispatchOptions } from './incoming-request.ts'
import { type Matched, MatchedRequest } from './matched-request.ts'
import { writeWhole } from './response/write-response.ts'
import { takeSteps } from './steps/request-steps.ts'
import type { ExchangeObserver } from './exchange.ts'
import { createEventStreams } from './sse/registry.ts'
import { createTurns } from '../turns.ts'
import { isFramingError, refuseHead } from './request/head-error.ts'
import { isKeysPath } from '../../language/routes/keys-path.ts'
import { loginInstead } from './login-instead.ts'
import { pickContentType } from '../../language/routes/negotiate.ts'
import { createOperationCache, type OperationCache } from './operation-cache.ts'
import { type Found, pathHeaders } from './response/path-headers.ts'
import { prepareOperation, type PreparedOperation } from './prepared-operation.ts'
import { refuseUnmatched, report, writeUnmatched } from './report.ts'
import { hasBody, readHead } from './request/head.ts'
import type { RenderedResponse } from './response/plan.ts'
import { allowOf, toMethod } from '../../language/router/select-route.ts'
import { type Selected, type SelectedEndpoint, selectTarget } from './select-route.ts'
import { abandonOperation, refuseOperation, serveOperation } from './serve-operation.ts'
import { upgradeRequired } from './upgrade/handshake.ts'
import { serveBuiltinEndpoint, visitKeys } from './builtin/endpoints.ts'

/** Operations whose closures are cached even while memory is short: a few MB. */
const LEAST_PREPARED = 1000

/** The listener of a public server that speaks `scheme`. */
export const createDispatch = (options: DispatchOptions, scheme: Scheme): RequestListener => {
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
    streams: options.eventStreams ?? createEventStreams(),
    memory: options.memory,
    isScarce: options.isScarce,
    turns: options.turns ?? createTurns(),
  }
  const faulty = new WeakSet<Socket>()
  return (request, response) => {
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
      identity: undefined,
    }
    const { fault } = incomingRequest.head
    if (fault !== undefined && isFramingError(fault)) faulty.add(socket)
    try {
      route(options, cache, incomingRequest, observer)
    } catch (error) {
      refuseUnmatched(options, incomingRequest, error, [])
    }
  }
}

const route = (
  options: DispatchOptions,
  cache: OperationCache<PreparedOperation>,
  incomingRequest: IncomingRequest,
  observer: ExchangeObserver,
): void => {
  const { fault, target } = incomingRequest.head
  if (fault !== undefined) throw refuseHead(fault)
  if (options.endpoints !== undefined && isKeysPath(target.path)) {
    visitKeys(options, incomingRequest)
    return
  }
  const found = find(options, incomingRequest)
  const selected = selectOrAnswer(options, found)
  if (selected === undefined) return
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
  const found = match(options.table(), authority.host, target.path)
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
    refuse: (error) => {
      refuseOperation(matched, observer, loginInstead(options, matched, error))
    },
    abandon: () => {
      abandonOperation(matched, observer)
    },
    fail: (error) => {
      refuseUnmatched(options, incomingRequest, error, [])
    },
  })
}

/** False: this request needs an exchange, for its body, its Accept, or because it is the first of its type. */
const serveFixed = (
  options: DispatchOptions,
  {
    incomingRequest,
    operation,
    language,
  }: Pick<Matched, 'incomingRequest' | 'operation' | 'language'>,
): boolean => {
  const { head, request, response } = incomingRequest
  if (hasBody(head)) return false
  const contentType = pickContentType(head.accept, operation.shape.offers)
  const fixed = contentType && operation.fixed.get(contentType)
  if (fixed === undefined) return false
  const isHead = request.method === 'HEAD'
  const bytes = writeWhole(response, fixed, { requestId: incomingRequest.id, language }, isHead)
  report(options, incomingRequest, operation, { status: fixed.status, bytes })
  return true
}

const unmatchedError = (
  { isAwaitingOperator, webSockets }: DispatchOptions,
  { head, scheme }: IncomingRequest,
): GatewayError => {
  if (webSockets?.find(head.authority.host, head.target.path, scheme) !== undefined)
    return upgradeRequired('This path accepts only WebSocket connections')
  return isAwaitingOperator?.() === true ? notReady() : notFound()
}

/** It is not known yet what will be served, and clients would take a 404 as final and cache it. */
const notReady = (): GatewayError =>
  new GatewayError('svc.error.not_ready', 'This gateway waits for its documents', {
    description: 'Its operator has not sent them all yet; /ready of the gateway says why.',
    headers: { 'retry-after': '1' },
  })

const notFound = (): GatewayError =>
  new GatewayError('svc.error.not_found', 'Nothing is served at this host and path')

/** undefined: the request has been answered. */
const selectOrAnswer = (
  options: DispatchOptions,
  found: Found,
): Selected<PreparedOperation> | SelectedEndpoint | undefined => {
  const { incomingRequest, match: matched } = found
  const method = toMethod(incomingRequest.request.method)
  try {
    const selected = selectTarget(matched, incomingRequest.scheme, method)
    if (selected === undefined) answerOptions(options, found)
    return selected
  } catch (error) {
    refuseUnmatched(options, incomingRequest, error, pathHeaders(found))
    return undefined
  }
}

/** Responds to an OPTIONS that no document declares, with the methods and headers of the path (CORS). */
const answerOptions = (options: DispatchOptions, found: Found): void => {
  const { incomingRequest, match: matched } = found
  const headers = pathHeaders(found).filter(([name]) => name !== 'allow')
  const rendered: RenderedResponse = {
    status: 204,
    headers: [...headers, ['allow', allowOf(matched, incomingRequest.scheme)]],
    contentType: undefined,
    body: '',
  }
  writeUnmatched(options, incomingRequest, rendered)
}
