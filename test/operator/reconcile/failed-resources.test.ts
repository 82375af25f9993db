// An exception that one resource causes hurts that resource alone.

import { describe, expect, it } from '@jest/globals'
import { compileAtOnce } from '../../../operator/reconcile/documents/compile-document.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const realm = (name: string, more: object = {}, generation = 1): Resource =>
  resourceOf('Realm', name, { spec: { uri: `com.${name}`, ...more } }, { generation })
const document = (id: string, more: object = {}, generation = 1): Resource =>
  resourceOf(
    'ApiSpecification',
    id,
    { spec: { document: aSpecification(id, more) } },
    { generation },
  )

/** With a reconciler that throws for documents with a name that says so, and counts what it logs. */
const aReconciler = () => {
  const failures: string[] = []
  const compiler = compileAtOnce()
  const reconciler = new Reconciler({
    className: 'svc',
    compiler: {
      ...compiler,
      compile: (request) => {
        if (request.document['name'] === 'throws') throw new TypeError('of the secret hush')
        return compiler.compile(request)
      },
    },
    onFailure: (key, error) => failures.push(`${key}: ${String(error)}`),
  })
  return { reconciler, failures }
}

/** As a bug in reading a Realm would have it. */
const throwing = (resource: Resource): Resource => {
  if (resource.kind !== 'Realm') throw new Error('that is no Realm')
  const spec = Object.defineProperty({ uri: 'com.shop' }, 'users', {
    enumerable: true,
    get: () => {
      throw new RangeError('of the realm')
    },
  })
  return { ...resource, checked: { spec } }
}

describe('an exception while one resource is reconciled', () => {
  it('hurts a document alone, which serves on as it was', () => {
    const { reconciler, failures } = aReconciler()
    const others = [realm('shop'), document('b')]
    const before = reconciler.reconcile(cacheOf([document('a'), ...others]))
    const bad = document('a', { name: 'throws' }, 2)
    const after = reconciler.reconcile(cacheOf([bad, ...others, document('c')]))
    expect([...after.desired.documents.keys()].sort()).toEqual(['a', 'b', 'c'])
    expect(after.desired.documents.get('a')).toBe(before.desired.documents.get('a'))
    const result = after.results.get('ApiSpecification/default/a')
    expect(result?.accepted).toMatchObject({ status: 'False', reason: 'Invalid' })
    expect(result?.errors).toMatchObject([{ path: '/spec' }])
    expect(JSON.stringify(result?.errors)).toContain('(TypeError; its log says more)')
    expect(JSON.stringify(result)).not.toContain('hush')
    expect(failures).toEqual(['ApiSpecification/default/a: TypeError: of the secret hush'])
  })

  it('is not repeated while nothing changes, and is over when the resource changes', () => {
    const { reconciler, failures } = aReconciler()
    const bad = document('a', { name: 'throws' })
    const first = reconciler.reconcile(cacheOf([realm('shop'), bad]))
    const second = reconciler.reconcile(cacheOf([realm('shop'), bad, document('b')]))
    const key = 'ApiSpecification/default/a'
    expect(second.results.get(key)).toBe(first.results.get(key))
    expect(failures).toHaveLength(1)
    const third = reconciler.reconcile(cacheOf([realm('shop'), document('a', {}, 2)]))
    expect([...third.desired.documents.keys()]).toEqual(['a'])
  })

  it('hurts a Realm alone, which serves on as it was', () => {
    const { reconciler, failures } = aReconciler()
    const before = reconciler.reconcile(cacheOf([realm('shop'), realm('other'), document('a')]))
    const bad = throwing(realm('shop', {}, 2))
    const after = reconciler.reconcile(
      cacheOf([bad, realm('other', { description: 'x' }, 2), document('a')]),
    )
    expect(after.desired.realms.get('com.shop')).toBe(before.desired.realms.get('com.shop'))
    expect(after.desired.realms.get('com.other')?.record.description).toBe('x')
    expect(after.results.get('Realm/default/shop')?.accepted.reason).toBe('Invalid')
    expect(failures).toEqual(['Realm/default/shop: RangeError: of the realm'])
  })

  it('at the start holds every delete, as it is not known what the resource defines', () => {
    const { reconciler } = aReconciler()
    const { desired } = reconciler.reconcile(cacheOf([throwing(realm('shop')), document('a')]))
    expect(desired.holdDeletes).toContain('Realm default/shop')
  })
})
