import { describe, expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { API_PARTS } from '../../language/compile/api-parts.ts'
import { levelKeys } from '../../language/compile/level-part.ts'
import { INHERITED_KEYS } from '../../language/compile/operation-parts.ts'
import { VERSION_PARTS } from '../../language/compile/version-parts.ts'
import type { SchemeName } from '../../language/compile/security.ts'
import type { OAuth2Flow } from '../../language/realm/token-flows.ts'
import { METHODS, type Scheme } from '../../language/document.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { RESTRICTS } from '../../language/schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from '../../language/validate/document-schema.ts'
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'
import { RESTRICTING_KEYS } from '../../language/validate/restricting-keys.ts'

/** Complete by type: a member more or less than `T` has does not compile. */
const names = <T extends string>(table: Record<T, true>): readonly string[] => Object.keys(table)

const definition = (name: string) => DOCUMENT_SCHEMA.$defs[name] ?? {}

const sorted = (values: Iterable<unknown>): readonly string[] => [...values].map(String).sort()

describe('the schema and the types name the same', () => {
  const flows = names<OAuth2Flow>({
    implicit: true,
    authorization_code: true,
    client_credentials: true,
    resource_owner_password_credentials: true,
  })

  it.each<[string, readonly string[], unknown]>([
    [
      'security types',
      names<SchemeName>({
        basic: true,
        api_key: true,
        oauth2: true,
        oidc: true,
        hmac: true,
      }),
      definition('securityScheme').properties?.['type']?.enum,
    ],
    ['flows', flows, definition('oauth2Security').properties?.['flow']?.anyOf?.[0]?.enum],
    [
      'schemes',
      names<Scheme>({ http: true, https: true }),
      definition('schemes').then?.items?.anyOf?.[0]?.enum,
    ],
  ])('%s', (_name, expected, listed) => {
    expect(sorted(listed as readonly unknown[])).toEqual(sorted(expected))
  })

  it.each(['action', 'securityScheme'])('each type of %s has its branch', (name) => {
    const { allOf = [], properties } = definition(name)
    const type = properties?.['type'] ?? {}
    const types = type.enum ?? definition('actionType').enum ?? []
    expect(types.length).toBeGreaterThan(3)
    expect(allOf.map((branch) => branch.if?.properties?.['type']?.const)).toEqual(types)
  })
})

describe('keys that restrict', () => {
  it('are those of behaviour §2, with where each stands', () => {
    expect(Object.fromEntries(RESTRICTING_KEYS)).toEqual({
      security: ['the API', 'a version', 'a path', 'defaults'],
      schema: ['a path', 'an operation', 'defaults'],
      schema_mode: ['a path', 'an operation', 'defaults'],
      networks: ['a Security Object'],
      is_active: ['a version'],
      pool_size: ['a version'],
      wamp_websocket: ['a version'],
      schemes: ['a path', 'defaults'],
      redirect_http: ['a path', 'defaults'],
      accepts: ['a path', 'defaults'],
      body_max_bytes: ['a path', 'an operation', 'defaults'],
      body_max_byte: ['a path', 'an operation', 'defaults'],
      body_read_seconds: ['a path', 'an operation', 'defaults'],
      rate_limits: ['a path', 'an operation', 'defaults'],
    })
  })

  it('are decided of every key', () => {
    const undecided = [DOCUMENT_SCHEMA, ...Object.values(DOCUMENT_SCHEMA.$defs)].flatMap(
      ({ properties = {} }) =>
        Object.entries(properties).flatMap(([name, schema]) =>
          typeof (schema as { [RESTRICTS]?: boolean })[RESTRICTS] === 'boolean' ? [] : [name],
        ),
    )
    expect(undecided).toEqual([])
  })

  it('stand in rows of their level, but for those that nothing compiles or that hold what has a compiler of its own', () => {
    const besides = (keys: object = {}, rows: object) =>
      Object.keys(keys).filter((name) => !Object.hasOwn(rows, name))
    const of = (name: string) => definition(name).properties
    expect({
      api: besides(DOCUMENT_SCHEMA.properties, levelKeys(API_PARTS)),
      version: besides(of('version'), levelKeys(VERSION_PARTS)),
      path: besides(of('path'), INHERITED_KEYS),
      operation: besides(of('operation'), INHERITED_KEYS),
      defaults: besides(of('defaults'), INHERITED_KEYS),
    }).toEqual({
      api: 'name meta variables defaults status_codes security versions ts'.split(' '),
      version: 'name version base_path paths openapi docs_page info variables defaults'.split(' '),
      path: [...'summary description variables defaults is_collection'.split(' '), ...METHODS],
      operation: ['info', 'examples', 'action', 'response'],
      defaults: [],
    })
  })

  it('name every method of a path', () => {
    const { properties = {}, if: oneOf } = definition('path')
    expect(METHODS.every((method) => Object.hasOwn(properties, method))).toBe(true)
    expect(oneOf?.anyOf?.flatMap(({ required = [] }) => required)).toEqual(METHODS)
  })
})

describe.each([
  ['document', DOCUMENT_SCHEMA],
  ['realm', REALM_SCHEMA],
])('the %s schema', (_name, schema: object) => {
  const nodes = (value: unknown, path: string): readonly (readonly [string, ValueMap])[] => {
    if (Array.isArray(value)) return value.flatMap((item, i) => nodes(item, `${path}/${i}`))
    if (!isMap(value)) return []
    const inner = Object.entries(value).flatMap(([key, item]) => nodes(item, `${path}/${key}`))
    return [[path, value], ...inner]
  }
  const properties = nodes(schema, '').flatMap(([path, node]) =>
    isMap(node['properties']) && !path.includes('/if')
      ? Object.entries(node['properties']).map(
          ([name, item]) => [`${path}/${name}`, name, item] as const,
        )
      : [],
  )

  it('is valid by its meta-schema', () => {
    const ajv = new Ajv2020({ formats: { 'wamp-uri': true, 'wamp-pattern': true } })
    expect(ajv.validateSchema(schema)).toBe(true)
  })

  it('describes every property', () => {
    const bare = properties.filter(
      ([, , item]) => !isMap(item) || typeof item['description'] !== 'string',
    )
    expect(properties.length).toBeGreaterThan(30)
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it('has no name that Object.prototype has', () => {
    expect(properties.filter(([, name]) => name in Object.prototype)).toEqual([])
  })
})
