import { describe, expect, it } from '@jest/globals'
import { Reachability } from '../../../../operator/kubernetes/client/reachability.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

type Outcome = 'answered' | { readonly status: number; readonly reason?: string }

const NO_RESPONSE = { status: 0 } as const

describe('an API server', () => {
  it.each<[string, readonly (readonly [atSecond: number, Outcome])[], readonly string[]]>([
    [
      'that answers',
      [
        [1, 'answered'],
        [60, 'answered'],
      ],
      [],
    ],
    [
      'that was not asked for long',
      [
        [1, 'answered'],
        [600, 'answered'],
      ],
      [],
    ],
    [
      'that was away is back once',
      [
        [1, NO_RESPONSE],
        [5, 'answered'],
        [20, 'answered'],
      ],
      ['5 silent'],
    ],
    [
      'that was away since it had answered',
      [
        [100, 'answered'],
        [101, NO_RESPONSE],
        [102, 'answered'],
        [104, NO_RESPONSE],
        [108, 'answered'],
      ],
      ['108 silent'],
    ],
    [
      'that says 503 for a while',
      [
        [1, { status: 503 }],
        [9, 'answered'],
      ],
      ['9'],
    ],
    [
      'that says 500 for a while',
      [
        [1, { status: 500 }],
        [9, 'answered'],
      ],
      ['9'],
    ],
    [
      'that throttles all for a while',
      [
        [1, { status: 429 }],
        [9, 'answered'],
      ],
      ['9'],
    ],
    [
      'that refuses',
      [
        [1, { status: 403 }],
        [2, { status: 404 }],
        [9, 'answered'],
      ],
      [],
    ],
    [
      'that answers what we can not use',
      [
        [1, { status: 0, reason: 'NoCredentials' }],
        [2, { status: 0, reason: 'Unreadable' }],
        [3, { status: 0, reason: 'ResponseTooLarge' }],
        [9, 'answered'],
      ],
      [],
    ],
    [
      'of which one kind fails while a Lease is renewed',
      Array.from({ length: 30 }, (_, i) => [
        [2 * i, { status: 500 }] as const,
        [2 * i + 1, 'answered'] as const,
      ]).flat(),
      [],
    ],
  ])('%s', (_title, steps, expected) => {
    const clock = createManualClock()
    const startMs = clock.now()
    const returns: string[] = []
    const reachability = new Reachability(clock)
    const end = reachability.onReturn((wasSilent) => {
      returns.push(`${(clock.now() - startMs) / 1000}${wasSilent ? ' silent' : ''}`)
    })
    for (const [atSecond, outcome] of steps) {
      clock.advance(startMs + atSecond * 1000 - clock.now())
      if (outcome === 'answered') reachability.answered()
      else reachability.failed({ reason: '', ...outcome })
    }
    expect(returns).toEqual(expected)
    end()
    reachability.failed({ status: 0, reason: '' })
    clock.advance(60_000)
    reachability.answered()
    expect(returns).toEqual(expected)
  })
})
