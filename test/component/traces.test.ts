// Traces of a real gateway: from a request to its upstream, or to the realm's router, as a collector gets them;
// and what becomes of requests while the collector is slow, refuses, or is away.

import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import { startRouter, type Router } from '../../dev/router/router.ts'
import { startEchoUpstream, type EchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { openRequest, request } from '../support/http-request.ts'
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../support/otlp-receiver.ts'
import { openRawPeer, type RawPeer } from '../support/raw-wamp-peer.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { register } from '../support/wamp-peer.ts'
import { answers, api, forwards, type Operation, post, REALM } from './gateway-client.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const FROM_PROXY = ['--trusted-proxies', '127.0.0.1/32']
const PATIENCE = { withinMs: 15_000 }

let router: Router
let upstream: EchoUpstream
let callee: RawPeer

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  upstream = await startEchoUpstream()
  callee = await openRawPeer({ url: router.wsUrl, realm: REALM })
  await register(callee, 'com.add', ({ kwargs }) => ({ args: [kwargs] }))
  await register(callee, 'com.fail', () => ({ error: 'com.app.error.broken' }))
  await register(callee, 'com.never', () => undefined)
}, 30_000)

afterAll(async () => {
  await callee[Symbol.asyncDispose]()
  await router.close()
  await upstream.close()
})

const wamp = (type: 'call' | 'publish', uri: string, more: object = {}): Operation => ({
  action: { type: `wamp_${type}`, [type === 'call' ? 'procedure' : 'topic']: uri, ...more },
})

const document = (): object =>
  api('traced', {
    '/static/:name': answers({ ok: true }),
    '/forward/:name': forwards(upstream.origin, '/echo/{{request.bindings.name}}'),
    '/own': forwards(upstream.origin, '/echo/own', { headers: { traceparent: 'mine', x: '1' } }),
    '/flaky': forwards(upstream.origin, '/flaky/2/503/{{request.query_params.n}}', { retries: 3 }),
    '/refused': forwards('http://127.0.0.1:1', '/x'),
    '/call': wamp('call', 'com.add', { kwargs: { a: 1 } }),
    '/call-traced': wamp('call', 'com.add', { options: { forward_trace: true } }),
    '/fail': wamp('call', 'com.fail'),
    '/never': wamp('call', 'com.never', { timeout: 200 }),
    '/publish': wamp('publish', 'com.topic'),
    '/events': { action: { type: 'wamp_subscribe', topic: 'com.topic' } },
  })

const start = async (
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> => {
  const gateway = await startGateway({ flags, env })
  const realm = { uri: REALM, router: { url: router.wsUrl } }
  for (const [path, body] of [
    ['/realms', realm],
    ['/api_specs', document()],
  ] as const) {
    const { status, text } = await post(gateway, path, body)
    if (status !== 204) throw new Error(text)
  }
  await eventually(async () => {
    expect((await request(`${gateway.public}/traced/publish`)).status).toBe(200)
  }, PATIENCE)
  return gateway
}

const seenBy = (path: string): Readonly<Record<string, readonly string[]>> => {
  const [echo] = upstream.seen((each) => each === path)
  if (echo === undefined) throw new Error(`the upstream has not seen ${path}`)
  return echo.header
}

describe('with a collector', () => {
  let collector: OtlpReceiver
  let gateway: GatewayProcess

  beforeAll(async () => {
    collector = await startOtlpReceiver()
    gateway = await start([
      ...['--otlp', collector.url, '--node-name', 'gateway-7', '--access-log', 'on'],
      ...FROM_PROXY,
    ])
  }, 30_000)

  afterAll(async () => {
    await gateway.stop()
    await collector[Symbol.asyncDispose]()
  }, 30_000)

  /** The spans of one request: its own first. */
  const trace = async (
    path: string,
    count: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<readonly ReceivedSpan[]> => {
    const answer = await request(`${gateway.public}/traced${path}`, { headers })
    return traceOf(String(answer.headers['x-request-id']), count)
  }

  const traceOf = (id: string, count: number): Promise<readonly ReceivedSpan[]> =>
    eventually(() => {
      const own = collector.spans().find(({ attributes }) => attributes['svc.request_id'] === id)
      if (own === undefined) throw new Error('there is no such span yet')
      const others = collector
        .spans()
        .filter((span) => span.traceId === own.traceId && span !== own)
      if (others.length !== count - 1) throw new Error('there are not all spans yet')
      const strays = others.filter(({ parentSpanId }) => parentSpanId !== own.spanId)
      if (strays.length > 0) throw new Error(JSON.stringify(strays))
      return [own, ...others]
    }, PATIENCE)

  it('a request is a server span that holds no query, no header and no secret', async () => {
    const [span] = await trace('/static/Ada?token=s3cret', 1, {
      authorization: 'Bearer s3cret',
      cookie: 'a=s3cret',
      host: 'api.test:8080',
    })
    expect(span).toMatchObject({ name: 'GET /traced/static/:name', kind: 2, parentSpanId: '' })
    expect(span?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.path': '/traced/static/Ada',
      'url.scheme': 'http',
      'http.route': '/traced/static/:name',
      'http.response.status_code': 200,
      'http.response.body.size': 11,
      'network.protocol.version': '1.1',
      'client.address': '127.0.0.1',
      'server.address': 'api.test',
      'server.port': 8080,
      'svc.request_id': expect.any(String),
      'svc.document.id': 'traced',
      'svc.document.version': 'v1',
      'svc.realm': REALM,
      'svc.action': 'static',
    })
    expect(span?.resource).toMatchObject({
      'service.name': 'svc-gateway',
      'service.instance.id': 'gateway-7',
    })
    expect(JSON.stringify(collector.spans())).not.toContain('s3cret')
  }, 30_000)

  it('what nothing serves has no route, and a method of its own making no name', async () => {
    const answer = await request(`${gateway.public}/nowhere`, { method: 'PROPFIND' })
    const [span] = await traceOf(String(answer.headers['x-request-id']), 1)
    expect(span).toMatchObject({
      name: 'HTTP',
      isError: false,
      attributes: {
        'http.request.method': '_OTHER',
        'http.response.status_code': 404,
        'svc.refusal': 'svc.error.not_found',
      },
    })
    expect(span?.attributes).not.toHaveProperty('http.route')
  }, 30_000)

  it('a forward hands its own span on, and the access log names the trace', async () => {
    const answer = await request(`${gateway.public}/traced/forward/one?q=1`, {
      headers: { 'x-forwarded-for': '192.0.2.7' },
    })
    const id = String(answer.headers['x-request-id'])
    const [own, client] = await traceOf(id, 2)
    expect(client).toMatchObject({ name: 'GET', kind: 3, isError: false })
    expect(client?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.full': `${upstream.origin}/echo/one`,
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'http.response.status_code': 200,
    })
    expect(own?.attributes['client.address']).toBe('192.0.2.7')
    expect(seenBy('/echo/one')['traceparent']).toEqual([
      `00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`,
    ])
    await eventually(() => {
      expect(gateway.logs().find((line) => line.includes(id))).toContain(
        `"trace":"${own?.traceId ?? ''}"`,
      )
    })
  }, 30_000)

  it('a trusted proxy is followed, and its tracestate handed on', async () => {
    const [own, client] = await trace('/forward/two', 2, {
      traceparent: `00-${TRACE}-${SPAN}-01`,
      tracestate: 'vendor=x,other=y',
    })
    expect(own).toMatchObject({
      traceId: TRACE,
      parentSpanId: SPAN,
      traceState: 'vendor=x,other=y',
    })
    const { traceparent, tracestate } = seenBy('/echo/two')
    expect(traceparent).toEqual([`00-${TRACE}-${client?.spanId ?? ''}-01`])
    expect(tracestate).toEqual(['vendor=x,other=y'])
  }, 30_000)

  it('a trusted proxy that has decided against it is followed too', async () => {
    const before = collector.spans().length
    await request(`${gateway.public}/traced/forward/three`, {
      headers: { traceparent: `00-${TRACE}-${SPAN}-00` },
    })
    expect(seenBy('/echo/three')['traceparent']).toEqual([
      expect.stringMatching(new RegExp(`^00-${TRACE}-(?!${SPAN})[\\da-f]{16}-00$`)),
    ])
    await trace('/static/after', 1)
    expect(
      collector
        .spans()
        .slice(before)
        .filter(({ attributes }) => attributes['url.path'] === '/traced/forward/three'),
    ).toEqual([])
  }, 30_000)

  it('the gateway wins over a traceparent of the document', async () => {
    const [own, client] = await trace('/own', 2)
    expect(seenBy('/echo/own')).toMatchObject({
      traceparent: [`00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`],
      x: ['1'],
    })
  }, 30_000)

  it.each([
    ['garbage', 'garbage'],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['two', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['a hundred', `00-${TRACE}-${SPAN}-01\t`.repeat(100)],
  ])(
    'of a proxy that sends %s for a traceparent nothing is believed',
    async (_, traceparent) => {
      const [own] = await trace('/static/x', 1, { traceparent, tracestate: '=,;,\u00ff' })
      expect(own).toMatchObject({ parentSpanId: '', links: [], traceState: '' })
      expect(own?.traceId).not.toBe(TRACE)
    },
    30_000,
  )

  it('each attempt has a span, and each but the first says so', async () => {
    const [own, ...clients] = await trace('/flaky?n=a', 4)
    expect(own).toMatchObject({ isError: false })
    expect(
      clients.map(({ attributes, isError }) => [
        attributes['http.request.resend_count'],
        attributes['http.response.status_code'],
        attributes['error.type'],
        isError,
      ]),
    ).toEqual([
      [undefined, 503, '503', true],
      [1, 503, '503', true],
      [2, 200, undefined, false],
    ])
    const echoes = upstream.seen((path) => path === '/flaky/2/503/a')
    expect(new Set(echoes.map(({ header }) => header['traceparent']?.[0])).size).toBe(3)
  }, 30_000)

  it.each<[string, string, { status: number }, object]>([
    ['an upstream that refuses', '/refused', { status: 504 }, { 'error.type': 'refused' }],
    ['a call', '/call', { status: 200 }, { 'rpc.system': 'wamp', 'rpc.method': 'com.add' }],
    ['a call that fails', '/fail', { status: 500 }, { 'error.type': 'com.app.error.broken' }],
    ['a call that takes too long', '/never', { status: 504 }, { 'error.type': 'cancelled' }],
    [
      'a publication',
      '/publish',
      { status: 200 },
      {
        'messaging.system': 'wamp',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'com.topic',
      },
    ],
  ])(
    '%s is a span below that of its request',
    async (_, path, { status }, attributes) => {
      const [own, client] = await trace(path, 2)
      expect(own?.attributes['http.response.status_code']).toBe(status)
      expect(own?.isError).toBe(status >= 500)
      expect(client?.attributes).toMatchObject(attributes)
      expect(client?.isError).toBe(status >= 500)
      expect(client?.kind).toBe(path === '/publish' ? 4 : 3)
    },
    30_000,
  )

  it('the callee gets the context where the document says so, and nowhere else', async () => {
    const plain = await request(`${gateway.public}/traced/call`)
    expect(plain.json()).toMatchObject({ args: [{ a: 1 }] })
    expect(plain.text).not.toContain('_trace')
    const answer = await request(`${gateway.public}/traced/call-traced`)
    const [own, client] = await traceOf(String(answer.headers['x-request-id']), 2)
    const traceparent = `00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`
    expect(answer.json()).toMatchObject({ args: [{ _trace: { traceparent } }] })
  }, 30_000)

  it('a stream of events, and a WebSocket, end their span when they end', async () => {
    const headers = { accept: 'text/event-stream' }
    const events = await openRequest(`${gateway.public}/traced/events`, { headers })
    const url = `${gateway.public.replace('http:', 'ws:')}/traced/ws`
    const socket = new WebSocket(url, ['wamp.2.json'])
    let id = ''
    socket.once('upgrade', ({ headers: given }) => {
      id = String(given['x-request-id'])
    })
    await once(socket, 'open')
    const paths = (): readonly unknown[] =>
      collector.spans().map(({ attributes }) => attributes['url.path'])
    await trace('/static/meanwhile', 1)
    expect(paths()).not.toContain('/traced/events')
    expect(paths()).not.toContain('/traced/ws')
    events.destroy()
    socket.terminate()
    const [stream] = await traceOf(String(events.headers['x-request-id']), 1)
    expect(stream).toMatchObject({ name: 'GET /traced/events', isError: false })
    expect(stream?.milliseconds).toBeGreaterThan(100)
    const [webSocket] = await traceOf(id, 1)
    expect(webSocket).toMatchObject({
      name: 'GET /traced/ws',
      attributes: { 'http.response.status_code': 101, 'svc.action': 'ws' },
    })
    expect(webSocket?.milliseconds).toBeGreaterThan(100)
  }, 30_000)

  it('metrics tell what was exported', async () => {
    const { text } = await request(`${gateway.management}/metrics`)
    expect(text).toMatch(/svc_gateway_trace_spans_total\{outcome="exported"\} [1-9]/)
    expect(text).toMatch(/svc_gateway_trace_spans_total\{outcome="failed"\} 0/)
    expect(text).toMatch(/svc_gateway_trace_spans_waiting \d/)
  }, 30_000)
})

it('strangers choose neither what is traced nor where', async () => {
  await using collector = await startOtlpReceiver()
  await using gateway = await start(['--otlp', collector.url])
  const headers = { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: 'vendor=x' }
  await request(`${gateway.public}/traced/forward/stranger`, { headers })
  await gateway.stop()
  const spans = collector
    .spans()
    .filter(({ attributes }) => String(attributes['url.path']).endsWith('/stranger'))
  expect(spans).toMatchObject([
    { parentSpanId: '', traceState: '', links: [{ traceId: TRACE, spanId: SPAN }] },
  ])
  expect(seenBy('/echo/stranger')['traceparent']?.[0]).toContain(spans[0]?.traceId)
  expect(seenBy('/echo/stranger')).not.toHaveProperty('tracestate')
}, 30_000)

it('a share of 0 exports nothing, whatever strangers ask for, and still hands a context on', async () => {
  await using collector = await startOtlpReceiver()
  await using gateway = await start(['--otlp', collector.url, '--trace-share', '0'])
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` }
  await request(`${gateway.public}/traced/forward/zero`, { headers })
  await gateway.stop()
  expect(collector.requests()).toEqual([])
  const [sent = ''] = seenBy('/echo/zero')['traceparent'] ?? []
  expect(sent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/)
  expect(sent).not.toContain(TRACE)
}, 30_000)

it('every worker exports, as far as to its end', async () => {
  await using collector = await startOtlpReceiver()
  await using gateway = await start(['--otlp', collector.url, '--processes', '2'])
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => request(`${gateway.public}/traced/static/${n}`)),
  )
  await gateway.stop()
  const spans = collector.spans().filter(({ name }) => name === 'GET /traced/static/:name')
  expect(new Set(spans.map(({ attributes }) => attributes['url.path'])).size).toBe(40)
  expect(new Set(spans.map(({ resource }) => resource['process.pid'])).size).toBe(2)
}, 40_000)

it.each<[string, number | 'hang' | 'away']>([
  ['hangs', 'hang'],
  ['answers 500', 500],
  ['is away', 'away'],
])(
  'a collector that %s costs requests nothing, and one line',
  async (_, answer) => {
    await using collector = await startOtlpReceiver()
    const url = answer === 'away' ? 'http://127.0.0.1:1' : collector.url
    if (answer !== 'away') collector.answerWith(answer)
    await using gateway = await start(['--otlp', url])
    for (let round = 0; round < 3; round++) {
      const all = Array.from({ length: 300 }, () => request(`${gateway.public}/traced/static/x`))
      expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]))
    }
    const startedMs = performance.now()
    await gateway.stop()
    expect(performance.now() - startedMs).toBeLessThan(8000)
    expect(gateway.logs().filter((line) => line.includes('traces are lost'))).toHaveLength(1)
  },
  40_000,
)

/** prom-client has loaded @opentelemetry/api all along. */
const LOADED = /otlp-tracer\.ts|@opentelemetry\/(?:sdk|exporter|otlp|resources)/

it.each<[string, readonly string[], boolean]>([
  ['without --otlp', [], false],
  ['with it', ['--otlp', 'http://127.0.0.1:1'], true],
])(
  '%s',
  async (_, flags, isLoaded) => {
    await using dir = await makeTempDir()
    // Says which modules a process has loaded, when it ends.
    await using gateway = await start([...flags, ...FROM_PROXY], { NODE_V8_COVERAGE: dir.path })
    const headers = { traceparent: 'what a client sends', tracestate: 'as it is' }
    const name = isLoaded ? 'loaded' : 'not-loaded'
    await request(`${gateway.public}/traced/forward/${name}`, { headers })
    await gateway.stop()
    const seen = seenBy(`/echo/${name}`)
    const received = `${String(seen['traceparent'])} ${String(seen['tracestate'])}`
    expect(received).toMatch(isLoaded ? /^00-\S+ undefined$/ : /^what a client sends as it is$/)
    const files = await readdir(dir.path)
    const texts = await Promise.all(files.map((file) => readFile(join(dir.path, file), 'utf8')))
    expect(texts.join('')).toContain('dataplane/http/dispatch.ts')
    expect(LOADED.test(texts.join(''))).toBe(isLoaded)
  },
  40_000,
)
