// What the data planes answer, turned into conditions.

import { describe, expect, it } from '@jest/globals'
import type { Warning } from '../../../language/problem.ts'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../operator/reconcile/status/status-registry.ts'
import { conditionOf } from '../../../operator/resource/condition.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const KEY = 'ApiSpecification/default/orders'
const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })
const orders = resourceOf('ApiSpecification', 'orders', {
  spec: { document: aSpecification('orders') },
})

const reconciled = (...more: readonly Resource[]): ReturnType<Reconciler['reconcile']> =>
  new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, orders, ...more]))

const { results, desired } = reconciled()
const digest = desired.documents.get('orders')?.digest ?? ''

const plane = (
  name: string,
  state: 'holds' | 'refuses' | 'lacks' | 'shadowed',
  more: Partial<DataPlaneReport> = {},
): DataPlaneReport => ({
  dataPlane: { name, url: `http://${name}`, labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map(
    state === 'lacks' || state === 'refuses'
      ? []
      : [['orders', { digest, warnings: state === 'shadowed' ? [SHADOWED] : [] }]],
  ),
  realms: new Map(),
  realmsGiven: new Set(),
  rejected: {
    documents: new Map(
      state === 'refuses' ? [['orders', { digest, errors: [error(`not on ${name}`)] }]] : [],
    ),
    realms: new Map(),
  },
  ...more,
})

const SHADOWED = { code: 'Shadowed', path: '/versions/v1', message: 'older ones have it' } as const
const error = (message: string): { code: 'invalid_value'; path: string; message: string } => ({
  code: 'invalid_value',
  path: '/host',
  message,
})

const conditionsOf = (statuses: ReadonlyMap<string, ResourceStatus>): unknown =>
  statuses.get(KEY)?.conditions

const programmed = (statuses: ReadonlyMap<string, ResourceStatus>): string => {
  const found = statuses.get(KEY)?.conditions.find(({ type }) => type === 'Programmed')
  return `${found?.status ?? ''} ${found?.reason ?? ''}: ${found?.message ?? ''}`
}

describe('Programmed', () => {
  const AWAY = { phase: 'unreachable', ready: false, message: 'nothing listens there' } as const
  const FRESH = { phase: 'withheld', ready: false } as const
  it.each<[string, readonly DataPlaneReport[], string]>([
    [
      'nobody',
      [],
      'False NoDataPlanes: no data plane is selected: start one, or change dataPlaneSelector so that it matches one that runs; nothing serves',
    ],
    ['one', [plane('a', 'holds')], 'True Programmed: loaded by every data plane that is ready'],
    [
      'one that is shadowed',
      [plane('a', 'shadowed')],
      'True Programmed: loaded by every data plane that is ready',
    ],
    [
      'some',
      [plane('a', 'holds'), plane('b', 'lacks')],
      'False PartiallyProgrammed: loaded by some data planes that are ready, but not by all; generation 1 serves where it is loaded',
    ],
    [
      'not yet',
      [plane('a', 'lacks')],
      'False Pending: being sent to the data planes; nothing serves',
    ],
    [
      'refused by one, which is named whichever came first',
      [plane('b', 'refuses'), plane('a', 'refuses'), plane('c', 'holds')],
      'False PartiallyProgrammed: rejected by a and others: /host: not on a; generation 1 serves where it is loaded',
    ],
    [
      'refused',
      [plane('a', 'refuses')],
      'False Rejected: rejected by a: /host: not on a; nothing serves',
    ],
    [
      'refused by one that is not ready, and held by one that is',
      [plane('a', 'refuses', FRESH), plane('b', 'holds')],
      'True Programmed: loaded by every data plane that is ready',
    ],
    [
      'refused by the only one, which is not ready',
      [plane('a', 'refuses', FRESH)],
      'False Rejected: rejected by a: /host: not on a; nothing serves',
    ],
    [
      'away',
      [plane('b', 'holds', AWAY), plane('a', 'holds', AWAY)],
      'False Unreachable: a: nothing listens there (none of the others responds either); no version is known to serve',
    ],
    [
      'one away, one holds',
      [plane('a', 'lacks', AWAY), plane('b', 'holds')],
      'True Programmed: loaded by every data plane that is ready',
    ],
    [
      'a sidecar of another namespace is not asked',
      [
        plane('a', 'lacks', {
          dataPlane: { name: 'a', url: 'http://a', labels: {}, namespace: 'other' },
        }),
        plane('b', 'holds'),
      ],
      'True Programmed: loaded by every data plane that is ready',
    ],
  ])('%s', (_name, reports, expected) => {
    expect(programmed(new StatusRegistry().update(results, reports, 1000))).toBe(expected)
  })

  it.each<[string, DataPlaneReport, boolean]>([
    ['a fresh one that is kept back as it refuses', plane('b', 'refuses', FRESH), true],
    ['one that goes away', plane('a', 'lacks', AWAY), true],
    ['a ready one that refuses', plane('b', 'refuses'), false],
  ])('once True: %s', (_name, report, stays) => {
    const book = new StatusRegistry()
    const first = book.update(results, [plane('a', 'holds')], 1000)
    const second = book.update(results, [plane('a', 'holds'), report], 90_000)
    expect(programmed(second).startsWith('True')).toBe(stays)
    expect(conditionsOf(second) === conditionsOf(first)).toBe(stays)
  })

  it('the words follow what the data plane says', () => {
    const book = new StatusRegistry()
    const first = book.update(results, [plane('a', 'lacks', AWAY)], 1000)
    const second = book.update(results, [plane('a', 'lacks', { ...AWAY, message: 'TLS' })], 2000)
    expect([programmed(first), programmed(second)]).toEqual([
      'False Unreachable: a: nothing listens there; no version is known to serve',
      'False Unreachable: a: TLS; no version is known to serve',
    ])
  })

  it('data planes that come and go change a count, and no condition', () => {
    const book = new StatusRegistry()
    const first = book.update(results, [plane('a', 'holds')], 1000).get(KEY)
    const fleets = [
      [plane('a', 'holds'), plane('b', 'lacks', { phase: 'connecting', ready: false })],
      [plane('a', 'holds'), plane('b', 'lacks', { phase: 'syncing', ready: false })],
      [plane('a', 'holds'), plane('b', 'holds')],
      [plane('b', 'holds')],
      [],
    ]
    const statuses = fleets.map((fleet) => book.update(results, fleet, 99_000).get(KEY))
    for (const status of statuses) expect(status?.conditions).toBe(first?.conditions)
    expect(statuses.map((status) => status?.summary?.gateways)).toEqual([
      '1/2',
      '1/2',
      '2/2',
      '1/1',
      '0/0',
    ])
    book.update(results, [plane('b', 'holds')], 99_500)
    expect(book.isWaiting).toBe(false)
  })

  it('none for half a minute is reported: it serves nowhere', () => {
    const book = new StatusRegistry()
    const first = book.update(results, [plane('a', 'holds')], 1000).get(KEY)
    expect(book.update(results, [], 2000).get(KEY)?.conditions).toBe(first?.conditions)
    expect(book.isWaiting).toBe(true)
    expect(programmed(book.update(results, [], 31_900))).toMatch(/^True/)
    const none = book.update(results, [], 32_000)
    expect(programmed(none)).toMatch(/^False NoDataPlanes: .*; nothing serves$/)
    expect(none.get(KEY)?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NoDataPlanes' }),
    )
    expect(programmed(book.update(results, [plane('a', 'holds')], 33_000))).toMatch(/^True/)
  })

  it('one of ten after the other: three sets of conditions, not ten', () => {
    const book = new StatusRegistry()
    const names = Array.from({ length: 10 }, (_, i) => `p${i}`)
    const seen = new Set<unknown>()
    for (let count = 0; count <= names.length; count += 1) {
      const fleet = names.map((name, i) => plane(name, i < count ? 'holds' : 'lacks'))
      seen.add(conditionsOf(book.update(results, fleet, 1000 + count)))
    }
    expect(seen.size).toBe(3)
  })
})

describe('errors and warnings', () => {
  it('eight of each at most; the condition tells how many there are', () => {
    const unknown = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x${i}`, 1]))
    const many = resourceOf(
      'ApiSpecification',
      'orders',
      { spec: { document: aSpecification('orders', unknown) } },
      { generation: 2 },
    )
    const result = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, many]))
    const status = new StatusRegistry().update(result.results, [], 1000).get(KEY)
    expect(status?.warnings).toHaveLength(8)
    expect(status?.conditions[0]?.message).toContain('valid, with 12 warnings: /spec/document/x0: ')
    const paths = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`/p${i}`, 5]))
    const broken = { versions: { v1: { base_path: '/v1', paths } } }
    const bad = resourceOf('ApiSpecification', 'orders', {
      spec: { document: aSpecification('orders', broken) },
    })
    const worse = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, bad]))
    const wrong = new StatusRegistry().update(worse.results, [], 1000).get(KEY)
    expect(wrong?.errors).toHaveLength(8)
    expect(wrong?.conditions[0]?.message).toContain('(and 11 more)')
  })

  it('of the data planes: a refusal, routes that another has', () => {
    const book = new StatusRegistry()
    const refused = book.update(results, [plane('a', 'refuses')], 1000).get(KEY)
    expect(refused?.errors).toEqual([{ ...error('not on a'), path: '/spec/document/host' }])
    const shadowed = book.update(results, [plane('a', 'shadowed')], 2000).get(KEY)
    expect(shadowed?.errors).toEqual([])
    expect(shadowed?.warnings).toMatchObject([
      { code: 'Shadowed', path: '/spec/document/versions/v1' },
    ])
    // The API that has the route may be another namespace's.
    expect(shadowed?.warnings[0]?.message).not.toContain(SHADOWED.message)
    const fine = book.update(results, [plane('a', 'holds')], 3000).get(KEY)
    expect(fine?.warnings).toEqual([])
  })

  it('of the data planes: networks that are compared with the address of the connection', () => {
    const CONNECTION = { code: 'ConnectionAddress', path: '/defaults', message: 'theirs' } as const
    const holding = (name: string, warnings: readonly Warning[]): DataPlaneReport =>
      plane(name, 'holds', { documents: new Map([['orders', { digest, warnings }]]) })
    const book = new StatusRegistry()
    const warned = (...reports: readonly DataPlaneReport[]): unknown =>
      book.update(results, reports, 1000).get(KEY)?.warnings
    expect(warned(holding('a', []), holding('b', []))).toEqual([])
    const own = {
      code: 'ConnectionAddress',
      path: '/spec/document/defaults',
      message: expect.stringContaining('--trusted-proxies') as unknown,
    }
    expect(warned(holding('a', []), holding('b', [CONNECTION]))).toEqual([own])
    expect(warned(holding('a', [CONNECTION]), holding('b', [CONNECTION]))).toEqual([own])
    expect(warned(holding('a', [CONNECTION]), plane('b', 'shadowed'))).toMatchObject([
      { code: 'Shadowed' },
      { code: 'ConnectionAddress' },
    ])
    const many = Array.from({ length: 8 }, (_, at) => ({ ...CONNECTION, path: `/versions/v${at}` }))
    expect(warned(holding('a', many), plane('b', 'shadowed'))).toMatchObject([
      { code: 'Shadowed' },
      ...many.slice(1).map(({ code }) => ({ code })),
    ])
    const { conditions } = book.update(results, [holding('a', [CONNECTION])], 2000).get(KEY) ?? {}
    expect(conditionOf(conditions ?? [], 'Ready')).toMatchObject({ status: 'True' })
    expect(warned(holding('a', []))).toEqual([])
  })
})

describe('the cost of a report', () => {
  it('only the statuses that it concerns are other objects', () => {
    const others = Array.from({ length: 20 }, (_, i) =>
      resourceOf('ApiSpecification', `d${i}`, {
        spec: { document: aSpecification(`d${i}`) },
      }),
    )
    const result = reconciled(...others)
    const holding = (name: string, without = ''): DataPlaneReport => ({
      ...plane(name, 'holds'),
      documents: new Map(
        [...result.desired.documents].flatMap(([id, document]) =>
          id === without ? [] : [[id, { digest: document.digest, warnings: [] }]],
        ),
      ),
    })
    const book = new StatusRegistry()
    const first = book.update(result.results, [holding('a', 'd3'), holding('b')], 1000)
    const second = book.update(result.results, [holding('a'), holding('b')], 2000)
    const changed = [...second].filter(([key, status]) => first.get(key) !== status)
    expect(changed.map(([key]) => key)).toEqual(['ApiSpecification/default/d3'])
  })
})
