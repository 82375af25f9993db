// Watches each Secret and ConfigMap that resources refer to, from the first reference to the last, and gives all their
// answers.

import { isObjectName } from '../resource/object-name.ts'
import { resourceKey } from '../resource/resource.ts'
import {
  type KeyedResource,
  type ObjectAnswer,
  ReferencedObject,
  type ReferencedObjectOptions,
} from './referenced-object.ts'
import { objectKey, type ObjectReference, type WantedObject } from './referenced-objects.ts'
import type { WatchFailure } from '../kubernetes/watch/watched.ts'

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
  'keep more keys in one Secret, more documents in one ConfigMap'

export class ReferencedWatches {
  readonly #options: ReferencedWatchesOptions
  readonly #objects = new Map<
    string,
    { readonly of: WantedObject; readonly object: ReferencedObject }
  >()
  /** `Kind/namespace/name` of objects that are not watched, because their namespace refers to too many. */
  readonly #excess = new Map<string, WantedObject>()
  readonly #stopping = new Set<Promise<void>>()

  constructor(options: ReferencedWatchesOptions) {
    this.#options = options
  }

  /**
   * @param wanted all objects that are referred to, by `Kind/namespace/name`
   * @returns whether some answers are gone
   */
  want(wanted: ReadonlyMap<string, WantedObject>): boolean {
    const left = [...this.#objects].filter(([key]) => !wanted.has(key))
    for (const [key, { object }] of left) {
      this.#objects.delete(key)
      this.#end(object)
    }
    this.#excess.clear()
    const counts = this.#countByNamespace()
    for (const [key, of] of wanted) {
      const known = this.#objects.get(key)
      if (known !== undefined) known.object.want(of.keys)
      else if (isObjectName(of.name)) {
        const count = counts.get(of.namespace) ?? 0
        counts.set(of.namespace, count + 1)
        if (count >= MAX_OF_NAMESPACE) this.#excess.set(key, of)
        else this.#objects.set(key, { of, object: new ReferencedObject(of, this.#options) })
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

  /** The answer for the reference is known. */
  covers(reference: ObjectReference): boolean {
    const key = objectKey(reference)
    const known = this.#objects.get(key)
    if (known !== undefined) return known.object.covers(reference.key)
    return this.#excess.has(key) || !isObjectName(reference.name)
  }

  get hasAnswers(): boolean {
    return this.#answers().every(([, { answer }]) => answer !== 'waiting')
  }

  found(): readonly KeyedResource[] {
    return this.#answers().flatMap(([, answer]) =>
      answer.answer === 'found' ? [answer.resource] : [],
    )
  }

  /** `Kind/namespace/name` → the command that would allow to read it. */
  forbidden(): ReadonlyMap<string, string> {
    const forbidden = new Map<string, string>()
    for (const key of this.#excess.keys()) forbidden.set(key, EXCESS)
    for (const [{ kind, namespace, name }, { answer }] of this.#answers()) {
      if (answer !== 'forbidden') continue
      forbidden.set(resourceKey(kind, namespace, name), this.#options.remedy(kind, namespace))
    }
    return forbidden
  }

  /** Objects that can't be read for other reasons than a missing grant, which `forbidden` reports. */
  failures(): readonly ReferencedFailure[] {
    return [...this.#objects.values()].flatMap(({ of: { kind, namespace, name }, object }) => {
      const { failure } = object
      const isReported = object.answer.answer === 'forbidden'
      return failure === undefined || isReported ? [] : [{ kind, namespace, name, failure }]
    })
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

  #answers(): readonly (readonly [of: WantedObject, answer: ObjectAnswer])[] {
    return [...this.#objects.values()].map(({ of, object }) => [of, object.answer])
  }

  #end(object: ReferencedObject): void {
    const stopping = object.stop()
    this.#stopping.add(stopping)
    void stopping.finally(() => this.#stopping.delete(stopping))
  }
}
