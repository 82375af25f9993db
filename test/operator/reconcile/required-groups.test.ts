// What is said of documents that require a group which no user of their realm is in, and what a change of users costs.

import { describe, expect, it } from '@jest/globals'
import {
  compileAtOnce,
  type DocumentCompiler,
} from '../../../operator/reconcile/documents/compile-document.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const KEY = 'ApiSpecification/default/d'

let generation = 0
const realmOf = (groups: readonly (readonly string[])[], more: object = {}): Resource => {
  const users = groups.map((each, i) => ({ username: `user-${i}`, groups: each }))
  const spec = { uri: 'com.shop', users, ...more }
  return resourceOf('Realm', 'shop', { spec }, { generation: ++generation })
}

const keyOf = (username: string) => ({ apiKeys: [{ keySha256: 'a'.repeat(64), username }] })

const BASIC = { type: 'basic', groups: ['staff'] }

const documentOf = (security: object = BASIC, more: object = {}): Resource =>
  resourceOf('ApiSpecification', 'd', {
    spec: { document: aSpecification('d', { security, ...more }) },
  })

const open = () => {
  const compiler = compileAtOnce()
  const compiled: string[] = []
  const counting: DocumentCompiler = {
    ...compiler,
    compile: (request) => {
      compiled.push(request.key)
      return compiler.compile(request)
    },
  }
  const reconciler = new Reconciler({ className: 'svc', compiler: counting })
  let version = 0
  const reconcile = (...resources: readonly Resource[]) =>
    reconciler.reconcile(cacheOf(resources, { version: ++version }))
  const result = (...resources: readonly Resource[]) => reconcile(...resources).results.get(KEY)
  return { reconciler, compiled, reconcile, result }
}

const WARNING = {
  code: 'UnsatisfiedSecurity',
  path: '/spec/document/security/groups',
  message:
    "no user of the realm is in the group 'staff': every request is rejected (403) until one is",
}

describe('a document that requires a group', () => {
  it.each<[string, Resource, Resource]>([
    ['that no user is in', realmOf([['ops']]), documentOf()],
    [
      'that is declared, and no user is in',
      realmOf([['ops']], { groups: ['staff'] }),
      documentOf(),
    ],
  ])('%s is served, with a warning', (_, realm, document) => {
    const { results, desired } = open().reconcile(realm, document)
    expect(results.get(KEY)).toMatchObject({
      errors: [],
      warnings: [WARNING],
      accepted: {
        status: 'True',
        message: `valid, with a warning: ${WARNING.path}: ${WARNING.message}`,
      },
    })
    expect(desired.documents.has('d')).toBe(true)
  })

  it('of a realm without users is served, with a warning of that alone', () => {
    expect(open().result(realmOf([]), documentOf())?.warnings).toEqual([
      {
        code: 'UnsatisfiedSecurity',
        path: '/spec/document/security/type',
        message: 'the realm has no users: every request is rejected (401) until it has one',
      },
    ])
  })

  it.each([
    ['the owner of a key is in it', 'user-1', []],
    [
      'only users without a key are in it',
      'user-0',
      [{ code: 'UnsatisfiedSecurity', path: '/spec/document/security/groups' }],
    ],
  ])('by keys has a warning only where none of their owners is: %s', (_, owner, expected) => {
    const realm = realmOf([['ops'], ['staff']], keyOf(owner))
    const warnings = open().result(realm, documentOf({ ...BASIC, type: 'api_key' }))?.warnings
    expect(warnings).toMatchObject(expected)
    expect(warnings).toHaveLength(expected.length)
  })

  const issuer = { issuer: 'https://i.test', jwksUri: 'https://i.test/keys', audience: 'a' }
  const oauth2 = { type: 'oauth2', flow: 'client_credentials', groups: ['staff'] }
  it.each<[string, readonly Resource[]]>([
    ['a user is in it', [realmOf([['ops'], ['staff']]), documentOf()]],
    ['an issuer may give it', [realmOf([], { trustedIssuers: [issuer] }), documentOf(oauth2)]],
    ['the realm is not known', [documentOf()]],
    ['the realm has an error', [realmOf([], { callTimeout: 0 }), documentOf()]],
  ])('has no warning where %s', (_, resources) => {
    expect(open().result(...resources)?.warnings).toEqual([])
  })

  it('that no realm could satisfy has a warning where the realm is not known too', () => {
    const result = open().result(documentOf({ type: 'basic', groups: [] }))
    expect(result?.warnings).toMatchObject([
      { code: 'AlwaysForbidden', path: '/spec/document/security/groups' },
    ])
  })

  it('has no name in the warning that a Secret may hold', () => {
    const document = resourceOf('ApiSpecification', 'd', {
      spec: {
        document: aSpecification('d', {
          security: { type: 'basic', groups: ['{{variables.group}}'] },
        }),
        variablesFrom: [{ name: 'group', secretRef: { name: 'vars', key: 'group' } }],
      },
    })
    const secret = resourceOf('Secret', 'vars', {
      data: { group: Buffer.from('hunter2').toString('base64') },
    })
    const result = open().result(realmOf([['ops']]), document, secret)
    expect(result?.warnings).toMatchObject([{ code: 'UnsatisfiedSecurity' }])
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })
})

describe('a change of users', () => {
  it('changes the warning, and compiles no document again', () => {
    const { result, compiled } = open()
    const document = documentOf()
    expect(result(realmOf([['ops']]), document)?.warnings).toEqual([WARNING])
    expect(compiled).toHaveLength(1)
    const satisfied = result(realmOf([['ops'], ['staff']]), document)
    expect(satisfied).toMatchObject({ warnings: [], accepted: { message: 'valid' } })
    expect(result(realmOf([['ops']]), document)?.warnings).toEqual([WARNING])
    expect(compiled).toHaveLength(1)
  })

  it('or of keys changes the warning too', () => {
    const { result } = open()
    const document = documentOf({ ...BASIC, type: 'api_key' })
    expect(result(realmOf([['staff']]), document)?.warnings).toHaveLength(1)
    expect(result(realmOf([['staff']], keyOf('user-0')), document)?.warnings).toEqual([])
  })

  it('leaves the result as it is where the groups are the same', () => {
    const { result } = open()
    const document = documentOf()
    const before = result(realmOf([['ops'], ['dev']]), document)
    expect(result(realmOf([['dev'], ['ops'], ['dev', 'ops']]), document)).toBe(before)
  })

  it('is foreseen where the document is about to be stored', () => {
    const { reconciler, reconcile } = open()
    const resources = [realmOf([['ops']])]
    reconcile(...resources)
    const document = documentOf()
    if (document.kind !== 'ApiSpecification') throw new Error('it is none')
    const result = reconciler.preview(document, cacheOf(resources), compileAtOnce())
    expect(result?.warnings).toEqual([WARNING])
  })
})

describe('a warning of a document in a ConfigMap', () => {
  it('says where in it', () => {
    const text = JSON.stringify(aSpecification('d', { security: BASIC }))
    const result = open().result(
      realmOf([['ops']]),
      resourceOf('ApiSpecification', 'd', {
        spec: { documentFrom: { configMap: { name: 'api', key: 'api.json' } } },
      }),
      resourceOf('ConfigMap', 'api', { data: { 'api.json': text } }),
    )
    expect(result?.warnings).toEqual([
      {
        ...WARNING,
        path: '/spec/documentFrom/configMap',
        message: `key 'api.json' of ConfigMap default/api at /security/groups: ${WARNING.message}`,
      },
    ])
  })
})
