// Installs the chart in a cluster as people do it, in a namespace that admits nothing but restricted Pods.

import { CHART } from '../helm.ts'
import type { CommandResult } from '../kubernetes/run-command.ts'
import { CLUSTER_IMAGES } from './cluster-images.ts'
import type { ClusterNode } from './cluster-node.ts'

export interface InstallOptions {
  /** Over those that tests need: the image, and how it is pulled. */
  readonly values?: object
  /** `svc`: its gateways are the Deployment `svc-svc-gateway`, as `svc-gateway` is no part of the name. */
  readonly release?: string
  readonly namespace?: string
  readonly version?: Version
}

/** What this checkout has, where left out. */
export interface Version {
  readonly chart: string
  /** In the cluster. */
  readonly image: string
}

export interface Installation {
  readonly release: string
  readonly namespace: string
  /** Of the gateways, and of their public Service. */
  readonly name: string
  /** What the notes say. */
  readonly notes: string
  /** The public Service, at an address that the host reaches. */
  readonly url: () => Promise<string>
  /** With these values over those before. @throws with helm's words */
  readonly upgrade: (values: object) => Promise<void>
  /** With the values of the installation, and no others. @throws with helm's words */
  readonly change: (version: Version) => Promise<void>
  /** `helm test`, `helm uninstall` … with the release and its namespace. Never throws for what helm says. */
  readonly helm: (command: string, ...flags: readonly string[]) => Promise<CommandResult>
}

export const SYSTEM_NAMESPACE = 'svc-gateway-system'

/** The labels by which a namespace refuses every Pod that the standard `restricted` forbids. */
const RESTRICTED: Readonly<Record<string, string>> = {
  'pod-security.kubernetes.io/enforce': 'restricted',
}

const OURS: Version = { chart: CHART, image: CLUSTER_IMAGES.gateway }

/**
 * Waits until all of it is ready. The image `gateway` has to be in the cluster.
 *
 * @throws with helm's words
 * @example const { url } = await installChart(cluster(), { values: { sidecar: { enabled: true } } })
 */
export const installChart = async (
  cluster: ClusterNode,
  {
    values = {},
    release = 'svc',
    namespace = SYSTEM_NAMESPACE,
    version = OURS,
  }: InstallOptions = {},
): Promise<Installation> => {
  await cluster.apply([restrictedNamespace(namespace)])
  const helm = (command: string, ...flags: readonly string[]): Promise<CommandResult> =>
    cluster.helm([command, release, '--namespace', namespace, ...flags])
  const install = async (
    given: object,
    { chart, image }: Version,
    ...how: readonly string[]
  ): Promise<string> => {
    const args = [...how, release, chart, '--namespace', namespace, '--wait', '--timeout=180s']
    const input = JSON.stringify({ ...imageValues(image), ...given })
    const { code, stdout, stderr } = await cluster.helm([...args, '--values=-'], { input })
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const notes = await install(values, version, 'install')
  const name = release.includes('svc-gateway') ? release : `${release}-svc-gateway`
  return {
    release,
    namespace,
    name,
    notes,
    helm,
    url: () => serviceUrl(cluster, namespace, name),
    upgrade: async (given) => {
      await install(given, version, 'upgrade', '--reuse-values')
    },
    change: async (to) => {
      await install(values, to, 'upgrade')
    },
  }
}

export const restrictedNamespace = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { ...RESTRICTED, ...labels } },
})

/** Of its first port. @throws where there is no such Service */
export const serviceUrl = async (
  cluster: ClusterNode,
  namespace: string,
  name: string,
): Promise<string> => {
  const path = 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}'
  const args = ['get', 'service', '-n', namespace, name, '-o', path]
  return `http://${await demandKubectl(cluster, args)}`
}

/** What it printed. @throws with its words */
export const demandKubectl = async (
  cluster: ClusterNode,
  args: readonly string[],
  options: { readonly input?: string; readonly timeoutMs?: number } = {},
): Promise<string> => {
  // It waits for 30 s by itself, in which a busy machine starts no Pod.
  const isHasty = args[0] === 'wait' && !args.some((each) => each.startsWith('--timeout'))
  const patient = isHasty ? [...args, '--timeout=170s'] : args
  const { code, stdout, stderr } = await cluster.kubectl(patient, {
    timeoutMs: 180_000,
    ...options,
  })
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}`)
  return stdout.trim()
}

const imageValues = (name: string): object => {
  const [repository = '', tag = ''] = name.split(':')
  return { image: { repository, tag, pullPolicy: 'Never' } }
}
