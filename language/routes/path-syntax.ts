// Parses the syntax of path patterns into a tree of segments, brackets and tail, or says what is wrong. Knows nothing
// of where a pattern may stand in a document. Never throws.

import { lengthOf, MAX_TEXT, type PathStep, splitAtBindings } from './mixed-segment.ts'

/** Names of bindings are null where they are `_`, and that of a tail also where it has none. */
export type PathNode =
  | {
      readonly kind: 'segment'
      readonly step: PathStep
      readonly names: readonly (string | null)[]
    }
  | { readonly kind: 'optional'; readonly nodes: readonly PathNode[] }
  | { readonly kind: 'tail'; readonly name: string | null }

export const MAX_WAYS = 64
export const MAX_SEGMENTS = 64
export const TOO_MANY_WAYS = `its optional segments allow more than ${MAX_WAYS} ways through it; use fewer brackets`
const BEHIND_TAIL =
  "nothing may follow [...]: end the path there, or write ':name' for each segment in its place"
export const TOO_MANY_SEGMENTS = `it has more than ${MAX_SEGMENTS} segments`

/** The pattern as a tree, or what is wrong with it. Iterative: depth comes from the document. */
export function parseNodes(source: string): readonly PathNode[] | string {
  const level: Frame = { nodes: [], openedAt: 'behind' }
  if (source.startsWith('{{'))
    return "it takes no expression: write it out, with '/' in front, and let each environment replace it (Kustomize, Helm)"
  if (!source.startsWith('/')) return "it must start with '/'"
  if (!source.isWellFormed()) return 'it is no well-formed Unicode text'
  const scanner: Scanner = {
    source,
    at: 0,
    place: 'behind',
    segments: 0,
    names: [],
    level,
    outer: [],
  }
  while (scanner.at < source.length) {
    const problem = scan(scanner, source.charAt(scanner.at))
    if (problem !== undefined) return problem
  }
  return scanner.outer.length > 0 ? "a '[' is not closed" : level.nodes
}

/** Position of the scanner: before a segment, behind one, or behind a tail. */
type Place = 'before' | 'behind' | 'tail'

interface Frame {
  readonly nodes: PathNode[]
  readonly openedAt: Place
}

interface Scanner {
  readonly source: string
  at: number
  place: Place
  segments: number
  readonly names: string[]
  level: Frame
  /** Levels around this one, the outermost first: one for each open bracket. */
  readonly outer: Frame[]
}

function scan(scanner: Scanner, character: string): string | undefined {
  if (character === '/') return scanSlash(scanner)
  if (character === ']') return scanClose(scanner)
  if (scanner.place === 'tail') return BEHIND_TAIL
  return character === '[' ? scanOpen(scanner) : scanSegment(scanner)
}

function scanSlash(scanner: Scanner): string | undefined {
  const isLast = scanner.at === scanner.source.length - 1
  if (scanner.place === 'before') return "it has an empty segment ('//')"
  if (scanner.place === 'tail' && !isLast) return BEHIND_TAIL
  scanner.place = 'before'
  scanner.at += 1
  return undefined
}

function scanOpen(scanner: Scanner): string | undefined {
  const { source, at, place } = scanner
  if (place === 'before' && source.startsWith('[...', at)) return scanTail(scanner)
  if (place === 'behind' && source.charAt(at + 1) !== '/') {
    return "a '[' must stand at the start of a segment: '/a/[b]'"
  }
  if (scanner.outer.length === MAX_WAYS) return TOO_MANY_WAYS
  scanner.outer.push(scanner.level)
  scanner.level = { nodes: [], openedAt: place }
  scanner.at += 1
  return undefined
}

function scanTail(scanner: Scanner): string | undefined {
  const { source, at } = scanner
  const end = source.indexOf(']', at)
  const written = source.slice(at + '[...'.length, end === -1 ? source.length : end)
  if (end === -1) return "a '[' is not closed"
  if (written !== '' && !NAME.test(written)) return nameless(written)
  const name = written === '' ? null : nameOf(written)
  const repeated = name === null ? undefined : addName(scanner, name)
  scanner.level.nodes.push({ kind: 'tail', name })
  scanner.place = 'tail'
  scanner.at = end + 1
  return repeated
}

function scanClose(scanner: Scanner): string | undefined {
  const outer = scanner.outer.pop()
  if (outer === undefined) return "a ']' closes nothing"
  const frame = scanner.level
  if (frame.nodes.length === 0) return "'[' and ']' have nothing between them"
  if (frame.openedAt === 'behind' && scanner.place === 'before') {
    return "'[/…/]' leaves the slash behind it open: write '[/…]'"
  }
  const [first] = frame.nodes
  // A tail may be empty anyway, and then has its name.
  outer.nodes.push(first?.kind === 'tail' ? first : { kind: 'optional', nodes: frame.nodes })
  scanner.level = outer
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
  return text.includes(':') ? addBindings(scanner, text) : addLiteral(scanner, text)
}

function segmentText(scanner: Scanner): string {
  let end = scanner.at
  while (end < scanner.source.length && !isMark(scanner.source.charCodeAt(end))) end += 1
  return scanner.source.slice(scanner.at, end)
}

/** `/`, `[`, `]` */
const isMark = (code: number): boolean => code === 0x2f || code === 0x5b || code === 0x5d

const NAME = /^[\w-]+$/

function addBindings(scanner: Scanner, raw: string): string | undefined {
  if (raw.startsWith(':') && NAME.test(raw.slice(1)))
    return addSegment(scanner, null, [raw.slice(1)])
  const { texts, names } = splitAtBindings(raw)
  const [begin = '', ...others] = texts
  if (begin.startsWith(':')) return nameless(raw.slice(1))
  if (names.length === 0) return addLiteral(scanner, raw)
  if (others.some((text) => LIKE_OTHERS.test(text))) return nameless(raw.slice(begin.length + 1))
  const decoded = texts.map(literalText)
  if (decoded.every((text) => typeof text === 'string')) return addMixed(scanner, decoded, names)
  return decoded.find((text) => typeof text !== 'string')?.problem
}

/** Behind a binding other gateways write an expression for it, or how often it may occur. Here it is percent-encoded. */
const LIKE_OTHERS = /^[({<*+?]/

const addMixed = (
  scanner: Scanner,
  texts: readonly string[],
  names: readonly string[],
): string | undefined =>
  lengthOf(texts) > MAX_TEXT
    ? `a segment has more than ${MAX_TEXT} characters beside its bindings`
    : addSegment(scanner, texts, names)

const nameless = (name: string): string =>
  `the binding ':${shown(name)}' needs a name of letters, digits, '_' and '-'`

/** `_` binds nothing. */
const nameOf = (written: string): string | null => (written === '_' ? null : written)

function addName(scanner: Scanner, name: string): string | undefined {
  if (scanner.names.includes(name)) return `the binding ':${shown(name)}' occurs twice; rename one`
  scanner.names.push(name)
  return undefined
}

function addSegment(
  scanner: Scanner,
  step: PathStep,
  written: readonly string[],
): string | undefined {
  const names = written.map(nameOf)
  scanner.level.nodes.push({ kind: 'segment', step, names })
  for (const name of names) {
    const repeated = name === null ? undefined : addName(scanner, name)
    if (repeated !== undefined) return repeated
  }
  return undefined
}

function addLiteral(scanner: Scanner, raw: string): string | undefined {
  const text = literalText(raw)
  if (typeof text !== 'string') return text.problem
  if (text === '.' || text === '..') return "a segment '.' or '..' never matches a request"
  return addSegment(scanner, text, [])
}

function literalText(raw: string): string | { readonly problem: string } {
  if (/[?#]/.test(raw))
    return {
      problem:
        "a query or fragment is no part of a path: leave it out, or encode '?' as '%3F', '#' as '%23'",
    }
  return (
    decode(raw) ?? {
      problem: `'${shown(raw)}' is not percent-encoded UTF-8; a '%' is written '%25'`,
    }
  )
}

function decode(raw: string): string | undefined {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

/** Bounded, because it goes into messages. */
export const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
