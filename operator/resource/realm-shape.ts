// The spec of a Realm: behaviour §7 in camelCase, who may use the realm, and which operator serves it. A
// field of the realm record that is not here does not compile.

import { memberAt } from '../../language/expression/members.ts'
import type {
  ApiKeyRecord,
  OidcProviderRecord,
  RealmRecord,
  RouterRecord,
  TrustedIssuerRecord,
  UserRecord,
} from '../../language/realm/record.ts'
import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { DEFAULT_CLASS } from './resource.ts'
import { checkShape, type Field, type ObjectShape, type Shape, TEXT, TEXTS } from './shape.ts'

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
  method: required(
    oneOf('anonymous', 'ticket', 'wampcra', 'cryptosign'),
    'How the gateway says who it is.',
  ),
  authid: field(TEXT, 'User of the router that the gateway joins as.'),
  secret: field(BY_REFERENCE, 'Its ticket, secret or private key.'),
} satisfies FieldsOf<NonNullable<RouterRecord['auth']>>

const ROUTER = {
  url: field(TEXT, 'Its address: ws, wss (WebSocket), rs, rss, unix (RawSocket).'),
  urls: field(TEXTS, 'Several addresses, tried in order after url.'),
  serializers: field(
    { type: 'list', of: oneOf('json', 'msgpack', 'cbor') },
    'What messages are written in, best first; json when absent.',
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
  passwordHash: field(
    IN_CLEAR,
    'PHC string of scrypt ($scrypt$ln=14,r=8,p=1$salt$hash), as a text or as secretRef {name, key}. ' +
      'Whoever may read the Realm reads what stands here as text.',
  ),
  groups: field(TEXTS, 'Groups of the user; documents may ask for them.'),
  meta: field({ type: 'open' }, 'Free-form; expressions see it as security.meta.'),
} satisfies FieldsOf<UserRecord>

const API_KEY = {
  keySha256: required(
    IN_CLEAR,
    'Lower-case hex of the SHA-256 of the whole header value, as a text or as secretRef {name, key}.',
  ),
  username: required(TEXT, 'User that the key stands for.'),
} satisfies FieldsOf<ApiKeyRecord>

const TRUSTED_ISSUER = {
  issuer: required(TEXT, 'Issuer of the tokens: their iss, to the letter.'),
  jwksUri: required(TEXT, 'Where its public keys are.'),
  audience: required(TEXT, 'Audience that tokens must carry.'),
  algorithms: field(TEXTS, 'Signature algorithms allowed; the asymmetric ones when absent.'),
  requireTyp: field(
    TEXT,
    'The typ that tokens must have in their header, as at+jwt; JWT, at+jwt or none when absent.',
  ),
} satisfies FieldsOf<TrustedIssuerRecord>

const OIDC_PROVIDER = {
  issuer: required(TEXT, 'Issuer URL; endpoints are discovered from it.'),
  clientId: required(TEXT, 'Client id at the provider.'),
  clientSecret: required(BY_REFERENCE, 'Client secret at the provider.'),
  redirectUri: required(TEXT, 'URL of our callback endpoint, as the provider knows it.'),
  scopes: field(TEXTS, 'Scopes asked for; openid, profile, email when absent.'),
  authidClaim: field(
    TEXT,
    'Claim that names the user; preferred_username when absent, sub where the token has none.',
  ),
  roleClaim: field(TEXT, 'Claim that holds the roles; dots walk. roles when absent.'),
  roleClaimFallback: field(TEXT, 'Used when the role claim is absent; role when absent itself.'),
  roleMapping: field({ type: 'map', of: TEXT }, 'Role of the provider to role of ours.'),
  ticketExpirySecs: field(COUNT, 'Life of a ticket in seconds; 2592000 when absent.'),
  allowUnsafeHttp: field(SWITCH, 'Accept endpoints without TLS.'),
  cookieDomain: field(TEXT, 'Domain attribute of the cookies; none when absent.'),
  cookieSameSite: field(
    oneOf('lax', 'strict', 'none'),
    'SameSite attribute of the cookies; lax when absent.',
  ),
  cookieHttpOnly: field(SWITCH, 'HttpOnly on the ticket cookie; recommended.'),
  allowedRedirectOrigins: field(TEXTS, 'Origins beside our own that a login may return to.'),
  endSessionEndpoint: field(TEXT, 'Where a logout goes; discovered when absent.'),
  tokenEndpointAuthMethod: field(
    oneOf('client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'none'),
    'How the gateway authenticates at the provider; discovered when absent.',
  ),
  ca: field(TEXT, 'PEM of more CAs, for the provider.'),
} satisfies FieldsOf<OidcProviderRecord>

const RECORD = {
  uri: required(
    {
      type: 'string',
      maxLength: 255,
      rules: [
        {
          rule: 'self == oldSelf',
          message:
            'the uri of a Realm never changes: documents name it. Create another Realm with the new ' +
            'uri, point the documents to it, then delete this one',
        },
      ],
    },
    'What documents call the realm in realm_uri. The oldest Realm with a uri owns it. Immutable.',
  ),
  description: field(TEXT, 'For people.'),
  authmethods: field(
    TEXTS,
    'How people may log in; documents with an oidc scheme need oidcrp and cookie.',
  ),
  router: field(
    objectOf(ROUTER),
    'The WAMP router that has the procedures and topics of the realm; without one, calls fail.',
  ),
  callTimeout: field(COUNT, 'Longest wait for a call in milliseconds; 30000 when absent.'),
  users: field(listOf(USER), 'Users, for basic, api_key and the OAuth 2 endpoints.'),
  groups: field(TEXTS, 'Groups of the realm.'),
  apiKeys: field(listOf(API_KEY), 'API keys, stored hashed.'),
  trustedIssuers: field(listOf(TRUSTED_ISSUER), 'Issuers whose bearer tokens are accepted.'),
  callbackOrigins: field(TEXTS, 'Origins that registrations and subscriptions may be posted to.'),
  callbackSecret: field(BY_REFERENCE, 'Signs what is posted to callbacks.'),
  allowedOrigins: field(TEXTS, 'Origins of pages that may open /ws; any when absent.'),
  oauth2: field(
    objectOf({
      grants: field(
        TEXTS,
        'Grants that the token endpoint gives: password, client_credentials, refresh_token; all when absent.',
      ),
    }),
    'Narrows the token endpoint.',
  ),
  info: field(
    objectOf({
      oidcProviders: field(
        { type: 'map', of: objectOf(OIDC_PROVIDER) },
        'Where people log in: providers by name; default is taken where a document names none.',
      ),
    }),
    'Facts about the realm, as in the management API.',
  ),
  signingKeys: field(
    { type: 'list', of: BY_REFERENCE },
    'Keys that sign tickets and tokens: private JWK or PEM. The first signs, all verify; when absent the operator makes them.',
  ),
} satisfies FieldsOf<RealmRecord>

const LABEL_VALUE = { type: 'string', mayBeEmpty: true } satisfies Shape

export const LABEL_SELECTOR = {
  isAtomic: true,
  ...objectOf({
    matchLabels: field({ type: 'map', of: LABEL_VALUE }, 'Labels and their values; all must fit.'),
    matchExpressions: field(
      listOf({
        key: required(TEXT, 'Name of the label.'),
        operator: required(
          oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
          'How the label is held against the values.',
        ),
        values: field({ type: 'list', of: LABEL_VALUE }, 'Values, for In and NotIn.'),
      }),
      'Tests of labels; all must hold.',
    ),
  }),
} satisfies ObjectShape

/** The same of every kind that has classes. */
export const GATEWAY_CLASS_NAME = {
  shape: TEXT,
  default: DEFAULT_CLASS,
  description: 'Class of the operator that serves it; others leave it alone.',
} satisfies Field

/** Members that the realm record has: what is mapped. */
export const REALM_RECORD: ObjectShape = objectOf(RECORD)

const ALLOWED_NAMESPACES = {
  ...objectOf({
    from: {
      shape: oneOf('Same', 'All', 'Selector'),
      description:
        'Same: the namespace of the Realm. All: every one. Selector: those that it fits.',
      default: 'Same',
    },
    selector: field(LABEL_SELECTOR, 'Labels of namespaces, with from: Selector.'),
  }),
  rules: [
    {
      rule: "!has(self.selector) || self.from == 'Selector'",
      message: 'selector has no effect without from: Selector',
      fieldPath: '.selector',
    },
    {
      rule: "self.from != 'Selector' || has(self.selector)",
      message: 'from: Selector needs a selector; from: All admits every namespace',
    },
  ],
} satisfies ObjectShape

export const REALM_SPEC: ObjectShape = objectOf({
  ...RECORD,
  allowedNamespaces: {
    shape: ALLOWED_NAMESPACES,
    description: 'Namespaces whose documents may use the realm; its own when absent.',
    // Written out, so that whoever reads the resource reads who may.
    default: { from: 'Same' },
  },
  allowedHosts: field(
    TEXTS,
    'Hosts that documents of the realm may claim: api.example.com, *.example.com; any when absent.',
  ),
  gatewayClassName: GATEWAY_CLASS_NAME,
})

/** Every fault of a `spec`, but for those that the language tells of its record. */
export const checkRealmSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkShape(REALM_SPEC, spec, '/spec')
  return problems.length > 0 ? problems : checkSelector(spec)
}

/** What a selector leaves out must not admit everybody. */
const checkSelector = (spec: unknown): readonly Problem[] => {
  const allowed = isMap(spec) ? memberAt(spec, 'allowedNamespaces') : undefined
  if (!isMap(allowed)) return []
  const hasSelector = memberAt(allowed, 'selector') !== undefined
  if (hasSelector === (memberAt(allowed, 'from') === 'Selector')) return []
  const path = '/spec/allowedNamespaces/selector'
  return hasSelector
    ? [{ code: 'invalid_value', path, message: `${path} has no effect without from: Selector` }]
    : [{ code: 'missing_required_value', path, message: `${path} is missing` }]
}
