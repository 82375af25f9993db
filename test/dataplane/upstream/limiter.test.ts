import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createPoolScope, type Limiter, type Waiting } from '../../../dataplane/upstream/limiter.ts'

describe('a limiter', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  const heard: string[] = []
  /** Those of one client begin with the same letter; of `p` it is not known whose they are. */
  const aCall = (name: string): Waiting => ({
    from: name.startsWith('p') ? undefined : name[0],
    onGranted: () => heard.push(`${name} granted`),
    onRefused: () => heard.push(`${name} refused`),
  })
  beforeEach(() => {
    heard.length = 0
  })

  const acquire = (limiter: Limiter, each: Waiting, waitMs: number) => {
    if (limiter.tryAcquire(each.from)) return 'granted'
    return limiter.enqueue(each, waitMs) ? 'waiting' : 'full'
  }

  it('grants up to the size, then lets wait in order', () => {
    const limiter = createPoolScope(2).limiterOf('http://a')
    const entries = ['a', 'b', 'c', 'd'].map((name) => acquire(limiter, aCall(name), 1000))
    expect(entries).toEqual(['granted', 'granted', 'waiting', 'waiting'])
    limiter.release('a')
    limiter.release('b')
    expect(heard).toEqual(['c granted', 'd granted'])
  })

  it('refuses who waits too long, and does not grant them later', () => {
    const limiter = createPoolScope(1).limiterOf('http://a')
    acquire(limiter, aCall('a'), 1000)
    acquire(limiter, aCall('b'), 1000)
    jest.advanceTimersByTime(1000)
    limiter.release(undefined)
    expect(heard).toEqual(['b refused'])
    expect(acquire(limiter, aCall('c'), 1000)).toBe('granted')
  })

  it('is full beyond the length of its line', () => {
    const limiter = createPoolScope(1, 1).limiterOf('http://a')
    const entries = ['a', 'b', 'c'].map((name) => acquire(limiter, aCall(name), 1000))
    expect(entries).toEqual(['granted', 'waiting', 'full'])
  })

  it('forgets what is withdrawn', () => {
    const limiter = createPoolScope(1).limiterOf('http://a')
    acquire(limiter, aCall('a'), 1000)
    const gone = aCall('b')
    acquire(limiter, gone, 1000)
    acquire(limiter, aCall('c'), 1000)
    limiter.withdraw(gone)
    limiter.withdraw(gone)
    limiter.release(undefined)
    jest.runAllTimers()
    expect(heard).toEqual(['c granted'])
  })

  it('is one per origin, forgotten when no request uses it', () => {
    const scope = createPoolScope(1)
    const limiter = scope.limiterOf('http://a')
    expect(acquire(limiter, aCall('a'), 1)).toBe('granted')
    expect(scope.limiterOf('http://a')).toBe(limiter)
    expect(acquire(scope.limiterOf('http://constructor'), aCall('b'), 1)).toBe('granted')
    expect(scope.size).toBe(2)
    limiter.release(undefined)
    expect(scope.size).toBe(1)
  })

  it.each<[string, number, string, string, string]>([
    ['clients take turns', 2, 'x y', 'a1 a2 a3 b1 b2 c1', 'a1 b1 c1 a2 b2 a3'],
    ['one client alone may have all', 2, 'a1 a2', 'a3 a4', 'a3 a4'],
    ['who has half of the slots waits for others', 4, 'a1 a2 x y', 'a3 b1 b2', 'b1 b2 a3'],
    ['then it gets what others do not need', 2, 'a1 x', 'a2 b1 a3', 'b1 a2 a3'],
    ['of one slot too', 1, 'a1', 'a2 a3 b1', 'a2 b1 a3'],
  ])('%s', (...[, size, first, waiting, granted]) => {
    const limiter = createPoolScope(size).limiterOf('http://a')
    for (const name of first.split(' ')) acquire(limiter, aCall(name), 1000)
    for (const name of waiting.split(' ')) acquire(limiter, aCall(name), 1000)
    const names = first.split(' ')
    const others = names.filter((name) => !name.startsWith('a')).reverse()
    // Those of a run longest; what is granted ends as it was granted.
    const running = [...others, ...names.filter((name) => name.startsWith('a'))]
    for (const name of waiting.split(' ')) {
      expect(name).not.toBe('')
      limiter.release(running.shift()?.[0])
      running.push(heard.at(-1) ?? '')
    }
    expect(heard.map((each) => each.split(' ')[0]).join(' ')).toBe(granted)
  })

  it('whose client is not known is bounded by no other, and takes turns by itself', () => {
    const limiter = createPoolScope(2).limiterOf('http://a')
    for (const name of ['p1', 'p2', 'p3', 'p4']) acquire(limiter, aCall(name), 1000)
    acquire(limiter, aCall('a'), 1000)
    for (let each = 0; each < 3; each++) limiter.release(undefined)
    expect(heard).toEqual(['p3 granted', 'p4 granted', 'a granted'])
  })

  it('the client with most of a full queue gives way, and has half of it at most while others wait', () => {
    const limiter = createPoolScope(1, 4).limiterOf('http://a')
    const entries = ['x', 'a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'a6'].map((name) =>
      acquire(limiter, aCall(name), 1000),
    )
    const waiting = 'waiting'
    expect(entries).toEqual([
      'granted',
      waiting,
      waiting,
      waiting,
      waiting,
      'full',
      waiting,
      waiting,
      'full',
      'full',
    ])
    expect(heard).toEqual(['a4 refused', 'a3 refused'])
    jest.advanceTimersByTime(1000)
    expect(heard.slice(2)).toEqual(['a1 refused', 'a2 refused', 'b1 refused', 'b2 refused'])
  })

  it('is busy from half of its slots on', () => {
    const scope = createPoolScope(3)
    const seen = [scope.isBusy('http://a')]
    for (const name of ['a', 'b', 'c']) {
      acquire(scope.limiterOf('http://a'), aCall(name), 1000)
      seen.push(scope.isBusy('http://a'))
    }
    expect([seen, scope.isBusy('http://b'), scope.size]).toEqual([
      [false, false, true, true],
      false,
      1,
    ])
  })
})
