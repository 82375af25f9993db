// Defines the realm record of the management API (behaviour §7, snake_case), for both programs: the operator makes it
// from Realm resources, the data plane validates and stores it.

import type { ValueMap } from '../expression/value.ts'

export interface RealmRecord {
  readonly uri: string
  readonly description?: string
  readonly authmethods?: readonly string[]
  readonly router?: RouterRecord
  /** Milliseconds; 30 000 when absent. */
  readonly call_timeout?: number
  readonly users?: readonly UserRecord[]
  readonly groups?: readonly string[]
  readonly api_keys?: readonly ApiKeyRecord[]
  readonly trusted_issuers?: readonly TrustedIssuerRecord[]
  readonly callback_origins?: readonly string[]
  readonly callback_secret?: string
  readonly allowed_origins?: readonly string[]
  readonly oauth2?: { readonly grants?: readonly string[] }
  readonly info?: { readonly oidc_providers?: Readonly<Record<string, OidcProviderRecord>> }
  /** Private JWK or PEM; the first signs, all verify. */
  readonly signing_keys?: readonly (string | ValueMap)[]
}

export interface RouterRecord {
  readonly url?: string
  readonly urls?: readonly string[]
  readonly serializers?: readonly ('json' | 'msgpack' | 'cbor')[]
  readonly auth?: {
    readonly method: 'anonymous' | 'ticket' | 'wampcra' | 'cryptosign'
    readonly authid?: string
    readonly secret?: string
  }
  readonly pool?: number
  readonly keepalive?: number
  readonly call_timeout_unit?: 'ms' | 's'
}

export interface UserRecord {
  readonly username: string
  readonly password_hash?: string
  readonly groups?: readonly string[]
  readonly meta?: ValueMap
}

export interface ApiKeyRecord {
  /** Lower-case hex of the SHA-256 of the whole header value. */
  readonly key_sha256: string
  readonly username: string
}

export interface TrustedIssuerRecord {
  readonly issuer: string
  readonly jwks_uri: string
  readonly audience: string
  readonly algorithms?: readonly string[]
  /** `typ` of the header; `JWT`, `at+jwt` or none when absent. */
  readonly require_typ?: string
}

/** behaviour §6, *Provider entry*. */
export interface OidcProviderRecord {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  readonly redirect_uri: string
  readonly scopes?: readonly string[]
  readonly authid_claim?: string
  readonly role_claim?: string
  readonly role_claim_fallback?: string
  readonly role_mapping?: Readonly<Record<string, string>>
  readonly ticket_expiry_secs?: number
  readonly allow_unsafe_http?: boolean
  readonly cookie_domain?: string
  readonly cookie_same_site?: 'lax' | 'strict' | 'none'
  readonly cookie_http_only?: boolean
  readonly allowed_redirect_origins?: readonly string[]
  readonly end_session_endpoint?: string
  readonly token_endpoint_auth_method?:
    'client_secret_basic' | 'client_secret_post' | 'client_secret_jwt' | 'none'
  readonly ca?: string
}
