import { describe, expect, it } from '@jest/globals'
import { PacedTask } from '../../../operator/controller/paced-task.ts'
import { createManualClock } from '../../support/manual-clock.ts'

/** A task that takes so long, in a process that does nothing else. */
const aPacedTask = (takesMs: () => number) => {
  const clock = createManualClock({ startMs: 0 })
  const begun: number[] = []
  const setBack = { ms: 0 }
  const task = new PacedTask({ ...clock, now: () => clock.now() - setBack.ms }, () => {
    begun.push(clock.now())
    clock.advance(takesMs())
  })
  return { task, begun, setBack, clock }
}

describe('the pause after a task', () => {
  it.each([
    ['nothing', 0, 0],
    ['5 ms', 5, 10],
    ['100 ms', 100, 200],
    ['400 ms', 400, 800],
    ['so long that it is bounded', 5_000, 1_000],
  ])('that took %s', (_, takesMs, pauseMs) => {
    const { task, begun, clock } = aPacedTask(() => takesMs)
    task.request()
    expect(begun).toHaveLength(1)
    // All requests until the end of the pause are fulfilled together.
    for (let asked = 0; asked < 10; asked += 1) task.request()
    if (pauseMs === 0) return
    expect(begun).toHaveLength(1)
    clock.advance(pauseMs)
    expect(begun).toEqual([0, takesMs + pauseMs])
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
    // After the pause a request does not wait.
    task.request()
    expect(begun).toHaveLength(3)
  })

  it('leaves two thirds of the time to everything else, however many requests come', () => {
    const { task, begun, clock } = aPacedTask(() => 100)
    for (let tick = 0; tick < 3_000; tick += 1) {
      task.request()
      clock.advance(1)
    }
    expect(begun.length).toBeGreaterThan(5)
    begun.slice(1).forEach((atMs, index) => {
      expect(atMs - (begun[index] ?? 0)).toBeGreaterThanOrEqual(300)
    })
  })

  it('does not delay a caller that cannot wait, and a waiting request is fulfilled with that', () => {
    const { task, begun, clock } = aPacedTask(() => 100)
    task.request()
    task.request()
    task.runNow()
    expect(begun).toHaveLength(2)
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is made also after a task that failed, and ends without a run when the request is cancelled', () => {
    let isBroken = true
    const { task, begun, clock } = aPacedTask(() => {
      if (isBroken) throw new Error('broken')
      return 100
    })
    expect(() => {
      task.request()
    }).toThrow('broken')
    isBroken = false
    task.request()
    expect(begun).toHaveLength(2)
    task.request()
    task.cancel()
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is not longer when the clock is set back', () => {
    const { task, begun, setBack, clock } = aPacedTask(() => 100)
    task.request()
    setBack.ms = 50
    task.request()
    clock.advance(200)
    expect(begun).toHaveLength(2)
  })
})
