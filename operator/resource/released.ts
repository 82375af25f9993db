// Makes the conditions of a resource that its operator lets go: those before and why come in; conditions come out that no
// longer say that all is well. What was judged of the resource itself stays, with the generation that it was judged of.

import { type Condition, type Finding, settleConditions } from './condition.ts'

export interface Release {
  readonly kind: 'ApiSpecification' | 'Realm'
  readonly generation: number
  /** For a person: why nobody stands behind the resource any more, and what to do. */
  readonly message: string
  /** Unix time, milliseconds. */
  readonly nowMs: number
}

export const releasedConditions = (
  conditions: readonly Condition[],
  { kind, generation, message, nowMs }: Release,
): readonly Condition[] => {
  const released = { status: 'Unknown', reason: 'Released', message } as const
  const findings: readonly Finding[] = [
    ...(kind === 'ApiSpecification' ? [{ type: 'Programmed', ...released } as const] : []),
    { type: 'Ready', ...released },
  ]
  const told = conditions.filter(isReplaced)
  return [
    ...conditions.filter(({ type }) => type === 'Accepted' || type === 'ResolvedRefs'),
    ...settleConditions(told, findings, generation, nowMs),
  ]
}

const isReplaced = ({ type }: Condition): boolean => type === 'Programmed' || type === 'Ready'

/** @example isReleased([{ type: 'Ready', status: 'Unknown', reason: 'Released', … }]) // true */
export const isReleased = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ type, reason }) => type === 'Ready' && reason === 'Released')

/** What is left of them for whoever takes the resource over. */
export const withoutRelease = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.some(({ reason }) => reason === 'Released')
    ? conditions.filter(({ reason }) => reason !== 'Released')
    : conditions

/** Of a resource whose `gatewayClassName` is another operator's. */
export const classReleased = (className: string): string =>
  `its gatewayClassName is ${className}, which another operator serves, if there is one: this one has let it go`

/** @param operator namespace and Lease */
export const namespaceReleased = (namespace: string, operator: string): string =>
  `the operator ${operator} does not watch namespace ${namespace} any more (watch.namespaces, --namespaces): ` +
  'nobody serves or judges it until one does'

/** @param operator namespace and Lease */
export const uninstallReleased = (operator: string): string =>
  `the operator ${operator} was uninstalled: nobody judges it, and gateways that are left keep what they hold`
