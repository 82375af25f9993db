// Records how requests were decided, for `GET /why/:id`: every failure and one success in a hundred. On the other
// successes it allocates nothing and takes nanoseconds; what was tried is computed for failures only.

import { hash } from 'node:crypto'
import {
  type DecisionCause,
  DecisionRing,
  type FailureQuery,
  type KeptFailure,
} from '../decisions/decision-ring.ts'
import type {
  Decision,
  DecisionCaller,
  DecisionDocument,
  DecisionStep,
  TriedRoute,
} from '../decisions/decision.ts'
import { createRateCap, type RateCap } from '../decisions/rate-cap.ts'
import { safePath } from '../decisions/safe-path.ts'
import type { GatewayErrorCode } from '../gateway-error.ts'
import { explainMiss } from '../../language/router/explain-miss.ts'
import { matchPath } from '../../language/router/find-web-socket.ts'
import type { RouteTable } from '../../language/router/route-table.ts'
import { mergeNewest } from '../../web/merge-newest.ts'
import type { Identity } from '../security/schemes/authentication.ts'
import { writeHostPattern, writePathPattern } from '../../language/router/write-pattern.ts'
import { CLIENT_WENT_AWAY, type Settlement, type TracedOperation } from './settlement.ts'
import type { DecisionRecorder, EndedRequest } from './report.ts'
import type { Served } from './prepared-operation.ts'
import type { MountedVersion, ServedVersion } from '../served.ts'
import { toMethod } from '../../language/router/select-route.ts'

export interface DecisionLogOptions {
  readonly table: () => RouteTable<Served, MountedVersion>
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Unix time, milliseconds. */
  readonly wallClock: () => number
  /** The key of the hashes of callers: 256 random bits of this process, as text. */
  readonly key: string
  readonly processId: number
}

const MAX_AGE_MS = 15 * 60_000
/** Together 4 MiB. */
const MATCHED_BYTES = 3.5 * 1024 * 1024
const UNMATCHED_BYTES = 0.5 * 1024 * 1024
const SUCCESSES_PER_SAMPLE = 100
/** How many are recorded of one document and cause: a flood of failures costs no more, and does not displace what came before it. */
const MOST_PER_SECOND = { mostOfKind: 50, mostInAll: 2000 }

/** @example new DecisionLog({ table, now, wallClock, key, processId: 1 }) */
export class DecisionLog implements DecisionRecorder {
  readonly #options: DecisionLogOptions
  readonly #matched: DecisionRing
  /** Apart, so that scanners with random hosts and paths displace no decision of a document. */
  readonly #unmatched: DecisionRing
  #untilSample = SUCCESSES_PER_SAMPLE
  readonly #failures: RateCap

  constructor(options: DecisionLogOptions) {
    const { now } = options
    this.#options = options
    this.#matched = new DecisionRing({ maxBytes: MATCHED_BYTES, maxAgeMs: MAX_AGE_MS, now })
    this.#failures = createRateCap({ ...MOST_PER_SECOND, now })
    this.#unmatched = new DecisionRing({ maxBytes: UNMATCHED_BYTES, maxAgeMs: MAX_AGE_MS, now })
  }

  keeps(settlement: Settlement, version: Pick<ServedVersion, 'apiId'> | undefined): boolean {
    const { status, refusal, why } = settlement
    if (status >= 400 || refusal !== undefined || why?.reason === 'invalid_result')
      return this.#failures.admits(kindOf(version?.apiId ?? '', settlement))
    if (--this.#untilSample > 0) return false
    this.#untilSample = SUCCESSES_PER_SAMPLE
    return true
  }

  record(request: EndedRequest): void {
    const { incomingRequest, settlement, operation } = request
    const document = operation?.version.apiId ?? ''
    const decision = {
      ...decisionOf(request, this.#options),
      more: this.#failures.takeLeftOut(kindOf(document, settlement)),
    }
    const kept = {
      id: incomingRequest.id,
      document,
      cause: causeOf(settlement),
      endedMs: Math.floor(this.#options.wallClock()),
      text: JSON.stringify(decision),
    }
    if (operation === undefined) this.#unmatched.add(kept)
    else this.#matched.add(kept)
  }

  /** JSON texts of `Decision`, the newest first, at most 16 of each kind. */
  find(id: string): readonly string[] {
    return [...this.#matched.find(id), ...this.#unmatched.find(id)]
  }

  /** The newest first. */
  failures(query: FailureQuery): readonly KeptFailure[] {
    const rings = [this.#matched, this.#unmatched]
    return mergeNewest(
      rings.map((ring) => ring.failures(query)),
      query.limit,
    ).rows
  }
}

const kindOf = (document: string, settlement: Settlement): string =>
  `${causeOf(settlement)} ${document}`

/** The characters that are kept of texts of documents, which may be long. */
const MAX_TEXT = 256

const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`

/** Pointers begin with what says most, and are long where paths and keys are. */
const MAX_POINTER = 512

const pointerIn = (
  { place }: Settlement,
  operation: TracedOperation | undefined,
): string | undefined => {
  const pointer = place?.pointer ?? (place && operation?.pointerOf?.(place)) ?? ''
  if (pointer === '') return undefined
  return pointer.length <= MAX_POINTER
    ? pointer
    : `${pointer.slice(0, MAX_POINTER).toWellFormed()}…`
}

const decisionOf = (
  { incomingRequest, settlement, seconds, operation }: EndedRequest,
  options: DecisionLogOptions,
): Decision => {
  const { head, request, scheme, id, identity } = incomingRequest
  const { status, refusal, failure } = settlement
  const code = refusal ?? failure
  const tried =
    operation === undefined && status >= 400 ? triedBy(incomingRequest, options.table()) : undefined
  return {
    id,
    at: new Date(options.wallClock() - seconds * 1000).toISOString(),
    ms: Math.round(seconds * 1e5) / 100,
    process: options.processId,
    method: toMethod(request.method) ?? 'other',
    scheme,
    status,
    step: stepOf(settlement, operation !== undefined),
    code: code === undefined ? undefined : cut(code),
    ...causesOf(settlement),
    document: operation && documentOf(operation),
    caller: identity && callerOf(identity, options.key),
    pointer: pointerIn(settlement, operation),
    tried,
    path: operation === undefined ? safePath(head.target.path) : undefined,
    pathLength: head.target.path.length,
    hostLength: head.authority.text.length,
  }
}

type Causes = Pick<Decision, 'reason' | 'claim' | 'expected' | 'attempts' | 'upstream' | 'detail'>

const causesOf = ({ why, token }: Settlement): Causes => ({
  reason: why?.reason ?? token?.reason,
  claim: token?.claim,
  expected: token?.expected,
  attempts: why?.attempts,
  upstream: why?.upstream === undefined ? undefined : cut(why.upstream),
  // That of an expression may have a value of the request.
  detail: why?.reason === 'expression' ? undefined : why?.detail,
})

const documentOf = ({
  version: { apiId, name, realmUri, digest },
  template,
  action,
}: TracedOperation): DecisionDocument => ({
  id: cut(apiId),
  version: cut(name),
  digest: digest === undefined ? undefined : cut(digest),
  realm: cut(realmUri),
  path: cut(template),
  action,
})

/** Where a refusal is decided that comes from none of the list of steps, but from reading the body, an endpoint or an action. */
const STEPS = {
  'svc.error.not_found': 'match',
  'svc.error.not_ready': 'match',
  'svc.error.method_not_allowed': 'method',
  'svc.error.upgrade_required': 'upgrade',
  'svc.error.unauthorized': 'authenticate',
  'svc.error.forbidden': 'authenticate',
  'svc.error.conflict': 'authenticate',
  'svc.error.not_acceptable': 'negotiate',
  'svc.error.unsupported_media_type': 'negotiate',
  'svc.error.payload_too_large': 'body',
  'svc.error.request_timeout': 'body',
  'svc.error.invalid_data': 'body',
  'svc.error.too_many_requests': 'limit',
  'svc.error.overloaded': 'limit',
  'svc.error.bad_gateway': 'action',
  'svc.error.http_gateway.invalid_expression': 'expression',
  'svc.error.internal': 'internal',
} as const satisfies Record<GatewayErrorCode, DecisionStep>

const stepOf = (settlement: Settlement, isMatched: boolean): DecisionStep => {
  const { status, refusal, failure, why, step } = settlement
  if (step !== undefined) return step
  if (refusal !== undefined) {
    // Without a document only the head of the request has been read.
    if (!isMatched && refusal === 'svc.error.invalid_data') return 'head'
    return why?.reason === 'expression' ? 'expression' : STEPS[refusal]
  }
  if (status === CLIENT_WENT_AWAY) return 'client'
  return failure === undefined && why === undefined ? 'response' : 'action'
}

const causeOf = ({ status, refusal }: Settlement): DecisionCause => {
  if (refusal !== undefined) return refusal
  if (status === CLIENT_WENT_AWAY) return 'client'
  if (status < 400) return 'success'
  return status < 500 ? '4xx' : '5xx'
}

/**
 * A quarter of a SHA-256: nothing can be appended to what was hashed, which HMAC is for, at a
 * third of its time.
 */
const HASH_DIGITS = 16

/** undefined: it has no id. */
const callerOf = (identity: Identity, key: string): DecisionCaller | undefined => {
  const { type, authmethod: method, authid, realm_uri: realm } = identity
  if (authid === '') return undefined
  // A realm contains no line feed.
  const digest = hash('sha256', `${key}\n${realm}\n${authid}`)
  return {
    scheme: type,
    method: cut(method),
    hash: digest.slice(0, HASH_DIGITS),
  }
}

const MOST_CANDIDATES = 4

/** With the table of now: it is the one that the request was matched against, but for a load in between. */
const triedBy = (
  { head, scheme }: EndedRequest['incomingRequest'],
  table: RouteTable<Served, MountedVersion>,
): readonly TriedRoute[] => {
  const { authority, target, error } = head
  if (error !== undefined) return []
  const found = matchPath(table, authority.host, target.path)
  if (found === 'malformed') return []
  if (found === undefined)
    return explainMiss(table, authority.host, target.path).map((miss) => ({
      document: cut(miss.id),
      host: cut(writeHostPattern(miss.host)),
      path: cut(writePathPattern(miss.pattern)),
      matchedSegments: miss.matchedSegments,
      reason: miss.reason,
    }))
  return found.candidates.slice(0, MOST_CANDIDATES).map((candidate) => ({
    document: cut(candidate.id),
    host: cut(writeHostPattern(candidate.host)),
    path: cut(candidate.target.template),
    matchedSegments: candidate.pattern.segments.length,
    reason: candidate.target.schemes.includes(scheme) ? 'method' : 'scheme',
  }))
}
