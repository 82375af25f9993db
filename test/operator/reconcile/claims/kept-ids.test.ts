// Tests which ids and uris stay in service without a version to send: those whose owner may have brought them there.

import { describe, expect, it } from '@jest/globals'
import type { DesiredSet } from '../../../../operator/desired-set.ts'
import { Reconciler } from '../../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../../support/resources.ts'

const condition = (type: string, status: string, reason: string): object => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

const unprogrammed = (reason: string): object => ({
  conditions: [
    condition('Accepted', reason === 'Invalid' ? 'False' : 'True', 'Accepted'),
    condition('Programmed', 'False', reason),
  ],
})

const programmed = { ...unprogrammed('Pending'), programmedGeneration: 1, programmedDigest: 'd' }

/** The status of a resource, and whether a data plane may have loaded it. */
const MAY_BE_LOADED: readonly (readonly [string, object | undefined, boolean])[] = [
  ['it was not validated', undefined, true],
  ['programmed', programmed, true],
  ['Pending', unprogrammed('Pending'), true],
  ['PartiallyProgrammed', unprogrammed('PartiallyProgrammed'), true],
  ['Unreachable', unprogrammed('Unreachable'), true],
  ['Rejected', unprogrammed('Rejected'), true],
  ['Invalid', unprogrammed('Invalid'), false],
  ['Unresolved', unprogrammed('Unresolved'), false],
  ['NoDataPlanes', unprogrammed('NoDataPlanes'), false],
]

const BROKEN = { host: 7 }

const orders = (namespace: string, more: object, status?: object): Resource =>
  resourceOf(
    'ApiSpecification',
    'orders',
    { spec: { document: aSpecification('constructor', more) }, ...(status && { status }) },
    { namespace, createdAt: namespace === 'shop' ? 1 : 5, uid: `uid-${namespace}` },
  )

const PAUSED = { 'gateway.svc.dev/paused': 'true' }

/** Paused before it was ever put: there is no version of it to put. */
const realm = (namespace: string, annotations: object, status?: object): Resource =>
  resourceOf(
    'Realm',
    'shop',
    { spec: { uri: 'com.shop' }, ...(status && { status }) },
    { namespace, annotations, createdAt: namespace === 'shop' ? 1 : 5, uid: `uid-${namespace}` },
  )

describe('what its owner deletes is deleted, whichever resource also names it', () => {
  it.each<[string, object | undefined]>([
    ['not validated', undefined],
    ['validated, never held', unprogrammed('Invalid')],
    ['on its way elsewhere', unprogrammed('Pending')],
    ['held under another id', programmed],
  ])('a document: the other one is broken and %s', (_name, status) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const other = orders('evil', BROKEN, status)
    const before = reconciler.reconcile(
      cacheOf([realm('shop', {}), orders('shop', {}), other]),
    ).desired
    expect([...before.documents.keys()]).toEqual(['constructor'])
    const after = reconciler.reconcile(cacheOf([realm('shop', {}), other])).desired
    expect([after.documents.size, after.kept.documents.size]).toEqual([0, 0])
  })

  it.each<[string, object | undefined]>([
    ['not validated', undefined],
    ['recorded as accepted once', { conditions: [condition('Accepted', 'True', 'Accepted')] }],
  ])('a realm: the other one is paused and %s', (_name, status) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const other = realm('evil', PAUSED, status)
    const before = reconciler.reconcile(cacheOf([realm('shop', {}), other])).desired
    expect([...before.realms.keys()]).toEqual(['com.shop'])
    const after = reconciler.reconcile(cacheOf([other])).desired
    expect([after.realms.size, after.kept.realms.size]).toEqual([0, 0])
  })
})

describe('after a restart a broken document is kept where a data plane may hold it', () => {
  it.each(MAY_BE_LOADED)('%s', (_name, status, expected) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const isKept = (recorded: object | undefined): boolean =>
      reconciler
        .reconcile(cacheOf([realm('shop', {}), orders('shop', BROKEN, recorded)]))
        .desired.kept.documents.has('constructor')
    expect(isKept(status)).toBe(expected)
    // What this operator writes meanwhile does not take it away.
    expect(isKept(unprogrammed('Invalid'))).toBe(expected)
  })

  it('for the one that served it, though an older one that never did names it too', () => {
    const { desired } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([
        orders('shop', BROKEN, unprogrammed('Invalid')),
        orders('late', BROKEN, programmed),
      ]),
    )
    expect([...desired.kept.documents]).toEqual(['constructor'])
  })

  it.each([
    ['the older one first', ['shop', 'late']],
    ['the younger one first', ['late', 'shop']],
  ])('for the oldest of several that may have served it: %s', (_name, order) => {
    const both = order.map((namespace) => orders(namespace, BROKEN, programmed))
    const [shop, late] = ['shop', 'late'].map((namespace) => orders(namespace, BROKEN, programmed))
    const isKept = (...then: readonly (Resource | undefined)[]): boolean => {
      const reconciler = new Reconciler({ className: 'svc' })
      expect(reconciler.reconcile(cacheOf(both)).desired.kept.documents.size).toBe(1)
      const left = then.filter((resource) => resource !== undefined)
      return reconciler.reconcile(cacheOf(left)).desired.kept.documents.size === 1
    }
    expect([isKept(shop), isKept(late)]).toEqual([true, false])
  })

  it.each<[string, object | undefined, boolean]>([
    ['it was not validated', undefined, true],
    ['bad now', { conditions: [condition('Accepted', 'False', 'Invalid')] }, true],
    ["another's uri", { conditions: [condition('Accepted', 'False', 'Conflicted')] }, false],
  ])('a realm: %s', (_name, status, expected) => {
    const { desired } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm('shop', PAUSED, status)]),
    )
    expect(desired.kept.realms.has('com.shop')).toBe(expected)
  })
})

describe('after a restart a document whose id is not known holds deletes back', () => {
  it.each(MAY_BE_LOADED)('%s', (_name, status, expected) => {
    const documentFrom = { configMap: { name: 'gone', key: 'k' } }
    const reconciler = new Reconciler({ className: 'svc' })
    const isHeld = (recorded: object | undefined): boolean => {
      const riddle = resourceOf('ApiSpecification', 'orders', {
        spec: { documentFrom },
        status: recorded,
      })
      return reconciler.reconcile(cacheOf([riddle])).desired.holdDeletes !== undefined
    }
    expect(isHeld(status)).toBe(expected)
    // What this operator writes meanwhile is no proof of what was held before.
    const isRecorded = status !== undefined && status !== programmed
    expect(isHeld(isRecorded ? unprogrammed('Invalid') : status)).toBe(expected)
  })

  it('unless its status tells the id: then that one is kept, and no other', () => {
    const documentFrom = { configMap: { name: 'gone', key: 'k' } }
    const summary = { id: 'orders', serving: '–', gateways: '–' }
    const unread = (status: object): Resource =>
      resourceOf('ApiSpecification', 'orders', { spec: { documentFrom }, status })
    const desiredOf = (status: object): DesiredSet =>
      new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm('shop', {}), unread(status)]))
        .desired
    for (const status of [programmed, unprogrammed('Pending')]) {
      const desired = desiredOf({ ...status, ...summary })
      expect(desired.holdDeletes).toBeUndefined()
      expect([...desired.kept.documents]).toEqual(['orders'])
    }
    const refused = { conditions: [condition('Accepted', 'False', 'Conflicted')] }
    const another = desiredOf({ ...programmed, ...summary, ...refused })
    expect([...another.kept.documents]).toEqual([])
    expect(another.holdDeletes).toBeDefined()
  })

  it('and no other document gets it meanwhile', () => {
    const documentFrom = { configMap: { name: 'gone', key: 'k' } }
    const status = { ...programmed, id: 'constructor', serving: '1', gateways: '1/1' }
    const unread = resourceOf(
      'ApiSpecification',
      'orders',
      { spec: { documentFrom }, status },
      { namespace: 'evil', createdAt: 1, uid: 'uid-evil' },
    )
    const younger = orders('default', {})
    const { desired, results } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm('default', {}), unread, younger]),
    )
    expect(desired.documents.size).toBe(0)
    expect(results.get('ApiSpecification/default/orders')?.accepted.reason).toBe('Conflicted')
  })
})
