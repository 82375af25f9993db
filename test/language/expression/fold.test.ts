// What is known at load becomes a constant where it stands, the rest waits, every fault is reported.

import { describe, expect, it } from '@jest/globals'
import { INVALID, fold, type FoldScope, weightOf } from '../../../language/expression/fold.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { folded, scopeOf } from './scope-of.ts'

const read = (path: string): Template => {
  const [root, ...keys] = path.split('.')
  return { kind: 'read', root: root as 'request', keys }
}

const variables: ValueMap = {
  n: 100,
  who: 'api',
  list: [3, 1, 2],
  map: { a: 1, 'x.y': { z: null } },
  empty: '',
  chain: '{{variables.who}}',
  late: '{{request.method}}',
  lateText: 'is {{request.method}}',
  lateMap: { m: '{{request.method}}', n: 1, deep: { l: ['{{request.path}}'] } },
  lateBody: '{{request.body}}',
  piped: '{{request.body |> get(a)}}',
  bad: '{{request.x |> nosuch}}',
  badMap: { good: 1, bad: '{{nope}}' },
}
const known = { variables, defaults: { timeout: 5 }, status_codes: { 'a.b': 404 } }

describe('fold', () => {
  it.each<[Value, Value]>([
    ['plain', 'plain'],
    ['{{variables.n}}', 100],
    [' {{variables.map}}\n', { a: 1, 'x.y': { z: null } }],
    ['{{variables.chain}}', 'api'],
    ['{{variables.map |> get(x.y)}}', { z: null }],
    [
      'n={{variables.n}} {{variables.map}} {{variables.empty}}.',
      'n=100 {"a":1,"x.y":{"z":null}} .',
    ],
    ['"{{variables.n}}"', '100'],
    ['{{defaults.timeout}}', 5],
    ['{{defaults}}', { timeout: 5 }],
    ['{{status_codes}}', { 'a.b': 404 }],
    ['{{defaults.status_codes}}', { 'a.b': 404 }],
    ['{{status_codes |> get(a.b)}}', 404],
    [
      { a: ['{{variables.n}}', 1], b: 'x' },
      { a: [100, 1], b: 'x' },
    ],
    [{ '{{variables.n}}': '{{variables.n}}' }, { '{{variables.n}}': 100 }],
    ['{{variables.lateMap.n}}', 1],
    ['{{variables.lateMap |> get(n)}}', 1],
    ['{{variables.lateMap |> get(zz, none)}}', 'none'],
    ['{{variables.badMap.good}}', 1],
    ['{{variables.empty |> get({{request.a}})}}', ''],
    ['{{variables |> get(n)}}', 100],
  ])('%j is known: %j', (value, expected) => {
    const good = { ...known, variables: { ...variables } }
    const { template, messages } = folded(value, good)
    expect(
      messages.filter((message) => !message.includes('nope') && !message.includes('nosuch')),
    ).toEqual([])
    expect(template).toEqual(constant(expected))
  })

  it.each<[Value, Template]>([
    ['{{request}}', read('request')],
    ['{{request.body.a}}', read('request.body.a')],
    ['{{security.authid}}', read('security.authid')],
    ['{{variables.late}}', read('request.method')],
    ['{{variables.lateMap.deep.l}}', { kind: 'list', items: [read('request.path')] }],
    ['{{variables.lateMap |> get(m)}}', read('request.method')],
    ['{{variables.lateBody.a.b}}', read('request.body.a.b')],
    ['{{action.result.arguments}}', read('action.result.args')],
    ['{{action.error.arguments_kw.x}}', read('action.error.kwargs.x')],
    ['{{action.result.body.arguments}}', read('action.result.body.arguments')],
    ['{{action.arguments}}', read('action.arguments')],
    ['{{request.result.arguments}}', read('request.result.arguments')],
    [
      'a{{variables.n}}b{{request.id}}c{{variables.who}}',
      { kind: 'text', parts: ['a100b', read('request.id'), 'capi'] },
    ],
    ['"{{request.id}}"', { kind: 'text', parts: [read('request.id')] }],
    [
      'x{{variables.lateText}}',
      { kind: 'text', parts: ['x', { kind: 'text', parts: ['is ', read('request.method')] }] },
    ],
    [
      { a: '{{request.id}}', b: '{{variables.n}}', c: [1] },
      {
        kind: 'map',
        entries: [
          ['a', read('request.id')],
          ['b', constant(100)],
          ['c', constant([1])],
        ],
      },
    ],
    [['{{request.id}}', 1], { kind: 'list', items: [read('request.id'), constant(1)] }],
    [
      '{{request.a |> get({{variables.who}}, {{request.b}})}}',
      {
        kind: 'pipe',
        input: read('request.a'),
        calls: [{ name: 'get', args: [constant('api'), read('request.b')] }],
        source: '{{request.a |> get({{variables.who}}, {{request.b}})}}',
      },
    ],
    [
      '{{variables.list |> tail |> nth({{request.n}}) |> string}}',
      {
        kind: 'pipe',
        input: constant([1, 2]),
        calls: [
          { name: 'nth', args: [read('request.n')] },
          { name: 'string', args: [] },
        ],
        source: '{{variables.list |> tail |> nth({{request.n}}) |> string}}',
      },
    ],
    [
      '{{request.a |> merge(_, $map) |> with([a, {{request.b}}])}}',
      {
        kind: 'pipe',
        input: read('request.a'),
        calls: [
          { name: 'merge', args: [{ kind: 'piped' }, constant({})] },
          { name: 'with', args: [{ kind: 'list', items: [constant('a'), read('request.b')] }] },
        ],
        source: '{{request.a |> merge(_, $map) |> with([a, {{request.b}}])}}',
      },
    ],
    [
      '{{variables.piped.k}}',
      {
        kind: 'pipe',
        input: {
          kind: 'pipe',
          input: read('request.body'),
          calls: [{ name: 'get', args: [constant('a')] }],
          source: '{{request.body |> get(a)}}',
        },
        calls: [{ name: '.', args: [constant('k')] }],
        source: '{{variables.piped.k}}',
      },
    ],
  ])('%j waits', (value, expected) => {
    const { template, messages } = folded(value, known)
    expect(messages).toEqual([])
    expect(template).toEqual(expected)
  })

  it('keeps the identity of what holds no expression, and of what is only referred to', () => {
    const value = { a: [{ b: 'text' }], bytes: new Uint8Array(1) }
    const { template } = folded({ x: '{{variables.v}}', y: value }, { variables: { v: value } })
    expect(template.kind).toBe('constant')
    const map = (template as { value: ValueMap }).value
    expect(map['x']).toBe(value)
    expect(map['y']).toBe(value)
    const scope = scopeOf({ variables: { v: value } })
    expect(fold('{{variables.v}}', '', scope, fail)).toBe(scope.read('variables', 'v'))
  })

  it('folds `__proto__` and `constructor` like any key', () => {
    const value = JSON.parse(
      '{"__proto__": "{{variables.n}}", "constructor": "{{variables.n}}"}',
    ) as Value
    const { template } = folded(value, known)
    expect(JSON.stringify((template as { value: Value }).value)).toBe(
      '{"__proto__":100,"constructor":100}',
    )
  })
})

const fail = (problem: { message: string }): never => {
  throw new Error(problem.message)
}

describe('faults', () => {
  it.each<[string, string]>([
    [
      '{{nope}}',
      "{{nope}}: there is no 'nope' to read; there are request, action, security, refusal, variables, defaults, status_codes",
    ],
    ['{{constructor.name}}', "there is no 'constructor' to read"],
    ['{{__proto__}}', "there is no '__proto__' to read"],
    ['{{variables.nope}}', "{{variables.nope}}: there is no key 'nope' in variables"],
    ['{{variables.constructor}}', "there is no key 'constructor' in variables"],
    ['{{variables.map.b}}', "{{variables.map.b}}: there is no key 'b' in variables.map"],
    ['{{variables.map.toString}}', "there is no key 'toString' in variables.map"],
    ['{{variables.map.a.b}}', "variables.map.a is a number, not a map, so it has no key 'b'"],
    [
      '{{variables.list.0}}',
      "variables.list is a list, not a map, so it has no key '0' (lists are read with head, last and nth)",
    ],
    ['{{variables.lateMap.x}}', "there is no key 'x' in variables.lateMap"],
    ['{{variables.lateMap.deep.l.x}}', 'variables.lateMap.deep.l is a list'],
    ['{{variables.lateText.x}}', 'variables.lateText is text'],
    ['{{variables.lateMap |> get(x)}}', "get finds no key 'x' and has no default"],
    [
      '{{variables.who |> integer}}',
      '{{variables.who |> integer}}: integer takes a number or decimal text, got text',
    ],
    ['a {{variables.who |> integer}}', '{{variables.who |> integer}}: integer takes a number'],
    [
      '{{request.a |> get({{variables.nope}})}}',
      "{{variables.nope}}: there is no key 'nope' in variables",
    ],
    ['{{request.a |> with([{{variables.nope}}])}}', "there is no key 'nope' in variables"],
    ['{{request.a', "{{request.a: there is no '}}' for the '{{' (at offset 0)"],
    [`${'x'.repeat(65_530)}{{n}}xxx`, 'the expression is longer than 64 KiB'],
  ])('%s', (source, message) => {
    const { template, messages, paths } = folded(source, known)
    expect(template).toBe(INVALID)
    expect(messages).toEqual([expect.stringContaining(message)])
    expect(paths).toEqual([''])
  })

  it('never shows a value that is known at load: it may be a secret', () => {
    const secret = 'hunter2'
    for (const pipe of [
      'integer',
      'abs',
      'head',
      'size',
      'boolean',
      'json:decode',
      'base64:decode',
    ]) {
      const { messages } = folded(`{{variables.secret |> ${pipe}}}`, { variables: { secret } })
      expect(messages).toHaveLength(1)
      expect(messages.join()).not.toContain(secret)
    }
  })

  it('are reported all at once, each with its pointer', () => {
    const { template, paths } = folded({
      a: ['{{nope}}', { 'b/~c': '{{request.x |> nosuch}}' }, 'fine {{request.y}}'],
      d: '{{a}} {{b}}',
    })
    expect(paths).toEqual(['/a/0', '/a/1/b~1~0c', '/d', '/d'])
    expect(template.kind).toBe('map')
  })

  it('of a variable are reported once, however often it is read', () => {
    const { template, messages, paths } = folded(
      [
        '{{variables.bad}}',
        '{{variables.bad.x}}',
        'a {{variables.bad |> integer}}',
        '{{variables.badMap.bad}}',
        '{{variables.badMap.bad.x}}',
        '{{variables.badMap |> get(bad)}}',
      ],
      known,
    )
    expect(messages).toHaveLength(2)
    expect(paths).toEqual(['/variables/bad', '/variables/badMap/bad'])
    expect(template).toEqual({ kind: 'list', items: Array.from({ length: 6 }, () => INVALID) })
  })

  it('of the scope as a whole are reported by the scope', () => {
    const scope: FoldScope = { budget: { left: 1 }, read: () => INVALID, whole: () => INVALID }
    expect(fold('{{variables |> get(a)}} {{variables.x}}', '', scope, fail)).toBe(INVALID)
  })
})

describe('bounds', () => {
  const text = 'x'.repeat(1000)

  it.each([
    ['{{variables.t}}{{variables.t}}', 1999],
    ['{{variables.m |> string}}', 1000],
    ['{{variables.m |> put(b, c)}}', 31],
    ['{{variables.t |> json:decode}}', 900],
  ])('%s needs more than %i bytes', (source, left) => {
    const { messages } = folded(source, { variables: { t: text, m: { t: text } } }, left)
    expect(messages).toEqual([
      expect.stringMatching(/too (much|large): templates and functions may produce/),
    ])
  })

  it('plain references cost nothing', () => {
    const { messages } = folded(
      ['{{variables.t}}', '{{variables.t}}'],
      { variables: { t: text } },
      0,
    )
    expect(messages).toEqual([])
  })

  it('one budget serves a whole document', () => {
    const problems: string[] = []
    const scope = scopeOf({ variables: { t: text } }, fail, 2500)
    for (const pointer of ['/a', '/b', '/c']) {
      fold('{{variables.t}}!', pointer, scope, ({ path }) => problems.push(path))
    }
    expect(problems).toEqual(['/c'])
  })

  /** Each variable holds ten times the one before. */
  const laughs = (first: Value, again: (name: string) => Value): ValueMap => ({
    v0: first,
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, level) => [`v${level + 1}`, again(`{{variables.v${level}}}`)]),
    ),
  })

  it.each<[string, Value, (name: string) => Value]>([
    ['lists of known lists', ['x'], (name) => Array.from({ length: 10 }, () => name)],
    [
      'maps of what waits',
      '{{request.id}}',
      (name) => ({ a: name, b: name, c: [name, name, name, name] }),
    ],
    ['texts of what waits', '{{request.id}}', (name) => name.repeat(10)],
    ['texts of what is known', 'xxxx', (name) => name.repeat(10)],
    [
      'arguments',
      { a: '{{request.id}}' },
      (name) =>
        `{{request.m |> put(a, ${name}) |> put(b, ${name}) |> put(c, ${name}) |> put(d, ${name}) |> put(e, ${name})}}`,
    ],
    [
      'puts of what is known',
      { a: 1 },
      (name) =>
        `${name.slice(0, -2)} |> put(a, ${name}) |> put(b, ${name}) |> put(c, ${name}) |> put(d, ${name}) |> put(e, ${name})}}`,
    ],
    ['long texts', 'x'.repeat(100_000), (name) => Array.from({ length: 10 }, () => name)],
  ])('a billion laughs of %s are refused', (_, first, again) => {
    const { messages } = folded('{{variables.v12}}', { variables: laughs(first, again) })
    expect(messages.length).toBeGreaterThan(0)
    for (const message of messages) {
      expect(message).toMatch(/expands to more than 100000 values|may produce 1 MiB at load/)
    }
  })

  it('levels add up through variables', () => {
    const deep = Array.from({ length: 10 }, (_, level) => [
      `v${level + 1}`,
      JSON.parse('['.repeat(60) + `"{{variables.v${level}}}"` + ']'.repeat(60)) as Value,
    ])
    const { messages } = folded('{{variables.v10}}', {
      variables: { v0: 1, ...Object.fromEntries(deep) } as ValueMap,
    })
    expect(messages).toEqual([expect.stringContaining('expands to more than 512 levels')])
  })

  it('a value nested 100 000 levels deep is refused, not a crash', () => {
    let value: Value = '{{request.id}}'
    for (let level = 0; level < 100_000; level++) value = [value]
    expect(folded(value).messages).toEqual(['the value nests more than 512 levels deep'])
  })

  it('what stands in the document itself may be large', () => {
    const rows = Array.from({ length: 150_000 }, (_, row) => row)
    const { messages } = folded({ rows, id: '{{request.id}}' })
    expect(messages).toEqual([])
    expect(folded('{{variables.rows}}', { variables: { rows } }).messages).toEqual([])
  })

  it('messages are bounded', () => {
    const key = 'ž'.repeat(20_000)
    const { messages } = folded([
      `{{variables.${key}}}`,
      `{{${key}}}`,
      `{{request.a |> ${key}}}`,
      `{{${key}`,
    ])
    expect(messages).toHaveLength(4)
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024)
  })
})

describe('weightOf', () => {
  it.each<[Template, number]>([
    [constant(1), 1],
    [constant('x'.repeat(640)), 11],
    [constant({ a: [1, 2], b: null }), 5],
    [constant(new Uint8Array(1000)), 1],
    [read('request.a.b'), 1],
    [{ kind: 'text', parts: ['a', read('request'), 'b'] }, 2],
    [
      {
        kind: 'map',
        entries: [
          ['a', read('request')],
          ['b', constant([1])],
        ],
      },
      4,
    ],
    [
      {
        kind: 'pipe',
        input: read('request'),
        calls: [{ name: 'merge', args: [{ kind: 'piped' }, constant(1)] }],
        source: '',
      },
      4,
    ],
  ])('%j: %i', (template, weight) => {
    expect(weightOf(template)).toBe(weight)
  })

  it('counts what is shared each time', () => {
    let template: Template = read('request')
    for (let level = 0; level < 40; level++)
      template = { kind: 'list', items: [template, template] }
    expect(weightOf(template)).toBe(2 ** 41 - 1)
  })
})

it('nearest names are looked for a bounded number of times in a document', () => {
  let looks = 0
  const messages: string[] = []
  const scope: FoldScope = {
    budget: { left: 1000 },
    read: () => undefined,
    whole: () => constant({}),
    names: () => {
      looks++
      return ['name']
    },
  }
  const unknown = Array.from({ length: 300 }, (_, index) => `{{variables.naem${index}}}`)
  fold(['{{variables.naem}}', ...unknown], '', scope, ({ message }) => messages.push(message))
  expect(messages).toHaveLength(301)
  expect(messages[0]).toContain("did you mean 'name'?")
  expect(looks).toBe(100)
})

describe('reads of status codes that wait', () => {
  const scope: FoldScope = {
    budget: { left: 1000 },
    read: (root, name) =>
      root === 'status_codes' ? { kind: 'read', root, keys: [name] } : undefined,
    whole: (root) => (root === 'status_codes' ? { kind: 'read', root, keys: [] } : constant({})),
  }

  it.each<[string, Template]>([
    ['{{status_codes}}', read('status_codes')],
    ['{{status_codes.a}}', read('status_codes.a')],
    [
      '{{status_codes |> get(a)}}',
      {
        kind: 'pipe',
        input: read('status_codes'),
        calls: [{ name: 'get', args: [constant('a')] }],
        source: '{{status_codes |> get(a)}}',
      },
    ],
  ])('%s', (source, expected) => {
    expect(fold(source, '', scope, fail)).toEqual(expected)
  })
})
