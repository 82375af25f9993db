// Describes a realm once. The types of its record, what ajv accepts, the Realm resource with its CRD, what may be read
// back, and what older gateways may ignore all follow from this JSON Schema and its annotations (realm-notation.ts).

import { API_KEY_SCHEMA, TRUSTED_ISSUER_SCHEMA, USER_SCHEMA } from './caller-schemas.ts'
import { CREDENTIAL_SCHEMA } from './credential-schema.ts'
import { OIDC_PROVIDER_SCHEMA } from './oidc-provider-schema.ts'
import { type PublishedSchema, TEXT, TEXTS } from './realm-notation.ts'
import { ROUTER_SCHEMA } from './router-schema.ts'
import { SIGNATURE_SCHEMA } from './signature-schema.ts'

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://gateway.svc.dev/schema/realm.schema.json',
  title: 'Realm',
  type: 'object',
  description:
    'A realm record of the management API: who may call, and which router serves it. Unknown properties are rejected, but for those within info, beside oidc_providers, and the meta of users and keys.',
  properties: {
    uri: {
      ...TEXT,
      maxLength: 255,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      'x-importance': 'known',
      description: 'URI of the realm, as documents name it in realm_uri.',
      'x-explain':
        'What documents call the realm in realm_uri. The oldest Realm with a uri owns it. Immutable.',
      'x-kubernetes-validations': [
        {
          rule: 'self == oldSelf',
          message:
            'the uri of a Realm never changes: documents name it. Create another Realm with the new ' +
            'uri, point the documents to it, then delete this one',
        },
      ],
    },
    description: {
      type: 'string',
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'What the realm is for, for people.',
      'x-explain': 'For people.',
    },
    authmethods: {
      ...TEXTS,
      'x-importance': 'known',
      description: 'Methods that the realm allows. oidc documents need oidcrp and cookie.',
      'x-explain': 'How people may log in; documents with an oidc scheme need oidcrp and cookie.',
    },
    router: {
      ...ROUTER_SCHEMA,
      'x-importance': 'known',
      description: 'The WAMP router of the realm; without one, WAMP calls fail.',
      'x-explain':
        'The WAMP router that has the procedures and topics of the realm; without one, calls fail.',
    },
    call_timeout: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400_000,
      default: 30_000,
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'Milliseconds a call may take where a document sets no timeout.',
      'x-explain': 'Longest wait for a call in milliseconds; 30000 when absent.',
    },
    users: {
      type: 'array',
      maxItems: 100_000,
      items: USER_SCHEMA,
      'x-importance': 'known',
      description: 'Users of the realm, OAuth2 clients and resource owners among them.',
      'x-explain': 'Users, for basic, api_key and the OAuth 2 endpoints.',
    },
    groups: {
      ...TEXTS,
      'x-importance': 'known',
      description: 'Groups of the realm. Users may be in groups that are not listed.',
      'x-explain': 'Groups of the realm.',
    },
    api_keys: {
      type: 'array',
      maxItems: 100_000,
      items: API_KEY_SCHEMA,
      'x-importance': 'known',
      description: 'Keys for the security type api_key.',
      'x-explain': 'API keys, stored hashed.',
    },
    trusted_issuers: {
      type: 'array',
      maxItems: 100,
      items: TRUSTED_ISSUER_SCHEMA,
      'x-importance': 'known',
      description: 'Issuers whose bearer tokens the security type oauth2 believes.',
      'x-explain': 'Issuers whose bearer tokens are accepted.',
    },
    signatures: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: SIGNATURE_SCHEMA,
      // An older gateway rejects the documents that name one, so that nobody is admitted without it.
      'x-importance': 'ignorable',
      description: 'Name to signature, for the security type hmac.',
      'x-explain':
        'How senders of signed requests sign, by the name that documents have in signature: a preset or the form itself, and secrets.',
    },
    credentials: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: CREDENTIAL_SCHEMA,
      // An older gateway rejects the documents that use one (SpecPut), so that nothing is sent without it.
      'x-importance': 'ignorable',
      description: 'Name to credential, which forwards name in credential.',
      'x-explain':
        'What forwards authenticate with at upstreams, by the name that documents have in credential: origins and one of bearer, basic, clientCredentials, tokenExchange, certificate.',
    },
    callback_origins: {
      type: 'array',
      maxItems: 1000,
      items: { ...TEXT, pattern: '^https?://' },
      'x-importance': 'known',
      description: 'Origins that registrations and subscriptions may be posted to.',
    },
    callback_secret: {
      type: 'string',
      minLength: 1,
      format: 'plain-text',
      'x-sensitivity': 'secret',
      'x-importance': 'known',
      description: 'Key that signs what is posted to callbacks.',
      'x-explain': 'Signs what is posted to callbacks.',
    },
    allowed_origins: {
      type: 'array',
      maxItems: 1000,
      items: {
        ...TEXT,
        format: 'page-origin',
        description:
          'the origin of a page with its scheme and without a path, such as https://app.example.com (allowed_origins left out takes any page)',
      },
      'x-importance': 'known',
      description:
        'Origins of pages that may open WebSocket connections at /ws; any when left out.',
      'x-explain': 'Origins of pages that may open /ws; any when absent.',
    },
    oauth2: {
      type: 'object',
      properties: {
        grants: {
          type: 'array',
          maxItems: 16,
          items: {
            enum: ['password', 'client_credentials', 'refresh_token'],
            'x-sensitivity': 'public',
          },
          description: 'Grants that the token endpoint gives; all when left out.',
          'x-explain':
            'Grants that the token endpoint gives: password, client_credentials, refresh_token; all when absent.',
        },
      },
      additionalProperties: false,
      'x-importance': 'known',
      description: 'Narrows the token endpoint.',
    },
    info: {
      type: 'object',
      properties: {
        oidc_providers: {
          type: 'object',
          maxProperties: 100,
          if: { maxProperties: 100 },
          then: { additionalProperties: OIDC_PROVIDER_SCHEMA },
          description: 'Name to OpenID Connect provider.',
          'x-explain':
            'Where people log in: providers by name; default is taken where a document names none.',
        },
      },
      'x-importance': 'known',
      description: 'Free-form map; oidc_providers in it has a meaning.',
      'x-explain': 'Facts about the realm, as in the management API.',
    },
    signing_keys: {
      type: 'array',
      maxItems: 16,
      items: { type: ['string', 'object'], 'x-sensitivity': 'secret' },
      'x-importance': 'known',
      description:
        'Private keys, JWK or PEM: the first signs, all verify. Made by the gateway when left out.',
      'x-explain':
        'Keys that sign tickets and tokens: private JWK or PEM. The first signs, all verify; when absent the operator makes them.',
    },
  },
  required: ['uri'],
  additionalProperties: false,
} as const satisfies PublishedSchema

/** For the types that follow. */
export type RealmSchema = typeof SCHEMA

/** For whatever walks over it. */
export const REALM_SCHEMA: PublishedSchema = SCHEMA
