// What is applied warns of what the operator knows: in the words that the conditions will have, which the same resources
// reconciled give.

import { describe, expect, it } from '@jest/globals'
import { createAdviser } from '../../../operator/admission/advise-review.ts'
import { createFindUnserved } from '../../../operator/admission/absent-services.ts'
import { createLookUp } from '../../../operator/admission/look-up.ts'
import { readReview } from '../../../operator/admission/review.ts'
import { ReviewKeys } from '../../../operator/admission/review-key.ts'
import { createServedClasses } from '../../../operator/admission/served-classes.ts'
import { validateReview } from '../../../operator/admission/validate-review.ts'
import type { DataPlane } from '../../../operator/data-plane.ts'
import { ApiError, type KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import { Reconciler, type ReconcilerOptions } from '../../../operator/reconcile/reconciler.ts'
import { API_VERSION, GROUP, keyOf, type Resource } from '../../../operator/resource/resource.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { Clock } from '../../../base/clock.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { settled } from '../../support/settled.ts'

const NOW_MS = 1_800_000_000_000

/** As the API server has it when it asks. */
const objectOf = (kind: string, name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: API_VERSION,
  kind,
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-new-${name}`,
    generation: 1,
    creationTimestamp: new Date(NOW_MS).toISOString(),
    ...metadata,
  },
  spec,
})

const document = (id: string, more: object = {}): object => aSpecification(id, more)
const specification = (name: string, more: object = {}, spec: object = {}): object =>
  objectOf('ApiSpecification', name, { document: document(name, more), ...spec })

const known = (namespace: string): { readonly namespace: string } => ({ namespace })
const stored = (id: string, more: object = {}, namespace = 'shop'): Resource =>
  resourceOf(
    'ApiSpecification',
    `stored-${id}`,
    { spec: { document: document(id, more) } },
    known(namespace),
  )
const realm = (uri: string, more: object = {}, namespace = 'shop'): Resource =>
  resourceOf('Realm', uri.replaceAll('.', '-'), { spec: { uri, ...more } }, known(namespace))

const SHOP = realm('com.shop')
const POOL: DataPlane = { name: 'pool/gw', url: 'https://x', labels: { tier: 'web' } }

interface World {
  readonly resources?: readonly Resource[]
  readonly validating?: Partial<ReconcilerOptions>
  /** Undefined: not known yet. */
  readonly dataPlanes?: readonly DataPlane[] | undefined
  /** Of the API server beside the watches, by kind and name; a number: the status of an error. */
  readonly objects?: Readonly<Record<string, object | number | 'late'>>
  readonly classes?: readonly string[] | number
  /** Nothing has been read yet. */
  readonly isNew?: boolean
  readonly deletedRealmSeconds?: number
}

const aWorld = ({ resources = [SHOP], validating = {}, ...world }: World = {}) => {
  const clock = createManualClock({ startMs: NOW_MS })
  const asked: string[] = []
  const options: ReconcilerOptions = { className: 'svc', hostOwnership: 'strict', ...validating }
  const reconciler = new Reconciler(options)
  let cache = cacheOf(resources)
  let reconciliation = reconciler.reconcile(cache)
  const api: Pick<KubernetesApi, 'get' | 'list'> = {
    get: async ({ kind }, { namespace, name }) => {
      asked.push(`${kind} ${namespace}/${name}`)
      const response = world.objects?.[`${kind}/${name}`] ?? 404
      if (response === 'late') return new Promise(() => undefined)
      await settled()
      if (typeof response === 'number') throw new ApiError('no', { status: response })
      const metadata = { name, namespace, uid: 'u', resourceVersion: '1' }
      return { apiVersion: 'v1', kind, metadata, ...response }
    },
    list: (_type, { labelSelector = '' }) => {
      const { classes = [] } = world
      asked.push(labelSelector)
      if (typeof classes === 'number') throw new ApiError('no', { status: classes })
      const items = classes.filter((each) => labelSelector === `${GROUP}/class=${each}`)
      return Promise.resolve({ resourceVersion: '1', items: items.map(() => ({})) })
    },
  }
  const adviser = createAdviser({
    className: 'svc',
    clock,
    deletedRealmSeconds: world.deletedRealmSeconds ?? 60,
    foresight: () =>
      world.isNew === true
        ? undefined
        : {
            cache,
            reconciliation,
            preview: (...args) => reconciler.preview(...args),
            usersOf: (key) => reconciler.usersOf(key),
          },
    dataPlanes: () => ('dataPlanes' in world ? world.dataPlanes : [POOL]),
    lookUp: createLookUp({
      api,
      clock,
      remedy: (kind, of) => `allow it with: kubectl grant ${kind} ${of}`,
    }),
    findUnserved: createFindUnserved({ api, clock, clusterDomain: 'cluster.local' }),
    isClassServed: createServedClasses({ api, clock }),
  })
  const come = (...more: readonly Resource[]): void => {
    cache = cacheOf([...resources, ...more])
    reconciliation = reconciler.reconcile(cache)
  }
  const ask = async (object: object, request: object = {}) => {
    const { metadata } = object as { readonly metadata: { readonly name: string } }
    const { kind } = object as { readonly kind: string }
    const review = readReview({
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: 'u',
        kind: { group: GROUP, kind },
        operation: 'CREATE',
        object,
        namespace: 'shop',
        name: metadata.name,
        options: { fieldManager: 'kubectl' },
        ...request,
      },
    })
    if (review === undefined) throw new Error('that was no review')
    const response = validateReview(review, { className: 'svc', adviser })
    const running = { isDone: false }
    void response.finally(() => {
      running.isDone = true
    })
    for (let i = 0; i < 200 && !running.isDone; i += 1) {
      await settled()
      if (clock.pending > 0) clock.advance(25)
    }
    return response
  }
  return { ask, asked, come, reconciler, clock }
}

const warningsOf = async (world: World, object: object): Promise<readonly string[]> => {
  const response = await aWorld(world).ask(object)
  expect(response.allowed).toBe(true)
  return response.warnings
}

const PREFIX = 'not in service yet: '

const fromSecret = (name: string, key?: string): object => ({
  variablesFrom: [{ ...(key && { name: 'v' }), secretRef: { name, ...(key && { key }) } }],
})
const fromConfigMap = (name: string, key: string): object => ({
  document: undefined,
  documentFrom: { configMap: { name, key } },
})
const oidc = {
  versions: {
    v1: {
      base_path: '/v1',
      security: { type: 'oidc' },
      paths: { '/a': { get: { action: { type: 'static', body: 'x' }, response: {} } } },
    },
  },
}
const NO_QUOTA = { documents: Infinity, routes: Infinity, bytes: Infinity, realms: Infinity }
const confined = { destinations: 'own' } as const
const forwarding = {
  versions: {
    v1: {
      base_path: '/v1',
      paths: {
        '/a': { get: { action: { type: 'forward', host: 'orders.bank.svc' }, response: {} } },
      },
    },
  },
}

describe('what is wrong beside a resource', () => {
  const inConfigMap = { 'ConfigMap/docs': { data: { k: JSON.stringify(document('a')) } } }
  const cases: readonly (readonly [string, World, object, string])[] = [
    [
      'an unknown realm',
      {},
      specification('a', { realm_uri: 'com.none' }),
      "there is no realm 'com.none'",
    ],
    [
      "another namespace's realm",
      { resources: [realm('com.bank', {}, 'bank')] },
      specification('a', { realm_uri: 'com.bank' }),
      "there is no realm 'com.bank' that namespace shop may use",
    ],
    [
      'a realm that is not good itself',
      {
        resources: [realm('com.shop', { callbackSecret: { secretRef: { name: 'x', key: 'k' } } })],
      },
      specification('a'),
      'Realm shop/com-shop is not valid itself',
    ],
    [
      'a host that its realm does not allow',
      { resources: [realm('com.shop', { allowedHosts: ['*.shop.example'] })] },
      specification('a'),
      "the realm 'com.shop' does not allow the host 'a.test'",
    ],
    [
      "another namespace's host",
      {
        resources: [
          SHOP,
          realm('com.bank', {}, 'bank'),
          stored('b', { host: 'a.test', realm_uri: 'com.bank' }, 'bank'),
        ],
      },
      specification('a'),
      "the host 'a.test' belongs to documents of another namespace",
    ],
    [
      'the host _',
      { validating: { wildcardNamespaces: [] } },
      specification('a', { host: '_' }),
      'wildcardNamespaces of the chart',
    ],
    [
      'the id of another document of the namespace',
      { resources: [SHOP, stored('a')] },
      specification('a'),
      "the id 'a' belongs to ApiSpecification shop/stored-a",
    ],
    [
      'the id of a document of another namespace',
      {
        resources: [
          SHOP,
          realm('com.bank', {}, 'bank'),
          stored('a', { realm_uri: 'com.bank' }, 'bank'),
        ],
      },
      specification('a', { host: 'other.test' }),
      "the id 'a' belongs to an older ApiSpecification of another namespace",
    ],
    [
      'the path of another document',
      { resources: [SHOP, stored('b', { host: 'a.test' })] },
      specification('a'),
      "GET a.test/v1/a belongs to the API 'b', which comes first",
    ],
    [
      'a Secret that is not there',
      {},
      specification('a', {}, fromSecret('api', 'k')),
      'there is no Secret shop/api',
    ],
    [
      'a key that the Secret lacks',
      { objects: { 'Secret/api': { data: { token: 'eA==' } } } },
      specification('a', {}, fromSecret('api', 'k')),
      "Secret shop/api has no key 'k'; it has token",
    ],
    [
      'a Secret that may not be read',
      { objects: { 'Secret/api': 403 } },
      specification('a', {}, fromSecret('api', 'k')),
      'allow it with: kubectl grant Secret shop',
    ],
    [
      'a ConfigMap that may not be read',
      { objects: { 'ConfigMap/docs': 403 } },
      specification('a', {}, fromConfigMap('docs', 'k')),
      'allow it with: kubectl grant ConfigMap shop',
    ],
    [
      'a ConfigMap that is not there',
      {},
      specification('a', {}, fromConfigMap('docs', 'k')),
      'there is no ConfigMap shop/docs',
    ],
    [
      'a key that the ConfigMap lacks',
      { objects: { 'ConfigMap/docs': { data: { other: '{}' } } } },
      specification('a', {}, fromConfigMap('docs', 'k')),
      "ConfigMap shop/docs has no key 'k'; it has other",
    ],
    [
      'an id of others in a ConfigMap',
      { objects: inConfigMap, resources: [SHOP, stored('a')] },
      specification('a', {}, fromConfigMap('docs', 'k')),
      "/spec/documentFrom/configMap: the id 'a' belongs to ApiSpecification shop/stored-a",
    ],
    [
      'a document in a ConfigMap that is none',
      { objects: { 'ConfigMap/docs': { data: { k: '{"id": 5}' } } } },
      specification('a', {}, fromConfigMap('docs', 'k')),
      "key 'k' of ConfigMap shop/docs at ",
    ],
    [
      'oidc in a realm without it',
      {},
      specification('a', oidc),
      'oidc needs a realm whose authmethods hold',
    ],
    [
      "another namespace's Service",
      { validating: confined },
      specification('a', forwarding),
      'destinations of the chart',
    ],
    [
      'the Secret of a Realm',
      {},
      objectOf('Realm', 'r', {
        uri: 'com.r',
        callbackSecret: { secretRef: { name: 'none', key: 'k' } },
      }),
      'there is no Secret shop/none',
    ],
    [
      'one Realm more than the namespace may have',
      { validating: { namespaceQuota: { ...NO_QUOTA, realms: 1 } } },
      objectOf('Realm', 'r', { uri: 'com.r' }),
      'the namespace shop may have 1 Realm',
    ],
    [
      'the uri of another Realm',
      {},
      objectOf('Realm', 'r', { uri: 'com.shop' }),
      "the uri 'com.shop' belongs to Realm shop/com-shop",
    ],
  ]

  it.each(cases)('%s', async (_, world, object, words) => {
    const warnings = await warningsOf(world, object)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(PREFIX)
    expect(warnings[0]).toContain(words)
    expect(warnings[0]?.length).toBeLessThanOrEqual(512)
  })

  it('is worded as the conditions will be', async () => {
    for (const [, world, object] of cases) {
      const [warning = ''] = await warningsOf(world, object)
      const { metadata, ...rest } = object as ValueMap & { readonly metadata: { name: string } }
      const kind = rest['kind'] as 'ApiSpecification' | 'Realm'
      const meant = resourceOf(kind, metadata.name, rest, { ...known('shop'), createdAt: NOW_MS })
      const referred = Object.entries(world.objects ?? {}).flatMap(([id, value]) => {
        const [of = '', name = ''] = id.split('/')
        return typeof value === 'object'
          ? [resourceOf(of as 'Secret', name, value, known('shop'))]
          : []
      })
      const forbidden = new Map(
        Object.entries(world.objects ?? {}).flatMap(([id, value]) => {
          const [of = '', name = ''] = id.split('/')
          return value === 403
            ? [[`${of}/shop/${name}`, `allow it with: kubectl grant ${of} shop`]]
            : []
        }),
      )
      const { results } = new Reconciler({
        className: 'svc',
        hostOwnership: 'strict',
        ...world.validating,
      }).reconcile(cacheOf([...(world.resources ?? [SHOP]), meant, ...referred], { forbidden }))
      const result = results.get(keyOf(meant))
      const messages = [result?.accepted, result?.resolvedRefs].flatMap((condition) =>
        condition?.status === 'False' ? [`${PREFIX}${condition.message}`] : [],
      )
      expect([warning]).toEqual(messages)
    }
  })

  it('unknown realms and those of others have one message', async () => {
    const uri = { realm_uri: 'com.bank' }
    const unknown = await warningsOf({}, specification('a', uri))
    const foreign = await warningsOf(
      { resources: [realm('com.bank', {}, 'bank')] },
      specification('a', uri),
    )
    expect(foreign).toEqual(unknown)
  })

  it('several things at once are several warnings', async () => {
    const warnings = await warningsOf(
      { resources: [stored('a')] },
      specification(
        'a',
        { realm_uri: 'com.none', colour: 1 },
        { dataPlaneSelector: { matchLabels: { tier: 'db' } } },
      ),
    )
    expect(warnings.map((text) => text.slice(0, 80))).toEqual([
      expect.stringContaining("the id 'a'"),
      expect.stringContaining('there is no realm'),
      expect.stringContaining('no data plane'),
      expect.stringContaining('/spec/document/colour'),
    ])
  })
})

describe('what is right gets no word', () => {
  const sidecar: DataPlane = { ...POOL, namespace: 'shop', labels: { app: 'web' } }
  const selecting = { dataPlaneSelector: { matchLabels: { tier: 'web' } } }
  it.each<[string, World, object]>([
    ['a document', {}, specification('a')],
    ['a Realm', {}, objectOf('Realm', 'r', { uri: 'com.r' })],
    ['a selector that fits', {}, specification('a', {}, selecting)],
    [
      'a sidecar that it selects',
      { dataPlanes: [sidecar] },
      specification('a', {}, { dataPlaneSelector: { matchLabels: { app: 'web' } } }),
    ],
    [
      'a Secret that only the API server knows yet',
      { objects: { 'Secret/api': { data: { k: 'eA==' } } } },
      specification('a', { name: '{{variables.v}}' }, fromSecret('api', 'k')),
    ],
    [
      'a document in a ConfigMap',
      { objects: { 'ConfigMap/docs': { data: { k: JSON.stringify(document('a')) } } } },
      specification('a', {}, fromConfigMap('docs', 'k')),
    ],
    [
      'an older document of the same claim elsewhere',
      { resources: [SHOP, stored('b')] },
      specification('a', { host: 'b.other' }),
    ],
  ])('%s', async (_, world, object) => {
    expect(await warningsOf(world, object)).toEqual([])
  })

  it('an update of the resource that has the id, the host and the path', async () => {
    const { ask } = aWorld({ resources: [SHOP, stored('a')] })
    const own = { uid: 'uid-stored-a', creationTimestamp: '2020-01-01T00:00:00Z' }
    const object = (name: string): object =>
      objectOf('ApiSpecification', 'stored-a', { document: document('a', { name }) }, own)
    const request = { operation: 'UPDATE', oldObject: object('before') }
    expect((await ask(object('after'), request)).warnings).toEqual([])
    const renamed = objectOf(
      'ApiSpecification',
      'stored-a',
      { document: document('z', { host: 'a.test' }) },
      own,
    )
    expect((await ask(renamed, request)).warnings).toEqual([])
  })
})

describe('nothing is said', () => {
  const faulty = specification('a', { realm_uri: 'com.none' }, fromSecret('api', 'k'))

  it.each<[string, World]>([
    ['before everything was read', { isNew: true }],
    ['where the API server does not answer in time', { objects: { 'Secret/api': 'late' } }],
    ['where the API server fails', { objects: { 'Secret/api': 500 } }],
  ])('%s', async (_, world) => {
    expect((await warningsOf(world, faulty)).filter((text) => text.startsWith(PREFIX))).toEqual([])
  })

  it('of gateways before they are known', async () => {
    expect(await warningsOf({ dataPlanes: undefined }, specification('a'))).toEqual([])
  })

  it('of what is refused but its problems', async () => {
    const response = await aWorld().ask(specification('a', { realm_uri: 'com.none', host: 'a..b' }))
    expect(response).toMatchObject({ allowed: false, warnings: [] })
  })

  it('of more Secrets than are looked up, and those that watches hold are not looked up', async () => {
    const many = Array.from({ length: 9 }, (_, i) => ({ secretRef: { name: `s${i}` } }))
    const { ask, asked } = aWorld()
    expect((await ask(specification('a', {}, { variablesFrom: many }))).allowed).toBe(true)
    const held = resourceOf('Secret', 'api', { data: { k: 'eA==' } }, known('shop'))
    const world = aWorld({ resources: [SHOP, held] })
    await world.ask(specification('a', {}, fromSecret('api', 'k')))
    expect([...asked, ...world.asked]).toEqual([])
  })
})

describe('a forward to a Service', () => {
  const forwardingTo = (host: string): object =>
    specification('a', {
      versions: {
        v1: {
          base_path: '/v1',
          paths: { '/a': { get: { action: { type: 'forward', host }, response: {} } } },
        },
      },
    })

  it.each(['http://absent.bank.svc:8080', 'absent.bank.svc.cluster.local'])(
    'that does not exist is warned of: %s',
    async (host) => {
      const { ask, asked } = aWorld()
      const { warnings, allowed } = await ask(forwardingTo(host))
      expect([allowed, warnings.length, asked]).toEqual([true, 1, ['Service bank/absent']])
      expect(warnings[0]).toContain('there is no Service that the host absent.bank.svc')
    },
  )

  it.each<[string, string, World]>([
    ['that exists', 'orders.bank.svc', { objects: { 'Service/orders': {} } }],
    ['that may not be read', 'orders.bank.svc', { objects: { 'Service/orders': 403 } }],
    ['that is not answered in time', 'orders.bank.svc', { objects: { 'Service/orders': 'late' } }],
    ['while the API server fails', 'orders.bank.svc', { objects: { 'Service/orders': 500 } }],
    ['whose name may be a domain', 'example.com', {}],
    ['whose name the DNS of gateways completes', 'orders', {}],
    ['by the name of a Pod', 'a-0.orders.bank.svc', {}],
    ['that is known with a request', "{{request.query |> get(host, '')}}", {}],
  ])('%s is not', async (_, host, world) => {
    expect(await warningsOf(world, forwardingTo(host))).toEqual([])
  })
})

describe('objects are not requested while 32 requests, however long they take, are under way', () => {
  const EIGHT = Array.from({ length: 8 }, (_, at) => `s${at}`)
  const naming = resourceOf('ApiSpecification', 'a', {
    spec: {
      document: document('a'),
      variablesFrom: EIGHT.map((name) => ({ secretRef: { name } })),
    },
  })

  it.each<[string, (api: Pick<KubernetesApi, 'get'>, clock: Clock) => () => Promise<unknown>]>([
    [
      'Services',
      (api, clock) => {
        const findUnserved = createFindUnserved({ api, clock, clusterDomain: 'cluster.local' })
        return () => findUnserved(EIGHT.map((name) => `${name}.bank.svc`))
      },
    ],
    [
      'Secrets',
      (api, clock) => {
        const lookUp = createLookUp({ api, clock, remedy: () => '' })
        return () => lookUp(naming, cacheOf([]))
      },
    ],
  ])('%s', async (_, askWith) => {
    const clock = createManualClock({ startMs: NOW_MS })
    const open: PromiseWithResolvers<ValueMap>[] = []
    const get = (): Promise<ValueMap> => {
      const request = Promise.withResolvers<ValueMap>()
      open.push(request)
      return request.promise
    }
    const ask = askWith({ get }, clock)
    const askInVain = async (): Promise<void> => {
      const response = ask()
      clock.advance(700)
      await response
    }
    for (let i = 0; i < 6; i += 1) await askInVain()
    expect(open).toHaveLength(32)
    for (const { reject } of open) reject(new ApiError('no', { status: 404 }))
    await settled()
    await askInVain()
    expect(open).toHaveLength(40)
  })
})

it('what was applied a moment before is waited for', async () => {
  const { ask, come, clock } = aWorld({ resources: [] })
  const response = ask(specification('a'))
  for (let i = 0; i < 5; i += 1) await settled()
  come(SHOP)
  expect((await response).warnings).toEqual([])
  expect(clock.pending).toBe(0)
})

it('realms of a document have warnings of their own', async () => {
  const info = { oidcProviders: {} }
  const authmethods = ['oidcrp', 'cookie']
  const warnings = await warningsOf(
    { resources: [realm('com.shop', { info, authmethods })] },
    specification('a', oidc),
  )
  expect(warnings.join('\n')).toContain("the realm has no OpenID provider named 'default'")
})

it.each<[string, World, object, string | undefined]>([
  ['no gateway', { dataPlanes: [] }, {}, 'no data plane is selected'],
  [
    'a selector that fits none',
    {},
    { dataPlaneSelector: { matchLabels: { tier: 'db' } } },
    'no data plane is selected: start one, or change dataPlaneSelector so that it matches one that runs',
  ],
  [
    "a sidecar, and another namespace's realm",
    {
      resources: [realm('com.shop', { allowedNamespaces: { from: 'All' } }, 'bank')],
      dataPlanes: [{ ...POOL, namespace: 'shop' }],
    },
    { dataPlaneSelector: { matchLabels: { tier: 'web' } } },
    "a sidecar selected by this document may not receive the realm 'com.shop'",
  ],
  [
    "another namespace's sidecars",
    { dataPlanes: [{ ...POOL, namespace: 'bank' }] },
    {},
    'no data plane is selected',
  ],
])('gateways: %s', async (_, world, spec, words) => {
  const warnings = await warningsOf(world, specification('a', {}, spec))
  expect(warnings).toEqual([expect.stringContaining(`${PREFIX}${words}`)])
})

describe('another class', () => {
  it.each<[string, World, string, number]>([
    ['that no operator serves', {}, 'nginx', 1],
    ['that another release serves', { classes: ['other'] }, 'other', 0],
    ['where the operator may not see all Pods', { classes: 403 }, 'nginx', 0],
    ['that no label could tell', {}, 'no class!', 1],
  ])('%s', async (_, world, className, count) => {
    const object = specification('a', { host: 'a..b' }, { gatewayClassName: className })
    const warnings = await warningsOf(world, object)
    expect(warnings).toHaveLength(count)
    for (const warning of warnings) {
      expect(warning).toContain(`no known release in the cluster has the class '${className}'`)
      expect(warning).toContain("this one has the class 'svc'")
    }
  })
})

describe('a Realm that goes', () => {
  const users = [
    ...['d', 'b', 'c', 'a'].map((id) => stored(id)),
    stored('x', {}, 'bank'),
    stored('other', { realm_uri: 'com.other' }),
  ]
  const open = realm('com.shop', { allowedNamespaces: { from: 'All' } })
  const remove = (resources: readonly Resource[], name = 'com-shop', annotations: object = {}) => {
    const oldObject = objectOf('Realm', name, { uri: 'com.shop' }, { annotations })
    return aWorld({ resources }).ask(oldObject, { operation: 'DELETE', object: null, oldObject })
  }

  it('tells how many documents use it, and names those of its namespace alone', async () => {
    const response = await remove([open, ...users])
    expect(response).toEqual({
      allowed: true,
      warnings: [
        '5 documents use this Realm (stored-a, stored-b, stored-c and 1 more of this namespace; 1 of other namespaces): ' +
          'its last valid version serves for 60 s, then they go out of service (RealmDeleted) until it is created again; ' +
          'to take it out of service at once, annotate it with gateway.svc.dev/delete-now: "true" first',
      ],
    })
  })

  it('says so where it is revoked at once', async () => {
    const { warnings } = await remove([open, stored('a')], 'com-shop', {
      [`${GROUP}/delete-now`]: 'true',
    })
    expect(warnings).toEqual([
      '1 document uses this Realm (stored-a): they go out of service at once, as it is annotated gateway.svc.dev/delete-now',
    ])
  })

  it('says so where deleted Realms serve no longer at all', async () => {
    const oldObject = objectOf('Realm', 'com-shop', { uri: 'com.shop' })
    const { warnings } = await aWorld({
      resources: [open, stored('a')],
      deletedRealmSeconds: 0,
    }).ask(oldObject, { operation: 'DELETE', object: null, oldObject })
    expect(warnings).toEqual([
      '1 document uses this Realm (stored-a): they go out of service at once (--deleted-realm-seconds 0)',
    ])
  })

  it.each<[string, readonly Resource[], string]>([
    ['no user has', [open], 'com-shop'],
    ['is not known', [open, ...users], 'unknown'],
    [
      "whose uri is another's",
      [
        open,
        ...users,
        resourceOf(
          'Realm',
          'later',
          { spec: { uri: 'com.shop' } },
          { ...known('shop'), createdAt: 2000 },
        ),
      ],
      'later',
    ],
  ])('that %s goes without a word', async (_, resources, name) => {
    expect(await remove(resources, name)).toEqual({ allowed: true, warnings: [] })
  })
})

describe('the key of reviews', () => {
  it('follows the certificate, and the one before it counts on', () => {
    let key: string | undefined
    const keys = new ReviewKeys(() => key)
    expect([keys.current, keys.has('')]).toEqual([undefined, false])
    key = 'one'
    const first = keys.current ?? ''
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    key = 'two'
    const second = keys.current ?? ''
    expect([first, second, '', 'one', second.slice(1)].map((word) => keys.has(word))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    key = 'three'
    expect(keys.has(first)).toBe(false)
  })
})
