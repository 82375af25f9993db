// Reads typed members of folded values: a known value must have the right type now; a value that waits for the request
// may wait where the language allows it. Every problem names its place.

import { childPointer } from '../../base/json-pointer.ts'
import { kindOf } from '../expression/errors.ts'
import { INVALID } from '../expression/fold.ts'
import { functionNamed } from '../expression/functions/functions.ts'
import { constant, type MapTemplate, type Template } from '../expression/template.ts'
import { isList, isMap, type ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'

/** A folded value and the place in the document that a fault of it belongs to. */
export interface Placed {
  readonly template: Template
  readonly pointer: string
}

/** A map whose members are folded values. `get` gives undefined for absent and for faulty members. */
export interface FoldedMap {
  readonly pointer: string
  readonly keys: readonly string[]
  get(key: string): Template | undefined
}

/** The members of a map that is known as a map; otherwise undefined, with the problem reported. */
export const toFoldedMap = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): FoldedMap | undefined => {
  if (template === INVALID) return undefined
  if (template.kind === 'map') return waitingMap(template, pointer)
  const isConstant = template.kind === 'constant'
  if (isConstant && isMap(template.value)) return knownMap(template.value, pointer)
  const message = isConstant
    ? `expected a map, got ${kindOf(template.value)}`
    : 'expected a map whose keys are known when the document is loaded: an expression that reads the request may stand in its members only'
  diagnostics.problem('invalid_datatype', pointer, message)
  return undefined
}

const knownMap = (map: ValueMap, pointer: string): FoldedMap => ({
  pointer,
  keys: Object.keys(map),
  get: (key) => (Object.hasOwn(map, key) ? constant(map[key] ?? null) : undefined),
})

const waitingMap = ({ entries }: MapTemplate, pointer: string): FoldedMap => ({
  pointer,
  keys: entries.map((entry) => entry[0]),
  get: (key) => {
    const member = entries.find((entry) => entry[0] === key)?.[1]
    return member === INVALID ? undefined : member
  },
})

export interface IntegerRange {
  readonly minimum: number
  readonly maximum?: number
}

/** An integer that is known at load; otherwise a problem. Numeric text counts, as expressions give it. */
export const readInteger = (
  template: Template,
  pointer: string,
  range: IntegerRange,
  diagnostics: Diagnostics,
): number | undefined => {
  if (template === INVALID) return undefined
  if (template.kind !== 'constant') {
    diagnostics.problem(
      'invalid_value',
      pointer,
      'this must be known when the document is loaded: no expression that reads the request may stand here',
    )
    return undefined
  }
  const { value } = template
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    diagnostics.problem(
      'invalid_datatype',
      pointer,
      `expected a whole number, got ${kindOf(value)}`,
    )
    return undefined
  }
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = range
  if (!Number.isInteger(number) || number < minimum || number > maximum) {
    const bounds =
      range.maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`
    diagnostics.problem('invalid_value', pointer, `expected a whole number, ${bounds}`)
    return undefined
  }
  return number
}

/** An integer, or a template that yields one for each request. */
export const readIntegerOrWait = (
  template: Template,
  pointer: string,
  range: IntegerRange,
  diagnostics: Diagnostics,
): Template | undefined => {
  if (template.kind !== 'constant')
    return isScalarWait(template, pointer, diagnostics) ? template : undefined
  const value = readInteger(template, pointer, range, diagnostics)
  return value === undefined ? undefined : { kind: 'constant', value }
}

const isScalarWait = (template: Template, pointer: string, diagnostics: Diagnostics): boolean => {
  if (template.kind !== 'map' && template.kind !== 'list') return true
  diagnostics.problem(
    'invalid_datatype',
    pointer,
    `expected a whole number, got a ${template.kind}`,
  )
  return false
}

/** Text that is known at load. */
export const readText = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): string | undefined => {
  if (template === INVALID) return undefined
  if (template.kind === 'constant' && typeof template.value === 'string') return template.value
  if (template.kind === 'constant')
    diagnostics.problem(
      'invalid_datatype',
      pointer,
      `expected a text, got ${kindOf(template.value)}`,
    )
  else
    diagnostics.problem(
      'invalid_value',
      pointer,
      'this must be known when the document is loaded: no expression that reads the request may stand here',
    )
  return undefined
}

/** Text, or a template that yields it for each request. */
export const readTextOrWait = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): Template | undefined => {
  if (template === INVALID) return undefined
  const isText =
    template.kind === 'constant'
      ? typeof template.value === 'string'
      : template.kind !== 'map' && template.kind !== 'list'
  if (isText) return template
  const found = template.kind === 'constant' ? kindOf(template.value) : `a ${template.kind}`
  diagnostics.problem('invalid_datatype', pointer, `expected a text, got ${found}`)
  return undefined
}

/** One of a closed set of texts, known at load. */
export const readOneOf = <T extends string>(
  template: Template,
  pointer: string,
  allowed: readonly T[],
  diagnostics: Diagnostics,
): T | undefined => {
  const text = readText(template, pointer, diagnostics)
  if (text === undefined) return undefined
  const found = allowed.find((candidate) => candidate === text)
  if (found === undefined)
    diagnostics.problem('invalid_value', pointer, `expected one of ${allowed.join(', ')}`)
  return found
}

/** A list of texts of a closed set (or, without `allowed`, of any texts), known at load. undefined: a problem was reported. */
export const readTexts = <T extends string>(
  template: Template,
  pointer: string,
  allowed: readonly T[] | undefined,
  diagnostics: Diagnostics,
): readonly T[] | undefined => {
  if (template === INVALID) return undefined
  if (template.kind !== 'constant' || !isList(template.value)) {
    diagnostics.problem('invalid_datatype', pointer, 'expected a list of texts')
    return undefined
  }
  const texts: T[] = []
  for (const [index, value] of template.value.entries()) {
    const place = childPointer(pointer, index)
    const text = allowed === undefined ? value : allowed.find((candidate) => candidate === value)
    if (typeof value !== 'string')
      diagnostics.problem('invalid_datatype', place, `expected a text, got ${kindOf(value)}`)
    else if (text === undefined)
      diagnostics.problem('invalid_value', place, `expected one of ${(allowed ?? []).join(', ')}`)
    else texts.push(text as T)
  }
  return texts.length < template.value.length ? undefined : texts
}

/** A map or a list as a whole, or a template that yields one; its members may wait. */
export const readShape = (
  template: Template,
  pointer: string,
  shape: 'map' | 'list',
  diagnostics: Diagnostics,
): Template | undefined => {
  if (template === INVALID) return undefined
  const isKnownWrong =
    template.kind === 'constant'
      ? !(shape === 'map' ? isMap(template.value) : isList(template.value))
      : template.kind === 'text' ||
        (shape === 'map' ? template.kind === 'list' : template.kind === 'map')
  if (isKnownWrong) {
    diagnostics.problem(
      'invalid_datatype',
      pointer,
      `expected a ${shape}, got ${describeFound(template)}`,
    )
    return undefined
  }
  const scalar = scalarCall(template)
  if (scalar !== undefined)
    diagnostics.warning(
      'UnsuitableValue',
      pointer,
      `expected a ${shape}, and ${scalar} never gives one: ${REMEDIES[shape]}`,
    )
  return template
}

const describeFound = (template: Template): string => {
  if (template.kind === 'constant') return kindOf(template.value)
  return template.kind === 'text'
    ? 'a text, as something stands beside the expression'
    : `a ${template.kind}`
}

/** The function whose result the whole value is, if that is neither a map nor a list whatever the request. */
const scalarCall = (template: Template): string | undefined => {
  const name = template.kind === 'pipe' ? template.calls.at(-1)?.name : undefined
  return name !== undefined && functionNamed(name)?.isScalar === true ? name : undefined
}

const REMEDIES = {
  list: "write it as the item of a list, as in ['{{…}}']",
  map: "write it as the value of a key, as in {key: '{{…}}'}",
} as const
