// Takes over what an earlier operator wrote into a status: conditions keep their times and Programmed keeps its latch.
// Until the data planes have reported, the status says nothing that their reports might contradict at once. Pure.

import type { Problem, Warning } from '../../../language/problem.ts'
import { type Condition, conditionOf, type NewCondition } from '../../resource/condition.ts'
import { withoutRelease } from '../../resource/released.ts'
import type { DocumentSummary, ProgrammedVersion } from '../../resource/resource.ts'
import type { Sight } from './fleet-view.ts'
import type { Latch, Programmed } from './programmed.ts'
import type { ResourceResult } from '../resource-result.ts'

export interface Inherited {
  /** Since when it is kept, Unix time in milliseconds. */
  readonly sinceMs: number
  /** The one that the status was written for. */
  readonly generation: number
  readonly conditions: readonly Condition[]
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly programmed?: ProgrammedVersion
  readonly summary?: DocumentSummary
}

/** A data plane that was not reached by then counts as unreachable. */
const FIRST_REPORT_MS = 15_000

/** Undefined: no operator has validated the resource before. */
export const inherit = ({ resource }: ResourceResult, nowMs: number): Inherited | undefined => {
  const { errors = [], warnings = [] } = resource
  const conditions = withoutRelease(resource.conditions ?? [])
  if (conditions.length === 0) return undefined
  const { programmed, summary }: Partial<Pick<Inherited, 'programmed' | 'summary'>> =
    resource.kind === 'ApiSpecification' ? resource : {}
  const generation = Math.max(...conditions.map(({ observedGeneration }) => observedGeneration))
  const recorded = { sinceMs: nowMs, generation, conditions, errors, warnings }
  return { ...recorded, ...(programmed && { programmed }), ...(summary && { summary }) }
}

/** Whether it was written for this generation, and reports of data planes are still awaited. */
export const isEarly = (
  { sinceMs, generation }: Inherited,
  { resource }: ResourceResult,
  sight: Sight,
  nowMs: number,
): boolean =>
  generation === resource.metadata.generation &&
  nowMs - sinceMs < FIRST_REPORT_MS &&
  (sight.total === 0 || sight.count('connecting') > 0)

export const inheritedLatch = ({ programmed, conditions }: Inherited): Latch | undefined => {
  const condition = conditionOf(conditions, 'Programmed')
  const isLatched =
    condition?.status === 'True' && condition.observedGeneration === programmed?.generation
  return isLatched ? programmed : undefined
}

/** The condition of this generation; undefined where it was written for another generation or digest. */
export const inheritedProgrammed = (
  { conditions, programmed }: Inherited,
  { resource, digest }: ResourceResult,
): Programmed | undefined => {
  const { generation } = resource.metadata
  const recorded = conditionOf(conditions, 'Programmed')
  if (recorded?.observedGeneration !== generation) return undefined
  if (recorded.status === 'True' && programmed?.digest !== digest) return undefined
  const { type, status, reason, message } = recorded
  // An operator wrote it, so its type and reason are known ones.
  const condition = { type, status, reason, message } as NewCondition<'Programmed'>
  const rejectedByAll = conditionOf(conditions, 'Stalled')?.reason === 'Rejected'
  return status === 'True' && programmed !== undefined
    ? { condition, latch: programmed, rejectedByAll }
    : { condition, rejectedByAll }
}

/** The condition Ready of a Realm according to earlier reports of its data planes. */
export const inheritedReady = (
  { conditions }: Inherited,
  { resource }: ResourceResult,
): NewCondition<'Ready'> | undefined => {
  const condition = conditionOf(conditions, 'Ready')
  if (condition?.observedGeneration !== resource.metadata.generation) return undefined
  const { type, status, reason, message } = condition
  return { type, status, reason, message } as NewCondition<'Ready'>
}
