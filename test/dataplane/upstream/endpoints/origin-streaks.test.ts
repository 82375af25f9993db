import { describe, expect, it } from '@jest/globals'
import { OriginStreaks } from '../../../../dataplane/upstream/endpoints/origin-streaks.ts'

/**
 * Letters are requests of realm `a`, one every ten seconds: `+` a good response, `x` no connection, `5` a 503, `t` a 503 to
 * realm `b`, `?` a 503 to a request of no realm, `.` nothing.
 */
const after = (requests: string): string[] => {
  const streaks = new OriginStreaks()
  let nowMs = 0
  for (const each of requests) {
    nowMs += 10_000
    if (each === '+') streaks.onGood('a')
    if (each === 'x') streaks.onSharedFailure('refused', nowMs)
    if (each === '5') streaks.onRealmFailure('status_503', 'a', nowMs)
    if (each === 't') streaks.onRealmFailure('status_503', 'b', nowMs)
    if (each === '?') streaks.onRealmFailure('status_503', undefined, nowMs)
  }
  return streaks
    .read(nowMs)
    .map(({ realm = 'all', cause, isFailing }) => `${realm} ${cause} ${isFailing ? 'fails' : 'ok'}`)
}

describe('an origin', () => {
  it.each<[what: string, requests: string, troubles: string[]]>([
    ['that was never asked', '', []],
    ['that answers', '+++++++', []],
    ['that fails four times', 'xxxx', []],
    ['that fails five times, within forty seconds', 'xxxxx', ['all refused fails']],
    ['that answered in between', 'xx+xxx', []],
    ['that answers after all', 'xxxxxx+', ['all refused ok']],
    ['that answered long ago, after failures', `xxxxxx+${'+'.repeat(6)}`, []],
    [
      'that fails, and is asked no more for ten minutes',
      `xxxxx${'.'.repeat(60)}`,
      ['all refused fails'],
    ],
    ['that fails, and is asked no more for longer', `xxxxx${'.'.repeat(61)}`, []],
    ['that answers one realm with 503', '55555', ['a status_503 fails']],
    ['that answers one realm with 503, and another too', '555tt55', ['a status_503 fails']],
    ['that answers one realm with 503, and another well', '+t+t+t+t+t', ['b status_503 fails']],
    ['that answers requests of no realm with 503', '?????', []],
    ['that can be connected to again, and answers 503', 'xxxxx5', ['all refused ok']],
  ])('%s', (_, requests, troubles) => {
    expect(after(requests)).toEqual(troubles)
  })

  it('is not said to fail before it did for thirty seconds', () => {
    const streaks = new OriginStreaks()
    for (let count = 0; count < 100; count++) streaks.onSharedFailure('refused', 0)
    expect(streaks.read(29_999)).toEqual([])
    expect(streaks.read(30_000)).toEqual([
      { realm: undefined, cause: 'refused', forMs: 30_000, isFailing: true },
    ])
  })

  it('tells the cause of the last failure', () => {
    const streaks = new OriginStreaks()
    for (const cause of ['refused', 'refused', 'refused', 'refused', 'dns'] as const)
      streaks.onSharedFailure(cause, 0)
    expect(streaks.read(30_000)).toMatchObject([{ cause: 'dns' }])
  })

  it('knows 32 realms at most, and loses none of what it counts', () => {
    const streaks = new OriginStreaks()
    for (let count = 0; count < 5; count++)
      for (let at = 0; at < 100; at++) streaks.onRealmFailure('status_503', `r${at}`, 0)
    for (let count = 0; count < 5; count++)
      for (let at = 0; at < 32; at++) streaks.onRealmFailure('status_503', `s${at}`, 0)
    const troubles = streaks.read(30_000)
    expect([troubles.length, troubles.every(({ realm }) => realm?.startsWith('s'))]).toEqual([
      32,
      true,
    ])
    for (let at = 0; at < 32; at++) streaks.onGood(`s${at}`)
    expect(streaks.read(30_000).some(({ isFailing }) => isFailing)).toBe(false)
  })
})
