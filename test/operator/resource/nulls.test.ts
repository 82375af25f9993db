// Null for every field of our kinds, wherever it may stand: absent, as an API server has it, and never an exception.

import { describe, expect, it } from '@jest/globals'
import { readReview } from '../../../operator/admission/review.ts'
import { validateReview } from '../../../operator/admission/validate-review.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { API_SPECIFICATION_SPEC } from '../../../operator/resource/api-specification-schema.ts'
import { readResource } from '../../../operator/resource/read-resource.ts'
import { REALM_SPEC } from '../../../operator/resource/realm-spec-schema.ts'
import { API_VERSION, GROUP, type Resource } from '../../../operator/resource/resource.ts'
import { pruneNulls } from '../../../operator/resource/check-schema.ts'
import { isObject, type ResourceSchema } from '../../../operator/resource/resource-schema.ts'
import { validateFiles } from '../../../cli/validate/validate-files.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

type Kind = 'ApiSpecification' | 'Realm'

const SCHEMAS = { ApiSpecification: API_SPECIFICATION_SPEC, Realm: REALM_SPEC } as const

/** A value with every field that the schema knows. */
const sampleOf = (schema: ResourceSchema): Value => {
  if ('x-sensitivity' in schema) return { secretRef: { name: 's', key: 'k' } }
  if ('x-texts' in schema) return 'x'
  if (schema.type === 'string') return schema.enum?.[0] ?? 'x'
  if (schema.type === 'integer') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return [sampleOf(schema.items)]
  if ('additionalProperties' in schema) return { m: sampleOf(schema.additionalProperties) }
  if (!isObject(schema)) return {}
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, each]) => [name, sampleOf(each)]),
  )
}

/** Pointers to every field below a schema, in steps; lists have one item, maps one entry. */
const fieldsOf = (
  schema: ResourceSchema,
  steps: readonly string[] = [],
): readonly (readonly string[])[] => {
  if ('items' in schema) return fieldsOf(schema.items, [...steps, '0'])
  if ('additionalProperties' in schema)
    return fieldsOf(schema.additionalProperties, [...steps, 'm'])
  if (!isObject(schema)) return []
  return Object.entries(schema.properties).flatMap(([name, each]) => [
    [...steps, name],
    ...fieldsOf(each, [...steps, name]),
  ])
}

/** A copy with another value at a place; undefined: without it. */
const changed = (value: Value, [step = '', ...rest]: readonly string[], to?: Value): Value => {
  if (Array.isArray(value)) return value.map((item: Value) => changed(item, rest, to))
  if (!isMap(value)) throw new Error(`there is no ${step}`)
  const { [step]: member = null, ...others } = value
  if (rest.length > 0) return { ...others, [step]: changed(member, rest, to) }
  return to === undefined ? others : { ...others, [step]: to }
}

const baseOf = (kind: Kind, steps: readonly string[]): ValueMap => {
  const whole = sampleOf(SCHEMAS[kind]) as ValueMap
  if (kind === 'Realm') return whole
  return steps[0] === 'documentFrom'
    ? (changed(whole, ['document']) as ValueMap)
    : (changed({ ...whole, document: aSpecification('a') as ValueMap }, [
        'documentFrom',
      ]) as ValueMap)
}

const objectOf = (kind: Kind, spec: Value): ValueMap => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name: 'odd' },
  spec,
})

const checkedOf = (kind: Kind, spec: Value): unknown => {
  const known = { uid: 'u', resourceVersion: '1', generation: 1, createdAt: 1 }
  const read = readResource(objectOf(kind, spec), known)
  if (read.result !== 'resource' || !('checked' in read.resource)) throw new Error('unread')
  return read.resource.checked
}

const CASES = (['ApiSpecification', 'Realm'] as const).flatMap((kind) =>
  fieldsOf(SCHEMAS[kind]).map(
    (steps) => [`${kind} /spec/${steps.join('/')}`, kind, steps] as const,
  ),
)

it('the cases hold fields of every depth', () => {
  const names = CASES.map(([name]) => name)
  expect(names).toContain('ApiSpecification /spec/variablesFrom')
  expect(names).toContain('ApiSpecification /spec/documentFrom/configMap/key')
  expect(names).toContain('Realm /spec/info/oidcProviders/m/cookieDomain')
  expect(names).toContain('Realm /spec/credentials/m/allowedNamespaces/selector/matchLabels')
  expect(names.length).toBeGreaterThan(100)
})

describe('null for a field of a resource', () => {
  it.each(CASES)('%s is the same as its absence', (_name, kind, steps) => {
    const base = baseOf(kind, steps)
    expect(checkedOf(kind, changed(base, steps, null))).toEqual(
      checkedOf(kind, changed(base, steps)),
    )
  })

  it.each<[Kind, ValueMap, string]>([
    ['ApiSpecification', { document: null, documentFrom: null }, '/spec/document is missing'],
    ['ApiSpecification', { documentFrom: { configMap: null } }, '/spec/documentFrom/configMap is'],
    ['Realm', { uri: null }, '/spec/uri is missing'],
    ['Realm', { uri: 'a', users: [{ username: null }] }, '/spec/users/0/username is missing'],
  ])('a required one of %s is missing: %j', (kind, spec, words) => {
    const message = expect.stringContaining(words) as unknown
    expect(checkedOf(kind, spec)).toMatchObject({ problems: [{ message }] })
  })

  it.each(CASES)('%s ends neither the operator nor svc', async (_name, kind, steps) => {
    const spec = changed(baseOf(kind, steps), steps, null)
    const failures: unknown[] = []
    const reconciler = new Reconciler({
      className: 'x',
      onFailure: (_key, error) => failures.push(error),
    })
    const odd: Resource = resourceOf(kind, 'odd', { spec })
    const secret = resourceOf('Secret', 's', { stringData: { k: 'x' } })
    reconciler.reconcile(cacheOf([odd, secret]))
    expect(failures).toEqual([])
    const text = JSON.stringify(objectOf(kind, spec))
    expect(() => validateFiles([{ name: 'a.json', text }])).not.toThrow()
    const review = readReview({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u',
        kind: { group: GROUP, version: 'v1alpha1', kind },
        operation: 'CREATE',
        namespace: 'default',
        name: 'odd',
        object: objectOf(kind, spec),
      },
    })
    if (review === undefined) throw new Error('that was no review')
    await expect(validateReview(review, { className: 'x' })).resolves.toHaveProperty('allowed')
  })
})

describe('null for what an API server does not prune', () => {
  it.each<[string, Kind, ValueMap, string]>([
    [
      'an item of a list',
      'ApiSpecification',
      { document: {}, variablesFrom: [null] },
      '/spec/variablesFrom/0',
    ],
    ['an item of a list of texts', 'Realm', { uri: 'a', groups: ['a', null] }, '/spec/groups/1'],
    [
      'a label, without which a selector would select more',
      'ApiSpecification',
      { document: {}, dataPlaneSelector: { matchLabels: { edge: null } } },
      '/spec/dataPlaneSelector/matchLabels/edge',
    ],
    ['a credential', 'Realm', { uri: 'a', credentials: { c: null } }, '/spec/credentials/c'],
    [
      'a list where a map is wanted',
      'Realm',
      { uri: 'a', info: { oidcProviders: [null] } },
      '/spec/info/oidcProviders',
    ],
    [
      'a map where a list is wanted',
      'ApiSpecification',
      { document: {}, variablesFrom: { name: null } },
      '/spec/variablesFrom',
    ],
    ['an unknown field', 'Realm', { uri: 'a', roter: null }, '/spec/roter'],
  ])('%s is refused with its place', (_name, kind, spec, path) => {
    expect(checkedOf(kind, spec)).toMatchObject({ problems: [{ path }] })
  })
})

it('a value without nulls is the same object', () => {
  const spec = baseOf('Realm', [])
  expect(pruneNulls(REALM_SPEC, spec)).toBe(spec)
})

it('a member called __proto__ stays one', () => {
  const credentials = JSON.parse('{"__proto__": {"origins": null, "basic": null}}') as ValueMap
  const pruned = pruneNulls(REALM_SPEC, { uri: 'a', credentials })
  expect(JSON.stringify(pruned)).toBe('{"uri":"a","credentials":{"__proto__":{}}}')
})
