import { afterEach, describe, expect, it } from '@jest/globals'
import {
  afterRound,
  NO_STREAK,
  RoundLoop,
  type RoundLoopOptions,
  type RoundStreak,
} from '../../../operator/fleet/round-loop.ts'
import type { RoundResult } from '../../../operator/fleet/sync/plane-memory.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const result = (next: RoundResult['next']): RoundResult => ({ phase: 'synced', message: '', next })

describe('after a round that', () => {
  it.each<[string, RoundStreak, RoundResult['next'], string, RoundStreak]>([
    ['ended well, the next one is a poll', NO_STREAK, 'poll', 'poll', NO_STREAK],
    [
      'ended well after failures, these are forgotten',
      { failures: 3, moved: 0 },
      'poll',
      'poll',
      NO_STREAK,
    ],
    ['failed, it waits', NO_STREAK, 'back_off', 'back_off', { failures: 1, moved: 0 }],
    [
      'failed again, it waits longer',
      { failures: 1, moved: 2 },
      'back_off',
      'back_off',
      { failures: 2, moved: 0 },
    ],
    ['left something newer to send', { failures: 1, moved: 1 }, 'again', 'at_once', NO_STREAK],
    ['found a change', NO_STREAK, 'moved', 'at_once', { failures: 0, moved: 1 }],
    [
      'found the third change in a row',
      { failures: 0, moved: 2 },
      'moved',
      'at_once',
      { failures: 0, moved: 3 },
    ],
    [
      'found the fourth, that counts as a failure',
      { failures: 0, moved: 3 },
      'moved',
      'back_off',
      { failures: 1, moved: 4 },
    ],
    [
      'found one more, that counts as another failure',
      { failures: 1, moved: 4 },
      'moved',
      'back_off',
      { failures: 2, moved: 5 },
    ],
  ])('%s', (...[, before, wanted, next, streak]) => {
    expect(afterRound(before, wanted)).toEqual({ next, streak })
  })
})

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A loop whose rounds end when the test says so. */
const aLoop = (more: Partial<RoundLoopOptions> = {}) => {
  const clock = createManualClock()
  const ends: ((result: RoundResult) => void)[] = []
  const results: string[] = []
  const permits = { given: 0, back: 0 }
  const loop = new RoundLoop({
    clock,
    acquirePermit: () => {
      permits.given += 1
      return Promise.resolve(() => {
        permits.back += 1
      })
    },
    urgency: () => 0,
    pollMs: 5_000,
    patienceMs: 2_000,
    isStarting: () => false,
    runRound: () => new Promise((resolve) => ends.push(resolve)),
    onThrown: () => result('back_off'),
    onResult: ({ next }) => results.push(next),
    ...more,
  })
  const end = async (next: RoundResult['next']): Promise<void> => {
    ends.at(-1)?.(result(next))
    await clock.run(0)
  }
  const start = async (): Promise<void> => {
    loop.start()
    await clock.run(0)
  }
  closing.push(async () => {
    const ended = loop.stop(new Error('the test is over'))
    for (const each of ends) each(result('poll'))
    await ended
  })
  return { loop, clock, results, permits, start, end, rounds: () => ends.length }
}

describe('a loop of rounds', () => {
  it('runs none before it is started, and one at a time after that', async () => {
    const { loop, clock, rounds, start } = aLoop()
    loop.wake()
    await clock.run(60_000)
    expect(rounds()).toBe(0)
    await start()
    loop.start()
    loop.wake()
    await clock.run(60_000)
    expect(rounds()).toBe(1)
  })

  it('polls when nothing changes', async () => {
    const { clock, rounds, start, end } = aLoop()
    await start()
    await end('poll')
    await clock.run(4_000)
    expect(rounds()).toBe(1)
    await clock.run(2_000)
    expect(rounds()).toBe(2)
  })

  it.each([
    ['while it waits for the next poll', true],
    ['while a round is under way', false],
  ])('runs at once when something changes %s', async (_title, isWaiting) => {
    const { loop, clock, rounds, start, end } = aLoop()
    await start()
    if (isWaiting) await end('poll')
    loop.wake()
    if (!isWaiting) await end('poll')
    await clock.run(0)
    expect(rounds()).toBe(2)
    expect(loop.hasChanged).toBe(false)
  })

  it('does not end a back-off because something changes', async () => {
    const { loop, clock, rounds, start, end } = aLoop()
    await start()
    await end('back_off')
    loop.wake()
    await clock.run(0)
    expect(rounds()).toBe(1)
    expect(loop.hasChanged).toBe(true)
    await clock.run(60_000)
    expect(rounds()).toBe(2)
  })

  it('tries a data plane that starts again within a second, however often it has failed', async () => {
    const { clock, rounds, start, end } = aLoop({ isStarting: () => true })
    await start()
    for (let failures = 1; failures < 10; failures += 1) {
      await end('back_off')
      await clock.run(1_000)
      expect(rounds()).toBe(failures + 1)
    }
  })

  it('is failing until the data plane responds', async () => {
    const { loop, clock, start, end } = aLoop()
    await start()
    expect(loop.isFailing).toBe(false)
    await end('back_off')
    expect(loop.isFailing).toBe(true)
    await clock.run(60_000)
    expect(loop.isFailing).toBe(true)
    loop.noteResponse()
    expect(loop.isFailing).toBe(false)
  })

  it('gives back the permit of a round that receives nothing for a while', async () => {
    const { loop, clock, permits, start } = aLoop()
    await start()
    await clock.run(1_500)
    loop.noteResponse()
    await clock.run(1_500)
    expect(permits).toEqual({ given: 1, back: 0 })
    await clock.run(1_000)
    expect(permits).toEqual({ given: 1, back: 1 })
  })

  it('goes on after a round that has thrown', async () => {
    const { clock, results, start } = aLoop({
      runRound: () => Promise.reject(new Error('a bug')),
    })
    await start()
    await clock.run(60_000)
    expect(results.length).toBeGreaterThan(1)
    expect(new Set(results)).toEqual(new Set(['back_off']))
  })
})

describe('a loop that is stopped', () => {
  it.each<[string, RoundResult['next'] | undefined]>([
    ['while it waits for the next poll', 'poll'],
    ['while it backs off', 'back_off'],
    ['before it was started', undefined],
  ])('%s ends at once', async (_title, next) => {
    const { loop, clock, rounds, start, end } = aLoop()
    if (next !== undefined) {
      await start()
      await end(next)
    }
    const before = rounds()
    await loop.stop(new Error('no longer needed'))
    expect(loop.signal.aborted).toBe(true)
    loop.wake()
    await clock.run(60_000)
    expect(rounds()).toBe(before)
    expect(clock.pending).toBe(0)
  })

  it('while a round is under way ends with it, and ignores its result', async () => {
    const { loop, clock, results, permits, start, end } = aLoop()
    await start()
    const state = { hasEnded: false }
    const ended = loop.stop(new Error('no longer needed')).then(() => {
      state.hasEnded = true
    })
    await clock.run(0)
    expect(state.hasEnded).toBe(false)
    await end('poll')
    await ended
    expect(results).toEqual([])
    expect(permits.back).toBeGreaterThan(0)
  })

  it('while it waits for a permit gives back what it is given after that', async () => {
    let give: (release: () => void) => void = () => undefined
    let released = 0
    const { loop, clock, start, end } = aLoop({
      acquirePermit: () =>
        new Promise((resolve) => {
          give = resolve
        }),
    })
    await start()
    const ended = loop.stop(new Error('no longer needed'))
    give(() => {
      released += 1
    })
    await clock.run(0)
    await end('poll')
    await ended
    expect(released).toBeGreaterThan(0)
  })

  it('by the listener of its results waits for no poll', async () => {
    const stopped: Promise<void>[] = []
    const { loop, start, end } = aLoop({
      onResult: () => {
        stopped.push(loop.stop(new Error('no longer needed')))
      },
    })
    await start()
    await end('poll')
    await Promise.all(stopped)
    expect(stopped).toHaveLength(1)
  })
})
