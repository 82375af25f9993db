// Applications with a gateway beside them, under steady traffic through their Service: they are replaced, scaled and
// evicted, the operator is replaced, upgraded and away. What is lost is counted, request by request, and told.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { documentObject, realmObject } from '../component/kubernetes/objects.ts'
import { nexusRouter } from '../support/cluster/application-objects.ts'
import { CLUSTER_IMAGES, loadClusterImages } from '../support/cluster/cluster-images.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import { endForMemory } from '../support/cluster/end-for-memory.ts'
import { demandKubectl, installChart, type Installation } from '../support/cluster/install.ts'
import { isReady, tallyDuring, untilSettled } from '../support/cluster/observe-rollout.ts'
import { startTraffic, type Traffic, trafficDocument } from '../support/cluster/traffic.ts'
import { isRefused, type Tally } from '../support/cluster/traffic-book.ts'
import { stepsIn } from '../support/cluster/trouble.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { demand } from '../support/kubernetes/api-client.ts'

const NAMESPACE = 'shop'
const OTHER = 'stock'
const HOST = 'shop.test'
const REALM = 'com.shop'
const APP = 'orders'
/** The same behind the same Service, which ends at once. */
const HASTY = 'hasty'
const FAREWELL = 'farewell'
const DOCUMENTS = 20
const PUBLIC_PORT = 18_080

/** A busy machine takes its time. */
const PATIENCE = { withinMs: 180_000, everyMs: 200 }

/** Instead of a minute, which nobody wants to wait for in a test. */
const READY_FROM_SNAPSHOT_SECONDS = 5

/**
 * Twice the default: of two cores that tests of others are at work on, too, the process of a gateway's preStop has been
 * seen to start after 5 s, when the application was gone already.
 */
const PAUSE_SECONDS = 10

interface ContainerStatus {
  readonly name: string
  readonly containerID?: string
  readonly restartCount: number
  readonly ready: boolean
  readonly lastState?: { readonly terminated?: { readonly reason: string } }
}

interface Container {
  readonly name: string
  readonly args?: readonly string[]
}

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
  }
  readonly status: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}

const gatewayOf = ({ spec }: Pod): Container | undefined =>
  spec.initContainers?.find(({ name }) => name === 'svc-gateway')

const gatewayStatusOf = ({ status }: Pod): ContainerStatus | undefined =>
  status.initContainerStatuses?.find(({ name }) => name === 'svc-gateway')

interface TemplateOptions {
  readonly args?: readonly string[] | null
  readonly annotations?: object
  /** The Service that it is behind, and whose documents it has; `app` otherwise. */
  readonly serves?: string
  /** Of its container. */
  readonly lifecycle?: object
}

const podTemplate = (
  app: string,
  { args, annotations, serves = app, lifecycle }: TemplateOptions = {},
): object => ({
  metadata: {
    labels: { app, serves, 'gateway.svc.dev/inject': 'true' },
    annotations: { 'gateway.svc.dev/app-port': '8080', ...annotations },
  },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'app',
        image: CLUSTER_IMAGES.echo,
        imagePullPolicy: 'Never',
        ...(args !== undefined && { args }),
        ...(lifecycle !== undefined && { lifecycle }),
        ports: [{ containerPort: 8080 }],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
})

const deployment = (
  namespace: string,
  app: string,
  { replicas, template = podTemplate(app) }: { replicas: number; template?: object },
): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: app, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app } },
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 3 } },
    template,
  },
})

const application = (namespace: string, app: string, replicas: number): readonly object[] => [
  deployment(namespace, app, { replicas }),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app, namespace },
    // By name: a Pod that came without a gateway has no such port, and gets no requests.
    spec: { selector: { serves: app }, ports: [{ port: 80, targetPort: 'public' }] },
  },
]

const selecting = (serves: string): object => ({ dataPlaneSelector: { matchLabels: { serves } } })

const shopObjects = (): readonly object[] => [
  realmObject(NAMESPACE, { router: { url: `ws://nexus.${NAMESPACE}:8080/ws` } }),
  ...Array.from({ length: DOCUMENTS }, (_, index) =>
    documentObject(NAMESPACE, `doc-${index}`, { host: HOST, spec: selecting(APP) }),
  ),
  {
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: 'traffic', namespace: NAMESPACE },
    spec: {
      ...selecting(APP),
      document: trafficDocument('traffic', HOST, REALM, 'http://127.0.0.1:8080'),
    },
  },
  ...application(NAMESPACE, APP, 3),
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: APP, namespace: NAMESPACE },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: APP } } },
  },
]

/** What it does before it ends: calls, one every two seconds, through its gateway; then it tells what became of them. */
const farewell = (report: string): string => `
const http = require('node:http')
const ask = () => new Promise((resolve) => {
  const options = { host: '127.0.0.1', port: ${PUBLIC_PORT}, path: '/${FAREWELL}/x', headers: { host: '${HOST}' } }
  http.get(options, (response) => response.resume().once('end', () => resolve(response.statusCode)))
    .once('error', (error) => resolve(error.code))
})
const run = async () => {
  const statuses = []
  for (let call = 0; call < ${FAREWELL_CALLS}; call += 1) {
    statuses.push(await ask())
    await new Promise((resolve) => setTimeout(resolve, 2000))
  }
  http.request('${report}', { method: 'POST' }).end(JSON.stringify(statuses))
}
run()`

const FAREWELL_CALLS = 10

const farewellObjects = (report: string): readonly object[] => {
  const preStop = { exec: { command: ['node', '-e', farewell(report)] } }
  const template = podTemplate(FAREWELL, { lifecycle: { preStop } }) as Pod
  return [
    documentObject(NAMESPACE, FAREWELL, { host: HOST, spec: selecting(FAREWELL) }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      ...template,
      metadata: { ...template.metadata, name: FAREWELL, namespace: NAMESPACE },
    },
  ]
}

const batchJob = (): object => {
  const { metadata, spec } = podTemplate('batch') as Pod
  const program = `fetch('http://127.0.0.1:18082/ping').then(({ ok }) => process.exit(ok ? 0 : 1))`
  const containers = spec.containers.map(({ ...container }) => ({
    ...container,
    command: ['node', '-e', program],
    readinessProbe: undefined,
  }))
  const template = { metadata, spec: { ...spec, containers, restartPolicy: 'Never' } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'batch', namespace: NAMESPACE },
    spec: { backoffLimit: 0, template },
  }
}

await describeWithClusterNode('applications with a gateway beside them', (cluster) => {
  const step = stepsIn(cluster, [NAMESPACE, OTHER, 'svc-gateway-system'])
  let installation: Installation
  let traffic: Traffic
  let url: string
  let listener: Server
  let farewellReport: Promise<unknown>

  const kubectl = (...args: readonly string[]): Promise<string> => demandKubectl(cluster(), args)

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo', 'nexus')
    await cluster().apply(
      [NAMESPACE, OTHER].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
    )
    await cluster().apply(nexusRouter(NAMESPACE, [REALM]))
    const resources = { requests: { cpu: '10m', memory: '64Mi' } }
    installation = await installChart(cluster(), {
      values: {
        gateway: { enabled: false },
        operator: { resources },
        sidecar: {
          enabled: true,
          namespaces: [NAMESPACE, OTHER],
          appPreStopSeconds: PAUSE_SECONDS,
        },
      },
    })
    // That is what --wait has waited for.
    if (gatewayOf(await injectedPod('probe')) === undefined)
      throw new Error('helm install --wait is over, and a Pod gets no gateway')
    await cluster().apply([
      ...shopObjects(),
      ...farewellObjects(await listen()),
      batchJob(),
      realmObject(OTHER),
      documentObject(OTHER, 'doc', { spec: selecting(OTHER) }),
      ...application(OTHER, OTHER, 1),
    ])
    await kubectl('wait', 'deploy', '--all', '-n', OTHER, '--for=condition=Available')
    await kubectl('wait', 'deploy', '--all', '-n', NAMESPACE, '--for=condition=Available')
    await settled(3)
    const ip = await kubectl(
      'get',
      'service',
      APP,
      '-n',
      NAMESPACE,
      '-o=jsonpath={.spec.clusterIP}',
    )
    await eventually(async () => {
      const { status } = await request(`http://${ip}/doc-1/x`, { headers: { host: HOST } })
      if (status !== 200) throw new Error(`the Service answers ${status}`)
    }, PATIENCE)
    url = `http://${ip}`
    traffic = startTraffic({ url, host: HOST, documents: DOCUMENTS })
  }, ROLLOUT_MS)

  afterAll(async () => {
    await traffic.stop()
    listener.close()
  }, ROLLOUT_MS)

  /** Where a Pod reaches this machine. */
  const listen = async (): Promise<string> => {
    listener = createServer()
    farewellReport = new Promise((resolve) => {
      listener.once('request', (incoming, outgoing) => {
        outgoing.end()
        void text(incoming).then((body) => {
          resolve(JSON.parse(body))
        })
      })
    })
    const host = cluster().hostAddress
    await new Promise<void>((resolve) => {
      listener.listen(0, host, resolve)
    })
    return `http://${host}:${(listener.address() as AddressInfo).port}/`
  }

  const podsOf = async (app = APP, namespace = NAMESPACE): Promise<readonly Pod[]> => {
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app=${app}`
    const { items } = demand(await cluster().request({ path })).json() as { items: readonly Pod[] }
    return items
  }

  const injectedPod = async (name: string, annotations: object = {}): Promise<Pod> => {
    const { metadata, spec } = podTemplate(name, { annotations }) as Pod
    const pod = {
      status: {},
      apiVersion: 'v1',
      kind: 'Pod',
      spec,
      metadata: { ...metadata, name, namespace: NAMESPACE },
    }
    const args = ['create', '-f', '-', '--dry-run=server', '-o', 'json']
    const made = JSON.parse(
      await demandKubectl(cluster(), args, { input: JSON.stringify(pod) }),
    ) as Pod
    const { labels, annotations: notes } = made.metadata
    // What is not written, such as a uid, must not be applied.
    return { ...pod, ...made, metadata: { ...pod.metadata, labels, annotations: notes } }
  }

  const untilInjected = (): Promise<void> =>
    eventually(async () => {
      expect(gatewayOf(await injectedPod('probe'))).toBeDefined()
    }, PATIENCE)

  const settled = (replicas: number, without: readonly Pod[] = []): Promise<void> =>
    untilSettled({ podsOf, what: APP, patience: PATIENCE, replicas, without })

  const during = (name: string, act: () => Promise<void>): Promise<Tally> =>
    tallyDuring(traffic.book, name, act)

  /** All of them are replaced by such. */
  const roll = async (template: object): Promise<void> => {
    const before = await podsOf()
    const patch = JSON.stringify({ spec: { template } })
    await kubectl('patch', 'deployment', APP, '-n', NAMESPACE, '--type=strategic', '-p', patch)
    await settled(before.length, before)
  }

  const scale = async (replicas: number): Promise<void> => {
    await kubectl('scale', 'deployment', APP, '-n', NAMESPACE, `--replicas=${replicas}`)
    await settled(replicas)
  }

  it(
    'an operator that is replaced, then upgraded with other settings of sidecars, touches no Pod',
    step(async () => {
      const before = await podsOf()
      // It ends meanwhile: with or without an operator is all the same to it.
      await kubectl('delete', 'pod', FAREWELL, '-n', NAMESPACE, '--wait=false')
      const operator = `deployment/${installation.name}-operator`
      const { failures } = await during('rolling update and upgrade of the operator', async () => {
        const within = ['-n', installation.namespace]
        await kubectl('rollout', 'restart', operator, ...within)
        await kubectl('rollout', 'status', operator, ...within, '--timeout=180s')
        const args = [`--ready-from-snapshot=${READY_FROM_SNAPSHOT_SECONDS}`]
        await installation.upgrade({ sidecar: { args } })
      })
      expect(failures).toEqual([])
      const names = (pods: readonly Pod[]): readonly object[] =>
        pods.map((pod) => ({ uid: pod.metadata.uid, gateway: gatewayStatusOf(pod) }))
      expect(names(await podsOf())).toEqual(names(before))
    }),
    ROLLOUT_MS,
  )

  it(
    'a rolling update of an application loses nothing, and its new Pods have the new settings',
    step(async () => {
      const { failures } = await during('rolling update of an application', () =>
        roll(podTemplate(APP, { args: ['abrupt'] })),
      )
      expect(failures).toEqual([])
      for (const pod of await podsOf())
        expect(gatewayOf(pod)?.args).toContain(
          `--ready-from-snapshot=${READY_FROM_SNAPSHOT_SECONDS}`,
        )
    }),
    ROLLOUT_MS,
  )

  it(
    '3 → 6 → 1 → 3 Pods of an application that ends at once on SIGTERM lose nothing',
    step(async () => {
      const { failures } = await during('3 → 6 → 1 → 3 Pods', async () => {
        for (const replicas of [6, 1, 3]) await scale(replicas)
      })
      expect(failures).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'nor do evictions of every Pod, one after the other',
    step(async () => {
      const { failures } = await during('evictions', async () => {
        const before = await podsOf()
        for (const { metadata } of before) await evict(metadata.name)
        await settled(3, before)
      })
      expect(failures).toEqual([])
    }),
    ROLLOUT_MS,
  )

  /** As `kubectl drain` does: 429 is asked again. */
  const evict = (name: string): Promise<void> =>
    eventually(
      async () => {
        const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`
        const metadata = { name, namespace: NAMESPACE }
        const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
        demand(await cluster().request({ method: 'POST', path, body }))
      },
      { ...PATIENCE, everyMs: 1000 },
    )

  it(
    'without the pause before SIGTERM: what that costs is printed',
    step(async () => {
      const annotations = { 'gateway.svc.dev/app-pre-stop': 'false' }
      const template = podTemplate(HASTY, { args: ['abrupt'], annotations, serves: APP })
      await cluster().apply([deployment(NAMESPACE, HASTY, { replicas: 1, template })])
      await kubectl('wait', `deploy/${HASTY}`, '-n', NAMESPACE, '--for=condition=Available')
      const { failures } = await during('one that ends at once, without a pause', async () => {
        await untilAnsweredBy(HASTY)
        await kubectl('delete', 'deploy', HASTY, '-n', NAMESPACE)
        await kubectl('wait', 'pod', '-l', `app=${HASTY}`, '-n', NAMESPACE, '--for=delete')
      })
      // Whatever that is, it is the application's: every response is one of the gateway, or a stream that broke off.
      expect(failures.filter(isRefused)).toEqual([])
    }),
    ROLLOUT_MS,
  )

  /** The Service has it. */
  const untilAnsweredBy = (app: string): Promise<void> =>
    eventually(async () => {
      const headers = { host: HOST }
      expect((await request(`${url}/traffic/echo/1`, { headers })).text).toContain(`"pod":"${app}-`)
    }, PATIENCE)

  const statusAt = async ({ status }: Pod, host: string, path: string): Promise<number> => {
    const url = `http://${status.podIP ?? ''}:${PUBLIC_PORT}${path}`
    return (await request(url, { headers: { host }, timeoutMs: 60_000 })).status
  }

  it(
    'a sidecar has the documents of its own namespace, and no others',
    step(async () => {
      const [ours] = await podsOf()
      const [others] = await podsOf(OTHER, OTHER)
      if (ours === undefined || others === undefined) throw new Error('there are no Pods')
      expect(await statusAt(ours, HOST, '/doc-1/x')).toBe(200)
      expect(await statusAt(ours, `${OTHER}.test`, '/doc/x')).toBe(404)
      expect(await statusAt(others, `${OTHER}.test`, '/doc/x')).toBe(200)
      expect(await statusAt(others, HOST, '/doc-1/x')).toBe(404)
    }),
    ROLLOUT_MS,
  )

  it(
    'a Job has found its gateway up when it started, and completes',
    step(async () => {
      const wait = ['wait', 'job/batch', '-n', NAMESPACE, '--for=condition=Complete'] as const
      await kubectl(...wait, '--timeout=120s')
      const [pod] = await podsOf('batch')
      expect(pod && gatewayOf(pod)).toBeDefined()
    }),
    ROLLOUT_MS,
  )

  it(
    'an application that calls through its gateway before it ends gets every response',
    step(async () => {
      expect(await farewellReport).toEqual(Array.from({ length: FAREWELL_CALLS }, () => 200))
      await kubectl('wait', `pod/${FAREWELL}`, '-n', NAMESPACE, '--for=delete', '--timeout=120s')
    }),
    ROLLOUT_MS,
  )

  it(
    'while the operator is away nothing is lost, and Pods come without a gateway and without requests',
    step(async () => {
      waiting = await Promise.all([
        injectedPod('complete'),
        injectedPod('started', { 'gateway.svc.dev/ready': 'started' }),
      ])
      const { failures } = await during('no operator, and one Pod replaced', async () => {
        await scaleOperator(0)
        const gone = ['pods', '-l', 'app.kubernetes.io/component=operator', '--for=delete']
        await kubectl('wait', '-n', installation.namespace, ...gone, '--timeout=120s')
        expect(gatewayOf(await injectedPod('probe'))).toBeUndefined()
        const [victim] = await podsOf()
        await kubectl('delete', 'pod', '-n', NAMESPACE, victim?.metadata.name ?? '')
        await settled(3, victim && [victim])
      })
      expect(failures).toEqual([])
      const without = (await podsOf()).filter((pod) => gatewayOf(pod) === undefined)
      expect(without).toHaveLength(1)
      // As docs/sidecar.md finds them.
      const selector = 'gateway.svc.dev/inject=true,gateway.svc.dev/data-plane!=sidecar'
      const found = await kubectl('get', 'pods', '-A', '-l', selector, '-o', 'name')
      expect(found).toBe(`pod/${without[0]?.metadata.name ?? ''}`)
    }),
    ROLLOUT_MS,
  )

  let waiting: readonly Pod[] = []

  const scaleOperator = async (replicas: number): Promise<void> => {
    const within = ['-n', installation.namespace]
    const operator = `deployment/${installation.name}-operator`
    await kubectl('scale', operator, ...within, `--replicas=${replicas}`)
    if (replicas > 0) await kubectl('rollout', 'status', operator, ...within, '--timeout=180s')
  }

  it(
    'a gateway that is killed for memory, without an operator, serves again what it had',
    step(async () => {
      const victim = (await podsOf()).find((pod) => gatewayOf(pod) !== undefined)
      const id = (victim && gatewayStatusOf(victim)?.containerID) ?? ''
      const again = async (): Promise<Pod> => {
        const pod = (await podsOf()).find(({ metadata }) => metadata.uid === victim?.metadata.uid)
        if (pod === undefined) throw new Error('the Pod is gone')
        const gateway = gatewayStatusOf(pod)
        expect(gateway?.restartCount).toBe(1)
        expect(gateway?.lastState?.terminated?.reason).toBe('OOMKilled')
        expect(isReady(pod)).toBe(true)
        return pod
      }
      const startedMs = performance.now()
      let killedMs = startedMs
      const { failures } = await during(
        'a gateway killed for memory, without an operator',
        async () => {
          await endForMemory(cluster(), id.replace('containerd://', ''))
          killedMs = performance.now()
          const pod = await eventually(again, PATIENCE)
          const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
          process.stderr.write(`    Ready again after ${seconds} s\n`)
          for (let index = 0; index < DOCUMENTS; index += 1)
            expect(await statusAt(pod, HOST, `/doc-${index}/x`)).toBe(200)
        },
      )
      const inFlight = failures.filter((failure) => !isRefused(failure))
      const refused = failures.length - inFlight.length
      process.stderr.write(`    ${inFlight.length} were in flight, ${refused} refused\n`)
      // Until the Pod is out of the Service new connections are refused: no server has seen anything of them.
      expect(inFlight.filter((failure) => failure.startedMs > killedMs)).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'a new Pod is Ready when it has its documents, or once it has started where it says so',
    step(async () => {
      await cluster().apply(waiting)
      const readyOf = async (name: string): Promise<boolean> => (await podsOf(name)).some(isReady)
      await eventually(async () => {
        expect(await readyOf('started')).toBe(true)
        // Its application runs: it has waited for the gateway's start, not for documents.
        const [pod] = await podsOf('complete')
        expect(pod?.status.containerStatuses?.map(({ ready }) => ready)).toEqual([true])
      }, PATIENCE)
      expect(await readyOf('complete')).toBe(false)
      const { failures } = await during('the operator comes back', async () => {
        await scaleOperator(2)
        await eventually(async () => {
          expect(await readyOf('complete')).toBe(true)
        }, PATIENCE)
        await untilInjected()
      })
      expect(failures).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'a Pod without a gateway gets one when it is replaced',
    step(async () => {
      const without = (await podsOf()).filter((pod) => gatewayOf(pod) === undefined)
      const { failures } = await during('a gateway for those without', async () => {
        for (const { metadata } of without)
          await kubectl('delete', 'pod', '-n', NAMESPACE, metadata.name)
        await settled(3, without)
      })
      expect(failures).toEqual([])
      expect((await podsOf()).map((pod) => gatewayOf(pod)?.name)).toEqual(
        Array.from({ length: 3 }, () => 'svc-gateway'),
      )
    }),
    ROLLOUT_MS,
  )
})
