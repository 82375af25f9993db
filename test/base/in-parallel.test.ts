import { expect, it } from '@jest/globals'
import { inParallel } from '../../base/in-parallel.ts'
import { settled } from '../support/settled.ts'

it.each([
  ['few at a time', [1, 2, 3, 4, 5, 6], 2, 2],
  ['as many as there are', [1, 2], 10, 2],
  ['nothing', [], 10, 0],
])('does %s', async (_, items, width, expected) => {
  let running = 0
  let most = 0
  const done: number[] = []
  await inParallel(items, width, async (item) => {
    most = Math.max(most, ++running)
    await settled()
    running -= 1
    done.push(item)
  })
  expect([done, most]).toEqual([items, expected])
})

it.each([
  ['rejects', () => Promise.reject(new Error('two'))],
  [
    'throws',
    () => {
      throw new Error('two')
    },
  ],
])('starts nothing after one that %s, and awaits what has begun', async (_, fail) => {
  const log: string[] = []
  const work = inParallel([1, 2, 3, 4], 2, async (item) => {
    log.push(`${item} begins`)
    if (item === 2) await fail()
    await settled()
    log.push(`${item} ends`)
  })
  await expect(work).rejects.toThrow('two')
  expect(log).toEqual(['1 begins', '2 begins', '1 ends'])
})
