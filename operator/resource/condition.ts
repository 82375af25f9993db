// The vocabulary of conditions, and how they settle: findings, the conditions before and the time in; the
// conditions to show out. A time moves only when a status does.

/** Type → status → the reasons it may have. The table of the Kubernetes API, for the compiler. */
export interface Reasons {
  readonly Accepted: {
    readonly True: 'Accepted'
    readonly False: 'Invalid' | 'TooLarge' | 'TooExpensive' | 'QuotaExceeded' | 'Conflicted'
    readonly Unknown: 'Pending'
  }
  readonly ResolvedRefs: {
    readonly True: 'ResolvedRefs'
    readonly False:
      | 'RealmNotFound'
      | 'RealmDeleted'
      | 'RefNotPermitted'
      | 'SecretNotFound'
      | 'ConfigMapNotFound'
      | 'ConfigMapForbidden'
      | 'KeyNotFound'
      | 'SecretForbidden'
    readonly Unknown: 'Pending'
  }
  readonly Programmed: {
    readonly True: 'Programmed'
    readonly False:
      'Pending' | 'Rejected' | 'PartiallyProgrammed' | 'Unreachable' | 'NoDataPlanes' | 'Invalid'
    readonly Unknown: 'Pending' | 'Released'
  }
  readonly Ready: {
    readonly True: 'Ready'
    readonly False: FailingReason
    readonly Unknown: 'Pending' | 'Released'
  }
  /** Present only while True. What is told of it takes nothing from Programmed and Ready. */
  readonly Degraded: { readonly True: 'RouterUnreachable' | 'UpstreamUnhealthy' }
  /** Present only while True. */
  readonly Stalled: {
    readonly True:
      | 'Invalid'
      | 'TooLarge'
      | 'TooExpensive'
      | 'QuotaExceeded'
      | 'Conflicted'
      | 'RefNotPermitted'
      | 'Rejected'
  }
}

type FailingReason =
  Reasons['Accepted']['False'] | Reasons['ResolvedRefs']['False'] | Reasons['Programmed']['False']

export type ConditionType = keyof Reasons
export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** What was found of one type, without times. */
export type Finding<Type extends ConditionType = ConditionType> = {
  readonly [T in Type]: {
    readonly [S in keyof Reasons[T]]: {
      readonly type: T
      readonly status: S
      readonly reason: Reasons[T][S]
      readonly message: string
    }
  }[keyof Reasons[T]]
}[Type]

export interface Condition {
  readonly type: ConditionType
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number
  /** ISO 8601, whole seconds. */
  readonly lastTransitionTime: string
}

const MESSAGE_MAX_BYTES = 1024

/**
 * The same object is given back where nothing changed, so that nobody writes a status for nothing.
 * @param nowMs Unix time, milliseconds
 */
export const settleConditions = (
  previous: readonly Condition[],
  findings: readonly Finding[],
  generation: number,
  nowMs: number,
): readonly Condition[] => {
  const settled = findings.map((finding) => {
    const before = previous.find((condition) => condition.type === finding.type)
    return settle(before, finding, generation, nowMs)
  })
  const same =
    settled.length === previous.length && settled.every((condition, i) => condition === previous[i])
  return same ? previous : settled
}

/**
 * The generation that was judged last. While a newer one is being compiled it is that of the conditions, which go on
 * from before: whoever compares it with `metadata.generation` must not take them for its own.
 */
export const judgedGeneration = (conditions: readonly Condition[]): number =>
  Math.max(0, ...conditions.map(({ observedGeneration }) => observedGeneration))

const settle = (
  before: Condition | undefined,
  { type, status, reason, message }: Finding,
  observedGeneration: number,
  nowMs: number,
): Condition => {
  const lastTransitionTime =
    before?.status === status ? before.lastTransitionTime : wholeSeconds(nowMs)
  const next = {
    type,
    status,
    reason,
    message: cutMessage(message),
    observedGeneration,
    lastTransitionTime,
  }
  return before !== undefined && sameCondition(before, next) ? before : next
}

const sameCondition = (left: Condition, right: Condition): boolean =>
  left.status === right.status &&
  left.reason === right.reason &&
  left.message === right.message &&
  left.observedGeneration === right.observedGeneration

const wholeSeconds = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, 19)}Z`

/**
 * A message and what is to be read of it in any case: where both are too long, the message is cut.
 * @example joinMessages('/host: host is missing', 'nothing serves') // '/host: host is missing; nothing serves'
 */
export const joinMessages = (message: string, ending: string): string =>
  `${cutMessage(message, MESSAGE_MAX_BYTES - Buffer.byteLength(ending) - 2)}; ${ending}`

const cutMessage = (message: string, maxBytes = MESSAGE_MAX_BYTES): string =>
  Buffer.byteLength(message) <= maxBytes
    ? message
    : `${Buffer.from(message)
        .subarray(0, maxBytes - 4)
        .toString('utf8')
        .replace(/\uFFFD$/, '')}…`
