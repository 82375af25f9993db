// Tests what is recorded of requests to a real server: every failure with the step that decided it, one success in a
// hundred, and nothing that a client has sent.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Decision } from '../../../dataplane/decisions/decision.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { forbidden, rejected } from '../../../dataplane/security/schemes/challenge.ts'
import type { HttpOptions } from '../../support/http-request.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
  type ServedOptions,
} from './served-gateway.ts'
import { accepted, refused } from './verdicts.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const DOCUMENT = apiOf(
  {
    '/open': { get: answers('hello') },
    '/echo/:name': {
      get: answers('{{request.headers.absent}}'),
      post: answers('{{request.body}}'),
    },
    '/gone': { get: answers('gone', { on_result: { status_code: 410 } }) },
    '/away': { get: { action: { type: 'forward', host: 'a' } } },
    '/basic': {
      security: { type: 'basic', groups: ['staff'] },
      get: answers('for {{security.authid}}'),
    },
    '/secure': { schemes: ['https'], get: answers('x') },
    '/named/:id/parts': { get: answers('part') },
  },
  { id: 'shop', host: 'a.test' },
)

const serve = async (options: ServedOptions = {}): Promise<void> => {
  gateway = await serveGateway({
    trustedProxies: ['127.0.0.1', '::ffff:127.0.0.1'],
    forward: (exchange) => {
      exchange.explain({
        reason: 'timeout',
        upstream: 'http://upstream.test',
        attempts: 3,
        detail: 'what the system said',
      })
      exchange.fail({
        error_uri: 'svc.error.timeout',
        args: [],
        kwargs: {},
        details: {},
        status_code: 504,
        headers: {},
        body: 'hidden-text-of-a-client',
        message: 'hidden-text-of-a-client',
      })
    },
    ...options,
  })
  await gateway.load(DOCUMENT)
}

const ask = async (
  method: string,
  path: string,
  { headers, ...more }: Omit<HttpOptions, 'method'> = {},
): Promise<readonly Decision[]> => {
  await gateway.ask(method, path, { ...more, headers: { ...headers, 'x-request-id': 'asked' } })
  return gateway.decisions.find('asked').map((text) => JSON.parse(text) as Decision)
}

describe('A failure is recorded with the step that decided it', () => {
  it.each<[string, string, Omit<HttpOptions, 'method'>, Partial<Decision>]>([
    [
      'GET',
      '/nothing',
      {},
      {
        status: 404,
        step: 'match',
        code: 'svc.error.not_found',
        tried: [
          expect.objectContaining({
            document: 'shop',
            host: 'a.test',
            matchedSegments: 0,
            reason: 'segment',
          }),
        ] as never,
      },
    ],
    [
      'GET',
      '/named/42',
      {},
      {
        tried: [
          {
            document: 'shop',
            host: 'a.test',
            path: '/named/:id/parts',
            matchedSegments: 2,
            reason: 'path too short',
          },
        ],
      },
    ],
    [
      'GET',
      '/open',
      { headers: { host: 'hidden-text-of-a-client.test' } },
      { status: 404, step: 'match', tried: [] },
    ],
    [
      'PUT',
      '/open',
      {},
      {
        status: 405,
        step: 'method',
        method: 'put',
        tried: [
          { document: 'shop', host: 'a.test', path: '/open', matchedSegments: 1, reason: 'method' },
        ],
      },
    ],
    [
      'GET',
      '/secure',
      {},
      {
        status: 404,
        step: 'scheme',
        tried: [expect.objectContaining({ reason: 'scheme' })] as never,
      },
    ],
    ['GET', '/%zz', {}, { status: 400, step: 'head', tried: [] }],
    [
      'GET',
      '/echo/x',
      {},
      {
        status: 400,
        step: 'expression',
        code: 'svc.error.invalid_data',
        pointer: '/versions/v1/paths/~1echo~1:name/get/action/body',
        document: {
          id: 'shop',
          version: 'v1',
          realm: 'com.acme',
          path: '/echo/:name',
          action: 'static',
        },
      },
    ],
    [
      'POST',
      '/echo/x',
      { body: '{', headers: { 'content-type': 'application/json' } },
      { status: 400, step: 'body' },
    ],
    [
      'POST',
      '/echo/x',
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      { status: 415, step: 'negotiate' },
    ],
    ['GET', '/open', { headers: { accept: 'image/png' } }, { status: 406, step: 'negotiate' }],
    ['GET', '/gone', {}, { status: 410, step: 'response' }],
    [
      'GET',
      '/away',
      {},
      {
        status: 504,
        step: 'action',
        code: 'svc.error.timeout',
        reason: 'timeout',
        attempts: 3,
        pointer: '/versions/v1/paths/~1away/get/action',
      },
    ],
    ['GET', '/basic', {}, { status: 401, step: 'authenticate', code: 'svc.error.unauthorized' }],
  ])('%s %s %j', async (method, path, options, expected) => {
    await serve()
    const [decision, ...others] = await ask(method, path, options)
    expect(decision).toMatchObject({ id: 'asked', process: 7, ...expected })
    expect(others).toEqual([])
  })
})

describe('A refusal is recorded with the place in the document', () => {
  it('of the requirement that the caller does not meet', async () => {
    const pointer = '/versions/v1/paths/~1basic/security/groups'
    await serve({
      authenticate: ([security]) =>
        refused(forbidden('basic', 'com.acme', undefined, `${security?.pointer ?? ''}/groups`)),
    })
    const [decision] = await ask('GET', '/basic')
    expect(decision).toMatchObject({ status: 403, step: 'requirements', pointer })
  })

  it('of a token that was refused, of which the client gets no reason', async () => {
    const token = { reason: 'audience', claim: 'aud', expected: 'the-api' } as const
    await serve({ authenticate: () => refused(rejected('oauth2', 'com.acme', token)) })
    const response = await gateway.ask('GET', '/basic', { headers: { 'x-request-id': 'token' } })
    expect(response.text + JSON.stringify(response.headers)).not.toMatch(/aud|the-api/)
    const [decision] = gateway.decisions.find('token').map((text) => JSON.parse(text) as unknown)
    expect(decision).toMatchObject({ status: 401, step: 'authenticate', ...token })
    expect(gateway.failures).toEqual([])
  })

  it('but of a missing CSRF token, which no document asks for', async () => {
    const error = new GatewayError('svc.error.forbidden', 'no', { reason: 'csrf' })
    await serve({ authenticate: () => refused(error) })
    const [decision] = await ask('GET', '/basic')
    expect(decision).toMatchObject({ status: 403, step: 'authenticate' })
    expect(decision).not.toHaveProperty('pointer')
  })
})

describe('A flood of failures', () => {
  it('is recorded up to 50 in a second for each document and cause, with the number of the rest', async () => {
    const clock = createManualClock({ startMs: 5000 })
    await serve({ now: () => clock.now() })
    const flood = async (count: number, path: string): Promise<number> => {
      const ids = Array.from({ length: count }, (_, at) => `${clock.now()}-${path}-${at}`)
      for (const id of ids) await gateway.ask('GET', path, { headers: { 'x-request-id': id } })
      return ids.filter((id) => gateway.decisions.find(id).length > 0).length
    }
    expect(await flood(60, '/echo/x')).toBe(50)
    expect(await flood(60, '/gone')).toBe(50)
    expect(await flood(60, '/nothing')).toBe(50)
    clock.advance(1000)
    const [next] = await ask('GET', '/echo/x')
    expect(next?.more).toBe(10)
    const [after] = await ask('GET', '/echo/x')
    expect(after).not.toHaveProperty('more')
  })
})

describe('What a client sends is not recorded', () => {
  const SECRET = 'hidden-text-of-a-client'
  it.each<[string, string, Omit<HttpOptions, 'method'>]>([
    ['GET', `/${SECRET}`, {}],
    ['GET', `/named/${SECRET}`, {}],
    ['GET', `/named/${SECRET}/parts/${SECRET}?${SECRET}=${SECRET}`, {}],
    ['GET', `/echo/${SECRET}?a=${SECRET}`, {}],
    ['GET', '/open', { headers: { host: `${SECRET}.test` } }],
    ['PUT', `/echo/${SECRET}`, { body: SECRET }],
    [
      'POST',
      `/echo/${SECRET}`,
      { body: `{"a":${SECRET}`, headers: { 'content-type': 'application/json' } },
    ],
    ['GET', '/basic', { headers: { authorization: `Basic ${SECRET}`, cookie: `a=${SECRET}` } }],
    ['GET', '/open', { headers: { accept: `image/${SECRET}` } }],
    ['HIDDEN-TEXT-OF-A-CLIENT', '/open', {}],
    ['GET', '/away', {}],
  ])('%s %s %j', async (method, path, options) => {
    await serve()
    await ask(method, path, options)
    const texts = gateway.decisions.find('asked')
    for (const text of texts) expect(text.toLowerCase()).not.toContain(SECRET)
    // Node rejects a method that it does not know before there is a request.
    expect(texts).toHaveLength(method === 'HIDDEN-TEXT-OF-A-CLIENT' ? 0 : 1)
  })

  it('has what the log has of an upstream that failed', async () => {
    await serve()
    expect(await ask('GET', '/away', {})).toMatchObject([
      { reason: 'timeout', upstream: 'http://upstream.test', detail: 'what the system said' },
    ])
  })

  it.each([
    ['/orders/4711/secret', { path: '/orders/…/…' }],
    ['/named/4711/parts', { path: '/named/…/…' }],
  ])('has of %s what says no value', async (path, kept) => {
    await serve()
    expect(await ask('DELETE', path, {})).toMatchObject([kept])
  })

  it('bounds what it records of a long path', async () => {
    await serve()
    await ask('GET', `/${'a/'.repeat(6000)}`)
    const [text = ''] = gateway.decisions.find('asked')
    expect(JSON.parse(text)).toMatchObject({ status: 404, pathLength: 12_001 })
    expect(text.length).toBeLessThan(1000)
  })
})

describe('The caller', () => {
  const authenticate = () => accepted({ authid: 'alice' })

  it('is shown as a hash alone', async () => {
    await serve({ authenticate })
    const [decision] = await ask('GET', '/basic', { headers: { accept: 'image/png' } })
    expect(decision?.caller).toEqual({
      scheme: 'basic',
      method: 'password',
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
  })

  it('has another hash in another realm', async () => {
    const hashes = new Set<string | undefined>()
    for (const realm of ['com.acme', 'com.other']) {
      await serve({ authenticate: () => accepted({ realm_uri: realm }) })
      const [decision] = await ask('GET', '/basic', { headers: { accept: 'image/png' } })
      hashes.add(decision?.caller?.hash)
      if (realm === 'com.acme') await gateway[Symbol.asyncDispose]()
    }
    expect(hashes.size).toBe(2)
  })

  it('is not recorded where credentials were rejected', async () => {
    await serve({ authenticate: () => refused(new GatewayError('svc.error.forbidden', 'no')) })
    const [decision] = await ask('GET', '/basic')
    expect(decision).toMatchObject({ status: 403, step: 'authenticate' })
    expect(decision).not.toHaveProperty('caller')
  })
})

it('One success in a hundred is recorded', async () => {
  await serve()
  for (let i = 0; i < 200; i++)
    await gateway.ask('GET', '/open', { headers: { 'x-request-id': `ok-${i}` } })
  const kept = Array.from({ length: 200 }, (_, i) => `ok-${i}`).filter(
    (id) => gateway.decisions.find(id).length > 0,
  )
  expect(kept).toEqual(['ok-99', 'ok-199'])
})

it('The id of a client behind no trusted proxy is not the id of its decision', async () => {
  await serve({ trustedProxies: [] })
  const response = await gateway.ask('GET', '/nothing', { headers: { 'x-request-id': 'chosen' } })
  expect(gateway.decisions.find('chosen')).toEqual([])
  expect(gateway.decisions.find(String(response.headers['x-request-id']))).toHaveLength(1)
})
