// Defines the types and reasons of conditions, and merges new ones into those shown before. The time of a condition
// changes only when its status does.

const NOT_ACCEPTED = ['Invalid', 'TooLarge', 'TooExpensive', 'QuotaExceeded', 'Conflicted'] as const
const NOT_RESOLVED = [
  'RealmNotFound',
  'RealmDeleted',
  'RefNotPermitted',
  'SecretNotFound',
  'ConfigMapNotFound',
  'ConfigMapForbidden',
  'KeyNotFound',
  'SecretForbidden',
] as const
const NOT_PROGRAMMED = [
  'Pending',
  'Rejected',
  'PartiallyProgrammed',
  'Unreachable',
  'NoDataPlanes',
  'Invalid',
  'Unresolved',
] as const

type ResourceKind = 'ApiSpecification' | 'Realm'

/** What distinguishes a type of condition: code that treats types differently decides by these traits. */
type Traits = {
  /** The kinds whose statuses have it. */
  readonly kinds: readonly ResourceKind[]
  /** Changes of this are written at once, others at most once a minute. */
  readonly urgent: 'all' | 'status and reason' | 'nothing'
} & (Lasting | Abnormality)

/** Always present. If it has the reason Released, it gets that when the operator stops managing the resource. */
interface Lasting {
  readonly reasons: Readonly<Record<ConditionStatus, readonly string[]>>
}

/** Present only while it is True, and removed when the operator stops managing the resource. */
interface Abnormality {
  readonly reasons: { readonly True: readonly string[] }
  /** What finds it: `FoundBy` has a member for each of the types, so that none is forgotten. */
  readonly foundBy: Finder
}

/** The validation of a document, what its gateways report, or the other conditions. */
type Finder = 'document' | 'gateways' | 'conditions'

/** Every condition, in the order in which a status shows them. The vocabulary of the Kubernetes API. */
export const CONDITIONS = {
  Accepted: {
    reasons: { True: ['Accepted'], False: NOT_ACCEPTED, Unknown: ['Pending'] },
    kinds: ['ApiSpecification', 'Realm'],
    urgent: 'all',
  },
  ResolvedRefs: {
    reasons: { True: ['ResolvedRefs'], False: NOT_RESOLVED, Unknown: ['Pending'] },
    kinds: ['ApiSpecification', 'Realm'],
    urgent: 'all',
  },
  Programmed: {
    reasons: { True: ['Programmed'], False: NOT_PROGRAMMED, Unknown: ['Pending', 'Released'] },
    kinds: ['ApiSpecification'],
    // Its message names data planes, and counts them.
    urgent: 'status and reason',
  },
  Ready: {
    reasons: {
      // The second beside the condition Degraded, whose message it has: `kubectl get` shows only Ready.
      True: ['Ready', 'Degraded'],
      False: [...NOT_ACCEPTED, ...NOT_RESOLVED, ...NOT_PROGRAMMED],
      Unknown: ['Pending', 'Released'],
    },
    kinds: ['ApiSpecification', 'Realm'],
    urgent: 'status and reason',
  },
  /** It does not change Programmed and Ready. The last two are of Realms. */
  Degraded: {
    reasons: {
      True: [
        'RouterUnreachable',
        'UpstreamUnhealthy',
        'ProviderUnavailable',
        'CredentialUnavailable',
      ],
    },
    foundBy: 'gateways',
    kinds: ['ApiSpecification', 'Realm'],
    // It may come and go with every session.
    urgent: 'nothing',
  },
  Stalled: {
    reasons: { True: [...NOT_ACCEPTED, 'RefNotPermitted', 'Rejected'] },
    foundBy: 'conditions',
    kinds: ['ApiSpecification', 'Realm'],
    urgent: 'all',
  },
} as const satisfies Readonly<Record<string, Traits>>

export type ConditionType = keyof typeof CONDITIONS

/** In the order in which a status shows them. */
export const CONDITION_TYPES = Object.keys(CONDITIONS) as readonly ConditionType[]

/** @example traitsOf('Ready').urgent // 'status and reason' */
export const traitsOf = (type: ConditionType): Traits => CONDITIONS[type]

/**
 * Types that are always present.
 * @example lastingTypes('Realm') // ['Accepted', 'ResolvedRefs', 'Ready']
 */
export const lastingTypes = (kind: ResourceKind): readonly ConditionType[] =>
  CONDITION_TYPES.filter(
    (type) => finderOf(type) === undefined && traitsOf(type).kinds.includes(kind),
  )

/** What finds the condition; undefined: it is always present. */
export const finderOf = (type: ConditionType): Finder | undefined => {
  const traits = traitsOf(type)
  return 'foundBy' in traits ? traits.foundBy : undefined
}

type ReleasableType = {
  readonly [T in ConditionType]: 'Released' extends ReasonOf<T> ? T : never
}[ConditionType]

/** Whether it becomes Unknown, with the reason Released, when the operator stops managing the resource. */
export const isReleasable = (type: ConditionType): type is ReleasableType => {
  const { reasons } = traitsOf(type)
  return 'Unknown' in reasons && reasons.Unknown.includes('Released')
}

type ReasonsIn<Type extends ConditionType> = (typeof CONDITIONS)[Type]['reasons']

/** Type → status → the reasons it may have. */
type Reasons = {
  readonly [Type in ConditionType]: {
    readonly [
      Status in keyof ReasonsIn<Type>
    ]: ReasonsIn<Type>[Status] extends readonly (infer Reason extends string)[] ? Reason : never
  }
}

/** @example ReasonOf<'Degraded'> // 'RouterUnreachable' | 'UpstreamUnhealthy' | … */
export type ReasonOf<Type extends ConditionType = ConditionType> = {
  readonly [T in Type]: Reasons[T][keyof Reasons[T]]
}[Type]

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** What was found of one type, without times. */
export type NewCondition<Type extends ConditionType = ConditionType> = {
  readonly [T in Type]: {
    readonly [S in keyof Reasons[T]]: {
      readonly type: T
      readonly status: S
      readonly reason: Reasons[T][S]
      readonly message: string
    }
  }[keyof Reasons[T]]
}[Type]

type AbnormalType<By extends Finder = Finder> = {
  readonly [T in ConditionType]: (typeof CONDITIONS)[T] extends { readonly foundBy: By } ? T : never
}[ConditionType]

/** What one finder has found, of each type that it is to look for: without one of them it does not compile. */
export type FoundBy<By extends Finder> = [AbnormalType<By>] extends [never]
  ? object
  : { readonly [T in AbnormalType<By>]: NewCondition<T> | undefined }

/** @example nothingFoundBy('gateways') // { Degraded: undefined } */
export const nothingFoundBy = <By extends Finder>(by: By): FoundBy<By> => {
  const types = CONDITION_TYPES.filter((type) => finderOf(type) === by)
  return Object.fromEntries(types.map((type) => [type, undefined])) as FoundBy<By>
}

type TypeOn<Kind extends ResourceKind> = {
  readonly [T in ConditionType]: Kind extends (typeof CONDITIONS)[T]['kinds'][number] ? T : never
}[ConditionType]

/** All that was found of a resource of one kind: without one of its types it does not compile. */
export type NewConditions<Kind extends ResourceKind> = {
  readonly [T in TypeOn<Kind>]: NewCondition<T> | (T extends AbnormalType ? undefined : never)
}

/** @example conditionsIn({ Accepted, ResolvedRefs, Ready, Stalled: undefined }) // [Accepted, ResolvedRefs, Ready] */
export const conditionsIn = (
  found: Readonly<Partial<Record<ConditionType, NewCondition | undefined>>>,
): readonly NewCondition[] => Object.values(found).filter((condition) => condition !== undefined)

declare const FOREIGN: unique symbol

/** A reason that an operator of another version wrote: no reason of this one is equal to it, as the compiler sees it. */
type ForeignReason = string & { readonly [FOREIGN]: true }

export interface Condition<Type extends ConditionType = ConditionType> {
  readonly type: Type
  readonly status: ConditionStatus
  readonly reason: ReasonOf<Type> | ForeignReason
  readonly message: string
  readonly observedGeneration: number
  /** ISO 8601, whole seconds. */
  readonly lastTransitionTime: string
}

/** What sets of reasons are of, so that `has` takes those of another version. */
export type AnyReason<Type extends ConditionType = ConditionType> = Condition<Type>['reason']

/** @example conditionOf(conditions, 'Programmed')?.reason */
export const conditionOf = <Type extends ConditionType>(
  conditions: readonly Condition[],
  type: Type,
): Condition<Type> | undefined =>
  conditions.find((each) => each.type === type) as Condition<Type> | undefined

const MESSAGE_MAX_BYTES = 1024

/**
 * The same object is returned where nothing changed, so that no status is written without need.
 * @param conditions in any order; of one type the first counts
 * @param nowMs Unix time, milliseconds
 */
export const settleConditions = (
  previous: readonly Condition[],
  conditions: readonly NewCondition[],
  generation: number,
  nowMs: number,
): readonly Condition[] => {
  const settled = CONDITION_TYPES.flatMap((type) => {
    const condition = conditions.find((each) => each.type === type)
    if (condition === undefined) return []
    return [settle(conditionOf(previous, type), condition, generation, nowMs)]
  })
  const same =
    settled.length === previous.length && settled.every((condition, i) => condition === previous[i])
  return same ? previous : settled
}

/**
 * The generation that was validated last. While a newer one is being compiled it is that of the conditions, which go on
 * from before: readers that compare it with `metadata.generation` must not take them for its own.
 */
export const lastValidatedGeneration = (conditions: readonly Condition[]): number =>
  Math.max(0, ...conditions.map(({ observedGeneration }) => observedGeneration))

const settle = (
  before: Condition | undefined,
  { type, status, reason, message }: NewCondition,
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
 * @example joinMessages('/host: Expected a text.', 'nothing serves') // '/host: Expected a text; nothing serves'
 */
export const joinMessages = (message: string, ending: string): string => {
  const maxBytes = MESSAGE_MAX_BYTES - Buffer.byteLength(ending) - 2
  return `${cutMessage(message.replace(/\.$/, ''), maxBytes)}; ${ending}`
}

const cutMessage = (message: string, maxBytes = MESSAGE_MAX_BYTES): string =>
  Buffer.byteLength(message) <= maxBytes
    ? message
    : `${Buffer.from(message)
        .subarray(0, maxBytes - 4)
        .toString('utf8')
        .replace(/\uFFFD$/, '')}…`
