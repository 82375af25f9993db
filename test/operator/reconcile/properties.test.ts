// What holds whatever happens: the order of events does not count, and counting as reports come gives what counting
// anew gives.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { DataPlane, DataPlanePhase, DataPlaneReport } from '../../../operator/data-plane.ts'
import {
  type State,
  FleetView,
  type Subject,
} from '../../../operator/reconcile/status/fleet-view.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import type { ResourceResult } from '../../../operator/reconcile/resource-result.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const realm = resourceOf(
  'Realm',
  'shop',
  { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } },
  { namespace: 'realms' },
)

/** One of a few hosts, paths, ids and ages, so that they clash. */
const aResource = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'constructor'),
    namespace: fc.constantFrom('n', 'm'),
    id: fc.constantFrom('1', '2', '3', '4', '__proto__'),
    host: fc.constantFrom('x.test', 'y.test', '[www.]x.test', '_', 'b ad'),
    path: fc.constantFrom('/p', '/q', '/:r'),
    createdAt: fc.integer({ min: 1, max: 3 }),
    realmUri: fc.constantFrom('com.shop', 'com.shop', 'com.shop', 'com.none'),
  })
  .map(({ name, namespace, id, host, path, createdAt, realmUri }) => {
    const operation = { get: { action: { type: 'static', body: 'x' }, response: {} } }
    const versions = { v1: { base_path: '/v', paths: { [path]: operation } } }
    const document = aSpecification(id, { host, versions, realm_uri: realmUri })
    return resourceOf('ApiSpecification', name, { spec: { document } }, { namespace, createdAt })
  })

const resources = fc
  .array(aResource, { maxLength: 10 })
  .map((list) => [...cacheOf(list).resources.values()])

const outcome = (reconciler: Reconciler, list: readonly Resource[]): object => {
  const { desired, results } = reconciler.reconcile(cacheOf([realm, ...list]))
  return {
    documents: Object.fromEntries([...desired.documents].map(([id, { digest }]) => [id, digest])),
    kept: [...desired.kept.documents].sort(),
    results: [...results]
      .map(([key, { accepted, resolvedRefs, errors, serving }]) =>
        JSON.stringify([key, accepted, resolvedRefs, errors, serving]),
      )
      .sort(),
  }
}

/** As the status says it when every data plane holds what it should. */
const written = (resource: Resource, results: ReadonlyMap<string, ResourceResult>): Resource => {
  const result = results.get(keyOf(resource))
  if (result === undefined) return resource
  const { accepted, resolvedRefs, serving } = result
  const conditions = [accepted, resolvedRefs].map((condition) => ({
    ...condition,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  return { ...resource, conditions, ...(serving && { programmed: serving }) } as Resource
}

const withStatusOf = (told: readonly Resource[], resource: Resource): Resource => {
  const before = told.find((each) => keyOf(each) === keyOf(resource))
  if (before?.kind !== 'ApiSpecification') return resource
  const { conditions, programmed } = before
  return { ...resource, conditions, ...(programmed && { programmed }) } as Resource
}

describe('validating', () => {
  const options = fc.constantFrom(
    { className: 'svc' } as const,
    { className: 'svc', hostOwnership: 'strict', wildcardNamespaces: [] } as const,
  )

  it('does not depend on the order of a first cache', () => {
    fc.assert(
      fc.property(
        options,
        resources.chain((list) =>
          fc.tuple(
            fc.constant(list),
            fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
          ),
        ),
        (option, [list, shuffled]) => {
          expect(outcome(new Reconciler(option), shuffled)).toEqual(
            outcome(new Reconciler(option), list),
          )
        },
      ),
    )
  })

  it('the same cache again says the same, by the very same objects', () => {
    fc.assert(
      fc.property(options, resources, (option, list) => {
        const reconciler = new Reconciler(option)
        const first = reconciler.reconcile(cacheOf([realm, ...list]))
        const second = reconciler.reconcile(cacheOf([realm, ...list]))
        expect(second.desired).toBe(first.desired)
        const third = reconciler.reconcile(cacheOf([realm, ...list.toReversed()]))
        expect(third.desired).toBe(second.desired)
        for (const [key, result] of third.results) {
          expect(second.results.get(key)).toBe(result)
        }
      }),
    )
  })

  it('no resource that stays takes a document out, whatever comes, changes and goes', () => {
    fc.assert(
      fc.property(options, fc.array(resources, { minLength: 2, maxLength: 5 }), (option, steps) => {
        const reconciler = new Reconciler(option)
        let before = reconciler.reconcile(cacheOf([realm]))
        for (const list of steps) {
          const after = reconciler.reconcile(cacheOf([realm, ...list]))
          for (const [key, { serving }] of before.results) {
            const result = after.results.get(key)
            if (!key.startsWith('Api') || serving === undefined || result === undefined) continue
            expect(after.desired.documents.has(result.id ?? '')).toBe(true)
            expect(result.serving).toBeDefined()
          }
          before = after
        }
      }),
    )
  })

  it('what a leader writes into statuses changes nothing, so that it need not be validated', () => {
    fc.assert(
      fc.property(options, fc.array(resources, { minLength: 2, maxLength: 6 }), (option, steps) => {
        const [all, some] = [new Reconciler(option), new Reconciler(option)]
        let told: readonly Resource[] = []
        for (const list of steps) {
          // Each is read with what was written into its status last.
          const next = list.map((resource) => withStatusOf(told, resource))
          expect(outcome(some, next)).toEqual(outcome(all, next))
          const { results } = all.reconcile(cacheOf([realm, ...next]))
          told = next.map((resource) => written(resource, results))
          // The one is told of that at once, the other with the next change.
          const before = outcome(all, next)
          expect(outcome(all, told)).toEqual(before)
        }
        expect(outcome(some, told)).toEqual(outcome(all, told))
      }),
    )
  })

  it('of two namespaces only one serves a host, where none did before', () => {
    fc.assert(
      fc.property(resources, (list) => {
        const strict = { className: 'svc', hostOwnership: 'strict' } as const
        const { desired } = new Reconciler(strict).reconcile(cacheOf([realm, ...list]))
        const owners = new Map<string, string>()
        for (const { claims, namespace } of desired.documents.values()) {
          for (const { key } of claims) {
            const host = key.split('\t')[0] ?? ''
            expect(owners.get(host) ?? namespace).toBe(namespace)
            owners.set(host, namespace)
          }
        }
      }),
    )
  })
})

const PHASES: readonly DataPlanePhase[] = [
  ...(['connecting', 'syncing', 'synced', 'withheld', 'unreachable', 'superseded'] as const),
]

const IDS = ['1', '2', '3', 'constructor']
const DIGESTS = ['d', 'e']

const dataPlanes: readonly DataPlane[] = [
  { name: 'a', url: 'http://a', labels: {} },
  { name: 'b', url: 'http://b', labels: { tier: 'edge' } },
  { name: 'c', url: 'http://c', labels: {}, namespace: 'n' },
]

const entries = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<ReadonlyMap<string, T>> =>
  fc
    .array(fc.tuple(fc.constantFrom(...IDS), value), { maxLength: 4 })
    .map((pairs) => new Map(pairs))

const digest = fc.constantFrom(...DIGESTS)
const errors = fc.constantFrom([], [{ code: 'invalid_value' as const, path: '/x', message: 'm' }])
const warnings = fc.constantFrom([], [{ code: 'Shadowed' as const, path: '/x', message: 'm' }])
const sessions = fc.constantFrom(
  [],
  [{ url: 'ws://r', state: 'open' as const }],
  [{ url: 'ws://r', state: 'waiting' as const, reason: 'why' }],
)

/** Often the same: two reports of one data plane then differ in what it holds only. */
const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )

const aReport: fc.Arbitrary<DataPlaneReport> = fc
  .record({
    plane: fc.constantFrom(...dataPlanes),
    label: mostly<string | undefined>(undefined, 'edge', 'core'),
    phase: mostly<DataPlanePhase>('synced', ...PHASES),
    message: mostly('', 'm', 'n'),
    ready: mostly<boolean>(true, false),
    documents: entries(fc.record({ digest, warnings })),
    realms: entries(fc.record({ digest, sessions })),
    realmsGiven: fc.subarray([...IDS]).map((uris) => new Set(uris)),
    rejected: fc.record({
      documents: entries(fc.record({ digest, errors })),
      realms: entries(fc.record({ digest, errors })),
    }),
  })
  .map(({ plane, label, ...rest }) => ({
    ...rest,
    dataPlane: label === undefined ? plane : { ...plane, labels: { tier: label } },
  }))

const aFleet = fc
  .array(aReport, { maxLength: 4 })
  .map((reports) => [...new Map(reports.map((each) => [each.dataPlane.name, each])).values()])

const aSubject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({
    kind: fc.constant('realm' as const),
    uri: fc.constantFrom(...IDS),
    namespace: fc.constantFrom('n', 'm'),
  }),
  fc
    .record({
      id: fc.constantFrom(...IDS),
      digest,
      namespace: fc.constantFrom('n', 'm'),
      realmNamespace: fc.constantFrom(undefined, 'n', 'm'),
      tier: fc.constantFrom(undefined, 'edge'),
    })
    .map(({ tier, realmNamespace, ...rest }) => ({
      kind: 'document' as const,
      ...rest,
      ...(tier !== undefined && { selector: { matchLabels: { tier } } }),
      ...(realmNamespace !== undefined && { realmNamespace }),
    })),
)

const STATES: readonly State[] = [
  ...(['holds', 'differs', 'rejected', 'withheld', 'syncing'] as const),
  ...(['unreachable', 'connecting', 'forbidden', 'fine', 'refused', 'closed'] as const),
]

const seen = (view: FleetView, key: string): object => {
  const sight = view.look(key)
  return {
    total: sight.total,
    warnings: sight.warnings,
    counts: STATES.map((response) => sight.count(response)),
    first: (['rejected', 'withheld', 'refused', 'closed', 'unreachable'] as const).map(
      (response) => sight.first(response)?.dataPlane.name,
    ),
  }
}

/** Two reports that differ in one entry only are rare. */
const MANY = { numRuns: 1000 }

describe('what data planes answer', () => {
  it('counts the same report by report as from the start', () => {
    const step = fc.record({ fleet: aFleet, key: fc.constantFrom('x', 'y'), subject: aSubject })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const view = new FleetView()
        const subjects = new Map<string, Subject>()
        for (const { fleet, key, subject } of steps) {
          view.take(fleet)
          view.watch(key, subject)
          subjects.set(key, subject)
        }
        const anew = new FleetView()
        for (const [key, subject] of subjects) anew.watch(key, subject)
        anew.take(steps.at(-1)?.fleet ?? [])
        for (const key of subjects.keys()) expect(seen(view, key)).toEqual(seen(anew, key))
      }),
      MANY,
    )
  })

  it('what is not reported as a change is no change', () => {
    fc.assert(
      fc.property(aSubject, fc.array(aFleet, { minLength: 2, maxLength: 6 }), (subject, fleets) => {
        const view = new FleetView()
        view.watch('x', subject)
        for (const fleet of fleets) {
          const before = seen(view, 'x')
          const isNews = view.take(fleet).has('x')
          expect(isNews ? before : seen(view, 'x')).toEqual(before)
        }
      }),
      MANY,
    )
  })
})

describe('statuses', () => {
  it('end where a book that saw the end alone ends, but for times and the latch', () => {
    const document = resourceOf('ApiSpecification', '1', {
      spec: { document: aSpecification('1', { realm_uri: 'com.shop' }) },
    })
    const { results, desired } = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realm, document]),
    )
    const held = desired.documents.get('1')?.digest ?? ''
    const named = (fleet: readonly DataPlaneReport[]): readonly DataPlaneReport[] =>
      fleet.map((report) => ({
        ...report,
        documents: renamed(report.documents, held),
        rejected: { ...report.rejected, documents: renamed(report.rejected.documents, held) },
      }))
    const said = (book: StatusRegistry, fleet: readonly DataPlaneReport[], nowMs: number): object =>
      [...book.update(results, fleet, nowMs)].map(([key, { conditions, errors, warnings }]) => [
        key,
        conditions.map(({ type, status, reason, message }) => [
          type,
          status,
          reason,
          withoutServing(message),
        ]),
        errors,
        warnings,
      ])
    fc.assert(
      fc.property(fc.array(aFleet, { minLength: 1, maxLength: 6 }), (fleets) => {
        const steps = fleets.map(named)
        const last = steps.at(-1) ?? []
        const book = new StatusRegistry()
        // An hour apart: a data plane that differs has done so for long enough, once it is asked again.
        steps.forEach((fleet, i) => said(book, fleet, i * 3_600_000))
        const isLatched = [...book.update(results, last, 1e12)].some(([, { conditions }]) =>
          conditions.some(({ type, status }) => type === 'Programmed' && status === 'True'),
        )
        const expected = said(isLatched ? book : new StatusRegistry(), last, 1e13)
        expect(said(book, last, 1e13)).toEqual(expected)
      }),
    )
  })
})

/** Which version serves is remembered while no data plane can be asked. */
const withoutServing = (message: string): string =>
  message.replace(/; [^;]* (serves?|served)\b[^;]*$/, '')

/** Digest `d` is the one that is wanted. */
const renamed = <T extends { readonly digest: string }>(
  map: ReadonlyMap<string, T>,
  held: string,
): ReadonlyMap<string, T> =>
  new Map(
    [...map].map(([id, entry]) => [id, entry.digest === 'd' ? { ...entry, digest: held } : entry]),
  )
