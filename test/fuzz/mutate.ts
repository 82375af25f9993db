// Makes inputs out of inputs, for targets of the fuzzer: bytes changed by chance, and JSON values changed in their
// structure. The same numbers give the same input.

import { isMap, setOwn, type Value } from '../../language/expression/value.ts'
import type { Random } from './fuzz.ts'

/** A whole number from 0 to `count` - 1. */
const below = (random: Random, count: number): number => Math.floor(random() * count)

/** @throws RangeError for a list without items */
const pick = <T>(random: Random, list: readonly T[]): T => {
  if (list.length === 0) throw new RangeError('there is nothing to pick')
  return list[below(random, list.length)] as T
}

export interface ByteMutation {
  readonly random: Random
  /** Texts (Latin-1) that mean something to the reader. */
  readonly tokens?: readonly string[]
  /** Other inputs, to take parts of. */
  readonly pool: readonly Buffer[]
  /** Of what comes out; 4096 if left out. */
  readonly maxBytes?: number
}

/** One to six changes: bytes flipped, set, inserted, removed, doubled, moved; tokens; parts of other inputs. */
export const mutateBytes = (input: Buffer, mutation: ByteMutation): Buffer => {
  const { random, maxBytes = 4096 } = mutation
  let bytes = input
  for (let left = 1 + below(random, 6); left > 0; left--)
    bytes = pick(random, CHANGES)(bytes, mutation)
  return bytes.subarray(0, maxBytes)
}

type Change = (bytes: Buffer, mutation: ByteMutation) => Buffer

/** Limits of lengths and signs, marks of text formats. */
const SPECIAL_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xc0, 0xff, 0x0a, 0x0d, 0x20, 0x22, 0x5b, 0x7b]

const spliced = (bytes: Buffer, from: number, to: number, middle: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)])

const place = (bytes: Buffer, random: Random): number => below(random, bytes.length + 1)

/** Short ones mostly. */
const span = (bytes: Buffer, random: Random): readonly [from: number, to: number] => {
  const from = place(bytes, random)
  const most = random() < 0.8 ? 8 : bytes.length
  return [from, Math.min(bytes.length, from + below(random, most + 1))]
}

const flipBit: Change = (bytes, { random }) => {
  const copy = Buffer.from(bytes)
  const at = below(random, Math.max(1, copy.length))
  if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << below(random, 8))
  return copy
}

const setByte: Change = (bytes, { random }) => {
  const copy = Buffer.from(bytes)
  const at = below(random, Math.max(1, copy.length))
  if (at < copy.length) copy[at] = random() < 0.5 ? pick(random, SPECIAL_BYTES) : below(random, 256)
  return copy
}

const insertBytes: Change = (bytes, { random }) => {
  const at = place(bytes, random)
  const byte = random() < 0.5 ? pick(random, SPECIAL_BYTES) : below(random, 256)
  const count = random() < 0.9 ? 1 + below(random, 4) : 1 + below(random, 300)
  return spliced(bytes, at, at, Buffer.alloc(count, byte))
}

const removeBytes: Change = (bytes, { random }) => {
  const [from, to] = span(bytes, random)
  return spliced(bytes, from, to, Buffer.alloc(0))
}

const repeatBytes: Change = (bytes, { random }) => {
  const [from, to] = span(bytes, random)
  return spliced(bytes, to, to, bytes.subarray(from, to))
}

const moveBytes: Change = (bytes, { random }) => {
  const [from, to] = span(bytes, random)
  const rest = spliced(bytes, from, to, Buffer.alloc(0))
  const at = place(rest, random)
  return spliced(rest, at, at, bytes.subarray(from, to))
}

const cutOff: Change = (bytes, { random }) => bytes.subarray(0, place(bytes, random))

const insertToken: Change = (bytes, { random, tokens = [] }) => {
  if (tokens.length === 0) return insertBytes(bytes, { random, pool: [] })
  const [from, to] = random() < 0.5 ? span(bytes, random) : twice(place(bytes, random))
  return spliced(bytes, from, to, Buffer.from(pick(random, tokens), 'latin1'))
}

const twice = (at: number): readonly [number, number] => [at, at]

const takePart: Change = (bytes, { random, pool }) => {
  if (pool.length === 0) return bytes
  const other = pick(random, pool)
  const [start, end] = span(other, random)
  const [from, to] = random() < 0.5 ? span(bytes, random) : twice(place(bytes, random))
  return spliced(bytes, from, to, other.subarray(start, end))
}

const goOnAsOther: Change = (bytes, { random, pool }) => {
  if (pool.length === 0) return bytes
  const other = pick(random, pool)
  return Buffer.concat([
    bytes.subarray(0, place(bytes, random)),
    other.subarray(place(other, random)),
  ])
}

const CHANGES: readonly Change[] = [
  flipBit,
  setByte,
  insertBytes,
  removeBytes,
  repeatBytes,
  moveBytes,
  insertToken,
  insertToken,
  insertToken,
  takePart,
  goOnAsOther,
  cutOff,
]

export interface JsonMutation {
  readonly random: Random
  /** Names that mean something to the reader. */
  readonly keys: readonly string[]
  /** Values that mean something to the reader. */
  readonly leaves: readonly Value[]
}

/** Names and values that have been trouble to somebody. */
const KEYS = ['__proto__', 'constructor', 'toString', '', 'a/b~c', '\ud800', '\0']
const LEAVES: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '\0',
  '\ud800',
  '\uFFFD',
  [],
  {},
  [[]],
  [null],
  '{{',
  '}}',
  'x'.repeat(300),
  'x'.repeat(70_000),
]

/** One to four members replaced, removed, added, exchanged, nested, or their text changed. Changes `value` itself. */
export const mutateJson = (value: Value, mutation: JsonMutation): Value => {
  const { random } = mutation
  const root: Record<string, Value> = { value }
  for (let left = 1 + below(random, 4); left > 0; left--) {
    const slots = slotsOf(root)
    pick(random, JSON_CHANGES)(pick(random, slots), mutation, slots)
  }
  return root['value'] ?? null
}

interface Slot {
  readonly container: Record<string, Value>
  readonly key: string
}

const slotsOf = (root: Record<string, Value>): readonly Slot[] => {
  const slots: Slot[] = []
  const open: Value[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const container = next as Record<string, Value>
    for (const key of Object.keys(container)) {
      slots.push({ container, key })
      open.push(container[key] ?? null)
    }
  }
  return slots
}

type JsonChange = (slot: Slot, mutation: JsonMutation, slots: readonly Slot[]) => void

const anyLeaf = ({ random, leaves }: JsonMutation): Value =>
  // A copy: it may be changed itself later on.
  structuredClone(pick(random, random() < 0.6 && leaves.length > 0 ? leaves : LEAVES))

const anyKey = ({ random, keys }: JsonMutation): string =>
  pick(random, random() < 0.7 && keys.length > 0 ? keys : KEYS)

const replace: JsonChange = ({ container, key }, mutation) => {
  setOwn(container, key, anyLeaf(mutation))
}

const remove: JsonChange = ({ container, key }) => {
  if (Array.isArray(container)) container.splice(Number(key), 1)
  else if (key !== 'value') Reflect.deleteProperty(container, key)
}

const addMember: JsonChange = ({ container, key }, mutation, slots) => {
  const { random } = mutation
  const other = pick(random, slots)
  const value = random() < 0.5 ? anyLeaf(mutation) : copyOf(other.container[other.key] ?? null)
  const target = container[key]
  if (Array.isArray(target)) target.splice(below(random, target.length + 1), 0, value)
  else if (isMap(target)) setOwn(target, anyKey(mutation), value)
  else setOwn(container, key, value)
}

const rename: JsonChange = ({ container, key }, mutation) => {
  if (Array.isArray(container) || key === 'value') return
  const value = container[key] ?? null
  Reflect.deleteProperty(container, key)
  setOwn(container, anyKey(mutation), value)
}

const copyFromOther: JsonChange = ({ container, key }, { random }, slots) => {
  const other = pick(random, slots)
  setOwn(container, key, copyOf(other.container[other.key] ?? null))
}

/** Large ones are not copied: sizes would multiply. */
const copyOf = (value: Value): Value => {
  const text = jsonOf(value)
  return text === undefined || text.length > 20_000 ? null : (JSON.parse(text.toString()) as Value)
}

const nest: JsonChange = ({ container, key }, { random, keys }) => {
  const depth = pick(random, [1, 2, 3, 63, 64, 600, 1500])
  const name = keys.length === 0 ? 'a' : pick(random, keys)
  let value = container[key] ?? null
  for (let level = 0; level < depth; level++) {
    if (random() < 0.5) value = [value]
    else {
      const map: Record<string, Value> = {}
      setOwn(map, name, value)
      value = map
    }
  }
  setOwn(container, key, value)
}

const changeText: JsonChange = (slot, mutation) => {
  const { random, leaves } = mutation
  const text = slot.container[slot.key]
  if (typeof text !== 'string') {
    replace(slot, mutation, [])
    return
  }
  const tokens = leaves.filter((leaf) => typeof leaf === 'string')
  const from = below(random, text.length + 1)
  const to = random() < 0.5 ? from : Math.min(text.length, from + below(random, 6))
  const middle =
    random() < 0.3 || tokens.length === 0
      ? String.fromCharCode(below(random, 128))
      : pick(random, tokens)
  setOwn(slot.container, slot.key, text.slice(0, from) + middle + text.slice(to))
}

const JSON_CHANGES: readonly JsonChange[] = [
  replace,
  remove,
  addMember,
  rename,
  copyFromOther,
  changeText,
  changeText,
  addMember,
  replace,
  copyFromOther,
  addMember,
  nest,
]

/**
 * The JSON text with its structure changed; mostly. What is no JSON, and some that is, has its bytes changed.
 * @example mutateJsonText(Buffer.from('{"a":1}'), { random, pool, keys: [], leaves: [] }) // {"a":{}}
 */
export const mutateJsonText = (input: Buffer, mutation: ByteMutation & JsonMutation): Buffer => {
  const { maxBytes = 4096, random } = mutation
  const value = random() < 0.15 ? undefined : parsed(input)
  if (value === undefined) return mutateBytes(input, mutation)
  const bytes = jsonOf(mutateJson(value, mutation))
  return bytes === undefined || bytes.length > maxBytes ? mutateBytes(input, mutation) : bytes
}

/** Undefined: it is nested more deeply than can be written. */
const jsonOf = (value: Value): Buffer | undefined => {
  try {
    return Buffer.from(JSON.stringify(value))
  } catch {
    return undefined
  }
}

const parsed = (input: Buffer): Value | undefined => {
  try {
    return JSON.parse(input.toString()) as Value
  } catch {
    return undefined
  }
}
