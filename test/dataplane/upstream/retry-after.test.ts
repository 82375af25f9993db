import { describe, expect, it } from '@jest/globals'
import { readRetryAfter } from '../../../dataplane/upstream/retry-after.ts'

const DATE = ['Date', 'Mon, 23 Nov 2026 10:00:00 GMT']

describe('an answer asks to be left alone', () => {
  it.each<[what: string, raw: string[], ms: number | undefined]>([
    ['for seconds', ['retry-after', '2'], 2000],
    ['in whatever case', ['RETRY-AFTER', ' 0 '], 0],
    ['until a date', [...DATE, 'Retry-After', 'Mon, 23 Nov 2026 10:00:03 GMT'], 3000],
    ['until a date that is over', [...DATE, 'Retry-After', 'Mon, 23 Nov 2026 09:00:00 GMT'], 0],
    ['until a date, and does not say what time it is', ['retry-after', DATE[1] ?? ''], undefined],
    ['not', DATE, undefined],
    ['for less than nothing', ['retry-after', '-1'], undefined],
    ['for words', [...DATE, 'retry-after', 'soon'], undefined],
    ['for longer than can be told', ['retry-after', '9'.repeat(40)], undefined],
  ])('%s', (_, raw, ms) => {
    expect(readRetryAfter(raw)).toBe(ms)
    expect(readRetryAfter(raw.map((each) => Buffer.from(each)))).toBe(ms)
  })
})
