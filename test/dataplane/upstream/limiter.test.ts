import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createPoolScope, type Ticket } from '../../../dataplane/upstream/limiter.ts'

describe('a limiter', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  const heard: string[] = []
  const ticket = (name: string): Ticket => ({
    onGranted: () => heard.push(`${name} granted`),
    onRefused: () => heard.push(`${name} refused`),
  })
  beforeEach(() => {
    heard.length = 0
  })

  it('grants up to the size, then lets wait in order', () => {
    const limiter = createPoolScope(2).limiterOf('http://a')
    const entries = ['a', 'b', 'c', 'd'].map((name) => limiter.acquire(ticket(name), 1000))
    expect(entries).toEqual(['granted', 'granted', 'waiting', 'waiting'])
    limiter.release()
    limiter.release()
    expect(heard).toEqual(['c granted', 'd granted'])
  })

  it('refuses who waits too long, and does not grant them later', () => {
    const limiter = createPoolScope(1).limiterOf('http://a')
    limiter.acquire(ticket('a'), 1000)
    limiter.acquire(ticket('b'), 1000)
    jest.advanceTimersByTime(1000)
    limiter.release()
    expect(heard).toEqual(['b refused'])
    expect(limiter.acquire(ticket('c'), 1000)).toBe('granted')
  })

  it('is full beyond the length of its line', () => {
    const limiter = createPoolScope(1, 1).limiterOf('http://a')
    const entries = ['a', 'b', 'c'].map((name) => limiter.acquire(ticket(name), 1000))
    expect(entries).toEqual(['granted', 'waiting', 'full'])
  })

  it('forgets tickets that are withdrawn', () => {
    const limiter = createPoolScope(1).limiterOf('http://a')
    limiter.acquire(ticket('a'), 1000)
    const gone = ticket('b')
    limiter.acquire(gone, 1000)
    limiter.acquire(ticket('c'), 1000)
    limiter.withdraw(gone)
    limiter.withdraw(gone)
    limiter.release()
    jest.runAllTimers()
    expect(heard).toEqual(['c granted'])
  })

  it('is one per origin, forgotten when nobody uses it', () => {
    const scope = createPoolScope(1)
    const limiter = scope.limiterOf('http://a')
    expect(limiter.acquire(ticket('a'), 1)).toBe('granted')
    expect(scope.limiterOf('http://a')).toBe(limiter)
    expect(scope.limiterOf('http://constructor').acquire(ticket('b'), 1)).toBe('granted')
    expect(scope.size).toBe(2)
    limiter.release()
    expect(scope.size).toBe(1)
  })
})
