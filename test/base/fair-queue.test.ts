import { describe, expect, it } from '@jest/globals'
import { FairQueue } from '../../base/fair-queue.ts'

/** Items are of the group of their first letter. */
const filled = (items: string): FairQueue<string> => {
  const queue = new FairQueue<string>()
  for (const item of items.split(' ').filter(Boolean)) queue.push(item.charAt(0), item)
  return queue
}

const drain = (queue: FairQueue<string>, prefers?: (group: string) => boolean): string => {
  const drained: string[] = []
  for (let item = queue.shift(prefers); item !== undefined; item = queue.shift(prefers))
    drained.push(item)
  return drained.join(' ')
}

describe('a fair queue', () => {
  it.each([
    ['of nothing', '', ''],
    ['keeps the order of a group', 'a1 a2 a3', 'a1 a2 a3'],
    ['lets groups take turns', 'a1 a2 a3 b1 b2 c1', 'a1 b1 c1 a2 b2 a3'],
    ['holds an item once', 'a1 a2 a1 b1', 'a1 b1 a2'],
    ['has no group by itself', 'constructor1 _1', 'constructor1 _1'],
  ])('%s', (_, items, order) => {
    const queue = filled(items)
    expect(queue.size).toBe(order.split(' ').filter(Boolean).length)
    expect([drain(queue), queue.size]).toEqual([order, 0])
  })

  it.each([
    ['that has any', 'b', 'b1 b2 a1 c1 a2'],
    ['that has none', 'x', 'a1 b1 c1 a2 b2'],
  ])('prefers a group %s', (_, preferred, order) => {
    expect(drain(filled('a1 a2 b1 b2 c1'), (group) => group === preferred)).toBe(order)
  })

  it('gives up an item, and the turn of a group that has no other', () => {
    const queue = filled('a1 a2 b3')
    const removed = ['a1', 'a1', 'b3', 'c3'].map((item) => queue.remove(item.charAt(0), item))
    expect(removed).toEqual([true, false, true, false])
    expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b')]).toEqual([1, 1, 0])
    expect(drain(queue)).toBe('a2')
  })

  it('puts a group that comes back behind the others', () => {
    const queue = filled('a1 b1 b2')
    expect(queue.shift()).toBe('a1')
    queue.push('a', 'a2')
    expect(drain(queue)).toBe('b1 a2 b2')
  })

  it('lets a group use its turn as it likes', () => {
    const queue = filled('a1 a2 b1')
    const group = queue.takeTurn() ?? ''
    expect([group, queue.oldest(group), queue.newest(group)]).toEqual(['a', 'a1', 'a2'])
    expect(queue.remove('a', 'a2')).toBe(true)
    expect(drain(queue)).toBe('b1 a1')
    expect([queue.takeTurn(), queue.oldest('a'), queue.newest('a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it.each<[string, string, ((group: string) => number) | undefined, string | undefined]>([
    ['none', '', undefined, undefined],
    ['the one with most', 'a1 b1 b2 c1', undefined, 'b'],
    ['of two the one whose turn is further away', 'a1 a2 b1 b2 c1', undefined, 'b'],
    ['of two the one that ranks higher', 'a1 a2 b1 b2', (group) => (group === 'a' ? 1 : 0), 'a'],
    ['no smaller one that ranks higher', 'a1 b1 b2', (group) => (group === 'a' ? 1 : 0), 'b'],
  ])('has as its longest group %s', (_, items, rankOf, longest) => {
    expect(filled(items).longest(rankOf)).toBe(longest)
  })

  it('has groups that are objects, each by itself', () => {
    const queue = new FairQueue<object, object>()
    const [one, other] = [{}, {}]
    queue.push(one, one)
    queue.push(other, other)
    expect([queue.shift(), queue.sizeOf(one), queue.shift()]).toEqual([one, 0, other])
  })
})
