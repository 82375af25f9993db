// Watches Pods as data planes from the start of the program and hands them to the leader: a standby that takes over
// knows them already. Reports namespaces that have some.

import type { DataPlane, DataPlanes } from '../data-plane.ts'
import type { SourceNote } from '../resource/resource-source.ts'
import type { PodDataPlanes } from './pods.ts'

export interface WarmOptions {
  readonly pods: PodDataPlanes
  /** A namespace that had no data planes has some now. */
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

  /** All data planes; undefined: not known yet. */
  known(): readonly DataPlane[] | undefined {
    return this.synced() ? this.#known : undefined
  }

  /** The namespaces of the current data planes. */
  namespaces(): ReadonlySet<string> {
    return this.#namespaces
  }

  notes(): readonly SourceNote[] {
    return this.#options.pods.notes()
  }
}

/** The namespace of the pod, also of one of the shared pool. @example namespaceOf({ name: 'shop/gw-1', … }) // 'shop' */
export const namespaceOf = ({ name }: Pick<DataPlane, 'name'>): string => name.split('/')[0] ?? ''
