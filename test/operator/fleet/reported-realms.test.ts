// What data planes say of the sessions of a realm: what its owner is shown of it.

import { describe, expect, it } from '@jest/globals'
import {
  knownReason,
  OTHER_REASON,
  ReportedRealms,
} from '../../../operator/fleet/reported-realms.ts'
import type { RouterRecord } from '../../../language/realm/record.ts'
import { aRealm } from '../../support/desired.ts'

const reportedRealms = (
  ...of: Parameters<ReportedRealms['follow']>
): ReturnType<ReportedRealms['follow']> => new ReportedRealms().follow(...of)

describe('the reason why a session is not open', () => {
  it.each([
    ['closed', 'closed'],
    ['wamp.error.no_such_realm', 'wamp.error.no_such_realm'],
    ['wamp.error.no_such_realm: call +1 555 0100', 'wamp.error.no_such_realm'],
    ['wamp.error.cannot_authenticate: https://evil.example', 'wamp.error.cannot_authenticate'],
    ['wamp.close.killed', 'wamp.close.killed'],
    [
      'wamp.error.net_failure: unreachable, connect ECONNREFUSED 127.0.0.1:8080',
      'wamp.error.net_failure: unreachable, ECONNREFUSED',
    ],
    [
      'wamp.error.net_failure: unreachable, self-signed certificate',
      'wamp.error.net_failure: unreachable, self-signed certificate',
    ],
    ['wamp.error.net_failure: lost, rotate the password', 'wamp.error.net_failure: lost'],
    ['wamp.error.net_failure: rotate the password', 'wamp.error.net_failure'],
    ['wamp.error.constructor', OTHER_REASON],
    ['com.evil.call_us', OTHER_REASON],
    ['', OTHER_REASON],
    [' wamp.error.no_such_realm', OTHER_REASON],
  ])('%j', (reason, shown) => {
    expect(knownReason(reason)).toBe(shown)
  })
})

describe('the address of a session', () => {
  const shownOf = (url: string, router?: RouterRecord): string | undefined => {
    const realm = aRealm('com.shop', { record: { uri: 'com.shop', ...(router && { router }) } })
    const held = new Map([
      ['com.shop', { digest: 'd', sessions: [{ url, state: 'open' as const }] }],
    ])
    return reportedRealms(held, new Map([['com.shop', realm]])).get('com.shop')?.sessions[0]?.url
  }

  it.each<[string, RouterRecord | undefined, string]>([
    ['ws://r/ws', { url: 'ws://r/ws' }, 'ws://r/ws'],
    ['ws://r/ws', { urls: ['ws://a', 'ws://r/ws'] }, 'ws://r/ws'],
    ['wss://r/ws', { url: 'wss://me:secret@r/ws?token=1' }, 'wss://r/ws'],
    ['wss://me:secret@r/ws', { url: 'wss://me:secret@r/ws' }, ''],
    ['wss://evil.example', { url: 'wss://r/ws' }, ''],
    ['wss://evil.example', undefined, ''],
    ['ws://r/ws and call us', { url: 'ws://r/ws' }, ''],
  ])('%s, where the Realm has %j', (url, router, shown) => {
    expect(shownOf(url, router)).toBe(shown)
  })
})

describe('a provider that fails', () => {
  const held = new Map([
    [
      'com.shop',
      {
        digest: 'd',
        sessions: [],
        failingProviders: [
          { provider: 'corp', cause: 'dns' as const },
          { provider: 'constructor', cause: 'dns' as const },
          { provider: 'call us', cause: 'issuer' as const, found: 'https://evil.example' },
        ],
      },
    ],
  ])
  const corp = {
    issuer: 'https://i',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'https://r',
  }

  it('is reported where the Realm has it', () => {
    const record = { uri: 'com.shop', info: { oidc_providers: { corp } } }
    const given = new Map([['com.shop', aRealm('com.shop', { record })]])
    expect(reportedRealms(held, given).get('com.shop')?.failingProviders).toEqual([
      { provider: 'corp', cause: 'dns' },
    ])
  })

  it.each<[string, boolean]>([
    ['a realm without providers', true],
    ['a realm that the data plane was not given', false],
  ])('is not notified of %s', (_, isGiven) => {
    const given = new Map(isGiven ? [['com.shop', aRealm('com.shop', {})]] : [])
    expect(reportedRealms(held, given).get('com.shop')).toEqual({ digest: 'd', sessions: [] })
  })
})

describe('a realm that the data plane was not given', () => {
  it('has no sessions', () => {
    const sessions = [{ url: 'ws://r', state: 'refused' as const, reason: 'no' }]
    const held = new Map([['com.bank', { digest: 'd', sessions }]])
    expect(new Map(reportedRealms(held, new Map()))).toEqual(
      new Map([['com.bank', { digest: 'd', sessions: [] }]]),
    )
  })
})

it('of one report after another, only what has changed is another object, and the rest is as if it had been the first', () => {
  const session = (url: string) => ({ url, state: 'open' as const })
  const held = (url: string) =>
    new Map([
      ['com.shop', { digest: 'd', sessions: [session('ws://shop/ws')] }],
      ['com.bank', { digest: 'd', sessions: [session(url)] }],
    ])
  const given = (url: string) =>
    new Map(
      ['com.shop', 'com.bank'].map((uri) => [
        uri,
        aRealm(uri, {
          record: { uri, router: { url: uri === 'com.shop' ? 'ws://shop/ws' : url } },
        }),
      ]),
    )
  const realms = new ReportedRealms()
  const first = held('ws://a/ws')
  const second = new Map(first).set('com.bank', { digest: 'e', sessions: [session('ws://b/ws')] })
  const wanted = given('ws://a/ws')
  const other = new Map(wanted).set(
    'com.bank',
    given('ws://b/ws').get('com.bank') ?? aRealm('com.bank'),
  )
  const reports = [
    realms.follow(first, wanted),
    realms.follow(second, wanted),
    realms.follow(second, other),
    realms.follow(new Map(first), other),
  ]
  expect(reports.map((report) => report.get('com.bank')?.sessions[0]?.url)).toEqual([
    'ws://a/ws',
    '',
    'ws://b/ws',
    '',
  ])
  expect(new Set(reports.map((report) => report.get('com.shop'))).size).toBe(1)
  expect(realms.follow(new Map(), other).size).toBe(0)
})
