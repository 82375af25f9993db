// Makes the object to apply to the `status` of a resource, and decides whether a reader would care for the difference
// between two of them. Pure.

import type { Quarantined } from '../../compiler/bounded-compiler.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { type Condition, lastValidatedGeneration, traitsOf } from '../resource/condition.ts'
import type {
  ApiSpecificationResource,
  DocumentSummary,
  ProgrammedVersion,
} from '../resource/resource.ts'
import { MAX_REPORTED } from '../resource/status-schema.ts'

/** `status` of an ApiSpecification or a Realm. What it leaves out is taken away by server-side apply. */
export interface StatusObject extends Partial<DocumentSummary> {
  readonly observedGeneration: number
  /** Whose it is: namespace and Lease of the operator. */
  readonly operator?: string
  readonly conditions: readonly Condition[]
  readonly errors?: readonly Reported[]
  readonly warnings?: readonly Reported[]
  readonly programmedGeneration?: number
  readonly programmedDigest?: string
  readonly quarantinedDigest?: string
  readonly quarantinedLimits?: string
}

export interface Reported {
  readonly code: string
  readonly path: string
  readonly message: string
}

const MAX_TEXT_BYTES = 1024

export const statusObject = (
  { result, conditions, errors, warnings, programmed, summary }: ResourceStatus,
  operator?: string,
): StatusObject => ({
  observedGeneration: lastValidatedGeneration(conditions),
  ...(operator !== undefined && { operator }),
  conditions,
  ...detailsOf({ errors, warnings, programmed, summary, quarantined: result.quarantined }),
})

/** The status as it is in the API; undefined: the resource is not from an API server. */
export const recordedStatus = (
  resource: ResourceStatus['result']['resource'],
): StatusObject | undefined => {
  const { conditions, errors = [], warnings = [], writtenBy } = resource
  if (conditions === undefined) return undefined
  const { programmed, quarantined, summary }: Partial<ApiSpecificationResource> =
    resource.kind === 'ApiSpecification' ? resource : {}
  return {
    observedGeneration: lastValidatedGeneration(conditions),
    ...(writtenBy !== undefined && { operator: writtenBy }),
    conditions,
    ...detailsOf({ errors, warnings, programmed, summary, quarantined }),
  }
}

const detailsOf = ({
  errors,
  warnings,
  programmed,
  summary,
  quarantined,
}: {
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly programmed: ProgrammedVersion | undefined
  readonly summary: DocumentSummary | undefined
  readonly quarantined: Quarantined | undefined
}): Omit<StatusObject, 'observedGeneration' | 'operator' | 'conditions'> => ({
  ...summary,
  ...(errors.length > 0 && { errors: reported(errors) }),
  ...(warnings.length > 0 && { warnings: reported(warnings) }),
  ...(programmed !== undefined && {
    programmedGeneration: programmed.generation,
    programmedDigest: programmed.digest,
  }),
  ...(quarantined !== undefined && {
    quarantinedDigest: quarantined.digest,
    quarantinedLimits: quarantined.limits,
  }),
})

export type Difference =
  /** The statuses agree, except in times. */
  | 'none'
  /** Only the number of gateways has changed, which it does, and back again, as Pods come and go. */
  | 'counts'
  /** Only a message has changed, as it names another data plane first, or a result of the fleet: serving, Degraded. */
  | 'wording'
  /** A change that someone may wait for or must act upon. */
  | 'urgent'

/** @example differenceOf(undefined, wanted) // 'urgent' */
export const differenceOf = (
  current: StatusObject | undefined,
  wanted: StatusObject,
): Difference => {
  if (current === wanted) return 'none'
  if (current === undefined || factsOf(current) !== factsOf(wanted)) return 'urgent'
  // Two operators that share a class and a namespace must not overwrite each other's statuses.
  if (current.operator === undefined && wanted.operator !== undefined) return 'urgent'
  if (wordsOf(current) !== wordsOf(wanted)) return 'wording'
  return current.gateways === wanted.gateways ? 'none' : 'counts'
}

const reported = (problems: readonly (Problem | Warning)[]): readonly Reported[] =>
  problems.slice(0, MAX_REPORTED).map(({ code, path, message }) => ({
    code,
    path: cutText(path),
    message: cutText(message),
  }))

const isFact = ({ type }: Condition): boolean => traitsOf(type).urgent !== 'nothing'

const isFactWithMessage = ({ type }: Condition): boolean => traitsOf(type).urgent === 'all'

const factsOf = ({ observedGeneration, conditions, ...rest }: StatusObject): string =>
  JSON.stringify([
    observedGeneration,
    conditions
      .filter(isFact)
      .map((each) => [
        each.type,
        each.status,
        // Ready by what gateways report: that may come and go with every session, as Degraded does.
        each.status === 'True' && !isFactWithMessage(each) ? '' : each.reason,
        each.observedGeneration,
        isFactWithMessage(each) ? each.message : '',
      ])
      .sort(byType),
    rest.id,
    rest.host,
    rest.realm,
    rest.errors ?? [],
    rest.warnings ?? [],
    rest.programmedGeneration,
    rest.programmedDigest,
    rest.quarantinedDigest,
    rest.quarantinedLimits,
  ])

const wordsOf = ({ conditions, serving }: StatusObject): string =>
  JSON.stringify([
    serving,
    conditions
      .filter((each) => !isFactWithMessage(each))
      .map(({ type, message }) => [type, withoutCounts(message)])
      .sort(byType),
  ])

const byType = ([left]: readonly unknown[], [right]: readonly unknown[]): number =>
  String(left) < String(right) ? -1 : 1

/** @example withoutCounts('held by 2 of 5 ready data planes') // 'held by # of # ready data planes' */
const withoutCounts = (message: string): string =>
  message.replaceAll(/\b\d+ of \d+\b/g, '# of #').replaceAll(/ \(?and \d+ more\)?/g, '')

const cutText = (text: string): string =>
  Buffer.byteLength(text) <= MAX_TEXT_BYTES
    ? text
    : `${Buffer.from(text)
        .subarray(0, MAX_TEXT_BYTES - 4)
        .toString('utf8')
        .replace(/\uFFFD$/, '')}…`
