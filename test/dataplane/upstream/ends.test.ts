// Whatever goes wrong in whichever phase of a request: its sink hears of one end, and neither its connection nor its slot
// is kept.

import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createPoolScope, type PoolScope } from '../../../dataplane/upstream/limiter.ts'
import {
  createUpstream,
  type UpstreamOptions,
} from '../../../dataplane/upstream/pooled-upstream.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { settled } from '../../support/settled.ts'
import { roundTrip } from '../round-trip.ts'
import { stopTimers } from '../stop-timers.ts'
import {
  type Ask,
  ask,
  type Asking,
  listenHttp,
  type Listening,
  listenRaw,
  until,
} from './servers.ts'

stopTimers()

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const TIMEOUT_MS = 1000
const ONE_END = { ends: 1, slots: 0, stats: [] }

/** What the upstream has sent when it goes wrong. */
const PHASES = {
  'before a response': '',
  'in a status line': 'HTTP/1.1 20',
  'in a head': `${OK}Content-Le`,
  'after an interim response': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  'before a body of known length': `${OK}Content-Length: 9\r\n\r\n`,
  'in a body of known length': `${OK}Content-Length: 9\r\n\r\nhello`,
  'in a chunk size': `${CHUNKED}1`,
  'in a chunk': `${CHUNKED}9\r\nhello`,
  'between chunks': `${CHUNKED}5\r\nhello\r\n`,
  'in trailers': `${CHUNKED}5\r\nhello\r\n0\r\nX: `,
  'in a body that ends with the connection': `${OK}\r\nhello`,
} as const

interface Scene {
  readonly asking: Asking
  readonly socket: Socket
  readonly body: PassThrough | undefined
}

const FAULTS: Readonly<Record<string, (scene: Scene) => void>> = {
  'it is aborted': ({ asking }) => {
    asking.call.abort()
  },
  'it is aborted and reset': ({ asking, socket }) => {
    socket.resetAndDestroy()
    asking.call.abort()
    asking.call.resume()
  },
  'the upstream hangs up': ({ socket }) => {
    socket.end()
  },
  'the upstream resets': ({ socket }) => {
    socket.resetAndDestroy()
  },
  'the upstream talks nonsense, and hangs up': ({ socket }) => {
    socket.end('\0\r\n\0\r\n\r\n'.repeat(10))
  },
  'the upstream says nothing more': () => {
    jest.advanceTimersByTime(TIMEOUT_MS + 100)
  },
  'the client resumes what is not paused, then aborts': ({ asking }) => {
    asking.call.resume()
    asking.call.abort()
  },
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const upstreamOf = (options: Partial<UpstreamOptions> = {}): Upstream => {
  const upstream = createUpstream({ guard: createGuard(), ...options })
  closers.push(() => upstream.close())
  return upstream
}

const opened = async (server: Promise<Listening>): Promise<Listening> => {
  const listening = await server
  closers.push(() => listening.close())
  return listening
}

/** @param ends how it ended each time */
const asked = (
  upstream: Upstream,
  scope: PoolScope,
  ends: string[],
  { sink, ...request }: Ask,
): Asking =>
  ask(upstream, {
    timeoutMs: TIMEOUT_MS,
    scope,
    ...request,
    sink: {
      onEnd: () => {
        ends.push('end')
      },
      onError: ({ code }) => {
        ends.push(code)
      },
      ...sink,
    },
  })

/** What is left of a request that ends. */
const left = async (
  { upstream, scope, server }: { upstream: Upstream; scope: PoolScope; server?: Listening },
  ends: readonly string[],
): Promise<object> => {
  await until(() => ends.length > 0, 'it ends')
  await until(() => (server?.open() ?? 0) === 0, 'the connection is closed')
  await roundTrip()
  jest.advanceTimersByTime(10 * TIMEOUT_MS)
  await settled()
  return { ends: ends.length, slots: scope.size, stats: upstream.stats() }
}

describe.each(Object.entries(PHASES))('%s', (_, sent) => {
  for (const isPaused of sent.endsWith('hello') ? [false, true] : [false])
    it.each(Object.entries(FAULTS))(
      `${isPaused ? 'paused, ' : ''}%s: one end`,
      async (__, bring) => {
        const sockets: Socket[] = []
        const server = await opened(
          listenRaw((socket) => {
            sockets.push(socket)
            socket.write(sent)
          }),
        )
        const upstream = upstreamOf()
        const scope = createPoolScope(1)
        const ends: string[] = []
        let waits = false
        const onData = (): boolean => {
          waits = true
          return false
        }
        const sink = isPaused ? { onData } : {}
        const asking = asked(upstream, scope, ends, { origin: server.origin, sink })
        await until(() => sockets.length > 0, 'it is asked')
        await roundTrip()
        const [socket] = sockets
        if (socket !== undefined) bring({ asking, socket, body: undefined })
        await settled()
        // What is paused hears of nothing before it goes on.
        if (isPaused)
          await until(() => {
            if (waits) asking.call.resume()
            waits = false
            jest.advanceTimersByTime(TIMEOUT_MS / 10)
            return ends.length > 0
          }, 'it goes on, and ends')
        expect(await left({ upstream, scope, server }, ends)).toEqual(ONE_END)
      },
    )
})

describe('while a body is sent', () => {
  it.each<readonly [string, (scene: Scene) => void]>([
    ...Object.entries(FAULTS).filter(([name]) => !name.includes('nothing more')),
    ['its source breaks off', ({ body }) => body?.destroy(new Error('gone'))],
    ['its source ends without a word', ({ body }) => body?.destroy()],
    [
      'the upstream answers and hangs up',
      ({ socket }) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`),
    ],
    [
      'the upstream answers, and the rest is sent',
      ({ socket, body }) => {
        socket.write(`${OK}Content-Length: 2\r\n\r\nok`)
        body?.end('rest')
      },
    ],
  ])('%s: one end', async (_, bring) => {
    const sockets: Socket[] = []
    const server = await opened(listenRaw((socket) => sockets.push(socket)))
    const upstream = upstreamOf({ keepAliveMs: 1000 })
    const scope = createPoolScope(1)
    const ends: string[] = []
    const body = new PassThrough()
    body.write('a part')
    const asking = asked(upstream, scope, ends, { origin: server.origin, method: 'POST', body })
    await until(() => sockets.length > 0, 'the first part has come')
    const [socket] = sockets
    if (socket !== undefined) bring({ asking, socket, body })
    await until(() => ends.length > 0, 'it ends')
    jest.advanceTimersByTime(10 * TIMEOUT_MS)
    expect(await left({ upstream, scope, server }, ends)).toEqual(ONE_END)
    expect(body.destroyed).toBe(true)
  })
})

describe('while it connects', () => {
  type Callback = Parameters<NonNullable<UpstreamOptions['resolve']>>[2]
  it.each<readonly [string, (asking: Asking, callback: Callback) => void]>([
    [
      'it is aborted, and the name found after that',
      (asking, answer) => {
        asking.call.abort()
        answer(null, [{ address: '127.0.0.1', family: 4 }])
      },
    ],
    [
      'the name is found, and it is aborted at once',
      (asking, answer) => {
        answer(null, [{ address: '127.0.0.1', family: 4 }])
        asking.call.abort()
      },
    ],
    [
      'the name is not found',
      (_, answer) => {
        answer(new Error('none'), [])
      },
    ],
    [
      'its time is up',
      () => {
        jest.advanceTimersByTime(10_000)
      },
    ],
  ])('%s: one end', async (_, bring) => {
    const server = await opened(listenRaw(() => undefined))
    const callbacks: Callback[] = []
    const upstream = upstreamOf({
      resolve: (_host, _options, callback) => {
        callbacks.push(callback)
      },
    })
    const scope = createPoolScope(1)
    const ends: string[] = []
    const body = new PassThrough()
    const asking = asked(upstream, scope, ends, {
      origin: `http://up.test:${server.port}`,
      method: 'POST',
      body,
    })
    await until(() => callbacks.length > 0, 'the name is asked for')
    const [callback] = callbacks
    if (callback !== undefined) bring(asking, callback)
    expect(await left({ upstream, scope, server }, ends)).toEqual(ONE_END)
    expect(body.destroyed).toBe(true)
  })
})

it('200 downloads cut off in the middle do not block a pool of 64', async () => {
  const big = Buffer.alloc(2_000_000)
  const server = await opened(
    listenHttp((request, response) => {
      response.on('error', () => undefined).end(request.url === '/big' ? big : 'fine')
    }),
  )
  const upstream = upstreamOf()
  const scope = createPoolScope(64)
  const ends: string[] = []
  let most = 0
  for (let count = 0; count < 200; count++) {
    const asking = asked(upstream, scope, ends, {
      origin: server.origin,
      path: '/big',
      connectTimeoutMs: 60_000,
      sink: {
        onData: () => {
          most = Math.max(most, server.open())
          // Some while bytes come, some while they are paused.
          if (count % 2 === 0) asking.call.abort()
          else setImmediate(asking.call.abort.bind(asking.call))
          return false
        },
      },
    })
  }
  await until(() => ends.length === 200, 'all are cut off')
  const next = ask(upstream, { origin: server.origin, scope })
  expect(await next.done).toMatchObject({ body: 'fine', ended: true })
  expect(new Set(ends)).toEqual(new Set(['aborted']))
  expect(most).toBeLessThanOrEqual(64)
  await until(() => server.open() === 1, 'all but the last connection are closed')
  expect(scope.size).toBe(0)
  expect(upstream.stats()).toMatchObject([{ connected: 1, running: 0, queued: 0 }])
})
