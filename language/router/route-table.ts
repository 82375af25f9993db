// Builds an immutable table, host → path → candidates, from the routes of documents. A change copies only the nodes
// on its path, and earlier tables stay as they were. It does not decide conflicts.

import { createHostCache, type HostCache } from './host-lookup.ts'
import { put, type Owner, type PersistentMap } from './persistent-map.ts'
import { inOrder } from './precedence.ts'
import type { Candidate, RouteSet } from './route.ts'
import { editTrie, type Place, type TrieNode } from './trie.ts'

/** The routes that end at one place of the path trie, in order of precedence. Never empty. */
export type Candidates<T> = readonly Candidate<T>[]

export interface RouteTable<T> {
  /** Labels from the right: `com`, `acme`, `www`. */
  readonly hosts: TrieNode<TrieNode<Candidates<T>>> | undefined
  readonly sets: PersistentMap<RouteSet<T>> | undefined
  /** The hosts looked up since this table was made; a new table has a new cache. */
  readonly cache: HostCache<TrieNode<Candidates<T>>>
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
  cache: createHostCache(),
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
      latest = { hosts: draft.hosts, sets: draft.sets, cache: createHostCache() }
      draft.owner = Symbol('batch')
      return latest
    },
  }
}

interface Draft<T> {
  owner: Owner
  hosts: TrieNode<TrieNode<Candidates<T>>> | undefined
  sets: PersistentMap<RouteSet<T>> | undefined
}

function takeOut<T>(draft: Draft<T>, id: string): void {
  const set = draft.sets?.get(id)
  if (set === undefined) return
  draft.sets = draft.sets?.remove(id, draft.owner)
  editPlaces(draft, set, (before) => {
    const others = before?.filter((candidate) => candidate.id !== id)
    return others?.length === 0 ? undefined : others
  })
}

function bringIn<T>(draft: Draft<T>, set: RouteSet<T>): void {
  editPlaces(draft, set, (before, candidate) => {
    if (before === undefined) return [candidate]
    return inOrder([...before, candidate], draft.sets)
  })
}

type PlaceChange<T> = (
  before: Candidates<T> | undefined,
  candidate: Candidate<T>,
) => Candidates<T> | undefined

/** Every place of `set` is visited, once for each candidate it has or will have there. */
function editPlaces<T>(draft: Draft<T>, set: RouteSet<T>, change: PlaceChange<T>): void {
  const { owner } = draft
  for (const host of set.hosts) {
    const place: Place = { steps: host.labels.toReversed(), tail: host.tail }
    draft.hosts = editTrie(draft.hosts, place, {
      owner,
      apply(before) {
        let paths = before
        for (const { target, patterns } of set.routes) {
          for (const pattern of patterns) {
            const candidate: Candidate<T> = { target, id: set.id, pattern, host }
            paths = editTrie(
              paths,
              { steps: pattern.segments, tail: pattern.tail },
              { owner, apply: (candidates) => change(candidates, candidate) },
            )
          }
        }
        return paths
      },
    })
  }
}
