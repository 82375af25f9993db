// Describes the spec of an ApiSpecification around the document. The language validates the document itself.

import { memberAt } from '../../language/expression/members.ts'
import type { Problem } from '../../language/problem.ts'
import { DOCUMENT_SCHEMA } from '../../language/schema/document-schema.ts'
import { isMap } from '../../language/expression/value.ts'
import { GATEWAY_CLASS_NAME, LABEL_SELECTOR } from './realm-shape.ts'
import {
  checkShape,
  type Field,
  KEY_REFERENCE,
  type ObjectShape,
  type Shape,
  TEXT,
} from './shape.ts'
import type { ApiSpecificationSpec } from './resource.ts'

const VARIABLE_SOURCE = {
  type: 'object',
  fields: {
    name: { shape: TEXT, description: 'Name of the variable; needed with a key, and only then.' },
    secretRef: {
      shape: {
        type: 'object',
        isAtomic: true,
        fields: {
          name: { shape: TEXT, required: true, description: 'Secret of the same namespace.' },
          key: {
            shape: TEXT,
            description: 'Key in it; without one, every key is a variable of its own name.',
          },
        },
      },
      required: true,
      description: 'Where the value comes from.',
    },
  },
  rules: [
    {
      rule: 'has(self.name) == has(self.secretRef.key)',
      message: 'give name and secretRef.key, or neither to take every key of the Secret',
    },
  ],
} satisfies Shape

const DOCUMENT = {
  type: 'open',
  isAtomic: true,
  holds: Object.keys(DOCUMENT_SCHEMA.properties),
  known: {
    id: {
      shape: TEXT,
      description:
        'Identifies the API, among all namespaces; the oldest document with an id owns it. Immutable.',
    },
    host: {
      shape: TEXT,
      description:
        'Host that the API answers to: api.example.com, mydomain.:_ with one label of any name, _ for every host.',
    },
    realm_uri: { shape: TEXT, description: 'uri of the Realm that the API belongs to.' },
    name: { shape: { type: 'string', mayBeEmpty: true }, description: 'Display name.' },
  },
  rules: [
    {
      rule: '!has(oldSelf.id) || (has(self.id) && self.id == oldSelf.id)',
      message:
        'the id of a document never changes: create another ApiSpecification with the new id, then ' +
        'delete this one',
      fieldPath: '.id',
    },
  ],
} satisfies Shape

const FIELDS = {
  document: {
    shape: DOCUMENT,
    description:
      'The API Specification itself: what is served, in snake_case. Only its top is described here; the ' +
      'operator validates all of it and lists every problem, with its place, in status.errors. Apply it with ' +
      'kubectl apply --server-side: client-side apply drops what is null, and keeps all of it twice.',
  },
  documentFrom: {
    shape: {
      type: 'object',
      fields: {
        configMap: {
          shape: KEY_REFERENCE,
          required: true,
          description:
            'JSON in data, or gzip of it in binaryData; up to 4 MiB inflated. A ConfigMap of the same namespace.',
        },
      },
    },
    description:
      'Where the document is, if it does not stand here: for large ones and for those that another tool writes.',
  },
  dataPlaneSelector: {
    shape: LABEL_SELECTOR,
    description:
      'Labels of the gateway pods that serve the document; the shared pool when absent. A sidecar serves ' +
      'documents of its own namespace that select it, and no others.',
  },
  variablesFrom: {
    shape: { type: 'list', of: VARIABLE_SOURCE, maxItems: 64 },
    description:
      'Keys of Secrets that become variables of the document. They travel beside it and are never read ' +
      'back. Of two with one name the later counts.',
  },
  gatewayClassName: GATEWAY_CLASS_NAME,
} satisfies Record<keyof ApiSpecificationSpec, Field>

/** The guards below say the same of what no API server has seen. */
export const API_SPECIFICATION_SPEC: ObjectShape = {
  type: 'object',
  fields: FIELDS,
  rules: [
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
}

/** Every problem of a `spec`, except those inside the document. */
export const checkApiSpecificationSpec = (spec: unknown): readonly Problem[] => {
  const problems = checkShape(API_SPECIFICATION_SPEC, spec, '/spec')
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
  ((spec as ApiSpecificationSpec).variablesFrom ?? []).flatMap(({ name, secretRef }, index) => {
    if ((name === undefined) === (secretRef.key === undefined)) return []
    const missing = name === undefined ? 'name' : 'secretRef/key'
    const path = `/spec/variablesFrom/${index}/${missing}`
    const message = `${path} is missing: give name and secretRef.key, or neither to take every key`
    return [{ code: 'missing_required_value' as const, path, message }]
  })
