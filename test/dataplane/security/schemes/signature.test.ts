// Signed requests, signed as their senders sign them: what counts, what comes again, and what is never read or stored.

import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type { AuthenticateResult } from '../../../../dataplane/security/schemes/authentication.ts'
import { SharedStateError } from '../../../../dataplane/shared/shared-state.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { callerOf, REALM, type SecurityHome, securityHome } from '../security-home.ts'

const OLD = 'whsec_b2xkIHNlY3JldCBvZiB0aGUgcGFydG5lcg=='
const NEW = 'whsec_bmV3IHNlY3JldCBvZiB0aGUgcGFydG5lcg=='

const REALM_RECORD: RealmRecord = {
  uri: REALM,
  users: [{ username: 'partner', groups: ['staff'] }],
  signatures: {
    partner: { secrets: [NEW, OLD] },
    hub: { preset: 'github', secrets: ["It's a Secret to Everybody"] },
    pay: { preset: 'stripe', secrets: ['whsec_test_secret'] },
    bazapp: { preset: 'crossbar', secrets: ['foobar'], max_age_secs: 60 },
  },
}

const BODY = '{"topic":"com.test.messages","args":["Größe"]}'

interface Delivery {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: string
  /** How long it takes until it is whole. */
  readonly bodySeconds?: number
}

let home: SecurityHome
let answered: ((status: number) => void)[]
let bodiesRead: number

const open = (record: RealmRecord = REALM_RECORD, fails?: Error): void => {
  answered = []
  bodiesRead = 0
  home = securityHome({
    realms: [record],
    wrap: (shared) => {
      if (fails !== undefined) shared.replace = () => Promise.reject(fails)
      return shared
    },
  })
}

afterEach(async () => {
  await home.shared.close()
})

const send = async (
  signature: string,
  { headers = {}, query = '', body = BODY, bodySeconds = 0 }: Delivery,
): Promise<AuthenticateResult> =>
  home.authenticate({ type: 'hmac', signature }, REALM, {
    ...callerOf(Object.entries(headers), { method: 'POST' }),
    whole: {
      query,
      readBody: () => {
        bodiesRead++
        home.clock.advance(bodySeconds * 1000)
        return Promise.resolve(Buffer.from(body))
      },
      onAnswered: (listener) => answered.push(listener),
    },
  })

/** As the reference library of Standard Webhooks signs. */
const standard = ({ id = 'msg_1', secret = NEW, body = BODY, agoSeconds = 0 } = {}): Readonly<
  Record<string, string>
> => {
  const time = Math.floor(home.clock.now() / 1000 - agoSeconds)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${mac}` }
}

const stripe = (secret = 'whsec_test_secret'): Readonly<Record<string, string>> => {
  const time = Math.floor(home.clock.now() / 1000)
  const mac = createHmac('sha256', secret).update(`${time}.${BODY}`).digest('hex')
  return { 'stripe-signature': `t=${time},v1=${mac},v0=6ffbb59b2300aae63f272406069a9788598b792a` }
}

/** As the test client of Crossbar.io signs. */
const crossbar = (key = 'bazapp', secret = 'foobar'): string => {
  const timestamp = new Date(home.clock.now()).toISOString()
  const mac = createHmac('sha256', secret).update(`${key}${timestamp}1`).update('9007199254740992')
  const signature = mac.update(BODY).digest('base64').replaceAll('+', '-').replaceAll('/', '_')
  return new URLSearchParams({
    timestamp,
    seq: '1',
    key,
    nonce: '9007199254740992',
    signature,
  }).toString()
}

const outcome = (result: AuthenticateResult): string => {
  if (result.kind === 'identity') return result.identity.authid
  if (result.kind !== 'refused' || !(result.error instanceof GatewayError)) return result.kind
  return `${result.error.code.replace('svc.error.', '')} ${result.error.reason ?? ''}`.trim()
}

describe('a delivery that is sent again', () => {
  const timed = (...signatures: readonly string[]): Delivery => {
    const [time = ''] = stripe()['stripe-signature']?.split(',') ?? []
    return { headers: { 'stripe-signature': [time, ...signatures].join(',') } }
  }
  const right = (secret?: string): string => stripe(secret)['stripe-signature']?.split(',')[1] ?? ''
  const wrong = `v1=${'0'.repeat(64)}`

  it.each([
    ['a wrong signature is added', () => [right(), wrong]],
    ['a wrong signature comes first', () => [wrong, right()]],
    ['its signature stands twice', () => [right(), right()]],
  ])('is taken once, also where %s', async (_, again) => {
    open()
    expect(outcome(await send('pay', timed(right())))).toBe('pay')
    expect(outcome(await send('pay', timed(...again())))).toBe('conflict signature_replayed')
  })

  it('is too old once its body has taken longer than it is remembered', async () => {
    open()
    const head = standard({ agoSeconds: 290 })
    expect(outcome(await send('partner', { headers: head, bodySeconds: 11 }))).toBe(
      'unauthorized signature_expired',
    )
  })
})

describe('a delivery', () => {
  it('names who signed it, and is no user of the realm', async () => {
    open()
    expect(await send('partner', { headers: standard() })).toMatchObject({
      kind: 'identity',
      identity: { type: 'hmac', authid: 'partner', authmethod: 'hmac', groups: [], authroles: [] },
    })
  })

  it.each<[string, () => Delivery, string]>([
    ['partner', () => ({ headers: standard() }), 'partner'],
    ['partner', () => ({ headers: standard({ secret: OLD }) }), 'partner'],
    ['partner', () => ({ headers: standard({ agoSeconds: 299 }) }), 'partner'],
    ['partner', () => ({ headers: standard({ agoSeconds: -299 }) }), 'partner'],
    ['pay', () => ({ headers: stripe() }), 'pay'],
    ['bazapp', () => ({ query: crossbar() }), 'bazapp'],
    // The example of GitHub's documentation.
    [
      'hub',
      () => ({
        body: 'Hello, World!',
        headers: {
          'x-hub-signature-256':
            'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
        },
      }),
      'hub',
    ],
    [
      'partner',
      () => ({ headers: standard({ agoSeconds: 301 }) }),
      'unauthorized signature_expired',
    ],
    [
      'partner',
      () => ({ headers: standard({ agoSeconds: -302 }) }),
      'unauthorized signature_expired',
    ],
    ['partner', () => ({ headers: standard(), body: `${BODY} ` }), 'unauthorized signature_wrong'],
    [
      'partner',
      () => ({ headers: { ...standard(), 'webhook-id': 'msg_2' } }),
      'unauthorized signature_wrong',
    ],
    [
      'partner',
      () => ({ headers: standard({ secret: 'whsec_YW5vdGhlciBzZWNyZXQ=' }) }),
      'unauthorized signature_wrong',
    ],
    ['pay', () => ({ headers: stripe('test_secret') }), 'unauthorized signature_wrong'],
    ['bazapp', () => ({ query: crossbar('spamapp') }), 'unauthorized signature_malformed'],
    ['bazapp', () => ({ query: crossbar('bazapp', 'foobar2') }), 'unauthorized signature_wrong'],
    ['partner', () => ({}), 'unauthorized'],
    ['nobody', () => ({ headers: standard() }), 'unauthorized'],
    ['toString', () => ({ headers: standard() }), 'unauthorized'],
  ])(
    '%s %# is judged by its signature, its time and its bytes',
    async (name, delivery, expected) => {
      open()
      expect(outcome(await send(name, delivery()))).toBe(expected)
    },
  )

  it('whose head is wrong is refused before its body is read, with a challenge', async () => {
    open()
    for (const headers of [
      {},
      standard({ agoSeconds: 999 }),
      { ...standard(), 'webhook-id': '' },
    ]) {
      const result = await send('partner', { headers })
      expect(result).toMatchObject({
        error: { headers: { 'www-authenticate': `Signature realm="${REALM}"` } },
      })
    }
    expect(bodiesRead).toBe(0)
  })

  it('is audited by what is wrong, and no signature stands there', async () => {
    open()
    const headers = standard({ secret: 'whsec_YW5vdGhlciBzZWNyZXQ=' })
    await send('partner', { headers })
    expect(home.audited).toMatchObject([
      { reason: 'signature_wrong', scheme: 'hmac', authid: 'partner' },
    ])
    expect(JSON.stringify(home.audited)).not.toContain(headers['webhook-signature']?.slice(3))
  })

  it('whose body can not be read says so itself', async () => {
    open()
    const tooLarge = new GatewayError('svc.error.payload_too_large', 'too large')
    const result = await home.authenticate({ type: 'hmac', signature: 'partner' }, REALM, {
      ...callerOf(Object.entries(standard())),
      whole: { query: '', readBody: () => Promise.reject(tooLarge), onAnswered: () => undefined },
    })
    expect(result).toMatchObject({ kind: 'refused', error: tooLarge })
  })
})

it('counts as Standard Webhooks has published it', async () => {
  open({
    uri: REALM,
    signatures: { partner: { secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] } },
  })
  home.clock = createManualClock({ startMs: 1_614_265_330_000 })
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const result = await send('partner', { headers, body: '{"test": 2432232314}' })
  expect(outcome(result)).toBe('partner')
})

describe('a delivery that comes again', () => {
  it.each<[string, () => Delivery]>([
    ['partner', () => ({ headers: standard() })],
    ['pay', () => ({ headers: stripe() })],
    ['bazapp', () => ({ query: crossbar() })],
  ])('of %s is refused with 409, also while the first is in progress', async (name, sign) => {
    open()
    const delivery = sign()
    const results = await Promise.all([send(name, delivery), send(name, delivery)])
    expect(results.map(outcome)).toEqual([name, 'conflict signature_replayed'])
    answered[0]?.(200)
    expect(outcome(await send(name, delivery))).toBe('conflict signature_replayed')
  })

  it('of a sender without timestamps passes, and nothing is stored', async () => {
    open(REALM_RECORD, new SharedStateError('unavailable', 'nothing may be stored'))
    const mac = createHmac('sha256', "It's a Secret to Everybody").update(BODY).digest('hex')
    const delivery = { headers: { 'x-hub-signature-256': `sha256=${mac}` } }
    expect(outcome(await send('hub', delivery))).toBe('hub')
    expect(outcome(await send('hub', delivery))).toBe('hub')
  })

  it('as a retry, with a time of its own, passes', async () => {
    open()
    expect(outcome(await send('partner', { headers: standard() }))).toBe('partner')
    home.clock.advance(5000)
    expect(outcome(await send('partner', { headers: standard() }))).toBe('partner')
  })

  it('is remembered for as long as its time counts, however early it was', async () => {
    open()
    const headers = standard({ agoSeconds: -290 })
    expect(outcome(await send('partner', { headers }))).toBe('partner')
    home.clock.advance(589_000)
    expect(outcome(await send('partner', { headers }))).toBe('conflict signature_replayed')
    home.clock.advance(2000)
    expect(outcome(await send('partner', { headers }))).toBe('unauthorized signature_expired')
  })

  it.each([
    [200, 'conflict signature_replayed'],
    [302, 'conflict signature_replayed'],
    [403, 'conflict signature_replayed'],
    // The client has gone: nobody knows what became of it.
    [499, 'conflict signature_replayed'],
    [429, 'partner'],
    [500, 'partner'],
    [503, 'partner'],
  ])('after %i is %s', async (status, expected) => {
    open()
    const headers = standard()
    await send('partner', { headers })
    answered[0]?.(status)
    const again = await send('partner', { headers })
    expect(outcome(again)).toBe(expected)
    // Once more it is one that was taken.
    expect(outcome(await send('partner', { headers }))).toBe('conflict signature_replayed')
  })

  it('may be the same id of another signature or realm', async () => {
    const other = {
      ...REALM_RECORD,
      signatures: { partner: { secrets: [NEW] }, b: { secrets: [NEW] } },
    }
    open(other)
    const headers = standard()
    expect(outcome(await send('partner', { headers }))).toBe('partner')
    expect(outcome(await send('b', { headers }))).toBe('b')
  })

  it('is refused where it can not be found out, for a moment', async () => {
    open(REALM_RECORD, new SharedStateError('unavailable', 'Redis is away'))
    expect(await send('partner', { headers: standard() })).toMatchObject({
      error: { code: 'svc.error.overloaded', headers: { 'retry-after': '1' } },
    })
  })
})

it('what is not signed rightly is never stored, however much comes', async () => {
  open(REALM_RECORD, new SharedStateError('full', 'nothing may be stored'))
  const wrong = standard({ secret: 'whsec_YW5vdGhlciBzZWNyZXQ=' })
  for (const headers of [{}, wrong, standard({ agoSeconds: 999 })])
    expect(outcome(await send('partner', { headers }))).toContain('unauthorized')
})

describe('a signature in a list', () => {
  const LIST = [
    { type: 'hmac', signature: 'partner' },
    { type: 'api_key', headerName: 'x-key' },
    { type: 'anonymous' },
  ] as const

  it.each<[string, () => Readonly<Record<string, string>>, string]>([
    ['a right signature', () => standard(), 'partner'],
    ['a wrong one', () => standard({ agoSeconds: 999 }), 'unauthorized signature_expired'],
    ['a right one and a wrong key', () => ({ ...standard(), 'x-key': 'guess' }), 'unauthorized'],
    ['a signature that is not listed', () => stripe(), 'anonymous'],
    ['nothing', () => ({}), 'anonymous'],
  ])('with %s is decided by what is there', async (_, headers, expected) => {
    open()
    const result = await home.authenticate(LIST, REALM, {
      ...callerOf(Object.entries(headers())),
      whole: {
        query: '',
        readBody: () => Promise.resolve(Buffer.from(BODY)),
        onAnswered: () => undefined,
      },
    })
    expect(outcome(result)).toBe(expected)
  })
})
