// How slowly a body may come, by a clock that the test moves.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { bodyDeadlines } from '../../dataplane/body-deadlines.ts'
import { BodyWatch, type BodyWatchOptions } from '../../dataplane/body-watch.ts'

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  // Its timer ends when it is empty.
  jest.advanceTimersByTime(20)
  jest.useRealTimers()
})

const HOUR_MS = 3_600_000
const SECOND_MS = 1000

/** What becomes of a body that comes in such chunks, `everyMs` apart; the time is that of the refusal, in seconds. */
const outcomeOf = (
  options: Partial<BodyWatchOptions>,
  chunks: { readonly bytes: number; readonly everyMs: number; readonly count: number },
): string => {
  let outcome = 'all has come'
  const watch = new BodyWatch({
    bounds: 'pause',
    limitMs: HOUR_MS,
    isScarce: () => true,
    onSlow: (slow) => (outcome = slow),
    ...options,
  })
  watch.start()
  for (let each = 0; each < chunks.count && outcome === 'all has come'; each++) {
    jest.advanceTimersByTime(chunks.everyMs)
    watch.received(chunks.bytes)
  }
  watch.stop()
  return outcome
}

const every = (everyMs: number, bytes: number, count: number) => ({ everyMs, bytes, count })

describe('a body', () => {
  it.each<[string, Partial<BodyWatchOptions>, ReturnType<typeof every>, string]>([
    ['comes at 1 KB/s', {}, every(SECOND_MS, 1000, 1000), 'all has come'],
    ['comes at 300 bytes per second', {}, every(10_000, 3000, 100), 'all has come'],
    ['comes at 200 bytes per second', {}, every(10_000, 2000, 100), 'rate'],
    ['is short and comes slowly', {}, every(29_000, 1, 1), 'all has come'],
    ['comes a byte at a time', {}, every(5_000, 1, 100), 'rate'],
    ['halts for 30 s behind a start', {}, every(30_000, 100_000, 3), 'all has come'],
    ['is a line every 10 s', { isScarce: () => false }, every(10_000, 80, 1000), 'all has come'],
    ['pauses for too long', { limitMs: 15_000 }, every(16_000, 100_000, 3), 'limit'],
    ['pauses for less', { limitMs: 15_000 }, every(14_000, 100_000, 30), 'all has come'],
    [
      'is late as a whole',
      { bounds: 'whole', limitMs: 15_000 },
      every(SECOND_MS, 100_000, 20),
      'limit',
    ],
    [
      'is whole in time',
      { bounds: 'whole', limitMs: 15_000 },
      every(SECOND_MS, 100_000, 15),
      'all has come',
    ],
    [
      'is slow as a whole',
      { bounds: 'whole', limitMs: HOUR_MS },
      every(SECOND_MS, 100, 1000),
      'rate',
    ],
  ])('that %s', (_, options, chunks, expected) => {
    expect(outcomeOf(options, chunks)).toBe(expected)
  })

  it('owes nothing while it is not read', () => {
    const told: string[] = []
    const watch = new BodyWatch({
      bounds: 'pause',
      limitMs: 15_000,
      isScarce: () => true,
      onSlow: (slow) => told.push(slow),
    })
    for (let each = 0; each < 30; each++) {
      watch.start()
      watch.start()
      jest.advanceTimersByTime(SECOND_MS)
      watch.stop()
      jest.advanceTimersByTime(HOUR_MS)
    }
    expect(told).toEqual([])
    watch.start()
    jest.advanceTimersByTime(10_000)
    expect([told, bodyDeadlines.size]).toEqual([['rate'], 0])
  })

  it('is refused from when slots are short, not before', () => {
    let isScarce = false
    const told: string[] = []
    const watch = new BodyWatch({
      bounds: 'pause',
      limitMs: HOUR_MS,
      isScarce: () => isScarce,
      onSlow: (slow) => told.push(slow),
    })
    watch.start()
    jest.advanceTimersByTime(600_000)
    expect(told).toEqual([])
    isScarce = true
    jest.advanceTimersByTime(6000)
    expect(told).toEqual(['rate'])
  })
})
