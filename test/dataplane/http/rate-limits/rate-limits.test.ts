// Rate limits as clients see them: through a whole listener.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { parseList } from 'structured-headers'
import type { Authenticate } from '../../../../dataplane/security/schemes/authentication.ts'
import { unauthorized } from '../../../../dataplane/security/schemes/challenge.ts'
import type { HttpResponse } from '../../../support/http-request.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

let gateway: ServedGateway

const identityOf = (authid: string, meta: object) => ({
  type: 'basic' as const,
  realm_uri: 'com.acme',
  authid,
  username: authid,
  authmethod: 'password',
  authroles: [],
  groups: [],
  client_id: '',
  session: '',
  scope: '',
  locale: '',
  meta,
})

/** `x-user` names a caller; without it nobody is known. */
const authenticate: Authenticate = (_security, realmUri, { request }) => {
  const { 'x-user': user, 'x-searches': searches } = request.headers
  const identity = identityOf(String(user), searches === undefined ? {} : { searches })
  return user === undefined
    ? { kind: 'refused', error: unauthorized('basic', realmUri) }
    : ({ kind: 'identity', identity } as never)
}

beforeEach(async () => {
  gateway = await serveGateway({ authenticate, trustedProxies: ['127.0.0.1/32'] })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const LIMIT = { requests: 2, seconds: 60 }
const BASIC = { type: 'basic' }

const load = (path: object, more: Readonly<Record<string, unknown>> = {}): Promise<void> =>
  gateway.load(apiOf({ '/x': { get: answers('yes'), ...path }, '/y': { get: answers('y') } }, more))

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = ({ method = 'GET', path = '/x', headers = {} }: Asked = {}): Promise<HttpResponse> =>
  gateway.ask(method, path, { headers: { 'x-forwarded-for': '192.0.2.1', ...headers } })

const statuses = async (...requests: readonly Asked[]): Promise<readonly number[]> => {
  const seen: number[] = []
  for (const each of requests) seen.push((await ask(each)).status)
  return seen
}

const from = (address: string): Asked => ({ headers: { 'x-forwarded-for': address } })
const as = (user: string, more: object = {}): Asked => ({ headers: { 'x-user': user, ...more } })
const times = (count: number, each: Asked = {}): readonly Asked[] =>
  Array.from({ length: count }, () => each)

/** As a parser of structured fields reads it (RFC 9651). */
const fieldOf = (response: HttpResponse, name: string): unknown =>
  parseList(String(response.headers[name])).map(([value, parameters]): unknown => [
    value,
    Object.fromEntries(parameters),
  ])

describe('a limit', () => {
  it('refuses what is beyond it with 429, and says when to try again', async () => {
    await load({ rate_limits: { calls: LIMIT } })
    const [first, , third] = [await ask(), await ask(), await ask()]
    expect(first.status).toBe(200)
    expect(third.status).toBe(429)
    expect(third.json()).toMatchObject({ code: 'svc.error.too_many_requests' })
    expect(third.headers['retry-after']).toBe('30')
  })

  it('is said in RateLimit and RateLimit-Policy of every response', async () => {
    await load({
      rate_limits: { 'a.b-c_1': LIMIT, second: { requests: 1, seconds: 10, burst: 2, cost: 1 } },
    })
    const allowed = await ask()
    expect(fieldOf(allowed, 'ratelimit-policy')).toEqual([
      ['a.b-c_1', { q: 2, w: 60 }],
      ['second', { q: 1, w: 10 }],
    ])
    expect(fieldOf(allowed, 'ratelimit')).toEqual([
      ['a.b-c_1', { r: 1, t: 30 }],
      ['second', { r: 1, t: 10 }],
    ])
    await ask()
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(fieldOf(refused, 'ratelimit')).toEqual([
      ['a.b-c_1', { r: 0, t: 30 }],
      ['second', { r: 0, t: 10 }],
    ])
    expect(refused.headers['retry-after']).toBe('30')
  })

  it('is said in none where rate_limit_headers is false', async () => {
    await load({ rate_limits: { calls: LIMIT }, rate_limit_headers: false })
    const responses = [await ask(), await ask(), await ask()]
    for (const { headers } of responses) {
      expect(headers).not.toHaveProperty('ratelimit')
      expect(headers).not.toHaveProperty('ratelimit-policy')
    }
    expect(responses[2]?.headers['retry-after']).toBe('30')
  })

  it('stands beside what an upstream says of its own', async () => {
    await load({ rate_limits: { calls: LIMIT }, headers: { ratelimit: '"upstream";r=5;t=1' } })
    expect(fieldOf(await ask(), 'ratelimit')).toEqual([
      ['calls', { r: 1, t: 30 }],
      ['upstream', { r: 5, t: 1 }],
    ])
  })

  it('counts HEAD as GET, and what is not acceptable', async () => {
    await load({ rate_limits: { calls: LIMIT } })
    const requests = [{ method: 'HEAD' }, { headers: { accept: 'image/png' } }, {}]
    expect(await statuses(...requests)).toEqual([200, 406, 429])
  })

  it('counts neither OPTIONS nor what no operation serves', async () => {
    const cors = { origins: ['https://a.test'] }
    await load({ rate_limits: { calls: LIMIT }, cors, options: answers('') })
    const preflight = { origin: 'https://a.test', 'access-control-request-method': 'GET' }
    const options = { method: 'OPTIONS' }
    expect(
      await statuses(
        ...times(3, options),
        ...times(3, { ...options, headers: preflight }),
        ...times(3, { method: 'DELETE' }),
        ...times(3, { path: '/none' }),
        ...times(2),
      ),
    ).toEqual([204, 204, 204, 204, 204, 204, 405, 405, 405, 404, 404, 404, 200, 200])
  })

  it('lets pages of other origins read its refusal', async () => {
    await load({ rate_limits: { calls: { ...LIMIT, requests: 0 } }, cors: { origins: ['*'] } })
    const refused = await ask({ headers: { origin: 'https://a.test' } })
    expect(refused.status).toBe(429)
    expect(refused.headers['access-control-allow-origin']).toBe('*')
  })

  it('is worded by on_refusal', async () => {
    const on_refusal = { body: '{{refusal.code}} {{refusal.status}}' }
    await load({ rate_limits: { calls: { ...LIMIT, requests: 0 } }, on_refusal })
    const refused = await ask()
    expect(refused.json()).toBe('svc.error.too_many_requests 429')
    expect(refused.headers['retry-after']).toBe('60')
  })

  it('is named in the log, the access log and GET /why/:id', async () => {
    await load({ rate_limits: { calls: { ...LIMIT, requests: 0 } } })
    const { headers } = await ask()
    expect(gateway.log.at(-1)).toMatchObject({ status: 429, reason: 'rate_limit' })
    expect(gateway.failures.at(-1)).toMatchObject({ failure: { reason: 'rate_limit' } })
    const [decision = '{}'] = gateway.decisions.find(String(headers['x-request-id']))
    expect(JSON.parse(decision)).toMatchObject({
      step: 'limit',
      reason: 'rate_limit',
      pointer: '/versions/v1/paths/~1x/rate_limits/calls',
    })
  })
})

describe('what is counted together', () => {
  it.each<[string, object, readonly Asked[], readonly number[]]>([
    ['are requests of one address', {}, [...times(3), from('192.0.2.2')], [200, 200, 429, 200]],
    [
      'are those of a /64 of IPv6',
      {},
      ['2001:db8::1', '2001:db8::2:3', '2001:DB8:0:0:9::', '2001:db8:0:1::1'].map(from),
      [200, 200, 429, 200],
    ],
    [
      'is an address of IPv4 in both its forms',
      {},
      ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1'].map(from),
      [200, 200, 429],
    ],
    [
      'are those whose address is not known',
      {},
      [...['unknown', '', 'unknown'].map(from), from('192.0.2.1')],
      [200, 200, 429, 200],
    ],
    [
      'is what by gives',
      { by: '{{request.headers |> get(x-team, none)}}' },
      [...times(3, as('', { 'x-team': 'a' })), ...times(2, as('', { 'x-team': 'b' }))],
      [200, 200, 429, 200, 200],
    ],
    [
      'are those for which by fails, and they are nobody else',
      { by: '{{request.headers.x-team}}' },
      [...times(3), as('', { 'x-team': 'a' })],
      [200, 200, 429, 200],
    ],
    [
      'is everything for a text that is known',
      { by: 'all' },
      ['1.1.1.1', '2.2.2.2', '3.3.3.3'].map(from),
      [200, 200, 429],
    ],
    [
      'counts by what a request costs',
      { requests: 10, cost: '{{request.query_params |> get(size, 1)}}' },
      [{ path: '/x?size=8' }, { path: '/x?size=3' }, { path: '/x?size=2' }, {}],
      [200, 429, 200, 429],
    ],
    [
      'counts a cost that is no number as 1',
      { cost: '{{request.query_params.size}}' },
      ['/x?size=many', '/x?size=-5', '/x'].map((path) => ({ path })),
      [200, 200, 429],
    ],
    [
      'counts as one where the number of requests is none',
      { requests: '{{request.headers.x-plan}}' },
      [
        ...times(1),
        ...times(1, as('', { 'x-plan': 'lots' })),
        ...times(1, as('', { 'x-plan': '1e9' })),
      ],
      [200, 429, 429],
    ],
  ])('%s', async (_, more, requests, expected) => {
    await load({ rate_limits: { calls: { ...LIMIT, ...more } } })
    expect(await statuses(...requests)).toEqual(expected)
    expect(gateway.unexpected).toEqual([])
  })

  it('is reported where a request has nothing to be counted by', async () => {
    await load({ rate_limits: { calls: { ...LIMIT, by: '{{request.headers.x-team}}' } } })
    await statuses({}, as('', { 'x-team': 'a' }))
    expect(gateway.sharedBuckets).toEqual(['no_key'])
  })
})

describe('a place', () => {
  it('that inherits a limit shares it with all that do', async () => {
    await load({}, { defaults: { rate_limits: { calls: LIMIT } } })
    expect(await statuses({}, { path: '/y' }, {}, { path: '/y' })).toEqual([200, 200, 429, 429])
  })

  it.each<[string, object, readonly number[]]>([
    [
      'that replaces it has its own',
      { calls: { requests: 1, seconds: 60 } },
      [200, 200, 200, 429, 429],
    ],
    ['that removes it has none', { calls: {} }, [200, 200, 200, 429, 200]],
    ['that adds one has both', { more: { requests: 1, seconds: 60 } }, [200, 200, 429, 429, 429]],
  ])('%s', async (_, rate_limits, expected) => {
    await load({ rate_limits }, { defaults: { rate_limits: { calls: LIMIT } } })
    const y = { path: '/y' }
    expect(await statuses({}, y, y, y, {})).toEqual(expected)
  })

  it('keeps its counts over a load that leaves the limit as it is, and no other', async () => {
    const limited = (more: object) => load({ rate_limits: { calls: { ...LIMIT, ...more } } })
    await limited({})
    await statuses(...times(2))
    await load({ rate_limits: { calls: LIMIT }, headers: { 'x-new': '1' } })
    expect(await statuses({})).toEqual([429])
    await limited({ requests: 3 })
    expect(await statuses({})).toEqual([200])
  })
})

describe('the order of limits and authentication', () => {
  it('counts those without credentials where no caller is needed', async () => {
    await load({ security: BASIC, rate_limits: { calls: LIMIT } })
    expect(await statuses({}, {}, as('alice'))).toEqual([401, 401, 429])
  })

  it('counts callers apart, and none without credentials', async () => {
    await load({ security: BASIC, rate_limits: { calls: { ...LIMIT, by: '{{security.authid}}' } } })
    expect(await statuses(...times(3), ...times(3, as('alice')), as('bob'))).toEqual([
      401, 401, 401, 200, 200, 429, 200,
    ])
  })

  it('gives callers the numbers of their plan', async () => {
    const plan = { requests: '{{security.meta |> get(searches, 1)}}', seconds: 60 }
    await load({ security: BASIC, rate_limits: { plan: { ...plan, by: '{{security.authid}}' } } })
    const large = as('alice', { 'x-searches': '3' })
    expect(await statuses(...times(4, large), ...times(2, as('bob')))).toEqual([
      200, 200, 200, 429, 200, 429,
    ])
  })

  it('does not count what comes from none of the networks', async () => {
    const security = { networks: ['192.0.2.0/24'] }
    await load({ security, rate_limits: { calls: { ...LIMIT, by: 'all' } } })
    const outside = times(3, from('198.51.100.1'))
    expect(await statuses(...outside, ...times(3))).toEqual([401, 401, 401, 401, 401, 429])
  })
})
