// Warns of what a valid realm record holds and can never work: nothing is rejected for it, as the rest of the realm works.

import { childPointer } from '../../base/json-pointer.ts'
import type { Warning } from '../problem.ts'
import type { OidcProviderRecord, RealmRecord } from './record.ts'

/** @param realm a valid record, but for its secrets */
export const warnOfRealm = (realm: RealmRecord): readonly Warning[] => [
  ...Object.entries(realm.info?.oidc_providers ?? {}).flatMap(([name, provider]) => {
    const pointer = childPointer('/info/oidc_providers', name)
    return [
      ...warnOfIssuer(provider, pointer),
      ...warnOfRedirect(provider, pointer, name),
      ...warnOfStrictCookie(provider, pointer),
    ]
  }),
  ...warnOfUsers(realm),
  ...warnOfApiKeys(realm),
  ...warnOfKeySets(realm),
]

/** The first of them counts. */
const warnOfUsers = ({ users = [] }: RealmRecord): readonly Warning[] => {
  const seen = new Set<string>()
  return users.flatMap(({ username }, index): readonly Warning[] => {
    if (!seen.has(username)) {
      seen.add(username)
      return []
    }
    const message =
      'a user of this name stands above, and that one counts: put their groups together, or rename one'
    return [{ code: 'UnsuitableValue', path: `/users/${index}/username`, message }]
  })
}

/** A realm without users has keys that are in no group on purpose. */
const warnOfApiKeys = ({ users = [], api_keys: keys = [] }: RealmRecord): readonly Warning[] => {
  if (users.length === 0) return []
  const known = new Set(users.map(({ username }) => username))
  return keys.flatMap(({ username }, index): readonly Warning[] =>
    known.has(username)
      ? []
      : [{ code: 'UnsuitableValue', path: `/api_keys/${index}/username`, message: NO_SUCH_USER }],
  )
}

const NO_SUCH_USER =
  'no user of the realm has this name, so that who sends this key is in no group: correct the name, or add the user to users'

const warnOfKeySets = ({ trusted_issuers: issuers = [] }: RealmRecord): readonly Warning[] =>
  issuers.flatMap(({ jwks_uri: url }, index): readonly Warning[] =>
    /^http:/i.test(url)
      ? [
          {
            code: 'UnsuitableValue',
            path: `/trusted_issuers/${index}/jwks_uri`,
            message: PLAIN_KEYS,
          },
        ]
      : [],
  )

const PLAIN_KEYS =
  'who can change what comes over plain http gives keys of their own, and signs tokens that count here: write https://…'

const warnOfIssuer = (provider: OidcProviderRecord, pointer: string): readonly Warning[] =>
  provider.allow_unsafe_http === true
    ? []
    : ENDPOINTS.filter((name) => /^http:/i.test(addressOf(provider, name))).map((name) => ({
        code: 'AlwaysFails',
        path: childPointer(pointer, name),
        message: `every login at this provider fails, as its ${name} is not https: ${WRITE_HTTPS}`,
      }))

const ENDPOINTS = [
  'issuer',
  'discovery_url',
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
] as const

/** The issuer is a name alone where its metadata are elsewhere. */
const addressOf = (provider: OidcProviderRecord, name: (typeof ENDPOINTS)[number]): string =>
  name === 'issuer' && provider.discovery_url !== undefined ? '' : (provider[name] ?? '')

const WRITE_HTTPS =
  'write https://…, or, to try things out, set allow_unsafe_http (allowUnsafeHttp in a Realm resource)'

/**
 * A browser that comes back from the provider is on its way from another site until a page of ours asks for the next. Which
 * hosts are of one site only a list of public suffixes says: two common labels may be, and one is not.
 */
const warnOfStrictCookie = (
  {
    issuer,
    authorization_endpoint: loginUrl = issuer,
    redirect_uri: redirectUri,
    cookie_same_site: sameSite,
  }: OidcProviderRecord,
  pointer: string,
): readonly Warning[] =>
  sameSite !== 'strict' || mayBeOfOneSite(loginUrl, redirectUri)
    ? []
    : [
        {
          code: 'UnsatisfiedSecurity',
          path: childPointer(pointer, 'cookie_same_site'),
          message: STRICT,
        },
      ]

const STRICT =
  'with strict, a browser does not send the ticket when it comes back from the provider, which is of another site, or by ' +
  'a link of another site: the page is 401 (also with unauthenticated: redirect) until it is opened again. lax is protected by the CSRF value too'

const mayBeOfOneSite = (one: string, other: string): boolean => {
  const [left, right] = [siteOf(one), siteOf(other)]
  return left === undefined || right === undefined || left === right
}

/** Scheme and the last two labels of the host; an address is one label. */
const siteOf = (url: string): string | undefined => {
  const parsed = URL.parse(url)
  if (parsed === null) return undefined
  const { protocol, hostname } = parsed
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
  return `${protocol}//${isAddress ? hostname : hostname.split('.').slice(-2).join('.')}`
}

/** Which hosts and base paths there are only the documents of the realm say: its end is the same below each of them. */
const warnOfRedirect = (
  { redirect_uri: redirectUri }: OidcProviderRecord,
  pointer: string,
  name: string,
): readonly Warning[] => {
  const steps = URL.parse(redirectUri)?.pathname.split('/').slice(-3) ?? []
  const end = ['oidc', encodeURIComponent(name), 'callback']
  if (steps.map(normalise).join('/') === end.join('/')) return []
  const message =
    `a login at this provider comes back to base_path, then /${end.join('/')}, and this URL ends otherwise: ` +
    'the login ends with 404, unless a proxy in front changes the path'
  return [{ code: 'UnsatisfiedSecurity', path: childPointer(pointer, 'redirect_uri'), message }]
}

/** A name may be percent-encoded more than it has to be. */
const normalise = (step: string): string => {
  try {
    return encodeURIComponent(decodeURIComponent(step))
  } catch {
    return step
  }
}
