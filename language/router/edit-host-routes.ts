// Adds documents to the routes of one host pattern, and takes them out again, at the cost of the document's own routes.

import type { HostPattern } from '../routes/host-pattern.ts'
import {
  type Candidates,
  candidatesOfSet,
  HostRoutes,
  type Leaf,
  loneRoutes,
  NO_CANDIDATES,
  type Paths,
  webSocketSet,
} from './host-routes.ts'
import type { Owner } from './persistent-map.ts'
import { createOrder } from './precedence.ts'
import type { RouteSet } from './route.ts'
import { editTrie, type Place } from './trie.ts'

/** The batch that a change is part of. */
export interface Batch<T, W> {
  readonly owner: Owner
  /** Has the document that is added already: it decides the order of candidates. */
  readonly setOf: (id: string) => RouteSet<T, W> | undefined
}

export function addSet<T, W>(
  before: HostRoutes<T, W> | undefined,
  { set, host }: { readonly set: RouteSet<T, W>; readonly host: HostPattern },
  { owner, setOf }: Batch<T, W>,
): HostRoutes<T, W> | undefined {
  if (before === undefined) return loneRoutes(set, host)
  const order = createOrder(setOf)
  let paths = candidateTrie(before, owner)
  for (const own of candidatesOfSet(set, host))
    paths = editTrie(paths, placeOf(own), {
      owner,
      apply: (leaf) => (leaf === undefined ? own : order.merge(candidatesOf(leaf), own)),
    })
  const added = { set: webSocketSet(set), host }
  const webSockets = addSet<W, unknown>(before.webSockets(), added, {
    owner,
    setOf: (id) => {
      const other = setOf(id)
      return other && webSocketSet(other)
    },
  })
  return joint(paths, webSockets)
}

/** Undefined: nothing is left. */
export function removeSet<T, W>(
  before: HostRoutes<T, W> | undefined,
  { set, host }: { readonly set: RouteSet<T, W>; readonly host: HostPattern },
  owner: Owner,
): HostRoutes<T, W> | undefined {
  if (before === undefined || before.isOnly(set.id)) return undefined
  let paths = candidateTrie(before, owner)
  for (const own of candidatesOfSet(set, host))
    paths = editTrie(paths, placeOf(own), {
      owner,
      apply: (leaf) => {
        const others = candidatesOf(leaf).filter((candidate) => candidate.id !== set.id)
        return others.length === 0 ? undefined : others
      },
    })
  const removed = { set: webSocketSet(set), host }
  return joint(paths, removeSet(before.webSockets(), removed, owner))
}

const joint = <T, W>(
  paths: Paths<T> | undefined,
  webSockets: HostRoutes<W> | undefined,
): HostRoutes<T, W> | undefined =>
  paths === undefined && webSockets === undefined
    ? undefined
    : new HostRoutes(paths, { webSockets })

/** The same routes in a trie of candidates, to which those of other documents can be added. */
function candidateTrie<T>(routes: HostRoutes<T>, owner: Owner): Paths<T> | undefined {
  const only = routes.ofOnly()
  if (only === undefined) return routes.hasPaths ? routes.paths : undefined
  let paths: Paths<T> | undefined
  for (const candidates of only)
    paths = editTrie(paths, placeOf(candidates), { owner, apply: () => candidates })
  return paths
}

/** The candidates at a leaf of their trie. */
const candidatesOf = <T>(leaf: Leaf<T> | undefined): Candidates<T> =>
  leaf === undefined || typeof leaf === 'number' ? NO_CANDIDATES : leaf

/** @param candidates of one place */
const placeOf = <T>([candidate]: Candidates<T>): Place => {
  if (candidate === undefined) throw new TypeError('a place has no candidates')
  const { segments, tail } = candidate.pattern
  return { steps: segments, tail }
}
