// Shares one path trie among documents whose routes have equal patterns: a thousand tenants with the same API have it
// once, and so in the processor's cache. It is freed with the last table that uses it.

import { createInterner, identityOf } from '../../base/intern.ts'
import { shapeOf } from '../routes/path-pattern.ts'
import { MAX_WAYS } from '../routes/path-syntax.ts'
import type { Route } from './route.ts'
import { editTrie, type TrieNode } from './trie.ts'

/** A pattern of a document: the number of its route, times `MAX_WAYS`, and its own number in the route. */
export type PlacedPattern = number

export interface SharedPaths {
  /** Leads to numbers of `places`; undefined: there are no routes. */
  readonly paths: TrieNode<number> | undefined
  /** What ends at each place; several are in no order. */
  readonly places: readonly (PlacedPattern | readonly PlacedPattern[])[]
}

export const splitPattern = (placed: PlacedPattern): readonly [route: number, way: number] => [
  Math.floor(placed / MAX_WAYS),
  placed % MAX_WAYS,
]

/** A document of more routes is rarely the same as another one, and what tells it apart is long. */
const MOST_ROUTES = 256

type Routes = readonly Pick<Route<unknown>, 'patterns'>[]

const intern = createInterner<SharedPaths>()

export function sharedPaths(routes: Routes): SharedPaths {
  if (routes.length > MOST_ROUTES) return buildPaths(routes)
  // Equal patterns are one list, as far as the store shares them.
  const key = routes.map(({ patterns }) => identityOf(patterns)).join()
  return intern(key, () => buildPaths(routes))
}

/** As `places`, of a document that shares its host with others, so that a trie of its own would be of no use. */
export function placesOf(routes: Routes): SharedPaths['places'] {
  const places = new Map<string, PlacedPattern[]>()
  for (const [route, { patterns }] of routes.entries())
    for (const [way, pattern] of patterns.entries()) {
      const key = shapeOf(pattern)
      const placed = places.get(key)
      if (placed === undefined) places.set(key, [placedPattern(route, way)])
      else placed.push(placedPattern(route, way))
    }
  return [...places.values()].map(trim)
}

const placedPattern = (route: number, way: number): PlacedPattern => route * MAX_WAYS + way

/** One for all: none of these tries is ever edited. */
const OWNER = Symbol('shared paths')

function buildPaths(routes: Routes): SharedPaths {
  const places: PlacedPattern[][] = []
  let paths: TrieNode<number> | undefined
  for (const [route, { patterns }] of routes.entries())
    for (const [way, { segments, tail }] of patterns.entries()) {
      const placed = placedPattern(route, way)
      const apply = (place: number | undefined): number => {
        if (place === undefined) return places.push([placed]) - 1
        places[place]?.push(placed)
        return place
      }
      paths = editTrie(paths, { steps: segments, tail }, { owner: OWNER, apply })
    }
  const isOne = places.length === 1 && places[0]?.length === 1
  return { paths, places: isOne ? ONE_PLACE : places.map(trim) }
}

/** One by itself; a list that grew has room for 17. */
const trim = (placed: readonly PlacedPattern[]): PlacedPattern | readonly PlacedPattern[] => {
  const [first, another] = placed
  return first !== undefined && another === undefined ? first : placed.slice()
}

/** The places of one route with one pattern. */
const ONE_PLACE: readonly PlacedPattern[] = Object.freeze([0])
