// Describes a signature of a realm, by which the senders of signed requests are known (behaviour §6, *Signed requests*):
// its part of the realm record, and of the Realm resource.

import { type ObjectSchema, TEXT } from './realm-notation.ts'

const HEADER = { ...TEXT, maxLength: 128, pattern: '^[A-Za-z0-9-]+$' } as const

/** Printable ASCII. */
const PRINTABLE = '^[\\x20-\\x7e]+$'

export const SIGNATURE_SCHEMA = {
  type: 'object',
  description: 'How senders sign requests, and the secrets that they sign with.',
  properties: {
    preset: {
      enum: ['standard', 'github', 'stripe', 'crossbar'],
      'x-sensitivity': 'public',
      description:
        'How requests are signed: standard (Standard Webhooks 1.0), github, stripe or crossbar. standard when header is left out too.',
      'x-explain':
        'How requests are signed: standard (Standard Webhooks), github, stripe, crossbar. When absent, as header, signs and the other members say; without header, standard.',
    },
    secrets: {
      type: 'array',
      minItems: 1,
      // Each costs a hash of the body.
      maxItems: 4,
      items: {
        type: 'string',
        minLength: 1,
        maxLength: 1024,
        format: 'plain-text',
        'x-sensitivity': 'secret',
      },
      description: 'Secrets that a request may be signed with: two while one replaces the other.',
      'x-explain':
        'Secrets that requests may be signed with, at most 4: two while one replaces the other. With preset standard whsec_ and base64, or text; text with the others.',
    },
    max_age_secs: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400,
      default: 300,
      'x-sensitivity': 'public',
      description: 'How many seconds the timestamp of a request may be away from now.',
      'x-explain':
        'How many seconds the timestamp of a request may be away from now, before or behind; 300 when absent.',
    },
    header: {
      ...HEADER,
      description: 'Header with the signature.',
      'x-explain': 'Header with the signature, where no preset says it.',
    },
    prefix: {
      ...TEXT,
      maxLength: 64,
      pattern: PRINTABLE,
      description: 'What stands before the signature in its header.',
      'x-explain': 'What stands before the signature in its header, such as sha256=.',
    },
    algorithm: {
      enum: ['sha256', 'sha512'],
      default: 'sha256',
      'x-sensitivity': 'public',
      description: 'Hash of the HMAC.',
      'x-explain': 'Hash of the HMAC: sha256 or sha512; sha256 when absent.',
    },
    encoding: {
      enum: ['hex', 'base64', 'base64url'],
      default: 'hex',
      'x-sensitivity': 'public',
      description: 'How the signature is written.',
      'x-explain': 'How the signature is written: hex, base64 or base64url; hex when absent.',
    },
    signs: {
      ...TEXT,
      maxLength: 256,
      pattern: PRINTABLE,
      description:
        'The text that is signed, such as {timestamp}.{body}: {body}, {timestamp} and {id} with separators between them.',
      'x-explain':
        'The text that is signed, such as {timestamp}.{body}: {body}, {timestamp} and {id} with separators between them.',
    },
    timestamp: {
      ...HEADER,
      description: 'Header with the time of the request, in Unix seconds.',
      'x-explain': 'Header with the time of the request, in Unix seconds.',
    },
    id: {
      ...HEADER,
      description: 'Header with the id of the delivery.',
      'x-explain': 'Header with the id of the delivery; the signature stands for it when absent.',
    },
  },
  required: ['secrets'],
  additionalProperties: false,
} as const satisfies ObjectSchema
