// Follows JSON pointers (RFC 6901) into values that were not validated.

import { pointerKeys } from '../../base/json-pointer.ts'
import { memberAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value } from '../../language/expression/value.ts'

/**
 * What a JSON pointer leads to, or the last thing on the way that is there.
 * @example followPointer({ a: [1] }, '/a/0') // { node: 1, isReached: true }
 */
export const followPointer = (
  root: Value,
  pointer: string,
): { readonly node: Value; readonly isReached: boolean } => {
  let node = root
  for (const key of pointerKeys(pointer)) {
    const next = isList(node) ? node[Number(key)] : isMap(node) ? memberAt(node, key) : undefined
    if (next === undefined) return { node, isReached: false }
    node = next
  }
  return { node, isReached: true }
}
