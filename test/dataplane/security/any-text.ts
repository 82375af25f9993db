// Draws texts of any characters, control characters and those beyond 16 bits too.

import fc from 'fast-check'

/** Any code point but halves of surrogate pairs. */
const CHARACTER = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/** As fast-check's own unit `binary`, whose table takes a second or two in every file that uses it. */
export const anyText = (): fc.Arbitrary<string> => fc.string({ unit: CHARACTER })
