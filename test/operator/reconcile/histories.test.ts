// Random histories of resources lead to the same result as if every resource were another object at each step: nothing that
// is remembered between two caches may show. What deleted Realms leave behind and the passing of time are part of them. And
// nothing is served at any step that the rights of that moment do not allow, nor taken out while they do.

import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { SourceWithDeletedRealms } from '../../../operator/controller/deleted-realms.ts'
import { edited } from '../../../operator/edited-map.ts'
import {
  type Reconciliation,
  Reconciler,
  type ReconcilerOptions,
} from '../../../operator/reconcile/reconciler.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification, resourceOf } from '../../support/resources.ts'
import { standingSource } from '../../support/standing-source.ts'
import { lostServices, trespasses } from './rights-oracle.ts'

const namespace = fc.constantFrom('n', 'm')
const PAUSED = { 'gateway.svc.dev/paused': 'true' }
const DELETE_NOW = { 'gateway.svc.dev/delete-now': 'true' }
const annotations = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant(PAUSED) },
  { weight: 1, arbitrary: fc.constant(DELETE_NOW) },
)

/** Of any resource. It is created again with another uid, and edited with the same one. */
const identity = {
  namespace,
  annotations,
  uid: fc.constantFrom('1', '1', '2'),
  createdAt: fc.integer({ min: 1, max: 3 }),
  generation: fc.integer({ min: 1, max: 1_000 }),
}
const className = fc.constantFrom('svc', 'svc', 'svc', 'svc', 'svc', 'svc', 'other')

const actionOf = (upstream: string | undefined, hasCredential: boolean): object => {
  if (hasCredential) return { type: 'forward', host: 'http://up.test', credential: 'billing' }
  return upstream === undefined
    ? { type: 'static', body: 'x' }
    : { type: 'forward', host: upstream }
}

const NONE_MOSTLY = new Array<undefined>(6).fill(undefined)

/** Few ids, hosts and paths, so that they clash. */
const aDocument = fc
  .record({
    ...identity,
    name: fc.constantFrom('a', 'b', 'c'),
    gatewayClassName: className,
    id: fc.constantFrom('1', '2', '3'),
    host: fc.constantFrom<unknown>('x.test', 'x.test', 'www.x.test', '[www.]x.test', '_', 7),
    path: fc.constantFrom('/p', '/q', undefined),
    realmUri: fc.constantFrom('com.a', 'com.a', 'com.b'),
    upstream: fc.constantFrom(undefined, undefined, 'svc.n', 'svc.m'),
    hasCredential: fc.constantFrom(false, false, false, true),
    secret: fc.constantFrom(...NONE_MOSTLY, 'one', 'two'),
  })
  .map(
    ({
      name,
      gatewayClassName,
      id,
      host,
      path,
      realmUri,
      upstream,
      hasCredential,
      secret,
      ...known
    }) => {
      const action = actionOf(upstream, hasCredential)
      const paths = path === undefined ? {} : { [path]: { get: { action, response: {} } } }
      const versions = { v1: { base_path: '/v', paths } }
      const document = aSpecification(id, { host, versions, realm_uri: realmUri })
      const variablesFrom = [{ name: 'v', secretRef: { name: secret, key: 'k' } }]
      const spec = { gatewayClassName, document, ...(secret !== undefined && { variablesFrom }) }
      const uid = `${known.namespace}/${name}/${known.uid}`
      return resourceOf('ApiSpecification', name, { spec }, { ...known, uid })
    },
  )

const aRealm = fc
  .record({
    ...identity,
    name: fc.constantFrom('r', 's'),
    gatewayClassName: className,
    uri: fc.constantFrom('com.a', 'com.b'),
    from: fc.constantFrom('Same', 'All', 'All', 'Selector'),
    allowedHosts: fc.constantFrom(undefined, undefined, ['x.test'], ['*.x.test', 'x.test']),
    hasRouter: fc.boolean(),
    /** Namespaces that may use its credential; undefined: it has none. */
    credentialFor: fc.constantFrom(undefined, 'Same', 'All'),
    lacksSecret: fc.boolean(),
  })
  .map((realm) => {
    const { name, gatewayClassName, uri, from, credentialFor, lacksSecret, ...rest } = realm
    const { allowedHosts, hasRouter, ...known } = rest
    const selector = from === 'Selector' ? { selector: { matchLabels: { team: 'a' } } } : {}
    const billing = {
      origins: ['http://up.test'],
      allowedNamespaces: { from: credentialFor },
      bearer: { token: { secretRef: { name: 'one', key: 'k' } } },
    }
    const spec = {
      gatewayClassName,
      uri,
      allowedNamespaces: { from, ...selector },
      ...(allowedHosts !== undefined && { allowedHosts }),
      ...(hasRouter && { router: { url: 'ws://router.test' } }),
      ...(lacksSecret && { callbackSecret: { secretRef: { name: 'none', key: 'k' } } }),
      ...(credentialFor !== undefined && { credentials: { billing } }),
    }
    const uid = `realm ${known.namespace}/${name}/${known.uid}`
    return resourceOf('Realm', name, { spec }, { ...known, uid })
  })

const aNamespace = fc
  .record({
    name: namespace,
    team: fc.constantFrom('a', 'b'),
    hosts: fc.constantFrom(undefined, '*', 'x.test', '*.x.test,x.test', 'www.x.test,x.test', ''),
    destinations: fc.constantFrom(undefined, 'own', 'any'),
    quota: fc.constantFrom(undefined, 'documents=1', 'documents=3', 'realms=0'),
  })
  .map(({ name, team, ...given }) => {
    const entries = Object.entries(given).filter(([, text]) => text !== undefined)
    const named = entries.map(([of, text = '']): [string, string] => [
      `gateway.svc.dev/${of}`,
      text,
    ])
    const annotations = Object.fromEntries<string>(named)
    return resourceOf('Namespace', name, {}, { annotations, labels: { team } })
  })

const aSecret = fc
  .record({
    name: fc.constantFrom('one', 'two'),
    namespace,
    resourceVersion: fc.constantFrom('1', '2'),
  })
  .map(({ name, ...known }) => resourceOf('Secret', name, { data: { k: 'YQ==' } }, known))

type Change =
  | { readonly put: Resource }
  | { readonly remove: number }
  | { readonly passMs: number }
  /** Statuses are written as they should be. */
  | 'statuses'

const aChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: aDocument.map((put) => ({ put })) },
  { weight: 4, arbitrary: aRealm.map((put) => ({ put })) },
  { weight: 3, arbitrary: aNamespace.map((put) => ({ put })) },
  { weight: 1, arbitrary: aSecret.map((put) => ({ put })) },
  { weight: 3, arbitrary: fc.nat(30).map((remove) => ({ remove })) },
  { weight: 1, arbitrary: fc.constantFrom(1_000, 61_000, 700_000).map((passMs) => ({ passMs })) },
  { weight: 2, arbitrary: fc.constant('statuses' as const) },
)

const options: fc.Arbitrary<ReconcilerOptions> = fc.record({
  className: fc.constant('svc'),
  hostOwnership: fc.constantFrom('strict' as const, 'shared' as const),
  wildcardNamespaces: fc.constantFrom<'all' | readonly string[]>('all', ['n']),
  destinations: fc.constantFrom('own' as const, 'any' as const),
  namespaceQuota: fc.constantFrom(undefined, { documents: 3, routes: 100, bytes: 1e6, realms: 1 }),
})

/** Half of the histories start with a realm for all, and a namespace that an annotation gives a host. */
const aStart = fc.constantFrom<readonly Resource[]>(
  [],
  [
    resourceOf(
      'Realm',
      'r',
      { spec: { uri: 'com.a', allowedNamespaces: { from: 'All' } } },
      { namespace: 'n', uid: 'realm n/r/1' },
    ),
    resourceOf('Namespace', 'm', {}, { annotations: { 'gateway.svc.dev/hosts': 'x.test' } }),
  ],
)

/** Everything of a result that others see, in an order of its own. */
const described = ({ desired, results, missing, isOpen }: Reconciliation): object => ({
  documents: [...desired.documents].map(([id, each]) => [id, each.digest, each.withheld]).sort(),
  realms: [...desired.realms].map(([uri, each]) => [uri, each.digest, each.namespace]).sort(),
  kept: [...desired.kept.documents, ...desired.kept.realms].sort(),
  revoked: [...(desired.revokedRealms ?? []), ...(desired.revokedDocuments ?? [])].sort(),
  holdDeletes: desired.holdDeletes,
  missing: missing.map(({ key, digest }) => [key, digest]).sort(),
  isOpen,
  results: Object.fromEntries(
    [...results].map(([key, { resource, ...result }]) => [
      key,
      { ...result, generation: resource.metadata.generation },
    ]),
  ),
})

/** As an operator writes it once data planes hold what they should. */
const withStatus = (resource: Resource, { results }: Reconciliation): Resource => {
  const result = results.get(keyOf(resource))
  if (result === undefined) return resource
  const conditions = [result.accepted, result.resolvedRefs].map((condition) => ({
    ...condition,
    observedGeneration: resource.metadata.generation,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  const { serving: programmed } = result
  return { ...resource, conditions, ...(programmed && { programmed }) } as Resource
}

/** An edit keeps the time of creation, and what the status says. */
const putInto = (resources: ReadonlyMap<string, Resource>, put: Resource): Resource => {
  const before = resources.get(keyOf(put))
  if (before?.metadata.uid !== put.metadata.uid) return put
  const { createdAt, generation } = before.metadata
  return {
    ...before,
    ...put,
    metadata: { ...put.metadata, createdAt, generation: generation + 1 },
  }
}

const take = (
  resources: ReadonlyMap<string, Resource>,
  change: Exclude<Change, { readonly passMs: number }>,
  last: Reconciliation | undefined,
): ReadonlyMap<string, Resource> => {
  const edits = new Map<string, Resource | undefined>()
  if (change === 'statuses') {
    for (const [key, resource] of resources) if (last) edits.set(key, withStatus(resource, last))
  } else if ('put' in change) edits.set(keyOf(change.put), putInto(resources, change.put))
  else {
    const key = [...resources.keys()][change.remove]
    if (key !== undefined) edits.set(key, undefined)
  }
  return edited(resources, edits)
}

/** A reconciler behind a source that remembers deleted Realms, with a clock of its own. */
const anOperator = (option: ReconcilerOptions) => {
  const clock = createManualClock()
  let cache: ResourceCache = { version: 0, resources: new Map(), notes: [] }
  const source = new SourceWithDeletedRealms(
    standingSource(() => cache),
    { clock, servedMs: 60_000 },
  )
  const reconciler = new Reconciler(option)
  return (resources: ReadonlyMap<string, Resource>, passMs: number): Reconciliation => {
    cache = { version: cache.version + 1, resources, notes: [] }
    source.current()
    clock.advance(passMs)
    return reconciler.reconcile(source.current())
  }
}

/** Every object is another one, and they are read in another order: nothing that was worked out before counts. */
const anew = (resources: ReadonlyMap<string, Resource>): ReadonlyMap<string, Resource> =>
  new Map([...resources].reverse().map(([key, resource]) => [key, structuredClone(resource)]))

it('a change has the same result as if every resource were another object', () => {
  const history = fc.array(fc.array(aChange, { minLength: 1, maxLength: 3 }), {
    minLength: 8,
    maxLength: 24,
  })
  fc.assert(
    fc.property(options, aStart, history, (option, start, steps) => {
      const [some, all] = [anOperator(option), anOperator(option)]
      let resources: ReadonlyMap<string, Resource> = new Map(
        start.map((each) => [keyOf(each), each]),
      )
      let last: Reconciliation | undefined
      for (const step of steps) {
        let passMs = 0
        for (const change of step)
          if (change !== 'statuses' && 'passMs' in change) passMs += change.passMs
          else resources = take(resources, change, last)
        const before = last
        last = some(resources, passMs)
        expect(described(last)).toEqual(described(all(anew(resources), passMs)))
        expect(trespasses(last, resources, option)).toEqual([])
        expect(lostServices(before, last, resources, option)).toEqual([])
        for (const id of last.desired.revokedDocuments ?? [])
          expect([last.desired.documents.has(id), last.desired.kept.documents.has(id)]).toEqual([
            false,
            false,
          ])
      }
    }),
    { numRuns: 200 },
  )
})
