// Prepares everything that is needed to serve a request of a compiled operation: closures, lists in the order of use,
// and flags for steps that can be skipped. It is built at first use.

import { once, oncePer } from '../../base/once.ts'
import type { CompiledSecurity, SecurityScheme } from '../../language/compile/security.ts'
import type { BodyLimits, CompiledOperation, ContentType } from '../../language/compiled.ts'
import type { Method } from '../../language/document.ts'
import { createTextShare } from '../../language/expression/share-text.ts'
import { pointerOf, type RefusingPlace } from '../../language/failing-place.ts'
import type { RequestRow } from '../../telemetry/request-metrics.ts'
import { type ActionResponse, actionResponse, NO_BODY } from '../../language/action-response.ts'
import type { Perform } from '../actions/performer.ts'
import type { OperationSlot, ServedPath, ServedVersion } from '../served.ts'
import { type EventPlan, prepareEvents } from './sse/mapping.ts'
import type { FixedAnswer } from './response/fixed-response.ts'
import { orderOffers } from '../../language/routes/negotiate.ts'
import { needsOf, type RequestNeeds } from './request/view.ts'
import { type HeaderWriter, prepareHeaders } from './response/headers.ts'
import { prepareResponse, type ResponsePlan, type ResponseTemplates } from './response/plan.ts'
import { type HeadMemo, headMemoOf } from './response/write-response.ts'

export type Guard = SecurityScheme

export interface PreparedOperation {
  readonly method: Method
  readonly version: ServedVersion
  readonly template: string
  /** What whoever asks must show; undefined: nothing, which includes every OPTIONS (behaviour §3). */
  readonly guard: Guard | undefined
  readonly accepts: readonly ContentType[]
  /** `provides`, JSON first, one of a kind. */
  readonly offers: readonly ContentType[]
  /** False where an upstream's body passes through unread: it is what it is. */
  readonly checksAccept: boolean
  readonly needs: RequestNeeds
  readonly bodyLimits: BodyLimits
  /** The body goes to an upstream as it came, unless a template reads it. */
  readonly forwardsBody: boolean
  readonly headers: HeaderWriter
  readonly onResult: ResponsePlan
  /** Built at the first failure. */
  readonly onError: (() => ResponsePlan) | undefined
  /** `on_result` has headers: of an answer that passes through only its framing is kept beside them. */
  readonly replacesHeaders: boolean
  /** Some template reads the outcome of the action. */
  readonly readsAction: boolean
  /** Its answer may be a stream of events: how they are made. Built at the first of them. */
  readonly events: (() => EventPlan) | undefined
  readonly perform: Perform
  readonly action: CompiledOperation['action']['type']
  /** The `status_code` of the result is the status, where the document sets none. */
  readonly givesStatus: boolean
  /** The answer is the same for every request: made once per content type. */
  readonly isFixed: boolean
  readonly fixed: Map<ContentType, FixedAnswer>
  /** Value of `Vary`: what the answer is negotiated by. */
  readonly vary: string | undefined
  readonly headMemo: HeadMemo
  readonly row: RequestRow
  readonly pointerOf: (place: RefusingPlace) => string
}

export type CreatePerformer = (
  operation: CompiledOperation,
  path: ServedPath<PreparedOperation>,
) => Perform

export interface Preparation {
  readonly createPerformer: CreatePerformer
  readonly rowFor: (version: ServedVersion, template: string, method: Method) => RequestRow
}

export const prepareOperation = (
  slot: OperationSlot<PreparedOperation>,
  preparation: Preparation,
): PreparedOperation => {
  const { method, path } = slot
  const operation = slot.load()
  const response = actionResponse(operation)
  const onResult = prepareResponse(resultTemplates(operation, response), () => {
    const again = slot.load()
    return resultTemplates(again, actionResponse(again))
  })
  const isFixed = response.isFixed && onResult.isConstant
  const vary = varyOf(operation, response, path.version)
  return {
    method,
    version: path.version,
    template: path.template,
    guard: guardOf(method, operation.security),
    accepts: operation.accepts,
    offers: offersOf(operation.provides),
    checksAccept: response.checksAccept,
    needs: sharedNeeds(operation.reads),
    bodyLimits: operation.body,
    forwardsBody: response.takesBody,
    headers: prepareHeaders(operation.headers),
    onResult,
    onError: operation.onError.declared ? prepareOnError(slot) : undefined,
    replacesHeaders: operation.onResult.headers !== undefined,
    readsAction: operation.reads.some((read) => read === 'action' || read.startsWith('action.')),
    events: response.events === 'none' ? undefined : prepareEventPlan(slot),
    perform: preparation.createPerformer(operation, path),
    action: operation.action.type,
    givesStatus: response.givesStatus,
    isFixed,
    fixed: isFixed ? new Map<ContentType, FixedAnswer>() : NOTHING_FIXED,
    vary,
    headMemo: headMemoOf(path.version, { headers: onResult.headers.constant, vary }),
    row: preparation.rowFor(path.version, path.template, method),
    pointerOf: ({ pointer, ...place }) => pointer ?? pointerOf(slot.load(), place),
  }
}

/** Operations of a document share the list that they provide. */
const offersOf = oncePer(orderOffers)

/** One for all operations that need the same. */
const sharedNeeds = (reads: CompiledOperation['reads']): RequestNeeds => {
  const needs = needsOf(reads)
  const key = Object.values(needs).join()
  const known = NEEDS.get(key) ?? needs
  NEEDS.set(key, known)
  return known
}

/** Of seven flags there are few combinations. */
const NEEDS = new Map<string, RequestNeeds>()

const shareText = createTextShare()

const guardOf = (method: Method, security: CompiledSecurity): Guard | undefined =>
  security.type === 'anonymous' || method === 'options' ? undefined : security

/** Never written to: only fixed operations have fixed answers. */
const NOTHING_FIXED = new Map<ContentType, FixedAnswer>()

/** Failures are rare: their response is built at the first of them. */
const prepareOnError = (slot: OperationSlot<PreparedOperation>): (() => ResponsePlan) => {
  const again = (): ResponseTemplates => {
    const { headers, onError } = slot.load()
    return { headers, body: NO_BODY, ...onError }
  }
  return once(() => prepareResponse(again(), again))
}

const prepareEventPlan = (slot: OperationSlot<PreparedOperation>): (() => EventPlan) =>
  once(() => {
    const operation = slot.load()
    const response = actionResponse(operation)
    const { onError } = operation
    return prepareEvents({
      isEndless: response.events === 'endless',
      body: resultTemplates(operation, response).body,
      failure: onError.declared ? (onError.body ?? NO_BODY) : undefined,
    })
  })

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
  security.type === 'oidc' && security.unauthenticated === 'redirect'

const varyOf = (
  operation: CompiledOperation,
  { events }: ActionResponse,
  version: ServedVersion,
): string | undefined => {
  const names: string[] = []
  if (offersOf(operation.provides).length > 1 || events !== 'none') names.push('accept')
  if (version.languages.length > 1) names.push('accept-language')
  if (isRedirecting(operation.security)) names.push('cookie', 'sec-fetch-dest', 'sec-fetch-mode')
  return names.length === 0 ? undefined : shareText(names.join(', '))
}
