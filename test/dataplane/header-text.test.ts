import { describe, expect, it } from '@jest/globals'
import { readHeaderText, writeHeaderText } from '../../dataplane/header-text.ts'

/** The bytes as Node has them. */
const latin1 = (...bytes: number[]): string => Buffer.from(bytes).toString('latin1')

describe('readHeaderText', () => {
  it.each([
    ['ASCII', 'plain; a="b"', 'plain; a="b"'],
    ['nothing', '', ''],
    ['UTF-8', latin1(0x5a, 0x6f, 0xc3, 0xab), 'Zoë'],
    ['UTF-8 beyond Latin-1', latin1(0xc5, 0x81), 'Ł'],
    ['Latin-1, which is not valid UTF-8', latin1(0x5a, 0x6f, 0xeb), 'Zoë'],
    ['neither, in part', latin1(0xc3, 0xab, 0xeb), latin1(0xc3, 0xab, 0xeb)],
  ])('%s', (_, value, text) => {
    expect(readHeaderText(value)).toBe(text)
  })
})

describe('writeHeaderText', () => {
  it.each([
    ['x-name', 'Zoe', 'Zoe'],
    ['x-name', 'Zoë', latin1(0x5a, 0x6f, 0xc3, 0xab)],
    ['x-name', 'Ł', latin1(0xc5, 0x81)],
    ['x-name', '\uD800', latin1(0xef, 0xbf, 0xbd)],
    ['location', '/п/%D0%BF?q=ë', '/%D0%BF/%D0%BF?q=%C3%AB'],
    ['content-location', '/ë\uD800', '/%C3%AB%EF%BF%BD'],
    ['location', '/a%2Fb?c', '/a%2Fb?c'],
  ])('%s: %s', (name, text, value) => {
    expect(writeHeaderText(name, text)).toBe(value)
  })

  it('what was read as UTF-8 is written as the same bytes', () => {
    const value = latin1(0xe2, 0x82, 0xac, 0x20, 0xf0, 0x9f, 0x98, 0x80)
    expect(writeHeaderText('x', readHeaderText(value))).toBe(value)
  })
})
