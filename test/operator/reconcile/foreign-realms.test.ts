// A sidecar belongs to its namespace: nothing of another namespace's Realm reaches it, and nothing it says of one is shown.

import { describe, expect, it } from '@jest/globals'
import type { DataPlane, DataPlaneReport } from '../../../operator/data-plane.ts'
import { select } from '../../../operator/fleet/sync/selection.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../operator/reconcile/status/status-registry.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const SELECTOR = { matchLabels: { app: 'till' } }
const KEY = 'ApiSpecification/shop/orders'

interface World {
  readonly realmNamespace: string
  readonly hasSelector: boolean
}

/** A document of `shop`, and a Realm that admits every namespace. */
const reconcile = ({ realmNamespace, hasSelector }: World): Reconciliation =>
  new Reconciler({ className: 'svc' }).reconcile(
    cacheOf([
      resourceOf(
        'Realm',
        'realm',
        { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } },
        { namespace: realmNamespace },
      ),
      resourceOf(
        'ApiSpecification',
        'orders',
        {
          spec: {
            document: aSpecification('orders'),
            ...(hasSelector && { dataPlaneSelector: SELECTOR }),
          },
        },
        { namespace: 'shop' },
      ),
    ]),
  )

const dataPlaneOf = (namespace: string | undefined): DataPlane => ({
  name: 'pod',
  url: 'http://pod',
  labels: { app: 'till' },
  ...(namespace !== undefined && { namespace }),
})

describe('what a data plane is sent', () => {
  it.each([
    ['bank', undefined, true, ['orders', 'com.shop']],
    ['bank', undefined, false, ['orders', 'com.shop']],
    ['shop', undefined, true, ['orders', 'com.shop']],
    ['shop', 'shop', true, ['orders', 'com.shop']],
    ['shop', 'shop', false, []],
    ['bank', 'shop', true, []],
    ['bank', 'shop', false, []],
    // Not even the Realm's own namespace receives a document of another.
    ['bank', 'bank', true, []],
    ['shop', 'bank', true, []],
    ['bank', 'other', true, []],
  ])(
    'Realm of %s, sidecar of %s, document of shop that selects it: %s',
    (realmNamespace, namespace, hasSelector, expected) => {
      const { desired } = reconcile({ realmNamespace, hasSelector })
      const { documents, realms } = select(desired, dataPlaneOf(namespace))
      expect([...documents.keys(), ...realms.keys()]).toEqual(expected)
    },
  )
})

const reportOf = (
  dataPlane: DataPlane,
  { results }: Reconciliation,
  more: Partial<DataPlaneReport> = {},
): DataPlaneReport => ({
  dataPlane,
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map([['orders', { digest: results.get(KEY)?.digest ?? '', warnings: [] }]]),
  realms: new Map(),
  realmsGiven: new Set(['com.shop']),
  rejected: { documents: new Map(), realms: new Map() },
  ...more,
})

const conditionsIn = (
  statuses: ReadonlyMap<string, ResourceStatus>,
  key: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (statuses.get(key)?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  )

describe('the status of a document that selects a sidecar which may not hold its realm', () => {
  const foreign = reconcile({ realmNamespace: 'bank', hasSelector: true })
  const sidecar = reportOf(dataPlaneOf('shop'), foreign, { documents: new Map() })
  const shared = reportOf({ ...dataPlaneOf(undefined), name: 'shared' }, foreign)

  it('says so, and that nothing serves it', () => {
    const statuses = new StatusRegistry().update(foreign.results, [sidecar], 1000)
    expect(conditionsIn(statuses, KEY)).toEqual({
      Accepted: 'True Accepted',
      ResolvedRefs: 'False RefNotPermitted',
      Programmed: 'False NoDataPlanes',
      Ready: 'False RefNotPermitted',
      Stalled: 'True RefNotPermitted',
    })
  })

  it('names the realm and what to do', () => {
    const statuses = new StatusRegistry().update(foreign.results, [sidecar], 1000)
    const found = statuses.get(KEY)?.conditions.find(({ type }) => type === 'ResolvedRefs')
    expect(found?.message).toBe(
      "a sidecar selected by this document may not receive the realm 'com.shop', which belongs to another namespace: " +
        'a sidecar receives only Realms of its own namespace, as they contain signing keys. ' +
        'Create a Realm in shop, or select gateways of the shared pool',
    )
  })

  it('is programmed all the same where the shared pool serves it', () => {
    const statuses = new StatusRegistry().update(foreign.results, [sidecar, shared], 1000)
    expect(conditionsIn(statuses, KEY)).toMatchObject({
      ResolvedRefs: 'False RefNotPermitted',
      Programmed: 'True Programmed',
      Ready: 'False RefNotPermitted',
    })
  })

  it('follows sidecars that come and go', () => {
    const book = new StatusRegistry()
    const ready = (reports: readonly DataPlaneReport[]): string | undefined =>
      conditionsIn(book.update(foreign.results, reports, 1000), KEY)['Ready']
    expect([ready([shared]), ready([shared, sidecar]), ready([shared])]).toEqual([
      'True Ready',
      'False RefNotPermitted',
      'True Ready',
    ])
  })

  it('does not stay programmed when only such sidecars are left, as after an upgrade', () => {
    const own = reconcile({ realmNamespace: 'shop', hasSelector: true })
    const holding = reportOf(dataPlaneOf('shop'), own)
    const book = new StatusRegistry()
    expect(conditionsIn(book.update(own.results, [holding], 1000), KEY)['Programmed']).toBe(
      'True Programmed',
    )
    const statuses = book.update(foreign.results, [holding], 2000)
    expect(conditionsIn(statuses, KEY)['Programmed']).toBe('False NoDataPlanes')
  })

  it('reports no problem with a realm of its own namespace', () => {
    const own = reconcile({ realmNamespace: 'shop', hasSelector: true })
    const statuses = new StatusRegistry().update(
      own.results,
      [reportOf(dataPlaneOf('shop'), own)],
      1000,
    )
    expect(conditionsIn(statuses, KEY)['Ready']).toBe('True Ready')
  })
})

describe('the status of a Realm', () => {
  const WORDS = 'wss://call-the-helpdesk.example'
  const lie: Partial<DataPlaneReport> = {
    realms: new Map([
      ['com.shop', { digest: 'd', sessions: [{ url: WORDS, state: 'refused', reason: WORDS }] }],
    ]),
    rejected: {
      documents: new Map(),
      realms: new Map([
        [
          'com.shop',
          { digest: 'd', errors: [{ code: 'invalid_value', path: '', message: WORDS }] },
        ],
      ]),
    },
  }

  it.each([
    ['another namespace', 'evil', 'True Ready'],
    ['its own namespace', 'bank', 'False Rejected'],
    ['the shared pool', undefined, 'False Rejected'],
  ])('what a data plane of %s says', (_whose, namespace, expected) => {
    const world = reconcile({ realmNamespace: 'bank', hasSelector: true })
    const report = reportOf(dataPlaneOf(namespace), world, lie)
    const statuses = new StatusRegistry().update(world.results, [report], 1000)
    expect(conditionsIn(statuses, 'Realm/bank/realm')['Ready']).toBe(expected)
    const isShown = JSON.stringify(statuses.get('Realm/bank/realm')?.conditions).includes(WORDS)
    expect(isShown).toBe(expected !== 'True Ready')
  })

  it.each([
    ['its own namespace', 'bank'],
    ['the shared pool', undefined],
  ])('nothing that a data plane of %s says of it without having it', (_whose, namespace) => {
    const world = reconcile({ realmNamespace: 'bank', hasSelector: true })
    const without = reportOf(dataPlaneOf(namespace), world, { ...lie, realmsGiven: new Set() })
    const book = new StatusRegistry()
    const ready = (report: DataPlaneReport): string | undefined =>
      conditionsIn(book.update(world.results, [report], 1000), 'Realm/bank/realm')['Ready']
    const having = { ...without, realmsGiven: new Set(['com.shop']) }
    expect([ready(without), ready(having), ready(without)]).toEqual([
      'True Ready',
      'False Rejected',
      'True Ready',
    ])
  })
})
