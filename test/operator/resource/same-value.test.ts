import { expect, it } from '@jest/globals'
import { isSameValue } from '../../../operator/resource/same-value.ts'

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

it.each<[string, unknown, unknown, boolean]>([
  ['the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }, true],
  ['another order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['another value', { a: [1] }, { a: [2] }, false],
  ['nothing and null', undefined, null, false],
  ['nested as deep as a document may be', nested(64), nested(64), true],
  ['nested deeper than a stack', nested(200_000), nested(200_000), false],
])('%s', (_, left, right, expected) => {
  expect(isSameValue(left, right)).toBe(expected)
})
