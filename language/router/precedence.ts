// Sorts the candidates of one place of the table in order of precedence (behaviour §3). Most places have one
// candidate, so what decides is looked up here and not stored beside every candidate.

import { countFirst } from '../../base/bisect.ts'
import { type PathPattern, shapeOf } from '../routes/path-pattern.ts'
import type { Candidate, RouteSet } from './route.ts'

/** Compared in this order; smaller goes first. */
type Weight = readonly (number | string)[]

export interface Order<T> {
  sort(candidates: readonly Candidate<T>[]): readonly Candidate<T>[]
  /** Looks at few of `sorted`: ten thousand documents may have `/ws` at one place. Both are in order. */
  merge(sorted: readonly Candidate<T>[], added: readonly Candidate<T>[]): readonly Candidate<T>[]
}

/**
 * The order of the candidates of one place: fewer optional segments first, then what has no brackets at all, then rank,
 * age and id of the document. Within a document the shape of the route decides, so that the order of its members does
 * not. Use it for all places of one change: it computes the shape of a route once, and a document may have thousands of
 * routes at one place, each of 64 patterns.
 */
export function createOrder<T>(setOf: (id: string) => RouteSet<T> | undefined): Order<T> {
  const shapes = new Map<readonly PathPattern[], string>()
  const shapesOf = (patterns: readonly PathPattern[]): string => {
    const shape = shapes.get(patterns) ?? patterns.map(shapeOf).join()
    shapes.set(patterns, shape)
    return shape
  }
  const weighed = (candidate: Candidate<T>): Weighed<T> => weigh(candidate, setOf(candidate.id))
  const compare = (a: Weighed<T>, b: Weighed<T>): number =>
    compareWeights(a.weight, b.weight) ||
    compareWeights([shapesOf(a.patterns)], [shapesOf(b.patterns)]) ||
    a.candidate.route - b.candidate.route
  const sort: Order<T>['sort'] = (candidates) =>
    candidates
      .map(weighed)
      .sort(compare)
      .map(({ candidate }) => candidate)
  return {
    sort,
    merge: (sorted, added) => {
      const parts: (readonly Candidate<T>[])[] = []
      let done = 0
      for (const candidate of added) {
        const own = weighed(candidate)
        const isBefore = (other: Candidate<T>): boolean => compare(weighed(other), own) < 0
        const at = countFirst(sorted, isBefore, done)
        parts.push(sorted.slice(done, at), [candidate])
        done = at
      }
      return [...parts, sorted.slice(done)].flat()
    },
  }
}

/** Negative when the document `a` goes before `b`: lower rank, then older, then smaller id. */
export function compareSets<T>(
  a: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
  b: Pick<RouteSet<T>, 'id' | 'rank' | 'since'>,
): number {
  return compareWeights([a.rank, a.since, a.id], [b.rank, b.since, b.id])
}

interface Weighed<T> {
  readonly candidate: Candidate<T>
  /** Without what tells routes of one document apart, which is rarely asked for. */
  readonly weight: Weight
  readonly patterns: readonly PathPattern[]
}

function weigh<T>(candidate: Candidate<T>, set: RouteSet<T> | undefined): Weighed<T> {
  const { pattern, id, route } = candidate
  const patterns = set?.routes[route]?.patterns ?? [pattern]
  const brackets = patterns.length > 1 ? 1 : 0
  const weight = [pattern.optional, brackets, set?.rank ?? 0, set?.since ?? 0, id]
  return { candidate, weight, patterns }
}

function compareWeights(a: Weight, b: Weight): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}
