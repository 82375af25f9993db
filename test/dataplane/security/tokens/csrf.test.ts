import { describe, expect, it } from '@jest/globals'
import { csrfValueOf, isCsrfRight } from '../../../../dataplane/security/tokens/csrf.ts'

const KEY = { csrfKey: Buffer.alloc(32, 3) }
const RIGHT = csrfValueOf(KEY, 'ticket-1')
const OTHER = csrfValueOf(KEY, 'ticket-2')

describe('csrfValueOf', () => {
  it('has the shape of a UUID and belongs to one ticket and key', () => {
    expect(RIGHT).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(csrfValueOf(KEY, 'ticket-1')).toBe(RIGHT)
    expect(OTHER).not.toBe(RIGHT)
    expect(csrfValueOf({ csrfKey: Buffer.alloc(32, 4) }, 'ticket-1')).not.toBe(RIGHT)
  })
})

describe('isCsrfRight', () => {
  it.each<[string, readonly string[], string | undefined, boolean]>([
    ['header, cookie and ticket', [RIGHT], RIGHT, true],
    ['no header', [], RIGHT, false],
    ['an empty header', [''], RIGHT, false],
    ['an empty header and cookie', [''], '', false],
    ['two headers', [RIGHT, RIGHT], RIGHT, false],
    ['another value', [OTHER], RIGHT, false],
    ['no cookie', [RIGHT], undefined, false],
    ['another cookie', [RIGHT], OTHER, false],
    ['made-up values that are equal', [OTHER], OTHER, false],
    ['other letters', [RIGHT.toUpperCase()], RIGHT.toUpperCase(), false],
    ['one character more', [`${RIGHT}0`], `${RIGHT}0`, false],
    ['as many characters, more bytes', ['é'.repeat(36)], 'é'.repeat(36), false],
  ])('%s', (_, headers, cookie, expected) => {
    expect(isCsrfRight({ headers, cookie }, RIGHT)).toBe(expected)
  })
})
