// Options come in; etcd, an API server and controllers go out, real ones on loopback, with everything they write in
// a directory of their own, and with the faults that a client must outlive. They end with whoever started them.

import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { makeTempDir } from '../temp-dir.ts'
import {
  type ApiClient,
  type ApiRequest,
  type ApiResponse,
  createApiClient,
  demand,
} from './api-client.ts'
import { buildKube } from './build-kube.ts'
import { writeCredentials, writeKubeconfig } from './credentials.ts'
import { createFakePod, type FakePod, type FakePodOptions } from './fake-pod.ts'
import { type KubectlOptions, type KubectlResult, runKubectl } from './kubectl.ts'
import { removeWhenLeft } from './left-directory.ts'
import {
  apiServerFlags,
  controllerFlags,
  etcdDataDirectory,
  etcdFlags,
  etcdUrl,
  type ServerSettings,
} from './server-commands.ts'
import { quietPorts } from './server-ports.ts'
import { createServerProcess, type ServerProcess } from './server-process.ts'

export interface ControlPlaneOptions {
  /** `false`: no garbage collection, no ServiceAccount `default`, no end of namespaces; a little faster. */
  readonly controllers?: boolean
  /** After those it has; the last of a name counts. */
  readonly apiserverFlags?: readonly string[]
}

/** 0.6 GB of memory. Objects, address, keys and tokens stay through all faults, but for what `restore` undoes. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:…` */
  readonly server: string
  /** The administrator's, of `system:masters`: exempt from RBAC, and from priority and fairness. */
  readonly kubeconfig: string
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

/** A machine under load needs it; it is ready after 3 s. */
const START_MS = 120_000

/**
 * Builds the programs when nobody has yet. Throws with the end of the logs unless it is ready in time.
 *
 * @example
 * await using plane = await startControlPlane()
 * await plane.apply(crds)
 */
export const startControlPlane = async (
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> => {
  const programs = await buildKube()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(programs, options)
    } catch (error) {
      // Nobody reserves a port.
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
  return {
    server,
    kubeconfig,
    ca: credentials.ca,
    get pids() {
      return servers.all.filter(({ isRunning }) => isRunning).map(({ pid }) => pid)
    },
    kubectl,
    request: send,
    apply: (objects) => applyAll(kubectl, objects),
    serviceAccount: async (namespace, name) => {
      const token = await accountToken(send, namespace, name)
      const path = join(directory, `${namespace}-${name}.kubeconfig`)
      return writeKubeconfig(path, { server, ca: credentials.ca, token, namespace })
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
      await rm(etcdDataDirectory(directory), { recursive: true, force: true })
      await cp(snapshot, etcdDataDirectory(directory), { recursive: true })
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
  { controllers = true, apiserverFlags = [] }: ControlPlaneOptions,
): Promise<ServerSettings> => {
  const [etcd = 0, etcdPeer = 0, apiServer = 0] = await quietPorts(3)
  const settings: ServerSettings = {
    directory,
    apiserverFlags,
    ports: { etcd, etcdPeer, apiServer },
    credentials: await writeCredentials(directory),
    kubeconfig: join(directory, 'kubeconfig'),
    hasControllers: controllers,
  }
  const { ca, adminToken: token } = settings.credentials
  await writeKubeconfig(settings.kubeconfig, { server: serverUrl(settings), ca, token })
  return settings
}

const serverUrl = ({ ports }: ServerSettings): string => `https://127.0.0.1:${ports.apiServer}`

interface Servers {
  readonly etcd: ServerProcess
  readonly apiServer: ServerProcess
  /** In the order in which they start. */
  readonly all: readonly ServerProcess[]
  /** Those that do not run; resolves when all are ready. */
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

const createServers = (programs: string, settings: ServerSettings, api: ApiClient): Servers => {
  const { directory, hasControllers } = settings
  const server = (program: string, args: readonly string[]): ServerProcess =>
    createServerProcess({
      command: join(programs, program),
      args,
      cwd: directory,
      logPath: join(directory, `${program}.log`),
    })
  const etcd = server('etcd', etcdFlags(settings))
  const apiServer = server('kube-apiserver', apiServerFlags(settings))
  const controllers = server('kube-controller-manager', controllerFlags(settings))
  const all = hasControllers ? [etcd, apiServer, controllers] : [etcd, apiServer]
  const kill = async (): Promise<void> => {
    await Promise.all(all.map((each) => each.kill()))
  }
  const ready = async (path: string, needed: readonly ServerProcess[]): Promise<void> => {
    const hasEnded = await eventually(
      async () => {
        if (needed.some(({ isRunning }) => !isRunning)) return true
        demand(await api.send({ path }))
        return false
      },
      { withinMs: START_MS, everyMs: 50 },
    )
    if (hasEnded) throw new Error('a server ended')
  }
  return {
    etcd,
    apiServer,
    all,
    kill,
    start: async () => {
      try {
        for (const each of [etcd, apiServer]) if (!each.isRunning) each.start()
        await ready('/readyz', [etcd, apiServer])
        if (!hasControllers) return
        if (!controllers.isRunning) controllers.start()
        await ready('/api/v1/namespaces/default/serviceaccounts/default', all)
      } catch (cause) {
        await kill()
        throw new Error(`no control plane:\n${await endOfLogs(directory)}`, { cause })
      }
    },
    stop: async () => {
      for (const each of all.toReversed()) await each.stop()
    },
  }
}

const endOfLogs = async (directory: string): Promise<string> => {
  const ends: string[] = []
  for (const program of ['etcd', 'kube-apiserver', 'kube-controller-manager']) {
    const log = await readFile(join(directory, `${program}.log`), 'utf8').catch(() => '')
    ends.push(`${program}: ${log.slice(-1500).trim()}`)
  }
  return ends.join('\n')
}

const applyAll = async (
  kubectl: (args: readonly string[], options?: KubectlOptions) => Promise<KubectlResult>,
  objects: string | readonly object[],
): Promise<void> => {
  const input =
    typeof objects === 'string'
      ? objects
      : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const run = async (args: readonly string[]): Promise<void> => {
    const { code, stderr } = await kubectl(args, { input })
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  }
  await run(['apply', '--server-side', '--force-conflicts', '-f', '-'])
  if (!input.includes('CustomResourceDefinition')) return
  await run(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'])
}

const TOKEN_S = 86_400

const accountToken = async (
  send: (request: ApiRequest) => Promise<ApiResponse>,
  namespace: string,
  name: string,
): Promise<string> => {
  const create = async (path: string, created: string): Promise<void> => {
    const body = { metadata: { name: created } }
    demand(await send({ method: 'POST', path, body }), 409)
  }
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await create('/api/v1/namespaces', namespace)
  await create(accounts, name)
  const body = { spec: { expirationSeconds: TOKEN_S } }
  const answer = demand(await send({ method: 'POST', path: `${accounts}/${name}/token`, body }))
  return (answer.json() as { readonly status: { readonly token: string } }).status.token
}

/** What the kernel has at this moment is what etcd would find after a crash, from which it recovers. */
const copyData = async (etcd: ServerProcess, directory: string, copy: string): Promise<void> => {
  await etcd.freeze()
  try {
    const filter = (path: string): boolean => !path.endsWith('.tmp')
    await cp(etcdDataDirectory(directory), copy, { recursive: true, filter })
  } finally {
    etcd.thaw()
  }
}

/** One write of our own first, so that the newest resource version that anyone has seen is old, too. */
const forgetHistory = async (url: string): Promise<void> => {
  const ask = async (method: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(`${url}/v3/kv/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const key = Buffer.from('compacted').toString('base64')
  const { header } = (await ask('put', { key })) as {
    readonly header: { readonly revision: string }
  }
  await ask('compaction', { revision: header.revision, physical: true })
}
