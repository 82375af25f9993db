// Matches a host and a path against the route table: the hot path. It decodes segments one by one and never looks at
// methods, schemes or the query.

import { lookUpHost, type HostHit } from './host-lookup.ts'
import { captureMixed } from '../routes/mixed-segment.ts'
import { compareSets } from './precedence.ts'
import type { HostRoutes, Leaf, Paths } from './host-routes.ts'
import type { RouteTable } from './route-table.ts'
import type { Match } from './route.ts'

/**
 * Finds the documents that serve `path` (as sent, without its query) on `host` (of an `Authority`). `'malformed'`: a
 * broken percent-encoding. Undefined: no document. Literal beats binding beats optional beats tail, and of bindings
 * those with more text beside them; hosts are tried
 * from the most specific on. Empty, `.` and `..` segments, also encoded, never match, not in a tail either: an
 * upstream could resolve them to a resource whose own path has other checks.
 * @example match(table, 'api.acme.com', '/users/42/') // {captures: ['42'], …}
 */
export function match<T>(
  table: RouteTable<T>,
  host: string,
  path: string,
): Match<T> | 'malformed' | undefined {
  if (path.charCodeAt(0) !== SLASH) return undefined
  const route = path.includes('%') ? decodeSegments(path) : path
  if (route === undefined) return 'malformed'
  return firstMatch(table, lookUpHost(table.hosts, table.cache, host), route)
}

/** As `match`, for `/ws` of versions. */
export function matchWebSocket<W>(
  table: RouteTable<unknown, W>,
  host: string,
  path: string,
): Match<W> | 'malformed' | undefined {
  if (path.charCodeAt(0) !== SLASH) return undefined
  const route = decodeSegments(path)
  if (route === undefined) return 'malformed'
  const hits = webSocketHitsOf(table, host, Infinity)
  const first = hits.reduceRight<WebSocketHit<W> | undefined>(
    (next, hit) => ({ ...hit, next }),
    undefined,
  )
  return firstMatch(table, first, route)
}

/** One host pattern, as far as it has versions; its `next` is not set. */
export type WebSocketHit<W> = HostHit<HostRoutes<W>>

/**
 * The host patterns that match, in order, as far as they have versions. In loops, as recursion overflowed the stack with 16,384 patterns that match
 * one host (`a.a.test`, `:_.a.test`, `a.:_.test`, …), which documents of one namespace may have, and that ended the process.
 */
export function webSocketHitsOf<W>(
  table: RouteTable<unknown, W>,
  host: string,
  most: number,
): readonly WebSocketHit<W>[] {
  const hits: WebSocketHit<W>[] = []
  let hit = lookUpHost(table.hosts, table.cache, host)
  for (; hit !== undefined && hits.length < most; hit = hit.next) {
    const routes = hit.routes.webSockets()
    if (routes !== undefined) hits.push({ ...hit, routes, next: undefined })
  }
  return hits
}

function firstMatch<T>(
  table: Ages,
  first: Hit<T> | undefined,
  route: string | readonly string[],
): Match<T> | undefined {
  nodesLeft = MOST_NODES
  let hit = first
  while (hit !== undefined) {
    const found = walk(hit, route)
    // What was not looked at might have come before whatever is found.
    if (nodesLeft < 0) return undefined
    if (found !== undefined) return isAlone(hit) ? found : oldestOf(table, hit, route)
    hit = hit.next
  }
  return undefined
}

/**
 * Nodes that one request looks at: one for each segment, and those from which there is no way on. A document whose 16,384
 * paths begin with `/a` or a binding at each of 14 levels has 800,000 for one path of 128 bytes, which took 0.3 s. Where
 * there are more, nothing is served.
 */
const MOST_NODES = 4096

/** What the match that is going on may still visit: it ends before another one begins. */
let nodesLeft = 0

/** Says how old documents are. */
type Ages = Pick<RouteTable<unknown>, 'sets'>

const SLASH = 0x2f
const DOT = 0x2e
/** Shared by every match that captures nothing. */
const NONE: string[] = []
Object.freeze(NONE)

type Hit<T> = HostHit<HostRoutes<T>>

/** `captures` are filled while the walk returns, so last first until it is done. */
interface Found<T> extends Match<T> {
  captures: string[]
}

/** On one host pattern; `route` is the path as sent, or its decoded segments where it contains a `%`. */
export function matchOn<T>(hit: Hit<T>, route: string | readonly string[]): Found<T> | undefined {
  nodesLeft = MOST_NODES
  const found = walk(hit, route)
  return nodesLeft < 0 ? undefined : found
}

/** When it returns, what it has found counts only if there are nodes left. */
function walk<T>(hit: Hit<T>, route: string | readonly string[]): Found<T> | undefined {
  const found =
    typeof route === 'string'
      ? walkText(hit.routes.paths, route, 1, hit)
      : walkSegments(hit.routes.paths, route, 0, hit)
  if (found !== undefined && found.captures.length > 1) found.captures.reverse()
  return found
}

/**
 * Walks the path as it was sent; `at` is where the next segment begins. Every node is visited at most once, so
 * the trie bounds the backtracking.
 */
function walkText<T>(node: Paths<T>, path: string, at: number, hit: Hit<T>): Found<T> | undefined {
  if (--nodesLeft < 0) return undefined
  if (at >= path.length) return finishHere(node, hit)
  const to = endOfSegment(path, at)
  const child = node.literals?.find(path, at, to)
  if (child !== undefined) {
    const found = walkText(child, path, to + 1, hit)
    if (found !== undefined) return found
  }
  const mixed =
    node.mixed &&
    walkMixed(node.mixed, path.slice(at, to), (below) => walkText(below, path, to + 1, hit))
  if (mixed !== undefined) return mixed
  if (node.binding !== undefined && isPlain(path, at, to)) {
    const found = walkText(node.binding, path, to + 1, hit)
    if (found !== undefined) return capture(found, path.slice(at, to))
  }
  return node.tail === undefined ? undefined : finishTail(node.tail, isPlainFrom(path, at), hit)
}

/** The same over decoded segments: only for paths that contain a `%`. */
function walkSegments<T>(
  node: Paths<T>,
  segments: readonly string[],
  depth: number,
  hit: Hit<T>,
): Found<T> | undefined {
  if (--nodesLeft < 0) return undefined
  const segment = segments[depth]
  if (segment === undefined) return finishHere(node, hit)
  const child = node.literals?.get(segment)
  if (child !== undefined) {
    const found = walkSegments(child, segments, depth + 1, hit)
    if (found !== undefined) return found
  }
  const mixed =
    node.mixed &&
    walkMixed(node.mixed, segment, (below) => walkSegments(below, segments, depth + 1, hit))
  if (mixed !== undefined) return mixed
  if (node.binding !== undefined && isPlain(segment, 0, segment.length)) {
    const found = walkSegments(node.binding, segments, depth + 1, hit)
    if (found !== undefined) return capture(found, segment)
  }
  // First of all: the rest of a path may be thousands of segments, and dead ends are many.
  if (node.tail === undefined) return undefined
  const isPlainRest = segments.slice(depth).every((rest) => isPlain(rest, 0, rest.length))
  return finishTail(node.tail, isPlainRest, hit)
}

/** The most specific first. */
function walkMixed<T>(
  lists: NonNullable<Paths<T>['mixed']>,
  segment: string,
  goOn: (below: Paths<T>) => Found<T> | undefined,
): Found<T> | undefined {
  if (!isPlain(segment, 0, segment.length)) return undefined
  for (const children of lists)
    for (const { texts, node } of children) {
      nodesLeft -= 1 / MIXED_FOR_NODE
      if (nodesLeft < 0) return undefined
      const captures = captureMixed(texts, segment)
      if (texts.length > 2) nodesLeft -= segment.length / CHARACTERS_FOR_NODE
      if (captures === undefined) continue
      const found = goOn(node)
      if (found === undefined) continue
      for (const text of captures.toReversed()) capture(found, text)
      return found
    }
  return undefined
}

/** Most are told apart by how they begin or end. */
const MIXED_FOR_NODE = 16
/** How much of a segment counts as a node, where it is looked through for the text between two bindings. */
const CHARACTERS_FOR_NODE = 64

function finishTail<T>(tail: Leaf<T>, isPlainRest: boolean, hit: Hit<T>): Found<T> | undefined {
  if (isPlainRest) return finish(tail, hit)
  nodesLeft -= NODES_FOR_REST
  return undefined
}

/** The rest of a path was read for nothing: it may be 16 KB. A path with such a rest matches nowhere else either. */
const NODES_FOR_REST = 64

const finishHere = <T>({ leaf, tail }: Paths<T>, hit: Hit<T>): Found<T> | undefined =>
  finish(leaf ?? tail, hit)

const finish = <T>(
  leaf: Leaf<T> | undefined,
  { routes, captures }: Hit<T>,
): Found<T> | undefined =>
  leaf === undefined
    ? undefined
    : { candidates: routes.at(leaf), captures: NONE, hostCaptures: captures }

function capture<T>(found: Found<T>, segment: string): Found<T> {
  if (found.captures === NONE) found.captures = [segment]
  else found.captures.push(segment)
  return found
}

/** Neither empty nor `.` nor `..`. */
export function isPlain(text: string, from: number, to: number): boolean {
  if (from === to) return false
  if (text.charCodeAt(from) !== DOT) return true
  return to - from > 2 || (to - from === 2 && text.charCodeAt(from + 1) !== DOT)
}

function endOfSegment(path: string, from: number): number {
  const slash = path.indexOf('/', from)
  return slash === -1 ? path.length : slash
}

function isPlainFrom(path: string, from: number): boolean {
  let at = from
  while (at < path.length) {
    const to = endOfSegment(path, at)
    if (!isPlain(path, at, to)) return false
    at = to + 1
  }
  return true
}

/** Without the empty one behind a slash at the end; undefined: a broken percent-encoding. */
export function decodeSegments(path: string): readonly string[] | undefined {
  const segments = path.slice(1).split('/')
  if (segments.at(-1) === '') segments.pop()
  try {
    return segments.map((segment) =>
      segment.includes('%') ? decodeURIComponent(segment) : segment,
    )
  } catch {
    return undefined
  }
}

const isAlone = <R>(hit: HostHit<R>): boolean => hit.next?.specificity !== hit.specificity

/** Among equally specific host patterns the one of the oldest document serves the path. */
function oldestOf<T>(
  table: Ages,
  first: Hit<T>,
  route: string | readonly string[],
): Match<T> | undefined {
  const matches: Found<T>[] = []
  for (
    let hit: Hit<T> | undefined = first;
    hit?.specificity === first.specificity;
    hit = hit.next
  ) {
    const found = walk(hit, route)
    if (nodesLeft < 0) return undefined
    if (found !== undefined) matches.push(found)
  }
  return matches.sort((a, b) => compareFirst(table, a, b))[0]
}

function compareFirst<T>(table: Ages, a: Match<T>, b: Match<T>): number {
  const left = table.sets?.get(a.candidates[0]?.id ?? '')
  const right = table.sets?.get(b.candidates[0]?.id ?? '')
  return left === undefined || right === undefined ? 0 : compareSets(left, right)
}
