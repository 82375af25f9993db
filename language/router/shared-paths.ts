// Shares one path trie among documents whose routes have equal patterns: a thousand tenants with the same API have it
// once, and so in the processor's cache. It is freed with the last table that uses it.

import { createWeakShare } from '../../base/weak-share.ts'
import type { PathPattern } from '../routes/path-pattern.ts'
import type { Route } from './route.ts'
import { editTrie, type TrieNode } from './trie.ts'

/** A pattern of a route, by the number of the route in its document. */
export interface PlacedPattern {
  readonly route: number
  readonly pattern: PathPattern
}

export interface SharedPaths {
  /** Leads to numbers of `places`; undefined: there are no routes. */
  readonly paths: TrieNode<number> | undefined
  /** What ends at each place, in no order. Never empty. */
  readonly places: readonly (readonly PlacedPattern[])[]
}

/** A document of more routes is rarely the same as another one, and what tells it apart is long. */
const MOST_ROUTES = 256

type Routes = readonly Pick<Route<unknown>, 'patterns'>[]

const share = createWeakShare<SharedPaths>()

export function sharedPaths(routes: Routes): SharedPaths {
  if (routes.length > MOST_ROUTES) return buildPaths(routes)
  // Equal patterns are one list, as far as the store shares them.
  const key = routes.map(({ patterns }) => numberOf(patterns)).join()
  return share(key, () => buildPaths(routes))
}

const numbers = new WeakMap<object, number>()
let lastNumber = 0

function numberOf(patterns: readonly PathPattern[]): number {
  const number = numbers.get(patterns) ?? (lastNumber += 1)
  numbers.set(patterns, number)
  return number
}

function buildPaths(routes: Routes): SharedPaths {
  const owner = Symbol('shared paths')
  const places: PlacedPattern[][] = []
  let paths: TrieNode<number> | undefined
  for (const [route, { patterns }] of routes.entries())
    for (const pattern of patterns)
      paths = editTrie(
        paths,
        { steps: pattern.segments, tail: pattern.tail },
        {
          owner,
          apply: (before) => {
            const number = before ?? places.push([]) - 1
            places[number]?.push({ route, pattern })
            return number
          },
        },
      )
  return { paths, places }
}
