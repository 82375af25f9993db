import { expect, it } from '@jest/globals'
import { mergeVary } from '../../../../dataplane/http/response/vary.ts'

it.each([
  [['origin'], 'origin'],
  [['Accept-Encoding', 'origin'], 'Accept-Encoding, origin'],
  [['accept, Origin', 'ORIGIN', 'cookie'], 'accept, Origin, cookie'],
  [['accept', '*'], '*'],
  [['a, * ,b'], '*'],
  [[' ,a,, '], 'a'],
])('Vary of %j is %j', (values, merged) => {
  expect(mergeVary(values)).toBe(merged)
})
