// A change costs what it concerns, and has the same result as if everything were looked at again.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { edited } from '../../../operator/edited-map.ts'
import {
  compileAtOnce,
  type DocumentCompiler,
} from '../../../operator/reconcile/documents/compile-document.ts'
import {
  type Reconciliation,
  Reconciler,
  type ReconcilerOptions,
} from '../../../operator/reconcile/reconciler.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { collectReleased } from '../../support/collect-released.ts'
import { aSpecification, resourceOf } from '../../support/resources.ts'

const NAMESPACES = ['n', 'm', 'o']
const namespace = fc.constantFrom(...NAMESPACES)
const PAUSED = { 'gateway.svc.dev/paused': 'true' }
const annotations = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant(PAUSED) },
)

/** Few ids, hosts and paths, so that they clash; a generation that changes with each. */
const aDocument = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    namespace,
    annotations,
    createdAt: fc.integer({ min: 1, max: 3 }),
    generation: fc.integer({ min: 1, max: 1_000 }),
    id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    host: fc.constantFrom<unknown>('x.test', 'y.test', '[www.]x.test', '_', 7),
    path: fc.constantFrom('/p', '/q'),
    realmUri: fc.constantFrom('com.a', 'com.a', 'com.b'),
    upstream: fc.constantFrom(undefined, 'svc.n', 'svc.m'),
    secret: fc.constantFrom(undefined, undefined, 'one', 'two'),
  })
  .map(({ name, id, host, path, realmUri, upstream, secret, ...known }) => {
    const action =
      upstream === undefined ? { type: 'static', body: 'x' } : { type: 'forward', host: upstream }
    const versions = {
      v1: { base_path: '/v', paths: { [path]: { get: { action, response: {} } } } },
    }
    const document = aSpecification(id, { host, versions, realm_uri: realmUri })
    const variablesFrom = [{ name: 'v', secretRef: { name: secret, key: 'k' } }]
    const spec = { document, ...(secret !== undefined && { variablesFrom }) }
    return resourceOf(
      'ApiSpecification',
      name,
      { spec },
      { ...known, uid: `${known.namespace}/${name}` },
    )
  })

const aRealm = fc
  .record({ namespace, annotations, uri: fc.constantFrom('com.a', 'com.b'), isOpen: fc.boolean() })
  .map(({ uri, isOpen, ...known }) => {
    const spec = { uri, ...(isOpen && { allowedNamespaces: { from: 'All' } }) }
    return resourceOf('Realm', 'r', { spec }, { ...known, uid: `realm ${known.namespace}` })
  })

const aNamespace = fc
  .record({
    name: namespace,
    hosts: fc.constantFrom(undefined, '*', 'x.test'),
    destinations: fc.constantFrom(undefined, 'own', 'any'),
    quota: fc.constantFrom(undefined, 'documents=1', 'documents=3', 'realms=0'),
  })
  .map(({ name, ...said }) => {
    const told = Object.entries(said).filter(([, text]) => text !== undefined)
    return resourceOf(
      'Namespace',
      name,
      {},
      {
        annotations: Object.fromEntries(told.map(([of, text]) => [`gateway.svc.dev/${of}`, text])),
      },
    )
  })

const aSecret = fc
  .record({
    name: fc.constantFrom('one', 'two'),
    namespace,
    resourceVersion: fc.constantFrom('1', '2'),
  })
  .map(({ name, ...known }) => resourceOf('Secret', name, { data: { k: 'YQ==' } }, known))

type Change = { readonly put: Resource } | { readonly remove: number } | 'statuses'

const aChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: aDocument.map((put) => ({ put })) },
  { weight: 2, arbitrary: aRealm.map((put) => ({ put })) },
  { weight: 1, arbitrary: aNamespace.map((put) => ({ put })) },
  { weight: 1, arbitrary: aSecret.map((put) => ({ put })) },
  { weight: 2, arbitrary: fc.nat(30).map((remove) => ({ remove })) },
  { weight: 1, arbitrary: fc.constant('statuses' as const) },
)

const options: fc.Arbitrary<ReconcilerOptions> = fc.record({
  className: fc.constant('svc'),
  hostOwnership: fc.constantFrom('strict' as const, 'shared' as const),
  wildcardNamespaces: fc.constantFrom<'all' | readonly string[]>('all', ['n']),
  destinations: fc.constantFrom('own' as const, 'any' as const),
  namespaceQuota: fc.constantFrom(undefined, { documents: 3, routes: 100, bytes: 1e6, realms: 1 }),
})

const said = ({ desired, verdicts, missing, isOpen }: Reconciliation): object => ({
  documents: [...desired.documents].map(([id, { digest }]) => [id, digest]).sort(),
  realms: [...desired.realms].map(([uri, { digest }]) => [uri, digest]).sort(),
  kept: [...desired.kept.documents, ...desired.kept.realms].sort(),
  holdDeletes: desired.holdDeletes,
  missing: missing.map(({ key, digest }) => [key, digest]).sort(),
  isOpen,
  verdicts: Object.fromEntries(
    [...verdicts].map(([key, { resource, ...verdict }]) => [
      key,
      { ...verdict, generation: resource.metadata.generation },
    ]),
  ),
})

/** As an operator writes it once data planes hold what they should. */
const withStatus = (resource: Resource, { verdicts }: Reconciliation): Resource => {
  const verdict = verdicts.get(keyOf(resource))
  if (verdict === undefined) return resource
  const conditions = [verdict.accepted, verdict.resolvedRefs].map((condition) => ({
    ...condition,
    observedGeneration: resource.metadata.generation,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  const { serving: programmed } = verdict
  return { ...resource, conditions, ...(programmed && { programmed }) } as Resource
}

const take = (
  resources: ReadonlyMap<string, Resource>,
  change: Change,
  last: Reconciliation | undefined,
): ReadonlyMap<string, Resource> => {
  const edits = new Map<string, Resource | undefined>()
  if (change === 'statuses') {
    for (const [key, resource] of resources) if (last) edits.set(key, withStatus(resource, last))
  } else if ('put' in change) edits.set(keyOf(change.put), change.put)
  else {
    const key = [...resources.keys()][change.remove]
    if (key !== undefined) edits.set(key, undefined)
  }
  return edited(resources, edits)
}

const cacheWith = (resources: ReadonlyMap<string, Resource>): ResourceCache => ({
  version: 1,
  resources,
  notes: [],
})

/** Every object is another one, and they are read in another order: nothing that was worked out before counts. */
const anew = (resources: ReadonlyMap<string, Resource>): ReadonlyMap<string, Resource> =>
  new Map([...resources].reverse().map(([key, resource]) => [key, structuredClone(resource)]))

describe('a change', () => {
  it('has the same result as if every resource were another object', () => {
    const changes = fc.array(fc.array(aChange, { minLength: 1, maxLength: 3 }), {
      minLength: 8,
      maxLength: 24,
    })
    fc.assert(
      fc.property(options, changes, (option, steps) => {
        const [some, all] = [new Reconciler(option), new Reconciler(option)]
        let resources: ReadonlyMap<string, Resource> = new Map()
        let last: Reconciliation | undefined
        for (const step of steps) {
          for (const change of step) resources = take(resources, change, last)
          last = some.reconcile(cacheWith(resources))
          expect(said(last)).toEqual(said(all.reconcile(cacheWith(anew(resources)))))
        }
      }),
    )
  })
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
    '%s is compiled, and others keep their verdicts',
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
      const isOther = (key: string): boolean => after.verdicts.get(key) !== before.verdicts.get(key)
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
