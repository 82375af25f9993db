// Responses that are streams of events, over real sockets: what is written, who ends them, who hears of it.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Socket } from 'node:net'
import type { EventSink, Exchange, Perform } from '../../../../dataplane/actions/performer.ts'
import { createEventStreams, type EventStreams } from '../../../../dataplane/http/sse/registry.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import { eventually } from '../../../support/eventually.ts'
import { settled } from '../../../support/settled.ts'
import { roundTrip } from '../../round-trip.ts'
import { stopTimers } from '../../stop-timers.ts'
import { type EventClient, type EventClientOptions, openEventClient } from './event-client.ts'
import { apiOf, serveGateway, type ServedGateway, type ServedOptions } from '../served-gateway.ts'

stopTimers()

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

const EVENTS = 'text/event-stream'

const MAX_WAITING_BYTES = 1024 * 1024

let gateway: ServedGateway
let streams: EventStreams
let cutOff: number
let exchanges: Exchange[]
let cancelled: number
let sinks: EventSink[]
let perform: Perform
const clients: EventClient[] = []

const start = async (options: ServedOptions = {}): Promise<void> => {
  streams = createEventStreams({ onCutOff: () => cutOff++ })
  gateway = await serveGateway({
    eventStreams: streams,
    wamp: (exchange) => {
      exchanges.push(exchange)
      perform(exchange)
    },
    ...options,
  })
}

/** A new gateway in place of the one that each test has. */
const restart = async (options: ServedOptions): Promise<void> => {
  await gateway[Symbol.asyncDispose]()
  await start(options)
}

beforeEach(async () => {
  cutOff = 0
  cancelled = 0
  exchanges = []
  sinks = []
  perform = (exchange) => {
    exchange.onCancel(() => cancelled++)
    const sink = exchange.events({ subscription_id: 7 })
    if (sink !== undefined) sinks.push(sink)
  }
  await start()
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const open = async (options: EventClientOptions = {}): Promise<EventClient> => {
  const client = await openEventClient(gateway.address, options)
  clients.push(client)
  return client
}

/** `/feed/:id` by wamp_subscribe, `/call` by wamp_call, POST too. */
const feed = (response: object = {}, more: Parameters<typeof apiOf>[1] = {}): unknown => {
  const call = { action: { type: 'wamp_call', procedure: 'a.b' }, response }
  return apiOf(
    {
      '/feed/:id': { get: { action: { type: 'wamp_subscribe', topic: 'a.b' }, response } },
      '/call': { get: call, post: call },
    },
    more,
  )
}

const CALL = `GET /call HTTP/1.1\r\nHost: a\r\nAccept: ${EVENTS}\r\n\r\n`

const BODY = { on_result: { body: '{{action.result.args |> head}}' } }

const told = (...args: readonly (string | number)[]): { readonly result: ValueMap } => ({
  result: { args },
})

const sinkAt = (index: number): EventSink => {
  const sink = sinks[index]
  if (sink === undefined) throw new Error(`there is no sink ${index}`)
  return sink
}

const opened = (count: number): Promise<void> =>
  eventually(() => {
    expect(sinks).toHaveLength(count)
  })

const allGone = (): Promise<void> =>
  eventually(async () => {
    expect(await gateway.connections()).toBe(0)
  })

/** The gateway's side of the connection of an exchange. */
const nearSocket = (index: number): Socket => {
  const socket = exchanges[index]?.incoming.socket
  if (socket === undefined) throw new Error(`there is no exchange ${index}`)
  return socket
}

const FAILURE = {
  error_uri: 'com.acme.gone',
  args: [1],
  kwargs: {},
  details: {},
  status_code: 500,
  headers: {},
  body: '',
  message: 'it went away',
}

describe('the head of a stream', () => {
  it('comes at once, as a response of the gateway', async () => {
    await gateway.load(feed({}, { version: { is_deprecated: true } }))
    const client = await open()
    await eventually(() => {
      expect(client.received).toBeDefined()
    })
    expect(client.received).toMatchObject({
      status: 200,
      body: '',
      isWhole: false,
      headers: {
        'content-type': EVENTS,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'x-request-id': 'id-1',
        'content-language': 'en',
        'transfer-encoding': 'chunked',
        vary: 'accept',
        deprecation: 'true',
      },
    })
    expect(client.received?.headers).not.toHaveProperty('content-length')
    expect([gateway.inFlight.count, gateway.statuses, streams.size]).toEqual([1, [], 1])
  })

  it('has what on_result sets, read of the result', async () => {
    const headers = {
      'Cache-Control': 'no-cache',
      'content-type': 'text/plain',
      'content-encoding': 'gzip',
      'x-id': '{{action.result.subscription_id}} {{request.bindings.id}}',
      'x-accel-buffering': 'yes',
    }
    await gateway.load(feed({ on_result: { status_code: '208', headers } }))
    const client = await open()
    await eventually(() => {
      expect(client.received?.status).toBe(208)
    })
    expect(client.received?.headers).toMatchObject({
      'content-type': EVENTS,
      'cache-control': 'no-cache',
      'x-accel-buffering': 'yes',
      'x-id': '7 1',
    })
    expect(client.received?.headers).not.toHaveProperty('content-encoding')
  })

  it.each([
    ['a header', { headers: { x: '{{action.result.nope}}' } }],
    ['the status', { status_code: '{{action.result.subscription_id}}' }],
    ['the uri', { uri: '{{action.result.nope}}' }],
  ])('%s that fails: an ordinary refusal', async (_, onResult) => {
    let sink: EventSink | undefined | 'unset' = 'unset'
    perform = (exchange) => {
      sink = exchange.events({ subscription_id: 7 })
    }
    await gateway.load(feed({ on_result: { ...onResult, body: 'x' } }))
    const response = await gateway.ask('GET', '/feed/1', { headers: { accept: EVENTS } })
    expect([response.status, response.headers['content-type']]).toEqual([500, 'application/json'])
    expect(response.json()).toMatchObject({ code: 'svc.error.http_gateway.invalid_expression' })
    expect([sink, streams.size, gateway.inFlight.count]).toEqual([undefined, 0, 0])
  })

  it.each([
    ['HEAD', {}, 200],
    ['GET', { on_result: { status_code: 204 } }, 204],
  ])('is all there is: %s %j', async (method, response, status) => {
    await gateway.load(feed(response))
    const client = await open({ method })
    await eventually(() => {
      expect(gateway.statuses).toEqual([status])
    })
    await eventually(() => {
      expect(client.received?.status).toBe(status)
    })
    expect(client.received?.headers['content-type']).toBe(status === 200 ? EVENTS : undefined)
    client.socket.write('HEAD /feed/1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually(() => {
      expect(gateway.statuses).toHaveLength(2)
    })
    expect([sinks.length, streams.size, cancelled, gateway.inFlight.count]).toEqual([0, 0, 0, 0])
  })

  it('a POST with a uri says where', async () => {
    await gateway.load(feed({ on_result: { uri: '/made' } }))
    const client = await open({ method: 'POST', path: '/call', headers: { accept: EVENTS } })
    await eventually(() => {
      expect(client.received?.headers['location']).toBe('/made')
    })
  })

  it('is for actions that make events', async () => {
    await restart({ forward: (exchange) => exchange.events({}) })
    await gateway.load(apiOf({ '/x': { get: { action: { type: 'forward', host: 'a' } } } }))
    expect((await gateway.ask('GET', '/x')).status).toBe(500)
    expect([gateway.unexpected.length, streams.size]).toEqual([1, 0])
  })

  it('is for requests without a response', async () => {
    let late: unknown = 'unset'
    perform = (exchange) => {
      exchange.succeed({ args: [] })
      late = exchange.events({})
    }
    await gateway.load(feed())
    expect((await gateway.ask('GET', '/call')).status).toBe(200)
    expect([late, streams.size, gateway.inFlight.count]).toEqual([undefined, 0, 0])
  })
})

describe('Accept', () => {
  const rated = async (path: string, accept: string) => {
    const ratings: string[] = []
    perform = (exchange) => {
      ratings.push(exchange.eventStreams)
      if (path === '/call') exchange.succeed({ args: [] })
      else exchange.events({})?.end()
    }
    await gateway.load(feed())
    const response = await gateway.ask('GET', path, { headers: { accept } })
    return { response, ratings }
  }

  it.each([
    ['/call', EVENTS, 'preferred'],
    ['/call', 'text/*', 'preferred'],
    ['/call', '*/*', 'accepted'],
    ['/call', `application/json, ${EVENTS};q=0.5`, 'accepted'],
    ['/call', 'application/json', 'refused'],
    ['/feed/1', EVENTS, 'preferred'],
  ])('%s takes %s: %s', async (path, accept, rating) => {
    const { response, ratings } = await rated(path, accept)
    expect([response.status, ratings]).toEqual([200, [rating]])
  })

  it.each([
    ['/call', 'text/html', 0],
    ['/call', `${EVENTS};q=0`, 0],
    ['/feed/1', 'text/html', 0],
    ['/feed/1', 'application/json', 1],
  ])('%s refuses %s', async (path, accept, asked) => {
    const { response, ratings } = await rated(path, accept)
    expect([response.status, ratings.length]).toEqual([406, asked])
    expect(response.json()).toMatchObject({
      code: 'svc.error.not_acceptable',
      description: expect.stringContaining(EVENTS) as unknown,
    })
  })

  it('errors are JSON for who takes nothing but events', async () => {
    perform = (exchange) => {
      exchange.fail(FAILURE)
    }
    await gateway.load(feed({}, { defaults: { provides: ['application/msgpack'] } }))
    for (const path of ['/call', '/feed/1']) {
      const response = await gateway.ask('GET', path, { headers: { accept: EVENTS } })
      expect([response.status, response.headers['content-type']]).toEqual([500, 'application/json'])
      expect(response.json()).toMatchObject({ code: 'com.acme.gone' })
    }
  })
})

describe('events', () => {
  it('go out as they come, each in its own words', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    const sink = sinkAt(0)
    expect(sink.send(told('ä\nb'))).toBe(true)
    await eventually(() => {
      expect(client.body).toBe('data: ä\ndata: b\n\n')
    })
    expect(sink.send({ ...told(''), name: 'x\ny', id: '1' })).toBe(true)
    sink.comment('hello\nworld')
    sink.end()
    await eventually(() => {
      expect(client.received).toMatchObject({
        body: 'data: ä\ndata: b\n\nevent: xy\nid: 1\ndata:\n\n: helloworld\n\n',
        isWhole: true,
      })
    })
    expect(sink.send(told('late'))).toBe(false)
    sink.end()
    sink.comment('late')
    sink.fail(FAILURE)
    expect([gateway.statuses, gateway.inFlight.count, streams.size]).toEqual([[200], 0, 0])
    expect(gateway.log).toMatchObject([{ status: 200, bytes: Buffer.byteLength(client.body) }])
  })

  it('are the whole result, where on_result says nothing', async () => {
    await gateway.load(feed())
    const client = await open()
    await opened(1)
    sinkAt(0).send({ result: { args: [1], kwargs: { a: 'b' } } })
    await eventually(() => {
      expect(client.body).toBe('data: {"args":[1],"kwargs":{"a":"b"}}\n\n')
    })
  })

  it('are made once for all streams of an operation that may share them', async () => {
    await gateway.load(feed({ on_result: { body: { all: '{{action.result.args}}' } } }))
    const readers = await Promise.all(Array.from({ length: 20 }, () => open()))
    await opened(20)
    let reads = 0
    const result = Object.defineProperty({}, 'args', { enumerable: true, get: () => ++reads })
    for (const sink of sinks) sink.send({ result })
    await eventually(() => {
      for (const { body } of readers) expect(body).toBe('data: {"all":1}\n\n')
    })
    expect(reads).toBe(1)
  })

  it('differ where they read the request', async () => {
    await gateway.load(
      feed({ on_result: { body: '{{request.bindings.id}}{{action.result.args}}' } }),
    )
    const one = await open({ path: '/feed/1' })
    await opened(1)
    const two = await open({ path: '/feed/2' })
    await opened(2)
    const event = told('x')
    for (const sink of sinks) sink.send(event)
    await eventually(() => {
      expect([one.body, two.body]).toEqual(['data: 1["x"]\n\n', 'data: 2["x"]\n\n'])
    })
  })

  it('over HTTP/1.0 there are no chunks', async () => {
    await gateway.load(feed(BODY))
    const client = await open({ version: '1.0' })
    await opened(1)
    sinkAt(0).send(told('a'))
    sinkAt(0).send(told('b'))
    sinkAt(0).end()
    await eventually(() => {
      expect(client.received).toMatchObject({ body: 'data: a\n\ndata: b\n\n', isWhole: true })
    })
    expect(client.received?.headers).not.toHaveProperty('transfer-encoding')
  })

  it('the connection serves on after those that have an end', async () => {
    await gateway.load(feed(BODY))
    perform = (exchange) => {
      const sink = exchange.events({})
      sink?.send(told('a'))
      sink?.end()
    }
    await using client = await gateway.raw(CALL.repeat(3))
    for (let turn = 0; turn < 3; turn++)
      expect((await client.response()).body.toString()).toBe('data: a\n\n')
    expect(gateway.statuses).toEqual([200, 200, 200])
  })

  // Its client would send the next request into the end of the gateway.
  it('are the last on their connection where they have no end', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    await eventually(() => {
      expect(client.received?.headers['connection']).toBe('close')
    })
    streams.endAll()
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
      expect(client.isClosed).toBe(true)
    })
  })

  it('of a stream that waits behind a response wait too', async () => {
    await gateway.load(feed(BODY))
    await using client = await gateway.raw(CALL.repeat(2))
    await opened(1)
    sinkAt(0).send(told('first'))
    await roundTrip()
    expect(sinks).toHaveLength(1)
    sinkAt(0).end()
    expect((await client.response()).body.toString()).toBe('data: first\n\n')
    await opened(2)
    const large = 'x'.repeat(50_000)
    for (const text of ['1', large, large, large, '2']) sinkAt(1).send(told(text))
    sinkAt(1).end()
    const { body } = await client.response()
    expect(body.toString()).toBe(
      ['1', large, large, large, '2'].map((text) => `data: ${text}\n\n`).join(''),
    )
  })
})

describe('a stream that fails', () => {
  it.each<[string, object, string]>([
    [
      'with on_error',
      {
        on_error: {
          body: { uri: '{{action.error.error_uri}}', s: '{{action.error.status_code}}' },
        },
      },
      '{"uri":"com.acme.gone","s":404}',
    ],
    ['with an empty on_error', { on_error: {} }, ''],
    [
      'without',
      {},
      '{"code":"com.acme.gone","message":"it went away","description":"","request_id":"id-1"}',
    ],
    [
      'with an on_error that fails',
      { on_error: { body: '{{action.error.nope}}' } },
      expect.stringContaining('svc.error.http_gateway.invalid_expression') as unknown as string,
    ],
  ])('%s', async (_, response, data) => {
    await gateway.load(feed({ ...BODY, ...response }, { status_codes: { 'com.acme.gone': 404 } }))
    const client = await open()
    await opened(1)
    sinkAt(0).send(told('a'))
    sinkAt(0).fail(FAILURE)
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    const [first, second, ...rest] = client.body.split('\n\n')
    expect([first, rest]).toEqual(['data: a', ['']])
    expect(second?.split('\n')).toEqual([
      'event: failure',
      data === '' ? 'data:' : typeof data === 'string' ? `data: ${data}` : data,
    ])
    expect([gateway.statuses, streams.size]).toEqual([[200], 0])
    await allGone()
    expect(cancelled).toBe(gateway.refused.length)
  })

  it('by an expression: the record is the last event, and the stream is over', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    expect(sinkAt(0).send({ result: {} })).toBe(false)
    expect(sinkAt(0).send(told('a'))).toBe(false)
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    expect(client.body).toMatch(
      /^event: failure\ndata: {"code":"svc\.error\.http_gateway\.invalid_expression","message":"An expression of this operation failed for this request","description":"The request id is id-1\.","request_id":"id-1"}\n\n$/,
    )
    expect(gateway.failures.map(({ failure }) => failure)).toEqual([
      { reason: 'expression', detail: expect.stringContaining('action.result') },
    ])
    expect(gateway.refused).toEqual(['svc.error.http_gateway.invalid_expression'])
    await eventually(() => {
      expect([cancelled, gateway.inFlight.count]).toEqual([1, 0])
    })
  })

  it.each([
    [new GatewayError('svc.error.overloaded', 'no'), 'svc.error.overloaded', 0],
    [new TypeError('hunter2'), 'svc.error.internal', 1],
  ])('by %s of its action', async (error, code, unexpected) => {
    await gateway.load(feed(BODY))
    perform = (exchange) => {
      exchange.events({})
      throw error
    }
    const response = await gateway.ask('GET', '/feed/1')
    expect(response.text).toContain(`event: failure\ndata: {"code":"${code}"`)
    expect(response.text).not.toContain('hunter2')
    expect([gateway.refused, gateway.unexpected.length]).toEqual([[code], unexpected])
  })

  it('other outcomes come too late', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    exchanges[0]?.succeed({ args: ['x'] })
    exchanges[0]?.fail(FAILURE)
    expect(exchanges[0]?.events({})).toBeUndefined()
    sinkAt(0).send(told('a'))
    sinkAt(0).end()
    await eventually(() => {
      expect(client.body).toBe('data: a\n\n')
    })
  })
})

describe('a client that goes away', () => {
  it('the action hears of it once, and nothing is written any more', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    sinkAt(0).send(told('a'))
    await eventually(() => {
      expect(client.body).toBe('data: a\n\n')
    })
    client.socket.destroy()
    await eventually(() => {
      expect(cancelled).toBe(1)
    })
    expect(sinkAt(0).send(told('b'))).toBe(false)
    sinkAt(0).fail(FAILURE)
    expect([gateway.statuses, gateway.inFlight.count, streams.size, cutOff]).toEqual([
      [200],
      0,
      0,
      0,
    ])
    expect(gateway.log).toMatchObject([{ status: 200, bytes: 9 }])
    await allGone()
    expect(cancelled).toBe(1)
  })

  it('is counted also where the action does not listen', async () => {
    perform = (exchange) => exchange.events({})
    await gateway.load(feed())
    const client = await open()
    await eventually(() => {
      expect(streams.size).toBe(1)
    })
    client.socket.resetAndDestroy()
    await eventually(() => {
      expect([gateway.statuses, gateway.inFlight.count, streams.size]).toEqual([[200], 0, 0])
    })
  })

  it('before the stream began: there is none', async () => {
    perform = () => undefined
    await gateway.load(feed())
    const client = await open()
    await eventually(() => {
      expect(exchanges).toHaveLength(1)
    })
    client.socket.destroy()
    await allGone()
    expect(exchanges[0]?.events({})).toBeUndefined()
    expect([gateway.statuses, gateway.inFlight.count, streams.size]).toEqual([[499], 0, 0])
  })
})

describe('a client that does not read', () => {
  const event = told('x'.repeat(16_000))

  it('is cut off when too much waits for it, others are not', async () => {
    await gateway.load(feed(BODY))
    const slow = await open({ reads: false })
    await opened(1)
    const healthy = await open()
    await opened(2)
    let sent = 0
    let isOpen = true
    while (isOpen && sent < 10_000) {
      isOpen = sinkAt(0).send(event)
      expect(sinkAt(1).send(event)).toBe(true)
      sent++
      while (nearSocket(1).writableLength > 0) await settled()
    }
    expect([isOpen, cutOff, gateway.statuses, streams.size]).toEqual([false, 1, [200], 1])
    const bytes = gateway.log[0]?.bytes ?? 0
    const unsent = sent * 16_008 - bytes
    expect(unsent).toBeGreaterThan(MAX_WAITING_BYTES * 0.9)
    expect(unsent).toBeLessThan(MAX_WAITING_BYTES + 3 * 16_008)
    expect(sinkAt(0).send(event)).toBe(false)
    await eventually(() => {
      expect([cancelled, gateway.inFlight.count]).toEqual([1, 1])
    })
    slow.read()
    await eventually(() => {
      expect(slow.isClosed).toBe(true)
    })
    expect(slow.received?.isWhole).toBe(false)
    sinkAt(1).end()
    await eventually(() => {
      expect(healthy.received?.isWhole).toBe(true)
    })
    expect(healthy.body.length).toBe(sent * 16_008)
  })

  it('and reads again in time has lost nothing', async () => {
    await gateway.load(feed(BODY))
    const client = await open({ reads: false })
    await opened(1)
    const sink = sinkAt(0)
    let expected = ''
    let count = 0
    const { response } = exchanges[0] as unknown as { response: { writableLength: number } }
    const send = (): void => {
      const text = `${count++} ${'y'.repeat(16_000)}`
      expect(sink.send(told(text))).toBe(true)
      expected += `data: ${text}\n\n`
    }
    while (response.writableLength === 0) send()
    for (let more = 0; more < 40; more++) send()
    client.read()
    await eventually(() => {
      expect(client.body.length).toBe(expected.length)
    })
    send()
    sink.end()
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    expect(client.body === expected).toBe(true)
    expect(cutOff).toBe(0)
  })

  it('gets what waited, when the stream ends meanwhile', async () => {
    await gateway.load(feed(BODY))
    const client = await open({ reads: false })
    await opened(1)
    const { response } = exchanges[0] as unknown as { response: { writableLength: number } }
    let sent = 0
    while (response.writableLength === 0 || sent % 10 !== 0) {
      sinkAt(0).send(event)
      sent++
    }
    for (let more = 0; more < 20; more++) sinkAt(0).send(event)
    sinkAt(0).end()
    client.read()
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    expect(client.body.length).toBe((sent + 20) * 16_008)
  })

  it('takes an event that is larger than what may wait', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    const large = 'z'.repeat(5 * MAX_WAITING_BYTES)
    for (const text of [large, 'a', 'b']) expect(sinkAt(0).send(told(text))).toBe(true)
    sinkAt(0).end()
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    expect(client.body.length).toBe(large.length + 8 + 18)
  })

  it('is cut off when it takes no byte for long, though little waits', async () => {
    await restart({ stalls: { stallMs: 60_000, sweepMs: 50 } })
    await gateway.load(feed(BODY))
    await open({ reads: false })
    await opened(1)
    const near = nearSocket(0)
    while (near.writableLength === 0) sinkAt(0).send(event)
    const waiting = near.writableLength
    pass(60_000)
    // A heartbeat would pass for life.
    expect([near.destroyed, near.writableLength, gateway.statuses]).toEqual([false, waiting, []])
    pass(100)
    await eventually(() => {
      expect([gateway.statuses, cancelled, streams.size]).toEqual([[200], 1, 0])
    })
  })
})

describe('a stream without events', () => {
  it('is kept alive, for ever, also where bytes have waited once', async () => {
    await restart({ stalls: { stallMs: 60_000, sweepMs: 20 } })
    await gateway.load(feed(BODY))
    const client = await open({ reads: false })
    await opened(1)
    const near = nearSocket(0)
    while (near.writableLength === 0) sinkAt(0).send(told('x'.repeat(16_000)))
    pass(20)
    client.read()
    await eventually(() => {
      expect(near.writableLength).toBe(0)
    })
    // Ten minutes.
    for (let beats = 1; beats <= 40; beats++) {
      pass(15_000)
      await eventually(() => {
        expect(client.body.replaceAll(/data: x+\n\n/g, '')).toBe(':\n\n'.repeat(beats))
      })
    }
    expect([client.isClosed, gateway.statuses, streams.size]).toEqual([false, [], 1])
  })

  it('has no heartbeat while it has events', async () => {
    await gateway.load(feed(BODY))
    const client = await open()
    await opened(1)
    for (let count = 0; count < 5; count++) {
      sinkAt(0).send(told('a'))
      pass(14_000)
    }
    sinkAt(0).end()
    await eventually(() => {
      expect(client.received?.isWhole).toBe(true)
    })
    expect(client.body).toBe('data: a\n\n'.repeat(5))
  })
})

describe('when the gateway closes', () => {
  it('streams end in order, their actions hear of it, and none opens', async () => {
    await gateway.load(feed(BODY))
    const readers = [await open(), await open()]
    await opened(2)
    sinkAt(0).send(told('a'))
    streams.endAll()
    expect([cancelled, streams.size, gateway.statuses]).toEqual([2, 0, [200, 200]])
    expect(sinkAt(0).send(told('b'))).toBe(false)
    await eventually(() => {
      expect(readers.map(({ received }) => received?.isWhole)).toEqual([true, true])
    })
    expect(readers[0]?.body).toBe('data: a\n\n: the gateway is shutting down\n\n')
    const late = await open()
    await eventually(() => {
      expect(late.received).toMatchObject({
        status: 200,
        body: ': the gateway is shutting down\n\n',
        isWhole: true,
      })
    })
    expect([sinks.length, streams.size, gateway.inFlight.count]).toEqual([2, 0, 0])
    await allGone()
    expect(cancelled).toBe(2)
  })

  it('the results of a call, which end by themselves, may come to their end', async () => {
    await gateway.load(feed(BODY))
    const client = await open({ path: '/call', headers: { accept: EVENTS } })
    await opened(1)
    streams.endAll()
    expect(sinkAt(0).send({ ...told('a'), name: 'result' })).toBe(true)
    sinkAt(0).end()
    await eventually(() => {
      expect(client.received).toMatchObject({ body: 'event: result\ndata: a\n\n', isWhole: true })
    })
    expect(cancelled).toBe(0)
  })
})
