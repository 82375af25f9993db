// Makes the entry of one resource in the status registry from its result and the reports of data planes, or gives the
// previous entry where a reader would see no difference. Pure: the time is passed in.

import { COUNTED_PER_GATEWAY } from '../../../language/compile/rate-limits.ts'
import { CONNECTION_ADDRESS } from '../../../language/compile/security.ts'
import { REMEMBERED_PER_GATEWAY } from '../../../language/compile/signature-facts.ts'
import { GATEWAY_WARNINGS } from '../../../language/wire/report-bounds.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import { isSameText } from '../../../language/wire/digest.ts'
import type { Rejection } from '../../data-plane.ts'
import {
  type Condition,
  conditionOf,
  type NewCondition,
  type FoundBy,
  settleConditions,
} from '../../resource/condition.ts'
import { classReleased, isReleased, releasedConditions } from '../../resource/released.ts'
import {
  type DocumentSummary,
  NONE_SERVES,
  type ProgrammedVersion,
} from '../../resource/resource.ts'
import { DEFAULT_CLASS } from '../../resource/resource-schema.ts'
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
  isDecided,
  type Latch,
  type Programmed,
  withServing,
} from './programmed.ts'
import { realmConditions } from './realm-conditions.ts'
import { inheritedSummary, type KnownVersions, knownVersions, summaryOf } from './summary.ts'
import { unknownServiceWarning } from './unknown-services.ts'
import type { ResourceResult } from '../resource-result.ts'

export interface ResourceStatus {
  readonly result: ResourceResult
  readonly conditions: readonly Condition[]
  /** At most eight. */
  readonly errors: readonly Problem[]
  /** Warnings of the language, and of the data planes (routes that another document has); at most eight. */
  readonly warnings: readonly Warning[]
  readonly programmed?: { readonly generation: number; readonly digest: string }
  /** For an ApiSpecification. */
  readonly summary?: DocumentSummary
}

export interface Entry {
  readonly status: ResourceStatus
  readonly latch: Latch | undefined
  /** What an earlier operator wrote; it counts until every data plane has reported once. */
  readonly inherited: Inherited | undefined
  /** For a document: the generation of each digest. */
  readonly known?: KnownVersions
  /** Since when a data plane has had no session with the router of its realm, and whether the status reports that. */
  readonly apart?: { readonly since: number; readonly isReported: boolean }
}

interface When {
  readonly before: Entry | undefined
  readonly nowMs: number
}

export interface Moment extends When {
  /** Hosts of its forwards that name Services which do not exist. */
  readonly unserved: readonly string[]
}

export const makeEntry = (result: ResourceResult, sight: Sight, moment: Moment): Entry => {
  const before = beforeOf(result, moment)
  if (result.isReleased === true) return releasedEntry(result, before, moment.nowMs)
  // The status stays as it is until there is a new result: its observedGeneration says which generation it is about.
  if (result.isPending === true && before !== undefined) return before
  const entry =
    result.resource.kind === 'Realm'
      ? realmEntry(result, sight, { ...moment, before })
      : documentEntry(result, sight, { ...moment, before })
  if (before === undefined || before === entry) return entry
  return sameStatus(before.status, entry.status) ? { ...entry, status: before.status } : entry
}

/** Whether the status may change although nothing happens, as time passes. */
export const isWaiting = ({ latch, inherited, apart }: Entry): boolean =>
  latch?.differsSince !== undefined || inherited !== undefined || apart?.isReported === false

/** A resource that was recreated under the same name inherits nothing. */
const beforeOf = (result: ResourceResult, { before, nowMs }: When): Entry | undefined => {
  const { uid } = result.resource.metadata
  if (before?.status.result.resource.metadata.uid === uid) return before
  const inherited = inherit(result, nowMs)
  if (inherited === undefined) return undefined
  const { conditions, errors, warnings, programmed, summary } = inherited
  const status = {
    result,
    conditions,
    errors,
    warnings,
    ...(programmed && { programmed }),
    ...(summary && { summary }),
  }
  return { status, latch: inheritedLatch(inherited), inherited }
}

const documentEntry = (result: ResourceResult, sight: Sight, moment: Moment): Entry => {
  const { before, nowMs, unserved } = moment
  const { id = '' } = result
  const { programmed, found, latch, inherited, known, apart, summary } = deliveryOf(
    result,
    sight,
    moment,
  )
  const conditions = documentConditions(result, programmed, {
    isRealmForbidden: sight.count('forbidden') > 0,
    serving: summary.serving,
    found,
  })
  // A new data plane may still reject a document that is programmed: that is reported as its failure, not here.
  const refusing = programmed.condition.status === 'True' ? undefined : firstRefusing(sight)
  // A revoked version must not look to the next operator as if it served.
  const last = result.isRevoked === true ? undefined : (latch ?? before?.status.programmed)
  const status: ResourceStatus = {
    result,
    conditions: settle(result, conditions, { before, nowMs }),
    errors: errorsOf(result, refusing?.rejected.documents.get(id), inherited),
    warnings: warningsOf(result, sight, inherited, unserved),
    summary,
    ...(last !== undefined && { programmed: recordedVersion(last, result) }),
  }
  return { status, latch, inherited, known, ...(apart !== undefined && { apart }) }
}

/** How far the document is in service, as far as that is known. */
interface Delivery {
  readonly programmed: Programmed
  readonly found: FoundBy<'gateways'>
  readonly latch: Latch | undefined
  readonly inherited: Inherited | undefined
  readonly known: KnownVersions
  readonly apart: Entry['apart']
  readonly summary: DocumentSummary
}

const deliveryOf = (result: ResourceResult, sight: Sight, moment: Moment): Delivery => {
  const { before, nowMs } = moment
  const inherited = earlyOf(result, sight, moment)
  const early = inherited && computeEarlyProgrammed(result, sight, inherited, nowMs)
  const programmed = early ?? computeProgrammed(result, sight, before?.latch, nowMs)
  const { latch } = programmed
  const known = knownVersions(before?.known ?? [], result, latch)
  const summaryBefore = before?.status.summary
  const summary =
    inherited !== undefined && summaryBefore !== undefined
      ? inheritedSummary(result, sight, summaryBefore)
      : summaryOf(result, sight, { known, before: summaryBefore })
  const apart = apartOf(sight, moment)
  return {
    // An inherited condition already says which version serves.
    programmed: early ?? withServing(programmed, result, summary.serving),
    // Until every data plane has reported, nothing is known about sessions either.
    found:
      inherited === undefined
        ? { Degraded: degradedCondition(result, sight, apart?.isReported === true) }
        : degradedBefore(before),
    latch,
    inherited,
    known,
    apart,
    summary,
  }
}

/**
 * The digest includes what the serving version is restricted to by now. Such a version is rejected, so the next operator
 * could learn nowhere else what was withdrawn from it.
 */
const recordedVersion = (
  { generation, digest }: ProgrammedVersion,
  { serving }: ResourceResult,
): ProgrammedVersion => {
  const isRestricted = serving !== undefined && isSameText(serving.digest, digest)
  return { generation, digest: isRestricted ? serving.digest : digest }
}

type Apart = NonNullable<Entry['apart']>

const apartOf = (sight: Sight, { before, nowMs }: Moment): Apart | undefined => {
  const { conditions = [] } = before?.status ?? {}
  const since = apartSince(sight, { since: before?.apart?.since, conditions }, nowMs)
  return since === undefined ? undefined : { since, isReported: hasLasted(since, nowMs) }
}

const degradedBefore = (before: Entry | undefined): FoundBy<'gateways'> => {
  const condition = conditionOf(before?.status.conditions ?? [], 'Degraded')
  // An operator wrote it, so its reason is a known one.
  return { Degraded: condition && ({ ...condition } as NewCondition<'Degraded'>) }
}

/** For a resource that has left our class: the gateways unload it, and it is not validated any more. */
const releasedEntry = (result: ResourceResult, before: Entry | undefined, nowMs: number): Entry => {
  const isReported = before !== undefined && isReleased(before.status.conditions)
  if (isReported && before.status.result === result) return before
  const { resource } = result
  const { kind, className = DEFAULT_CLASS, metadata } = resource
  const conditions = releasedConditions(resource.conditions ?? [], {
    kind,
    generation: metadata.generation,
    nowMs,
    message: classReleased(className),
  })
  const status = { result, conditions, errors: [], warnings: [] }
  const names = resource.kind === 'ApiSpecification' ? resource.summary : undefined
  const summary = { ...names, serving: NONE_SERVES, gateways: NONE_SERVES }
  return {
    latch: undefined,
    inherited: undefined,
    status: kind === 'ApiSpecification' ? { ...status, summary } : status,
  }
}

const realmEntry = (result: ResourceResult, sight: Sight, { before, nowMs }: When): Entry => {
  const early = earlyOf(result, sight, { before, nowMs })
  const conditions = realmConditions(
    result,
    sight,
    early && inheritedReady(early, result),
    early && degradedBefore(before),
  )
  return {
    latch: undefined,
    inherited: early,
    status: {
      result,
      conditions: settle(result, conditions, { before, nowMs }),
      errors: result.errors.slice(0, MAX_REPORTED),
      warnings: result.warnings.slice(0, MAX_REPORTED),
    },
  }
}

const earlyOf = (
  result: ResourceResult,
  sight: Sight,
  { before, nowMs }: When,
): Inherited | undefined => {
  const inherited = before?.inherited
  return inherited && isEarly(inherited, result, sight, nowMs) ? inherited : undefined
}

/** The inherited condition where reports of data planes decide it; undefined where the result alone does. */
const computeEarlyProgrammed = (
  result: ResourceResult,
  sight: Sight,
  early: Inherited,
  nowMs: number,
): Programmed | undefined => {
  const isFinal = isDecided(computeProgrammed(result, sight, undefined, nowMs))
  return isFinal || result.isHeld === true ? undefined : inheritedProgrammed(early, result)
}

const settle = (
  result: ResourceResult,
  conditions: Parameters<typeof settleConditions>[1],
  { before, nowMs }: When,
): readonly Condition[] =>
  settleConditions(
    before?.status.conditions ?? [],
    conditions,
    result.resource.metadata.generation,
    nowMs,
  )

const MAX_REPORTED = 8

/** Problems of the document: those of the result or, without any, those that a data plane has found. */
const errorsOf = (
  { errors }: ResourceResult,
  refusal: Rejection | undefined,
  early: Inherited | undefined,
): readonly Problem[] => {
  if (errors.length > 0) return errors.slice(0, MAX_REPORTED)
  if (early !== undefined) return ofDelivery(early) ? early.errors : []
  return (refusal?.errors ?? []).slice(0, MAX_REPORTED).map(inDocument)
}

/** Whether the inherited errors came from a data plane: those of the result are computed again. */
const ofDelivery = ({ conditions }: Inherited): boolean =>
  conditions.some(
    ({ type, reason }) =>
      type === 'Programmed' && (reason === 'Rejected' || reason === 'PartiallyProgrammed'),
  )

const warningsOf = (
  { warnings }: ResourceResult,
  sight: Sight,
  early: Inherited | undefined,
  unserved: readonly string[],
): readonly Warning[] => {
  if (early !== undefined) return early.warnings
  const ofGateways = GATEWAY_WARNINGS.flatMap((known) =>
    sight.warnings
      .filter(({ code }) => code === known)
      .map(({ code, path }) => inDocument({ code, path, message: GATEWAY_MESSAGES[known] })),
  )
  return [...unserved.map(unknownServiceWarning), ...warnings, ...ofGateways].slice(0, MAX_REPORTED)
}

/** A data plane knows no namespaces: it names the document that has the route, which may be of another tenant. */
const GATEWAY_MESSAGES: Readonly<Record<(typeof GATEWAY_WARNINGS)[number], string>> = {
  Shadowed:
    'another document has this route at a data plane, so this one does not serve it there for now',
  ConnectionAddress: CONNECTION_ADDRESS,
  CountedPerGateway: COUNTED_PER_GATEWAY,
  RememberedPerGateway: REMEMBERED_PER_GATEWAY,
}

const inDocument = <Located extends { readonly path: string }>(located: Located): Located => ({
  ...located,
  path: `/spec/document${located.path}`,
})

const sameStatus = (left: ResourceStatus, right: ResourceStatus): boolean =>
  left.result === right.result &&
  left.conditions === right.conditions &&
  left.programmed?.generation === right.programmed?.generation &&
  left.programmed?.digest === right.programmed?.digest &&
  left.summary === right.summary &&
  JSON.stringify(left.errors) === JSON.stringify(right.errors) &&
  JSON.stringify(left.warnings) === JSON.stringify(right.warnings)
