// Results of actions to operations with `schema.result`: what is sent, counted and logged, and what is refused.

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { Exchange } from '../../../dataplane/actions/performer.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { apiOf, serveGateway, type ServedGateway, type ServedOptions } from './served-gateway.ts'

const opened: AsyncDisposable[] = []

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]()
})

const gatewayOf = async (path: object, options: ServedOptions): Promise<ServedGateway> => {
  const gateway = await serveGateway(options)
  opened.push(gateway)
  await gateway.load(apiOf({ '/x': path }))
  return gateway
}

const RESULT = {
  properties: {
    args: { items: { properties: { id: { type: 'integer' } } } },
    body: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  },
}

const CALL = { action: { type: 'wamp_call', procedure: 'com.a' } }

const calling = (
  path: object,
  result: ValueMap,
  seen: (exchange: Exchange) => void = () => undefined,
) =>
  gatewayOf(
    { schema: { result: RESULT }, get: CALL, ...path },
    {
      wamp: (exchange) => {
        seen(exchange)
        exchange.succeed(result)
      },
    },
  )

const INVALID = { args: [{ id: 'secret text' }] }
const OBSERVED = expect.objectContaining({
  failure: { reason: 'invalid_result', detail: '/args/0/id: type' },
})

describe('a result that is not valid', () => {
  it.each([undefined, 'report'])('is sent, logged and counted by schema_mode %s', async (mode) => {
    const gateway = await calling({ ...(mode && { schema_mode: mode }) }, INVALID)
    const { status, json, headers } = await gateway.ask('GET', '/x')
    expect([status, json()]).toEqual([200, INVALID])
    expect(gateway.results).toEqual(['invalid'])
    expect(gateway.failures).toEqual([OBSERVED])
    expect(gateway.log).toEqual([
      expect.objectContaining({ status: 200, reason: 'invalid_result' }),
    ])
    const [decision] = gateway.decisions.find(String(headers['x-request-id']))
    expect(decision).toContain('"reason":"invalid_result"')
  })

  it('is 502 by schema_mode enforce, with nothing of it', async () => {
    const gateway = await calling({ schema_mode: 'enforce' }, INVALID)
    const { status, text } = await gateway.ask('GET', '/x')
    expect(status).toBe(502)
    expect(text).toContain('"svc.error.invalid_result"')
    expect(text).not.toContain('secret')
    expect([gateway.results, gateway.failures]).toEqual([['invalid'], [OBSERVED]])
  })

  it('is what on_error makes of it', async () => {
    const { error_uri, body } = {
      error_uri: '{{action.error.error_uri}}',
      body: '{{action.error.body}}',
    }
    const on_error = { status_code: 500, body: { error_uri, body } }
    const gateway = await calling(
      { schema_mode: 'enforce', get: { ...CALL, response: { on_error } } },
      INVALID,
    )
    const { status, json } = await gateway.ask('GET', '/x')
    expect([status, json()]).toEqual([500, { error_uri: 'svc.error.invalid_result', body: '' }])
  })
})

it.each(['report', 'enforce'])('a valid result is sent by schema_mode %s', async (mode) => {
  const gateway = await calling({ schema_mode: mode }, { args: [{ id: 7 }] })
  expect((await gateway.ask('GET', '/x')).json()).toEqual({ args: [{ id: 7 }] })
  expect([gateway.results, gateway.failures]).toEqual([['valid'], []])
})

it.each([
  ['report', 200],
  ['enforce', 502],
])('a result that is too expensive to check is, by schema_mode %s, %i', async (mode, status) => {
  const result = { items: { pattern: '(a*)*b' } }
  const gateway = await calling(
    { schema_mode: mode, schema: { result: { properties: { args: result } } } },
    { args: ['a'.repeat(1_000_000)] },
  )
  expect((await gateway.ask('GET', '/x')).status).toBe(status)
  expect(gateway.results).toEqual(['unchecked'])
})

it.each([
  ['report', 'preferred'],
  ['enforce', 'refused'],
])(
  'a call makes events for clients that prefer them, by schema_mode %s: %s',
  async (mode, events) => {
    const seen: string[] = []
    const gateway = await calling({ schema_mode: mode }, { args: [] }, (exchange) => {
      seen.push(exchange.eventStreams)
    })
    await gateway.ask('GET', '/x', { headers: { accept: 'text/event-stream, */*;q=0.1' } })
    expect(seen).toEqual([events])
  },
)

it('what the document itself gives is not checked', async () => {
  const get = { action: { type: 'static', body: 'x' } }
  const gateway = await gatewayOf({ schema: { result: false }, schema_mode: 'enforce', get }, {})
  expect((await gateway.ask('GET', '/x')).status).toBe(200)
  expect(gateway.results).toEqual([])
})

const forwarding = async (path: object, answer: RequestListener): Promise<ServedGateway> => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push({
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  })
  const { port } = server.address() as AddressInfo
  const get = { action: { type: 'forward', host: `http://127.0.0.1:${port}` } }
  return gatewayOf(
    { schema: { result: RESULT }, get, ...path },
    { upstream: createUpstream({ guard: createGuard() }) },
  )
}

const json =
  (text: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    const isGzip = headers['content-encoding'] === 'gzip'
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.end(isGzip ? gzipSync(text) : text)
  }

describe('a forward', () => {
  it('that passes through is counted as not checked by schema_mode report', async () => {
    const gateway = await forwarding({}, json('{ "id": "x" }'))
    const { status, text } = await gateway.ask('GET', '/x')
    expect([status, text]).toEqual([200, '{ "id": "x" }'])
    expect([gateway.results, gateway.failures]).toEqual([['unchecked'], []])
  })

  it.each<[string, RequestListener, number, string]>([
    ['a valid body', json('{ "id": 7 }'), 200, 'valid'],
    ['a compressed body', json('{"id":7}', { 'content-encoding': 'gzip' }), 200, 'valid'],
    ['another body', json('{"id":"secret text"}'), 502, 'invalid'],
    ['a text', json('secret text', { 'content-type': 'text/plain' }), 502, 'invalid'],
    ['no body', (_, response) => response.writeHead(204).end(), 502, 'invalid'],
  ])('with %s is held until it was checked by schema_mode enforce', async (...row) => {
    const [, answer, status, outcome] = row
    const gateway = await forwarding({ schema_mode: 'enforce' }, answer)
    const response = await gateway.ask('GET', '/x')
    expect([response.status, gateway.results]).toEqual([status, [outcome]])
    expect(response.text).not.toContain('secret')
  })

  it('is written as if the document read it', async () => {
    const gateway = await forwarding({ schema_mode: 'enforce' }, json('{ "id": 7 }'))
    const { text, headers } = await gateway.ask('GET', '/x')
    expect([text, headers['content-type']]).toEqual(['{"id":7}', 'application/json'])
  })

  it('is checked for a HEAD, too, by what a GET gives', async () => {
    const gateway = await forwarding({ schema_mode: 'enforce' }, json('{"id":"x"}'))
    expect((await gateway.ask('HEAD', '/x')).status).toBe(502)
  })

  it('with a body that cannot be read is refused by schema_mode enforce', async () => {
    const gateway = await forwarding({ schema_mode: 'enforce' }, json('{secret'))
    const { status, text } = await gateway.ask('GET', '/x')
    expect(status).toBe(504)
    expect(text).not.toContain('secret')
  })

  it("gives the upstream's errors as they come", async () => {
    const gateway = await forwarding({ schema_mode: 'enforce' }, (_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
    })
    const { status, text } = await gateway.ask('GET', '/x')
    expect([status, text, gateway.results]).toEqual([404, 'not here', []])
  })
})
