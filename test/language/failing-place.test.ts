// Where in a document the value stands that failed, found by the expression that has no value.

import { describe, expect, it } from '@jest/globals'
import { compile } from '../../language/compile.ts'
import type { CompiledOperation } from '../../language/compile/compiled.ts'
import { constant, type Template } from '../../language/expression/template.ts'
import { pointerOf } from '../../language/failing-place.ts'

const POINTER = '/versions/v1/paths/~1a/get'

const compiled = (operation: object, more: object = {}): CompiledOperation => {
  const outcome = compile(
    {
      id: 'a',
      host: 'a.test',
      realm_uri: 'com.acme',
      versions: { v1: { base_path: '/', paths: { '/a': { get: operation, ...more } } } },
    },
    { realm: () => ({ authmethods: [], oidcProviders: [] }) },
  )
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const found = outcome.compiled.versions[0]?.paths[0]?.operations.get
  if (found === undefined) throw new Error('there is no operation')
  return found
}

/** An expression, of which only the text counts. */
const written = (source: string): Template => ({
  kind: 'pipe',
  input: constant(''),
  calls: [],
  source,
})

const forward = (more: object): object => ({ type: 'forward', host: 'http://a', ...more })

describe('the place of an expression without a value', () => {
  it.each<[string, object, string, string]>([
    [
      'a body',
      { action: { type: 'static', body: '{{request.body.a}}' } },
      '{{request.body.a}}',
      '/action/body',
    ],
    [
      'a member of a map in a list',
      { action: { type: 'static', body: { 'a/b': [1, { c: '{{request.body.a}}' }] } } },
      '{{request.body.a}}',
      '/action/body/a~1b/1/c',
    ],
    [
      'a text',
      { action: forward({ path: '/items/{{request.query_params.id}}' }) },
      '{{request.query_params.id}}',
      '/action/path',
    ],
    [
      'a pipe',
      { action: forward({ query_string: '{{request.body |> get(a)}}' }) },
      '{{request.body |> get(a)}}',
      '/action/query_string',
    ],
    [
      'what a pipe begins with',
      { action: forward({ headers: { x: '{{request.body.a |> string}}' } }) },
      '{{request.body.a}}',
      '/action/headers/x',
    ],
    [
      'an argument',
      { action: forward({ body: '{{request.body |> put(a, {{request.headers.b}})}}' }) },
      '{{request.headers.b}}',
      '/action/body',
    ],
    [
      'a host of several',
      { action: { type: 'forward', hosts: [{ host: 'http://{{request.body.a}}', weight: 1 }] } },
      '{{request.body.a}}',
      '/action/hosts/0/host',
    ],
    [
      'an argument of a procedure',
      { action: { type: 'wamp_call', procedure: 'com.p', args: ['{{request.body.a}}'] } },
      '{{request.body.a}}',
      '/action/args/0',
    ],
    [
      'the name of a procedure',
      { action: { type: 'wamp_call', procedure: 'com.{{request.body.a}}' } },
      '{{request.body.a}}',
      '/action',
    ],
    [
      'a result',
      {
        action: forward({}),
        response: { on_result: { body: { a: '{{action.result.body.a}}' } } },
      },
      '{{action.result.body.a}}',
      '/response/on_result/body/a',
    ],
    [
      'an error',
      {
        action: forward({}),
        response: { on_error: { status_code: '{{action.error.body.status}}' } },
      },
      '{{action.error.body.status}}',
      '/response/on_error/status_code',
    ],
    [
      'the first of two',
      { action: forward({ path: '/{{request.body.a}}', body: '{{request.body.a}}' }) },
      '{{request.body.a}}',
      '/action/path',
    ],
    ['nothing', { action: { type: 'static', body: 'x' } }, '{{request.body.a}}', ''],
  ])('%s', (_, operation, source, place) => {
    expect(pointerOf(compiled(operation), { template: written(source) })).toBe(POINTER + place)
  })

  it('is the operation where the value is inherited', () => {
    const operation = compiled(
      { action: { type: 'static', body: 'x' } },
      { headers: { x: '{{request.body.a}}' } },
    )
    expect(pointerOf(operation, { template: written('{{request.body.a}}') })).toBe(POINTER)
  })

  it('is the member where that is known', () => {
    const operation = compiled({ action: forward({}) })
    expect(pointerOf(operation, { member: '/action/host' })).toBe(`${POINTER}/action/host`)
    expect(pointerOf(operation, {})).toBe(POINTER)
  })
})
