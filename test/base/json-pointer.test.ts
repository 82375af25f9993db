import { expect, it } from '@jest/globals'
import { childPointer, pointerKeys } from '../../base/json-pointer.ts'

// RFC 6901 §5, and what is easily mixed up.
it.each<[pointer: string, keys: readonly (string | number)[]]>([
  ['', []],
  ['/foo', ['foo']],
  ['/foo/0', ['foo', 0]],
  ['/', ['']],
  ['/a~1b', ['a/b']],
  ['/c%d', ['c%d']],
  ['/m~0n', ['m~n']],
  ['/~01', ['~1']],
  ['/~0~1/ /__proto__', ['~/', ' ', '__proto__']],
])('%j is the pointer of %j', (pointer, keys) => {
  expect(keys.reduce<string>((parent, key) => childPointer(parent, key), '')).toBe(pointer)
  expect(pointerKeys(pointer)).toEqual(keys.map(String))
})
