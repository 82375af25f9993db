// Adds documents to the routes of one host pattern, and takes them out again, at the cost of the document's own routes.

import type { HostPattern } from '../routes/host-pattern.ts'
import type { PathPattern } from '../routes/path-pattern.ts'
import {
  type Candidates,
  HostRoutes,
  type Leaf,
  loneRoutes,
  NOBODY,
  type Paths,
  webSocketSet,
} from './host-routes.ts'
import type { Owner } from './persistent-map.ts'
import { inOrder } from './precedence.ts'
import type { Candidate, RouteSet } from './route.ts'
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
  let paths = candidateTrie(before, owner)
  for (const { target, patterns } of set.routes)
    for (const pattern of patterns) {
      const candidate: Candidate<T> = { target, id: set.id, pattern, host }
      paths = editTrie(paths, placeOf(pattern), {
        owner,
        apply: (leaf) =>
          leaf === undefined ? [candidate] : inOrder([...candidatesOf(leaf), candidate], setOf),
      })
    }
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
  set: RouteSet<T, W>,
  owner: Owner,
): HostRoutes<T, W> | undefined {
  if (before === undefined || before.isOnly(set.id)) return undefined
  let paths = candidateTrie(before, owner)
  for (const { patterns } of set.routes)
    for (const pattern of patterns)
      paths = editTrie(paths, placeOf(pattern), {
        owner,
        apply: (leaf) => {
          const others = candidatesOf(leaf).filter((candidate) => candidate.id !== set.id)
          return others.length === 0 ? undefined : others
        },
      })
  return joint(paths, removeSet(before.webSockets(), webSocketSet(set), owner))
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
  for (const candidate of only)
    paths = editTrie(paths, placeOf(candidate.pattern), {
      owner,
      apply: (leaf) => [...candidatesOf(leaf), candidate],
    })
  return paths
}

/** Of a trie of candidates. */
const candidatesOf = <T>(leaf: Leaf<T> | undefined): Candidates<T> =>
  leaf === undefined || typeof leaf === 'number' ? NOBODY : leaf

const placeOf = ({ segments, tail }: PathPattern): Place => ({ steps: segments, tail })
