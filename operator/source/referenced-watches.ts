// Watches each Secret and ConfigMap that resources refer to, from the first reference to the last, and gives the
// state of all of them.

import { isObjectName } from '../resource/object-name.ts'
import {
  type KeyedResource,
  type ObjectState,
  ReferencedObject,
  type ReferencedObjectOptions,
} from './referenced-object.ts'
import { objectKey, type ObjectReference, type WantedObject } from './referenced-objects.ts'
import type { WatchFailure } from '../kubernetes/watch/watched.ts'
import type { Change } from './change.ts'

export interface ReferencedWatchesOptions extends ReferencedObjectOptions {
  /** How the owner of a namespace allows the operator to read objects of that kind. */
  readonly remedy: (kind: WantedObject['kind'], namespace: string) => string
}

export interface ReferencedFailure {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly namespace: string
  readonly name: string
  readonly failure: WatchFailure
}

/** Each is a connection. */
const MAX_OF_NAMESPACE = 1000
const EXCESS =
  `its namespace refers to more than ${MAX_OF_NAMESPACE} Secrets and ConfigMaps: ` +
  'put several keys into one Secret, and several documents into one ConfigMap'

export class ReferencedWatches {
  readonly #options: ReferencedWatchesOptions
  readonly #objects = new Map<
    string,
    { readonly of: WantedObject; readonly object: ReferencedObject }
  >()
  /** `Kind/namespace/name` of objects that are not watched, because their namespace refers to too many. */
  readonly #excess = new Map<string, WantedObject>()
  /** Keys of objects whose state may have changed since it was taken last. */
  readonly #touched = new Set<string>()
  readonly #found = new Map<string, KeyedResource>()
  readonly #waiting = new Set<string>()
  readonly #failing = new Map<string, ReferencedFailure>()
  readonly #remedies = new Map<string, string>()
  #forbidden: ReadonlyMap<string, string> | undefined
  #wanted: ReadonlyMap<string, WantedObject> | undefined
  readonly #stopping = new Set<Promise<void>>()

  constructor(options: ReferencedWatchesOptions) {
    this.#options = options
  }

  /**
   * @param wanted all objects that are referred to, by `Kind/namespace/name`; the same map: nothing is looked at
   * @returns whether some objects are no longer watched
   */
  want(wanted: ReadonlyMap<string, WantedObject>): boolean {
    if (wanted === this.#wanted) return false
    this.#wanted = wanted
    const left = [...this.#objects].filter(([key]) => !wanted.has(key))
    for (const [key, { object }] of left) {
      this.#objects.delete(key)
      this.#touched.add(key)
      this.#end(object)
    }
    for (const key of this.#excess.keys()) this.#touched.add(key)
    this.#excess.clear()
    const counts = this.#countByNamespace()
    for (const [key, of] of wanted) {
      const known = this.#objects.get(key)
      if (known !== undefined) known.object.want(of.keys)
      else if (isObjectName(of.name)) {
        const count = counts.get(of.namespace) ?? 0
        counts.set(of.namespace, count + 1)
        this.#touched.add(key)
        if (count >= MAX_OF_NAMESPACE) this.#excess.set(key, of)
        else this.#objects.set(key, { of, object: this.#watch(key, of) })
      }
    }
    return left.length > 0
  }

  #countByNamespace(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { of } of this.#objects.values())
      counts.set(of.namespace, (counts.get(of.namespace) ?? 0) + 1)
    return counts
  }

  /** What the reference refers to is known. */
  covers(reference: ObjectReference): boolean {
    const key = objectKey(reference)
    const known = this.#objects.get(key)
    if (known !== undefined) return known.object.covers(reference.key)
    return this.#excess.has(key) || !isObjectName(reference.name)
  }

  /** The objects that have changed since the last call, in time proportional to their number. */
  takeChanges(): readonly Change<KeyedResource>[] {
    if (this.#touched.size === 0) return []
    const keys = [...this.#touched]
    this.#touched.clear()
    return keys.flatMap((key) => this.#takeChange(key))
  }

  get hasStates(): boolean {
    const isWaiting = (key: string): boolean =>
      this.#objects.get(key)?.object.state.phase === 'waiting'
    return [...this.#waiting, ...this.#touched].every((key) => !isWaiting(key))
  }

  /** `Kind/namespace/name` → the command that would allow to read it. The same map while nothing has changed. */
  get forbidden(): ReadonlyMap<string, string> {
    return (this.#forbidden ??= new Map(this.#remedies))
  }

  /** Objects that can't be read for other reasons than a missing grant, which `forbidden` reports. */
  get failures(): Iterable<ReferencedFailure> {
    return this.#failing.values()
  }

  /** The resources that refer to it have changed: perhaps access has been granted meanwhile. */
  tryAgain(references: readonly ObjectReference[]): void {
    for (const reference of references) {
      this.#objects.get(objectKey(reference))?.object.tryAgain()
    }
  }

  async stop(): Promise<void> {
    for (const { object } of this.#objects.values()) this.#end(object)
    this.#objects.clear()
    this.#excess.clear()
    await Promise.all(this.#stopping)
  }

  #watch(key: string, of: WantedObject): ReferencedObject {
    return new ReferencedObject(of, {
      ...this.#options,
      onChange: () => {
        this.#touched.add(key)
        this.#options.onChange()
      },
    })
  }

  #takeChange(key: string): readonly Change<KeyedResource>[] {
    const known = this.#objects.get(key)
    const state = known?.object.state
    this.#noteFailure(key, known)
    if (state?.phase === 'waiting') this.#waiting.add(key)
    else this.#waiting.delete(key)
    this.#forbid(key, this.#remedyFor(key, known?.of, state))
    const before = this.#found.get(key)
    const after = state?.phase === 'found' ? state.resource : undefined
    if (after === before) return []
    if (after === undefined) this.#found.delete(key)
    else this.#found.set(key, after)
    return [{ before, after }]
  }

  #remedyFor(
    key: string,
    of: WantedObject | undefined,
    state: ObjectState | undefined,
  ): string | undefined {
    if (this.#excess.has(key)) return EXCESS
    if (of === undefined || state?.phase !== 'forbidden') return undefined
    return this.#options.remedy(of.kind, of.namespace)
  }

  #forbid(key: string, remedy: string | undefined): void {
    if (this.#remedies.get(key) === remedy) return
    if (remedy === undefined) this.#remedies.delete(key)
    else this.#remedies.set(key, remedy)
    this.#forbidden = undefined
  }

  #noteFailure(
    key: string,
    known: { readonly of: WantedObject; readonly object: ReferencedObject } | undefined,
  ): void {
    const failure = known?.object.failure
    const isReported = known?.object.state.phase === 'forbidden'
    if (known === undefined || failure === undefined || isReported) this.#failing.delete(key)
    else {
      const { kind, namespace, name } = known.of
      this.#failing.set(key, { kind, namespace, name, failure })
    }
  }

  #end(object: ReferencedObject): void {
    const stopping = object.stop()
    this.#stopping.add(stopping)
    void stopping.finally(() => this.#stopping.delete(stopping))
  }
}
