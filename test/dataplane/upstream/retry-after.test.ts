import { describe, expect, it } from '@jest/globals'
import { retryAfterMs } from '../../../dataplane/upstream/retry-after.ts'

const DATE = 'Mon, 23 Nov 2026 16:00:00 GMT'

describe('retryAfterMs', () => {
  it.each<[string, readonly string[], number | undefined]>([
    ['nothing', [], undefined],
    ['seconds', ['Retry-After', '2'], 2000],
    ['none at all', ['retry-after', '0'], 0],
    ['blanks around it', ['RETRY-AFTER', ' 2 '], 2000],
    ['longer than timers hold', ['Retry-After', '999999999'], 2 ** 31 - 1],
    ['too many digits', ['Retry-After', '9999999999'], undefined],
    ['a sign', ['Retry-After', '-1'], undefined],
    ['a fraction', ['Retry-After', '1.5'], undefined],
    ['hexadecimal', ['Retry-After', '0x1'], undefined],
    ['two', ['Retry-After', '1', 'Retry-After', '2'], undefined],
    ['a list', ['Retry-After', '1, 2'], undefined],
    ['a date', ['Retry-After', 'Mon, 23 Nov 2026 16:00:03 GMT', 'Date', DATE], 3000],
    ['a date that is over', ['Date', DATE, 'Retry-After', 'Sun, 22 Nov 2026 16:00:00 GMT'], 0],
    ['a date without a Date', ['Retry-After', DATE], undefined],
    ['a date with two', ['Retry-After', DATE, 'Date', DATE, 'Date', DATE], undefined],
    ['a date of another form', ['Retry-After', '2026-11-23T16:00:03Z', 'Date', DATE], undefined],
    ['no date', ['Retry-After', 'Mon, 99 Nov 2026 16:00:03 GMT', 'Date', DATE], undefined],
    [
      'a date in the far future',
      ['Retry-After', 'Mon, 23 Nov 9999 16:00:00 GMT', 'Date', DATE],
      2 ** 31 - 1,
    ],
  ])('%s', (_what, raw, expected) => {
    expect(retryAfterMs(raw)).toBe(expected)
    expect(retryAfterMs(raw.map((part) => Buffer.from(part)))).toBe(expected)
  })
})
