// What a document may say of refusals (`on_refusal`): what it reads there, what is an error, and what is only warned of.

import { describe, expect, it } from '@jest/globals'
import { compile } from '../../../language/compile.ts'
import type { CompiledVersion } from '../../../language/compile/compiled.ts'
import { constant } from '../../../language/expression/template.ts'

const GET = { get: { action: { type: 'static', body: 'x' } } }

const documentOf = (onRefusal: unknown, more: object = {}, path: object = GET): unknown => ({
  id: 'api',
  host: 'a.test',
  realm_uri: 'com.acme',
  defaults: { on_refusal: onRefusal },
  versions: { v1: { base_path: '/', paths: { '/x': path, '/y': GET } } },
  ...more,
})

const outcomeOf = (document: unknown) =>
  compile(document, { realm: () => ({ authmethods: [], oidcProviders: [] }) })

const versionOf = (document: unknown): CompiledVersion => {
  const outcome = outcomeOf(document)
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const [version] = outcome.compiled.versions
  if (version === undefined) throw new Error('there is no version')
  return version
}

const problemsOf = (document: unknown): readonly string[] => {
  const outcome = outcomeOf(document)
  return 'problems' in outcome ? outcome.problems.map(({ code, path }) => `${code} ${path}`) : []
}

const warningsOf = (document: unknown): readonly string[] => {
  const outcome = outcomeOf(document)
  return 'problems' in outcome ? [] : outcome.warnings.map(({ code, path }) => `${code} ${path}`)
}

describe('on_refusal', () => {
  it('is inherited whole by version and paths, and the nearest counts', () => {
    const own = { ...GET, on_refusal: { headers: { 'X-A': 'b' } } }
    const { refusal, paths } = versionOf(documentOf({ body: 'no' }, {}, own))
    expect(refusal).toEqual({ headers: constant({}), body: constant('no') })
    expect(paths.map((path) => path.refusal)).toEqual([
      { headers: constant({ 'X-A': 'b' }) },
      refusal,
    ])
  })

  it('is no part of operations, which would compute what it reads for each request', () => {
    const body = { h: '{{request.headers}}', m: '{{refusal.message}}' }
    const { paths } = versionOf(documentOf({ body }))
    expect(paths[0]?.operations.get?.reads).toEqual([])
  })

  it.each([
    ['what is refused', '{{refusal.code}} {{refusal.status}} {{refusal |> get(message)}}'],
    ['the request', '{{request.path}} {{request.headers.origin}}'],
    ['variables', '{{variables.v}}'],
    ['status codes', '{{status_codes |> get(com.acme.a, 400)}}'],
    ['any value', { a: [1, '{{refusal.errors}}'] }],
  ])('reads %s', (_, body) => {
    const document = documentOf({ body }, { variables: { v: '{{refusal.message}}' } })
    expect([problemsOf(document), warningsOf(document)]).toEqual([[], []])
  })

  it.each([
    ['the result', '{{action.result.body}}'],
    ['the error of an action', '{{action.error.message}}'],
    ['the caller', '{{security.authid}}'],
    ['the body', '{{request.body.a}}'],
    ['the length of the body', '{{request.body_length}}'],
    ['the body through a variable', 'a {{variables.b}}'],
    ['the body in an argument', '{{refusal |> get(code, {{request.body}})}}'],
  ])('does not load if it reads %s', (_, body) => {
    const variables = { b: '{{request.body}}' }
    const place = '/defaults/on_refusal'
    expect(problemsOf(documentOf({ body }, { variables }))).toEqual([
      `invalid_expression ${place}/body`,
    ])
    expect(problemsOf(documentOf({ headers: { a: body } }, { variables }))).toEqual([
      `invalid_expression ${place}/headers`,
    ])
  })

  it.each([
    ['an operation', { get: { action: { type: 'static', body: '{{refusal.code}}' } } }, '/get'],
    ['headers of a path', { ...GET, headers: { a: '{{refusal.code}}' } }, '/get'],
    ['a variable that one reads', { ...GET, headers: { a: '{{variables.v}}' } }, '/get'],
  ])('is the only place of what is refused: not %s', (_, path, member) => {
    const document = documentOf({}, { variables: { v: '{{refusal.code}}' } }, path)
    expect(problemsOf(document)).toEqual([`invalid_expression /versions/v1/paths/~1x${member}`])
  })

  it.each<[string, unknown, string]>([
    ['a text', 'no', 'invalid_datatype /defaults/on_refusal'],
    ['a status', { status_code: 200 }, 'invalid_value /defaults/on_refusal/status_code'],
    [
      'headers that are none',
      { headers: { 'a b': 'c' } },
      'invalid_value /defaults/on_refusal/headers/a b',
    ],
    [
      'a header with a line break',
      { headers: { a: 'b\nc' } },
      'invalid_value /defaults/on_refusal/headers/a',
    ],
  ])('does not load with %s', (_, onRefusal, problem) => {
    expect(problemsOf(documentOf(onRefusal))).toEqual([problem])
  })

  it.each<[string, unknown, string]>([
    [
      'a challenge',
      { headers: { 'WWW-Authenticate': 'x' } },
      'UnknownProperty /defaults/on_refusal/headers/WWW-Authenticate',
    ],
    [
      'framing',
      { headers: { 'content-length': '7' } },
      'UnknownProperty /defaults/on_refusal/headers/content-length',
    ],
    [
      'another type than it says',
      { headers: { 'x-content-type-options': '' } },
      'UnknownProperty /defaults/on_refusal/headers/x-content-type-options',
    ],
    [
      'what no refusal has',
      { body: '{{refusal.nope}}' },
      'UnknownContextKey /defaults/on_refusal/body',
    ],
    [
      'what no request has',
      { body: ['{{request.nope}}'] },
      'UnknownContextKey /defaults/on_refusal/body/0',
    ],
  ])('is warned of with %s', (_, onRefusal, warning) => {
    const document = documentOf(onRefusal)
    expect([...problemsOf(document), ...warningsOf(document)]).toEqual([warning])
  })

  it.each([
    ['a header of the request', '<p>{{request.headers.referer}}</p>', true],
    ['its path', '<p>{{request.path}}</p>', true],
    ['its query', ['{{request.query_params |> get(q, a)}}'], true],
    ['what of it was refused', '{{refusal.errors}}', true],
    ['nothing that a client chooses', '<p>{{refusal.message}} {{request.method}}</p>', false],
  ])('is warned of in a page with %s', (_, body, isWarned) => {
    const page = { headers: { 'Content-Type': 'text/html' }, body }
    expect(warningsOf(documentOf(page))).toEqual(
      isWarned ? ['SuspiciousExpression /defaults/on_refusal/body'] : [],
    )
    expect(warningsOf(documentOf({ body }))).toEqual([])
  })
})
