// A change costs what it concerns. That the result is right all the same is what histories.test.ts is about.

import { describe, expect, it } from '@jest/globals'
import { edited } from '../../../operator/edited-map.ts'
import {
  compileAtOnce,
  type DocumentCompiler,
} from '../../../operator/reconcile/documents/compile-document.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { collectReleased } from '../../support/collect-released.ts'
import { aSpecification, resourceOf } from '../../support/resources.ts'

const cacheWith = (resources: ReadonlyMap<string, Resource>): ResourceCache => ({
  version: 1,
  resources,
  notes: [],
})

/** Counts what is compiled. */
const countingCompiler = (): DocumentCompiler & { readonly compiled: string[] } => {
  const compiled: string[] = []
  const compiler = compileAtOnce()
  return {
    ...compiler,
    compiled,
    compile: (request) => {
      compiled.push(request.key)
      return compiler.compile(request)
    },
  }
}

describe('of many documents', () => {
  const COUNT = 400
  const documentAt = (index: number, more: object = {}): Resource =>
    resourceOf(
      'ApiSpecification',
      `d${index}`,
      {
        spec: {
          document: aSpecification(`d${index}`, { host: `h${index}.test`, ...more }),
          variablesFrom: [{ name: 'v', secretRef: { name: `s${index % 40}`, key: 'k' } }],
        },
      },
      { namespace: `n${index % 20}`, uid: `u${index}` },
    )
  const secretAt = (index: number, space: number, resourceVersion = '1'): Resource =>
    resourceOf(
      'Secret',
      `s${index}`,
      { data: { k: 'YQ==' } },
      { namespace: `n${space}`, resourceVersion },
    )
  const realm = resourceOf('Realm', 'r', {
    spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } },
  })
  const first = new Map(
    [
      realm,
      ...Array.from({ length: COUNT }, (_, index) => documentAt(index)),
      ...Array.from({ length: 40 }, (_, index) => secretAt(index, index % 20)),
    ].map((resource) => [keyOf(resource), resource]),
  )

  it.each<[string, Resource, number, number]>([
    ['an edit: the document', documentAt(7, { variables: { n: 1 } }), 1, 1],
    ['a Secret: those that refer to it', secretAt(3, 3, '2'), COUNT / 40, COUNT / 40],
    ['a Namespace that says nothing new: none', resourceOf('Namespace', 'n3', {}), 0, 0],
    ['a Secret that none refers to: none', secretAt(99, 3), 0, 0],
  ])(
    '%s is compiled, and others keep their results',
    (_name, change, compiledCount, verdictCount) => {
      const compiler = countingCompiler()
      const reconciler = new Reconciler({ className: 'svc', hostOwnership: 'strict', compiler })
      reconciler.reconcile(cacheWith(first))
      const before = reconciler.reconcile(cacheWith(first))
      compiler.compiled.length = 0
      const after = reconciler.reconcile(
        cacheWith(edited(first, new Map([[keyOf(change), change]]))),
      )
      expect(compiler.compiled).toHaveLength(compiledCount)
      const isOther = (key: string): boolean => after.results.get(key) !== before.results.get(key)
      expect([...first.keys()].filter(isOther)).toHaveLength(verdictCount)
    },
  )

  it('first statuses, and what comes with them, have nothing compiled again', () => {
    const compiler = countingCompiler()
    const reconciler = new Reconciler({ className: 'svc', hostOwnership: 'strict', compiler })
    const { desired } = reconciler.reconcile(cacheWith(first))
    compiler.compiled.length = 0
    const recorded = new Map<string, Resource>()
    for (const [key, resource] of first) {
      const { digest } = desired.documents.get(resource.metadata.name) ?? {}
      if (resource.kind === 'ApiSpecification' && digest !== undefined)
        recorded.set(key, { ...resource, programmed: { generation: 1, digest } })
    }
    expect(recorded.size).toBe(COUNT)
    const after = reconciler.reconcile(cacheWith(edited(first, recorded)))
    expect(compiler.compiled).toEqual([])
    expect(after.desired).toBe(desired)
  })

  it('an edit reads no other resource', () => {
    const reads = new Map<string, number>()
    const watched = new Map(
      Array.from(first, ([key, resource]) => [
        key,
        new Proxy(resource, {
          get: (target, member, receiver) => {
            reads.set(key, (reads.get(key) ?? 0) + 1)
            return Reflect.get(target, member, receiver) as unknown
          },
        }),
      ]),
    )
    const reconciler = new Reconciler({ className: 'svc', hostOwnership: 'strict' })
    let resources: ReadonlyMap<string, Resource> = edited(watched, new Map([['none', realm]]))
    reconciler.reconcile(cacheWith(resources))
    reconciler.reconcile(cacheWith(resources))
    reads.clear()
    const change = documentAt(7, { variables: { n: 1 } })
    resources = edited(resources, new Map([[keyOf(change), change]]))
    reconciler.reconcile(cacheWith(resources))
    // The document as it was, and the Secret that both refer to.
    expect([...reads.keys()].sort()).toEqual(['ApiSpecification/n7/d7', 'Secret/n7/s7'])
  })

  it('once all are edited, nothing is kept of what they were', async () => {
    const reconciler = new Reconciler({ className: 'svc', hostOwnership: 'strict' })
    const all = (n: number): ReadonlyMap<string, Resource> => {
      const edits = Array.from({ length: COUNT }, (_, at) => documentAt(at, { variables: { n } }))
      return edited(first, new Map(edits.map((resource) => [keyOf(resource), resource])))
    }
    const former = ((): readonly WeakRef<Resource>[] => {
      const resources = all(1)
      // The second time, Realms are settled.
      reconciler.reconcile(cacheWith(resources))
      reconciler.reconcile(cacheWith(resources))
      return [...resources.values()]
        .filter(({ kind }) => kind === 'ApiSpecification')
        .map((resource) => new WeakRef(resource))
    })()
    const resources = all(2)
    reconciler.reconcile(cacheWith(resources))
    reconciler.reconcile(cacheWith(resources))
    await collectReleased()
    expect(former).toHaveLength(COUNT)
    expect(former.filter((each) => each.deref() !== undefined)).toHaveLength(0)
  })
})
