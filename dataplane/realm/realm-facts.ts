// A realm record in, the facts a document is judged against out. Never a secret among them.

import type { RealmFacts } from '../../spec/environment.ts'
import type { RealmRecord } from '../../spec/realm-record.ts'

/** @example factsOf({ uri: 'com.acme', authmethods: ['oidcrp', 'cookie'] }).authmethods */
export const factsOf = (realm: RealmRecord): RealmFacts => ({
  authmethods: realm.authmethods ?? [],
  oidcProviders: Object.keys(realm.info?.oidc_providers ?? {}),
})

/**
 * Facts for a document that was accepted once and comes back from the snapshot: its realm may have been
 * deleted or changed since, and that never unloads a document (behaviour §7).
 */
export const lenientFactsOf = (realm: RealmRecord | undefined): RealmFacts => {
  const facts = realm === undefined ? { authmethods: [], oidcProviders: [] } : factsOf(realm)
  return {
    authmethods: [...new Set([...facts.authmethods, 'oidcrp', 'cookie'])],
    oidcProviders: facts.oidcProviders,
  }
}
