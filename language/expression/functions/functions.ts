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

const define = (
  name: string,
  [least, most]: readonly [number, number],
  apply: Apply,
  special: Partial<
    Pick<
      ExpressionFunction,
      'form' | 'isPure' | 'clientArguments' | 'level' | 'isScalar' | 'verifyArguments' | 'isStrict'
    >
  > = {},
): ExpressionFunction => ({ ...DEFAULTS, name, least, most, ...special, apply })

const DEFAULTS = { form: 'words', isPure: true, clientArguments: 0, isScalar: false } as const
const SCALAR = { isScalar: true } as const

const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map(
  [
    define('integer', [0, 0], integerOf, SCALAR),
    define('float', [0, 0], floatOf, SCALAR),
    define('string', [0, 0], textOf, SCALAR),
    define('boolean', [0, 0], booleanOf, SCALAR),
    define('abs', [0, 0], magnitudeOf, SCALAR),
    define('head', [0, 0], firstOf, { level: 1 }),
    define('last', [0, 0], lastOf, { level: 1 }),
    define('tail', [0, 0], restOf, { level: 0 }),
    define('nth', [1, 1], elementAt, {
      clientArguments: 1,
      level: 1,
      verifyArguments: verifyPosition,
    }),
    define('min', [0, 0], smallestOf),
    define('max', [0, 0], greatestOf),
    define('length', [0, 0], lengthOf, SCALAR),
    define('size', [0, 0], sizeOf, SCALAR),
    define('random', [1, 1], pickRandom, {
      isPure: false,
      clientArguments: 1,
      level: 0,
      verifyArguments: verifyCount,
    }),
    define('get', [1, 2], getFrom, { clientArguments: 1, level: 1, verifyArguments: verifyKey }),
    define('put', [2, 2], putInto, { level: 0, verifyArguments: verifyKey }),
    define('merge', [1, 2], merged, { form: 'piped', level: 0, verifyArguments: verifyMaps }),
    define('with', [1, 1], keysKept, {
      form: 'brackets',
      clientArguments: 1,
      level: 0,
      verifyArguments: verifyKeys,
    }),
    define('without', [1, 1], keysDropped, {
      form: 'brackets',
      clientArguments: 1,
      level: 0,
      verifyArguments: verifyKeys,
    }),
    define('lower', [0, 0], lowered, SCALAR),
    define('trim', [0, 0], trimmed, SCALAR),
    define('strip_prefix', [1, 1], prefixStripped, SCALAR),
    define('replace', [2, 2], replaced, {
      ...SCALAR,
      verifyArguments: verifyPattern,
      isStrict: true,
    }),
    define('split', [1, 1], pieces, { verifyArguments: verifyPattern, isStrict: true }),
    define('join', [1, 1], joined, SCALAR),
    define('base64:encode', [0, 0], encodeBase64, SCALAR),
    define('base64:decode', [0, 0], decodeBase64, SCALAR),
    define('json:encode', [0, 0], encodeJson, SCALAR),
    define('json:decode', [0, 0], decodeJson),
  ].map((definition) => [definition.name, definition]),
)

/** The names for a message. */
export const functionNames = (): readonly string[] => [...FUNCTIONS.keys()]
