// Traces of a real gateway: from a request to its upstream, or to the realm's router, as a collector gets them.

import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { openRequest, request } from '../support/http-request.ts'
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../support/otlp-receiver.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { REALM } from './gateway-client.ts'
import {
  askMany,
  FROM_PROXY,
  hasLoadedTracer,
  ODD_HEADERS,
  PATIENCE,
  SPAN,
  startTraceRig,
  TRACE,
  type TraceRig,
  watchLoading,
} from './trace-rig.ts'

/** Of the gateway and of this process, which round the time. */
const CLOCKS_DIFFER_MS = 5
/** Spans are exported after 2 s, or as soon as there are so many. */
const BATCH = 256

let rig: TraceRig
let dir: TempDir
let collector: OtlpReceiver
let gateway: GatewayProcess

beforeAll(async () => {
  rig = await startTraceRig()
  dir = await makeTempDir()
  collector = await startOtlpReceiver()
  const flags = ['--otlp', collector.url, '--node-name', 'gateway-7', '--access-log', 'on']
  gateway = await rig.start([...flags, ...FROM_PROXY], watchLoading(dir))
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
  await dir[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})

/** The spans of one request: its own first. */
const trace = async (
  path: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly ReceivedSpan[]> => {
  const response = await request(`${gateway.public}/traced${path}`, { headers })
  return traceOf(String(response.headers['x-request-id']), count)
}

const traceOf = async (id: string, count: number): Promise<readonly ReceivedSpan[]> => {
  await askMany(gateway, BATCH)
  return eventually(() => {
    const own = collector.spans().find(({ attributes }) => attributes['svc.request_id'] === id)
    if (own === undefined) throw new Error('there is no such span yet')
    const others = collector.spans().filter((span) => span.traceId === own.traceId && span !== own)
    if (others.length !== count - 1) throw new Error('there are not all spans yet')
    const strays = others.filter(({ parentSpanId }) => parentSpanId !== own.spanId)
    if (strays.length > 0) throw new Error(JSON.stringify(strays))
    return [own, ...others]
  }, PATIENCE)
}

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
})

it('what nothing serves has no route, and a method of its own making no name', async () => {
  const response = await request(`${gateway.public}/nowhere`, { method: 'PROPFIND' })
  const [span] = await traceOf(String(response.headers['x-request-id']), 1)
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
})

it('a forward hands its own span on, and the access log names the trace', async () => {
  const response = await request(`${gateway.public}/traced/forward/one?q=1`, {
    headers: { 'x-forwarded-for': '192.0.2.7' },
  })
  const id = String(response.headers['x-request-id'])
  const [own, client] = await traceOf(id, 2)
  expect(client).toMatchObject({ name: 'GET', kind: 3, isError: false })
  expect(client?.attributes).toEqual({
    'http.request.method': 'GET',
    'url.full': `${rig.upstream.origin}/echo/one`,
    'server.address': '127.0.0.1',
    'server.port': rig.upstream.port,
    'http.response.status_code': 200,
  })
  expect(own?.attributes['client.address']).toBe('192.0.2.7')
  expect(rig.seenBy('/echo/one')['traceparent']).toEqual([
    `00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`,
  ])
  await eventually(() => {
    expect(gateway.logs().find((line) => line.includes(id))).toContain(
      `"trace":"${own?.traceId ?? ''}"`,
    )
  })
})

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
  const { traceparent, tracestate } = rig.seenBy('/echo/two')
  expect(traceparent).toEqual([`00-${TRACE}-${client?.spanId ?? ''}-01`])
  expect(tracestate).toEqual(['vendor=x,other=y'])
})

it('a trusted proxy that has decided against it is followed too', async () => {
  const before = collector.spans().length
  await request(`${gateway.public}/traced/forward/three`, {
    headers: { traceparent: `00-${TRACE}-${SPAN}-00` },
  })
  expect(rig.seenBy('/echo/three')['traceparent']).toEqual([
    expect.stringMatching(new RegExp(`^00-${TRACE}-(?!${SPAN})[\\da-f]{16}-00$`)),
  ])
  await trace('/static/after', 1)
  expect(
    collector
      .spans()
      .slice(before)
      .filter(({ attributes }) => attributes['url.path'] === '/traced/forward/three'),
  ).toEqual([])
})

it('the gateway wins over a traceparent of the document', async () => {
  const [own, client] = await trace('/own', 2)
  expect(rig.seenBy('/echo/own')).toMatchObject({
    traceparent: [`00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`],
    x: ['1'],
  })
})

it.each([
  ['garbage', 'garbage'],
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['version ff', `ff-${TRACE}-${SPAN}-01`],
  ['two', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['a hundred', `00-${TRACE}-${SPAN}-01\t`.repeat(100)],
])('of a proxy that sends %s for a traceparent nothing is believed', async (_, traceparent) => {
  const [own] = await trace('/static/x', 1, { traceparent, tracestate: '=,;,\u00ff' })
  expect(own).toMatchObject({ parentSpanId: '', links: [], traceState: '' })
  expect(own?.traceId).not.toBe(TRACE)
})

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
  const echoes = rig.upstream.seen((path) => path === '/flaky/2/503/a')
  expect(new Set(echoes.map(({ header }) => header['traceparent']?.[0])).size).toBe(3)
})

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
])('%s is a span below that of its request', async (_, path, { status }, attributes) => {
  const [own, client] = await trace(path, 2)
  expect(own?.attributes['http.response.status_code']).toBe(status)
  expect(own?.isError).toBe(status >= 500)
  expect(client?.attributes).toMatchObject(attributes)
  expect(client?.isError).toBe(status >= 500)
  expect(client?.kind).toBe(path === '/publish' ? 4 : 3)
})

it('the callee gets the context where the document says so, and nowhere else', async () => {
  const plain = await request(`${gateway.public}/traced/call`)
  expect(plain.json()).toMatchObject({ args: [{ a: 1 }] })
  expect(plain.text).not.toContain('_trace')
  const response = await request(`${gateway.public}/traced/call-traced`)
  const [own, client] = await traceOf(String(response.headers['x-request-id']), 2)
  const traceparent = `00-${own?.traceId ?? ''}-${client?.spanId ?? ''}-01`
  expect(response.json()).toMatchObject({ args: [{ _trace: { traceparent } }] })
})

it('a stream of events, and a WebSocket, end their span when they end', async () => {
  const headers = { accept: 'text/event-stream' }
  const events = await openRequest(`${gateway.public}/traced/events`, { headers })
  const sinceMs = performance.now()
  const url = `${gateway.public.replace('http:', 'ws:')}/traced/ws`
  const socket = new WebSocket(url, ['wamp.2.json'])
  let id = ''
  socket.once('upgrade', ({ headers: given }) => {
    id = String(given['x-request-id'])
  })
  await once(socket, 'open')
  const socketSinceMs = performance.now()
  const paths = (): readonly unknown[] =>
    collector.spans().map(({ attributes }) => attributes['url.path'])
  await trace('/static/meanwhile', 1)
  expect(paths()).not.toContain('/traced/events')
  expect(paths()).not.toContain('/traced/ws')
  const untilMs = performance.now()
  events.destroy()
  socket.terminate()
  const [stream] = await traceOf(String(events.headers['x-request-id']), 1)
  expect(stream).toMatchObject({ name: 'GET /traced/events', isError: false })
  expect(stream?.milliseconds).toBeGreaterThan(untilMs - sinceMs - CLOCKS_DIFFER_MS)
  const [webSocket] = await traceOf(id, 1)
  expect(webSocket).toMatchObject({
    name: 'GET /traced/ws',
    attributes: { 'http.response.status_code': 101, 'svc.action': 'ws' },
  })
  expect(webSocket?.milliseconds).toBeGreaterThan(untilMs - socketSinceMs - CLOCKS_DIFFER_MS)
})

it('metrics tell what was exported', async () => {
  const { text } = await request(`${gateway.management}/metrics`)
  expect(text).toMatch(/svc_gateway_trace_spans_total\{outcome="exported"\} [1-9]/)
  expect(text).toMatch(/svc_gateway_trace_spans_total\{outcome="failed"\} 0/)
  expect(text).toMatch(/svc_gateway_trace_spans_waiting \d/)
})

it('what is no context is not handed on, and --otlp is what loads all this', async () => {
  await request(`${gateway.public}/traced/forward/loaded`, { headers: ODD_HEADERS })
  expect(rig.seenBy('/echo/loaded')['traceparent']).toEqual([expect.stringMatching(/^00-\S+$/)])
  expect(rig.seenBy('/echo/loaded')).not.toHaveProperty('tracestate')
  await gateway.stop()
  expect(await hasLoadedTracer(dir)).toBe(true)
})
