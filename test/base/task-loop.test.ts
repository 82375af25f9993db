// Work that is done again and again, on a clock in our hand.

import { describe, expect, it } from '@jest/globals'
import { TaskLoop } from '../../base/task-loop.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { settled } from '../support/settled.ts'

const aWorld = (responses: readonly (number | 'failed' | undefined)[]) => {
  const clock = createManualClock()
  const startMs = clock.now()
  const begun: number[] = []
  const gates: (() => void)[] = []
  const state = { isGated: false }
  const loop = new TaskLoop(clock, async () => {
    begun.push(clock.now() - startMs)
    if (state.isGated) await new Promise<void>((open) => void gates.push(open))
    return responses[begun.length - 1]
  })
  return { clock, begun, gates, state, loop }
}

describe('a task loop', () => {
  it('come again after the time that the last one names', async () => {
    const { clock, begun, loop } = aWorld([1000, 500, undefined])
    loop.trigger()
    for (let at = 0; at < 30; at += 1) {
      await settled()
      clock.advance(100)
    }
    expect(begun).toEqual([0, 1000, 1500])
  })

  it('pause for longer and longer while they fail, and start with a short pause again after one that does not', async () => {
    const { clock, begun, loop } = aWorld(['failed', 'failed', 'failed', 100, 'failed', 'failed'])
    loop.trigger()
    for (let at = 0; at < 60; at += 1) {
      await settled()
      clock.advance(100)
    }
    // 400, 800 and 1600 ms, of which three quarters are waited by this clock's chance.
    expect(begun.slice(0, 6)).toEqual([0, 300, 900, 2100, 2200, 2500])
  })

  it('are never two at a time, nor beside another task', async () => {
    const { begun, gates, state, loop } = aWorld([1000, 1000])
    state.isGated = true
    loop.trigger()
    loop.trigger()
    let hasRun = false
    const task = loop.exclusively(() => {
      hasRun = true
      return Promise.resolve()
    })
    await settled()
    expect([begun.length, hasRun]).toEqual([1, false])
    gates.shift()?.()
    await settled()
    expect([begun.length, hasRun]).toEqual([2, false])
    gates.shift()?.()
    await task
    expect(hasRun).toBe(true)
  })

  it('leave no turn behind while they pause', async () => {
    const { clock, begun, loop } = aWorld([1000, 1000])
    loop.trigger()
    await settled()
    loop.pause()
    clock.advance(5000)
    await settled()
    expect([begun.length, clock.pending]).toEqual([1, 0])
  })

  it('end with what is under way', async () => {
    const { clock, begun, gates, state, loop } = aWorld([1000])
    state.isGated = true
    loop.trigger()
    await settled()
    loop.trigger()
    const stopped = loop.stop()
    gates.shift()?.()
    await stopped
    expect([begun.length, clock.pending]).toEqual([1, 0])
  })
})
