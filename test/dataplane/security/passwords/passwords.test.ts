import { describe, expect, it } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import {
  createPasswords,
  type PasswordResult,
} from '../../../../dataplane/security/passwords/passwords.ts'
import { MemoryState } from '../../../../dataplane/shared/memory-state.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { quickHash } from '../phc.ts'

const realm = (password = 'wonderland', uri = 'a.b'): RealmRecord => ({
  uri,
  users: [
    { username: 'alice', password_hash: quickHash(password), groups: ['staff'] },
    { username: 'bob', password_hash: quickHash('builder') },
    { username: 'nobody' },
    {
      username: 'costly',
      password_hash: `$scrypt$ln=20,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    },
    { username: '__proto__', password_hash: quickHash('reserved') },
    { username: 'alice', password_hash: quickHash('second') },
  ],
})

const setUp = () => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const state = new MemoryState({ now })
  /** Kinds of what was counted: each failure was verified. */
  const counted: string[] = []
  const increment: typeof state.increment = (key, windowSeconds) => {
    counted.push(key.split(':')[0] ?? '')
    return state.increment(key, windowSeconds)
  }
  const create = () => createPasswords({ shared: { increment }, now, random: randomBytes })
  return { clock, counted, create, passwords: create() }
}

interface Ask {
  readonly record?: RealmRecord
  readonly username?: string
  readonly password?: string
  readonly from?: string | undefined
}

const asking =
  (passwords: ReturnType<typeof createPasswords>) =>
  (given: Ask = {}) => {
    const { record, username, password, from } = { ...ALICE, ...given }
    return passwords.check({ record, username, password, address: () => from })
  }

const RECORD = realm()
const ALICE = { record: RECORD, username: 'alice', password: 'wonderland', from: '::1' }

const later = async <T>(value: T | Promise<T>): Promise<T> => value

const kindOf = (verdict: PasswordResult): string =>
  verdict.kind === 'wrong' ? verdict.reason : verdict.kind

describe('check', () => {
  it.each<[string, string, string]>([
    ['alice', 'wonderland', 'right'],
    ['alice', 'Wonderland', 'wrong_password'],
    ['alice', '', 'wrong_password'],
    ['alice', 'builder', 'wrong_password'],
    ['alice', 'second', 'wrong_password'],
    ['Alice', 'wonderland', 'unknown_user'],
    ['', 'wonderland', 'unknown_user'],
    ['constructor', 'wonderland', 'unknown_user'],
    ['__proto__', 'reserved', 'right'],
    ['nobody', '', 'wrong_password'],
    ['nobody', 'wonderland', 'wrong_password'],
    ['costly', 'wonderland', 'wrong_password'],
  ])('%s, %s: %s', async (username, password, expected) => {
    const ask = asking(setUp().passwords)
    expect(kindOf(await ask({ username, password }))).toBe(expected)
    expect(kindOf(await ask({ username, password }))).toBe(expected)
  })

  it('gives the user', async () => {
    expect(await asking(setUp().passwords)()).toMatchObject({
      kind: 'right',
      user: RECORD.users?.[0],
    })
  })

  it('a realm without users has none', async () => {
    const ask = asking(setUp().passwords)
    expect(kindOf(await ask({ record: { uri: 'a.b' } }))).toBe('unknown_user')
  })
})

describe('what was right', () => {
  it('is known at once for a minute', async () => {
    const { passwords, clock } = setUp()
    const ask = asking(passwords)
    expect(ask()).toBeInstanceOf(Promise)
    await ask()
    clock.advance(59_999)
    expect(ask()).toMatchObject({ kind: 'right' })
    clock.advance(1)
    expect(ask()).toBeInstanceOf(Promise)
    expect(kindOf(await ask())).toBe('right')
  })

  it('does not help what is wrong', async () => {
    const ask = asking(setUp().passwords)
    await ask()
    expect(kindOf(await ask({ password: 'wonderland!' }))).toBe('wrong_password')
    expect(kindOf(await ask({ username: 'bob' }))).toBe('wrong_password')
    expect(kindOf(await ask({ record: realm('other', 'a.c') }))).toBe('wrong_password')
    expect(ask()).toMatchObject({ kind: 'right' })
  })

  it.each<[string, RealmRecord, string]>([
    ['a new password', realm('looking-glass'), 'wrong_password'],
    [
      'a new salt',
      { uri: 'a.b', users: [{ username: 'alice', password_hash: quickHash('wonderland', 'new') }] },
      'right',
    ],
    ['no password', { uri: 'a.b', users: [{ username: 'alice' }] }, 'wrong_password'],
    ['no user', { uri: 'a.b', users: [] }, 'unknown_user'],
  ])('is checked again after %s', async (_, record, expected) => {
    const ask = asking(setUp().passwords)
    await ask()
    const again = ask({ record })
    expect(again).toBeInstanceOf(Promise)
    expect(kindOf(await again)).toBe(expected)
  })

  it('stays known when something else in the record changes', async () => {
    const ask = asking(setUp().passwords)
    await ask()
    expect(ask({ record: { ...realm(), description: 'new' } })).toMatchObject({ kind: 'right' })
  })

  it('names and passwords do not run together', async () => {
    const users = [{ username: 'a', password_hash: quickHash('b:c') }]
    const ask = asking(setUp().passwords)
    const record = { uri: 'a.b', users }
    expect(kindOf(await ask({ record, username: 'a', password: 'b:c' }))).toBe('right')
    expect(kindOf(await ask({ record, username: 'a:b', password: 'c' }))).toBe('unknown_user')
  })
})

/** So that the next wrong one is damped. */
const failOften = async (ask: ReturnType<typeof asking>, more: Ask = {}): Promise<void> => {
  for (let time = 0; time < 30; time++)
    expect(kindOf(await ask({ ...more, password: `wrong-${time}` }))).not.toBe('damped')
  expect(await ask({ ...more, password: 'wrong' })).toEqual({
    kind: 'damped',
    isUser: true,
    retryAfterSeconds: 1,
  })
}

describe('who fails too often', () => {
  it('is verified once a second, until a minute has gone', async () => {
    const { passwords, clock } = setUp()
    const ask = asking(passwords)
    await failOften(ask)
    expect(kindOf(await ask({ password: 'wrong, but verified' }))).toBe('damped')
    expect(await ask()).toMatchObject({ kind: 'damped', retryAfterSeconds: 1 })
    clock.advance(999)
    expect(kindOf(await ask())).toBe('damped')
    clock.advance(1)
    expect(kindOf(await ask())).toBe('right')
    expect(kindOf(await ask({ password: 'wrong' }))).toBe('damped')
    clock.advance(60_001)
    expect(kindOf(await ask({ password: 'wrong' }))).toBe('wrong_password')
  })

  it.each<[string, Ask]>([
    ['another address', { from: '192.0.2.9' }],
    ['an IPv4 address in IPv6', { from: '::ffff:192.0.2.10' }],
    ['another /64', { from: '2001:db8::1' }],
    ['another user', { username: 'bob' }],
    ['another realm', { record: realm('wonderland', 'a.c') }],
    ['from an unknown address', { from: undefined }],
  ])('is not who asks of %s', async (_, other) => {
    const ask = asking(setUp().passwords)
    await failOften(ask)
    expect(kindOf(await ask({ password: 'wrong', ...other }))).toBe('wrong_password')
  })

  it('is the same one in every process, whether there is such a user or not', async () => {
    const { create } = setUp()
    const [one, other] = [asking(create()), asking(create())]
    for (let time = 0; time < 30; time++)
      await (time % 2 ? one : other)({ username: 'ghost', password: `wrong-${time}` })
    expect(kindOf(await one({ username: 'ghost' }))).toBe('damped')
    expect(kindOf(await other({ username: 'ghost' }))).toBe('damped')
  })

  it('learns nothing by what others were right with just now', async () => {
    const { passwords } = setUp()
    const ask = asking(passwords)
    await failOften(ask)
    await ask({ password: 'takes the attempt of this second' })
    expect(kindOf(await ask({ from: '192.0.2.9' }))).toBe('right')
    expect(ask({ from: '192.0.2.9' })).toMatchObject({ kind: 'right' })
    expect(kindOf(await ask())).toBe('damped')
  })

  it('gets no more verified by asking all at once', async () => {
    const { passwords, counted } = setUp()
    const ask = asking(passwords)
    const guesses = Array.from({ length: 60 }, (_, at) => later(ask({ password: `guess-${at}` })))
    const kinds = (await Promise.all(guesses)).map(kindOf)
    expect(kinds.filter((kind) => kind === 'wrong_password')).toHaveLength(30)
    expect(kinds.filter((kind) => kind === 'damped')).toHaveLength(30)
    // 30, what ran when they became too many, and the one of this second.
    expect(counted.filter((kind) => kind === 'failures').length).toBeLessThan(36)
    expect(kindOf(await ask())).toBe('damped')
  })

  it('is never who comes by a proxy that names no client', async () => {
    const ask = asking(setUp().passwords)
    for (let time = 0; time < 40; time++)
      expect(kindOf(await ask({ from: undefined, password: `wrong-${time}` }))).toBe(
        'wrong_password',
      )
    expect(kindOf(await ask({ from: undefined }))).toBe('right')
  })
})

describe('who was right from there within an hour', () => {
  const beDamped = async (ask: ReturnType<typeof asking>): Promise<void> => {
    await failOften(ask)
    await ask({ password: 'takes the attempt of this second' })
  }

  it.each([
    ['at once', 0],
    ['after half an hour', 1_800_000],
    ['after almost an hour', 3_599_999],
  ])('is not slowed down by others there: %s', async (_, afterMs) => {
    const { passwords, clock } = setUp()
    const ask = asking(passwords)
    await ask()
    clock.advance(afterMs)
    await beDamped(ask)
    for (let time = 0; time < 3; time++) expect(kindOf(await ask())).toBe('right')
    expect(kindOf(await ask({ password: 'wonderland!' }))).toBe('damped')
  })

  it.each<[string, number, Ask, Ask]>([
    ['after an hour', 3_600_000, {}, {}],
    ['somewhere else', 0, { from: '192.0.2.9' }, {}],
    ['with another password in the record', 0, {}, { record: realm('new'), password: 'new' }],
  ])('is not meant: %s', async (_, afterMs, before, then) => {
    const { passwords, clock } = setUp()
    const ask = asking(passwords)
    expect(kindOf(await ask(before))).toBe('right')
    clock.advance(afterMs)
    await beDamped(ask)
    expect(kindOf(await ask(then))).toBe('damped')
  })

  it('is also who was known at once there, for it was right elsewhere', async () => {
    const ask = asking(setUp().passwords)
    await ask({ from: '192.0.2.9' })
    expect(ask()).toMatchObject({ kind: 'right' })
    await beDamped(ask)
    expect(kindOf(await ask())).toBe('right')
  })
})

describe('many at once', () => {
  it('from all over one /64 leave room for others', async () => {
    const ask = asking(setUp().passwords)
    const flood = Array.from({ length: 100 }, (_, at) =>
      later(ask({ username: `u${at}`, from: `2001:db8:0:1::${at.toString(16)}` })),
    )
    const other = await ask({ from: '2001:db8:0:2::1' })
    expect(kindOf(other)).toBe('right')
    const kinds = (await Promise.all(flood)).map(kindOf)
    // Two at once, 64 wait, and the last of them gave way to the other.
    expect(kinds.filter((kind) => kind === 'unknown_user')).toHaveLength(65)
  })

  it('ask the same and wait for one response', async () => {
    const ask = asking(setUp().passwords)
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => later(ask())))
    expect(new Set(verdicts.map(kindOf))).toEqual(new Set(['right']))
  })

  it('each count as a failure of its own', async () => {
    const ask = asking(setUp().passwords)
    const wrong = Array.from({ length: 40 }, () => later(ask({ password: 'wrong' })))
    const kinds = (await Promise.all(wrong)).map(kindOf)
    expect(kinds.filter((kind) => kind === 'wrong_password')).toHaveLength(30)
    expect(kinds.filter((kind) => kind === 'damped')).toHaveLength(10)
  })

  it.each([
    ['a user', 'alice', 'wrong_password'],
    ['nobody', 'ghost', 'unknown_user'],
  ])('are refused beyond a bound, and others are not: %s', async (_, username, reason) => {
    const ask = asking(setUp().passwords)
    const flood = Array.from({ length: 100 }, (_each, index) =>
      later(ask({ username, password: `wrong-${index}`, from: '192.0.2.66' })),
    )
    const other = ask({ from: '192.0.2.7' })
    const kinds = (await Promise.all(flood)).map(kindOf)
    expect(kinds.filter((kind) => kind === 'overloaded')).toHaveLength(35)
    expect(kinds).toContain(reason)
    expect(kindOf(await other)).toBe('right')
    expect(await ask({ username, password: 'x' })).not.toMatchObject({ kind: 'overloaded' })
  })
})
