// Finds the host patterns that match a host, in the order in which they are tried (behaviour §3), and caches what it
// has found. It knows nothing of paths, nor of how requests name their host.

import { RecentMap } from '../../base/recent-map.ts'
import type { TrieNode } from './trie.ts'

/** One matching pattern; `next` is tried when none of its routes matches. A list: one hop to the first. */
export interface HostHit<R> {
  readonly routes: R
  /** The labels that its bindings captured. */
  readonly captures: readonly string[]
  /** More literal labels first; of as many, one-label patterns before `[...]`. Equal: the older route. */
  readonly specificity: number
  readonly next: HostHit<R> | undefined
}

/** A cached result; `none`: no pattern matches. */
type Remembered<R> = HostHit<R> | 'none'

const GENERATION = 16_384
const NO_CAPTURES: readonly string[] = Object.freeze([])

export type HostCache<R> = RecentMap<Remembered<R>>

export const createHostCache = <R>(): HostCache<R> => new RecentMap(GENERATION)

/** @param host of an `Authority`: lower case, without port; it may have a dot at either end */
export function lookUpHost<R>(
  hosts: TrieNode<R> | undefined,
  cache: HostCache<R>,
  host: string,
): HostHit<R> | undefined {
  const remembered = cache.get(host)
  if (remembered !== undefined) return remembered === 'none' ? undefined : remembered
  const found = hosts === undefined ? undefined : findHost(hosts, host)
  cache.set(host, found ?? 'none')
  return found
}

function findHost<R>(hosts: TrieNode<R>, host: string): HostHit<R> | undefined {
  const found: Found<R>[] = []
  collect(hosts, labelsOf(host), { literals: 0, captures: NO_CAPTURES }, found)
  return found
    .sort((a, b) => b.specificity - a.specificity)
    .reduceRight<HostHit<R> | undefined>((next, hit) => ({ ...hit, next }), undefined)
}

type Found<R> = Omit<HostHit<R>, 'next'>

/** What has matched of the labels passed so far. */
interface Passed {
  readonly literals: number
  readonly captures: readonly string[]
}

/** Every node that matches, each at most once; `labels` is the rest of the host, right to left. */
function collect<R>(
  node: TrieNode<R>,
  labels: readonly string[],
  passed: Passed,
  found: Found<R>[],
): void {
  const { literals, captures } = passed
  const label = labels.at(-1)
  if (node.tail !== undefined) {
    found.push({ routes: node.tail, captures, specificity: 2 * literals })
  }
  if (label === undefined) {
    if (node.leaf === undefined) return
    found.push({ routes: node.leaf, captures, specificity: 2 * literals + 1 })
    return
  }
  const rest = labels.slice(0, -1)
  const literal = node.literals?.get(label)
  if (literal !== undefined) collect(literal, rest, { literals: literals + 1, captures }, found)
  if (node.binding !== undefined && label !== '') {
    collect(node.binding, rest, { literals, captures: [label, ...captures] }, found)
  }
}

/** A host with an empty label counts as one without labels: only `_` matches it. */
function labelsOf(host: string): readonly string[] {
  if (host.startsWith('[')) return [host]
  const labels = host.replace(/^\./, '').replace(/\.$/, '').split('.')
  return labels.includes('') ? [''] : labels
}
