// Somebody guesses passwords as fast as the gateway answers: how many guesses are looked at is bounded, whatever else they
// do, and others get in meanwhile.

import { describe, expect, it } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { quickHash } from '../dataplane/security/phc.ts'
import {
  createPasswords,
  type PasswordResult,
} from '../../dataplane/security/passwords/passwords.ts'
import { MemoryState } from '../../dataplane/shared/memory-state.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { answers, api, post, REALM } from '../component/gateway-client.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway-process.ts'
import { type HttpResponse, request } from '../support/http-request.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'

const RECORD: RealmRecord = {
  uri: 'com.acme',
  users: [{ username: 'alice', password_hash: quickHash('wonderland') }],
}

const setUp = (processes: number) => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const state = new MemoryState({ now })
  let verified = 0
  const increment: typeof state.increment = (key, windowSeconds) => {
    if (key.startsWith('failures:')) verified++
    return state.increment(key, windowSeconds)
  }
  const gateways = Array.from({ length: processes }, () =>
    createPasswords({ shared: { increment }, now, random: randomBytes }),
  )
  const ask = async (
    at: number,
    from: string,
    password: string,
    username = 'alice',
  ): Promise<PasswordResult['kind']> => {
    const attempt = { record: RECORD, username, password, address: () => from }
    return (await gateways[at % processes]?.check(attempt))?.kind ?? 'wrong'
  }
  return { clock, ask, verified: () => verified }
}

describe('one address that guesses', () => {
  it.each([
    ['one process', 1, '192.0.2.1'],
    ['four processes', 4, '192.0.2.1'],
    ['addresses of one /64', 2, '2001:db8::'],
  ])('has a bounded number of guesses verified in ten minutes: %s', async (_, processes, base) => {
    const { clock, ask, verified } = setUp(processes)
    let guesses = 0
    for (let tenths = 0; tenths < 6000; tenths++) {
      const from = base.endsWith(':') ? `${base}${tenths.toString(16)}` : base
      await Promise.all([0, 1, 2].map((at) => ask(at, from, `guess ${guesses++}`)))
      clock.advance(100)
    }
    // For each minute 30, one a second, and what was on its way when they became too many in each process.
    expect(verified()).toBeLessThan(10 * (30 + 60 + 3 * processes))
    expect(guesses).toBe(18_000)
  })

  it('does not keep out who was right from there before, nor others', async () => {
    const { clock, ask } = setUp(1)
    expect(await ask(0, '192.0.2.1', 'wonderland')).toBe('right')
    for (let second = 0; second < 120; second++) {
      for (let time = 0; time < 40; time++) await ask(0, '192.0.2.1', `${second}/${time}`)
      expect(await ask(0, '192.0.2.1', 'wonderland')).toBe('right')
      expect(await ask(0, `192.0.3.${second}`, 'wonderland')).toBe('right')
      clock.advance(1000)
    }
  })
})

/** One flood of guesses at alice: the address of each. */
const FLOODS = {
  'one address': () => '203.0.113.1',
  'a /48': (at) => `2001:db8:7:${at.toString(16)}::1`,
  'a /24': (at) => `203.0.113.${at % 256}`,
  '300 addresses': (at) => `10.${(at % 300) >> 4}.${at % 16}.9`,
  'a /24 and a /48': (at) => (at % 2 === 0 ? `203.0.113.${at % 256}` : `2001:db8:7:${at}::1`),
} as const satisfies Record<string, (at: number) => string>

describe.each([1, 3])('many addresses that guess at one user, at %d processes', (processes) => {
  it.each([
    // What is free for the user, for a network, or for each of 300 addresses; one a second; one in each process.
    ['one address', 300 + 60 + 600],
    ['a /48', 100 + 600],
    ['a /24', 300 + 256 * 3 + 600],
    ['300 addresses', 300 + 300 * 3 + 600],
    ['a /24 and a /48', 300 + 256 * 3 + 100 + 600],
  ] as const)('have a bounded number verified in ten minutes: %s', async (flood, most) => {
    const { clock, ask, verified } = setUp(processes)
    let guesses = 0
    for (let tenths = 0; tenths < 6000; tenths++) {
      for (let time = 0; time < 3; time++) {
        await ask(guesses, FLOODS[flood](Math.floor(guesses / processes)), `guess ${guesses}`)
        guesses++
      }
      clock.advance(100)
    }
    // A process learns of the others' failures by its own: one for each network.
    const networks = flood === 'a /48' ? 1 : 300
    expect(verified()).toBeLessThanOrEqual(most + processes * (networks + 3))
  })

  it.each([
    ['the known address', '192.0.2.1', 'one address'],
    ['the known address', '192.0.2.1', 'a /48'],
    ['the known address', '192.0.2.1', 'a /24'],
    ['the known address', '192.0.2.1', '300 addresses'],
    ['the known address, which guesses too', '203.0.113.1', 'one address'],
    ['the known address, which guesses too', '203.0.113.9', 'a /24'],
    ['the known address, which guesses too', '2001:db8:7:3::5', 'a /48'],
    ['a new address', '192.0.2.77', 'one address'],
    ['a new address', '192.0.2.77', 'a /48'],
    ['a new address', '192.0.2.77', 'a /24'],
    ['a new address', '192.0.2.77', '300 addresses'],
    ['a new address', '2001:db8:8::1', 'a /24 and a /48'],
    ['a new address beside the one that guesses', '203.0.113.2', 'one address'],
  ] as const)('let the owner in from %s (%s): %s', async (what, from, flood) => {
    const { clock, ask } = setUp(processes)
    let guesses = 0
    const guess = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++)
        await ask(guesses, FLOODS[flood](Math.floor(guesses / processes)), `guess ${guesses++}`)
    }
    const everywhere = Array.from({ length: processes }, (_, at) => at)
    const before = what.startsWith('the known') ? everywhere : []
    const known = await Promise.all(before.map((at) => ask(at, from, 'wonderland')))
    expect(known).toEqual(before.map(() => 'right'))
    for (let minute = 0; minute < 15; minute++) {
      await guess(100)
      clock.advance(60_001)
    }
    await guess(1000)
    const mistyped = what.startsWith('the known') ? [] : ['wnderland', 'wondrland']
    for (const wrong of mistyped) expect(await ask(0, from, wrong)).toBe('wrong')
    for (const at of everywhere) {
      await guess(50)
      expect(await ask(at, from, 'wonderland')).toBe('right')
    }
  })

  it('slow down the owner at a new address of their own /48, as one more of them', async () => {
    const { clock, ask } = setUp(processes)
    for (let at = 0; at < 400; at++) await ask(0, FLOODS['a /48'](at), `guess ${at}`)
    clock.advance(1000)
    await ask(0, FLOODS['a /48'](401), 'the guess of this second')
    expect(await ask(0, '2001:db8:7:ffff::1', 'wonderland')).toBe('damped')
    clock.advance(1000)
    expect(await ask(0, '2001:db8:7:ffff::1', 'wonderland')).toBe('right')
  })
})

describe('many addresses that guess at once', () => {
  it.each([3, 10, 100])('%d of them do not keep out another', async (addresses) => {
    const { ask, clock } = setUp(1)
    const random = seededRandom(addresses)
    const kinds = new Map<string, number>()
    let isOver = false
    let guesses = 0
    const guess = async (from: string): Promise<void> => {
      while (!isOver) {
        const kind = await ask(0, from, 'x', `made up ${guesses++} ${random()}`)
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        // A refusal takes no time: others must have their turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const flood = Array.from({ length: 300 }, (_each, at) => guess(`10.0.0.${at % addresses}`))
    // From then on each of them had its turn.
    while ((kinds.get('wrong') ?? 0) < 2 * addresses)
      await new Promise((resolve) => setImmediate(resolve))
    for (let time = 0; time < 20; time++) {
      const from = time % 2 === 0 ? '192.0.2.0' : `192.0.2.${time}`
      expect(await ask(0, from, 'wonderland')).toBe('right')
      // No client is remembered for that long.
      clock.advance(60_001)
    }
    isOver = true
    await Promise.all(flood)
    expect(kinds.get('overloaded')).toBeGreaterThan(0)
  })
})

describe('a gateway behind a trusted proxy', () => {
  it('slows down clients that guess, and no others', async () => {
    const gateway = await startGateway({ flags: ['--trusted-proxies', '127.0.0.1'] })
    const ask = (from: string | undefined, password: string): Promise<HttpResponse> =>
      request(`${gateway.public}/guarded/x`, {
        headers: {
          authorization: `Basic ${Buffer.from(`alice:${password}`).toString('base64')}`,
          ...(from === undefined ? {} : { 'x-forwarded-for': from }),
        },
      })
    const statuses = async (from: string | undefined, ...passwords: string[]) =>
      (await Promise.all(passwords.map((each) => ask(from, each)))).map(({ status }) => status)
    try {
      const users = [{ username: 'alice', password_hash: quickHash('wonderland') }]
      await post(gateway, '/realms', { uri: REALM, users })
      const document = {
        ...api('guarded', { '/x': answers('in') }),
        defaults: { security: { type: 'basic' } },
      }
      expect((await post(gateway, '/api_specs', document)).status).toBe(204)

      const guesses = Array.from({ length: 60 }, (_, at) => ask('203.0.113.1', `guess ${at}`))
      const told = await Promise.all(guesses)
      expect(told.filter(({ status }) => status === 401)).toHaveLength(30)
      const damped = told.filter(({ status }) => status === 429)
      expect(damped).toHaveLength(30)
      expect(new Set(damped.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['1']))

      expect(await statuses('203.0.113.2', 'wrong', 'wonderland')).toEqual([401, 200])
      expect(await statuses(undefined, ...Array.from({ length: 40 }, (_, at) => `${at}`))).toEqual(
        Array.from({ length: 40 }, () => 401),
      )
      expect(await statuses(undefined, 'wonderland')).toEqual([200])
      await eventually(async () => {
        expect(await statuses('203.0.113.1', 'wonderland')).toEqual([200])
      })
      // It was right there, and the guesses were not.
      expect(await statuses('203.0.113.1', 'wonderland', 'wonderland')).toEqual([200, 200])
    } finally {
      await gateway.stop()
    }
  })
})
