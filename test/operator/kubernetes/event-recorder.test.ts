import { describe, expect, it } from '@jest/globals'
import { ApiError } from '../../../operator/kubernetes/api.ts'
import { EventLimit } from '../../../operator/kubernetes/event-limit.ts'
import { cutNote, eventName, type EventFacts } from '../../../operator/kubernetes/event-object.ts'
import { createEventRecorder } from '../../../operator/kubernetes/event-recorder.ts'
import type { ValueMap } from '../../../spec/expression/value.ts'
import { createSilentLog, type Log } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const MINUTE_MS = 60_000

interface Sent {
  readonly verb: 'create' | 'patch'
  readonly namespace: string
  readonly name: string
  readonly object: ValueMap
  readonly atMs: number
}

const aRecorder = (log: Log = createSilentLog()) => {
  const clock = createManualClock({ random: seededRandom(1) })
  const sent: Sent[] = []
  /** What the next requests are answered; then all succeed. */
  const faults: Error[] = []
  const take = (verb: Sent['verb'], namespace: string, name: string, object: ValueMap) => {
    sent.push({ verb, namespace, name, object, atMs: clock.now() })
    const fault = faults.shift()
    return fault === undefined ? Promise.resolve(object) : Promise.reject(fault)
  }
  const recorder = createEventRecorder({
    api: {
      create: (_type, namespace, object) => {
        const { name } = object['metadata'] as { readonly name: string }
        return take('create', namespace, name, object)
      },
      patch: (_type, { namespace, name }, patch) => take('patch', namespace, name, patch),
    },
    reporter: { controller: 'gateway.svc.dev/operator', instance: 'operator-1' },
    clock,
    log,
  })
  recorder.start()
  return { recorder, sent, faults, pass: (ms: number) => clock.run(ms) }
}

const anEvent = (note = 'valid', more: Partial<EventFacts> = {}, name = 'shop'): EventFacts => ({
  regarding: {
    ...{ apiVersion: 'gateway.svc.dev/v1alpha1', kind: 'ApiSpecification' },
    ...{ namespace: 'team', name, uid: `uid-${name}` },
  },
  ...{ type: 'Normal', reason: 'Accepted', action: 'Judge', note },
  ...more,
})

describe('an event', () => {
  it('is told as the API wants it', async () => {
    const { recorder, sent, pass } = aRecorder()
    recorder.record(anEvent())
    await pass(10)
    expect(sent).toMatchObject([
      {
        verb: 'create',
        namespace: 'team',
        name: expect.stringMatching(/^shop\.[0-9a-z]{10,}$/),
        object: {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          eventTime: expect.stringMatching(/\.\d{6}Z$/),
          reportingController: 'gateway.svc.dev/operator',
          reportingInstance: 'operator-1',
          regarding: { kind: 'ApiSpecification', namespace: 'team', name: 'shop', uid: 'uid-shop' },
          type: 'Normal',
          reason: 'Accepted',
          action: 'Judge',
          note: 'valid',
        },
      },
    ])
    expect(sent[0]?.object).not.toHaveProperty('series')
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 0 })
  })

  it('of something in no namespace is in the default one', async () => {
    const { recorder, sent, pass } = aRecorder()
    recorder.record(anEvent('x', { regarding: { ...anEvent().regarding, namespace: '' } }))
    await pass(10)
    expect(sent).toMatchObject([{ namespace: 'default' }])
    expect(sent[0]?.object['regarding']).not.toHaveProperty('namespace')
  })

  it.each([
    ['short', 'short'],
    ['x'.repeat(1024), 'x'.repeat(1024)],
    ['x'.repeat(1025), `${'x'.repeat(1020)}…`],
    ['é'.repeat(513), `${'é'.repeat(510)}…`],
    ['😀'.repeat(300), `${'😀'.repeat(255)}…`],
  ])('has a note of 1 KiB at most', (note, cut) => {
    expect(cutNote(note)).toBe(cut)
    expect(Buffer.byteLength(cutNote(note))).toBeLessThanOrEqual(1024)
  })

  it('has a name of 253 characters at most, also where that of its subject is as long', () => {
    const subject = { ...anEvent().regarding, name: `${'a'.repeat(219)}.${'b'.repeat(33)}` }
    const name = eventName(subject, 'end')
    expect(name.length).toBeLessThanOrEqual(253)
    expect(name).toMatch(/^a+\.end$/)
  })
})

describe('the same again', () => {
  it('is counted in the same event', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 3; i += 1) {
      recorder.record(anEvent())
      await pass(MINUTE_MS)
    }
    expect(sent).toMatchObject([
      { verb: 'create' },
      { verb: 'patch', object: { series: { count: 2 } } },
      { verb: 'patch', object: { series: { count: 3 } } },
    ])
    expect(new Set(sent.map(({ name }) => name)).size).toBe(1)
  })

  it('before the first was told is told with it', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 50; i += 1) recorder.record(anEvent())
    await pass(1_000)
    expect(sent).toMatchObject([{ verb: 'create', object: { series: { count: 50 } } }])
  })

  it('after ten minutes is another one', async () => {
    const { recorder, sent, pass } = aRecorder()
    recorder.record(anEvent())
    await pass(11 * MINUTE_MS)
    recorder.record(anEvent())
    await pass(1_000)
    expect(sent).toMatchObject([{ verb: 'create' }, { verb: 'create' }])
    expect(new Set(sent.map(({ name }) => name)).size).toBe(2)
  })

  it.each<[string, EventFacts]>([
    ['note', anEvent('another')],
    ['reason', anEvent('valid', { reason: 'Rejected' })],
    ['type', anEvent('valid', { type: 'Warning' })],
    ['subject', anEvent('valid', {}, 'constructor')],
  ])('is not what has another %s', async (_title, other) => {
    const { recorder, sent, pass } = aRecorder()
    recorder.record(anEvent())
    recorder.record(other)
    await pass(1_000)
    expect(sent).toMatchObject([{ verb: 'create' }, { verb: 'create' }])
  })

  it('is told anew where the event has expired', async () => {
    const { recorder, sent, faults, pass } = aRecorder()
    recorder.record(anEvent())
    await pass(1_000)
    faults.push(new ApiError('not found', { status: 404 }))
    recorder.record(anEvent())
    await pass(1_000)
    expect(sent).toMatchObject([
      { verb: 'create' },
      { verb: 'patch' },
      { verb: 'create', object: { series: { count: 2 } } },
    ])
  })
})

describe('nobody is flooded', () => {
  it('of one object five are told at once, then one in five minutes', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 100; i += 1) recorder.record(anEvent(`note ${i}`))
    recorder.record(anEvent('of another', {}, 'other'))
    await pass(1_000)
    expect(sent).toHaveLength(6)
    expect(recorder.facts.dropped).toBe(95)
    await pass(5 * MINUTE_MS)
    recorder.record(anEvent('later'))
    recorder.record(anEvent('and later'))
    await pass(1_000)
    expect(sent).toHaveLength(7)
  })

  it('of all together ten a second, and a thousand may wait', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 1_500; i += 1) recorder.record(anEvent('x', {}, `o${i}`))
    expect(recorder.facts).toMatchObject({ queued: 1_000, dropped: 500 })
    await pass(10_000)
    expect(sent.length).toBeGreaterThan(95)
    expect(sent.length).toBeLessThanOrEqual(101)
    await pass(100_000)
    expect(recorder.facts).toMatchObject({ queued: 0, sent: 1_000 })
  })

  it('also when they come one by one', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 100; i += 1) {
      recorder.record(anEvent('x', {}, `o${i}`))
      await pass(10)
    }
    expect(sent.length).toBeLessThanOrEqual(11)
  })

  it('and objects that nothing happens to are forgotten', () => {
    const limit = new EventLimit()
    for (let i = 0; i < 5; i += 1) limit.take('first', 0)
    expect(limit.take('first', 0)).toBe(false)
    for (let i = 0; i < 5_000; i += 1) limit.take(`o${i}`, 0)
    expect(limit.take('first', 0)).toBe(true)
  })
})

describe('the API does not take it', () => {
  it.each([0, 429, 500, 503])('for a moment (%i): tried again', async (status) => {
    const { recorder, sent, faults, pass } = aRecorder()
    faults.push(new ApiError('no', { status }), new ApiError('no', { status }))
    recorder.record(anEvent())
    recorder.record(anEvent('second'))
    await pass(10_000)
    expect(sent.map(({ object }) => object['note'])).toEqual(['valid', 'valid', 'valid', 'second'])
    expect(recorder.facts).toEqual({ queued: 0, sent: 2, dropped: 0 })
  })

  it('for as long as the server says', async () => {
    const { recorder, sent, faults, pass } = aRecorder()
    faults.push(new ApiError('no', { status: 429, retryAfterMs: 20_000 }))
    recorder.record(anEvent())
    await pass(19_000)
    expect(sent).toHaveLength(1)
    await pass(2_000)
    expect(recorder.facts.sent).toBe(1)
  })

  it('for long: given up', async () => {
    const { recorder, faults, pass } = aRecorder()
    faults.push(...Array.from({ length: 6 }, () => new ApiError('no', { status: 500 })))
    recorder.record(anEvent())
    recorder.record(anEvent('second'))
    await pass(120_000)
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 1 })
  })

  it('since it has it already, after an answer that got lost: taken for told', async () => {
    const { recorder, faults, pass } = aRecorder()
    faults.push(new ApiError('lost', { status: 0 }), new ApiError('exists', { status: 409 }))
    recorder.record(anEvent())
    await pass(5_000)
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 0 })
  })

  it('forbidden: told once, until it is allowed', async () => {
    const lines: string[] = []
    const log: Log = { ...createSilentLog(), warn: (message) => lines.push(message) }
    const { recorder, faults, pass } = aRecorder(log)
    const forbidden = (message = 'no right'): ApiError => new ApiError(message, { status: 403 })
    faults.push(forbidden(), forbidden(), forbidden())
    for (const name of ['a', 'b', 'c', 'd']) recorder.record(anEvent('x', {}, name))
    await pass(10_000)
    expect(lines).toHaveLength(1)
    faults.push(forbidden('namespace x is being terminated'), forbidden())
    for (const name of ['e', 'f']) recorder.record(anEvent('x', {}, name))
    await pass(10_000)
    expect(lines).toHaveLength(2)
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 5 })
  })

  it('by a fault of ours: dropped, nothing is thrown', async () => {
    const { recorder, faults, pass } = aRecorder()
    faults.push(new TypeError('a bug'))
    expect(() => {
      recorder.record(anEvent())
    }).not.toThrow()
    await pass(1_000)
    expect(recorder.facts).toEqual({ queued: 0, sent: 0, dropped: 1 })
  })
})

describe('stopped', () => {
  it('nothing is taken, and what waits is dropped', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (const name of ['a', 'b', 'c']) recorder.record(anEvent('x', {}, name))
    await pass(10)
    recorder.stop()
    recorder.record(anEvent('late'))
    await pass(10_000)
    expect(sent).toHaveLength(1)
    recorder.start()
    recorder.record(anEvent('again'))
    await pass(1_000)
    expect(sent).toHaveLength(2)
  })

  it('an answer that comes after it changes nothing', async () => {
    const { recorder, sent, faults, pass } = aRecorder()
    faults.push(new ApiError('no', { status: 500 }))
    recorder.record(anEvent())
    const sending = pass(5_000)
    recorder.stop()
    await sending
    expect(sent.length).toBeLessThanOrEqual(1)
    expect(recorder.facts.queued).toBe(0)
  })
})
