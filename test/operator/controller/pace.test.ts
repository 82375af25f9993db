import { describe, expect, it } from '@jest/globals'
import type { Clock } from '../../../operator/clock.ts'
import { Pace } from '../../../operator/controller/pace.ts'

/** Work that takes so long, in a process that does nothing else: what falls due meanwhile comes late. */
const aPace = (takesMs: () => number) => {
  const time = { nowMs: 0 }
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>()
  const begun: number[] = []
  const clock: Clock = {
    now: () => time.nowMs,
    random: () => 0.5,
    after: (ms, run) => {
      const timer = { atMs: time.nowMs + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const pace = new Pace(clock, () => {
    begun.push(time.nowMs)
    time.nowMs += takesMs()
  })
  const pass = (ms: number): void => {
    const untilMs = time.nowMs + ms
    for (;;) {
      const [next] = [...timers].sort((left, right) => left.atMs - right.atMs)
      if (next === undefined || next.atMs > untilMs) break
      timers.delete(next)
      time.nowMs = Math.max(time.nowMs, next.atMs)
      next.run()
    }
    time.nowMs = Math.max(time.nowMs, untilMs)
  }
  return { pace, begun, time, pass }
}

describe('the pause after a piece of work', () => {
  it.each([
    ['nothing', 0, 0],
    ['5 ms', 5, 10],
    ['100 ms', 100, 200],
    ['400 ms', 400, 800],
    ['so long that it is bounded', 5_000, 1_000],
  ])('that took %s', (_, takesMs, pauseMs) => {
    const { pace, begun, pass } = aPace(() => takesMs)
    pace.ask()
    expect(begun).toHaveLength(1)
    // All who ask meanwhile are served together.
    for (let asked = 0; asked < 10; asked += 1) pace.ask()
    if (pauseMs === 0) return
    expect(begun).toHaveLength(1)
    pass(pauseMs)
    expect(begun).toEqual([0, takesMs + pauseMs])
    pass(10_000)
    expect(begun).toHaveLength(2)
    // After the pause nobody waits.
    pace.ask()
    expect(begun).toHaveLength(3)
  })

  it('leaves two thirds of the time to all else, whoever asks without end', () => {
    const { pace, begun, pass } = aPace(() => 100)
    for (let tick = 0; tick < 3_000; tick += 1) {
      pace.ask()
      pass(1)
    }
    expect(begun.length).toBeGreaterThan(5)
    begun.slice(1).forEach((atMs, index) => {
      expect(atMs - (begun[index] ?? 0)).toBeGreaterThanOrEqual(300)
    })
  })

  it('holds nobody up who can not wait, and whoever has asked is served with it', () => {
    const { pace, begun, pass } = aPace(() => 100)
    pace.ask()
    pace.ask()
    pace.now()
    expect(begun).toHaveLength(2)
    pass(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is made also after work that failed, and ends when it is stopped', () => {
    let isBroken = true
    const { pace, begun, pass } = aPace(() => {
      if (isBroken) throw new Error('broken')
      return 100
    })
    expect(() => {
      pace.ask()
    }).toThrow('broken')
    isBroken = false
    pace.ask()
    expect(begun).toHaveLength(2)
    pace.ask()
    pace.stop()
    pass(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is no longer where the clock is set back', () => {
    const { pace, begun, time, pass } = aPace(() => 100)
    pace.ask()
    time.nowMs -= 50
    pace.ask()
    pass(200)
    expect(begun).toHaveLength(2)
  })
})
