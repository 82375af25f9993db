import { describe, expect, it } from '@jest/globals'
import { createRecentSuccesses } from '../../../../dataplane/security/passwords/recent-successes.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const setUp = () => {
  const clock = createManualClock()
  return { clock, successes: createRecentSuccesses(() => clock.now()) }
}

describe('createRecentSuccesses', () => {
  it.each<[string, string, string, boolean]>([
    ['the same', 'alice', 'digest', true],
    ['another credential', 'alice', 'digesT', false],
    ['a longer one', 'alice', 'digest!', false],
    ['nothing', 'alice', '', false],
    ['another place', 'bob', 'digest', false],
    ['a reserved name', '__proto__', 'digest', false],
  ])('%s', (_, place, digest, expected) => {
    const { successes } = setUp()
    successes.add('alice', 'digest')
    expect(successes.has(place, digest)).toBe(expected)
  })

  it('keeps the last of a place, for an hour', () => {
    const { successes, clock } = setUp()
    successes.add('alice', 'old')
    clock.advance(1_800_000)
    successes.add('alice', 'new')
    expect([successes.has('alice', 'old'), successes.has('alice', 'new')]).toEqual([false, true])
    clock.advance(3_599_999)
    expect(successes.has('alice', 'new')).toBe(true)
    clock.advance(1)
    expect(successes.has('alice', 'new')).toBe(false)
  })

  it('forgets the oldest of many', () => {
    const { successes } = setUp()
    for (let at = 0; at < 10_001; at++) successes.add(`place ${at}`, 'digest')
    expect(successes.has('place 0', 'digest')).toBe(false)
    expect(successes.has('place 1', 'digest')).toBe(true)
    expect(successes.has('place 10000', 'digest')).toBe(true)
  })
})
