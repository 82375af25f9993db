// Starts etcd, an API server and controllers, real ones on loopback, with everything they write in a directory of their
// own, and with the faults that a client must outlive. They end with the process that started them.

import { join } from 'node:path'
import { makeTempDir } from '../temp-dir.ts'
import { type ApiRequest, type ApiResponse, createApiClient } from './api-client.ts'
import { applyObjects } from './apply-objects.ts'
import { buildKube } from './build-kube.ts'
import { type User, writeCredentials, writeKubeconfig } from './credentials.ts'
import { forgetHistory, replaceData, copyData } from './etcd-data.ts'
import { createFakePod, type FakePod, type FakePodOptions } from './fake-pod.ts'
import { type KubectlOptions, type KubectlResult, runKubectl } from './kubectl.ts'
import { removeWhenLeft } from './left-directory.ts'
import { createAccountToken } from './account-token.ts'
import { etcdUrl, LOOPBACK, type ServerSettings } from './server-commands.ts'
import { quietPorts } from './server-ports.ts'
import { createServers } from './servers.ts'

export interface ControlPlaneOptions {
  /** `false`: no garbage collection, no ServiceAccount `default`, no end of namespaces; a little faster. */
  readonly controllers?: boolean
  /** After those it has; the last of a name counts. */
  readonly apiserverFlags?: readonly string[]
  /** Pods get a node, where there is one; `false` otherwise. */
  readonly scheduler?: boolean
  /** Of this machine, where the API server listens; 127.0.0.1 otherwise, for which no pod could ask. */
  readonly address?: string
  /** Of Services: `10.96.0.0/16` otherwise. */
  readonly serviceCidr?: string
  /** Who may ask besides the administrator and service accounts. */
  readonly users?: readonly User[]
}

/** 0.6 GB of memory. Objects, address, keys and tokens stay through all faults, but for what `restore` undoes. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:…`, or at the address of the options. */
  readonly server: string
  /** The administrator's, of `system:masters`: exempt from RBAC, and from priority and fairness. */
  readonly kubeconfig: string
  /** Everything that it writes. */
  readonly directory: string
  /** The PEM that the server's certificate is signed with. */
  readonly ca: string
  /** Of the servers that run now. */
  readonly pids: readonly number[]
  /** Never throws for what kubectl says: see `code`. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /** Server-side, with force. Waits until CustomResourceDefinitions are established. @throws with kubectl's words */
  apply(objects: string | readonly object[]): Promise<void>
  /** As the administrator, any status; many times faster than kubectl. */
  request(request: ApiRequest): Promise<ApiResponse>
  /** Makes the namespace and the account where they are missing, and a kubeconfig with a token of a day. */
  serviceAccount(namespace: string, name: string): Promise<string>
  /** A kubeconfig of one of `users`. */
  userKubeconfig(name: string): Promise<string>
  /** A Pod whose status says whatever a test wants; see there. */
  fakePod(options: FakePodOptions): Promise<FakePod>

  /** The API server keeps its connections, and nothing answers. */
  pause(): Promise<void>
  resume(): void
  /** In order: connections get GOAWAY, then are refused. */
  stop(): Promise<void>
  /** What was stopped; answers when it resolves. */
  start(): Promise<void>
  /** SIGKILL of all, and a start. */
  crash(): Promise<void>
  /** Copies what etcd holds now, for `restore`; etcd stands still for some 100 ms. */
  snapshot(): Promise<string>
  /** A restart with the objects of then. Resource versions go back: a watch from the lost future hears nothing. */
  restore(snapshot: string): Promise<void>
  /** Forgets history and restarts the API server: 410 for watches, pages and exact lists from before. */
  compact(): Promise<void>
}

/**
 * Builds the programs unless they are built. Throws with the end of the logs unless it is ready in time.
 *
 * @example
 * await using plane = await startControlPlane()
 * await plane.apply(crds)
 */
export const startControlPlane = async (
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> => {
  const programs = await buildKube({ whole: options.scheduler ?? false })
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(programs, options)
    } catch (error) {
      // No port can be reserved.
      const isTaken = String(error).includes('address already in use')
      if (!isTaken || attempt === 3) throw error
    }
  }
}

const startOnce = async (programs: string, options: ControlPlaneOptions): Promise<ControlPlane> => {
  const temporary = await makeTempDir()
  const directory = temporary.path
  const leave = removeWhenLeft(directory)
  const settings = await prepare(directory, options)
  const { kubeconfig, credentials, ports } = settings
  const server = serverUrl(settings)
  const api = createApiClient(server, credentials.ca, credentials.adminToken)
  const servers = createServers(programs, settings, api)
  const send = (request: ApiRequest): Promise<ApiResponse> => api.send(request)
  const dispose = async (): Promise<void> => {
    await servers.kill()
    api[Symbol.dispose]()
    await temporary[Symbol.asyncDispose]()
    leave()
  }
  try {
    await servers.start()
  } catch (error) {
    await dispose()
    throw error
  }
  const kubectl = (args: readonly string[], how?: KubectlOptions): Promise<KubectlResult> =>
    runKubectl({ program: join(programs, 'kubectl'), kubeconfig }, args, how)
  const snapshots = { taken: 0 }
  const kubeconfigWith = (name: string, token: string, namespace?: string): Promise<string> =>
    writeKubeconfig(join(directory, `${name.replaceAll(':', '-')}.kubeconfig`), {
      server,
      ca: credentials.ca,
      token,
      ...(namespace !== undefined && { namespace }),
    })
  return {
    server,
    kubeconfig,
    directory,
    ca: credentials.ca,
    get pids() {
      return servers.all.filter(({ isRunning }) => isRunning).map(({ pid }) => pid)
    },
    kubectl,
    request: send,
    apply: (objects) => applyObjects(kubectl, objects),
    serviceAccount: async (namespace, name) => {
      const token = await createAccountToken(send, namespace, name)
      return kubeconfigWith(`${namespace}-${name}`, token, namespace)
    },
    userKubeconfig: (name) => {
      const token = credentials.tokens.get(name)
      if (token === undefined) throw new Error(`${name} is none of the users`)
      return kubeconfigWith(name, token)
    },
    fakePod: (pod) => createFakePod(send, pod),
    pause: () => servers.apiServer.freeze(),
    resume: () => {
      servers.apiServer.thaw()
    },
    stop: () => servers.stop(),
    start: () => servers.start(),
    crash: async () => {
      await servers.kill()
      await servers.start()
    },
    snapshot: async () => {
      const copy = join(directory, `snapshot-${(snapshots.taken += 1)}`)
      await copyData(servers.etcd, directory, copy)
      return copy
    },
    restore: async (snapshot) => {
      await servers.stop()
      await replaceData(directory, snapshot)
      await servers.start()
    },
    compact: async () => {
      await forgetHistory(etcdUrl(ports))
      await servers.apiServer.stop()
      await servers.start()
    },
    [Symbol.asyncDispose]: dispose,
  }
}

const prepare = async (
  directory: string,
  options: ControlPlaneOptions,
): Promise<ServerSettings> => {
  const { controllers = true, scheduler = false, apiserverFlags = [], users = [] } = options
  const { address = LOOPBACK, serviceCidr = '10.96.0.0/16' } = options
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const addresses = [address, firstAddress(serviceCidr)]
  const [etcd = 0, etcdPeer = 0, apiServer = 0] = await quietPorts(3)
  const settings: ServerSettings = {
    directory,
    apiserverFlags,
    address,
    serviceCidr,
    ports: { etcd, etcdPeer, apiServer },
    credentials: await writeCredentials(directory, { names, addresses }, users),
    kubeconfig: join(directory, 'kubeconfig'),
    hasControllers: controllers,
    hasScheduler: scheduler,
  }
  const { ca, adminToken: token } = settings.credentials
  await writeKubeconfig(settings.kubeconfig, { server: serverUrl(settings), ca, token })
  return settings
}

const serverUrl = ({ address, ports }: ServerSettings): string =>
  `https://${address}:${ports.apiServer}`

/** The `kubernetes` Service has it. */
const firstAddress = (cidr: string): string => cidr.replace(/\d+\/\d+$/, '1')
