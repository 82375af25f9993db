// Prepares a control plane for tests: our CRDs and roles, operators as real processes with the rights of their account
// and no more, and real gateways, each with a Pod object that says where it is.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GROUP } from '../../../operator/resource/resource.ts'
import { rolesFor, type RolesOptions } from '../../../operator/resource/roles-for.ts'
import type { StateView } from '../../../language/wire/wire.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import type { FakePod } from '../../support/kubernetes/fake-pod.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { applyDefinitions, makeNamespace } from './operator-api.ts'
import { type OperatorProcess, startOperator } from './operator-process.ts'

export const OPERATOR_NAMESPACE = 'svc-gateway-system'

export interface HomeOptions {
  /** Of documents and realms. `all` when absent. */
  readonly namespaces?: RolesOptions['namespaces']
  /** Mutual TLS to the gateways, as in a cluster; else plain HTTP on loopback, which starts at once. */
  readonly tls?: boolean
}

export interface OperatorOptions {
  /** Of the API server, where it is reached by another one than its own, such as that of a relay. */
  readonly apiServerPort?: number
  /** Its own Lease holds it apart from others; all of one home share one Lease otherwise. */
  readonly flags?: readonly string[]
  /** Main module of another version. */
  readonly main?: string
}

export interface GatewayPodOptions {
  readonly name: string
  /** The operator's when absent: of the shared pool. */
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  /** Of the gateway; `--managed svc-operator` stands there already. */
  readonly flags?: readonly string[]
  readonly sidecar?: boolean
  /** Main module of another version. */
  readonly main?: string
}

export interface GatewayPod {
  readonly gateway: GatewayProcess
  readonly pod: FakePod
  /** Status and body of a GET of the public port. */
  readonly get: (
    host: string,
    path: string,
  ) => Promise<{ readonly status: number; readonly text: string }>
  /** What it holds, as the operator asks for it; without mutual TLS only. */
  readonly state: () => Promise<StateView>
  /** Whether `/ready` is 204. */
  readonly isReady: () => Promise<boolean>
  /** The pod goes, then the process: as a kubelet does. */
  readonly remove: () => Promise<void>
}

export interface ResourceStatus {
  readonly observedGeneration?: number
  readonly programmedGeneration?: number
  readonly programmedDigest?: string
  /** At which it is programmed, of those that it is for: `2/2`. */
  readonly gateways?: string
  readonly conditions: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
    readonly observedGeneration: number
    readonly lastTransitionTime: string
  }[]
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
}

/** A busy machine takes its time. */
export const PATIENCE = { withinMs: 30_000, everyMs: 50 }
/** What could not be watched for a while is tried again after up to 30 s. */
export const LONG = { withinMs: 90_000, everyMs: 100 }

export class Home implements AsyncDisposable {
  readonly plane: ControlPlane
  readonly kubeconfig: string
  readonly #options: HomeOptions
  readonly #stack = new AsyncDisposableStack()
  readonly #processes: { readonly logs: () => readonly string[] }[] = []
  #lastIp = 0

  private constructor(plane: ControlPlane, kubeconfig: string, options: HomeOptions) {
    this.plane = plane
    this.kubeconfig = kubeconfig
    this.#options = options
  }

  static async open(plane: ControlPlane, options: HomeOptions = {}): Promise<Home> {
    await applyDefinitions(plane)
    await makeNamespace(plane, OPERATOR_NAMESPACE)
    const { namespaces = 'all' } = options
    for (const each of namespaces === 'all' ? [] : namespaces) await makeNamespace(plane, each)
    const account = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
    const kubeconfig = await plane.serviceAccount(OPERATOR_NAMESPACE, account.serviceAccount)
    await plane.apply(rolesFor({ ...account, namespaces }))
    await makeFreeLease(plane)
    return new Home(plane, kubeconfig, options)
  }

  /** Resolves when it has read everything once; whether it leads is another matter. */
  async startOperator({
    apiServerPort,
    flags = [],
    main,
  }: OperatorOptions = {}): Promise<OperatorProcess> {
    const kubeconfig =
      apiServerPort === undefined ? this.kubeconfig : await this.#kubeconfigBy(apiServerPort)
    const { namespaces = 'all', tls = false } = this.#options
    const operator = await startOperator(
      [
        '--kubernetes',
        '--kubeconfig',
        kubeconfig,
        '--namespace',
        OPERATOR_NAMESPACE,
        '--namespaces',
        namespaces === 'all' ? 'all' : namespaces.join(','),
        '--status',
        '127.0.0.1:0',
        `--data-plane-tls=${String(tls)}`,
        ...flags,
      ],
      main === undefined ? {} : { main },
    )
    this.#stack.use(operator)
    this.#processes.push(operator)
    return operator
  }

  async startGatewayPod(options: GatewayPodOptions): Promise<GatewayPod> {
    const { name, namespace = OPERATOR_NAMESPACE, labels = {}, flags = [], sidecar, main } = options
    this.#lastIp += 1
    const ip = `127.0.1.${this.#lastIp}`
    const tls = this.#options.tls === true ? await this.#tlsFlags(namespace) : []
    // With TLS the management port opens only when there is a certificate: the Pod must name it before.
    const management = await freePort()
    const gateway = await startGateway({
      flags: [
        '--management',
        `${ip}:${management}`,
        '--health',
        `${ip}:0`,
        '--managed',
        'svc-operator',
        ...tls,
        ...flags,
      ],
      ...(main !== undefined && { main }),
    })
    this.#stack.use(gateway)
    this.#processes.push(gateway)
    const pod = await this.plane.fakePod({
      namespace,
      name,
      ip,
      ports: { management },
      labels: { [`${GROUP}/data-plane`]: sidecar === true ? 'sidecar' : 'shared', ...labels },
      ...(sidecar !== undefined && { sidecar }),
    })
    return gatewayPod(gateway, pod)
  }

  /** The status of a resource, as it stands in the API now. */
  async status(
    kind: 'apispecifications' | 'realms',
    namespace: string,
    name: string,
  ): Promise<ResourceStatus> {
    const path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/${kind}/${name}`
    const response = await this.plane.request({ path })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`)
    const { status, metadata } = response.json() as {
      readonly status: ResourceStatus
      readonly metadata: { readonly generation: number }
    }
    if (status.observedGeneration !== metadata.generation) {
      throw new Error(
        `${namespace}/${name}: generation ${metadata.generation} was not validated yet`,
      )
    }
    return status
  }

  /** Waits until a condition of the newest generation has that reason; the condition. */
  async until(
    namespace: string,
    name: string,
    type: string,
    reason: string,
  ): Promise<ResourceStatus['conditions'][number]> {
    return this.#until('apispecifications', { namespace, name, type, reason })
  }

  /** Waits until a status counts these gateways: where nothing else changes, that is written after a minute. */
  async untilCounted(namespace: string, name: string, gateways: string): Promise<void> {
    await eventually(async () => {
      const { gateways: counted = 'none' } = await this.status('apispecifications', namespace, name)
      if (counted !== gateways)
        throw new Error(`${namespace}/${name}: ${counted} gateways, not ${gateways}`)
    }, LONG)
  }

  /** The same as `until`, of a Realm. */
  async untilRealm(
    namespace: string,
    name: string,
    type: string,
    reason: string,
  ): Promise<ResourceStatus['conditions'][number]> {
    return this.#until('realms', { namespace, name, type, reason })
  }

  async #until(
    kind: 'apispecifications' | 'realms',
    wanted: Readonly<Record<'namespace' | 'name' | 'type' | 'reason', string>>,
  ): Promise<ResourceStatus['conditions'][number]> {
    const { namespace, name, type, reason } = wanted
    return eventually(async () => {
      const { conditions } = await this.status(kind, namespace, name)
      const found = conditions.find((condition) => condition.type === type)
      if (found?.reason !== reason) {
        throw new Error(
          `${namespace}/${name}: ${type} is ${JSON.stringify(found)}, not ${reason}\n${this.#logs()}`,
        )
      }
      return found
    }, PATIENCE)
  }

  async #kubeconfigBy(port: number): Promise<string> {
    const path = `${this.kubeconfig}.${port}`
    const { origin } = new URL(this.plane.server)
    const text = await readFile(this.kubeconfig, 'utf8')
    await writeFile(path, text.replaceAll(origin, `https://127.0.0.1:${port}`))
    return path
  }

  /** For a person who reads why a test failed. */
  #logs(): string {
    return this.#processes.flatMap(({ logs }) => logs().slice(-15)).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }

  /** What a kubelet does with a Secret: its keys are files, and stay what they are until the Secret changes. */
  async #tlsFlags(namespace: string): Promise<readonly string[]> {
    const dir = this.#stack.use(await makeTempDir())
    await mkdir(join(dir.path, 'tls'))
    const stopped = new AbortController()
    const refreshed = this.#refreshSecret(namespace, dir.path, stopped.signal)
    this.#stack.defer(() => {
      stopped.abort()
      // A copy under way would put a file into the directory while it is removed.
      return refreshed
    })
    const file = (name: string): string => join(dir.path, 'tls', name)
    return [
      '--management-tls-cert',
      file('tls.crt'),
      '--management-tls-key',
      file('tls.key'),
      '--management-client-ca',
      file('ca.crt'),
      '--management-client-name',
      'svc-operator',
    ]
  }

  async #refreshSecret(namespace: string, directory: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // While the API server is away the files stay as they are.
      await this.#copySecret(namespace, directory).catch(() => undefined)
      await sleep(500, undefined, { signal }).catch(() => undefined)
    }
  }

  async #copySecret(namespace: string, directory: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/secrets/svc-gateway-management-tls`
    const response = await this.plane.request({ path })
    if (response.status !== 200) return
    const { data } = response.json() as { readonly data: Readonly<Record<string, string>> }
    for (const [name, value] of Object.entries(data)) {
      const target = join(directory, 'tls', name)
      await writeFile(`${target}.new`, Buffer.from(value, 'base64'))
      await rename(`${target}.new`, target)
    }
  }
}

/** Released by the leader before: where there is none, the first operator waits for as long as one lasts. */
const makeFreeLease = async (plane: ControlPlane): Promise<void> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases`
  const body = { metadata: { name: 'svc-operator' }, spec: { holderIdentity: '' } }
  demand(await plane.request({ method: 'POST', path, body }), 409)
}

const gatewayPod = (gateway: GatewayProcess, pod: FakePod): GatewayPod => ({
  gateway,
  pod,
  get: async (host, path) => {
    // The public port is reached by address; the document is chosen by the name.
    const response = await request(`${gateway.public}${path}`, { headers: { host } })
    return { status: response.status, text: response.text }
  },
  state: async () => {
    const response = await request(`${gateway.management}/api_specs?view=state`)
    return response.json() as StateView
  },
  isReady: async () => {
    const health = String(gateway.listening['health'])
    return (await request(`${health}/ready`)).status === 204
  },
  remove: async () => {
    await pod.delete()
    await gateway.stop()
  },
})
