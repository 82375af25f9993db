// Describes the status of our kinds, and what a resource has there before any operator has read it. That is not empty,
// since kstatus takes a resource without conditions for healthy.

import type { ValueMap } from '../../language/expression/value.ts'
import { lastingTypes } from './condition.ts'
import { type Field, type ListShape, type ObjectShape, TEXT } from './shape.ts'

/** `status.errors` and `status.warnings` have so many entries at most; messages say how many more there are. */
export const MAX_REPORTED = 8

const GENERATION = { type: 'integer', minimum: 0 } as const

const CONDITION: ObjectShape = {
  type: 'object',
  fields: {
    type: { shape: TEXT, required: true, description: 'What the condition is about.' },
    status: {
      shape: { type: 'string', oneOf: ['True', 'False', 'Unknown'] },
      required: true,
      description: 'Whether it holds; Unknown: not validated yet.',
    },
    reason: { shape: TEXT, required: true, description: 'Why, in one word, for programs.' },
    message: {
      shape: { type: 'string', mayBeEmpty: true },
      required: true,
      description: 'Why, for people: what is wrong, where, and what to do.',
    },
    observedGeneration: {
      shape: GENERATION,
      description:
        'metadata.generation that was validated; of an older one the condition is out of date.',
    },
    lastTransitionTime: {
      shape: { type: 'string', format: 'date-time' },
      required: true,
      description: 'Since when the status is what it is.',
    },
  },
}

const reported = (code: string): ListShape => ({
  type: 'list',
  maxItems: MAX_REPORTED,
  of: {
    type: 'object',
    fields: {
      code: { shape: TEXT, required: true, description: code },
      path: {
        shape: { type: 'string', mayBeEmpty: true },
        required: true,
        description: 'Where: JSON pointer (RFC 6901) into the resource.',
      },
      message: {
        shape: { type: 'string', mayBeEmpty: true },
        required: true,
        description: 'What is wrong, and what to do.',
      },
    },
  },
})

const COMMON = {
  observedGeneration: {
    shape: GENERATION,
    description: 'metadata.generation that the operator has seen last.',
  },
  operator: {
    shape: TEXT,
    description: 'Namespace and Lease of the operator that wrote this; no other one releases it.',
  },
  conditions: {
    shape: { type: 'list', keys: ['type'], of: CONDITION },
    description: 'How the resource stands.',
  },
  errors: {
    shape: reported('Kind of the problem, for programs: invalid_value, conflict, and so on.'),
    description: 'What is wrong, the first eight; empty when nothing is.',
  },
  warnings: {
    shape: reported('Kind of the warning, for programs: UnknownProperty, Shadowed, and so on.'),
    description: 'What works and is worth a look, the first eight.',
  },
} satisfies Readonly<Record<string, Field>>

const API_SPECIFICATION_STATUS: ObjectShape = {
  type: 'object',
  fields: {
    ...COMMON,
    id: { shape: TEXT, description: 'Id of the document, wherever that stands.' },
    host: { shape: TEXT, description: 'Host that it answers to.' },
    realm: { shape: TEXT, description: 'Realm that it belongs to.' },
    serving: {
      shape: TEXT,
      description:
        'The oldest metadata.generation that a ready gateway has loaded; –: none has any; ?: it is not known which.',
    },
    gateways: {
      shape: TEXT,
      description:
        'How many of the gateways that should have the wanted version are ready and have it, as 2/2; –: none should. Up to a minute old.',
    },
    programmedGeneration: {
      shape: GENERATION,
      description:
        'metadata.generation that every ready gateway was last seen to have loaded: it may be served while a newer one is rejected.',
    },
    programmedDigest: {
      shape: TEXT,
      description: 'Digest of that document, as GET /api_specs?view=state shows it.',
    },
    quarantinedDigest: {
      shape: TEXT,
      description:
        'Digest of a document that was too expensive to compile: it is not tried again as it is.',
    },
    quarantinedLimits: {
      shape: TEXT,
      description: 'What it was too expensive for: with other limits it is tried again.',
    },
  },
}

const REALM_STATUS: ObjectShape = { type: 'object', fields: COMMON }

export const API_SPECIFICATION_STATUS_FIELD: Field = {
  shape: API_SPECIFICATION_STATUS,
  description: 'What the operator has done with it; written by the operator.',
  default: pending('ApiSpecification'),
}

export const REALM_STATUS_FIELD: Field = {
  shape: REALM_STATUS,
  description: 'What the operator has done with it; written by the operator.',
  default: pending('Realm'),
}

/** The time is that of the Gateway API: no resource was made then. */
function pending(kind: 'ApiSpecification' | 'Realm'): ValueMap {
  return {
    conditions: lastingTypes(kind).map((type) => ({
      type,
      status: 'Unknown',
      reason: 'Pending',
      message: 'no operator of its class has validated it yet',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    })),
  }
}
