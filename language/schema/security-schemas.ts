// Describes the Security Objects of documents (specification §2.8): the members of each scheme. Others are rejected.

import type { ValueMap } from '../expression/value.ts'
import {
  branchesByType,
  type DocumentSchema,
  HOLDS_EXPRESSION,
  key,
  type Keys,
  LIST,
  listOf,
  MAP,
  oneOf,
  ref,
  restrictingKey,
  SNIPPET,
  TEXT,
} from './document-notation.ts'

const NETWORKS: Keys = {
  networks: restrictingKey(
    'Networks (CIDRs or single addresses) that clients must be in, or the object does not count.',
    ref('networks'),
  ),
}

const SHARED: Keys = {
  ...NETWORKS,
  groups: key('The caller must be in at least one of these groups.', ref('names')),
  roles: key('The caller must have at least one of these roles.', ref('names')),
  scopes: key('The caller must have been granted all of these scopes.', ref('names')),
}

const scheme = (
  snippet: ValueMap & { readonly type: string },
  description: string,
  own: Keys,
  required?: readonly string[],
): DocumentSchema => ({
  type: 'object',
  description,
  [SNIPPET]: snippet,
  properties: {
    type: key(`The security type ${snippet.type}.`, { const: snippet.type }),
    description: key('What the scheme is for, for people.', TEXT),
    schemes: key('Checked, without effect.', ref('schemes')),
    ...own,
    ...SHARED,
  },
  ...(required && { required }),
  additionalProperties: false,
})

const DEFINITIONS = {
  basic: 'basicSecurity',
  api_key: 'apiKeySecurity',
  oauth2: 'oauth2Security',
  oidc: 'oidcSecurity',
  hmac: 'hmacSecurity',
}

const SECURITY_OBJECT: DocumentSchema = {
  ...MAP,
  maxProperties: 32,
  if: { type: 'object', minProperties: 1, maxProperties: 32 },
  then: {
    if: { not: { required: ['networks'], maxProperties: 1 } },
    then: ref('securityScheme'),
    else: ref('networksOnly'),
  },
}

export const SECURITY_SCHEMAS = {
  security: {
    ...SECURITY_OBJECT,
    type: ['object', 'array', 'string'],
    minItems: 1,
    maxItems: 8,
    items: ref('securityObject'),
    description:
      'Security Object, {} for anonymous; a list of one to eight, of which a request must satisfy one; or an expression that yields either when the document is loaded.',
  },
  securityObject: {
    ...SECURITY_OBJECT,
    description: 'Security Object, {} for anonymous, or an expression that yields one.',
  },
  networksOnly: {
    type: 'object',
    description:
      'A Security Object with nothing but networks: every client in one of them may call.',
    properties: NETWORKS,
    required: ['networks'],
    additionalProperties: false,
  },
  securityScheme: {
    type: 'object',
    description:
      'A Security Object that asks for credentials. Its type decides which members it has; others are rejected.',
    properties: {
      type: key('What kind of credentials are asked for.', {
        ...TEXT,
        enum: Object.keys(DEFINITIONS),
      }),
    },
    required: ['type'],
    allOf: branchesByType(DEFINITIONS),
  },
  basicSecurity: scheme(
    { type: 'basic', groups: ['${1:staff}'] },
    'User name and password (RFC 7617) of a user of the realm.',
    {},
  ),
  apiKeySecurity: scheme(
    { type: 'api_key', header_name: '${1:x-api-key}' },
    'A key of the realm in a header.',
    {
      header_name: key('Name of the header that carries the key (RFC 9110 §5.1).', {
        ...TEXT,
        anyOf: [{ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }, HOLDS_EXPRESSION],
        default: 'authorization',
      }),
    },
  ),
  oauth2Security: scheme(
    { type: 'oauth2', flow: 'client_credentials', scopes: ['${1:read}'] },
    'Bearer token (RFC 6750) of the token endpoint or of an issuer that the realm trusts.',
    {
      flow: key(
        'OAuth 2 flow; the last two mount the token and revoke endpoints.',
        oneOf([
          'implicit',
          'authorization_code',
          'client_credentials',
          'resource_owner_password_credentials',
        ]),
      ),
      token_path: key('Path of the token endpoint below base_path.', {
        ...TEXT,
        default: '/oauth/token',
      }),
      revoke_token_path: key('Path of the revoke endpoint below base_path.', {
        ...TEXT,
        default: '/oauth/revoke',
      }),
    },
    ['flow'],
  ),
  oidcSecurity: scheme(
    { type: 'oidc', provider: '${1:default}' },
    'Ticket of an OpenID Connect login. Mounts the login, callback and logout endpoints below base_path.',
    {
      provider: key("Name of one of the realm's OIDC providers.", { ...TEXT, default: 'default' }),
      unauthenticated: key(
        'What a page that somebody opens without being logged in gets: 401, or a redirect to the login and back. All other requests get 401.',
        { ...oneOf(['reject', 'redirect']), default: 'reject' },
      ),
    },
  ),
  hmacSecurity: scheme(
    { type: 'hmac', signature: '${1:partner}' },
    'A signature of the whole request, as the realm says in signatures: Standard Webhooks, GitHub, Stripe.',
    {
      signature: key("Name of one of the realm's signatures.", TEXT),
    },
    ['signature'],
  ),
  networks: {
    ...LIST,
    ...listOf(TEXT, { minItems: 1, maxItems: 1000 }),
    description: 'A list of networks.',
  },
  names: { ...LIST, ...listOf(TEXT, { maxItems: 1000 }), description: 'A list of names.' },
} as const satisfies Readonly<Record<string, DocumentSchema>>
