// What a stranger tries against limits: other addresses, keys and costs of his own, and requests that fail for other reasons.

import { afterEach, describe, expect, it } from '@jest/globals'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const LIMIT = { requests: 2, seconds: 60 }
const TRUSTED = ['127.0.0.1/32', '192.0.2.0/24']

const serve = async (
  calls: object,
  {
    path = {},
    trustedProxies = [],
    ...api
  }: Readonly<Record<string, unknown>> & {
    readonly path?: object
    readonly trustedProxies?: readonly string[]
  } = {},
): Promise<void> => {
  gateway = await serveGateway({ trustedProxies })
  const rate_limits = { calls: { ...LIMIT, ...calls } }
  const paths = { '/x': { rate_limits, get: answers('x'), ...path } }
  await gateway.load(apiOf(paths, api))
}

type Head = Readonly<Record<string, string>>

const statuses = async (
  requests: readonly (string | Head)[],
  toHead = (header: string): Head => ({ 'x-forwarded-for': header }),
): Promise<readonly number[]> => {
  const seen: number[] = []
  for (const each of requests) {
    const headers = typeof each === 'string' ? toHead(each) : each
    seen.push((await gateway.ask('GET', '/x', { headers })).status)
  }
  return seen
}

describe('the address of a client', () => {
  it.each<[string, readonly string[], readonly string[], readonly number[]]>([
    [
      'is that of the connection where no proxy is trusted',
      [],
      ['198.51.100.1', '198.51.100.2', '198.51.100.3'],
      [200, 200, 429],
    ],
    [
      'is what the last proxy says, and not what the client has written before it',
      TRUSTED,
      ['203.0.113.1, 198.51.100.1', '203.0.113.2, 198.51.100.1', '::1, 198.51.100.1, 192.0.2.9'],
      [200, 200, 429],
    ],
    [
      'is one, with a port or without',
      TRUSTED,
      ['198.51.100.1:80', '198.51.100.1:81', '198.51.100.1'],
      [200, 200, 429],
    ],
    [
      'of IPv6 is its /64, in every spelling',
      TRUSTED,
      ['[2001:db8::1]:443', '2001:0DB8:0:0:FFFF::', '2001:db8::ffff:192.0.2.1', '2001:db8:0:1::1'],
      [200, 200, 429, 200],
    ],
    [
      'that is no address is one for all of them, and no way around',
      TRUSTED,
      ['198.51.100.1, x', '198.51.100.2, y', '198.51.100.3, ', '198.51.100.1'],
      [200, 200, 429, 200],
    ],
  ])('%s', async (_, trustedProxies, addresses, expected) => {
    await serve({}, { trustedProxies })
    expect(await statuses(addresses)).toEqual(expected)
  })
})

describe('a key that clients choose', () => {
  const by = '{{request.headers |> get(x-key, none)}}'
  const toKey = (key: string): Head => ({ 'x-key': key })
  const LONG = 'k'.repeat(12_000)

  it.each<[string, readonly string[], readonly number[]]>([
    ['counts apart by case', ['a', 'A', 'a', 'a'], [200, 200, 200, 429]],
    [
      'counts apart by its last byte, however long it is',
      [`${LONG}1`, `${LONG}1`, `${LONG}2`, `${LONG}1`],
      [200, 200, 200, 429],
    ],
    [
      'is not the key of those without one, if it is written like theirs',
      ['none', 'none', 'none', 'x'],
      [200, 200, 429, 200],
    ],
    [
      'may be a name of JavaScript',
      ['__proto__', '__proto__', '__proto__', 'constructor'],
      [200, 200, 429, 200],
    ],
  ])('%s', async (_, keys, expected) => {
    await serve({ by })
    expect(await statuses(keys, toKey)).toEqual(expected)
  })

  it('counts together what is the same once it is decoded', async () => {
    await serve({ by: '{{request.query_params |> get(key, none)}}' })
    const seen: number[] = []
    for (const query of ['key=ab', 'key=%61b', 'other=1&key=a%62', 'key=AB'])
      seen.push((await gateway.ask('GET', `/x?${query}`)).status)
    expect(seen).toEqual([200, 200, 429, 200])
  })

  it.each([
    ['a list', "{{request.headers |> get(x-key, none) |> split(',')}}"],
    ['a map', '{{request.headers}}'],
    ['empty', '{{request.headers |> get(x-none, {{variables.none}})}}'],
    ['a failure', '{{request.headers |> get(x-key, none) |> json:decode}}'],
  ])('that is %s counts in the bucket that all such share', async (_, value) => {
    await serve({ by: value }, { variables: { none: '' } })
    expect(await statuses(['a', 'b', 'c'], toKey)).toEqual([200, 200, 429])
    expect([gateway.sharedBuckets, gateway.unexpected]).toEqual([
      ['no_key', 'no_key', 'no_key'],
      [],
    ])
  })
})

describe('a cost that clients choose', () => {
  const cost = '{{request.headers |> get(x-cost, 1)}}'
  const toCost = (text: string): Head => ({ 'x-cost': text })

  it.each<[string, readonly string[], readonly number[]]>([
    ['0 takes nothing', ['0', '0', '0', '1', '1', '1', '0'], [200, 200, 200, 200, 200, 429, 200]],
    ['NaN', ['NaN', 'NaN', 'NaN'], [200, 200, 429]],
    ['-1 gives nothing back', ['-1', '-1', '-1'], [200, 200, 429]],
    ['Infinity', ['Infinity', '1', '1'], [200, 200, 429]],
    ['1e9, 0x2 and 1.5', ['1e9', '0x2', '1.5'], [200, 200, 429]],
    ['digits that are no ASCII', ['\u00b2', '\u00b2', '\u00b2'], [200, 200, 429]],
    ['beyond 10⁹', ['9999999999', '9999999999', '1'], [200, 200, 429]],
    [
      'beyond what the limit holds is refused, and takes nothing',
      ['3', '3', '1', '1'],
      [429, 429, 200, 200],
    ],
  ])('%s', async (_, costs, expected) => {
    await serve({ cost })
    expect(await statuses(costs, toCost)).toEqual(expected)
    expect(gateway.unexpected).toEqual([])
  })

  it('is always refused beyond burst', async () => {
    await serve({ requests: 100, burst: 3, cost: 4 })
    const refused = await gateway.ask('GET', '/x')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect(refused.headers['ratelimit']).toBe('"calls";r=3;t=60')
  })
})

describe('a request that fails for another reason', () => {
  const BODY = {
    post: answers('{{request.body}}'),
    body_max_bytes: 8,
    accepts: ['application/json'],
  }
  const json = { 'content-type': 'application/json' }

  it.each<[string, Head, string, number]>([
    ['400', json, '{', 400],
    ['413', json, '[1,2,3,4,5,6]', 413],
    ['415', { 'content-type': 'text/csv' }, 'a', 415],
    ['406', { ...json, accept: 'image/png' }, '1', 406],
  ])('%s is counted', async (_, headers, body, status) => {
    await serve({}, { path: BODY })
    const seen: number[] = []
    for (const each of [1, 2, 3])
      seen.push((await gateway.ask('POST', `/x?${each}`, { headers, body })).status)
    expect(seen).toEqual([status, status, 429])
  })

  it('304 is counted, and the description of a version has the limits of the defaults', async () => {
    await serve(
      {},
      {
        version: { openapi: { path: '/openapi.json' } },
        defaults: { rate_limits: { all: LIMIT } },
      },
    )
    const { status, headers } = await gateway.ask('GET', '/openapi.json')
    const again = { headers: { 'if-none-match': String(headers.etag) } }
    const second = await gateway.ask('GET', '/openapi.json', again)
    const third = await gateway.ask('GET', '/openapi.json', again)
    expect([status, second.status, third.status]).toEqual([200, 304, 429])
  })
})

describe('a refusal', () => {
  it('is problem details where Accept names them', async () => {
    await serve({ requests: 0 })
    const accept = 'application/problem+json'
    const refused = await gateway.ask('GET', '/x', { headers: { accept } })
    expect(refused.headers).toMatchObject({ 'content-type': accept, 'retry-after': '60' })
    expect(refused.json()).toMatchObject({ status: 429, type: 'svc.error.too_many_requests' })
  })

  it('has no body for HEAD, and says when to try again', async () => {
    await serve({ requests: 0 })
    const { status, text, headers } = await gateway.ask('HEAD', '/x')
    expect([status, text, headers['retry-after']]).toEqual([429, '', '60'])
  })
})
