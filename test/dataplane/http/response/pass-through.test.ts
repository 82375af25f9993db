// What a client gets of an upstream's response at which moment, from the upstream's socket to the client's.

import { buffer } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import type { Socket } from 'node:net'
import { eventually } from '../../../support/eventually.ts'
import { openRequest } from '../../../support/http-request.ts'
import { headerValues } from '../../../support/raw-client.ts'
import { serveUpstream, type ServedParts } from './forward-server.ts'

const HEADS = {
  events: 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n',
  'chunked events':
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
  'chunked JSON':
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
  'a known length': 'HTTP/1.1 206 OK\r\ncontent-length: 100\r\n\r\n',
  'until the end of the connection': 'HTTP/1.1 200 OK\r\n\r\n',
  'a 201': 'HTTP/1.1 201 OK\r\nlocation: /y\r\ncontent-length: 100\r\n\r\n',
}

const ways = Object.entries(HEADS).flatMap(([name, head]) =>
  ['GET', 'POST'].map((method) => [name, method, head] as const),
)

it.each(ways)(
  'the head comes before the first byte of the body: %s, %s',
  async (...[, method, head]) => {
    const { gateway, server } = await serveUpstream(head)
    const incoming = await openRequest(`${gateway.url}/x`, { method })
    expect(incoming.statusCode).toBe(Number(head.slice(9, 12)))
    // The client leaves without a byte, and the upstream hears of it.
    incoming.on('error', () => undefined).destroy()
    await eventually(() => {
      expect([server.open(), gateway.inFlight.count]).toEqual([0, 0])
    })
  },
)

it('the head comes while the upstream still reads the request', async () => {
  const { gateway, sockets } = await serveUpstream(HEADS['chunked JSON'])
  await using client = await gateway.raw(
    'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n[',
  )
  expect(await client.stream.line()).toBe('HTTP/1.1 200 OK')
  client.send([Buffer.alloc(199_999, ' ')])
  await eventually(() => {
    expect(sockets[0]?.bytesRead).toBeGreaterThan(200_000)
  })
  sockets[0]?.write('2\r\n{}\r\n0\r\n\r\n')
  while ((await client.stream.line()) !== '');
  expect((await client.stream.take(12)).toString()).toBe('2\r\n{}\r\n0\r\n\r\n')
})

it.each([
  ['a chunk that is none', `${HEADS['chunked JSON']}zz\r\n`],
  ['a chunk that is none, of events', `${HEADS['chunked events']}zz\r\n`],
  ['a chunk too long', `${HEADS['chunked JSON']}fffffffffffffffff\r\n`],
])('nonsense before anything was sent is bad_gateway: %s', async (_, bytes) => {
  const { gateway } = await serveUpstream(bytes)
  const response = await gateway.ask('GET', '/x')
  expect([response.status, response.json()]).toMatchObject([504, { code: 'svc.error.bad_gateway' }])
  const seen = { status: 504, code: 'svc.error.bad_gateway', reason: 'malformed' }
  expect(gateway.statuses).toEqual([504])
  expect(gateway.log).toMatchObject([seen])
  expect(gateway.decisions.find('id-1').map((text) => JSON.parse(text) as unknown)).toMatchObject([
    seen,
  ])
})

it.each<[string, string, (socket: Socket) => unknown, string, string]>([
  ['a reset', HEADS['chunked JSON'], (socket) => socket.resetAndDestroy(), 'bad_gateway', 'reset'],
  ['its end', HEADS['a known length'], (socket) => socket.end(), 'bad_gateway', 'reset'],
  [
    'its end within a chunk',
    HEADS['chunked JSON'],
    (socket) => socket.end('5\r\nab'),
    'bad_gateway',
    'reset',
  ],
  ['its end, of events', HEADS['chunked events'], (socket) => socket.end(), 'bad_gateway', 'reset'],
  [
    'nonsense',
    HEADS['chunked JSON'],
    (socket) => socket.write('zz\r\n'),
    'bad_gateway',
    'malformed',
  ],
  ['silence', HEADS['chunked JSON'], () => undefined, 'timeout', 'timeout'],
])(
  '%s after the head cuts the response off, and is logged as that',
  async (...[, head, act, code, reason]) => {
    const { gateway, sockets } = await serveUpstream(head, { action: { timeout: 100 } })
    const incoming = await openRequest(`${gateway.url}/x`)
    if (sockets[0] !== undefined) act(sockets[0])
    await expect(buffer(incoming)).rejects.toThrow('aborted')
    const seen = { status: 504, code: `svc.error.${code}`, reason }
    await eventually(() => {
      expect(gateway.statuses).toEqual([504])
    })
    expect(gateway.log).toMatchObject([seen])
    expect(gateway.failures).toMatchObject([{ status: 504, failure: { reason } }])
    expect(gateway.decisions.find('id-1').map((text) => JSON.parse(text) as unknown)).toMatchObject(
      [seen],
    )
  },
)

it('nonsense along with the head and a part cuts a response that the client gets', async () => {
  const { gateway } = await serveUpstream(`${HEADS['chunked JSON']}2\r\nab\r\nzz\r\n`)
  await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(await client.stream.line()).toBe('HTTP/1.1 200 OK')
  while ((await client.stream.line()) !== '');
  expect([await client.stream.line(), await client.stream.line()]).toEqual(['2', 'ab'])
  expect(await client.more()).toBe(false)
  expect(gateway.log).toMatchObject([{ status: 504, bytes: 2, reason: 'malformed' }])
})

it('a cut counts as the status that the document maps its failure to', async () => {
  const { gateway, sockets } = await serveUpstream(HEADS['a known length'], {
    response: { on_error: { status_code: 200, body: 'all is well' } },
  })
  const incoming = await openRequest(`${gateway.url}/x`)
  sockets[0]?.resetAndDestroy()
  await expect(buffer(incoming)).rejects.toThrow('aborted')
  expect(gateway.statuses).toEqual([504])
})

const withHead = (...fields: readonly string[]): string =>
  ['HTTP/1.1 200 OK', ...fields, 'content-length: 2', '', 'ok'].join('\r\n')

it.each<[string, readonly string[], ServedParts, string]>([
  [
    'the map of defaults',
    ['vary: Accept-Encoding'],
    { api: { defaults: { headers: { vary: 'origin' } } } },
    'Accept-Encoding, origin',
  ],
  [
    'on_result.headers',
    ['content-encoding: gzip', 'vary: Accept-Encoding'],
    { response: { on_result: { headers: { vary: 'origin' } } } },
    'Accept-Encoding, origin',
  ],
  [
    'on_result.headers without one',
    ['content-encoding: gzip', 'vary: Accept-Encoding'],
    { response: { on_result: { headers: { 'x-a': '1' } } } },
    'Accept-Encoding',
  ],
  [
    'several lines',
    ['vary: accept', 'vary: Accept-Encoding'],
    { api: { defaults: { headers: { vary: 'origin, accept' } } } },
    'accept, Accept-Encoding, origin',
  ],
  [
    'a star of the upstream',
    ['vary: *'],
    { api: { defaults: { headers: { vary: 'origin' } } } },
    '*',
  ],
  [
    'a star of the document',
    ['vary: accept'],
    { api: { defaults: { headers: { vary: '*' } } } },
    '*',
  ],
])('Vary is merged with that of the upstream: %s', async (...[, fields, parts, vary]) => {
  const { gateway } = await serveUpstream(withHead(...fields), parts)
  await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(headerValues(await client.response(), 'vary')).toEqual([vary])
})

const JSON_BODY = 'content-type: application/json\r\ncontent-length: 2\r\nvary: Accept-Language'

it.each<[string, string, ServedParts, string]>([
  [
    'a body that is read',
    '200 OK',
    { response: { on_result: { body: { got: '{{action.result.body}}' } } } },
    'Accept-Language',
  ],
  [
    'a body that is read, beside the map of the document',
    '200 OK',
    {
      response: {
        on_result: { headers: { vary: 'origin' }, body: { got: '{{action.result.body}}' } },
      },
    },
    'Accept-Language, origin',
  ],
  [
    'headers that are passed on',
    '200 OK',
    {
      response: {
        on_result: {
          headers: '{{action.result.headers}}',
          body: { got: '{{action.result.body}}' },
        },
      },
    },
    'Accept-Language',
  ],
  [
    'a response of which nothing is read',
    '200 OK',
    { response: { on_result: { body: 'own' } } },
    'Accept-Language',
  ],
  [
    'an error that is read',
    '404 X',
    { response: { on_error: { headers: { vary: 'origin' }, body: '{{action.error.body}}' } } },
    'Accept-Language, origin',
  ],
  ['an error record', '404 X', { response: { on_error: {} } }, 'Accept-Language'],
])(
  'Vary of %s is that of the upstream, and what was negotiated by',
  async (...[, status, parts, vary]) => {
    const { gateway } = await serveUpstream(`HTTP/1.1 ${status}\r\n${JSON_BODY}\r\n\r\n{}`, parts)
    await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(headerValues(await client.response(), 'vary')).toEqual([`${vary}, accept`])
  },
)

it('the link of a deprecation stands beside those of the upstream', async () => {
  const api = {
    version: { is_deprecated: true },
    meta: { deprecation_link: 'https://a.test/old' },
  }
  const { gateway } = await serveUpstream(withHead('link: </next>; rel="next"'), { api })
  await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(headerValues(await client.response(), 'link')).toEqual([
    '</next>; rel="next"',
    '<https://a.test/old>; rel="deprecation"',
  ])
})

it.each<[string, string]>([
  ['a map that is passed on', '{{request.headers |> put(x-a, own)}}'],
  ['the map of the client', '{{request.headers}}'],
])('what Connection names reaches no upstream by %s', async (_, headers) => {
  const { gateway, requests } = await serveUpstream(withHead(), { action: { headers } })
  await using client = await gateway.raw(
    'GET /x HTTP/1.1\r\nHost: a\r\nConnection: x-foo, x-a\r\nX-Foo: 1\r\nX-A: own\r\nX-B: 2\r\n\r\n',
  )
  await client.response()
  const [seen = ''] = requests
  expect(seen).not.toContain('x-foo')
  expect(seen).toContain('x-b: 2')
  expect(seen.includes('x-a: own')).toBe(headers.includes('put'))
})
