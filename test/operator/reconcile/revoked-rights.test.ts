// What serves goes out of service at once where its namespace loses the right to its host or its realm, and for no
// other reason.

import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const HOSTS = 'gateway.svc.dev/hosts'
const PAUSED = { 'gateway.svc.dev/paused': 'true' }
const STRICT = { className: 'svc', hostOwnership: 'strict', wildcardNamespaces: [] } as const
const LIMITED = { matchLabels: { team: 'shop' } }

const aRealm = (spec: object = {}, known: object = {}): Resource =>
  resourceOf(
    'Realm',
    'bank',
    { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' }, ...spec } },
    { namespace: 'bank', generation: 2, ...known },
  )

const aNamespace = (hosts?: string, labels: object = { team: 'shop' }): Resource =>
  resourceOf(
    'Namespace',
    'shop',
    {},
    { labels, annotations: hosts === undefined ? {} : { [HOSTS]: hosts } },
  )

const aDocument = (host = 'shop.test', more: object = {}, known: object = {}): Resource =>
  resourceOf(
    'ApiSpecification',
    'd',
    { spec: { document: aSpecification('d', { host, ...more }) } },
    { namespace: 'shop', ...known },
  )

const KEY = 'ApiSpecification/shop/d'

/** What there is to say of the document once it has served, and then these were the resources. */
const after = (before: readonly Resource[], now: readonly Resource[]) => {
  const reconciler = new Reconciler(STRICT)
  const first = reconciler.reconcile(cacheOf(before))
  expect([...first.desired.documents.keys()]).toEqual(['d'])
  const programmed = first.results.get(KEY)?.serving
  const running = reconciler.reconcile(cacheOf(now))
  const again = reconciler.reconcile(cacheOf(now))
  expect(shown(again)).toEqual(shown(running))
  // By its status the next operator knows what served.
  const recorded = now.map((each) =>
    keyOf(each) === KEY ? ({ ...each, programmed } as Resource) : each,
  )
  const restarted = new Reconciler(STRICT).reconcile(cacheOf(recorded))
  return { running: shown(running), restarted: shown(restarted) }
}

const shown = ({ desired, results }: ReturnType<Reconciler['reconcile']>) => {
  const result = results.get(KEY)
  return {
    serves: desired.documents.has('d'),
    stays: desired.documents.has('d') || desired.kept.documents.has('d'),
    revoked: [...(desired.revokedDocuments ?? [])],
    serving: result?.serving?.generation,
    reason: [result?.accepted, result?.resolvedRefs].find((each) => each?.status !== 'True')
      ?.reason,
  }
}

const GONE = { serves: false, stays: false, revoked: ['d'], serving: undefined }

describe('a right that is taken back', () => {
  const both = [aRealm(), aNamespace('shop.test'), aDocument()] as const
  const [realm, annotated, document] = both
  it.each<[string, readonly Resource[], readonly Resource[], string?]>([
    ['the host, from the annotation', both, [aRealm(), aNamespace('a.test'), aDocument()]],
    ['all hosts, from the annotation', both, [aRealm(), aNamespace(''), aDocument()]],
    [
      'a wildcard, as the annotation goes',
      [aRealm(), aNamespace('*'), aDocument('_')],
      [aRealm(), aNamespace(), aDocument('_')],
    ],
    [
      'one of two hosts',
      [aRealm(), aNamespace('h.test, www.h.test'), aDocument('[www.]h.test')],
      [aRealm(), aNamespace('h.test'), aDocument('[www.]h.test')],
    ],
    [
      'the host, from allowedHosts',
      both,
      [aRealm({ allowedHosts: ['a.test'] }), annotated, document],
    ],
    [
      'the realm: Same',
      both,
      [aRealm({ allowedNamespaces: { from: 'Same' } }), annotated, document],
    ],
    [
      'the realm: a label of the Realm’s selector',
      [aRealm({ allowedNamespaces: { from: 'Selector', selector: LIMITED } }), annotated, document],
      [
        aRealm({ allowedNamespaces: { from: 'Selector', selector: LIMITED } }),
        aNamespace('shop.test', {}),
        document,
      ],
    ],
    [
      'the realm: a Realm of another namespace in the place of a deleted one',
      both,
      [
        resourceOf(
          'Realm',
          'other',
          { spec: { uri: 'com.shop' } },
          { namespace: 'mallory', createdAt: 9000 },
        ),
        annotated,
        document,
      ],
    ],
    [
      'of a document that is paused',
      both,
      [aRealm(), aNamespace('a.test'), aDocument('shop.test', {}, { annotations: PAUSED })],
    ],
  ])('ends at once, also for the next operator: %s', (_name, before, now) => {
    const { running, restarted } = after(before, now)
    expect(running).toEqual({ ...GONE, reason: 'RefNotPermitted' })
    expect(restarted).toEqual(running)
  })

  it.each<[string, Resource, string]>([
    ['an invalid one', aDocument('shop.test', { versions: 5 }, { generation: 2 }), 'Invalid'],
    [
      'one of a realm that there is not',
      aDocument('shop.test', { realm_uri: 'com.none' }, { generation: 2 }),
      'RealmNotFound',
    ],
    ['one of another host', aDocument('b.test', {}, { generation: 2 }), 'RefNotPermitted'],
  ])('ends for the last good version while the newest is %s', (_name, newest, reason) => {
    const reconciler = new Reconciler(STRICT)
    reconciler.reconcile(cacheOf(both))
    const held = reconciler.reconcile(cacheOf([realm, annotated, newest]))
    expect(shown(held)).toMatchObject({ serves: true, serving: 1, reason })
    const now = reconciler.reconcile(cacheOf([realm, aNamespace('a.test'), newest]))
    expect(shown(now)).toEqual({ ...GONE, reason })
  })

  it('ends for a version that the next operator has from a gateway', async () => {
    const first = new Reconciler(STRICT).reconcile(cacheOf(both))
    const served = first.desired.documents.get('d')
    const newest = {
      ...aDocument('shop.test', { versions: 5 }, { generation: 2 }),
      programmed: { generation: 1, digest: served?.digest },
    } as Resource
    const cache = cacheOf([realm, aNamespace('a.test'), newest])
    const reconciler = new Reconciler(STRICT)
    const { missing, desired } = reconciler.reconcile(cache)
    expect(desired.kept.documents.has('d')).toBe(true)
    const [version] = missing
    if (version === undefined) throw new Error('nothing is missing')
    expect(await reconciler.recover(version, served?.spec ?? {})).toBe(true)
    const now = reconciler.reconcile(cache)
    expect(shown(now)).toEqual({ ...GONE, reason: 'Invalid' })
    expect(now.missing).toEqual([])
  })

  it.each([
    ['may have no host', '', true],
    ['may have some', 'a.test', false],
  ])(
    'ends at once for a version that is not known where the namespace %s',
    (_, hosts, isRevoked) => {
      const newest = {
        ...aDocument('shop.test', { versions: 5 }, { generation: 2 }),
        programmed: { generation: 1, digest: 'of the version before' },
      } as Resource
      const others = [aDocument('own.test', { id: 'e' }, { namespace: 'bank' })]
      const resources = [realm, aNamespace(hosts), newest, ...others]
      const { desired } = new Reconciler(STRICT).reconcile(cacheOf(resources))
      expect([...(desired.revokedDocuments ?? [])]).toEqual(isRevoked ? ['d'] : [])
      expect(desired.kept.documents.has('d')).toBe(!isRevoked)
    },
  )

  it.each([
    ['Pending', true, []],
    ['Invalid', false, []],
    ['Pending, of an id of another', false, [aDocument('own.test', {}, { namespace: 'bank' })]],
  ])('ends for what an operator was sending: %s', (reason, isRevoked, others) => {
    const condition = { type: 'Programmed', status: 'False', reason: reason.split(',')[0] }
    const sent = { ...document, conditions: [condition] } as unknown as Resource
    const resources = [realm, aNamespace('a.test'), sent, ...others]
    const now = new Reconciler(STRICT).reconcile(cacheOf(resources))
    expect([...(now.desired.revokedDocuments ?? [])]).toEqual(isRevoked ? ['d'] : [])
  })

  it('that comes back brings the document back', () => {
    const reconciler = new Reconciler(STRICT)
    reconciler.reconcile(cacheOf(both))
    reconciler.reconcile(cacheOf([realm, aNamespace('a.test'), document]))
    expect(shown(reconciler.reconcile(cacheOf(both)))).toEqual({
      serves: true,
      stays: true,
      revoked: [],
      serving: 1,
      reason: undefined,
    })
  })

  it('is removed even while other deletes are held back', () => {
    const reconciler = new Reconciler(STRICT)
    reconciler.reconcile(cacheOf(both))
    const cache = cacheOf([realm, aNamespace(''), document], { holdDeletes: 'a CRD is gone' })
    expect(shown(reconciler.reconcile(cache)).revoked).toEqual(['d'])
  })
})

describe('no right is taken back', () => {
  const annotated = aNamespace('shop.test')
  const selecting = aRealm({ allowedNamespaces: { from: 'Selector', selector: LIMITED } })
  const wildcard = [aRealm(), aNamespace('*'), aDocument('_')] as const
  it.each<[string, readonly Resource[], readonly Resource[]]>([
    ['the Namespace is not known', wildcard, [wildcard[0], wildcard[2]]],
    [
      'the Namespace, whose label admits it, is not known',
      [selecting, annotated, aDocument()],
      [selecting, aDocument()],
    ],
    ['there is no Realm', [aRealm(), annotated, aDocument()], [annotated, aDocument()]],
    [
      'the Realm is not valid',
      [aRealm(), annotated, aDocument()],
      [
        aRealm({ allowedNamespaces: { from: 'Same' }, users: 5 }, { generation: 3 }),
        annotated,
        aDocument(),
      ],
    ],
    [
      'the Realm is paused',
      [aRealm(), annotated, aDocument()],
      [
        aRealm({ allowedNamespaces: { from: 'Same' } }, { generation: 3, annotations: PAUSED }),
        annotated,
        aDocument(),
      ],
    ],
    [
      'the newest version asks for a host that is not for it',
      [aRealm(), annotated, aDocument()],
      [aRealm(), annotated, aDocument('b.test', {}, { generation: 2 })],
    ],
  ])('where %s', (_name, before, now) => {
    const { running } = after(before, now)
    expect(running).toMatchObject({ serves: true, revoked: [], serving: 1 })
  })
})

describe('a host that an annotation names', () => {
  const realm = aRealm()
  const at = (
    namespace: string,
    {
      host = 'h.test',
      createdAt = 1000,
    }: { readonly host?: string; readonly createdAt?: number } = {},
  ): Resource =>
    resourceOf(
      'ApiSpecification',
      namespace,
      { spec: { document: aSpecification(namespace, { host }) } },
      { namespace, createdAt },
    )
  const named = (name: string, hosts?: string): Resource =>
    resourceOf(
      'Namespace',
      name,
      {},
      { annotations: hosts === undefined ? {} : { [HOSTS]: hosts } },
    )

  const EQUAL = 'old, as it is older'
  it.each<[string, string | undefined, string | undefined, string]>([
    ['neither is named', undefined, undefined, EQUAL],
    ['the younger is named', undefined, 'h.test', 'new'],
    ['the younger is named by its domain', undefined, '*.test', 'new'],
    ['the younger may have any', undefined, '*', EQUAL],
    ['both are named', 'h.test', 'h.test', EQUAL],
    ['the older is named by its domain alone', '*.test', 'h.test', 'new'],
    ['the older is named more closely', 'h.test', '*.test', 'old'],
    ['the older may have any', '*', 'h.test', 'new'],
  ])('goes to that namespace, whatever is older: %s', (_name, older, younger, expected) => {
    const owner = expected === EQUAL ? 'old' : expected
    const documents = [at('old'), at('new', { createdAt: 2000 })]
    const resources = [realm, named('old', older), named('new', younger)]
    const other = owner === 'old' ? 'new' : 'old'
    const fresh = new Reconciler(STRICT).reconcile(cacheOf([...resources, ...documents]))
    expect([...fresh.desired.documents.keys()]).toEqual([owner])
    // So it is where the older one serves already.
    const reconciler = new Reconciler(STRICT)
    reconciler.reconcile(cacheOf([...resources, at('old')]))
    const served = reconciler.reconcile(cacheOf([...resources, ...documents]))
    const { desired, results } = served
    expect([...desired.documents.keys()]).toEqual([owner])
    expect([...(desired.revokedDocuments ?? [])]).toEqual(owner === 'new' ? ['old'] : [])
    expect(desired.kept.documents.has('old')).toBe(false)
    const refused = results.get(`ApiSpecification/${other}/${other}`)
    expect([refused?.accepted.reason, refused?.serving]).toEqual(['Conflicted', undefined])
    // The same again gives the same, and so does the next operator.
    const again = reconciler.reconcile(cacheOf([...documents, ...resources]))
    expect([...again.desired.documents.keys()]).toEqual([owner])
    const recorded = documents.map((each) => {
      const programmed = results.get(keyOf(each))?.serving ?? {
        generation: 1,
        digest: results.get(keyOf(each))?.digest,
      }
      return { ...each, programmed } as Resource
    })
    const restarted = new Reconciler(STRICT).reconcile(cacheOf([...resources, ...recorded]))
    // Where nothing is taken back, both serve on if both have served.
    expect([...restarted.desired.documents.keys()].sort()).toEqual(
      expected === EQUAL ? ['new', 'old'] : [owner],
    )
  })

  it('stays with the one that has it until the other has a valid document for it', () => {
    const reconciler = new Reconciler(STRICT)
    const resources = [realm, named('old'), named('new', 'h.test'), at('old')]
    const serves = (...more: readonly Resource[]): readonly string[] => [
      ...reconciler.reconcile(cacheOf([...resources, ...more])).desired.documents.keys(),
    ]
    const invalid = resourceOf(
      'ApiSpecification',
      'new',
      { spec: { document: aSpecification('new', { host: 'h.test', versions: 5 }) } },
      { namespace: 'new' },
    )
    expect(serves()).toEqual(['old'])
    expect(serves(invalid)).toEqual(['old'])
    expect(serves(at('new', { createdAt: 2000 }))).toEqual(['new'])
  })

  it('is taken from a version that serves beside a newer one that lost a path', () => {
    const path = (name: string, host: string, known: object): Resource =>
      resourceOf(
        'ApiSpecification',
        name,
        {
          spec: {
            document: aSpecification(name, {
              host,
              versions: {
                v1: {
                  base_path: '/',
                  paths: { '/p': { get: { action: { type: 'static', body: 'x' }, response: {} } } },
                },
              },
            }),
          },
        },
        { namespace: 'old', ...known },
      )
    const reconciler = new Reconciler(STRICT)
    const first = path('first', 'own.test', { createdAt: 1 })
    const step = (...more: readonly Resource[]): string[] => [
      ...reconciler
        .reconcile(cacheOf([realm, named('old'), named('new', 'h.test'), first, ...more]))
        .desired.documents.keys(),
    ]
    expect(step(path('second', 'h.test', {})).sort()).toEqual(['first', 'second'])
    const moved = path('second', 'own.test', { generation: 2 })
    expect(step(moved).sort()).toEqual(['first', 'second'])
    expect(step(moved, at('new', { createdAt: 2000 })).sort()).toEqual(['first', 'new'])
  })

  it('goes to that namespace where the Namespace that named it more closely is missing', () => {
    const reconciler = new Reconciler(STRICT)
    const serves = (...resources: readonly Resource[]): readonly string[] => [
      ...reconciler.reconcile(cacheOf([realm, ...resources])).desired.documents.keys(),
    ]
    const younger = [named('new', '*.test'), at('new', { createdAt: 2000 })]
    expect(serves(named('old', 'h.test'), at('old'), ...younger)).toEqual(['old'])
    expect(serves(at('old'), ...younger)).toEqual(['new'])
    // Without another that is named it serves on.
    expect(serves(at('old'), named('new'))).toEqual(['old'])
  })
})
