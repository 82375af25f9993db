// Keeps the valid realm records by uri, for security, WAMP and OIDC. It never validates, does no I/O, and never
// passes a record to code that only asks for facts.

import type { RealmRecord } from '../../language/realm/record.ts'

const DEFAULT_CALL_TIMEOUT_MS = 30_000

/**
 * The realms that this process serves. Records hold secrets: what leaves the process goes through
 * `redacted` (language/realm/redact.ts).
 * @example
 * const realms = new RealmRegistry()
 * realms.put({ uri: 'com.acme', call_timeout: 5000 })
 * realms.callTimeoutMs('com.acme') // 5000
 */
export class RealmRegistry {
  readonly #records = new Map<string, RealmRecord>()

  /** Adds or replaces; takes effect with the next lookup. */
  put(record: RealmRecord): void {
    this.#records.set(record.uri, record)
  }

  delete(uri: string): void {
    this.#records.delete(uri)
  }

  get(uri: string): RealmRecord | undefined {
    return this.#records.get(uri)
  }

  uris(): IterableIterator<string> {
    return this.#records.keys()
  }

  /** The call timeout of a realm in milliseconds; 30 000 if it sets none, or does not exist. */
  callTimeoutMs(uri: string): number {
    return this.#records.get(uri)?.call_timeout ?? DEFAULT_CALL_TIMEOUT_MS
  }
}
