// Generates the CustomResourceDefinitions of our kinds from their schemas, for kubectl, the chart and tests. The files
// in crds/ are these, written as YAML.

import type { ValueMap } from '../../language/expression/value.ts'
import { API_SPECIFICATION_SPEC } from './api-specification-schema.ts'
import type { Condition, ConditionType } from './condition.ts'
import { structuralSchema } from './crd-schema.ts'
import { REALM_SPEC } from './realm-spec-schema.ts'
import { API_VERSION, GROUP } from './resource.ts'
import type { ObjectSchema } from './resource-schema.ts'
import { API_SPECIFICATION_STATUS, REALM_STATUS } from './status-schema.ts'

interface Definition {
  readonly kind: 'ApiSpecification' | 'Realm'
  readonly plural: string
  /** Not `svc`, nor a category of that name: it would hijack `kubectl get svc`. */
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec: ObjectSchema
  readonly status: ObjectSchema
  readonly columns: readonly Column[]
  readonly selectableFields: readonly string[]
}

interface Column {
  readonly name: string
  readonly jsonPath: string
  readonly description: string
  readonly type?: 'date'
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean
}

/**
 * One of each kind, in the order of their names.
 * @internal written to crds/, and for tests
 */
export const customResourceDefinitions = (): readonly ValueMap[] =>
  [API_SPECIFICATION, REALM].map(definition)

/** The schema of `spec` alone, as the definition has it. */
export const specSchema = (kind: Definition['kind']): ValueMap =>
  structuralSchema((kind === 'Realm' ? REALM : API_SPECIFICATION).spec)

/** @example 'apispecifications.gateway.svc.dev' */
export const crdNames = (): readonly string[] => [API_SPECIFICATION, REALM].map(nameOf)

const condition = (type: ConditionType, member: keyof Condition): string =>
  `.status.conditions[?(@.type=="${type}")].${member}`

const READY = {
  name: 'Ready',
  jsonPath: condition('Ready', 'status'),
  description: 'Whether all is well.',
}
const REASON = {
  name: 'Reason',
  jsonPath: condition('Ready', 'reason'),
  description: 'Why not, in a word.',
}
const AGE = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'The oldest wins where two claim the same.',
} as const
const MESSAGE = {
  name: 'Message',
  jsonPath: condition('Ready', 'message'),
  description: 'Why not, with the place of the first problem.',
  isWide: true,
}

/**
 * Columns of `kubectl get apispec` without `-o wide`, after the name, as they are headed.
 * @example documentColumns()[0] // 'HOST'
 */
export const documentColumns = (): readonly string[] =>
  API_SPECIFICATION.columns
    .filter(({ isWide }) => isWide !== true)
    .map(({ name }) => name.toUpperCase())

const API_SPECIFICATION: Definition = {
  kind: 'ApiSpecification',
  plural: 'apispecifications',
  shortNames: ['apispec'],
  description:
    'An HTTP API as one document: hosts and paths, what to do with a request, who may call it and what the ' +
    'response is. The operator validates it, sends it to the gateways, and reports the result in status.',
  spec: API_SPECIFICATION_SPEC,
  status: API_SPECIFICATION_STATUS,
  columns: [
    { name: 'Host', jsonPath: '.status.host', description: 'Host that it answers to.' },
    { name: 'Realm', jsonPath: '.status.realm', description: 'Realm that it belongs to.' },
    {
      name: 'Serving',
      jsonPath: '.status.serving',
      description: 'The oldest generation that a ready gateway has loaded; –: none has any.',
    },
    {
      name: 'Gateways',
      jsonPath: '.status.gateways',
      description:
        'How many gateways have the wanted version, of those that should have it; a minute old at most.',
    },
    {
      name: 'Programmed',
      jsonPath: condition('Programmed', 'status'),
      description: 'Whether every ready gateway has loaded this generation.',
    },
    READY,
    REASON,
    AGE,
    { name: 'Id', jsonPath: '.status.id', description: 'Id of the document.', isWide: true },
    MESSAGE,
  ],
  selectableFields: ['.spec.document.id', '.spec.document.realm_uri'],
}

const REALM: Definition = {
  kind: 'Realm',
  plural: 'realms',
  shortNames: [],
  description:
    'A named space of users, keys, identity providers and WAMP procedures. Every document belongs to one, by ' +
    'its uri; allowedNamespaces says whose documents may. Secrets stand here by reference only.',
  spec: REALM_SPEC,
  status: REALM_STATUS,
  columns: [
    { name: 'Uri', jsonPath: '.spec.uri', description: 'What documents call it.' },
    {
      name: 'Accepted',
      jsonPath: condition('Accepted', 'status'),
      description: 'Whether it is valid, and the oldest of its uri.',
    },
    READY,
    REASON,
    AGE,
    {
      name: 'From',
      jsonPath: '.spec.allowedNamespaces.from',
      description: 'Whose documents may use it.',
      isWide: true,
    },
    MESSAGE,
  ],
  selectableFields: ['.spec.uri'],
}

/**
 * Raised with every change of what `definition` makes, which a test asks for: an older chart leaves newer kinds alone by it.
 * @example `gateway.svc.dev/schema-version: "2"`
 * @internal exported for tests
 */
export const SCHEMA_VERSION = 8

/** @internal exported for tests */
export const SCHEMA_STAMP = `${GROUP}/schema-version`

/** Also for a chart that takes the CRD over: deleting it would delete every document. */
const KEEP = { 'helm.sh/resource-policy': 'keep' }

const nameOf = ({ plural }: Definition): string => `${plural}.${GROUP}`

const definition = (kind: Definition): ValueMap => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: nameOf(kind),
    annotations: { [SCHEMA_STAMP]: String(SCHEMA_VERSION), ...KEEP },
  },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: {
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      plural: kind.plural,
      singular: kind.kind.toLowerCase(),
      ...(kind.shortNames.length > 0 && { shortNames: [...kind.shortNames] }),
      categories: ['svc-gateway'],
    },
    versions: [
      {
        name: API_VERSION.slice(GROUP.length + 1),
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: kind.columns.map(printerColumn),
        selectableFields: kind.selectableFields.map((jsonPath) => ({ jsonPath })),
        schema: { openAPIV3Schema: schemaOf(kind) },
      },
    ],
  },
})

const printerColumn = ({ name, jsonPath, description, type, isWide }: Column): ValueMap => ({
  name,
  type: type ?? 'string',
  jsonPath,
  description,
  ...(isWide === true && { priority: 1 }),
})

const schemaOf = ({ description, spec, status }: Definition): ValueMap => ({
  type: 'object',
  description,
  required: ['spec'],
  properties: { spec: structuralSchema(spec), status: structuralSchema(status) },
})
