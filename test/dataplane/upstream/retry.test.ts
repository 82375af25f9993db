import { afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  createRetrier,
  delayMs,
  isIdempotent,
  isRetryable,
  type AttemptOutcome,
} from '../../../dataplane/upstream/retry.ts'

describe('isRetryable', () => {
  it.each<[AttemptOutcome, boolean, boolean]>([
    [{ failure: 'refused', headSeen: false }, false, true],
    [{ failure: 'refused', headSeen: false }, true, true],
    [{ failure: 'connect_timeout', headSeen: false }, false, true],
    [{ failure: 'reset', headSeen: false }, true, true],
    [{ failure: 'reset', headSeen: false }, false, false],
    [{ failure: 'reset', headSeen: true }, true, false],
    [{ failure: 'timeout', headSeen: false }, true, false],
    [{ failure: 'denied', headSeen: false }, true, false],
    [{ failure: 'malformed', headSeen: true }, true, false],
    [{ failure: 'aborted', headSeen: false }, true, false],
    [{ status: 502 }, true, true],
    [{ status: 503 }, true, true],
    [{ status: 504 }, true, true],
    [{ status: 503 }, false, false],
    [{ status: 500 }, true, false],
    [{ status: 501 }, true, false],
    [{ status: 429 }, true, false],
    [{ status: 200 }, true, false],
  ])('%j, idempotent %s: %s', (outcome, idempotent, expected) => {
    expect(isRetryable(outcome, idempotent)).toBe(expected)
  })

  it.each([
    ['GET', true],
    ['HEAD', true],
    ['PUT', true],
    ['DELETE', true],
    ['OPTIONS', true],
    ['POST', false],
    ['PATCH', false],
    ['constructor', false],
  ])('%s is idempotent: %s', (method, expected) => {
    expect(isIdempotent(method)).toBe(expected)
  })
})

describe('delayMs', () => {
  it.each([
    [1, 0, 13],
    [1, 1, 25],
    [2, 0, 25],
    [3, 0.5, 75],
    [10, 0, 1000],
    [10, 1, 2000],
    [2000, 1, 2000],
  ])('after attempt %i with %d: %i', (attempt, random, expected) => {
    expect(delayMs(attempt, random)).toBe(expected)
  })
})

describe('createRetrier', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  const refused: AttemptOutcome = { failure: 'refused', headSeen: false }
  const policy = { retries: 2, retryTimeoutMs: 5000, isIdempotent: true }

  it('offers as many further attempts as there are retries', () => {
    jest.useFakeTimers()
    const again = jest.fn()
    const retrier = createRetrier(policy, { now: () => 0, random: () => 0 })
    expect(retrier.offer(refused, again)).toBe(true)
    jest.advanceTimersByTime(13)
    expect(retrier.offer(refused, again)).toBe(true)
    jest.advanceTimersByTime(25)
    expect(retrier.offer(refused, again)).toBe(false)
    expect(again).toHaveBeenCalledTimes(2)
  })

  it('starts no attempt after the retry timeout', () => {
    let now = 0
    const retrier = createRetrier(policy, { now: () => now, random: () => 0 })
    now = 4988
    expect(retrier.offer(refused, () => undefined)).toBe(false)
  })

  it('offers nothing for what is not to be retried', () => {
    const retrier = createRetrier(policy, { now: () => 0, random: () => 0 })
    expect(retrier.offer({ status: 500 }, () => undefined)).toBe(false)
  })

  it('a pause can be ended', () => {
    jest.useFakeTimers()
    const again = jest.fn()
    const retrier = createRetrier(policy, { now: () => 0, random: () => 0 })
    retrier.offer(refused, again)
    retrier.cancel()
    jest.runAllTimers()
    expect(again).not.toHaveBeenCalled()
  })

  it.each([
    [2000, true, 2013],
    [0, true, 13],
    [4987, true, 5000],
    [4988, false, 0],
  ])('waits for the %d ms that an answer asks for: %s', (retryAfterMs, isOffered, afterMs) => {
    jest.useFakeTimers()
    const retrier = createRetrier(policy, { now: () => 0, random: () => 0 })
    const again = jest.fn()
    expect(retrier.offer({ status: 503, retryAfterMs }, again)).toBe(isOffered)
    jest.advanceTimersByTime(Math.max(0, afterMs - 2))
    expect(again).not.toHaveBeenCalled()
    jest.advanceTimersByTime(3)
    expect(again).toHaveBeenCalledTimes(isOffered ? 1 : 0)
  })

  it('spends of what other retries leave, for what is retried only', () => {
    const clock = { now: () => 0, random: () => 0 }
    let left = 2
    const account = {
      get hasLeft() {
        return left > 0
      },
      spend: () => {
        left--
      },
    }
    const retrier = createRetrier({ ...policy, retries: 9 }, clock, account)
    const offers = [500, 503, 503, 503].map((status) => retrier.offer({ status }, () => undefined))
    expect([offers, left]).toEqual([[false, true, true, false], 0])
    retrier.cancel()
  })
})
