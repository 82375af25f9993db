// Keeps the routes of one host pattern. Where one document alone has the pattern, as nearly always, its path trie is
// shared with all documents of equal paths: it leads to numbers, and the document adds a list of what they stand for.

import type { PathPattern } from '../routes/path-pattern.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import type { PersistentMap, Owner } from './persistent-map.ts'
import { inOrder } from './precedence.ts'
import type { Candidate, RouteSet } from './route.ts'
import { type PlacedPattern, type SharedPaths, sharedPaths } from './shared-paths.ts'
import { editTrie, type Place, type TrieNode } from './trie.ts'

/** The routes that end at one place of the path trie, in order of precedence. Never empty. */
export type Candidates<T> = readonly Candidate<T>[]

/** What a place of the path trie holds: candidates, or their number in the list of the only document. */
export type Leaf<T> = Candidates<T> | number

export type Paths<T> = TrieNode<Leaf<T>>

/** Immutable. */
export class HostRoutes<T> {
  readonly paths: Paths<T>
  /** Of the only document, by number. Empty: the trie leads to candidates. */
  readonly listed: readonly Candidates<T>[]

  /** What `paths` is of, if it is shared: further documents share it as long as somebody holds this. */
  readonly shared: SharedPaths | undefined

  constructor(paths: Paths<T>, listed: readonly Candidates<T>[], shared?: SharedPaths) {
    this.paths = paths
    this.listed = listed
    this.shared = shared
  }

  at(leaf: Leaf<T>): Candidates<T> {
    return typeof leaf === 'number' ? (this.listed[leaf] ?? NOBODY) : leaf
  }

  /** Whether there is no other document. Of a trie of candidates it is not known: then false. */
  isOnly(id: string): boolean {
    return this.listed[0]?.[0]?.id === id
  }
}

const NOBODY: Candidates<never> = Object.freeze([])

/** @param sets has `set` already: they decide the order of candidates */
export function loneRoutes<T>(
  set: RouteSet<T>,
  host: HostPattern,
  sets: PersistentMap<RouteSet<T>> | undefined,
): HostRoutes<T> | undefined {
  const { id, routes } = set
  const shared = sharedPaths(routes)
  const { paths, places } = shared
  if (paths === undefined) return undefined
  const candidateOf = ({ route, pattern }: PlacedPattern): Candidate<T> => {
    const { target } = routes[route] ?? raise(`document ${id} has no route ${route}`)
    return { target, id, pattern, host }
  }
  const listed = places.map((placed) => {
    // `map` makes lists that have no room to grow: 3 KB a document.
    const candidates = placed.map(candidateOf)
    return candidates.length === 1 ? candidates : inOrder(candidates, sets)
  })
  return new HostRoutes(paths, listed, shared)
}

const raise = (message: string): never => {
  throw new TypeError(message)
}

/** The same routes in a trie of candidates, to which those of other documents can be added. */
export function candidateTrie<T>(routes: HostRoutes<T>, owner: Owner): Paths<T> | undefined {
  if (routes.listed.length === 0) return routes.paths
  let paths: Paths<T> | undefined
  for (const candidate of routes.listed.flat())
    paths = editTrie(paths, placeOf(candidate.pattern), {
      owner,
      apply: (leaf) => [...candidatesOf(leaf), candidate],
    })
  return paths
}

/** Of a trie of candidates. */
export const candidatesOf = <T>(leaf: Leaf<T> | undefined): Candidates<T> =>
  leaf === undefined || typeof leaf === 'number' ? NOBODY : leaf

export const placeOf = ({ segments, tail }: PathPattern): Place => ({ steps: segments, tail })
