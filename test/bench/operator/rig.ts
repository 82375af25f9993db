// Prepares a control plane for the benchmark: our kinds and as many documents as are wanted, stand-ins for data planes
// with a Pod each, and operators as real processes with the rights of their account; and measures them.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import { createKubernetesApi } from '../../../operator/kubernetes/client/client.ts'
import { loadCluster } from '../../../operator/kubernetes/config/kubeconfig.ts'
import { GROUP } from '../../../operator/resource/resource.ts'
import { rolesFor } from '../../../operator/resource/roles-for.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { OPERATOR_NAMESPACE } from '../../component/kubernetes/home.ts'
import { applyDefinitions, makeNamespace } from '../../component/kubernetes/operator-api.ts'
import { type OperatorProcess, startOperator } from '../../component/kubernetes/operator-process.ts'
import { chartOperator, heapOfContainer } from '../../support/chart-operator.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { FakePod } from '../../support/kubernetes/fake-pod.ts'
import type { AuditLog } from './audit-log.ts'
import { NAMESPACE, nameOf, REALM, resourceOf } from './documents.ts'
import type { BenchPlane } from './light-plane.ts'
import { startStandIns, type StandIns } from './stand-ins.ts'
import { type Statuses, watchStatuses } from './statuses.ts'

const ACCOUNT = 'svc-operator'

export const OPERATOR_USER = `system:serviceaccount:${OPERATOR_NAMESPACE}:${ACCOUNT}`

export interface RigOptions {
  readonly plane: BenchPlane
  readonly audit: AuditLog
  /** Of its own, for files. */
  readonly directory: string
  /** Of stand-ins, with and without a Pod. */
  readonly standIns: number
  readonly program: {
    readonly main: string
    /** Directory of CPU profiles. */
    readonly profiles: string | undefined
    /** Of Node. */
    readonly nodeFlags: readonly string[]
    /** MB of its container; without one it may take what the machine has. */
    readonly memoryLimit: number
  }
}

/** Unix time in ms, finer than `Date.now`, and the same in all processes. */
export const now = (): number => performance.timeOrigin + performance.now()

/** So many requests of ours at once. */
const AT_ONCE = 32

export class Rig implements AsyncDisposable {
  readonly audit: AuditLog
  readonly standIns: StandIns
  readonly statuses: Statuses
  readonly #options: RigOptions
  readonly #pod: Pod
  readonly #stack: AsyncDisposableStack
  readonly #operators: OperatorProcess[] = []
  readonly #edits = new Map<number, number>()
  readonly #failed = Promise.withResolvers<never>()

  private constructor(
    options: RigOptions,
    parts: {
      readonly pod: Pod
      readonly standIns: StandIns
      readonly statuses: Statuses
      readonly stack: AsyncDisposableStack
    },
  ) {
    this.audit = options.audit
    this.#options = options
    this.#pod = parts.pod
    this.standIns = parts.standIns
    this.statuses = parts.statuses
    this.#stack = parts.stack
    // Perhaps nothing waits for it.
    this.#failed.promise.catch(() => undefined)
  }

  static async open(options: RigOptions): Promise<Rig> {
    const { plane } = options
    await using stack = new AsyncDisposableStack()
    await applyDefinitions(plane)
    await makeNamespace(plane, OPERATOR_NAMESPACE)
    await makeNamespace(plane, NAMESPACE)
    const pod = await podOf(options, await plane.serviceAccount(OPERATOR_NAMESPACE, ACCOUNT))
    const account = { serviceAccount: ACCOUNT, operatorNamespace: OPERATOR_NAMESPACE }
    await plane.apply([...rolesFor({ ...account, namespaces: 'all' }), REALM])
    const standIns = stack.use(await startStandIns(ACCOUNT, options.standIns))
    const api = await administrator(plane)
    stack.defer(() => api.close())
    const statuses = stack.use(await watchStatuses(api, now))
    return new Rig(options, { pod, standIns, statuses, stack: stack.move() })
  }

  /** Rejects as soon as an operator has ended without being stopped: a caller that waits for what it does would wait long. */
  get failure(): Promise<never> {
    return this.#failed.promise
  }

  /** Resolves when it has read everything. Several share one Lease. */
  async startOperator(nodeFlags: readonly string[] = []): Promise<OperatorProcess> {
    const { main, profiles, nodeFlags: given, memoryLimit } = this.#options.program
    const profiling = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
    const operator = await startOperator(
      ['--kubernetes', '--status', '127.0.0.1:0', '--data-plane-tls=false'],
      {
        main,
        env: this.#pod.env,
        keptLines: 100,
        nodeFlags: [
          ...this.#pod.nodeFlags,
          heapFlag(memoryLimit),
          ...profiling,
          ...given,
          ...nodeFlags,
        ],
      },
    )
    void operator.endedByItself.then((how) => {
      this.#failed.reject(new Error(how))
    })
    const onExit = (): void => {
      operator.signal('SIGKILL')
    }
    process.once('exit', onExit)
    this.#stack.defer(() => {
      process.off('exit', onExit)
    })
    this.#operators.push(operator)
    this.#stack.use(operator)
    // A profile is written at an orderly end only; one that has ended already has written its own.
    if (profiles !== undefined) this.#stack.defer(() => operator.stop().catch(() => undefined))
    return operator
  }

  /** The next version of a document; its generation. */
  async edit(index: number): Promise<number> {
    const edit = (this.#edits.get(index) ?? 0) + 1
    this.#edits.set(index, edit)
    const path = `/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/apispecifications/${nameOf(index)}`
    const response = demand(
      await this.#options.plane.request({
        method: 'PATCH',
        path: `${path}?fieldManager=kubectl&force=true`,
        contentType: 'application/apply-patch+yaml',
        body: resourceOf(index, edit),
      }),
    )
    const { metadata } = response.json() as { readonly metadata: { readonly generation: number } }
    return metadata.generation
  }

  /** Of the stand-in with that number: made anew each time it is called. */
  async addPod(index: number): Promise<FakePod> {
    const { ip = '', port = 0 } = this.standIns.addresses[index] ?? {}
    return this.#options.plane.fakePod({
      namespace: OPERATOR_NAMESPACE,
      name: `gateway-${index}`,
      ip,
      ports: { management: port },
      labels: { [`${GROUP}/data-plane`]: 'shared' },
    })
  }

  /** The statuses that the API has now, of so many documents from the first on. */
  programmed(documents: number): number {
    let count = 0
    for (let index = 0; index < documents; index++)
      if (this.statuses.of(nameOf(index)) !== undefined) count += 1
    return count
  }

  /** For a person who reads why a run failed. */
  logs(): readonly string[] {
    return this.#operators.flatMap(({ logs }) => logs().slice(-20))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

/** What makes a process believe that it runs in a pod: a kubeconfig is read by other code, which takes 50 MB. */
interface Pod {
  readonly env: Readonly<Record<string, string>>
  readonly nodeFlags: readonly string[]
}

const ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

const podOf = async ({ plane, directory }: RigOptions, kubeconfig: string): Promise<Pod> => {
  const { users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
    readonly users: readonly [{ readonly user: { readonly token: string } }]
  }
  const files = { token: users[0].user.token, 'ca.crt': plane.ca, namespace: OPERATOR_NAMESPACE }
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, name), text, { mode: 0o600 })
  // Those files are read from here instead; the program itself is what it is in a pod.
  const preload = `
    import fs from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { readFile } = fs
    fs.readFile = (path, ...rest) =>
      readFile(String(path).replace(${JSON.stringify(ACCOUNT_DIRECTORY)}, ${JSON.stringify(directory)}), ...rest)
    syncBuiltinESMExports()`
  const { hostname, port } = new URL(plane.server)
  return {
    env: {
      ...chartOperator().env,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    },
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
  }
}

/** What V8 makes of the limit of a container by itself. */
const heapFlag = (memoryLimit: number): string =>
  `--max-old-space-size=${heapOfContainer(memoryLimit)}`

const administrator = async ({ kubeconfig }: BenchPlane): Promise<KubernetesApi> =>
  createKubernetesApi({
    cluster: await loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    userAgent: 'svc-operator/bench',
  })

/** In order, `AT_ONCE` at a time. */
export const inParallel = async <T>(
  count: number,
  make: (index: number) => Promise<T>,
): Promise<readonly T[]> => {
  const made: T[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) made[index] = await make(index)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work))
  return made
}
