// What holds whatever documents and requests bring.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { INVALID, fold, type FoldScope } from '../../../language/expression/fold.ts'
import { functionNames } from '../../../language/expression/functions/functions.ts'
import { jsonWriter } from '../../../language/expression/json.ts'
import { lookup } from '../../../language/expression/lookup.ts'
import { evaluator } from '../../../language/expression/run.ts'
import { toText, urlWriter } from '../../../language/expression/text.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import { isMap, setOwn, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { contextOf, folded, MiB } from './scope-of.ts'

const same = (written: string): string => written

const key = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    '1',
    '2',
    'x-y',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    'length',
    'grüße',
  ),
  fc.string({ maxLength: 4 }),
)
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    '1',
    '-4.50',
    '1e3',
    'true',
    '{{request.secret}}',
    '"{{request.secret}}"',
    '{{',
    '}}',
    "'",
    '\ud800',
    'YWJj',
    '[1]',
  ),
)

const mapOf = (entries: readonly (readonly [string, Value])[]): ValueMap => {
  const map: Record<string, Value> = {}
  for (const [name, value] of entries) setOwn(map, name, value)
  return map
}

const { value: json } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(mapOf),
  ),
}))
const map = fc.array(fc.tuple(key, json), { maxLength: 5 }).map(mapOf)

/** Keys that may stand in a path. */
const pathKey = fc.constantFrom(
  'a',
  'b',
  '1',
  'x-y',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'length',
)
const CALLS = [
  'integer',
  'string',
  'boolean',
  'head',
  'tail',
  'last',
  'nth(1)',
  'min',
  'max',
  'length',
  'size',
  'get(a)',
  'get(a, d)',
  "get('', '')",
  'put(a, 1)',
  'put(__proto__, {{request.b}})',
  'merge({{variables.m}})',
  'merge({{request.a}}, _)',
  'merge(_, $map)',
  'with([a, __proto__, {{request.b}}])',
  'without([a])',
  'lower',
  'trim',
  'strip_prefix(a)',
  'replace(a, {{request.b}})',
  'split(a)',
  "join(', ')",
  'base64:encode',
  'base64:decode',
  'json:encode',
  'json:decode',
  'abs',
  'float',
]
const call = fc.constantFrom(...CALLS)
const root = fc.constantFrom(
  'request',
  'variables.m',
  'variables.late',
  'action.result',
  'security',
  'request.body',
)
const tag = fc
  .tuple(root, fc.array(pathKey, { maxLength: 3 }), fc.array(call, { maxLength: 3 }))
  .map(([first, keys, calls]) => `{{${[[first, ...keys].join('.'), ...calls].join(' |> ')}}}`)
const expression = fc.oneof(
  tag,
  fc.tuple(text, tag, text, tag).map(([a, b, c, d]) => `"${a}${b}${c}${d}"`),
)
const { body } = fc.letrec<{ body: Value }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 3 },
    expression,
    json,
    fc.array(tie('body'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('body')), { maxLength: 3 }).map(mapOf),
  ),
}))

const context = (request: ValueMap, result: ValueMap = {}) =>
  contextOf({
    request,
    action: { result },
    security: { authid: 'x' },
    budget: MiB,
    random: () => 0.5,
  })

/** Folds over variables that are data, whatever their texts look like; `late` waits for `request.a`. */
const foldOver = (
  variables: ValueMap,
  source: Value,
): { template: Template; messages: string[] } => {
  const messages: string[] = []
  const scope: FoldScope = {
    budget: { left: MiB },
    read: (_, name) => {
      if (name === 'late') return { kind: 'read', root: 'request', keys: ['a'] }
      return Object.hasOwn(variables, name) ? constant(variables[name] ?? null) : undefined
    },
    whole: () => constant(variables),
  }
  return {
    template: fold(source, '', scope, ({ message }) => messages.push(message)),
    messages,
  }
}

/** The value, or why there is none. */
const outcome = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    expect(error).toBeInstanceOf(ExpressionError)
    return (error as Error).message
  }
}

it('every function is called, but what is drawn', () => {
  const called = CALLS.map((each) => each.replace(/\(.*/, ''))
  expect([...new Set([...called, 'random'])].sort()).toEqual([...functionNames()].sort())
})

describe('own keys', () => {
  it('a path gives what own keys lead to, or nothing', () => {
    fc.assert(
      fc.property(json, fc.array(key, { maxLength: 4 }), (value, keys) => {
        let expected: Value | undefined = value
        for (const name of keys) {
          const descriptor: PropertyDescriptor | undefined = isMap(expected)
            ? Object.getOwnPropertyDescriptor(expected, name)
            : undefined
          expected = descriptor?.value as Value | undefined
        }
        expect(lookup(value, keys)).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })

  it('an expression does the same', () => {
    fc.assert(
      fc.property(map, fc.array(pathKey, { minLength: 1, maxLength: 5 }), (request, keys) => {
        const source = `{{request.${keys.join('.')}}}`
        const read = evaluator(folded(source).template)
        const got = outcome(() => ({ value: read(context(request)) }))
        const found = lookup(request, keys)
        const names = typeof got === 'string' && got.startsWith(`${source}: `)
        expect(names ? 'fails' : got).toEqual(found === undefined ? 'fails' : { value: found })
      }),
      { numRuns: 1000 },
    )
  })
})

describe('folding and running', () => {
  it('never throw anything but an ExpressionError, and give no undefined', () => {
    fc.assert(
      fc.property(body, map, map, (source, request, m) => {
        const { template, messages } = foldOver({ m }, source)
        fc.pre(messages.length === 0)
        expect(outcome(() => evaluator(template)(context(request, m)))).not.toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  it('the JSON writer gives what stringify gives for the value', () => {
    fc.assert(
      fc.property(body, map, map, (source, request, m) => {
        const { template, messages } = foldOver({ m }, source)
        fc.pre(messages.length === 0)
        const write = jsonWriter(template)
        const run = evaluator(template)
        expect(outcome(() => write(context(request, m)))).toBe(
          outcome(() => JSON.stringify(run(context(request, m)))),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('what is known at load gives what it would give if it waited', () => {
    fc.assert(
      fc.property(
        fc.array(pathKey, { maxLength: 3 }),
        fc.array(call, { maxLength: 4 }),
        map,
        (keys, calls, m) => {
          const write = (first: string): string =>
            `{{${[[first, ...keys].join('.'), ...calls].join(' |> ')}}}`
          const request = { m, a: m, b: 'a' }
          const valueOf = (template: Template): unknown =>
            outcome(() => ({ value: evaluator(template)(context(request)) }))
          const late = foldOver({ m }, write('request.m'))
          const early = foldOver({ m }, write('variables.m'))
          expect(late.messages).toEqual([])
          expect(early.messages.length > 0).toBe(early.template === INVALID)
          const known = early.template === INVALID ? 'refused' : valueOf(early.template)
          const waited = valueOf(late.template)
          expect(typeof waited === 'string' ? 'fails' : waited).toEqual(
            typeof known === 'string' ? 'fails' : known,
          )
        },
      ),
      { numRuns: 3000 },
    )
  })
})

describe('request data is data', () => {
  it('no string of a request is ever evaluated', () => {
    const secret = 'S3CRET'
    fc.assert(
      fc.property(
        fc.constantFrom(
          '{{request.a}}',
          'x {{request.a}} y',
          '"{{request.a}}{{request.b}}"',
          '{{request |> get(a)}}',
          '{{request.m |> put(k, {{request.a}}) |> get(k)}}',
          '{{request.m |> get({{request.a}}, {{request.a}})}}',
          '{{request.a |> string}}',
        ),
        fc.array(
          fc.constantFrom(
            '{{',
            '}}',
            'request.secret',
            'variables.secret',
            '"',
            ' |> ',
            'get(secret)',
            "'",
            'request',
          ),
          { maxLength: 8 },
        ),
        (source, tokens) => {
          const a = tokens.join('')
          const request = { a, b: a, m: {}, secret }
          const { template } = folded({ value: source }, { variables: { secret } })
          for (const write of [
            jsonWriter(template),
            urlWriter(template, { part: same, text: same }),
          ]) {
            const written = outcome(() => write(context(request)))
            expect(written).not.toContain(secret)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('the template rule', () => {
  it('text is kept, values are inserted as text', () => {
    const literal = fc.string().filter((part) => !part.includes('{{') && !part.endsWith('{'))
    fc.assert(
      fc.property(literal, literal, json, json, (before, between, a, b) => {
        const source = `"${before}{{request.a}}${between}{{request.b}}"`
        const expected = `${before}${toText(a)}${between}${toText(b)}`
        const late = folded(source)
        expect(evaluator(late.template)(context({ a, b }))).toBe(expected)
        const early = foldOver({ a, b }, source.replaceAll('{{request.', '{{variables.'))
        expect(early.template).toEqual({ kind: 'constant', value: expected })
      }),
      { numRuns: 1000 },
    )
  })
})
