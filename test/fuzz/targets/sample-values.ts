// Values that bodies and messages hold, for targets of the fuzzer: each kind, and the lengths and numbers at which
// formats change their form.

import type { Value } from '../../../language/expression/value.ts'

export const VALUES: readonly Value[] = [
  null,
  { id: 7, name: 'Ada', tags: ['a', 'é', '😀'], open: true, price: 13.99, nothing: null },
  [0, -1, 23, 24, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e300],
  ['', 'x'.repeat(31), 'x'.repeat(32), 'é'.repeat(130), 'a\u0000b', '\uFFFD'],
  { a: { b: { c: [[[]], {}] } }, ['__proto__x']: 1, constructor: 'c' },
  Array.from({ length: 20 }, (_, index) => ({ [`key${index}`]: index })),
]
