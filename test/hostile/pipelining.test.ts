// One connection with many requests at once: one is at work, the others wait their turn, within bounds; responses and
// refusals come in order, and a client that hangs up is noticed.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Exchange } from '../../dataplane/actions/performer.ts'
import { stopTimers } from '../dataplane/stop-timers.ts'
import { roundTrip } from '../dataplane/round-trip.ts'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
} from '../dataplane/http/served-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { headerValues, type RawClient } from '../support/raw-client.ts'

stopTimers()

let gateway: ServedGateway
/** What has been started, in order. */
let started: Exchange[] = []
const cancelled = new WeakSet<Exchange>()
let atWork = 0
let mostAtWork = 0
/** Finishes what has been started a turn later. */
let isQuick = false

const SLOW = { action: { type: 'forward', host: 'http://never.test' }, response: {} }

const perform = (exchange: Exchange): void => {
  const at = started.push(exchange) - 1
  atWork++
  mostAtWork = Math.max(mostAtWork, atWork)
  exchange.onCancel(() => {
    cancelled.add(exchange)
  })
  if (isQuick) setImmediate(finish, at)
}

beforeEach(async () => {
  started = []
  atWork = 0
  mostAtWork = 0
  isQuick = false
  gateway = await serveGateway({ forward: perform })
  await gateway.load(
    apiOf({
      '/slow/:n': { get: SLOW },
      '/fast': { get: answers('fast'), post: answers('{{request.body}}') },
    }),
  )
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

const post = (body: string): string =>
  `POST /fast HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const startedOnes = (count: number): Promise<void> =>
  eventually(() => {
    expect(started).toHaveLength(count)
  })

const finish = (at: number): void => {
  atWork--
  started[at]?.succeed({ status_code: 200, headers: {}, body: `slow ${at}`, uri: '' })
}

/** The next responses, as status and body. */
const next = async (client: RawClient, count: number): Promise<readonly string[]> => {
  const texts: string[] = []
  for (let each = 0; each < count; each++) {
    const { status, body } = await client.response()
    const text = body.toString()
    const { code } = (status < 400 ? {} : JSON.parse(text)) as { code?: string }
    texts.push(`${status} ${code ?? text}`)
  }
  return texts
}

const expectAnotherServed = async (): Promise<void> => {
  expect((await gateway.ask('GET', '/fast')).text).toBe('"fast"')
}

const givenUp = (): number => started.filter((exchange) => cancelled.has(exchange)).length

const socketOf = (at: number): Socket => {
  const socket = started[at]?.incoming.socket
  if (socket === undefined) throw new Error(`number ${at} has not started`)
  return socket
}

describe('requests behind one that is not answered', () => {
  it('500 of them: one at a time is at work, all are answered in order', async () => {
    const requests = Array.from({ length: 500 }, (_, at) => get(`/slow/${at}`))
    isQuick = true
    await using client = await gateway.raw(requests.join(''))
    expect(await next(client, 500)).toEqual(requests.map((_, at) => `200 "slow ${at}"`))
    expect(mostAtWork).toBe(1)
    const urls = started.map(({ incoming }) => incoming.url)
    expect(urls).toEqual(requests.map((_, at) => `/slow/${at}`))
    await expectAnotherServed()
  })

  it.each<[string, string, readonly string[]]>([
    ['others', `${get('/fast')}${get('/none')}`, ['200 "fast"', '404 svc.error.not_found']],
    ['bodies', `${post('1')}${post('[2]')}`, ['200 1', '200 [2]']],
    ['a body that was expected', post('1').replace('\r\n', '\r\nExpect: x\r\n'), ['200 1']],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nmore', ['404 svc.error.not_found']],
    ['an upgrade', get('/fast', 'Connection: upgrade\r\nUpgrade: websocket\r\n'), ['200 "fast"']],
    [
      'a body that is broken',
      'POST /fast HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      ['400 svc.error.invalid_data'],
    ],
  ])('%s: in order', async (_, behind, expected) => {
    await using client = await gateway.raw(get('/slow/0'), behind)
    await startedOnes(1)
    await roundTrip()
    finish(0)
    expect(await next(client, 1 + expected.length)).toEqual(['200 "slow 0"', ...expected])
    await roundTrip()
    expect([started.length, gateway.inFlight.count]).toEqual([1, 0])
    // What is refused has not been started either.
    expect(gateway.statuses).not.toContain(499)
    await expectAnotherServed()
  })

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n'],
    ['too many lines', get('/fast', 'x: a\r\n'.repeat(128))],
    ['what is refused, and a request', `${get('/fast', 'x: a\r\n'.repeat(128))}${get('/slow/1')}`],
  ])('%s: the connection ends with the response before', async (_, behind) => {
    for (const held of ['', get('/fast')]) {
      await using client = await gateway.raw(get('/slow/0'), held, behind)
      await startedOnes(1)
      await roundTrip()
      finish(started.length - 1)
      const expected = held === '' ? [] : ['200 "fast"']
      expect(await next(client, 1 + expected.length)).toEqual(['200 "slow 0"', ...expected])
      // Nothing more comes, and that is the end.
      expect(await client.more()).toBe(false)
      started.length = 0
    }
    await expectAnotherServed()
  })

  it('are not read beyond 16 KiB and what one read brings, and all are answered', async () => {
    const requests = Array.from({ length: 4000 }, (_, at) =>
      get(`/slow/${at}`, `x: ${'y'.repeat(500)}\r\n`),
    )
    await using client = await gateway.raw(requests.join(''))
    await startedOnes(1)
    await eventually(() => {
      expect(socketOf(0).isPaused()).toBe(true)
    })
    for (let look = 0; look < 5; look++) await roundTrip()
    expect(socketOf(0).bytesRead).toBeLessThanOrEqual(3 * 65_536)
    isQuick = true
    finish(0)
    const answered = await next(client, 4000)
    expect(answered.at(-1)).toBe('200 "slow 3999"')
    await expectAnotherServed()
  })

  it('nor are their bodies', async () => {
    const requests = Array.from({ length: 100 }, () => post(JSON.stringify('y'.repeat(60_000))))
    await using client = await gateway.raw(get('/slow/0'), requests.join(''))
    await startedOnes(1)
    await eventually(() => {
      expect(socketOf(0).isPaused()).toBe(true)
    })
    for (let look = 0; look < 5; look++) await roundTrip()
    expect(socketOf(0).bytesRead).toBeLessThanOrEqual(5 * 65_536)
    finish(0)
    const answered = await next(client, 101)
    expect(answered.map((text) => text.length)).toEqual([12, ...requests.map(() => 60_006)])
  })

  it('more than anybody sends in one go: the connection is cut off', async () => {
    const socket = connect(gateway.address).on('error', () => undefined)
    socket.write(get('/slow/0') + get('/slow/1').repeat(1500))
    await once(socket.resume(), 'close')
    await eventually(() => {
      expect([givenUp(), started.length, gateway.inFlight.count]).toEqual([1, 1, 0])
    })
    await expectAnotherServed()
  })

  it('a client that never stops to send nonsense is not read for ever', async () => {
    const socket = connect(gateway.address).on('error', () => undefined)
    socket.write(`${get('/slow/0')}nonsense\r\n\r\n`)
    await startedOnes(1)
    const pour = (): void => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    }
    socket.on('drain', pour)
    pour()
    await eventually(() => {
      expect(socketOf(0).isPaused()).toBe(true)
    })
    expect(socketOf(0).bytesRead).toBeLessThan(10 * 65_536)
    socket.destroy()
    await expectAnotherServed()
  })
})

describe('a client that hangs up', () => {
  it.each([
    ['nothing', ''],
    ['a request', get('/slow/1')],
    ['a body that has not come', 'POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1'],
    ['half a head', 'GET /slow/1 HT'],
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('with %s behind: what is at work is given up, and nothing starts', async (_, behind) => {
    const socket = connect(gateway.address).on('error', () => undefined)
    socket.write(get('/slow/0') + behind)
    await startedOnes(1)
    await roundTrip()
    socket.end()
    await eventually(() => {
      expect([givenUp(), gateway.inFlight.count]).toEqual([1, 0])
    })
    expect(started).toHaveLength(1)
    socket.destroy()
    await expectAnotherServed()
  })
})

it('a tunnel behind the last request of a connection is ignored, and a reset is only the end of that', async () => {
  const socket = connect(gateway.address).on('error', () => undefined)
  // With a body behind its head, a request whose upgrade is ignored is the last one.
  const upgrade = 'Connection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 1\r\n'
  socket.write(get('/slow/0', upgrade))
  await startedOnes(1)
  socket.write('x')
  // Node drops what comes in one piece with that.
  await roundTrip()
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await roundTrip()
  socket.resetAndDestroy()
  await eventually(() => {
    expect([givenUp(), gateway.inFlight.count]).toEqual([1, 0])
  })
  expect([started.length, gateway.unmatched]).toEqual([1, []])
  await expectAnotherServed()
})

it('a tunnel in the same packet as a request that is answered at once is refused, and nothing else', async () => {
  await using client = await gateway.raw(`${get('/fast')}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
  expect(await next(client, 2)).toEqual(['200 "fast"', '404 svc.error.not_found'])
  await expectAnotherServed()
})

it('a large response before a refused tunnel goes out whole', async () => {
  await using client = await gateway.raw(get('/slow/0'), 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await startedOnes(1)
  await roundTrip()
  const headers = [['content-length', '20000000']] as const
  const head = { statusCode: 200, headers, hasBody: true }
  const out = started[0]?.stream(head)
  let left = 20_000_000
  const pour = (): void => {
    while (left > 0) {
      left -= 100_000
      if (out?.write(Buffer.alloc(100_000)) === false && left > 0) {
        out.onDrain(pour)
        return
      }
    }
    out?.end()
  }
  pour()
  const response = await client.response()
  expect([response.status, response.body.length]).toEqual([200, 20_000_000])
  const refusal = await client.response()
  expect([refusal.status, headerValues(refusal, 'connection')]).toEqual([404, ['close']])
  await expectAnotherServed()
})
