// Path patterns of documents (§2.2, §2.3, behaviour §2–3): a key of `paths` or a `base_path` in, what it
// stands for out. Never throws, whatever was written.

/**
 * One way through a pattern, optional segments decided. `null` is any one segment; `bindings[i]` names
 * it. `tail` true: any number of further segments (`[...]`). `weight` orders patterns that differ only
 * in what was optional: lower is tried first.
 */
export interface PathPattern {
  readonly segments: readonly (string | null)[]
  readonly bindings: readonly (string | null)[]
  readonly tail: boolean
  /** Number of trailing segments that came from optional brackets. */
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

const MAX_WAYS = 64
const MAX_SEGMENTS = 64

/**
 * A key of `paths`. Literal segments come out percent-decoded, so that `/a%20b` and `/a b` are one path.
 * @example parsePath('/users/[:id]') // two patterns: /users and /users/:id
 */
export function parsePath(source: string): ParsedPath {
  const nodes = parseNodes(source)
  if (typeof nodes === 'string') return invalid(source, nodes)
  if (nodes.length === 0) {
    return invalid(source, 'it is the base path itself; give it at least one segment')
  }
  const parsed = expand(source, nodes)
  if (!parsed.ok || !parsed.patterns.some(isWebSocketPath)) return parsed
  const message = `The path '${shown(source)}' is reserved for WebSocket connections; choose another one`
  return { ok: false, code: 'reserved_path', message }
}

/**
 * A `base_path`: as a path, but `/` alone is right and a tail is not.
 * @example parseBasePath('/[v1.0]') // two patterns: none and /v1.0
 */
export function parseBasePath(source: string): ParsedPath {
  const nodes = parseNodes(source)
  if (typeof nodes === 'string') return invalid(source, nodes)
  if (source.includes('[...]')) {
    return invalid(source, 'a base_path cannot end in [...]: its paths follow it')
  }
  return expand(source, nodes)
}

/**
 * Every path of a version: `base_path` then path, each given by its patterns. The slash that both bring
 * is one slash. Fails when a binding name occurs in both, or when what comes out is too large.
 * @example joinPatterns(parseBasePath('/[v1.0]').patterns, parsePath('/x').patterns) // /x and /v1.0/x
 */
export function joinPatterns(
  base: readonly PathPattern[],
  path: readonly PathPattern[],
): ParsedPath {
  const names = new Set(base.flatMap((pattern) => pattern.bindings))
  const repeated = path
    .flatMap((pattern) => pattern.bindings)
    .find((name) => name !== null && names.has(name))
  const shortest = path[0] ?? ROOT
  const source = `${printWay(base[0] ?? ROOT)}${printWay(shortest)}`
  if (repeated !== undefined) {
    return invalid(
      source,
      `the binding ':${repeated ?? '_'}' is in its base_path already; rename one`,
    )
  }
  if (base.length * path.length > MAX_WAYS) return invalid(source, TOO_MANY_WAYS)
  const ways = base.flatMap((head) => path.map((rest) => concat(head, rest)))
  if (ways.some((way) => way.segments.length > MAX_SEGMENTS)) {
    return invalid(source, TOO_MANY_SEGMENTS)
  }
  return { ok: true, patterns: inOrder(ways) }
}

/**
 * What two paths share when they are the same but for the names of bindings: brackets kept, literals
 * encoded alike. Of sources that do not parse it is the text itself.
 * @example pathKey('/[v1]', '/users/:id/') // '[/v1]/users/:'
 */
export const pathKey = (base: string, path: string): string => keyOf(base) + keyOf(path)

function keyOf(source: string): string {
  const nodes = parseNodes(source)
  return typeof nodes === 'string' ? source : print(nodes)
}

type Node =
  | { readonly kind: 'segment'; readonly text: string | null; readonly name: string | null }
  | { readonly kind: 'optional'; readonly nodes: readonly Node[] }
  | { readonly kind: 'tail' }

/** Where the scanner stands: before a segment, behind one, or behind a tail. */
type Place = 'before' | 'behind' | 'tail'

interface Frame {
  readonly nodes: Node[]
  readonly openedAt: Place
}

interface Scanner {
  readonly source: string
  at: number
  place: Place
  segments: number
  readonly names: Set<string>
  level: Frame
  /** Levels around this one, the outermost first: one for each open bracket. */
  readonly outer: Frame[]
}

/** The pattern as a tree, or what is wrong with it. Iterative: depth comes from the document. */
function parseNodes(source: string): readonly Node[] | string {
  const level: Frame = { nodes: [], openedAt: 'behind' }
  if (!source.startsWith('/')) return "it must start with '/'"
  if (!source.isWellFormed()) return 'it is no well-formed Unicode text'
  const scanner: Scanner = {
    source,
    at: 0,
    place: 'behind',
    segments: 0,
    names: new Set(),
    level,
    outer: [],
  }
  while (scanner.at < source.length) {
    const fault = scan(scanner, source.charAt(scanner.at))
    if (fault !== undefined) return fault
  }
  return scanner.outer.length > 0 ? "a '[' is not closed" : level.nodes
}

function scan(scanner: Scanner, character: string): string | undefined {
  if (character === '/') return scanSlash(scanner)
  if (character === ']') return scanClose(scanner)
  if (scanner.place === 'tail') return 'nothing may follow [...]'
  return character === '[' ? scanOpen(scanner) : scanSegment(scanner)
}

function scanSlash(scanner: Scanner): string | undefined {
  const isLast = scanner.at === scanner.source.length - 1
  if (scanner.place === 'before') return "it has an empty segment ('//')"
  if (scanner.place === 'tail' && !isLast) return 'nothing may follow [...]'
  scanner.place = 'before'
  scanner.at += 1
  return undefined
}

function scanOpen(scanner: Scanner): string | undefined {
  const { source, at, place } = scanner
  if (place === 'before' && source.startsWith('[...]', at)) {
    scanner.level.nodes.push({ kind: 'tail' })
    scanner.place = 'tail'
    scanner.at += '[...]'.length
    return undefined
  }
  if (place === 'behind' && source.charAt(at + 1) !== '/') {
    return "a '[' must stand at the start of a segment: '/a/[b]'"
  }
  if (scanner.outer.length === MAX_WAYS) return TOO_MANY_WAYS
  scanner.outer.push(scanner.level)
  scanner.level = { nodes: [], openedAt: place }
  scanner.at += 1
  return undefined
}

function scanClose(scanner: Scanner): string | undefined {
  const around = scanner.outer.pop()
  if (around === undefined) return "a ']' closes nothing"
  const frame = scanner.level
  if (frame.nodes.length === 0) return "'[' and ']' have nothing between them"
  if (frame.openedAt === 'behind' && scanner.place === 'before') {
    return "'[/…/]' leaves the slash behind it open: write '[/…]'"
  }
  around.nodes.push({ kind: 'optional', nodes: frame.nodes })
  scanner.level = around
  scanner.at += 1
  return undefined
}

function scanSegment(scanner: Scanner): string | undefined {
  if (scanner.place === 'behind') return "a ']' must stand at the end of a segment: '/[a]/b'"
  const text = segmentText(scanner)
  scanner.at += text.length
  scanner.place = 'behind'
  scanner.segments += 1
  if (scanner.segments > MAX_SEGMENTS) return TOO_MANY_SEGMENTS
  return text.startsWith(':') ? addBinding(scanner, text.slice(1)) : addLiteral(scanner, text)
}

function segmentText(scanner: Scanner): string {
  let end = scanner.at
  while (end < scanner.source.length && !'/[]'.includes(scanner.source.charAt(end))) end += 1
  return scanner.source.slice(scanner.at, end)
}

function addBinding(scanner: Scanner, name: string): string | undefined {
  if (!/^[\w-]+$/.test(name)) {
    return `the binding ':${shown(name)}' needs a name of letters, digits, '_' and '-'`
  }
  if (scanner.names.has(name)) return `the binding ':${shown(name)}' occurs twice; rename one`
  const isNamed = name !== '_'
  if (isNamed) scanner.names.add(name)
  scanner.level.nodes.push({ kind: 'segment', text: null, name: isNamed ? name : null })
  return undefined
}

function addLiteral(scanner: Scanner, raw: string): string | undefined {
  if (/[?#]/.test(raw))
    return "a query or fragment is no part of a path; encode '?' as '%3F', '#' as '%23'"
  const text = decode(raw)
  if (text === undefined)
    return `'${shown(raw)}' is not percent-encoded UTF-8; a '%' is written '%25'`
  if (text === '.' || text === '..') return "a segment '.' or '..' never matches a request"
  scanner.level.nodes.push({ kind: 'segment', text, name: null })
  return undefined
}

function decode(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

const ROOT: PathPattern = { segments: [], bindings: [], tail: false, optional: 0 }

function expand(source: string, nodes: readonly Node[]): ParsedPath {
  if (countWays(nodes) > MAX_WAYS) return invalid(source, TOO_MANY_WAYS)
  return { ok: true, patterns: inOrder(waysThrough(nodes, 0)) }
}

const countWays = (nodes: readonly Node[]): number =>
  nodes.reduce(
    (ways, node) => (node.kind === 'optional' ? ways * (1 + countWays(node.nodes)) : ways),
    1,
  )

/** `optional` is 1 inside brackets. A bracket taken comes before the same bracket left out. */
function waysThrough(nodes: readonly Node[], optional: 0 | 1): readonly PathPattern[] {
  let ways: readonly PathPattern[] = [ROOT]
  for (const node of nodes) {
    const steps = stepsOf(node, optional)
    ways = ways.flatMap((way) => steps.map((step) => concat(way, step)))
  }
  return ways
}

function stepsOf(node: Node, optional: 0 | 1): readonly PathPattern[] {
  if (node.kind === 'optional') return [...waysThrough(node.nodes, 1), ROOT]
  if (node.kind === 'tail') return [{ ...ROOT, tail: true }]
  return [
    {
      segments: [node.text],
      bindings: node.text === null ? [node.name] : [null],
      tail: false,
      optional,
    },
  ]
}

const concat = (head: PathPattern, rest: PathPattern): PathPattern => ({
  segments: [...head.segments, ...rest.segments],
  bindings: [...head.bindings, ...rest.bindings],
  tail: rest.tail,
  optional: head.optional + rest.optional,
})

/** Of ways that match the same requests the first one stays: the one that takes its brackets early. */
function inOrder(ways: readonly PathPattern[]): readonly PathPattern[] {
  const byShape = new Map<string, PathPattern>()
  for (const way of [...ways].sort((a, b) => a.optional - b.optional)) {
    const shape = printWay(way)
    if (!byShape.has(shape)) byShape.set(shape, way)
  }
  return [...byShape.values()]
}

const printWay = (way: PathPattern): string =>
  way.segments.map(printSegment).join('') + (way.tail ? '/[...]' : '')

const printSegment = (text: string | null): string =>
  text === null ? '/:' : `/${encodeURIComponent(text)}`

function print(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'tail') return '/[...]'
      return node.kind === 'optional' ? `[${print(node.nodes)}]` : printSegment(node.text)
    })
    .join('')
}

const isWebSocketPath = (pattern: PathPattern): boolean =>
  pattern.segments.length === 1 && pattern.segments[0] === 'ws' && !pattern.tail

const TOO_MANY_WAYS = `its optional segments allow more than ${MAX_WAYS} ways through it; use fewer brackets`
const TOO_MANY_SEGMENTS = `it has more than ${MAX_SEGMENTS} segments`

const invalid = (source: string, reason: string): ParsedPath => ({
  ok: false,
  code: 'invalid_path',
  message: `The path '${shown(source)}' is invalid: ${reason}`,
})

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
