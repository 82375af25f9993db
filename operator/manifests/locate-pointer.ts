// Finds where in a YAML text the value stands that a JSON pointer leads to.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair } from 'yaml'
import { pointerKeys } from '../../base/json-pointer.ts'

/** The first line, and the first column, are 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * The offset of a value, or of its nearest parent. What begins on a line of its own below its key is where its key is,
 * as that is what has a name.
 */
export const offsetOfPointer = (document: Document.Parsed, pointer: string): number => {
  let node: unknown = document.contents
  let offset = startOf(node) ?? document.range[0]
  for (const key of pointerKeys(pointer)) {
    const resolved: unknown = isAlias(node) ? node.resolve(document) : node
    const child = childOf(resolved, key)
    if (child === undefined) return offset
    node = child.node
    offset = child.offset ?? offset
  }
  return offset
}

interface Child {
  readonly node: unknown
  readonly offset: number | undefined
}

const childOf = (node: unknown, key: string): Child | undefined => {
  if (isSeq(node)) {
    const item = /^\d+$/.test(key) ? node.items[Number(key)] : undefined
    return item === undefined ? undefined : { node: item, offset: startOf(item) }
  }
  if (!isMap(node)) return undefined
  const pair = node.items.find((each) => isScalar(each.key) && String(each.key.value) === key)
  return pair && { node: pair.value, offset: offsetOfPair(pair) }
}

const offsetOfPair = ({ key, value }: Pair): number | undefined => {
  const isBlock = (isMap(value) || isSeq(value)) && value.flow !== true
  const isEmpty = isScalar(value) && value.source === ''
  return isBlock || isEmpty || value === null ? startOf(key) : (startOf(value) ?? startOf(key))
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)
