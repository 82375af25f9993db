// Sorts the candidates of one place of the table in order of precedence (behaviour §3). Most places have one
// candidate, so what decides is looked up here and not stored beside every candidate.

import type { Candidate, RouteSet } from './route.ts'

/** Compared in this order; smaller goes first. */
type Weight = readonly (number | string)[]

/**
 * Fewer optional segments first, then what has no brackets at all, then rank, age and id of the document.
 * Within a document the shape of the route decides, so that the order of its members does not.
 */
export function inOrder<T>(
  candidates: readonly Candidate<T>[],
  setOf: (id: string) => RouteSet<T> | undefined,
): readonly Candidate<T>[] {
  return candidates
    .map((candidate) => ({ candidate, weight: weigh(candidate, setOf(candidate.id)) }))
    .sort((a, b) => compareWeights(a.weight, b.weight))
    .map(({ candidate }) => candidate)
}

/** Negative when the document `a` goes before `b`: lower rank, then older, then smaller id. */
export function compareSets<T>(
  a: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
  b: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
): number {
  return compareWeights([a.rank, a.since, a.id], [b.rank, b.since, b.id])
}

function weigh<T>(candidate: Candidate<T>, set: RouteSet<T> | undefined): Weight {
  const { pattern, target, id } = candidate
  const routes = set?.routes ?? []
  const index = routes.findIndex(
    (route) => route.target === target && route.patterns.includes(pattern),
  )
  const patterns = routes[index]?.patterns ?? [pattern]
  const shape = patterns.map((way) => JSON.stringify([way.segments, way.tail])).join()
  const brackets = patterns.length > 1 ? 1 : 0
  return [pattern.optional, brackets, set?.rank ?? 0, set?.since ?? 0, id, shape, index]
}

function compareWeights(a: Weight, b: Weight): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}
