// Collects a change on top of what is loaded: lookups see the result, but what is loaded does not change until `commit`.
// Only the conflict index is changed immediately; `rollback` restores it.

import type { ConflictIndex } from '../../../language/compile/conflicts.ts'
import type { Changes, LoadedContent, LoadedDocument, LoadedRealm } from '../loaded-content.ts'
import type { PackedDocument } from '../packed/packed-document.ts'
import type { ServingChange } from '../serving.ts'

type Conflicts = ReturnType<ConflictIndex['conflictsOf']>

export class Draft implements Changes {
  readonly documents = new Map<string, LoadedDocument | null>()
  readonly realms = new Map<string, LoadedRealm | null>()
  /** Ids of documents that may have lost routes to those that were put, or won them. */
  readonly concerned = new Set<string>()
  readonly #packed = new Map<string, PackedDocument>()
  readonly #loadedContent: LoadedContent
  readonly #index: ConflictIndex

  constructor(loadedContent: LoadedContent, index: ConflictIndex) {
    this.#loadedContent = loadedContent
    this.#index = index
  }

  document(id: string): LoadedDocument | undefined {
    const changed = this.documents.get(id)
    return changed === undefined ? this.#loadedContent.documents.get(id) : (changed ?? undefined)
  }

  realm(uri: string): LoadedRealm | undefined {
    const changed = this.realms.get(uri)
    return changed === undefined ? this.#loadedContent.realms.get(uri) : (changed ?? undefined)
  }

  get isEmpty(): boolean {
    return this.documents.size === 0 && this.realms.size === 0
  }

  /** The conflicts that a document with these claims would lose. Nothing is changed. */
  conflictsOf(candidate: LoadedDocument): Conflicts {
    this.#claim(candidate.id, candidate)
    const conflictsOfId = this.#index.conflictsOf(candidate.id)
    this.#claim(candidate.id, this.document(candidate.id))
    return conflictsOfId
  }

  /** The conflicts that a document of the result loses. */
  conflictsOfId(id: string): Conflicts {
    return this.#index.conflictsOf(id)
  }

  putDocument(document: LoadedDocument, packed: PackedDocument): void {
    for (const id of this.#index.affectedBy(document.id)) this.concerned.add(id)
    this.#claim(document.id, document)
    for (const id of this.#index.affectedBy(document.id)) this.concerned.add(id)
    this.documents.set(document.id, document)
    this.#packed.set(document.id, { ...packed, digest: document.digest })
  }

  removeDocument(id: string): void {
    this.#claim(id, undefined)
    this.#packed.delete(id)
    if (this.#loadedContent.documents.has(id)) this.documents.set(id, null)
    else this.documents.delete(id)
  }

  putRealm(realm: LoadedRealm): void {
    this.realms.set(realm.uri, realm)
  }

  removeRealm(uri: string): void {
    if (this.#loadedContent.realms.has(uri)) this.realms.set(uri, null)
    else this.realms.delete(uri)
  }

  /** What changes for serving processes once this is committed. */
  servingChange(): ServingChange {
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
    this.#loadedContent.apply(this)
  }

  rollback(): void {
    for (const id of this.documents.keys()) this.#claim(id, this.#loadedContent.documents.get(id))
    this.documents.clear()
    this.realms.clear()
    this.#packed.clear()
  }

  #claim(id: string, document: LoadedDocument | undefined): void {
    if (document === undefined) this.#index.remove(id)
    else this.#index.put(document)
  }
}
