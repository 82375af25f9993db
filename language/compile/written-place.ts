// Finds where the text that a diagnostic is about is written: at the place itself, or in the variable that an expression
// there names, so that the diagnostic points to what has to be changed. It is called for diagnostics only, never for valid
// documents.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { readTemplate } from '../expression/follow.ts'
import { ownValue } from '../expression/lookup.ts'
import type { ArgumentAst, TagAst } from '../expression/syntax/ast.ts'
import { keyOffset } from '../expression/syntax/key-offset.ts'
import { isExpression, parse, type Parsed } from '../expression/syntax/parse.ts'
import type { ReadTemplate } from '../expression/template.ts'
import { isList, type Value, type ValueMap } from '../expression/value.ts'

/** What a diagnostic is about, within the text at its place. */
export type Culprit =
  /** A read of the context, and which of its keys is wrong; the root is 0. */
  | { readonly read: ReadTemplate; readonly key: number }
  /** A whole tag, as written, or the function in it that is wrong. */
  | { readonly source: string; readonly call?: string }
  | { readonly text: string }

export interface WrittenPlace {
  readonly path: string
  /** The rest of the pointer: of what is not there, or is made by an expression. */
  readonly beyond: string
  /** Where the culprit begins within the text at `path`. */
  readonly offset?: number
}

/** Variables may name each other, one after the other. */
const MAX_STEPS = 32
/** Texts that name each other are searched this deep. */
const MAX_DEPTH = 16
/** How much text is searched for all diagnostics of a document: it may be made to have many, in large texts. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** What a text costs beside its length. */
const TEXT_COST = 64

/** A value of the document, and the levels (API, version, path) whose variables its expressions see, nearest last. */
interface Spot {
  readonly value: Value
  readonly pointer: string
  readonly levels: readonly string[]
}

/**
 * Finds the nearest place to a pointer that is written out, behind references that are a whole text
 * (`{{variables.failure}}`), and the culprit in it.
 * @param secrets variables that override those of the document, and stand nowhere in it
 */
export const writtenPlaces = (
  document: ValueMap,
  secrets: ValueMap = {},
): ((pointer: string, culprit?: Culprit) => WrittenPlace) => {
  const search: Search = { document, secrets, left: MAX_CHARACTERS }
  return (pointer, culprit) => {
    const start: Spot = { value: document, pointer: '', levels: [''] }
    const { spot, rest } = locate(start, pointerKeys(pointer), search)
    const found = culprit && findCulprit(spot, culprit, search, MAX_DEPTH)
    return found ?? { path: spot.pointer, beyond: rest.reduce(childPointer, '') }
  }
}

interface Search {
  readonly document: ValueMap
  readonly secrets: ValueMap
  /** Characters that may still be searched. */
  left: number
}

const parseWithin = (text: string, search: Search): Parsed | undefined => {
  if (search.left < 0 || !isExpression(text)) return undefined
  search.left -= text.length + TEXT_COST
  return parse(text)
}

interface Descent {
  readonly spot: Spot
  /** Keys that the value at the spot does not have. */
  readonly rest: readonly string[]
}

const locate = (start: Spot, keys: readonly string[], search: Search): Descent => {
  let found = descend(start, keys)
  for (let step = 0; step < MAX_STEPS; step++) {
    const { spot, rest } = found
    const reference = typeof spot.value === 'string' ? readReference(spot.value, search) : undefined
    if (reference === undefined) break
    const entry = entryOf(reference.tag, spot, search)
    if (entry === undefined) break
    found = descend(entry, [...reference.keys, ...rest])
  }
  return found
}

const descend = (start: Spot, keys: readonly string[]): Descent => {
  let spot = start
  for (const [index, key] of keys.entries()) {
    const { value } = spot
    const inner: Value | undefined = isList(value) ? value[Number(key)] : ownValue(value, key)
    if (inner === undefined) return { spot, rest: keys.slice(index) }
    const pointer = childPointer(spot.pointer, key)
    const isLevel = LEVEL.test(pointer)
    spot = { value: inner, pointer, levels: isLevel ? [...spot.levels, pointer] : spot.levels }
  }
  return { spot, rest: [] }
}

/** A version, or a path of it. */
const LEVEL = /^\/versions\/[^/]+(?:\/paths\/[^/]+)?$/

interface Reference {
  readonly tag: TagAst
  /** Behind the name of the variable. */
  readonly keys: readonly string[]
}

/** Undefined: it is more than the name of a variable. */
const readReference = (text: string, search: Search): Reference | undefined => {
  const parsed = parseWithin(text, search)
  if (parsed?.ok !== true || parsed.ast.kind !== 'tag' || parsed.ast.calls.length > 0)
    return undefined
  return { tag: parsed.ast, keys: parsed.ast.keys.slice(1) }
}

/** The variable or default that a tag names. Undefined: it is written nowhere in the document. */
const entryOf = (
  { root, keys: [name] }: TagAst,
  { pointer, levels }: Spot,
  { document, secrets }: Search,
): Spot | undefined => {
  if (name === undefined || (root !== 'variables' && root !== 'defaults')) return undefined
  for (const [index, level] of [...levels.entries()].reverse()) {
    const place = childPointer(childPointer(level, root), name)
    // A name within its own entry is that of the level above.
    if (pointer === place || pointer.startsWith(`${place}/`)) continue
    if (level === '' && root === 'variables' && Object.hasOwn(secrets, name)) return undefined
    const group = ownValue(valueAt(document, level), root)
    // An expression for the whole map: what it gives is not known here.
    if (typeof group === 'string') return undefined
    const value = ownValue(group, name)
    if (value !== undefined) return { value, pointer: place, levels: levels.slice(0, index + 1) }
  }
  return undefined
}

const valueAt = (document: ValueMap, pointer: string): Value =>
  descend({ value: document, pointer: '', levels: [] }, pointerKeys(pointer)).spot.value

const findCulprit = (
  spot: Spot,
  culprit: Culprit,
  search: Search,
  depth: number,
): WrittenPlace | undefined => {
  const { value, pointer } = spot
  if (typeof value !== 'string' || depth === 0) return undefined
  if ('text' in culprit) {
    const offset = value.indexOf(culprit.text)
    return offset === -1 ? undefined : { path: pointer, beyond: '', offset }
  }
  const tags = tagsOf(value, search)
  for (const tag of tags) {
    const offset = offsetIn(tag, culprit)
    if (offset !== undefined) return { path: pointer, beyond: '', offset }
  }
  for (const tag of tags) {
    const entry = entryOf(tag, spot, search)
    const inner = entry && locate(entry, tag.keys.slice(1), search).spot
    const found = inner && findCulprit(inner, culprit, search, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

const tagsOf = (text: string, search: Search): readonly TagAst[] => {
  const parsed = parseWithin(text, search)
  if (parsed?.ok !== true || parsed.ast.kind === 'literal') return []
  const { ast } = parsed
  const tags = ast.kind === 'tag' ? [ast] : ast.parts.filter((part) => typeof part !== 'string')
  return tags.flatMap(withInner)
}

const withInner = (tag: TagAst): readonly TagAst[] => [
  tag,
  ...tag.calls.flatMap(({ args }) => args.flatMap(tagsIn)),
]

const tagsIn = (arg: ArgumentAst): readonly TagAst[] => {
  if (arg.kind === 'tag') return withInner(arg)
  return arg.kind === 'brackets' ? arg.items.flatMap(tagsIn) : []
}

const offsetIn = (tag: TagAst, culprit: Exclude<Culprit, { text: string }>): number | undefined => {
  if ('source' in culprit) {
    if (tag.source !== culprit.source) return undefined
    const call = tag.calls.find(({ name }) => name === culprit.call)
    return call?.offset ?? tag.offset
  }
  const { root, keys } = culprit.read
  if (tag.root !== root) return undefined
  const written = readTemplate(root, tag.keys).keys
  const isSame = written.length === keys.length && written.every((key, at) => key === keys[at])
  return isSame ? keyOffset(tag, culprit.key) : undefined
}
