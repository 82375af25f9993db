// Finds the host patterns that match a host, in the order in which they are tried (behaviour §3), and caches what it
// has found. It knows nothing of paths, nor of how requests name their host.

import { hashText } from '../../base/hash-text.ts'
import { routedName } from '../routes/authority.ts'
import type { TrieNode } from './trie.ts'

/** One matching pattern; `next` is tried when none of its routes matches. A list: one hop to the first. */
export interface HostHit<R> {
  /** The host that it was found for, and its hash. */
  readonly host: string
  readonly hash: number
  readonly routes: R
  /** The labels that its bindings captured. */
  readonly captures: readonly string[]
  /** More literal labels first; of as many, one-label patterns before `[...]`. Equal: the older route. */
  readonly specificity: number
  readonly next: HostHit<R> | undefined
}

const NO_CAPTURES: readonly string[] = Object.freeze([])

/** @param host of an `Authority`: lower case, without port; it may have a dot at either end */
export function lookUpHost<R>(
  hosts: TrieNode<R> | undefined,
  cache: HostCache<R>,
  host: string,
): HostHit<R> | undefined {
  if (hosts === undefined) return undefined
  const hash = hashText(host, 0, host.length)
  const known = cache.get(host, hash)
  if (known !== undefined) return known
  const found = findHost(hosts, detached(host), hash)
  if (found !== undefined && host.length <= LONGEST) cache.add(found)
  return found
}

/**
 * The host as a text of its own: one that was cut out of a request target keeps all of that in memory. It is ASCII, as
 * every authority that was accepted.
 */
const detached = (host: string): string => Buffer.from(host, 'latin1').toString('latin1')

/** A DNS name has at most 253 characters. */
const LONGEST = 256
const FEWEST_SLOTS = 64
const MOST_SLOTS = 32_768
/** So many places are looked at: a host that finds them taken replaces another. */
const PROBES = 8

/**
 * What was found for the hosts of requests. Hosts that match no pattern are not in it, so that random ones displace
 * nothing; under a pattern with a binding they may, and then cost a search. A request reads two cold places of memory
 * here, where a `Map` from texts reads eight: it finds the string among all strings of V8 first.
 */
export class HostCache<R> {
  #slots = slotsFor<R>(FEWEST_SLOTS)
  #taken = 0

  get(host: string, hash: number): HostHit<R> | undefined {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let probe = 0; probe < PROBES; probe++) {
      const hit = slots[(hash + probe) & mask]
      if (hit === undefined) return undefined
      if (hit.hash === hash && hit.host === host) return hit
    }
    return undefined
  }

  add(hit: HostHit<R>): void {
    if (2 * this.#taken >= this.#slots.length && this.#slots.length < MOST_SLOTS) this.#grow()
    this.#place(hit)
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = slotsFor<R>(2 * before.length)
    this.#taken = 0
    for (const hit of before) if (hit !== undefined) this.#place(hit)
  }

  #place(hit: HostHit<R>): void {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let probe = 0; probe < PROBES; probe++) {
      const index = (hit.hash + probe) & mask
      if (slots[index] !== undefined) continue
      slots[index] = hit
      this.#taken++
      return
    }
    slots[hit.hash & mask] = hit
  }
}

const slotsFor = <R>(length: number): (HostHit<R> | undefined)[] =>
  new Array<HostHit<R> | undefined>(length).fill(undefined)

function findHost<R>(hosts: TrieNode<R>, host: string, hash: number): HostHit<R> | undefined {
  const search: Search<R> = { found: [], nodesLeft: MOST_NODES }
  collect(hosts, labelsOf(host), { literals: 0, captures: NO_CAPTURES }, search)
  // A pattern that was not looked at might come first.
  if (search.nodesLeft < 0) return undefined
  return search.found
    .sort((a, b) => b.specificity - a.specificity)
    .reduceRight<HostHit<R> | undefined>(
      (next, { routes, captures, specificity }) => ({
        host,
        hash,
        routes,
        captures,
        specificity,
        next,
      }),
      undefined,
    )
}

type Found<R> = Pick<HostHit<R>, 'routes' | 'captures' | 'specificity'>

/**
 * Nodes that are looked at for one host: 2048 take a host of ten labels and patterns with a literal or a binding in each
 * place. With 14 labels it took 16 ms for each host that was not known. Where there are more, no pattern counts as matching.
 */
const MOST_NODES = 2048

interface Search<R> {
  readonly found: Found<R>[]
  nodesLeft: number
}

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
  search: Search<R>,
): void {
  if (--search.nodesLeft < 0) return
  const { found } = search
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
  if (literal !== undefined) collect(literal, rest, { literals: literals + 1, captures }, search)
  if (node.binding !== undefined && label !== '') {
    collect(node.binding, rest, { literals, captures: [label, ...captures] }, search)
  }
}

/** A host with an empty label counts as one without labels: only `_` matches it. */
function labelsOf(host: string): readonly string[] {
  if (host.startsWith('[')) return [host]
  const labels = routedName(host).split('.')
  return labels.includes('') ? [''] : labels
}
