import { describe, expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { CompiledAction } from '../../language/compile/action.ts'
import type { SchemeName } from '../../language/compile/security.ts'
import type { OAuth2Flow } from '../../language/realm/token-flows.ts'
import type { ContentType } from '../../language/compiled.ts'
import {
  type ApiDocument,
  type DefaultsObject,
  METHODS,
  type PathObject,
  type Scheme,
  type VersionObject,
} from '../../language/document.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import api from '../../language/schema/api-specification.schema.json' with { type: 'json' }
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'

/** Complete by type: a member more or less than `T` has does not compile. */
const names = <T extends string>(table: Record<T, true>): readonly string[] => Object.keys(table)

const limits = {
  body_max_bytes: true,
  body_max_byte: true,
  body_read_bytes: true,
  body_read_seconds: true,
  timeout: true,
  connect_timeout: true,
  retries: true,
  retry_timeout: true,
} as const
const inherited = {
  ...limits,
  schemes: true,
  security: true,
  accepts: true,
  provides: true,
  headers: true,
} as const
const methods = {
  delete: true,
  get: true,
  head: true,
  options: true,
  patch: true,
  post: true,
  put: true,
} as const

const propertyTable: readonly (readonly [string, readonly string[], object])[] = [
  [
    'ApiDocument',
    names<keyof ApiDocument | 'ts'>({
      id: true,
      host: true,
      realm_uri: true,
      name: true,
      meta: true,
      variables: true,
      defaults: true,
      status_codes: true,
      security: true,
      versions: true,
      ts: true,
    }),
    api.properties,
  ],
  [
    'VersionObject',
    names<keyof VersionObject>({
      name: true,
      version: true,
      base_path: true,
      paths: true,
      is_active: true,
      is_deprecated: true,
      pool_size: true,
      info: true,
      meta: true,
      variables: true,
      defaults: true,
      status_codes: true,
      security: true,
      languages: true,
    }),
    api.$defs.version.properties,
  ],
  [
    'PathObject',
    names<keyof PathObject>({
      ...inherited,
      ...methods,
      summary: true,
      description: true,
      variables: true,
      defaults: true,
      is_collection: true,
    }),
    api.$defs.path.properties,
  ],
  ['DefaultsObject', names<keyof DefaultsObject>(inherited), api.$defs.defaults.properties],
]

const sorted = (values: Iterable<unknown>): readonly string[] => [...values].map(String).sort()

describe('the schemas and the types name the same', () => {
  it.each(propertyTable)('properties of %s', (_name, expected, properties) => {
    expect(sorted(Object.keys(properties))).toEqual(sorted(expected))
  })

  const itemsOf = (name: 'schemes' | 'accepts' | 'provides'): unknown =>
    api.$defs[name].then.items.anyOf[0]?.enum
  const contentTypes = {
    'application/json': true,
    'application/json; charset=utf-8': true,
    'application/msgpack': true,
    'application/msgpack; charset=utf-8': true,
  } as const
  const flows = names<OAuth2Flow>({
    implicit: true,
    authorization_code: true,
    client_credentials: true,
    resource_owner_password_credentials: true,
  })

  it.each<[string, readonly string[], unknown]>([
    [
      'action types',
      names<Exclude<CompiledAction['type'], 'empty'>>({
        static: true,
        forward: true,
        wamp_call: true,
        wamp_publish: true,
        wamp_subscribe: true,
        wamp_unsubscribe: true,
        wamp_register: true,
        wamp_unregister: true,
      }),
      api.$defs.actionType.enum,
    ],
    [
      'security types',
      names<SchemeName>({
        basic: true,
        api_key: true,
        oauth2: true,
        oidc: true,
      }),
      api.$defs.securityScheme.properties.type.enum,
    ],
    ['flows', flows, api.$defs.oauth2Security.properties.flow.anyOf[0]?.enum],
    ['methods', METHODS, api.$defs.forwardAction.properties.http_method.anyOf[0]?.enum],
    [
      'methods a path may have',
      METHODS,
      api.$defs.path.if.anyOf.flatMap(({ required }) => required),
    ],
    ['schemes', names<Scheme>({ http: true, https: true }), itemsOf('schemes')],
    ['content types of responses', Object.keys(contentTypes), itemsOf('provides')],
    [
      'content types of requests',
      names<ContentType>({ ...contentTypes, 'application/x-www-form-urlencoded': true }),
      itemsOf('accepts'),
    ],
  ])('%s', (_name, expected, listed) => {
    expect(sorted(listed as readonly unknown[])).toEqual(sorted(expected))
  })

  it.each(['allOf'] as const)('each type has its branch (%s)', (key) => {
    const branchTypes = (
      branches: readonly { if: { properties: { type: { const: string } } } }[],
    ) => sorted(branches.map((branch) => branch.if.properties.type.const))
    expect(branchTypes(api.$defs.action[key])).toEqual(sorted(api.$defs.actionType.enum))
    expect(branchTypes(api.$defs.securityScheme[key])).toEqual(
      sorted(api.$defs.securityScheme.properties.type.enum),
    )
  })
})

describe.each([
  ['api-specification', api],
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
