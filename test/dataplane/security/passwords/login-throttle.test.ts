import { describe, expect, it } from '@jest/globals'
import {
  createLoginThrottle,
  type Failing,
} from '../../../../dataplane/security/passwords/login-throttle.ts'
import { MemoryState } from '../../../../dataplane/shared/memory-state.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const WHO: Failing = { realmUri: 'a.b', username: 'alice', address: '192.0.2.1' }

const setUp = () => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const shared = new MemoryState({ now })
  return { clock, now, shared, loginThrottle: createLoginThrottle({ shared, now }) }
}

const failTimes = async (
  loginThrottle: ReturnType<typeof createLoginThrottle>,
  times: number,
  who: Failing = WHO,
): Promise<boolean> => {
  let last = false
  for (let time = 0; time < times; time++) last = await loginThrottle.failed(who)
  return last
}

describe('createLoginThrottle', () => {
  it('lets 30 failures pass within a minute', async () => {
    const { loginThrottle, clock } = setUp()
    expect(await failTimes(loginThrottle, 30)).toBe(false)
    expect(loginThrottle.isDamped(WHO)).toBe(false)
    expect(await failTimes(loginThrottle, 1)).toBe(true)
    expect(loginThrottle.isDamped(WHO)).toBe(true)
    clock.advance(60_001)
    expect(loginThrottle.isDamped(WHO)).toBe(false)
    expect(await failTimes(loginThrottle, 30)).toBe(false)
    expect(await failTimes(loginThrottle, 1)).toBe(true)
  })

  it('then lets one attempt in a second be tried, in all processes', async () => {
    const { shared, now, clock, loginThrottle: one } = setUp()
    const other = createLoginThrottle({ shared, now })
    expect([one.isAnybodyDamped(), await one.mayTry(WHO)]).toEqual([false, true])
    await failTimes(one, 31)
    await failTimes(other, 1)
    expect([one.isAnybodyDamped(), other.isAnybodyDamped()]).toEqual([true, true])
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(await first.mayTry(WHO)).toBe(true)
      expect(await second.mayTry(WHO)).toBe(false)
      clock.advance(999)
      expect([await first.mayTry(WHO), await second.mayTry(WHO)]).toEqual([false, false])
      clock.advance(1)
    }
    expect(await one.mayTry({ ...WHO, username: 'bob' })).toBe(true)
    clock.advance(60_000)
    expect([one.isAnybodyDamped(), await one.mayTry(WHO), await one.mayTry(WHO)]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('asks the others once a second, however many attempts there are', async () => {
    const { now, clock } = setUp()
    const asked: string[] = []
    const increment = (key: string): Promise<number> => {
      asked.push(key.split(':')[0] ?? '')
      return Promise.resolve(1)
    }
    const loginThrottle = createLoginThrottle({ shared: { increment }, now })
    await failTimes(loginThrottle, 31)
    for (let time = 0; time < 100; time++) await loginThrottle.mayTry(WHO)
    clock.advance(1000)
    await loginThrottle.mayTry(WHO)
    expect(asked.filter((kind) => kind === 'attempts')).toHaveLength(2)
  })

  it('lets attempts be tried after the clock was set back', async () => {
    let time = Date.UTC(2026, 0, 1)
    const shared = { increment: () => Promise.resolve(1) }
    const loginThrottle = createLoginThrottle({ shared, now: () => time })
    await failTimes(loginThrottle, 31)
    expect(await loginThrottle.mayTry(WHO)).toBe(true)
    time -= 3_600_000
    expect([await loginThrottle.mayTry(WHO), await loginThrottle.mayTry(WHO)]).toEqual([
      true,
      false,
    ])
  })

  it('counts over all processes', async () => {
    const { shared, now } = setUp()
    const [one, other] = [
      createLoginThrottle({ shared, now }),
      createLoginThrottle({ shared, now }),
    ]
    expect(await failTimes(one, 20)).toBe(false)
    expect(await failTimes(other, 10)).toBe(false)
    expect(await failTimes(one, 1)).toBe(true)
  })

  it('counts for itself while the shared state is away', async () => {
    const { now } = setUp()
    const shared = { increment: () => Promise.reject(new Error('away')) }
    const loginThrottle = createLoginThrottle({ shared, now })
    expect(await failTimes(loginThrottle, 30)).toBe(false)
    expect(await failTimes(loginThrottle, 1)).toBe(true)
    expect([await loginThrottle.mayTry(WHO), await loginThrottle.mayTry(WHO)]).toEqual([
      true,
      false,
    ])
  })

  it.each<[string, Partial<Failing>, boolean]>([
    ['another user', { username: 'bob' }, false],
    ['a user of a reserved name', { username: '__proto__' }, false],
    ['another realm', { realmUri: 'a.c' }, false],
    ['another address', { address: '192.0.2.2' }, false],
    ['IPv6', { address: '2001:db8::1' }, false],
  ])('%s is another one', async (_, other, expected) => {
    const { loginThrottle } = setUp()
    await failTimes(loginThrottle, 31)
    expect(await failTimes(loginThrottle, 1, { ...WHO, ...other })).toBe(expected)
  })

  it.each([
    ['2001:db8::1', '2001:db8::2', true],
    ['2001:db8::1', '2001:DB8:0:0:ffff:1:2:3', true],
    ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0001', true],
    ['2001:db8:0:1::', '2001:db8::1:0:0:0:1', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['::1', '::2', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:3:3:4:5:6', false],
    ['', '', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ])('%s and %s are one place: %s', async (one, other, expected) => {
    const { loginThrottle } = setUp()
    await failTimes(loginThrottle, 31, { ...WHO, address: one })
    expect(await failTimes(loginThrottle, 1, { ...WHO, address: other })).toBe(expected)
  })

  it('forgets the oldest of many', async () => {
    const { now } = setUp()
    const loginThrottle = createLoginThrottle({
      shared: { increment: () => Promise.resolve(1) },
      now,
    })
    await failTimes(loginThrottle, 31)
    expect(loginThrottle.isDamped(WHO)).toBe(true)
    for (let other = 0; other < 10_000; other++)
      await loginThrottle.failed({ ...WHO, username: `user-${other}` })
    expect(loginThrottle.isDamped(WHO)).toBe(false)
  })
})
