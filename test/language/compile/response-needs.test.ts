import { describe, expect, it } from '@jest/globals'
import { responseNeedsOf } from '../../../language/compile/response-needs.ts'
import type { CompiledResponse } from '../../../language/compile/compiled-response.ts'
import { constant, type PipeCall, type Template } from '../../../language/expression/template.ts'
import { map, read, text } from '../../dataplane/actions/forward/forward-fixture.ts'

const NONE: CompiledResponse = { declared: false }
const whole = read('action.result.body')
const pipe = (input: Template, ...calls: PipeCall[]): Template => ({
  kind: 'pipe',
  input,
  calls,
  source: '',
})

describe('responseNeedsOf', () => {
  it('reads the body of a result that must be checked', () => {
    const schema = { isEnforced: true } as const
    expect(responseNeedsOf({ onResult: NONE, onError: NONE, schema })).toMatchObject({
      passesThrough: false,
      readsResultBody: true,
      passesErrors: true,
    })
  })

  it.each<[string, CompiledResponse, boolean, boolean]>([
    ['not declared', NONE, true, false],
    ['no body', { declared: true, statusCode: constant(202) }, true, false],
    ['the body as it is', { declared: true, body: whole }, true, true],
    [
      'with other reads',
      {
        declared: true,
        body: whole,
        headers: read('action.result.headers'),
        statusCode: read('action.result.status_code'),
      },
      true,
      true,
    ],
    ['a constant body', { declared: true, body: constant('x') }, false, false],
    ['a part of the body', { declared: true, body: read('action.result.body.id') }, false, true],
    ['the body in a map', { declared: true, body: map({ b: whole }) }, false, true],
    ['the body as text', { declared: true, body: text('', whole) }, false, true],
    [
      'a header of the body',
      { declared: true, body: whole, headers: map({ x: read('action.result.body.id') }) },
      false,
      true,
    ],
    [
      'a header of the whole result',
      { declared: true, headers: map({ x: read('action.result') }) },
      false,
      true,
    ],
    ['the whole result', { declared: true, body: read('action.result') }, false, true],
    ['the whole action', { declared: true, body: read('action') }, false, true],
    [
      'the status alone',
      { declared: true, body: map({ s: read('action.result.status_code') }) },
      false,
      false,
    ],
  ])('%s', (_, onResult, passesThrough, readsResultBody) => {
    expect(responseNeedsOf({ onResult, onError: NONE })).toMatchObject({
      passesThrough,
      readsResultBody,
      readsErrorBody: false,
    })
  })

  it.each<[string, CompiledResponse, boolean]>([
    ['nothing', NONE, false],
    ['the body', { declared: true, body: map({ b: whole }) }, false],
    ['a member', { declared: true, body: map({ b: read('action.result.body.id') }) }, true],
    [
      'a member in a text',
      { declared: true, body: text('x', read('action.result.body.id')) },
      true,
    ],
    [
      'a member in a header',
      { declared: true, headers: map({ x: read('action.result.body.id') }) },
      true,
    ],
    [
      'a member of what a function gives',
      {
        declared: true,
        body: pipe(whole, { name: 'head', args: [] }, { name: '.', args: [constant('id')] }),
      },
      true,
    ],
    [
      'an argument',
      {
        declared: true,
        body: pipe(constant({}), { name: 'get', args: [read('action.result.body.id')] }),
      },
      true,
    ],
    [
      'a key with get',
      { declared: true, body: pipe(whole, { name: 'get', args: [constant('id')] }) },
      false,
    ],
    ['a header', { declared: true, body: read('action.result.headers.etag') }, false],
  ])('fails without a member, reading %s', (_, onResult, needsResultMember) => {
    expect(responseNeedsOf({ onResult, onError: NONE })).toMatchObject({ needsResultMember })
  })

  it.each([
    ['action.error.body', true],
    ['action.error.body.code', true],
    ['action.error', true],
    ['action', true],
    ['action.error.status_code', false],
  ])('on_error reading %s: %s', (path, readsErrorBody) => {
    const onError = { declared: true, body: read(path) }
    expect(responseNeedsOf({ onResult: NONE, onError })).toMatchObject({ readsErrorBody })
  })
})
