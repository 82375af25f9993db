// Tests what a ring of decisions keeps: within bytes and age, and fairly among documents and causes.

import { describe, expect, it } from '@jest/globals'
import {
  type DecisionCause,
  DecisionRing,
  type FailureQuery,
  MOST_FOUND,
} from '../../../dataplane/decisions/decision-ring.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const MINUTE = 60_000
/** Room for some 100 decisions. */
const MAX_BYTES = 64 * 1024

const setUp = (maxBytes = MAX_BYTES) => {
  const clock = createManualClock()
  const ring = new DecisionRing({ maxBytes, maxAgeMs: 15 * MINUTE, now: () => clock.now() })
  const add = (
    id: string,
    document = 'api',
    cause: DecisionCause = '5xx',
    text = `{"id":"${id}","more":"${'x'.repeat(150)}"}`,
  ): void => {
    ring.add({ id, document, cause, endedMs: clock.now(), text })
  }
  const addMany = (
    count: number,
    prefix: string,
    document: string,
    cause?: DecisionCause,
  ): void => {
    for (let i = 0; i < count; i++) add(`${prefix}${i}`, document, cause)
  }
  return { clock, ring, add, addMany }
}

type Setting = ReturnType<typeof setUp>

describe('A ring of decisions', () => {
  it.each<[string, (setting: Setting) => void, string, number]>([
    [
      'finds what was added',
      ({ add }) => {
        add('a')
      },
      'a',
      1,
    ],
    [
      'finds nothing of another id',
      ({ add }) => {
        add('a')
      },
      'b',
      0,
    ],
    [
      'finds all decisions of an id that came twice',
      ({ add }) => {
        add('a', 'one')
        add('a', 'two')
      },
      'a',
      2,
    ],
    [
      'returns a bounded number of decisions of one id',
      ({ add }) => {
        for (let i = 0; i < 3 * MOST_FOUND; i++) add('a')
      },
      'a',
      MOST_FOUND,
    ],
    [
      'keeps a decision for its whole age',
      ({ add, clock }) => {
        add('a')
        clock.advance(15 * MINUTE)
      },
      'a',
      1,
    ],
    [
      'drops a decision that is older',
      ({ add, clock }) => {
        add('a')
        clock.advance(15 * MINUTE + 1)
      },
      'a',
      0,
    ],
    [
      'drops the oldest decision of a cause that is full',
      ({ addMany }) => {
        addMany(500, 'n', 'api')
      },
      'n0',
      0,
    ],
    [
      'keeps the newest decision of a cause that is full',
      ({ addMany }) => {
        addMany(500, 'n', 'api')
      },
      'n499',
      1,
    ],
    [
      'keeps a quiet document beside one that floods',
      ({ add, addMany }) => {
        add('quiet', 'other')
        addMany(5000, 'n', 'api')
      },
      'quiet',
      1,
    ],
    [
      'keeps a rare cause beside one that floods the same document',
      ({ add, addMany }) => {
        add('rare', 'api', 'svc.error.forbidden')
        addMany(5000, 'n', 'api', '4xx')
      },
      'rare',
      1,
    ],
    [
      'keeps a quiet document beside one that floods by many causes',
      ({ add, addMany }) => {
        add('quiet', 'other')
        for (const cause of ['4xx', '5xx', 'client', 'svc.error.internal'] as const)
          addMany(2000, cause, 'api', cause)
      },
      'quiet',
      1,
    ],
    [
      'ignores a decision that is larger than everything',
      ({ add }) => {
        add('small')
        add('large', 'api', '5xx', 'x'.repeat(MAX_BYTES))
      },
      'large',
      0,
    ],
    [
      'keeps the others when it ignores one that is too large',
      ({ add }) => {
        add('small')
        add('large', 'api', '5xx', 'x'.repeat(MAX_BYTES))
      },
      'small',
      1,
    ],
  ])('%s', (_title, fill, id, expected) => {
    const setting = setUp()
    fill(setting)
    expect(setting.ring.find(id)).toHaveLength(expected)
  })

  it('returns the newest decision of an id first', () => {
    const { ring, add } = setUp()
    add('a', 'api', '5xx', '1')
    add('b', 'api', '4xx', '2')
    add('a', 'other', '4xx', '3')
    expect(ring.find('a')).toEqual(['3', '1'])
  })

  it('stays within its bytes with a document of its own for each decision', () => {
    const { ring, add } = setUp()
    for (let i = 0; i < 2000; i++) {
      add(`n${i}`, `api${i}`)
      expect(ring.bytes).toBeLessThanOrEqual(MAX_BYTES)
    }
    expect(ring.size).toBeGreaterThan(20)
  })

  it('counts nothing once all has grown too old', () => {
    const { ring, addMany, clock } = setUp()
    addMany(50, 'a', 'one')
    addMany(50, 'b', 'two', '4xx')
    clock.advance(16 * MINUTE)
    expect(ring.find('a0')).toEqual([])
    expect([ring.size, ring.bytes]).toEqual([0, 0])
  })

  it('shares its bytes evenly among documents that flood', () => {
    const { ring, add } = setUp()
    for (let i = 0; i < 4000; i++) add(`n${i}`, `api${i % 4}`)
    const kept = Array.from({ length: 4000 }, (_, i) => i).filter(
      (i) => ring.find(`n${i}`).length > 0,
    )
    const perDocument = [0, 1, 2, 3].map((at) => kept.filter((i) => i % 4 === at).length)
    expect(Math.max(...perDocument)).toBeLessThanOrEqual(2 * Math.min(...perDocument))
  })
})

describe('The failures of a ring', () => {
  const fill = () => {
    const { clock, ring, add } = setUp()
    const beginMs = clock.now()
    add('a', 'orders', '5xx', '{"id":"a","reason":"dns"}')
    clock.advance(1)
    add('b', 'orders', 'success', '{"id":"b"}')
    add('c', 'users', 'svc.error.not_found', '{"id":"c","reason":"None"}')
    add('d', 'users', '4xx', '{"id":"d"}')
    clock.advance(1)
    add('e', 'orders', 'client', '{"id":"e","document":"Orders"}')
    return { clock, ring, beginMs }
  }

  it.each<[string, Partial<FailureQuery>, string]>([
    ['are all but successes, the newest first', {}, 'e d c a'],
    ['are as many as were asked for', { limit: 1 }, 'e'],
    ['have the others of the same millisecond too', { limit: 2 }, 'e d c'],
    ['begin before a time', { beforeMs: 1 }, 'a'],
    ['begin before the last of the page before', { beforeMs: 2, limit: 1 }, 'd c'],
    ['are none before the first', { beforeMs: 0 }, ''],
    ['have a text in any case', { match: 'ORDERS' }, 'e'],
    ['have a text that is no pattern', { match: '.' }, ''],
    ['have a text of several', { match: 'reason":"' }, 'c a'],
  ])('%s', (_title, query, ids) => {
    const { ring, beginMs } = fill()
    const beforeMs = query.beforeMs === undefined ? undefined : beginMs + query.beforeMs
    const found = ring.failures({ match: '', limit: 10, ...query, beforeMs })
    expect(found.map(({ text }) => (JSON.parse(text) as { id: string }).id).join(' ')).toBe(ids)
  })

  it('are not those that are too old', () => {
    const { clock, ring } = fill()
    clock.advance(15 * MINUTE)
    expect(ring.failures({ match: '', beforeMs: undefined, limit: 10 })).toHaveLength(1)
  })

  it('are at most 400, however many end in one millisecond', () => {
    const { ring, add } = setUp(1024 * 1024)
    for (let i = 0; i < 1000; i++) add(`${i}`, 'api', '5xx', '{}')
    expect(ring.failures({ match: '', beforeMs: undefined, limit: 10 })).toHaveLength(400)
  })
})
