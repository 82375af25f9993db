// Describes the status of our kinds, and what a resource has there before any operator has read it. That is not empty,
// since kstatus takes a resource without conditions for healthy.

import type { ValueMap } from '../../language/expression/value.ts'
import { lastingTypes } from './condition.ts'
import { type ListSchema, type ObjectSchema, type Properties, TEXT } from './resource-schema.ts'

/** `status.errors` and `status.warnings` have so many entries at most; messages say how many more there are. */
export const MAX_REPORTED = 8

const GENERATION = { type: 'integer', minimum: 0 } as const

const CONDITION = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { ...TEXT, description: 'What the condition is about.' },
    status: {
      type: 'string',
      enum: ['True', 'False', 'Unknown'],
      description: 'Whether it holds; Unknown: not validated yet.',
    },
    reason: { ...TEXT, description: 'Why, in one word, for programs.' },
    message: {
      type: 'string',
      description: 'Why, for people: what is wrong, where, and what to do.',
    },
    observedGeneration: {
      ...GENERATION,
      description:
        'metadata.generation that was validated; of an older one the condition is out of date.',
    },
    lastTransitionTime: {
      type: 'string',
      format: 'date-time',
      description: 'Since when the status is what it is.',
    },
  },
} as const satisfies ObjectSchema

const reported = (code: string): ListSchema => ({
  type: 'array',
  maxItems: MAX_REPORTED,
  items: {
    type: 'object',
    required: ['code', 'path', 'message'],
    properties: {
      code: { ...TEXT, description: code },
      path: { type: 'string', description: 'Where: JSON pointer (RFC 6901) into the resource.' },
      message: { type: 'string', description: 'What is wrong, and what to do.' },
    },
  },
})

const COMMON = {
  observedGeneration: {
    ...GENERATION,
    description: 'metadata.generation that the operator has seen last.',
  },
  operator: {
    ...TEXT,
    description: 'Namespace and Lease of the operator that wrote this; no other one releases it.',
  },
  conditions: {
    type: 'array',
    'x-kubernetes-list-map-keys': ['type'],
    items: CONDITION,
    description: 'How the resource stands.',
  },
  errors: {
    ...reported('Kind of the problem, for programs: invalid_value, conflict, and so on.'),
    description: 'What is wrong, the first eight; empty when nothing is.',
  },
  warnings: {
    ...reported('Kind of the warning, for programs: UnknownProperty, Shadowed, and so on.'),
    description: 'Warnings, which do not keep the resource from being served; the first eight.',
  },
} as const satisfies Properties

const STATUS = {
  type: 'object',
  description: 'What the operator has done with it; written by the operator.',
} as const

export const API_SPECIFICATION_STATUS: ObjectSchema = {
  ...STATUS,
  default: pending('ApiSpecification'),
  properties: {
    ...COMMON,
    id: { ...TEXT, description: 'Id of the document, wherever that stands.' },
    host: { ...TEXT, description: 'Host that it answers to.' },
    realm: { ...TEXT, description: 'Realm that it belongs to.' },
    serving: {
      ...TEXT,
      description:
        'The oldest metadata.generation that a ready gateway has loaded; –: none has any; ?: it is not known which.',
    },
    gateways: {
      ...TEXT,
      description:
        'How many of the gateways that should have the wanted version are ready and have it, as 2/2; –: none should. Up to a minute old.',
    },
    programmedGeneration: {
      ...GENERATION,
      description:
        'metadata.generation that every ready gateway was last seen to have loaded: it may be served while a newer one is rejected.',
    },
    programmedDigest: {
      ...TEXT,
      description: 'Digest of that document, as GET /api_specs?view=state shows it.',
    },
    quarantinedDigest: {
      ...TEXT,
      description:
        'Digest of a document that was too expensive to compile: it is not tried again as it is.',
    },
    quarantinedLimits: {
      ...TEXT,
      description: 'What it was too expensive for: with other limits it is tried again.',
    },
  },
}

export const REALM_STATUS: ObjectSchema = {
  ...STATUS,
  default: pending('Realm'),
  properties: COMMON,
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
