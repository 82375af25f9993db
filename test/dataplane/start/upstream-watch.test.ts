import { describe, expect, it } from '@jest/globals'
import {
  problemsOf,
  type UpstreamWatchOptions,
  watchUpstreams,
} from '../../../dataplane/start/upstream-watch.ts'
import type { FailingOriginView, UpstreamsView } from '../../../dataplane/upstream/upstream-view.ts'
import { settled } from '../../support/settled.ts'

type Document = ReturnType<UpstreamWatchOptions['documents']>[number]

const document = (id: string, more: Partial<Document> = {}): Document => ({
  id,
  forwards: { realmUri: 'com.acme', origins: ['http://up'] },
  ...more,
})

const view = (
  trouble: Partial<FailingOriginView> = {},
  { origin = 'http://up', confinedTo }: { origin?: string; confinedTo?: string } = {},
): UpstreamsView => ({
  isTruncated: false,
  origins: [
    {
      origin,
      confinedTo,
      addresses: [],
      lastFailure: undefined,
      connections: { connected: 0, running: 0, queued: 0 },
      troubles: [{ realm: undefined, cause: 'refused', sinceMs: 0, isFailing: true, ...trouble }],
    },
  ],
})

describe('a document', () => {
  const REFUSED = [['a', { origin: 'http://up', cause: 'refused' }]]
  type Row = [string, Document, (UpstreamsView | undefined)[], unknown[]]
  it.each<Row>([
    ['whose upstream answers', document('a'), [{ origins: [], isTruncated: false }], []],
    ['whose upstream answers no request', document('a'), [view()], REFUSED],
    ['of which one process knows nothing', document('a'), [undefined, view()], REFUSED],
    [
      'whose upstream answers another process',
      document('a'),
      [view(), view({ isFailing: false })],
      [],
    ],
    ['whose realm gets no good response', document('a'), [view({ realm: 'com.acme' })], REFUSED],
    ['whose neighbour gets no good response', document('a'), [view({ realm: 'com.other' })], []],
    ['whose upstream is another one', document('a'), [view({}, { origin: 'http://other' })], []],
    ['that is confined, where all else fails', document('a', { confinedTo: 'shop' }), [view()], []],
    [
      'that is confined, and fails',
      document('a', { confinedTo: 'shop' }),
      [view({}, { confinedTo: 'shop' })],
      REFUSED,
    ],
    ['where what is confined fails', document('a'), [view({}, { confinedTo: 'shop' })], []],
    [
      'of whose upstreams the second fails',
      document('a', { forwards: { realmUri: 'r', origins: ['http://fine', 'http://up'] } }),
      [view()],
      REFUSED,
    ],
    ['whose clients give up', document('a'), [view({ cause: 'aborted' })], []],
    [
      'whose upstream has a name beyond all bounds',
      document('a', { forwards: { realmUri: 'r', origins: [`http://${'x'.repeat(300)}`] } }),
      [view({}, { origin: `http://${'x'.repeat(300)}` })],
      [],
    ],
  ])('%s', (_, held, views, troubles) => {
    expect([...problemsOf([held], views)]).toEqual(troubles)
  })

  it('is reported with 199 others at most, and not more than fits', () => {
    const many = (id: (at: number) => string): readonly Document[] =>
      Array.from({ length: 1000 }, (_, at) => document(id(at)))
    expect(problemsOf(many(String), [view()]).size).toBe(200)
    const long = problemsOf(
      many((at) => `${at}${'é'.repeat(500)}`),
      [view()],
    )
    expect(Buffer.byteLength(JSON.stringify([...long]))).toBeLessThanOrEqual(65 * 1024)
    expect(long.size).toBeGreaterThan(50)
  })
})

describe('the watch', () => {
  const rig = () => {
    let nowMs = 0
    let look: () => void = () => undefined
    let changes = 0
    let isStopped = false
    const state = { views: [view()] as (UpstreamsView | undefined)[], reads: 0 }
    const watch = watchUpstreams({
      read: () => {
        state.reads++
        return Promise.resolve(state.views)
      },
      documents: () => [document('a')],
      onChange: () => changes++,
      now: () => nowMs,
      every: (ms, callback) => {
        expect(ms).toBe(10_000)
        look = callback
        return () => {
          isStopped = true
        }
      },
    })
    return {
      watch,
      state,
      changes: () => changes,
      isStopped: () => isStopped,
      pass: async (seconds: number): Promise<void> => {
        for (let passed = 0; passed < seconds; passed += 10) {
          nowMs += 10_000
          look()
          await settled()
        }
      },
    }
  }

  it('reports a change, and nothing else', async () => {
    const { watch, pass, changes, isStopped } = rig()
    expect(watch.problems().size).toBe(0)
    await pass(10)
    expect([...watch.problems().keys()]).toEqual(['a'])
    await pass(300)
    expect(changes()).toBe(1)
    watch.stop()
    expect(isStopped()).toBe(true)
  })

  it('reports an upstream that comes and goes once in half a minute', async () => {
    const { state, pass, changes } = rig()
    for (let turn = 0; turn < 60; turn++) {
      state.views = turn % 2 === 0 ? [view()] : []
      await pass(10)
    }
    expect(changes()).toBeGreaterThan(10)
    expect(changes()).toBeLessThanOrEqual(20)
  })

  it('does not ask again before it was answered', async () => {
    const { state, pass, watch } = rig()
    let answer: (views: readonly UpstreamsView[]) => void = () => undefined
    const waiting = new Promise<readonly UpstreamsView[]>((resolve) => (answer = resolve))
    Object.assign(state, { views: undefined })
    Object.defineProperty(state, 'views', { get: () => waiting })
    await pass(60)
    expect(state.reads).toBe(1)
    answer([view()])
    await settled()
    expect(watch.problems().size).toBe(1)
  })
})
