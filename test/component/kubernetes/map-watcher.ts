// Opens reflectors on the ConfigMaps of a control plane, by an account that may only watch those, connected by a relay
// that can be cut.

import { expect } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { type KubernetesApi, TYPES } from '../../../operator/kubernetes/client/api.ts'
import { createKubernetesApi } from '../../../operator/kubernetes/client/client.ts'
import { loadCluster } from '../../../operator/kubernetes/config/kubeconfig.ts'
import { createReflector } from '../../../operator/kubernetes/watch/reflector.ts'
import type { Watched } from '../../../operator/kubernetes/watch/watched.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { untilGranted, userOf } from '../../support/kubernetes/access-review.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { startTcpRelay, type TcpRelay } from '../../support/tcp-relay.ts'
import { LONG } from './home.ts'

const NAME = 'watcher'
const RBAC = 'rbac.authorization.k8s.io'
const ROLE = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: NAME },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
}
const BINDING = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: NAME },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: NAME },
  subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: NAME }],
}

export interface MapWatcher extends AsyncDisposable {
  readonly api: KubernetesApi
  readonly relay: TcpRelay
  /** How many lists were answered so far. */
  readonly lists: () => number
  /** Resolves when all is listed once. */
  readonly follow: (namespace: string) => Promise<FollowedMaps>
}

export interface FollowedMaps {
  readonly watched: Watched<string>
  /** How often something was told. */
  readonly changes: () => number
  /** Waits until it holds what stands there, as an administrator sees it, and says so. */
  readonly untilTrue: () => Promise<void>
}

export const PAGE_SIZE = 50

/** @example await using watcher = await startMapWatcher(plane()) */
export const startMapWatcher = async (plane: ControlPlane): Promise<MapWatcher> => {
  const open = new AsyncDisposableStack()
  const kubeconfig = await plane.serviceAccount('default', NAME)
  await plane.apply([ROLE, BINDING])
  const user = userOf('default', NAME)
  await untilGranted(plane, { user, verb: 'list', resource: 'configmaps' })
  const relay = open.use(await startTcpRelay(Number(new URL(plane.server).port)))
  const cluster = await loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK })
  let lists = 0
  const api = createKubernetesApi({
    cluster: { ...cluster, server: `https://127.0.0.1:${relay.port}` },
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    userAgent: 'svc-operator/test',
    onRequest: ({ verb, code }) => {
      if (verb === 'list' && code === 200) lists += 1
    },
  })
  open.defer(() => api.close())
  const follow = async (namespace: string): Promise<FollowedMaps> => {
    let changes = 0
    const watched = createReflector<string>(
      {
        api,
        namespace,
        type: TYPES.configMaps,
        pageSize: PAGE_SIZE,
        read: identityOf,
        onChange: () => (changes += 1),
        clock: SYSTEM_CLOCK,
        log: createSilentLog(),
      },
      { backOff: { firstMs: 50, capMs: 500 } },
    )
    open.defer(() => watched.stop())
    watched.start()
    await eventually(() => {
      expect(watched.hasSynced).toBe(true)
    }, LONG)
    const untilTrue = (): Promise<void> =>
      eventually(async () => {
        expect(watched.failure).toBeUndefined()
        expect([...watched.items.values()].sort()).toEqual(await standing(plane, namespace))
      }, LONG)
    return { watched, untilTrue, changes: () => changes }
  }
  return {
    api,
    relay,
    follow,
    lists: () => lists,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

export const mapsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

export const createMaps = async (
  plane: ControlPlane,
  namespace: string,
  names: readonly string[],
): Promise<void> => {
  const rest = [...names]
  const work = async (): Promise<void> => {
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      const body = { metadata: { name }, data: { name } }
      demand(await plane.request({ method: 'POST', path: mapsOf(namespace), body }))
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const standing = async (plane: ControlPlane, namespace: string): Promise<readonly string[]> => {
  const { items = null } = demand(
    await plane.request({ path: mapsOf(namespace) }),
  ).json() as ValueMap
  return (isList(items) ? items : []).map(identityOf).sort()
}

const identityOf = (object: Value): string => {
  const { metadata = null } = isMap(object) ? object : {}
  const { uid, resourceVersion, name } = isMap(metadata) ? metadata : {}
  return JSON.stringify([uid, resourceVersion, name])
}
