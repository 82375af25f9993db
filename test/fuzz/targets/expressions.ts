// Texts of documents are parsed as expressions, folded with what is known at load and evaluated for a request: faults
// are told or thrown as ExpressionErrors, always the same, within the budget, and a request's data is never evaluated.

import { ExpressionError } from '../../../language/expression/errors.ts'
import { jsonWriter } from '../../../language/expression/json.ts'
import { parse } from '../../../language/expression/syntax/parse.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { contextOf, folded } from '../../language/expression/scope-of.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

const SEEDS = [
  'plain',
  'Hello {{request.bindings.name}}!',
  '{{request.query_params |> get(currency, {{variables.currency}})}}',
  '{{request.body |> without([secret]) |> merge({{variables.map}})}}',
  "{{request.body |> put('x y', {{request.method}}) |> with([a, b]) |> json:encode}}",
  '"{{request.body.a |> integer}} and {{request.body.list |> nth(1)}}"',
  '{{variables.list |> tail |> head}}',
  '{{request.body |> merge($map, _) |> size}}',
  '{{request.headers |> get(x, a) |> base64:encode |> base64:decode}}',
  '{{action.result.list |> max |> abs |> string}}',
  '{{status_codes |> get({{action.error.error_uri}}, 500)}}',
  '{{variables.late.a}}{{variables.late}}',
  '{{request.body.text |> json:decode}}',
  "{{request.body.text |> trim |> lower |> strip_prefix('/v1') |> replace(a, {{request.body.a}}) |> split(',') |> join('-')}}",
]

export const EXPRESSION_TOKENS = [
  '{{',
  '}}',
  '{{{',
  '|>',
  ' |> ',
  '.',
  ',',
  '(',
  ')',
  '[',
  ']',
  "'",
  '"',
  '_',
  '$map',
  ' ',
  '{{}}',
  'request',
  'request.body',
  'variables',
  'variables.late',
  'action.result',
  'security',
  'status_codes',
  'defaults',
  '__proto__',
  'constructor',
  'get(a)',
  'get(a, b)',
  'put(a, 1)',
  'merge(_, $map)',
  'nth(-1)',
  'nth(9007199254740993)',
  'integer',
  'float',
  'boolean',
  'string',
  'min',
  'max',
  'length',
  'size',
  'head',
  'base64:decode',
  'json:decode',
  'json:encode',
  'with([])',
  'without([a, {{request.method}}])',
  'tail',
  '{{request.body |> get(text)}}',
  '{{'.repeat(70),
  'abs',
  '1e309',
  '-0',
  '\\',
  '\ufffd',
]

const KNOWN = {
  variables: {
    currency: 'EUR',
    map: { a: 1, b: [1, 2], ['__proto__x']: 'p' },
    list: [3, -1, 2.5, 'x', null],
    late: { a: '{{request.body.a}}', b: ['{{request.method}}'] },
  },
  status_codes: { 'a.b': 418 },
}

const BUDGET = 256 * 1024
const MARK = 'never-evaluated'

const newContext = () => {
  // Evaluated, it would show the mark.
  const text = '{{security.mark}}'
  const list = [1, '2', null, { a: text }]
  const body = { a: 7.5, b: true, text: '{"a":[1]}', list, secret: text, '': '', number: -1e21 }
  return contextOf({
    budget: BUDGET,
    request: {
      method: 'get',
      body,
      headers: { x: text, 'x-y': 'z' },
      query_params: { currency: text },
      bindings: { name: text },
    },
    action: {
      result: { list: [1, 5, 2], bytes: Uint8Array.of(1, 2) },
      error: { error_uri: 'a.b' },
    },
    security: { authid: 'ada', mark: MARK },
    status_codes: { 'a.b': 418 },
  })
}

type Outcome = { readonly value: Value } | { readonly message: string }

const evaluated = (run: () => Value): Outcome => {
  try {
    return { value: run() }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    checkMessage(error.message)
    return { message: error.message }
  }
}

const checkMessage = (message: string): void => {
  const bytes = Buffer.byteLength(message)
  if (bytes === 0 || bytes > 1024) throw new Error(`a message of ${bytes} bytes`)
}

const check = (input: Buffer): string => {
  const source = input.toString()
  const parsed = parse(source)
  if (!parsed.ok && !(parsed.offset >= 0 && parsed.offset <= source.length))
    throw new Error(`the fault stands at ${parsed.offset} of ${source.length}`)
  const { template, messages } = folded({ text: source, list: [source] }, KNOWN, BUDGET)
  messages.forEach(checkMessage)
  if (!parsed.ok && messages.length === 0) throw new Error('a fault of syntax is folded away')
  if (messages.length > 0) return wordsOf(messages[0] ?? '')
  return checkRun(template, source)
}

const checkRun = (template: Template, source: string): string => {
  const run = evaluator(template)
  const outcome = evaluated(() => run(newContext()))
  const write = jsonWriter(template)
  const text = evaluated(() => write(newContext()))
  if (source.includes('random')) return 'by chance'
  if (JSON.stringify(evaluated(() => run(newContext()))) !== JSON.stringify(outcome))
    throw new Error('it comes to something else the second time')
  if ('message' in outcome) return wordsOf(outcome.message)
  const json = JSON.stringify(outcome.value, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
  // References are free: they stand for what is there already.
  if (json.length > 16 * BUDGET) throw new Error(`${source.length} bytes come to ${json.length}`)
  if ('value' in text && text.value !== json) throw new Error('it is written as something else')
  if (json.includes(MARK) && !source.includes('security'))
    throw new Error('data of a request was evaluated')
  return `${typeof outcome.value} ${template.kind}`
}

const wordsOf = (message: string): string =>
  message
    .replace(/^[^]*\}\}: /, '')
    .replaceAll(/'[^']*'|"[^"]*"|\d+/g, '')
    .slice(0, 50)

export const expressions: FuzzTarget = {
  name: 'expressions',
  seeds: SEEDS.map((text) => Buffer.from(text)),
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: EXPRESSION_TOKENS }),
  open: () => ({ check }),
}
