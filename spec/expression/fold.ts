// A value of a document and the scope it stands in go in, a template comes out: what is known at load is
// a constant, the rest waits. Every fault is reported with its pointer; nothing here throws or sees a
// request.

import { boundMessage, showSource } from './errors.ts'
import { isExpression, parse } from './parse.ts'
import { planAst } from './plan.ts'
import { FAULT, type FoldScope, isKnown, type Report } from './scope.ts'
import type { Site } from './site.ts'
import { constant, type Template } from './template.ts'
import { isList, setOwn, type Value, type ValueMap } from './value.ts'
import { sizeOf } from './weight.ts'

export { FAULT, type FoldScope, type LoadRoot, type Report } from './scope.ts'
export { weightOf } from './weight.ts'

/** What references may add to one value of a document, what is shared counted each time. */
const MAX_WEIGHT = 100_000
const MAX_DEPTH = 512
const MAX_SOURCE_BYTES = 64 * 1024

/**
 * Maps and lists are walked, keys are never expressions. What holds no expression keeps its identity; a
 * faulty leaf becomes `FAULT`, and folding goes on.
 * @param pointer RFC 6901, of `value` in the document
 * @example fold({ n: '{{variables.foo}}' }, '/body', scope, report) // constant({ n: 100 })
 */
export const fold = (value: Value, pointer: string, scope: FoldScope, report: Report): Template =>
  foldValue(value, { pointer, depth: 0 }, { scope, report, added: 0 }) ?? constant(value)

/** `fold` for what is known to be text. */
export const foldText = (
  source: string,
  pointer: string,
  scope: FoldScope,
  report: Report,
): Template => fold(source, pointer, scope, report)

interface Walk {
  readonly scope: FoldScope
  readonly report: Report
  /** Weight that references have added so far. */
  added: number
}

interface Place {
  readonly pointer: string
  /** Levels of maps and lists around it. */
  readonly depth: number
}

/** Undefined: no expression in it. */
const foldValue = (value: Value, place: Place, walk: Walk): Template | undefined => {
  if (typeof value === 'string') return foldString(value, place, walk)
  if (!isContainer(value)) return undefined
  if (place.depth >= MAX_DEPTH) {
    return refuse(walk, place, `the value nests more than ${MAX_DEPTH} levels deep`)
  }
  return isList(value) ? foldList(value, place, walk) : foldMap(value, place, walk)
}

const isContainer = (value: Value): value is readonly Value[] | ValueMap =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array)

const foldChild = (
  value: Value,
  key: string | number,
  parent: Place,
  walk: Walk,
): Template | undefined => {
  const isFoldable = typeof value === 'string' ? isExpression(value) : isContainer(value)
  if (!isFoldable) return undefined
  const pointer = `${parent.pointer}/${typeof key === 'number' ? key : escapeToken(key)}`
  return foldValue(value, { pointer, depth: parent.depth + 1 }, walk)
}

/** RFC 6901 §3. */
const escapeToken = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key

const foldList = (list: readonly Value[], place: Place, walk: Walk): Template | undefined => {
  const folded = list.map((item, index) => foldChild(item, index, place, walk))
  if (folded.every((item) => item === undefined)) return undefined
  const items = list.map((item, index) => folded[index] ?? constant(item))
  return items.every(isKnown) ? constant(items.map((item) => item.value)) : { kind: 'list', items }
}

const foldMap = (map: ValueMap, place: Place, walk: Walk): Template | undefined => {
  const keys = Object.keys(map)
  const folded = keys.map((key) => foldChild(map[key] ?? null, key, place, walk))
  if (folded.every((child) => child === undefined)) return undefined
  const children = keys.map((key, index) => folded[index] ?? constant(map[key] ?? null))
  if (!children.every(isKnown)) {
    return { kind: 'map', entries: children.map((child, index) => [keys[index] ?? '', child]) }
  }
  const known: Record<string, Value> = {}
  children.forEach((child, index) => {
    setOwn(known, keys[index] ?? '', child.value)
  })
  return constant(known)
}

const foldString = (source: string, place: Place, walk: Walk): Template | undefined => {
  if (!isExpression(source)) return undefined
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    return refuse(walk, place, `${showSource(source)}: the expression is longer than 64 KiB`)
  }
  const parsed = parse(source)
  if (!parsed.ok) {
    const { message, offset } = parsed
    return refuse(walk, place, `${showSource(source)}: ${message} (at offset ${offset})`)
  }
  const site: Site = {
    scope: walk.scope,
    refuse: (message) => refuse(walk, place, message),
  }
  const template = planAst(parsed.ast, site)
  const isReference = parsed.ast.kind === 'tag' && parsed.ast.calls.length === 0
  return isReference && place.depth === 0 ? template : weighed(template, source, place, walk)
}

/**
 * A reference may stand alone, whatever its size: it adds nothing. Within something larger it counts, or
 * ten references to ten references to … would be a document that nobody can write out.
 */
const weighed = (template: Template, source: string, place: Place, walk: Walk): Template => {
  const { weight, depth } = sizeOf(template)
  const isFirst = walk.added <= MAX_WEIGHT
  walk.added += weight
  if (walk.added > MAX_WEIGHT) {
    if (!isFirst) return FAULT
    return refuse(walk, place, `${showSource(source)}: expands to more than ${MAX_WEIGHT} values`)
  }
  return depth + place.depth > MAX_DEPTH
    ? refuse(walk, place, `${showSource(source)}: expands to more than ${MAX_DEPTH} levels`)
    : template
}

const refuse = (walk: Walk, { pointer }: Place, message: string): typeof FAULT => {
  walk.report({ code: 'invalid_expression', path: pointer, message: boundMessage(message) })
  return FAULT
}
