// Which texts are a `traceparent` (W3C Trace Context, §3.2 and §4.3), by table and by chance.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseTraceparent } from '../../telemetry/traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

describe('parseTraceparent', () => {
  it.each<[string, boolean]>([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-ff`, true],
    [`00-${TRACE}-${SPAN}-02`, false],
    [`01-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-holds`, true],
    [`fe-${TRACE}-${SPAN}-00-`, false],
  ])('reads %s', (text, isSampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled })
  })

  it.each<[string, string | undefined]>([
    ['nothing', undefined],
    ['an empty text', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more', `00-${TRACE}-${SPAN}-01-more`],
    ['version 00 with a dash more', `00-${TRACE}-${SPAN}-01-`],
    ['a later version with more, but no dash', `cc-${TRACE}-${SPAN}-01.what`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['upper-case span', `00-${TRACE}-${SPAN.toUpperCase()}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a short span', `00-${TRACE}-${SPAN.slice(1)}-01`],
    ['a short flag', `00-${TRACE}-${SPAN}-1`],
    ['no flag', `00-${TRACE}-${SPAN}`],
    ['no hex', `00-${TRACE.replace('0', 'g')}-${SPAN}-01`],
    ['no hex version', `.0-${TRACE}-${SPAN}-01`],
    ['a blank before', ` 00-${TRACE}-${SPAN}-01`],
    ['a blank behind', `00-${TRACE}-${SPAN}-01 `],
    ['a line behind', `00-${TRACE}-${SPAN}-01\n`],
    ['two headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['other separators', `00_${TRACE}_${SPAN}_01`],
    ['a reserved word', '__proto__'],
    ['one that is very long', `cc-${TRACE}-${SPAN}-01-${'a'.repeat(300)}`],
  ])('is none: %s', (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })

  const hex = (length: number) =>
    fc
      .array(
        fc.integer({ min: 0, max: 15 }).map((digit) => digit.toString(16)),
        { minLength: length, maxLength: length },
      )
      .map((digits) => digits.join(''))

  it('reads whatever has the form, and nothing else', () => {
    const notZero = (text: string): boolean => /[^0]/.test(text)
    fc.assert(
      fc.property(
        hex(32).filter(notZero),
        hex(16).filter(notZero),
        hex(2),
        fc.nat(54),
        (traceId, spanId, flags, at) => {
          const text = `00-${traceId}-${spanId}-${flags}`
          const isSampled = (parseInt(flags, 16) & 1) === 1
          expect(parseTraceparent(text)).toEqual({ traceId, spanId, isSampled })
          // Any other character at any place makes none of it.
          expect(parseTraceparent(`${text.slice(0, at)}~${text.slice(at + 1)}`)).toBeUndefined()
        },
      ),
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseTraceparent(text)).toBeUndefined()
      }),
    )
  })
})
