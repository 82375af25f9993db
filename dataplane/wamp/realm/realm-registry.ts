// Keeps the registry of realms with their records and the number of documents that use each, and returns the realms
// that a change touches. It removes a realm that has neither a record nor a document, and opens no connection.

import { RealmBridge, type RealmDeps } from './realm-bridge.ts'
import type { BridgeChange } from './wamp-client.ts'

export class RealmRegistry {
  readonly #deps: RealmDeps
  readonly #realms = new Map<string, RealmBridge>()
  /** Document id → the realm that it uses. */
  readonly #uses = new Map<string, string>()

  constructor(deps: RealmDeps) {
    this.#deps = deps
  }

  /** An unknown realm gets a bridge without a record, which is not stored: its operations fail with the reason. */
  find(uri: string): RealmBridge {
    return this.#realms.get(uri) ?? new RealmBridge(uri, this.#deps)
  }

  all(): readonly RealmBridge[] {
    return [...this.#realms.values()]
  }

  /** Applies the whole change before the caller acts on it: a document may move, a realm come back. */
  apply({ put, remove, realms }: BridgeChange): ReadonlySet<RealmBridge> {
    const touched = new Set<RealmBridge>()
    for (const id of remove) this.#use(id, undefined, touched)
    for (const record of realms.put) this.#findOrCreate(record.uri, touched).record = record
    for (const { id, realmUri, versions } of put)
      this.#use(id, versions.length === 0 ? undefined : realmUri, touched)
    for (const uri of realms.delete) this.#findOrCreate(uri, touched).record = undefined
    for (const realm of touched) if (realm.isIdle) this.#realms.delete(realm.uri)
    return touched
  }

  #use(id: string, realmUri: string | undefined, touched: Set<RealmBridge>): void {
    const before = this.#uses.get(id)
    if (before === realmUri) return
    if (before !== undefined) this.#findOrCreate(before, touched).documents--
    if (realmUri === undefined) {
      this.#uses.delete(id)
      return
    }
    this.#uses.set(id, realmUri)
    this.#findOrCreate(realmUri, touched).documents++
  }

  #findOrCreate(uri: string, touched: Set<RealmBridge>): RealmBridge {
    const realm = this.find(uri)
    this.#realms.set(uri, realm)
    touched.add(realm)
    return realm
  }
}
