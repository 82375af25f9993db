// Tests what examples of operations may hold, and that they are left out of documents as the operator sends them.

import { describe, expect, it } from '@jest/globals'
import { compile } from '../../language/compile.ts'
import { withDescribedExamples, withoutExamples } from '../../language/without-examples.ts'

const OPERATION = { action: { type: 'static', body: 'a' } }

const documentWith = (operation: object, versions?: unknown) => {
  const version = { base_path: '/v1', paths: { '/a': { get: { ...OPERATION, ...operation } } } }
  return {
    id: 'com.example.api',
    host: '_',
    realm_uri: 'com.example',
    versions: versions === 'list' ? [{ name: 'v1', ...version }] : { v1: version },
  }
}

const problemsOf = (example: unknown): readonly string[] => {
  const outcome = compile(documentWith({ examples: { one: example } }), { realm: () => undefined })
  const problems = 'problems' in outcome ? outcome.problems : []
  return problems.map(({ path }) => path).filter((path) => path.includes('/examples'))
}

const AT = '/versions/v1/paths/~1a/get/examples/one'

describe('the examples of an operation', () => {
  it.each([
    { expect: {} },
    {
      description: 'Everything.',
      request: {
        host: 'a.test',
        scheme: 'https',
        path: '/v1/a',
        bindings: { id: 7 },
        query_params: { tag: ['a', 'b'], all: true },
        headers: { accept: 'text/html' },
        body: { security: 1 },
        as: { authid: 'carol', groups: ['staff'], meta: { level: 3 } },
      },
      given: [{ error: { error_uri: 'svc.error.timeout' } }, { status_code: 201, body: {} }],
      expect: { status_code: 201, headers: { 'content-type': 'text/html' }, body: [], sent: false },
    },
    { given: { args: [1], kwargs: { a: 1 } }, expect: { sent: { procedure: 'com.example.a' } } },
  ])('load as %j', (example) => {
    expect(problemsOf(example)).toEqual([])
  })

  it.each([
    [{}, `${AT}/expect`],
    [{ expect: {}, wanted: 1 }, `${AT}/wanted`],
    [{ expect: { status_code: 99 } }, `${AT}/expect/status_code`],
    [{ expect: {}, request: { as: { groups: [] } } }, `${AT}/request/as/authid`],
    [{ expect: {}, request: { path: 'v1' } }, `${AT}/request/path`],
    [{ expect: {}, given: { error: {} } }, `${AT}/given/error/error_uri`],
    [{ expect: {}, given: [{ state: 1 }] }, `${AT}/given/0/state`],
  ])('do not load as %j', (example, path) => {
    expect(problemsOf(example)).toContain(path)
  })

  it('are literal: what looks like an expression there is none', () => {
    const outcome = compile(
      documentWith({
        examples: { one: { expect: { body: '{{nothing.like.it}} {variables.x}' } } },
      }),
      { realm: () => ({ authmethods: [], oidcProviders: [] }) },
    )
    expect(outcome).toMatchObject({ compiled: {}, warnings: [] })
  })

  it.each(['authorization', 'Authorization', 'Proxy-Authorization', 'cookie', 'X-API-Key'])(
    'name no credentials in %s',
    (name) => {
      expect(problemsOf({ expect: {}, request: { headers: { [name]: 'x' } } })).not.toEqual([])
    },
  )

  it.each(['map', 'list'])('are left out of versions that are a %s', (versions) => {
    const document = documentWith({ examples: { one: { expect: {} } } }, versions)
    expect(withoutExamples(document)).toEqual(documentWith({}, versions))
  })

  it('keep bodies and statuses for gateways where the version publishes a description', () => {
    const example = {
      description: 'Everything.',
      request: { body: { a: 1 }, headers: { accept: 'a' }, as: { authid: 'carol' } },
      given: { status_code: 200, body: 'hush' },
      expect: { status_code: 201, body: [1], headers: { a: 'b' }, sent: false },
    }
    const plain = documentWith({ examples: { one: example } })
    expect(withDescribedExamples(plain)).toEqual(documentWith({}))
    const versionOf = (operation: object) => {
      const { versions } = documentWith(operation) as { versions: { v1: object } }
      return { ...plain, versions: { v1: { ...versions.v1, openapi: '/openapi.json' } } }
    }
    const left = { request: { body: { a: 1 } }, expect: { status_code: 201, body: [1] } }
    const sent = withDescribedExamples(versionOf({ examples: { one: example } }))
    expect(sent).toEqual(versionOf({ examples: { one: left } }))
    expect(withDescribedExamples(sent)).toEqual(sent)
  })

  it('leave a document without any as the same object', () => {
    const document = documentWith({})
    expect(withoutExamples(document)).toBe(document)
  })
})
