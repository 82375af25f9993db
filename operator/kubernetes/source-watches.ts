// A kind and some namespaces in; one watch over all of them, or one for each, as one thing out.

import type { ValueMap } from '../../spec/expression/value.ts'
import type { ResourceType, Scope } from './api.ts'
import type { CreateReflector } from './referenced-object.ts'
import type { WatchFacts } from './source-notes.ts'
import type { Watched, WatchedOptions } from './watched.ts'

export interface WatchesOptions<T>
  extends
    Omit<WatchedOptions<T>, 'namespace' | 'type' | 'read' | keyof Scope>,
    Omit<Scope, 'namespace'> {
  readonly type: ResourceType
  readonly namespaces: readonly string[] | 'all'
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  readonly createReflector: CreateReflector
}

export class Watches<T> {
  readonly #kind: string
  readonly #trying = new Set<Watched<T>>()
  readonly #watches: readonly { readonly namespace?: string; readonly watched: Watched<T> }[]

  constructor({ namespaces, createReflector, ...options }: WatchesOptions<T>) {
    this.#kind = options.type.kind
    const scopes: readonly Scope[] =
      namespaces === 'all' ? [{}] : [...new Set(namespaces)].map((namespace) => ({ namespace }))
    // None would be synced at once, and tell that there is nothing.
    if (scopes.length === 0)
      throw new Error(`no namespace is named to watch ${options.type.plural} in`)
    this.#watches = scopes.map((scope) => ({
      ...scope,
      watched: createReflector<T>({ ...options, ...scope }),
    }))
  }

  start(): void {
    for (const { watched } of this.#watches) watched.start()
  }

  get hasSynced(): boolean {
    return this.#watches.every(({ watched }) => watched.hasSynced)
  }

  *items(): Iterable<T> {
    for (const { watched } of this.#watches) yield* watched.items.values()
  }

  facts(): readonly WatchFacts[] {
    return this.#watches.map(({ namespace, watched: { hasSynced, trouble } }) => ({
      kind: this.#kind,
      hasSynced,
      trouble,
      ...(namespace !== undefined && { namespace }),
    }))
  }

  /** All of them live, or none can be told. */
  async relist(): Promise<boolean> {
    const results = await Promise.all(this.#watches.map(({ watched }) => watched.relist()))
    return results.every(Boolean)
  }

  /**
   * Somebody has reason to believe that the API knows the kind by now; by itself it is tried every 30 s at most. A list
   * that takes its time is not asked for again before its end: else there would be none.
   */
  tryAgain(): void {
    for (const { watched } of this.#watches) {
      if (watched.trouble?.status !== NOT_FOUND || this.#trying.has(watched)) continue
      this.#trying.add(watched)
      void watched.relist().finally(() => this.#trying.delete(watched))
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#watches.map(({ watched }) => watched.stop()))
  }
}

const NOT_FOUND = 404
