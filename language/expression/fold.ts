// Folds a value of a document in its scope into a template: what is known at load becomes a constant, the rest waits.
// Reports every problem with its pointer; nothing here throws or sees a request.

import { childPointer } from '../../base/json-pointer.ts'
import { boundMessage, showSource } from './errors.ts'
import { isFree } from './free.ts'
import { isExpression, parse, type Parsed } from './syntax/parse.ts'
import { planAst } from './plan.ts'
import { INVALID, type FoldScope, isKnown, type Met, type Report } from './scope.ts'
import type { Site } from './site.ts'
import { constant, type MapTemplate, type Template } from './template.ts'
import { isList, setOwn, type Value, type ValueMap } from './value.ts'
import { sizeOf } from './weight.ts'

export { INVALID, type FoldScope, type LoadRoot, type Report } from './scope.ts'
export { weightOf } from './weight.ts'

/** What references may add to one value of a document, what is shared counted each time. */
const MAX_WEIGHT = 100_000
const MAX_DEPTH = 512
const MAX_SOURCE_BYTES = 64 * 1024

/**
 * Walks maps and lists; keys are never expressions. A value without expressions keeps its identity; a faulty leaf
 * becomes `INVALID`, and folding goes on.
 * @param pointer RFC 6901, of `value` in the document
 * @example fold({ n: '{{variables.foo}}' }, '/body', scope, report) // constant({ n: 100 })
 */
export const fold = (value: Value, pointer: string, scope: FoldScope, report: Report): Template =>
  foldValue(value, createWalk(pointer, scope, report)) ?? constant(value)

interface Walk extends Site {
  /** Warns of what is read otherwise than it looks. */
  readonly remark: (message: string, offset: number) => void
  /** From `pointer` to where the walk is. Pointers are built for diagnostics only. */
  readonly keys: (string | number)[]
  /** Weight that references have added so far. */
  added: number
}

const createWalk = (pointer: string, scope: FoldScope, report: Report): Walk => {
  const keys: (string | number)[] = []
  const place = (): string =>
    keys.reduce<string>((parent, key) => childPointer(parent, key), pointer)
  const refuse = (message: string, offset?: number): typeof INVALID => {
    const problem = { path: place(), message: boundMessage(message) }
    report({ code: 'invalid_expression', ...problem, ...(offset !== undefined && { offset }) })
    return INVALID
  }
  const remark = (message: string, offset: number): void => {
    scope.remark?.(place(), boundMessage(message), offset)
  }
  return { scope, refuse, remark, keys, added: 0 }
}

/** Undefined: it holds no expression. */
const foldValue = (value: Value, walk: Walk): Template | undefined => {
  if (typeof value === 'string') {
    return isExpression(value) ? foldExpression(value, walk) : undefined
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return undefined
  if (walk.keys.length >= MAX_DEPTH) {
    return walk.refuse(`the value nests more than ${MAX_DEPTH} levels deep`)
  }
  return isList(value) ? foldList(value, walk) : foldMap(value, walk)
}

const foldChild = (value: Value, key: string | number, walk: Walk): Template | undefined => {
  const isFoldable = typeof value === 'string' ? isExpression(value) : typeof value === 'object'
  if (!isFoldable) return undefined
  walk.keys.push(key)
  const template = typeof value === 'string' ? foldExpression(value, walk) : foldValue(value, walk)
  walk.keys.pop()
  return template
}

const foldList = (list: readonly Value[], walk: Walk): Template | undefined => {
  let items: Template[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null
    const folded = foldChild(item, index, walk)
    if (folded !== undefined) items ??= list.slice(0, index).map(constant)
    items?.push(folded ?? constant(item))
  }
  if (items === undefined) return undefined
  return items.every(isKnown) ? constant(items.map(({ value }) => value)) : { kind: 'list', items }
}

const foldMap = (map: ValueMap, walk: Walk): Template | undefined => {
  let entries: Entry[] | undefined
  const keys = Object.keys(map)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? ''
    const value = map[key] ?? null
    const folded = foldChild(value, key, walk)
    if (folded !== undefined)
      entries ??= keys.slice(0, index).map((before) => plainEntry(map, before))
    entries?.push([key, folded ?? constant(value)])
  }
  return entries && (knownMap(entries) ?? { kind: 'map', entries })
}

type Entry = MapTemplate['entries'][number]

const plainEntry = (map: ValueMap, key: string): Entry => [key, constant(map[key] ?? null)]

/** Undefined: some of it waits, or is faulty. */
const knownMap = (entries: readonly Entry[]): Template | undefined => {
  if (!entries.every((entry) => isKnown(entry[1]))) return undefined
  const known: Record<string, Value> = {}
  for (const [key, child] of entries) if (isKnown(child)) setOwn(known, key, child.value)
  return constant(known)
}

const foldExpression = (source: string, walk: Walk): Template => {
  const met = meet(source, walk)
  if (met === undefined) return INVALID
  const { ast, template = planAst(ast, walk), remark } = met
  if (remark !== undefined) walk.remark(`${showSource(source)}: ${remark.message}`, remark.offset)
  const isReference = ast.kind === 'tag' && ast.calls.length === 0
  return isReference && walk.keys.length === 0 ? template : weighed(template, source, walk)
}

/** Undefined: its syntax is invalid, and that is reported. */
const meet = (source: string, walk: Walk): Met | undefined => {
  const { met } = walk.scope
  const before = met?.get(source)
  if (before !== undefined) return before
  const parsed = parseExpression(source, walk)
  if (parsed === undefined) return undefined
  const { ast, remark } = parsed
  const template = isFree(ast) ? planAst(ast, walk) : undefined
  const now = { ast, template, remark }
  if (template !== INVALID) met?.set(source, now)
  return now
}

const parseExpression = (source: string, walk: Walk): Extract<Parsed, { ok: true }> | undefined => {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    walk.refuse(`${showSource(source)}: the expression is longer than 64 KiB`)
    return undefined
  }
  const parsed = parse(source)
  if (parsed.ok) return parsed
  const { message, offset } = parsed
  walk.refuse(`${showSource(source)}: ${message} (at offset ${offset})`, offset)
  return undefined
}

/**
 * A reference may stand alone, whatever its size: it adds nothing. Within something larger it counts, because ten
 * references to ten references and so on would be too large to be written out.
 */
const weighed = (template: Template, source: string, walk: Walk): Template => {
  const { weight, depth } = sizeOf(template)
  const isFirst = walk.added <= MAX_WEIGHT
  walk.added += weight
  if (walk.added > MAX_WEIGHT) {
    if (!isFirst) return INVALID
    return walk.refuse(`${showSource(source)}: expands to more than ${MAX_WEIGHT} values`)
  }
  return depth + walk.keys.length > MAX_DEPTH
    ? walk.refuse(`${showSource(source)}: expands to more than ${MAX_DEPTH} levels`)
    : template
}
