// Watches the Services that documents name, each by its name, and the EndpointSlices of those for which gateways
// balance, and gives the Pods of each. A Service that may not be read counts as absent.

import { isDeepStrictEqual } from 'node:util'
import type { EndpointSource, ServiceState } from '../service-endpoints.ts'
import { TYPES } from '../kubernetes/client/api.ts'
import type { CreateReflector } from './referenced-object.ts'
import {
  endpointsOf,
  readService,
  readSlice,
  type ServiceFacts,
  type SliceFacts,
} from './service-facts.ts'
import type { Watched, WatchedOptions } from '../kubernetes/watch/watched.ts'

export interface ServiceWatchesOptions extends Pick<
  WatchedOptions<unknown>,
  'api' | 'clock' | 'log' | 'watchLog'
> {
  readonly createReflector: CreateReflector
}

const PAGE = 100

export class ServiceWatches implements EndpointSource {
  readonly #options: ServiceWatchesOptions
  readonly #watches = new Map<string, ServiceWatch>()
  readonly #stopping = new Set<Promise<void>>()
  #onChange: (() => void) | undefined

  constructor(options: ServiceWatchesOptions) {
    this.#options = options
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
  }

  want(services: ReadonlySet<string>): void {
    if (this.#onChange === undefined) return
    for (const [key, watch] of this.#watches) if (!services.has(key)) this.#end(key, watch)
    for (const key of services) {
      if (this.#watches.has(key)) continue
      const watch = new ServiceWatch(key, this.#options, () => this.#onChange?.())
      this.#watches.set(key, watch)
    }
  }

  of(service: string): ServiceState {
    return this.#watches.get(service)?.state ?? 'unknown'
  }

  async stop(): Promise<void> {
    this.#onChange = undefined
    for (const [key, watch] of this.#watches) this.#end(key, watch)
    await Promise.all(this.#stopping)
  }

  #end(key: string, watch: ServiceWatch): void {
    this.#watches.delete(key)
    const stopping = watch.stop().finally(() => this.#stopping.delete(stopping))
    this.#stopping.add(stopping)
  }
}

class ServiceWatch {
  state: ServiceState = 'unknown'
  readonly #key: string
  readonly #options: ServiceWatchesOptions
  readonly #onChange: () => void
  readonly #service: Watched<ServiceFacts>
  /** While the Service is one that gateways balance for. */
  #slices: Watched<SliceFacts> | undefined
  readonly #stopping: Promise<void>[] = []
  /** The addresses of the Service while it is there, and of one that was deleted. */
  #addresses: readonly string[] = []
  #former: readonly string[] = []
  #isStopped = false

  constructor(key: string, options: ServiceWatchesOptions, onChange: () => void) {
    this.#key = key
    this.#options = options
    this.#onChange = onChange
    const [, name = ''] = key.split('/')
    this.#service = this.#watch({
      type: TYPES.services,
      fieldSelector: `metadata.name=${name}`,
      pageSize: 1,
      read: readService,
    })
    this.#service.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#closeSlices()
    await Promise.all([this.#service.stop(), ...this.#stopping])
  }

  #watch<T>(
    of: Pick<WatchedOptions<T>, 'type' | 'fieldSelector' | 'labelSelector' | 'pageSize' | 'read'>,
  ): Watched<T> {
    const { createReflector, ...options } = this.#options
    const [namespace = ''] = this.#key.split('/')
    return createReflector<T>({
      ...options,
      ...of,
      namespace,
      onChange: () => {
        this.#look()
      },
    })
  }

  #look(): void {
    if (this.#isStopped) return
    const state = this.#find()
    if (isDeepStrictEqual(state, this.state)) return
    this.state = state
    this.#onChange()
  }

  #find(): ServiceState {
    const { failure, hasSynced, items } = this.#service
    if (isRefused(failure?.status)) return this.#without()
    if (!hasSynced) return this.state
    const facts = items.get(this.#key)
    if (facts === undefined) return this.#deleted()
    if (facts === 'own address') return this.#without()
    this.#addresses = facts.addresses
    const slices = (this.#slices ??= this.#openSlices())
    if (isRefused(slices.failure?.status)) return 'own address'
    return slices.hasSynced
      ? endpointsOf(this.#key, facts, slices.items.values(), this.#former)
      : this.state
  }

  #without(): ServiceState {
    this.#closeSlices()
    this.#addresses = []
    this.#former = []
    return 'own address'
  }

  /**
   * Its addresses are named, as its name resolves to them for a while. Where none are known, its name may be that of a
   * host elsewhere.
   */
  #deleted(): ServiceState {
    if (this.#addresses.length > 0) this.#former = this.#addresses
    const former = this.#former
    this.#closeSlices()
    if (former.length === 0) return 'absent'
    return { service: this.#key, addresses: former, ports: [], isAbsent: true }
  }

  #openSlices(): Watched<SliceFacts> {
    const [, name = ''] = this.#key.split('/')
    const slices = this.#watch({
      type: TYPES.endpointSlices,
      labelSelector: `kubernetes.io/service-name=${name}`,
      pageSize: PAGE,
      read: readSlice,
    })
    slices.start()
    return slices
  }

  #closeSlices(): void {
    if (this.#slices !== undefined) this.#stopping.push(this.#slices.stop())
    this.#slices = undefined
  }
}

/** 403: not granted. 404: the API has no such kind. Any other failure is temporary, and what was known stays. */
const isRefused = (status: number | undefined): boolean => status === 403 || status === 404
