import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createDeadlines, type Timed } from '../../dataplane/deadlines.ts'

describe('createDeadlines', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  const expired: string[] = []
  beforeEach(() => {
    expired.length = 0
  })
  const entry = (name: string, onExpire?: () => void): Timed => ({
    due: 0,
    slot: -1,
    expire: () => {
      expired.push(name)
      onExpire?.()
    },
  })

  it.each([0, 1, 19, 20, 21, 100, 399])('%i ms: never early, two ticks late at most', (ms) => {
    const deadlines = createDeadlines(20)
    const one = entry('one')
    one.due = deadlines.dueIn(ms)
    deadlines.add(one)
    jest.advanceTimersByTime(ms)
    expect(expired).toEqual([])
    jest.advanceTimersByTime(40)
    expect(expired).toEqual(['one'])
  })

  it('tells once', () => {
    const deadlines = createDeadlines(20)
    const one = entry('one')
    one.due = deadlines.dueIn(20)
    deadlines.add(one)
    jest.advanceTimersByTime(500)
    expect(expired).toEqual(['one'])
  })

  it('does not tell those that were removed, moved on or put off', () => {
    const deadlines = createDeadlines(20)
    const gone = entry('gone')
    const off = entry('off')
    const late = entry('late')
    for (const each of [gone, off, late]) {
      each.due = deadlines.dueIn(40)
      deadlines.add(each)
    }
    jest.advanceTimersByTime(20)
    deadlines.remove(gone)
    deadlines.remove(gone)
    off.due = 0
    late.due = deadlines.dueIn(200)
    jest.advanceTimersByTime(100)
    expect(expired).toEqual([])
    jest.advanceTimersByTime(200)
    expect(expired).toEqual(['late'])
    expect(deadlines.size).toBe(2)
  })

  it('bears entries that leave, or bring others, while they are notified', () => {
    const deadlines = createDeadlines(20)
    const names = ['a', 'b', 'c', 'd']
    const entries = names.map((name) =>
      entry(name, () => {
        for (const each of entries) deadlines.remove(each)
        const next = entry(`after ${name}`)
        next.due = deadlines.dueIn(0)
        deadlines.add(next)
      }),
    )
    for (const each of entries) {
      each.due = deadlines.dueIn(20)
      deadlines.add(each)
    }
    jest.advanceTimersByTime(40)
    expect(expired).toEqual(['d'])
    jest.advanceTimersByTime(40)
    expect(expired).toEqual(['d', 'after d'])
  })

  it('runs no timer while there is nothing to wait for', () => {
    const deadlines = createDeadlines(20)
    const one = entry('one')
    expect(jest.getTimerCount()).toBe(0)
    deadlines.add(one)
    expect(jest.getTimerCount()).toBe(1)
    deadlines.remove(one)
    jest.advanceTimersByTime(20)
    expect(jest.getTimerCount()).toBe(0)
    one.due = deadlines.dueIn(20)
    deadlines.add(one)
    jest.advanceTimersByTime(60)
    expect(expired).toEqual(['one'])
  })
})
