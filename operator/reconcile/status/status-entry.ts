// Makes the entry of one resource in the status registry from its verdict and what the data planes answer: the entry before
// where a reader would see no difference. Pure: time comes in.

import type { Problem, Warning } from '../../../language/problem.ts'
import { isSameText } from '../../../language/wire/digest.ts'
import type { LoadedDocument, Rejection } from '../../data-plane.ts'
import {
  type Condition,
  conditionOf,
  type NewCondition,
  type FoundBy,
  nothingFoundBy,
  settleConditions,
} from '../../resource/condition.ts'
import { classReleased, isReleased, releasedConditions } from '../../resource/released.ts'
import {
  DEFAULT_CLASS,
  type DocumentSummary,
  NONE_SERVES,
  type ProgrammedVersion,
} from '../../resource/resource.ts'
import { apartSince, degradedCondition, hasLasted } from './degraded.ts'
import { documentConditions } from './document-conditions.ts'
import type { Sight } from './fleet-view.ts'
import {
  type Inherited,
  inherit,
  inheritedLatch,
  inheritedProgrammed,
  inheritedReady,
  isEarly,
} from './inherited.ts'
import {
  firstRefusing,
  computeProgrammed,
  type Latch,
  type Programmed,
  withServing,
} from './programmed.ts'
import { realmConditions } from './realm-conditions.ts'
import { inheritedSummary, type KnownVersions, knownVersions, summaryOf } from './summary.ts'
import type { Verdict } from '../verdict.ts'

export interface ResourceStatus {
  readonly verdict: Verdict
  readonly conditions: readonly Condition[]
  /** At most eight. */
  readonly errors: readonly Problem[]
  /** Of the language, and of the data planes (routes that another document has); at most eight. */
  readonly warnings: readonly Warning[]
  readonly programmed?: { readonly generation: number; readonly digest: string }
  /** Of an ApiSpecification. */
  readonly summary?: DocumentSummary
}

export interface Entry {
  readonly status: ResourceStatus
  readonly latch: Latch | undefined
  /** Until every data plane has been asked once: what an operator before us wrote. */
  readonly inherited: Inherited | undefined
  /** Of a document: which generations its digests are of. */
  readonly known?: KnownVersions
  /** Since when a data plane has no session with the router of its realm, and whether that is told. */
  readonly apart?: { readonly since: number; readonly isTold: boolean }
  /** What the status was made of, beside the verdict: the same again needs no look at it. */
  readonly made?: Made
}

interface Made {
  readonly programmed: Programmed
  readonly refusal: Rejection | undefined
  readonly shadowed: LoadedDocument | undefined
  /** A sidecar that it selects may not hold its realm. */
  readonly isRealmForbidden: boolean
  readonly summary: DocumentSummary
  readonly found: FoundBy<'gateways'>
}

export interface Moment {
  readonly before: Entry | undefined
  readonly nowMs: number
}

export const makeEntry = (verdict: Verdict, sight: Sight, moment: Moment): Entry => {
  const before = beforeOf(verdict, moment)
  if (verdict.isReleased === true) return releasedEntry(verdict, before, moment.nowMs)
  // What was told stays told until there is more to tell: its observedGeneration says of what it is.
  if (verdict.isPending === true && before !== undefined) return before
  const entry =
    verdict.resource.kind === 'Realm'
      ? realmEntry(verdict, sight, { before, nowMs: moment.nowMs })
      : documentEntry(verdict, sight, { before, nowMs: moment.nowMs })
  if (before === undefined || before === entry) return entry
  return sameStatus(before.status, entry.status) ? { ...entry, status: before.status } : entry
}

/** Time alone may change what is said. */
export const isWaiting = ({ latch, inherited, apart }: Entry): boolean =>
  latch?.differsSince !== undefined || inherited !== undefined || apart?.isTold === false

/** A resource that was made anew under the same name inherits nothing. */
const beforeOf = (verdict: Verdict, { before, nowMs }: Moment): Entry | undefined => {
  const { uid } = verdict.resource.metadata
  if (before?.status.verdict.resource.metadata.uid === uid) return before
  const inherited = inherit(verdict, nowMs)
  if (inherited === undefined) return undefined
  const { conditions, errors, warnings, programmed, summary } = inherited
  const status = {
    verdict,
    conditions,
    errors,
    warnings,
    ...(programmed && { programmed }),
    ...(summary && { summary }),
  }
  return { status, latch: inheritedLatch(inherited), inherited }
}

const documentEntry = (verdict: Verdict, sight: Sight, moment: Moment): Entry => {
  const { before, nowMs } = moment
  const { apart, ...delivery } = deliveryOf(verdict, sight, moment)
  const { made, inherited, latch } = delivery
  if (before !== undefined && isUnchanged(before, verdict, made)) {
    const isSame = sameApart(before.apart, apart) && before.known === delivery.known
    return isSame ? before : withApart({ ...before, known: delivery.known }, apart)
  }
  const last = latch ?? before?.status.programmed
  const { summary } = made
  const conditions = documentConditions(verdict, made.programmed, {
    ...made,
    serving: summary.serving,
  })
  const status = {
    verdict,
    conditions: settle(verdict, conditions, { before, nowMs }),
    errors: errorsOf(verdict, made.refusal, inherited),
    warnings: warningsOf(verdict, made.shadowed, inherited),
    summary,
  }
  const programmedVersion = last && recordedVersion(last, verdict)
  return withApart(
    {
      ...delivery,
      status: programmedVersion ? { ...status, programmed: programmedVersion } : status,
    },
    apart,
  )
}

/**
 * With what the version that serves is restricted to now: it is refused then, so that nothing else would tell the next
 * operator what was taken from it.
 */
const recordedVersion = (
  { generation, digest }: ProgrammedVersion,
  { serving }: Verdict,
): ProgrammedVersion => {
  const isRestricted = serving !== undefined && isSameText(serving.digest, digest)
  return { generation, digest: isRestricted ? serving.digest : digest }
}

interface Delivery {
  readonly made: Made
  readonly inherited: Inherited | undefined
  readonly latch: Latch | undefined
  readonly known: KnownVersions
  readonly apart: Apart | undefined
}

const deliveryOf = (verdict: Verdict, sight: Sight, moment: Moment): Delivery => {
  const { before, nowMs } = moment
  const inherited = earlyOf(verdict, sight, moment)
  const early = inherited && computeEarlyProgrammed(verdict, sight, inherited, nowMs)
  const programmed = early ?? computeProgrammed(verdict, sight, before?.latch, nowMs)
  const { latch } = programmed
  const known = knownVersions(before?.known ?? [], verdict, latch)
  const told = before?.status.summary
  const summary =
    inherited !== undefined && told !== undefined
      ? inheritedSummary(verdict, sight, told)
      : summaryOf(verdict, sight, { known, before: told })
  const apart = apartOf(sight, moment)
  const made = madeOf(verdict, sight, {
    // What was said before says it already.
    programmed: early ?? withServing(programmed, verdict, summary.serving),
    // Nor is it known yet which sessions there are.
    found:
      inherited === undefined
        ? { Degraded: degradedCondition(verdict, sight, apart?.isTold === true) }
        : toldBefore(before),
    summary,
  })
  return { made, inherited, latch, known, apart }
}

type Apart = NonNullable<Entry['apart']>

const withApart = (entry: Omit<Entry, 'apart'>, apart: Apart | undefined): Entry => {
  const { status, latch, inherited, known, made } = entry
  return {
    status,
    latch,
    inherited,
    ...(known !== undefined && { known }),
    ...(made !== undefined && { made }),
    ...(apart !== undefined && { apart }),
  }
}

const sameApart = (left: Apart | undefined, right: Apart | undefined): boolean =>
  left?.since === right?.since && left?.isTold === right?.isTold

const apartOf = (sight: Sight, { before, nowMs }: Moment): Apart | undefined => {
  const { conditions = [] } = before?.status ?? {}
  const since = apartSince(sight, { since: before?.apart?.since, conditions }, nowMs)
  return since === undefined ? undefined : { since, isTold: hasLasted(since, nowMs) }
}

const toldBefore = (before: Entry | undefined): FoundBy<'gateways'> => {
  const told = conditionOf(before?.status.conditions ?? [], 'Degraded')
  // An operator wrote it, so its reason is a known one.
  return { Degraded: told && ({ ...told } as NewCondition<'Degraded'>) }
}

/** Of a resource that has left our class: the gateways give it up, and nothing of it is looked at any more. */
const releasedEntry = (verdict: Verdict, before: Entry | undefined, nowMs: number): Entry => {
  const isTold = before !== undefined && isReleased(before.status.conditions)
  if (isTold && before.status.verdict === verdict) return before
  const { resource } = verdict
  const { kind, className = DEFAULT_CLASS, metadata } = resource
  const conditions = releasedConditions(resource.conditions ?? [], {
    kind,
    generation: metadata.generation,
    nowMs,
    message: classReleased(className),
  })
  const status = { verdict, conditions, errors: [], warnings: [] }
  const names = resource.kind === 'ApiSpecification' ? resource.summary : undefined
  const summary = { ...names, serving: NONE_SERVES, gateways: NONE_SERVES }
  return {
    latch: undefined,
    inherited: undefined,
    status: kind === 'ApiSpecification' ? { ...status, summary } : status,
  }
}

const madeOf = (
  verdict: Verdict,
  sight: Sight,
  validated: Pick<Made, 'programmed' | 'summary' | 'found'>,
): Made => {
  const { programmed } = validated
  const { id = '' } = verdict
  // Where it is programmed a fresh data plane may still refuse it: that is the data plane's failure, not this status's.
  const refusing = programmed.condition.status === 'True' ? undefined : firstRefusing(sight)
  return {
    ...validated,
    refusal: refusing?.rejected.documents.get(id),
    shadowed: sight.first('shadowed')?.documents.get(id),
    isRealmForbidden: sight.count('forbidden') > 0,
  }
}

const realmEntry = (verdict: Verdict, sight: Sight, { before, nowMs }: Moment): Entry => {
  const early = earlyOf(verdict, sight, { before, nowMs })
  const conditions = realmConditions(
    verdict,
    sight,
    early && inheritedReady(early, verdict),
    early && toldBefore(before),
  )
  return {
    latch: undefined,
    inherited: early,
    status: {
      verdict,
      conditions: settle(verdict, conditions, { before, nowMs }),
      errors: verdict.errors.slice(0, MAX_REPORTED),
      warnings: verdict.warnings.slice(0, MAX_REPORTED),
    },
  }
}

const earlyOf = (
  verdict: Verdict,
  sight: Sight,
  { before, nowMs }: Moment,
): Inherited | undefined => {
  const inherited = before?.inherited
  return inherited && isEarly(inherited, verdict, sight, nowMs) ? inherited : undefined
}

/** Where the data planes decide, what they decided before; where they do not, undefined. */
const computeEarlyProgrammed = (
  verdict: Verdict,
  sight: Sight,
  early: Inherited,
  nowMs: number,
): Programmed | undefined => {
  const isDecided =
    computeProgrammed(verdict, sight, undefined, nowMs).condition.reason === 'Invalid'
  return isDecided || verdict.isHeld === true ? undefined : inheritedProgrammed(early, verdict)
}

const isUnchanged = (before: Entry, verdict: Verdict, made: Made): boolean =>
  before.made !== undefined &&
  before.inherited === undefined &&
  before.status.verdict === verdict &&
  sameMade(before.made, made) &&
  sameLatch(before.latch, made.programmed.latch)

const sameMade = (left: Made, right: Made): boolean =>
  MADE.every((member) => left[member] === right[member]) &&
  FOUND.every((type) => sameWords(left.found[type], right.found[type])) &&
  left.programmed.rejectedByAll === right.programmed.rejectedByAll &&
  sameWords(left.programmed.condition, right.programmed.condition)

const MADE = ['refusal', 'shadowed', 'isRealmForbidden', 'summary'] as const

const FOUND = Object.keys(nothingFoundBy('gateways')) as readonly (keyof FoundBy<'gateways'>)[]

const sameWords = (left: NewCondition | undefined, right: NewCondition | undefined): boolean =>
  left?.reason === right?.reason && left?.message === right?.message

const sameLatch = (left: Latch | undefined, right: Latch | undefined): boolean =>
  left?.generation === right?.generation &&
  left?.digest === right?.digest &&
  left?.differsSince === right?.differsSince

const settle = (
  verdict: Verdict,
  conditions: Parameters<typeof settleConditions>[1],
  { before, nowMs }: Moment,
): readonly Condition[] =>
  settleConditions(
    before?.status.conditions ?? [],
    conditions,
    verdict.resource.metadata.generation,
    nowMs,
  )

const MAX_REPORTED = 8

/** What a data plane refuses is a fault of the document, as the data plane sees it. */
const errorsOf = (
  { errors }: Verdict,
  refusal: Rejection | undefined,
  early: Inherited | undefined,
): readonly Problem[] => {
  if (errors.length > 0) return errors.slice(0, MAX_REPORTED)
  if (early !== undefined) return ofDelivery(early) ? early.errors : []
  return (refusal?.errors ?? []).slice(0, MAX_REPORTED).map(inDocument)
}

/** Faults that a data plane told of: those of the verdict are validated anew. */
const ofDelivery = ({ conditions }: Inherited): boolean =>
  conditions.some(
    ({ type, reason }) =>
      type === 'Programmed' && (reason === 'Rejected' || reason === 'PartiallyProgrammed'),
  )

const warningsOf = (
  { warnings }: Verdict,
  shadowed: LoadedDocument | undefined,
  early: Inherited | undefined,
): readonly Warning[] => {
  if (early !== undefined) return early.warnings
  const told = shadowed?.warnings.filter(({ code }) => code === 'Shadowed') ?? []
  return [...warnings, ...told.map(withoutNames).map(inDocument)].slice(0, MAX_REPORTED)
}

/** A data plane knows no namespaces: it names the API that has the route, which may be somebody else's. */
const withoutNames = (warning: Warning): Warning => ({
  ...warning,
  message:
    'another document has this route at a data plane, so this one does not serve it there for now',
})

const inDocument = <Located extends { readonly path: string }>(located: Located): Located => ({
  ...located,
  path: `/spec/document${located.path}`,
})

const sameStatus = (left: ResourceStatus, right: ResourceStatus): boolean =>
  left.verdict === right.verdict &&
  left.conditions === right.conditions &&
  left.programmed?.generation === right.programmed?.generation &&
  left.programmed?.digest === right.programmed?.digest &&
  left.summary === right.summary &&
  JSON.stringify(left.errors) === JSON.stringify(right.errors) &&
  JSON.stringify(left.warnings) === JSON.stringify(right.warnings)
