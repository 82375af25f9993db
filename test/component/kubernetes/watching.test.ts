// What is watched, on a real API server, with no more rights than it takes: as the source of resources sees it, and the
// reflectors below it where the server forgets its versions. In the end they hold exactly what stands there.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import { type KubernetesApi, TYPES } from '../../../operator/kubernetes/client/api.ts'
import { KubernetesSource } from '../../../operator/source/source.ts'
import type { ResourceSource } from '../../../operator/resource/resource-source.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { createMaps, mapsOf, PAGE_SIZE, startMapWatcher } from './map-watcher.ts'
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

await describeWithKubernetes(
  'what is watched on an API server',
  (plane) => {
    describe('resources', () => {
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
          onChange = () => undefined,
        }: {
          readonly through?: KubernetesApi
          readonly clock?: Clock
          readonly returnMs?: number
          readonly onChange?: (source: ResourceSource) => void
        } = {},
      ): Promise<ResourceSource> => {
        const source = new KubernetesSource({
          api: through,
          namespaces,
          className: 'svc',
          account: ACCOUNT,
          clock,
          log: createSilentLog(),
          timing: { definitionRetryMs: 100, definitionReturnMs: returnMs },
        })
        sources.push(source)
        await source.start(() => {
          onChange(source)
        })
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
        await removeAll(plane())
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
        'a Role for one Secret by its name is enough, also for one that comes later',
        async () => {
          await plane().apply([
            aSecret('pets', 'keys', { token: 'one' }),
            aDocument('pets', 'cats', variablesFrom('keys')),
            ...roleForOneSecret('pets', 'keys'),
            aDocument('shop', 'orders', variablesFrom('nowhere')),
            ...roleForOneSecret('shop', 'nowhere'),
          ])
          const source = await aSource('all')
          // The roles count a moment after they were written.
          const secret = await seen(source, 'Secret/pets/keys')
          expect(secret).toMatchObject({ data: { token: inBase64('one') } })
          await eventually(() => {
            expect(source.current().forbidden?.size).toBe(0)
          }, PATIENT)
          expect(find(source, 'Secret/shop/nowhere')).toBeUndefined()
          await plane().apply([aSecret('shop', 'nowhere', { token: 'here' })])
          await seen(source, 'Secret/shop/nowhere')
          for (const namespace of ['shop', 'pets'])
            await plane().kubectl(['delete', 'role,rolebinding', '-n', namespace, 'one-secret'])
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
          await plane().apply([
            aDocument('shop', 'a'),
            aDocument('shop', 'b'),
            aDocument('pets', 'c'),
          ])
          // How long kubectl takes until all is applied again is not told: that time goes on when it has.
          const time = { aheadMs: 0 }
          const clock: Clock = {
            ...SYSTEM_CLOCK,
            now: () => Date.now() + time.aheadMs,
            after: (ms, callback) => SYSTEM_CLOCK.after(Math.min(ms, 500), callback),
          }
          let known: readonly string[] = []
          const gone: string[] = []
          const onChange = (changed: ResourceSource): void => {
            gone.push(...known.filter((key) => !changed.current().resources.has(key)))
          }
          const source = await aSource('all', { clock, returnMs: 60_000, onChange })
          const uidOf = (name: string): string | undefined =>
            find(source, `ApiSpecification/shop/${name}`)?.metadata.uid
          const before = [uidOf('a'), uidOf('b')]
          known = [...source.current().resources.keys()]
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
          expect(gone).toEqual([])
          // What is not applied again is deleted in the end.
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
    })

    describe('versions', () => {
      const change = async (path: string, data: object): Promise<void> => {
        demand(await plane().request({ method: 'PATCH', path, body: { data } }))
      }
      const remove = async (path: string): Promise<void> => {
        demand(await plane().request({ method: 'DELETE', path }))
      }

      it(
        'many objects are listed by pages and followed, also after connections are cut, without a list',
        async () => {
          const names = Array.from({ length: 2 * PAGE_SIZE + 20 }, (_, number) => `map-${number}`)
          await makeNamespace(plane(), 'many')
          await createMaps(plane(), 'many', names)
          await using watcher = await startMapWatcher(plane())
          const { watched, untilTrue, changes } = await watcher.follow('many')
          expect([watcher.lists(), changes(), watched.items.size]).toEqual([3, 1, names.length])
          await createMaps(plane(), 'many', ['new'])
          await change(`${mapsOf('many')}/map-7`, { changed: 'yes' })
          await remove(`${mapsOf('many')}/map-8`)
          await untilTrue()
          expect(watched.items.has('many/new')).toBe(true)
          expect(watched.items.has('many/map-8')).toBe(false)
          expect(await watched.relist()).toBe(true)
          await untilTrue()
          const before = watcher.lists()
          for (const name of ['cut-1', 'cut-2', 'cut-3']) {
            watcher.relay.cut()
            await createMaps(plane(), 'many', [name])
            await untilTrue()
          }
          // A whole list takes three requests, a check one; a connection may break twice at a cut.
          expect(watcher.lists() - before).toBeLessThanOrEqual(5)
        },
        RESTART_MS,
      )

      it(
        'a history that is forgotten is outlived; a request for it gets 410',
        async () => {
          await using watcher = await startMapWatcher(plane())
          const { untilTrue } = await watcher.follow('default')
          const { resourceVersion } = await watcher.api.list(TYPES.configMaps, { limit: 1 })
          await createMaps(plane(), 'default', ['before-compaction'])
          await plane().compact()
          await createMaps(plane(), 'default', ['after-compaction'])
          await untilTrue()
          const { signal } = new AbortController()
          const asked = { namespace: 'default', resourceVersion, timeoutSeconds: 5 }
          const late = watcher.api.watch(TYPES.configMaps, asked, signal)
          await expect(late.next()).rejects.toMatchObject({ status: 410, reason: 'Expired' })
        },
        RESTART_MS,
      )

      it(
        'storage that went back in time is taken in',
        async () => {
          await makeNamespace(plane(), 'restored')
          await createMaps(plane(), 'restored', ['stays', 'changes', 'was-deleted'])
          await using watcher = await startMapWatcher(plane())
          const { watched, untilTrue } = await watcher.follow('restored')
          const snapshot = await plane().snapshot()
          await change(`${mapsOf('restored')}/changes`, { of: 'the lost future' })
          await remove(`${mapsOf('restored')}/was-deleted`)
          const lost = Array.from({ length: 300 }, (_, number) => `lost-${number}`)
          await createMaps(plane(), 'restored', lost)
          await untilTrue()
          const { resourceVersion } = await watcher.api.list(TYPES.configMaps, { limit: 1 })

          await plane().restore(snapshot)
          await untilTrue()
          expect([...watched.items.keys()].sort()).toEqual([
            'restored/changes',
            'restored/stays',
            'restored/was-deleted',
          ])
          const notOlder = { resourceVersion, resourceVersionMatch: 'NotOlderThan' } as const
          await expect(
            watcher.api.list(TYPES.configMaps, { limit: 1, ...notOlder }),
          ).rejects.toMatchObject({ status: 504, reason: 'ResourceVersionTooLarge' })
          await createMaps(plane(), 'restored', ['after-restore'])
          await untilTrue()

          // So little is lost that the versions of the new past are soon beyond it: no check would tell.
          const later = await plane().snapshot()
          await remove(`${mapsOf('restored')}/after-restore`)
          await untilTrue()
          await plane().restore(later)
          await createMaps(plane(), 'default', ['beyond-1', 'beyond-2', 'beyond-3'])
          await untilTrue()
          expect(watched.items.has('restored/after-restore')).toBe(true)
        },
        RESTART_MS,
      )
    })
  },
  { controllers: false },
)

const find = (source: ResourceSource, key: string): Resource | undefined =>
  source.current().resources.get(key)

const seen = (source: ResourceSource, key: string): Promise<Resource> =>
  eventually(() => {
    const resource = find(source, key)
    if (resource === undefined) throw new Error(`${key} is not there`)
    return resource
  }, PATIENT)

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
const removeAll = async (plane: ControlPlane): Promise<void> => {
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
