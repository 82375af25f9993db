import { createServer } from 'node:https'
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTls, type TlsOptions, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Resolve } from '../../../dataplane/name-lookup.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import type { HealthEvent } from '../../../dataplane/upstream/endpoints/origin-health.ts'
import { ServiceDirectory } from '../../../dataplane/upstream/endpoints/service-directory.ts'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { settled } from '../../support/settled.ts'
import { CERT, KEY } from './self-signed.ts'
import { ask } from './servers.ts'

describe('https upstreams', () => {
  const seen: (string | false | undefined)[] = []
  const server = createServer({ key: KEY, cert: CERT }, (request, response) => {
    const socket = request.socket as unknown as {
      servername: string | false
      isSessionReused(): boolean
    }
    seen.push(socket.servername)
    response.end(socket.isSessionReused() ? 'resumed' : 'fresh')
  })
  let port = 0
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const resolve: Resolve = (_host, _options, callback) => {
    callback(null, [{ address: '127.0.0.1', family: 4 }])
  }

  it('are trusted by an extra CA, with the host as server name', async () => {
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    const heard = await ask(upstream, { origin: `https://upstream.test:${port}` }).done
    expect(heard).toMatchObject({ status: 200, body: 'fresh' })
    const literal = await ask(upstream, { origin: `https://127.0.0.1:${port}` }).done
    expect(literal.status).toBe(200)
    expect(seen).toEqual(['upstream.test', false])
    await upstream.close()
  })

  it('that no trusted CA has signed fail, and are counted so', async () => {
    const upstream = createUpstream({ guard: createGuard(), resolve })
    for (const host of ['upstream.test', '127.0.0.1']) {
      const origin = `https://${host}:${port}`
      expect((await ask(upstream, { origin }).done).error?.code).toBe('refused')
    }
    expect(upstream.counts().readFailures()).toMatchObject([
      { cause: 'tls', count: 1 },
      { cause: 'tls', count: 1 },
    ])
    await upstream.close()
  })

  it('resume their session on a new connection', async () => {
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    const origin = `https://upstream.test:${port}`
    await ask(upstream, { origin }).done
    const [one, two] = await Promise.all([
      ask(upstream, { origin }).done,
      ask(upstream, { origin }).done,
    ])
    expect([one.body, two.body]).toContain('resumed')
    await upstream.close()
  })

  it('that are Pods of a Service, too, have the host as server name', async () => {
    const services = new ServiceDirectory()
    const targets = [{ port, addresses: ['127.0.0.1'] }]
    services.apply({
      put: [{ service: 'test/upstream', addresses: ['127.0.0.1'], ports: [{ port: 1, targets }] }],
      delete: [],
    })
    const upstream = createUpstream({
      guard: createGuard(),
      extraCa: [CERT],
      resolve,
      services,
    })
    const before = seen.length
    const { status } = await ask(upstream, { origin: 'https://upstream.test:1' }).done
    expect([status, seen.slice(before)]).toEqual([200, ['upstream.test']])
    await upstream.close()
  })

  it('that have an instance without TLS use the others, and the one that fails is ejected', async () => {
    const plain = createTcp((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('no TLS'),
    )
    await new Promise<void>((resolve) => plain.listen(port, '127.0.0.2', resolve))
    const events: HealthEvent[] = []
    const upstream = createUpstream({
      guard: createGuard(),
      extraCa: [CERT],
      resolve: (_host, _options, callback) => {
        callback(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.2', family: 4 },
        ])
      },
      clock: { now: () => 0, random: seededRandom(1) },
      onHealth: (event) => events.push(event),
    })
    const origin = `https://upstream.test:${port}`
    let last = 0
    for (let count = 0; count < 60; count++) {
      const { status } = await ask(upstream, { origin }).done
      if (status !== 200) last = count
    }
    expect(events).toMatchObject([{ address: '127.0.0.2', fault: 'tls', realm: undefined }])
    expect(last).toBeLessThan(30)
    await upstream.close()
    await new Promise((resolve) => plain.close(resolve))
  })

  /** Serves one connection over TLS, with the bytes of TCP in hand. */
  const serving = async (
    options: TlsOptions,
    serve: (socket: TLSSocket, under: Socket) => void,
  ): Promise<string> => {
    let under: Socket | undefined
    const raw = createTls({ key: KEY, cert: CERT, noDelay: true, ...options }, (socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          if (under !== undefined) serve(socket, under)
        })
    })
      .on('connection', (socket: Socket) => (under = socket))
      .on('tlsClientError', () => undefined)
    await new Promise<void>((listening) => raw.listen(0, '127.0.0.1', listening))
    closers.push(() => {
      under?.destroy()
      return new Promise((closed) => raw.close(closed))
    })
    return `https://upstream.test:${(raw.address() as AddressInfo).port}`
  }
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })

  it('are called over a new connection once one has ended while its response was paused', async () => {
    let connections = 0
    const origin = await serving({}, (socket) => {
      connections += 1
      const body = connections === 1 ? 'x'.repeat(100_000) : 'ok'
      const text = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      // The first one promises nothing, and goes.
      if (connections === 1) socket.end(text)
      else socket.write(text)
    })
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    closers.push(() => upstream.close())
    const request = { origin, path: '/', headers: [], body: null } as const
    const times = { connectTimeoutMs: 10_000, timeoutMs: 10_000 }
    await new Promise<void>((ended) => {
      const call = upstream.send(
        { ...request, ...times, method: 'GET' },
        {
          onHead: () => undefined,
          onData: () => {
            setTimeout(() => {
              call.resume()
            }, 50)
            return false
          },
          onEnd: ended,
          onError: () => {
            ended()
          },
        },
      )
    })
    const second = await new Promise<string>((settle) => {
      upstream.send(
        { ...request, ...times, method: 'POST' },
        {
          onHead: () => undefined,
          onData: () => true,
          onEnd: () => {
            settle('answered')
          },
          onError: ({ code }) => {
            settle(code)
          },
        },
      )
    })
    expect(second).toBe('answered')
  })

  it.each([
    ['in a body of known length', 'Content-Length: 9\r\n\r\nhello', 'reset'],
    ['in a chunk', 'Transfer-Encoding: chunked\r\n\r\n9\r\nhello', 'reset'],
    ['before the last chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'reset'],
    ['in a head', 'Content-Length: 9\r\n', 'reset'],
    ['in a body that the connection ends', '\r\nhello', 'reset'],
  ])('that are cut off %s, without close_notify', async (_, text, code) => {
    const origin = await serving({}, (socket, under) => {
      socket.write(`HTTP/1.1 200 OK\r\n${text}`, () => under.end())
    })
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    const heard = await ask(upstream, { origin }).done
    expect([heard.error?.code, heard.ended]).toEqual([code, false])
    await upstream.close()
  })

  /** The head of a record of data whose rest never comes. */
  const HALF_A_RECORD = Buffer.from([0x17, 3, 3, 0, 64, 1, 2, 3])
  /** close_notify, as somebody without the keys can write it. */
  const FORGED_END = Buffer.from([0x15, 3, 3, 0, 2, 1, 0])
  const HELD_BYTES = 100_000

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('with %s', (version) => {
    describe.each([
      ['is read at once', false],
      ['waits for a slow client', true],
    ])('a body without a length that %s', (_, isSlow) => {
      it.each<[string, boolean, (socket: TLSSocket, under: Socket) => void]>([
        ['is complete with close_notify', true, (socket) => socket.end()],
        [
          'is complete with close_notify, of which the end of TCP never comes',
          true,
          (socket, under) => {
            under.end = () => under
            socket.end()
          },
        ],
        ['is cut off by the end of TCP', false, (_socket, under) => under.end()],
        [
          'is cut off by half a record and the end of TCP',
          false,
          (_socket, under) => under.end(HALF_A_RECORD),
        ],
        [
          'is cut off by a close_notify of somebody else',
          false,
          (_socket, under) => under.end(FORGED_END),
        ],
        ['is cut off by a reset', false, (_socket, under) => under.resetAndDestroy()],
      ])('%s', async (_title, isComplete, end) => {
        const options = { minVersion: version, maxVersion: version }
        const body = 'x'.repeat(isSlow ? HELD_BYTES : 5)
        const origin = await serving(options, (socket, under) => {
          socket.write(`HTTP/1.1 200 OK\r\n\r\n${body}`, () => {
            end(socket, under)
          })
        })
        const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
        closers.push(() => upstream.close())
        let bytes = 0
        const ended = await new Promise<string>((settle) => {
          const request = { origin, path: '/', method: 'GET', headers: [], body: null } as const
          const call = upstream.send(
            { ...request, connectTimeoutMs: 10_000, timeoutMs: 10_000 },
            {
              onHead: () => undefined,
              onData: (chunk) => {
                bytes += chunk.length
                if (isSlow) {
                  setImmediate(() => {
                    call.resume()
                  })
                }
                return !isSlow
              },
              onEnd: () => {
                settle('complete')
              },
              onError: ({ code }) => {
                settle(code)
              },
            },
          )
        })
        // A reset takes along what was not read yet.
        const read = isComplete ? bytes : undefined
        expect([ended, read]).toEqual(isComplete ? ['complete', body.length] : ['reset', undefined])
      })
    })

    it.each([
      ['a length', 'Content-Length: 5\r\n\r\nhello'],
      ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ])('a body with %s is complete whatever ends the connection', async (_, text) => {
      const options = { minVersion: version, maxVersion: version }
      const origin = await serving(options, (socket, under) => {
        socket.write(`HTTP/1.1 200 OK\r\n${text}`, () => under.end())
      })
      const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
      closers.push(() => upstream.close())
      expect(await ask(upstream, { origin }).done).toMatchObject({ body: 'hello', ended: true })
    })
  })

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('are served over %s', async (version) => {
    const seenVersions: unknown[] = []
    const options = { minVersion: version, maxVersion: version }
    const origin = await serving(options, (socket) => {
      seenVersions.push(socket.getProtocol())
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')
    })
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    expect(await ask(upstream, { origin }).done).toMatchObject({ body: 'hello', ended: true })
    expect(seenVersions).toEqual([version])
    await upstream.close()
  })

  it('are not served over TLS 1.1', async () => {
    const old = {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    } as const
    const origin = await serving(old, (socket) => socket.end())
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    expect((await ask(upstream, { origin }).done).error?.code).toBe('refused')
    await upstream.close()
  })

  it('have memory of their own, which is charged while they are connected', async () => {
    const memory = new MemoryBudget({ size: 1_000_000 })
    const upstream = createUpstream({
      guard: createGuard(),
      extraCa: [CERT],
      resolve,
      memory,
    })
    await ask(upstream, { origin: `https://upstream.test:${port}` }).done
    expect(memory.held).toBe(16 * 1024)
    await upstream.close()
    await settled()
    expect(memory.held).toBe(0)
  })

  it('are offered HTTP/1.1 alone, and refused where they speak nothing but HTTP/2', async () => {
    const offers: (readonly string[])[] = []
    const origin = await serving(
      {
        ALPNCallback: ({ protocols }) => {
          offers.push(protocols)
          return offers.length === 1 ? 'http/1.1' : undefined
        },
      },
      (socket) => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
    )
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    expect((await ask(upstream, { origin }).done).status).toBe(200)
    expect((await ask(upstream, { origin }).done).error?.code).toBe('refused')
    expect(offers).toEqual([['http/1.1'], ['http/1.1']])
    expect(upstream.counts().readFailures()).toMatchObject([{ cause: 'tls', count: 1 }])
    await upstream.close()
  })

  it('cannot begin another handshake on a connection', async () => {
    const handshake = Promise.withResolvers<unknown>()
    const origin = await serving({ maxVersion: 'TLSv1.2' }, (socket) => {
      const again = { requestCert: true, rejectUnauthorized: false }
      socket.on('error', handshake.resolve).renegotiate(again, () => {
        handshake.resolve('made')
      })
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello')
    })
    const upstream = createUpstream({ guard: createGuard(), extraCa: [CERT], resolve })
    const asking = ask(upstream, { origin })
    expect(await handshake.promise).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' })
    expect((await asking.done).error?.code).toBe('reset')
    await upstream.close()
  })

  it.each([
    ['an unknown CA', 'upstream.test', []],
    ['another name', 'other.test', [CERT]],
  ])('are refused with %s', async (_, host, extraCa) => {
    const upstream = createUpstream({ guard: createGuard(), extraCa, resolve })
    const heard = await ask(upstream, { origin: `https://${host}:${port}` }).done
    expect(heard.error).toMatchObject({ code: 'refused' })
    await upstream.close()
  })
})
