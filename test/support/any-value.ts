// Draws any value of the language for property tests: all kinds and nestings, with more of the lengths and numbers at
// which a format changes its form.

import fc from 'fast-check'
import type { Value } from '../../language/expression/value.ts'

const BOUNDS = [5, 7, 8, 15, 16, 31, 32, 53, 63, 64].flatMap((power) =>
  [-1, 0, 1].flatMap((more) => [2 ** power + more, -(2 ** power) + more]),
)
const UNITS = ['a', 'é', '€', '😀', 'aé€😀', '\u0000', '\uFFFD']
const LENGTHS = [0, 1, 11, 12, 15, 16, 23, 24, 31, 32, 47, 48, 63, 64, 127, 128, 255, 256]

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(fc.constantFrom(...UNITS), fc.constantFrom(...LENGTHS))
    .map(([unit, length]) => unit.repeat(length)),
)
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', 'toString'))

/** No -0: it is written as 0, as JSON has it. */
const number = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double(), fc.float(), fc.constantFrom(...BOUNDS))
  .map((value) => value + 0)

export const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 40 }),
    fc.dictionary(key, tie('value'), { maxKeys: 40, noNullPrototype: true }),
  ),
})).value
