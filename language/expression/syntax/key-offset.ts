// Finds where a key of a tag is written, from the text of the tag: the syntax itself keeps no place for each key, as only
// diagnostics ask for it.

import type { TagAst } from './ast.ts'

/**
 * Offset into the string that the tag stands in.
 * @param index of the key; the root is 0
 * @example keyOffset({ source: '{{ request.body }}', offset: 5, … }, 1) // 16
 */
export const keyOffset = (
  { source, offset }: Pick<TagAst, 'source' | 'offset'>,
  index: number,
): number => {
  let at = 2
  for (let left = index; left > 0; left--) at = source.indexOf('.', at) + 1
  return offset + at + source.slice(at).search(/[^ \t\r\n]|$/)
}
