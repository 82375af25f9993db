// An operator that starts anew and finds a Realm paused, or without its Secret: what its documents are told, and that
// nothing is taken from data planes.

import { describe, expect, it } from '@jest/globals'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const PAUSED = { 'gateway.svc.dev/paused': 'true' }
const DOCUMENT = 'ApiSpecification/default/orders'
const REALM = 'Realm/default/shop'

const condition = (type: string, reason: string, status = 'True', observedGeneration = 1) => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

const SERVED = {
  conditions: [condition('Accepted', 'Accepted'), condition('Ready', 'Ready')],
}

interface RealmState {
  readonly spec?: object
  readonly status?: object
  readonly generation?: number
  readonly annotations?: object
  readonly namespace?: string
}

const realm = ({ spec, status, ...known }: RealmState = {}): Resource =>
  resourceOf(
    'Realm',
    'shop',
    { spec: { uri: 'com.shop', ...spec }, ...(status && { status }) },
    known,
  )

/** As the first operator had put it. */
const digest = (): string => {
  const orders = resourceOf('ApiSpecification', 'orders', {
    spec: { document: aSpecification('orders') },
  })
  const { desired } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm(), orders]))
  return desired.documents.get('orders')?.digest ?? 'none'
}

const orders = (programmedDigest: string | undefined): Resource =>
  resourceOf('ApiSpecification', 'orders', {
    spec: { document: aSpecification('orders') },
    ...(programmedDigest !== undefined && {
      status: {
        conditions: [condition('Programmed', 'Programmed')],
        programmedGeneration: 1,
        programmedDigest,
      },
    }),
  })

const start = (...resources: readonly Resource[]) => {
  const result = new Reconciler({ className: 'svc' }).reconcile(cacheOf(resources))
  const holding: DataPlaneReport = {
    dataPlane: { name: 'a', url: 'http://a', labels: {} },
    phase: 'synced',
    message: '',
    ready: true,
    documents: new Map([['orders', { digest: digest(), warnings: [] }]]),
    realms: new Map([['com.shop', { digest: 'any', sessions: [] }]]),
    realmsGiven: new Set(['com.shop']),
    rejected: { documents: new Map(), realms: new Map() },
  }
  const statuses = new StatusRegistry().update(result.results, [holding], 1000)
  const said = (key: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      (statuses.get(key)?.conditions ?? []).map(({ type, status, reason, message }) => [
        type,
        `${status} ${reason}: ${message}`,
      ]),
    )
  return { ...result, said }
}

describe('a Realm that is paused when an operator starts', () => {
  it('is put as it is, where it has not changed since it served', () => {
    const { desired, said } = start(
      realm({ annotations: PAUSED, status: SERVED }),
      orders(digest()),
    )
    expect(desired.realms.get('com.shop')?.record.uri).toBe('com.shop')
    expect(said(DOCUMENT)).toMatchObject({ Ready: expect.stringMatching(/^True/) })
    expect(said(REALM)).toMatchObject({ Ready: expect.stringMatching(/^True/) })
  })

  it.each<[string, RealmState]>([
    ['has changed since', { generation: 2, status: SERVED }],
    ['waited already', { status: { conditions: [condition('Ready', 'Pending', 'False')] } }],
    ['was never validated', {}],
  ])('is held, with its documents, where it %s', (_title, state) => {
    const { desired, said } = start(realm({ ...state, annotations: PAUSED }), orders(digest()))
    expect(desired.realms.size).toBe(0)
    expect([...desired.kept.realms]).toEqual(['com.shop'])
    expect(desired.documents.get('orders')?.digest).toBe(digest())
    const told = said(DOCUMENT)
    expect(told['ResolvedRefs']).toMatch(
      /^Unknown Pending: Realm default\/shop is paused.*keep it, and this document.*new gateway can't/,
    )
    expect(told['Programmed']).toMatch(/^True/)
    expect(told['Ready']).toMatch(/^Unknown Pending: Realm default\/shop/)
    expect(told['Stalled']).toBeUndefined()
    expect(said(REALM)['Ready']).toContain('data planes that have it keep it')
  })
})

describe('a Realm whose Secret can not be read when an operator starts', () => {
  const spec = { callbackSecret: { secretRef: { name: 'keys', key: 'k' } } }

  it('is held, with its documents', () => {
    const { desired, said } = start(realm({ spec, status: SERVED }), orders(digest()))
    expect([...desired.kept.realms]).toEqual(['com.shop'])
    expect(desired.documents.has('orders')).toBe(true)
    expect(said(DOCUMENT)['ResolvedRefs']).toMatch(/^Unknown Pending: .*see its conditions/)
    expect(said(DOCUMENT)['Programmed']).toMatch(/^True/)
    expect(said(REALM)['ResolvedRefs']).toMatch(/^False SecretNotFound/)
  })

  it('is reported as before to a document that has not served yet', () => {
    const { said } = start(realm({ spec }), orders(undefined))
    expect(said(DOCUMENT)['ResolvedRefs']).toMatch(/^False RealmNotFound: .*not valid itself/)
  })

  it.each([
    [
      'admitted',
      { from: 'All' },
      /^Unknown Pending: the realm 'com.shop' can't be loaded as it is now, /,
    ],
    ['not admitted', { from: 'Same' }, /^False RealmNotFound: there is no realm/],
  ])('is not named to another namespace, %s', (_title, allowedNamespaces, words) => {
    const elsewhere = realm({ spec: { ...spec, allowedNamespaces }, namespace: 'team' })
    const { desired, said } = start(elsewhere, orders(digest()))
    expect(desired.documents.has('orders')).toBe(true)
    expect(said(DOCUMENT)['ResolvedRefs']).toMatch(words)
    expect(said(DOCUMENT)['ResolvedRefs']).not.toContain('team')
  })
})

describe('a Realm whose uri an older one has named since', () => {
  const rival = (status: object | undefined): Resource =>
    resourceOf(
      'Realm',
      'rival',
      { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } }, ...(status && { status }) },
      { namespace: 'team', createdAt: 1 },
    )

  const REFUSED = { conditions: [condition('Accepted', 'Conflicted', 'False')] }

  it('keeps it when an operator starts again', () => {
    const { desired, said } = start(realm({ status: SERVED }), rival(REFUSED), orders(digest()))
    expect(desired.realms.get('com.shop')?.namespace).toBe('default')
    expect(said('Realm/team/rival')['Accepted']).toMatch(/^False Conflicted/)
  })

  it('loses it where no operator has accepted it before', () => {
    const { desired } = start(realm(), rival(REFUSED))
    expect(desired.realms.get('com.shop')?.namespace).toBe('team')
  })
})
