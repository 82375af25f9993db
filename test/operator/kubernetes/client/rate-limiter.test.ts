import { describe, expect, it } from '@jest/globals'
import { createRateLimiter } from '../../../../operator/kubernetes/client/rate-limiter.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

describe('turns of requests', () => {
  const taking = (count: number) => {
    const clock = createManualClock()
    const limiter = createRateLimiter({ perSecond: 10, burst: 3, clock })
    const stopping = new AbortController()
    const taken: number[] = []
    const refused: unknown[] = []
    for (let turn = 0; turn < count; turn += 1) {
      limiter.admit(stopping.signal).then(
        () => taken.push(turn),
        (error: unknown) => refused.push(error),
      )
    }
    return { clock, taken, refused, stopping, limiter }
  }

  it('come in order: a burst, then so many a second', async () => {
    const { clock, taken } = taking(8)
    await clock.run(0)
    expect(taken).toEqual([0, 1, 2])
    await clock.run(250)
    expect(taken).toEqual([0, 1, 2, 3, 4])
    await clock.run(750)
    expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('do not add up beyond the burst', async () => {
    const { clock, taken, limiter, stopping } = taking(0)
    await clock.run(60_000)
    for (let turn = 0; turn < 5; turn += 1) {
      void limiter.admit(stopping.signal).then(() => taken.push(turn))
    }
    await clock.run(1)
    expect(taken).toEqual([0, 1, 2])
  })

  it('are given up with the reason of the signal, and leave no gap', async () => {
    const { clock, taken, refused, stopping, limiter } = taking(5)
    await clock.run(1)
    stopping.abort(new Error('enough'))
    await clock.run(1)
    expect(refused).toEqual([new Error('enough'), new Error('enough')])
    await expect(limiter.admit(stopping.signal)).rejects.toThrow('enough')
    void limiter.admit(new AbortController().signal).then(() => taken.push(9))
    await clock.run(198)
    expect(taken).toEqual([0, 1, 2, 9])
  })

  it('are taken by groups in turns, the operator itself has every other one', async () => {
    const { clock, limiter, stopping } = taking(0)
    const taken: string[] = []
    const ask = (name: string, count: number, group?: string): void => {
      for (let turn = 0; turn < count; turn += 1)
        limiter.admit(stopping.signal, group).then(
          () => taken.push(`${name}${turn}`),
          () => undefined,
        )
    }
    ask('a', 5_000, 'hostile')
    ask('b', 2, 'shop')
    ask('own', 3)
    await clock.run(700)
    expect(taken.join(' ')).toBe('a0 a1 a2 own0 a3 own1 b0 own2 a4 b1')
    stopping.abort(new Error('enough'))
    void limiter.admit(new AbortController().signal, 'shop').then(() => taken.push('after'))
    await clock.run(100)
    expect(taken.at(-1)).toBe('after')
  })
})
