// Finds what the operator has told of the Service that an origin names, and keeps the addresses that the destination guard
// allows. It looks nothing up: whether the name stands for that Service here is for whoever does.

import { isIP, SocketAddress } from 'node:net'
import { readServiceKey } from '../../../language/service-name.ts'
import type { ServiceEndpoints } from '../../../language/wire/wire.ts'
import type { Destination } from '../destinations/allowed-addresses.ts'
import type { Address } from './endpoint-set.ts'
import type { DestinationGuard } from '../destinations/guard.ts'
import type { Confinement } from '../destinations/resolve-confined.ts'
import type { ServiceDirectory } from './service-directory.ts'

export interface EndpointList {
  /** What it was made of. */
  readonly told: ServiceEndpoints
  /** Allowed ones, each with its port. */
  readonly endpoints: readonly Address[]
  /** The Service's own: the name has to stand for these, or it is another one than the operator means. */
  readonly serviceAddresses: ReadonlySet<string>
}

export interface ListedEndpoints {
  /** Another one when `told` may be another. */
  readonly version: number
  /** The same object until something else is told of it. */
  readonly told: ServiceEndpoints | undefined
  /** undefined: nothing is told of it. Judged anew by each call. */
  judge(): EndpointList | undefined
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
 * @returns undefined where the host can't be a Service
 * @example createListedEndpoints({ directory, to: { hostname: 'orders.shop', port: 80 }, guard, … })?.judge()
 */
export const createListedEndpoints = (options: ListedOptions): ListedEndpoints | undefined => {
  const { directory, to, confinement, clusterDomain } = options
  const key = isIP(to.hostname) === 0 ? readServiceKey(to.hostname, clusterDomain) : undefined
  if (key === undefined) return undefined
  // What is confined reaches Services of its own namespace alone, by whatever address.
  if (confinement !== undefined && key.split('/', 1)[0] !== confinement.namespace) return undefined
  return {
    get version() {
      return directory.version
    },
    get told() {
      return directory.find(key)
    },
    judge: () => {
      const told = directory.find(key)
      return told && listOf(told, options)
    },
  }
}

const listOf = (told: ServiceEndpoints, { to, guard, random }: ListedOptions): EndpointList => {
  const { addresses, ports } = told
  const targets = ports.find(({ port }) => port === to.port)?.targets ?? []
  const endpoints = targets.flatMap((target) =>
    target.addresses
      .filter((address) => guard.allows(to.hostname, address, target.port))
      .map((address) => ({ address, family: isIP(address), port: target.port })),
  )
  return {
    told,
    // Of more than are used each process takes others.
    endpoints: shuffle(endpoints, random),
    serviceAddresses: new Set(addresses.map(plainAddress)),
  }
}

/** Of several spellings of an IPv6 address the one that lookups answer with. */
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
