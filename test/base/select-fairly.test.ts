import { describe, expect, it } from '@jest/globals'
import { selectFairly } from '../../base/select-fairly.ts'

/** `'a3 b1'`: three of kind a, then one of kind b. */
const itemsOf = (text: string): readonly string[] =>
  text
    .split(' ')
    .flatMap((group) =>
      Array.from({ length: Number(group.slice(1)) }, (_, i) => `${group.charAt(0)}${i + 1}`),
    )

describe('a selection', () => {
  it.each<[string, number, string]>([
    ['a2 b1', 3, 'a1 a2 b1'],
    ['a9 b1', 4, 'a1 a2 a3 b1'],
    ['b1 a9', 4, 'b1 a1 a2 a3'],
    ['a9 b9', 4, 'a1 a2 b1 b2'],
    ['a9 b2 c9', 8, 'a1 a2 a3 b1 b2 c1 c2 c3'],
    ['a9 b9 c9', 2, 'b1 c1'],
    ['a2 b2', 0, ''],
  ])('of %s has at most %i items, fairly by kind: %s', (items, maxItems, expected) => {
    const selected = selectFairly(itemsOf(items), maxItems, (item) => item.charAt(0))
    expect(selected.join(' ')).toBe(expected)
  })

  it('is the list itself where that is short enough', () => {
    const items = itemsOf('a2 b1')
    expect(selectFairly(items, 3, (item) => item)).toBe(items)
  })
})
