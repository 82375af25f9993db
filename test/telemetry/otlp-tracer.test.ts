// Spans against a collector that answers, refuses, hangs or is not there: what it gets, what is counted, and that
// no request waits for it.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createOtlpTracer } from '../../telemetry/otlp-tracer.ts'
import type { IncomingTrace, Tracer, TracerCounts } from '../../telemetry/tracer.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const NO_TRACE: IncomingTrace = { traceparent: undefined, tracestate: undefined, isTrusted: false }
/** As long as the last spans are waited for. */
const CLOSE_MS = 2000
const DONE = { attributes: {}, isError: false }

let collector: OtlpReceiver
let lost: { reason: string; counts: TracerCounts }[]

beforeEach(async () => {
  lost = []
  collector = await startOtlpReceiver()
})

afterEach(async () => {
  await collector[Symbol.asyncDispose]()
})

const create = ({
  share = 1,
  url = `${collector.url}/v1/traces`,
  headers = () => ({}),
}: {
  share?: number
  url?: string
  headers?: () => Readonly<Record<string, string>>
} = {}): Tracer =>
  createOtlpTracer({
    url,
    headers,
    share,
    resource: { 'service.name': 'svc-gateway' },
    onLost: (reason, counts) => lost.push({ reason, counts }),
  })

const begin = (tracer: Tracer, incoming = NO_TRACE) =>
  tracer.begin({ name: 'GET', kind: 'server' }, incoming)

describe('a span', () => {
  it.each([
    ['01', true],
    ['00', false],
  ])(
    'of a trusted parent with flags %s follows it, whatever the share',
    async (flags, isRecorded) => {
      const tracer = create({ share: isRecorded ? 0 : 1 })
      const traceparent = `00-${TRACE}-${SPAN}-${flags}`
      const span = begin(tracer, { traceparent, tracestate: 'a=1,b=2', isTrusted: true })
      expect(span).toMatchObject({ traceId: TRACE, isRecorded })
      const [, passedOn = '', ...state] = span.headers()
      expect(passedOn).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-${flags}$`))
      expect(passedOn).not.toContain(SPAN)
      expect(state).toEqual(['tracestate', 'a=1,b=2'])
      span.end(DONE)
      await tracer.close()
      expect(collector.spans().map(({ parentSpanId }) => parentSpanId)).toEqual(
        isRecorded ? [SPAN] : [],
      )
    },
  )

  it.each(['01', '00'])('of a stranger with flags %s is a new trace with a link', async (flags) => {
    const tracer = create()
    const traceparent = `00-${TRACE}-${SPAN}-${flags}`
    const span = begin(tracer, { traceparent, tracestate: 'a=1', isTrusted: false })
    expect(span.traceId).not.toBe(TRACE)
    expect(span.headers()).toHaveLength(2)
    span.end(DONE)
    await tracer.close()
    expect(collector.spans()).toMatchObject([
      { parentSpanId: '', links: [{ traceId: TRACE, spanId: SPAN }], kind: 2 },
    ])
  })

  it('that is not sampled hands its decision on and is not exported', async () => {
    const tracer = create({ share: 0 })
    const span = begin(tracer)
    const child = span.child({ name: 'GET', kind: 'client' })
    expect([span.isRecorded, child.isRecorded]).toEqual([false, false])
    expect(child.headers()[1]).toMatch(new RegExp(`^00-${span.traceId}-[\\da-f]{16}-00$`))
    child.end(DONE)
    span.end(DONE)
    await tracer.close()
    expect(collector.requests()).toEqual([])
  })

  it('takes part of the requests where the share is a part', async () => {
    const tracer = create({ share: 0.25 })
    const recorded = Array.from({ length: 1000 }, () => begin(tracer)).filter(
      ({ isRecorded }) => isRecorded,
    )
    expect(recorded.length).toBeGreaterThan(100)
    expect(recorded.length).toBeLessThan(450)
    await tracer.close()
  })

  it('ends once, bounded, with its name and error', async () => {
    const tracer = create({ headers: () => ({ authorization: 'Bearer x' }) })
    const span = begin(tracer)
    const child = span.child({
      name: 'call',
      kind: 'producer',
      attributes: { a: 'x'.repeat(9999) },
    })
    child.end({ attributes: { 'error.type': 'gone' }, isError: true })
    child.end({ attributes: { 'error.type': 'later' }, isError: false })
    span.end({ ...DONE, name: 'GET /x' })
    await tracer.close()
    const [first, second] = collector.spans()
    expect(first).toMatchObject({
      name: 'call',
      kind: 4,
      isError: true,
      parentSpanId: second?.spanId,
      traceId: second?.traceId,
      attributes: { 'error.type': 'gone', a: 'x'.repeat(2048) },
      resource: { 'service.name': 'svc-gateway' },
    })
    expect(second).toMatchObject({ name: 'GET /x', isError: false })
    expect(collector.requests()).toMatchObject([
      { path: '/v1/traces', headers: { authorization: 'Bearer x' } },
    ])
    expect(tracer.counts()).toEqual({ exported: 2, failed: 0, dropped: 0, waiting: 0 })
  })
})

describe('a collector', () => {
  it.each([400, 500])('that answers %i costs its spans, and that is logged', async (status) => {
    collector.answerWith(status)
    const tracer = create()
    for (let i = 0; i < 3; i++) begin(tracer).end(DONE)
    await tracer.close()
    expect(tracer.counts()).toEqual({ exported: 0, failed: 3, dropped: 0, waiting: 0 })
    expect(lost).toMatchObject([{ reason: expect.stringContaining(String(status)) }])
  })

  it('whose headers cannot be had is not spoken to', async () => {
    const tracer = create({
      headers: () => {
        throw new Error('no such file')
      },
    })
    begin(tracer).end(DONE)
    await tracer.close()
    expect(collector.requests()).toEqual([])
    expect(lost).toMatchObject([{ reason: 'no such file' }])
  })

  describe('that gives no response', () => {
    beforeEach(() => {
      // Sockets have timers of their own.
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance', 'Date'] })
    })

    afterEach(() => {
      jest.useRealTimers()
    })

    const closeInTime = async (tracer: Tracer): Promise<void> => {
      const closed = tracer.close()
      await jest.advanceTimersByTimeAsync(CLOSE_MS)
      await closed
    }

    it('as it hangs delays no request, and what has no place is dropped and counted', async () => {
      collector.answerWith('hang')
      const tracer = create()
      for (let i = 0; i < 5000; i++) begin(tracer).end(DONE)
      expect(tracer.counts()).toMatchObject({ dropped: 904, waiting: 4096 })
      await closeInTime(tracer)
      // No export has run into its own time-out yet.
      expect(tracer.counts()).toEqual({ exported: 0, failed: 0, dropped: 904, waiting: 4096 })
      expect(lost.at(-1)?.reason).toMatch(/last spans/)
    })

    it('as it is not there delays no request', async () => {
      const tracer = create({ url: 'http://127.0.0.1:1/v1/traces' })
      begin(tracer).end(DONE)
      await closeInTime(tracer)
      // The export still tries.
      expect(tracer.counts()).toEqual({ exported: 0, failed: 0, dropped: 0, waiting: 1 })
      expect(lost).toMatchObject([{ reason: expect.stringContaining('last spans') }])
    })
  })
})
