// Says what the spec of a Realm may contain: the realm record in camelCase, as its schema has it, who may use the realm,
// and which operator serves it.

import { childPointer } from '../../base/json-pointer.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'
import { DEFAULT_CLASS } from './resource.ts'
import { objectShape } from './schema-shape.ts'
import { checkShape, type Field, type ObjectShape, type Shape, TEXT, TEXTS } from './shape.ts'

const objectOf = (fields: Readonly<Record<string, Field>>): ObjectShape => ({
  type: 'object',
  fields,
})
const oneOf = (...values: readonly string[]): Shape => ({ type: 'string', oneOf: values })
const field = (shape: Shape, description: string): Field => ({ shape, description })
const required = (shape: Shape, description: string): Field => ({
  shape,
  description,
  required: true,
})

const LABEL_VALUE = { type: 'string', mayBeEmpty: true } satisfies Shape

/** It is compared with the labels of each namespace or gateway, for each document: 10,000 documents wait for all of it. */
const MAX_LABELS = 64
const MAX_LABEL_VALUES = 256

export const LABEL_SELECTOR = {
  isAtomic: true,
  ...objectOf({
    matchLabels: field(
      { type: 'map', of: LABEL_VALUE, maxEntries: MAX_LABELS },
      'Labels and their values; all must match.',
    ),
    matchExpressions: field(
      {
        type: 'list',
        maxItems: MAX_LABELS,
        of: objectOf({
          key: required(TEXT, 'Name of the label.'),
          operator: required(
            oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
            'How the label is compared with the values.',
          ),
          values: field(
            { type: 'list', of: LABEL_VALUE, maxItems: MAX_LABEL_VALUES },
            'Values, for In and NotIn.',
          ),
        }),
      },
      'Tests of labels; all must be true.',
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
export const REALM_RECORD: ObjectShape = objectShape(REALM_SCHEMA)

const ALLOWED_NAMESPACES = {
  ...objectOf({
    from: {
      shape: oneOf('Same', 'All', 'Selector'),
      description:
        'Same: the namespace of the Realm. All: every one. Selector: those that it matches.',
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

/** Gateways are told which credentials a document may use, not who may: that stays with the resource. */
const withAllowedNamespaces = (credentials: Field): Field => {
  const { shape } = credentials
  if (shape.type !== 'map' || shape.of.type !== 'object') return credentials
  const of: ObjectShape = {
    ...shape.of,
    fields: {
      ...shape.of.fields,
      allowedNamespaces: field(
        ALLOWED_NAMESPACES,
        'Namespaces whose documents may use the credential; those of the realm when absent.',
      ),
    },
  }
  return { ...credentials, shape: { ...shape, of } }
}

export const REALM_SPEC: ObjectShape = objectOf({
  ...Object.fromEntries(
    Object.entries(REALM_RECORD.fields).map(([name, each]) => [
      name,
      name === 'credentials' ? withAllowedNamespaces(each) : each,
    ]),
  ),
  allowedNamespaces: {
    shape: ALLOWED_NAMESPACES,
    description: 'Namespaces whose documents may use the realm; its own when absent.',
    // Written out, so that everyone who reads the resource sees who may use it.
    default: { from: 'Same' },
  },
  allowedHosts: field(
    TEXTS,
    'Hosts that documents of the realm may claim: api.example.com, *.example.com; any when absent.',
  ),
  gatewayClassName: GATEWAY_CLASS_NAME,
})

/** Every problem of a `spec`, except those that the language reports for its record. */
export const checkRealmSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkShape(REALM_SPEC, spec, '/spec')
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
