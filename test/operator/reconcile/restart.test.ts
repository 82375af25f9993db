// An operator that starts anew: what its predecessor wrote, and what data planes hold, is what it goes on from.

import { describe, expect, it } from '@jest/globals'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../operator/reconcile/status/status-registry.ts'
import { readResource } from '../../../operator/resource/read-resource.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { syncedReport } from '../../support/synced-report.ts'

const KEY = 'ApiSpecification/default/orders'
const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })

const CONDITION = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

type Statuses = ReadonlyMap<string, ResourceStatus>

interface Known {
  readonly generation?: number
  readonly annotations?: object
  readonly createdAt?: number
  readonly uid?: string
  readonly namespace?: string
}

/** What the operator would write, as the API server would give it back. */
const statusOf = (statuses: Statuses, key = KEY): object => {
  const status = statuses.get(key)
  const { conditions = [], errors = [], warnings = [], programmed } = status ?? {}
  return {
    observedGeneration: status?.result.resource.metadata.generation,
    // In an order of its own.
    conditions: conditions.toReversed(),
    errors,
    warnings,
    ...(programmed && {
      programmedGeneration: programmed.generation,
      programmedDigest: programmed.digest,
    }),
  }
}

const orders = (spec: object, status?: object, known: Known = {}): Resource =>
  resourceOf('ApiSpecification', 'orders', { spec, ...(status && { status }) }, known)

const document = (more: object = {}): object => ({ document: aSpecification('orders', more) })

const connecting = (result: Reconciliation): DataPlaneReport =>
  syncedReport(result.desired, { phase: 'connecting', ready: false, documents: new Map() })

const isIn = (statuses: Statuses, key = KEY): readonly string[] =>
  (statuses.get(key)?.conditions ?? []).map(
    ({ type, status, reason, lastTransitionTime }) =>
      `${type}=${status} ${reason} ${lastTransitionTime.slice(17, 19)}`,
  )

/** A first operator that has brought `spec` into service, at second 1. */
const firstOperator = (
  spec: object = document(),
  more: readonly Resource[] = [],
): { readonly statuses: Statuses; readonly result: Reconciliation } => {
  const result = new Reconciler({ className: 'svc' }).reconcile(
    cacheOf([realm, orders(spec), ...more]),
  )
  const statuses = new StatusRegistry().update(result.results, [syncedReport(result.desired)], 1000)
  return { result, statuses }
}

describe('statuses after a restart', () => {
  it('nothing is written: the conditions are the very ones that stand there, in whichever order data planes answer', () => {
    const { statuses } = firstOperator()
    const result = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, orders(document(), statusOf(statuses))]),
    )
    const book = new StatusRegistry()
    const recorded = result.results.get(KEY)?.resource
    const expected = recorded?.kind === 'ApiSpecification' ? recorded.conditions : undefined
    expect(expected?.map(({ type }) => type)).toEqual([
      'Accepted',
      'ResolvedRefs',
      'Programmed',
      'Ready',
    ])
    const steps: readonly (readonly DataPlaneReport[])[] = [
      [],
      [connecting(result)],
      [syncedReport(result.desired, { phase: 'unreachable', ready: false })],
      [syncedReport(result.desired, { phase: 'syncing', ready: false })],
      [syncedReport(result.desired)],
    ]
    for (const [i, reports] of steps.entries()) {
      const status = book.update(result.results, reports, 9_000 + 1000 * i).get(KEY)
      expect(status?.conditions).toBe(expected)
      expect(status?.programmed).toEqual(statuses.get(KEY)?.programmed)
    }
  })

  it.each<[string, Partial<DataPlaneReport>]>([
    ['refused', {}],
    ['unreachable', { phase: 'unreachable', ready: false, message: 'nothing listens there' }],
    ['not ready', { phase: 'syncing', ready: false, documents: new Map() }],
    ['without it', { documents: new Map() }],
  ])('%s: said once, and not again before the data planes were called', (name, more) => {
    const first = new Reconciler({ className: 'svc' })
    const reconciled = first.reconcile(cacheOf([realm, orders(document())]))
    const digest = reconciled.desired.documents.get('orders')?.digest ?? ''
    const errors = [{ code: 'invalid_value', path: '/host', message: 'too new for me' }] as const
    const documents = new Map(name === 'refused' ? [['orders', { digest, errors }]] : [])
    const rejected = { documents, realms: new Map() }
    const before = new StatusRegistry().update(
      reconciled.results,
      [syncedReport(reconciled.desired, { ...more, rejected })],
      1000,
    )
    const again = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, orders(document(), statusOf(before))]),
    )
    const book = new StatusRegistry()
    const expected = before.get(KEY)
    for (const reports of [
      [],
      [connecting(again)],
      [syncedReport(again.desired, { ...more, rejected })],
    ]) {
      const status = book.update(again.results, reports, 5000).get(KEY)
      expect(status?.conditions).toEqual(expected?.conditions)
      expect(status?.errors).toEqual(expected?.errors)
      expect(status?.warnings).toEqual(expected?.warnings)
    }
    expect(book.isWaiting).toBe(false)
  })

  it('what was said counts for 15 s, also when no data plane ever comes', () => {
    const { statuses } = firstOperator()
    const pending = statusOf(statuses) as { conditions: { type: string }[] }
    const stale = {
      ...pending,
      conditions: pending.conditions.map((condition) =>
        condition.type === 'Programmed'
          ? { ...condition, status: 'False', reason: 'Pending', message: 'being sent' }
          : condition,
      ),
    }
    const { results } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, orders(document(), stale)]),
    )
    const book = new StatusRegistry()
    const programmed = (nowMs: number): string | undefined =>
      book
        .update(results, [], nowMs)
        .get(KEY)
        ?.conditions.find(({ type }) => type === 'Programmed')?.reason
    expect([programmed(0), book.isWaiting]).toEqual(['Pending', true])
    expect([programmed(15_000), book.isWaiting]).toEqual(['NoDataPlanes', false])
  })

  it('of another generation, of another resource of that name, or by default: it counts for nothing', () => {
    const { statuses } = firstOperator()
    const reconciler = new Reconciler({ className: 'svc' })
    const book = new StatusRegistry()
    const at = (resource: Resource, nowMs: number): Statuses => {
      const result = reconciler.reconcile(cacheOf([realm, resource]))
      return book.update(result.results, [connecting(result)], nowMs)
    }
    const newer = at(orders(document(), statusOf(statuses), { generation: 2 }), 5000)
    expect(isIn(newer)).toContain('Programmed=False Pending 05')
    const anew = at(orders(document(), {}, { uid: 'another' }), 7000)
    expect(isIn(anew)).toContain('Accepted=True Accepted 07')
    const pending = {
      conditions: [
        {
          type: 'Accepted',
          status: 'Unknown',
          reason: 'Pending',
          message: 'none yet',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ],
    }
    expect(isIn(at(orders(document(), pending, { uid: 'third' }), 8000))[0]).toBe(
      'Accepted=True Accepted 08',
    )
  })

  it('what was wrong with an older generation is not wrong with this one', () => {
    const broken = { document: { ...aSpecification('orders'), host: 5 } }
    const { statuses } = firstOperator(broken)
    expect(statuses.get(KEY)?.errors).toHaveLength(1)
    const result = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, orders(document(), statusOf(statuses), { generation: 2 })]),
    )
    const book = new StatusRegistry()
    expect(book.update(result.results, [connecting(result)], 5000).get(KEY)?.errors).toEqual([])
    expect(book.isWaiting).toBe(false)
  })

  it('a Secret that was rotated meanwhile: Programmed is not what it was', () => {
    const secret = (version: string): Resource =>
      resourceOf('Secret', 'keys', { stringData: { k: 'v' } }, { resourceVersion: version })
    const spec = { ...document(), variablesFrom: [{ secretRef: { name: 'keys' } }] }
    const { statuses } = firstOperator(spec, [secret('1')])
    const result = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, orders(spec, statusOf(statuses)), secret('2')]),
    )
    const next = new StatusRegistry().update(result.results, [connecting(result)], 5000)
    expect(isIn(next)).toContain('Programmed=False Pending 05')
  })

  it('a realm whose router refused says so until its data planes were called', () => {
    const sessions = [{ url: 'ws://r', state: 'refused', reason: 'no' }] as const
    const { result } = firstOperator()
    const realms = new Map([['com.shop', { digest: 'd', sessions }]])
    const before = new StatusRegistry().update(
      result.results,
      [syncedReport(result.desired, { realms })],
      1000,
    )
    const status = statusOf(before, 'Realm/default/shop')
    const again = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' }, status })]),
    )
    const book = new StatusRegistry()
    const early = book.update(again.results, [connecting(again)], 5000)
    expect(isIn(early, 'Realm/default/shop')).toContain('Ready=False Unreachable 01')
    const late = book.update(again.results, [syncedReport(again.desired)], 6000)
    expect(isIn(late, 'Realm/default/shop')).toContain('Ready=True Ready 06')
  })
})

describe('what stands in a status', () => {
  const known = { uid: 'u', resourceVersion: '1', generation: 1, createdAt: 1 }
  const manifest = (status: unknown): object => ({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    spec: document(),
    metadata: { name: 'orders' },
    status,
  })

  it('is not believed where it stands in a file', () => {
    const status = statusOf(firstOperator().statuses)
    const file = readResource(manifest(status), known, { file: 'a.yaml', line: 1, column: 1 })
    const object = readResource(manifest(status), known)
    expect(file).not.toHaveProperty('resource.programmed')
    expect(file).not.toHaveProperty('resource.conditions')
    expect(object).toHaveProperty('resource.programmed.generation', 1)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'x'],
    ['other types', { conditions: 5, errors: 'x', warnings: {}, programmedDigest: 7 }],
    ['half a version', { programmedDigest: 'd', conditions: [5, {}, { type: 'constructor' }] }],
    ['half a condition', { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }] }],
    ['no such status', { conditions: [{ ...CONDITION, status: 'toString' }] }],
    ['no such type', { conditions: [{ ...CONDITION, type: '__proto__' }] }],
    ['half an error', { errors: [{ code: 'x', path: '/a' }, null] }],
  ])('is left out where it is %s', (_name, status) => {
    const read = readResource(manifest(status), known)
    expect(read).not.toHaveProperty('resource.programmed')
    expect(read).not.toHaveProperty('resource.conditions.0')
    expect(read).not.toHaveProperty('resource.errors.0')
  })

  it('the class is reported also where the rest can not be read', () => {
    const read = readResource({ ...manifest({}), spec: { gatewayClassName: 'b', x: 1 } }, known)
    expect(read).toMatchObject({ resource: { className: 'b', checked: { problems: [{}] } } })
  })
})

describe('last good versions after a restart', () => {
  const broken = { document: { ...aSpecification('orders'), host: 5 } }
  const second = { generation: 2 }

  const restarted = (
    resources: readonly Resource[],
  ): { readonly reconciler: Reconciler; readonly result: Reconciliation } => {
    const reconciler = new Reconciler({ className: 'svc' })
    return { reconciler, result: reconciler.reconcile(cacheOf(resources)) }
  }

  it('is kept, said to serve, missing; recovered by its digest and nothing else', async () => {
    const { statuses, result: before } = firstOperator()
    const digest = statuses.get(KEY)?.programmed?.digest ?? ''
    const resources = [realm, orders(broken, statusOf(statuses), second)]
    const { reconciler, result } = restarted(resources)
    expect([...result.desired.kept.documents]).toEqual(['orders'])
    expect(result.results.get(KEY)?.serving).toEqual({ generation: 1, digest })
    expect(result.missing).toEqual([{ key: KEY, id: 'orders', digest, namespace: 'default' }])
    expect(reconciler.reconcile(cacheOf(resources)).missing[0]).toBe(result.missing[0])
    const [missing] = result.missing
    if (missing === undefined) throw new Error('nothing is missing')
    const source = before.desired.documents.get('orders')?.spec ?? {}
    const attempts: readonly (readonly [typeof missing, ValueMap])[] = [
      [missing, { ...source, name: 'forged' }],
      [missing, {}],
      [{ ...missing, digest: 'other' }, source],
      [{ ...missing, key: 'ApiSpecification/default/constructor' }, source],
    ]
    for (const [version, text] of attempts)
      expect(await reconciler.recover(version, text)).toBe(false)
    expect(await reconciler.recover(missing, source)).toBe(true)
    expect(await reconciler.recover(missing, source)).toBe(false)
    const after = reconciler.reconcile(cacheOf(resources))
    expect(after.missing).toEqual([])
    expect(after.desired.documents.get('orders')).toEqual(before.desired.documents.get('orders'))
    expect(after.results.get(KEY)?.serving).toEqual({ generation: 1, digest })
  })

  it('needs no text where the resource still says it, and only its realm is gone', () => {
    const { statuses, result: before } = firstOperator()
    const { result } = restarted([orders(document(), statusOf(statuses))])
    expect(result.missing).toEqual([])
    expect(result.desired.documents.get('orders')).toEqual(before.desired.documents.get('orders'))
    expect(result.results.get(KEY)?.resolvedRefs.reason).toBe('RealmDeleted')
  })

  it('nor where an older document has taken its routes', () => {
    const { statuses } = firstOperator(document({ host: 'h.test' }))
    const older = resourceOf(
      'ApiSpecification',
      'a',
      { spec: { document: aSpecification('a', { host: 'h.test' }) } },
      { createdAt: 1 },
    )
    const { result } = restarted([
      realm,
      older,
      orders(document({ host: 'h.test' }), statusOf(statuses)),
    ])
    expect(result.results.get(KEY)?.accepted.reason).toBe('Conflicted')
    expect([...result.desired.documents.keys()].sort()).toEqual(['a', 'orders'])
  })

  it('is what a paused resource serves', async () => {
    const { statuses, result: before } = firstOperator()
    const annotations = { 'gateway.svc.dev/paused': 'true' }
    const held = orders(document({ name: 'new' }), statusOf(statuses), { ...second, annotations })
    const { reconciler, result } = restarted([realm, held])
    const [missing] = result.missing
    expect(result.desired.documents.size).toBe(0)
    const source = before.desired.documents.get('orders')?.spec ?? {}
    expect(missing !== undefined && (await reconciler.recover(missing, source))).toBe(true)
    const after = reconciler.reconcile(cacheOf([realm, held]))
    expect(after.desired.documents.get('orders')?.spec).toEqual(source)
    expect(after.results.get(KEY)?.isHeld).toBe(true)
  })

  it.each([
    ['with the Secret it was put with', '1', true],
    ['without: the variables went with it', '2', false],
  ])('of a document with variables: %s', async (_name, version, expected) => {
    const secret = (resourceVersion: string): Resource =>
      resourceOf('Secret', 'keys', { stringData: { k: 'v' } }, { resourceVersion })
    const variablesFrom = [{ secretRef: { name: 'keys' } }]
    const { statuses, result: before } = firstOperator({ ...document(), variablesFrom }, [
      secret('1'),
    ])
    const bad = orders({ ...broken, variablesFrom }, statusOf(statuses), second)
    const { reconciler, result } = restarted([realm, bad, secret(version)])
    const [missing] = result.missing
    const source = before.desired.documents.get('orders')?.spec ?? {}
    expect(missing !== undefined && (await reconciler.recover(missing, source))).toBe(expected)
    const after = reconciler.reconcile(cacheOf([realm, bad, secret(version)]))
    expect(after.desired.documents.get('orders')?.variables).toEqual(
      expected ? { k: 'v' } : undefined,
    )
    expect(after.desired.kept.documents.has('orders')).toBe(!expected)
    // Another Secret is worth another try.
    const { missing: next } = reconciler.reconcile(cacheOf([realm, bad, secret('3')]))
    expect(next[0] === missing).toBe(false)
  })

  it('under an id that is not known: deletes are held until it is recovered', async () => {
    const { statuses, result: before } = firstOperator()
    const from = { documentFrom: { configMap: { name: 'gone', key: 'k' } } }
    const resources = [realm, orders(from, statusOf(statuses), second)]
    const { reconciler, result } = restarted(resources)
    const [missing] = result.missing
    expect(missing).not.toHaveProperty('id')
    expect(result.desired.holdDeletes).toContain('orders')
    const source = before.desired.documents.get('orders')?.spec ?? {}
    expect(missing !== undefined && (await reconciler.recover(missing, source))).toBe(true)
    const after = reconciler.reconcile(cacheOf(resources))
    expect(after.desired.holdDeletes).toBeUndefined()
    expect([...after.desired.documents.keys()]).toEqual(['orders'])
  })

  it('what an operator has validated and no data plane ever held delays nothing', () => {
    const from = { documentFrom: { configMap: { name: 'gone', key: 'k' } } }
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([orders(from)]))
    const status = statusOf(new StatusRegistry().update(results, [], 1000))
    expect(restarted([orders(from)]).result.desired.holdDeletes).toBeDefined()
    expect(restarted([orders(from, status)]).result.desired.holdDeletes).toBeUndefined()
  })

  it('of a spec that can not be read is kept, not sent anywhere', () => {
    const { statuses } = firstOperator()
    const { result } = restarted([realm, orders({ documnet: {} }, statusOf(statuses), second)])
    expect(result.missing).toEqual([])
    expect(result.desired.holdDeletes).toContain('orders')
  })
})
