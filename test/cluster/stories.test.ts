// What befalls an installation, one story after the other, all of them in one: a Realm is deleted while gateways are
// scaled, a document changes its class, Events come thick, an upgrade is wrong and rolled back, a namespace goes, the API
// server is away. Tenants that have nothing to do with it notice nothing: steady traffic counts what is lost.

import { setTimeout as sleep } from 'node:timers/promises'
import { env } from 'node:process'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { documentObject, realmObject } from '../component/kubernetes/objects.ts'
import { echoApplication, nexusRouter } from '../support/cluster/application-objects.ts'
import { loadClusterImages } from '../support/cluster/cluster-images.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import { demandKubectl, installChart, type Installation } from '../support/cluster/install.ts'
import { tallyDuring, untilSettled } from '../support/cluster/observe-rollout.ts'
import { startTraffic, type Traffic, trafficDocument } from '../support/cluster/traffic.ts'
import type { Failure } from '../support/cluster/traffic-book.ts'
import { tellingIn } from '../support/cluster/trouble.ts'
import { eventually } from '../support/eventually.ts'
import { CHART } from '../support/helm.ts'
import { request } from '../support/http-request.ts'
import { demand } from '../support/kubernetes/api-client.ts'

const SHOP = 'shop'
const TEAM = 'team'
const OTHER = 'other'
const LEAVING = 'leaving'
const NAMESPACES = [SHOP, TEAM, OTHER, LEAVING] as const

const SHOP_HOST = 'shop.test'
const SHOP_REALM = 'com.shop'
const TEAM_REALM = 'com.team'
const DOCUMENTS = 30
const PUBLIC_PORT = 18_080

/** What its own leader may miss, a Lease, is over after 15 s. The evaluation has waited for a minute. */
const AWAY_SECONDS = Number(env['AWAY_SECONDS'] ?? 20)

const CHURNS = 8
const SCALED = 3

/** A busy machine takes its time. */
const PATIENCE = { withinMs: 120_000, everyMs: 100 }

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
  }
  readonly status: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}

interface Resource {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly observedGeneration?: number
    }[]
  }
}

const publication = (id: string): object => ({
  id,
  host: `${TEAM}.test`,
  realm_uri: TEAM_REALM,
  versions: {
    v1: {
      base_path: `/${id}`,
      paths: {
        '/x': {
          post: {
            action: { type: 'wamp_publish', topic: 'com.team.news', kwargs: { text: 'Hi' } },
            response: { on_result: { status_code: 202, body: {} } },
          },
        },
      },
    },
  },
})

const shopDocuments = (paths: Readonly<Record<string, string>> = {}): readonly object[] =>
  Array.from({ length: DOCUMENTS }, (_, index) => {
    const name = `doc-${index}`
    return documentObject(SHOP, name, { host: SHOP_HOST, paths: { '/x': name, ...paths } })
  })

const routerOf = (namespace: string): object => ({
  router: { url: `ws://nexus.${SHOP}:8080/ws` },
  uri: `com.${namespace}`,
})

const objects = (): readonly object[] => [
  realmObject(SHOP, routerOf(SHOP)),
  ...shopDocuments(),
  {
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: 'traffic', namespace: SHOP },
    spec: { document: trafficDocument('traffic', SHOP_HOST, SHOP_REALM, `http://echo.${SHOP}`) },
  },
  realmObject(TEAM, routerOf(TEAM)),
  documentObject(TEAM, 'hello'),
  {
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: 'news', namespace: TEAM },
    spec: { document: publication('news') },
  },
  realmObject(OTHER),
  ...['calm', 'classy', 'churn'].map((name) => documentObject(OTHER, name)),
  realmObject(LEAVING),
  ...['one', 'two', 'three'].map((name) => documentObject(LEAVING, name)),
]

await describeWithClusterNode('stories of an installation', (cluster) => {
  let svc: Installation
  let url: string
  let traffic: Traffic

  const telling = tellingIn(cluster, ['svc-gateway-system', SHOP, TEAM, OTHER])
  const kubectl = (...args: readonly string[]): Promise<string> => demandKubectl(cluster(), args)

  const gateways = async (): Promise<readonly Pod[]> => {
    const selector = 'labelSelector=app.kubernetes.io/component=gateway'
    const path = `/api/v1/namespaces/${svc.namespace}/pods?${selector}`
    return (demand(await cluster().request({ path })).json() as { items: readonly Pod[] }).items
  }

  const settled = (replicas: number, without: readonly Pod[] = []): Promise<void> =>
    untilSettled({
      podsOf: gateways,
      what: 'gateways',
      patience: PATIENCE,
      replicas,
      without,
    })

  const scale = (replicas: number): Promise<string> =>
    kubectl('scale', `deployment/${svc.name}`, '-n', svc.namespace, `--replicas=${replicas}`)

  const statusAt = async (
    base: string,
    [method, host, path]: readonly [method: string, host: string, path: string],
  ): Promise<number> => (await request(`${base}${path}`, { method, headers: { host } })).status

  const baseOf = ({ status }: Pod): string => `http://${status.podIP ?? ''}:${PUBLIC_PORT}`

  const apply = (...wanted: readonly object[]): Promise<void> => cluster().apply(wanted)

  const resources = async (namespace: string): Promise<readonly Resource[]> => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/${namespace}/apispecifications`
    return (demand(await cluster().request({ path })).json() as { items: readonly Resource[] })
      .items
  }

  /** `True Programmed` … of what is written now; an older word says nothing. */
  const readyOf = ({ metadata, status }: Resource): string => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.observedGeneration !== metadata.generation) return 'not seen yet'
    return `${ready.status} ${ready.reason}`
  }

  const untilReadyIs = (namespace: string, name: string, wanted: RegExp): Promise<void> =>
    eventually(async () => {
      const found = (await resources(namespace)).find(({ metadata }) => metadata.name === name)
      const is = found === undefined ? 'not there' : readyOf(found)
      if (!wanted.test(is)) throw new Error(`${name} of ${namespace}: ${is}, not ${wanted.source}`)
    }, PATIENCE)

  const untilAllReady = (namespace: string): Promise<void> =>
    eventually(async () => {
      const words = (await resources(namespace)).map(readyOf)
      const others = words.filter((each) => !each.startsWith('True'))
      if (others.length > 0) throw new Error(`documents of ${namespace}: ${others.join(', ')}`)
    }, PATIENCE)

  const lostDuring = async (name: string, act: () => Promise<void>): Promise<readonly Failure[]> =>
    (await tallyDuring(traffic.book, name, act)).failures

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo', 'nexus')
    await apply(
      ...NAMESPACES.map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
    )
    await apply(...echoApplication(SHOP), ...nexusRouter(SHOP, [SHOP_REALM, TEAM_REALM]))
    // Several of them have to fit on one small node; what they may take at most stays as it is.
    const wanted = { resources: { requests: { cpu: '10m', memory: '64Mi' } } }
    svc = await installChart(cluster(), {
      values: { gateway: { ...wanted, replicas: null }, operator: wanted },
    })
    await scale(2)
    await apply(...objects())
    for (const namespace of NAMESPACES) await untilAllReady(namespace)
    await kubectl('wait', 'deployment', '--all', '-n', SHOP, '--for=condition=Available')
    await settled(2)
    url = await svc.url()
    traffic = startTraffic({ url, host: SHOP_HOST, documents: DOCUMENTS })
  }, ROLLOUT_MS)

  afterAll(async () => {
    await traffic.stop()
  }, ROLLOUT_MS)

  it(
    'a Realm that is deleted in use keeps no gateway from Ready, and what uses it is served by each',
    telling(async () => {
      const lost = await lostDuring('a Realm deleted, 2 → 3 gateways', async () => {
        await kubectl('delete', 'realm', TEAM, '-n', TEAM, '--wait=false')
        await scale(SCALED)
        await settled(SCALED)
        const asked = (await gateways()).map(async (pod) => [
          await statusAt(baseOf(pod), ['GET', `${TEAM}.test`, '/hello/x']),
          await eventually(async () => {
            const status = await statusAt(baseOf(pod), ['POST', `${TEAM}.test`, '/news/x'])
            expect(status).toBe(202)
            return status
          }, PATIENCE),
        ])
        expect(await Promise.all(asked)).toEqual(Array.from({ length: SCALED }, () => [200, 202]))
      })
      expect(lost).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'the Realm is gone once no document uses it',
    telling(async () => {
      await kubectl('delete', 'apispec', '--all', '-n', TEAM)
      await kubectl('wait', `realm/${TEAM}`, '-n', TEAM, '--for=delete', '--timeout=180s')
      await eventually(async () => {
        expect(await statusAt(url, ['GET', `${TEAM}.test`, '/hello/x'])).toBe(404)
      }, PATIENCE)
    }),
    ROLLOUT_MS,
  )

  it(
    'a document whose class is no more of this operator says that it is served no longer',
    telling(async () => {
      const patch = (className: string | null): Promise<string> => {
        const args = [
          '--type=merge',
          '-p',
          JSON.stringify({ spec: { gatewayClassName: className } }),
        ]
        return kubectl('patch', 'apispec', 'classy', '-n', OTHER, ...args)
      }
      await patch('elsewhere')
      await untilReadyIs(OTHER, 'classy', /^Unknown Released$/)
      await eventually(async () => {
        expect(await statusAt(url, ['GET', `${OTHER}.test`, '/classy/x'])).toBe(404)
      }, PATIENCE)
      await patch(null)
      await untilReadyIs(OTHER, 'classy', /^True /)
      expect(await statusAt(url, ['GET', `${OTHER}.test`, '/classy/x'])).toBe(200)
    }),
    ROLLOUT_MS,
  )

  it(
    'a document that is good and bad by turns has an Event of its last fault',
    telling(async () => {
      const edit = (basePath: string): Promise<void> =>
        apply(documentObject(OTHER, 'churn', { basePath }))
      for (let round = 1; round <= CHURNS; round += 1) {
        // Each is validated: what no data plane has seen needs no Event.
        await edit('/calm')
        await untilReadyIs(OTHER, 'churn', /^False /)
        if (round < CHURNS) await edit('/churn')
        if (round < CHURNS) await untilReadyIs(OTHER, 'churn', /^True /)
      }
      const path = '-o=jsonpath={.metadata.generation}'
      const generation = await kubectl('get', 'apispec', 'churn', '-n', OTHER, path)
      await eventually(async () => {
        const warnings = await kubectl(
          ...['get', 'events', '-n', OTHER, '-o', 'jsonpath={.items[*].message}'],
          '--field-selector=type=Warning,involvedObject.name=churn',
        )
        expect(warnings).toContain(`generation ${generation}:`)
      }, PATIENCE)
    }),
    ROLLOUT_MS,
  )

  it(
    'a wrong upgrade loses nothing, and is rolled back',
    telling(async () => {
      const before = await gateways()
      const known = new Set(before.map(({ metadata }) => metadata.uid))
      const upgrade = (...flags: readonly string[]): ReturnType<typeof svc.helm> =>
        svc.helm('upgrade', CHART, '--reuse-values', ...flags)
      const wrong = await upgrade('--set=gateway.trustedProxies={10.0.0.0/33}')
      expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('10.0.0.0/33') })
      const lost = await lostDuring('a wrong upgrade, rolled back', async () => {
        // What the chart can't see.
        const missing = [{ name: 'SVC_GATEWAY_UPSTREAM_CA', value: '/nowhere/ca.pem' }]
        expect(
          await upgrade(`--set-json=gateway.extraEnv=${JSON.stringify(missing)}`),
        ).toMatchObject({ code: 0 })
        await eventually(async () => {
          const broken = (await gateways()).filter(({ metadata }) => !known.has(metadata.uid))
          const [pod] = broken.filter(({ status }) => restartsOf(status) > 0)
          const log = ['logs', '-n', svc.namespace, pod?.metadata.name ?? '', '--previous']
          expect(pod && (await kubectl(...log))).toContain('/nowhere/ca.pem')
        }, PATIENCE)
        expect(await svc.helm('rollback', '--wait', '--timeout=120s')).toMatchObject({ code: 0 })
        await settled(SCALED)
      })
      expect(lost).toEqual([])
      // None of those that served was touched.
      expect((await gateways()).filter(({ metadata }) => !known.has(metadata.uid))).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'a namespace that is deleted goes, with its documents and nothing else',
    telling(async () => {
      const lost = await lostDuring('a namespace deleted', async () => {
        await kubectl('delete', 'namespace', LEAVING, '--timeout=180s')
        for (const name of ['one', 'two', 'three'])
          await eventually(async () => {
            const status = await statusAt(url, ['GET', `${LEAVING}.test`, `/${name}/x`])
            expect(status).toBe(404)
          }, PATIENCE)
      })
      expect(lost).toEqual([])
      expect(await statusAt(url, ['GET', `${OTHER}.test`, '/calm/x'])).toBe(200)
    }),
    ROLLOUT_MS,
  )

  it(
    'while the API server is away nothing is lost; after it every edit is served',
    telling(async () => {
      const lost = await lostDuring(`${AWAY_SECONDS} s without API server`, async () => {
        await cluster().plane.stop()
        await sleep(AWAY_SECONDS * 1000)
        await cluster().plane.start()
        const startedMs = performance.now()
        await apply(...shopDocuments({ '/edited': 'yes' }))
        await untilAllReady(SHOP)
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
        process.stderr.write(`    ${DOCUMENTS} edits served ${seconds} s after its return\n`)
        for (const pod of await gateways())
          for (let index = 0; index < DOCUMENTS; index += 1)
            expect(await statusAt(baseOf(pod), ['GET', SHOP_HOST, `/doc-${index}/edited`])).toBe(
              200,
            )
      })
      expect(lost).toEqual([])
    }),
    ROLLOUT_MS,
  )

  it(
    'a right upgrade leaves what kubectl has scaled, and says which namespaces are served no longer',
    telling(async () => {
      const lost = await lostDuring('an upgrade with fewer namespaces', () =>
        svc.upgrade({ watch: { namespaces: [SHOP] } }),
      )
      expect(lost).toEqual([])
      const path = '-o=jsonpath={.spec.replicas}'
      expect(await kubectl('get', 'deployment', svc.name, '-n', svc.namespace, path)).toBe(
        String(SCALED),
      )
      await untilReadyIs(OTHER, 'calm', /^Unknown Released$/)
      await untilAllReady(SHOP)
    }),
    ROLLOUT_MS,
  )
})

const restartsOf = ({ containerStatuses = [] }: Pod['status']): number =>
  containerStatuses[0]?.restartCount ?? 0
