// Describes where a realm reads claims of tokens, and which it lets through: the same of an identity provider and of a
// trusted issuer (behaviour §6, *Claims*). A path is a name, names with dots between them, or a JSON pointer.

import type { ListSchema, MapSchema, PropertySchema, TextsSchema } from './realm-notation.ts'

const TEXT = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  format: 'plain-text',
  'x-sensitivity': 'public',
} as const

export const TEXT_OR_TEXTS = {
  type: ['string', 'array'],
  minLength: 1,
  maxLength: 1024,
  format: 'plain-text',
  minItems: 1,
  maxItems: 100,
  items: TEXT,
  'x-sensitivity': 'public',
} as const satisfies TextsSchema

export const ROLE_MAPPING = {
  type: 'object',
  maxProperties: 10_000,
  additionalProperties: { type: 'string', 'x-sensitivity': 'public' },
  description: "The provider's role to ours; roles that are not listed pass.",
  'x-explain': 'Role of the provider to role of ours.',
} as const satisfies MapSchema & PropertySchema

export const ROLE_FILTER = {
  type: 'array',
  maxItems: 100,
  items: TEXT,
  description:
    'Roles, as role_mapping names them, that count; * stands for any text. All when left out.',
  'x-explain':
    'Roles that count, by the names that roleMapping gives them; * stands for any text. All when absent.',
} as const satisfies ListSchema & PropertySchema

export const CLAIM_SEPARATOR = {
  type: 'string',
  minLength: 1,
  maxLength: 10,
  'x-sensitivity': 'public',
  description:
    'What stands between the roles, or the groups, of a claim that is one text; left out, such a text is one role.',
  'x-explain':
    'What stands between the roles, or groups, of a claim that is one text; absent: such a text is one role.',
} as const satisfies PropertySchema

export const CLAIMS = {
  type: 'object',
  maxProperties: 32,
  additionalProperties: TEXT_OR_TEXTS,
  description: 'Name to claim: what expressions see as {{security.claims.NAME}}.',
  'x-explain':
    'Claims that expressions see as security.claims.NAME: the path, or paths of which the first counts, by that name.',
} as const satisfies MapSchema & PropertySchema

export const REQUIRE = {
  type: 'object',
  maxProperties: 32,
  additionalProperties: TEXT_OR_TEXTS,
  description:
    'What tokens must say to count: a name of claims, or a path, to the value or values that it may have.',
  'x-explain':
    'What tokens must say to count: a name of claims, or a path, to the value or values that it may have.',
} as const satisfies MapSchema & PropertySchema
