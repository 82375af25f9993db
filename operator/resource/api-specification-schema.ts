// Describes the spec of an ApiSpecification around the document. The language validates the document itself.

import { memberAt } from '../../language/expression/members.ts'
import type { Problem } from '../../language/problem.ts'
import { DOCUMENT_SCHEMA } from '../../language/validate/document-schema.ts'
import type { TypeOf } from '../../language/schema/realm-notation.ts'
import { isMap } from '../../language/expression/value.ts'
import { checkSchema } from './check-schema.ts'
import { GATEWAY_CLASS_NAME, LABEL_SELECTOR } from './realm-spec-schema.ts'
import { KEY_REFERENCE, type ObjectSchema, type ResourceSchema, TEXT } from './resource-schema.ts'

export const VARIABLE_SOURCE = {
  type: 'object',
  required: ['secretRef'],
  properties: {
    name: { ...TEXT, description: 'Name of the variable; needed with a key, and only then.' },
    secretRef: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      required: ['name'],
      properties: {
        name: { ...TEXT, description: 'Secret of the same namespace.' },
        key: {
          ...TEXT,
          description: 'Key in it; without one, every key is a variable of its own name.',
        },
      },
      description: 'Where the value comes from.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.name) == has(self.secretRef.key)',
      message: 'give name and secretRef.key, or neither to take every key of the Secret',
    },
  ],
} as const satisfies ObjectSchema

const DOCUMENT = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-preserve-unknown-fields': true,
  'x-holds': Object.keys(DOCUMENT_SCHEMA.properties),
  description:
    'The API Specification itself: what is served, in snake_case. Only its top is described here; the ' +
    'operator validates all of it and lists every problem, with its place, in status.errors. Apply it with ' +
    'kubectl apply --server-side: client-side apply drops what is null, and keeps all of it twice.',
  properties: {
    id: {
      ...TEXT,
      description:
        'Identifies the API, among all namespaces; the oldest document with an id owns it. Immutable.',
    },
    host: {
      ...TEXT,
      description:
        'Host that the API answers to: api.example.com, mydomain.:_ with one label of any name, _ for every host.',
    },
    realm_uri: { ...TEXT, description: 'uri of the Realm that the API belongs to.' },
    name: { type: 'string', description: 'Display name.' },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(oldSelf.id) || (has(self.id) && self.id == oldSelf.id)',
      message:
        'the id of a document never changes: create another ApiSpecification with the new id, then ' +
        'delete this one',
      fieldPath: '.id',
    },
  ],
} as const satisfies ResourceSchema

/** The guards below say the same as the rules of what no API server has seen. */
export const API_SPECIFICATION_SPEC = {
  type: 'object',
  description: 'The API, and which gateways serve it.',
  properties: {
    document: DOCUMENT,
    documentFrom: {
      type: 'object',
      required: ['configMap'],
      properties: {
        configMap: {
          ...KEY_REFERENCE,
          description:
            'JSON in data, or gzip of it in binaryData; up to 4 MiB inflated. A ConfigMap of the same namespace.',
        },
      },
      description:
        'Where the document is, if it does not stand here: for large ones and for those that another tool writes.',
    },
    dataPlaneSelector: {
      ...LABEL_SELECTOR,
      description:
        'Labels of the gateway pods that serve the document; the shared pool when absent. A sidecar serves ' +
        'documents of its own namespace that select it, and no others.',
    },
    variablesFrom: {
      type: 'array',
      items: VARIABLE_SOURCE,
      maxItems: 64,
      description:
        'Keys of Secrets that become variables of the document. They travel beside it and are never read ' +
        'back. Of two with one name the later counts.',
    },
    gatewayClassName: GATEWAY_CLASS_NAME,
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.document) || has(self.documentFrom)',
      message: 'give the API in document, or say in documentFrom which ConfigMap holds it',
    },
    {
      rule: '!has(self.document) || !has(self.documentFrom)',
      message: 'document and documentFrom exclude each other: keep one',
      fieldPath: '.documentFrom',
    },
  ],
} as const satisfies ObjectSchema

/** Every problem of a `spec`, except those inside the document. */
export const checkApiSpecificationSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkSchema(API_SPECIFICATION_SPEC, spec, '/spec')
  return problems.length > 0 || !isMap(spec) ? problems : checkExclusive(spec)
}

const checkExclusive = (spec: Readonly<Record<string, never>> | object): readonly Problem[] => {
  const has = (name: string): boolean => isMap(spec) && memberAt(spec, name) !== undefined
  if (has('document') && has('documentFrom')) {
    const message = '/spec/document and /spec/documentFrom exclude each other: keep one'
    return [{ code: 'invalid_value', path: '/spec/documentFrom', message }]
  }
  if (has('document') || has('documentFrom')) return checkVariableNames(spec)
  const message = '/spec/document is missing (or /spec/documentFrom, to take it from a ConfigMap)'
  return [{ code: 'missing_required_value', path: '/spec/document', message }]
}

const checkVariableNames = (spec: object): readonly Problem[] =>
  ((spec as TypeOf<typeof API_SPECIFICATION_SPEC>).variablesFrom ?? []).flatMap(
    ({ name, secretRef }, index) => {
      if ((name === undefined) === (secretRef.key === undefined)) return []
      const missing = name === undefined ? 'name' : 'secretRef/key'
      const path = `/spec/variablesFrom/${index}/${missing}`
      const message = `${path} is missing: give name and secretRef.key, or neither to take every key`
      return [{ code: 'missing_required_value' as const, path, message }]
    },
  )
