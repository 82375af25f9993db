// Combines the watch of a kind over all namespaces, or one watch for each of some namespaces, into one object.

import type { ValueMap } from '../../language/expression/value.ts'
import { changedKeys } from '../edited-map.ts'
import type { ResourceType, Scope } from '../kubernetes/client/api.ts'
import type { Change } from './change.ts'
import type { CreateReflector } from './referenced-object.ts'
import type { WatchFacts } from './notes.ts'
import type { Watched, WatchedOptions } from '../kubernetes/watch/watched.ts'

export interface WatchesOptions<T>
  extends
    Omit<WatchedOptions<T>, 'namespace' | 'type' | 'read' | keyof Scope>,
    Omit<Scope, 'namespace'> {
  readonly type: ResourceType
  readonly namespaces: readonly string[] | 'all'
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  readonly createReflector: CreateReflector
  /**
   * For namespaces that are named one by one: whether the others can go on without this one, such as when its owner has
   * withdrawn our rights.
   */
  readonly mayLack?: (namespace: string) => boolean
  /** The namespace does not exist (any more): nothing is in it. */
  readonly isGone?: (namespace: string) => boolean
}

/** How long rights may take to be granted; until then a namespace that can't be read is waited for. */
const GRANT_MS = 30_000

interface Scoped<T> {
  readonly namespace?: string
  readonly watched: Watched<T>
  /** The items as of the last `takeChanges`. */
  taken: ReadonlyMap<string, T>
}

export class Watches<T> {
  readonly #kind: string
  readonly #trying = new Set<Watched<T>>()
  readonly #watches: readonly Scoped<T>[]
  readonly #options: Pick<WatchesOptions<T>, 'mayLack' | 'isGone' | 'clock' | 'onChange'>
  /** Watches whose namespace is gone, and that have not been read since. */
  readonly #over = new Set<Watched<T>>()
  /** Watches without the right to read are not waited for any more. */
  #isLate = false
  #cancelLate = (): void => undefined

  constructor(all: WatchesOptions<T>) {
    const { namespaces, createReflector, ...options } = all
    this.#options = all
    this.#kind = options.type.kind
    const scopes: readonly Scope[] =
      namespaces === 'all' ? [{}] : [...new Set(namespaces)].map((namespace) => ({ namespace }))
    // Without any namespace it would be synced at once, and report that there are no resources.
    if (scopes.length === 0)
      throw new Error(`no namespace is named to watch ${options.type.plural} in`)
    this.#watches = scopes.map((scope) => ({
      ...scope,
      watched: createReflector<T>({ ...options, ...scope }),
      taken: new Map<string, T>(),
    }))
  }

  start(): void {
    for (const { watched } of this.#watches) watched.start()
    const { clock, onChange } = this.#options
    this.#cancelLate = clock.after(GRANT_MS, () => {
      this.#isLate = true
      if (this.#watches.some(({ watched }) => !watched.hasSynced)) onChange()
    })
  }

  /** Each namespace was listed once, except those that may not be read, and at least one was. */
  get hasSynced(): boolean {
    const isListed = ({ watched }: Scoped<T>): boolean => watched.hasSynced
    const isExcused = (each: Scoped<T>): boolean =>
      this.#isOver(each) || (this.#isLate && this.#isLacking(each))
    return (
      this.#watches.some(isListed) &&
      this.#watches.every((each) => isListed(each) || isExcused(each))
    )
  }

  *items(): Iterable<T> {
    for (const each of this.#watches) if (!this.#isOver(each)) yield* each.watched.items.values()
  }

  /** What has changed in `items` since the last call; takes time in proportion to that. */
  takeChanges(): readonly Change<T>[] {
    return this.#watches.flatMap((each) => {
      const before = each.taken
      const after = this.#isOver(each) ? new Map<string, T>() : each.watched.items
      each.taken = after
      return Array.from(changedKeys(before, after), (key) => ({
        before: before.get(key),
        after: after.get(key),
      }))
    })
  }

  facts(): readonly WatchFacts[] {
    return this.#watches.map((each) => {
      const { namespace, watched } = each
      const { hasSynced, failure } = watched
      return {
        kind: this.#kind,
        hasSynced,
        failure,
        isGone: this.#isOver(each),
        ...(namespace !== undefined && { namespace }),
      }
    })
  }

  /** Whether it may not be read, and only its owner is affected by that. */
  #isLacking({ namespace, watched }: Scoped<T>): boolean {
    const { mayLack } = this.#options
    return (
      watched.failure?.status === FORBIDDEN &&
      namespace !== undefined &&
      mayLack?.(namespace) === true
    )
  }

  /** Whether the right to read was lost with the namespace; a new one of that name has none of its resources. */
  #isOver(each: Scoped<T>): boolean {
    const { namespace = '', watched } = each
    if (watched.failure === undefined) this.#over.delete(watched)
    else if (this.#isLacking(each) && this.#options.isGone?.(namespace) === true)
      this.#over.add(watched)
    return this.#over.has(watched)
  }

  /**
   * Lists all of them live; false where one failed. A namespace that may not be read stays as it was, and is not
   * confirmed.
   */
  async relist(): Promise<boolean> {
    const results = await Promise.all(
      this.#watches.map(async (each) => (await each.watched.relist()) || this.#isLacking(each)),
    )
    return results.every(Boolean)
  }

  /**
   * Call it when the API probably knows the kind by now; by itself a watch tries every 30 s at most. While a list is
   * under way it is not started again, as otherwise none might ever end.
   */
  tryAgain(): void {
    for (const { watched } of this.#watches) {
      if (watched.failure?.status !== NOT_FOUND || this.#trying.has(watched)) continue
      this.#trying.add(watched)
      void watched.relist().finally(() => this.#trying.delete(watched))
    }
  }

  async stop(): Promise<void> {
    this.#cancelLate()
    await Promise.all(this.#watches.map(({ watched }) => watched.stop()))
  }
}

const NOT_FOUND = 404
const FORBIDDEN = 403
