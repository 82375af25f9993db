// Upgrades a request for a WebSocket connection and relays it to the router of the version's realm, or rejects it
// like any other request: match → scheme → steps → handshake → router. One that a forward takes goes through dispatch.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import type { Scheme } from '../../language/document.ts'
import { GatewayError } from '../gateway-error.ts'
import type { ServerHandlers } from '../listen/http-server.ts'
import { matchPath } from '../../language/router/find-web-socket.ts'
import { selectRoute } from '../../language/router/select-route.ts'
import type { OperationSlot, ServedEndpoint, ServedVersion, ServedWebSocket } from '../served.ts'
import { placeOfClient } from './client-place.ts'
import type { Dispatch } from './dispatch.ts'
import { type PreparedOperation, takesWebSocket, type Path } from './prepared-operation.ts'
import { limitByVersion, limitsOfVersion } from './rate-limits/limit-version.ts'
import type { LimitTime, PreparedLimits } from './rate-limits/prepare-limits.ts'
import { createSocketResponse } from '../listen/socket-response.ts'
import type { OpenedRelay, Relays } from '../wamp/relay/relays.ts'
import { responseOn } from '../connections/node-internals.ts'
import { CLIENT_WENT_AWAY, type Settlement } from './settlement.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { authenticateRequest, callerOf } from './authenticate-request.ts'
import { withinNetworks } from '../security/schemes/networks.ts'
import { readEarly } from './upgrade/early-bytes.ts'
import { countedRefusal, renderGatewayError, toGatewayError } from './errors.ts'
import type { RequestRow } from '../../telemetry/request-row.ts'
import { refuseUnmatched, report } from './report.ts'
import { readHead, type RequestHead } from './request/head.ts'
import { ClientUpgrade } from './upgrade/client-upgrade.ts'
import { asksForWebSocket, checkOrigin, readWampHandshake } from './upgrade/handshake.ts'
import { whyOver } from './upgrade/opened-by.ts'
import { checkScheme, type WebSocketRoutes } from './upgrade/web-socket-route.ts'
import { stepsOfWebSocket, takeSteps } from './steps/request-steps.ts'
import { type CheckResult, SeenRequest } from './steps/request-step.ts'
import type { Envelope } from './response/own-headers.ts'
import { switchHead } from './upgrade/switch-head.ts'
import { writeResponse } from './response/write-response.ts'

export interface UpgradeOptions {
  /** The options by which requests are authenticated, counted and logged. */
  readonly dispatch: DispatchOptions
  readonly webSockets: WebSocketRoutes
  readonly relays: Pick<Relays, 'open' | 'claim' | 'carry'>
}

/** A request that asks to upgrade. */
interface Upgrade {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly socket: Duplex
  /** The bytes that the client has sent behind its request. */
  readonly head: Buffer
}

interface CountedWebSocket extends ServedWebSocket {
  /** Found while the document is served: it may be removed before the request ends. */
  readonly row: RequestRow
}

/**
 * For a public server of `scheme`. A request for another protocol, or another path, stays an ordinary request, which
 * dispatch handles.
 * @example createPlainServer(limits, { onRequest, ...createUpgrade(options, 'http', onRequest) })
 */
export const createUpgrade = (
  options: UpgradeOptions,
  scheme: Scheme,
  onRequest: Dispatch,
): Required<Pick<ServerHandlers, 'onUpgrade' | 'shouldUpgrade'>> => ({
  shouldUpgrade: (request) => {
    const head = readHead(request)
    return (
      asksForWebSocket(request, head) &&
      !isAnswering(request.socket) &&
      isTaken(options, head, schemeOf(options, request, scheme))
    )
  },
  onUpgrade: (request, socket, head) => {
    const { dispatch } = options
    socket.on('error', () => undefined)
    const client = dispatch.readClient(request, scheme)
    const requestHead = readHead(request)
    if (find(options, requestHead, client?.scheme ?? scheme) === undefined) {
      forward(options, { request, socket, head, client }, onRequest)
      return
    }
    dispatch.inFlight.count++
    const incomingRequest = {
      request,
      head: requestHead,
      scheme: client?.scheme ?? scheme,
      client,
      id: client?.requestId ?? dispatch.nextRequestId(),
      startedMs: dispatch.now(),
      identity: undefined,
    }
    void serve(options, { incomingRequest, socket, head })
  },
})

const schemeOf = ({ dispatch }: UpgradeOptions, request: IncomingMessage, scheme: Scheme): Scheme =>
  dispatch.readClient(request, scheme)?.scheme ?? scheme

/** An earlier request of this connection waits for its response, into which frames would be written. */
const isAnswering = (socket: Duplex): boolean => responseOn(socket) !== undefined

const find = (
  { webSockets }: UpgradeOptions,
  { error, authority, target }: RequestHead,
  scheme: Scheme,
): ServedWebSocket | undefined =>
  error === undefined ? webSockets.find(authority.host, target.path, scheme) : undefined

const isTaken = (options: UpgradeOptions, head: RequestHead, scheme: Scheme): boolean =>
  find(options, head, scheme) !== undefined ||
  (head.error === undefined && isForwarded(options.dispatch.table(), head, scheme))

/** Whether the operation that would serve it may switch the connection. */
const isForwarded = (
  table: ReturnType<DispatchOptions['table']>,
  { authority, target }: RequestHead,
  scheme: Scheme,
): boolean => {
  const matched = matchPath(table, authority.host, target.path)
  if (matched === undefined || matched === 'malformed') return false
  const selection = selectRoute<OperationSlot<PreparedOperation>, Path, ServedEndpoint>(
    matched,
    scheme,
    'get',
  )
  if (selection.kind !== 'operation') return false
  const { slot } = selection
  return slot.prepared?.shape.takesWebSocket ?? takesWebSocket(slot.load())
}

/** As an ordinary request, whose action may switch the connection. Any other response ends it. */
const forward = (
  { dispatch, relays, webSockets }: UpgradeOptions,
  { request, socket, head, client }: ForwardedUpgrade,
  onRequest: Dispatch,
): void => {
  const response = createSocketResponse(request, socket)
  if (response === undefined) return
  const from = placeOfClient({ request, client })
  const upgrade = new ClientUpgrade({
    request,
    socket,
    head,
    relays,
    from,
    whyOver: ({ incomingRequest, version, shape: { guard } }) =>
      whyOver(dispatch, incomingRequest, { version, guard, isServed: webSockets.servesPaths }),
  })
  onRequest(request, response, upgrade)
}

interface ForwardedUpgrade extends Omit<Upgrade, 'incomingRequest'> {
  readonly request: IncomingMessage
  readonly client: IncomingRequest['client']
}

/** Never rejects. */
const serve = async (options: UpgradeOptions, upgrade: Upgrade): Promise<void> => {
  const { incomingRequest, socket, head } = upgrade
  const served = find(options, incomingRequest.head, incomingRequest.scheme)
  if (served === undefined) {
    refuseGone(options, upgrade)
    return
  }
  // Not spread: some of them are on the prototype.
  const { version, template, security, schemes } = served
  const row = options.dispatch.preparation.rowFor(version, template, 'get')
  const found: CountedWebSocket = { version, template, security, schemes, row }
  const gone = new AbortController()
  const early = readEarly(socket, head, () => {
    gone.abort()
  })
  try {
    const opened = await admit(options, upgrade, found, gone.signal)
    const sent = early.take()
    if (early.hasGone) {
      opened.drop()
      forget(options, upgrade, found)
      return
    }
    socket.write(switchHead(opened, [], envelopeOf(incomingRequest, version)))
    opened.start(socket, sent)
    settle(options, upgrade, found, { status: 101, bytes: 0 })
  } catch (error) {
    early.take()
    if (early.hasGone) forget(options, upgrade, found)
    else refuse(options, upgrade, found, error)
  }
}

/** Records that the client has disconnected. */
const forget = (options: UpgradeOptions, upgrade: Upgrade, found: CountedWebSocket): void => {
  upgrade.socket.destroy()
  settle(options, upgrade, found, { status: CLIENT_WENT_AWAY, bytes: 0 })
}

/** Rejects a request whose document was removed between two lookups in the table. */
const refuseGone = ({ dispatch }: UpgradeOptions, { incomingRequest, socket }: Upgrade): void => {
  const response = createSocketResponse(incomingRequest.request, socket)
  if (response === undefined) return
  const error = new GatewayError('svc.error.not_found', 'Nothing is served at this host and path')
  refuseUnmatched(dispatch, { ...incomingRequest, response }, error, { headers: [] })
}

/** @throws GatewayError */
const admit = async (
  { dispatch, webSockets, relays }: UpgradeOptions,
  { incomingRequest }: Upgrade,
  found: ServedWebSocket,
  signal: AbortSignal,
): Promise<OpenedRelay> => {
  const { request, scheme } = incomingRequest
  const { security, version } = found
  checkScheme(found, scheme)
  await takenSteps(dispatch, incomingRequest, found)
  const owner = {
    realmUri: version.realmUri,
    from: placeOfClient(incomingRequest),
    whyOver: whyOver(dispatch, incomingRequest, {
      version,
      guard: security,
      isServed: webSockets.serves,
    }),
  }
  return relays.open(owner, readWampHandshake(request), signal)
}

/** The handshake of a connection to `/ws`, whose messages have types of their own. */
class HandshakeRequest extends SeenRequest {
  readonly isAcceptable = true
  protected readonly incomingRequest: Upgrade['incomingRequest']
  readonly #dispatch: DispatchOptions
  readonly #version: ServedVersion

  constructor(
    dispatch: DispatchOptions,
    incomingRequest: Upgrade['incomingRequest'],
    version: ServedVersion,
  ) {
    super()
    this.incomingRequest = incomingRequest
    this.#dispatch = dispatch
    this.#version = version
  }

  checkOrigin(security: CompiledSecurity): CheckResult {
    const { request, head } = this.incomingRequest
    const open = withinNetworks(security, callerOf(this.incomingRequest))
    return checkOrigin(
      request,
      head.authority,
      this.#dispatch.origins(this.#version.realmUri),
      open,
    )
  }

  checkHead(): readonly [] {
    return []
  }

  checkHandshake(): undefined {
    return undefined
  }

  limit(
    limits: PreparedLimits,
    when: LimitTime,
    security: CompiledSecurity,
  ): CheckResult | Promise<CheckResult> {
    const { incomingRequest } = this
    if (withinNetworks(security, callerOf(incomingRequest)).length === 0) return undefined
    const version = this.#version
    return limitByVersion(this.#dispatch.limits, { incomingRequest, version, limits, when })
  }

  authenticate(guard: CompiledSecurity): CheckResult | Promise<CheckResult> {
    const { realmUri } = this.#version
    return authenticateRequest(this.#dispatch, this.incomingRequest, { guard, realmUri })
  }
}

/** Rejects if a step refuses the client. */
const takenSteps = (
  dispatch: DispatchOptions,
  incomingRequest: Upgrade['incomingRequest'],
  found: ServedWebSocket,
): Promise<void> =>
  new Promise((resolve, reject: (error: unknown) => void) => {
    const stepRequest = new HandshakeRequest(dispatch, incomingRequest, found.version)
    const subject = { security: found.security, rateLimits: limitsOfVersion(found.version) }
    takeSteps(stepsOfWebSocket(subject), stepRequest, subject, {
      proceed: resolve,
      refuse: reject,
      answer: () => {
        reject(new TypeError('No step answers a request for a WebSocket connection'))
      },
      // A client that has disconnected gets no response.
      abandon: () => {
        reject(new GatewayError('svc.error.unauthorized', 'The client has disconnected'))
      },
      fail: reject,
    })
  })

const envelopeOf = (
  { id, rateLimit }: Omit<IncomingRequest, 'response'>,
  { deprecation }: ServedWebSocket['version'],
): Envelope => ({ requestId: id, rateLimit, deprecation })

const refuse = (
  options: UpgradeOptions,
  upgrade: Upgrade,
  found: CountedWebSocket,
  error: unknown,
): void => {
  const { incomingRequest, socket } = upgrade
  const known = toGatewayError(error, incomingRequest.id)
  if (known.code === 'svc.error.internal')
    options.dispatch.onUnexpected(error, incomingRequest.id, incomingRequest.request)
  const response = createSocketResponse(incomingRequest.request, socket)
  if (response === undefined) {
    forget(options, upgrade, found)
    return
  }
  const rendered = renderGatewayError(known, { incomingRequest }, [])
  const envelope = envelopeOf(incomingRequest, found.version)
  const bytes = writeResponse(response, rendered, envelope, false)
  settle(options, upgrade, found, { status: rendered.status, bytes, ...countedRefusal(known) })
}

const settle = (
  { dispatch }: UpgradeOptions,
  { incomingRequest }: Upgrade,
  { row, version, template }: CountedWebSocket,
  settlement: Settlement,
): void => {
  report(dispatch, incomingRequest, { row, version, template, action: 'ws' }, settlement)
}
