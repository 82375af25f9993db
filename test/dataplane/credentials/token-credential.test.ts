// What one caller's exchange of a token may do to those of the others: nothing, unless the server fails for all.

import { describe, expect, it } from '@jest/globals'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { CredentialError } from '../../../dataplane/credentials/credential.ts'
import { createToken } from '../../../dataplane/credentials/token.ts'
import { createExchangeCredential } from '../../../dataplane/credentials/token-credential.ts'
import { TokenSource } from '../../../dataplane/credentials/token-source.ts'
import type { CredentialCause, CredentialTrouble } from '../../../language/wire/wire.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const open = () => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const room = {
    clock,
    asked: [] as string[],
    /** By caller; what it has is refused with that. */
    troubles: new Map<string, CredentialTrouble>(),
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
        return Promise.reject(new CredentialError('credential_token', 'no', { trouble }))
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
        resolve(result.ok ? result.authorization.header : result.error.trouble?.cause)
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
      expect(room.credential.trouble()).toBeUndefined()
      room.clock.advance(1000)
    }
    expect(room.asked.filter((caller) => caller === 'mallory').length).toBeLessThan(10)
  })
})

describe('the same refusal of several callers, with no success in between', () => {
  const WRONG = { cause: 'status', found: '401' } as const

  /** Each has another token each time. */
  const refusedFor = async (callers: readonly string[]) => {
    const room = open()
    for (let second = 0; second < 40; second++)
      for (const caller of callers) {
        const token = `${caller}-${second}`
        room.troubles.set(token, WRONG)
        expect(await room.said(token, caller)).toBe('status')
        room.clock.advance(1000)
      }
    return room
  }

  it('is reported, and holds nobody back', async () => {
    const room = await refusedFor(['alice', 'bob', 'carol'])
    expect(room.credential.trouble()).toEqual(WRONG)
    expect(await room.said('dave')).toBe('Bearer for-dave')
    expect(room.credential.trouble()).toBeUndefined()
  })

  it('is not reported of two, however many tokens they bring', async () => {
    const room = await refusedFor(['mallory', 'trudy'])
    expect(room.credential.trouble()).toBeUndefined()
  })

  it('is not reported at once, nor after other refusals, and is forgotten', async () => {
    const room = open()
    const refuse = async (caller: string, trouble: CredentialTrouble): Promise<void> => {
      room.troubles.set(caller, trouble)
      await room.said(caller)
    }
    for (const caller of ['alice', 'bob', 'carol']) await refuse(caller, WRONG)
    expect(room.credential.trouble()).toBeUndefined()
    room.clock.advance(31_000)
    expect(room.credential.trouble()).toEqual(WRONG)
    await refuse('dave', { cause: 'oauth_error', found: 'invalid_scope' })
    expect(room.credential.trouble()).toBeUndefined()
    for (const caller of ['erin', 'frank']) {
      room.clock.advance(31_000)
      await refuse(caller, { cause: 'oauth_error', found: 'invalid_scope' })
    }
    expect(room.credential.trouble()).toEqual({ cause: 'oauth_error', found: 'invalid_scope' })
    room.clock.advance(601_000)
    expect(room.credential.trouble()).toBeUndefined()
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
    expect(room.credential.trouble()).toBeUndefined()
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
    expect(room.credential.trouble()).toEqual({ cause: 'refused' })
    room.isAway = false
    room.troubles.set('mallory', { cause: 'oauth_error', found: 'invalid_scope' })
    expect(await room.said('mallory')).toBe('oauth_error')
    expect(room.credential.trouble()).toBeUndefined()
  })

  it('of the client stays reported whatever the server says to one caller', async () => {
    const room = open()
    room.troubles.set('alice', { cause: 'invalid_client' })
    room.troubles.set('mallory', { cause: 'oauth_error', found: 'invalid_scope' })
    await room.said('alice')
    room.clock.advance(2000)
    await room.said('mallory')
    expect(room.credential.trouble()).toEqual({ cause: 'invalid_client' })
  })
})
