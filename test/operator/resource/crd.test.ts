import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { isList, isMap } from '../../../language/expression/value.ts'
import { OWN_TYPES } from '../../../operator/resource/own-types.ts'
import { crdNames, customResourceDefinitions } from '../../../operator/resource/crd.ts'
import { structuralSchema } from '../../../operator/resource/crd-schema.ts'
import type { ResourceSchema } from '../../../operator/resource/resource-schema.ts'
import { INSTALL_FOLDERS, renderInstallFiles } from '../../support/install-files.ts'

const ROOT = join(import.meta.dirname, '../../..')

describe('what is installed', () => {
  it.each([...renderInstallFiles()])('%s is as generated (make golden)', (path, text) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text)
  })

  it('is all that these folders hold', () => {
    const files = INSTALL_FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }),
    )
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1))
    expect(files.sort()).toEqual([...renderInstallFiles().keys()].sort())
  })
})

const read = (value: Value | undefined, ...path: readonly (string | number)[]): Value | undefined =>
  path.reduce<Value | undefined>((at, key) => {
    if (isList(at)) return at[Number(key)]
    return isMap(at) && Object.hasOwn(at, key) ? at[String(key)] : undefined
  }, value)

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

const schemas = (): readonly (readonly [string, ValueMap])[] =>
  customResourceDefinitions().map((crd) => {
    const schema = read(crd, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema')
    if (!isMap(schema)) throw new Error('no schema')
    return [textOf(read(crd, 'spec', 'names', 'kind')), schema]
  })

/** Every schema in it that has a name, with the path to it. */
const named = (schema: ValueMap, path = ''): readonly (readonly [string, ValueMap])[] => {
  const own = Object.entries(isMap(schema['properties']) ? schema['properties'] : {})
  const below = own.flatMap(([name, child]) => {
    if (!isMap(child)) return []
    const at = `${path}.${name}`
    return [[at, child] as const, ...named(child, at)]
  })
  const inner = ['items', 'additionalProperties'].flatMap((key) => {
    const child = schema[key]
    return isMap(child) ? named(child, `${path}[]`) : []
  })
  return [...below, ...inner]
}

describe('the definitions', () => {
  it('are of the kinds that the operator asks for', () => {
    const types = [OWN_TYPES.apiSpecifications, OWN_TYPES.realms]
    expect(crdNames()).toEqual(types.map(({ plural, group }) => `${plural}.${group}`))
    expect(
      customResourceDefinitions().map((crd) => ({
        group: read(crd, 'spec', 'group'),
        version: read(crd, 'spec', 'versions', 0, 'name'),
        plural: read(crd, 'spec', 'names', 'plural'),
        kind: read(crd, 'spec', 'names', 'kind'),
        isNamespaced: read(crd, 'spec', 'scope') === 'Namespaced',
      })),
    ).toEqual(types)
  })

  it.each(schemas())('%s: every field has a sentence', (_kind, schema) => {
    const bare = named(schema).filter(([, child]) => !/[.)]$/.test(textOf(child['description'])))
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it.each(schemas())(
    '%s: only conditions are shared in part, all other lists whole',
    (_kind, schema) => {
      const types = named(schema).flatMap(([path, { 'x-kubernetes-list-type': type }]) =>
        type === undefined || type === 'atomic' ? [] : [[path, type]],
      )
      expect(types).toEqual([['.status.conditions', 'map']])
    },
  )

  it('a document is one value', () => {
    const document = read(schemas()[0]?.[1], 'properties', 'spec', 'properties', 'document')
    expect(document).toMatchObject({
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      'x-kubernetes-preserve-unknown-fields': true,
    })
    expect(Object.keys((read(document, 'properties') ?? {}) as object)).toEqual([
      'id',
      'host',
      'realm_uri',
      'name',
    ])
  })

  it.each([
    ['ApiSpecification', ['Accepted', 'ResolvedRefs', 'Programmed', 'Ready']],
    ['Realm', ['Accepted', 'ResolvedRefs', 'Ready']],
  ])('%s: before it is validated nothing is known', (kind, types) => {
    const schema = new Map(schemas()).get(kind)
    const conditions = read(schema, 'properties', 'status', 'default', 'conditions')
    expect(conditions).toEqual(
      types.map((type) => ({
        type,
        status: 'Unknown',
        reason: 'Pending',
        message: 'no operator of its class has validated it yet',
        lastTransitionTime: '1970-01-01T00:00:00Z',
      })),
    )
  })
})

const BOOLEAN = { type: 'boolean' } as const
const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

describe('what a definition makes of the schema of a resource', () => {
  const TABLE: readonly (readonly [ResourceSchema, object])[] = [
    [
      { type: 'integer', minimum: 0 },
      { type: 'integer', format: 'int64', minimum: 0 },
    ],
    [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date-time' },
    ],
    [{ 'x-sensitivity': 'hash' }, { [PRESERVE]: true }],
    [
      { 'x-sensitivity': 'secret' },
      {
        type: 'object',
        required: ['secretRef'],
        properties: { secretRef: expect.objectContaining({ required: ['name', 'key'] }) },
      },
    ],
    [
      { type: 'object', maxProperties: 3, additionalProperties: { type: 'integer' } },
      {
        type: 'object',
        maxProperties: 3,
        additionalProperties: { type: 'integer', format: 'int64' },
      },
    ],
    [
      { type: 'array', items: BOOLEAN, maxItems: 3 },
      { type: 'array', maxItems: 3, items: BOOLEAN, 'x-kubernetes-list-type': 'atomic' },
    ],
    [
      { type: 'array', items: BOOLEAN, 'x-kubernetes-list-map-keys': ['a'] },
      {
        type: 'array',
        items: BOOLEAN,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
    ],
    [
      { type: 'object', [PRESERVE]: true, 'x-holds': ['a'] },
      { type: 'object', [PRESERVE]: true },
    ],
    [
      {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        required: ['a'],
        properties: {
          a: { ...BOOLEAN, description: 'A.' },
          constructor: { 'x-sensitivity': 'hash' as const, description: 'C.' },
        },
        'x-kubernetes-validations': [{ rule: 'self.a', message: 'say a', fieldPath: '.a' }],
      },
      {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        required: ['a'],
        properties: {
          a: { description: 'A.', type: 'boolean' },
          constructor: { description: 'C.', [PRESERVE]: true },
        },
        'x-kubernetes-validations': [{ rule: 'self.a', message: 'say a', fieldPath: '.a' }],
      },
    ],
  ]
  it.each(TABLE)('%j', (schema, structural) => {
    const described: ResourceSchema = { ...schema, description: 'Words.' }
    expect(structuralSchema(described)).toEqual({ description: 'Words.', ...structural })
  })
})
