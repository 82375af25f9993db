import { describe, expect, it } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { ALWAYS, type KnownIdentity } from '../../../../dataplane/security/schemes/authenticator.ts'
import type { Identity } from '../../../../dataplane/security/schemes/authentication.ts'
import {
  type CredentialSource,
  createConnectionIdentityCache,
} from '../../../../dataplane/security/schemes/connection-identity-cache.ts'
import type { RevocationState } from '../../../../dataplane/security/schemes/revocation-gate.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

type Headers = readonly (readonly [string, string])[]

const RECORD: RealmRecord = { uri: 'com.example' }
const KNOWN: KnownIdentity = { kind: 'identity', identity: {} as Identity, validity: ALWAYS }
const BASIC: CredentialSource = { scheme: 'basic', header: 'authorization', mayBeCookie: false }
const KEY: CredentialSource = { scheme: 'api_key', header: 'x-api-key', mayBeCookie: false }
const OIDC: CredentialSource = { scheme: 'oidc', header: 'authorization', mayBeCookie: true }
const AUTHORIZED: Headers = [['Authorization', 'Basic abc']]
const COOKIE: Headers = [['Cookie', 'svc_ticket_com.example=a.b.c']]

interface Seen {
  readonly headers: Headers
  readonly method?: string
  readonly socket?: object
}

const requestOf = ({ headers, method = 'GET', socket = SOCKET }: Seen): IncomingMessage =>
  ({ method, rawHeaders: headers.flat(), socket }) as unknown as IncomingMessage
const SOCKET = {}

const home = ({ known = KNOWN } = {}) => {
  const clock = createManualClock()
  const state: { standing: RevocationState } = { standing: 'good' }
  const identityCache = createConnectionIdentityCache(
    () => state.standing,
    () => clock.now(),
  )
  return {
    clock,
    state,
    keep: (seen: Seen, source: CredentialSource) => {
      identityCache.keep(requestOf(seen), source, RECORD, known)
    },
    find: (seen: Seen, source: CredentialSource, record = RECORD) =>
      identityCache.find(requestOf(seen), source, record),
  }
}

describe('what is known again', () => {
  it.each<[string, Seen, CredentialSource]>([
    ['the same Authorization', { headers: AUTHORIZED }, BASIC],
    ['in another spelling of its name', { headers: [['AUTHORIZATION', 'Basic abc']] }, BASIC],
    ['among others', { headers: [['Host', 'a'], ...AUTHORIZED, ['Cookie', 'x']] }, BASIC],
    ['whatever the method is', { headers: AUTHORIZED, method: 'POST' }, BASIC],
  ])('%s', (_, seen, source) => {
    const { keep, find } = home()
    keep({ headers: AUTHORIZED }, source)
    expect(find(seen, source)).toBe(KNOWN)
  })

  it.each<[string, Headers, CredentialSource]>([
    ['a key', [['X-API-Key', 'k']], KEY],
    ['a ticket in its cookie', COOKIE, OIDC],
    ['a ticket in a header, beside a cookie', [['authorization', 'Bearer t'], ...COOKIE], OIDC],
  ])('%s', (_, headers, source) => {
    const { keep, find } = home()
    keep({ headers }, source)
    expect(find({ headers }, source)).toBe(KNOWN)
  })
})

describe('what is verified again', () => {
  it.each<[string, Seen, CredentialSource]>([
    ['nothing presented', { headers: [] }, BASIC],
    ['another text', { headers: [['Authorization', 'Basic abd']] }, BASIC],
    ['the header twice', { headers: [...AUTHORIZED, ...AUTHORIZED] }, BASIC],
    ['an empty one beside it', { headers: [...AUTHORIZED, ['authorization', '']] }, BASIC],
    ['another connection', { headers: AUTHORIZED, socket: {} }, BASIC],
    ['another scheme', { headers: AUTHORIZED }, OIDC],
    ['another header', { headers: [['x-key', 'Basic abc']] }, { ...BASIC, header: 'x-key' }],
    [
      'the same header where another counts',
      { headers: AUTHORIZED },
      { ...BASIC, header: 'x-key' },
    ],
  ])('%s', (_, seen, source) => {
    const { keep, find } = home()
    keep({ headers: AUTHORIZED }, BASIC)
    expect(find(seen, source)).toBeUndefined()
  })

  it.each<[string, Seen]>([
    ['a method that changes something: the CSRF value counts', { headers: COOKIE, method: 'POST' }],
    ['an Authorization beside it', { headers: [...COOKIE, ['Authorization', 'Bearer x']] }],
    ['an empty Authorization beside it', { headers: [...COOKIE, ['Authorization', '']] }],
    ['a second Cookie', { headers: [...COOKIE, ['Cookie', 'a=b']] }],
  ])('a cookie with %s', (_, seen) => {
    const { keep, find } = home()
    keep({ headers: COOKIE }, OIDC)
    expect(find(seen, OIDC)).toBeUndefined()
    expect(find({ headers: COOKIE }, OIDC)).toBe(KNOWN)
  })

  it('another record of the realm', () => {
    const { keep, find } = home()
    keep({ headers: AUTHORIZED }, BASIC)
    expect(find({ headers: AUTHORIZED }, BASIC, { ...RECORD })).toBeUndefined()
  })

  it('once it has ended, to the millisecond', () => {
    const until = createManualClock().now() + 1000
    const known = { ...KNOWN, validity: { until, revocationKeys: [] } }
    const { keep, find, clock } = home({ known })
    keep({ headers: AUTHORIZED }, BASIC)
    clock.advance(999)
    expect(find({ headers: AUTHORIZED }, BASIC)).toBe(known)
    clock.advance(1)
    expect(find({ headers: AUTHORIZED }, BASIC)).toBeUndefined()
  })

  it.each<RevocationState>(['revoked', 'unknown'])('while it is %s', (standing) => {
    const { keep, find, state } = home()
    keep({ headers: AUTHORIZED }, BASIC)
    state.standing = standing
    expect(find({ headers: AUTHORIZED }, BASIC)).toBeUndefined()
    state.standing = 'good'
    expect(find({ headers: AUTHORIZED }, BASIC)).toBe(KNOWN)
  })
})

describe('what is not kept', () => {
  it.each<[string, Seen, CredentialSource]>([
    ['more than 8 KiB', { headers: [['Authorization', 'x'.repeat(8193)]] }, BASIC],
    ['what stood there twice', { headers: [...AUTHORIZED, ...AUTHORIZED] }, BASIC],
    ['a cookie that a CSRF value came with', { headers: COOKIE, method: 'POST' }, OIDC],
  ])('%s', (_, seen, source) => {
    const { keep, find } = home()
    keep(seen, source)
    expect(find({ ...seen, method: 'GET' }, source)).toBeUndefined()
  })

  it('a caller that was rejected', () => {
    const identityCache = createConnectionIdentityCache(
      () => 'good',
      () => 0,
    )
    const request = requestOf({ headers: AUTHORIZED })
    const refusal = { kind: 'refused', error: new Error('no'), reason: undefined } as const
    identityCache.keep(request, BASIC, RECORD, refusal)
    expect(identityCache.find(request, BASIC, RECORD)).toBeUndefined()
  })
})
