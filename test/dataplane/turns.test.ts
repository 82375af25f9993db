import { describe, expect, it } from '@jest/globals'
import { createTurns } from '../../dataplane/turns.ts'

/** Pauses that end when a test lets them, and work that takes as long as it says. */
const setUp = () => {
  let time = 0
  const pauses: { readonly ms: number; readonly callback: () => void }[] = []
  const done: string[] = []
  const turns = createTurns({
    now: () => time,
    pause: (ms, callback) => {
      pauses.push({ ms, callback })
    },
  })
  const ask = (document: string, name: string, ms = 1): void => {
    askForPieces(document, [name], ms)
  }
  const askForPieces = (document: string, names: readonly string[], ms = 1): void => {
    const left = [...names]
    turns.run(document, () => {
      time += ms
      done.push(left.shift() ?? 'nothing')
      return left.length > 0
    })
  }
  /** @returns how long the pause was that has ended; undefined: nothing waits */
  const endPause = (): number | undefined => {
    expect(pauses.length).toBeLessThanOrEqual(1)
    const pause = pauses.pop()
    pause?.callback()
    return pause?.ms
  }
  return { turns, ask, askForPieces, done, endPause }
}

describe('createTurns', () => {
  it('does one piece at a time, later', () => {
    const { ask, done, endPause } = setUp()
    for (const name of ['a', 'b', 'c']) ask('one', name)
    for (const expected of [[], ['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      expect(done).toEqual(expected)
      expect(endPause()).toBe(0)
    }
    expect(endPause()).toBeUndefined()
    ask('one', 'd')
    expect(endPause()).toBe(0)
    expect(done).toEqual(['a', 'b', 'c', 'd'])
  })

  it('serves documents in turn, whatever one asks for', () => {
    const { ask, done, endPause } = setUp()
    for (let at = 0; at < 5; at++) ask('busy', `busy ${at}`)
    ask('other', 'other 0')
    ask('third', 'third 0')
    ask('other', 'other 1')
    for (let at = 0; at < 8; at++) endPause()
    expect(done).toEqual([
      'busy 0',
      'other 0',
      'third 0',
      'busy 1',
      'other 1',
      'busy 2',
      'busy 3',
      'busy 4',
    ])
  })

  it('ends one thing of a document before it begins the next, with those of others in between', () => {
    const { ask, askForPieces, done, endPause } = setUp()
    askForPieces('one', ['a 1', 'a 2', 'a 3'])
    ask('one', 'b')
    askForPieces('two', ['c 1', 'c 2'])
    for (let at = 0; at < 7; at++) endPause()
    expect(done).toEqual(['a 1', 'c 1', 'a 2', 'c 2', 'a 3', 'b'])
  })

  it.each([
    [1, 0],
    [5, 0],
    [6, 6],
    [50, 50],
    [600, 200],
  ])('leaves time to others after a piece of %d ms: %d ms', (ms, rest) => {
    const { ask, done, endPause } = setUp()
    ask('one', 'long', ms)
    expect(endPause()).toBe(0)
    // Also for what comes meanwhile.
    ask('two', 'next')
    expect(done).toEqual(['long'])
    expect(endPause()).toBe(rest)
    expect(done).toEqual(['long', 'next'])
  })

  it('goes on after work that fails', () => {
    const { turns, ask, done, endPause } = setUp()
    turns.run('one', () => {
      throw new Error('a bug')
    })
    ask('one', 'next')
    expect(endPause).toThrow('a bug')
    endPause()
    expect(done).toEqual(['next'])
  })
})
