// From the event of an API server to the gateways: the real client, watches and fleet against a server that speaks the
// API of Kubernetes, and management listeners with real stores. What passes is counted; no time is asserted.

import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { Fleet } from '../../../operator/fleet/fleet.ts'
import { staticDataPlanes } from '../../../operator/fleet/static-data-planes.ts'
import { createKubernetesApi } from '../../../operator/kubernetes/client/client.ts'
import { createReflector } from '../../../operator/kubernetes/watch/reflector.ts'
import { ServiceWatches } from '../../../operator/source/service-watches.ts'
import { ServiceDirectory } from '../../../dataplane/upstream/endpoints/service-directory.ts'
import { mapAt } from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { ServiceEndpoints } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { type Gateway, startGateway, toldEndpoints } from '../../contract/management/gateway.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { type FakeRequest, startFakeApiServer } from '../../operator/kubernetes/fake-api-server.ts'

const closing = new Set<AsyncDisposableStack>()
afterEach(async () => {
  for (const stack of closing) await stack.disposeAsync()
  closing.clear()
})

interface Endpoint {
  readonly address: string
  readonly conditions?: ValueMap
}

const SERVICE: ValueMap = {
  metadata: { namespace: 'shop', name: 'orders', uid: 'u', resourceVersion: '1' },
  spec: { clusterIPs: ['10.96.0.5'], selector: { app: 'a' }, ports: [{ port: 80 }] },
}

/** Lists and watches of one Service and its slice. */
class FakeCluster {
  readonly #watching = new Map<string, Set<ServerResponse>>()
  #version = 1
  #slice: ValueMap = this.#sliceOf([])
  #services: readonly ValueMap[] = [SERVICE]

  readonly response = ({ path, query }: FakeRequest, response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json')
    if (query.get('watch') === 'true') {
      const watching = this.#watching.get(path) ?? new Set()
      this.#watching.set(path, watching.add(response))
      response.on('close', () => watching.delete(response)).flushHeaders()
      return
    }
    const items = path.endsWith('/services') ? this.#services : [this.#slice]
    const metadata = { resourceVersion: String(this.#version) }
    response.end(JSON.stringify({ metadata, items }))
  }

  /** What the endpoint slice controller does. */
  set(...endpoints: readonly Endpoint[]): void {
    this.#slice = this.#sliceOf(endpoints)
    this.#tell('/endpointslices', { type: 'MODIFIED', object: this.#slice })
  }

  deleteService(): void {
    this.#services = []
    this.#tell('/services', { type: 'DELETED', object: SERVICE })
  }

  createService(address: string): void {
    this.#version += 1
    const metadata = mapAt(SERVICE, 'metadata')
    const object = {
      metadata: { ...metadata, uid: address, resourceVersion: String(this.#version) },
      spec: { ...mapAt(SERVICE, 'spec'), clusterIPs: [address] },
    }
    this.#services = [object]
    this.#tell('/services', { type: 'ADDED', object })
  }

  #tell(resource: string, event: ValueMap): void {
    for (const [path, watching] of this.#watching)
      if (path.endsWith(resource))
        for (const each of watching) each.write(`${JSON.stringify(event)}\n`)
  }

  #sliceOf(endpoints: readonly Endpoint[]): ValueMap {
    this.#version += 1
    return {
      metadata: { namespace: 'shop', name: 'orders-1', resourceVersion: String(this.#version) },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints: endpoints.map(({ address, conditions = {} }) => ({
        addresses: [address],
        conditions,
        targetRef: { kind: 'Pod', namespace: 'shop' },
      })),
    }
  }
}

const start = async (gateways: number) => {
  const stack = new AsyncDisposableStack()
  closing.add(stack)
  const cluster = new FakeCluster()
  const server = stack.use(await startFakeApiServer(cluster.response))
  const log = createSilentLog()
  const clock = SYSTEM_CLOCK
  const api = createKubernetesApi({ cluster: server.cluster, clock, log, userAgent: 'test' })
  stack.defer(() => api.close())
  const told: { at: number; atMs: number; addresses: readonly string[] }[] = []
  const planes: Gateway[] = []
  const directories: ServiceDirectory[] = []
  for (let at = 0; at < gateways; at++) {
    const directory = new ServiceDirectory()
    directories.push(directory)
    const endpoints = toldEndpoints(directory)
    const app = {
      endpoints: {
        ...endpoints,
        apply: async (change: Parameters<typeof endpoints.apply>[0]) => {
          await endpoints.apply(change)
          told.push({ at, atMs: performance.now(), addresses: addressesIn(directory) })
        },
      },
    }
    planes.push(stack.use(await startGateway({ store: { manager: 'svc-operator' }, app })))
  }
  const fleet = new Fleet({
    dataPlanes: staticDataPlanes(planes.map(({ url }) => url)),
    manager: 'svc-operator',
    epochSource: { epoch: () => 1, challenge: () => Promise.resolve(false) },
    credentials: () => Promise.resolve({ tls: {} }),
    onReport: () => undefined,
    confirmDeletes: () => Promise.resolve(true),
    endpoints: {
      source: new ServiceWatches({ api, clock, log, createReflector }),
      clusterDomain: 'cluster.local',
      namespaces: 'all',
    },
    log,
  })
  fleet.start()
  stack.defer(() => fleet.stop())
  fleet.apply(aDesiredSet([{ ...aDocument('a'), forwardHosts: ['orders.shop'] }]))
  /** Until every gateway was told last of just these. */
  const untilTold = async (...addresses: string[]): Promise<number> => {
    const lastOf = (at: number) => told.findLast((each) => each.at === at)
    await eventually(() => {
      expect(planes.map((_, at) => lastOf(at)?.addresses)).toEqual(planes.map(() => addresses))
    })
    return Math.max(...planes.map((_, at) => lastOf(at)?.atMs ?? Infinity))
  }
  /** Until every gateway knows just this of the Service. */
  const untilKnown = (expected: Partial<ServiceEndpoints>): Promise<void> =>
    eventually(() => {
      expect(directories.map((each) => each.find('shop/orders'))).toEqual(
        planes.map(() => ({ service: 'shop/orders', ...expected })),
      )
    })
  return { cluster, server, told, untilTold, untilKnown }
}

const addressesIn = (directory: ServiceDirectory): readonly string[] =>
  (directory.find('shop/orders')?.ports ?? []).flatMap(({ targets }) =>
    targets.flatMap(({ addresses }) => addresses),
  )

const NOT_READY = { ready: false, serving: false, terminating: false }
const TERMINATING = { ready: false, serving: true, terminating: true }

describe('the Pods of a Service that a document names', () => {
  it('are sent to all gateways: more of them, one not ready, one deleted, all terminating', async () => {
    const { cluster, untilTold, server } = await start(3)
    await untilTold()
    const steps: readonly (readonly [Endpoint[], string[]])[] = [
      [[{ address: '10.0.0.1' }], ['10.0.0.1']],
      [
        [{ address: '10.0.0.1' }, { address: '10.0.0.2' }, { address: '10.0.0.3' }],
        ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
      ],
      [[{ address: '10.0.0.1' }, { address: '10.0.0.2', conditions: NOT_READY }], ['10.0.0.1']],
      [[{ address: '10.0.0.1', conditions: TERMINATING }], ['10.0.0.1']],
      [[{ address: '10.0.0.2' }, { address: '10.0.0.1', conditions: TERMINATING }], ['10.0.0.2']],
      [[], []],
    ]
    for (const [endpoints, addresses] of steps) {
      cluster.set(...endpoints)
      await untilTold(...addresses)
    }
    // Nothing else is asked of the API: one Service by its name, and its slices.
    const asked = new Set(
      server.requests.map(({ query }) => query.get('fieldSelector') ?? query.get('labelSelector')),
    )
    expect([...asked]).toEqual(['metadata.name=orders', 'kubernetes.io/service-name=orders'])
  })

  it('are reported as gone to all gateways: no one is ready, the Service is deleted, and back elsewhere', async () => {
    const { cluster, untilKnown } = await start(3)
    const addresses = ['10.96.0.5']
    const targets = [{ port: 8080, addresses: ['10.0.0.1'] }]
    cluster.set({ address: '10.0.0.1', conditions: NOT_READY })
    await untilKnown({ addresses, ports: [{ port: 80, targets: [], isEmpty: true }] })
    cluster.set({ address: '10.0.0.1' })
    await untilKnown({ addresses, ports: [{ port: 80, targets }] })
    cluster.deleteService()
    await untilKnown({ addresses, ports: [], isAbsent: true })
    cluster.createService('10.96.0.9')
    await expect(
      untilKnown({ addresses: ['10.96.0.9', '10.96.0.5'], ports: [{ port: 80, targets }] }),
    ).resolves.toBeUndefined()
  })

  it('are sent once for many events', async () => {
    const { cluster, untilTold, told } = await start(3)
    await untilTold()
    const before = told.length
    for (let at = 1; at <= 100; at++) cluster.set({ address: `10.0.0.${at}` })
    await untilTold('10.0.0.100')
    expect(told.length - before).toBeLessThan(3 * 20)
  })
})
