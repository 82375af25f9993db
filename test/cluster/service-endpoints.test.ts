// A Service of a real cluster whose Pods come, stop being ready, go, and change while the operator is away: which of them
// get the requests of a gateway is counted by what each says of itself.

import { beforeAll, expect, it } from '@jest/globals'
import { realmObject } from '../component/kubernetes/objects.ts'
import { echoApplication } from '../support/cluster/application-objects.ts'
import { loadClusterImages } from '../support/cluster/cluster-images.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import { demandKubectl, installChart, type Installation } from '../support/cluster/install.ts'
import { tellingIn } from '../support/cluster/trouble.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { demand } from '../support/kubernetes/api-client.ts'

const SHOP = 'shop'
const HOST = 'shop.test'
const GATE = 'svc.test/ready'
/** Of one gateway, in each look: with two Pods, 1 of 10^9 looks misses one. */
const REQUESTS = 30
/** A busy machine takes its time. */
const PATIENCE = { withinMs: 120_000, everyMs: 100 }

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
}

/** Ready where a test says so, beside its probe. */
const gated = (object: object): object => {
  const { kind, spec } = object as { kind: string; spec: { template: { spec: object } } }
  if (kind !== 'Deployment') return object
  const { template } = spec
  const gates = { readinessGates: [{ conditionType: GATE }] }
  return {
    ...object,
    spec: { ...spec, template: { ...template, spec: { ...template.spec, ...gates } } },
  }
}

const forwarding = {
  id: 'echo',
  host: HOST,
  realm_uri: 'com.shop',
  versions: {
    v1: {
      base_path: '/echo',
      paths: {
        '/x': { get: { action: { type: 'forward', host: `http://echo.${SHOP}`, path: '/x' } } },
      },
    },
  },
}

await describeWithClusterNode('the Pods of a Service that a document names', (cluster) => {
  let svc: Installation
  let url: string

  const telling = tellingIn(cluster, ['svc-gateway-system', SHOP])
  const kubectl = (...args: readonly string[]): Promise<string> => demandKubectl(cluster(), args)

  const pods = async (): Promise<readonly string[]> => {
    const path = `/api/v1/namespaces/${SHOP}/pods?labelSelector=app%3Decho`
    const { items } = demand(await cluster().request({ path })).json() as { items: readonly Pod[] }
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .sort()
  }

  const setReady = (pod: string, status: 'True' | 'False'): Promise<string> => {
    const patch = JSON.stringify({ status: { conditions: [{ type: GATE, status }] } })
    return kubectl('patch', 'pod', pod, '-n', SHOP, '--subresource=status', '-p', patch)
  }

  const gatewayLog = (): Promise<string> =>
    kubectl('logs', `deployment/${svc.name}`, '-n', svc.namespace, '--all-containers')

  const scale = async (replicas: number): Promise<readonly string[]> => {
    await kubectl('scale', 'deployment/echo', '-n', SHOP, `--replicas=${replicas}`)
    const names = await eventually(async () => {
      const found = await pods()
      expect(found).toHaveLength(replicas)
      return found
    }, PATIENCE)
    for (const each of names) await setReady(each, 'True')
    return names
  }

  /** Who answered, one after the other. @throws for what is not 200 */
  const answered = async (): Promise<readonly string[]> => {
    const names = new Set<string>()
    for (let at = 0; at < REQUESTS; at++) {
      const { status, text } = await request(`${url}/echo/x`, { headers: { host: HOST } })
      expect(status).toBe(200)
      names.add((JSON.parse(text) as { pod: string }).pod)
    }
    return [...names].sort()
  }

  const untilAnsweredBy = (...names: readonly string[]): Promise<void> =>
    eventually(async () => {
      expect(await answered()).toEqual([...names].sort())
    }, PATIENCE)

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo')
    await cluster().apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
      ...echoApplication(SHOP).map(gated),
    ])
    const wanted = { resources: { requests: { cpu: '10m', memory: '64Mi' } } }
    svc = await installChart(cluster(), {
      values: { gateway: { ...wanted, replicas: 1 }, operator: wanted },
    })
    await cluster().apply([
      realmObject(SHOP),
      {
        apiVersion: 'gateway.svc.dev/v1alpha1',
        kind: 'ApiSpecification',
        metadata: { name: 'echo', namespace: SHOP },
        spec: { document: forwarding },
      },
    ])
    await kubectl('wait', 'apispec/echo', '-n', SHOP, '--for=condition=Ready', '--timeout=120s')
    url = await svc.url()
  }, ROLLOUT_MS)

  it(
    'get its requests as they come, from one to three',
    telling(async () => {
      await untilAnsweredBy(...(await scale(1)))
      await expect(untilAnsweredBy(...(await scale(3)))).resolves.toBeUndefined()
    }),
    ROLLOUT_MS,
  )

  it(
    'get none while they are not ready, and some again',
    telling(async () => {
      const [first = '', ...others] = await pods()
      await setReady(first, 'False')
      await untilAnsweredBy(...others)
      await setReady(first, 'True')
      await expect(untilAnsweredBy(first, ...others)).resolves.toBeUndefined()
    }),
    ROLLOUT_MS,
  )

  it(
    'get none when they are deleted, and no request is lost by that',
    telling(async () => {
      const [first = '', ...others] = await pods()
      await kubectl('delete', 'pod', first, '-n', SHOP, '--wait=false')
      // Each look throws for a request that fails.
      expect((await answered()).every((each) => others.includes(each) || each === first)).toBe(true)
      const all = await scale(3)
      await untilAnsweredBy(...all)
      expect(all).not.toContain(first)
    }),
    ROLLOUT_MS,
  )

  it(
    'are gone with the Service: 504 at once with the reason, and they serve again with it',
    telling(async () => {
      const object = JSON.parse(
        await kubectl('get', 'service', 'echo', '-n', SHOP, '-o', 'json'),
      ) as { metadata: object; spec: object & { clusterIP?: string; clusterIPs?: unknown } }
      const { clusterIP, clusterIPs, ...spec } = object.spec
      expect([clusterIP, clusterIPs]).not.toContain(undefined)
      const metadata = { name: 'echo', namespace: SHOP }
      await kubectl('delete', 'service', 'echo', '-n', SHOP)
      await eventually(async () => {
        const { status } = await request(`${url}/echo/x`, { headers: { host: HOST } })
        expect(status).toBe(504)
        expect(await gatewayLog()).toContain('"reason":"no_service"')
      }, PATIENCE)
      await cluster().apply([{ apiVersion: 'v1', kind: 'Service', metadata, spec }])
      await expect(untilAnsweredBy(...(await pods()))).resolves.toBeUndefined()
    }),
    ROLLOUT_MS,
  )

  it(
    'are reached by the address of the Service where all have changed while the operator was away',
    telling(async () => {
      const operator = ['deployment/' + `${svc.name}-operator`, '-n', svc.namespace]
      await kubectl('scale', ...operator, '--replicas=0')
      await kubectl('rollout', 'status', ...operator)
      const before = await pods()
      await kubectl('delete', 'pod', ...before, '-n', SHOP)
      const after = await scale(3)
      expect(after.filter((each) => before.includes(each))).toEqual([])
      await eventually(async () => {
        const names = await answered()
        expect(names.every((each) => after.includes(each))).toBe(true)
      }, PATIENCE)
      await kubectl('scale', ...operator, '--replicas=1')
      await untilAnsweredBy(...after)
    }),
    ROLLOUT_MS,
  )
})
