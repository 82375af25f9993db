// The function table: each row holds both at load, where the input is a variable, and at request time,
// where it comes from the body.

import { describe, expect, it } from '@jest/globals'
import { ExpressionError } from '../../../../language/expression/errors.ts'
import {
  functionNamed,
  functionNames,
} from '../../../../language/expression/functions/functions.ts'
import { evaluator } from '../../../../language/expression/run.ts'
import type { Value } from '../../../../language/expression/value.ts'
import { contextOf, failureOf, folded } from '../scope-of.ts'

const atLoad = (input: Value, pipe: string): Value => {
  const { template, messages } = folded(`{{variables.x |> ${pipe}}}`, { variables: { x: input } })
  const [message] = messages
  if (message !== undefined) throw new ExpressionError(message)
  return evaluator(template)(contextOf())
}

const atRequest = (input: Value, pipe: string): Value => {
  const { template, messages } = folded(`{{request.x |> ${pipe}}}`)
  expect(messages).toEqual([])
  return evaluator(template)(contextOf({ request: { x: input } }))
}

const own = JSON.parse('{"__proto__": 1, "constructor": 2}') as Value
const bytes = new Uint8Array([1, 2, 255])

const GIVES: readonly (readonly [pipe: string, input: Value, expected: Value])[] = [
  ['integer', 13.99, 13],
  ['integer', -4.5, -4],
  ['integer', '42', 42],
  ['integer', '42.0', 42],
  ['integer', '-4.9', -4],
  ['integer', '+7', 7],
  ['integer', '', ''],
  ['float', '4.50', 4.5],
  ['float', 3, 3],
  ['string', 13.99, '13.99'],
  ['string', true, 'true'],
  ['string', null, 'null'],
  ['string', 'as is', 'as is'],
  ['string', { a: [1, null] }, '{"a":[1,null]}'],
  ['string', bytes, 'AQL/'],
  ['boolean', true, true],
  ['boolean', 1, true],
  ['boolean', 'true', true],
  ['boolean', '1', true],
  ['boolean', false, false],
  ['boolean', 0, false],
  ['boolean', 'false', false],
  ['boolean', '0', false],
  ['abs', -4.5, 4.5],
  ['head', [1, 2], 1],
  ['head', [null, 2], null],
  ['head', [], ''],
  ['last', [1, 2], 2],
  ['last', [2, null], null],
  ['last', [], ''],
  ['tail', [1, 2, 3], [2, 3]],
  ['tail', [], []],
  ['nth(1)', ['a'], 'a'],
  ["nth('2')", ['a', 'b'], 'b'],
  ['nth({{variables.two}})', ['a', 'b'], 'b'],
  ['nth(2)', ['a', null], null],
  ['min', [3, 1, 2], 1],
  ['max', [3, 1, 2], 3],
  ['min', ['b', 5, 'a'], 5],
  ['max', ['b', 5, 'a'], 'b'],
  ['min', ['b', 'b'], 'b'],
  ['max', [], ''],
  ['length', [1, null], 2],
  ['size', { a: 1 }, 1],
  ['size', own, 2],
  ['get(a)', { a: null }, null],
  ['get(a.b)', { 'a.b': 1, a: { b: 2 } }, 1],
  ["get('')", { '': 1 }, 1],
  ['get(b, c d)', { a: 1 }, 'cd'],
  ["get(b, '')", { a: 1 }, ''],
  ['get(b, $map)', { a: 1 }, {}],
  ['get({{variables.two}})', { 2: 'two' }, 'two'],
  ['get(__proto__)', own, 1],
  ['get(__proto__, none)', {}, 'none'],
  ['get(toString, none)', {}, 'none'],
  ['put(b, 1)', { a: 1 }, { a: 1, b: '1' }],
  ['put(a, {{variables.two}})', { a: 1 }, { a: 2 }],
  ['merge({{variables.map}})', { a: 1, k: 2 }, { a: 1, k: 'v' }],
  ['merge(_, {{variables.map}})', { k: 2 }, { k: 'v' }],
  ['merge({{variables.map}}, _)', { k: 2 }, { k: 2 }],
  ['merge($map)', { k: 2 }, { k: 2 }],
  ['merge($map, _)', own, own],
  ['merge(_, $map)', own, own],
  ['with([a, zz])', { a: 1, b: 2 }, { a: 1 }],
  ['with([])', { a: 1 }, {}],
  ['with([__proto__])', own, JSON.parse('{"__proto__": 1}') as Value],
  ['with([toString, {{variables.two}}])', { 2: 1 }, { 2: 1 }],
  ["without(['a', zz])", { a: 1, b: 2 }, { b: 2 }],
  ['without([constructor])', own, JSON.parse('{"__proto__": 1}') as Value],
  ['base64:encode', 'ž', 'xb4='],
  ['base64:encode', bytes, 'AQL/'],
  ['base64:decode', 'xb4=', 'ž'],
  ['base64:decode |> base64:encode', '77u/YQ==', '77u/YQ=='],
  ['json:encode', { a: ['"', null] }, '{"a":["\\"",null]}'],
  ['json:encode', 'a', '"a"'],
  ['json:decode', '[1,{"a":"]{"}]', [1, { a: ']{' }]],
  ['json:decode', ' "a\\"b" ', 'a"b'],
  ['json:decode', '{"__proto__": 1, "constructor": 2}', own],
  [
    'json:decode |> json:encode',
    '['.repeat(512) + ']'.repeat(512),
    '['.repeat(512) + ']'.repeat(512),
  ],
  ['lower', 'ÀÉ İ ΑΣ', 'àé i̇ ας'],
  ['lower', '', ''],
  ['trim', '\u0085\u00a0\u2003\n a b \t\u3000', 'a b'],
  ['trim', '\ufeffa', '\ufeffa'],
  ['trim', ' \t ', ''],
  ["strip_prefix('/v1')", '/v1/v1/x', '/v1/x'],
  ["strip_prefix('/v1')", '/V1/x', '/V1/x'],
  ["strip_prefix('')", 'x', 'x'],
  ['strip_prefix({{variables.map.k}})', 'vvx', 'vx'],
  ["replace(a, 'b')", 'banana', 'bbnbnb'],
  ["replace(aa, 'a')", 'aaaaa', 'aaa'],
  ["replace('.', '')", '1.2.3', '123'],
  ["replace(a, '$&$1')", 'a-a', '$&$1-$&$1'],
  ["replace('.*', x)", 'a.*b', 'axb'],
  ["split(',')", 'a,,b,', ['a', '', 'b', '']],
  ["split(', ')", 'a, b', ['a', 'b']],
  ['split(x)', 'abc', ['abc']],
  ["split(',') |> join('-')", '', ''],
  ["split('😀')", 'a😀b', ['a', 'b']],
  ["join(', ')", ['a', 1.5, true, ''], 'a, 1.5, true, '],
  ["join('')", ['a', 'b'], 'ab'],
  ["join('-')", [1e21, 1e-7], '1000000000000000000000-0.0000001'],
  ["join('-')", [], ''],
  ['get(a, 500) |> integer', {}, 500],
  ['tail |> tail |> head', [1, 2], ''],
  ['tail |> tail |> head |> nth(1) |> integer', [1, 2], ''],
]

describe('functions give', () => {
  it.each(GIVES)('%s of %j: %j', (pipe, input, expected) => {
    const known = { two: 2, map: { k: 'v' } }
    const { template, messages } = folded(`{{variables.x |> ${pipe}}}`, {
      variables: { ...known, x: input },
    })
    expect(messages).toEqual([])
    expect(template).toEqual({ kind: 'constant', value: expected })
    const late = folded(`{{request.x |> ${pipe}}}`, { variables: known })
    expect(evaluator(late.template)(contextOf({ request: { x: input } }))).toEqual(expected)
  })

  it.each([
    'integer',
    'head',
    'nth(9)',
    'get(a)',
    'merge($map)',
    'with([a])',
    'json:decode',
    'random(3)',
    'length',
  ])('the empty text through %s, unchanged', (pipe) => {
    expect(atLoad('', pipe)).toBe('')
    expect(atRequest('', pipe)).toBe('')
  })

  it('does not even look at the arguments when the empty text comes in', () => {
    const { template } = folded('{{request.x |> get({{request.nope}})}}')
    expect(evaluator(template)(contextOf({ request: { x: '' } }))).toBe('')
  })
})

const deep = '['.repeat(513) + ']'.repeat(513)

const REFUSES: readonly (readonly [pipe: string, input: Value, message: string])[] = [
  ['integer', '1e3', 'integer takes a number or decimal text, got text "1e3"'],
  ['integer', ' 42 ', 'integer takes a number or decimal text, got text " 42 "'],
  ['integer', '4.', 'integer takes a number or decimal text, got text "4."'],
  ['integer', '.5', 'integer takes a number or decimal text, got text ".5"'],
  ['integer', '-', 'integer takes a number or decimal text, got text "-"'],
  ['integer', '1.2.3', 'integer takes a number or decimal text, got text "1.2.3"'],
  ['integer', '٣', 'integer takes a number or decimal text, got text "٣"'],
  [
    'integer',
    '9'.repeat(400),
    `integer takes a number or decimal text, got text "${'9'.repeat(32)}…"`,
  ],
  ['integer', true, 'integer takes a number or decimal text, got true'],
  ['float', null, 'float takes a number or decimal text, got null'],
  ['float', [], 'float takes a number or decimal text, got a list'],
  ['float', Infinity, 'float takes a number or decimal text, got number Infinity'],
  ['boolean', 'yes', 'boolean takes true, false, 1, 0 or one of these as text, got text "yes"'],
  ['boolean', 2, 'boolean takes true, false, 1, 0 or one of these as text, got number 2'],
  ['abs', '3', 'abs takes a number, got text "3"'],
  ['head', { a: 1 }, 'head takes a list, got a map'],
  ['tail', 'abc', 'tail takes a list, got text "abc"'],
  ['last', 1, 'last takes a list, got number 1'],
  ['nth(0)', [1], 'nth finds no element 0 in a list of 1'],
  ['nth(2)', [1], 'nth finds no element 2 in a list of 1'],
  ['nth(x)', [1], 'nth takes a whole number as argument, not text'],
  ['nth(1.5)', [1], 'nth takes a whole number as argument, not text'],
  ['nth({{variables.map}})', [1], 'nth takes a whole number as argument, not a map'],
  ['min', [1, null], 'min takes numbers and texts in its list, got null'],
  ['max', [[1]], 'max takes numbers and texts in its list, got a list'],
  ['length', {}, 'length takes a list, got a map'],
  ['length', 'abc', 'length takes a list, got text "abc"'],
  ['size', [], 'size takes a map, got a list'],
  ['size', bytes, 'size takes a map, got bytes'],
  ['random(2)', [1], "random can't draw 2 elements from a list of 1"],
  ['get(nope)', {}, "get finds no key 'nope' and has no default"],
  ['get(constructor)', {}, "get finds no key 'constructor' and has no default"],
  ['get(__proto__)', {}, "get finds no key '__proto__' and has no default"],
  ['get(a)', [1], 'get takes a map, got a list'],
  ['get(length)', [1], 'get takes a map, got a list'],
  ['get({{variables.map}})', {}, 'get takes a text as key, not a map'],
  ['put(a, b)', 'text', 'put takes a map, got text "text"'],
  ['merge(a)', {}, 'merge takes maps, not text'],
  ['merge(a, _)', {}, 'merge takes maps, not text'],
  ['merge($map)', [], 'merge takes a map, got a list'],
  ['with([a])', 1, 'with takes a map, got number 1'],
  ['without([{{variables.map}}])', {}, 'without takes a text as key, not a map'],
  ['base64:encode', 1, 'base64:encode takes text, got number 1'],
  ['base64:decode', 'YWJ', 'base64:decode takes base64 text with padding, got text "YWJ"'],
  ['base64:decode', 'YW Jj', 'base64:decode takes base64 text with padding, got text "YW Jj"'],
  ['base64:decode', '/w==', 'base64:decode takes base64 of UTF-8 text, got text "/w=="'],
  ['json:decode', '{a}', 'json:decode takes JSON text, got text "{a}"'],
  ['json:decode', '"a', 'json:decode takes JSON text, got text "\\"a"'],
  [
    'json:decode',
    '[1e400]',
    'json:decode takes JSON text without numbers that are too large, got text "[1e400]"',
  ],
  ['json:decode', 1, 'json:decode takes text, got number 1'],
  [
    'json:decode',
    deep,
    `json:decode takes JSON text of at most 512 levels, got text "${'['.repeat(32)}…"`,
  ],
  ['lower', 1, 'lower takes text, got number 1'],
  ['trim', null, 'trim takes text, got null'],
  ['trim', bytes, 'trim takes text, got bytes'],
  ['strip_prefix(a)', 1, 'strip_prefix takes text, got number 1'],
  ['strip_prefix({{variables.two}})', 'a', 'strip_prefix takes text as argument, not a number'],
  ['replace(a, b)', true, 'replace takes text, got true'],
  ['replace({{request.empty}}, b)', 'a', 'replace finds no empty text: say what to look for'],
  ['replace(a, {{request.map}})', 'a', 'replace takes text as argument, not a map'],
  ['replace({{request.two}}, a)', '2', 'replace takes text as argument, not a number'],
  ['replace({{request.long}}, b)', 'a', 'replace looks for at most 250 characters, not 251'],
  ["split(',')", 12, 'split takes text, got number 12'],
  ['split({{request.empty}})', 'ab', 'split finds no empty text: say what to look for'],
  ['split(a)', 'a'.repeat(100_000), 'split takes text of at most 100000 pieces, this has 100001'],
  ["join(',')", 'ab', 'join takes a list, got text "ab"'],
  ["join(',')", ['a', null], 'join takes texts, numbers and booleans in its list, got null'],
  ["join(',')", [[1]], 'join takes texts, numbers and booleans in its list, got a list'],
  ['join({{variables.two}})', ['a'], 'join takes text as argument, not a number'],
]

/** Arguments that a request brings. */
const given = { long: 'a'.repeat(251), empty: '', two: 2, map: {} }

describe('functions refuse', () => {
  it.each(REFUSES)('%s of %j: %s', (pipe, input, message) => {
    const known = { two: 2, map: { k: 'v' } }
    const source = `{{request.x |> ${pipe}}}`
    const run = evaluator(folded(source, { variables: known }).template)
    const failure = failureOf(() => run(contextOf({ request: { ...given, x: input } })))
    expect(failure).toBeInstanceOf(ExpressionError)
    expect(failure.message).toBe(`${source}: ${message}`)
    const early = folded(`{{variables.x |> ${pipe}}}`, { variables: { ...known, x: input } })
    const waits = pipe.startsWith('random') || pipe.includes('{{request.')
    expect(early.messages).toHaveLength(waits ? 0 : 1)
  })

  it.each([
    ['nosuch', "there is no function 'nosuch'; there are integer, float, string"],
    ['constructor', "there is no function 'constructor'"],
    ['__proto__', "there is no function '__proto__'"],
    ['.(a)', "there is no function '.'"],
    ['Integer', "there is no function 'Integer'"],
    ['integer(1)', 'integer takes 0 arguments, got 1'],
    ['get()', 'get takes 1 to 2 arguments, got 0'],
    ['get(a, b, c)', 'get takes 1 to 2 arguments, got 3'],
    ['put(a)', 'put takes 2 arguments, got 1'],
    ['nth', 'nth takes 1 argument, got 0'],
    ['split', "split takes 1 argument, got 0: write split(',')"],
    ["split('')", 'split finds no empty text: say what to look for'],
    ['replace(a, {{variables.map}})', 'replace takes text as argument, not a map'],
    ["replace('', x)", 'replace finds no empty text: say what to look for'],
    ['lowercase', "there is no function 'lowercase'; there is lower"],
    ['with(a)', 'with takes keys in brackets: with([a, b])'],
    ['without({{variables.x}})', 'without takes keys in brackets: without([a, b])'],
    ['with', 'with takes 1 argument, got 0'],
    ['get([a])', 'get takes no brackets; only with and without do'],
    ['merge(_)', 'merge takes one map, or two of which one is _, the piped one'],
    ['merge(a, b)', 'merge takes one map, or two of which one is _, the piped one'],
    ['merge(_, _)', 'merge takes one map, or two of which one is _, the piped one'],
    ['integer |> nosuch', "there is no function 'nosuch'"],
  ])('%s, at load, whatever the input', (pipe, message) => {
    for (const input of ['request.x', 'variables.x', 'variables.empty']) {
      const { messages } = folded(`{{${input} |> ${pipe}}}`, {
        variables: { x: 1, empty: '', map: {} },
      })
      expect(messages).toHaveLength(1)
      expect(messages[0]).toContain(`{{${input} |> ${pipe}}}: ${message}`)
    }
  })
})

describe('a result of many bytes is refused before it is made', () => {
  it.each([
    ['replace(a, {{request.wide}})', 'a'.repeat(8300)],
    ['join({{request.wide}})', Array.from({ length: 8300 }, () => '')],
  ])('%s', (pipe, input) => {
    const run = evaluator(folded(`{{request.x |> ${pipe}}}`).template)
    const context = contextOf({ request: { x: input, wide: '€'.repeat(1000) } })
    expect(failureOf(() => run({ ...context, budget: 8 * 1024 * 1024 })).message).toContain(
      'produces too much',
    )
  })
})

describe('random', () => {
  const list = [1, 2, 3, 4]

  it('draws distinct positions, each order as the chance has it', () => {
    const { template } = folded('{{variables.list |> random(3)}}', { variables: { list } })
    const run = evaluator(template)
    expect(run(contextOf({ random: () => 0 }))).toEqual([1, 2, 3])
    expect(run(contextOf({ random: () => 0.999 }))).toEqual([4, 1, 2])
    expect(new Set(run(contextOf()) as readonly Value[]).size).toBe(3)
  })

  it.each([
    ['random(0)', []],
    ['random(4) |> length', 4],
    ['random({{request.n}}) |> length', 2],
  ])('%s', (pipe, expected) => {
    const { template } = folded(`{{variables.list |> ${pipe}}}`, { variables: { list } })
    expect(template.kind).toBe('pipe')
    expect(evaluator(template)(contextOf({ request: { n: 2 } }))).toEqual(expected)
  })

  it('leaves the list as it is', () => {
    evaluator(folded('{{variables.list |> random(4)}}', { variables: { list } }).template)(
      contextOf(),
    )
    expect(list).toEqual([1, 2, 3, 4])
  })
})

/** Of each row the functions that it calls. */
const calledIn = (
  rows: readonly (readonly [pipe: string, ...rest: unknown[]])[],
): readonly string[] =>
  rows.flatMap(([pipe]) => pipe.split(' |> ').map((call) => call.replace(/\(.*/s, '')))

describe('each function has a row', () => {
  it.each([
    ['for what it gives', [...calledIn(GIVES), 'random']],
    // These two take anything.
    ['for what it refuses', [...calledIn(REFUSES), 'string', 'json:encode']],
  ])('%s', (_, called) => {
    expect([...new Set(called)].sort()).toEqual([...functionNames()].sort())
  })
})

describe('functionNamed', () => {
  it.each(['constructor', '__proto__', 'toString', '', '.'])('%j is none', (name) => {
    expect(functionNamed(name)).toBeUndefined()
  })
})
