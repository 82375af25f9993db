// A rollout that no client notices: while clients of every kind ask the Service without a pause, gateways and operators are
// replaced, upgraded, scaled, evicted and killed. What is lost is counted, request by request, and told.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { documentObject, realmObject } from '../component/kubernetes/objects.ts'
import { echoApplication, nexusRouter } from '../support/cluster/application-objects.ts'
import { loadClusterImages } from '../support/cluster/cluster-images.ts'
import type { ClusterNode } from '../support/cluster/cluster-node.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import {
  demandKubectl,
  installChart,
  type Installation,
  SYSTEM_NAMESPACE,
} from '../support/cluster/install.ts'
import { isReady, tallyDuring, untilSettled } from '../support/cluster/observe-rollout.ts'
import {
  socketDocument,
  startTraffic,
  type Traffic,
  trafficDocument,
  USERS,
} from '../support/cluster/traffic.ts'
import { type Failure, isRefused, type Tally } from '../support/cluster/traffic-book.ts'
import { tellingIn } from '../support/cluster/trouble.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { demand } from '../support/kubernetes/api-client.ts'

const NAMESPACE = 'shop'
const HOST = 'shop.test'
const REALM = 'com.shop'
const DOCUMENTS = 200
const PUBLIC_PORT = 18_080
const HEALTH_PORT = 18_082

/** A busy machine takes its time. */
const PATIENCE = { withinMs: 180_000, everyMs: 100 }

/** How many there are of either, but where they are scaled. */
const REPLICAS = 2

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
  }
  readonly status: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly {
      readonly containerID?: string
      readonly restartCount: number
    }[]
  }
}

type Part = 'gateway' | 'operator'

/** Every document, from that gateway, without the Service. */
const missingAt = async (ip: string): Promise<readonly string[]> => {
  const missing: string[] = []
  for (let first = 0; first < DOCUMENTS; first += 20) {
    const names = Array.from({ length: 20 }, (_, index) => `doc-${first + index}`)
    const responses = names.map(async (name) => {
      const url = `http://${ip}:${PUBLIC_PORT}/${name}/x`
      const { status, text } = await request(url, { headers: { host: HOST }, timeoutMs: 60_000 })
      if (status !== 200 || text !== JSON.stringify(name))
        missing.push(`${name}: ${status} ${text}`)
    })
    await Promise.all(responses)
  }
  return missing
}

await describeWithClusterNode('under steady traffic', (cluster) => {
  let installation: Installation
  let url: string
  let traffic: Traffic

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo', 'nexus')
    await cluster().apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }])
    await cluster().apply([...echoApplication(NAMESPACE), ...nexusRouter(NAMESPACE, [REALM])])
    // Six of them have to fit on one small node; what they may take at most stays as it is.
    const resources = { requests: { cpu: '10m', memory: '64Mi' } }
    installation = await installChart(cluster(), {
      values: { gateway: { resources }, operator: { resources } },
    })
    await cluster().apply([
      realmObject(NAMESPACE, { router: { url: `ws://nexus.${NAMESPACE}:8080/ws` } }),
      ...Array.from({ length: DOCUMENTS }, (_, index) =>
        documentObject(NAMESPACE, `doc-${index}`, { host: HOST }),
      ),
      ...[
        trafficDocument('traffic', HOST, REALM, `http://echo.${NAMESPACE}`),
        socketDocument('sockets', HOST, REALM, `http://echo.${NAMESPACE}`),
      ].map((document, index) => ({
        apiVersion: 'gateway.svc.dev/v1alpha1',
        kind: 'ApiSpecification',
        metadata: { name: `traffic-${index}`, namespace: NAMESPACE },
        spec: { document },
      })),
    ])
    await kubectl(
      'wait',
      'apispec',
      '--all',
      '-n',
      NAMESPACE,
      '--for=condition=Ready',
      '--timeout=180s',
    )
    await kubectl('wait', 'deployment', '--all', '-n', NAMESPACE, '--for=condition=Available')
    url = await installation.url()
    traffic = startTraffic({ url, host: HOST, documents: DOCUMENTS, hasForwardedSockets: true })
  }, ROLLOUT_MS)

  afterAll(async () => {
    await traffic.stop()
  }, ROLLOUT_MS)

  const kubectl = (...args: readonly string[]): Promise<string> => demandKubectl(cluster(), args)

  const podsOf = async (part: Part): Promise<readonly Pod[]> => {
    const selector = `labelSelector=app.kubernetes.io/component=${part}`
    const path = `/api/v1/namespaces/${installation.namespace}/pods?${selector}`
    return (demand(await cluster().request({ path })).json() as { readonly items: readonly Pod[] })
      .items
  }

  const deploymentOf = (part: Part): string =>
    part === 'gateway' ? installation.name : `${installation.name}-operator`

  const settled = (part: Part, replicas = REPLICAS, without: readonly Pod[] = []): Promise<void> =>
    untilSettled({
      podsOf: () => podsOf(part),
      what: part,
      patience: PATIENCE,
      replicas,
      without,
    })

  const during = (name: string, act: () => Promise<void>): Promise<Tally> =>
    tallyDuring(traffic.book, name, act)

  const telling = tellingIn(cluster, [SYSTEM_NAMESPACE, NAMESPACE])

  const restart = async (part: Part): Promise<void> => {
    const before = await podsOf(part)
    await kubectl(
      'rollout',
      'restart',
      `deployment/${deploymentOf(part)}`,
      '-n',
      installation.namespace,
    )
    await settled(part, REPLICAS, before)
  }

  it(
    'nothing is lost while nothing happens',
    telling(async () => {
      const tally = await during('at rest', () => sleep(3000))
      expect(tally.failures).toEqual([])
      for (const count of Object.values(tally.counts))
        expect(count.requests + count.failures).toBeGreaterThan(0)
    }),
    ROLLOUT_MS,
  )

  it(
    'a rolling update of gateways and operators loses nothing',
    telling(async () => {
      const tally = await during('rolling update of gateways and operators', async () => {
        await Promise.all([restart('gateway'), restart('operator')])
      })
      expect(tally.failures).toEqual([])
      expect(unmovedOf(tally)).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'an upgrade of both by helm loses nothing',
    telling(async () => {
      const before = { gateway: await podsOf('gateway'), operator: await podsOf('operator') }
      const extraEnv = [{ name: 'ROLLOUT', value: 'upgraded' }]
      const tally = await during('helm upgrade', async () => {
        await installation.upgrade({
          gateway: { logLevel: 'warn', extraEnv },
          operator: { logLevel: 'warn', extraEnv },
        })
        await settled('gateway', REPLICAS, before.gateway)
        await settled('operator', REPLICAS, before.operator)
      })
      expect(tally.failures).toEqual([])
      expect(unmovedOf(tally)).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    '2 → 6 → 2 gateways lose nothing, and none serves a part',
    telling(async () => {
      const scale = (replicas: number): Promise<string> =>
        kubectl(
          'scale',
          `deployment/${deploymentOf('gateway')}`,
          '-n',
          installation.namespace,
          `--replicas=${replicas}`,
        )
      const known = new Set((await podsOf('gateway')).map(({ metadata }) => metadata.uid))
      const found: Record<string, readonly string[]> = {}
      let checked = 0
      const tally = await during('2 → 6 → 2 gateways', async () => {
        await scale(6)
        const asked = new Map<string, Promise<void>>()
        await eventually(async () => {
          for (const { metadata, status } of await podsOf('gateway')) {
            const { podIP } = status
            if (podIP === undefined || known.has(metadata.uid) || asked.has(metadata.uid)) continue
            const ask = async (): Promise<void> => {
              await untilItSaysReady(podIP)
              found[metadata.name] = await missingAt(podIP)
              checked += DOCUMENTS
            }
            asked.set(metadata.uid, ask())
          }
          expect(asked.size).toBe(4)
        }, PATIENCE)
        await Promise.all(asked.values())
        await settled('gateway', 6)
        // And again, as the API has now called them Ready.
        for (const { metadata, status } of await podsOf('gateway'))
          found[`${metadata.name}, Ready`] = await missingAt(status.podIP ?? '')
        await scale(2)
        await settled('gateway', 2)
      })
      const asked = Object.keys(found).length
      process.stderr.write(`    ${asked} × ${DOCUMENTS} documents asked of gateways one by one\n`)
      expect(Object.values(found).flat()).toEqual([])
      expect(checked).toBe(4 * DOCUMENTS)
      expect(tally.failures).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'evictions of every pod, one after the other, lose nothing',
    telling(async () => {
      const refusals: number[] = []
      const evictAll = async (part: Part): Promise<void> => {
        const before = await podsOf(part)
        for (const { metadata } of before) refusals.push(await evict(metadata.name))
        await settled(part, REPLICAS, before)
      }
      const tally = await during('evictions', async () => {
        await Promise.all([evictAll('gateway'), evictAll('operator')])
      })
      const refused = refusals.reduce((sum, each) => sum + each, 0)
      process.stderr.write(`    ${refused} refused for now by a PodDisruptionBudget\n`)
      expect(tally.failures).toEqual([])
      expect(unmovedOf(tally)).toEqual([])
    }),
    ROLLOUT_MS,
  )

  /** As `kubectl drain` does: 429 is asked again. How often that was. */
  const evict = async (name: string): Promise<number> => {
    const path = `/api/v1/namespaces/${installation.namespace}/pods/${name}/eviction`
    const metadata = { name, namespace: installation.namespace }
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
    for (let refused = 0; ; refused += 1) {
      const response = demand(await cluster().request({ method: 'POST', path, body }), 429)
      if (response.status !== 429) return refused
      expect(refused).toBeLessThan(PATIENCE.withinMs / EVICTION_PAUSE_MS)
      await sleep(EVICTION_PAUSE_MS)
    }
  }

  // What is in flight on a process that gets SIGKILL is lost, and nothing can save it; that is all it may cost, and it is
  // counted below. Until the kubelet has seen the end (a second) and kube-proxy has been told (another), new connections
  // still go there, one of two: nothing listens, so they are refused at once, and nothing of them has reached anybody.
  // A client may repeat them whatever they are; here they are told apart from what is lost.
  // From the moment the endpoint is out of the node's rules nothing is lost. A single connection has been refused after
  // it, once in dozens of runs; a gateway that is Ready before it listens would have one of two refused for a second.
  it(
    'a gateway that is killed loses what is in flight on it, and no more',
    telling(async () => {
      // The gateway with most streams, once each has come back from where it was.
      const { ip, id, open } = await eventually(async () => {
        const targets = await targetsAt(await podsOf('gateway'))
        expect(targets.reduce((sum, target) => sum + target.open, 0)).toBe(STREAMS)
        return targets.reduce((most, each) => (each.open > most.open ? each : most))
      }, PATIENCE)
      expect(open).toBeGreaterThan(0)
      // It is out of the rules for a second or two: a machine that is held up for longer may not see it.
      let [killingMs, killedMs, outMs] = [0, 0, Infinity]
      let inFlight: Traffic['book']['inFlight'] = []
      const tally = await during('kill -9 of a gateway', async () => {
        expect(await isInRules(cluster(), ip)).toBe(true)
        killingMs = performance.now()
        const killing = cluster().ctr(['tasks', 'kill', '-s', 'SIGKILL', id])
        const next = { hasStarted: false, isReady: false }
        const following = eventually(async () => {
          const started = (await podsOf('gateway')).find((pod) => restartsOf(pod) === 1)
          next.hasStarted = started !== undefined
          next.isReady = started !== undefined && isReady(started)
          expect(next).toEqual({ hasStarted: true, isReady: true })
        }, PATIENCE)
        let now = traffic.book.inFlight
        await eventually(
          async () => {
            ;[inFlight, now] = [now, traffic.book.inFlight]
            // The signal is sent, the end comes later: when nothing listens any more, or the next one does.
            const response = await request(`http://${ip}:${HEALTH_PORT}/ping`).then(
              () => '',
              String,
            )
            if (!response.includes('ECONNREFUSED') && !next.hasStarted)
              throw new Error(`it still listens: ${response}`)
          },
          { ...PATIENCE, everyMs: 2 },
        )
        killedMs = performance.now()
        expect(await killing).toMatchObject({ code: 0 })
        await eventually(async () => {
          const isOut = !(await isInRules(cluster(), ip))
          if (isOut) outMs = performance.now()
          expect(isOut || next.isReady).toBe(true)
        }, PATIENCE)
        await following
        await settled('gateway')
      })
      const { failures } = tally
      const isStream = ({ kind }: Pick<Failure, 'kind'>): boolean => /events|sockets/i.test(kind)
      const refused = failures.filter(isRefused)
      const lost = failures.filter((failure) => !isRefused(failure))
      const onIt = inFlight.filter(({ pod }) => pod === ip)
      const unknown = inFlight.filter(({ pod, kind }) => pod === undefined && !isStream({ kind }))
      process.stderr.write(
        `    in flight on it: ${onIt.length} known, ${unknown.length} perhaps; ${open} streams and sockets open; ` +
          `lost ${lost.length} (${lost.filter(isStream).length} streams and sockets), refused ${refused.length}, ` +
          `out of the rules after ${(outMs - killedMs).toFixed(0)} ms\n`,
      )
      // In flight: begun before it was dead, not answered then.
      expect(
        lost
          .filter(({ startedMs, endedMs }) => startedMs > killedMs || endedMs < killingMs)
          .map((each) => ({ ...each, killed: ip, killingMs, killedMs, outMs })),
      ).toEqual([])
      // On it: what another gateway had is never lost.
      expect(lost.filter(({ pod }) => pod !== undefined && pod !== ip)).toEqual([])
      const broken = lost.filter(isStream)
      expect(broken.length).toBeLessThanOrEqual(open)
      // Whose stream broke has another.
      for (const kind of ['forwardedEvents', 'topicEvents'] as const)
        expect(tally.counts[kind].requests).toBe(broken.filter((each) => each.kind === kind).length)
      const late = failures
        .filter(({ startedMs }) => startedMs > outMs)
        .map((each) => ({ ...each, killed: ip, killingMs, killedMs, outMs }))
      expect(late.filter((failure) => !isRefused(failure))).toEqual([])
      process.stderr.write(`    refused after it was out of the rules: ${JSON.stringify(late)}\n`)
      expect(late.length).toBeLessThanOrEqual(STRAY_REFUSALS)
    }),
    ROLLOUT_MS,
  )

  it(
    'in the end all is as it was',
    telling(async () => {
      for (const { status } of await podsOf('gateway'))
        expect(await missingAt(status.podIP ?? '')).toEqual([])
      const tally = await during('at rest again', () => sleep(1000))
      expect(tally.failures).toEqual([])
    }),
    ROLLOUT_MS,
  )
})

const EVICTION_PAUSE_MS = 1000

/** Of some 80 new connections a second. */
const STRAY_REFUSALS = 2

const STREAM_KINDS = ['forwardedEvents', 'topicEvents', 'sockets', 'forwardedSockets'] as const

/** Streams and sockets whose every gateway was replaced have all ended in order, and have all come back. */
const unmovedOf = ({ counts }: Tally): readonly string[] =>
  STREAM_KINDS.flatMap((kind) => {
    const { endedInOrder, resumed } = counts[kind]
    const isWhole = endedInOrder >= USERS[kind].count && resumed === endedInOrder
    return isWhole ? [] : [`${kind}: ${endedInOrder} ended in order, ${resumed} resumed`]
  })

const restartsOf = ({ status }: Pod): number => status.containerStatuses?.[0]?.restartCount ?? 0

/** Before the kubelet has asked, and the API has been told. */
const untilItSaysReady = async (ip: string): Promise<void> => {
  await eventually(
    async () => {
      expect((await request(`http://${ip}:${HEALTH_PORT}/ready`)).status).toBe(204)
    },
    { ...PATIENCE, everyMs: 20 },
  )
}

interface Target {
  readonly ip: string
  /** Of its container. */
  readonly id: string
  /** Streams of events and WebSockets. */
  readonly open: number
}

const STREAMS = STREAM_KINDS.reduce((sum, kind) => sum + USERS[kind].count, 0)

const targetsAt = (pods: readonly Pod[]): Promise<readonly Target[]> =>
  Promise.all(
    pods.map(async ({ status }) => {
      const ip = status.podIP ?? ''
      const id = status.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? ''
      const streams = await gauge(ip, 'svc_gateway_event_streams')
      return { ip, id, open: streams + (await gauge(ip, 'svc_gateway_websockets')) }
    }),
  )

const gauge = async (ip: string, name: string): Promise<number> => {
  const { text } = await request(`http://${ip}:${HEALTH_PORT}/metrics`)
  return Number(new RegExp(`^${name}(?:\\{\\})? (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

/** Whether kube-proxy sends new connections there. */
const isInRules = async (cluster: ClusterNode, ip: string): Promise<boolean> => {
  const { code, stdout, stderr } = await cluster.exec(['nft', 'list', 'table', 'ip', 'kube-proxy'])
  if (code !== 0) throw new Error(`nft: ${stderr}`)
  // `dnat ip to numgen random mod 2 map { 0 : 10.99.1.6 . 18080, … }`, or one address and port by themselves.
  const address = new RegExp(`\\b${ip.replaceAll('.', '\\.')}(?: \\. |:)${PUBLIC_PORT}\\b`)
  return stdout.split('\n').some((line) => line.includes('dnat') && address.test(line))
}
