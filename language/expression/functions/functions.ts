// Holds the function table of behaviour §1: name, how it is called, what it does. A closed set; the caller of `apply`
// has checked the number and form of arguments, and passes the empty string by itself.

import type { Apply, VerifyArguments } from './apply.ts'
import { booleanOf, floatOf, integerOf, magnitudeOf, textOf } from './conversions.ts'
import { decodeBase64, decodeJson, encodeBase64, encodeJson } from './codecs.ts'
import {
  elementAt,
  firstOf,
  greatestOf,
  lastOf,
  lengthOf,
  pickRandom,
  restOf,
  smallestOf,
  verifyCount,
  verifyPosition,
} from './list-functions.ts'
import {
  getFrom,
  keysDropped,
  keysKept,
  merged,
  putInto,
  sizeOf,
  verifyKey,
  verifyKeys,
  verifyMaps,
} from './map-functions.ts'
import {
  joined,
  lowered,
  pieces,
  prefixStripped,
  replaced,
  trimmed,
  verifyPattern,
} from './text-functions.ts'

export interface ExpressionFunction {
  readonly name: string
  readonly least: number
  readonly most: number
  /** With examples of its arguments, for messages about their number. */
  readonly written: string
  /** What other languages call it, lower case. */
  readonly otherNames: readonly string[]
  /** What to write in place of one of those; its name, if left out. */
  readonly meant?: string
  /** `brackets`: its one argument is written `[a, b]`; `piped`: `_` is the piped value. */
  readonly form: 'words' | 'brackets' | 'piped'
  /** False: never applied at load, whatever is known. */
  readonly isPure: boolean
  /**
   * How many of its first arguments a client may give while the result still counts as the document's own text, which may
   * stand in a WAMP URI unchecked. Above 0 only where every text in the result is a whole one of the input, whatever the
   * argument is: a function that cuts a text by its argument lets a client choose where.
   */
  readonly clientArguments: number
  /** Whether its result is made of its whole input (0), or is one member of it (1). Absent: of something else. */
  readonly level?: 0 | 1
  /** Whether it never gives a map or a list. */
  readonly isScalar: boolean
  readonly apply: Apply
  /** Throws FunctionError for arguments that no input can be served with. */
  readonly verifyArguments?: VerifyArguments
  /** Whether such arguments are an error at load. Else a warning: documents of the original load with them. */
  readonly isStrict?: boolean
}

/** @returns undefined where there is no such function */
export const functionNamed = (name: string): ExpressionFunction | undefined => FUNCTIONS.get(name)

/** Reads a key of what a function gave: `{{variables.piped.key}}`. No document can write this name. */
export const STEP = '.'

type Special = Partial<Omit<ExpressionFunction, 'name' | 'least' | 'most' | 'written' | 'apply'>>

const define = (name: string, apply: Apply, special: Special = {}): ExpressionFunction =>
  withArguments(name, [0, 0, name], apply, special)

const withArguments = (
  name: string,
  [least, most, written]: readonly [number, number, string],
  apply: Apply,
  special: Special = {},
): ExpressionFunction => ({ ...DEFAULTS, name, least, most, written, ...special, apply })

const DEFAULTS = {
  form: 'words',
  isPure: true,
  clientArguments: 0,
  isScalar: false,
  otherNames: [],
} as const
const SCALAR = { isScalar: true } as const

const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map(
  [
    define('integer', integerOf, { ...SCALAR, otherNames: ['int'] }),
    define('float', floatOf, SCALAR),
    define('string', textOf, { ...SCALAR, otherNames: ['str', 'to_string'] }),
    define('boolean', booleanOf, { ...SCALAR, otherNames: ['bool'] }),
    define('abs', magnitudeOf, SCALAR),
    define('head', firstOf, { level: 1, otherNames: ['first'] }),
    define('last', lastOf, { level: 1 }),
    define('tail', restOf, { level: 0 }),
    withArguments('nth', [1, 1, 'nth(1)'], elementAt, {
      clientArguments: 1,
      level: 1,
      otherNames: ['at'],
      verifyArguments: verifyPosition,
    }),
    define('min', smallestOf),
    define('max', greatestOf),
    define('length', lengthOf, {
      ...SCALAR,
      otherNames: ['count'],
      meant: 'length for lists, size for maps',
    }),
    define('size', sizeOf, SCALAR),
    withArguments('random', [1, 1, 'random(1)'], pickRandom, {
      isPure: false,
      clientArguments: 1,
      level: 0,
      verifyArguments: verifyCount,
    }),
    withArguments('get', [1, 2, 'get(key) or get(key, default)'], getFrom, {
      clientArguments: 1,
      level: 1,
      otherNames: ['default', 'or'],
      meant: 'get(key, default), which reads a key of a map',
      verifyArguments: verifyKey,
    }),
    withArguments('put', [2, 2, 'put(key, value)'], putInto, {
      level: 0,
      verifyArguments: verifyKey,
    }),
    withArguments('merge', [1, 2, 'merge({{map}})'], merged, {
      form: 'piped',
      level: 0,
      verifyArguments: verifyMaps,
    }),
    withArguments('with', [1, 1, 'with([a, b])'], keysKept, {
      form: 'brackets',
      clientArguments: 1,
      level: 0,
      otherNames: ['keys', 'pick'],
      meant: 'with([a, b]), which chooses keys; without drops them',
      verifyArguments: verifyKeys,
    }),
    withArguments('without', [1, 1, 'without([a, b])'], keysDropped, {
      form: 'brackets',
      clientArguments: 1,
      level: 0,
      otherNames: ['omit'],
      verifyArguments: verifyKeys,
    }),
    define('lower', lowered, { ...SCALAR, otherNames: ['lowercase', 'downcase'] }),
    define('trim', trimmed, { ...SCALAR, otherNames: ['strip'] }),
    withArguments('strip_prefix', [1, 1, "strip_prefix('/v1')"], prefixStripped, {
      ...SCALAR,
      otherNames: ['removeprefix', 'trimprefix', 'trim_prefix'],
    }),
    withArguments('replace', [2, 2, "replace(' ', '-')"], replaced, {
      ...SCALAR,
      verifyArguments: verifyPattern,
      isStrict: true,
    }),
    withArguments('split', [1, 1, "split(',')"], pieces, {
      verifyArguments: verifyPattern,
      isStrict: true,
    }),
    withArguments('join', [1, 1, "join(',')"], joined, SCALAR),
    define('base64:encode', encodeBase64, { ...SCALAR, otherNames: ['b64encode'] }),
    define('base64:decode', decodeBase64, { ...SCALAR, otherNames: ['b64decode'] }),
    define('json:encode', encodeJson, { ...SCALAR, otherNames: ['tojson', 'to_json'] }),
    define('json:decode', decodeJson, { otherNames: ['fromjson'] }),
  ].map((definition) => [definition.name, definition]),
)

/** What to write here for what another language calls so. */
export const functionMeant = (name: string): string | undefined => MEANT.get(name.toLowerCase())

const MEANT: ReadonlyMap<string, string> = new Map(
  [...FUNCTIONS.values()].flatMap(({ name, otherNames, meant = name }) =>
    otherNames.map((other) => [other, meant] as const),
  ),
)

/** The names for a message. */
export const functionNames = (): readonly string[] => [...FUNCTIONS.keys()]
