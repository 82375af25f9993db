// A realm record in, the facts a document is judged against out: the same for the operator that judges and
// the gateway that serves. Never a secret among them.

import type { RealmFacts } from '../environment.ts'
import type { RealmRecord } from './record.ts'

/** @example factsOf({ uri: 'com.acme', authmethods: ['oidcrp', 'cookie'] }).authmethods */
export const factsOf = (realm: RealmRecord): RealmFacts => ({
  authmethods: realm.authmethods ?? [],
  oidcProviders: Object.keys(realm.info?.oidc_providers ?? {}),
  hasIssuers: (realm.trusted_issuers ?? []).length > 0,
  hasKeys: (realm.signing_keys ?? []).length > 0,
})
