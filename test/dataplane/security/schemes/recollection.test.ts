import { describe, expect, it } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { ALWAYS, type Known } from '../../../../dataplane/security/schemes/attempt.ts'
import type { Identity } from '../../../../dataplane/security/schemes/authentication.ts'
import {
  type Bearing,
  createRecollections,
} from '../../../../dataplane/security/schemes/recollection.ts'
import type { Standing } from '../../../../dataplane/security/schemes/revocation-gate.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

type Headers = readonly (readonly [string, string])[]

const RECORD: RealmRecord = { uri: 'com.example' }
const KNOWN: Known = { kind: 'identity', identity: {} as Identity, grounds: ALWAYS }
const BASIC: Bearing = { scheme: 'basic', header: 'authorization', mayBeCookie: false }
const KEY: Bearing = { scheme: 'api_key', header: 'x-api-key', mayBeCookie: false }
const OIDC: Bearing = { scheme: 'oidc', header: 'authorization', mayBeCookie: true }
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
  const state: { standing: Standing } = { standing: 'good' }
  const recollections = createRecollections(
    () => state.standing,
    () => clock.now(),
  )
  return {
    clock,
    state,
    keep: (seen: Seen, bearing: Bearing) => {
      recollections.keep(requestOf(seen), bearing, RECORD, known)
    },
    find: (seen: Seen, bearing: Bearing, record = RECORD) =>
      recollections.find(requestOf(seen), bearing, record),
  }
}

describe('what is known again', () => {
  it.each<[string, Seen, Bearing]>([
    ['the same Authorization', { headers: AUTHORIZED }, BASIC],
    ['in another spelling of its name', { headers: [['AUTHORIZATION', 'Basic abc']] }, BASIC],
    ['among others', { headers: [['Host', 'a'], ...AUTHORIZED, ['Cookie', 'x']] }, BASIC],
    ['whatever the method is', { headers: AUTHORIZED, method: 'POST' }, BASIC],
  ])('%s', (_, seen, bearing) => {
    const { keep, find } = home()
    keep({ headers: AUTHORIZED }, bearing)
    expect(find(seen, bearing)).toBe(KNOWN)
  })

  it.each<[string, Headers, Bearing]>([
    ['a key', [['X-API-Key', 'k']], KEY],
    ['a ticket in its cookie', COOKIE, OIDC],
    ['a ticket in a header, beside a cookie', [['authorization', 'Bearer t'], ...COOKIE], OIDC],
  ])('%s', (_, headers, bearing) => {
    const { keep, find } = home()
    keep({ headers }, bearing)
    expect(find({ headers }, bearing)).toBe(KNOWN)
  })
})

describe('what is asked anew', () => {
  it.each<[string, Seen, Bearing]>([
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
  ])('%s', (_, seen, bearing) => {
    const { keep, find } = home()
    keep({ headers: AUTHORIZED }, BASIC)
    expect(find(seen, bearing)).toBeUndefined()
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
    const known = { ...KNOWN, grounds: { until, revocationKeys: [] } }
    const { keep, find, clock } = home({ known })
    keep({ headers: AUTHORIZED }, BASIC)
    clock.advance(999)
    expect(find({ headers: AUTHORIZED }, BASIC)).toBe(known)
    clock.advance(1)
    expect(find({ headers: AUTHORIZED }, BASIC)).toBeUndefined()
  })

  it.each<Standing>(['revoked', 'unknown'])('while it is %s', (standing) => {
    const { keep, find, state } = home()
    keep({ headers: AUTHORIZED }, BASIC)
    state.standing = standing
    expect(find({ headers: AUTHORIZED }, BASIC)).toBeUndefined()
    state.standing = 'good'
    expect(find({ headers: AUTHORIZED }, BASIC)).toBe(KNOWN)
  })
})

describe('what is not kept', () => {
  it.each<[string, Seen, Bearing]>([
    ['more than 8 KiB', { headers: [['Authorization', 'x'.repeat(8193)]] }, BASIC],
    ['what stood there twice', { headers: [...AUTHORIZED, ...AUTHORIZED] }, BASIC],
    ['a cookie that a CSRF value came with', { headers: COOKIE, method: 'POST' }, OIDC],
  ])('%s', (_, seen, bearing) => {
    const { keep, find } = home()
    keep(seen, bearing)
    expect(find({ ...seen, method: 'GET' }, bearing)).toBeUndefined()
  })

  it('whoever was refused', () => {
    const recollections = createRecollections(
      () => 'good',
      () => 0,
    )
    const request = requestOf({ headers: AUTHORIZED })
    const refusal = { kind: 'refused', error: new Error('no'), reason: undefined } as const
    recollections.keep(request, BASIC, RECORD, refusal)
    expect(recollections.find(request, BASIC, RECORD)).toBeUndefined()
  })
})
