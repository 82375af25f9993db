// Tests the JSON Schema for editors: what loads is valid by it, and mistakes are found where they stand. The language
// server that most editors use then completes and underlines by it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse, parseAllDocuments } from 'yaml'
import { isCookieDomain } from '../../../language/cookie-domain.ts'
import { manifestSchema } from '../../../cli/editor/manifest-schema.ts'

const ROOT = join(import.meta.dirname, '../../..')
const EXAMPLES = join(ROOT, 'examples')
const FILE = join(ROOT, 'dev/manifest.schema.json')

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { 'cookie-domain': isCookieDomain, 'wamp-uri': true, 'wamp-pattern': true, int64: true },
})
const matches = ajv.compile(manifestSchema())

/** `/pointer message` of each error that says something by itself. */
const faultsOf = (text: string): readonly string[] => {
  matches(parse(text))
  return (matches.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map(({ instancePath, message, params }) => {
      const { additionalProperty = '' } = params as { readonly additionalProperty?: string }
      return `${instancePath} ${message ?? ''} ${additionalProperty}`
    })
}

const MANIFEST = `apiVersion: gateway.svc.dev/v1alpha1
kind: ApiSpecification
metadata: {name: a}
spec:
  document:
    id: com.example.a
    host: _
    realm_uri: com.example
    versions:
      v1:
        base_path: /v1
        paths:
          /a:
            get: {action: {type: forward, host: http://a, retries: 2}}
            post: {action: {type: wamp_call, procedure: com.example.a, args: []}}
            security: {type: basic, groups: [a]}
`
const REALM = `apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: {name: a}
spec: {uri: com.example, router: {url: ws://a}}
`

describe('the schema for editors', () => {
  it('is the file that editors are pointed to', () => {
    const text = `${JSON.stringify(manifestSchema(), null, 2)}\n`
    expect(readFileSync(FILE, 'utf8')).toBe(text)
  })

  it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml')))(
    '%s is valid by it',
    (name) => {
      const text = readFileSync(join(EXAMPLES, name), 'utf8')
      for (const document of parseAllDocuments(text)) {
        matches(document.toJS())
        expect(matches.errors ?? []).toEqual([])
      }
    },
  )

  it('offers Security Objects that are valid, alone and in a list', () => {
    const { $defs } = manifestSchema() as unknown as {
      readonly $defs: Readonly<
        Record<string, { readonly defaultSnippets?: readonly { readonly body: object }[] }>
      >
    }
    const offered = ['security', 'securityObject', 'securityScheme'].map((name) =>
      ($defs[name]?.defaultSnippets ?? []).map(({ body }) =>
        JSON.stringify(body).replaceAll(/\$\{\d:([^}]+)\}/g, '$1'),
      ),
    )
    const [values = [], ...objects] = offered
    expect(offered.map(({ length }) => length)).toEqual([3, 1, 5])
    for (const text of [...values, ...objects.flat().map((object) => `[${object}]`)])
      expect(faultsOf(replace('{type: basic, groups: [a]}', text))).toEqual([])
  })

  const replace = (from: string, to: string): string => {
    expect(MANIFEST).toContain(from)
    return MANIFEST.replace(from, to)
  }

  const withSchema = (schema: string): string =>
    replace('            get: {', `            get: {schema: {body: ${schema}}, `)

  it.each<[string, () => string, string]>([
    [
      'a misspelt kind',
      () => replace('kind: ApiSpecification', 'kind: ApiSpecifcation'),
      '/kind must be equal to one of',
    ],
    ['a key of the document', () => replace('base_path', 'basepath'), 'basepath'],
    ['a key of an action', () => replace('retries', 'retires'), 'retires'],
    ['a key that another action has', () => replace('retries: 2', 'args: []'), 'args'],
    ['a method', () => replace('get:', 'gett:'), 'gett'],
    ['a key of a scheme', () => replace('groups', 'group'), 'group'],
    ['a key of the resource', () => replace('spec:', 'specs:'), 'specs'],
    [
      'a type',
      () => replace('type: forward', 'type: forwrad'),
      '/action/type must be equal to one of',
    ],
    ['a value', () => replace('retries: 2', 'retries: 2s'), '/retries'],
    ['a key of a realm', () => REALM.replace('router:', 'ruoter:'), 'ruoter'],
    ['a key of a router', () => REALM.replace('{url:', '{uri:'), 'uri'],
    [
      'a secret in a list',
      () => 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndate: {}\n',
      'date',
    ],
    [
      'a keyword of a JSON Schema',
      () => withSchema('{typ: object}'),
      '/schema/body must NOT have additional properties typ',
    ],
    [
      'a keyword of one within another',
      () => withSchema('{properties: {sku: {minLenght: 1}}}'),
      '/properties/sku must NOT have additional properties minLenght',
    ],
    [
      'a type of a JSON Schema',
      () => withSchema('{type: objekt}'),
      '/type must be equal to one of',
    ],
    ['a format', () => withSchema('{format: datum}'), '/format must be equal to one of'],
    [
      'a reference to elsewhere',
      () => withSchema("{$ref: 'https://a.test/s'}"),
      '/$ref must match',
    ],
    ['a plain document', () => 'id: a\nhost: _\nrealm_uri: a\nversion: {}\n', 'version'],
  ])('finds a mistake in %s', (_, text, fault) => {
    expect(faultsOf(text()).filter((each) => each.includes(fault))).not.toEqual([])
  })

  it.each<[string, string]>([
    ['the manifest without mistakes', MANIFEST],
    ['a realm', REALM],
    [
      'a manifest of others',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {}\n',
    ],
    ['a Secret', 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {k: v}\n'],
    [
      'JSON Schemas',
      MANIFEST.replace(
        '            get: {',
        `            get: {schema: {body: {type: [object, 'null'], properties: {sku: {$ref: '#/$defs/sku'}, n: '{{variables.n}}'}, required: '{{variables.r}}', $defs: {sku: {const: 1, maximum: '{{variables.m}}'}}}, bindings: '{{variables.b}}', result: true}, `,
      ),
    ],
    ['reserved words', MANIFEST.replace('/a:', '/constructor:').replace('v1:', 'toString:')],
  ])('finds none in %s', (_, text) => {
    expect(faultsOf(text)).toEqual([])
  })
})
