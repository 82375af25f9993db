// Whatever a router sends, in whatever order: nothing is thrown, everything that waits is settled once, and the end
// is told once.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { settled } from '../../../support/settled.ts'
import { begin, join, listen, request, type Opened } from '../scripted-session.ts'

const RUNS = 1500

/** Of requests, subscriptions, registrations and invocations that there are, and some that there are not. */
const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 9 }) },
  fc.constantFrom(11, 12, 77, 2 ** 53, 2 ** 53 + 2, -1, 1.5, NaN),
)

const features = fc.constantFrom<unknown>(
  {},
  { broker: {}, dealer: {} },
  { broker: null, dealer: 1 },
  { dealer: { features: null } },
  { broker: { features: 'x' }, dealer: { features: [] } },
)

const details = fc.oneof(
  fc.constantFrom<unknown>(
    ...[{}, { progress: true }, { mode: 'kill' }, { mode: 7 }, { topic: 'com.t' }, { topic: [] }],
    ...[{ procedure: null }, { subscription: 11 }, { registration: 12 }, { message: {} }],
    JSON.parse('{"__proto__":{"progress":true},"constructor":1}'),
  ),
  features.map((roles) => ({ roles })),
)

const element = fc.oneof(
  { weight: 4, arbitrary: id },
  { weight: 4, arbitrary: details },
  { weight: 2, arbitrary: fc.constantFrom<unknown>('com.e', '', 'ticket', 'wamp.close.normal') },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, [], [1], [[]], new Uint8Array(2)) },
)

const type = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(8, 8, 17, 33, 35, 36, 50, 50, 65, 67, 68, 68, 69, 2, 3, 4, 6, 7),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(0, 1, 5, 16, 32, 48, 64, 70, 99, -1, 1.5) },
)

const anything = fc
  .tuple(type, fc.array(element, { maxLength: 6 }))
  .map(([first, rest]) => [first, ...rest])

/** As most messages are: each part of them right by itself. */
const plausible = fc.oneof(
  fc.tuple(fc.constant(50), id, details, fc.constantFrom([], [1], null)),
  fc.tuple(fc.constant(8), fc.constantFrom(48, 16, 32, 34, 64, 66), id, details, fc.constant('e')),
  fc.tuple(fc.constantFrom(17, 33, 65), id, id),
  fc.tuple(fc.constantFrom(35, 67), id, details),
  fc.tuple(fc.constantFrom(36, 68), id, id, details, fc.constantFrom([], [1], {})),
  fc.tuple(fc.constant(69), id, details),
)

interface Told {
  readonly message: readonly unknown[]
  readonly isReadable: boolean
}

const messages = fc.array(
  fc.record({
    message: fc.oneof({ weight: 3, arbitrary: plausible }, { weight: 1, arbitrary: anything }),
    isReadable: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  }),
  { maxLength: 30 },
)

const tell = ({ transport }: Opened, all: readonly Told[]): void => {
  for (const { message, isReadable } of all) {
    if (isReadable) transport.receive(...message)
    else if (message.length > 1) transport.receiveUnreadable(...message)
  }
}

const NOTHING = { args: [], kwargs: {} }

/** Something of everything that waits for a response; gives how often each was settled. */
const startAll = ({ session }: ReturnType<typeof join>) => {
  const counts: number[] = []
  const count = (): (() => void) => {
    const index = counts.push(0) - 1
    return () => {
      counts[index] = (counts[index] ?? 0) + 1
    }
  }
  const watch = (doing: Promise<unknown>): void => void doing.then(...twice(count()))
  for (let n = 0; n < 2; n++) {
    const end = count()
    const { handler } = listen()
    session.call(request(), { ...handler, onResult: end, onFailure: end })
  }
  watch(session.publish('com.t', NOTHING, {}))
  watch(session.subscribe('com.t', {}, () => undefined))
  watch(session.register('com.p', {}, () => Promise.resolve(NOTHING)))
  watch(session.register('com.q', {}, () => Promise.reject(new Error('none'))))
  return counts
}

const twice = (done: () => void): [() => void, () => void] => [done, done]

describe('whatever a router sends', () => {
  it('to a session that is open', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (all) => {
        const joined = join()
        const counts = startAll(joined)
        tell(joined, all)
        await settled()
        joined.transport.end('lost')
        await settled()
        expect(counts).toEqual(counts.map(() => 1))
        expect(joined.ends).toHaveLength(1)
        expect(joined.session.pendingCalls).toBe(0)
        await joined.opened.close()
      }),
      { numRuns: RUNS },
    )
  }, 60_000)

  it('to one that is about to join', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (all) => {
        const opened = begin({ method: 'wampcra', authid: 'a', secret: 'SECRET-TEXT' })
        opened.transport.open()
        tell(opened, all)
        await settled()
        opened.transport.end('lost')
        await settled()
        expect(opened.ends).toHaveLength(1)
        expect(JSON.stringify([opened.ends, opened.transport.sent])).not.toContain('SECRET-TEXT')
        await opened.opened.close()
      }),
      { numRuns: RUNS },
    )
  }, 60_000)
})
