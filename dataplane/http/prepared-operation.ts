// Prepares everything that is needed to serve a request of a compiled operation: closures, lists in the order of use,
// and flags for steps that can be skipped. It is built at first use.

import { createInterner, identityOf, internData } from '../../base/intern.ts'
import { oncePer } from '../../base/once.ts'
import { plainParts } from '../../language/compile/operation-parts.ts'
import { type CompiledSecurity, isAnonymous } from '../../language/compile/security.ts'
import type { BodyLimits, CompiledOperation } from '../../language/compile/compiled.ts'
import { type ContentType, orderOffers } from '../../language/routes/negotiate.ts'
import { securityOfMethod } from '../../language/request-credentials.ts'
import type { Method } from '../../language/document.ts'
import { pointerOf } from '../../language/failing-place.ts'
import type { FailingPlace } from '../../language/expression/errors.ts'
import { isForgeable } from '../../language/forgeable-callers.ts'
import type { RequestRow } from '../../telemetry/request-row.ts'
import { actionResponse } from '../../language/compile/action.ts'
import { type ActionResponse, NO_BODY } from '../../language/compile/action-response.ts'
import type { Perform } from '../actions/performer.ts'
import type { OperationSlot, ServedPath, ServedTarget, ServedVersion } from '../served.ts'
import type { Guard, OperationShape } from './operation-shape.ts'
import { httpSteps, type PreparedShape } from './steps/request-steps.ts'
import { type EventPlan, prepareEvents } from './sse/mapping.ts'
import { prepareLimits } from './rate-limits/prepare-limits.ts'
import { needsOf } from './request/view.ts'
import { resultCheckOf } from './result-check.ts'
import { prepareHeaders } from './response/headers.ts'
import {
  prepareResponse,
  type ResponsePlan,
  type ResponseTemplates,
  type TemplateSource,
} from './response/plan.ts'
import { ownNames } from './response/own-headers.ts'
import { headCacheOf, type WholeResponse } from './response/write-response.ts'

export type CreatePerformer = (operation: CompiledOperation, path: Path) => Perform

export interface Preparation {
  readonly createPerformer: CreatePerformer
  readonly rowFor: (version: ServedVersion, template: string, method: Method) => RequestRow
}

/** The targets of the route table that dispatch serves from. */
export type Served = ServedTarget<PreparedOperation>

export type Path = ServedPath<PreparedOperation>

export const prepareOperation = (
  slot: OperationSlot<PreparedOperation>,
  preparation: Preparation,
): PreparedOperation => new PreparedOperation(slot, preparation)

/** There is one for each operation in use, so it has few fields, and no closures. */
export class PreparedOperation implements TemplateSource {
  readonly shape: PreparedShape
  readonly version: ServedVersion
  readonly perform: Perform
  readonly onResult: ResponsePlan
  readonly row: RequestRow
  readonly fixed: Map<ContentType, WholeResponse>
  /** Requests that are still taken for much work, because one was. */
  costlyRequests = 0
  readonly #slot: OperationSlot<PreparedOperation>
  /** Made at the first failure, and at the first stream of events. */
  #onError: ResponsePlan | undefined = undefined
  #events: EventPlan | undefined = undefined

  constructor(slot: OperationSlot<PreparedOperation>, preparation: Preparation) {
    const { method, path } = slot
    const { version, template } = path
    const operation = slot.load()
    const response = actionResponse(operation)
    this.#slot = slot
    this.version = version
    this.onResult = prepareResponse(resultTemplates(operation, response), this)
    this.shape = shapeOf(operation, { method, version, response, onResult: this.onResult })
    this.perform = preparation.createPerformer(operation, path)
    this.row = preparation.rowFor(version, template, method)
    this.fixed = this.shape.isFixed ? new Map<ContentType, WholeResponse>() : NOTHING_FIXED
  }

  get action(): OperationShape['action'] {
    return this.shape.action
  }

  get path(): Path {
    return this.#slot.path
  }

  get template(): string {
    return this.path.template
  }

  /** undefined: the document has none. */
  onError(): ResponsePlan | undefined {
    if (!this.shape.hasOnError) return undefined
    return (this.#onError ??= prepareOnError(this.#slot))
  }

  /** How the events of a stream are made; undefined: its response is none. */
  events(): EventPlan | undefined {
    if (!this.shape.hasEvents) return undefined
    return (this.#events ??= prepareEventPlan(this.#slot.load()))
  }

  /** The templates of `on_result`. */
  templates(): ResponseTemplates {
    const operation = this.#slot.load()
    return resultTemplates(operation, actionResponse(operation))
  }

  pointerOf(place: FailingPlace): string {
    return pointerOf(this.#slot.load(), place)
  }
}

interface ShapedOperation {
  readonly method: Method
  readonly version: ServedVersion
  readonly response: ActionResponse
  readonly onResult: ResponsePlan
}

const shapeOf = (
  operation: CompiledOperation,
  { method, version, response, onResult }: ShapedOperation,
): PreparedShape => {
  const { languages, deprecation, statusCodes } = version
  const vary = varyOf(operation, response, version)
  const shape: OperationShape = {
    ...plainParts(operation, internData),
    method,
    guard: guardOf(method, operation.security),
    rateLimits: prepareLimits(operation.rateLimits),
    isForgeable: isForgeable(operation.security),
    offers: offersOf(operation.provides),
    checksAccept: response.checksAccept,
    needs: internData(needsOf(operation.reads)),
    forwardsBody: response.takesBody,
    body: internData(bodyLimitsOf(operation, response)),
    headers: prepareHeaders(operation.headers),
    replacesHeaders: operation.onResult.headers !== undefined,
    readsAction: operation.reads.some((read) => read === 'action' || read.startsWith('action.')),
    hasEvents: response.events !== 'none',
    replacesErrorHeaders: operation.onError.headers !== undefined,
    hasOnError: !isEmpty(operation.onError),
    takesWebSocket: takesWebSocket(operation),
    action: operation.action.type,
    givesStatus: response.givesStatus,
    isFixed: response.isFixed && onResult.isConstant,
    vary,
    headCache: headCacheOf({
      headers: onResult.headers.constant,
      vary,
      deprecation,
      owning: ownNames(operation),
    }),
    resultCheck: resultCheckOf(operation),
    languages,
    deprecation,
    statusCodes,
  }
  return internShape({ ...shape, ...httpSteps(shape) })
}

/** What goes upstream is held until it was checked, within what of a streamed body is held; so is what is signed. */
const bodyLimitsOf = (
  { body, schema, security }: CompiledOperation,
  { takesBody }: ActionResponse,
): BodyLimits =>
  (takesBody && schema?.body !== undefined) || security.some(({ type }) => type === 'hmac')
    ? { ...body, maxBytes: Math.min(body.maxBytes, body.readBytes) }
    : body

export const takesWebSocket = ({ action }: Pick<CompiledOperation, 'action'>): boolean =>
  action.type === 'forward' && action.upgrade === 'websocket'

const isEmpty = ({ headers, body, statusCode, uri }: CompiledOperation['onError']): boolean =>
  [headers, body, statusCode, uri].every((member) => member === undefined)

/** Operations of a document share the list that they provide. */
const offersOf = oncePer((provides: readonly ContentType[]) => internData(orderOffers(provides)))

const internShape = (shape: PreparedShape): PreparedShape =>
  intern(
    Object.entries(shape)
      .map(([name, value]) => `${name} ${keyOf(value)}`)
      .join('\n'),
    () => shape,
  )

const intern = createInterner<PreparedShape>()

/** Objects by number: those that are equal are one, as far as they are interned. */
const keyOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? `#${identityOf(value)}` : String(value)

const guardOf = (method: Method, security: CompiledSecurity): Guard | undefined => {
  const demanded = securityOfMethod(method, security)
  return isAnonymous(demanded) ? undefined : internData(demanded)
}

/** Never written to: only fixed operations have fixed responses. */
const NOTHING_FIXED = new Map<ContentType, WholeResponse>()

/** Failures are rare: their response is built at the first of them. */
const prepareOnError = (slot: OperationSlot<PreparedOperation>): ResponsePlan => {
  const templates = (): ResponseTemplates => {
    const { headers, onError } = slot.load()
    return { headers, body: NO_BODY, ...onError }
  }
  return prepareResponse(templates(), { templates })
}

const prepareEventPlan = (operation: CompiledOperation): EventPlan => {
  const response = actionResponse(operation)
  const { onError } = operation
  return prepareEvents({
    isEndless: response.events === 'endless',
    body: resultTemplates(operation, response).body,
    failure: onError.declared ? (onError.body ?? NO_BODY) : undefined,
  })
}

/** What responds: `on_result`, and the action where it says nothing. */
const resultTemplates = (
  { headers, onResult }: CompiledOperation,
  response: ActionResponse,
): ResponseTemplates => ({
  headers: response.headers ?? headers,
  body: response.body,
  ...onResult,
})

/** Whether somebody who opens the page without a ticket is redirected to the login. */
const isRedirecting = (security: CompiledSecurity): boolean =>
  security.some((each) => each.type === 'oidc' && each.unauthenticated === 'redirect')

const varyOf = (
  operation: CompiledOperation,
  { events }: ActionResponse,
  version: ServedVersion,
): string | undefined => {
  const names: string[] = []
  if (offersOf(operation.provides).length > 1 || events !== 'none') names.push('accept')
  if (version.languages.length > 1) names.push('accept-language')
  if (isRedirecting(operation.security)) names.push('cookie', 'sec-fetch-dest', 'sec-fetch-mode')
  return names.length === 0 ? undefined : names.join(', ')
}
