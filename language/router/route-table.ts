// Builds an immutable table, host → path → candidates, from the routes of documents. A change copies only the nodes
// on its path, and earlier tables stay as they were. It does not decide conflicts.

import { HostCache } from './host-lookup.ts'
import { candidatesOf, candidateTrie, HostRoutes, loneRoutes, placeOf } from './host-routes.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import { put, type Owner, type PersistentMap } from './persistent-map.ts'
import { inOrder } from './precedence.ts'
import type { Candidate, RouteSet } from './route.ts'
import { editTrie, type TrieNode } from './trie.ts'

export interface RouteTable<T> {
  /** Labels from the right: `com`, `acme`, `www`. */
  readonly hosts: TrieNode<HostRoutes<T>> | undefined
  readonly sets: PersistentMap<RouteSet<T>> | undefined
  /** The hosts looked up since this table was made; a new table has a new cache. */
  readonly cache: HostCache<HostRoutes<T>>
}

/** Collects changes; nodes are copied once for all of them. */
export interface TableEditor<T> {
  /** Adds a document, or replaces the one of its id. */
  put(set: RouteSet<T>): void
  /** Does nothing when there is no such document. */
  remove(id: string): void
  /** Returns the table as it is now. The editor can be used further; tables that it returned stay unchanged. */
  done(): RouteTable<T>
}

export const emptyTable = <T>(): RouteTable<T> => ({
  hosts: undefined,
  sets: undefined,
  cache: new HostCache(),
})

/**
 * Starts a batch of changes on `table`.
 * @example
 * const editor = edit(table)
 * editor.put(set)
 * const next = editor.done()
 */
export function edit<T>(table: RouteTable<T>): TableEditor<T> {
  const draft: Draft<T> = { owner: Symbol('batch'), hosts: table.hosts, sets: table.sets }
  let latest = table
  return {
    put(set) {
      takeOut(draft, set.id)
      draft.sets = put(draft.sets, set.id, set, draft.owner)
      bringIn(draft, set)
    },
    remove(id) {
      takeOut(draft, id)
    },
    done() {
      if (draft.sets === latest.sets && draft.hosts === latest.hosts) return latest
      latest = { hosts: draft.hosts, sets: draft.sets, cache: new HostCache() }
      draft.owner = Symbol('batch')
      return latest
    },
  }
}

interface Draft<T> {
  owner: Owner
  hosts: TrieNode<HostRoutes<T>> | undefined
  sets: PersistentMap<RouteSet<T>> | undefined
}

function takeOut<T>(draft: Draft<T>, id: string): void {
  const set = draft.sets?.get(id)
  if (set === undefined) return
  draft.sets = draft.sets?.remove(id, draft.owner)
  editHosts(draft, set, (before) => {
    if (before === undefined || before.isOnly(id)) return undefined
    let paths = candidateTrie(before, draft.owner)
    for (const { patterns } of set.routes)
      for (const pattern of patterns)
        paths = editTrie(paths, placeOf(pattern), {
          owner: draft.owner,
          apply: (leaf) => {
            const others = candidatesOf(leaf).filter((candidate) => candidate.id !== id)
            return others.length === 0 ? undefined : others
          },
        })
    return paths && new HostRoutes(paths, [])
  })
}

function bringIn<T>(draft: Draft<T>, set: RouteSet<T>): void {
  editHosts(draft, set, (before, host) => {
    if (before === undefined) return loneRoutes(set, host, draft.sets)
    let paths = candidateTrie(before, draft.owner)
    for (const { target, patterns } of set.routes)
      for (const pattern of patterns) {
        const candidate: Candidate<T> = { target, id: set.id, pattern, host }
        paths = editTrie(paths, placeOf(pattern), {
          owner: draft.owner,
          apply: (leaf) =>
            leaf === undefined
              ? [candidate]
              : inOrder([...candidatesOf(leaf), candidate], draft.sets),
        })
      }
    return paths && new HostRoutes(paths, [])
  })
}

function editHosts<T>(
  draft: Draft<T>,
  set: RouteSet<T>,
  change: (before: HostRoutes<T> | undefined, host: HostPattern) => HostRoutes<T> | undefined,
): void {
  for (const host of set.hosts)
    draft.hosts = editTrie(
      draft.hosts,
      { steps: host.labels.toReversed(), tail: host.tail },
      { owner: draft.owner, apply: (before) => change(before, host) },
    )
}
