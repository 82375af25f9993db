// What an API server refuses beside the spec, by `svc validate` and by the notes of a directory of manifests.

import { describe, expect, it } from '@jest/globals'
import { readManifest } from '../../../operator/manifests/read-manifest.ts'
import { API_VERSION } from '../../../operator/resource/resource.ts'
import { validateFiles } from '../../../cli/validate/validate-files.ts'
import { aSpecification } from '../../support/resources.ts'

const realm = (metadata: object, more: object = {}): object => ({
  apiVersion: API_VERSION,
  kind: 'Realm',
  metadata: { name: 'shop', ...metadata },
  spec: { uri: 'com.shop' },
  ...more,
})
const specification = (more: object): object => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name: 'a' },
  spec: { document: aSpecification('a') },
  ...more,
})
const other = (kind: string, more: object, metadata: object = { name: 'x' }): object => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...more,
})

const LONG = 'x'.repeat(64)
const ofServer = {
  creationTimestamp: null,
  generation: 3,
  managedFields: [{}],
  ownerReferences: [],
  resourceVersion: '5',
  uid: 'u',
}

const errors = (object: object): readonly string[] =>
  validateFiles([{ name: 'f', text: JSON.stringify(object) }])
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ path, message }) => `${path} ${message}`)

describe('svc validate passes what an API server accepts', () => {
  it.each<[string, object]>([
    ['labels and annotations', realm({ labels: { a: '', 'a.b/c-D_e.f': 'V-1_2.3' } })],
    ['labels of the longest kind', realm({ labels: { ['x'.repeat(63)]: 'x'.repeat(63) } })],
    ['annotations with any text', realm({ annotations: { 'A.b/c': '{"a": [1]}\n', b: LONG } })],
    [
      'null for labels, annotations, and one of them',
      realm({ labels: null, annotations: { a: null } }),
    ],
    ['what an API server has added', realm(ofServer, { status: { anything: 1 } })],
    ['a name with dots', realm({ name: 'shop.v1', namespace: 'team-a' })],
    ['a Secret', other('Secret', { type: 'Opaque', immutable: true, data: { a: 'YQ==' } })],
    ['an encrypted Secret', other('Secret', { data: { a: 'ENC[x]' }, sops: { mac: 'x' } })],
    ['a ConfigMap', other('ConfigMap', { data: { a: '{}', b: null }, binaryData: {} })],
    ['a Namespace', other('Namespace', { spec: {}, status: {} })],
  ])('%s', (_name, object) => {
    expect(errors(object)).toEqual([])
  })
})

const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
  [
    'an annotation that is true',
    realm({ annotations: { paused: true } }),
    '/metadata/annotations/paused',
    /in quotes/,
  ],
  [
    'an annotation that is a map',
    realm({ annotations: { a: {} } }),
    '/metadata/annotations/a',
    /must be a text/,
  ],
  [
    'a label that is a number',
    realm({ labels: { version: 1.1 } }),
    '/metadata/labels/version',
    /not a number: put it in quotes/,
  ],
  ['labels in a list', realm({ labels: ['a'] }), '/metadata/labels', /must be a map/],
  ['a label of 64 characters', realm({ labels: { a: LONG } }), '/metadata/labels/a', /63/],
  ['a label with a slash', realm({ labels: { a: 'b/c' } }), '/metadata/labels/a', /63 letters/],
  [
    'a label with a blank at its end',
    realm({ labels: { a: 'b ' } }),
    '/metadata/labels/a',
    /63 letters/,
  ],
  [
    'a key of a label with a blank',
    realm({ labels: { 'a b': 'c' } }),
    '/metadata/labels/a b',
    /its key/,
  ],
  [
    'a key of a label with two slashes',
    realm({ labels: { 'a/b/c': 'c' } }),
    '/metadata/labels/a~1b~1c',
    /its key/,
  ],
  [
    'a key of an annotation that is too long',
    realm({ annotations: { [LONG]: '' } }),
    `/metadata/annotations/${LONG}`,
    /its key/,
  ],
  [
    'an empty key of an annotation',
    realm({ annotations: { '': '' } }),
    '/metadata/annotations/',
    /its key/,
  ],
  [
    'annotations of 257 KiB',
    realm({ annotations: { a: 'x'.repeat(257 * 1024) } }),
    '/metadata/annotations',
    /256 KiB/,
  ],
  ['a namespace with a dot', realm({ namespace: 'team.a' }), '/metadata/namespace', /no dot/],
  ['a namespace of 64 characters', realm({ namespace: LONG }), '/metadata/namespace', /63/],
  ['a name with an empty part', realm({ name: 'a..b' }), '/metadata/name', /empty part/],
  [
    'the name of a Namespace with a dot',
    other('Namespace', {}, { name: 'a.b' }),
    '/metadata/name',
    /name of a namespace/,
  ],
  [
    'an unknown field of metadata',
    realm({ lables: {} }),
    '/metadata/lables',
    /did you mean 'labels'/,
  ],
  [
    'a field of the spec at the top',
    specification({ variablesFrom: [] }),
    '/variablesFrom',
    /belongs under \/spec/,
  ],
  ['an unknown field at the top', realm({}, { specc: {} }), '/specc', /did you mean 'spec'/],
  [
    '__proto__ at the top',
    JSON.parse(JSON.stringify(realm({})).replace('{', '{"__proto__":1,')) as object,
    '/__proto__',
    /not a field/,
  ],
  [
    'a number in stringData',
    other('Secret', { stringData: { k: 12345 } }),
    '/stringData/k',
    /in quotes/,
  ],
  ['a list in data', other('Secret', { data: ['YQ=='] }), '/data', /must be a map/],
  [
    'a map in a ConfigMap',
    other('ConfigMap', { data: { k: { a: 1 } } }),
    '/data/k',
    /not a list or map/,
  ],
  [
    'a Secret with a field of a ConfigMap',
    other('Secret', { binaryData: {} }),
    '/binaryData',
    /not a field of Secret/,
  ],
]

describe('what an API server refuses', () => {
  it.each(REFUSED)('%s is an error of svc validate', (_name, object, path, words) => {
    const found = errors(object)
    expect(found).toEqual([expect.stringMatching(words)])
    expect(found[0]?.startsWith(`${path} `)).toBe(true)
  })

  it.each(REFUSED)('%s is a warning of an operator that reads files', (_name, object, path) => {
    const { entries, notes, problems: faults } = readManifest(JSON.stringify(object), 'f')
    expect(faults).toEqual([])
    expect(entries).toHaveLength(1)
    expect(notes).toMatchObject([{ severity: 'warning', path, origin: { file: 'f' } }])
  })

  it('is reported a hundred times for an object', () => {
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at]))
    const object = other('ConfigMap', { data })
    expect(errors(object)).toHaveLength(100)
    expect(readManifest(JSON.stringify(object), 'f').notes).toHaveLength(100)
  })

  it('stands where the file has it', () => {
    const text = `apiVersion: ${API_VERSION}\nkind: Realm\nmetadata:\n  name: a\n  labels:\n    version: 1.0\nspec: {uri: a}\n`
    expect(validateFiles([{ name: 'f', text }]).diagnostics).toMatchObject([
      { severity: 'error', line: 6, resource: 'Realm default/a', path: '/metadata/labels/version' },
    ])
  })
})

describe('a Secret', () => {
  const usesSecret = {
    ...realm({}),
    spec: {
      uri: 'com.shop',
      callbackSecret: { secretRef: { name: 's', key: 'k' } },
      users: [{ username: 'u', passwordHash: { secretRef: { name: 's', key: 'hash' } } }],
    },
  }
  const variables = specification({
    spec: {
      document: aSpecification('a', { variables: { x: 'y' } }),
      variablesFrom: [{ secretRef: { name: 's' } }],
    },
  })
  const said = (secret: object, ...others: readonly object[]): readonly string[] =>
    validateFiles([
      {
        name: 'f',
        text: JSON.stringify({ kind: 'List', apiVersion: 'v1', items: [secret, ...others] }),
      },
    ]).diagnostics.map(
      ({ severity, path, code, message }) => `${severity} ${path} ${code} ${message}`,
    )

  const sops = { mac: 'ENC[AES256_GCM,data:x]', version: '3.9.0' }
  const encrypted = { k: 'ENC[AES256_GCM,data:a,iv:b]', hash: 'ENC[AES256_GCM,data:c,iv:d]' }

  it.each(['data', 'stringData'])('that SOPS has encrypted is unknown, in %s', (name) => {
    const secret = other('Secret', { [name]: encrypted, sops }, { name: 's' })
    expect(said(secret, usesSecret, variables)).toEqual([
      expect.stringMatching(
        /^notice \/spec\/callbackSecret\/secretRef\/name SecretEncrypted .* is encrypted by SOPS/,
      ),
      expect.stringMatching(/^notice \/spec\/variablesFrom\/0\/secretRef\/name SecretEncrypted/),
    ])
  })

  it('that SOPS has encrypted has the keys that it has', () => {
    const secret = other('Secret', { data: { k: encrypted.k }, sops }, { name: 's' })
    expect(said(secret, usesSecret)).toEqual([
      expect.stringMatching(/^notice .* SecretEncrypted/),
      expect.stringMatching(
        /^error \/spec\/users\/0\/passwordHash\/secretRef\/key KeyNotFound .*it has k$/,
      ),
    ])
  })

  it.each([['a b'], ['YQ'], ['YQ=a'], ['YQ===='], ['ä'], ['-_-_']])(
    'with data that is no base64 has an error that says so: %j',
    (text) => {
      const secret = other('Secret', { data: { k: text, hash: '' } }, { name: 's' })
      expect(said(secret, usesSecret)).toEqual([
        expect.stringMatching(
          /^error \/spec\/callbackSecret\/secretRef\/key KeyNotFound key 'k' of Secret default\/s is not base64: encode it/,
        ),
      ])
    },
  )

  it('whose keys are all read names the reference where one is no base64', () => {
    const secret = other('Secret', { data: { fine: 'YQ==', k: 'http://up' } }, { name: 's' })
    expect(said(secret, variables)).toEqual([
      expect.stringMatching(
        /^error \/spec\/variablesFrom\/0\/secretRef\/name KeyNotFound key 'k' of Secret default\/s is not base64/,
      ),
    ])
  })

  it('with line breaks in its base64 is read', () => {
    const secret = other('Secret', { data: { k: 'YWJj\nZGVm\n' } }, { name: 's' })
    const spec = { uri: 'com.shop', callbackSecret: { secretRef: { name: 's', key: 'k' } } }
    expect(said(secret, { ...realm({}), spec })).toEqual([])
  })

  it('with a line break at the end of its text has an error that says so, by the place of the reference', () => {
    const secret = other('Secret', { stringData: { k: 'hush\n' } }, { name: 's' })
    const spec = { uri: 'com.shop', callbackSecret: { secretRef: { name: 's', key: 'k' } } }
    const found = said(secret, { ...realm({}), spec })
    expect(found).toEqual([
      expect.stringMatching(/^error \/spec\/callbackSecret invalid_value .*is there a line break/),
    ])
    expect(found.join()).not.toContain('hush')
  })
})
