// Builds the JSON Schema that editors use for every kind of file: manifests of all kinds, and plain documents. It is
// stricter than validation where that helps while typing: it underlines unknown keys, which load with a warning.

import { ANNOTATIONS, SNIPPET } from '../../language/schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from '../../language/validate/document-schema.ts'
import { mapAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { specSchema } from '../../operator/resource/crd.ts'
import { JSON_SCHEMA, jsonSchemaDefinition, withJsonSchemas } from './json-schema-definition.ts'
import { SNIPPETS } from './manifest-snippets.ts'
import { API_VERSION, GROUP } from '../../operator/resource/resource.ts'

/**
 * JSON Schema 2020-12, with the keywords of the YAML and JSON language servers (`defaultSnippets`,
 * `patternErrorMessage`), which validators ignore.
 * @example manifestSchema().title // 'Manifest or document of svc-gateway'
 */
export const manifestSchema = (): ValueMap => ({
  $schema: DOCUMENT_SCHEMA.$schema,
  title: 'Manifest or document of svc-gateway',
  description:
    'An ApiSpecification or a Realm, what they refer to, or a plain API document. Paths, expressions and references are checked by `svc validate`.',
  type: 'object',
  defaultSnippets: SNIPPETS.root,
  // Beside `if`, so that an editor offers them in an empty file.
  properties: {
    apiVersion: { type: 'string', description: 'Version of the kind.', examples: [API_VERSION] },
    kind: KIND,
  },
  if: { anyOf: [{ required: ['kind'] }, { required: ['apiVersion'] }] },
  then: { $ref: '#/$defs/manifest' },
  else: { $ref: '#/$defs/document' },
  $defs: {
    manifest: {
      type: 'object',
      required: ['apiVersion', 'kind', 'metadata'],
      allOf: [
        { if: isOfGroup, then: { properties: { kind: OWN_KIND } } },
        ...Object.entries(KINDS).map(([kind, schema]) => ({
          if: { required: ['kind'], properties: { kind: { const: kind } } },
          then: schema(),
        })),
      ],
    },
    metadata: METADATA,
    ...documentDefinitions(),
    [JSON_SCHEMA]: withMessages(jsonSchemaDefinition()),
  },
})

const isOfGroup: ValueMap = {
  required: ['apiVersion'],
  properties: { apiVersion: { type: 'string', pattern: `^${GROUP.replaceAll('.', '\\.')}/` } },
}

/** Manifests of others may stand in the same file. */
const KIND: ValueMap = {
  type: 'string',
  description: 'What the manifest is.',
  anyOf: [{ enum: ['ApiSpecification', 'Realm', 'Secret', 'ConfigMap'] }, { type: 'string' }],
}

const OWN_KIND: ValueMap = { enum: ['ApiSpecification', 'Realm'] }

const METADATA: ValueMap = {
  type: 'object',
  description: 'Name, namespace, labels and annotations.',
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'Name, unique among its kind in the namespace.' },
    namespace: { type: 'string', description: 'Namespace; kubectl adds that of the context.' },
    labels: { type: 'object', description: 'Labels.', additionalProperties: { type: 'string' } },
    annotations: {
      type: 'object',
      description: 'Annotations.',
      additionalProperties: { type: 'string' },
    },
  },
}

const KINDS: Readonly<Record<string, () => ValueMap>> = {
  ApiSpecification: () => {
    const spec = specOf('ApiSpecification')
    const properties = { ...mapAt(spec, 'properties'), document: { $ref: '#/$defs/document' } }
    return ownKind('ApiSpecification', { ...spec, properties })
  },
  Realm: () => ownKind('Realm', specOf('Realm')),
  Secret: () => ({
    properties: {
      apiVersion: { const: 'v1' },
      kind: true,
      metadata: { $ref: '#/$defs/metadata' },
      type: { type: 'string', description: 'Opaque, if left out.' },
      stringData: {
        type: 'object',
        description: 'Values in plain text.',
        additionalProperties: { type: 'string' },
      },
      data: {
        type: 'object',
        description: 'Values in base64.',
        additionalProperties: { type: 'string' },
      },
      immutable: { type: 'boolean', description: 'No later change is possible.' },
    },
    additionalProperties: false,
  }),
  ConfigMap: () => ({
    properties: {
      apiVersion: { const: 'v1' },
      kind: true,
      metadata: { $ref: '#/$defs/metadata' },
      data: {
        type: 'object',
        description: 'Texts by key; documentFrom reads one of them.',
        additionalProperties: { type: 'string' },
      },
      binaryData: { type: 'object', description: 'Bytes in base64.' },
      immutable: { type: 'boolean', description: 'No later change is possible.' },
    },
    additionalProperties: false,
  }),
}

const ownKind = (kind: string, spec: ValueMap): ValueMap => ({
  required: ['spec'],
  properties: {
    apiVersion: { const: API_VERSION, description: 'Version of the kind.' },
    kind: { const: kind },
    metadata: { $ref: '#/$defs/metadata' },
    spec,
    status: { type: 'object', description: 'Written by the operator: leave it out.' },
  },
  additionalProperties: false,
})

/** The spec as the CRD has it, without what only an API server reads, and closed. */
const specOf = (kind: 'ApiSpecification' | 'Realm'): ValueMap =>
  mapOf(closed(withoutExtensions(specSchema(kind))))

const withoutExtensions = (value: Value): Value => {
  if (Array.isArray(value)) return value.map(withoutExtensions)
  if (!isMap(value)) return value
  const isOpen = value[PRESERVE] === true
  const members = Object.entries(value)
    .filter(([key]) => !ANNOTATIONS.includes(key) && !key.startsWith('x-kubernetes-'))
    .map(([key, member]) => [key, withoutExtensions(member)] as const)
  return isOpen
    ? { ...Object.fromEntries(members), additionalProperties: true }
    : Object.fromEntries(members)
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

/** Definitions of the language, closed, with examples; the whole is `document`. */
const documentDefinitions = (): ValueMap => {
  const { title, description, type, properties, required, $defs } = DOCUMENT_SCHEMA
  const document = { title, description, type, properties, required }
  const definitions = withJsonSchemas(
    mapOf(withoutExtensions({ ...$defs, document } as unknown as ValueMap)),
  )
  return Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => {
      const whole = withMembersOfReference(mapOf(schema), definitions)
      return [name, { ...mapOf(withMessages(closed(whole))), ...snippetsOf(name) }] as const
    }),
  )
}

/** Those of its types, where a definition chooses by `type`. */
const snippetsOf = (name: string): ValueMap => {
  const snippets = Object.hasOwn(SNIPPETS.definitions, name)
    ? SNIPPETS.definitions[name]
    : (DOCUMENT_SCHEMA.$defs[name]?.allOf ?? []).flatMap(({ then }) => snippetOf(then?.$ref))
  return snippets === undefined || snippets.length === 0 ? {} : { defaultSnippets: snippets }
}

const snippetOf = (reference = ''): readonly ValueMap[] => {
  const body = DOCUMENT_SCHEMA.$defs[reference.slice('#/$defs/'.length)]?.[SNIPPET]
  return body === undefined ? [] : [{ label: body['type'] ?? '', body }]
}

/** `$ref` beside `properties` adds members: a closed schema has to list them itself. */
const withMembersOfReference = (schema: ValueMap, definitions: ValueMap): ValueMap => {
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string' || !Object.hasOwn(schema, 'properties')) return schema
  const referred = mapAt(definitions, reference.slice('#/$defs/'.length))
  const properties = { ...mapAt(referred, 'properties'), ...mapAt(schema, 'properties') }
  return { ...rest, properties }
}

/** Every schema that lists properties takes no others, unless it says otherwise or only chooses by `type`. */
const closed = (value: Value): Value => {
  if (Array.isArray(value)) return value.map(closed)
  if (!isMap(value)) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      CONDITIONS.has(key) ? member : closed(member),
    ]),
  )
  const lists = isMap(value['properties']) && value['type'] !== undefined
  const isChoice = Array.isArray(value['allOf'])
  return lists && !isChoice && !Object.hasOwn(value, 'additionalProperties')
    ? { ...members, additionalProperties: false }
    : members
}

/** What stands there is a test of the whole, and lists some members only. */
const CONDITIONS: ReadonlySet<string> = new Set(['if', 'not', 'then', 'else', 'allOf', 'required'])

/** A message in place of the pattern. */
const withMessages = (value: Value): Value => {
  if (Array.isArray(value)) return value.map(withMessages)
  if (!isMap(value)) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withMessages(member)]),
  )
  const hasPattern = typeof value['pattern'] === 'string'
  return hasPattern ? { ...members, patternErrorMessage: patternMessage(value) } : members
}

/** The pattern `\{\{` says "an expression", which is all that a text may be where something else is expected. */
const patternMessage = ({ type }: ValueMap): string => {
  const first = isList(type) ? type.find((each) => each !== 'string') : undefined
  const expected =
    typeof first === 'string' && Object.hasOwn(NOUNS, first) ? NOUNS[first] : 'A value'
  return `${expected ?? 'A value'} is expected here, or an expression such as '{{variables.name}}'.`
}

const NOUNS: Readonly<Record<string, string>> = {
  integer: 'A whole number',
  array: 'A list',
  object: 'A map',
}

const mapOf = (value: Value): ValueMap => (isMap(value) ? value : {})
