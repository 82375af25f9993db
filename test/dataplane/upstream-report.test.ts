import { describe, expect, it } from '@jest/globals'
import { mergeFailingOrigins, reportUpstreams } from '../../dataplane/upstream-report.ts'
import type {
  AddressView,
  OriginView,
  FailingOriginView,
  UpstreamsView,
} from '../../dataplane/upstream/upstream-view.ts'

const AT = Date.UTC(2030, 0, 1)
const IDLE = { connected: 0, running: 0, queued: 0 }

const origin = (view: Partial<OriginView> = {}): OriginView => ({
  origin: 'http://up',
  confinedTo: undefined,
  addresses: [],
  connections: IDLE,
  lastFailure: undefined,
  troubles: [],
  ...view,
})

const address = (view: Partial<AddressView> = {}): AddressView => ({
  address: '10.0.0.1',
  state: 'healthy',
  outstanding: 0,
  ejections: [],
  ...view,
})

const ejection = (
  realm: string | undefined,
  untilMs: number,
): AddressView['ejections'][number] => ({ realm, untilMs, why: 'in a row', fault: 'refused' })

const trouble = (view: Partial<FailingOriginView> = {}): FailingOriginView => ({
  realm: undefined,
  cause: 'refused',
  sinceMs: AT,
  isFailing: true,
  ...view,
})

const views = (...processes: readonly (readonly OriginView[])[]): readonly UpstreamsView[] =>
  processes.map((origins) => ({ origins, isTruncated: false }))

describe('the report', () => {
  it('adds up what processes know of one origin, and keeps what documents that are confined see', () => {
    const report = reportUpstreams(
      views(
        [
          origin({
            connections: { connected: 2, running: 1, queued: 0 },
            lastFailure: { cause: 'dns', atMs: AT },
            addresses: [address({ outstanding: 2 }), address({ address: '10.0.0.2' })],
          }),
          origin({ confinedTo: 'shop' }),
        ],
        [
          origin({
            connections: { connected: 1, running: 0, queued: 3 },
            lastFailure: { cause: 'timeout', atMs: AT + 5000 },
            addresses: [address({ outstanding: 1 })],
          }),
        ],
      ),
    )
    expect(report).toEqual({
      processes: { asked: 2, answered: 2 },
      truncated: false,
      upstreams: [
        {
          origin: 'http://up',
          addresses: [
            { address: '10.0.0.1', state: 'healthy', outstanding: 3, ejections: [] },
            { address: '10.0.0.2', state: 'healthy', outstanding: 0, ejections: [] },
          ],
          connections: { connected: 3, running: 1, queued: 3 },
          lastFailure: { cause: 'timeout', at: '2030-01-01T00:00:05Z' },
          unhealthy: [],
        },
        {
          origin: 'http://up',
          confinedTo: 'shop',
          addresses: [],
          connections: IDLE,
          unhealthy: [],
        },
      ],
    })
  })

  it('tells the worst state of an address, for whom it is ejected, until when and where', () => {
    const { upstreams } = reportUpstreams(
      views(
        [
          origin({
            addresses: [address({ state: 'ejected', ejections: [ejection(undefined, AT)] })],
          }),
        ],
        [
          origin({
            addresses: [
              address({
                state: 'ejected',
                ejections: [ejection(undefined, AT + 1000), ejection('shop', AT)],
              }),
            ],
          }),
        ],
        [origin({ addresses: [address({ state: 'starting_slowly' })] })],
      ),
    )
    expect(upstreams[0]?.addresses).toEqual([
      {
        address: '10.0.0.1',
        state: 'ejected',
        outstanding: 0,
        ejections: [
          {
            until: '2030-01-01T00:00:01Z',
            why: 'five failures in a row',
            fault: 'refused',
            processes: 2,
          },
          {
            realm: 'shop',
            until: '2030-01-01T00:00:00Z',
            why: 'five failures in a row',
            fault: 'refused',
            processes: 1,
          },
        ],
      },
    ])
  })

  it('goes without a process that does not answer, and says so', () => {
    expect(reportUpstreams([...views([origin()]), undefined])).toMatchObject({
      processes: { asked: 2, answered: 1 },
      upstreams: [{ origin: 'http://up' }],
    })
  })

  it('has a thousand addresses at most, those of upstreams with trouble first', () => {
    const many = Array.from({ length: 30 }, (_, at) =>
      origin({
        origin: `http://up-${String(at).padStart(2, '0')}`,
        addresses: Array.from({ length: 64 }, (_, index) =>
          address({ address: `10.0.${at}.${index}` }),
        ),
        troubles: at === 29 ? [trouble()] : [],
      }),
    )
    const { upstreams, truncated } = reportUpstreams(views(many))
    expect(truncated).toBe(true)
    expect(upstreams.flatMap(({ addresses }) => addresses)).toHaveLength(960)
    expect(upstreams.map(({ origin: name }) => name)).toContain('http://up-29')
  })

  it('says that there is more where a process has left something out', () => {
    const [view] = views([origin()])
    expect(reportUpstreams([{ origins: view?.origins ?? [], isTruncated: true }]).truncated).toBe(
      true,
    )
  })
})

describe('trouble', () => {
  it.each<[what: string, told: FailingOriginView[], merged: Partial<FailingOriginView>[]]>([
    ['of no process', [], []],
    ['of one process', [trouble()], [{ cause: 'refused' }]],
    [
      'of two is as old as the older',
      [trouble({ sinceMs: AT + 1 }), trouble({ cause: 'dns' })],
      [{ cause: 'dns', sinceMs: AT }],
    ],
    ['that another process has seen the end of', [trouble(), trouble({ isFailing: false })], []],
    [
      'of a realm stays, whatever another realm gets',
      [trouble({ realm: 'a' }), trouble({ realm: 'b', isFailing: false })],
      [{ realm: 'a' }],
    ],
  ])('%s', (_, told, merged) => {
    expect(mergeFailingOrigins(told)).toMatchObject(merged)
    expect(mergeFailingOrigins(told)).toHaveLength(merged.length)
  })
})
