// Keeps what the operator tells of Services: lists of their Pods' addresses come in, the newest of each Service goes out.
// One in every serving process, and one in the primary of several; it believes nothing, and judges nothing.

import { isDeepStrictEqual } from 'node:util'
import type { ServiceEndpoints, ServicePortEndpoints } from '../../../language/wire/wire.ts'

/** Of an `EndpointsRequest`; arrays and texts only, so that it crosses from process to process. */
export interface EndpointsChange {
  readonly put: readonly ServiceEndpoints[]
  readonly delete: readonly string[]
  /** Present: all others are forgotten. */
  readonly only?: readonly string[] | undefined
}

/** The way to every serving process of a gateway. */
export interface ToldEndpoints {
  /** What this process knows of. */
  readonly directory: Pick<ServiceDirectory, 'find' | 'size' | 'countAddresses'>
  /** Resolves when every serving process knows it. */
  apply(change: EndpointsChange): Promise<void>
}

export class ServiceDirectory {
  readonly #services = new Map<string, ServiceEndpoints>()
  #version = 0

  /** Another one after each change: whoever keeps something of it asks for this, which costs nothing. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#services.size
  }

  /** @param key `namespace/name`; the same object until something else is told of it */
  find(key: string): ServiceEndpoints | undefined {
    return this.#services.get(key)
  }

  all(): readonly ServiceEndpoints[] {
    return [...this.#services.values()]
  }

  /** Of Pods, all in all. */
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

  /** The operator repeats what has not changed: that is the same object still. */
  #put(told: ServiceEndpoints): void {
    const known = this.#services.get(told.service)
    if (!isDeepStrictEqual(known, told)) this.#services.set(told.service, told)
  }

  #retain(keys: ReadonlySet<string>): void {
    for (const key of this.#services.keys()) if (!keys.has(key)) this.#services.delete(key)
  }
}

/** Each as often as ports of the Service lead to it. */
export const countAddresses = (ports: readonly ServicePortEndpoints[]): number => {
  let count = 0
  for (const { targets } of ports) for (const { addresses } of targets) count += addresses.length
  return count
}
