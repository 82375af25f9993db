// Starts what makes a node of its namespaces, network and control plane: containerd, the kubelet, kube-proxy and DNS.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { demand } from '../kubernetes/api-client.ts'
import type { ControlPlane } from '../kubernetes/control-plane.ts'
import type { RouterChild } from '../routers/router-child.ts'
import type { ClusterPrograms } from './build-node.ts'
import type { Namespaces } from './namespaces.ts'
import {
  containerdConfig,
  CTR,
  DNS_READY,
  dnsConfig,
  kubeletConfig,
  kubeletFlags,
  networkConfig,
  NODE_NAME,
  NODE_USERS,
  proxyFlags,
} from './node-config.ts'
import type { NodeNetwork } from './node-network.ts'
import { PAUSE_ARCHIVE } from './node-recipe.ts'

export interface NodeParts {
  /** Of the host, the node's own. */
  readonly directory: string
  readonly programs: ClusterPrograms
  readonly namespaces: Namespaces
  readonly network: NodeNetwork
  readonly plane: ControlPlane
  readonly cgroup: string
}

/** A machine under load needs it; it is ready after 3 s. */
const START_MS = 120_000

/** Resolves when pods can run. @throws with the ends of the logs */
export const startNodePrograms = async (parts: NodeParts): Promise<void> => {
  const started = new Map<string, RouterChild>()
  const start = (name: string, command: readonly string[]): void => {
    started.set(name, parts.namespaces.start(name, command))
  }
  const until = (check: () => Promise<unknown>): Promise<void> => untilReady(started, check)
  try {
    await startContainerd(parts, start, until)
    await startKubelet(parts, start)
    await startNetwork(parts, start)
    await until(() => isNodeReady(parts.plane))
    await until(() => runInside(parts, ['bash', '-c', ASK_DNS]))
  } catch (cause) {
    throw new Error(`no node:\n${await endOfLogs(parts.directory, [...started.keys()])}`, { cause })
  }
}

type Start = (name: string, command: readonly string[]) => void
type Until = (check: () => Promise<unknown>) => Promise<void>

const untilReady = async (
  started: ReadonlyMap<string, RouterChild>,
  check: () => Promise<unknown>,
): Promise<void> => {
  const ended = await eventually(
    async () => {
      const gone = [...started].find(([, { hasEnded }]) => hasEnded)
      if (gone === undefined) await check()
      return gone?.[0]
    },
    { withinMs: START_MS, everyMs: 100 },
  )
  if (ended !== undefined) throw new Error(`${ended} ended`)
}

const runInside = async ({ namespaces }: NodeParts, command: readonly string[]): Promise<void> => {
  const { code, stdout, stderr } = await namespaces.run(command)
  if (code !== 0) throw new Error(`${command.join(' ')} in the node: ${stdout}${stderr}`)
}

const startContainerd = async (parts: NodeParts, start: Start, until: Until): Promise<void> => {
  const { directory, programs, network } = parts
  const networks = join(directory, 'networks')
  await mkdir(networks)
  await writeFile(join(networks, '10-svc.conflist'), networkConfig(network))
  const config = join(directory, 'containerd.toml')
  await writeFile(config, containerdConfig(programs.node, networks))
  start('containerd', ['containerd', '--config', config])
  await until(() => runInside(parts, [...CTR, 'version']))
  await runInside(parts, [...CTR, 'images', 'import', join(programs.node, PAUSE_ARCHIVE)])
}

const startKubelet = async (parts: NodeParts, start: Start): Promise<void> => {
  const { directory, programs, network, plane, cgroup } = parts
  const resolvConf = join(directory, 'resolv.conf')
  await writeFile(resolvConf, 'nameserver 127.0.0.1\n')
  const caFile = join(directory, 'ca.crt')
  await writeFile(caFile, plane.ca)
  const config = join(directory, 'kubelet.json')
  await writeFile(config, kubeletConfig(network, { caFile, cgroup, resolvConf }))
  const kubeconfig = await plane.userKubeconfig(NODE_USERS[0].name)
  start('kubelet', [programs.kube, 'kubelet', ...kubeletFlags(network, config, kubeconfig)])
}

const startNetwork = async (parts: NodeParts, start: Start): Promise<void> => {
  const { directory, programs, network, plane } = parts
  const kubeconfig = await plane.userKubeconfig(NODE_USERS[1].name)
  start('kube-proxy', [programs.kube, 'kube-proxy', ...proxyFlags(network, kubeconfig)])
  const config = join(directory, 'Corefile')
  await writeFile(config, dnsConfig(network, plane.kubeconfig))
  start('coredns', ['coredns', '-conf', config])
}

const ASK_DNS = `exec 3<>/dev/tcp/${DNS_READY.replace(':', '/')}
printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3
grep -q '200 OK' <&3`

interface NodeObject {
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

const isNodeReady = async (plane: ControlPlane): Promise<void> => {
  const response = demand(await plane.request({ path: `/api/v1/nodes/${NODE_NAME}` }))
  const { conditions = [] } = (response.json() as NodeObject).status
  if (!conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
    throw new Error(`the node is not ready: ${JSON.stringify(conditions)}`)
}

const endOfLogs = async (directory: string, names: readonly string[]): Promise<string> => {
  const ends = names.map(async (name) => {
    const log = await readFile(join(directory, `${name}.log`), 'utf8').catch(() => '')
    return `${name}: ${log.slice(-2000).trim()}`
  })
  return (await Promise.all(ends)).join('\n')
}
