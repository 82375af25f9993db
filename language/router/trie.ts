// Implements a persistent trie over steps (labels of a host, segments of a path): an edit returns a new trie that
// shares everything else. A node that others may see is never changed.

import { countFirst } from '../../base/bisect.ts'
import { compareMixed, type MixedSegment, type PathStep } from '../routes/mixed-segment.ts'
import { put, type Owner, type PersistentMap } from './persistent-map.ts'

export class TrieNode<L> {
  literals: PersistentMap<TrieNode<L>> | undefined
  /** Below steps with text around bindings, the most specific first. */
  mixed: MixedChildren<L> | undefined
  /** The node below a step of any text. */
  binding: TrieNode<L> | undefined
  /** The value of a place that ends here. */
  leaf: L | undefined
  /** The value of a place that continues from here with any number of steps. */
  tail: L | undefined
  readonly owner: Owner

  constructor(owner: Owner) {
    this.literals = undefined
    this.mixed = undefined
    this.binding = undefined
    this.leaf = undefined
    this.tail = undefined
    this.owner = owner
  }
}

export interface MixedChild<L> {
  readonly texts: MixedSegment
  readonly node: TrieNode<L>
}

/** In short lists, so that an edit copies few of many. None is empty. */
export type MixedChildren<L> = readonly (readonly MixedChild<L>[])[]

/** The longest list of children; a longer one is halved. */
const MAX_MIXED = 128

/** `null` is a step of any text. */
export interface Place {
  readonly steps: readonly PathStep[]
  readonly tail: boolean
}

export interface Change<L> {
  readonly owner: Owner
  /** From the value at the place to the new one. Undefined: there is none, or the place is to be removed. */
  apply(before: L | undefined): L | undefined
}

/** Returns the node with `change` made at `place`; undefined when nothing is left below it. */
export function editTrie<L>(
  node: TrieNode<L> | undefined,
  place: Place,
  change: Change<L>,
): TrieNode<L> | undefined {
  return editAt(node, place, 0, change)
}

function editAt<L>(
  node: TrieNode<L> | undefined,
  place: Place,
  depth: number,
  change: Change<L>,
): TrieNode<L> | undefined {
  const own = ownNode(node, change.owner)
  const step = place.steps[depth]
  if (step === undefined) editHere(own, place.tail, change)
  else if (step === null) own.binding = editAt(own.binding, place, depth + 1, change)
  else if (typeof step !== 'string')
    own.mixed = editMixed(own.mixed, step, (child) => editAt(child, place, depth + 1, change))
  else {
    const child = own.literals?.get(step)
    const edited = editAt(child, place, depth + 1, change)
    if (edited !== child) own.literals = setLiteral(own.literals, step, edited, change.owner)
  }
  return isEmpty(own) ? undefined : own
}

function editMixed<L>(
  lists: MixedChildren<L> = [],
  texts: MixedSegment,
  edit: (child: TrieNode<L> | undefined) => TrieNode<L> | undefined,
): MixedChildren<L> | undefined {
  const isBefore = (child: MixedChild<L> | undefined): boolean =>
    child !== undefined && compareMixed(child.texts, texts) < 0
  // What comes after all others goes into the last list.
  const behind = countFirst(lists, (each) => isBefore(each.at(-1)))
  const which = Math.max(0, Math.min(behind, lists.length - 1))
  const list = lists[which] ?? []
  const at = countFirst(list, isBefore)
  const next = list[at]
  const before = next !== undefined && compareMixed(next.texts, texts) === 0 ? next : undefined
  const node = edit(before?.node)
  const edited = list.toSpliced(
    at,
    before === undefined ? 0 : 1,
    ...(node === undefined ? [] : [{ texts, node }]),
  )
  const all = lists.toSpliced(which, 1, ...shortLists(edited))
  return all.length === 0 ? undefined : all
}

function shortLists<L>(list: readonly MixedChild<L>[]): MixedChildren<L> {
  if (list.length <= MAX_MIXED) return list.length === 0 ? [] : [list]
  return [list.slice(0, MAX_MIXED / 2), list.slice(MAX_MIXED / 2)]
}

function ownNode<L>(node: TrieNode<L> | undefined, owner: Owner): TrieNode<L> {
  if (node?.owner === owner) return node
  const own = new TrieNode<L>(owner)
  if (node === undefined) return own
  own.literals = node.literals
  own.mixed = node.mixed
  own.binding = node.binding
  own.leaf = node.leaf
  own.tail = node.tail
  return own
}

function editHere<L>(node: TrieNode<L>, tail: boolean, change: Change<L>): void {
  if (tail) node.tail = change.apply(node.tail)
  else node.leaf = change.apply(node.leaf)
}

function setLiteral<L>(
  literals: PersistentMap<TrieNode<L>> | undefined,
  step: string,
  child: TrieNode<L> | undefined,
  owner: Owner,
): PersistentMap<TrieNode<L>> | undefined {
  return child === undefined ? literals?.remove(step, owner) : put(literals, step, child, owner)
}

const isEmpty = <L>(node: TrieNode<L>): boolean =>
  node.literals === undefined &&
  node.mixed === undefined &&
  node.binding === undefined &&
  node.leaf === undefined &&
  node.tail === undefined
