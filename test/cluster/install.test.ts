// The whole of it in a cluster, one step after the other: the chart is installed, documents are served, a fault is told
// and mended, Pods get gateways of their own, the release is upgraded and removed; nothing is left but the kinds.

import { beforeAll, expect, it, jest } from '@jest/globals'
import { openAutobahn } from '../support/autobahn-client.ts'
import { CLUSTER_IMAGES, loadClusterImages } from '../support/cluster/cluster-images.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import {
  demandKubectl,
  type Installation,
  installChart,
  restrictedNamespace,
  serviceUrl,
  SYSTEM_NAMESPACE,
} from '../support/cluster/install.ts'
import { objectsOfCluster } from '../support/cluster/objects-of-cluster.ts'
import { stepsIn } from '../support/cluster/trouble.ts'
import { eventually } from '../support/eventually.ts'
import {
  type HttpResponse,
  type HttpOptions,
  openRequest,
  request,
} from '../support/http-request.ts'
import type { CommandResult } from '../support/kubernetes/run-command.ts'
import { Browser, logIn } from '../support/login-driver.ts'
import {
  api,
  app,
  forwardTo,
  hello,
  podOf,
  SHOP,
  SHOP_HOST,
  SHOP_ORIGIN,
  SHOP_REALM,
  shopApps,
  shopDocuments,
  shopRealm,
  shopServices,
} from './shop.ts'

jest.setTimeout(ROLLOUT_MS)

const PATIENCE = { withinMs: 60_000, everyMs: 200 }
/** Where the operator may not create the certificates of sidecars. */
const ELSEWHERE = 'elsewhere'

const INJECT = { 'gateway.svc.dev/inject': 'true' }
const FAULT = '/spec/document/versions/v1/paths/~1:name/get/action/type'
const STARTED = { 'gateway.svc.dev/ready': 'started' }

interface PodMetadata {
  readonly name: string
  readonly deletionTimestamp?: string
}

/** Warnings of Kubernetes itself on a busy machine, none of which is ours to prevent. */
const USUAL: readonly RegExp[] = [
  /^$/,
  // The kubelet reads what it mounts slowly.
  /^FailedMount .* failed to sync (?:configmap|secret) cache: timed out/,
  // Node itself takes more than a second to start; once our code runs, its first act is to open this port.
  /^Unhealthy .* Startup probe failed: .* connect: connection refused/,
  // The API server's repair loop sees the new Service before its allocation.
  /^ClusterIPNotAllocated .* is not allocated; repairing/,
]

const PROBE_OF_ONE_THAT_ENDS =
  /Readiness probe failed: .*(?:statuscode: 503|connection refused|\(Client\.Timeout exceeded while awaiting headers\))$/

await describeWithClusterNode('from the image to an empty cluster', (cluster) => {
  const step = stepsIn(cluster, [SYSTEM_NAMESPACE, SHOP, ELSEWHERE])
  const kubectl = (...args: readonly string[]): Promise<string> => {
    // A busy machine takes its time.
    const patience = args[0] === 'wait' ? ['--timeout=120s'] : []
    return demandKubectl(cluster(), [...args, ...patience])
  }
  let before: ReadonlySet<string>
  let issuer: string
  let svc: Installation
  let url: string

  const ask = (path: string, options: HttpOptions = {}): Promise<HttpResponse> => {
    const headers = { host: SHOP_HOST, ...options.headers }
    return request(`${url}${path}`, { ...options, headers })
  }
  /** Of the newest Pod with this label. */
  const podIp = async (namespace: string, label: string): Promise<string> => {
    const path = 'jsonpath={.items[-1:].status.podIP}'
    return kubectl('get', 'pods', '-n', namespace, '-l', label, '-o', path)
  }
  const containersOf = (pod: string, namespace: string): Promise<string> => {
    const path = 'jsonpath={.spec.initContainers[*].name} {.spec.containers[*].name}'
    return kubectl('get', 'pod', pod, '-n', namespace, '-o', path)
  }
  const createPod = async (name: string, namespace: string): Promise<string> => {
    const pod = podOf({
      name,
      image: CLUSTER_IMAGES.echo,
      labels: INJECT,
      annotations: STARTED,
    })
    const object = { ...pod, apiVersion: 'v1', kind: 'Pod' }
    const { code, stderr } = await cluster().kubectl(['create', '-n', namespace, '-f', '-'], {
      input: JSON.stringify({ ...object, metadata: { ...nameOf(pod), name } }),
    })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return stderr
  }
  /** What Events warn of in the namespace of the release. */
  const warnings = async (): Promise<readonly string[]> => {
    const found = await kubectl(
      ...['get', 'events', '-n', SYSTEM_NAMESPACE, '--field-selector=type=Warning'],
      ...[
        '-o',
        'jsonpath={range .items[*]}{.reason} {.involvedObject.name} {.message}{"\\n"}{end}',
      ],
    )
    return found.split('\n').filter((line) => !USUAL.some((each) => each.test(line)))
  }
  const applyFault = (): Promise<CommandResult> =>
    cluster().kubectl(['apply', '--server-side', '-f', '-'], {
      input: JSON.stringify(hello('statik', 'Good-bye')),
    })

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo', 'nexus', 'idp')
  }, ROLLOUT_MS)

  it(
    'what the shop has before: an application, a router, an identity provider',
    step(async () => {
      await cluster().apply([restrictedNamespace(SHOP), restrictedNamespace(ELSEWHERE)])
      await cluster().apply([restrictedNamespace(SYSTEM_NAMESPACE), ...shopServices()])
      issuer = await serviceUrl(cluster(), SHOP, 'idp')
      await cluster().apply(shopApps(issuer))
      await kubectl('wait', '-n', SHOP, 'deployment', '--all', '--for=condition=Available')
      before = await objectsOfCluster(cluster())
      expect(before.size).toBeGreaterThan(20)
    }),
  )

  it(
    'the chart is installed, with restricted Pods alone',
    step(async () => {
      const beganMs = performance.now()
      svc = await installChart(cluster(), {
        values: {
          gateway: { baseUrl: SHOP_ORIGIN },
          rbac: { secretNamespaces: [SHOP] },
          sidecar: { enabled: true, namespaces: [SHOP] },
        },
      })
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
      process.stderr.write(`helm install --wait: ${seconds} s\n`)
      url = await svc.url()
      expect(svc.notes).toContain('kubectl wait -n default apispec/hello')
      const pods = await kubectl('get', 'pods', '-n', SYSTEM_NAMESPACE, '--no-headers')
      expect(pods.split('\n').map((line) => line.split(/\s+/).slice(1, 4))).toEqual(
        Array.from({ length: 4 }, () => ['1/1', 'Running', '0']),
      )
    }),
  )

  it(
    'its first minute warns of nothing',
    step(async () => {
      expect(await warnings()).toEqual([])
      const name = `deployment/${svc.name}-operator`
      const log = await kubectl('logs', '-n', SYSTEM_NAMESPACE, name, '--all-pods')
      expect(log).toContain('"msg":"leading"')
      expect(log).not.toMatch(/"level":"(?:warn|error)"/)
    }),
  )

  it(
    'a Realm and documents are served once kubectl wait says so',
    step(async () => {
      await cluster().apply([shopRealm(issuer), ...shopDocuments()])
      await kubectl('wait', '-n', SHOP, 'apispec,realm', '--all', '--for=condition=Ready')
      expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Hello Ada' })
      expect((await request(`${url}/hello/Ada`)).status).toBe(404)
    }),
  )

  it(
    'a request is forwarded to an application',
    step(async () => {
      const { status, json } = await ask('/echo/status?open=yes')
      expect({ status, body: json() }).toMatchObject({
        status: 200,
        body: { url: '/status?open=yes', pod: expect.stringMatching(/^echo-/) },
      })
    }),
  )

  it(
    'a procedure is called through the router',
    step(async () => {
      await using callee = await openAutobahn({
        url: (await serviceUrl(cluster(), SHOP, 'nexus')).replace('http', 'ws'),
        realm: SHOP_REALM,
      })
      const { Result } = await import('../support/autobahn-client.ts').then((all) =>
        all.loadAutobahn(),
      )
      await callee.register('com.example.orders.get', ([id]) => new Result([], { id: id ?? null }))
      // By each of the gateways, which one is not to be chosen.
      for (const id of ['1', '2', '3', '4'])
        expect((await ask(`/orders/${id}`)).json()).toEqual({ id })
    }),
  )

  it(
    'what is published arrives as an event',
    step(async () => {
      const events = await openRequest(`${url}/chat/tea`, {
        headers: { host: SHOP_HOST, accept: 'text/event-stream' },
        timeoutMs: 60_000,
      })
      expect(events.statusCode).toBe(200)
      const text = firstEvent(events)
      const { status } = await ask('/chat/tea', { method: 'POST', json: { text: 'Hi' } })
      expect(status).toBe(202)
      expect(await text).toContain('{"text":"Hi"}')
      events.destroy()
    }),
  )

  it(
    'a browser logs in at the identity provider, and is known at each gateway',
    step(async () => {
      const browser = new Browser({ routes: { [SHOP_ORIGIN]: url } })
      expect((await browser.visit(`${SHOP_ORIGIN}/my/name`)).status).toBe(401)
      const end = await logIn(browser, `${SHOP_ORIGIN}/my/oidc/login`, 'alice')
      expect({ status: end.status, text: end.text }).toMatchObject({ status: 302 })
      for (let visit = 0; visit < 6; visit += 1) {
        const page = await browser.visit(`${SHOP_ORIGIN}/my/name`, { isFetch: true, from: end.url })
        expect({ status: page.status, text: page.text }).toEqual({
          status: 200,
          text: '{"authid":"alice"}',
        })
      }
    }),
  )

  it(
    'a fault is refused with its place, and nothing has changed',
    step(async () => {
      const { code, stderr } = await applyFault()
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(FAULT) })
      expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Hello Ada' })
    }),
  )

  it(
    'a labelled application has a gateway of its own',
    step(async () => {
      const selector = { dataPlaneSelector: { matchLabels: { app: 'stock' } } }
      const annotations = { 'gateway.svc.dev/app-port': '8080' }
      await cluster().apply([
        api({
          name: 'stock',
          host: 'stock.example.com',
          spec: selector,
          paths: forwardTo('http://127.0.0.1:8080'),
        }),
        app({ name: 'stock', image: CLUSTER_IMAGES.echo, labels: INJECT, annotations }),
      ])
      await kubectl('wait', '-n', SHOP, 'deployment/stock', '--for=condition=Available')
      await kubectl('wait', '-n', SHOP, 'apispec/stock', '--for=condition=Ready')
      const own = `http://${await podIp(SHOP, 'app=stock')}:18080`
      const headers = { host: 'stock.example.com' }
      expect((await request(`${own}/stock/items`, { headers })).json()).toMatchObject({
        url: '/items',
        pod: expect.stringMatching(/^stock-/),
      })
      // What is for all is not for it, and what is its own is not for all.
      expect((await request(`${own}/hello/Ada`, { headers: { host: SHOP_HOST } })).status).toBe(404)
      expect((await request(`${url}/stock/items`, { headers })).status).toBe(404)
    }),
  )

  it(
    'a Job ends beside its gateway, which was there before it',
    step(async () => {
      const script = `fetch('http://127.0.0.1:18080/').then((response) => console.log(response.status))`
      const { metadata, spec } = podOf({
        name: 'count',
        image: CLUSTER_IMAGES.echo,
        labels: INJECT,
        annotations: STARTED,
      }) as { readonly metadata: object; readonly spec: { readonly containers: readonly object[] } }
      const containers = spec.containers.map((each) => ({
        ...each,
        command: ['node', '-e', script],
      }))
      await cluster().apply([
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: 'count', namespace: SHOP },
          spec: {
            backoffLimit: 0,
            template: { metadata, spec: { ...spec, containers, restartPolicy: 'Never' } },
          },
        },
      ])
      await kubectl('wait', '-n', SHOP, 'job/count', '--for=condition=Complete')
      expect(await kubectl('logs', '-n', SHOP, 'job/count', '-c', 'count')).toBe('404')
    }),
  )

  it(
    'where the operator may not create its certificate, a Pod says so and starts',
    step(async () => {
      const words = await createPod('unmanaged', ELSEWHERE)
      expect(words).toContain(
        'kubectl create rolebinding svc-gateway-certificate-writer --namespace=elsewhere',
      )
      await kubectl('wait', '-n', ELSEWHERE, 'pod/unmanaged', '--for=condition=Ready')
      expect(await containersOf('unmanaged', ELSEWHERE)).toBe('svc-gateway unmanaged')
    }),
  )

  it(
    'while no operator runs a fault is stored, Pods start all the same, what serves goes on',
    step(async () => {
      const operator = `deployment/${svc.name}-operator`
      await kubectl('scale', '-n', SYSTEM_NAMESPACE, operator, '--replicas=0')
      const gone = 'app.kubernetes.io/component=operator'
      await kubectl(...['wait', '-n', SYSTEM_NAMESPACE, 'pods', '-l', gone, '--for=delete'])
      await createPod('alone', SHOP)
      await kubectl('wait', '-n', SHOP, 'pod/alone', '--for=condition=Ready')
      expect((await containersOf('alone', SHOP)).trim()).toBe('alone')
      expect(await applyFault()).toMatchObject({ code: 0 })
      expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Hello Ada' })
    }),
  )

  it(
    'an operator that comes back tells of the fault, and what served before serves',
    step(async () => {
      const operator = `deployment/${svc.name}-operator`
      await kubectl('scale', '-n', SYSTEM_NAMESPACE, operator, '--replicas=2')
      await kubectl('rollout', 'status', '-n', SYSTEM_NAMESPACE, operator)
      await kubectl('wait', '-n', SHOP, 'apispec/hello', '--for=condition=Accepted=False')
      const table = await kubectl('get', 'apispec', 'hello', '-n', SHOP, '-o', 'wide')
      process.stderr.write(`${table}\n`)
      expect(table).toContain('Invalid')
      expect(table).toContain(FAULT)
      expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Hello Ada' })
    }),
  )

  it(
    'mended, it serves what is new',
    step(async () => {
      await cluster().apply([hello('static', 'Good day {{request.bindings.name}}')])
      await kubectl('wait', '-n', SHOP, 'apispec/hello', '--for=condition=Ready')
      expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Good day Ada' })
    }),
  )

  it(
    'helm test passes',
    step(async () => {
      const { code, stdout, stderr } = await svc.helm('test', '--timeout', '180s')
      expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
    }),
  )

  it(
    'helm upgrade with another value',
    step(async () => {
      await svc.upgrade({ gateway: { replicas: 3, accessLog: 'on' } })
      const ready = 'jsonpath={.status.readyReplicas}'
      const args = ['-n', SYSTEM_NAMESPACE, `deployment/${svc.name}`, '-o', ready]
      expect(await kubectl('get', ...args)).toBe('3')
      await eventually(async () => {
        expect((await ask('/hello/Ada')).json()).toEqual({ text: 'Good day Ada' })
      }, PATIENCE)
      // A gateway that drains says 503 to every probe, and is meant to; an operator that has ended has closed its port,
      // and may be probed once more: refused, or, once its network is gone too, never answered. What runs on must have
      // had none.
      const { items } = JSON.parse(
        await kubectl('get', 'pods', '-n', SYSTEM_NAMESPACE, '-o', 'json'),
      ) as { readonly items: readonly { readonly metadata: PodMetadata }[] }
      const staying = items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
      expect(staying.length).toBeGreaterThanOrEqual(5)
      const isOfOneThatEnds = (line: string): boolean =>
        PROBE_OF_ONE_THAT_ENDS.test(line) && !staying.some((name) => line.includes(name))
      expect((await warnings()).filter((line) => !isOfOneThatEnds(line))).toEqual([])
    }),
  )

  it(
    'answers on IPv6',
    step(async () => {
      const script = `fetch('http://[::1]:18080/').then((response) => console.log(response.status))`
      const args = ['exec', '-n', SYSTEM_NAMESPACE, `deployment/${svc.name}`, '--', 'node', '-e']
      expect(await kubectl(...args, script)).toBe('404')
    }),
  )

  it(
    'helm uninstall leaves the kinds, and what others have made',
    step(async () => {
      await kubectl('delete', '-n', SHOP, 'deployment/stock', 'job/count', 'pod/alone')
      await kubectl('delete', '-n', ELSEWHERE, 'pod/unmanaged')
      const { code, stdout, stderr } = await svc.helm('uninstall', '--wait', '--timeout', '240s')
      expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
      await eventually(async () => {
        const now = await objectsOfCluster(cluster())
        const left = [...now].filter((each) => !before.has(each))
        expect(left.filter((each) => !OURS_TO_KEEP.test(each)).toSorted()).toEqual([])
        // As others have them, they are untouched.
        expect([...before].filter((each) => !now.has(each))).toEqual([])
        expect(left.filter((each) => each.startsWith('CustomResourceDefinition'))).toHaveLength(2)
      }, PATIENCE)
      expect((await kubectl('get', 'apispec', '-n', SHOP, '-o', 'name')).split('\n')).toHaveLength(
        6,
      )
    }),
  )
})

/** Kinds, as Kubernetes has them, and resources of these kinds, which are the shop's. */
const OURS_TO_KEEP =
  /^(?:CustomResourceDefinition \S*|APIService \S*)gateway\.svc\.dev$|^(?:ApiSpecification|Realm) shop\//

const nameOf = (pod: object): object => (pod as { readonly metadata: object }).metadata

const firstEvent = async (events: AsyncIterable<Buffer | string>): Promise<string> => {
  let text = ''
  for await (const chunk of events) {
    text += String(chunk)
    if (/^data: .*\n\n/m.test(text)) break
  }
  return text
}
