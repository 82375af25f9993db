import { describe, expect, it } from '@jest/globals'
import { createManualClock } from './manual-clock.ts'

describe('a manual clock', () => {
  it('calls back in order of time, then in the order of asking, and tells the time of each', () => {
    const clock = createManualClock({ startMs: 100 })
    const calls: string[] = []
    const note = (name: string) => () => calls.push(`${name} ${clock.now()}`)
    clock.after(20, note('b'))
    clock.after(10, note('a'))
    clock.after(20, note('c'))
    clock.after(21, note('later'))
    clock.advance(20)
    expect(calls).toEqual(['a 110', 'b 120', 'c 120'])
    expect([clock.now(), clock.pending, clock.nextInMs]).toEqual([120, 1, 1])
  })

  it('calls back what a callback asks for, where that falls due on the way', () => {
    const clock = createManualClock({ startMs: 0 })
    const times: number[] = []
    const again = (): void => {
      times.push(clock.now())
      clock.after(10, again)
    }
    clock.after(10, again)
    clock.advance(35)
    expect(times).toEqual([10, 20, 30])
  })

  it('does not call back what was cancelled', () => {
    const clock = createManualClock()
    const cancel = clock.after(1, () => {
      throw new Error('cancelled')
    })
    cancel()
    clock.advance(1)
    expect(clock.pending).toBe(0)
  })

  it('lets promises settle between callbacks where they are waited for', async () => {
    const clock = createManualClock({ startMs: 0 })
    const times: number[] = []
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
    const loop = async (): Promise<void> => {
      for (;;) {
        await wait(10)
        times.push(clock.now())
      }
    }
    void loop()
    await clock.run(30)
    expect(times).toEqual([10, 20, 30])
  })
})
