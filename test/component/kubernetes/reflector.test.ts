// The client and its reflectors on a real API server, as an account that may only watch: whatever befalls the
// server, the connections or the account's rights, in the end they hold exactly what stands there.

import { afterEach, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../operator/clock.ts'
import {
  ApiError,
  type KubernetesApi,
  type ResourceType,
  TYPES,
} from '../../../operator/kubernetes/api.ts'
import {
  createKubernetesApi,
  type KubernetesApiOptions,
} from '../../../operator/kubernetes/client.ts'
import { loadCluster } from '../../../operator/kubernetes/kubeconfig.ts'
import { createReflector } from '../../../operator/kubernetes/reflector.ts'
import type { ReflectorTuning } from '../../../operator/kubernetes/reflector-loop.ts'
import type { Watched } from '../../../operator/kubernetes/watched.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../spec/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { untilGranted, userOf } from '../../support/kubernetes/access-review.ts'
import { type ApiResponse, demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { startTcpRelay, type TcpRelay } from '../../support/tcp-relay.ts'

const WIDGETS: ResourceType = {
  group: 'example.test',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  isNamespaced: true,
}

const WIDGET_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

const ACCOUNT = 'watcher'
const RBAC = 'rbac.authorization.k8s.io'
const VERBS = ['get', 'list', 'watch']
const ROLE = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: ACCOUNT },
  rules: [
    { apiGroups: [''], resources: ['configmaps'], verbs: VERBS },
    { apiGroups: ['example.test'], resources: ['widgets'], verbs: VERBS },
  ],
}
const BINDING = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: ACCOUNT },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ACCOUNT },
  subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: ACCOUNT }],
}

const LONG = { withinMs: 60_000, everyMs: 50 }
const HASTY: Partial<ReflectorTuning> = { backOff: { firstMs: 50, capMs: 500 } }

const closing: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const mapsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
const widgetsOf = (namespace: string): string =>
  `/apis/example.test/v1/namespaces/${namespace}/widgets`

const makeNamespace = async (plane: ControlPlane, name: string): Promise<void> => {
  const body = { metadata: { name } }
  demand(await plane.request({ method: 'POST', path: '/api/v1/namespaces', body }), 409)
}

const create = (plane: ControlPlane, path: string, body: object): Promise<ApiResponse> =>
  plane.request({ method: 'POST', path, body }).then(demand)

const createMany = async (
  plane: ControlPlane,
  namespace: string,
  names: readonly string[],
): Promise<void> => {
  const rest = [...names]
  const work = async (): Promise<void> => {
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      await create(plane, mapsOf(namespace), { metadata: { name }, data: { name } })
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const change = async (plane: ControlPlane, path: string, data: object): Promise<void> => {
  demand(await plane.request({ method: 'PATCH', path, body: { data } }))
}

const remove = async (plane: ControlPlane, path: string): Promise<void> => {
  demand(await plane.request({ method: 'DELETE', path }))
}

const member = (value: Value | undefined, name: string): Value =>
  isMap(value ?? null) ? ((value as ValueMap)[name] ?? null) : null

const identityOf = (object: Value): string =>
  ['uid', 'resourceVersion', 'name']
    .map((name) => JSON.stringify(member(member(object, 'metadata'), name)))
    .join(' ')

/** What stands there, as an administrator sees it. */
const standing = async (plane: ControlPlane, path: string): Promise<string[]> => {
  const items = member(demand(await plane.request({ path })).json() as ValueMap, 'items')
  return (isList(items) ? items : []).map(identityOf).sort()
}

const held = (watched: Watched<string>): string[] => [...watched.items.values()].sort()

/** Within the time that it takes, and it stays so. */
const expectTheSame = async (
  plane: ControlPlane,
  watched: Watched<string>,
  path: string,
): Promise<void> => {
  await eventually(async () => {
    expect(watched.trouble).toBeUndefined()
    expect(held(watched)).toEqual(await standing(plane, path))
  }, LONG)
}

interface Account {
  readonly api: KubernetesApi
  readonly relay: TcpRelay
  readonly requests: string[]
}

/** The API as the account sees it, through a relay that can be cut. */
const connect = async (
  plane: ControlPlane,
  more: Partial<KubernetesApiOptions> = {},
): Promise<Account> => {
  const kubeconfig = await plane.serviceAccount('default', ACCOUNT)
  await plane.apply([ROLE, BINDING])
  const user = userOf('default', ACCOUNT)
  await untilGranted(plane, { user, verb: 'list', resource: 'configmaps' })
  const relay = await startTcpRelay(Number(new URL(plane.server).port))
  closing.push(() => relay[Symbol.asyncDispose]())
  const cluster = await loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK })
  const requests: string[] = []
  const api = createKubernetesApi({
    cluster: { ...cluster, server: `https://127.0.0.1:${relay.port}` },
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    userAgent: 'svc-operator/test',
    onRequest: ({ verb, resource, code }) => requests.push(`${verb} ${resource} ${code}`),
    ...more,
  })
  closing.push(() => api.close())
  return { api, relay, requests }
}

const follow = async (
  { api }: Account,
  {
    namespace,
    type = TYPES.configMaps,
    ...tuning
  }: Partial<ReflectorTuning> & {
    readonly namespace: string
    readonly type?: ResourceType
  },
): Promise<{ readonly watched: Watched<string>; readonly told: { times: number } }> => {
  const told = { times: 0 }
  const watched = createReflector<string>(
    {
      api,
      type,
      namespace,
      pageSize: 500,
      read: identityOf,
      onChange: () => (told.times += 1),
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
    },
    { ...HASTY, ...tuning },
  )
  closing.push(() => watched.stop())
  watched.start()
  await eventually(() => {
    expect(watched.hasSynced).toBe(true)
  }, LONG)
  return { watched, told }
}

const count = (requests: readonly string[], request: string): number =>
  requests.filter((each) => each === request).length

await describeWithKubernetes(
  'a reflector',
  (plane) => {
    it(
      'lists many objects by pages, and follows what becomes of them',
      async () => {
        const namespace = 'many'
        await makeNamespace(plane(), namespace)
        const names = Array.from({ length: 1200 }, (_, number) => `map-${number}`)
        await createMany(plane(), namespace, names)
        const account = await connect(plane())
        const { watched, told } = await follow(account, { namespace })
        expect(count(account.requests, 'list configmaps 200')).toBe(3)
        expect(told.times).toBe(1)
        expect(watched.items.size).toBe(1200)
        const path = mapsOf(namespace)
        await create(plane(), path, { metadata: { name: 'new' } })
        await change(plane(), `${path}/map-7`, { changed: 'yes' })
        await remove(plane(), `${path}/map-8`)
        await expectTheSame(plane(), watched, path)
        expect(watched.items.has(`${namespace}/new`)).toBe(true)
        expect(watched.items.has(`${namespace}/map-8`)).toBe(false)
        expect(await watched.relist()).toBe(true)
        await expectTheSame(plane(), watched, path)
      },
      RESTART_MS,
    )

    it('has few connections for many requests, and one more for each watch', async () => {
      const account = await connect(plane())
      const { watched } = await follow(account, { namespace: 'default' })
      const name = { namespace: 'default', name: 'none' }
      for (let round = 0; round < 4; round += 1) {
        await Promise.allSettled(
          Array.from({ length: 50 }, () => account.api.get(TYPES.configMaps, name)),
        )
      }
      expect(count(account.requests, 'get configmaps 404')).toBe(200)
      expect(account.relay.connections).toBeLessThanOrEqual(9)
      expect(watched.trouble).toBeUndefined()
    })

    it(
      'goes on after its connections are cut, without a list',
      async () => {
        const account = await connect(plane())
        const { watched } = await follow(account, { namespace: 'many' })
        const path = mapsOf('many')
        for (const name of ['cut-1', 'cut-2', 'cut-3']) {
          account.relay.cut()
          await create(plane(), path, { metadata: { name } })
          await expectTheSame(plane(), watched, path)
        }
        // A whole list takes three requests, a check one.
        expect(count(account.requests, 'list configmaps 200')).toBeLessThanOrEqual(8)
      },
      RESTART_MS,
    )

    it(
      'notices an API server that hangs, says so, and catches up',
      async () => {
        const timeouts = { answerMs: 2000, watchSilenceMs: 2000 }
        const account = await connect(plane(), { timeouts })
        const { watched } = await follow(account, { namespace: 'default' })
        const path = mapsOf('default')
        const before = held(watched)
        await plane().pause()
        try {
          await eventually(() => {
            expect(watched.trouble).toMatchObject({ status: 0 })
          }, LONG)
          expect(held(watched)).toEqual(before)
          expect(await watched.relist()).toBe(false)
        } finally {
          plane().resume()
        }
        await create(plane(), path, { metadata: { name: 'after-pause' } })
        await expectTheSame(plane(), watched, path)
      },
      RESTART_MS,
    )

    it(
      'outlives a restart, a crash, and a history that is forgotten',
      async () => {
        const account = await connect(plane())
        const { watched } = await follow(account, { namespace: 'default' })
        const path = mapsOf('default')
        await create(plane(), path, { metadata: { name: 'goes' } })
        await expectTheSame(plane(), watched, path)
        const old = watched.items.get('default/goes')?.split(' ')[1]?.replaceAll('"', '') ?? ''

        await plane().stop()
        await eventually(() => {
          expect(watched.trouble).toMatchObject({ status: 0 })
        }, LONG)
        expect(watched.items.has('default/goes')).toBe(true)
        await plane().start()
        await remove(plane(), `${path}/goes`)
        await expectTheSame(plane(), watched, path)

        await plane().crash()
        await create(plane(), path, { metadata: { name: 'after-crash' } })
        await expectTheSame(plane(), watched, path)

        await plane().compact()
        await create(plane(), path, { metadata: { name: 'after-compaction' } })
        await expectTheSame(plane(), watched, path)
        const asked = { namespace: 'default', resourceVersion: old, timeoutSeconds: 5 }
        const { signal } = new AbortController()
        const late = account.api.watch(TYPES.configMaps, asked, signal)
        await expect(late.next()).rejects.toMatchObject({ status: 410, reason: 'Expired' })
      },
      RESTART_MS,
    )

    it(
      'takes in that storage went back in time',
      async () => {
        const account = await connect(plane())
        const path = mapsOf('restored')
        await makeNamespace(plane(), 'restored')
        await createMany(plane(), 'restored', ['stays', 'changes', 'was-deleted'])
        const { watched } = await follow(account, { namespace: 'restored' })
        const snapshot = await plane().snapshot()
        await change(plane(), `${path}/changes`, { of: 'the lost future' })
        await remove(plane(), `${path}/was-deleted`)
        const lost = Array.from({ length: 300 }, (_, number) => `lost-${number}`)
        await createMany(plane(), 'restored', lost)
        await expectTheSame(plane(), watched, path)
        const future = (await account.api.list(TYPES.configMaps, { limit: 1 })).resourceVersion

        await plane().restore(snapshot)
        await expectTheSame(plane(), watched, path)
        expect([...watched.items.keys()].sort()).toEqual([
          'restored/changes',
          'restored/stays',
          'restored/was-deleted',
        ])
        const asked = { limit: 1, resourceVersion: future }
        const error = await account.api
          .list(TYPES.configMaps, { ...asked, resourceVersionMatch: 'NotOlderThan' })
          .catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(ApiError)
        expect(error).toMatchObject({ status: 504, reason: 'ResourceVersionTooLarge' })
        await create(plane(), path, { metadata: { name: 'after-restore' } })
        await expectTheSame(plane(), watched, path)

        // So little is lost that the versions of the new past are soon beyond it: no check would tell.
        const later = await plane().snapshot()
        await remove(plane(), `${path}/after-restore`)
        await expectTheSame(plane(), watched, path)
        await plane().restore(later)
        await createMany(plane(), 'default', ['beyond-1', 'beyond-2', 'beyond-3'])
        await expectTheSame(plane(), watched, path)
        expect(watched.items.has('restored/after-restore')).toBe(true)
      },
      RESTART_MS,
    )

    it(
      'keeps what it holds while it may not look, and catches up when it may',
      async () => {
        const account = await connect(plane())
        const { watched } = await follow(account, {
          namespace: 'default',
          watchSeconds: { least: 1, most: 1 },
        })
        const path = mapsOf('default')
        await create(plane(), path, { metadata: { name: 'forbidden' } })
        await expectTheSame(plane(), watched, path)
        const binding = `/apis/${RBAC}/v1/clusterrolebindings/${ACCOUNT}`
        await remove(plane(), binding)
        // The watch may be the first that is refused; the check before the next one is from then on.
        await eventually(() => {
          expect(watched.trouble).toMatchObject({
            status: 403,
            message: expect.stringContaining('cannot list resource "configmaps"'),
          })
        }, LONG)
        await remove(plane(), `${path}/forbidden`)
        expect(watched.items.has('default/forbidden')).toBe(true)
        await plane().apply([BINDING])
        await expectTheSame(plane(), watched, path)
      },
      RESTART_MS,
    )

    it(
      'outlives its kind',
      async () => {
        await plane().apply([WIDGET_CRD])
        const path = widgetsOf('default')
        const widget = (name: string): object => ({
          apiVersion: 'example.test/v1',
          kind: 'Widget',
          metadata: { name },
        })
        await create(plane(), path, widget('first'))
        const account = await connect(plane())
        const { watched } = await follow(account, { namespace: 'default', type: WIDGETS })
        await expectTheSame(plane(), watched, path)
        expect(watched.items.size).toBe(1)

        const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
        await remove(plane(), `${definition}/widgets.example.test`)
        await eventually(() => {
          expect(watched.trouble).toMatchObject({ status: 404 })
        }, LONG)
        await plane().apply([WIDGET_CRD])
        await eventually(() => create(plane(), path, widget('second')), LONG)
        await expectTheSame(plane(), watched, path)
        expect([...watched.items.keys()]).toEqual(['default/second'])
      },
      RESTART_MS,
    )
  },
  { controllers: false },
)
