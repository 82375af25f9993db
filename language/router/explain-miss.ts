// Explains what is tried for a request: the host patterns that match, in order, and of those that have no path for it, a
// pattern that matched furthest and what kept it from matching. It returns patterns of documents, never a part of the
// request.

import type { HostPattern } from '../routes/host-pattern.ts'
import type { PathPattern } from '../routes/path-pattern.ts'
import { captureMixed } from '../routes/mixed-segment.ts'
import { lookUpHost } from './host-lookup.ts'
import { decodeSegments, isPlain, match, matchOn } from './match.ts'
import type { HostRoutes, Paths } from './host-routes.ts'
import type { RouteTable } from './route-table.ts'
import type { Candidate } from './route.ts'

export interface Miss {
  /** The id of the document. */
  readonly id: string
  readonly host: HostPattern
  readonly pattern: PathPattern
  /** Segments of the path that the pattern matches. */
  readonly matchedSegments: number
  readonly reason: 'segment' | 'unsafe segment' | 'path too short' | 'path too long'
}

const MOST_HOSTS = 4
/** Nodes that are looked at for one host: a path with bindings at each level would have more. */
const MOST_NODES = 128
/** Longer paths are cut: no pattern is as long. */
const MOST_CHARACTERS = 4096

/**
 * Empty: no pattern matches the host, or the path cannot be decoded. It is for requests that `match` has found nothing
 * for, and bounded whatever they name.
 * @example explainMiss(table, 'api.acme.com', '/users/42/pots')
 * // [{ id: 'users', pattern: «/users/:id/posts», matchedSegments: 2, reason: 'segment', … }]
 */
export function explainMiss<T>(table: RouteTable<T>, host: string, path: string): readonly Miss[] {
  if (!path.startsWith('/')) return []
  const segments = decodeSegments(path.slice(0, MOST_CHARACTERS))
  if (segments === undefined) return []
  const misses: Miss[] = []
  let hit = lookUpHost(table.hosts, table.cache, host)
  while (hit !== undefined && misses.length < MOST_HOSTS) {
    const miss = explainOn(hit.routes, segments)
    if (miss !== undefined) misses.push(miss)
    hit = hit.next
  }
  return misses
}

/** A host pattern that was tried. */
export type Tried<T> =
  | { readonly kind: 'missed'; readonly miss: Miss }
  /** An older document serves the path, with a host pattern that is as specific. */
  | { readonly kind: 'older document'; readonly candidate: Candidate<T> }
  | { readonly kind: 'matched'; readonly candidate: Candidate<T> }

/**
 * The host patterns that are tried, in order, until one has the path; at most four that miss. Empty: none matches the
 * host, or the path cannot be decoded.
 */
export function explainHosts<T>(
  table: RouteTable<T>,
  host: string,
  path: string,
): readonly Tried<T>[] {
  const found = match(table, host, path)
  if (found === 'malformed') return []
  const winner = found?.candidates[0]
  if (winner === undefined)
    return explainMiss(table, host, path).map((miss) => ({ kind: 'missed', miss }))
  const segments = decodeSegments(path) ?? []
  const tried: Tried<T>[] = []
  let hit = lookUpHost(table.hosts, table.cache, host)
  while (hit !== undefined && tried.length < MOST_HOSTS) {
    const here = matchOn(hit, path.includes('%') ? segments : path)?.candidates[0]
    if (here === winner) break
    tried.push(...before(here, hit.routes, segments))
    hit = hit.next
  }
  return [...tried, { kind: 'matched', candidate: winner }]
}

const before = <T>(
  here: Candidate<T> | undefined,
  routes: HostRoutes<T>,
  segments: readonly string[],
): readonly Tried<T>[] => {
  if (here !== undefined) return [{ kind: 'older document', candidate: here }]
  const miss = explainOn(routes, segments)
  return miss === undefined ? [] : [{ kind: 'missed', miss }]
}

interface Walk<T> {
  readonly segments: readonly string[]
  nodesLeft: number
  node: Paths<T>
  depth: number
}

function explainOn<T>(routes: HostRoutes<T>, segments: readonly string[]): Miss | undefined {
  const root = routes.paths
  const walk: Walk<T> = { segments, nodesLeft: MOST_NODES, node: root, depth: 0 }
  goFurthest(walk, root, 0)
  const { node, depth } = walk
  const reason = reasonAt(node, segments, depth)
  const candidate = reason === 'path too long' ? endingAt(routes, node) : nextBelow(routes, node)
  if (candidate === undefined) return undefined
  const { id, host, pattern } = candidate
  return { id, host, pattern, matchedSegments: depth, reason }
}

/** Literals first, as in a match; of two places of one depth the first one stays. */
function goFurthest<T>(walk: Walk<T>, node: Paths<T>, depth: number): void {
  if (walk.nodesLeft-- <= 0) return
  if (depth > walk.depth) {
    walk.node = node
    walk.depth = depth
  }
  const segment = walk.segments[depth]
  if (segment === undefined) return
  const literal = node.literals?.get(segment)
  if (literal !== undefined) goFurthest(walk, literal, depth + 1)
  if (!isPlain(segment, 0, segment.length)) return
  for (const { texts, node: child } of mixedBelow(node))
    if (walk.nodesLeft > 0 && captureMixed(texts, segment) !== undefined)
      goFurthest(walk, child, depth + 1)
  if (node.binding !== undefined) goFurthest(walk, node.binding, depth + 1)
}

function reasonAt<T>(node: Paths<T>, segments: readonly string[], depth: number): Miss['reason'] {
  const segment = segments[depth]
  if (segment === undefined) return 'path too short'
  const rest = node.tail === undefined ? [segment] : segments.slice(depth)
  if (rest.some((each) => !isPlain(each, 0, each.length))) return 'unsafe segment'
  return below(node) === undefined ? 'path too long' : 'segment'
}

const endingAt = <T>(routes: HostRoutes<T>, node: Paths<T>): Candidate<T> | undefined => {
  const leaf = node.leaf ?? node.tail
  return leaf === undefined ? undefined : routes.at(leaf)[0]
}

/** A pattern that goes on below the node, otherwise one that ends there. */
function nextBelow<T>(routes: HostRoutes<T>, node: Paths<T>): Candidate<T> | undefined {
  for (let next = below(node); next !== undefined; next = below(next)) {
    const found = endingAt(routes, next)
    if (found !== undefined) return found
  }
  return endingAt(routes, node)
}

const mixedBelow = <T>({ mixed = [] }: Paths<T>) => mixed.flat()

const below = <T>({ binding, mixed, literals }: Paths<T>): Paths<T> | undefined =>
  binding ?? mixed?.[0]?.[0]?.node ?? literals?.first()
