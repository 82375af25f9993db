// Reads from a realm record the facts that a document is validated against, the same for the operator that validates
// and the gateway that serves. Never a secret among them.

import type { RealmFacts } from './environment.ts'
import { credentialFactsOf } from './credentials.ts'
import type { RealmRecord } from './record.ts'
import { signatureFactsOf } from './signatures.ts'
import { webSocketUrls } from './router-urls.ts'
import { CLIENT_GROUP } from './token-flows.ts'

/** @example factsOf({ uri: 'com.acme', authmethods: ['oidcrp', 'cookie'] }).authmethods */
export const factsOf = (realm: RealmRecord): RealmFacts => ({
  authmethods: realm.authmethods ?? [],
  oidcProviders: Object.keys(realm.info?.oidc_providers ?? {}),
  hasIssuers: (realm.trusted_issuers ?? []).length > 0,
  ...(realm.oauth2?.grants !== undefined && { grants: realm.oauth2.grants }),
  hasUsers: (realm.users ?? []).length > 0,
  hasApiKeys: (realm.api_keys ?? []).length > 0,
  signatures: signatureFactsOf(realm),
  hasClients: (realm.users ?? []).some(({ groups = [] }) => groups.includes(CLIENT_GROUP)),
  hasRouter: realm.router !== undefined,
  hasWebSocket: webSocketUrls(realm.router).length > 0,
  hasSigningKeys: (realm.signing_keys ?? []).length > 0,
  credentials: credentialFactsOf(realm),
})
