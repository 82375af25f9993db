// Applies a JSON patch (RFC 6902) that only adds to a value, and returns the patched copy.

import { pointerKeys } from '../../base/json-pointer.ts'

interface Added {
  readonly op: 'add'
  readonly path: string
  readonly value: unknown
}

/** @throws Error where a parent is missing, as an API server would refuse it */
export const applyPatch = <T>(value: T, patch: readonly Added[]): T => {
  const copy = structuredClone(value)
  for (const { path, value: added } of patch) {
    const keys = pointerKeys(path)
    const last = keys.pop() ?? ''
    let parent: unknown = copy
    for (const key of keys) parent = Reflect.get(Object(parent) as object, key) as unknown
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : Number(last)
      if (!(index <= parent.length)) throw new Error(`${path} is beyond the list`)
      parent.splice(index, 0, structuredClone(added))
    } else if (typeof parent === 'object' && parent !== null) {
      Reflect.set(parent, last, structuredClone(added))
    } else throw new Error(`${path} has no parent`)
  }
  return copy
}
