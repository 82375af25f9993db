// Finds what the operator has reported of the Service that an origin names, and keeps the addresses that the
// destination guard allows. It looks up no name: the caller must check that the name resolves to that Service here.

import { isIP, SocketAddress } from 'node:net'
import { readServiceKey } from '../../../language/service-name.ts'
import type { GoneCause, ServiceEndpoints } from '../../../language/wire/wire.ts'
import type { Destination } from '../destinations/allowed-addresses.ts'
import type { Address } from './endpoint-set.ts'
import type { DestinationGuard } from '../destinations/guard.ts'
import type { Confinement } from '../destinations/resolve-confined.ts'
import type { ServiceDirectory } from './service-directory.ts'

export interface EndpointList {
  /** The report that it was made from. */
  readonly reported: ServiceEndpoints
  /** The allowed endpoints, each with its port. */
  readonly endpoints: readonly Address[]
  /** The Service's own addresses: the name must resolve to these, or it is another Service than the operator means. */
  readonly serviceAddresses: ReadonlySet<string>
  /** Nothing is behind these. */
  readonly gone: GoneCause | undefined
}

export interface ListedEndpoints {
  /** Changes when `reported` may have changed. */
  readonly version: number
  /** The same object until the report changes. */
  readonly reported: ServiceEndpoints | undefined
  /** undefined: there is no report. Each call applies the guard again. */
  validate(): EndpointList | undefined
}

export interface ListedOptions {
  readonly directory: ServiceDirectory
  readonly to: Destination
  readonly guard: DestinationGuard
  readonly confinement?: Confinement | undefined
  readonly clusterDomain: string
  readonly random: () => number
}

/**
 * @returns undefined if the host cannot be a Service
 * @example createListedEndpoints({ directory, to: { hostname: 'orders.shop', port: 80 }, guard, … })?.validate()
 */
export const createListedEndpoints = (options: ListedOptions): ListedEndpoints | undefined => {
  const { directory, to, confinement, clusterDomain } = options
  const key = isIP(to.hostname) === 0 ? readServiceKey(to.hostname, clusterDomain) : undefined
  if (key === undefined) return undefined
  // A confined document reaches only Services of its own namespace, by whatever address.
  if (confinement !== undefined && key.split('/', 1)[0] !== confinement.namespace) return undefined
  return {
    get version() {
      return directory.version
    },
    get reported() {
      return directory.find(key)
    },
    validate: () => {
      const reported = directory.find(key)
      return reported && listOf(reported, options)
    },
  }
}

const listOf = (reported: ServiceEndpoints, { to, guard, random }: ListedOptions): EndpointList => {
  const { addresses, ports, isAbsent } = reported
  const { targets = [], isEmpty } = ports.find(({ port }) => port === to.port) ?? {}
  const endpoints = targets.flatMap((target) =>
    target.addresses
      .filter((address) => guard.allows(to.hostname, address, target.port))
      .map((address) => ({ address, family: isIP(address), port: target.port })),
  )
  return {
    reported,
    // If there are more than are used, each process takes different ones.
    endpoints: shuffle(endpoints, random),
    serviceAddresses: new Set(addresses.map(plainAddress)),
    gone: isAbsent === true ? 'no_service' : isEmpty === true ? 'no_endpoints' : undefined,
  }
}

/** The spelling of an IPv6 address in which lookups return it. */
export const plainAddress = (address: string): string =>
  isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address

const shuffle = <T>(list: readonly T[], random: () => number): readonly T[] => {
  const shuffled = [...list]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [here, there] = [shuffled[last], shuffled[other]]
    if (here === undefined || there === undefined) continue
    shuffled[last] = there
    shuffled[other] = here
  }
  return shuffled
}
