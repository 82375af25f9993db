// Starts a whole Kubernetes of one node: pods are real containers, Services real addresses. Everything it starts and
// makes ends with it, and with the process that started it.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../kubernetes/control-plane.ts'
import { type CommandResult, runCommand } from '../kubernetes/run-command.ts'
import { makeTempDir } from '../temp-dir.ts'
import { removeWhenLeft } from '../kubernetes/left-directory.ts'
import { buildNode } from './build-node.ts'
import { exportImage, makeScratchDirectory } from './image-store.ts'
import { type RunOptions, startNamespaces } from './namespaces.ts'
import { makeCgroups } from './node-cgroup.ts'
import { CTR, NODE_USERS } from './node-config.ts'
import { joinHost } from './node-network.ts'
import { startNodePrograms } from './node-programs.ts'

export type ClusterNodeOptions = Pick<ControlPlaneOptions, 'apiserverFlags'>

/**
 * 1.1 GB of memory, and twice the size of images. Pods and Services are reached from this machine at their own
 * addresses, webhooks on its 127.0.0.1 are asked; pods reach it at `hostAddress`, and nothing beyond. Names of Services
 * resolve in pods only. There is no registry: images are loaded, and pods say `imagePullPolicy: Never`. There are no
 * NetworkPolicies, LoadBalancers, provisioned volumes or metrics of pods.
 */
export interface ClusterNode extends AsyncDisposable {
  /** All that one can do with a control plane alone; its faults hit the node, too. */
  readonly plane: ControlPlane
  /** The administrator's. */
  readonly kubeconfig: string
  readonly kubectl: ControlPlane['kubectl']
  readonly request: ControlPlane['request']
  readonly apply: ControlPlane['apply']
  /** Version 4. Never throws for what helm says: see `code`. */
  helm(args: readonly string[], options?: HelmOptions): Promise<CommandResult>
  /** Hands an image that was built here to the node. @throws where there is no such image */
  loadImage(name: string): Promise<void>
  /** Inside the node, as root: `['nft', 'list', 'ruleset']`, `['kill', …]`. Never throws for what the command says. */
  exec(command: readonly string[], options?: RunOptions): Promise<CommandResult>
  /** containerd's client, where pods' containers are: `['tasks', 'kill', '-s', 'KILL', id]`. */
  ctr(args: readonly string[]): Promise<CommandResult>
  /** IPv4 of this machine, as pods see it. */
  readonly hostAddress: string
  readonly podCidr: string
  readonly serviceCidr: string
  /** The interface and the cgroups that only it has. */
  readonly traces: { readonly interfaceName: string; readonly cgroup: string }
}

export interface HelmOptions {
  /** For `-f -`. */
  readonly input?: string
  /** Killed after it; 5 minutes otherwise. */
  readonly timeoutMs?: number
}

const HELM_MS = 300_000

/**
 * Builds the programs unless they are built. Ready after 5 s on a quiet machine. Throws with the ends of the logs, and
 * leaves nothing then.
 *
 * @example
 * await using cluster = await startClusterNode()
 * await cluster.loadImage(await buildImage({ tag: 'localhost/echo:test', context }))
 * await cluster.apply(deployment)
 */
export const startClusterNode = async (options: ClusterNodeOptions = {}): Promise<ClusterNode> => {
  const programs = await buildNode()
  const temporary = await makeTempDir()
  const directory = join(temporary.path, 'node')
  await mkdir(directory)
  const leave = removeWhenLeft(temporary.path)
  const held = new AsyncDisposableStack()
  held.defer(leave)
  held.use(temporary)
  try {
    const namespaces = await startNamespaces(directory, `${programs.node}:${env['PATH'] ?? ''}`)
    const network = await joinHost(namespaces).catch(async (error: unknown) => {
      await namespaces[Symbol.asyncDispose]()
      throw error
    })
    const cgroup = `svc-gateway-test-${network.index}`
    // Removed after the end of all in them.
    held.use(await makeCgroups(cgroup))
    held.use(namespaces)
    const plane = held.use(
      await startControlPlane({
        ...options,
        address: network.hostAddress,
        serviceCidr: network.serviceCidr,
        scheduler: true,
        users: NODE_USERS,
      }),
    )
    await startNodePrograms({ directory, programs, namespaces, network, plane, cgroup })
    const { kubeconfig } = plane
    const { hostAddress, podCidr, serviceCidr, interfaceName } = network
    const ctr = (args: readonly string[]): Promise<CommandResult> =>
      namespaces.run([...CTR, ...args])
    return {
      plane,
      kubeconfig,
      ctr,
      kubectl: (args, how) => plane.kubectl(args, how),
      request: (sent) => plane.request(sent),
      apply: (objects) => plane.apply(objects),
      hostAddress,
      podCidr,
      serviceCidr,
      traces: { interfaceName, cgroup },
      helm: (args, { input = '', timeoutMs = HELM_MS } = {}) =>
        runCommand({
          program: programs.kube,
          args: ['helm', ...args],
          input,
          timeoutMs,
          environment: { HOME: plane.directory, KUBECONFIG: kubeconfig },
        }),
      exec: (command, how) => namespaces.run(command, how),
      loadImage: async (name) => {
        await using scratch = await makeScratchDirectory()
        const archive = join(scratch.path, 'image.tar')
        await exportImage(name, archive)
        const { code, stderr } = await ctr(['images', 'import', archive])
        if (code !== 0) throw new Error(`the image ${name} was not loaded: ${stderr}`)
      },
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    }
  } catch (error) {
    await held.disposeAsync()
    throw error
  }
}
