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
   * For namespaces that are named one by one: whether all others can do without it, as where its owner takes our rights
   * away.
   */
  readonly mayLack?: (namespace: string) => boolean
  /** The namespace does not exist (any more): nothing is in it. */
  readonly isGone?: (namespace: string) => boolean
}

/** A right may take this long to be granted: a resource not seen in one namespace may belong to another. */
const GRANT_MS = 30_000

interface Scoped<T> {
  readonly namespace?: string
  readonly watched: Watched<T>
  /** As they were told of last. */
  told: ReadonlyMap<string, T>
}

export class Watches<T> {
  readonly #kind: string
  readonly #trying = new Set<Watched<T>>()
  readonly #watches: readonly Scoped<T>[]
  readonly #options: Pick<WatchesOptions<T>, 'mayLack' | 'isGone' | 'clock' | 'onChange'>
  /** Their namespace has gone, and they have not been read since. */
  readonly #over = new Set<Watched<T>>()
  /** Watches that may not be read by now are not waited for. */
  #isLate = false
  #cancelLate = (): void => undefined

  constructor(all: WatchesOptions<T>) {
    const { namespaces, createReflector, ...options } = all
    this.#options = all
    this.#kind = options.type.kind
    const scopes: readonly Scope[] =
      namespaces === 'all' ? [{}] : [...new Set(namespaces)].map((namespace) => ({ namespace }))
    // Without any it would be synced at once, and report that there is nothing.
    if (scopes.length === 0)
      throw new Error(`no namespace is named to watch ${options.type.plural} in`)
    this.#watches = scopes.map((scope) => ({
      ...scope,
      watched: createReflector<T>({ ...options, ...scope }),
      told: new Map<string, T>(),
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

  /** Each has been listed once, but for those that may not be read; at least one has. */
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

  /** Where `items` is other than at the last call; costs what has changed. */
  takeChanges(): readonly Change<T>[] {
    return this.#watches.flatMap((each) => {
      const before = each.told
      const after = this.#isOver(each) ? new Map<string, T>() : each.watched.items
      each.told = after
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

  /** It may not be read, and only its owner is affected. */
  #isLacking({ namespace, watched }: Scoped<T>): boolean {
    const { mayLack } = this.#options
    return (
      watched.failure?.status === FORBIDDEN &&
      namespace !== undefined &&
      mayLack?.(namespace) === true
    )
  }

  /** The right to read went with the namespace; another one of that name has nothing of its content. */
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
   * To be called when the API probably knows the kind by now; by itself it is tried every 30 s at most. A list under
   * way is not requested again before its end: otherwise none would end.
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
