import { describe, expect, it } from '@jest/globals'
import { createRecentSuccesses } from '../../../../dataplane/security/passwords/recent-successes.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const at = (user: string, place = 'home') => ({ user, place })

const setUp = () => {
  const clock = createManualClock()
  return { clock, successes: createRecentSuccesses(() => clock.now()) }
}

describe('createRecentSuccesses', () => {
  it.each([
    ['the same', at('alice'), 'digest', true],
    ['another credential', at('alice'), 'digesT', false],
    ['a longer one', at('alice'), 'digest!', false],
    ['nothing', at('alice'), '', false],
    ['another user', at('bob'), 'digest', false],
    ['another place', at('alice', 'work'), 'digest', false],
    ['a reserved name', at('__proto__', '__proto__'), 'digest', false],
  ])('%s', (_, given, digest, expected) => {
    const { successes } = setUp()
    successes.add(at('alice'), 'digest')
    expect(successes.has(given, digest)).toBe(expected)
    expect(successes.knows(given)).toBe(given.user === 'alice' && given.place === 'home')
  })

  it('keeps the last of a place, for an hour', () => {
    const { successes, clock } = setUp()
    successes.add(at('alice'), 'old')
    clock.advance(1_800_000)
    successes.add(at('alice'), 'new')
    expect([successes.has(at('alice'), 'old'), successes.has(at('alice'), 'new')]).toEqual([
      false,
      true,
    ])
    clock.advance(3_599_999)
    expect([successes.has(at('alice'), 'new'), successes.knows(at('alice'))]).toEqual([true, true])
    clock.advance(1)
    expect([successes.has(at('alice'), 'new'), successes.knows(at('alice'))]).toEqual([
      false,
      false,
    ])
  })

  it('forgets the oldest of many users', () => {
    const { successes } = setUp()
    for (let user = 0; user < 10_001; user++) successes.add(at(`user ${user}`), 'digest')
    expect(successes.knows(at('user 0'))).toBe(false)
    expect(successes.knows(at('user 1'))).toBe(true)
    expect(successes.knows(at('user 10000'))).toBe(true)
  })

  it('forgets the oldest place of a user, and no other user for it', () => {
    const { successes } = setUp()
    successes.add(at('bob'), 'digest')
    for (let place = 0; place < 20_000; place++) successes.add(at('alice', `${place}`), 'digest')
    expect(successes.knows(at('alice', '19983'))).toBe(false)
    expect(successes.knows(at('alice', '19984'))).toBe(true)
    expect(successes.knows(at('bob'))).toBe(true)
  })
})
