// What each namespace may have: who is refused, who stays, what frees room, and what a restart inherits.

import { describe, expect, it } from '@jest/globals'
import type { DesiredDocument } from '../../../operator/desired-set.ts'
import { compileAtOnce } from '../../../operator/reconcile/documents/compile-document.ts'
import {
  type Amounts,
  amountsOf,
  ONE_REALM,
} from '../../../operator/reconcile/quotas/quota-amounts.ts'
import { quotaRejection } from '../../../operator/reconcile/quotas/quota-rejection.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const ENOUGH: Amounts = { documents: 100, routes: 1000, bytes: 1e6, realms: 10 }
const QUOTA = 'gateway.svc.dev/quota'

const realm = resourceOf(
  'Realm',
  'shop',
  { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } },
  { namespace: 'realms' },
)

interface Known {
  readonly namespace?: string
  readonly createdAt?: number
  readonly generation?: number
  readonly annotations?: object
}

interface Text {
  readonly routes?: number
  /** That a member of the document has. */
  readonly padding?: number
  readonly more?: object
  readonly spec?: object
  readonly status?: object
}

const textOf = (name: string, { routes = 1, padding = 0, more = {} }: Text): object => {
  const operation = { get: { action: { type: 'static', body: 'x' }, response: {} } }
  const paths = Object.fromEntries(
    Array.from({ length: routes }, (_, i) => [`/${i}`, operation] as const),
  )
  const versions = { v1: { base_path: `/${name}`, paths } }
  const meta = padding === 0 ? {} : { meta: { padding: 'x'.repeat(padding) } }
  return aSpecification(name, { versions, ...meta, ...more })
}

const specification = (name: string, text: Text = {}, known: Known = {}): Resource =>
  resourceOf(
    'ApiSpecification',
    name,
    {
      spec: { document: textOf(name, text), ...text.spec },
      ...(text.status && { status: text.status }),
    },
    { namespace: 'shop', ...known },
  )

const namespace = (name: string, quota: string): Resource =>
  resourceOf('Namespace', name, {}, { annotations: { [QUOTA]: quota } })

const reconcilerWith = (limits: Partial<Amounts>): Reconciler =>
  new Reconciler({ className: 'svc', namespaceQuota: { ...ENOUGH, ...limits } })

/** Name → the reason why it is not good. */
const shown = ({ results }: Reconciliation): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...results.values()].flatMap(({ resource, accepted, resolvedRefs }) => {
      if (keyOf(resource) === keyOf(realm)) return []
      const bad = [accepted, resolvedRefs].find(({ status }) => status !== 'True')
      return [[resource.metadata.name, bad?.reason ?? 'good']]
    }),
  )

/** Until what is put leaves no more room. */
const settle = (reconciler: Reconciler, resources: readonly Resource[]): Reconciliation => {
  const cache = cacheOf([realm, ...resources])
  let result = reconciler.reconcile(cache)
  while (result.isOpen) result = reconciler.reconcile(cache)
  return result
}

const messageOf = (result: Reconciliation, name: string): string =>
  result.results.get(`ApiSpecification/shop/${name}`)?.accepted.message ?? ''

const bytesOf = ({ spec }: Pick<DesiredDocument, 'spec'>): number =>
  Buffer.byteLength(JSON.stringify(spec))

const routesOf = ({ spec }: Pick<DesiredDocument, 'spec'>): number => {
  const { versions } = spec as { versions: { v1: { paths: object } } }
  return Object.keys(versions.v1.paths).length
}

/** As the API gives it back when every gateway has what it should. */
const statusOf = ({ results }: Reconciliation, resource: Resource): object => {
  const result = results.get(keyOf(resource))
  if (result === undefined) return {}
  const { accepted, serving } = result
  const times = { observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' }
  return {
    conditions: [{ ...accepted, ...times }],
    ...(serving && {
      programmedGeneration: serving.generation,
      programmedDigest: serving.digest,
    }),
  }
}

const ONE_BYTES = bytesOf({ spec: textOf('a', {}) as DesiredDocument['spec'] })

describe('who of a namespace is within its quota', () => {
  const old = { createdAt: 1000 }
  const young = { createdAt: 2000 }

  it.each<[string, Partial<Amounts>, readonly Resource[], Readonly<Record<string, string>>]>([
    [
      'all, where there is room for all',
      { documents: 2, routes: 2 },
      [specification('a'), specification('b')],
      { a: 'good', b: 'good' },
    ],
    [
      'the oldest',
      { documents: 1 },
      [specification('a', {}, young), specification('b', {}, old)],
      { a: 'QuotaExceeded', b: 'good' },
    ],
    [
      'of one age, by name',
      { documents: 1 },
      [specification('b'), specification('a')],
      { a: 'good', b: 'QuotaExceeded' },
    ],
    [
      'the routes of all versions, paths and forms',
      { routes: 3 },
      [specification('a', { routes: 2 }), specification('b', { routes: 2 })],
      { a: 'good', b: 'QuotaExceeded' },
    ],
    [
      'the forms of the host count',
      { routes: 1 },
      [specification('a', { more: { host: '[www.]a.test' } })],
      { a: 'QuotaExceeded' },
    ],
    [
      'the bytes as JSON, exactly so many',
      { bytes: 2 * ONE_BYTES },
      [specification('a'), specification('b')],
      { a: 'good', b: 'good' },
    ],
    [
      'and one more',
      { bytes: 2 * ONE_BYTES - 1 },
      [specification('a'), specification('b')],
      { a: 'good', b: 'QuotaExceeded' },
    ],
    [
      'a small young one where an old one does not fit',
      { routes: 3 },
      [
        specification('a', { routes: 2 }, old),
        specification('b', { routes: 2 }, young),
        specification('c', {}, { createdAt: 3000 }),
      ],
      { a: 'good', b: 'QuotaExceeded', c: 'good' },
    ],
    [
      'each namespace for itself',
      { documents: 1 },
      [specification('a'), specification('b', {}, { namespace: 'other' })],
      { a: 'good', b: 'good' },
    ],
    [
      'none, where there is to be none',
      { documents: 0 },
      [specification('a')],
      { a: 'QuotaExceeded' },
    ],
    [
      'one with faults counts too, so that correcting it takes no other out',
      { documents: 1 },
      [specification('a', { more: { host: 'b ad' } }, old), specification('b', {}, young)],
      { a: 'Invalid', b: 'QuotaExceeded' },
    ],
    [
      'what breaks a bound of the language does not, and says so itself',
      { bytes: 1e6 },
      [specification('a', { padding: 5e6 }, old), specification('b', {}, young)],
      { a: 'TooLarge', b: 'good' },
    ],
    [
      'those that an annotation allows, in place of the settings',
      { documents: 1 },
      [specification('a'), specification('b'), namespace('shop', 'documents=2')],
      { a: 'good', b: 'good' },
    ],
    [
      'what the annotation does not say is as the settings have it',
      { routes: 1 },
      [specification('a'), specification('b'), namespace('shop', ' documents = 2 , mb=1')],
      { a: 'good', b: 'QuotaExceeded' },
    ],
    [
      'not those of an annotation of another namespace',
      { documents: 1 },
      [specification('a'), specification('b'), namespace('other', 'documents=2')],
      { a: 'good', b: 'QuotaExceeded' },
    ],
    ...['documents', 'documents=-1', 'documents=1e3', 'constructor=9', 'documents=5,', ''].map(
      (quota) =>
        [
          `nothing new where the annotation can't be read: '${quota}'`,
          {},
          [specification('a'), namespace('shop', quota)],
          { a: 'QuotaExceeded' },
        ] as [string, object, readonly Resource[], Readonly<Record<string, string>>],
    ),
  ])('%s', (_name, limits, resources, expected) => {
    expect(shown(settle(reconcilerWith(limits), resources))).toEqual(expected)
    expect(shown(settle(reconcilerWith(limits), resources.toReversed()))).toEqual(expected)
  })

  it('variables from Secrets count with the documents that have them', () => {
    const key = Buffer.from('x'.repeat(5000)).toString('base64')
    const secret = resourceOf('Secret', 'page', { data: { page: key } }, { namespace: 'shop' })
    const variablesFrom = [{ name: 'page', secretRef: { name: 'page', key: 'page' } }]
    const resources = [secret, specification('a', { spec: { variablesFrom } })]
    expect(shown(settle(reconcilerWith({ bytes: 5000 }), resources))).toEqual({
      a: 'QuotaExceeded',
    })
    expect(shown(settle(reconcilerWith({ bytes: 6000 }), resources))).toEqual({ a: 'good' })
  })

  it('what is refused is not compiled, names its own namespace alone, and has somebody to act', () => {
    const asked: string[] = []
    const compiler = compileAtOnce()
    const reconciler = new Reconciler({
      className: 'svc',
      namespaceQuota: { ...ENOUGH, routes: 5 },
      compiler: {
        ...compiler,
        compile: (request) => {
          asked.push(request.key)
          return compiler.compile(request)
        },
      },
    })
    const result = settle(reconciler, [
      specification('secret', { routes: 9 }, { namespace: 'other' }),
      specification('a', { routes: 3 }, old),
      specification('b', { routes: 4 }, young),
    ])
    expect(asked).toEqual(['ApiSpecification/shop/a'])
    expect(messageOf(result, 'b')).toBe(
      'the namespace shop may have 5 routes, this one takes 4 routes, and others had 3 routes when this one was validated: ' +
        'use fewer brackets and paths, delete others, or ask the administrators of the gateways for more ' +
        '(--namespace-max-routes, namespaceQuota.routes of the chart, or the annotation gateway.svc.dev/quota of the Namespace)',
    )
    const statuses = new StatusRegistry().update(result.results, [], 0)
    const conditions = statuses.get('ApiSpecification/shop/b')?.conditions ?? []
    expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'Accepted=False QuotaExceeded',
      'ResolvedRefs=Unknown Pending',
      'Programmed=False Invalid',
      'Ready=False QuotaExceeded',
      'Stalled=True QuotaExceeded',
    ])
  })

  it.each<[string, Partial<Amounts>, Text, RegExp]>([
    [
      'documents',
      { documents: 1 },
      {},
      /may have 1 ApiSpecification, and others had 1 ApiSpecification when/,
    ],
    [
      'bytes',
      { bytes: 3e5 },
      { padding: 2e5 },
      /have 293 KB of documents, .* \(most: a, 195\.\d KB\)/,
    ],
    [
      'routes',
      { routes: 5 },
      { routes: 3 },
      /had 3 routes when this one was validated \(most: a, 3 routes\)/,
    ],
  ])('words tell of %s: how many, who has most, what to do', (_name, limits, text, expected) => {
    const reconciler = reconcilerWith(limits)
    settle(reconciler, [specification('a', text)])
    const message = messageOf(
      settle(reconciler, [specification('a', text), specification('b', text)]),
      'b',
    )
    expect(message).toMatch(expected)
    expect(message).toContain('delete others')
  })

  it('words stay as they are while others come and go: no status is written for that', () => {
    const reconciler = reconcilerWith({ documents: 2 })
    const [a, b, c] = ['a', 'b', 'c'].map((name, i) =>
      specification(name, {}, { createdAt: 1000 + i }),
    ) as [Resource, Resource, Resource]
    const before = settle(reconciler, [a, b, c])
    const d = specification('d', {}, { createdAt: 5000 })
    const edited = specification('a', { routes: 7 }, { createdAt: 1000, generation: 2 })
    const after = settle(reconciler, [edited, b, c, d])
    const key = 'ApiSpecification/shop/c'
    expect(before.results.get(key)?.accepted.reason).toBe('QuotaExceeded')
    expect(after.results.get(key)).toBe(before.results.get(key))
  })

  it('words are new where it had been let in meanwhile', () => {
    const reconciler = reconcilerWith({ routes: 5 })
    const faulty = specification('b', { routes: 3, more: { host: 'b ad' } })
    const step = (routes: number): Reconciliation =>
      settle(reconciler, [specification('a', { routes }, { generation: 9 - routes }), faulty])
    expect(messageOf(step(3), 'b')).toContain('others had 3 routes')
    expect(shown(step(2))).toEqual({ a: 'good', b: 'Invalid' })
    expect(messageOf(step(4), 'b')).toContain('others had 4 routes')
  })
})

describe('what serves', () => {
  it('keeps its place when an older one comes', () => {
    const reconciler = reconcilerWith({ documents: 1 })
    const young = specification('young', {}, { createdAt: 2000 })
    settle(reconciler, [young])
    const old = specification('old', {}, { createdAt: 1000 })
    expect(shown(settle(reconciler, [old, young]))).toEqual({ old: 'QuotaExceeded', young: 'good' })
    expect(shown(settle(reconciler, [old]))).toEqual({ old: 'good' })
  })

  it('serves on as it was where an edit makes it too large, until it fits or there is room', () => {
    const reconciler = reconcilerWith({ routes: 4 })
    const other = specification('other', { routes: 2 })
    const at = (routes: number, generation: number): Resource =>
      specification('a', { routes }, { generation })
    const served = (result: Reconciliation): number => {
      const document = result.desired.documents.get('a')
      return document === undefined ? 0 : routesOf(document)
    }
    settle(reconciler, [other, at(1, 1)])
    const refused = settle(reconciler, [other, at(3, 2)])
    expect([shown(refused), served(refused)]).toEqual([{ other: 'good', a: 'QuotaExceeded' }, 1])
    const result = refused.results.get('ApiSpecification/shop/a')
    expect(result?.serving?.generation).toBe(1)
    const mended = settle(reconciler, [other, at(2, 3)])
    expect([shown(mended), served(mended)]).toEqual([{ other: 'good', a: 'good' }, 2])
    settle(reconciler, [other, at(4, 4)])
    const alone = settle(reconciler, [at(4, 4)])
    expect([shown(alone), served(alone)]).toEqual([{ a: 'good' }, 4])
  })

  it('grows before anything new comes, however old that is', () => {
    const reconciler = reconcilerWith({ routes: 4 })
    const at = (routes: number, generation: number): Resource =>
      specification('young', { routes }, { createdAt: 2000, generation })
    settle(reconciler, [at(1, 1)])
    const old = specification('old', { routes: 3 }, { createdAt: 1000 })
    expect(shown(settle(reconciler, [old, at(3, 2)]))).toEqual({
      old: 'QuotaExceeded',
      young: 'good',
    })
  })

  it('counts while a newer version of it is not good', () => {
    const reconciler = reconcilerWith({ routes: 4 })
    settle(reconciler, [specification('a', { routes: 4 })])
    const faulty = specification('a', { routes: 1, more: { host: 'b ad' } }, { generation: 2 })
    const b = specification('b', { routes: 1 })
    expect(shown(settle(reconciler, [faulty, b]))).toEqual({ a: 'Invalid', b: 'QuotaExceeded' })
  })

  it('frees room when it shrinks: the same cache, validated again, lets in who waited', () => {
    const reconciler = reconcilerWith({ routes: 4 })
    const waiting = specification('b', { routes: 3 })
    settle(reconciler, [specification('a', { routes: 4 }), waiting])
    const cache = cacheOf([realm, specification('a', { routes: 1 }, { generation: 2 }), waiting])
    const first = reconciler.reconcile(cache)
    expect([first.isOpen, shown(first)]).toEqual([true, { a: 'good', b: 'QuotaExceeded' }])
    const second = reconciler.reconcile(cache)
    expect([second.isOpen, shown(second)]).toEqual([false, { a: 'good', b: 'good' }])
  })

  it('stays where the quota is lowered, and may change as long as it does not grow', () => {
    const reconciler = reconcilerWith({})
    const a = specification('a', { routes: 3 })
    const b = specification('b', { routes: 3 })
    const lowered = namespace('shop', 'routes=4, documents=1')
    settle(reconciler, [a, b])
    expect(shown(settle(reconciler, [a, b, lowered]))).toEqual({ a: 'good', b: 'good' })
    const step = (routes: number, generation: number, ...more: readonly Resource[]): object =>
      shown(
        settle(reconciler, [a, specification('b', { routes }, { generation }), lowered, ...more]),
      )
    expect(step(4, 2)).toEqual({ a: 'good', b: 'QuotaExceeded' })
    expect(step(3, 3)).toEqual({ a: 'good', b: 'good' })
    expect(step(2, 4)).toEqual({ a: 'good', b: 'good' })
    const c = specification('c')
    expect(step(1, 5, c)).toEqual({ a: 'good', b: 'good', c: 'QuotaExceeded' })
  })
})

describe('after a restart', () => {
  const young = specification('young', {}, { createdAt: 2000 })
  const old = specification('old', {}, { createdAt: 1000 })

  const served = ({ desired }: Reconciliation): readonly string[] =>
    [...desired.documents.keys()].sort()

  it('those serve that served, not the oldest', () => {
    const reconciler = reconcilerWith({ documents: 1 })
    settle(reconciler, [young])
    const before = settle(reconciler, [old, young])
    const recorded = [old, young].map((resource) =>
      specification(
        resource.metadata.name,
        { status: statusOf(before, resource) },
        { createdAt: resource.metadata.createdAt },
      ),
    )
    const again = reconcilerWith({ documents: 1 })
    expect(again.prepare(cacheOf([realm, ...recorded]))).toBe(true)
    const after = settle(again, recorded)
    expect([served(after), shown(after)]).toEqual([
      ['young'],
      { old: 'QuotaExceeded', young: 'good' },
    ])
  })

  it('also those of a ConfigMap; one that was changed meanwhile has to ask for its room', () => {
    const mapped = (status?: object): Resource =>
      resourceOf(
        'ApiSpecification',
        'mapped',
        {
          spec: { documentFrom: { configMap: { name: 'm', key: 'k' } } },
          ...(status && { status }),
        },
        { namespace: 'shop', createdAt: 3000 },
      )
    const map = (routes: number): Resource =>
      resourceOf(
        'ConfigMap',
        'm',
        { data: { k: JSON.stringify(textOf('mapped', { routes })) } },
        { namespace: 'shop' },
      )
    const first = reconcilerWith({ routes: 2 })
    const before = settle(first, [mapped(), map(2)])
    expect(served(before)).toEqual(['mapped'])
    const status = statusOf(before, mapped())
    const same = settle(reconcilerWith({ routes: 2 }), [old, mapped(status), map(2)])
    expect([served(same), shown(same)]).toEqual([
      ['mapped'],
      { old: 'QuotaExceeded', mapped: 'good' },
    ])
    const grown = settle(reconcilerWith({ routes: 2 }), [mapped(status), map(3)])
    expect(shown(grown)).toEqual({ mapped: 'QuotaExceeded' })
    expect([...grown.desired.kept.documents]).toEqual(['mapped'])
  })

  it('what serves and is not known yet takes all the room, until gateways give it back', async () => {
    const limits = { routes: 4, bytes: 1e5 }
    const first = reconcilerWith(limits)
    settle(first, [young])
    const edited = (status?: object): Resource =>
      specification('young', { routes: 9, ...(status && { status }) }, { generation: 2 })
    const before = settle(first, [edited()])
    const spec = before.desired.documents.get('young')?.spec ?? {}
    const resources = [edited(statusOf(before, edited())), old]
    const again = reconcilerWith(limits)
    const unknown = settle(again, resources)
    expect(shown(unknown)).toEqual({ old: 'QuotaExceeded', young: 'QuotaExceeded' })
    const [missing] = unknown.missing
    expect(missing !== undefined && (await again.recover(missing, spec))).toBe(true)
    const known = settle(again, resources)
    expect([served(known), shown(known)]).toEqual([
      ['old', 'young'],
      { old: 'good', young: 'QuotaExceeded' },
    ])
  })
})

describe('Realms', () => {
  const aRealm = (name: string, known: Known = {}, status?: object): Resource =>
    resourceOf(
      'Realm',
      name,
      { spec: { uri: `com.${name}` }, ...(status && { status }) },
      { namespace: 'shop', ...known },
    )
  const young = aRealm('young', { createdAt: 2000 })
  const old = aRealm('old', { createdAt: 1000 })
  const served = ({ desired }: Reconciliation): readonly string[] =>
    [...desired.realms.keys()].filter((uri) => uri !== 'com.shop')

  it('what serves stays, the oldest of the others comes, and one that goes makes room', () => {
    const reconciler = reconcilerWith({ realms: 1 })
    const first = settle(reconciler, [young, old])
    expect([served(first), shown(first)]).toEqual([
      ['com.old'],
      { young: 'QuotaExceeded', old: 'good' },
    ])
    const another = reconcilerWith({ realms: 1 })
    settle(another, [young])
    const second = settle(another, [old, young])
    expect([served(second), shown(second)]).toEqual([
      ['com.young'],
      { young: 'good', old: 'QuotaExceeded' },
    ])
    expect(second.results.get('Realm/shop/old')?.accepted.message).toContain(
      'the namespace shop may have 1 Realm, and others had 1 Realm when this one was validated: delete others',
    )
    expect(served(settle(another, [old]))).toEqual(['com.old'])
  })

  it('those serve after a restart that an operator had let in', () => {
    const reconciler = reconcilerWith({ realms: 1 })
    settle(reconciler, [young])
    const before = settle(reconciler, [old, young])
    const recorded = [old, young].map(({ metadata: { name, createdAt } }, i) =>
      aRealm(name, { createdAt }, statusOf(before, i === 0 ? old : young)),
    )
    const after = settle(reconcilerWith({ realms: 1 }), recorded)
    expect([served(after), shown(after)]).toEqual([
      ['com.young'],
      { young: 'good', old: 'QuotaExceeded' },
    ])
  })

  it('a document of one without room waits for it', () => {
    const document = specification('a', { more: { realm_uri: 'com.young' } })
    const result = settle(reconcilerWith({ realms: 1 }), [young, old, document])
    expect(shown(result)['a']).toBe('RealmNotFound')
  })
})

describe('what would be refused', () => {
  const wantedBy = (text: Text): Amounts =>
    amountsOf(textOf('new', text) as DesiredDocument['spec']) ?? ENOUGH
  const reconciler = reconcilerWith({ documents: 2, routes: 5, realms: 0 })
  const faulty = specification('b', { routes: 9 }, { createdAt: 2000 })
  settle(reconciler, [specification('a', { routes: 3 }), faulty])

  it.each<[string, Amounts, Amounts | undefined, string]>([
    ['what fits', wantedBy({ routes: 2 }), undefined, 'room'],
    ['what does not', wantedBy({ routes: 3 }), undefined, 'may have 5 routes, this one takes 3'],
    ['a change that fits', wantedBy({ routes: 5 }), wantedBy({ routes: 3 }), 'room'],
    ['one that does not', wantedBy({ routes: 6 }), wantedBy({ routes: 3 }), 'others had 0 routes'],
    ['one that does not grow', wantedBy({ routes: 8 }), wantedBy({ routes: 8 }), 'room'],
    ['a Realm', ONE_REALM, undefined, 'may have 0 Realms, and others had 0 Realms'],
  ])('%s', (_name, wanted, before, expected) => {
    const use = reconciler.quotaUse('shop')
    expect(use?.used).toMatchObject({ documents: 1, routes: 3, realms: 0 })
    const result = use && quotaRejection(use, wanted, before)
    expect(result?.message ?? 'room').toContain(expected)
  })

  it('nothing, where there are no quotas', () => {
    const free = new Reconciler({ className: 'svc' })
    expect(shown(settle(free, [specification('a', { routes: 99 })]))).toEqual({ a: 'good' })
    expect(free.quotaUse('shop')).toBeUndefined()
  })
})

describe('whatever happens, in whatever order', () => {
  const LIMITS = { ...ENOUGH, documents: 4, routes: 12, bytes: 12 * ONE_BYTES }

  /** What gateways hold: of what is kept they keep what they have. */
  const heldAfter = (
    before: ReadonlyMap<string, DesiredDocument>,
    { desired }: Reconciliation,
  ): ReadonlyMap<string, DesiredDocument> =>
    new Map([...[...before].filter(([id]) => desired.kept.documents.has(id)), ...desired.documents])

  const expectWithin = (seed: number, held: ReadonlyMap<string, DesiredDocument>): void => {
    for (const namespaceName of ['shop', 'other']) {
      const own = [...held.values()].filter((each) => each.namespace === namespaceName)
      const amounts = {
        documents: own.length,
        routes: own.map(routesOf).reduce((sum, each) => sum + each, 0),
        bytes: own.map(bytesOf).reduce((sum, each) => sum + each, 0),
      }
      for (const [name, amount] of Object.entries(amounts)) {
        expect({ seed, name, amount, isWithin: amount <= LIMITS[name as keyof Amounts] }).toEqual({
          seed,
          name,
          amount,
          isWithin: true,
        })
      }
    }
  }

  it.each(Array.from({ length: 25 }, (_, i) => i + 1))(
    'what gateways hold of a namespace is within its quota, and nothing that served goes: seed %i',
    async (seed) => {
      const random = seededRandom(seed)
      const below = (count: number): number => Math.floor(random() * count)
      let reconciler = new Reconciler({ className: 'svc', namespaceQuota: LIMITS })
      let resources = new Map<string, Resource>()
      let held: ReadonlyMap<string, DesiredDocument> = new Map()
      let result = settle(reconciler, [])
      const edit = (name: string): Resource => {
        const before = resources.get(name)
        const { createdAt, generation } = before?.metadata ?? {
          createdAt: 1000 + below(4) * 1000,
          generation: 0,
        }
        const host = below(5) === 0 ? { more: { host: 'b ad' } } : {}
        const text = { routes: 1 + below(8), padding: below(3) * 400, ...host }
        const edited = specification(name, text, {
          namespace: Number(name.slice(1)) % 3 === 0 ? 'other' : 'shop',
          createdAt,
          generation: generation + 1,
          annotations: { 'gateway.svc.dev/paused': String(below(8) === 0) },
        })
        return before?.kind === 'ApiSpecification' && before.programmed !== undefined
          ? ({ ...edited, programmed: before.programmed } as Resource)
          : edited
      }
      for (let step = 0; step < 40; step += 1) {
        const name = `d${below(10)}`
        const chance = below(10)
        if (chance === 0) resources.delete(name)
        else if (chance === 1) {
          // A restart: what the API has is what a leader wrote there.
          reconciler = new Reconciler({ className: 'svc', namespaceQuota: LIMITS })
          const book = result
          resources = new Map(
            [...resources].map(([each, resource]) => [each, recorded(resource, book, held)]),
          )
        } else resources.set(name, edit(name))
        const list = [...resources.values()]
        result = settle(reconciler, below(2) === 0 ? list : list.toReversed())
        const { missing } = result
        const before = held
        held = heldAfter(held, result)
        expectWithin(seed, held)
        expect({
          seed,
          gone: [...before.keys()].filter((id) => !held.has(id) && resources.has(id)),
        }).toEqual({ seed, gone: [] })
        if (below(2) === 0) {
          await recoverAll(reconciler, missing, held)
          result = settle(reconciler, list)
          held = heldAfter(held, result)
          expectWithin(seed, held)
        }
      }
      expect(result.desired.documents.size).toBeGreaterThan(0)
    },
  )

  /** Gateways give back what they hold. */
  const recoverAll = async (
    reconciler: Reconciler,
    missing: Reconciliation['missing'],
    held: ReadonlyMap<string, DesiredDocument>,
  ): Promise<void> => {
    for (const each of missing) {
      const document = held.get(each.id ?? '')
      if (document !== undefined) await reconciler.recover(each, document.spec)
    }
  }

  /** With the status that stands there when gateways hold `held`. */
  const recorded = (
    resource: Resource,
    { results }: Reconciliation,
    held: ReadonlyMap<string, DesiredDocument>,
  ): Resource => {
    const { serving } = results.get(keyOf(resource)) ?? {}
    const digest = held.get(resource.metadata.name)?.digest
    if (serving === undefined || serving.digest !== digest) return resource
    return { ...resource, programmed: serving } as Resource
  }
})
