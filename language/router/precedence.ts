// Sorts the candidates of one place of the table in order of precedence (behaviour §3). Most places have one
// candidate, so what decides is looked up here and not stored beside every candidate.

import type { PathPattern } from '../routes/path-pattern.ts'
import type { Candidate, RouteSet } from './route.ts'

/** Compared in this order; smaller goes first. */
type Weight = readonly (number | string)[]

type InOrder<T> = (candidates: readonly Candidate<T>[]) => readonly Candidate<T>[]

/**
 * The function it returns sorts the candidates of one place: fewer optional segments first, then what has no brackets
 * at all, then rank, age and id of the document. Within a document the shape of the route decides, so that the order of
 * its members does not. Use it for all places of one change: it computes the shape of a route once, and a document may
 * have thousands of routes at one place, each of 64 patterns.
 */
export function createOrder<T>(setOf: (id: string) => RouteSet<T> | undefined): InOrder<T> {
  const shapes = new Map<readonly PathPattern[], string>()
  const shapeOf = (patterns: readonly PathPattern[]): string => {
    const shape =
      shapes.get(patterns) ?? patterns.map((way) => JSON.stringify([way.segments, way.tail])).join()
    shapes.set(patterns, shape)
    return shape
  }
  return (candidates) =>
    candidates
      .map((candidate) => ({ candidate, ...weigh(candidate, setOf(candidate.id)) }))
      .sort(
        (a, b) =>
          compareWeights(a.weight, b.weight) ||
          compareWeights([shapeOf(a.patterns)], [shapeOf(b.patterns)]) ||
          a.candidate.route - b.candidate.route,
      )
      .map(({ candidate }) => candidate)
}

/** Negative when the document `a` goes before `b`: lower rank, then older, then smaller id. */
export function compareSets<T>(
  a: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
  b: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
): number {
  return compareWeights([a.rank, a.since, a.id], [b.rank, b.since, b.id])
}

/** Without what tells routes of one document apart, which is rarely asked for. */
function weigh<T>(
  { pattern, id, route }: Candidate<T>,
  set: RouteSet<T> | undefined,
): { readonly weight: Weight; readonly patterns: readonly PathPattern[] } {
  const patterns = set?.routes[route]?.patterns ?? [pattern]
  const brackets = patterns.length > 1 ? 1 : 0
  return { weight: [pattern.optional, brackets, set?.rank ?? 0, set?.since ?? 0, id], patterns }
}

function compareWeights(a: Weight, b: Weight): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}
