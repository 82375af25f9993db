// Counts which Secrets and ConfigMaps resources refer to, and with which keys, as resources come, change and go: a change
// costs the references of what has changed, however many resources there are.

import {
  objectKey,
  type ObjectReference,
  type WantedKeys,
  type WantedObject,
} from './referenced-objects.ts'

interface Counted {
  readonly of: Pick<WantedObject, 'kind' | 'namespace' | 'name'>
  /** Key of the object → how many refer to it; undefined: to all of its keys. */
  readonly counts: Map<string | undefined, number>
}

export class WantedReferences {
  /** Objects by `Kind/namespace/name`. */
  readonly #objects = new Map<string, Counted>()
  #wanted: ReadonlyMap<string, WantedObject> | undefined

  add(references: readonly ObjectReference[]): void {
    for (const reference of references) {
      const { kind, namespace, name, key } = reference
      const id = objectKey(reference)
      const object: Counted = this.#objects.get(id) ?? {
        of: { kind, namespace, name },
        counts: new Map(),
      }
      const count = object.counts.get(key) ?? 0
      object.counts.set(key, count + 1)
      this.#objects.set(id, object)
      if (count === 0) this.#wanted = undefined
    }
  }

  /** @param references that were added before */
  remove(references: readonly ObjectReference[]): void {
    for (const reference of references) {
      const id = objectKey(reference)
      const object = this.#objects.get(id)
      const count = (object?.counts.get(reference.key) ?? 0) - 1
      if (object === undefined) continue
      if (count > 0) object.counts.set(reference.key, count)
      else {
        object.counts.delete(reference.key)
        if (object.counts.size === 0) this.#objects.delete(id)
        this.#wanted = undefined
      }
    }
  }

  /** Objects by `Kind/namespace/name`; the same map while nothing else is wanted. */
  get wanted(): ReadonlyMap<string, WantedObject> {
    this.#wanted ??= new Map(
      Array.from(this.#objects, ([id, { of, counts }]) => [id, { ...of, keys: keysOf(counts) }]),
    )
    return this.#wanted
  }
}

/** Objects by `Kind/namespace/name`. */
export const wantedObjects = (
  references: readonly ObjectReference[],
): ReadonlyMap<string, WantedObject> => {
  const counted = new WantedReferences()
  counted.add(references)
  return counted.wanted
}

const keysOf = (counts: ReadonlyMap<string | undefined, number>): WantedKeys => {
  const keys = [...counts.keys()].filter((key) => key !== undefined)
  return keys.length < counts.size ? 'all' : new Set(keys)
}
