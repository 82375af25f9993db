// The spec of a Realm: behaviour §7 in camelCase, and who may use the realm. A field of the realm record
// that is not here does not compile.

import type {
  ApiKeyRecord,
  OidcProviderRecord,
  RealmRecord,
  RouterRecord,
  TrustedIssuerRecord,
  UserRecord,
} from '../../spec/realm-record.ts'
import { type Field, type ObjectShape, type Shape, TEXT, TEXTS } from './shape.ts'

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

type FieldsOf<Entry> = Readonly<Record<Camel<keyof Entry & string>, Field>>

const IN_CLEAR = { type: 'secret', inline: true } satisfies Shape
const BY_REFERENCE = { type: 'secret', inline: false } satisfies Shape
const COUNT = { type: 'integer', minimum: 1 } satisfies Shape
const NATURAL = { type: 'integer', minimum: 0 } satisfies Shape
const SWITCH = { type: 'boolean' } satisfies Shape
const objectOf = (fields: Readonly<Record<string, Field>>): ObjectShape => ({
  type: 'object',
  fields,
})
const listOf = (fields: Readonly<Record<string, Field>>): Shape => ({
  type: 'list',
  of: objectOf(fields),
})
const oneOf = (...values: readonly string[]): Shape => ({ type: 'string', oneOf: values })
const field = (shape: Shape, description: string): Field => ({ shape, description })
const required = (shape: Shape, description: string): Field => ({
  shape,
  description,
  required: true,
})

const ROUTER_AUTH = {
  method: required(oneOf('anonymous', 'ticket', 'wampcra', 'cryptosign'), 'How to join.'),
  authid: field(TEXT, 'User of the router.'),
  secret: field(BY_REFERENCE, 'Its secret or private key.'),
} satisfies FieldsOf<NonNullable<RouterRecord['auth']>>

const ROUTER = {
  url: field(TEXT, 'Its address: ws, wss (WebSocket), rs, rss, unix (RawSocket).'),
  urls: field(TEXTS, 'Several addresses, tried in order after url.'),
  serializers: field(
    { type: 'list', of: oneOf('json', 'msgpack', 'cbor') },
    'Best first; json when absent.',
  ),
  auth: field(objectOf(ROUTER_AUTH), 'How to join the realm; anonymous when absent.'),
  pool: field(COUNT, 'Sessions of each gateway process; 1 when absent.'),
  keepalive: field(
    NATURAL,
    'Longest silence in milliseconds (below 100: seconds); 10000 when absent, 0: any.',
  ),
  callTimeoutUnit: field(
    oneOf('ms', 's'),
    'Unit of the timeout option of this router; not sent when absent.',
  ),
} satisfies FieldsOf<RouterRecord>

const USER = {
  username: required(TEXT, 'Login name.'),
  passwordHash: field(IN_CLEAR, 'PHC string of scrypt.'),
  groups: field(TEXTS, 'Groups of the user.'),
  meta: field({ type: 'open' }, 'Free-form.'),
} satisfies FieldsOf<UserRecord>

const API_KEY = {
  keySha256: required(IN_CLEAR, 'Lower-case hex of the SHA-256 of the whole header value.'),
  username: required(TEXT, 'User that the key stands for.'),
} satisfies FieldsOf<ApiKeyRecord>

const TRUSTED_ISSUER = {
  issuer: required(TEXT, 'Issuer of the tokens.'),
  jwksUri: required(TEXT, 'Where its public keys are.'),
  audience: required(TEXT, 'Audience that tokens must carry.'),
  algorithms: field(TEXTS, 'Signature algorithms allowed.'),
} satisfies FieldsOf<TrustedIssuerRecord>

const OIDC_PROVIDER = {
  issuer: required(TEXT, 'Issuer URL; endpoints are discovered from it.'),
  clientId: required(TEXT, 'Client id at the provider.'),
  clientSecret: required(BY_REFERENCE, 'Client secret.'),
  redirectUri: required(TEXT, 'URL of our callback endpoint.'),
  scopes: field(TEXTS, 'Scopes asked for.'),
  authidClaim: field(TEXT, 'Claim that names the user.'),
  roleClaim: field(TEXT, 'Claim that holds the roles; dots walk.'),
  roleClaimFallback: field(TEXT, 'Used when the role claim is absent.'),
  roleMapping: field({ type: 'map', of: TEXT }, 'Role of the provider to role of ours.'),
  ticketExpirySecs: field(COUNT, 'Life of a ticket.'),
  allowUnsafeHttp: field(SWITCH, 'Accept endpoints without TLS.'),
  cookieDomain: field(TEXT, 'Domain attribute of the cookies.'),
  cookieSameSite: field(oneOf('lax', 'strict', 'none'), 'SameSite attribute of the cookies.'),
  cookieHttpOnly: field(SWITCH, 'HttpOnly on the ticket cookie.'),
  allowedRedirectOrigins: field(TEXTS, 'Origins a login may return to.'),
  endSessionEndpoint: field(TEXT, 'Where a logout goes; discovered when absent.'),
  tokenEndpointAuthMethod: field(TEXT, 'How the gateway authenticates at the provider.'),
  ca: field(TEXT, 'PEM of more CAs.'),
} satisfies FieldsOf<OidcProviderRecord>

const RECORD = {
  uri: required(
    { type: 'string', maxLength: 255 },
    'The realm; the oldest Realm with a uri owns it.',
  ),
  description: field(TEXT, 'For people.'),
  authmethods: field(TEXTS, 'oidc documents need oidcrp and cookie.'),
  router: field(objectOf(ROUTER), 'The WAMP router of the realm.'),
  callTimeout: field(COUNT, 'Milliseconds; 30000 when absent.'),
  users: field(listOf(USER), 'Users for basic and oauth2.'),
  groups: field(TEXTS, 'Groups of the realm.'),
  apiKeys: field(listOf(API_KEY), 'API keys, stored hashed.'),
  trustedIssuers: field(listOf(TRUSTED_ISSUER), 'Issuers whose bearer tokens are accepted.'),
  callbackOrigins: field(TEXTS, 'Origins that registrations and subscriptions may be posted to.'),
  callbackSecret: field(BY_REFERENCE, 'Signs callbacks.'),
  allowedOrigins: field(TEXTS, 'Origins of pages that may open /ws; any when absent.'),
  oauth2: field(
    objectOf({ grants: field(TEXTS, 'Grants allowed.') }),
    'Narrows the token endpoint.',
  ),
  info: field(
    objectOf({
      oidcProviders: field({ type: 'map', of: objectOf(OIDC_PROVIDER) }, 'Providers by name.'),
    }),
    'As in the management API.',
  ),
  signingKeys: field({ type: 'list', of: BY_REFERENCE }, 'Private JWK or PEM; the first signs.'),
} satisfies FieldsOf<RealmRecord>

export const LABEL_SELECTOR: ObjectShape = objectOf({
  matchLabels: field({ type: 'map', of: { type: 'string' } }, 'All of them.'),
  matchExpressions: field(
    listOf({
      key: required(TEXT, 'Label.'),
      operator: required(oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), 'Test.'),
      values: field(TEXTS, 'Of In and NotIn.'),
    }),
    'All of them.',
  ),
})

/** Members that the realm record has: what is mapped. */
export const REALM_RECORD: ObjectShape = objectOf(RECORD)

export const REALM_SPEC: ObjectShape = objectOf({
  ...RECORD,
  allowedNamespaces: field(
    objectOf({
      from: field(oneOf('Same', 'All', 'Selector'), 'Same when absent.'),
      selector: field(LABEL_SELECTOR, 'Labels of namespaces, with from: Selector.'),
    }),
    'Namespaces whose documents may use the realm.',
  ),
  allowedHosts: field(
    TEXTS,
    'Hosts that documents of the realm may claim: a.example.com, *.example.com.',
  ),
})
