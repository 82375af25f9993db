// What resources refer to, and who owns what they name.

import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const secret = (name: string, version = '1'): Resource =>
  resourceOf('Secret', name, { stringData: { k: `v${version}` } }, { resourceVersion: version })

const realm = (name: string, more: object = {}, known: object = {}): Resource =>
  resourceOf('Realm', name, { spec: { uri: `com.${name}`, ...more } }, known)

const specification = (id: string, more: object = {}, known: object = {}): Resource => {
  const { spec = {}, ...document } = more as { readonly spec?: object }
  return resourceOf(
    'ApiSpecification',
    id,
    { spec: { document: aSpecification(id, document), ...spec } },
    known,
  )
}

const start = (): ((
  resources: readonly Resource[],
  more?: Partial<ResourceCache>,
) => Reconciliation) => {
  const reconciler = new Reconciler({ className: 'svc' })
  return (resources, more) => reconciler.reconcile(cacheOf(resources, more))
}

describe('a rotated Secret touches what refers to it, and nothing else', () => {
  const callbackSecret = { secretRef: { name: 'realm', key: 'k' } }
  const variablesFrom = [{ secretRef: { name: 'document' } }]
  const all = (realmVersion: string, documentVersion: string): readonly Resource[] => [
    realm('shop', { callbackSecret }),
    realm('other'),
    specification('plain'),
    specification('more', { name: 'more' }),
    specification('varied', { spec: { variablesFrom } }),
    specification('elsewhere', { realm_uri: 'com.other' }),
    secret('realm', realmVersion),
    secret('document', documentVersion),
    secret('nobody', realmVersion),
  ]
  // The resources of a cache are the same objects while they do not change.
  const known = new Map<string, Resource>()
  const cached = (resources: readonly Resource[]): readonly Resource[] =>
    resources.map((resource) => {
      const key = JSON.stringify(resource)
      const before = known.get(key)
      if (before === undefined) known.set(key, resource)
      return before ?? resource
    })

  const news = (
    before: Reconciliation,
    after: Reconciliation,
  ): { readonly documents: readonly string[]; readonly realms: readonly string[] } => ({
    documents: [...after.desired.documents].flatMap(([id, entry]) =>
      before.desired.documents.get(id) === entry ? [] : [id],
    ),
    realms: [...after.desired.realms].flatMap(([uri, entry]) =>
      before.desired.realms.get(uri) === entry ? [] : [uri],
    ),
  })

  it.each([
    ['of a realm', '2', '1', { documents: [], realms: ['com.shop'] }],
    ['of a document', '1', '2', { documents: ['varied'], realms: [] }],
    ['of both', '2', '2', { documents: ['varied'], realms: ['com.shop'] }],
  ])('%s', (_name, realmVersion, documentVersion, expected) => {
    const step = start()
    const before = step(cached(all('1', '1')))
    expect(before.desired.documents.size).toBe(4)
    const after = step(cached(all(realmVersion, documentVersion)))
    expect(news(before, after)).toEqual(expected)
    for (const id of expected.documents) {
      expect(after.desired.documents.get(id)?.digest).not.toBe(
        before.desired.documents.get(id)?.digest,
      )
    }
    const others = [...after.results].filter(([key, each]) => before.results.get(key) !== each)
    expect(others).toHaveLength(expected.documents.length + expected.realms.length)
  })

  it.each<[string, string, Partial<ResourceCache>]>([
    ['deleted', 'SecretNotFound', {}],
    [
      'forbidden',
      'SecretForbidden',
      {
        forbidden: new Map([
          ['Secret/default/realm', 'allow it with: kubectl create rolebinding a'],
          ['Secret/default/document', 'allow it with: kubectl create rolebinding b'],
        ]),
      },
    ],
  ])('%s after it was read: the last value serves on', (_name, reason, more) => {
    const step = start()
    const before = step(cached(all('1', '1')))
    const left = cached(all('1', '1')).filter(({ kind }) => kind !== 'Secret')
    const after = step(left, more)
    expect(after.desired.documents.get('varied')).toBe(before.desired.documents.get('varied'))
    expect(after.desired.realms.get('com.shop')).toBe(before.desired.realms.get('com.shop'))
    for (const key of ['ApiSpecification/default/varied', 'Realm/default/shop']) {
      expect(after.results.get(key)?.resolvedRefs.reason).toBe(reason)
      expect(after.results.get(key)?.serving?.generation).toBe(1)
    }
    expect(after.results.get('ApiSpecification/default/plain')).toBe(
      before.results.get('ApiSpecification/default/plain'),
    )
  })

  it('what is not read again compares as what it says: a status that was written validates nothing again', () => {
    const step = start()
    const before = step([realm('shop'), specification('plain')])
    const written = specification('plain', {}, { resourceVersion: '2' })
    const same = { ...written, checked: checkedOf(before, 'ApiSpecification/default/plain') }
    const after = step([realm('shop'), same as Resource])
    expect(after.desired.documents.get('plain')).toBe(before.desired.documents.get('plain'))
  })
})

const checkedOf = ({ results }: Reconciliation, key: string): unknown =>
  results.get(key)?.resource.checked

describe('who may use a realm', () => {
  const document = specification('d', { realm_uri: 'com.shop' }, { namespace: 'guest' })
  const labelled = (labels: object): Resource => resourceOf('Namespace', 'guest', {}, { labels })
  const selector = { matchLabels: { team: 'core' } }

  it.each<[string, readonly Resource[], string]>([
    ['none but neighbours', [realm('shop')], 'RefNotPermitted'],
    ['all', [realm('shop', { allowedNamespaces: { from: 'All' } })], 'ResolvedRefs'],
    ['same', [realm('shop', { allowedNamespaces: { from: 'Same' } })], 'RefNotPermitted'],
    [
      'selected',
      [
        realm('shop', { allowedNamespaces: { from: 'Selector', selector } }),
        labelled({ team: 'core' }),
      ],
      'ResolvedRefs',
    ],
    [
      'not selected',
      [realm('shop', { allowedNamespaces: { from: 'Selector', selector } }), labelled({})],
      'RefNotPermitted',
    ],
    [
      'by name',
      [
        realm('shop', {
          allowedNamespaces: {
            from: 'Selector',
            selector: { matchLabels: { 'kubernetes.io/metadata.name': 'guest' } },
          },
        }),
      ],
      'ResolvedRefs',
    ],
    [
      'an empty selector selects all',
      [realm('shop', { allowedNamespaces: { from: 'Selector', selector: {} } })],
      'ResolvedRefs',
    ],
    [
      'a forgotten one is a fault of the realm',
      [realm('shop', { allowedNamespaces: { from: 'Selector' } })],
      'RealmNotFound',
    ],
    ['there is none', [], 'RealmNotFound'],
    ['one that is not good itself', [realm('shop', { callTimeout: 'soon' })], 'RealmNotFound'],
  ])('%s', (_name, resources, reason) => {
    const { results } = start()([...resources, document])
    expect(results.get('ApiSpecification/guest/d')?.resolvedRefs.reason).toBe(reason)
  })

  it('not allowed, not there and not good read the same', () => {
    const words = [[realm('shop')], [], [realm('shop', { callTimeout: 'soon' })]].map(
      (resources) =>
        start()([...resources, document]).results.get('ApiSpecification/guest/d')?.resolvedRefs
          .message,
    )
    expect(words[0]).toContain("there is no realm 'com.shop' that namespace guest may use")
    expect(new Set(words).size).toBe(1)
  })
})

describe('ids and uris have one owner', () => {
  const from = (key: string): object => ({
    spec: { documentFrom: { configMap: { name: 'docs', key } } },
  })
  const docs = (ids: Readonly<Record<string, string>>): Resource =>
    resourceOf('ConfigMap', 'docs', {
      data: Object.fromEntries(
        Object.entries(ids).map(([key, id]) => [
          key,
          JSON.stringify(aSpecification(id, { host: `${key}.test` })),
        ]),
      ),
    })
  const old = resourceOf('ApiSpecification', 'old', from('old'), { createdAt: 1 })
  const young = resourceOf('ApiSpecification', 'young', from('young'), { createdAt: 2 })
  const reasons = ({ results }: Reconciliation): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [...results].flatMap(([key, { accepted }]) =>
        key.startsWith('Api') ? [[key.slice(25), accepted.reason]] : [],
      ),
    )

  it('who names the id of another gets nothing, and serves on under the id it had', () => {
    const step = start()
    step([realm('shop'), docs({ old: 'a', young: 'b' }), old, young])
    const after = step([realm('shop'), docs({ old: 'b', young: 'b' }), old, young])
    expect(reasons(after)).toEqual({ old: 'Conflicted', young: 'Accepted' })
    expect(after.results.get('ApiSpecification/default/old')).toMatchObject({
      id: 'a',
      serving: { generation: 1 },
      errors: [{ path: '/spec/documentFrom/configMap' }],
    })
    expect(after.results.get('ApiSpecification/default/old')?.errors[0]?.message).toContain(
      "the id 'b' belongs to ApiSpecification default/young",
    )
    const served = [...after.desired.documents].map(([id, { spec }]) => [id, spec['host']])
    expect(served.sort()).toEqual([
      ['a', 'old.test'],
      ['b', 'young.test'],
    ])
    // Nothing moves while nothing changes, and the way is free once the other goes.
    const again = step([realm('shop'), docs({ old: 'b', young: 'b' }), old, young])
    expect(again.desired.documents.get('a')).toBe(after.desired.documents.get('a'))
    const free = step([realm('shop'), docs({ old: 'b', young: 'b' }), old])
    expect([...free.desired.documents.keys()]).toEqual(['b'])
    expect(reasons(free)).toEqual({ old: 'Accepted' })
  })

  it('nor does one whose routes another has, under its new id', () => {
    const step = start()
    const rival = specification('rival', { host: 'old.test' }, { createdAt: 0 })
    const before = { v1: { base_path: '/own', paths: {} } }
    const own = aSpecification('a', { host: 'old.test', versions: before })
    const map = (document: object): Resource =>
      resourceOf('ConfigMap', 'docs', { data: { old: JSON.stringify(document) } })
    step([realm('shop'), map(own), old, rival])
    const after = step([
      realm('shop'),
      map(aSpecification('renamed', { host: 'old.test' })),
      old,
      rival,
    ])
    expect(reasons(after)).toEqual({ old: 'Conflicted', rival: 'Accepted' })
    expect([...after.desired.documents.keys()].sort()).toEqual(['a', 'rival'])
  })

  it('two change ids at once', () => {
    const step = start()
    step([realm('shop'), docs({ old: 'a', young: 'b' }), old, young])
    const after = step([realm('shop'), docs({ old: 'b', young: 'c' }), old, young])
    expect([...after.desired.documents.keys()].sort()).toEqual(['b', 'c'])
    expect(reasons(after)).toEqual({ old: 'Accepted', young: 'Accepted' })
  })

  it('a realm that names the uri of another keeps its own', () => {
    const step = start()
    const first = realm('a', {}, { createdAt: 1 })
    step([first, realm('b', {}, { createdAt: 2 })])
    const thief = resourceOf(
      'Realm',
      'a',
      { spec: { uri: 'com.b' } },
      { createdAt: 1, generation: 2 },
    )
    const after = step([thief, realm('b', {}, { createdAt: 2 })])
    expect([...after.desired.realms.keys()].sort()).toEqual(['com.a', 'com.b'])
    const { reason, message } = after.results.get('Realm/default/a')?.accepted ?? {}
    expect(reason).toBe('Conflicted')
    expect(message).toContain("the uri 'com.b' belongs to Realm default/b")
    expect([...step([thief]).desired.realms.keys()]).toEqual(['com.b'])
  })

  it('that was recreated under its name is another resource', () => {
    const step = start()
    step([realm('shop'), specification('d', {}, { uid: 'one' })])
    const broken = specification('d', { host: 5 }, { uid: 'two' })
    const after = step([realm('shop'), broken])
    expect(after.results.get('ApiSpecification/default/d')?.serving).toBeUndefined()
    expect([...after.desired.kept.documents]).toEqual(['d'])
  })
})

describe('classes', () => {
  it.each([
    ['of ours', undefined, 1],
    ['of ours, by name', 'svc', 1],
    ['of another', 'b', 0],
  ])('a spec that can not be read, %s', (_name, gatewayClassName, count) => {
    const spec = { documnet: {}, ...(gatewayClassName !== undefined && { gatewayClassName }) }
    const { results, desired } = start()([resourceOf('ApiSpecification', 'd', { spec })])
    expect(results.size).toBe(count)
    expect(desired.holdDeletes === undefined).toBe(count === 0)
  })

  it.each([
    ['of ours', undefined, 1],
    ['of ours, by name', 'svc', 1],
    ['of another', 'b', 0],
    ['of another, with a name from the prototype', 'constructor', 0],
  ])('a Realm that can not be read, %s', (_name, gatewayClassName, count) => {
    const spec = { usres: [], ...(gatewayClassName !== undefined && { gatewayClassName }) }
    const { results, desired } = start()([resourceOf('Realm', 'shop', { spec })])
    expect(results.size).toBe(count)
    expect(desired.holdDeletes === undefined).toBe(count === 0)
  })

  const ofClass = (gatewayClassName: string | undefined): object =>
    gatewayClassName === undefined ? {} : { gatewayClassName }

  it.each<[operator: string, realm: string | undefined, isFound: boolean]>([
    ['svc', undefined, true],
    ['svc', 'svc', true],
    ['svc', 'b', false],
    ['b', 'b', true],
    ['b', undefined, false],
    ['b', 'svc', false],
  ])('to operator %s a Realm of class %s: found %s', (className, named, isFound) => {
    const resources = [
      realm('shop', { allowedNamespaces: { from: 'All' }, ...ofClass(named) }),
      specification('a', { spec: { gatewayClassName: className } }),
    ]
    const validate = (all: readonly Resource[]): Reconciliation =>
      new Reconciler({ className }).reconcile(cacheOf(all))
    const { desired, results } = validate(resources)
    expect(results.has('Realm/default/shop')).toBe(isFound)
    expect([...desired.realms.keys()]).toEqual(isFound ? ['com.shop'] : [])
    expect([...desired.documents.keys()]).toEqual(isFound ? ['a'] : [])
    // Another class's realm reads like one that is not there.
    const { resolvedRefs } = results.get('ApiSpecification/default/a') ?? {}
    const without = validate(resources.slice(1)).results.get('ApiSpecification/default/a')
    expect(without?.resolvedRefs.reason).toBe('RealmNotFound')
    expect(isDeepStrictEqual(resolvedRefs, without?.resolvedRefs)).toBe(!isFound)
  })

  it.each(['svc', 'b'])('two classes have a Realm of one uri each: %s', (className) => {
    const named = (name: string, gatewayClassName: string, createdAt: number): Resource =>
      realm(name, { uri: 'com.shop', description: name, gatewayClassName }, { createdAt })
    const { desired, results } = new Reconciler({ className }).reconcile(
      cacheOf([named('of-b', 'b', 1), named('of-svc', 'svc', 2)]),
    )
    expect([...desired.realms].map(([uri, { record }]) => [uri, record.description])).toEqual([
      ['com.shop', `of-${className}`],
    ])
    expect([...results].map(([key, { accepted }]) => [key, accepted.status])).toEqual([
      [`Realm/default/of-${className}`, 'True'],
    ])
  })

  it('the class of a Realm is in no record, and in no digest', () => {
    const [plain, named] = [{}, { gatewayClassName: 'svc' }].map((more) =>
      start()([realm('shop', more)]).desired.realms.get('com.shop'),
    )
    expect(named).toEqual(plain)
    expect(named?.record).toEqual({ uri: 'com.shop' })
  })

  it('a Realm that changes its class is gone, and its documents find none', () => {
    const step = start()
    step([realm('shop'), specification('a')])
    const other = realm('shop', { gatewayClassName: 'b' }, { generation: 2 })
    const { desired, results } = step([other, specification('a')])
    expect([...desired.realms.keys()]).toEqual([])
    expect([...results.keys()]).toEqual(['ApiSpecification/default/a'])
    expect(results.get('ApiSpecification/default/a')?.resolvedRefs.reason).toBe('RealmDeleted')
  })
})

describe('documents in ConfigMaps that are too large', () => {
  const large = JSON.stringify(aSpecification('a', { meta: { text: 'x'.repeat(4 * 1024 * 1024) } }))
  it.each([
    ['text', { data: { k: large } }],
    ['gzip', { binaryData: { k: gzipSync(large).toString('base64') } }],
  ])('%s', (_name, content) => {
    const { results } = start()([
      realm('shop'),
      resourceOf('ConfigMap', 'docs', content),
      resourceOf('ApiSpecification', 'a', {
        spec: { documentFrom: { configMap: { name: 'docs', key: 'k' } } },
      }),
    ])
    expect(results.get('ApiSpecification/default/a')).toMatchObject({
      accepted: { status: 'False', reason: 'TooLarge' },
      errors: [{ code: 'invalid_value', path: '/spec/documentFrom/configMap' }],
    })
  })
})
