// Stores what the operator reports of Services: the newest list of Pod addresses of each Service. Every serving
// process has one, and so has the primary of several. It validates nothing.

import { isDeepStrictEqual } from 'node:util'
import type { ServiceEndpoints, ServicePortEndpoints } from '../../../language/wire/wire.ts'

/** The change of an `EndpointsRequest`; arrays and texts only, so that it can be sent between processes. */
export interface EndpointsChange {
  readonly put: readonly ServiceEndpoints[]
  readonly delete: readonly string[]
  /** If present, all others are dropped. */
  readonly only?: readonly string[] | undefined
}

/** Distributes reports to every serving process of a gateway. */
export interface ReportedEndpoints {
  /** The directory of this process. */
  readonly directory: Pick<ServiceDirectory, 'find' | 'size' | 'countAddresses'>
  /** Resolves when every serving process has it. */
  apply(change: EndpointsChange): Promise<void>
}

export class ServiceDirectory {
  readonly #services = new Map<string, ServiceEndpoints>()
  #version = 0

  /** Changes with each change of the directory, so that derived data can be checked at no cost. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#services.size
  }

  /** @param key `namespace/name`; the same object until its report changes */
  find(key: string): ServiceEndpoints | undefined {
    return this.#services.get(key)
  }

  all(): readonly ServiceEndpoints[] {
    return [...this.#services.values()]
  }

  /** The number of all Pod addresses. */
  countAddresses(): number {
    let count = 0
    for (const { ports } of this.#services.values()) count += countAddresses(ports)
    return count
  }

  apply(change: EndpointsChange): void {
    for (const each of change.put) this.#put(each)
    for (const key of change.delete) this.#services.delete(key)
    if (change.only !== undefined) this.#retain(new Set(change.only))
    this.#version += 1
  }

  /** The operator repeats reports that have not changed: they stay the same object. */
  #put(reported: ServiceEndpoints): void {
    const known = this.#services.get(reported.service)
    if (!isDeepStrictEqual(known, reported)) this.#services.set(reported.service, reported)
  }

  #retain(keys: ReadonlySet<string>): void {
    for (const key of this.#services.keys()) if (!keys.has(key)) this.#services.delete(key)
  }
}

/** Counts each address as often as ports of the Service lead to it. */
export const countAddresses = (ports: readonly ServicePortEndpoints[]): number => {
  let count = 0
  for (const { targets } of ports) for (const { addresses } of targets) count += addresses.length
  return count
}
