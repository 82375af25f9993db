import { describe, expect, it } from '@jest/globals'
import { Pace } from '../../../operator/controller/pace.ts'
import { createManualClock } from '../../support/manual-clock.ts'

/** Work that takes so long, in a process that does nothing else. */
const aPace = (takesMs: () => number) => {
  const clock = createManualClock({ startMs: 0 })
  const begun: number[] = []
  const setBack = { ms: 0 }
  const pace = new Pace({ ...clock, now: () => clock.now() - setBack.ms }, () => {
    begun.push(clock.now())
    clock.advance(takesMs())
  })
  return { pace, begun, setBack, clock }
}

describe('the pause after a piece of work', () => {
  it.each([
    ['nothing', 0, 0],
    ['5 ms', 5, 10],
    ['100 ms', 100, 200],
    ['400 ms', 400, 800],
    ['so long that it is bounded', 5_000, 1_000],
  ])('that took %s', (_, takesMs, pauseMs) => {
    const { pace, begun, clock } = aPace(() => takesMs)
    pace.ask()
    expect(begun).toHaveLength(1)
    // All who ask meanwhile are served together.
    for (let asked = 0; asked < 10; asked += 1) pace.ask()
    if (pauseMs === 0) return
    expect(begun).toHaveLength(1)
    clock.advance(pauseMs)
    expect(begun).toEqual([0, takesMs + pauseMs])
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
    // After the pause nobody waits.
    pace.ask()
    expect(begun).toHaveLength(3)
  })

  it('leaves two thirds of the time to all else, whoever asks without end', () => {
    const { pace, begun, clock } = aPace(() => 100)
    for (let tick = 0; tick < 3_000; tick += 1) {
      pace.ask()
      clock.advance(1)
    }
    expect(begun.length).toBeGreaterThan(5)
    begun.slice(1).forEach((atMs, index) => {
      expect(atMs - (begun[index] ?? 0)).toBeGreaterThanOrEqual(300)
    })
  })

  it('holds nobody up who can not wait, and whoever has asked is served with it', () => {
    const { pace, begun, clock } = aPace(() => 100)
    pace.ask()
    pace.ask()
    pace.now()
    expect(begun).toHaveLength(2)
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is made also after work that failed, and ends when it is stopped', () => {
    let isBroken = true
    const { pace, begun, clock } = aPace(() => {
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
    clock.advance(10_000)
    expect(begun).toHaveLength(2)
  })

  it('is no longer where the clock is set back', () => {
    const { pace, begun, setBack, clock } = aPace(() => 100)
    pace.ask()
    setBack.ms = 50
    pace.ask()
    clock.advance(200)
    expect(begun).toHaveLength(2)
  })
})
