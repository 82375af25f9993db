// The `status` of an object of the API in; what an operator wrote there before, as far as it can be used, out.
// What is malformed, or stands there by default, is left out: it will be written anew.

import { isList, isMap, type ValueMap } from '../../spec/expression/value.ts'
import type { Condition, ConditionStatus, ConditionType } from './condition.ts'
import type { ProgrammedVersion } from './resource.ts'
import { ownMember } from './shape.ts'

export interface RecordedStatus {
  /** In the order in which they are shown. */
  readonly conditions: readonly Condition[]
  readonly programmed?: ProgrammedVersion
}

/** @example readRecordedStatus(object.status)?.programmed?.digest */
export const readRecordedStatus = (status: unknown): RecordedStatus | undefined => {
  if (!isMap(status)) return undefined
  const listed = ownMember(status, 'conditions')
  const found = isList(listed) ? listed.flatMap(readCondition) : []
  const conditions = ORDER.flatMap((type) => found.find((each) => each.type === type) ?? [])
  const programmed = readProgrammed(status)
  return programmed === undefined ? { conditions } : { conditions, programmed }
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
