// Describes a credential of a realm, by which forwards authenticate at upstreams (behaviour §7, *Credentials*): its part
// of the realm record, and of the Realm resource. Exactly one of its kinds is set.

import { type ObjectSchema, TEXT } from './realm-notation.ts'

const SECRET = { type: 'string', minLength: 1, 'x-sensitivity': 'secret' } as const

/** How the gateway is a client of an authorization server: the same for both grants. */
const TOKEN_CLIENT = {
  token_endpoint: {
    type: 'string',
    format: 'plain-text',
    maxLength: 2048,
    pattern: '^https?://',
    'x-sensitivity': 'address',
    description:
      'Token endpoint of the authorization server, such as https://idp.example.com/token.',
    'x-explain': 'Token endpoint of the authorization server.',
  },
  client_id: {
    ...TEXT,
    maxLength: 1024,
    description: 'Client id of the gateway with the authorization server.',
    'x-explain': 'Client id at the authorization server.',
  },
  client_secret: {
    ...SECRET,
    format: 'plain-text',
    description: 'Client secret of the gateway with the authorization server.',
    'x-explain': 'Client secret at the authorization server.',
  },
  token_endpoint_auth_method: {
    enum: ['client_secret_basic', 'client_secret_post'],
    default: 'client_secret_basic',
    'x-sensitivity': 'public',
    description: 'How the gateway authenticates at the token endpoint.',
    'x-explain':
      'How the gateway authenticates at the token endpoint; client_secret_basic when absent.',
  },
  scopes: {
    type: 'array',
    maxItems: 100,
    items: { ...TEXT, maxLength: 256, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' },
    description: 'Scopes to ask for.',
    'x-explain': 'Scopes asked for; none when absent.',
  },
  audience: {
    ...TEXT,
    maxLength: 2048,
    description: 'Audience to ask for.',
    'x-explain': 'Audience asked for; none when absent.',
  },
  resource: {
    ...TEXT,
    maxLength: 2048,
    description: 'Resource to ask for (RFC 8707).',
    'x-explain': 'Resource asked for (RFC 8707); none when absent.',
  },
  ca: {
    ...TEXT,
    format: 'certificates',
    description: 'CA certificates of the token endpoint, PEM (-----BEGIN CERTIFICATE-----).',
    'x-explain': 'PEM of more CAs, for the token endpoint.',
  },
  allow_unsafe_http: {
    type: 'boolean',
    default: false,
    'x-sensitivity': 'public',
    description: 'Whether the token endpoint may be spoken to without TLS.',
    'x-explain': 'Accept a token endpoint without TLS.',
  },
} as const

const TOKEN_CLIENT_REQUIRED = ['token_endpoint', 'client_id', 'client_secret'] as const

export const CREDENTIAL_SCHEMA = {
  type: 'object',
  description: 'What forwards authenticate with at an upstream: origins, and one kind.',
  properties: {
    origins: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        ...TEXT,
        maxLength: 512,
        pattern: '^https?://',
        description: 'the origin of an upstream, such as https://billing.example.com',
      },
      description: 'Origins that it may be sent to.',
      'x-explain':
        'Origins that it may be sent to, with their scheme: https://billing.example.com. A request to another one is refused.',
    },
    bearer: {
      type: 'object',
      properties: {
        token: {
          ...SECRET,
          description: 'The token.',
          'x-explain': 'The token.',
        },
      },
      required: ['token'],
      additionalProperties: false,
      description: 'A bearer token that does not change by itself.',
      'x-explain': 'A fixed token: Authorization: Bearer.',
    },
    basic: {
      type: 'object',
      properties: {
        username: {
          ...TEXT,
          maxLength: 1024,
          pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
          description: 'Name of the user, without a colon.',
          'x-explain': 'Name of the user.',
        },
        password: {
          ...SECRET,
          description: 'Password of the user.',
          'x-explain': 'Password of the user.',
        },
      },
      required: ['username', 'password'],
      additionalProperties: false,
      description: 'User and password (RFC 7617).',
      'x-explain': 'User and password: Authorization: Basic.',
    },
    client_credentials: {
      type: 'object',
      properties: TOKEN_CLIENT,
      required: TOKEN_CLIENT_REQUIRED,
      additionalProperties: false,
      description: 'A token that the gateway gets for itself (RFC 6749 §4.4).',
      'x-explain': 'A token of an authorization server for the gateway itself (RFC 6749 §4.4).',
    },
    token_exchange: {
      type: 'object',
      properties: {
        ...TOKEN_CLIENT,
        subject_token_type: {
          ...TEXT,
          maxLength: 512,
          description:
            'Type of the token of the caller; urn:ietf:params:oauth:token-type:access_token when left out.',
          'x-explain':
            "Type of the caller's token; urn:ietf:params:oauth:token-type:access_token when absent.",
        },
        requested_token_type: {
          ...TEXT,
          maxLength: 512,
          description: 'Type of token to ask for; the authorization server decides when left out.',
          'x-explain': 'Type of token asked for; the authorization server decides when absent.',
        },
      },
      required: TOKEN_CLIENT_REQUIRED,
      additionalProperties: false,
      description: 'A token in exchange for the bearer token of the caller (RFC 8693).',
      'x-explain':
        "A token of an authorization server in exchange for the caller's (RFC 8693); for paths with oauth2 or oidc.",
    },
    certificate: {
      type: 'object',
      properties: {
        certificate: {
          ...SECRET,
          description: 'Client certificate, PEM, with intermediate ones behind it.',
          'x-explain': 'Client certificate with its chain, PEM: tls.crt of a TLS Secret.',
        },
        private_key: {
          ...SECRET,
          description: 'Its private key, PEM, not encrypted.',
          'x-explain': 'Its private key, PEM: tls.key of a TLS Secret.',
        },
        ca: {
          type: 'string',
          minLength: 1,
          format: 'certificates',
          // Public, but it stands beside the key in the Secret that a certificate manager writes.
          'x-sensitivity': 'hash',
          description:
            'CA certificates, PEM (-----BEGIN CERTIFICATE-----): the only ones that the upstream may have its own of.',
          'x-explain':
            "PEM of the only CAs that the upstream's certificate may be of, as a text or as secretRef {name, key}; those of the system and of --upstream-ca when absent.",
        },
        server_name: {
          ...TEXT,
          maxLength: 253,
          pattern: '^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9])?$',
          description: 'Name that the certificate of the upstream must be for.',
          'x-explain':
            'Name to ask for (SNI), which its certificate must be for; the host of the origin when absent.',
        },
      },
      required: ['certificate', 'private_key'],
      additionalProperties: false,
      description: 'A client certificate, for upstreams that require one.',
      'x-explain': 'A client certificate, for upstreams that require one.',
    },
  },
  required: ['origins'],
  additionalProperties: false,
} as const satisfies ObjectSchema
