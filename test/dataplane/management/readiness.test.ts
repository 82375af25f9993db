import { describe, expect, it } from '@jest/globals'
import { Readiness, type ReadinessState } from '../../../dataplane/management/readiness.ts'
import { createManualClock } from '../../support/manual-clock.ts'

type Event =
  | { readonly restored: boolean }
  | { readonly synced: boolean }
  | { readonly after: number }
  | 'drain'

interface Case {
  readonly name: string
  readonly isManaged: boolean
  readonly readyFromSnapshotMs: number
  readonly events: readonly Event[]
  readonly state: ReadinessState
}

const cases: readonly Case[] = [
  {
    name: 'unmanaged: at once',
    isManaged: false,
    readyFromSnapshotMs: 0,
    events: [],
    state: 'ready',
  },
  {
    name: 'managed: waits',
    isManaged: true,
    readyFromSnapshotMs: 0,
    events: [{ after: 1e9 }],
    state: 'waiting',
  },
  {
    name: 'a batch completes nothing',
    isManaged: true,
    readyFromSnapshotMs: 0,
    events: [{ synced: false }],
    state: 'waiting',
  },
  {
    name: 'a completed sync, and a latch: later batches do not turn it off',
    isManaged: true,
    readyFromSnapshotMs: 0,
    events: [{ synced: true }, { synced: false }],
    state: 'ready',
  },
  {
    name: 'a snapshot is not enough when not asked for',
    isManaged: true,
    readyFromSnapshotMs: 0,
    events: [{ restored: true }, { after: 1e9 }],
    state: 'waiting',
  },
  {
    name: 'a complete snapshot before its time',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: true }, { after: 999 }],
    state: 'waiting',
  },
  {
    name: 'a complete snapshot in its time',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: true }, { after: 1000 }],
    state: 'ready-from-snapshot',
  },
  {
    name: 'an incomplete snapshot never',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: false }, { after: 1e9 }],
    state: 'waiting',
  },
  {
    name: 'an operator at work is waited for',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: true }, { after: 900 }, { synced: false }, { after: 900 }],
    state: 'waiting',
  },
  {
    name: 'an operator that fell silent is not',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: true }, { after: 900 }, { synced: false }, { after: 1000 }],
    state: 'ready-from-snapshot',
  },
  {
    name: 'from the snapshot, then in full',
    isManaged: true,
    readyFromSnapshotMs: 1000,
    events: [{ restored: true }, { after: 1000 }, { synced: true }],
    state: 'ready',
  },
  {
    name: 'draining ends it',
    isManaged: false,
    readyFromSnapshotMs: 0,
    events: ['drain'],
    state: 'draining',
  },
  {
    name: 'nothing turns draining back',
    isManaged: true,
    readyFromSnapshotMs: 0,
    events: ['drain', { synced: true }],
    state: 'draining',
  },
]

describe('Readiness', () => {
  it.each(cases)('$name', ({ isManaged, readyFromSnapshotMs, events, state }) => {
    const clock = createManualClock()
    const readiness = new Readiness({ isManaged, readyFromSnapshotMs, now: () => clock.now() })
    for (const event of events) {
      if (event === 'drain') readiness.drain()
      else if ('restored' in event) readiness.restored(event.restored)
      else if ('synced' in event) readiness.synced(event.synced, [])
      else clock.advance(event.after)
      // Asking changes nothing but the latch of a snapshot that is due.
      readiness.isReady.valueOf()
    }
    expect(readiness.state).toBe(state)
    expect(readiness.isReady).toBe(state === 'ready' || state === 'ready-from-snapshot')
  })

  it('stays ready from the snapshot while the operator comes back with a batch', () => {
    const clock = createManualClock()
    const readiness = new Readiness({
      isManaged: true,
      readyFromSnapshotMs: 10,
      now: () => clock.now(),
    })
    readiness.restored(true)
    clock.advance(10)
    expect(readiness.isReady).toBe(true)
    readiness.synced(false, [])
    expect(readiness.isReady).toBe(true)
  })
})

describe('what keeps it waiting', () => {
  type Items = Parameters<Readiness['synced']>[1]
  const spec = (id: string, result: 'loaded' | 'rejected' | 'deleted') =>
    ({ kind: 'spec', id, result }) as const
  const realm = { kind: 'realm', id: 'com.a', result: 'rejected' } as const
  const NOT_CALLED = expect.stringMatching(/^No sync call of the manager was accepted/)
  const refused = (what: string) =>
    expect.stringMatching(`^Of what the manager has sent this gateway rejected ${what}\\. `)

  it.each<[string, readonly Items[], unknown]>([
    ['no manager has called', [], NOT_CALLED],
    [
      'nothing was refused',
      [[spec('a', 'loaded')]],
      'The manager is still sending its documents and realms.',
    ],
    ['one document was', [[spec('a', 'rejected')], [spec('b', 'loaded')]], refused('1 document')],
    [
      'some were, one of them twice',
      [[spec('a', 'rejected'), spec('b', 'rejected'), realm], [spec('a', 'rejected')]],
      refused('2 documents and 1 realm'),
    ],
    [
      'all are mended or gone',
      [
        [spec('a', 'rejected'), spec('b', 'rejected')],
        [spec('a', 'loaded'), spec('b', 'deleted')],
      ],
      'The manager is still sending its documents and realms.',
    ],
  ])('%s', (_title, calls, words) => {
    const readiness = new Readiness({ isManaged: true, readyFromSnapshotMs: 0, now: () => 0 })
    for (const items of calls) readiness.synced(false, items)
    expect(readiness.waitsFor).toEqual(words)
  })

  it('names nothing that was sent, and counts to a bound', () => {
    const readiness = new Readiness({ isManaged: true, readyFromSnapshotMs: 0, now: () => 0 })
    const items = Array.from({ length: 10_001 }, (_, i) => spec(`secret-${i}`, 'rejected'))
    readiness.synced(false, items)
    expect(readiness.waitsFor).toEqual(refused('10000 documents'))
    expect(readiness.waitsFor).not.toContain('secret')
  })
})
