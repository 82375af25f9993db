// The source of resources on a real API server, as the operator's own account with the least rights it has.

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { type Clock, SYSTEM_CLOCK } from '../../../operator/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/api.ts'
import { createKubernetesSource } from '../../../operator/kubernetes/source.ts'
import type { ResourceSource } from '../../../operator/resource/resource-source.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually, type Patience } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { LONG } from './home.ts'
import { applyDefinitions, makeNamespace, operatorApi } from './operator-api.ts'

const GROUP_PATH = '/apis/gateway.svc.dev/v1alpha1'
const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: 'gateway-system' }
const PATIENT = { withinMs: 30_000, everyMs: 50 }
const TEST_MS = 120_000

const head = (kind: string, namespace: string, name: string): object => ({
  apiVersion: ['ApiSpecification', 'Realm'].includes(kind) ? 'gateway.svc.dev/v1alpha1' : 'v1',
  kind,
  metadata: { namespace, name },
})

const aDocument = (namespace: string, name: string, spec: object = {}): object => ({
  ...head('ApiSpecification', namespace, name),
  spec: { document: { id: `${namespace}.${name}`, host: '_', realm_uri: 'com.shop' }, ...spec },
})

const aSecret = (namespace: string, name: string, stringData: object): object => ({
  ...head('Secret', namespace, name),
  stringData,
})

const variablesFrom = (name: string): object => ({
  variablesFrom: [{ name: 'token', secretRef: { name, key: 'token' } }],
})

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

await describeWithKubernetes('resources of an API server', (plane) => {
  let api: KubernetesApi
  const sources: ResourceSource[] = []
  const apis: KubernetesApi[] = []

  const anApi = async (
    serviceAccount: string,
    namespaces: readonly string[] | 'all',
  ): Promise<KubernetesApi> => {
    const { operatorNamespace } = ACCOUNT
    const made = await operatorApi(plane(), { serviceAccount, operatorNamespace, namespaces })
    apis.push(made)
    return made
  }

  const aSource = async (
    namespaces: readonly string[] | 'all',
    {
      through = api,
      clock = SYSTEM_CLOCK,
      returnMs = 1_000,
    }: { through?: KubernetesApi; clock?: Clock; returnMs?: number } = {},
  ): Promise<ResourceSource> => {
    const source = createKubernetesSource({
      api: through,
      namespaces,
      className: 'svc',
      account: ACCOUNT,
      clock,
      log: createSilentLog(),
      timing: { definitionRetryMs: 100, definitionReturnMs: returnMs },
    })
    sources.push(source)
    await source.start(() => undefined)
    await eventually(() => {
      expect(source.synced()).toBe(true)
    }, PATIENT)
    return source
  }

  beforeAll(async () => {
    await applyDefinitions(plane())
    api = await anApi(ACCOUNT.serviceAccount, 'all')
    // Secrets of the operator itself stand in its own namespace; these are others'.
    for (const name of ['shop', 'pets']) await makeNamespace(plane(), name)
  }, TEST_MS)

  afterEach(async () => {
    for (const source of sources.splice(0)) await source.stop()
    await remove(plane())
  }, TEST_MS)

  afterAll(async () => {
    for (const each of apis.splice(0)) await each.close()
  }, TEST_MS)

  it(
    'are seen as they come, change and go',
    async () => {
      const source = await aSource('all')
      await plane().apply([
        aDocument('shop', 'orders', { document: { id: 'orders', host: 'a.test' } }),
        { ...head('Realm', 'shop', 'shop'), spec: { uri: 'com.shop' } },
        aDocument('shop', 'foreign', { gatewayClassName: 'other' }),
        {
          ...head('Realm', 'shop', 'foreign'),
          spec: { uri: 'com.shop', gatewayClassName: 'other' },
        },
      ])
      const orders = await seen(source, 'ApiSpecification/shop/orders')
      await seen(source, 'Realm/shop/shop')
      expect(source.current().resources.has('ApiSpecification/shop/foreign')).toBe(false)
      expect(source.current().resources.has('Realm/shop/foreign')).toBe(false)
      expect(orders.metadata).toMatchObject({ generation: 1, annotations: {} })
      expect(orders).toMatchObject({ checked: { spec: { document: { host: 'a.test' } } } })
      const namespace = await seen(source, 'Namespace//shop')
      expect(namespace.metadata.labels).toMatchObject({ 'kubernetes.io/metadata.name': 'shop' })
      await plane().apply([
        aDocument('shop', 'orders', { document: { id: 'orders', host: 'b.test' } }),
      ])
      await eventually(() => {
        expect(find(source, 'ApiSpecification/shop/orders')?.metadata.generation).toBe(2)
      }, PATIENT)
      const realm = find(source, 'Realm/shop/shop')
      await patchStatus(plane(), 'apispecifications', 'orders', {
        programmedGeneration: 2,
        programmedDigest: `sha256:${'a'.repeat(64)}`,
      })
      await eventually(() => {
        expect(find(source, 'ApiSpecification/shop/orders')).toMatchObject({
          programmed: { generation: 2, digest: `sha256:${'a'.repeat(64)}` },
        })
      }, PATIENT)
      expect(find(source, 'Realm/shop/shop')).toBe(realm)
      await plane().kubectl(['delete', 'apispecification', '-n', 'shop', 'orders'])
      await unseen(source, 'ApiSpecification/shop/orders')
      expect(source.current().holdDeletes).toBeUndefined()
      expect(await source.confirm()).toBe(true)
    },
    TEST_MS,
  )

  it(
    'a Secret: forbidden, granted by the printed command, seen, rotated, gone',
    async () => {
      await plane().apply([
        aSecret('shop', 'keys', { token: 'one', other: 'never read' }),
        aDocument('shop', 'orders', variablesFrom('keys')),
      ])
      const source = await aSource('all')
      const command = source.current().forbidden?.get('Secret/shop/keys') ?? ''
      expect(command).toMatch(/^kubectl create rolebinding .* --namespace=shop /)
      expect(await plane().kubectl(command.split(' ').slice(1))).toMatchObject({ code: 0 })
      const secret = await seen(source, 'Secret/shop/keys')
      expect(secret).toMatchObject({ data: { token: inBase64('one') }, otherKeys: ['other'] })
      expect(JSON.stringify(secret)).not.toContain(inBase64('never read'))
      expect(source.current().forbidden?.size).toBe(0)
      const orders = find(source, 'ApiSpecification/shop/orders')
      await plane().apply([aSecret('shop', 'keys', { token: 'two' })])
      await eventually(() => {
        expect(find(source, 'Secret/shop/keys')).toMatchObject({ data: { token: inBase64('two') } })
      }, PATIENT)
      expect(find(source, 'ApiSpecification/shop/orders')).toBe(orders)
      await plane().kubectl(['delete', 'secret', '-n', 'shop', 'keys'])
      await unseen(source, 'Secret/shop/keys')
      await plane().kubectl(['delete', 'rolebinding', '-n', 'shop', 'svc-gateway-secret-reader'])
    },
    TEST_MS,
  )

  it(
    'a Role for one Secret by its name is enough',
    async () => {
      await plane().apply([
        aSecret('pets', 'keys', { token: 'one' }),
        aDocument('pets', 'cats', variablesFrom('keys')),
        ...roleForOneSecret('pets', 'keys'),
      ])
      const source = await aSource('all')
      const secret = await seen(source, 'Secret/pets/keys')
      expect(secret).toMatchObject({ data: { token: inBase64('one') } })
      expect(source.current().forbidden?.size).toBe(0)
      await plane().kubectl(['delete', 'role,rolebinding', '-n', 'pets', 'one-secret'])
    },
    TEST_MS,
  )

  it(
    'a ConfigMap with a document, and a Secret that is not there',
    async () => {
      const from = { configMap: { name: 'docs', key: 'a.json' } }
      await plane().apply([
        { ...head('ConfigMap', 'shop', 'docs'), data: { 'a.json': '{}', 'b.json': '[]' } },
        { ...head('ApiSpecification', 'shop', 'large'), spec: { documentFrom: from } },
        ...roleForOneSecret('shop', 'nowhere'),
        aDocument('shop', 'orders', variablesFrom('nowhere')),
      ])
      const source = await aSource('all')
      expect(find(source, 'ConfigMap/shop/docs')).toMatchObject({ data: { 'a.json': '{}' } })
      // The role counts a moment after it was written.
      await eventually(() => {
        expect(source.current().forbidden?.size).toBe(0)
      }, PATIENT)
      expect(find(source, 'Secret/shop/nowhere')).toBeUndefined()
      await plane().apply([aSecret('shop', 'nowhere', { token: 'here' })])
      await seen(source, 'Secret/shop/nowhere')
      await plane().kubectl(['delete', 'role,rolebinding', '-n', 'shop', 'one-secret'])
    },
    TEST_MS,
  )

  it(
    'of a list of namespaces, with rights in those alone',
    async () => {
      const through = await anApi('svc-operator-some', ['shop', 'pets'])
      await makeNamespace(plane(), 'elsewhere')
      await plane().apply([
        aDocument('shop', 'orders'),
        aDocument('pets', 'cats'),
        aDocument('elsewhere', 'other'),
      ])
      const all = await aSource('all')
      const some = await aSource(['shop', 'pets'], { through })
      const documents = (source: ResourceSource): readonly string[] =>
        [...source.current().resources.keys()].filter((key) => key.startsWith('ApiSpec')).sort()
      const ours = ['ApiSpecification/pets/cats', 'ApiSpecification/shop/orders']
      expect(documents(all)).toEqual(['ApiSpecification/elsewhere/other', ...ours])
      expect(documents(some)).toEqual(ours)
      expect(some.current().holdDeletes).toBeUndefined()
      expect(await some.confirm()).toBe(true)
      await plane().kubectl(['delete', 'apispecification', '-n', 'pets', 'cats'])
      await unseen(some, 'ApiSpecification/pets/cats')
    },
    TEST_MS,
  )

  it(
    'a CRD is deleted and made again: all stays, and is the new one after',
    async () => {
      await plane().apply([aDocument('shop', 'a'), aDocument('shop', 'b'), aDocument('pets', 'c')])
      // How long kubectl takes until all is applied again is not told: that time goes on when it has.
      const time = { aheadMs: 0 }
      const clock: Clock = {
        ...SYSTEM_CLOCK,
        now: () => Date.now() + time.aheadMs,
        after: (ms, callback) => SYSTEM_CLOCK.after(Math.min(ms, 500), callback),
      }
      const source = await aSource('all', { clock, returnMs: 60_000 })
      const uidOf = (name: string): string | undefined =>
        find(source, `ApiSpecification/shop/${name}`)?.metadata.uid
      const before = [uidOf('a'), uidOf('b')]
      const { resources } = source.current()
      const gone: string[] = []
      const watching = setInterval(() => {
        for (const key of resources.keys()) if (!source.current().resources.has(key)) gone.push(key)
      }, 1)
      const crd = 'apispecifications.gateway.svc.dev'
      expect(await plane().kubectl(['delete', 'crd', crd])).toMatchObject({ code: 0 })
      await eventually(() => {
        expect(source.current().holdDeletes).toContain('CRD')
      }, PATIENT)
      expect(await source.confirm()).toBe(false)
      await applyDefinitions(plane())
      await plane().apply([aDocument('shop', 'a'), aDocument('shop', 'b')])
      await eventually(() => {
        expect(before).not.toContain(uidOf('a'))
        expect(before).not.toContain(uidOf('b'))
        expect(source.current().holdDeletes).toContain('is back')
      }, PATIENT)
      clearInterval(watching)
      expect(gone).toEqual([])
      // What nobody has applied again goes in the end.
      time.aheadMs += 61_000
      await unseen(source, 'ApiSpecification/pets/c')
      await eventually(() => {
        expect(source.current().holdDeletes).toBeUndefined()
      }, PATIENT)
      expect(await source.confirm()).toBe(true)
      expect([uidOf('a'), uidOf('b')]).not.toContain(undefined)
    },
    TEST_MS,
  )

  it(
    'the API server stops and starts: nothing changes, and it is told',
    async () => {
      await plane().apply([aDocument('shop', 'a')])
      const source = await aSource('all')
      const { resources } = source.current()
      await plane().stop()
      await eventually(() => {
        const messages = source.current().notes.map(({ message }) => message)
        expect(messages.join()).toContain('ApiSpecification resources can')
      }, PATIENT)
      expect(await source.confirm()).toBe(false)
      expect([...source.current().resources]).toEqual([...resources])
      await plane().start()
      await plane().apply([aDocument('shop', 'b')])
      await seen(source, 'ApiSpecification/shop/b', LONG)
      await eventually(() => {
        expect(source.current().notes).toEqual([])
      }, LONG)
      expect(await source.confirm()).toBe(true)
    },
    RESTART_MS,
  )

  it(
    'the right to read documents is taken away and given back',
    async () => {
      await plane().apply([aDocument('shop', 'a')])
      const through = await anApi('svc-operator-shop', ['shop'])
      const source = await aSource(['shop'], { through })
      const binding = 'svc-gateway-resource-reader:gateway-system:svc-operator-shop'
      await plane().kubectl(['delete', 'rolebinding', '-n', 'shop', binding])
      await eventually(async () => {
        expect(await source.confirm()).toBe(false)
      }, PATIENT)
      await eventually(() => {
        expect(source.current().holdDeletes).toContain('list and watch')
      }, PATIENT)
      expect(find(source, 'ApiSpecification/shop/a')).toBeDefined()
      await anApi('svc-operator-shop', ['shop'])
      await eventually(async () => {
        expect(await source.confirm()).toBe(true)
      }, PATIENT)
    },
    TEST_MS,
  )
})

const find = (source: ResourceSource, key: string): Resource | undefined =>
  source.current().resources.get(key)

const seen = (
  source: ResourceSource,
  key: string,
  patience: Patience = PATIENT,
): Promise<Resource> =>
  eventually(() => {
    const resource = find(source, key)
    if (resource === undefined) throw new Error(`${key} is not there`)
    return resource
  }, patience)

const unseen = (source: ResourceSource, key: string): Promise<void> =>
  eventually(() => {
    expect(source.current().resources.has(key)).toBe(false)
  }, PATIENT)

const patchStatus = async (
  plane: ControlPlane,
  plural: string,
  name: string,
  status: object,
): Promise<void> => {
  const path = `${GROUP_PATH}/namespaces/shop/${plural}/${name}/status`
  demand(await plane.request({ method: 'PATCH', path, body: { status } }))
}

const roleForOneSecret = (namespace: string, secret: string): readonly object[] => {
  const rbac = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { namespace, name: 'one-secret' },
  }
  const { operatorNamespace, serviceAccount: name } = ACCOUNT
  const rule = { apiGroups: [''], resources: ['secrets'], resourceNames: [secret] }
  return [
    { ...rbac, kind: 'Role', rules: [{ ...rule, verbs: ['get', 'list', 'watch'] }] },
    {
      ...rbac,
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one-secret' },
      subjects: [{ kind: 'ServiceAccount', name, namespace: operatorNamespace }],
    },
  ]
}

/** What the tests have made, so that each begins with nothing. */
const remove = async (plane: ControlPlane): Promise<void> => {
  for (const namespace of ['shop', 'pets', 'elsewhere']) {
    for (const plural of ['apispecifications', 'realms']) {
      const path = `${GROUP_PATH}/namespaces/${namespace}/${plural}`
      demand(await plane.request({ method: 'DELETE', path }), 404)
    }
    for (const plural of ['secrets', 'configmaps']) {
      const path = `/api/v1/namespaces/${namespace}/${plural}`
      demand(await plane.request({ method: 'DELETE', path }), 404)
    }
  }
}
