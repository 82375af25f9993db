// What the operator says of a resource in; the object to apply to its `status` out, and whether a reader would care for
// the difference between two of them. Pure.

import type { Problem, Warning } from '../../spec/problem.ts'
import type { ResourceStatus } from '../reconcile/status-book.ts'
import type { Condition } from '../resource/condition.ts'
import type { ProgrammedVersion } from '../resource/resource.ts'
import { MAX_REPORTED } from '../resource/status-shape.ts'

/** `status` of an ApiSpecification or a Realm. What it leaves out is taken away by server-side apply. */
export interface StatusObject {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
  readonly errors?: readonly Reported[]
  readonly warnings?: readonly Reported[]
  readonly programmedGeneration?: number
  readonly programmedDigest?: string
}

export interface Reported {
  readonly code: string
  readonly path: string
  readonly message: string
}

const MAX_TEXT_BYTES = 1024

export const statusObject = ({
  verdict,
  conditions,
  errors,
  warnings,
  programmed,
}: ResourceStatus): StatusObject => ({
  observedGeneration: verdict.resource.metadata.generation,
  conditions,
  ...detailsOf({ errors, warnings, programmed }),
})

/** What the resource itself tells of its status; undefined: nothing, it is not of an API server. */
export const recordedStatus = (
  resource: ResourceStatus['verdict']['resource'],
): StatusObject | undefined => {
  const { conditions, errors = [], warnings = [] } = resource
  if (conditions === undefined) return undefined
  const programmed = resource.kind === 'ApiSpecification' ? resource.programmed : undefined
  return {
    observedGeneration: Math.max(0, ...conditions.map((each) => each.observedGeneration)),
    conditions,
    ...detailsOf({ errors, warnings, programmed }),
  }
}

const detailsOf = ({
  errors,
  warnings,
  programmed,
}: {
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  readonly programmed: ProgrammedVersion | undefined
}): Omit<StatusObject, 'observedGeneration' | 'conditions'> => ({
  ...(errors.length > 0 && { errors: reported(errors) }),
  ...(warnings.length > 0 && { warnings: reported(warnings) }),
  ...(programmed !== undefined && {
    programmedGeneration: programmed.generation,
    programmedDigest: programmed.digest,
  }),
})

export type Difference =
  /** But for times and counts. */
  | 'none'
  /** The same is said in other words: another data plane is named first, or another cause. */
  | 'wording'
  /** What somebody waits for, or must act upon. */
  | 'news'

/** @example differenceOf(undefined, wanted) // 'news' */
export const differenceOf = (
  standing: StatusObject | undefined,
  wanted: StatusObject,
): Difference => {
  if (standing === wanted) return 'none'
  if (standing === undefined || factsOf(standing) !== factsOf(wanted)) return 'news'
  return wordsOf(standing) === wordsOf(wanted) ? 'none' : 'wording'
}

const reported = (problems: readonly (Problem | Warning)[]): readonly Reported[] =>
  problems.slice(0, MAX_REPORTED).map(({ code, path, message }) => ({
    code,
    path: cutText(path),
    message: cutText(message),
  }))

/** Messages of these are of the fleet: they name data planes, and count them. */
const FLEETING: ReadonlySet<string> = new Set(['Programmed', 'Ready'])

const factsOf = ({ observedGeneration, conditions, ...rest }: StatusObject): string =>
  JSON.stringify([
    observedGeneration,
    conditions
      .map(({ type, status, reason, message, observedGeneration: observed }) => [
        ...[type, status, reason, observed],
        FLEETING.has(type) ? '' : message,
      ])
      .sort(byType),
    rest.errors ?? [],
    rest.warnings ?? [],
    rest.programmedGeneration,
    rest.programmedDigest,
  ])

const wordsOf = ({ conditions }: StatusObject): string =>
  JSON.stringify(
    conditions
      .filter(({ type }) => FLEETING.has(type))
      .map(({ type, message }) => [type, withoutCounts(message)])
      .sort(byType),
  )

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
