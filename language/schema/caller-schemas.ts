// Describes what a realm says of callers: its users, their keys, and the issuers whose tokens count. Each is a part of
// the realm record, and of the Realm resource.

import {
  CLAIM_SEPARATOR,
  CLAIMS,
  REQUIRE,
  ROLE_FILTER,
  ROLE_MAPPING,
  TEXT_OR_TEXTS,
} from './claim-schemas.ts'
import { type ObjectSchema, TEXT, TEXTS } from './realm-notation.ts'

export const USER_SCHEMA = {
  type: 'object',
  description: 'A user of the realm.',
  properties: {
    username: {
      ...TEXT,
      description: 'Name the user logs in with.',
      'x-explain': 'Login name.',
    },
    password_hash: {
      type: 'string',
      pattern:
        '^\\$scrypt\\$ln=[0-9]{1,2},r=[0-9]{1,2},p=[0-9]{1,2}\\$[A-Za-z0-9+/]{1,256}\\$[A-Za-z0-9+/]{1,256}$',
      'x-sensitivity': 'hash',
      description:
        'Hash of the password, as svc hash-password writes it: $scrypt$ln=14,r=8,p=1$salt$hash, base64 without padding.',
      'x-explain':
        'PHC string of scrypt ($scrypt$ln=14,r=8,p=1$salt$hash), as a text or as secretRef {name, key}. ' +
        'Everyone who may read the Realm reads what stands here as text.',
    },
    groups: {
      ...TEXTS,
      description: 'Groups the user is in.',
      'x-explain': 'Groups of the user; documents may ask for them.',
    },
    meta: {
      type: 'object',
      'x-sensitivity': 'public',
      description: 'Free-form map, seen by expressions as {{security.meta}}.',
      'x-explain': 'Free-form; expressions see it as security.meta.',
    },
  },
  required: ['username'],
  additionalProperties: false,
} as const satisfies ObjectSchema

const EXPIRES_AT = {
  type: 'string',
  format: 'date-time',
  'x-sensitivity': 'public',
  description:
    'When the key ends, as 2027-05-01T00:00:00Z, by the clock of each gateway; never when left out.',
  'x-explain': 'When the key ends, as 2027-05-01T00:00:00Z; never when absent.',
} as const

export const API_KEY_SCHEMA = {
  type: 'object',
  description: 'A key that stands for a user.',
  properties: {
    key_sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      'x-sensitivity': 'hash',
      description:
        'SHA-256 of the whole header value, lower-case hex, as printf %s KEY | sha256sum writes it.',
      'x-explain':
        'Lower-case hex of the SHA-256 of the whole header value, as a text or as secretRef {name, key}.',
    },
    username: {
      ...TEXT,
      description: 'The user that the key stands for.',
      'x-explain': 'User that the key stands for.',
    },
    expires_at: EXPIRES_AT,
    meta: {
      type: 'object',
      'x-sensitivity': 'public',
      description:
        "Free-form map, seen by expressions as {{security.meta}}: its entries over the user's.",
      'x-explain':
        "Free-form, as its plan or a contact; expressions see it as security.meta, its entries over the user's.",
    },
  },
  required: ['key_sha256', 'username'],
  additionalProperties: false,
} as const satisfies ObjectSchema

const ASYMMETRIC_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

export const TRUSTED_ISSUER_SCHEMA = {
  type: 'object',
  description: 'An issuer of bearer tokens.',
  properties: {
    issuer: {
      ...TEXT,
      description: 'Value of the iss claim.',
      'x-explain': 'Issuer of the tokens: their iss, to the letter.',
    },
    jwks_uri: { ...TEXT, pattern: '^https?://', description: 'Where its public keys are.' },
    audience: {
      ...TEXT_OR_TEXTS,
      description: 'Value that the aud claim must hold, or several of which it must hold one.',
      'x-explain': 'Audience that tokens must carry, or several of which they must carry one.',
    },
    algorithms: {
      type: 'array',
      minItems: 1,
      maxItems: 16,
      items: { enum: ASYMMETRIC_ALGORITHMS, 'x-sensitivity': 'public' },
      description: 'Signature algorithms that are believed, asymmetric ones only.',
      'x-explain': 'Signature algorithms allowed; the asymmetric ones when absent.',
    },
    require_typ: {
      type: 'string',
      maxLength: 100,
      pattern: '^[A-Za-z0-9][A-Za-z0-9!#$&^_.+/-]*$',
      'x-sensitivity': 'public',
      description:
        'The typ that the header of a token must have, as at+jwt; JWT, at+jwt or none when absent.',
      'x-explain':
        'The typ that tokens must have in their header, as at+jwt; JWT, at+jwt or none when absent.',
    },
    authid_claim: {
      ...TEXT_OR_TEXTS,
      description:
        'Claim that names the caller, of several the first that is there; sub when left out.',
      'x-explain':
        'Claim that names the caller, of several the first that is there; sub when absent.',
    },
    role_claim: {
      ...TEXT_OR_TEXTS,
      description:
        'Claim that holds the roles, or several: a name, names with dots between them, or a JSON pointer. roles when left out.',
      'x-explain':
        'Claim that holds the roles, or several: a name, names with dots between them, or a JSON pointer. roles when absent.',
    },
    group_claim: {
      ...TEXT_OR_TEXTS,
      description: 'Claim that holds the groups, or several; groups when left out.',
      'x-explain': 'Claim that holds the groups, or several; groups when absent.',
    },
    scope_claim: {
      ...TEXT_OR_TEXTS,
      description:
        'Claim that holds the scopes, or several, as lists or with blanks between them; scope, else scp, when left out.',
      'x-explain':
        'Claim that holds the scopes, or several, as lists or with blanks between them; scope, else scp, when absent.',
    },
    role_mapping: ROLE_MAPPING,
    role_filter: ROLE_FILTER,
    claim_separator: CLAIM_SEPARATOR,
    claims: CLAIMS,
    require: REQUIRE,
    client_id_claim: {
      ...TEXT_OR_TEXTS,
      description:
        'Claim that names the client, of several the first that is there; client_id, else azp, when left out.',
      'x-explain':
        'Claim that names the client, of several the first that is there; client_id, else azp, when absent.',
    },
    client_ids: {
      ...TEXTS,
      minItems: 1,
      description:
        'Clients whose tokens count; of these also tokens without an audience. Any client when left out, and none without an audience.',
      'x-explain':
        'Clients whose tokens count; of these also tokens without an audience. Any client when absent, and none without an audience.',
    },
  },
  required: ['issuer', 'jwks_uri', 'audience'],
  additionalProperties: false,
} as const satisfies ObjectSchema
