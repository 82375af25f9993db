// Makes the conditions of a resource that its operator releases from those before and the reason, so that they no
// longer say that all is well. What was validated of the resource itself stays, with its generation.

import {
  type Condition,
  conditionOf,
  type NewCondition,
  finderOf,
  isReleasable,
  lastingTypes,
  settleConditions,
} from './condition.ts'

export interface Release {
  readonly kind: 'ApiSpecification' | 'Realm'
  readonly generation: number
  /** For a person: why no operator manages the resource any more, and what to do. */
  readonly message: string
  /** Unix time, milliseconds. */
  readonly nowMs: number
}

export const releasedConditions = (
  conditions: readonly Condition[],
  { kind, generation, message, nowMs }: Release,
): readonly Condition[] => {
  const released = lastingTypes(kind)
    .filter(isReleasable)
    .map((type): NewCondition => ({ type, status: 'Unknown', reason: 'Released', message }))
  const releasable = conditions.filter(({ type }) => isReleasable(type))
  return [
    ...conditions.filter(({ type }) => finderOf(type) === undefined && !isReleasable(type)),
    ...settleConditions(releasable, released, generation, nowMs),
  ]
}

/** @example isReleased([{ type: 'Ready', status: 'Unknown', reason: 'Released', … }]) // true */
export const isReleased = (conditions: readonly Condition[]): boolean =>
  conditionOf(conditions, 'Ready')?.reason === 'Released'

/** What is left of them for an operator that takes the resource over. */
export const withoutRelease = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.some(({ reason }) => reason === 'Released')
    ? conditions.filter(({ reason }) => reason !== 'Released')
    : conditions

/** Says that the `gatewayClassName` of a resource is another operator's. */
export const classReleased = (className: string): string =>
  `its gatewayClassName is ${className}, which this operator does not serve: it has released the resource to the operator of that class`

/** @param operator namespace and Lease */
export const namespaceReleased = (namespace: string, operator: string): string =>
  `the operator ${operator} does not watch namespace ${namespace} any more (watch.namespaces, --namespaces): ` +
  'no operator serves or validates it until one watches that namespace'

/** @param operator namespace and Lease */
export const uninstallReleased = (operator: string): string =>
  `the operator ${operator} was uninstalled: no operator validates it, and gateways that still run keep what they have loaded`
