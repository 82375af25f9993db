// Pods as data planes on a real API server, as the operator's own account with the least rights it has.

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { DataPlane } from '../../../operator/data-plane.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import {
  createPodDataPlanes,
  type PodDataPlanes,
  type PodDataPlanesOptions,
} from '../../../operator/source/pods.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakePod, FakePodOptions } from '../../support/kubernetes/fake-pod.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { operatorApi } from './operator-api.ts'

const LABEL = 'gateway.svc.dev/data-plane'
const PATIENT = { withinMs: 30_000, everyMs: 50 }
const TEST_MS = 120_000

interface Watching {
  readonly planes: PodDataPlanes
  readonly now: () => readonly DataPlane[] | undefined
  readonly named: (name: string) => DataPlane | undefined
}

await describeWithKubernetes('pods of an API server', (plane) => {
  let api: KubernetesApi
  let some: KubernetesApi
  const watching: PodDataPlanes[] = []
  const pods: FakePod[] = []

  const aPod = async (options: Omit<FakePodOptions, 'ports'>): Promise<FakePod> => {
    const pod = await plane().fakePod({
      namespace: 'gateways',
      ports: { public: 18080, management: 18081 },
      ...options,
      labels: { [LABEL]: 'shared', ...options.labels },
    })
    pods.push(pod)
    return pod
  }

  const watch = (more: Partial<PodDataPlanesOptions> = {}): Watching => {
    const planes = createPodDataPlanes({
      api,
      namespaces: ['gateways'],
      sidecarNamespaces: 'all',
      scheme: 'http',
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
      ...more,
    })
    watching.push(planes)
    let last: readonly DataPlane[] | undefined
    planes.start((dataPlanes) => {
      last = dataPlanes
    })
    const named = (name: string): DataPlane | undefined => last?.find((each) => each.name === name)
    return { planes, now: () => last, named }
  }

  beforeAll(async () => {
    const account = { operatorNamespace: 'gateways' }
    api = await operatorApi(plane(), {
      ...account,
      serviceAccount: 'svc-operator',
      namespaces: 'all',
    })
    some = await operatorApi(plane(), {
      ...account,
      serviceAccount: 'svc-operator-some',
      namespaces: ['shop'],
    })
  }, TEST_MS)

  afterEach(async () => {
    for (const planes of watching.splice(0)) planes.stop()
    for (const pod of pods.splice(0)) await pod.delete()
  }, TEST_MS)

  afterAll(async () => {
    await Promise.all([api.close(), some.close()])
  }, TEST_MS)

  it(
    'come, are restarted in place, end and are deleted',
    async () => {
      const { now, named, planes } = watch()
      await eventually(() => {
        expect(now()).toEqual([])
      }, PATIENT)
      expect(planes.synced()).toBe(true)
      const first = await aPod({ name: 'gateway-0', ip: '127.0.1.1', labels: { tier: 'edge' } })
      const second = await aPod({ name: 'gateway-1', ip: '127.0.1.2', ready: false })
      await eventually(() => {
        expect(named('gateways/gateway-0')).toEqual({
          name: 'gateways/gateway-0',
          url: 'http://127.0.1.1:18081',
          labels: { [LABEL]: 'shared', tier: 'edge' },
          incarnation: `${first.uid}/${first.containerID}`,
          serverName: 'gateways.gateway.svc.dev',
        })
        expect(named('gateways/gateway-1')?.incarnation).toBe(`${second.uid}/${second.containerID}`)
      }, PATIENT)
      const untouched = named('gateways/gateway-1')
      const before = first.containerID
      await first.restartContainer()
      expect(first.containerID).not.toBe(before)
      await eventually(() => {
        expect(named('gateways/gateway-0')?.incarnation).toBe(`${first.uid}/${first.containerID}`)
      }, PATIENT)
      expect(named('gateways/gateway-1')).toBe(untouched)
      await first.patchStatus({ phase: 'Failed' })
      await eventually(() => {
        expect(now()).toEqual([untouched])
      }, PATIENT)
      await second.delete()
      await eventually(() => {
        expect(now()).toEqual([])
      }, PATIENT)
      const again = await aPod({ name: 'gateway-1', ip: '127.0.1.3' })
      await eventually(() => {
        expect(named('gateways/gateway-1')?.incarnation).toBe(`${again.uid}/${again.containerID}`)
      }, PATIENT)
    },
    TEST_MS,
  )

  it(
    'sidecars of any namespace, and of those that are named',
    async () => {
      const labels = { [LABEL]: 'sidecar' }
      const sidecar = { ip: '127.0.1.4', labels, sidecar: true }
      const pod = await aPod({ ...sidecar, namespace: 'shop', name: 'app-0' })
      await aPod({ ...sidecar, namespace: 'pets', name: 'app-0', ip: '127.0.1.5' })
      await aPod({ name: 'gateway-0', ip: '127.0.1.1' })
      const all = watch()
      const named = watch({ api: some, sidecarNamespaces: ['shop'] })
      const none = watch({ sidecarNamespaces: [] })
      const names = ({ now }: Watching): readonly string[] | undefined =>
        now()?.map(({ name }) => name)
      await eventually(() => {
        expect(names(all)).toEqual(['gateways/gateway-0', 'pets/app-0', 'shop/app-0'])
        expect(names(named)).toEqual(['gateways/gateway-0', 'shop/app-0'])
        expect(names(none)).toEqual(['gateways/gateway-0'])
      }, PATIENT)
      expect(all.named('shop/app-0')).toMatchObject({
        namespace: 'shop',
        incarnation: `${pod.uid}/${pod.containerID}`,
        serverName: 'shop.gateway.svc.dev',
      })
      await pod.restartContainer()
      await eventually(() => {
        expect(all.named('shop/app-0')?.incarnation).toBe(`${pod.uid}/${pod.containerID}`)
      }, PATIENT)
    },
    TEST_MS,
  )

  it(
    'where pods may not be read, that is reported, and no data plane is removed for it',
    async () => {
      const { planes, now } = watch({ api: some })
      await eventually(() => {
        expect(planes.notes()[0]?.message).toContain('list and watch Pod resources')
      }, PATIENT)
      expect(planes.synced()).toBe(false)
      expect(now()).toBeUndefined()
    },
    TEST_MS,
  )
})
