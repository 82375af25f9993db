// Provides the realm facts for compiling a document that was already accepted earlier, by this gateway or by the
// operator.

import type { RealmFacts } from '../../language/realm/environment.ts'
import { factsOf } from '../../language/realm/facts.ts'
import type { RealmRecord } from '../../language/realm/record.ts'

/**
 * Facts for a document that was accepted once and comes back from the snapshot, or from the operator: its realm may
 * have been deleted or changed since, and that never unloads a document (behaviour §7).
 */
export const lenientFactsOf = (realm: RealmRecord | undefined): RealmFacts => {
  const facts = realm === undefined ? { authmethods: [], oidcProviders: [] } : factsOf(realm)
  const authmethods = [...new Set([...facts.authmethods, 'oidcrp', 'cookie'])]
  return { ...facts, authmethods, credentials: undefined }
}
