// Who may have an operation performed: verdicts that come at once, late, never, or wrong.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Exchange } from '../../../dataplane/actions/performer.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import type {
  Authenticate,
  Caller,
  Verdict,
} from '../../../dataplane/security/schemes/authentication.ts'
import { unauthorized } from '../../../dataplane/security/schemes/challenge.ts'
import { eventually } from '../../support/eventually.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { accepted, identityOf, refused } from './verdicts.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const BASIC = { type: 'basic', groups: ['staff'] }
const ECHO = { 'access-control-allow-origin': '{{request.headers.origin}}' }

const secured = (operations: object, security: object = BASIC, headers: object = {}): unknown =>
  apiOf({ '/x': { security, headers, accepts: ['application/json'], ...operations } })

const serve = async (authenticate: Authenticate, document: unknown): Promise<void> => {
  gateway = await serveGateway({ authenticate })
  await gateway.load(document)
}

const ways: readonly (readonly [string, (verdict: Verdict) => ReturnType<Authenticate>])[] = [
  ['at once', (verdict) => verdict],
  ['later', (verdict) => new Promise((resolve) => setImmediate(resolve, verdict))],
]

describe.each(ways)('a verdict that comes %s', (_, give) => {
  it.each([
    ['evaluated', { get: answers('{{security.authid}} {{security.meta.dept}}') }, '"alice hats"'],
    ['fixed', { get: answers('secret') }, '"secret"'],
    [
      'as a whole',
      { get: answers('{{security}}') },
      JSON.stringify(identityOf({ meta: { dept: 'hats' } })),
    ],
  ])('lets the answer through: %s', async (_name, operations, body) => {
    await serve(() => give(accepted({ meta: { dept: 'hats' } })), secured(operations))
    for (let round = 0; round < 2; round++) {
      const answer = await gateway.ask('GET', '/x')
      expect([answer.status, answer.text]).toEqual([200, body])
    }
    const head = await gateway.ask('HEAD', '/x')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(gateway.authentications).toEqual(['basic identity', 'basic identity', 'basic identity'])
    expect(gateway.inFlight.count).toBe(0)
  })

  it.each([
    [401, 'svc.error.unauthorized', unauthorized('basic', 'com.acme')],
    [403, 'svc.error.forbidden', new GatewayError('svc.error.forbidden', 'no')],
    [
      429,
      'svc.error.too_many_requests',
      new GatewayError('svc.error.too_many_requests', 'slower', {
        headers: { 'retry-after': '7' },
      }),
    ],
    [503, 'svc.error.overloaded', new GatewayError('svc.error.overloaded', 'away')],
    [500, 'svc.error.internal', new Error('secret reason')],
  ])('refuses: %i %s', async (status, code, error) => {
    await serve(() => give(refused(error)), secured({ get: answers('secret') }, BASIC, ECHO))
    const answer = await gateway.ask('GET', '/x', { headers: { origin: 'https://app.test' } })
    expect(answer.status).toBe(status)
    expect(answer.json()).toMatchObject({ code })
    expect(answer.text).not.toContain('secret')
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.test',
      ...(error instanceof GatewayError ? error.headers : {}),
    })
    expect([gateway.authentications, gateway.refused]).toEqual([[`basic ${code}`], [code]])
    expect(gateway.unexpected).toHaveLength(status === 500 ? 1 : 0)
    expect(gateway.inFlight.count).toBe(0)
  })

  it('refuses for CSRF with a body of its own', async () => {
    await serve(
      () => give(refused(new GatewayError('svc.error.forbidden', '', { reason: 'csrf' }))),
      secured({ post: answers('done') }, { type: 'oidc' }, ECHO),
    )
    const answer = await gateway.ask('POST', '/x', {
      headers: { accept: 'application/msgpack', origin: 'https://app.test' },
    })
    expect([answer.status, answer.text]).toEqual([403, '{"error":"csrf_validation_failed"}'])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': 'https://app.test',
    })
    expect(gateway.authentications).toEqual(['oidc csrf'])
  })

  it.each([
    ['a type that is not taken', { 'content-type': 'text/plain' }, 'x', 415],
    ['nothing in Accept that is served', { accept: 'image/png' }, undefined, 406],
    ['a body that is broken', { 'content-type': 'application/json' }, '{', 400],
  ])('comes first: %s', async (_name, headers, body, status) => {
    const document = secured({ post: answers('{{request.body}}') })
    const options = { headers, ...(body !== undefined && { body }) }
    await serve(() => give(refused(unauthorized('basic', 'r'))), document)
    expect((await gateway.ask('POST', '/x', options)).status).toBe(401)
    await gateway[Symbol.asyncDispose]()
    await serve(() => give(accepted()), document)
    expect((await gateway.ask('POST', '/x', options)).status).toBe(status)
  })

  it('a body is read after it', async () => {
    await serve(() => give(accepted()), secured({ post: answers('{{request.body.name}}') }))
    const answer = await gateway.ask('POST', '/x', {
      headers: { 'content-type': 'application/json' },
      body: '{"name":"constructor"}',
    })
    expect([answer.status, answer.text]).toEqual([200, '"constructor"'])
  })

  it('OPTIONS is not asked for, nor is what is open', async () => {
    await serve(
      () => give(refused(unauthorized('basic', 'r'))),
      secured({ get: answers('x'), options: { action: {} } }),
    )
    expect((await gateway.ask('OPTIONS', '/x')).status).toBe(204)
    await gateway.load(secured({ get: answers('open') }, {}))
    expect((await gateway.ask('GET', '/x')).text).toBe('"open"')
    expect(gateway.authentications).toEqual([])
  })
})

describe('what is asked', () => {
  it('the demands, the realm, the client', async () => {
    const asked: unknown[] = []
    const authenticate: Authenticate = (security, realmUri, caller: Caller) => {
      const { request, address, requestId } = caller
      asked.push([security, realmUri, address, requestId, request.headers.authorization])
      return accepted()
    }
    gateway = await serveGateway({ authenticate, trustedProxies: ['127.0.0.1'] })
    await gateway.load(secured({ get: answers('x') }))
    await gateway.ask('GET', '/x', {
      headers: {
        authorization: 'Basic YTpi',
        'x-forwarded-for': '198.51.100.7',
        'x-request-id': 'trace-1',
      },
    })
    await gateway.ask('GET', '/x')
    expect(asked).toEqual([
      [BASIC, 'com.acme', '198.51.100.7', 'trace-1', 'Basic YTpi'],
      [BASIC, 'com.acme', '127.0.0.1', 'id-1', undefined],
    ])
  })
})

describe('while it is waited for', () => {
  it('nothing of the body is read; a client that goes is not performed for', async () => {
    let decide: (verdict: Verdict) => void = () => undefined
    const performed: Exchange[] = []
    gateway = await serveGateway({
      authenticate: () =>
        new Promise((resolve) => {
          decide = resolve
        }),
      forward: (exchange) => {
        performed.push(exchange)
      },
    })
    await gateway.load(secured({ post: { action: { type: 'forward', host: 'a' }, response: {} } }))
    const client = await gateway.raw(
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":',
    )
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    client.close()
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    decide(accepted())
    await eventually(() => {
      expect(gateway.statuses).toEqual([499])
    })
    expect([performed, gateway.refused, gateway.unexpected]).toEqual([[], [], []])
    expect(gateway.authentications).toEqual([])
    expect(gateway.inFlight.count).toBe(0)
  })

  it('whoever has gone is known by the address', async () => {
    const seen: string[] = []
    await serve(
      async (_, __, caller) => {
        await eventually(() => {
          expect(caller.request.socket.destroyed).toBe(true)
        })
        seen.push(caller.address)
        return refused(unauthorized('basic', 'r'))
      },
      secured({ get: answers('x') }),
    )
    const client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    client.close()
    await eventually(() => {
      expect([gateway.statuses, seen]).toEqual([[499], ['127.0.0.1']])
    })
    expect(gateway.log[0]?.peername).toMatch(/^127\.0\.0\.1:[1-9]\d+$/)
  })

  it('others are answered', async () => {
    let decide: (verdict: Verdict) => void = () => undefined
    await serve(
      (_, __, { request }) =>
        request.headers['x-slow'] === undefined
          ? accepted()
          : new Promise((resolve) => {
              decide = resolve
            }),
      secured({ get: answers('x') }),
    )
    const slow = gateway.ask('GET', '/x', { headers: { 'x-slow': '1' } })
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    expect((await gateway.ask('GET', '/x')).status).toBe(200)
    decide(accepted())
    expect((await slow).status).toBe(200)
  })
})

describe('an authenticator that breaks its word', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('secret'))],
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
  ] as const)('%s: 500, and nothing is performed', async (_, authenticate) => {
    await serve(authenticate, secured({ get: answers('x') }))
    const answer = await gateway.ask('GET', '/x')
    expect([answer.status, gateway.unexpected]).toEqual([500, [new Error('secret')]])
    expect(answer.text).not.toContain('secret')
    expect(gateway.inFlight.count).toBe(0)
  })
})
