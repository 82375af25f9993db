// JSON text, plain text and URL text of templates and values.

import { describe, expect, it } from '@jest/globals'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { jsonWriter, toJson } from '../../../language/expression/json.ts'
import { evaluator } from '../../../language/expression/run.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import { toText, urlWriter } from '../../../language/expression/text.ts'
import type { Value } from '../../../language/expression/value.ts'
import { contextOf, failureOf, folded } from './scope-of.ts'

const bytes = new Uint8Array([1, 2, 255])
const request = {
  method: 'get',
  path: '/a b/c',
  query_string: 'x=1&y',
  body: { s: 'a/b "q" \n', n: 1.5, z: null, m: { k: [1] }, bytes },
}
const context = () => contextOf({ request })

describe('toJson and toText', () => {
  it.each<[Value, string, string]>([
    ['a"\n', '"a\\"\\n"', 'a"\n'],
    ['\ud800', '"\\ud800"', '\ud800'],
    [13.99, '13.99', '13.99'],
    [-0, '0', '0'],
    [1e21, '1e+21', '1000000000000000000000'],
    [-1.5e21, '-1.5e+21', '-1500000000000000000000'],
    [1.234e23, '1.234e+23', '123400000000000000000000'],
    [1e-7, '1e-7', '0.0000001'],
    [-1.25e-9, '-1.25e-9', '-0.00000000125'],
    [123e-20, '1.23e-18', '0.00000000000000000123'],
    [{ a: 1e-7 }, '{"a":1e-7}', '{"a":1e-7}'],
    [Infinity, 'null', 'Infinity'],
    [true, 'true', 'true'],
    [false, 'false', 'false'],
    [null, 'null', 'null'],
    [[], '[]', '[]'],
    [{ a: [1, { b: 'ž' }] }, '{"a":[1,{"b":"ž"}]}', '{"a":[1,{"b":"ž"}]}'],
    [bytes, '"AQL/"', 'AQL/'],
    [Buffer.from(bytes), '"AQL/"', 'AQL/'],
    [{ a: [bytes, 'x', null] }, '{"a":["AQL/","x",null]}', '{"a":["AQL/","x",null]}'],
    [
      JSON.parse('{"__proto__": 1, "toJSON": 2}') as Value,
      '{"__proto__":1,"toJSON":2}',
      '{"__proto__":1,"toJSON":2}',
    ],
  ])('%j', (value, json, text) => {
    expect(toJson(value)).toBe(json)
    expect(toText(value)).toBe(text)
  })

  it('bytes beside `__proto__` lose nothing', () => {
    const value = { ...(JSON.parse('{"__proto__": 1}') as Record<string, Value>), bytes }
    expect(toJson(value)).toBe('{"__proto__":1,"bytes":"AQL/"}')
  })

  it('a value nested 50 000 levels deep is written or refused, never a crash', () => {
    let deep: Value = 1
    for (let level = 0; level < 50_000; level++) deep = level % 2 === 0 ? [deep] : { deep }
    const shallow = contextOf({ request: { body: deep } })
    for (const source of [
      '{{request.body}}',
      'x{{request.body}}',
      '{{request.body |> json:encode}}',
      '{{request.body |> string}}',
    ]) {
      const { template } = folded({ a: source })
      const outcome = outcomeOf(() => jsonWriter(template)(shallow))
      expect(outcome === undefined || outcome instanceof ExpressionError).toBe(true)
    }
    const outcome = outcomeOf(() => toJson(deep))
    expect(outcome === undefined || outcome instanceof ExpressionError).toBe(true)
  })

  it('a value that refers to itself is refused', () => {
    const circle: Record<string, Value> = {}
    circle['circle'] = circle
    expect(() => toJson(circle)).toThrow(ExpressionError)
  })
})

describe('a text that V8 could not write', () => {
  const huge = 'x'.repeat(2 ** 27 + 1)

  it.each<[string, Value]>([
    ['by itself', huge],
    ['in a list', [huge]],
    ['in a map', { a: { huge } }],
  ])('is refused %s', (_, value) => {
    expect(() => toJson(value)).toThrow(ExpressionError)
  })
})

const outcomeOf = (run: () => unknown): unknown => {
  try {
    run()
    return undefined
  } catch (error) {
    return error
  }
}

describe('jsonWriter', () => {
  it.each<[Value]>([
    ['plain'],
    [{}],
    [[]],
    [{ a: {}, b: [], c: [[], {}] }],
    ['{{request.body.s}}'],
    ['{{request.body}}'.replace('body', 'method')],
    [
      {
        a: 1,
        b: '{{request.body.s}}',
        c: { d: ['x', '{{request.body.n}}', '{{request.body.z}}'] },
        e: [],
      },
    ],
    [['{{request.method}}', '{{request.method}}']],
    [{ z: '{{request.method}}', 2: '{{request.path}}', 1: true, a: {} }],
    [
      JSON.parse(
        '{"__proto__": "{{request.method}}", "a\\"b": {"constructor": "{{request.body.m}}"}}',
      ) as Value,
    ],
    ['t {{request.body.s}} {{request.body.m}}'],
    [{ p: '{{request.body.m |> get(k) |> head}}' }],
  ])('of %j is what stringify gives', (value) => {
    const { template } = folded(value)
    expect(jsonWriter(template)(context())).toBe(JSON.stringify(evaluator(template)(context())))
  })

  it('follows the object that the evaluator builds, whatever the order of entries', () => {
    const template: Template = {
      kind: 'map',
      entries: [
        ['b', { kind: 'read', root: 'request', keys: ['method'] }],
        ['2', { kind: 'constant', value: 'two' }],
        ['b', { kind: 'read', root: 'request', keys: ['path'] }],
        ['1', { kind: 'map', entries: [] }],
        ['c', { kind: 'list', items: [] }],
      ],
    }
    expect(jsonWriter(template)(context())).toBe('{"1":{},"2":"two","b":"/a b/c","c":[]}')
    expect(JSON.stringify(evaluator(template)(context()))).toBe(
      '{"1":{},"2":"two","b":"/a b/c","c":[]}',
    )
  })

  it('writes bytes as base64', () => {
    const { template } = folded({
      a: '{{request.body.bytes}}',
      b: '{{request.body |> with([bytes])}}',
    })
    expect(jsonWriter(template)(context())).toBe('{"a":"AQL/","b":{"bytes":"AQL/"}}')
  })

  it('says what is missing', () => {
    const write = jsonWriter(
      folded({ fine: 1, list: [{ x: '{{request.headers.x-not-there}}' }] }).template,
    )
    expect(failureOf(() => write(context())).message).toBe(
      "{{request.headers.x-not-there}}: there is no key 'headers' in request",
    )
  })

  it('whatever else goes wrong is an expression error', () => {
    const request = {
      get body(): Value {
        throw new RangeError('Invalid string length')
      },
    }
    const write = jsonWriter(folded(['{{request.body}}']).template)
    const failure = failureOf(() => write(contextOf({ request })))
    expect(failure).toBeInstanceOf(ExpressionError)
    expect(failure.message).toBe('the value is too large to be written as JSON')
  })
})

describe('what names one large value many times', () => {
  const body = { text: 'x'.repeat(2 ** 20), bytes, 'a key': [1] }
  const many = (count: number): Value => Array.from({ length: count }, () => body)

  it('is no longer than 32 MiB as JSON of a template', () => {
    const write = (count: number) =>
      jsonWriter(folded(Array.from({ length: count }, () => '{{request.body.text}}')).template)(
        contextOf({ request: { body } }),
      )
    expect(write(31)).toHaveLength(31 * 2 ** 20 + 31 * 3 + 1)
    expect(failureOf(() => write(32))).toBeInstanceOf(ExpressionError)
  })

  it('is no longer as JSON of a value, with bytes in it or without', () => {
    expect(toJson(many(31)).length).toBeGreaterThan(31 * 2 ** 20)
    expect(failureOf(() => toJson(many(33)))).toBeInstanceOf(ExpressionError)
    const keys = { ['k'.repeat(2 ** 20)]: 1 }
    expect(failureOf(() => toJson(Array.from({ length: 33 }, () => keys)))).toBeInstanceOf(
      ExpressionError,
    )
  })
})

describe('urlWriter without encoding', () => {
  it.each<[Value, string]>([
    ['plain', 'plain'],
    [12, '12'],
    [{ a: 1 }, '{"a":1}'],
    ['{{request.body.n}}', '1.5'],
    ['{{request.body.m}}', '{"k":[1]}'],
    ['{{request.body.bytes}}', 'AQL/'],
    [{ a: '{{request.body.s}}' }, '{"a":"a/b \\"q\\" \\n"}'],
    [['{{request.method}}'], '["get"]'],
    ['<{{request.body.s}}>', '<a/b "q" \n>'],
  ])('%j: %s', (value, expected) => {
    const same = (text: string): string => text
    expect(urlWriter(folded(value).template, { part: same, text: same })(context())).toBe(expected)
  })
})

describe('urlWriter', () => {
  const variables = {
    base: '/v 1',
    id: '{{request.body.s}}',
    late: '/x/{{request.body.s}}',
    path: '{{request.path}}',
    under: '/v 1{{request.path}}/y',
  }
  const encoded = encodeURIComponent(request.body.s)

  const encoding = { part: encodeURIComponent, text: encodeURI }
  const fit = encodeURI(request.body.s)

  it.each<[string, string]>([
    ['/plain/ö', '/plain/%C3%B6'],
    ['{{request.body.s}}', fit],
    ['"{{request.body.s}}"', fit],
    ['/orders/{{request.body.s}}', `/orders/${encoded}`],
    ['"/örders/{{request.body.s}}?"', `/%C3%B6rders/${encoded}?`],
    ['{{request.body.s}}{{request.body.n}}', `${encoded}1.5`],
    ['{{variables.base}}/{{request.method}}', '/v%201/get'],
    ['{{request.path}}', '/a b/c'],
    ['"{{request.path}}"', '/a b/c'],
    ['{{variables.path}}', '/a b/c'],
    ['{{request.path}}/möre', '/a b/c/m%C3%B6re'],
    ['{{request.query_string}}', 'x=1&y'],
    ['a=1&{{request.query_string}}', 'a=1&x=1&y'],
    ['{{request}}!'.replace('request', 'request.body.m'), '%7B%22k%22%3A%5B1%5D%7D!'],
    ['a={{request.path |> string}}', `a=${encodeURIComponent(request.path)}`],
    ['{{variables.late}}/y', `/x/${encoded}/y`],
    ['"{{variables.late}}"', `/x/${encoded}`],
    ['"{{variables.id}}"', fit],
    ['{{variables.id}}/y', `${encoded}/y`],
    ['{{variables.path}}/y', '/a b/c/y'],
    ['{{variables.under}}/ö', '/v%201/a b/c/y/%C3%B6'],
  ])('%s: %s', (source, expected) => {
    const { template } = folded(source, { variables })
    expect(urlWriter(template, encoding)(context())).toBe(expected)
  })

  it.each<[string, string]>([
    ['/{{request.bindings.rest}}', '/a%20b/ö'],
    ['{{request.bindings.rest}}', 'a%20b/ö'],
    ['/v1/{{request.bindings.rest}}/x', '/v1/a%20b/ö/x'],
    ['{{variables.below}}', '/w/a%20b/ö'],
    ['/{{request.bindings.rest |> string}}', '/a%2520b%2F%C3%B6'],
    ['/x?p={{request.bindings.rest}}', '/x?p=a%2520b%2F%C3%B6'],
    ['/{{request.bindings.other}}', '/a%2520b%2F%C3%B6'],
  ])('with a rest of the path %s: %s', (source, expected) => {
    const below = { below: '/w/{{request.bindings.rest}}' }
    const { template } = folded(source, { variables: below })
    const bindings = { rest: 'a%20b/ö', other: 'a%20b/ö' }
    const write = urlWriter(template, { ...encoding, rest: 'rest' })
    expect(write(contextOf({ request: { bindings } }))).toBe(expected)
  })

  it('a known part is the document’s, wherever the template comes from', () => {
    const template: Template = {
      kind: 'text',
      parts: [
        'a',
        { kind: 'constant', value: '/b' },
        { kind: 'read', root: 'request', keys: ['path', 'x'] },
      ],
    }
    const nested = contextOf({ request: { path: { x: '/' } } })
    expect(urlWriter(template, encoding)(nested)).toBe('a/b%2F')
  })
})

describe('what is made of equal templates once', () => {
  const read = (...keys: string[]): Template => ({ kind: 'read', root: 'request', keys })
  const text = (...parts: (string | Template)[]): Template => ({ kind: 'text', parts })
  const defaultTo = (value: Value): Template => ({
    kind: 'pipe',
    input: read('body'),
    calls: [{ name: 'get', args: [constant('none'), constant(value)] }],
    source: '{{request.body |> get(none, {{variables.a}})}}',
  })

  it.each<[string, readonly [Template, string], readonly [Template, string]]>([
    [
      'bytes and the map that has their JSON',
      [defaultTo(new Uint8Array([1])), '"AQ=="'],
      [defaultTo({ 0: 1 }), '{"0":1}'],
    ],
    [
      'keys that are joined otherwise',
      [text(read('body', 's\nm')), '"6"'],
      [text(read('body', 's', 'm')), '"7"'],
    ],
    ['texts of other letters', [text('a', read('id')), '"a5"'], [text('b', read('id')), '"b5"']],
    ['a text and its only part', [text(read('n')), '"8"'], [read('n'), '8']],
  ])('is never that of others: %s', (_, ...templates) => {
    const request = { id: '5', n: 8, body: { 's\nm': 6, s: { m: 7 } } }
    for (let time = 0; time < 3; time++)
      for (const [template, json] of templates)
        expect(jsonWriter(structuredClone(template))(contextOf({ request }))).toBe(json)
  })

  it('leaves the text that follows to each', () => {
    const map = (tail: string): Template => ({
      kind: 'map',
      entries: [
        ['a', read('method')],
        ['b', constant(tail)],
      ],
    })
    for (let time = 0; time < 3; time++)
      for (const tail of ['x', 'y'])
        expect(jsonWriter(map(tail))(context())).toBe(`{"a":"get","b":"${tail}"}`)
  })
})
