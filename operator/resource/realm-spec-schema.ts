// Describes what the spec of a Realm may contain: the realm record in camelCase, as its schema has it, who may use the
// realm, and which operator serves it.

import { childPointer } from '../../base/json-pointer.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'
import {
  isTexts,
  type LeafSchema,
  mapValues,
  type ObjectSchema as RealmObject,
  type TextsSchema,
  type ValueSchema,
} from '../../language/schema/realm-notation.ts'
import { checkSchema } from './check-schema.ts'
import {
  DEFAULT_CLASS,
  isObject,
  type ObjectSchema,
  type ResourceSchema,
  TEXT,
  TEXTS,
} from './resource-schema.ts'

/** It is compared with the labels of each namespace or gateway, for each document: 10,000 documents wait for all of it. */
const MAX_LABELS = 64
const MAX_LABEL_VALUES = 256

export const LABEL_SELECTOR = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: {
      type: 'object',
      maxProperties: MAX_LABELS,
      additionalProperties: { type: 'string' },
      description: 'Labels and their values; all must match.',
    },
    matchExpressions: {
      type: 'array',
      maxItems: MAX_LABELS,
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { ...TEXT, description: 'Name of the label.' },
          operator: {
            type: 'string',
            enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
            description: 'How the label is compared with the values.',
          },
          values: {
            type: 'array',
            items: { type: 'string' },
            maxItems: MAX_LABEL_VALUES,
            description: 'Values, for In and NotIn.',
          },
        },
      },
      description: 'Tests of labels; all must be true.',
    },
  },
} as const satisfies ObjectSchema

/** The same of every kind that has classes. */
export const GATEWAY_CLASS_NAME = {
  ...TEXT,
  default: DEFAULT_CLASS,
  description: 'Class of the operator that serves it; others leave it alone.',
} as const satisfies ResourceSchema

/**
 * The schema of a resource for that of a record: names in camelCase, secrets by reference, no text empty. Patterns, counts
 * and largest values are left to the schema of the record, which validates that.
 */
const objectOf = ({ properties, required = [] }: RealmObject): ObjectSchema => {
  const names = Object.keys(properties).filter((name) => required.includes(name))
  return {
    type: 'object',
    ...(names.length > 0 && { required: names.map(camelCase) }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const description = property['x-explain'] ?? property.description
        return [camelCase(name), { ...schemaOf(property), description }]
      }),
    ),
  }
}

const schemaOf = (schema: ValueSchema): ResourceSchema => {
  if ('x-sensitivity' in schema) return leafOf(schema)
  if ('items' in schema) return { type: 'array', items: schemaOf(schema.items) }
  if ('properties' in schema) return objectOf(schema)
  return { type: 'object', additionalProperties: schemaOf(mapValues(schema)) }
}

const leafOf = (schema: LeafSchema | TextsSchema): ResourceSchema => {
  if (isTexts(schema)) return { 'x-texts': true }
  const { type, enum: choices, minimum, maxLength, 'x-sensitivity': sensitivity } = schema
  if (sensitivity === 'secret' || sensitivity === 'hash') return { 'x-sensitivity': sensitivity }
  const rules = schema['x-kubernetes-validations']
  const ruled = rules && { 'x-kubernetes-validations': rules }
  if (type === 'boolean') return { type, ...ruled }
  if (type === 'integer') return { type, ...ruled, ...(minimum !== undefined && { minimum }) }
  if (type === 'object') return { type, ...ruled, 'x-kubernetes-preserve-unknown-fields': true }
  return {
    type: 'string',
    ...ruled,
    ...(choices === undefined ? { minLength: 1 } : { enum: choices }),
    ...(maxLength !== undefined && { maxLength }),
  }
}

/** @example camelCase('key_sha256') // 'keySha256' */
const camelCase = (name: string): string =>
  name.replaceAll(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase())

/** @example snakeCase('keySha256') // 'key_sha256' */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Members that the realm record has: what is mapped. */
export const REALM_RECORD: ObjectSchema = objectOf(REALM_SCHEMA)

export const ALLOWED_NAMESPACES = {
  type: 'object',
  properties: {
    from: {
      type: 'string',
      enum: ['Same', 'All', 'Selector'],
      default: 'Same',
      description:
        'Same: the namespace of the Realm. All: every one. Selector: those that it matches.',
    },
    selector: { ...LABEL_SELECTOR, description: 'Labels of namespaces, with from: Selector.' },
  },
  'x-kubernetes-validations': [
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
} as const satisfies ObjectSchema

/** Gateways are told which credentials a document may use, not who may: that stays with the resource. */
const withAllowedNamespaces = (credentials: ResourceSchema): ResourceSchema => {
  if (!('additionalProperties' in credentials)) return credentials
  const credential = credentials.additionalProperties
  if (!isObject(credential)) return credentials
  const allowedNamespaces = {
    ...ALLOWED_NAMESPACES,
    description:
      'Namespaces whose documents may use the credential; those of the realm when absent.',
  }
  const properties = { ...credential.properties, allowedNamespaces }
  return { ...credentials, additionalProperties: { ...credential, properties } }
}

export const REALM_SPEC: ObjectSchema = {
  ...REALM_RECORD,
  description: 'The realm, and who may use it.',
  properties: {
    ...Object.fromEntries(
      Object.entries(REALM_RECORD.properties).map(([name, each]) => [
        name,
        name === 'credentials' ? withAllowedNamespaces(each) : each,
      ]),
    ),
    allowedNamespaces: {
      ...ALLOWED_NAMESPACES,
      description: 'Namespaces whose documents may use the realm; its own when absent.',
      // Written out, so that everyone who reads the resource sees who may use it.
      default: { from: 'Same' },
    },
    allowedHosts: {
      ...TEXTS,
      description:
        'Hosts that documents of the realm may claim: api.example.com, *.example.com; any when absent.',
    },
    gatewayClassName: GATEWAY_CLASS_NAME,
  },
}

/** Every problem of a `spec`, except those that the language reports for its record. */
export const checkRealmSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkSchema(REALM_SPEC, spec, '/spec')
  if (problems.length > 0 || !isMap(spec)) return problems
  return [
    ...checkSelector(spec, '/spec'),
    ...Object.entries(mapAt(spec, 'credentials')).flatMap(([name, credential]) =>
      checkSelector(credential, childPointer('/spec/credentials', name)),
    ),
  ]
}

/** What a selector leaves out must not admit everybody. */
const checkSelector = (of: unknown, pointer: string): readonly Problem[] => {
  const allowed = isMap(of) ? memberAt(of, 'allowedNamespaces') : undefined
  if (!isMap(allowed)) return []
  const hasSelector = memberAt(allowed, 'selector') !== undefined
  if (hasSelector === (memberAt(allowed, 'from') === 'Selector')) return []
  const path = `${pointer}/allowedNamespaces/selector`
  return hasSelector
    ? [{ code: 'invalid_value', path, message: `${path} has no effect without from: Selector` }]
    : [{ code: 'missing_required_value', path, message: `${path} is missing` }]
}
