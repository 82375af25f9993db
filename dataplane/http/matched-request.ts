// Holds a request that was matched to an operation, as its steps and its exchange see it.

import {
  type ContentType,
  pickContentType,
  pickLanguage,
  rateEventStream,
} from '../../language/routes/negotiate.ts'
import type { Candidate, Match } from '../../language/router/route.ts'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import type { CompiledSchemas } from '../../language/compile/compiled.ts'
import { toMethod } from '../../language/router/select-route.ts'
import type { Context } from '../context.ts'
import { GatewayError, type InvalidPart } from '../gateway-error.ts'
import { asksForWebSocket, checkOrigin } from './upgrade/handshake.ts'
import { withinNetworks } from '../security/schemes/networks.ts'
import type { OperationSlot, ServedPath } from '../served.ts'
import { authenticateRequest, callerOf } from './authenticate-request.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { Served, PreparedOperation } from './prepared-operation.ts'
import type { Guard } from './operation-shape.ts'
import { checkLimits, limitContext } from './rate-limits/check-limits.ts'
import type { LimitTime, PreparedLimits } from './rate-limits/prepare-limits.ts'
import { checkDeclaredLength, readBody } from './request/body.ts'
import { hasBody } from './request/head.ts'
import { type CheckedHead, checkHead } from './request/request-check.ts'
import { bindingMap, fillRequestView, type RequestFacts } from './request/view.ts'
import { ownHeaders, type RequestFields } from './response/own-headers.ts'
import { type CheckResult, SeenRequest } from './steps/request-step.ts'

/** An operation of a document, and the route to it. */
export interface Selected<P> {
  readonly candidate: Candidate<ServedPath<P>>
  readonly slot: OperationSlot<P>
}

export interface Matched {
  readonly incomingRequest: IncomingRequest
  readonly match: Match<Served>
  readonly selected: Selected<PreparedOperation>
  readonly operation: PreparedOperation
  readonly language: string
  readonly fields: RequestFields
}

export class MatchedRequest extends SeenRequest implements Matched {
  readonly incomingRequest: IncomingRequest
  readonly match: Match<Served>
  readonly selected: Selected<PreparedOperation>
  readonly operation: PreparedOperation
  readonly language: string
  fields: RequestFields
  /** Set by the step that checks it. */
  checked: CheckedHead | undefined = undefined
  readonly #options: DispatchOptions
  #isNegotiated = false
  #offered: ContentType | undefined = undefined

  constructor(
    options: DispatchOptions,
    { incomingRequest, match }: Pick<Matched, 'incomingRequest' | 'match'>,
    selected: Selected<PreparedOperation>,
    operation: PreparedOperation,
  ) {
    super()
    this.incomingRequest = incomingRequest
    this.match = match
    this.selected = selected
    this.operation = operation
    this.language = pickLanguage(incomingRequest.head.acceptLanguage, operation.shape.languages)
    this.fields = {
      requestId: incomingRequest.id,
      language: this.language,
      own: ownHeaders(operation.shape, incomingRequest.request.headers),
    }
    this.#options = options
  }

  /** The type of the operation that the client prefers; undefined: it accepts none of them. */
  get offered(): ContentType | undefined {
    if (!this.#isNegotiated) {
      this.#isNegotiated = true
      this.#offered = pickContentType(this.head.accept, this.operation.shape.offers)
    }
    return this.#offered
  }

  get facts(): RequestFacts<Served> {
    const { request, head, scheme, id, client } = this.incomingRequest
    return {
      request,
      head,
      method: toMethod(request.method) ?? this.selected.slot.method,
      scheme,
      id,
      language: this.language,
      client,
      match: this.match,
      candidate: this.selected.candidate,
      checked: this.checked,
    }
  }

  get isAcceptable(): boolean {
    const { hasEvents, offers } = this.operation.shape
    // The action decides whether the response really is a stream of events.
    const takesEvents = hasEvents && rateEventStream(this.head.accept, offers) !== 'refused'
    return this.offered !== undefined || takesEvents
  }

  checkOrigin(security: CompiledSecurity): CheckResult {
    const { request, head } = this.incomingRequest
    if (!asksForWebSocket(request, head)) return undefined
    const { realmUri } = this.operation.version
    const open = withinNetworks(security, callerOf(this.incomingRequest))
    return checkOrigin(request, head.authority, this.#options.origins(realmUri), open)
  }

  checkHandshake(isTaken: boolean): CheckResult {
    const { request, head, upgrade } = this.incomingRequest
    if (upgrade !== undefined)
      return isTaken ? upgrade.admit(this.operation.version.realmUri) : NO_WEB_SOCKETS
    const isHandshake =
      asksForWebSocket(request, head) && request.headers['sec-websocket-key'] !== undefined
    if (!isHandshake) return undefined
    return isTaken ? NOT_SWITCHED : NO_WEB_SOCKETS
  }

  checkHead(schemas: CompiledSchemas): readonly InvalidPart[] {
    const { match, selected, incomingRequest } = this
    const { head, request } = incomingRequest
    this.checked = checkHead(schemas, {
      query: head.target.query,
      bindings: () => bindingMap({ match, candidate: selected.candidate, head }),
      rawHeaders: request.rawHeaders,
    })
    return this.checked.errors
  }

  limit(
    limits: PreparedLimits,
    when: LimitTime,
    security: CompiledSecurity,
  ): CheckResult | Promise<CheckResult> {
    const { incomingRequest, operation } = this
    if (withinNetworks(security, callerOf(incomingRequest)).length === 0) return undefined
    const context = (): Context =>
      limitContext(incomingRequest.identity, (view) => {
        fillRequestView(view, limits.needs, this.facts)
      })
    const { version } = operation
    const limited = { incomingRequest, version, hasHeaders: limits.hasHeaders, context }
    const result = checkLimits(this.#options.limits, limits[when], limited)
    const settle = (error: CheckResult): CheckResult => {
      this.fields = { ...this.fields, rateLimit: incomingRequest.rateLimit }
      return error
    }
    return result instanceof Promise ? result.then(settle) : settle(result)
  }

  authenticate(guard: Guard): CheckResult | Promise<CheckResult> {
    const { realmUri } = this.operation.version
    const readBody = (): Promise<Buffer> => this.#readBody()
    return authenticateRequest(this.#options, this.incomingRequest, { guard, realmUri, readBody })
  }

  /** Rejects with a GatewayError, also for a client that has disconnected, which gets no response. */
  #readBody(): Promise<Buffer> {
    const { incomingRequest, operation } = this
    const { head, request } = incomingRequest
    if (!hasBody(head)) return Promise.resolve(NOTHING)
    const { body: limits } = operation.shape
    const { memory: budget, isScarce } = this.#options
    const memory = budget.open(request.socket)
    const policy = { limits, declaredLength: head.contentLength, holding: memory, isScarce }
    return new Promise((resolve, reject) => {
      const tooLarge = checkDeclaredLength(head, limits)
      if (tooLarge !== undefined) {
        reject(tooLarge)
        return
      }
      readBody(request, policy, (result, bytes) => {
        if (result === undefined) incomingRequest.body = { bytes, memory }
        else memory.close()
        if (result === 'gone') reject(CLIENT_HAS_LEFT)
        else if (result instanceof Error) reject(result)
        else resolve(bytes)
      })
    })
  }
}

const NOTHING = Buffer.alloc(0)

const CLIENT_HAS_LEFT = new GatewayError(
  'svc.error.request_timeout',
  'The client left before its body was complete',
)

/** A plain GET in its place would leave the client without a reason. */
const NO_WEB_SOCKETS = new GatewayError(
  'svc.error.invalid_data',
  'This path takes no WebSocket connections',
  { description: 'The forward of this path has no upgrade: [websocket].' },
)

const NOT_SWITCHED = new GatewayError(
  'svc.error.invalid_data',
  'This connection cannot be switched to a WebSocket',
  {
    description:
      'The handshake needs Connection: Upgrade, and must not be sent before the responses to earlier requests.',
  },
)
