// What of a forward depends on time: deadlines, waits and pauses, which pass as the tests say, over real sockets.

import { connect, type Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { describe, expect, it, jest } from '@jest/globals'
import { bodyDeadlines } from '../../../../dataplane/body-deadlines.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'
import { constant } from '../../../../language/expression/template.ts'
import { roundTrip } from '../../round-trip.ts'
import { stopTimers } from '../../stop-timers.ts'
import { until } from '../../upstream/servers.ts'
import { call, map, read, READ_ALL, type Gateway } from './forward-fixture.ts'
import { gatewayTo, leave, serving } from './forward-rig.ts'

stopTimers()

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

const connectTo = (gateway: Gateway): Socket =>
  connect(Number(new URL(gateway.origin).port), '127.0.0.1').on('error', () => undefined)

describe('a response that passes through', () => {
  it('waits for a slow client, and keeps little in memory', async () => {
    let sent = 0
    const server = await serving((_, response) => {
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        while (sent < 60_000_000) {
          sent += chunk.length
          if (!response.write(chunk)) {
            response.once('drain', more)
            return
          }
        }
        response.end()
      }
      more()
    })
    const clients: Socket[] = []
    const gateway = await gatewayTo(
      server.origin,
      {},
      { timeoutMs: 200, change: ({ incoming }) => clients.push(incoming.socket) },
    )
    const socket = connectTo(gateway).pause()
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n')
    let before = -1
    let looks = 0
    await until(() => {
      looks = before === sent ? looks + 1 : 0
      before = sent
      return looks > 5 && clients[0]?.writableNeedDrain === true
    }, 'it stops')
    // Longer than the time-out of the upstream: a pause that the client makes is no pause of it.
    pass(1000)
    await roundTrip()
    expect(sent).toBeLessThan(40_000_000)
    let received = 0
    socket.on('data', (chunk) => (received += chunk.length))
    socket.resume()
    await until(() => received > 60_000_000, 'all has come')
    expect(gateway.outcomes).toEqual(['stream'])
    socket.destroy()
  })
})

describe('a response that is read', () => {
  it('is not waited for where no template reads its body', async () => {
    const server = await serving((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).flushHeaders()
    })
    const parts = {
      onResult: { declared: true, body: map({ s: read('action.result.status_code') }) },
    }
    const gateway = await gatewayTo(server.origin, parts)
    expect((await call(gateway)).json()).toMatchObject({ result: { status_code: 200, body: '' } })
    pass(999)
    await roundTrip()
    expect([gateway.scope.size, server.open()]).toEqual([1, 1])
    pass(1)
    await until(() => server.open() === 0, 'the rest is given up')
    expect(gateway.scope.size).toBe(0)
  })
})

describe('the pool of a version', () => {
  it('too long a wait is overload', async () => {
    const held: ServerResponse[] = []
    const server = await serving((_, response) => held.push(response))
    let asked = 0
    const parts = { ...READ_ALL, limits: { connectTimeout: constant(60) } }
    const options = { poolSize: 1, change: () => (asked += 1) }
    const gateway = await gatewayTo(server.origin, parts, options)
    const first = call(gateway)
    await until(() => held.length === 1, 'the first is on its way')
    const second = call(gateway)
    await until(() => asked === 2, 'the second waits')
    pass(59)
    await roundTrip()
    expect(gateway.outcomes).toEqual([])
    pass(1)
    const received = await second
    expect(received.status).toBe(503)
    expect(received.json()).toMatchObject({
      error: { error_uri: 'svc.error.overloaded', status_code: 503 },
    })
    held[0]?.end('x')
    expect((await first).status).toBe(200)
    expect([held.length, gateway.scope.size]).toEqual([1, 0])
  })
})

describe('an upstream that asks to be left alone', () => {
  const asking = async (retryAfter: string) => {
    let attempts = 0
    const server = await serving((_, response) => {
      attempts++
      if (attempts > 1) response.end('back')
      else response.writeHead(503, { 'retry-after': retryAfter }).end('sorry')
    })
    const parts = { limits: { retries: constant(3), retryTimeout: constant(5000) } }
    const gateway = await gatewayTo(server.origin, parts, {
      poolSize: 1,
      clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => 0 },
    })
    return { gateway, attempts: () => attempts }
  }

  it('is, and holds no slot meanwhile', async () => {
    const { gateway, attempts } = await asking('3')
    const response = call(gateway)
    await until(() => attempts() === 1 && gateway.scope.size === 0, 'it pauses')
    pass(2999)
    await roundTrip()
    expect(attempts()).toBe(1)
    pass(1)
    expect((await response).text).toBe('back')
    expect(attempts()).toBe(2)
  })

  it('for longer than there is time: its response is that of the operation', async () => {
    const { gateway, attempts } = await asking('6')
    const response = await call(gateway)
    expect([response.status, attempts()]).toEqual([503, 1])
  })
})

describe('a response that is retried, and that does not end', () => {
  it('is given up after the pause, so that the retry has its slot', async () => {
    let attempts = 0
    let isCut = false
    const server = await serving((_, response) => {
      attempts++
      if (attempts > 1) {
        response.end('back')
        return
      }
      response.on('close', () => (isCut = true))
      response.writeHead(503).write('sorry, ')
    })
    const parts = { limits: { retries: constant(1), retryTimeout: constant(5000) } }
    const gateway = await gatewayTo(server.origin, parts, {
      poolSize: 1,
      clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => (attempts === 0 ? 0 : 1) },
    })
    const received = call(gateway)
    await until(() => attempts === 1, 'the first is on its way')
    await roundTrip()
    await roundTrip()
    expect(isCut).toBe(false)
    pass(25)
    expect((await received).text).toBe('back')
    await until(() => isCut, 'the first is given up')
    expect([attempts, gateway.scope.size]).toEqual([2, 0])
  })
})

describe('a client that goes away', () => {
  it('between two attempts: there is no other', async () => {
    let attempts = 0
    const server = await serving((_, response) => {
      attempts++
      response.writeHead(503).end()
    })
    const clients: Socket[] = []
    const parts = { limits: { retries: constant(20), retryTimeout: constant(60_000) } }
    const gateway = await gatewayTo(server.origin, parts, {
      clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => 1 },
      change: ({ incoming }) => clients.push(incoming.socket),
    })
    const fourth = until(() => {
      // Without a connection there is no row: one that answers 503 may be closed.
      const isPause = attempts > 0 && (gateway.upstream.stats()[0]?.running ?? 0) === 0
      if (isPause && attempts < 4) pass(200)
      return isPause && attempts === 4
    }, 'four have failed')
    await leave(gateway, '/x', fourth)
    await until(() => clients[0]?.closed === true, 'it is gone')
    pass(2000)
    await roundTrip()
    expect([attempts, gateway.outcomes]).toEqual([4, []])
  })
})

describe('limits of a streamed body', () => {
  const body = { maxBytes: 200_000, readBytes: 8_000_000, readMs: 100 }

  it('too large: refused, and the upstream is left', async () => {
    const server = await serving((request) => {
      request.resume()
    })
    const gateway = await gatewayTo(server.origin, { body })
    const asked = { method: 'POST', body: Buffer.alloc(1_000_000), chunked: true }
    const response = await call(gateway, asked).catch(() => undefined)
    expect(response?.json() ?? { refused: 'svc.error.payload_too_large' }).toMatchObject({
      refused: 'svc.error.payload_too_large',
    })
    expect(gateway.outcomes).toEqual(['refuse'])
    await until(() => server.open() === 0, 'the connection is closed')
  })

  it('too large after the response has begun: cut', async () => {
    const server = await serving((_, response) => {
      response.write('early')
    })
    const gateway = await gatewayTo(server.origin, { body })
    const socket = connectTo(gateway)
    socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc')
    await until(() => gateway.outcomes.length === 1, 'the response has begun')
    socket.write(Buffer.alloc(300_000))
    await until(() => gateway.outcomes.length > 1, 'it is cut')
    expect(gateway.outcomes.slice(0, 2)).toEqual(['stream', 'cut'])
    socket.destroy()
  })

  it.each([
    ['streamed', 1_000_000],
    ['small', 1000],
  ])('too slow: refused (%s)', async (_, length) => {
    const server = await serving((request) => {
      request.resume()
    })
    const gateway = await gatewayTo(server.origin, { body: { ...body, maxBytes: 2_000_000 } })
    const socket = connectTo(gateway)
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\nabc`)
    await until(() => bodyDeadlines.size === 1, 'it is awaited')
    await roundTrip()
    pass(100)
    expect(gateway.outcomes).toEqual([])
    pass(40)
    await until(() => text.includes('svc.error.request_timeout'), 'it is refused')
    socket.destroy()
    expect(gateway.outcomes).toEqual(['refuse'])
  })

  it('an upstream that answers before it has the body: the response counts', async () => {
    const server = await serving((_, response) => {
      response.writeHead(413, { connection: 'close' }).end('too much')
    })
    const gateway = await gatewayTo(server.origin, {
      ...READ_ALL,
      body: { ...body, maxBytes: 1e9 },
    })
    const socket = connectTo(gateway)
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\nabc')
    await until(() => text.includes('svc.error.upstream.413'), 'the response is there')
    socket.destroy()
    expect(gateway.outcomes).toEqual(['fail'])
  })
})

describe('a body while slots are short', () => {
  const HEAD = 'POST /x HTTP/1.1\r\nHost: x\r\n'
  const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`
  const body = { maxBytes: 2_000_000, readBytes: 8_000_000, readMs: 15_000 }

  interface Heard {
    bytes: number
    isWhole: boolean
  }

  /** A gateway with one of two slots in use, and what its upstream hears of others. */
  const busyGateway = async (
    limits: object = {},
  ): Promise<{
    readonly gateway: Gateway
    readonly heard: Heard[]
    readonly asked: () => number
  }> => {
    const heard: Heard[] = []
    const server = await serving((request, response) => {
      if (request.url === '/hang') return
      const own = { bytes: 0, isWhole: false }
      heard.push(own)
      request.on('data', (chunk: Buffer) => (own.bytes += chunk.length))
      request.on('end', () => {
        own.isWhole = true
        response.end('x')
      })
      request.on('error', () => undefined)
    })
    let asked = 0
    const gateway = await gatewayTo(
      server.origin,
      { body, limits },
      { poolSize: 2, change: () => (asked += 1), timeoutMs: 3_600_000 },
    )
    connectTo(gateway).write('GET /hang HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => gateway.scope.isBusy(server.origin), 'one slot is in use')
    return { gateway, heard, asked: () => asked }
  }

  /** A client, and what it is answered. */
  const sender = (gateway: Gateway): { readonly socket: Socket; readonly text: () => string } => {
    const socket = connectTo(gateway)
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    return { socket, text: () => text }
  }

  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

  it('is sent when it is whole', async () => {
    const { gateway, heard, asked } = await busyGateway()
    const { socket, text } = sender(gateway)
    socket.write(CHUNKED + chunk('abc'))
    await until(() => asked() === 2, 'it has come')
    await roundTrip()
    expect(heard).toEqual([])
    socket.write('0\r\n\r\n')
    await until(() => text().includes('200 OK'), 'it is answered')
    expect(heard).toEqual([{ bytes: 3, isWhole: true }])
    socket.destroy()
  })

  it('is sent when there are 64 KiB of it, and the rest as it comes', async () => {
    const { gateway, heard } = await busyGateway()
    const { socket, text } = sender(gateway)
    socket.write(CHUNKED + chunk('x'.repeat(70_000)))
    await until(() => heard[0]?.bytes === 70_000, 'it is sent')
    socket.write(`${chunk('y'.repeat(500_000))}0\r\n\r\n`)
    await until(() => text().includes('200 OK'), 'it is answered')
    expect(heard).toEqual([{ bytes: 570_000, isWhole: true }])
    socket.destroy()
  })

  it('too slow: refused, and it has taken none', async () => {
    const { gateway, heard, asked } = await busyGateway()
    const { socket, text } = sender(gateway)
    socket.write(`${CHUNKED}3\r\nabc\r\n`)
    await until(() => asked() === 2, 'it has come')
    await roundTrip()
    pass(15_100)
    await until(() => text().includes('svc.error.request_timeout'), 'it is refused')
    expect([heard, bodyDeadlines.size]).toEqual([[], 0])
    socket.destroy()
  })

  it('is forgotten with its client', async () => {
    const { gateway, heard, asked } = await busyGateway()
    const { socket } = sender(gateway)
    socket.write(`${CHUNKED}3\r\nabc\r\n`)
    await until(() => asked() === 2 && bodyDeadlines.size === 1, 'it is awaited')
    socket.destroy()
    await until(() => bodyDeadlines.size === 0, 'it is not awaited any more')
    expect([heard, gateway.outcomes]).toEqual([[], []])
  })

  it('goes on too slowly: refused, and its slot is free', async () => {
    const { gateway, heard } = await busyGateway()
    const { socket, text } = sender(gateway)
    const large = 'x'.repeat(70_000)
    socket.write(`${CHUNKED}${chunk(large)}`)
    await until(() => heard[0]?.bytes === 70_000, 'it is sent')
    // 70 KB may take 322 seconds; every ten seconds a byte.
    for (let sent = 0; sent < 32; sent++) {
      pass(10_000)
      socket.write('1\r\nx\r\n')
      await until(() => heard[0]?.bytes === 70_001 + sent, 'a byte more')
    }
    expect(gateway.outcomes).toEqual([])
    pass(10_000)
    await until(() => text().includes('less than 240 bytes per second'), 'it is refused')
    expect([gateway.outcomes, heard[0]?.isWhole]).toEqual([['refuse'], false])
    socket.destroy()
  })
})

describe('a client that reads slowly while slots are short', () => {
  it.each([
    ['is cut off', 1, ['stream', 'cut']],
    ['else it may', 200, ['stream']],
  ])('%s', async (_, poolSize, outcomes) => {
    const server = await serving((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', more)
      more()
    })
    const clients: Socket[] = []
    const options = {
      poolSize,
      change: ({ incoming }: { incoming: { socket: Socket } }) => clients.push(incoming.socket),
    }
    const gateway = await gatewayTo(server.origin, {}, options)
    const socket = connectTo(gateway).pause()
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n')
    let before = -1
    await until(() => {
      const written = clients[0]?.bytesWritten ?? 0
      const isStill = written === before && clients[0]?.writableNeedDrain === true
      before = written
      return isStill
    }, 'it stops')
    pass(30_000)
    await roundTrip()
    expect(gateway.outcomes).toEqual(['stream'])
    // 64 KiB at a time, at 240 bytes per second.
    pass(280_000)
    await roundTrip()
    expect(gateway.outcomes).toEqual(outcomes)
    socket.destroy()
    await until(() => gateway.scope.size === 0, 'the slot is free')
  })
})
