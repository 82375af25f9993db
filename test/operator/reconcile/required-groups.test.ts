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
  const verdict = (...resources: readonly Resource[]) => reconcile(...resources).verdicts.get(KEY)
  return { reconciler, compiled, reconcile, verdict }
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
    const { verdicts, desired } = open().reconcile(realm, document)
    expect(verdicts.get(KEY)).toMatchObject({
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
    expect(open().verdict(realmOf([]), documentOf())?.warnings).toEqual([
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
    const warnings = open().verdict(realm, documentOf({ ...BASIC, type: 'api_key' }))?.warnings
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
    expect(open().verdict(...resources)?.warnings).toEqual([])
  })

  it('that no realm could satisfy has a warning where the realm is not known too', () => {
    const verdict = open().verdict(documentOf({ type: 'basic', groups: [] }))
    expect(verdict?.warnings).toMatchObject([
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
    const verdict = open().verdict(realmOf([['ops']]), document, secret)
    expect(verdict?.warnings).toMatchObject([{ code: 'UnsatisfiedSecurity' }])
    expect(JSON.stringify(verdict)).not.toContain('hunter2')
  })
})

describe('a change of users', () => {
  it('changes the warning, and compiles no document again', () => {
    const { verdict, compiled } = open()
    const document = documentOf()
    expect(verdict(realmOf([['ops']]), document)?.warnings).toEqual([WARNING])
    expect(compiled).toHaveLength(1)
    const satisfied = verdict(realmOf([['ops'], ['staff']]), document)
    expect(satisfied).toMatchObject({ warnings: [], accepted: { message: 'valid' } })
    expect(verdict(realmOf([['ops']]), document)?.warnings).toEqual([WARNING])
    expect(compiled).toHaveLength(1)
  })

  it('or of keys changes the warning too', () => {
    const { verdict } = open()
    const document = documentOf({ ...BASIC, type: 'api_key' })
    expect(verdict(realmOf([['staff']]), document)?.warnings).toHaveLength(1)
    expect(verdict(realmOf([['staff']], keyOf('user-0')), document)?.warnings).toEqual([])
  })

  it('leaves the verdict as it is where the groups are the same', () => {
    const { verdict } = open()
    const document = documentOf()
    const before = verdict(realmOf([['ops'], ['dev']]), document)
    expect(verdict(realmOf([['dev'], ['ops'], ['dev', 'ops']]), document)).toBe(before)
  })

  it('is foreseen where the document is about to be stored', () => {
    const { reconciler, reconcile } = open()
    const resources = [realmOf([['ops']])]
    reconcile(...resources)
    const document = documentOf()
    if (document.kind !== 'ApiSpecification') throw new Error('it is none')
    const verdict = reconciler.preview(document, cacheOf(resources), compileAtOnce())
    expect(verdict?.warnings).toEqual([WARNING])
  })
})

describe('a warning of a document in a ConfigMap', () => {
  it('says where in it', () => {
    const text = JSON.stringify(aSpecification('d', { security: BASIC }))
    const verdict = open().verdict(
      realmOf([['ops']]),
      resourceOf('ApiSpecification', 'd', {
        spec: { documentFrom: { configMap: { name: 'api', key: 'api.json' } } },
      }),
      resourceOf('ConfigMap', 'api', { data: { 'api.json': text } }),
    )
    expect(verdict?.warnings).toEqual([
      {
        ...WARNING,
        path: '/spec/documentFrom/configMap',
        message: `key 'api.json' of ConfigMap default/api at /security/groups: ${WARNING.message}`,
      },
    ])
  })
})
