// Bounded polling.

import { expect, it } from '@jest/globals'
import { eventually } from './eventually.ts'

it('gives the value of the first check that passes', async () => {
  let runs = 0
  const value = await eventually(
    () => {
      runs += 1
      if (runs < 3) throw new Error('not yet')
      return runs
    },
    { everyMs: 1 },
  )
  expect(value).toBe(3)
})

it('throws the last failure when the time is up', async () => {
  const never = eventually(() => Promise.reject(new Error('never')), { withinMs: 10, everyMs: 1 })
  await expect(never).rejects.toThrow('never')
})

it('throws the last failure when it has looked so often', async () => {
  let runs = 0
  const never = eventually(
    () => {
      runs += 1
      throw new Error(`look ${runs}`)
    },
    { looks: 3, everyMs: 1 },
  )
  await expect(never).rejects.toThrow('look 3')
})
