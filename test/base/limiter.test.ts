import { describe, expect, it } from '@jest/globals'
import { type Acquisition, Limiter } from '../../base/limiter.ts'
import { QueueFullError } from '../../base/queue-full-error.ts'
import { settled } from '../support/settled.ts'

/** Writes down who is admitted, and who is not with why; gives back by name. */
const queueUp = (permits: number, maxWaiting?: number) => {
  const limiter = new Limiter(permits, maxWaiting)
  const admitted: string[] = []
  const releases = new Map<string, () => void>()
  const ask = (name: string, acquisition: Acquisition = {}): void => {
    limiter.acquire(acquisition).then(
      (release) => {
        admitted.push(name)
        releases.set(name, release)
      },
      (error: unknown) => admitted.push(`${name}: ${String(error)}`),
    )
  }
  const release = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      releases.get(name)?.()
      await settled()
    }
  }
  return { limiter, admitted, ask, release }
}

const urgent =
  (urgency: number): (() => number) =>
  () =>
    urgency

describe('a limiter without a queue', () => {
  it.each<[string, readonly number[], readonly boolean[], number]>([
    ['as many as there are permits', [1, 1, 1], [true, true, false], 2],
    ['what is left, by what weighs little', [1, 2, 1], [true, false, true], 2],
    ['nothing heavier than all, though nothing runs', [3, 2], [false, true], 2],
    ['nothing to what weighs nothing', [2, 0, 1], [true, true, false], 2],
  ])('gives %s', (_, weights, given, used) => {
    const limiter = new Limiter(2)
    expect(weights.map((weight) => limiter.tryAcquire(weight))).toEqual(given)
    expect(limiter.used).toBe(used)
  })

  it('gives again what was given back', () => {
    const limiter = new Limiter(1)
    expect([limiter.tryAcquire(), limiter.tryAcquire()]).toEqual([true, false])
    limiter.release()
    expect([limiter.tryAcquire(), limiter.used]).toEqual([true, 1])
  })

  it.each([
    ['that no work has', 0, 1],
    ['twice', 1, 2],
  ])('takes no permit back %s', (_, acquired, released) => {
    const limiter = new Limiter(2)
    limiter.tryAcquire(acquired)
    expect(() => {
      limiter.release(released)
    }).toThrow('more permits are given back than are in use')
    expect(limiter.used).toBe(acquired)
  })
})

describe('who waits for a permit', () => {
  it.each<[string, Readonly<Record<string, Acquisition>>, string]>([
    ['in the order of arrival', { c: {}, d: {}, e: {} }, 'c d e'],
    [
      'the most urgent first, of those the first that came',
      { c: { urgency: urgent(2) }, d: { urgency: urgent(1) }, e: { urgency: urgent(1) }, f: {} },
      'f d e c',
    ],
    ['what is small behind what is heavy', { c: { weight: 2 }, d: {}, e: {} }, 'c d e'],
    ['what is heavier than all alone', { c: { weight: 50 }, d: {} }, 'c d'],
  ])('is admitted %s', async (_, acquisitions, order) => {
    const { limiter, admitted, ask, release } = queueUp(2)
    ask('a')
    ask('b')
    for (const [name, acquisition] of Object.entries(acquisitions)) ask(name, acquisition)
    await settled()
    expect([admitted.join(' '), limiter.used]).toEqual(['a b', 2])
    // Each ends as it was admitted, those that come meanwhile too.
    for (const name of admitted) await release(name)
    expect([admitted.join(' '), limiter.used]).toEqual([`a b ${order}`, 0])
  })

  it('is called again for how urgent it is', async () => {
    const { admitted, ask, release } = queueUp(1)
    let urgency = 5
    ask('first')
    ask('other', { urgency: urgent(3) })
    ask('late', { urgency: () => urgency })
    urgency = 1
    await settled()
    await release('first', 'late')
    expect(admitted).toEqual(['first', 'late', 'other'])
  })

  it('is not passed by work that does not wait', async () => {
    const { limiter, admitted, ask, release } = queueUp(3)
    ask('a', { weight: 2 })
    ask('heavy', { weight: 3 })
    expect(limiter.tryAcquire()).toBe(false)
    await settled()
    await release('a', 'heavy')
    expect([admitted, limiter.tryAcquire()]).toEqual([['a', 'heavy'], true])
  })

  it('gives back once, however often it says so', async () => {
    const { limiter, ask, release } = queueUp(2)
    ask('a')
    ask('b')
    await settled()
    await release('a', 'a', 'a')
    expect(limiter.used).toBe(1)
  })
})

describe('who gives up', () => {
  it('before it asks gets the reason, and no permit', async () => {
    const { limiter, admitted, ask } = queueUp(1)
    ask('a', { signal: AbortSignal.abort(new Error('stopped')) })
    await settled()
    expect([admitted, limiter.used]).toEqual([['a: Error: stopped'], 0])
  })

  it('while it waits delays nothing else', async () => {
    const { limiter, admitted, ask, release } = queueUp(10)
    const leaving = new AbortController()
    ask('a', { weight: 6 })
    ask('heavy', { weight: 9, signal: leaving.signal })
    ask('b', { weight: 4 })
    await settled()
    leaving.abort(new Error('stopped'))
    await settled()
    expect(admitted).toEqual(['a', 'heavy: Error: stopped', 'b'])
    await release('a', 'b')
    expect(limiter.used).toBe(0)
  })

  it('when it has the permit keeps it', async () => {
    const { limiter, admitted, ask, release } = queueUp(1)
    const leaving = new AbortController()
    ask('a')
    ask('b', { signal: leaving.signal })
    await settled()
    await release('a')
    leaving.abort(new Error('too late'))
    await settled()
    expect([admitted, limiter.used]).toEqual([['a', 'b'], 1])
    await release('b')
    expect(limiter.used).toBe(0)
  })

  it('leaves no listener behind', async () => {
    const { ask, release } = queueUp(1)
    const listeners = new Set<unknown>()
    const { signal } = new AbortController()
    signal.addEventListener = (_: string, listener: unknown) => void listeners.add(listener)
    signal.removeEventListener = (_: string, listener: unknown) => void listeners.delete(listener)
    ask('a', { signal })
    ask('b', { signal })
    await settled()
    expect(listeners.size).toBe(1)
    await release('a')
    expect(listeners.size).toBe(0)
  })
})

describe('a limiter that few may wait for', () => {
  it('is full once they do, and refuses who comes then', async () => {
    const { limiter, admitted, ask, release } = queueUp(1, 1)
    const seen = [limiter.isFull]
    for (const name of ['a', 'b', 'c']) {
      ask(name)
      seen.push(limiter.isFull)
    }
    await settled()
    expect(seen).toEqual([false, false, true, true])
    expect(admitted).toEqual(['a', `c: ${String(new QueueFullError(1))}`])
    await release('a')
    expect([admitted.at(-1), limiter.isFull]).toEqual(['b', false])
  })

  it('has room for who may not wait, as long as a permit is free', () => {
    const limiter = new Limiter(1, 0)
    expect([limiter.isFull, limiter.tryAcquire(), limiter.isFull]).toEqual([false, true, true])
  })
})

describe('a task', () => {
  it('begins at once where a permit is free, else when one is', async () => {
    const limiter = new Limiter(1)
    const begun: string[] = []
    const end = Promise.withResolvers<string>()
    const first = limiter.run(() => {
      begun.push('first')
      return end.promise
    })
    const second = limiter.run(() => Promise.resolve(begun.push('second')))
    expect(begun).toEqual(['first'])
    await settled()
    expect(begun).toEqual(['first'])
    end.resolve('done')
    expect(await Promise.all([first, second])).toEqual(['done', 2])
    expect(limiter.used).toBe(0)
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
  ])('that %s gives its permit back', async (_, task: () => Promise<never>) => {
    const limiter = new Limiter(1)
    await expect(limiter.run(task)).rejects.toThrow('broken')
    expect(await limiter.run(() => Promise.resolve(limiter.used))).toBe(1)
    expect(limiter.used).toBe(0)
  })

  it('is not run where nothing else may wait', async () => {
    const limiter = new Limiter(1, 0)
    limiter.tryAcquire()
    let runs = 0
    await expect(limiter.run(() => Promise.resolve(runs++))).rejects.toThrow(QueueFullError)
    expect([runs, limiter.used]).toEqual([0, 1])
  })
})

it('admits thousands that wait, never more at once than it has permits', async () => {
  const limiter = new Limiter(16)
  let running = 0
  let most = 0
  let ended = 0
  await Promise.all(
    Array.from({ length: 5_000 }, () =>
      limiter.run(async () => {
        most = Math.max(most, ++running)
        await Promise.resolve()
        running--
        ended++
      }),
    ),
  )
  expect([most, ended, limiter.used]).toEqual([16, 5_000, 0])
})
