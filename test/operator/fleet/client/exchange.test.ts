// One call to a data plane: its whole response, or one error, whatever the other side does; and nothing is left behind.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { Pool } from 'undici'
import { Limiter } from '../../../../base/limiter.ts'
import { exchange, type ExchangeRequest } from '../../../../operator/fleet/client/exchange.ts'
import { eventually } from '../../../support/eventually.ts'

let closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing) await close()
  closing = []
})

type Respond = (request: IncomingMessage, response: ServerResponse) => void

const open = async (answer: Respond) => {
  const ended: IncomingMessage[] = []
  const server = createServer((request, response) => {
    response.once('close', () => ended.push(request))
    request.resume()
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
  closing.push(async () => {
    await pool.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { pool, ended }
}

const aRequest = (more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  method: 'GET',
  path: '/',
  headers: {},
  body: undefined,
  timeoutMs: 10_000,
  bound: { bytes: 1000, values: 100 },
  budget: undefined,
  ...more,
})

describe('a call to a data plane', () => {
  it.each<[string, Respond, object]>([
    [
      'a response in one piece',
      (_request, response) => response.writeHead(200, { etag: '"a"' }).end('{"ä":1}'),
      { status: 200, etag: '"a"', text: '{"ä":1}' },
    ],
    [
      'a response in pieces, with a character between them',
      (_request, response) => {
        const bytes = Buffer.from('"ä"')
        response.write(bytes.subarray(0, 2))
        setImmediate(() => response.end(bytes.subarray(2)))
      },
      { status: 200, text: '"ä"' },
    ],
    ['no body', (_request, response) => response.writeHead(304).end(), { status: 304, text: '' }],
    [
      'a response of the server alone, after one that it goes on',
      (_request, response) => {
        response.writeProcessing()
        response.writeHead(403).end('no')
      },
      { status: 403, text: 'no' },
    ],
  ])('gives %s', async (_name, received, expected) => {
    const { pool } = await open(received)
    const response = await exchange(pool, aRequest())
    expect(response).toMatchObject(expected)
  })

  it('sends method, headers and body', async () => {
    const seen: unknown[] = []
    const { pool } = await open((request, response) => {
      seen.push([
        request.method,
        request.url,
        request.headers['x-a'],
        request.headers['content-length'],
      ])
      response.end()
    })
    await exchange(
      pool,
      aRequest({ method: 'POST', path: '/b', headers: { 'x-a': '1' }, body: Buffer.from('abc') }),
    )
    expect(seen).toEqual([['POST', '/b', '1', '3']])
  })

  it.each<[string, Respond, Partial<ExchangeRequest>, object]>([
    [
      'is larger than it may be',
      (_request, response) => response.write('x'.repeat(5000)),
      {},
      { code: 'excessive' },
    ],
    [
      'stands for too much',
      (_request, response) => response.write('[[],'.repeat(120)),
      {},
      { code: 'excessive' },
    ],
    [
      'finds no room beside others',
      (_request, response) => response.write('x'.repeat(900)),
      { budget: new Limiter(500) },
      { code: 'overloaded' },
    ],
    ['does not begin in time', () => undefined, { timeoutMs: 40 }, {}],
    ['does not end in time', (_request, response) => response.write('x'), { timeoutMs: 40 }, {}],
    [
      'breaks off',
      (_request, response) => {
        response.write('x')
        setImmediate(() => response.destroy())
      },
      {},
      { code: 'UND_ERR_SOCKET' },
    ],
  ])(
    'rejects where the response %s, and gives up the connection',
    async (_name, response, more, expected) => {
      const { pool, ended } = await open(response)
      const budget = more.budget ?? new Limiter(1000)
      await expect(exchange(pool, aRequest({ budget, ...more }))).rejects.toMatchObject(expected)
      expect(budget.used).toBe(0)
      await eventually(() => {
        expect(ended).toHaveLength(1)
      })
    },
  )

  it('gives its room back, and the connection is used again', async () => {
    const sockets = new Set<unknown>()
    const { pool } = await open((request, response) => {
      sockets.add(request.socket)
      response.end('abc')
    })
    const budget = new Limiter(100)
    for (let call = 0; call < 3; call++) await exchange(pool, aRequest({ budget }))
    expect([budget.used, sockets.size]).toEqual([0, 1])
  })

  it.each(['before', 'under way'])('rejects where the pool is closed %s it', async (when) => {
    const { pool } = await open(() => undefined)
    if (when === 'before') await pool.destroy()
    const calling = exchange(pool, aRequest())
    await Promise.all([expect(calling).rejects.toThrow(), pool.destroy()])
  })
})
