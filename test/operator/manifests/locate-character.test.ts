import { describe, expect, it } from '@jest/globals'
import { parseYaml } from '../../../operator/manifests/parse-yaml.ts'

/** Where the `X` of the value stands, as the parser has it, and as it is found from the value. */
const positions = (text: string): readonly unknown[] => {
  const parsed = parseYaml(text)
  if ('error' in parsed) throw new Error(parsed.error.message)
  const [document] = parsed.documents
  const { value } = document?.value as { readonly value: string }
  const lines = text.slice(0, text.indexOf('X')).split('\n')
  const expected = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
  return [document?.positionOf('/value', value.indexOf('X')), expected]
}

describe('a character of a text', () => {
  it.each([
    ['plain', 'value: abc X'],
    ['plain, in several lines', 'value: abc\n  def\n\n  X # comment'],
    ['in single quotes', "value: 'it''s X'"],
    ['in single quotes, in several lines', "value: 'a\n  b''\n  X'"],
    ['in double quotes', 'value: "a\\"\\t\\x41\\u0042\\U0001F600 \\/X"'],
    ['in double quotes, with an escaped line break', 'value: "abc\\\n  X"'],
    ['a block', 'value: |\n  abc\n    def\n\n  X\n'],
    ['a block whose first line is indented', 'value: |2-\n    abc\n  X'],
    ['a block with a comment', 'value: | # X? no\n  abc X\n'.replace('X?', 'x?')],
    ['a folded block', 'value: >-\n  abc\n  def\n\n  X'],
    ['with a tag and an anchor', 'value: !!str &a "b X"'],
    ['in a flow map', '{"value": "abc X"}'],
    ['with CRLF', 'other: 1\r\nvalue: |\r\n  abc\r\n  X\r\n'],
    ['behind a byte order mark', 'other: 1\nvalue: abc X'],
    ['beyond ASCII', 'value: "😀 ä X"'],
    ['behind an alias for another key', 'a: &a 1\nb: *a\nvalue: abc X'],
    ['of a map that is merged', 'x: &x\n  value: abc X\n<<: *x\n'],
  ])('%s', (_, text) => {
    const [found, expected] = positions(text)
    expect(found).toEqual(expected)
  })

  it.each([
    ['behind the end', 'value: abc', 99],
    ['of a number', 'value: 12', 1],
    ['of a map', 'value: {a: b}', 1],
    ['of an alias', 'a: &a abc\nvalue: *a', 2],
  ])('%s is at the beginning of the value', (_, text, offset) => {
    const parsed = parseYaml(text)
    const document = 'documents' in parsed ? parsed.documents[0] : undefined
    expect(document?.positionOf('/value', offset)).toEqual(document?.positionOf('/value'))
  })
})
