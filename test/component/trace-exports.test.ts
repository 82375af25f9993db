// Exports of traces by real gateways: what is exported at all, by which process, and what becomes of requests while the
// collector is slow, refuses, or is away.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { request } from '../support/http-request.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  askMany,
  FROM_PROXY,
  hasLoadedTracer,
  ODD_HEADERS,
  SPAN,
  startTraceRig,
  TRACE,
  type TraceRig,
  watchLoading,
} from './trace-rig.ts'

let rig: TraceRig

beforeAll(async () => {
  rig = await startTraceRig()
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

it('a share of 0 exports nothing, whatever strangers ask for, and still hands a context on', async () => {
  await using collector = await startOtlpReceiver()
  await using gateway = await rig.start(['--otlp', collector.url, '--trace-share', '0'])
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` }
  await request(`${gateway.public}/traced/forward/zero`, { headers })
  await gateway.stop()
  expect(collector.requests()).toEqual([])
  const [sent = ''] = rig.seenBy('/echo/zero')['traceparent'] ?? []
  expect(sent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/)
  expect(sent).not.toContain(TRACE)
})

describe('two workers that trust no proxy', () => {
  let collector: OtlpReceiver

  beforeAll(async () => {
    collector = await startOtlpReceiver()
    const gateway = await rig.start(['--otlp', collector.url, '--processes', '2'])
    const headers = { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: 'vendor=x' }
    await Promise.all([
      request(`${gateway.public}/traced/forward/stranger`, { headers }),
      ...Array.from({ length: 40 }, (_, n) => request(`${gateway.public}/traced/static/${n}`)),
    ])
    await gateway.stop()
  }, 60_000)

  afterAll(async () => {
    await collector[Symbol.asyncDispose]()
  })

  it('let strangers choose neither what is traced nor where', () => {
    const spans = collector
      .spans()
      .filter(({ attributes }) => String(attributes['url.path']).endsWith('/stranger'))
    expect(spans).toMatchObject([
      { parentSpanId: '', traceState: '', links: [{ traceId: TRACE, spanId: SPAN }] },
    ])
    expect(rig.seenBy('/echo/stranger')['traceparent']?.[0]).toContain(spans[0]?.traceId)
    expect(rig.seenBy('/echo/stranger')).not.toHaveProperty('tracestate')
  })

  it('export both, as far as to their end', () => {
    const spans = collector.spans().filter(({ name }) => name === 'GET /traced/static/:name')
    expect(new Set(spans.map(({ attributes }) => attributes['url.path'])).size).toBe(40)
    expect(new Set(spans.map(({ resource }) => resource['process.pid'])).size).toBe(2)
  })
})

describe('a collector that takes nothing', () => {
  interface Ending {
    readonly statuses: readonly number[]
    readonly lines: number
  }
  const endings = new Map<string, Ending>()

  const traceTo = async (url: string): Promise<Ending> => {
    await using gateway = await rig.start(['--otlp', url])
    const asked = await Promise.all(Array.from({ length: 9 }, () => askMany(gateway, 100)))
    expect(asked.flat()).toHaveLength(900)
    // It throws for a gateway that does not end by itself.
    await gateway.stop()
    const { length: lines } = gateway.logs().filter((line) => line.includes('traces are lost'))
    return { statuses: [...new Set(asked.flat())], lines }
  }

  beforeAll(async () => {
    await using hanging = await startOtlpReceiver()
    await using failing = await startOtlpReceiver()
    hanging.answerWith('hang')
    failing.answerWith(500)
    await Promise.all(
      [
        ['hangs', hanging.url] as const,
        ['answers 500', failing.url] as const,
        ['is away', 'http://127.0.0.1:1'] as const,
      ].map(async ([name, url]) => endings.set(name, await traceTo(url))),
    )
  }, 60_000)

  it.each(['hangs', 'answers 500', 'is away'])(
    'and %s costs requests nothing, and one line',
    (name) => {
      expect(endings.get(name)).toEqual({ statuses: [200], lines: 1 })
    },
  )
})

it('without --otlp nothing of it is loaded, and what clients send is handed on as it is', async () => {
  await using dir = await makeTempDir()
  await using gateway = await rig.start(FROM_PROXY, watchLoading(dir))
  await request(`${gateway.public}/traced/forward/not-loaded`, { headers: ODD_HEADERS })
  await gateway.stop()
  expect(rig.seenBy('/echo/not-loaded')).toMatchObject({
    traceparent: [ODD_HEADERS.traceparent],
    tracestate: [ODD_HEADERS.tracestate],
  })
  expect(await hasLoadedTracer(dir)).toBe(false)
}, 60_000)
