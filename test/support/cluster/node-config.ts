// Writes the configurations of containerd, the kubelet, the network and the DNS of a node as text. It starts nothing.

import { PAUSE_IMAGE } from './node-recipe.ts'
import type { NodeNetwork } from './node-network.ts'

export const NODE_NAME = 'svc-node'

/** Whom the API server knows the node's programs as. */
export const NODE_USERS = [
  { name: `system:node:${NODE_NAME}`, groups: ['system:nodes'] },
  { name: 'system:kube-proxy', groups: [] },
] as const

const CONTAINERD_SOCKET = '/run/containerd/containerd.sock'

/** Follows `exec` in a node. */
export const CTR = ['ctr', '--address', CONTAINERD_SOCKET, '--namespace', 'k8s.io'] as const

/** @param binaries where the plugins of its network are; `networks`: where {@link networkConfig} is */
export const containerdConfig = (binaries: string, networks: string): string => `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"]
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["${binaries}"]
    conf_dir = "${networks}"
`

export const networkConfig = ({ podCidr }: NodeNetwork): string =>
  JSON.stringify({
    cniVersion: '1.0.0',
    name: 'svc',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni',
          ranges: [[{ subnet: podCidr }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })

export interface KubeletPlaces {
  readonly caFile: string
  readonly cgroup: string
  readonly resolvConf: string
}

/** JSON is YAML. A client that shows a certificate of our authority may have logs and exec: the API server alone has one. */
export const kubeletConfig = (
  { nodeAddress }: NodeNetwork,
  { caFile, cgroup, resolvConf }: KubeletPlaces,
): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: caFile },
    },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    // Refused otherwise, since 1.35.
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    // Some virtual machines may not set it.
    oomScoreAdj: 0,
    makeIPTablesUtilChains: false,
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    clusterDNS: [nodeAddress],
    clusterDomain: 'cluster.local',
    resolvConf,
    healthzPort: 0,
    evictionHard: {
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'memory.available': '100Mi',
    },
    imageGCHighThresholdPercent: 100,
  })

export const kubeletFlags = (
  { nodeAddress }: NodeNetwork,
  config: string,
  kubeconfig: string,
): readonly string[] => [
  `--config=${config}`,
  `--kubeconfig=${kubeconfig}`,
  `--hostname-override=${NODE_NAME}`,
  `--node-ip=${nodeAddress}`,
]

/** Limits of conntrack are the whole machine's: 0 leaves them alone. */
export const proxyFlags = ({ podCidr }: NodeNetwork, kubeconfig: string): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--hostname-override=${NODE_NAME}`,
  '--proxy-mode=nftables',
  `--cluster-cidr=${podCidr}`,
  '--conntrack-max-per-core=0',
  '--conntrack-min=0',
  '--conntrack-tcp-timeout-established=0s',
  '--conntrack-tcp-timeout-close-wait=0s',
  '--metrics-bind-address=127.0.0.1:10249',
  '--healthz-bind-address=127.0.0.1:10256',
]

/** Says inside the node whether DNS is ready. */
export const DNS_READY = '127.0.0.1:8181'

/** Names of the cluster only: nothing beyond is resolved. */
export const dnsConfig = ({ nodeAddress }: NodeNetwork, kubeconfig: string): string => `.:53 {
  bind ${nodeAddress}
  errors
  ready ${DNS_READY}
  cache 5
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`
