// What a status says at a glance: which generation serves and where, a router that is away, and a class that was left.

import { describe, expect, it } from '@jest/globals'
import type { DataPlaneReport } from '../../../../operator/data-plane.ts'
import type { UpstreamCause } from '../../../../language/wire/wire.ts'
import { Reconciler } from '../../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../../operator/reconcile/status/status-registry.ts'
import type { Resource } from '../../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../../support/resources.ts'

const KEY = 'ApiSpecification/default/orders'
const REALM = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })

/** `old` and `new` are two texts; `bad` is none; `elsewhere` selects no data plane. */
type Text = 'old' | 'new' | 'bad' | 'elsewhere'

const orders = (text: Text, generation: number): Resource =>
  resourceOf(
    'ApiSpecification',
    'orders',
    {
      spec: {
        document: aSpecification(
          'orders',
          text === 'bad' ? { host: 5 } : text === 'new' ? { name: 'N' } : {},
        ),
        ...(text === 'elsewhere' && { dataPlaneSelector: { matchLabels: { zone: 'none' } } }),
      },
    },
    { generation },
  )

interface Held {
  readonly text?: Text
  readonly more?: Partial<DataPlaneReport>
}

const AWAY = { phase: 'unreachable', ready: false, message: 'gone' } as const
const FOREIGN = { dataPlane: { name: 'z', url: 'http://z', labels: {}, namespace: 'other' } }
const NEIGHBOUR = { dataPlane: { name: 'z', url: 'http://z', labels: {}, namespace: 'default' } }

class Operator {
  readonly #reconciler = new Reconciler({ className: 'svc' })
  readonly #book = new StatusRegistry()
  readonly #digests = new Map<Text, string>()
  #nowMs = 0

  take(
    resource: Resource,
    text: Text,
    held: readonly Held[],
    realms?: DataPlaneReport['realms'],
  ): ResourceStatus | undefined {
    const { results, desired } = this.#reconciler.reconcile(cacheOf([REALM, resource]))
    const { digest } = desired.documents.get('orders') ?? {}
    if (digest !== undefined && text !== 'bad') this.#digests.set(text, digest)
    this.#nowMs += 60_000
    const reports = held.map((each, i) => this.#report(`g${i}`, each, realms ?? new Map()))
    return this.#book.update(results, reports, this.#nowMs).get(KEY)
  }

  #report(name: string, { text, more }: Held, realms: DataPlaneReport['realms']): DataPlaneReport {
    const digest = text === undefined ? undefined : (this.#digests.get(text) ?? 'unknown')
    return {
      dataPlane: { name, url: `http://${name}`, labels: {} },
      phase: 'synced',
      message: '',
      ready: true,
      realms,
      realmsGiven: new Set(['com.shop']),
      documents: new Map(digest === undefined ? [] : [['orders', { digest, warnings: [] }]]),
      rejected: { documents: new Map(), realms: new Map() },
      ...more,
    }
  }
}

const said = (status: ResourceStatus | undefined): string => {
  const { serving = '', gateways = '' } = status?.summary ?? {}
  const ready = status?.conditions.find(({ type }) => type === 'Ready')
  return `${serving} at ${gateways}: ${ready?.status === 'True' ? 'Ready' : (ready?.message.split('; ').at(-1) ?? '')}`
}

describe('which generation serves', () => {
  type Step = readonly [Text, readonly Held[]]
  const OLD = { text: 'old' } as const
  const NEW = { text: 'new' } as const
  it.each<[string, readonly Step[], string]>([
    ['none yet', [['old', [{}, {}]]], '– at 0/2: nothing serves'],
    ['no gateway at all', [['old', []]], '– at 0/0: nothing serves'],
    ['all of it', [['old', [OLD, OLD]]], '1 at 2/2: Ready'],
    ['the first of two', [['old', [OLD, {}]]], '1 at 1/2: generation 1 serves where it is loaded'],
    [
      'a bad one after a good one',
      [
        ['old', [OLD]],
        ['bad', [OLD]],
      ],
      '1 at 1/1: generation 1 still serves',
    ],
    ['a bad one after none', [['bad', [{}]]], '– at –: nothing serves'],
    [
      'a newer one on its way',
      [
        ['old', [OLD]],
        ['new', [OLD]],
      ],
      '1 at 0/1: generation 1 still serves',
    ],
    [
      'a newer one half on its way',
      [
        ['old', [OLD, OLD]],
        ['new', [OLD, NEW]],
      ],
      '1 at 1/2: generation 1 still serves',
    ],
    [
      'the newer one',
      [
        ['old', [OLD]],
        ['new', [OLD]],
        ['new', [NEW]],
      ],
      '2 at 1/1: Ready',
    ],
    [
      'the text of before once more',
      [
        ['old', [OLD]],
        ['new', [NEW]],
        ['old', [NEW, OLD]],
      ],
      '2 at 1/2: generation 2 still serves',
    ],
    [
      'a selector that fits no data plane',
      [
        ['old', [OLD]],
        ['elsewhere', [OLD]],
      ],
      '1 at 0/0: generation 1 still serves',
    ],
    [
      'a selector that fits no data plane, and the old ones have gone',
      [
        ['old', [OLD]],
        ['elsewhere', []],
      ],
      '– at 0/0: nothing serves',
    ],
    ['a text that is not remembered', [['new', [OLD]]], '? at 0/1: another version serves'],
    [
      'out of reach',
      [
        ['old', [OLD]],
        ['new', [{ more: AWAY }]],
      ],
      '1 at 0/1: generation 1 served when they were last asked',
    ],
    [
      'out of reach from the first',
      [['old', [{ more: AWAY }]]],
      '– at 0/1: no version is known to serve',
    ],
    [
      'one that is not ready',
      [['old', [{ ...OLD, more: { phase: 'syncing', ready: false } }]]],
      '– at 0/1: nothing serves',
    ],
    [
      'a sidecar of another namespace says so',
      [['old', [{ ...OLD, more: FOREIGN }]]],
      '– at 0/0: nothing serves',
    ],
    [
      'a sidecar of its namespace that it selected before',
      [['old', [{ ...OLD, more: NEIGHBOUR }]]],
      '1 at 0/0: the version accepted before still serves',
    ],
  ])('%s', (_title, steps, expected) => {
    const operator = new Operator()
    let last: ResourceStatus | undefined
    let generation = 0
    let before: Text | undefined
    for (const [text, held] of steps) {
      if (text !== before) generation += 1
      before = text
      last = operator.take(orders(text, generation), text, held)
    }
    expect(said(last)).toBe(expected)
  })

  it('names stay those of the version before where the newest has none', () => {
    const operator = new Operator()
    const good = operator.take(orders('old', 1), 'old', [{ text: 'old' }])
    const names = { id: 'orders', host: 'orders.test', realm: 'com.shop' }
    expect(good?.summary).toMatchObject(names)
    expect(operator.take(orders('bad', 2), 'bad', [{ text: 'old' }])?.summary).toMatchObject(names)
  })

  it('what is said of it stands in the message however long that is', () => {
    const long = resourceOf('ApiSpecification', 'orders', {
      spec: { document: aSpecification('orders', { realm_uri: `com.${'x'.repeat(3_000)}` }) },
    })
    const status = new Operator().take(long, 'bad', [{}])
    const ready = status?.conditions.find(({ type }) => type === 'Ready')
    expect(ready?.message).toMatch(/…; nothing serves$/)
    expect(Buffer.byteLength(ready?.message ?? '')).toBeLessThanOrEqual(1024)
    expect(status?.summary?.realm?.length ?? 0).toBeLessThanOrEqual(253)
  })
})

describe('a router that is away', () => {
  const wamp = (isActive = true): Resource =>
    resourceOf('ApiSpecification', 'orders', {
      spec: {
        document: aSpecification('orders', {
          versions: {
            v1: {
              base_path: '/v1',
              is_active: isActive,
              paths: { '/x': { get: { action: { type: 'wamp_call', procedure: 'com.p' } } } },
            },
          },
        }),
      },
    })
  const sessions = (state: 'open' | 'refused' | 'connecting'): DataPlaneReport['realms'] =>
    new Map([['com.shop', { digest: 'r', sessions: [{ url: 'ws://r', state }] }]])
  const degraded = (status: ResourceStatus | undefined): string | undefined =>
    status?.conditions.find(({ type }) => type === 'Degraded')?.message
  const HOLDS = [{ text: 'old' }] as const

  it('degrades the document after half a minute, and takes nothing from Ready', () => {
    const operator = new Operator()
    const first = operator.take(wamp(), 'old', HOLDS, sessions('refused'))
    expect(degraded(first)).toBeUndefined()
    const second = operator.take(wamp(), 'old', HOLDS, sessions('refused'))
    expect(degraded(second)).toBe(
      "g0: no session with the router of realm 'com.shop', operations over WAMP fail there; see the status of the Realm",
    )
    expect(said(second)).toBe('1 at 1/1: Ready')
    expect(degraded(operator.take(wamp(), 'old', HOLDS, sessions('open')))).toBeUndefined()
  })

  type Row = readonly [string, () => Resource, DataPlaneReport['realms'], readonly Held[], boolean]
  it.each<Row>([
    [
      'no session at all',
      wamp,
      new Map([['com.shop', { digest: 'r', sessions: [] }]]),
      HOLDS,
      true,
    ],
    ['one that begins again and again', wamp, sessions('connecting'), HOLDS, true],
    ['one that is open', wamp, sessions('open'), HOLDS, false],
    ['a gateway that does not hold the document', wamp, sessions('refused'), [{}], false],
    ['a gateway that tells nothing of the realm', wamp, new Map(), HOLDS, false],
    ['a document without WAMP', () => orders('old', 1), sessions('refused'), HOLDS, false],
    ['WAMP in a version that is not active', () => wamp(false), sessions('refused'), HOLDS, false],
  ])('%s', (...[, resource, realms, held, isDegraded]) => {
    const operator = new Operator()
    const same = resource()
    operator.take(same, 'old', held, realms)
    expect(degraded(operator.take(same, 'old', held, realms)) !== undefined).toBe(isDegraded)
  })
})

describe('a Service that a forward names and that does not exist', () => {
  const forwarding = resourceOf('ApiSpecification', 'orders', {
    spec: {
      document: aSpecification('orders', {
        versions: {
          v1: {
            base_path: '/v1',
            paths: {
              '/a': { get: { action: { type: 'forward', host: 'stock.shop.svc' }, response: {} } },
              '/b': { get: { action: { type: 'forward', host: 'stock.shop' }, response: {} } },
            },
          },
        },
      }),
    },
  })

  it('is a warning of the status until it is there', () => {
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([REALM, forwarding]))
    const registry = new StatusRegistry()
    let nowMs = 0
    const warnings = (...absent: readonly string[]): readonly string[] => {
      nowMs += 60_000
      const status = registry.update(results, [], nowMs, new Set(absent)).get(KEY)
      return (status?.warnings ?? []).map(({ code, message }) => `${code} ${message}`)
    }
    expect(warnings()).toEqual([])
    expect(warnings('shop/other')).toEqual([])
    expect(warnings('shop/other', 'shop/stock')).toEqual([
      expect.stringContaining('UnknownService there is no Service that the host stock.shop.svc'),
    ])
    expect(warnings('shop/stock')).toHaveLength(1)
    expect(warnings()).toEqual([])
  })
})

describe('an upstream that answers no request', () => {
  const resource = orders('old', 1)
  const says = (origin: string, cause: UpstreamCause = 'refused'): Partial<DataPlaneReport> => ({
    upstreams: new Map([['orders', { origin, cause }]]),
  })
  const UP = says('http://up')
  const WELL = { upstreams: new Map() }
  const holding = (...more: readonly Partial<DataPlaneReport>[]): readonly Held[] =>
    more.map((each) => ({ text: 'old', more: each }))
  const degraded = (held: readonly Held[]): string | undefined => {
    const operator = new Operator()
    operator.take(resource, 'old', held)
    const found = operator.take(resource, 'old', held)?.conditions.find(isDegraded)
    return found && `${found.reason}: ${found.message}`
  }
  const isDegraded = ({ type }: { readonly type: string }): boolean => type === 'Degraded'
  const told = (
    count: string,
    origin = 'http://up',
    why = 'it refuses connections or cannot be reached',
  ) =>
    `UpstreamUnhealthy: ${count} gateways have had no good response from ${origin} for 30 s: ${why}`

  it.each<[string, readonly Held[], string | undefined]>([
    ['at the only gateway', holding(UP), told('1 of 1')],
    ['at none', holding(WELL, WELL), undefined],
    ['at one of two', holding(UP, WELL), undefined],
    ['at two of three', holding(UP, UP, WELL), told('2 of 3')],
    ['at two of four', holding(UP, UP, WELL, WELL), undefined],
    ['at one, where another is too old to say', holding(UP, {}), undefined],
    ['at one, where two hold nothing yet', [...holding(UP), {}, {}], undefined],
    ['at one, where two can not be reached', holding(UP, AWAY, AWAY), undefined],
    ['at two that can not be reached', holding({ ...UP, ...AWAY }, { ...UP, ...AWAY }), undefined],
    ['at gateways that do not hold the document', [{ more: UP }, { more: UP }], undefined],
    [
      'in the words of most, whichever answers first',
      holding(says('http://lie'), UP, UP, WELL),
      told('3 of 4'),
    ],
    [
      'in the same words, where as many say the one as the other',
      holding(says('http://b', 'dns'), says('http://a', 'dns')),
      told('2 of 2', 'http://a', 'its name is not found'),
    ],
    [
      'as sidecars say, which their owner may make say anything',
      holding({ ...UP, ...NEIGHBOUR }, { ...UP, ...NEIGHBOUR }, WELL),
      undefined,
    ],
  ])('%s', (_, held, message) => {
    expect(degraded(held)).toBe(message)
  })

  it('takes nothing from Ready, comes at once and goes again', () => {
    const operator = new Operator()
    operator.take(resource, 'old', holding(WELL))
    const bad = operator.take(resource, 'old', holding(UP))
    expect(said(bad)).toBe('1 at 1/1: Ready')
    const [found] = bad?.conditions.filter(isDegraded) ?? []
    // What `kubectl get` shows.
    const ready = (status: ResourceStatus | undefined): unknown =>
      status?.conditions.find(({ type }) => type === 'Ready')
    expect(found?.reason).toBe('UpstreamUnhealthy')
    expect(ready(bad)).toMatchObject({ reason: 'Degraded', message: found?.message })
    const good = operator.take(resource, 'old', holding(WELL))
    expect(good?.conditions.filter(isDegraded)).toEqual([])
    expect(ready(good)).toMatchObject({ status: 'True', reason: 'Ready' })
  })

  it('changes nothing while gateways say the same', () => {
    const operator = new Operator()
    operator.take(resource, 'old', holding(UP))
    const before = operator.take(resource, 'old', holding(UP))
    expect(operator.take(resource, 'old', holding(says('http://up')))).toBe(before)
  })

  it('stands behind a router that is away', () => {
    const wamp = resourceOf('ApiSpecification', 'orders', {
      spec: {
        document: aSpecification('orders', {
          versions: {
            v1: {
              base_path: '/v1',
              paths: { '/x': { get: { action: { type: 'wamp_call', procedure: 'com.p' } } } },
            },
          },
        }),
      },
    })
    const operator = new Operator()
    const realms = new Map([['com.shop', { digest: 'r', sessions: [] }]])
    operator.take(wamp, 'old', holding(UP), realms)
    const condition = operator.take(wamp, 'old', holding(UP), realms)?.conditions.find(isDegraded)
    expect(condition?.reason).toBe('RouterUnreachable')
    expect(condition?.message).toMatch(
      /see the status of the Realm; 1 of 1 gateways have had no good response/,
    )
    // What was told of the upstream is no word of the router.
    const fresh = new Operator()
    fresh.take(wamp, 'old', holding({ ...UP, realms: new Map() }))
    const first = fresh.take(wamp, 'old', holding(UP), realms)?.conditions.find(isDegraded)
    expect(first?.reason).toBe('UpstreamUnhealthy')
  })
})

describe('a resource that has left our class', () => {
  const RECORDED = {
    observedGeneration: 1,
    operator: 'here/svc-operator',
    id: 'orders',
    host: 'orders.test',
    realm: 'com.shop',
    serving: '1',
    gateways: '2/2',
    conditions: ['Accepted', 'ResolvedRefs', 'Programmed', 'Ready', 'Degraded', 'Stalled'].map(
      (type) => ({
        type,
        status: 'True',
        reason: type,
        message: 'in service',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }),
    ),
  }
  const leaving = (status: object): Resource =>
    resourceOf(
      'ApiSpecification',
      'orders',
      { spec: { gatewayClassName: 'nginx', document: aSpecification('orders') }, status },
      { generation: 2 },
    )

  it('says so, and nothing of it is delivered', () => {
    const resource = leaving(RECORDED)
    const reconciler = new Reconciler({ className: 'svc' })
    const { results, desired } = reconciler.reconcile(cacheOf([REALM, resource]))
    expect(desired.documents.size).toBe(0)
    const book = new StatusRegistry()
    const statuses = book.update(results, [], 1_000)
    const status = statuses.get(KEY)
    expect(
      status?.conditions.map(({ type, status: each, reason }) => `${type}=${each} ${reason}`),
    ).toEqual([
      'Accepted=True Accepted',
      'ResolvedRefs=True ResolvedRefs',
      'Programmed=Unknown Released',
      'Ready=Unknown Released',
    ])
    expect(status?.conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([
      1, 1, 2, 2,
    ])
    expect(status?.summary).toMatchObject({ host: 'orders.test', serving: '–', gateways: '–' })
    expect(book.update(results, [], 9_000)).toBe(statuses)
  })

  it('is ignored by an operator that does not appear to have written it', () => {
    const { results } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([REALM, leaving({ ...RECORDED, operator: '' })]),
    )
    expect([...results.keys()]).toEqual(['Realm/default/shop'])
  })
})
