import { connect, type Socket } from 'node:net'
import { request as httpRequest, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { constant } from '../../../../language/expression/template.ts'
import { createGuard, readRules } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { roundTrip } from '../../round-trip.ts'
import {
  listenHttp,
  listenRaw,
  refusedOrigin,
  until,
  type Listening,
} from '../../upstream/servers.ts'
import {
  bodyOf,
  call,
  READ_ALL,
  type GatewayOptions,
  type OperationParts,
} from './forward-fixture.ts'
import { answering, gatewayTo, leave, opened, serving } from './forward-rig.ts'

/** Attempts are counted; pauses are as short as they get. */
const RETRYING = { limits: { retries: constant(3) } }

describe('a response that passes through', () => {
  it('goes as it is: status, headers and bytes', async () => {
    const bytes = gzipSync('x'.repeat(1000))
    const server = await serving((_, response) => {
      response.writeHead(202, [
        ['X-Case', 'Kept'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['Content-Encoding', 'gzip'],
        ['Content-Length', String(bytes.length)],
        ['Connection', 'x-hop'],
        ['X-Hop', '1'],
      ])
      response.end(bytes)
    })
    const gateway = await gatewayTo(server.origin)
    const received = await call(gateway)
    expect(received.status).toBe(202)
    expect(received.bytes.equals(bytes)).toBe(true)
    expect(received.headers).toMatchObject({
      'x-case': 'Kept',
      'set-cookie': ['a=1', 'b=2'],
      'content-encoding': 'gzip',
      'content-length': String(bytes.length),
    })
    expect(received.headers).not.toHaveProperty('x-hop')
    expect(gateway.outcomes).toEqual(['stream'])
  })

  it.each([
    ['chunked', undefined],
    ['of known length', 5_000_000],
  ])('5 MB, %s', async (_, length) => {
    const bytes = Buffer.alloc(5_000_000, 'abc')
    const server = await serving((_request, response) => {
      if (length !== undefined) response.setHeader('content-length', length)
      response.write(bytes.subarray(0, 1_000_000))
      response.end(bytes.subarray(1_000_000))
    })
    const received = await call(await gatewayTo(server.origin))
    expect(received.bytes.equals(bytes)).toBe(true)
  })

  it.each([
    [
      'redirects are not followed',
      'HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n',
      302,
    ],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['304', 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n', 304],
    [
      'interim responses',
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      200,
    ],
  ])('%s', async (_, response, status) => {
    const server = await answering(response)
    const got = await call(await gatewayTo(server.origin))
    expect({ status: got.status, text: got.text }).toEqual({ status, text: '' })
  })

  it('is cut when the upstream dies half-way', async () => {
    const server = await opened(
      listenRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
        void until(() => gateway.outcomes.length > 0, 'the head is passed on').then(() =>
          socket.destroy(),
        )
      }),
    )
    const gateway = await gatewayTo(server.origin)
    await expect(call(gateway)).rejects.toThrow('aborted')
    expect(gateway.outcomes).toEqual(['stream', 'cut'])
  })

  it('a refused head ends the request upstream', async () => {
    const server = await serving((_, response) => {
      response.write(Buffer.alloc(1_000_000))
    })
    const gateway = await gatewayTo(server.origin)
    expect((await call(gateway, { path: '/head-refused' })).status).toBe(500)
    await until(() => server.open() === 0, 'the connection is closed')
  })

  it('HEAD stays HEAD', async () => {
    const methods: (string | undefined)[] = []
    const server = await serving((request, response) => {
      methods.push(request.method)
      response.writeHead(200, { 'content-length': 500, 'x-case': 'Kept' }).end()
    })
    const received = await call(await gatewayTo(server.origin), { method: 'HEAD' })
    expect({ methods, case: received.headers['x-case'], text: received.text }).toEqual({
      methods: ['HEAD'],
      case: 'Kept',
      text: '',
    })
  })

  it('a HEAD that the document makes a GET has no body either', async () => {
    const server = await serving((_, response) => {
      response.end(Buffer.alloc(1_000_000))
    })
    const gateway = await gatewayTo(server.origin, { action: { method: 'get' } })
    const received = await call(gateway, { method: 'HEAD' })
    expect({ status: received.status, length: received.bytes.length }).toEqual({
      status: 200,
      length: 0,
    })
    await until(() => gateway.scope.size === 0, 'the slot is free')
  })
})

describe('a response that is read', () => {
  it('is action.result', async () => {
    const server = await serving((_, response) => {
      response.writeHead(201, [
        ['Content-Type', 'application/json'],
        ['Location', '/y'],
        ['Set-Cookie', 'a=1'],
        ['X-Many', 'one'],
        ['X-Many', 'two'],
        ['Date', 'today'],
      ])
      response.end('{"a":1}')
    })
    const received = await call(await gatewayTo(server.origin, READ_ALL))
    expect(received.json()).toEqual({
      result: {
        status_code: 201,
        headers: {
          'content-type': 'application/json',
          location: '/y',
          'set-cookie': ['a=1'],
          'x-many': 'one, two',
          date: 'today',
        },
        body: { a: 1 },
        uri: '/y',
      },
    })
  })

  it('in pieces, compressed', async () => {
    const bytes = gzipSync(JSON.stringify({ text: 'x'.repeat(100_000) }))
    const server = await serving((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.write(bytes.subarray(0, 10))
      void roundTrip().then(() => response.end(bytes.subarray(10)))
    })
    const received = await call(await gatewayTo(server.origin, READ_ALL))
    expect(received.json()).toMatchObject({ result: { body: { text: 'x'.repeat(100_000) } } })
    expect(received.json()).not.toHaveProperty(['result', 'headers', 'content-encoding'])
  })

  it('as bytes where it is no text', async () => {
    const server = await serving((_, response) => {
      response.end(Buffer.from([0xff, 0xfe]))
    })
    expect((await call(await gatewayTo(server.origin, READ_ALL))).json()).toMatchObject({
      bytes: true,
    })
  })

  it('by GET, also for a HEAD that GET serves', async () => {
    const methods: (string | undefined)[] = []
    const server = await serving((request, response) => {
      methods.push(request.method)
      response.end('x')
    })
    await call(await gatewayTo(server.origin, READ_ALL), { method: 'HEAD' })
    const declared = { ...READ_ALL, pointer: '/versions/v1/paths/~1x/head' }
    await call(await gatewayTo(server.origin, declared), { method: 'HEAD' })
    expect(methods).toEqual(['GET', 'HEAD'])
  })

  it.each([
    [
      'broken JSON',
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"',
    ],
    ['broken gzip', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno'],
    [
      'declared too large',
      'HTTP/1.1 200 OK\r\nContent-Length: 25000001\r\n\r\n' + 'x'.repeat(25_000_001),
    ],
  ])('%s is a bad gateway', async (_, bytes) => {
    const server = await answering(bytes)
    const gateway = await gatewayTo(server.origin, READ_ALL)
    const response = await call(gateway)
    expect(response.status).toBe(504)
    expect(response.json()).toMatchObject({
      error: { error_uri: 'svc.error.bad_gateway', body: '' },
    })
    expect(gateway.outcomes).toEqual(['fail'])
  })

  it('keeps the connection when little is left, and not when it is much', async () => {
    const server = await serving((request, response) => {
      response.end(Buffer.alloc(request.url === '/much' ? 10_000_000 : 1000))
    })
    const parts = { onResult: { declared: true, body: constant('seen') } }
    const gateway = await gatewayTo(server.origin, parts)
    for (const path of ['/little', '/little', '/little']) {
      await call(gateway, { path })
      await until(() => gateway.scope.size === 0, 'the slot is free')
    }
    expect(server.opened()).toBe(1)
    await call(gateway, { path: '/much' })
    await until(() => gateway.scope.size === 0, 'the slot is free')
    expect(gateway.upstream.stats()).toEqual([])
  })
})

describe('a response of 400 or more', () => {
  const failing = () =>
    serving((_, response) => {
      response.writeHead(422, { 'x-up': 'from-upstream', 'content-type': 'application/json' })
      response.end('{"why":"no"}')
    })

  it('is action.error', async () => {
    const server = await failing()
    const response = await call(await gatewayTo(server.origin, READ_ALL))
    expect(response.status).toBe(422)
    expect(response.json()).toMatchObject({
      error: {
        error_uri: 'svc.error.upstream.422',
        args: [],
        kwargs: {},
        details: {},
        status_code: 422,
        headers: { 'x-up': 'from-upstream' },
        body: { why: 'no' },
        message: expect.any(String),
      },
    })
  })

  it('is not read where no template of on_error reads it', async () => {
    const server = await failing()
    const gateway = await gatewayTo(server.origin, { onError: { declared: true } })
    expect((await call(gateway)).json()).toMatchObject({ error: { status_code: 422, body: '' } })
    expect(gateway.outcomes).toEqual(['fail'])
  })

  it('passes through where there is no on_error', async () => {
    const server = await failing()
    const gateway = await gatewayTo(server.origin, { onResult: READ_ALL.onResult })
    const response = await call(gateway)
    expect([response.status, response.json(), gateway.outcomes]).toEqual([
      422,
      { why: 'no' },
      ['stream'],
    ])
    expect(gateway.failures).toMatchObject([{ reason: 'upstream_status' }])
  })

  it('keeps its status when its body can’t be decoded', async () => {
    const server = await answering(
      'HTTP/1.1 500 X\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n<html>',
    )
    const response = await call(await gatewayTo(server.origin, READ_ALL))
    expect(response.json()).toMatchObject({ error: { status_code: 500, body: '<html>' } })
  })
})

describe('no response', () => {
  it.each<[string, () => Promise<string>, string, Partial<OperationParts>]>([
    ['nothing listens', refusedOrigin, 'svc.error.bad_gateway', {}],
    [
      'a denied destination',
      () => Promise.resolve('http://169.254.169.254'),
      'svc.error.bad_gateway',
      {},
    ],
    [
      'too slow',
      async () => (await answering('')).origin,
      'svc.error.timeout',
      { limits: { timeout: constant(50) } },
    ],
    [
      'malformed',
      async () => (await answering('nonsense\r\n\r\n')).origin,
      'svc.error.bad_gateway',
      {},
    ],
    [
      'closed at once',
      async () => (await opened(listenRaw((socket) => socket.end()))).origin,
      'svc.error.bad_gateway',
      {},
    ],
    [
      'cut in a body that is read',
      async () =>
        (
          await opened(
            listenRaw((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')),
          )
        ).origin,
      'svc.error.bad_gateway',
      {},
    ],
  ])('%s', async (_, origin, uri, parts) => {
    const gateway = await gatewayTo(await origin(), { ...READ_ALL, ...parts })
    const response = await call(gateway)
    expect(response.status).toBe(504)
    expect(response.json()).toMatchObject({
      error: { error_uri: uri, status_code: 504, headers: {} },
    })
    expect(response.text).not.toMatch(/127\.0|169\.254|ECONN/)
    expect(gateway.outcomes).toEqual(['fail'])
    expect(gateway.scope.size).toBe(0)
  })

  it('has the status that the document maps it to', async () => {
    const gateway = await gatewayTo(await refusedOrigin(), READ_ALL, {
      change: ({ context }) => {
        context.status_codes = { 'svc.error.bad_gateway': 502 }
      },
    })
    expect((await call(gateway)).status).toBe(502)
  })

  it('a connection that does not come about', async () => {
    const upstream = createUpstream({ guard: createGuard(), resolve: () => undefined })
    const parts = { ...READ_ALL, limits: { connectTimeout: constant(50) } }
    const gateway = await gatewayTo('http://nowhere.test', parts, { upstream })
    expect((await call(gateway)).json()).toMatchObject({
      error: { error_uri: 'svc.error.bad_gateway' },
    })
  })

  it('a name that is denied', async () => {
    const guard = createGuard({ deny: readRules(['localhost']).rules })
    const server = await answering('')
    const origin = server.origin.replace('127.0.0.1', 'localhost')
    const gateway = await gatewayTo(origin, READ_ALL, {
      upstream: createUpstream({ guard }),
    })
    expect((await call(gateway)).json()).toMatchObject({
      error: { error_uri: 'svc.error.bad_gateway' },
    })
    expect(server.opened()).toBe(0)
  })
})

describe('retries', () => {
  /** Fails so many times, then answers with the number of the attempt and what it got. */
  const flaky = async (times: number, how: number | 'reset') => {
    let attempts = 0
    const server = await serving((request, response) => {
      void bodyOf(request).then(
        (body) => {
          attempts++
          if (attempts > times) response.end(`${attempts} ${body.length}`)
          else if (how === 'reset') request.socket.resetAndDestroy()
          else response.writeHead(how).end('sorry')
        },
        () => undefined,
      )
    })
    return { server, attempts: () => attempts }
  }

  it.each<[string, number | 'reset', string, number]>([
    ['GET', 503, '3 0', 3],
    ['GET', 502, '3 0', 3],
    ['GET', 504, '3 0', 3],
    ['GET', 'reset', '3 0', 3],
    ['GET', 500, '', 1],
    ['POST', 503, '', 1],
    ['POST', 'reset', '', 1],
  ])('%s after %s', async (method, how, text, count) => {
    const { server, attempts } = await flaky(2, how)
    const response = await call(await gatewayTo(server.origin, RETRYING), { method })
    expect({ isComplete: response.text === text, attempts: attempts() }).toEqual({
      isComplete: text !== '',
      attempts: count,
    })
  })

  it('none by default', async () => {
    const { server, attempts } = await flaky(1, 503)
    const response = await call(await gatewayTo(server.origin))
    expect({ status: response.status, attempts: attempts() }).toEqual({
      status: 503,
      attempts: 1,
    })
  })

  it('as many as there are', async () => {
    const { server, attempts } = await flaky(99, 503)
    const response = await call(await gatewayTo(server.origin, RETRYING))
    expect({ status: response.status, attempts: attempts() }).toEqual({
      status: 503,
      attempts: 4,
    })
  })

  it('in a pool of one', async () => {
    const { server } = await flaky(2, 503)
    const gateway = await gatewayTo(server.origin, RETRYING, { poolSize: 1 })
    expect((await call(gateway)).text).toBe('3 0')
    await until(() => gateway.scope.size === 0, 'the slot is free')
  })

  it.each<[string, number, boolean, number | 'reset', string]>([
    ['a small body', 1000, false, 503, '2 1000'],
    ['a small body, chunked', 1000, true, 503, '2 1000'],
    ['64 KiB, chunked', 65_536, true, 503, '2 65536'],
    ['64 KiB, reset', 65_536, true, 'reset', '2 65536'],
    ['a larger body', 65_537, false, 503, ''],
    ['a larger body, chunked', 65_537, true, 503, ''],
  ])('PUT with %s', async (...[, length, chunked, how, text]) => {
    const { server } = await flaky(1, how)
    const gateway = await gatewayTo(server.origin, RETRYING)
    const response = await call(gateway, { method: 'PUT', body: Buffer.alloc(length), chunked })
    const isGivenUp = response.status === 503
    expect(isGivenUp ? '' : response.text).toBe(text)
  })

  it.each([
    ['buffered', true, 64 * 1024],
    ['buffered, large', true, 3_000_000],
    ['streamed', false, 3_000_000],
  ])('a refused connection, whatever the method: %s', async (_, buffers, length) => {
    const origin = await refusedOrigin()
    let random = 0
    // The upstream comes up while we wait: the dice are thrown right before.
    const comesUp: { server?: Promise<Listening> } = {}
    const clock = {
      ...SYSTEM_CLOCK,
      now: () => 0,
      random: () => {
        if (random++ === 0) comesUp.server = listenAt(Number(new URL(origin).port))
        return 1
      },
    }
    const parts = { limits: { retries: constant(9), retryTimeout: constant(60_000) } }
    const gateway = await gatewayTo(origin, parts, { clock, buffers })
    const response = await call(gateway, { method: 'POST', body: Buffer.alloc(length) })
    await (await comesUp.server)?.close()
    expect(response.text).toBe(String(length))
  })

  it('in the queue of the clients that have come since, also where none was there for a while', async () => {
    const held: ServerResponse[] = []
    let attempts = 0
    const server = await serving((request, response) => {
      if (request.url === '/held') held.push(response)
      else if (attempts++ < 4) response.writeHead(503).end()
      else response.end('not in line')
    })
    let pauses = 0
    const clock = {
      ...SYSTEM_CLOCK,
      now: () => 0,
      random: () => {
        pauses++
        return 1
      },
    }
    const parts = { limits: { retries: constant(4), connectTimeout: constant(50) } }
    const gateway = await gatewayTo(server.origin, parts, { clock, poolSize: 1 })
    const retried = call(gateway)
    await until(() => pauses === 4, 'it waits for its last attempt')
    const other = call(gateway, { path: '/held' })
    expect((await retried).text).toContain('svc.error.overloaded')
    expect([attempts, held.length]).toEqual([4, 1])
    held[0]?.end()
    await other
  })

  it('not after the retry timeout', async () => {
    const { server, attempts } = await flaky(99, 503)
    const clock = createManualClock({ random: () => 0 })
    const gateway = await gatewayTo(server.origin, RETRYING, {
      clock: {
        ...clock,
        after: SYSTEM_CLOCK.after,
        // It is thrown after each attempt.
        random: () => {
          clock.advance(3000)
          return 0
        },
      },
    })
    await call(gateway)
    expect(attempts()).toBe(2)
  })

  const listenAt = async (port: number): Promise<Listening> => {
    const server = await listenHttp((request, response) => {
      void bodyOf(request).then((body) => response.end(String(body.length)))
    })
    // The port was free a moment ago; the relay stands in for a server that starts there.
    const target = server.port
    const { createServer } = await import('node:net')
    const relay = createServer((socket) => {
      const through = connect(target, '127.0.0.1')
      socket.pipe(through).pipe(socket)
      socket.on('error', () => undefined)
      through.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => relay.listen(port, '127.0.0.1', resolve))
    return {
      ...server,
      close: async () => {
        await server.close()
        await new Promise((resolve) => relay.close(resolve))
      },
    }
  }
})

describe('the pool of a version', () => {
  it('sends no more at once than its size; the others wait', async () => {
    const held: ServerResponse[] = []
    const server = await serving((_, response) => held.push(response))
    let asked = 0
    const gateway = await gatewayTo(server.origin, {}, { poolSize: 2, change: () => (asked += 1) })
    const responses = Promise.all(Array.from({ length: 10 }, () => call(gateway)))
    await until(() => asked === 10, 'all have asked')
    for (let round = 0; round < 5; round++) {
      await until(() => held.length >= 2, 'two are on their way')
      await roundTrip()
      expect(held).toHaveLength(2)
      for (const response of held.splice(0)) response.end('x')
    }
    const statuses = (await responses).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200))
    expect(gateway.scope.size).toBe(0)
  })

  it('who goes away while waiting is forgotten', async () => {
    const held: (() => void)[] = []
    const server = await serving((request, response) => {
      if (request.url === '/held') held.push(() => response.end('x'))
      else response.end('x')
    })
    const clients: Socket[] = []
    const gateway = await gatewayTo(
      server.origin,
      {},
      { poolSize: 1, change: ({ incoming }) => clients.push(incoming.socket) },
    )
    const first = call(gateway, { path: '/held' })
    await until(() => held.length === 1, 'the first is on its way')
    const gone = httpRequest(`${gateway.origin}/gone`, { agent: false })
    gone.on('error', () => undefined)
    gone.end()
    await until(() => clients.length === 2, 'the other waits')
    gone.destroy()
    await until(() => clients[1]?.closed === true, 'the other is gone')
    for (const respond of held) respond()
    expect((await first).text).toBe('x')
    expect((await call(gateway)).text).toBe('x')
    expect(gateway.outcomes).toEqual(['stream', 'stream'])
    expect(server.opened()).toBe(1)
  })
})

describe('a client that goes away', () => {
  it('while the upstream works: its connection is closed', async () => {
    const server = await answering('')
    const gateway = await gatewayTo(server.origin)
    await leave(
      gateway,
      '/x',
      until(() => server.opened() === 1, 'it is asked'),
    )
    await until(() => server.open() === 0, 'the connection is closed')
    expect(gateway.outcomes).toEqual([])
    expect(gateway.scope.size).toBe(0)
  })

  it('200 times in the middle of a download: the origin still answers', async () => {
    const part = Buffer.alloc(1_000_000)
    const server = await serving((request, response) => {
      if (request.url === '/fine') response.end('fine')
      else response.writeHead(200, { 'content-length': 5_000_000 }).write(part)
    })
    const gateway = await gatewayTo(server.origin, {}, { poolSize: 10 })
    for (let round = 0; round < 20; round++) {
      const before = gateway.outcomes.length
      const begun = until(() => gateway.outcomes.length >= before + 10, 'all have begun')
      await Promise.all(Array.from({ length: 10 }, () => leave(gateway, '/big', begun)))
    }
    expect((await call(gateway, { path: '/fine' })).text).toBe('fine')
    await until(() => gateway.scope.size === 0, 'all slots are free')
    await until(() => server.open() <= 1, 'the connections are closed')
  })

  it('in the middle of its small body: nothing is sent', async () => {
    const server = await answering('')
    const clients: Socket[] = []
    const change: GatewayOptions['change'] = ({ incoming }) => clients.push(incoming.socket)
    const gateway = await gatewayTo(server.origin, {}, { change })
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1')
    socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
    await until(() => clients.length === 1, 'it has begun')
    socket.destroy()
    await until(() => clients[0]?.closed === true, 'it is gone')
    await roundTrip()
    expect(server.opened()).toBe(0)
  })

  it('in the middle of its large body: the upstream hears of it', async () => {
    const server = await serving(() => undefined)
    const gateway = await gatewayTo(server.origin)
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1')
    socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc')
    await until(() => server.opened() === 1, 'it is forwarded')
    socket.destroy()
    await until(() => server.open() === 0, 'the connection is closed')
    expect(gateway.scope.size).toBe(0)
  })
})
