// Decides where requests may go (behaviour §9, `--upstream-allow`, `--upstream-deny`), by a host as named and an
// address as resolved. It never resolves a name itself.

import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addNetwork, addressRules, holdsAddress, surelyHoldsAddress } from './address-rules.ts'
import type { ClusterDestinations } from './cluster-destinations.ts'

export interface DestinationRules {
  readonly names: readonly string[]
  readonly addresses: BlockList
}

export interface SocketEndpoint {
  readonly address: string
  readonly port: number
}

export interface DestinationGuard {
  /**
   * @param host as named in the document
   * @param address one that the name resolves to; for a literal the host itself
   */
  allows(host: string, address: string, port: number): boolean
  /**
   * For a document that is confined to its namespace, by address alone: whether it is outside of the cluster, or the
   * application beside this gateway. `allows` applies the other rules.
   */
  allowsConfined(address: string, port: number): boolean
}

export interface GuardOptions {
  readonly allow?: DestinationRules
  readonly deny?: DestinationRules
  /** The only ports that may be reached at this machine's (this pod's) own addresses; absent: any port. */
  readonly localPorts?: readonly number[]
  /** The gateway's own listeners; known only after listen. */
  readonly ownListeners?: () => readonly SocketEndpoint[]
  /** Absent: the cluster's addresses are not known, and no address counts as outside of it. */
  readonly cluster?: ClusterDestinations
}

const DEFAULT_DENIED = addressRules([
  // Link-local addresses, where most metadata services are, and the deprecated site-local ones.
  '169.254.0.0/16',
  'fe80::/10',
  'fec0::/10',
  // Metadata services of clouds, and what gives credentials to Pods, anywhere else: AWS (and of EKS), Google, Scaleway,
  // Oracle, Akamai, Alibaba over IPv6; Alibaba, Azure, Oracle.
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
  'fd00:42::42/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:a9fe:a9fe::1/128',
  'fd00:100::100:200/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  // Which IPv4 address a translator or a tunnel makes of them depends on the network, or none does it any more: NAT64 of
  // a network's own, SIIT, Teredo; and below, IPv4-compatible ones, of which :: and ::1 are none.
  '64:ff9b:1::/48',
  '::ffff:0:0:0/96',
  '2001::/32',
])
DEFAULT_DENIED.addRange('::2', '::ffff:ffff', 'ipv6')

/**
 * An explicit deny always wins, and the gateway's own listeners, the API server and the management ports of gateways
 * are always denied. `allow` entries, if there are any, are the only destinations; only an allowed *address*
 * overrides a default denial, as an allowed name may resolve to anything.
 *
 * @example
 * const guard = createGuard({ deny: readRules(['10.0.0.0/8', '*.internal']).rules })
 * guard.allows('db.internal', '192.168.1.5', 80) // false
 */
export const createGuard = (options: GuardOptions = {}): DestinationGuard => {
  const { allow = NO_RULES, deny = NO_RULES, localPorts, cluster } = options
  const isOpen = allow.names.length === 0 && allow.addresses.rules.length === 0

  return {
    allows(host, address, port) {
      const plain = withoutZone(address)
      if (isIP(plain) === 0 || isClosed(options, host, plain, port)) return false
      if (localPorts?.includes(port) === false && listensOn('::', plain)) return false
      if (holdsName(deny, host) || holdsAddress(deny.addresses, plain)) return false
      if (surelyHoldsAddress(allow.addresses, plain)) return true
      if (holdsAddress(DEFAULT_DENIED, plain)) return false
      return isOpen || holdsName(allow, host)
    },
    allowsConfined(address, port) {
      const plain = withoutZone(address)
      if (isIP(plain) === 0 || cluster === undefined) return false
      if (listensOn('::', plain)) return localPorts?.includes(port) === true
      return !cluster.isInside(plain)
    },
  }
}

/**
 * For routers, which the owners of Realms name: `allow` and `deny` are for `forward` and do not apply to them, except
 * that an address in `allow` overrides a default denial.
 * @returns whether it may be connected to
 */
export const createRouterGuard =
  (options: Pick<GuardOptions, 'allow' | 'ownListeners' | 'cluster'>): RouterGuard =>
  (host, address, port) => {
    const plain = withoutZone(address)
    if (isIP(plain) === 0 || isClosed(options, host, plain, port)) return false
    const { allow = NO_RULES } = options
    return surelyHoldsAddress(allow.addresses, plain) || !holdsAddress(DEFAULT_DENIED, plain)
  }

export type RouterGuard = (host: string, address: string, port: number) => boolean

/**
 * Reads a list of CIDRs, addresses, exact names and `*.suffix` patterns.
 *
 * @returns the rules, and a sentence for every other entry
 */
export const readRules = (
  entries: readonly string[],
): { readonly rules: DestinationRules; readonly errors: readonly string[] } => {
  const names: string[] = []
  const addresses = new BlockList()
  const errors: string[] = []
  for (const entry of entries) {
    const text = entry.trim().toLowerCase()
    if (addNetwork(addresses, text)) continue
    if (NAME.test(text)) names.push(withoutDot(text))
    else errors.push(`'${entry}' is neither a CIDR, an address, a host name nor a *.suffix`)
  }
  return { rules: { names, addresses }, errors }
}

const NO_RULES: DestinationRules = { names: [], addresses: new BlockList() }

// The last label contains a letter: `10.1` or `1.2.3.4.5` is a mistaken address, not a name.
const NAME = /^(?:\*|(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]*[a-z][a-z0-9_-]*\.?)$/

const holdsName = (rules: DestinationRules, host: string): boolean => {
  if (rules.names.length === 0) return false
  const name = withoutDot(host.toLowerCase())
  return rules.names.some(
    (pattern) =>
      pattern === '*' ||
      pattern === name ||
      (pattern.startsWith('*.') && name.endsWith(pattern.slice(1))),
  )
}

/** Denied to every request, whatever the rules say. */
const isClosed = (
  { ownListeners, cluster }: Pick<GuardOptions, 'ownListeners' | 'cluster'>,
  host: string,
  address: string,
  port: number,
): boolean => {
  if (cluster?.isClosed(host, address, port) === true) return true
  const own = ownListeners?.() ?? []
  return own.some((listener) => listener.port === port && listensOn(listener.address, address))
}

/** A listener on all addresses is reached at every address of this machine, and at the unspecified one. */
const listensOn = (bound: string, address: string): boolean => {
  const here = new BlockList()
  const own = withoutZone(bound)
  const everywhere = isIP(own) === 0 || own === '0.0.0.0' || own === '::'
  const local = everywhere ? localAddresses() : [own]
  for (const each of [...local, '0.0.0.0', '::']) {
    here.addAddress(each, isIP(each) === 4 ? 'ipv4' : 'ipv6')
  }
  if (everywhere) here.addSubnet('127.0.0.0', 8, 'ipv4')
  return holdsAddress(here, address)
}

/** The addresses of this machine, including loopback. */
export const localAddresses = (): readonly string[] => [
  '::1',
  ...Object.values(networkInterfaces()).flatMap(
    (each) => each?.map(({ address }) => withoutZone(address)) ?? [],
  ),
]

const withoutZone = (address: string): string => {
  const zone = address.indexOf('%')
  return zone < 0 ? address : address.slice(0, zone)
}

const withoutDot = (name: string): string => (name.endsWith('.') ? name.slice(0, -1) : name)
