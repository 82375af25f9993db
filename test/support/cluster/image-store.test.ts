import { expect, it } from '@jest/globals'
import { oldImages } from './image-store.ts'

const NOW_MS = Date.parse('2026-11-26T12:00:00Z')

const line = (id: string, time: string): string => `${id} ${time}.449129896 +0000 UTC`

it.each<[string, readonly string[], readonly string[]]>([
  ['there are none', [''], []],
  ['it is new', [line('a', '2026-11-24 12:00:01')], []],
  ['it is older than two days', [line('a', '2026-11-24 11:59:59')], ['a']],
  [
    'twelve are newer',
    Array.from({ length: 14 }, (_, i) => line(`i${i}`, `2026-11-26 ${10 + (i % 2)}:00:${10 + i}`)),
    ['i2', 'i0'],
  ],
])('an image without a name is old where %s', (_, lines, expected) => {
  expect(oldImages(lines, NOW_MS)).toEqual(expected)
})
