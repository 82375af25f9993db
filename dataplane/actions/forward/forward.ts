// Implements the `forward` action (specification §2.5, behaviour §4), which sends each request on to an upstream and
// reports the response. Everything that does not depend on the request is prepared once.

import type { ForwardAction } from '../../../language/compile/forward-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { type IsScarce, NEVER_SCARCE } from '../../least-rate.ts'
import type { SpanOf } from '../../request-spans.ts'
import type { PoolScope } from '../../upstream/limiter.ts'
import type { RetryBudget } from '../../upstream/retry-budget.ts'
import { SYSTEM_CLOCK, type RetryClock } from '../../upstream/retry.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { collectBody, StreamedBody } from './incoming-body.ts'
import { prepareLimits, type CallTimes } from '../call-limits.ts'
import { responseNeedsOf } from '../../../language/compile/response-needs.ts'
import { type HostHealthEvent, prepareHosts } from './hosts.ts'
import { declaredLength, type OutgoingRequest, prepareOrigin, prepareRequest } from './request.ts'
import { Forwarding, REPLAYED_BYTES, type ForwardTools, type ReadyRequest } from './run.ts'
import { type ForwardCredentials, prepareCredential } from './forward-credential.ts'
import type { Exchange, Perform } from '../performer.ts'
import { traceUpstream } from './traced-upstream.ts'

export type ForwardOperation = CompiledOperation & { readonly action: ForwardAction }

export interface ForwardEnvironment {
  readonly upstream: Upstream
  /** The pool scope of the version: its `pool_size`, per origin. */
  readonly scope: PoolScope
  /** The namespace of the document, which may reach no other one of the cluster. */
  readonly confinedTo?: string | undefined
  /** The realm of the document: responses that indicate a fault of an upstream count only for this realm. */
  readonly realm?: string | undefined
  /** The retry budget of the process; without one only each request's own limits bound its retries. */
  readonly retryBudget?: RetryBudget | undefined
  /** Credentials of the realm that the document may use; if left out, none. */
  readonly credentials?: ForwardCredentials | undefined
  /** The realm's call timeout: the `timeout` of operations that set none. */
  readonly callTimeoutMs: () => number
  /** Called for each of several `hosts` that cannot be reached, and for its readmission. */
  readonly onHostHealth?: ((event: HostHealthEvent) => void) | undefined
  /** For tests: the clock and random source of retries, and of the choice among `hosts`. */
  readonly clock?: RetryClock
  /** Whether memory or connections are short; the scope itself knows about its slots. */
  readonly isScarce?: IsScarce | undefined
  /** If requests are traced. */
  readonly spanOf?: SpanOf | undefined
}

/**
 * Reads `id`, `method`, `scheme`, `path`, `query_string` of the context's request besides what the
 * document reads, and `peername` if it is filled (otherwise the peer of the socket is the client).
 *
 * @throws (the performer) GatewayError and ExpressionError for a request that cannot be forwarded
 * @example
 * const perform = prepareForward(operation, { upstream, scope: createPoolScope(200), callTimeoutMs })
 * perform(exchange)
 */
export const prepareForward = (
  operation: ForwardOperation,
  environment: ForwardEnvironment,
): Perform => {
  const { action, security } = operation
  const responseNeeds = responseNeedsOf(operation)
  const isServedByGet = !operation.pointer.endsWith('/head')
  const { clock = SYSTEM_CLOCK, onHostHealth: onHealth } = environment
  const prepare = prepareRequest({
    action,
    target:
      action.hosts === undefined
        ? prepareOrigin(action.host)
        : prepareHosts(action.hosts, { clock, onHealth }),
    security,
    readsBody: responseNeeds.readsResultBody && !responseNeeds.passesThrough,
    isServedByGet,
    rest: operation.rest,
  })
  const limitsOf = prepareLimits(operation.limits, environment.callTimeoutMs)
  const credential =
    action.credential === undefined ? undefined : prepareCredential(action.credential, environment)
  const toolsFor = prepareTools(environment, { responseNeeds, credential })

  return (exchange) => {
    const outgoing = prepare(exchange)
    const limits = limitsOf(exchange.context)
    const tools = toolsFor(exchange)
    const { body } = outgoing
    if (body !== 'client') {
      new Forwarding(exchange, tools, { outgoing, limits, body, contentLength: undefined }).start()
      return
    }
    sendClientBody(exchange, { outgoing, limits }, tools, operation)
  }
}

/** Without traces all requests share the same tools. */
const prepareTools = (
  {
    upstream,
    scope,
    confinedTo,
    realm,
    retryBudget,
    clock = SYSTEM_CLOCK,
    isScarce = NEVER_SCARCE,
    spanOf,
  }: ForwardEnvironment,
  ofOperation: Pick<ForwardTools, 'responseNeeds' | 'credential'>,
): ((exchange: Exchange) => ForwardTools) => {
  const tools: ForwardTools = {
    upstream,
    scope,
    confinedTo,
    realm,
    retryBudget,
    clock,
    isScarce,
    ...ofOperation,
  }
  if (spanOf === undefined) return () => tools
  return ({ incoming }) => {
    const span = spanOf(incoming)
    return span === undefined ? tools : { ...tools, upstream: traceUpstream(upstream, span) }
  }
}

interface ClientRequest {
  readonly outgoing: OutgoingRequest
  readonly limits: CallTimes
}

const sendClientBody = (
  exchange: Exchange,
  request: ClientRequest,
  tools: ForwardTools,
  operation: ForwardOperation,
): void => {
  const contentLength = declaredLength(exchange.incoming)
  let forwarding: Forwarding | undefined
  const run = (body: ReadyRequest['body']): void => {
    forwarding = new Forwarding(exchange, tools, { ...request, body, contentLength })
    forwarding.start()
  }
  const { origin } = request.outgoing
  const options = {
    limits: operation.body,
    memory: exchange.memory,
    isScarce: () => tools.scope.isBusy(origin) || tools.isScarce(),
    onError: (error: Error): void => {
      if (forwarding !== undefined) {
        forwarding.refuse(error)
        return
      }
      exchange.onCancel(undefined)
      exchange.refuse(error)
    },
  }
  if (contentLength !== undefined && contentLength <= REPLAYED_BYTES) {
    const collecting = collectBody(exchange.incoming, options, run)
    exchange.onCancel(() => {
      collecting.cancel()
    })
    return
  }
  const keepBytes = request.limits.retries > 0 ? REPLAYED_BYTES : 0
  const body = new StreamedBody(exchange.incoming, { ...options, keepBytes })
  if (!tools.scope.isBusy(origin)) {
    run(body)
    return
  }
  // Otherwise bodies that arrive slowly would hold the remaining slots.
  exchange.onCancel(() => {
    body.close()
  })
  body.readAhead(READ_AHEAD_BYTES, () => {
    run(body)
  })
}

const READ_AHEAD_BYTES = 64 * 1024
