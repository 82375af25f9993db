// Stores what is loaded as data: documents and realms by key, and their owner. It decides nothing.

import { type LoadedEntry, rootDigest } from '../../language/wire/digest.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Compact } from './packed/compact.ts'
import type { Warning } from '../../language/problem.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { Claims, Forwards } from './change/validate-document.ts'

/** A loaded document: the last version of its id that was accepted. */
export interface LoadedDocument extends MaybeNewer {
  readonly id: string
  readonly digest: string
  /** Unix time, milliseconds: the age that decides conflicts. A replacement by hand keeps it. */
  readonly since: number
  /** null: loaded by hand. */
  readonly managedBy: string | null
  /** `rankOf` its owner, which decides conflicts before its age. */
  readonly rank: number
  /** Unix time of the load, milliseconds. */
  readonly ts: number
  readonly warnings: readonly Warning[]
  /** `namespace/name` of the resource that an operator has it from. */
  readonly resource?: string
  /** Canonical JSON of what was submitted, without `variables` from Secrets. */
  readonly source: Compact
  /** From Secrets; never read back. */
  readonly variables?: ValueMap
  /** Namespace that its requests may not leave for another one of the cluster. */
  readonly confinedTo?: string
  /** Credentials of its realm that an operator lets it use. */
  readonly credentials?: readonly string[]
  readonly claims: Claims
  readonly forwards: Forwards
}

/** What this version has understood of an entry of a newer operator. */
interface MaybeNewer {
  /** JSON pointers to policies: another version must understand them to take the entry from a snapshot. */
  readonly critical?: readonly string[]
  /** Members were ignored. A snapshot stores the entry without its digest, so that a newer version is sent it again. */
  readonly isPartial?: boolean
}

export interface LoadedRealm extends MaybeNewer {
  readonly uri: string
  readonly digest: string
  readonly managedBy: string | null
  readonly record: RealmRecord
}

/** The owner of the gateway, and the state of its syncs. */
export interface Ownership {
  readonly manager: string | null
  readonly epoch: number
  /** A sync call with a matching `complete` was accepted; from a snapshot: in the boot that wrote it. */
  readonly complete: boolean
}

/** What a change does to each key: the new entry, or null if it is removed. */
export interface Changes {
  readonly documents: ReadonlyMap<string, LoadedDocument | null>
  readonly realms: ReadonlyMap<string, LoadedRealm | null>
}

export class LoadedContent {
  readonly #documents = new Map<string, LoadedDocument>()
  readonly #realms = new Map<string, LoadedRealm>()
  /** Each sync call asks for it twice, and it takes 1 ms for 5,000 entries. */
  #root: { readonly manager: string | null; readonly digest: string } | undefined

  get documents(): ReadonlyMap<string, LoadedDocument> {
    return this.#documents
  }

  get realms(): ReadonlyMap<string, LoadedRealm> {
    return this.#realms
  }

  apply({ documents, realms }: Changes): void {
    this.#root = undefined
    applyTo(this.#documents, documents)
    applyTo(this.#realms, realms)
  }

  /** The entries that `manager` has put, as lines of the root digest. */
  entriesOf(manager: string | null): readonly LoadedEntry[] {
    const entries: LoadedEntry[] = []
    if (manager === null) return entries
    for (const { uri, digest, managedBy } of this.realms.values())
      if (managedBy === manager) entries.push({ kind: 'realm', key: uri, digest })
    for (const { id, digest, managedBy } of this.documents.values())
      if (managedBy === manager) entries.push({ kind: 'spec', key: id, digest })
    return entries
  }

  rootDigest(manager: string | null): string {
    if (this.#root?.manager !== manager)
      this.#root = { manager, digest: rootDigest(this.entriesOf(manager)) }
    return this.#root.digest
  }
}

const applyTo = <T>(held: Map<string, T>, changes: ReadonlyMap<string, T | null>): void => {
  for (const [key, entry] of changes)
    if (entry === null) held.delete(key)
    else held.set(key, entry)
}

/** Managed documents win every conflict with those loaded by hand (architecture, *One owner*). */
export const rankOf = (managedBy: string | null): number => (managedBy === null ? 1 : 0)
