import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  accessTokenKey,
  familyKey,
  oidcSessionKey,
  oidcSubjectKeys,
  oidcSubjectKeysUntil,
  ticketKey,
} from '../../../../dataplane/security/tokens/revocation-keys.ts'

const SESSION = { realmUri: 'com.acme', provider: 'corp' }
const NOW = 1_795_000_000
const MONTH = 2_592_000

const isRevoked = (issuedAt: number, revoked: readonly string[], sub = 'u1'): boolean =>
  oidcSubjectKeys(SESSION, sub, issuedAt).some((key) => revoked.includes(key))

describe('names in the deny-list', () => {
  it.each([
    [ticketKey('7'), 'ticket:7'],
    [accessTokenKey('7'), 'token:7'],
    [familyKey('7'), 'family:7'],
  ])('%s', (key, expected) => {
    expect(key).toBe(expected)
  })

  it('differ wherever realm, provider or session differ, whatever stands in them', () => {
    const keys = [
      oidcSessionKey(SESSION, 's'),
      oidcSessionKey({ ...SESSION, provider: 'corp:s' }, ''),
      oidcSessionKey({ realmUri: 'com.acme:corp', provider: '' }, 's'),
      oidcSessionKey({ realmUri: 'com.acme","corp', provider: '' }, 's'),
      oidcSessionKey(SESSION, '__proto__'),
      ...oidcSubjectKeys(SESSION, 's', NOW).slice(0, 1),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(key.length).toBeLessThan(80)
    expect(oidcSessionKey(SESSION, 'x'.repeat(100_000)).length).toBeLessThan(80)
  })
})

describe('a logout by subject', () => {
  it.each([
    [0, true],
    [-1, true],
    [-3600, true],
    [-MONTH, true],
    [1, false],
    [2, false],
    [60, false],
    [MONTH, false],
  ])('a ticket issued %i s after it: %s', (seconds, expected) => {
    const revoked = oidcSubjectKeysUntil(SESSION, 'u1', { until: NOW, lifetimeSeconds: MONTH })
    expect(isRevoked(NOW + seconds, revoked)).toBe(expected)
    expect(isRevoked(NOW + seconds, revoked, 'u2')).toBe(false)
  })

  it('needs few names, and few are requested', () => {
    for (let second = 0; second < 2000; second++) {
      const until = NOW + second * 7919
      const revoked = oidcSubjectKeysUntil(SESSION, 'u1', { until, lifetimeSeconds: MONTH })
      expect(revoked.length).toBeLessThanOrEqual(3 * 11 + 2)
    }
    expect(oidcSubjectKeys(SESSION, 'u1', NOW)).toHaveLength(12)
  })

  it('is bounded for any lifetime', () => {
    const lifetimes = { until: NOW, lifetimeSeconds: 2_147_483_647 }
    expect(oidcSubjectKeysUntil(SESSION, 'u1', lifetimes).length).toBeLessThan(600)
  })

  it('takes all tickets before it and none after it', () => {
    const times = fc.integer({ min: NOW - 10 ** 8, max: NOW + 10 ** 8 })
    fc.assert(
      fc.property(times, fc.integer({ min: -MONTH, max: MONTH }), (until, offset) => {
        const revoked = oidcSubjectKeysUntil(SESSION, 'u1', { until, lifetimeSeconds: MONTH })
        expect(isRevoked(until + offset, revoked)).toBe(offset <= 0)
      }),
    )
  })
})
