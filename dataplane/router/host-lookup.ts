// A Host header in, the host patterns that match it out, in the order in which they are to be tried
// (behaviour §3). Remembers what it has found; knows nothing of paths.

import { canonicalIpv6 } from '../../spec/host-pattern.ts'
import type { TrieNode } from './trie.ts'

/** One matching pattern; `next` is tried when none of its routes matches. A list: one hop to the first. */
export interface HostHit<R> {
  readonly routes: R
  /** Labels that its bindings took. */
  readonly captures: readonly string[]
  /** More literal labels first; of as many, one-label patterns before `[...]`. Equal: the older route. */
  readonly specificity: number
  readonly next: HostHit<R> | undefined
}

/** `undefined` and remembered: no pattern matches. */
type Remembered<R> = HostHit<R> | 'none'

const GENERATION = 16_384
const MAX_REMEMBERED_LENGTH = 256
const NO_CAPTURES: readonly string[] = Object.freeze([])

/** Raw headers seen of late: at most two generations, so that random hosts cannot fill memory. */
export class HostCache<R> {
  #young = new Map<string, Remembered<R>>()
  #old = new Map<string, Remembered<R>>()

  get(raw: string): Remembered<R> | undefined {
    const young = this.#young.get(raw)
    if (young !== undefined) return young
    const old = this.#old.get(raw)
    if (old !== undefined) this.set(raw, old)
    return old
  }

  set(raw: string, hit: Remembered<R>): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(raw, hit)
  }
}

/** `raw` as it stands in the header: any case, with port, with a dot at either end. */
export function lookUpHost<R>(
  hosts: TrieNode<R> | undefined,
  cache: HostCache<R>,
  raw: string,
): HostHit<R> | undefined {
  const remembered = cache.get(raw)
  if (remembered !== undefined) return remembered === 'none' ? undefined : remembered
  const found = hosts === undefined || !isHostText(raw) ? undefined : findHost(hosts, raw)
  if (raw.length <= MAX_REMEMBERED_LENGTH) cache.set(raw, found ?? 'none')
  return found
}

/** RFC 9110 §7.2, RFC 3986 §3.2.2: what is no host and port is no host of anybody, nor of `_`. */
export const isHostText = (raw: string): boolean => /^[\w.~!$&'()*+,;=%:[\]-]*$/.test(raw)

function findHost<R>(hosts: TrieNode<R>, raw: string): HostHit<R> | undefined {
  const found: Found<R>[] = []
  collect(hosts, labelsOf(raw), { literals: 0, captures: NO_CAPTURES }, found)
  return found
    .sort((a, b) => b.specificity - a.specificity)
    .reduceRight<HostHit<R> | undefined>((next, hit) => ({ ...hit, next }), undefined)
}

type Found<R> = Omit<HostHit<R>, 'next'>

/** What the labels passed so far have been. */
interface Passed {
  readonly literals: number
  readonly captures: readonly string[]
}

/** Every node that fits, each at most once: `labels` are what is left of the host, right to left. */
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

/** A host with an empty label has none that a pattern could name: only `_` matches it. */
function labelsOf(raw: string): readonly string[] {
  const host = raw.toLowerCase()
  if (host.startsWith('[')) {
    const address = canonicalIpv6(host.slice(0, host.indexOf(']') + 1))
    return [address ?? '']
  }
  const colon = host.indexOf(':')
  const name = (colon === -1 ? host : host.slice(0, colon)).replace(/^\./, '').replace(/\.$/, '')
  const labels = name.split('.')
  return labels.includes('') ? [''] : labels
}
