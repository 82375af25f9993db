// Pods as data planes, watched from the start of the program and handed to whoever leads: a standby that takes over
// knows them already. Tells of namespaces that have some.

import type { DataPlane, DataPlanes } from '../data-plane.ts'
import type { SourceNote } from '../resource/resource-source.ts'
import type { PodDataPlanes } from './pods.ts'

export interface WarmOptions {
  readonly pods: PodDataPlanes
  /** Data planes have come to a namespace that had none. */
  readonly onNamespace: (namespace: string) => void
}

export class WarmDataPlanes implements DataPlanes {
  readonly #options: WarmOptions
  #known: readonly DataPlane[] | undefined
  #namespaces: ReadonlySet<string> = new Set()
  #onChange: ((dataPlanes: readonly DataPlane[]) => void) | undefined

  constructor(options: WarmOptions) {
    this.#options = options
  }

  /** Begins to watch. */
  open(): void {
    this.#options.pods.start((dataPlanes) => {
      this.#known = dataPlanes
      const before = this.#namespaces
      this.#namespaces = new Set(dataPlanes.map(namespaceOf))
      for (const namespace of this.#namespaces) {
        if (!before.has(namespace)) this.#options.onNamespace(namespace)
      }
      this.#onChange?.(dataPlanes)
    })
  }

  close(): void {
    this.#options.pods.stop()
  }

  start(onChange: (dataPlanes: readonly DataPlane[]) => void): void {
    this.#onChange = onChange
    if (this.#known !== undefined) onChange(this.#known)
  }

  synced(): boolean {
    return this.#options.pods.synced()
  }

  stop(): void {
    this.#onChange = undefined
  }

  /** All that there are; undefined: not known yet. */
  known(): readonly DataPlane[] | undefined {
    return this.synced() ? this.#known : undefined
  }

  /** Of the data planes that there are. */
  namespaces(): ReadonlySet<string> {
    return this.#namespaces
  }

  notes(): readonly SourceNote[] {
    return this.#options.pods.notes()
  }
}

/** Of the pod, also of one of the shared pool. @example namespaceOf({ name: 'shop/gw-1', … }) // 'shop' */
export const namespaceOf = ({ name }: Pick<DataPlane, 'name'>): string => name.split('/')[0] ?? ''
