// The `status` of an object of the API in; what an operator wrote there before, as far as it can be used, out.
// What is malformed, or stands there by default, is left out: it will be written anew.

import { isList, isMap, type ValueMap } from '../../spec/expression/value.ts'
import type { Problem, Warning } from '../../spec/problem.ts'
import type { Condition, ConditionStatus, ConditionType } from './condition.ts'
import type { ProgrammedVersion } from './resource.ts'
import { ownMember } from './shape.ts'

export interface RecordedStatus {
  /** In the order in which they are shown. */
  readonly conditions: readonly Condition[]
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly programmed?: ProgrammedVersion
}

/** @example readRecordedStatus(object.status)?.programmed?.digest */
export const readRecordedStatus = (status: unknown): RecordedStatus | undefined => {
  if (!isMap(status)) return undefined
  const found = listIn(status, 'conditions').flatMap(readCondition)
  const recorded = {
    conditions: ORDER.flatMap((type) => found.find((each) => each.type === type) ?? []),
    // Whatever an operator wrote of another version of the language is shown as it stands.
    errors: listIn(status, 'errors').flatMap(readReported) as readonly Problem[],
    warnings: listIn(status, 'warnings').flatMap(readReported) as readonly Warning[],
  }
  const programmed = readProgrammed(status)
  return programmed === undefined ? recorded : { ...recorded, programmed }
}

const listIn = (status: ValueMap, name: string): readonly unknown[] => {
  const list = ownMember(status, name)
  return isList(list) ? list : []
}

const readReported = (
  value: unknown,
): readonly { readonly code: string; readonly path: string; readonly message: string }[] => {
  if (!isMap(value)) return []
  const { code, path, message } = value
  const isWhole =
    typeof code === 'string' && typeof path === 'string' && typeof message === 'string'
  return isWhole ? [{ code, path, message }] : []
}

const TYPES = {
  Accepted: 0,
  ResolvedRefs: 1,
  Programmed: 2,
  Ready: 3,
  Stalled: 4,
} satisfies Record<ConditionType, number>

const ORDER = Object.keys(TYPES) as readonly ConditionType[]

const STATUSES = { True: 0, False: 0, Unknown: 0 } satisfies Record<ConditionStatus, number>

/** Without `observedGeneration` it is the default of the CRD: no operator has written it. */
const readCondition = (value: unknown): readonly Condition[] => {
  if (!isMap(value)) return []
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = value
  if (typeof type !== 'string' || !isKey(TYPES, type)) return []
  if (typeof status !== 'string' || !isKey(STATUSES, status)) return []
  if (typeof reason !== 'string' || typeof message !== 'string') return []
  if (typeof observedGeneration !== 'number' || typeof lastTransitionTime !== 'string') return []
  return [{ type, status, reason, message, observedGeneration, lastTransitionTime }]
}

const isKey = <Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  text: string,
): text is Key => Object.hasOwn(table, text)

const readProgrammed = (status: ValueMap): ProgrammedVersion | undefined => {
  const generation = ownMember(status, 'programmedGeneration')
  const digest = ownMember(status, 'programmedDigest')
  return typeof generation === 'number' && typeof digest === 'string' && digest !== ''
    ? { generation, digest }
    : undefined
}
