// Copies the public part of a realm record, for reading it back (behaviour §7). It copies only what it knows to be
// public, so that a property added later is not shown until it is listed here.

import type {
  ApiKeyRecord,
  OidcProviderRecord,
  RealmRecord,
  RouterRecord,
  TrustedIssuerRecord,
  UserRecord,
} from '../../language/realm/record.ts'

type PublicProvider = Partial<Omit<OidcProviderRecord, 'client_secret'>>

export type RedactedRealm = Partial<
  Pick<
    RealmRecord,
    | 'description'
    | 'authmethods'
    | 'call_timeout'
    | 'groups'
    | 'callback_origins'
    | 'allowed_origins'
    | 'oauth2'
  >
> & {
  readonly uri: string
  readonly router?: Partial<RouterRecord>
  readonly users?: readonly Omit<UserRecord, 'password_hash'>[]
  readonly api_keys?: readonly Omit<ApiKeyRecord, 'key_sha256'>[]
  readonly trusted_issuers?: readonly Partial<TrustedIssuerRecord>[]
  readonly info?: { readonly oidc_providers?: Readonly<Record<string, PublicProvider>> }
}

/**
 * Left out: password hashes, key hashes, router and client secrets, signing keys, the callback secret,
 * and user names, passwords and queries inside router URLs.
 * @example redacted({ uri: 'a.b', callback_secret: 's' }) // { uri: 'a.b' }
 */
export const redacted = (realm: RealmRecord): RedactedRealm => {
  const { router, users, api_keys: apiKeys, trusted_issuers: issuers, info } = realm
  return {
    uri: realm.uri,
    ...pick(realm, [
      'description',
      'authmethods',
      'call_timeout',
      'groups',
      'callback_origins',
      'allowed_origins',
      'oauth2',
    ]),
    ...(router && { router: redactedRouter(router) }),
    ...(users && { users: users.map((user) => pick(user, ['username', 'groups', 'meta'])) }),
    ...(apiKeys && { api_keys: apiKeys.map((key) => pick(key, ['username'])) }),
    ...(issuers && { trusted_issuers: issuers.map((issuer) => pick(issuer, ISSUER_KEYS)) }),
    ...(info && { info: redactedInfo(info) }),
  }
}

/**
 * JSON pointers to what `redacted` leaves out of a realm: which secrets there are, without their values.
 * @example secretPointers({ uri: 'a.b', callback_secret: 's' }) // ['/callback_secret']
 */
export const secretPointers = (realm: RealmRecord): readonly string[] => {
  const { router, users = [], api_keys: apiKeys = [], info, signing_keys: keys = [] } = realm
  const providers = Object.keys(info?.oidc_providers ?? {})
  return [
    ...(router === undefined ? [] : routerSecrets(router)),
    ...users.flatMap(({ password_hash: hash }, i) =>
      hash === undefined ? [] : [`/users/${i}/password_hash`],
    ),
    ...apiKeys.map((_, i) => `/api_keys/${i}/key_sha256`),
    ...(realm.callback_secret === undefined ? [] : ['/callback_secret']),
    ...providers.map((name) => `/info/oidc_providers/${escapeToken(name)}/client_secret`),
    ...keys.map((_, i) => `/signing_keys/${i}`),
  ]
}

const routerSecrets = ({ url, urls = [], auth }: RouterRecord): readonly string[] => [
  ...(url === undefined || withoutSecrets(url) === url ? [] : ['/router/url']),
  ...urls.flatMap((each, i) => (withoutSecrets(each) === each ? [] : [`/router/urls/${i}`])),
  ...(auth?.secret === undefined ? [] : ['/router/auth/secret']),
]

const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')

const ISSUER_KEYS = ['issuer', 'jwks_uri', 'audience', 'algorithms', 'require_typ'] as const

const PROVIDER_KEYS = [
  'issuer',
  'client_id',
  'redirect_uri',
  'scopes',
  'authid_claim',
  'role_claim',
  'role_claim_fallback',
  'role_mapping',
  'ticket_expiry_secs',
  'allow_unsafe_http',
  'cookie_domain',
  'cookie_same_site',
  'cookie_http_only',
  'allowed_redirect_origins',
  'end_session_endpoint',
  'token_endpoint_auth_method',
  'ca',
] as const satisfies readonly (keyof OidcProviderRecord)[]

const redactedRouter = (router: RouterRecord): Partial<RouterRecord> => ({
  ...(router.url !== undefined && { url: withoutSecrets(router.url) }),
  ...(router.urls && { urls: router.urls.map(withoutSecrets) }),
  ...pick(router, ['serializers', 'pool', 'keepalive', 'call_timeout_unit']),
  ...(router.auth && { auth: pick(router.auth, ['method', 'authid']) }),
})

const redactedInfo = (info: NonNullable<RealmRecord['info']>): RedactedRealm['info'] & object =>
  info.oidc_providers === undefined
    ? {}
    : {
        oidc_providers: Object.fromEntries(
          Object.entries(info.oidc_providers).map(([name, provider]) => [
            name,
            pick(provider, PROVIDER_KEYS),
          ]),
        ),
      }

/** User info (up to the last `@` of the authority) and query, which may be a token; also from a text that is no URL. */
const withoutSecrets = (url: string): string =>
  url.replace(/^([^/]*\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, '')

const pick = <T extends object, K extends keyof T & string>(
  record: T,
  keys: readonly K[],
): Pick<T, K> => {
  const entries = keys.flatMap((key) =>
    Object.hasOwn(record, key) && record[key] !== undefined ? [[key, record[key]] as const] : [],
  )
  return Object.fromEntries(entries) as Pick<T, K>
}
