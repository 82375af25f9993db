// Names the types of a realm record of the management API (behaviour §7, snake_case), which follow from its schema. Both
// programs use them: the operator makes it from Realm resources, the data plane validates and stores it.

import type {
  API_KEY_SCHEMA,
  TRUSTED_ISSUER_SCHEMA,
  USER_SCHEMA,
} from '../schema/caller-schemas.ts'
import type { CREDENTIAL_SCHEMA } from '../schema/credential-schema.ts'
import type { OIDC_PROVIDER_SCHEMA } from '../schema/oidc-provider-schema.ts'
import type { TypeOf } from '../schema/realm-notation.ts'
import type { RealmSchema } from '../schema/realm-schema.ts'
import type { ROUTER_SCHEMA } from '../schema/router-schema.ts'
import type { SIGNATURE_SCHEMA } from '../schema/signature-schema.ts'

export type RealmRecord = TypeOf<RealmSchema>
export type RouterRecord = TypeOf<typeof ROUTER_SCHEMA>
export type UserRecord = TypeOf<typeof USER_SCHEMA>
export type ApiKeyRecord = TypeOf<typeof API_KEY_SCHEMA>
export type TrustedIssuerRecord = TypeOf<typeof TRUSTED_ISSUER_SCHEMA>
/** behaviour §6, *Provider entry*. */
export type OidcProviderRecord = TypeOf<typeof OIDC_PROVIDER_SCHEMA>
/** behaviour §6, *Signed requests*. */
export type SignatureRecord = TypeOf<typeof SIGNATURE_SCHEMA>
/** behaviour §7, *Credentials*. */
export type CredentialRecord = TypeOf<typeof CREDENTIAL_SCHEMA>
