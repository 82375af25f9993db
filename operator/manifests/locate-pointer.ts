// Finds where in a YAML text the value stands that a JSON pointer leads to.

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { pointerKeys } from '../../base/json-pointer.ts'
import { locateCharacter } from './locate-character.ts'

/** The first line, and the first column, are 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * The offset of a value, or of its nearest parent. What begins on a line of its own below its key is where its key is,
 * as that is what has a name.
 * @param source of the whole file
 * @param within a text: of the character that is meant
 */
export const offsetOfPointer = (
  document: Document.Parsed,
  source: string,
  { pointer, within }: { readonly pointer: string; readonly within?: number | undefined },
): number => {
  let node: unknown = document.contents
  let offset = startOf(node) ?? document.range[0]
  for (const key of pointerKeys(pointer)) {
    const child = childOf(resolve(node, document), key, document)
    if (child === undefined) return offset
    node = child.node
    offset = child.offset ?? offset
  }
  if (within === undefined || !isScalar(node)) return offset
  return locateCharacter(source, node, within) ?? offset
}

const resolve = (node: unknown, document: Document.Parsed): unknown =>
  isAlias(node) ? node.resolve(document) : node

interface Child {
  readonly node: unknown
  readonly offset: number | undefined
}

const childOf = (node: unknown, key: string, document: Document.Parsed): Child | undefined => {
  if (isSeq(node)) {
    const item = /^\d+$/.test(key) ? node.items[Number(key)] : undefined
    return item === undefined ? undefined : { node: item, offset: startOf(item) }
  }
  if (!isMap(node)) return undefined
  const pair = pairOf(node, key)
  return pair === undefined
    ? mergedChild(node, key, document)
    : { node: pair.value, offset: offsetOfPair(pair) }
}

const pairOf = (node: YAMLMap, key: string): Pair | undefined =>
  node.items.find((each) => isScalar(each.key) && String(each.key.value) === key)

/** `<<: *defaults`: the member stands where the anchor is. Of several sources the first counts. */
const mergedChild = (node: YAMLMap, key: string, document: Document.Parsed): Child | undefined => {
  const merge = node.items.find((each) => isScalar(each.key) && each.key.source === '<<')
  const merged = resolve(merge?.value, document)
  const sources: readonly unknown[] = isSeq(merged) ? merged.items : [merged]
  for (const source of sources) {
    const map = resolve(source, document)
    const pair = isMap(map) ? pairOf(map, key) : undefined
    if (pair !== undefined) return { node: pair.value, offset: offsetOfPair(pair) }
  }
  return undefined
}

const offsetOfPair = ({ key, value }: Pair): number | undefined => {
  const isBlock = (isMap(value) || isSeq(value)) && value.flow !== true
  const isEmpty = isScalar(value) && value.source === ''
  return isBlock || isEmpty || value === null ? startOf(key) : (startOf(value) ?? startOf(key))
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)
