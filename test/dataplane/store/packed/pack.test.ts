// What is packed comes out as it went in: of every golden document, and of what stands in many places.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { packDocument } from '../../../../dataplane/store/packed/pack.ts'
import type { PackedDocument } from '../../../../dataplane/store/packed/packed-document.ts'
import { Unpacker } from '../../../../dataplane/store/packed/unpack.ts'
import { compile } from '../../../../language/compile.ts'
import type { CompiledApi } from '../../../../language/compile/compiled.ts'
import { STATUS_CODES } from '../../../../language/compile/status-codes.ts'
import { compiled, documentOf, STATIC } from '../../../language/documents.ts'
import { expand } from '../../../../dataplane/store/packed/compact.ts'

const GOLDEN = new URL('../../../golden/compile/', import.meta.url)
const realm = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default', 'corp'] }

const goldenDocuments = (): readonly (readonly [string, CompiledApi])[] =>
  readdirSync(GOLDEN, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const text = readFileSync(new URL(`${name}/in.yaml`, GOLDEN), 'utf8')
      const { document, secrets = {} } = parse(text) as {
        document: unknown
        secrets?: Record<string, string>
      }
      const outcome = compile(document, { realm: () => realm, variables: secrets })
      return 'compiled' in outcome ? [[name, outcome.compiled] as const] : []
    })

/** Every operation and header map, unpacked. */
const unpackAll = (packed: PackedDocument) => {
  const unpacker = new Unpacker(packed)
  return packed.versions
    .flatMap(({ paths }) => paths)
    .map(({ methods }, index) => {
      const path = unpacker.path(index)
      expect(Object.keys(path.operations)).toEqual(methods)
      return path
    })
}

const pathsOf = (api: CompiledApi) =>
  api.versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) => paths.map((path) => omit(path, ['pointer', 'template', 'patterns'])))

const omit = (value: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

describe('packDocument', () => {
  it.each(goldenDocuments())('%s comes out as it went in', (_, api) => {
    const packed = packDocument(api, { since: 5, rank: 1 })
    expect(unpackAll(packed)).toEqual(pathsOf(api))
    // As workers get it.
    expect(unpackAll(structuredClone(packed))).toEqual(pathsOf(api))
  })

  it('keeps what routing needs beside the bytes', () => {
    const api = compiled({
      api: {
        host: '[www.]a.test',
        status_codes: { 'a.b': 410, 'wamp.error.canceled': 499, 'svc.error.timeout': 504 },
      },
      version: { is_deprecated: true, pool_size: 3, languages: ['es'] },
    })
    const { content, versions, ...rest } = packDocument(api, { since: 5, rank: 1 })
    expect(rest).toEqual({ id: 'a', realmUri: 'com.acme', since: 5, rank: 1, hosts: api.hosts })
    expect(expand(content).byteLength).toBeGreaterThan(10)
    expect(versions).toMatchObject([
      {
        name: 'v1',
        basePath: '/v1',
        deprecation: { deprecation: 'true' },
        poolSize: 3,
        languages: ['es'],
        endpoints: [],
        paths: [{ template: '/v1/x', schemes: ['http', 'https'], methods: ['get'] }],
      },
    ])
    expect(versions[0]?.ownStatusCodes).toEqual({ 'a.b': 410, 'wamp.error.canceled': 499 })
    expect(packDocument(compiled({}), { since: 0, rank: 0 }).versions[0]?.ownStatusCodes).toEqual(
      {},
    )
  })

  it('leaves out versions that are not active', () => {
    const api = compiled({ version: { is_active: false } })
    expect(packDocument(api, { since: 0, rank: 0 }).versions).toEqual([])
  })

  const text = `<p>${'x'.repeat(10_000)}</p>`

  it.each([
    ['a map', { html: text }, { page: '{{variables.page}}', id: '{{request.id}}' }],
    ['a text', text, '{{variables.page}}'],
  ])('holds %s that many operations share once', (_name, page, body) => {
    const sizeWith = (count: number) => {
      const paths = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `/p${index}`,
          {
            get: {
              action: {
                type: 'static',
                body,
              },
            },
          },
        ]),
      )
      const api = compiled({ api: { variables: { page } }, paths })
      const packed = packDocument(api, { since: 0, rank: 0 })
      expect(unpackAll(packed)).toEqual(pathsOf(api))
      return expand(packed.content).byteLength
    }
    expect(sizeWith(200)).toBeLessThan(2 * sizeWith(2) + 200 * 500)
  })

  it('never takes the data of a document for its own signs', () => {
    const shared = { kind: 'shared', index: 0 }
    const body = {
      a: shared,
      b: { kind: 'constant', value: 1 },
      c: [shared, { kind: 'read', root: 'request', keys: ['id'] }],
      __proto__: 7,
      d: '{{request.id}}',
      long: 'x'.repeat(100),
    }
    const get = { action: { type: 'static', body: JSON.parse(JSON.stringify(body)) as object } }
    const api = compiled({ paths: { '/x': { get }, '/y': { get }, '/z': { get: STATIC } } })
    expect(unpackAll(packDocument(api, { since: 0, rank: 0 }))).toEqual(pathsOf(api))
  })

  it('of reserved words', () => {
    const document = JSON.parse(
      JSON.stringify(documentOf({ paths: { '/x': { get: STATIC } } })).replace(
        '"x"',
        '{"__proto__":{"a":1},"constructor":"{{request.id}}"}',
      ),
    ) as unknown
    const outcome = compile(document, { realm: () => realm })
    if (!('compiled' in outcome)) throw new Error('it does not load')
    const [path] = unpackAll(packDocument(outcome.compiled, { since: 0, rank: 0 }))
    expect(JSON.stringify(path)).toContain('"__proto__"')
    expect(path).toEqual(pathsOf(outcome.compiled)[0])
  })
})

describe('Unpacker', () => {
  it('says which document is damaged', () => {
    const packed = packDocument(compiled({}), { since: 0, rank: 0 })
    expect(() => new Unpacker(packed).path(1)).toThrow(/packed document a\b/)
  })

  it('unpacks a document once for operations that are first used together', () => {
    const paths = { '/x': { get: STATIC }, '/y': { get: STATIC } }
    const unpacker = new Unpacker(packDocument(compiled({ paths }), { since: 0, rank: 0 }))
    expect(unpacker.path(0)).toBe(unpacker.path(0))
  })
})

it('the built-in table is not packed', () => {
  const { content } = packDocument(compiled({}), { since: 0, rank: 0 })
  expect(Object.keys(STATUS_CODES).some((uri) => expand(content).includes(uri))).toBe(false)
})
