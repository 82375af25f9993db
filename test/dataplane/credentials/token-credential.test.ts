// What one caller's exchange of a token may do to those of the others: nothing, unless the server fails for all.

import { describe, expect, it } from '@jest/globals'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { CredentialError } from '../../../dataplane/credentials/credential.ts'
import { createToken } from '../../../dataplane/credentials/token.ts'
import { createExchangeCredential } from '../../../dataplane/credentials/token-credential.ts'
import { TokenSource } from '../../../dataplane/credentials/token-source.ts'
import type { CredentialCause, CredentialProblem } from '../../../language/wire/wire.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const open = () => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const room = {
    clock,
    asked: [] as string[],
    /** By caller; what it has is refused with that. */
    troubles: new Map<string, CredentialProblem>(),
    isAway: false,
  }
  const credential = createExchangeCredential({
    id: 'billing',
    key: Buffer.alloc(32),
    now,
    sources: new BoundedMap(100),
    exchange: (caller) => {
      room.asked.push(caller)
      const trouble = room.isAway ? ({ cause: 'refused' } as const) : room.troubles.get(caller)
      if (trouble !== undefined)
        return Promise.reject(new CredentialError('credential_token', 'no', { problem: trouble }))
      return Promise.resolve(
        createToken(`for-${caller}`, 3600, { sinceMs: clock.now(), random: 0.5 }),
      )
    },
    open: (request) =>
      new TokenSource({
        request,
        store: undefined,
        now,
        random: () => 0.5,
        sleep: () => Promise.resolve(),
      }),
  })
  const said = (token: string, caller = token): Promise<string | undefined> =>
    new Promise((resolve) => {
      credential.authorize({ caller, token: () => token }, (result) => {
        resolve(result.ok ? result.authorization.header : result.error.problem?.cause)
      })
    })
  const reject = (caller: string): Promise<boolean | undefined> =>
    new Promise((resolve) => {
      credential.authorize({ caller, token: () => caller }, (result) => {
        resolve(result.ok ? result.authorization.renewal?.reject() : undefined)
      })
    })
  return Object.assign(room, { credential, said, reject })
}

describe('a refusal of one caller', () => {
  it.each<[CredentialCause, string | undefined]>([
    ['oauth_error', 'invalid_scope'],
    ['oauth_error', 'interaction_required'],
    ['oauth_error', 'consent_required'],
    ['oauth_error', 'unauthorized_client'],
    ['status', '429'],
    ['status', '403'],
    ['status', '401'],
    ['response', undefined],
  ])('with %s %s is no trouble of the others, nor of the realm', async (cause, found) => {
    const room = open()
    room.troubles.set('mallory', { cause, ...(found !== undefined && { found }) })
    for (let second = 0; second < 60; second++) {
      expect(await room.said('mallory')).toBe(cause)
      expect(await room.said('alice')).toBe('Bearer for-alice')
      expect(await room.said(`new-${second}`)).toBe(`Bearer for-new-${second}`)
      expect(room.credential.problem()).toBeUndefined()
      room.clock.advance(1000)
    }
    expect(room.asked.filter((caller) => caller === 'mallory').length).toBeLessThan(10)
  })
})

describe('the same refusal of several callers', () => {
  const WRONG = { cause: 'status', found: '401' } as const
  const SCOPE = { cause: 'oauth_error', found: 'invalid_scope' } as const

  /** Each has another token each time; undefined: it is given one. */
  const openRoom = () => {
    const room = open()
    let count = 0
    const ask = async (caller: string, trouble: CredentialProblem | undefined): Promise<void> => {
      const token = `${caller}-${count++}`
      if (trouble !== undefined) room.troubles.set(token, trouble)
      await room.said(token, caller)
    }
    return Object.assign(room, { ask })
  }
  const refusedFor = async (callers: readonly string[]) => {
    const room = openRoom()
    for (let second = 0; second < 40; second++)
      for (const caller of callers) {
        await room.ask(caller, WRONG)
        room.clock.advance(1000)
      }
    return room
  }

  it('is reported, delays no caller, and is no longer reported when as many are given a token', async () => {
    const room = await refusedFor(['alice', 'bob', 'carol'])
    expect(room.credential.problem()).toEqual(WRONG)
    expect(await room.said('dave')).toBe('Bearer for-dave')
    expect(await room.said('erin')).toBe('Bearer for-erin')
    expect(room.credential.problem()).toEqual(WRONG)
    expect(await room.said('frank')).toBe('Bearer for-frank')
    expect(room.credential.problem()).toBeUndefined()
  })

  it('is no longer reported when one of them is given a token', async () => {
    const room = await refusedFor(['alice', 'bob', 'carol'])
    await room.ask('carol', undefined)
    expect(room.credential.problem()).toBeUndefined()
  })

  it('is not reported of two, however many tokens they bring', async () => {
    const room = await refusedFor(['mallory', 'trudy'])
    expect(room.credential.problem()).toBeUndefined()
  })

  it('is not reported before it has lasted, however long one of them has had it, and is forgotten', async () => {
    const room = await refusedFor(['mallory'])
    for (const caller of ['alice', 'bob']) await room.ask(caller, WRONG)
    expect(room.credential.problem()).toBeUndefined()
    room.clock.advance(31_000)
    expect(room.credential.problem()).toEqual(WRONG)
    room.clock.advance(570_000)
    expect(room.credential.problem()).toBeUndefined()
  })

  it('is reported again after another one, of callers that are refused for that', async () => {
    const room = await refusedFor(['alice', 'bob', 'carol'])
    for (const caller of ['alice', 'bob', 'carol']) await room.ask(caller, SCOPE)
    expect(room.credential.problem()).toBeUndefined()
    room.clock.advance(31_000)
    expect(room.credential.problem()).toEqual(SCOPE)
  })

  const everyReason = Array.from({ length: 20 }, (_, i) => ({
    cause: 'status' as const,
    found: String(500 + i),
  }))
  it.each<[string, (turn: number) => CredentialProblem | undefined]>([
    ['is given tokens', () => undefined],
    ['is refused for another reason', () => SCOPE],
    ['is refused for ever other reasons', (turn) => everyReason[turn % everyReason.length]],
    ['is refused the same, and for another reason', (turn) => (turn % 2 === 0 ? WRONG : SCOPE)],
    ['is refused the same, and is given tokens', (turn) => (turn % 2 === 0 ? WRONG : undefined)],
  ])('is reported while one caller %s', async (_, resultOf) => {
    const room = openRoom()
    let turn = 0
    const disturb = async (): Promise<void> => {
      // Twice, so that both results of those that alternate come between any two others.
      for (const count of [turn++, turn++]) await room.ask('mallory', resultOf(count))
    }
    for (let second = 0; second < 40; second++) {
      await disturb()
      await room.ask(`caller-${second % 5}`, WRONG)
      room.clock.advance(1000)
    }
    for (let second = 0; second < 60; second++) {
      await disturb()
      expect(room.credential.problem()).toEqual(WRONG)
      room.clock.advance(1000)
    }
  })

  it('is not reported while others are given tokens all the time', async () => {
    const room = openRoom()
    for (let second = 0; second < 120; second++) {
      for (const caller of ['mallory', 'trudy', 'eve']) await room.ask(caller, WRONG)
      await room.ask(`caller-${second}`, undefined)
      expect(room.credential.problem()).toBeUndefined()
      room.clock.advance(1000)
    }
  })
})

describe('a failure for all callers', () => {
  it.each<CredentialCause>([
    'refused',
    'dns',
    'tls',
    'denied',
    'timeout',
    'reset',
    'invalid_client',
  ])('by %s holds requests back, but no token that is there', async (cause) => {
    const room = open()
    expect(await room.said('alice')).toBe('Bearer for-alice')
    room.troubles.set('bob', { cause })
    expect(await room.said('bob')).toBe(cause)
    expect(await room.said('carol')).toBe(cause)
    expect(await room.said('alice')).toBe('Bearer for-alice')
    expect(room.asked).toEqual(['alice', 'bob'])
    room.clock.advance(1001)
    expect(await room.said('carol')).toBe('Bearer for-carol')
    expect(room.credential.problem()).toBeUndefined()
  })

  it('is not seen again where a source repeats it without a request', async () => {
    const room = open()
    room.isAway = true
    for (let ms = 0; ms < 5000; ms += 1001) {
      await room.said('bob')
      room.clock.advance(1001)
    }
    room.isAway = false
    const asked = room.asked.length
    expect(await room.said('bob')).toBe('refused')
    expect(room.asked).toHaveLength(asked)
    expect(await room.said('carol')).toBe('Bearer for-carol')
  })

  it('leaves a token that an upstream has refused in use', async () => {
    const room = open()
    expect(await room.said('alice')).toBe('Bearer for-alice')
    room.clock.advance(11_000)
    room.isAway = true
    expect(await room.said('bob')).toBe('refused')
    expect(await room.reject('alice')).toBe(true)
    expect(await room.said('alice')).toBe('Bearer for-alice')
  })

  it('is reported when it lasts, and no longer when the server has answered anybody', async () => {
    const room = open()
    room.isAway = true
    for (let second = 0; second < 40; second += 2) {
      await room.said(`caller-${second}`)
      room.clock.advance(2000)
    }
    expect(room.credential.problem()).toEqual({ cause: 'refused' })
    room.isAway = false
    room.troubles.set('mallory', { cause: 'oauth_error', found: 'invalid_scope' })
    expect(await room.said('mallory')).toBe('oauth_error')
    expect(room.credential.problem()).toBeUndefined()
  })

  it('of the client stays reported whatever the server says to one caller', async () => {
    const room = open()
    room.troubles.set('alice', { cause: 'invalid_client' })
    room.troubles.set('mallory', { cause: 'oauth_error', found: 'invalid_scope' })
    await room.said('alice')
    room.clock.advance(2000)
    await room.said('mallory')
    expect(room.credential.problem()).toEqual({ cause: 'invalid_client' })
  })
})
