// Knows the Kubernetes cluster that a gateway runs in: where the API server is, on which ports gateways are managed,
// and which addresses are the cluster's own. It derives this from settings and sends no request.

import { addressRules, holdsAddress } from './address-rules.ts'

export interface ClusterFacts {
  /** `KUBERNETES_SERVICE_HOST`: an address, in some clusters a name; absent outside of one. */
  readonly apiServer?: string
  /** The management ports of gateways. */
  readonly gatewayPorts: readonly number[]
  /** CIDRs of Pods, Services and nodes; empty: private addresses count as the cluster's. */
  readonly networks: readonly string[]
  /** The addresses of this machine (this Pod). */
  readonly ownAddresses: readonly string[]
}

export interface ClusterDestinations {
  /** The API server, or the management port of a gateway: no rule can allow them. */
  readonly isClosed: (host: string, address: string, port: number) => boolean
  /** Whether it is the address of a Pod, a Service or a node, or of this machine. */
  readonly isInside: (address: string) => boolean
}

/** RFC 1918, RFC 6598 (Pods of some clouds), RFC 4193. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']

/** Addresses of this machine, or of its link: never outside of the cluster. */
const LOCAL = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10']

/** The name of its Service, in any cluster domain. */
const API_SERVER_NAME = /^kubernetes\.default(?:\.svc(?:\..+)?)?\.?$/i

/**
 * If the cluster's networks are not configured and this machine has a public address itself, Pods may have public
 * ones, too: then every address counts as one of the cluster.
 * @example
 * const cluster = createClusterDestinations({ gatewayPorts: [18081], networks: [], ownAddresses: ['10.1.2.3'] })
 * cluster.isClosed('a', '10.9.9.9', 18081) // true
 */
export const createClusterDestinations = (facts: ClusterFacts): ClusterDestinations => {
  const { apiServer = '', gatewayPorts, networks, ownAddresses } = facts
  const local = addressRules(LOCAL)
  const known = addressRules(networks.length > 0 ? networks : PRIVATE)
  const isHere = (address: string): boolean =>
    holdsAddress(local, address) || holdsAddress(known, address)
  const isAnywhere = networks.length === 0 && !ownAddresses.every(isHere)
  const api = addressRules([apiServer])
  const apiName = apiServer.toLowerCase()
  const isInside = (address: string): boolean => isAnywhere || isHere(address)

  return {
    isInside,
    isClosed: (host, address, port) =>
      holdsAddress(api, address) ||
      (apiServer !== '' && (API_SERVER_NAME.test(host) || host.toLowerCase() === apiName)) ||
      (gatewayPorts.includes(port) && isInside(address)),
  }
}
