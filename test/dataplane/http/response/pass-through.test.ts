// What a client gets of an upstream's response at which moment, from the upstream's socket to the client's.

import { buffer } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import type { Socket } from 'node:net'
import { eventually } from '../../../support/eventually.ts'
import { openRequest } from '../../../support/http-request.ts'
import { serveUpstream } from './forward-server.ts'

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
