// Keeps the routes of one host pattern. Where one document alone has the pattern, as nearly always, its path trie is
// shared with all documents of equal paths: it leads to numbers, and what they stand for is listed at the first request.

import type { HostPattern } from '../routes/host-pattern.ts'
import { createOrder } from './precedence.ts'
import type { Candidate, RouteSet } from './route.ts'
import {
  type PlacedPattern,
  placesOf,
  type SharedPaths,
  sharedPaths,
  splitPattern,
} from './shared-paths.ts'
import { TrieNode } from './trie.ts'

/** The routes that end at one place of the path trie, in order of precedence. Never empty. */
export type Candidates<T> = readonly Candidate<T>[]

/** What a place of the path trie holds: candidates, or their number where there is one document alone. */
export type Leaf<T> = Candidates<T> | number

export type Paths<T> = TrieNode<Leaf<T>>

/** Immutable: what is listed later is decided when it is made. */
export class HostRoutes<T, W = unknown> {
  readonly paths: Paths<T>
  /**
   * Lists of the only document, by number. An idle document has no list: 0.2 KB a path. Requests read this and `paths`, so
   * they stand together, mostly in one line of the processor's cache.
   */
  #listed: readonly Candidates<T>[] | undefined
  /** undefined: the trie leads to candidates. */
  readonly #only: RouteSet<T, W> | undefined
  readonly #host: HostPattern | undefined
  /** What `paths` is of: further documents share it as long as somebody holds this. */
  readonly #shared: SharedPaths | undefined
  /** Those of the only document are made at the first look for one. */
  #webSockets: HostRoutes<W> | undefined

  constructor(
    paths: Paths<T> | undefined,
    parts:
      { readonly only: OnlyDocument<T, W> } | { readonly webSockets: HostRoutes<W> | undefined },
  ) {
    const only = 'only' in parts ? parts.only : undefined
    this.paths = paths ?? NO_PATHS
    this.#only = only?.set
    this.#host = only?.host
    this.#shared = only?.shared
    this.#listed = undefined
    this.#webSockets = 'only' in parts ? undefined : parts.webSockets
  }

  get hasPaths(): boolean {
    return this.paths !== NO_PATHS
  }

  at(leaf: Leaf<T>): Candidates<T> {
    return typeof leaf === 'number' ? ((this.#listed ?? this.#list())[leaf] ?? NO_CANDIDATES) : leaf
  }

  /** Whether there is no other document. Of a trie of candidates it is not known: then false. */
  isOnly(id: string): boolean {
    return this.#only?.id === id
  }

  /** All of the only document, by place; undefined: the trie leads to candidates. */
  ofOnly(): readonly Candidates<T>[] | undefined {
    return this.#only && this.#list()
  }

  /** `/ws` of versions; undefined: there is none. */
  webSockets(): HostRoutes<W> | undefined {
    const [set, host] = [this.#only, this.#host]
    if (set === undefined || host === undefined) return this.#webSockets
    return (this.#webSockets ??= loneRoutes(webSocketSet(set), host))
  }

  #list(): readonly Candidates<T>[] {
    const [set, host, shared] = [this.#only, this.#host, this.#shared]
    if (set === undefined || host === undefined || shared === undefined) return []
    return (this.#listed ??= listCandidates(shared.places, set, host))
  }
}

interface OnlyDocument<T, W> {
  readonly set: RouteSet<T, W>
  readonly host: HostPattern
  readonly shared: SharedPaths
}

const NO_PATHS = new TrieNode<never>(Symbol('no paths'))
export const NO_CANDIDATES: Candidates<never> = Object.freeze([])

/** Undefined: the document has no routes. */
export function loneRoutes<T, W>(
  set: RouteSet<T, W>,
  host: HostPattern,
): HostRoutes<T, W> | undefined {
  const shared = sharedPaths(set.routes)
  const hasNone = shared.paths === undefined && (set.webSockets ?? []).length === 0
  return hasNone ? undefined : new HostRoutes(shared.paths, { only: { set, host, shared } })
}

/** `/ws` of versions as routes of a document. */
export const webSocketSet = <W>({
  id,
  rank,
  since,
  hosts,
  webSockets = [],
}: RouteSet<unknown, W>): RouteSet<W> => ({ id, rank, since, hosts, routes: webSockets })

const listCandidates = <T>(
  places: SharedPaths['places'],
  set: RouteSet<T>,
  host: HostPattern,
): readonly Candidates<T>[] => {
  const order = createOrder(() => set)
  return places.map((placed) =>
    typeof placed === 'number'
      ? [candidateOf(placed, set, host)]
      : order.sort(placed.map((each) => candidateOf(each, set, host))),
  )
}

/** Candidates of a document, by place. */
export const candidatesOfSet = <T>(set: RouteSet<T>, host: HostPattern): readonly Candidates<T>[] =>
  listCandidates(placesOf(set.routes), set, host)

const candidateOf = <T>(
  placed: PlacedPattern,
  { id, routes }: RouteSet<T>,
  host: HostPattern,
): Candidate<T> => {
  const [number, way] = splitPattern(placed)
  const route = routes[number]
  const pattern = route?.patterns[way]
  if (route === undefined || pattern === undefined)
    throw new TypeError(`document ${id} has no pattern ${way} of a route ${number}`)
  return { target: route.target, id, route: number, pattern, host }
}
