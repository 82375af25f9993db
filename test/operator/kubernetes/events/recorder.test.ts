import { describe, expect, it } from '@jest/globals'
import { ApiError } from '../../../../operator/kubernetes/client/api.ts'
import { EventLimit } from '../../../../operator/kubernetes/events/rate-limit.ts'
import {
  cutNote,
  eventName,
  type EventFacts,
} from '../../../../operator/kubernetes/events/object.ts'
import { EventRecorder } from '../../../../operator/kubernetes/events/recorder.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import { createSilentLog, type Log } from '../../../../telemetry/log.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

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
  const recorder = new EventRecorder({
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

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** @param name of the object, or namespace and name */
const anEvent = (note = 'valid', more: Partial<EventFacts> = {}, name = 'shop'): EventFacts => ({
  regarding: {
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    ...(name.includes('/')
      ? { namespace: name.slice(0, name.indexOf('/')), name: name.slice(name.indexOf('/') + 1) }
      : { namespace: 'team', name }),
    uid: `uid-${name}`,
  },
  type: 'Normal',
  reason: 'Programmed',
  action: 'Load',
  note,
  ...more,
})

describe('an event', () => {
  it('is written as the API wants it', async () => {
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
          reason: 'Programmed',
          action: 'Load',
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

  it('before the first was written is written with it', async () => {
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
    ['reason', anEvent('valid', { reason: 'LoadFailed' })],
    ['type', anEvent('valid', { type: 'Warning' })],
    ['subject', anEvent('valid', {}, 'constructor')],
  ])('is not what has another %s', async (_title, other) => {
    const { recorder, sent, pass } = aRecorder()
    recorder.record(anEvent())
    recorder.record(other)
    await pass(1_000)
    expect(sent).toMatchObject([{ verb: 'create' }, { verb: 'create' }])
  })

  it('is reported again where the event has expired', async () => {
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

describe('no object is flooded', () => {
  it.each([
    { type: 'Normal', burst: 5, refillMs: 5 * MINUTE_MS },
    { type: 'Warning', burst: 30, refillMs: MINUTE_MS },
  ] as const)(
    'of one object $burst of type $type are written at once',
    async ({ type, burst, refillMs }) => {
      const { recorder, sent, pass } = aRecorder()
      for (let i = 0; i < 100; i += 1) recorder.record(anEvent(`note ${i}`, { type }))
      recorder.record(anEvent('of another', { type }, 'other'))
      await pass(10_000)
      expect(sent).toHaveLength(burst + 1)
      expect(recorder.facts.dropped).toBe(100 - burst)
      await pass(refillMs)
      recorder.record(anEvent('later', { type }))
      recorder.record(anEvent('and later', { type }))
      await pass(1_000)
      expect(sent).toHaveLength(burst + 2)
    },
  )

  it('of thirty good and thirty bad generations by turns within a minute every bad one is written', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 1; i <= 60; i += 1) {
      const bad = { type: 'Warning', reason: 'Rejected', action: 'Validate' } as const
      recorder.record(anEvent(`generation ${i}`, i % 2 === 0 ? bad : {}))
      await pass(1_000)
    }
    const warnings = sent.filter(({ object }) => object['type'] === 'Warning')
    expect(warnings.map(({ object }) => object['note'])).toEqual(
      Array.from({ length: 30 }, (_, i) => `generation ${2 * i + 2}`),
    )
  })

  it.each([
    { type: 'Normal', burst: 100 },
    { type: 'Warning', burst: 150 },
  ] as const)('of one namespace $burst of type $type at once', async ({ type, burst }) => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 300; i += 1) recorder.record(anEvent('x', { type }, `busy/o${i}`))
    recorder.record(anEvent('x', { type }, 'quiet/o'))
    await pass(60_000)
    const of = (namespace: string): number =>
      sent.filter((each) => each.namespace === namespace).length
    // What comes after them is one for all.
    expect([of('busy'), of('quiet')]).toEqual([burst + 1, 1])
    expect(sent.filter(({ namespace }) => namespace === 'busy').at(-1)?.object).toMatchObject({
      type,
      regarding: { name: 'o299' },
      note: expect.stringContaining(
        `for ${299 - burst} others of kind ApiSpecification`,
      ) as unknown,
    })
    expect(recorder.facts.dropped).toBe(0)
    recorder.record(anEvent('later', { type }, 'busy/o'))
    await pass(1_000)
    expect(of('busy')).toBe(burst + 2)
  })

  it('namespaces take turns, and Warnings come first', async () => {
    const { recorder, sent, pass } = aRecorder()
    const bad = { type: 'Warning' } as const
    for (let i = 0; i < 20; i += 1) recorder.record(anEvent('x', {}, `a/o${i}`))
    for (let i = 0; i < 3; i += 1) recorder.record(anEvent('x', bad, `a/w${i}`))
    recorder.record(anEvent('x', {}, 'b/o'))
    recorder.record(anEvent('x', bad, 'b/w'))
    await pass(650)
    expect(sent.map(({ namespace, object }) => `${namespace} ${text(object['type'])}`)).toEqual([
      'a Warning',
      'b Warning',
      'a Warning',
      'a Warning',
      'a Normal',
      'b Normal',
      'a Normal',
    ])
  })

  it('of all together ten a second', async () => {
    const { recorder, sent, pass } = aRecorder()
    for (let i = 0; i < 500; i += 1) recorder.record(anEvent('x', {}, `n${i}/o`))
    await pass(10_000)
    expect(sent.length).toBeGreaterThan(95)
    expect(sent.length).toBeLessThanOrEqual(101)
    await pass(100_000)
    expect(recorder.facts).toMatchObject({ queued: 0, sent: 500 })
  })

  it('a thousand may wait: what is Normal gives way first, then the object that has the most', async () => {
    const { recorder, sent, pass } = aRecorder()
    const bad = { type: 'Warning' } as const
    const fill = (type: EventFacts['type'], namespaces: number, each: number): void => {
      for (let i = 0; i < namespaces * each; i += 1)
        recorder.record(anEvent('x', { type }, `n${i % namespaces}/${type}${i}`))
    }
    fill('Normal', 11, 100)
    expect(recorder.facts).toEqual({ queued: 1_000, sent: 0, dropped: 100 })
    fill('Warning', 9, 120)
    expect(recorder.facts).toEqual({ queued: 1_000, sent: 0, dropped: 1_180 })
    recorder.record(anEvent('x', bad, 'quiet/o'))
    expect(recorder.facts).toEqual({ queued: 1_000, sent: 0, dropped: 1_181 })
    await pass(120_000)
    expect(sent.filter(({ object }) => object['type'] !== 'Warning')).toEqual([])
    expect(sent.filter(({ namespace }) => namespace === 'quiet')).toHaveLength(1)
    // What gave way may be told the next time.
    recorder.record(anEvent('x', bad, 'n8/Warning1079'))
    await pass(1_000)
    expect(recorder.facts.sent).toBe(1_001)
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
    const first = anEvent('x', {}, 'first')
    for (let i = 0; i < 5; i += 1) limit.take(first, 0)
    expect(limit.take(first, 0)).toBe('object')
    for (let i = 0; i < 5_000; i += 1) limit.take(anEvent('x', {}, `n${i}/o`), 0)
    expect(limit.take(first, 0)).toBeUndefined()
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

  it('since it has it already, after a response that got lost: taken for written', async () => {
    const { recorder, faults, pass } = aRecorder()
    faults.push(new ApiError('lost', { status: 0 }), new ApiError('exists', { status: 409 }))
    recorder.record(anEvent())
    await pass(5_000)
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 0 })
  })

  it('forbidden: logged once in ten minutes, though others are accepted', async () => {
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
    expect(lines).toHaveLength(1)
    expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 5 })
    await pass(600_000)
    faults.push(forbidden())
    recorder.record(anEvent('x', {}, 'g'))
    await pass(10_000)
    expect(lines).toHaveLength(2)
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

  it('a response that comes after it changes nothing', async () => {
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
