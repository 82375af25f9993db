import { describe, expect, it } from '@jest/globals'
import { TYPES } from '../../../operator/kubernetes/client/api.ts'
import {
  createPodDataPlanes,
  type PodDataPlanes,
  type PodDataPlanesOptions,
} from '../../../operator/source/pods.ts'
import { type PodPlaces, readPod } from '../../../operator/source/read-pod.ts'
import type { DataPlane } from '../../../operator/data-plane.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createFakeApi, createFakeWatches, type FakeWatches } from '../kubernetes/fake-watches.ts'

const LABEL = 'gateway.svc.dev/data-plane'
const PLACES: PodPlaces = { namespaces: ['gateways'], sidecarNamespaces: 'all', scheme: 'https' }

interface PodFacts {
  readonly name?: string
  readonly namespace?: string
  readonly uid?: string
  readonly labels?: ValueMap
  readonly metadata?: ValueMap
  readonly spec?: ValueMap
  readonly status?: ValueMap
}

const GATEWAY: ValueMap = {
  name: 'gateway',
  ports: [
    { name: 'public', containerPort: 18080 },
    { name: 'management', containerPort: 18081 },
  ],
}

const aPod = (facts: PodFacts = {}): ValueMap => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: facts.name ?? 'gateway-0',
    namespace: facts.namespace ?? 'gateways',
    uid: facts.uid ?? 'u1',
    labels: { [LABEL]: 'shared', ...facts.labels },
    ...facts.metadata,
  },
  spec: facts.spec ?? { containers: [{ name: 'other' }, GATEWAY] },
  status: {
    phase: 'Running',
    podIP: '10.0.0.7',
    containerStatuses: [
      { name: 'other', containerID: 'containerd://other' },
      { name: 'gateway', containerID: 'containerd://one' },
    ],
    ...facts.status,
  },
})

const SIDECAR: PodFacts = {
  namespace: 'shop',
  labels: { [LABEL]: 'sidecar' },
  spec: { initContainers: [GATEWAY], containers: [{ name: 'app' }] },
  status: {
    containerStatuses: [{ name: 'app', containerID: 'containerd://app' }],
    initContainerStatuses: [{ name: 'gateway', containerID: 'containerd://native' }],
  },
}

describe('a pod', () => {
  it('of the shared pool', () => {
    expect(readPod(aPod({ labels: { tier: 'edge' } }), PLACES)).toEqual({
      reading: 'data-plane',
      dataPlane: {
        name: 'gateways/gateway-0',
        url: 'https://10.0.0.7:18081',
        labels: { [LABEL]: 'shared', tier: 'edge' },
        incarnation: 'u1/containerd://one',
        serverName: 'gateways.gateway.svc.dev',
      },
    })
  })

  it.each([
    ['initContainers', 'gateway'],
    ['containers', 'svc-gateway'],
  ])(
    'whose application has a management port, too, and the gateway among its %s',
    (place, name) => {
      const gateway = { ...GATEWAY, name }
      const app = { name: 'app', ports: [{ name: 'management', containerPort: 8081 }] }
      const spec = {
        containers: [app],
        [place]: place === 'containers' ? [app, gateway] : [gateway],
      }
      expect(readPod(aPod({ ...SIDECAR, spec }), PLACES)).toMatchObject({
        dataPlane: { url: 'https://10.0.0.7:18081' },
      })
    },
  )

  it('with a native sidecar', () => {
    expect(readPod(aPod(SIDECAR), PLACES)).toMatchObject({
      dataPlane: {
        name: 'shop/gateway-0',
        namespace: 'shop',
        incarnation: 'u1/containerd://native',
        serverName: 'shop.gateway.svc.dev',
      },
    })
  })

  const sidecars = (...sidecarNamespaces: readonly string[]): PodPlaces => ({
    ...PLACES,
    sidecarNamespaces,
  })

  it.each<[string, PodFacts, PodPlaces, string | undefined]>([
    ['shared in a namespace of data planes', {}, PLACES, 'shared'],
    ['any value but sidecar', { labels: { [LABEL]: '' } }, PLACES, 'shared'],
    ['labelled a sidecar there', { labels: { [LABEL]: 'sidecar' } }, PLACES, 'gateways'],
    ['anywhere else', { namespace: 'shop' }, PLACES, 'shop'],
    ['labelled a sidecar elsewhere', SIDECAR, PLACES, 'shop'],
    ['where sidecars are wanted', SIDECAR, sidecars('shop'), 'shop'],
    ['where none are wanted', SIDECAR, sidecars(), undefined],
    ['a sidecar among data planes', { labels: { [LABEL]: 'sidecar' } }, sidecars(), undefined],
  ])('%s', (_, facts, places, expected) => {
    const read = readPod(aPod(facts), places)
    const found = read.reading === 'data-plane' ? (read.dataPlane.namespace ?? 'shared') : undefined
    expect(found).toBe(expected)
  })

  it.each<[string, PodFacts, string]>([
    ['pending without an address', { status: { phase: 'Pending', podIP: '' } }, 'unready'],
    ['pending with an address', { status: { phase: 'Pending' } }, 'data-plane'],
    ['of an unknown phase', { status: { phase: 'Unknown' } }, 'data-plane'],
    ['succeeded', { status: { phase: 'Succeeded' } }, 'unready'],
    ['failed', { status: { phase: 'Failed' } }, 'unready'],
    ['ending', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'unready'],
    ['without the port', { spec: { containers: [{ name: 'a', ports: [] }] } }, 'error'],
    ['with a port that is none', { spec: { containers: [{ ports: 'x' }, null] } }, 'error'],
    ['without anything', { spec: {}, status: { containerStatuses: null } }, 'error'],
  ])('%s', (_, facts, reading) => {
    expect(readPod(aPod(facts), PLACES).reading).toBe(reading)
  })

  it.each([
    ['10.0.0.7', 'https', 'https://10.0.0.7:18081'],
    ['fd00::7', 'https', 'https://[fd00::7]:18081'],
    ['127.0.1.7', 'http', 'http://127.0.1.7:18081'],
    ['::1', 'http', 'http://[::1]:18081'],
    ['10.0.0.7', 'http', undefined],
    ['fd00::7', 'http', undefined],
    ['127.0.0.1.example', 'http', undefined],
  ] as const)('at %s by %s: %s', (podIP, scheme, url) => {
    const read = readPod(aPod({ status: { podIP } }), { ...PLACES, scheme })
    expect(read.reading === 'data-plane' ? read.dataPlane.url : undefined).toBe(url)
    expect(read.reading).toBe(url === undefined ? 'error' : 'data-plane')
  })

  it.each<[string, PodFacts, string]>([
    [
      'restarted',
      { status: { containerStatuses: [{ name: 'gateway', containerID: 'x' }] } },
      'u1/x',
    ],
    ['not started', { status: { containerStatuses: [{ name: 'gateway' }] } }, 'u1/'],
    ['without statuses', { status: { containerStatuses: [] } }, 'u1/'],
    ['another of the name', { uid: 'u2' }, 'u2/containerd://one'],
  ])('incarnation: %s', (_, facts, incarnation) => {
    expect(readPod(aPod(facts), PLACES)).toMatchObject({ dataPlane: { incarnation } })
  })
})

interface Fixture {
  readonly planes: PodDataPlanes
  readonly watches: FakeWatches
  readonly told: (readonly DataPlane[])[]
  readonly names: () => readonly string[] | undefined
}

const watchPods = (more: Partial<PodDataPlanesOptions> = {}): Fixture => {
  const watches = createFakeWatches()
  const planes = createPodDataPlanes({
    ...PLACES,
    api: createFakeApi(),
    clock: createManualClock(),
    log: createSilentLog(),
    createReflector: watches.createReflector,
    ...more,
  })
  const told: (readonly DataPlane[])[] = []
  planes.start((dataPlanes) => told.push(dataPlanes))
  return { planes, watches, told, names: () => told.at(-1)?.map(({ name }) => name) }
}

describe('pods as data planes', () => {
  it.each<[string, Partial<PodPlaces>, readonly (string | undefined)[]]>([
    ['sidecars anywhere: one watch', {}, [undefined]],
    ['no sidecars', { sidecarNamespaces: [] }, ['gateways']],
    ['some', { sidecarNamespaces: ['shop', 'gateways'] }, ['gateways', 'shop']],
  ])('%s', (_, places, namespaces) => {
    const { watches } = watchPods(places)
    expect(watches.open.map(({ options }) => options.namespace)).toEqual(namespaces)
    for (const { options } of watches.open) {
      expect(options).toMatchObject({ type: TYPES.pods, labelSelector: LABEL })
    }
  })

  it('nothing is reported before every watch has listed; then all of them, by name', () => {
    const { watches, told, planes, names } = watchPods({ sidecarNamespaces: ['shop'] })
    watches.of(TYPES.pods, { namespace: 'shop' }).sync(aPod(SIDECAR))
    expect(planes.synced()).toBe(false)
    expect(told).toEqual([])
    watches.of(TYPES.pods, { namespace: 'gateways' }).sync(aPod({ name: 'b' }), aPod({ name: 'a' }))
    expect(planes.synced()).toBe(true)
    expect(names()).toEqual(['gateways/a', 'gateways/b', 'shop/gateway-0'])
  })

  it('sidecars of a namespace that may not be read are not waited for, the shared pool is', async () => {
    const clock = createManualClock()
    const { watches, planes, names } = watchPods({ sidecarNamespaces: ['shop'], clock })
    watches.of(TYPES.pods, { namespace: 'shop' }).fail(403)
    await clock.run(60_000)
    expect(planes.synced()).toBe(false)
    watches.of(TYPES.pods, { namespace: 'gateways' }).sync(aPod({ name: 'a' }))
    expect(planes.synced()).toBe(true)
    expect(names()).toEqual(['gateways/a'])
    const other = watchPods({ sidecarNamespaces: ['shop'], clock })
    other.watches.of(TYPES.pods, { namespace: 'gateways' }).fail(403)
    other.watches.of(TYPES.pods, { namespace: 'shop' }).sync(aPod(SIDECAR))
    await clock.run(60_000)
    expect(other.planes.synced()).toBe(false)
    expect(other.told).toEqual([])
  })

  it('none at all is reported too', () => {
    const { watches, told } = watchPods()
    watches.of(TYPES.pods).sync()
    expect(told).toEqual([[]])
  })

  it('what changes nothing that is read is not reported; the rest stays the same object', () => {
    const { watches, told } = watchPods()
    const watch = watches.of(TYPES.pods).sync(aPod({ name: 'a' }), aPod({ name: 'b' }))
    watch.put(aPod({ name: 'a', status: { conditions: [{ type: 'Ready', status: 'True' }] } }))
    expect(told).toHaveLength(1)
    watch.put(aPod({ name: 'a', status: { podIP: '10.0.0.8' } }))
    expect(told).toHaveLength(2)
    expect(told[1]?.[1]).toBe(told[0]?.[1])
  })

  it('a pod that ends is gone, whether its object is or not', () => {
    const { watches, names } = watchPods()
    const watch = watches.of(TYPES.pods).sync(aPod({ name: 'a' }), aPod({ name: 'b' }))
    watch.put(aPod({ name: 'a', metadata: { deletionTimestamp: 'now' } }))
    expect(names()).toEqual(['gateways/b'])
    watch.remove('gateways/b')
    expect(names()).toEqual([])
  })

  it('the API server unavailable: all stay; what is wrong is reported', () => {
    const { watches, planes, told } = watchPods()
    const watch = watches.of(TYPES.pods).sync(aPod(), aPod({ name: 'odd', spec: {} }))
    watch.fail(0)
    expect(told).toHaveLength(1)
    expect(planes.notes().map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      expect.stringMatching(/^error: the Pod resources can't be read since 1970.*does not respond/),
      expect.stringMatching(/^warning: Pod gateways\/odd has no containerPort named management/),
    ])
  })

  it('nothing is reported after the stop', () => {
    const { watches, planes, told } = watchPods()
    const watch = watches.of(TYPES.pods).sync(aPod())
    planes.stop()
    watch.remove('gateways/gateway-0')
    expect(watch.isStopped).toBe(true)
    expect(told).toHaveLength(1)
  })
})
