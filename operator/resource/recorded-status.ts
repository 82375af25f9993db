// Reads what an operator has written into the `status` of an object of the API, as far as it can be used. What is
// malformed, or stands there by default, is left out, so that it is written again.

import { memberAt, textAt } from '../../language/expression/members.ts'
import { isList, isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Quarantined } from '../../compiler/bounded-compiler.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import {
  type AnyReason,
  type Condition,
  CONDITION_TYPES,
  conditionOf,
  CONDITIONS,
  type ConditionStatus,
} from './condition.ts'
import { type DocumentSummary, NONE_SERVES, type ProgrammedVersion } from './resource.ts'

export interface RecordedStatus {
  /** In the order in which they are shown. */
  readonly conditions: readonly Condition[]
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly writtenBy?: string
  readonly programmed?: ProgrammedVersion
  readonly summary?: DocumentSummary
  readonly quarantined?: Quarantined
}

/** @example readRecordedStatus(object.status)?.programmed?.digest */
export const readRecordedStatus = (status: unknown): RecordedStatus | undefined => {
  if (!isMap(status)) return undefined
  const found = listIn(status, 'conditions').flatMap(readCondition)
  const recorded = {
    conditions: CONDITION_TYPES.flatMap((type) => conditionOf(found, type) ?? []),
    // Whatever an operator wrote of another version of the language is shown as it stands.
    errors: listIn(status, 'errors').flatMap(readReported) as readonly Problem[],
    warnings: listIn(status, 'warnings').flatMap(readReported) as readonly Warning[],
  }
  const writtenBy = textIn(status, 'operator')
  const programmed = readProgrammed(status)
  const summary = readSummary(status)
  const quarantined = readQuarantined(status)
  return {
    ...recorded,
    ...(writtenBy !== undefined && { writtenBy }),
    ...(summary !== undefined && { summary }),
    ...(programmed !== undefined && { programmed }),
    ...(quarantined !== undefined && { quarantined }),
  }
}

const listIn = (status: ValueMap, name: string): readonly unknown[] => {
  const list = memberAt(status, name)
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

const STATUSES = { True: 0, False: 0, Unknown: 0 } satisfies Record<ConditionStatus, number>

/** Without `observedGeneration` it is the default of the CRD: no operator has written it. */
const readCondition = (value: unknown): readonly Condition[] => {
  if (!isMap(value)) return []
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = value
  if (typeof type !== 'string' || !isKey(CONDITIONS, type)) return []
  if (typeof status !== 'string' || !isKey(STATUSES, status)) return []
  if (typeof reason !== 'string' || typeof message !== 'string') return []
  if (typeof observedGeneration !== 'number' || typeof lastTransitionTime !== 'string') return []
  // The reason is of this version or another one: both are possible, and the type says no more.
  const said = reason as AnyReason
  return [{ type, status, reason: said, message, observedGeneration, lastTransitionTime }]
}

const isKey = <Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  text: string,
): text is Key => Object.hasOwn(table, text)

const readProgrammed = (status: ValueMap): ProgrammedVersion | undefined => {
  const generation = memberAt(status, 'programmedGeneration')
  const digest = memberAt(status, 'programmedDigest')
  return typeof generation === 'number' && typeof digest === 'string' && digest !== ''
    ? { generation, digest }
    : undefined
}

const readSummary = (status: ValueMap): DocumentSummary | undefined => {
  const [serving, gateways] = [textIn(status, 'serving'), textIn(status, 'gateways')]
  if (serving === undefined && gateways === undefined) return undefined
  const [id, host, realm] = ['id', 'host', 'realm'].map((name) => textIn(status, name))
  return {
    ...(id !== undefined && { id }),
    ...(host !== undefined && { host }),
    ...(realm !== undefined && { realm }),
    serving: serving ?? NONE_SERVES,
    gateways: gateways ?? NONE_SERVES,
  }
}

const textIn = (status: ValueMap, name: string): string | undefined => {
  const text = textAt(status, name)
  return text === '' ? undefined : text
}

const readQuarantined = (status: ValueMap): Quarantined | undefined => {
  const digest = memberAt(status, 'quarantinedDigest')
  const limits = memberAt(status, 'quarantinedLimits')
  return typeof digest === 'string' && typeof limits === 'string' ? { digest, limits } : undefined
}
