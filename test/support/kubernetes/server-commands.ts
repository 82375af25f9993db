// Makes the flags of the three servers of a control plane from its ports, keys and options. It starts nothing.

import { join } from 'node:path'
import type { Credentials } from './credentials.ts'

export interface ServerPorts {
  readonly etcd: number
  readonly etcdPeer: number
  readonly apiServer: number
}

export interface ServerSettings {
  readonly directory: string
  readonly ports: ServerPorts
  readonly credentials: Credentials
  readonly kubeconfig: string
  readonly hasControllers: boolean
  readonly hasScheduler: boolean
  /** Where the API server listens. */
  readonly address: string
  readonly serviceCidr: string
  readonly apiserverFlags: readonly string[]
}

export const LOOPBACK = '127.0.0.1'

export const etcdUrl = ({ etcd }: ServerPorts): string => `http://127.0.0.1:${etcd}`

export const etcdDataDirectory = (directory: string): string => join(directory, 'etcd')

/** Plain HTTP on loopback; it keeps nothing through a power cut. */
export const etcdFlags = ({ directory, ports }: ServerSettings): readonly string[] => {
  const peer = `http://127.0.0.1:${ports.etcdPeer}`
  return [
    `--data-dir=${etcdDataDirectory(directory)}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=${etcdUrl(ports)}`,
    `--advertise-client-urls=${etcdUrl(ports)}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]
}

export const apiServerFlags = (settings: ServerSettings): readonly string[] => {
  const { ports, credentials, hasControllers, apiserverFlags, address, serviceCidr } = settings
  return [
    `--etcd-servers=${etcdUrl(ports)}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${ports.apiServer}`,
    // A loopback address is none for the `kubernetes` Service.
    `--endpoint-reconciler-type=${address === LOOPBACK ? 'none' : 'lease'}`,
    `--service-cluster-ip-range=${serviceCidr}`,
    '--allow-privileged',
    '--profiling=false',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // Without controllers nothing creates the account `default`, which it would ask every Pod for.
    ...(hasControllers ? [] : ['--disable-admission-plugins=ServiceAccount']),
    `--token-auth-file=${credentials.tokensFile}`,
    `--tls-cert-file=${credentials.certFile}`,
    `--tls-private-key-file=${credentials.keyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKeyFile}`,
    // What it shows a kubelet: logs and exec.
    `--kubelet-client-certificate=${credentials.certFile}`,
    `--kubelet-client-key=${credentials.keyFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    ...apiserverFlags,
  ]
}

/** With upstream's limits on requests, a thousand pods take a minute. */
const PACE = ['--kube-api-qps=500', '--kube-api-burst=1000'] as const

export const controllerFlags = ({ kubeconfig, credentials }: ServerSettings): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  '--leader-elect=false',
  '--secure-port=0',
  `--service-account-private-key-file=${credentials.serviceAccountKeyFile}`,
  `--root-ca-file=${credentials.caFile}`,
  ...PACE,
]

export const schedulerFlags = ({ kubeconfig }: ServerSettings): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  '--leader-elect=false',
  '--secure-port=0',
  ...PACE,
]
