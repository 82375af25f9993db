import { describe, expect, it } from '@jest/globals'
import {
  printable,
  printableInColour,
  printableLine,
  printableMessage,
} from '../../telemetry/printable.ts'

describe('printable', () => {
  it.each([
    ['text, letters of all scripts, tabs and line feeds', 'a é 漢 ع\t1\n2\n', 'a é 漢 ع\t1\n2\n'],
    ['a command of a terminal', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['a colour', '\u001b[33ma', '\\u001b[33ma'],
    ['a command of one character (C1)', 'a\u009b2J', 'a\\u009b2J'],
    [
      'carriage return, bell, backspace, delete',
      'a\r\u0007\b\u007f',
      'a\\u000d\\u0007\\u0008\\u007f',
    ],
    ['marks of direction', '\u202ea\u2066\u200f', '\\u202ea\\u2066\\u200f'],
    ['characters of no width', 'a\u200b\u200d\ufeff\u00ad', 'a\\u200b\\u200d\\ufeff\\u00ad'],
    ['separators of lines', 'a\u2028\u2029\u0085', 'a\\u2028\\u2029\\u0085'],
    ['tags beyond the first plane', '\u{e0041}', '\\udb40\\udc41'],
    ['half of a pair', 'a\ud800b', 'a\\ud800b'],
    ['a whole pair', '\u{1f600}', '\u{1f600}'],
  ])('of %s', (_title, text, expected) => {
    expect(printable(text)).toBe(expected)
  })

  it('is the same JSON', () => {
    const value = { ['\u202e\u009b']: '\u001b\u2028\u{e0041}' }
    expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value)
  })
})

it('in colour leaves the colours of our own lines, and nothing else', () => {
  const text = '\u001b[1;31ma\u001b[5m\u001b[2Jb\u001b[0m'
  expect(printableInColour(text)).toBe('\u001b[1;31ma\\u001b[5m\\u001b[2Jb\u001b[0m')
})

it('a line, and a message, have no line feed within', () => {
  expect(printableLine('a\nb\r')).toBe('a b\\u000d')
  expect(printableMessage('a\nb\n')).toBe('a b\n')
  expect(printableMessage('a')).toBe('a\n')
})
