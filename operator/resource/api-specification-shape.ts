// The spec of an ApiSpecification, around the document. The document itself is judged by the language.

import type { Problem } from '../../spec/problem.ts'
import { isMap } from '../../spec/expression/value.ts'
import { LABEL_SELECTOR } from './realm-shape.ts'
import {
  checkShape,
  type Field,
  KEY_REFERENCE,
  type ObjectShape,
  ownMember,
  type Shape,
  TEXT,
} from './shape.ts'
import type { ApiSpecificationSpec } from './resource.ts'

const VARIABLE_SOURCE = {
  type: 'object',
  fields: {
    name: { shape: TEXT, description: 'Name of the variable; needed with a key.' },
    secretRef: {
      shape: {
        type: 'object',
        fields: {
          name: { shape: TEXT, required: true, description: 'Secret of the same namespace.' },
          key: { shape: TEXT, description: 'Key in it; without one, every key is a variable.' },
        },
      },
      required: true,
      description: 'Where the value comes from.',
    },
  },
} satisfies Shape

const FIELDS = {
  document: { shape: { type: 'open' }, description: 'The API Specification, snake_case.' },
  documentFrom: {
    shape: {
      type: 'object',
      fields: {
        configMap: {
          shape: KEY_REFERENCE,
          required: true,
          description: 'JSON, or gzip in binaryData.',
        },
      },
    },
    description: 'The document from a ConfigMap of the same namespace.',
  },
  dataPlaneSelector: {
    shape: LABEL_SELECTOR,
    description: 'Data planes; the shared pool when absent.',
  },
  variablesFrom: {
    shape: { type: 'list', of: VARIABLE_SOURCE },
    description: 'Secret keys that become variables; never read back.',
  },
  gatewayClassName: { shape: TEXT, description: 'Operator that serves it; svc when absent.' },
} satisfies Record<keyof ApiSpecificationSpec, Field>

const API_SPECIFICATION_SPEC: ObjectShape = { type: 'object', fields: FIELDS }

/** Every fault of a `spec`, but for those inside the document. */
export const checkApiSpecificationSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkShape(API_SPECIFICATION_SPEC, spec, '/spec')
  return problems.length > 0 || !isMap(spec) ? problems : checkExclusive(spec)
}

const checkExclusive = (spec: Readonly<Record<string, never>> | object): readonly Problem[] => {
  const has = (name: string): boolean => isMap(spec) && ownMember(spec, name) !== undefined
  if (has('document') && has('documentFrom')) {
    const message = '/spec/document and /spec/documentFrom exclude each other: keep one'
    return [{ code: 'invalid_value', path: '/spec/documentFrom', message }]
  }
  if (has('document') || has('documentFrom')) return checkVariableNames(spec)
  const message = '/spec/document is missing (or /spec/documentFrom, to take it from a ConfigMap)'
  return [{ code: 'missing_required_value', path: '/spec/document', message }]
}

const checkVariableNames = (spec: object): readonly Problem[] =>
  ((spec as ApiSpecificationSpec).variablesFrom ?? []).flatMap(({ name, secretRef }, index) => {
    if ((name === undefined) === (secretRef.key === undefined)) return []
    const missing = name === undefined ? 'name' : 'secretRef/key'
    const path = `/spec/variablesFrom/${index}/${missing}`
    const message = `${path} is missing: give name and secretRef.key, or neither to take every key`
    return [{ code: 'missing_required_value' as const, path, message }]
  })
