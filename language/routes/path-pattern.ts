// Parses path patterns of documents: a key of `paths` or a `base_path` (§2.2, §2.3, behaviour §2–3). Never throws,
// whatever was written.

import { mixedKey, type PathStep } from './mixed-segment.ts'
import {
  MAX_SEGMENTS,
  MAX_WAYS,
  parseNodes,
  shown,
  TOO_MANY_SEGMENTS,
  TOO_MANY_WAYS,
  type PathNode,
} from './path-syntax.ts'

/**
 * One way through a pattern, optional segments decided. `bindings` are the names of what its segments bind, in order, null
 * where nothing has the value. `tail` true: any number of further segments (`[...]`), which `rest` names. `optional` orders
 * patterns that differ only in what was optional: lower is tried first.
 */
export interface PathPattern {
  readonly segments: readonly PathStep[]
  readonly bindings: readonly (string | null)[]
  readonly tail: boolean
  readonly rest: string | null
  /** Number of segments that came from optional brackets. */
  readonly optional: number
}

/** `patterns`: one for each way to leave out optional segments, fewer of them first. */
export type ParsedPath =
  | { readonly ok: true; readonly patterns: readonly PathPattern[] }
  | {
      readonly ok: false
      readonly code: 'invalid_path' | 'reserved_path'
      readonly message: string
    }

/**
 * A key of `paths`. Literal segments come out percent-decoded, so that `/a%20b` and `/a b` are one path.
 * @example parsePath('/users/[:id]') // two patterns: /users and /users/:id
 */
export function parsePath(source: string): ParsedPath {
  const nodes = parseNodes(source)
  if (typeof nodes === 'string') return invalid(source, nodes)
  if (nodes.length === 0) {
    return invalid(
      source,
      "it is the base path itself: write '/[index]', which serves that, and 'index' below it",
    )
  }
  const parsed = expand(source, nodes)
  if (!parsed.ok || !parsed.patterns.some(isWebSocketPath)) return parsed
  const message = `The path '${shown(source)}' is reserved for WebSocket connections; choose another one`
  return { ok: false, code: 'reserved_path', message }
}

/**
 * Whether a key of `paths` stands for one path alone: it has no bindings, brackets or tail.
 * @example isFixedPath('/oauth/token') // true
 */
export const isFixedPath = (source: string): boolean => {
  const parsed = parsePath(source)
  return (
    parsed.ok &&
    !source.includes('[') &&
    parsed.patterns.every(({ bindings }) => bindings.length === 0)
  )
}

/**
 * A `base_path`: as a path, but `/` alone is valid and a tail is not.
 * @example parseBasePath('/[v1.0]') // two patterns: none and /v1.0
 */
export function parseBasePath(source: string): ParsedPath {
  const nodes = parseNodes(source)
  if (typeof nodes === 'string') return invalid(source, nodes)
  if (nodes.some(endsInTail)) {
    return invalid(
      source,
      'a base_path cannot end in [...], as its paths follow it: write [...] at their ends',
    )
  }
  return expand(source, nodes)
}

const endsInTail = (node: PathNode): boolean =>
  node.kind === 'tail' || (node.kind === 'optional' && node.nodes.some(endsInTail))

/**
 * Every path of a version: `base_path` then path, each given by its patterns. The slash that both bring
 * is one slash. Fails when a binding name occurs in both, or when what comes out is too large.
 * @example joinPatterns(parseBasePath('/[v1.0]').patterns, parsePath('/x').patterns) // /x and /v1.0/x
 */
export function joinPatterns(
  base: readonly PathPattern[],
  path: readonly PathPattern[],
): ParsedPath {
  const repeated = repeatedName(base, path)
  const fail = (reason: string): ParsedPath =>
    invalid(printWay(concat(base[0] ?? ROOT, path[0] ?? ROOT)), reason)
  if (repeated !== undefined) {
    return fail(`the binding ':${repeated}' is in its base_path already; rename one`)
  }
  if (base.length * path.length > MAX_WAYS) return fail(TOO_MANY_WAYS)
  const ways: PathPattern[] = []
  for (const head of base) for (const rest of path) ways.push(concat(head, rest))
  if (ways.some((way) => way.segments.length > MAX_SEGMENTS)) return fail(TOO_MANY_SEGMENTS)
  return { ok: true, patterns: inOrder(ways) }
}

const repeatedName = (
  base: readonly PathPattern[],
  path: readonly PathPattern[],
): string | undefined => {
  for (const { bindings, rest } of path)
    for (const name of [...bindings, rest])
      if (name !== null && base.some((head) => head.bindings.includes(name))) return name
  return undefined
}

/** A built-in path below a `base_path`. */
export interface MountedPath {
  /** As written. */
  readonly template: string
  readonly patterns: readonly PathPattern[]
}

const WEB_SOCKET = 'ws'

/**
 * `/ws` of a version (§2.2), by the `base_path` it was compiled with.
 * @example webSocketPath('/[v1]') // template '/[v1]/ws', two patterns: /ws and /v1/ws
 */
export const webSocketPath = (basePath: string): MountedPath =>
  mountPath(basePath, `/${WEB_SOCKET}`)

/**
 * A path that the gateway mounts below a compiled `base_path`; `path` has no brackets. A name that both bind stands
 * twice in `bindings`: the last is the path's own.
 * @example mountPath('/[v1]', '/oidc/login') // template '/[v1]/oidc/login', two patterns
 */
export function mountPath(basePath: string, path: string): MountedPath {
  const base = parseBasePath(basePath)
  const nodes = parseNodes(path)
  const template = `${basePath}${path}`.replaceAll('//', '/')
  if (!base.ok || typeof nodes === 'string') return { template, patterns: [] }
  const end = onlyWay(nodes, 0)
  return { template, patterns: inOrder(base.patterns.map((way) => concat(way, end))) }
}

/**
 * The key that two paths share when only the names of their bindings differ: brackets kept, literals encoded alike. For
 * sources that do not parse it is the text itself.
 * @example pathKey('/[v1]', '/users/:id/') // '[/v1]/users/:'
 */
export const pathKey = (base: string, path: string): string => keyOf(base) + keyOf(path)

/** One half of a `pathKey`. */
export function keyOf(source: string): string {
  const nodes = parseNodes(source)
  return typeof nodes === 'string' ? source : print(nodes)
}

const ROOT: PathPattern = { segments: [], bindings: [], tail: false, rest: null, optional: 0 }

function expand(source: string, nodes: readonly PathNode[]): ParsedPath {
  if (countWays(nodes) > MAX_WAYS) return invalid(source, TOO_MANY_WAYS)
  return { ok: true, patterns: inOrder(waysThrough(nodes, 0)) }
}

/**
 * How many patterns a path or `base_path` stands for; 1 where it is invalid by itself.
 * @example countForms('/users/[:id]') // 2
 */
export function countForms(source: string): number {
  // Most paths have no brackets and need no parsing for it.
  if (!source.includes('[')) return 1
  const nodes = parseNodes(source)
  const ways = typeof nodes === 'string' ? 1 : countWays(nodes)
  return ways > MAX_WAYS ? 1 : ways
}

const countWays = (nodes: readonly PathNode[]): number =>
  nodes.reduce(
    (ways, node) => (node.kind === 'optional' ? ways * (1 + countWays(node.nodes)) : ways),
    1,
  )

/** `optional` is 1 inside brackets. A bracket taken comes before the same bracket left out. */
function waysThrough(nodes: readonly PathNode[], optional: 0 | 1): readonly PathPattern[] {
  if (!nodes.some(isOptional)) return [onlyWay(nodes, optional)]
  let ways: readonly PathPattern[] = [ROOT]
  for (const node of nodes) {
    const steps = stepsOf(node, optional)
    ways = ways.flatMap((way) => steps.map((step) => concat(way, step)))
  }
  return ways
}

const isOptional = ({ kind }: PathNode): boolean => kind === 'optional'

/** For nodes without brackets, which most paths are. */
const onlyWay = (nodes: readonly PathNode[], optional: 0 | 1): PathPattern => {
  const segments: PathStep[] = []
  const bindings: (string | null)[] = []
  let tail = false
  let rest: string | null = null
  for (const node of nodes)
    if (node.kind === 'segment') {
      segments.push(node.step)
      bindings.push(...node.names)
    } else if (node.kind === 'tail') {
      tail = true
      rest = node.name
    }
  return { segments, bindings, tail, rest, optional: optional * segments.length }
}

const stepsOf = (node: PathNode, optional: 0 | 1): readonly PathPattern[] =>
  node.kind === 'optional' ? [...waysThrough(node.nodes, 1), ROOT] : [onlyWay([node], optional)]

const concat = (head: PathPattern, rest: PathPattern): PathPattern => ({
  segments: [...head.segments, ...rest.segments],
  bindings: [...head.bindings, ...rest.bindings],
  tail: rest.tail,
  rest: rest.rest,
  optional: head.optional + rest.optional,
})

/** The first of the ways that match the same requests stays: the one that takes its brackets early. */
function inOrder(ways: readonly PathPattern[]): readonly PathPattern[] {
  if (ways.length === 1) return ways
  const byShape = new Map<string, PathPattern>()
  for (const way of [...ways].sort((a, b) => a.optional - b.optional)) {
    const shape = shapeOf(way)
    if (!byShape.has(shape)) byShape.set(shape, way)
  }
  return [...byShape.values()]
}

/** The same for patterns that match the same requests. */
export const shapeOf = ({ segments, tail }: PathPattern): string => JSON.stringify([segments, tail])

/** A `pathKey` already, where there are no brackets. */
export const printWay = ({ segments, tail }: PathPattern): string => {
  let printed = ''
  for (const segment of segments) printed += printSegment(segment)
  return tail ? `${printed}/[...]` : printed
}

const printSegment = (step: PathStep): string => {
  if (step === null) return '/:'
  return `/${typeof step === 'string' ? printText(step) : mixedKey(step, printText)}`
}

const printText = (text: string): string =>
  UNRESERVED.test(text) ? text : encodeURIComponent(text)

/** RFC 3986 §2.3. */
const UNRESERVED = /^[\w.~-]*$/

function print(nodes: readonly PathNode[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'tail') return '/[...]'
      return node.kind === 'optional' ? `[${print(node.nodes)}]` : printSegment(node.step)
    })
    .join('')
}

const isWebSocketPath = (pattern: PathPattern): boolean =>
  pattern.segments.length === 1 && pattern.segments[0] === WEB_SOCKET && !pattern.tail

const invalid = (source: string, reason: string): ParsedPath => ({
  ok: false,
  code: 'invalid_path',
  message: `The path '${shown(source)}' is invalid: ${reason}`,
})
