// Tests what an edit of a trie with many mixed steps below one node shares with the trie before it, and their order.

import { describe, expect, it } from '@jest/globals'
import { editTrie, type TrieNode } from '../../../language/router/trie.ts'
import { compareMixed, type MixedSegment } from '../../../language/routes/mixed-segment.ts'

const COUNT = 4_000
const textsOf = (number: number): MixedSegment => ['', `.x${number}`]
/** Each number below COUNT once, in an order that is neither rising nor falling. */
const numbers = Array.from({ length: COUNT }, (_, index) => (index * 1_237) % COUNT)

type Trie = TrieNode<number> | undefined

const put = (trie: Trie, number: number, value = number): Trie =>
  editTrie(trie, { steps: [textsOf(number)], tail: false }, { owner: Symbol(), apply: () => value })
const remove = (trie: Trie, number: number): Trie =>
  editTrie(
    trie,
    { steps: [textsOf(number)], tail: false },
    { owner: Symbol(), apply: () => undefined },
  )

const childrenOf = (trie: Trie): readonly (number | undefined)[] =>
  (trie?.mixed ?? []).flat().map(({ node }) => node.leaf)
const inOrder = (held: readonly number[]): readonly number[] =>
  held.toSorted((a, b) => compareMixed(textsOf(a), textsOf(b)))

/** How many items of lists an edit has written. */
const copiedBy = (before: Trie, after: Trie): number => {
  const shared = new Set(before?.mixed)
  const lists = after?.mixed ?? []
  const fresh = lists.filter((list) => !shared.has(list))
  return lists.length + fresh.reduce((sum, { length }) => sum + length, 0)
}

describe('thousands of mixed steps below one node', () => {
  let trie: Trie
  const copied: number[] = []
  for (const number of numbers) {
    const before = trie
    trie = put(trie, number)
    copied.push(copiedBy(before, trie))
  }
  const full = trie

  it('are in the order of their precedence', () => {
    expect(childrenOf(full)).toEqual(inOrder(numbers))
  })

  it('are edited by copying few of them', () => {
    expect(Math.max(...copied)).toBeLessThanOrEqual(256)
    expect(copiedBy(full, put(full, 7, -1))).toBeLessThanOrEqual(256)
  })

  it('are replaced and removed without a change to the trie before', () => {
    expect(childrenOf(put(full, 7, -1))).toEqual(
      inOrder(numbers).map((each) => (each === 7 ? -1 : each)),
    )
    let rest = full
    for (const number of numbers.slice(0, -2)) rest = remove(rest, number)
    expect(childrenOf(rest)).toEqual(inOrder(numbers.slice(-2)))
    expect(rest?.mixed?.every(({ length }) => length > 0)).toBe(true)
    for (const number of numbers.slice(-2)) rest = remove(rest, number)
    expect(rest).toBeUndefined()
    expect(childrenOf(full)).toEqual(inOrder(numbers))
  })
})
