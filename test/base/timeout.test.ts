import { describe, expect, it } from '@jest/globals'
import { withTimeout } from '../../base/timeout.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { settled } from '../support/settled.ts'

const tooLate = (): never => {
  throw new Error('too late')
}

describe('withTimeout', () => {
  it('gives what the work comes to in time, and takes its timer away', async () => {
    const cancelled: number[] = []
    const clock = { after: (ms: number) => () => void cancelled.push(ms) }
    const work = Promise.resolve('done')
    expect(await withTimeout(work, { ms: 10, clock, onTimeout: tooLate })).toBe('done')
    expect(cancelled).toEqual([10])
  })

  it('rejects as the work does', async () => {
    const work = Promise.reject(new Error('broken'))
    const clock = createManualClock()
    await expect(withTimeout(work, { ms: 10, clock, onTimeout: tooLate })).rejects.toThrow('broken')
  })

  it.each([
    ['a value', () => 'instead', { value: 'instead' }],
    ['undefined', () => undefined, { value: undefined }],
    ['an error', tooLate, { error: 'too late' }],
  ])('after the time it comes to %s', async (_what, onTimeout, expected) => {
    const clock = createManualClock()
    const { promise, reject } = Promise.withResolvers<string>()
    const outcome = withTimeout<string, string | undefined>(promise, {
      ms: 10,
      clock,
      onTimeout,
    }).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: (error as Error).message }),
    )
    clock.advance(9)
    await settled()
    clock.advance(1)
    expect(await outcome).toEqual(expected)
    // Nothing waits any more: this must not be an unhandled rejection.
    reject(new Error('afterwards'))
    await settled()
  })

  it('takes the clock of the system where none is given', async () => {
    const never = new Promise<string>(() => undefined)
    expect(await withTimeout(never, { ms: 1, onTimeout: () => 'late' })).toBe('late')
  })
})
