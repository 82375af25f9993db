import { expect, it } from '@jest/globals'
import { FairQueue } from '../../compiler/fair-queue.ts'

const drain = (queue: FairQueue<string>): string => {
  let drained = ''
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) drained += item
  return drained
}

it.each([
  ['nothing', '', ''],
  ['one group keeps its order', 'abc', 'abc'],
  ['groups take turns', 'aaaBBc', 'aBcaBa'],
  ['whoever comes later waits for one of each', 'aaaabbbbC', 'abCababab'],
])('%s', (_, items, expected) => {
  const queue = new FairQueue<string>()
  for (const item of items) queue.push(item, item)
  expect(drain(queue)).toBe(expected)
})

it('gives up an item, and the turn of a group that has no other', () => {
  const queue = new FairQueue<string>()
  queue.push('a', '1')
  queue.push('a', '2')
  queue.push('b', '3')
  expect([queue.remove('a', '1'), queue.remove('a', '1'), queue.remove('b', '3')]).toEqual([
    true,
    false,
    true,
  ])
  expect(queue.remove('c', '3')).toBe(false)
  expect(drain(queue)).toBe('2')
})
