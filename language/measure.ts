// Checks the bounds of behaviour §2 on an unknown value before anything else reads a document, and lists every broken
// bound. Never follows a cycle, never reads more than 4 MiB of JSON text.

import { childPointer } from '../base/json-pointer.ts'
import type { Problem, ProblemCode } from './problem.ts'

/** The most that a document may have, as JSON text. */
export const MAX_BYTES = 4 * 1024 * 1024
const MAX_DEPTH = 64
const MAX_EXPRESSION_BYTES = 64 * 1024
const MAX_PROBLEMS = 100

/** Where the walk is and what it has found. Pointers are built for problems only. */
interface Walk {
  readonly sizeOf: (text: string) => number
  readonly maxBytes: number
  bytes: number
  isOver: boolean
  readonly keys: (string | number)[]
  readonly ancestors: object[]
  readonly problems: Problem[]
}

/**
 * Whether a value is JSON that is small enough to be validated: 4 MiB as JSON text (what YAML anchors share counts each
 * time), 64 levels of nesting, 64 KiB for a text that holds `{{`. Linear in the size of the text; own enumerable keys
 * only. Reports at most 100 problems.
 * @example measure({ meta: { at: new Date() } }) // [{ code: 'invalid_datatype', path: '/meta/at', … }]
 */
export const measure = (document: unknown): readonly Problem[] => {
  // Counting characters exactly takes half of the walk; documents below 700 KiB don't need it.
  const rough = walkThrough(document, mostBytes)
  return rough.isOver ? walkThrough(document, exactBytes).problems : rough.problems
}

/**
 * Whether a value has at most so many bytes as JSON text. Stops reading where it has more.
 * @example isWithin({ id: 'a' }, 10) // true
 */
export const isWithin = (document: unknown, maxBytes: number): boolean =>
  // Few documents need their characters counted exactly.
  !walkThrough(document, mostBytes, maxBytes).isOver ||
  !walkThrough(document, exactBytes, maxBytes).isOver

/**
 * How many bytes a value has as JSON text; undefined where it breaks a bound of `measure`.
 * @example countBytes({ id: 'a' }) // 10
 */
export const countBytes = (document: unknown): number | undefined => {
  const { bytes, problems } = walkThrough(document, exactBytes)
  return problems.length === 0 ? bytes : undefined
}

const walkThrough = (document: unknown, sizeOf: Walk['sizeOf'], maxBytes = MAX_BYTES): Walk => {
  const walk: Walk = {
    sizeOf,
    maxBytes,
    bytes: 0,
    isOver: false,
    keys: [],
    ancestors: [],
    problems: [],
  }
  visit(document, walk)
  return walk
}

const visit = (value: unknown, walk: Walk): void => {
  switch (typeof value) {
    case 'string':
      visitText(value, walk)
      return
    case 'number':
      if (Number.isFinite(value)) count(String(value).length, walk)
      else report(walk, 'invalid_datatype', `${String(value)} is no JSON value`)
      return
    case 'boolean':
      count(value ? 4 : 5, walk)
      return
    case 'object':
      if (value === null) count(4, walk)
      else visitContainer(value, walk)
      return
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      report(walk, 'invalid_datatype', `JSON has no values of the type ${typeof value}`)
  }
}

const visitContainer = (value: object, walk: Walk): void => {
  if (!Array.isArray(value) && !isPlain(value)) {
    const message = 'only maps, lists, texts, numbers, booleans and null are JSON values'
    report(walk, 'invalid_datatype', `This is an object of a class: ${message}`)
    return
  }
  if (walk.ancestors.includes(value)) {
    report(walk, 'invalid_value', 'This refers to something that it is a part of')
    return
  }
  if (walk.ancestors.length === MAX_DEPTH) {
    report(
      walk,
      'invalid_value',
      `A document may be nested ${MAX_DEPTH} levels deep; this is deeper`,
    )
    return
  }
  walk.ancestors.push(value)
  if (Array.isArray(value)) visitList(value, walk)
  else visitMap(value as Readonly<Record<string, unknown>>, walk)
  walk.ancestors.pop()
}

const visitList = (list: readonly unknown[], walk: Walk): void => {
  count(1 + Math.max(list.length, 1), walk)
  for (let index = 0; index < list.length && !walk.isOver; index++) {
    walk.keys.push(index)
    visit(list[index], walk)
    walk.keys.pop()
  }
}

const visitMap = (map: Readonly<Record<string, unknown>>, walk: Walk): void => {
  const keys = Object.keys(map)
  count(1 + Math.max(2 * keys.length, 1), walk)
  for (const key of keys) {
    if (walk.isOver) return
    walk.keys.push(key)
    count(walk.sizeOf(key), walk)
    visit(map[key], walk)
    walk.keys.pop()
  }
}

const visitText = (text: string, walk: Walk): void => {
  const bytes = walk.sizeOf(text)
  count(bytes, walk)
  if (bytes <= MAX_EXPRESSION_BYTES || !text.includes('{{')) return
  const size = rawBytes(text)
  if (size > MAX_EXPRESSION_BYTES)
    report(
      walk,
      'invalid_value',
      `A text with expressions may have 64 KiB; this one has ${size} bytes`,
    )
}

const count = (bytes: number, walk: Walk): void => {
  walk.bytes += bytes
  if (walk.bytes <= walk.maxBytes || walk.isOver) return
  walk.isOver = true
  walk.problems.push({
    code: 'invalid_value',
    path: '',
    message:
      'A document may have 4 MiB as JSON text, with all that YAML anchors repeat; this is larger',
  })
}

const report = (walk: Walk, code: ProblemCode, message: string): void => {
  const path = walk.keys.reduce<string>((pointer, key) => childPointer(pointer, key), '')
  walk.problems.push({ code, path, message })
  // A graph that shares its faulty parts would repeat their problems without end.
  if (walk.problems.length >= MAX_PROBLEMS) walk.isOver = true
}

/** A plain object. Prototypes are not compared by identity: a document may come from another realm (`vm`). */
const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The most bytes that a text may have in JSON: six for each unit, as in `\u0000`. */
const mostBytes = (text: string): number => 2 + 6 * text.length

/** Bytes of a text in JSON, quotes included. */
const exactBytes = (text: string): number => {
  let bytes = 2
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x80)
      bytes += code >= 0x20 ? (code === 0x22 || code === 0x5c ? 2 : 1) : escapeBytes(code)
    else if (code < 0x800) bytes += 2
    // Half of a surrogate pair is two of its four bytes.
    else bytes += code >= 0xd800 && code < 0xe000 ? 2 : 3
  }
  return bytes
}

/** `\n` and its like, or `\u0000`. */
const escapeBytes = (code: number): number =>
  code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 2 : 6

/** Bytes of a text in UTF-8. */
const rawBytes = (text: string): number => new TextEncoder().encode(text).length
