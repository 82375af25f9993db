// Builds an immutable table, host → path → candidates, from the routes of documents. A change copies only the nodes
// on its path, and earlier tables stay as they were. It does not decide conflicts.

import type { HostPattern } from '../routes/host-pattern.ts'
import { addSet, removeSet } from './edit-host-routes.ts'
import { HostCache } from './host-lookup.ts'
import type { HostRoutes } from './host-routes.ts'
import { put, type Owner, type PersistentMap } from './persistent-map.ts'
import type { RouteSet } from './route.ts'
import { editTrie, type TrieNode } from './trie.ts'

/** @typeParam W what `/ws` of a version leads to */
export interface RouteTable<T, W = unknown> {
  /** Labels from the right: `com`, `acme`, `www`. */
  readonly hosts: TrieNode<HostRoutes<T, W>> | undefined
  readonly sets: PersistentMap<RouteSet<T, W>> | undefined
  /** The hosts looked up since this table was made; a new table has a new cache. */
  readonly cache: HostCache<HostRoutes<T, W>>
}

/** Collects changes; nodes are copied once for all of them. */
export interface TableEditor<T, W = unknown> {
  /** Adds a document, or replaces the one of its id. */
  put(set: RouteSet<T, W>): void
  /** Does nothing when there is no such document. */
  remove(id: string): void
  /** Returns the table as it is now. The editor can be used further; tables that it returned stay unchanged. */
  done(): RouteTable<T, W>
}

export const emptyTable = <T, W = unknown>(): RouteTable<T, W> => ({
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
export function edit<T, W>(table: RouteTable<T, W>): TableEditor<T, W> {
  const draft: Draft<T, W> = { owner: Symbol('batch'), hosts: table.hosts, sets: table.sets }
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

interface Draft<T, W> {
  owner: Owner
  hosts: TrieNode<HostRoutes<T, W>> | undefined
  sets: PersistentMap<RouteSet<T, W>> | undefined
}

function takeOut<T, W>(draft: Draft<T, W>, id: string): void {
  const set = draft.sets?.get(id)
  if (set === undefined) return
  draft.sets = draft.sets?.remove(id, draft.owner)
  editHosts(draft, set, (before, host) => removeSet(before, { set, host }, draft.owner))
}

function bringIn<T, W>(draft: Draft<T, W>, set: RouteSet<T, W>): void {
  const batch = { owner: draft.owner, setOf: (id: string) => draft.sets?.get(id) }
  editHosts(draft, set, (before, host) => addSet(before, { set, host }, batch))
}

function editHosts<T, W>(
  draft: Draft<T, W>,
  set: RouteSet<T, W>,
  change: (before: HostRoutes<T, W> | undefined, host: HostPattern) => HostRoutes<T, W> | undefined,
): void {
  for (const host of set.hosts)
    draft.hosts = editTrie(
      draft.hosts,
      { steps: host.labels.toReversed(), tail: host.tail },
      { owner: draft.owner, apply: (before) => change(before, host) },
    )
}
