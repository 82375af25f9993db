import { describe, expect, it } from '@jest/globals'
import { createLineReader } from '../../../../operator/kubernetes/client/lines.ts'

const TEXT = '{"a":"ä€😀"}\n\n{"constructor":1}\r\n{"__proto__":2}\n'
const LINES = ['{"a":"ä€😀"}', '{"constructor":1}\r', '{"__proto__":2}']

describe('lines of a stream', () => {
  it('are the same wherever its pieces end', () => {
    const bytes = Buffer.from(TEXT)
    for (let size = 1; size <= bytes.length; size += 1) {
      const reader = createLineReader(100)
      const lines: string[] = []
      for (let from = 0; from < bytes.length; from += size) {
        lines.push(...reader.push(bytes.subarray(from, from + size)))
      }
      expect({ size, lines, hasRest: reader.hasRest }).toEqual({
        size,
        lines: LINES,
        hasRest: false,
      })
    }
  })

  it('that are not at their end are kept, and reported', () => {
    const reader = createLineReader(100)
    expect(reader.push(Buffer.from('{"a"'))).toEqual([])
    expect(reader.hasRest).toBe(true)
    expect(reader.push(Buffer.from(':1}\n{'))).toEqual(['{"a":1}'])
    expect(reader.hasRest).toBe(true)
  })

  it.each([
    ['in one piece', ['12345678901\n']],
    ['in many pieces', ['123456', '78901\n']],
    ['without an end', ['1234567', '8901']],
  ])('that are too long are refused %s', (_, pieces) => {
    const reader = createLineReader(10)
    expect(() => {
      for (const piece of pieces) reader.push(Buffer.from(piece))
    }).toThrow(RangeError)
  })

  it('may be as long as the bound', () => {
    expect(createLineReader(10).push(Buffer.from('1234567890\n'))).toEqual(['1234567890'])
  })

  it('that are no UTF-8 are refused', () => {
    expect(() => createLineReader(10).push(Buffer.of(0xc3, 0x28, 0x0a))).toThrow('not valid')
  })
})
