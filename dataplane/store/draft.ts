// Collects a change on top of the holdings: lookups see the result, but the holdings do not change until `commit`.
// Only the conflict index is changed immediately; `rollback` restores it.

import type { ConflictIndex } from '../../language/routes/conflicts.ts'
import { type HeldDocument, type HeldRealm, type Holdings, rankOf } from './holdings.ts'
import type { PackedDocument } from './packed-document.ts'
import type { ServingChange } from './serving.ts'

type Clashes = ReturnType<ConflictIndex['conflictsOf']>

/** What a change does to each key: the new entry, or null if it is removed. */
export interface Changes {
  readonly documents: ReadonlyMap<string, HeldDocument | null>
  readonly realms: ReadonlyMap<string, HeldRealm | null>
}

export class Draft implements Changes {
  readonly documents = new Map<string, HeldDocument | null>()
  readonly realms = new Map<string, HeldRealm | null>()
  readonly #packed = new Map<string, PackedDocument>()
  readonly #holdings: Holdings
  readonly #index: ConflictIndex

  constructor(holdings: Holdings, index: ConflictIndex) {
    this.#holdings = holdings
    this.#index = index
  }

  document(id: string): HeldDocument | undefined {
    const changed = this.documents.get(id)
    return changed === undefined ? this.#holdings.documents.get(id) : (changed ?? undefined)
  }

  realm(uri: string): HeldRealm | undefined {
    const changed = this.realms.get(uri)
    return changed === undefined ? this.#holdings.realms.get(uri) : (changed ?? undefined)
  }

  get isEmpty(): boolean {
    return this.documents.size === 0 && this.realms.size === 0
  }

  /** The conflicts that a document with these claims would lose. Nothing is changed. */
  clashesOf(candidate: HeldDocument): Clashes {
    this.#claim(candidate.id, candidate)
    const clashes = this.#index.conflictsOf(candidate.id)
    this.#claim(candidate.id, this.document(candidate.id))
    return clashes
  }

  /** The conflicts that a document of the result loses. */
  clashes(id: string): Clashes {
    return this.#index.conflictsOf(id)
  }

  putDocument(document: HeldDocument, packed: PackedDocument): void {
    this.#claim(document.id, document)
    this.documents.set(document.id, document)
    this.#packed.set(document.id, { ...packed, digest: document.digest })
  }

  removeDocument(id: string): void {
    this.#claim(id, undefined)
    this.#packed.delete(id)
    if (this.#holdings.documents.has(id)) this.documents.set(id, null)
    else this.documents.delete(id)
  }

  putRealm(realm: HeldRealm): void {
    this.realms.set(realm.uri, realm)
  }

  removeRealm(uri: string): void {
    if (this.#holdings.realms.has(uri)) this.realms.set(uri, null)
    else this.realms.delete(uri)
  }

  /** What changes for serving processes once this is committed. */
  get servingChange(): ServingChange {
    const realms = [...this.realms]
    return {
      put: [...this.#packed.values()],
      remove: [...this.documents].flatMap(([id, document]) => (document === null ? [id] : [])),
      realms: {
        put: realms.flatMap(([, realm]) => (realm === null ? [] : [realm.record])),
        delete: realms.flatMap(([uri, realm]) => (realm === null ? [uri] : [])),
      },
    }
  }

  commit(): void {
    applyTo(this.#holdings.documents, this.documents)
    applyTo(this.#holdings.realms, this.realms)
  }

  rollback(): void {
    for (const id of this.documents.keys()) this.#claim(id, this.#holdings.documents.get(id))
    this.documents.clear()
    this.realms.clear()
    this.#packed.clear()
  }

  #claim(id: string, document: HeldDocument | undefined): void {
    if (document === undefined) this.#index.remove(id)
    else this.#index.put(claimantOf(document))
  }
}

const claimantOf = ({
  id,
  managedBy,
  since,
  claims,
}: HeldDocument): Parameters<ConflictIndex['put']>[0] => ({
  id,
  rank: rankOf(managedBy),
  since,
  claims,
})

const applyTo = <T>(held: Map<string, T>, changes: ReadonlyMap<string, T | null>): void => {
  for (const [key, entry] of changes)
    if (entry === null) held.delete(key)
    else held.set(key, entry)
}
