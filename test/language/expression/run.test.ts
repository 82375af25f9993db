// Templates against requests: what is read, what is missing, what it costs, what a failure says.

import { describe, expect, it } from '@jest/globals'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { evaluator } from '../../../language/expression/run.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { contextOf, failureOf, folded, MiB } from './scope-of.ts'

const request: ValueMap = {
  id: 'r1',
  method: 'post',
  path: '/a/b',
  query_string: 'a=1',
  query_params: { a: '1' },
  bindings: { id: '42' },
  headers: { accept: 'x', 'x.y': 'dot' },
  body: {
    n: null,
    price: 13.99,
    a: { b: { c: { d: 1 } } },
    list: [1],
    text: 'abc',
    empty: '',
    grüße: '🎉',
  },
  host: 'h',
}
const action = { result: { args: [1], body: { v: { w: 2 } } }, error: { error_uri: 'a.b' } }
const security = { authid: 'alice' }
const status_codes = { 'a.b': 404 }

const run = (source: Value, variables: ValueMap = {}): Value => {
  const { template, messages } = folded(source, { variables })
  expect(messages).toEqual([])
  return evaluator(template)(contextOf({ request, action, security, status_codes }))
}

describe('reads', () => {
  it.each<[string, Value]>([
    ['{{request.id}}', 'r1'],
    ['{{request.method}}', 'post'],
    ['{{request.path}}', '/a/b'],
    ['{{request.query_string}}', 'a=1'],
    ['{{request.query_params.a}}', '1'],
    ['{{request.bindings.id}}', '42'],
    ['{{request.headers.accept}}', 'x'],
    ['{{request.host}}', 'h'],
    ['{{request.body.n}}', null],
    ['{{request.body.a.b}}', { c: { d: 1 } }],
    ['{{request.body.a.b.c.d}}', 1],
    ['{{request.body.grüße}}', '🎉'],
    ['{{request}}', request],
    ['{{action.result.args}}', [1]],
    ['{{action.result.arguments |> head}}', 1],
    ['{{action.result.body.v.w}}', 2],
    ['{{action.error.error_uri}}', 'a.b'],
    ['{{action}}', action],
    ['{{security.authid}}', 'alice'],
    ['{{security}}', security],
  ])('%s: %j', (source, expected) => {
    expect(run(source)).toEqual(expected)
  })

  it.each([
    ['{{request.nope}}', "{{request.nope}}: there is no key 'nope' in request"],
    ['{{request.body.nope}}', "{{request.body.nope}}: there is no key 'nope' in request.body"],
    [
      '{{ request . body . nope }}',
      "{{request.body.nope}}: there is no key 'nope' in request.body",
    ],
    [
      '{{request.body.nope.x.y}}',
      "{{request.body.nope.x.y}}: there is no key 'nope' in request.body",
    ],
    [
      '{{request.body.a.b.nope.x}}',
      "{{request.body.a.b.nope.x}}: there is no key 'nope' in request.body.a.b",
    ],
    [
      '{{request.body.price.x}}',
      "{{request.body.price.x}}: request.body.price is a number, not a map, so it has no key 'x'",
    ],
    [
      '{{request.body.n.x}}',
      "{{request.body.n.x}}: request.body.n is null, not a map, so it has no key 'x'",
    ],
    [
      '{{request.body.list.0}}',
      "{{request.body.list.0}}: request.body.list is a list, not a map, so it has no key '0' (lists are read with head, last and nth)",
    ],
    [
      '{{request.body.list.length}}',
      "request.body.list is a list, not a map, so it has no key 'length'",
    ],
    [
      '{{request.body.text.length}}',
      "request.body.text is text, not a map, so it has no key 'length'",
    ],
    [
      '{{request.constructor}}',
      "{{request.constructor}}: there is no key 'constructor' in request",
    ],
    ['{{request.__proto__.x}}', "there is no key '__proto__' in request"],
    ['{{request.body.a.hasOwnProperty}}', "there is no key 'hasOwnProperty' in request.body.a"],
    ['{{request.language}}', "there is no key 'language' in request"],
    ['{{action.nope}}', "there is no key 'nope' in action"],
    ['{{security.nope}}', "there is no key 'nope' in security"],
    [
      '{"a": "{{request.body.nope}}"}',
      "{{request.body.nope}}: there is no key 'nope' in request.body",
    ],
    [
      '{{request.body |> get({{request.nope}})}}',
      "{{request.nope}}: there is no key 'nope' in request",
    ],
    [
      '{{request.body |> get(nope) |> integer}}',
      "{{request.body |> get(nope) |> integer}}: get finds no key 'nope' and has no default",
    ],
    [
      '{{request.body.text |> integer}}',
      '{{request.body.text |> integer}}: integer takes a number or decimal text, got text "abc"',
    ],
  ])('%s fails: %s', (source, message) => {
    const failure = failureOf(() => run(source))
    expect(failure).toBeInstanceOf(ExpressionError)
    expect(failure).toMatchObject({ code: 'svc.error.http_gateway.invalid_expression' })
    expect(failure.message).toContain(message)
  })

  it('names read by name are own keys all the same', () => {
    const read = evaluator(folded('{{request.body}}').template)
    expect(() => read(contextOf({ request: {} }))).toThrow("there is no key 'body' in request")
    expect(read(contextOf({ request: { body: null } }))).toBeNull()
    expect(
      evaluator(folded('{{action.result}}').template)(contextOf({ action: { result: null } })),
    ).toBeNull()
  })

  it('finds own keys that are called like prototype members', () => {
    const body = JSON.parse('{"__proto__": {"constructor": 1}, "toString": "mine"}') as Value
    const context = contextOf({ request: { body } })
    expect(evaluator(folded('{{request.body.__proto__.constructor}}').template)(context)).toBe(1)
    expect(evaluator(folded('{{request.body.toString}}').template)(context)).toBe('mine')
  })

  it.each<[Template, Value]>([
    [{ kind: 'read', root: 'status_codes', keys: [] }, status_codes],
    [{ kind: 'read', root: 'status_codes', keys: ['a.b'] }, 404],
  ])('status codes that wait: %j', (template, expected) => {
    expect(evaluator(template)(contextOf({ status_codes }))).toEqual(expected)
  })

  it('without status codes there are none', () => {
    const read = evaluator({ kind: 'read', root: 'status_codes', keys: ['a.b'] })
    expect(() => read(contextOf())).toThrow("there is no key 'a.b' in status_codes")
  })
})

describe('values', () => {
  it('maps, lists and texts are put together', () => {
    const value = JSON.parse(
      '{"__proto__": "{{request.id}}", "l": [1, "{{request.body.price}}"], "t": "{{request.id}}-{{request.body.n}}-{{request.body.list}}", "c": true}',
    ) as Value
    expect(JSON.stringify(run(value))).toBe(
      '{"__proto__":"r1","l":[1,13.99],"t":"r1-null-[1]","c":true}',
    )
  })

  it('a request holding expressions is data', () => {
    const body = { a: '{{request.id}}', '{{request.id}}': 1 }
    const context = contextOf({ request: { ...request, body } })
    expect(evaluator(folded('{{request.body}}').template)(context)).toBe(body)
    expect(evaluator(folded('x {{request.body.a}}').template)(context)).toBe('x {{request.id}}')
    expect(evaluator(folded('{{request.body |> get({{request.body.a}})}}').template)(context)).toBe(
      1,
    )
  })

  it('paths go on into what a pipe gives', () => {
    const variables = { p: '{{request.body |> get(a)}}', e: '{{request.body |> get(empty)}}' }
    expect(run('{{variables.p.b.c}}', variables)).toEqual({ d: 1 })
    expect(failureOf(() => run('{{variables.p.x}}', variables)).message).toBe(
      "{{variables.p.x}}: there is no key 'x' in what the pipe gives",
    )
    expect(failureOf(() => run('{{variables.e.x}}', variables)).message).toBe(
      "{{variables.e.x}}: what the pipe gives is text, not a map, so it has no key 'x'",
    )
  })
})

describe('failures', () => {
  it('show what came, cut, and stay below 1 KiB', () => {
    const body = 'ž'.repeat(200_000)
    const { template } = folded(`{{request.body |> integer}}`)
    const failure = failureOf(() => evaluator(template)(contextOf({ request: { body } })))
    expect(failure.message).toBe(
      `{{request.body |> integer}}: integer takes a number or decimal text, got text "${'ž'.repeat(32)}…"`,
    )
    const long = folded(`{{request.${'🎉'.repeat(5000)}}}`)
    const { message } = failureOf(() => evaluator(long.template)(contextOf()))
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024)
    expect(message.isWellFormed()).toBe(true)
  })

  it.each([
    '{{variables.secrets |> nth({{request.one}}) |> integer}}',
    '{{request.map |> get(nope, {{variables.secret}}) |> integer}}',
    '{{request.list |> nth({{variables.secret}})}}',
    '{{request.map |> merge({{variables.secret}})}}',
  ])('never show what may come from a secret: %s', (source) => {
    const variables = { secret: 'hunter2', secrets: ['hunter2'] }
    const { template } = folded(source, { variables })
    const context = contextOf({ request: { one: 1, map: {}, list: [1] } })
    const { message } = failureOf(() => evaluator(template)(context))
    expect(message).toContain(source)
    expect(message).not.toContain('hunter2')
  })

  it('a cause prints no request data', () => {
    const { cause } = failureOf(() => run('{{request.body.text |> integer}}'))
    expect(JSON.stringify(cause)).not.toContain('abc')
  })

  it('a template with an unknown function is a bug, seen when it is built', () => {
    const template: Template = {
      kind: 'pipe',
      input: constant(1),
      calls: [{ name: 'toString', args: [] }],
      source: '',
    }
    expect(() => evaluator(template)).toThrow(TypeError)
  })
})

describe('budget', () => {
  const body = {
    text: 'x'.repeat(1000),
    wide: 'ž'.repeat(1000),
    map: { a: 1, b: 2 },
    list: [1, 2, 3],
  }

  const spent = (source: Value): number => {
    const context = contextOf({ request: { body }, budget: MiB })
    evaluator(folded(source).template)(context)
    return MiB - context.budget
  }

  it.each<[Value, number]>([
    [{ a: '{{request.body}}', b: ['{{request.body.text}}'] }, 0],
    ['ab{{request.body.text}}', 1002],
    ['{{request.body.text}}{{request.body.text}}', 2000],
    ['"{{request.body.wide}}"', 1000],
    ['{{request.body.text |> string}}', 0],
    ['{{request.body.list |> string}}', 7],
    ['{{request.body.map |> put(c, {{request.body.text}})}}', 48],
    ['{{request.body.list |> tail}}', 32],
    ['{{request.body.list |> head}}', 0],
    ['{{request.body.text |> base64:encode}}', 1336],
    ['{{request.body.list |> json:encode |> json:decode}}', 14],
  ])('%j costs %i', (source, cost) => {
    expect(spent(source)).toBe(cost)
  })

  it('texts of 1 KiB and more are counted in UTF-8', () => {
    const context = contextOf({ request: { body: 'ž'.repeat(1024) }, budget: MiB })
    evaluator(folded('"{{request.body}}"').template)(context)
    expect(MiB - context.budget).toBe(2048)
  })

  it.each([
    [
      '{{request.body.text}}{{request.body.text}}',
      '{{request.body.text}}{{request.body.text}}: the text is too large',
    ],
    [
      '{{request.body |> json:encode}}',
      '{{request.body |> json:encode}}: json:encode produces too much',
    ],
    [
      '{{request.body.map |> put(a, {{request.body.text}}) |> merge({{request.body.map}})}}',
      'merge produces too much',
    ],
  ])('%s beyond it fails', (source, message) => {
    const { template } = folded(source)
    const left = source.includes('put') ? 40 : 1500
    const failure = failureOf(() =>
      evaluator(template)(contextOf({ request: { body }, budget: left })),
    )
    expect(failure).toBeInstanceOf(ExpressionError)
    expect(failure.message).toContain(message)
  })
})
