import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import type { Socket } from 'node:net'
import type { RequestListener, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createGuard, readRules } from '../../../dataplane/upstream/destinations/guard.ts'
import {
  createUpstream,
  type UpstreamOptions,
} from '../../../dataplane/upstream/pooled-upstream.ts'
import { createPoolScope } from '../../../dataplane/upstream/limiter.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { settled } from '../../support/settled.ts'
import { roundTrip } from '../round-trip.ts'
import { stopTimers } from '../stop-timers.ts'
import * as servers from './servers.ts'
import { ask, refusedOrigin, until, type Listening } from './servers.ts'

stopTimers()

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

const ca = createCertificateAuthority('upstreams')
const SECURED = ca.issue('upstream.test')

describe.each([
  ['http', undefined],
  ['https', SECURED],
] as const)('over %s', (_scheme, secured) => {
  const listenHttp = (listener: RequestListener): Promise<Listening> =>
    servers.listenHttp(listener, secured)
  const listenRaw = (onRequest: Parameters<typeof servers.listenRaw>[0]): Promise<Listening> =>
    servers.listenRaw(onRequest, secured)

  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  const upstreamOf = (options: Partial<UpstreamOptions> = {}): Upstream => {
    const upstream = createUpstream({
      guard: createGuard(),
      extraCa: [ca.cert],
      ...options,
    })
    closers.push(() => upstream.close())
    return upstream
  }

  const opened = async (server: Promise<Listening>): Promise<Listening> => {
    const listening = await server
    closers.push(() => listening.close())
    return listening
  }

  const answering = (response: string) =>
    opened(listenRaw((socket) => socket.write(response, 'latin1')))

  describe('a request', () => {
    it('goes out as it is, with the upstream as Host', async () => {
      let seen = ''
      const server = await opened(
        listenRaw((socket, text) => {
          seen += text
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        }),
      )
      await ask(upstreamOf(), {
        origin: server.origin,
        method: 'PUT',
        path: '//a%2Fb?x=1',
        headers: ['x-a', '1', 'x-a', '2'],
        body: Buffer.from('{}'),
      }).done
      expect(seen).toBe(
        `PUT //a%2Fb?x=1 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
          'x-a: 1\r\nx-a: 2\r\ncontent-length: 2\r\n\r\n{}',
      )
    })

    it('gives head, data and end', async () => {
      const server = await opened(
        listenHttp((_, response) => {
          response.writeHead(201, [
            ['Set-Cookie', 'a=1'],
            ['X-Case', 'Kept'],
            ['set-cookie', 'b=2'],
          ])
          response.end('body')
        }),
      )
      const heard = await ask(upstreamOf(), { origin: server.origin }).done
      expect(heard).toMatchObject({ status: 201, body: 'body', ended: true, error: undefined })
      const pairs = heard.headers.flatMap((name, at) =>
        at % 2 === 0 ? [[name, heard.headers[at + 1]]] : [],
      )
      expect(pairs.filter(([name]) => name === 'set-cookie')).toEqual([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ])
      expect(pairs.filter(([name]) => name === 'x-case')).toEqual([['x-case', 'Kept']])
    })

    it('shares connections, and opens as many as are needed at once', async () => {
      const held: ServerResponse[] = []
      const server = await opened(
        listenHttp((_, response) => {
          if (held.push(response) < 3) return
          for (const each of held.splice(0)) each.end('x')
        }),
      )
      const upstream = upstreamOf()
      for (let round = 0; round < 3; round++) {
        await Promise.all([1, 2, 3].map(() => ask(upstream, { origin: server.origin }).done))
      }
      expect(server.opened()).toBe(3)
      expect(upstream.stats()).toEqual([
        { origin: server.origin, connected: 3, running: 0, queued: 0 },
      ])
    })

    it('leaves so many idle connections open as are allowed, whatever origin they are to', async () => {
      const held: ServerResponse[] = []
      const hold: RequestListener = (_, response) => {
        response.setHeader('keep-alive', 'timeout=600')
        held.push(response)
      }
      const [one, other] = [await opened(listenHttp(hold)), await opened(listenHttp(hold))]
      const upstream = upstreamOf({ mostIdle: 2 })
      const begin = (server: Listening) => ask(upstream, { origin: server.origin })
      const first = [begin(one), begin(one), begin(one)]
      await until(() => held.length === 3, 'all are asked')
      for (const response of held.splice(0)) response.end()
      await Promise.all(first.map(({ done }) => done))
      await until(() => one.open() === 2, 'one is closed')
      const last = begin(other)
      await until(() => held.length === 1, 'it is asked')
      held[0]?.end()
      await last.done
      await until(() => one.open() + other.open() === 2, 'the longest idle one is closed')
      expect(other.open()).toBe(1)
      const again = begin(other)
      await until(() => held.length === 2, 'it is asked')
      held[1]?.end()
      await again.done
      expect([one.open(), other.open(), other.opened()]).toEqual([1, 1, 1])
    })

    it('opens its body when it has a slot, not while it waits for one', async () => {
      const held: ServerResponse[] = []
      const server = await opened(listenHttp((_, response) => held.push(response)))
      const upstream = upstreamOf()
      const scope = createPoolScope(1)
      let opens = 0
      const body = (): Readable => {
        opens++
        return Readable.from(['x'])
      }
      const sent = { origin: server.origin, method: 'PUT', scope, body }
      const first = ask(upstream, sent)
      const second = ask(upstream, sent)
      await until(() => held.length === 1, 'the first is on its way')
      expect(opens).toBe(1)
      held[0]?.end()
      await until(() => held.length === 2, 'the second is on its way')
      held[1]?.end()
      expect([(await first.done).status, (await second.done).status]).toEqual([200, 200])
      expect([opens, scope.size, server.opened()]).toEqual([2, 0, 1])
    })

    it('the sink hears nothing before send has returned', async () => {
      const upstream = upstreamOf()
      let returned = false
      const early: boolean[] = []
      const asking = new Promise<void>((resolve) => {
        ask(upstream, {
          origin: 'http://127.0.0.1:1',
          headers: ['bad name', 'x'],
          sink: {
            onError: () => {
              early.push(!returned)
              resolve()
            },
          },
        })
        returned = true
      })
      await asking
      expect(early).toEqual([false])
    })

    it.each([
      ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n', 200],
      ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
      ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 304],
    ])('%s has no body: %s', async (method, response, status) => {
      const server = await answering(response)
      const heard = await ask(upstreamOf(), { origin: server.origin, method }).done
      expect(heard).toMatchObject({ status, body: '', ended: true })
    })

    it.each([
      ['100, unasked', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      ['all', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'],
    ])('interim responses are not reported: %s', async (_, interim) => {
      const server = await answering(`${interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`)
      const heard = await ask(upstreamOf(), { origin: server.origin, method: 'POST' }).done
      expect(heard).toMatchObject({ status: 200, body: 'ok', ended: true })
    })

    it('an interim response in a packet of its own', async () => {
      const server = await opened(
        listenRaw((socket) => {
          socket.write('HTTP/1.1 100 Continue\r\n\r\n')
          void roundTrip().then(() =>
            socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
          )
        }),
      )
      const heard = await ask(upstreamOf(), { origin: server.origin }).done
      expect(heard).toMatchObject({ status: 200, body: 'ok' })
    })

    it('a body that looks like an interim response is a body', async () => {
      const text = 'HTTP/1.1 100 Continue\r\n\r\nrest'
      const sockets: Socket[] = []
      const server = await opened(
        listenRaw((socket) => {
          sockets.push(socket)
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n`)
        }),
      )
      const asking = ask(upstreamOf(), { origin: server.origin })
      await until(() => asking.status === 200, 'the head is there')
      sockets[0]?.write(text)
      expect((await asking.done).body).toBe(text)
    })

    it('trailers are dropped', async () => {
      const server = await answering(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n',
      )
      const heard = await ask(upstreamOf(), { origin: server.origin }).done
      expect(heard).toMatchObject({ body: 'ok', ended: true })
    })
  })

  describe('a streamed request body', () => {
    let received = 0
    const hashing = () =>
      opened(
        listenHttp((request, response) => {
          const hash = createHash('sha256')
          received = 0
          request.on('data', (chunk: Buffer) => {
            received += chunk.length
            hash.update(chunk)
          })
          request.on('end', () =>
            response.end(
              `${request.headers['content-length'] ?? ''} ${request.headers['transfer-encoding'] ?? ''} ${hash.digest('hex')}`,
            ),
          )
        }),
      )
    const bytes = Buffer.alloc(3_000_000, 'abc')
    const sum = createHash('sha256').update(bytes).digest('hex')

    it.each([
      ['framed by length', { contentLength: bytes.length }, `${bytes.length}  ${sum}`],
      ['chunked', {}, ` chunked ${sum}`],
    ])('%s', async (_, length, text) => {
      const server = await hashing()
      const body = Readable.from([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)], {
        objectMode: false,
      })
      const heard = await ask(upstreamOf(), {
        origin: server.origin,
        method: 'POST',
        body,
        ...length,
      }).done
      expect(heard.body).toBe(text)
    })

    it('that turns out to be empty is closed', async () => {
      const server = await hashing()
      const body = new PassThrough()
      body.end()
      const heard = await ask(upstreamOf(), {
        origin: server.origin,
        method: 'POST',
        body,
        contentLength: 0,
      }).done
      expect(heard).toMatchObject({ status: 200, ended: true })
      expect(body.destroyed).toBe(true)
    })

    it('a slow source is not the upstream’s fault', async () => {
      const server = await hashing()
      const body = new PassThrough()
      const asking = ask(upstreamOf(), {
        origin: server.origin,
        method: 'POST',
        body,
        timeoutMs: 60,
      })
      body.write('a')
      await until(() => received === 1, 'the first byte is there')
      pass(400)
      body.end('b')
      const heard = await asking.done
      expect(heard).toMatchObject({ status: 200, ended: true })
    })

    it('an upstream that stops reading is', async () => {
      const server = await opened(
        listenRaw((socket) => {
          socket.pause()
        }),
      )
      const body = Readable.from(
        (function* () {
          for (;;) yield Buffer.alloc(65536)
        })(),
        { objectMode: false },
      )
      const asking = ask(upstreamOf(), {
        origin: server.origin,
        method: 'POST',
        body,
        timeoutMs: 60,
      })
      await until(() => {
        pass(20)
        return asking.error !== undefined
      }, 'it is given up')
      expect(asking.error).toMatchObject({ code: 'timeout', headSeen: false })
    })

    it('a source that breaks off ends the request', async () => {
      const server = await hashing()
      const body = new PassThrough()
      const asking = ask(upstreamOf(), { origin: server.origin, method: 'POST', body })
      body.write('a')
      await until(() => received === 1, 'the first byte is there')
      body.destroy(new Error('gone'))
      expect((await asking.done).error).toMatchObject({ code: 'reset' })
    })
  })

  describe('what goes wrong', () => {
    it('nothing listens', async () => {
      const heard = await ask(upstreamOf(), { origin: await refusedOrigin() }).done
      expect(heard.error).toMatchObject({ code: 'refused', headSeen: false })
    })

    it('a name that does not resolve', async () => {
      const upstream = upstreamOf({
        resolve: (_host, _options, callback) => {
          callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
        },
      })
      const heard = await ask(upstream, { origin: 'http://nowhere.test' }).done
      expect(heard.error).toMatchObject({ code: 'refused' })
    })

    it('a connection that does not come about', async () => {
      const upstream = upstreamOf({ resolve: () => undefined })
      const asking = ask(upstream, { origin: 'http://nowhere.test', connectTimeoutMs: 60 })
      await settled()
      pass(60)
      expect(asking.error).toBeUndefined()
      pass(40)
      expect(asking.error).toMatchObject({ code: 'connect_timeout', headSeen: false })
      await settled()
      expect(upstream.stats()).toEqual([])
    })

    it.each([
      ['a status line', 'HTTP/1.1 abc OK\r\n\r\n', 'malformed'],
      ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'malformed'],
      ['a header', 'HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n', 'malformed'],
      [
        'two lengths',
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
        'malformed',
      ],
      ['a huge head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`, 'malformed'],
      [
        'a switch of protocols',
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
        'malformed',
      ],
      ['a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'malformed'],
    ])('malformed: %s', async (_, response, failure) => {
      const server = await answering(response)
      const heard = await ask(upstreamOf(), { origin: server.origin }).done
      expect(heard.error).toMatchObject({ code: failure })
      expect(heard.ended).toBe(false)
    })

    it.each([
      ['before a response', '', false],
      ['in the head', 'HTTP/1.1 200 OK\r\nContent-', true],
      ['in a body of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', true],
      ['in a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc', true],
    ])('broken off %s', async (_, response, headSeen) => {
      for (const end of ['end', 'resetAndDestroy'] as const) {
        const server = await opened(
          listenRaw((socket) => {
            socket.write(response)
            void roundTrip().then(() => socket[end]())
          }),
        )
        const heard = await ask(upstreamOf(), { origin: server.origin }).done
        expect(heard.error).toMatchObject({ code: 'reset', headSeen })
      }
    })

    it('reset in a body that ends with the connection', async () => {
      const server = await opened(
        listenRaw((socket) => {
          socket.write('HTTP/1.1 200 OK\r\n\r\nabc')
          void roundTrip().then(() => socket.resetAndDestroy())
        }),
      )
      const heard = await ask(upstreamOf(), { origin: server.origin }).done
      expect(heard).toMatchObject({ body: 'abc', ended: false, error: { code: 'reset' } })
    })

    it('too slow to answer', async () => {
      let isAsked = false
      const server = await opened(listenRaw(() => (isAsked = true)))
      const upstream = upstreamOf()
      const asking = ask(upstream, { origin: server.origin, timeoutMs: 60 })
      await until(() => isAsked, 'it is asked')
      pass(60)
      expect(asking.error).toBeUndefined()
      pass(40)
      expect(asking.error).toMatchObject({ code: 'timeout', headSeen: false })
      await until(() => server.open() === 0, 'the connection is closed')
      expect(upstream.stats()).toEqual([])
    })

    it('too long a pause in the body', async () => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')
      const asking = ask(upstreamOf(), { origin: server.origin, timeoutMs: 60 })
      await until(() => asking.body === 'abc', 'it has begun')
      pass(60)
      expect(asking.error).toBeUndefined()
      pass(40)
      expect(asking).toMatchObject({
        status: 200,
        body: 'abc',
        error: { code: 'timeout', headSeen: true },
      })
    })

    it('slow, but steady', async () => {
      const responses: ServerResponse[] = []
      const server = await opened(listenHttp((_, response) => responses.push(response)))
      const asking = ask(upstreamOf(), { origin: server.origin, timeoutMs: 300 })
      await until(() => responses.length === 1, 'it is asked')
      for (let count = 1; count <= 8; count++) {
        pass(200)
        responses[0]?.write('x')
        await until(() => asking.body.length === count, 'it has come')
      }
      responses[0]?.end()
      expect(await asking.done).toMatchObject({ body: 'xxxxxxxx', ended: true })
    })

    it('an upstream that closes while idle costs nothing', async () => {
      const sockets: Socket[] = []
      const server = await opened(
        listenRaw((socket) => {
          sockets.push(socket)
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        }),
      )
      const upstream = upstreamOf()
      for (let round = 0; round < 3; round++) {
        expect(await ask(upstream, { origin: server.origin }).done).toMatchObject({ status: 200 })
        sockets[round]?.end()
        await until(() => upstream.stats().length === 0, 'the connection is forgotten')
      }
      expect(server.opened()).toBe(3)
    })

    it('a connection that the upstream does not keep is replaced', async () => {
      const server = await opened(
        listenHttp((_, response) => {
          response.writeHead(200, { connection: 'close' }).end('x')
        }),
      )
      const upstream = upstreamOf()
      for (let round = 0; round < 5; round++) {
        expect(await ask(upstream, { origin: server.origin }).done).toMatchObject({ body: 'x' })
      }
      expect(server.opened()).toBe(5)
    })
  })

  describe('a connection in doubt serves no other request', () => {
    const SMUGGLED = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden'
    const responseTo = (text: string): string => {
      const path = /^\w+ (\S+)/.exec(text)?.[1] ?? ''
      return `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`
    }

    it.each([
      ['bytes behind a response', 'GET', (text: string) => responseTo(text) + SMUGGLED],
      ['a body after HEAD', 'HEAD', (text: string) => responseTo(text)],
      [
        'a body after 204',
        'GET',
        () => `HTTP/1.1 204 No Content\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
      ],
      [
        'a body after 304',
        'GET',
        () => `HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n${SMUGGLED}`,
      ],
    ])('after %s', async (_, method, misbehave) => {
      let isFirst = true
      const server = await opened(
        listenRaw((socket, text) => {
          socket.write(isFirst ? misbehave(text) : responseTo(text))
          isFirst = false
        }),
      )
      const upstream = upstreamOf()
      await ask(upstream, { origin: server.origin, method, path: '/first' }).done
      expect(await ask(upstream, { origin: server.origin, path: '/next' }).done).toMatchObject({
        body: '/next',
        ended: true,
      })
      expect(server.opened()).toBe(2)
    })

    it('after bytes that no request requested', async () => {
      const sockets: Socket[] = []
      const server = await opened(
        listenRaw((socket, text) => {
          sockets.push(socket)
          socket.write(responseTo(text))
        }),
      )
      const upstream = upstreamOf()
      await ask(upstream, { origin: server.origin, path: '/first' }).done
      sockets[0]?.write(SMUGGLED)
      await roundTrip()
      expect(await ask(upstream, { origin: server.origin, path: '/next' }).done).toMatchObject({
        body: '/next',
      })
      expect(server.opened()).toBe(2)
    })

    it('after a response that came before all of its request was sent', async () => {
      const server = await opened(
        listenRaw((socket, text) => {
          if (/^\w+ /.test(text)) socket.write(responseTo(text))
        }),
      )
      const upstream = upstreamOf()
      const body = new PassThrough()
      body.write('a part')
      const early = await ask(upstream, {
        origin: server.origin,
        method: 'POST',
        path: '/early',
        body,
      }).done
      expect(early).toMatchObject({ body: '/early', ended: true })
      expect(await ask(upstream, { origin: server.origin, path: '/next' }).done).toMatchObject({
        body: '/next',
      })
      expect(server.opened()).toBe(2)
    })

    it('after a response that came while bytes of its request waited in the socket', async () => {
      const server = await opened(
        listenRaw((socket, text) => {
          if (!/^\w+ /.test(text)) return
          socket.write(responseTo(text))
          if (text.startsWith('POST')) socket.pause()
        }),
      )
      const upstream = upstreamOf()
      const body = Buffer.alloc(32_000_000, 'GET /smuggled HTTP/1.1\r\n\r\n')
      const early = { origin: server.origin, method: 'POST', path: '/early', body }
      expect(await ask(upstream, early).done).toMatchObject({ body: '/early', ended: true })
      expect(await ask(upstream, { origin: server.origin, path: '/next' }).done).toMatchObject({
        body: '/next',
      })
      expect(server.opened()).toBe(2)
    })

    it('but one whose last bytes were waited for does', async () => {
      const server = await opened(
        listenRaw((socket, text) => {
          socket.write(responseTo(text))
        }),
      )
      const upstream = upstreamOf()
      for (const path of ['/first', '/next', '/third']) {
        let isPaused = false
        const asking = ask(upstream, {
          origin: server.origin,
          path,
          sink: {
            onData: () => {
              isPaused = true
              return false
            },
          },
        })
        await until(() => isPaused, 'it pauses')
        await settled()
        asking.call.resume()
        expect(await asking.done).toMatchObject({ status: 200, ended: true })
      }
      expect(server.opened()).toBe(1)
    })
  })

  describe('abort', () => {
    it.each([
      [
        'while it connects',
        (): Partial<UpstreamOptions> => ({ resolve: () => undefined }),
        'http://nowhere.test',
      ],
      ['while it waits', () => ({}), undefined],
    ])('%s', async (_, options, origin) => {
      let isAsked = origin !== undefined
      const server = await opened(listenRaw(() => (isAsked = true)))
      const upstream = upstreamOf(options())
      const asking = ask(upstream, { origin: origin ?? server.origin })
      await settled()
      await until(() => isAsked, 'it is asked')
      asking.call.abort()
      asking.call.abort()
      expect((await asking.done).error).toMatchObject({ code: 'aborted' })
      expect(upstream.stats()).toEqual([])
      await until(() => server.open() === 0, 'the connection is closed')
    })

    it('in the middle of a body', async () => {
      const server = await opened(
        listenHttp((_, response) => {
          response.write(Buffer.alloc(1_000_000))
        }),
      )
      const upstream = upstreamOf()
      let chunks = 0
      const errors: string[] = []
      const asking = ask(upstream, {
        origin: server.origin,
        sink: {
          onData: () => {
            chunks++
            asking.call.abort()
            return true
          },
          onError: (error) => errors.push(error.code),
        },
      })
      await until(() => errors.length > 0, 'it is aborted')
      await until(() => server.open() === 0, 'the connection is closed')
      expect({ chunks, errors }).toEqual({ chunks: 1, errors: ['aborted'] })
    })

    it('after the end it is too late', async () => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      const upstream = upstreamOf()
      const asking = ask(upstream, { origin: server.origin })
      await asking.done
      asking.call.abort()
      asking.call.resume()
      expect(asking.error).toBeUndefined()
      expect(upstream.stats()).toMatchObject([{ connected: 1 }])
    })

    it('200 downloads cut off leave the origin usable', async () => {
      const big = Buffer.alloc(2_000_000)
      const server = await opened(
        listenHttp((request, response) => {
          response.end(request.url === '/big' ? big : 'fine')
        }),
      )
      const upstream = upstreamOf()
      for (let round = 0; round < 20; round++) {
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            const begun = Promise.withResolvers<undefined>()
            const onData = (): boolean => {
              begun.resolve(undefined)
              return false
            }
            const asking = ask(upstream, { origin: server.origin, path: '/big', sink: { onData } })
            await begun.promise
            asking.call.abort()
            await asking.done
          }),
        )
      }
      expect(await ask(upstream, { origin: server.origin }).done).toMatchObject({ body: 'fine' })
      expect(upstream.stats()).toMatchObject([{ running: 0, queued: 0 }])
    })
  })

  describe('back-pressure', () => {
    it('nothing more comes while paused, no deadline passes, and all comes in the end', async () => {
      const length = 8_000_000
      const server = await opened(
        listenHttp((_, response) => {
          response.end(Buffer.alloc(length, 'x'))
        }),
      )
      let received = 0
      let isPaused = false
      const over = { isOver: false }
      const asking = ask(upstreamOf(), {
        origin: server.origin,
        timeoutMs: 100,
        sink: {
          onData: (chunk) => {
            received += chunk.length
            isPaused = received > 1_000_000
            return !isPaused || received === length
          },
        },
      })
      void asking.done.then(() => (over.isOver = true))
      await until(() => isPaused, 'it pauses')
      const before = received
      pass(300)
      await roundTrip()
      expect(received).toBe(before)
      while (!over.isOver) {
        asking.call.resume()
        await settled()
      }
      const heard = await asking.done
      expect({ received, error: heard.error }).toEqual({ received: length, error: undefined })
    })
  })

  describe('destinations', () => {
    it('a literal', async () => {
      const heard = await ask(upstreamOf(), { origin: 'http://169.254.169.254' }).done
      expect(heard.error).toMatchObject({ code: 'denied', headSeen: false })
      expect(heard.error?.message).not.toContain('169')
    })

    it('the own listener, which is known only after it listens', async () => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      const own: { address: string; port: number }[] = []
      const upstream = upstreamOf({ guard: createGuard({ ownListeners: () => own }) })
      own.push({ address: '0.0.0.0', port: server.port })
      const heard = await ask(upstream, { origin: server.origin.replace('127.0.0.1', 'localhost') })
        .done
      expect(heard.error).toMatchObject({ code: 'denied' })
      expect(server.opened()).toBe(0)
    })

    it.each([
      ['all of its addresses', ['169.254.169.254', 'fe80::1'], 'denied'],
      ['the only one', ['::ffff:169.254.169.254'], 'denied'],
      ['some: the others serve', ['169.254.169.254', '127.0.0.1'], undefined],
    ])('a name that stands for %s', async (_, addresses, failure) => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      const upstream = upstreamOf({
        resolve: (_host, _options, callback) => {
          callback(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          )
        },
      })
      const heard = await ask(upstream, {
        origin: server.origin.replace('127.0.0.1', 'upstream.test'),
      }).done
      expect(heard.error?.code).toBe(failure)
    })

    it('the connection goes to the address that was checked', async () => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      let asked = 0
      const upstream = upstreamOf({
        resolve: (_host, _options, callback) => {
          // The second response would be denied; it is never asked for.
          const address = asked++ === 0 ? '127.0.0.1' : '169.254.169.254'
          callback(null, [{ address, family: 4 }])
        },
      })
      const heard = await ask(upstream, {
        origin: server.origin.replace('127.0.0.1', 'upstream.test'),
      }).done
      expect({ status: heard.status, asked }).toEqual({ status: 200, asked: 1 })
    })

    it('a denied name', async () => {
      const guard = createGuard({ deny: readRules(['*.internal']).rules })
      const upstream = upstreamOf({
        guard,
        resolve: (_host, _options, callback) => {
          callback(null, [{ address: '127.0.0.1', family: 4 }])
        },
      })
      const heard = await ask(upstream, { origin: 'http://db.internal' }).done
      expect(heard.error).toMatchObject({ code: 'denied' })
    })
  })

  describe('close', () => {
    it('waits for what runs, and takes nothing new', async () => {
      const held: ServerResponse[] = []
      const server = await opened(
        listenHttp((request, response) => {
          if (request.url === '/held') held.push(response)
          else response.end()
        }),
      )
      const upstream = createUpstream({ guard: createGuard(), extraCa: [ca.cert] })
      await ask(upstream, { origin: server.origin }).done
      const running = ask(upstream, { origin: server.origin, path: '/held' })
      let isClosed = false
      const closing = upstream.close().then(() => (isClosed = true))
      const refused = await ask(upstream, { origin: server.origin }).done
      expect(refused.error).toMatchObject({ code: 'refused' })
      await until(() => held.length === 1, 'it is asked')
      expect([running.ended, isClosed]).toEqual([false, false])
      held[0]?.end('late')
      await closing
      expect(running).toMatchObject({ body: 'late', ended: true })
      expect(upstream.stats()).toEqual([])
      await until(() => server.open() === 0, 'the connection is closed')
    })

    it('is at once with nothing open', async () => {
      await expect(createUpstream({ guard: createGuard() }).close()).resolves.toBeUndefined()
    })
  })

  describe('idle connections', () => {
    it('are closed after a while', async () => {
      const server = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      const upstream = upstreamOf({ keepAliveMs: 50 })
      await ask(upstream, { origin: server.origin }).done
      await settled()
      pass(49)
      await roundTrip()
      expect(upstream.stats()).toHaveLength(1)
      await until(() => {
        // The client looks at idle connections ten times a second.
        pass(100)
        return upstream.stats().length === 0
      }, 'the origin is forgotten')
      await until(() => server.open() === 0, 'the connection is closed')
    })
  })
})
