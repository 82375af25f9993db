// One verdict, what the data planes answer, and the entry before in; the entry of the status book out: the same one
// where a reader would see no difference. Pure: time comes in.

import type { Problem, Warning } from '../../spec/problem.ts'
import type { HeldDocument, Rejection } from '../data-plane.ts'
import { type Condition, settleConditions } from '../resource/condition.ts'
import { documentFindings } from './document-findings.ts'
import type { Sight } from './fleet-view.ts'
import {
  type Inherited,
  inherit,
  inheritedLatch,
  inheritedProgrammed,
  inheritedReady,
  isEarly,
} from './inherited.ts'
import { firstRefusing, judgeProgrammed, type Latch, type Programmed } from './programmed.ts'
import { realmFindings } from './realm-findings.ts'
import type { Verdict } from './verdict.ts'

export interface ResourceStatus {
  readonly verdict: Verdict
  readonly conditions: readonly Condition[]
  /** At most eight. */
  readonly errors: readonly Problem[]
  /** Of the language, and of the data planes (routes that another document has); at most eight. */
  readonly warnings: readonly Warning[]
  readonly programmed?: { readonly generation: number; readonly digest: string }
}

export interface Entry {
  readonly status: ResourceStatus
  readonly latch: Latch | undefined
  /** Until every data plane has been asked once: what an operator before us wrote. */
  readonly inherited: Inherited | undefined
  /** What the status was made of, beside the verdict: the same again needs no look at it. */
  readonly made?: Made
}

interface Made {
  readonly programmed: Programmed
  readonly refusal: Rejection | undefined
  readonly shadowed: HeldDocument | undefined
  /** A sidecar that it selects may not hold its realm. */
  readonly isRealmForbidden: boolean
}

export interface Moment {
  readonly before: Entry | undefined
  readonly nowMs: number
}

export const makeEntry = (verdict: Verdict, sight: Sight, moment: Moment): Entry => {
  const before = beforeOf(verdict, moment)
  const entry =
    verdict.resource.kind === 'Realm'
      ? realmEntry(verdict, sight, { before, nowMs: moment.nowMs })
      : documentEntry(verdict, sight, { before, nowMs: moment.nowMs })
  if (before === undefined || before === entry) return entry
  return sameStatus(before.status, entry.status) ? { ...entry, status: before.status } : entry
}

/** Time alone may change what is said. */
export const isWaiting = ({ latch, inherited }: Entry): boolean =>
  latch?.differsSince !== undefined || inherited !== undefined

/** A resource that was made anew under the same name inherits nothing. */
const beforeOf = (verdict: Verdict, { before, nowMs }: Moment): Entry | undefined => {
  const { uid } = verdict.resource.metadata
  if (before?.status.verdict.resource.metadata.uid === uid) return before
  const inherited = inherit(verdict, nowMs)
  if (inherited === undefined) return undefined
  const { conditions, errors, warnings, programmed } = inherited
  const status = { verdict, conditions, errors, warnings, ...(programmed && { programmed }) }
  return { status, latch: inheritedLatch(inherited), inherited }
}

const documentEntry = (verdict: Verdict, sight: Sight, { before, nowMs }: Moment): Entry => {
  const inherited = earlyOf(verdict, sight, { before, nowMs })
  const programmed =
    (inherited && judgeEarly(verdict, sight, inherited, nowMs)) ??
    judgeProgrammed(verdict, sight, before?.latch, nowMs)
  const made = madeOf(verdict, sight, programmed)
  if (before !== undefined && isUnchanged(before, verdict, made)) return before
  const { latch } = programmed
  const last = latch ?? before?.status.programmed
  const status = {
    verdict,
    conditions: settle(verdict, documentFindings(verdict, programmed, made.isRealmForbidden), {
      before,
      nowMs,
    }),
    errors: errorsOf(verdict, made.refusal, inherited),
    warnings: warningsOf(verdict, made.shadowed, inherited),
  }
  const programmedVersion = last && { generation: last.generation, digest: last.digest }
  return {
    ...{ latch, made, inherited },
    status: programmedVersion ? { ...status, programmed: programmedVersion } : status,
  }
}

const madeOf = (verdict: Verdict, sight: Sight, programmed: Programmed): Made => {
  const { id = '' } = verdict
  // Where it is programmed a fresh data plane may still refuse it: that is the data plane's trouble, not this status's.
  const refusing = programmed.finding.status === 'True' ? undefined : firstRefusing(sight)
  return {
    programmed,
    refusal: refusing?.rejected.documents.get(id),
    shadowed: sight.first('shadowed')?.documents.get(id),
    isRealmForbidden: sight.count('forbidden') > 0,
  }
}

const realmEntry = (verdict: Verdict, sight: Sight, { before, nowMs }: Moment): Entry => {
  const early = earlyOf(verdict, sight, { before, nowMs })
  const findings = realmFindings(verdict, sight, early && inheritedReady(early, verdict))
  return {
    ...{ latch: undefined, inherited: early },
    status: {
      verdict,
      conditions: settle(verdict, findings, { before, nowMs }),
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
const judgeEarly = (
  verdict: Verdict,
  sight: Sight,
  early: Inherited,
  nowMs: number,
): Programmed | undefined => {
  const isDecided = judgeProgrammed(verdict, sight, undefined, nowMs).finding.reason === 'Invalid'
  return isDecided || verdict.isHeld === true ? undefined : inheritedProgrammed(early, verdict)
}

const isUnchanged = (before: Entry, verdict: Verdict, made: Made): boolean =>
  before.made !== undefined &&
  before.inherited === undefined &&
  before.status.verdict === verdict &&
  before.made.refusal === made.refusal &&
  before.made.shadowed === made.shadowed &&
  before.made.isRealmForbidden === made.isRealmForbidden &&
  before.made.programmed.rejectedByAll === made.programmed.rejectedByAll &&
  sameLatch(before.latch, made.programmed.latch) &&
  before.made.programmed.finding.reason === made.programmed.finding.reason &&
  before.made.programmed.finding.message === made.programmed.finding.message

const sameLatch = (left: Latch | undefined, right: Latch | undefined): boolean =>
  left?.generation === right?.generation &&
  left?.digest === right?.digest &&
  left?.differsSince === right?.differsSince

const settle = (
  verdict: Verdict,
  findings: Parameters<typeof settleConditions>[1],
  { before, nowMs }: Moment,
): readonly Condition[] =>
  settleConditions(
    before?.status.conditions ?? [],
    findings,
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

/** Faults that a data plane told of: those of the verdict are judged anew. */
const ofDelivery = ({ conditions }: Inherited): boolean =>
  conditions.some(
    ({ type, reason }) =>
      type === 'Programmed' && (reason === 'Rejected' || reason === 'PartiallyProgrammed'),
  )

const warningsOf = (
  { warnings }: Verdict,
  shadowed: HeldDocument | undefined,
  early: Inherited | undefined,
): readonly Warning[] => {
  if (early !== undefined) return early.warnings
  const told = shadowed?.warnings.filter(({ code }) => code === 'Shadowed') ?? []
  return [...warnings, ...told.map(withoutNames).map(inDocument)].slice(0, MAX_REPORTED)
}

/** A data plane knows no namespaces: it names the API that has the route, which may be somebody else's. */
const withoutNames = (warning: Warning): Warning => ({
  ...warning,
  message: 'another document has this route at a data plane: it is not served from here for now',
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
  JSON.stringify(left.errors) === JSON.stringify(right.errors) &&
  JSON.stringify(left.warnings) === JSON.stringify(right.warnings)
