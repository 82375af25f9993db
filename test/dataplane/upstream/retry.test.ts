import { afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  createRetrier,
  type RetryClock,
  SYSTEM_CLOCK,
  isIdempotent,
  isRetryable,
  type AttemptResult,
} from '../../../dataplane/upstream/retry.ts'

describe('isRetryable', () => {
  it.each<[AttemptResult, boolean, boolean]>([
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

describe('createRetrier', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  const clockAt = (now: () => number): RetryClock => ({ ...SYSTEM_CLOCK, now, random: () => 0 })
  const refused: AttemptResult = { failure: 'refused', headSeen: false }
  const policy = { retries: 2, retryTimeoutMs: 5000, isIdempotent: true }

  it('offers as many further attempts as there are retries', () => {
    jest.useFakeTimers()
    const again = jest.fn()
    const retrier = createRetrier(
      policy,
      clockAt(() => 0),
    )
    expect(retrier.offer(refused, again)).toBe(true)
    jest.advanceTimersByTime(13)
    expect(retrier.offer(refused, again)).toBe(true)
    jest.advanceTimersByTime(25)
    expect(retrier.offer(refused, again)).toBe(false)
    expect(again).toHaveBeenCalledTimes(2)
  })

  it('starts no attempt after the retry timeout', () => {
    let now = 0
    const retrier = createRetrier(
      policy,
      clockAt(() => now),
    )
    now = 4988
    expect(retrier.offer(refused, () => undefined)).toBe(false)
  })

  it.each<[AttemptResult, number | undefined]>([
    [{ status: 503, retryAfterMs: 3000 }, 3000],
    [{ status: 503, retryAfterMs: 5000 }, 5000],
    // The pause of the back-off is longer.
    [{ status: 503, retryAfterMs: 5 }, 13],
    [{ status: 503, retryAfterMs: 0 }, 13],
    [{ status: 503, retryAfterMs: undefined }, 13],
    [{ status: 503 }, 13],
    [{ status: 502, retryAfterMs: 3000 }, 13],
    // It would come after the retry timeout: not at all, rather than too early.
    [{ status: 503, retryAfterMs: 5001 }, undefined],
    [{ status: 503, retryAfterMs: 2 ** 31 - 1 }, undefined],
  ])('%j: the next attempt comes after %s ms', (outcome, pauseMs) => {
    jest.useFakeTimers()
    const again = jest.fn()
    const retrier = createRetrier(
      policy,
      clockAt(() => 0),
    )
    expect(retrier.offer(outcome, again)).toBe(pauseMs !== undefined)
    jest.advanceTimersByTime((pauseMs ?? 60_000) - 1)
    expect(again).not.toHaveBeenCalled()
    jest.advanceTimersByTime(1)
    expect(again).toHaveBeenCalledTimes(pauseMs === undefined ? 0 : 1)
  })

  it('what is requested counts from the response, within what is left of the retry timeout', () => {
    let now = 0
    const retrier = createRetrier(
      policy,
      clockAt(() => now),
    )
    now = 2001
    expect(retrier.offer({ status: 503, retryAfterMs: 3000 }, () => undefined)).toBe(false)
    expect(retrier.offer({ status: 503, retryAfterMs: 2000 }, () => undefined)).toBe(true)
    retrier.cancel()
  })

  it('offers nothing for what is not to be retried', () => {
    const retrier = createRetrier(
      policy,
      clockAt(() => 0),
    )
    expect(retrier.offer({ status: 500 }, () => undefined)).toBe(false)
  })

  it('a pause can be ended', () => {
    jest.useFakeTimers()
    const again = jest.fn()
    const retrier = createRetrier(
      policy,
      clockAt(() => 0),
    )
    retrier.offer(refused, again)
    retrier.cancel()
    jest.runAllTimers()
    expect(again).not.toHaveBeenCalled()
  })

  it('spends of what other retries leave, for what is retried only', () => {
    const clock = clockAt(() => 0)
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
