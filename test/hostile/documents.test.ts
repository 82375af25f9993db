// Documents that no person would write: valid ones changed by chance, expressions nearly right. Each is validated
// without a throw; every fault has a pointer and a bounded message; what loads can be validated again.

import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { compile } from '../../language/compile.ts'
import { setOwn } from '../../language/expression/value.ts'

const VALID = {
  id: 'a',
  host: 'api.:_',
  realm_uri: 'com.acme',
  variables: { a: '{{request.body}}', b: { c: [1, 'x'] }, d: '{{variables.b |> get(c) |> head}}' },
  defaults: { security: {}, headers: { 'x-a': '{{variables.d}}' }, timeout: 500, retries: 1 },
  status_codes: { 'com.acme.error.x': 499 },
  versions: {
    v1: {
      base_path: '/[v1]',
      variables: {
        e: {
          action: { type: 'forward', host: 'http://a:1', path: '/x' },
          response: { on_result: { body: '{{action.result.body}}' } },
        },
      },
      paths: {
        '/a/:b/[c]': {
          accepts: ['application/json'],
          schemes: ['http'],
          get: '{{variables.e}}',
          post: {
            action: {
              type: 'static',
              body: { x: '{{request.bindings.b}}', y: 'pre {{variables.a}}' },
            },
            response: {
              on_error: { status_code: '{{status_codes |> get({{action.error.error_uri}}, 500)}}' },
            },
          },
          options: { action: {}, response: {} },
        },
        '/w': {
          security: { type: 'basic' },
          put: { action: { type: 'wamp_call', procedure: 'com.p', args: ['{{variables.b}}'] } },
        },
      },
    },
  },
}

const root = fc.constantFrom(
  'request.body',
  'variables',
  'variables.a',
  'status_codes',
  'action.error',
  '__proto__',
  'x',
  '',
)
const call = fc.constantFrom(
  'integer',
  'head',
  'nth(0)',
  'get(a)',
  'get(a, b)',
  'put(a, {{variables.a}})',
  'merge(_, $map)',
  'with([a])',
  'random(9)',
  'json:decode',
  'constructor',
  'get(',
  "get('",
  'get({{)',
  'f()',
  '',
)
const expression = fc
  .tuple(
    root,
    fc.array(call, { maxLength: 4 }),
    fc.constantFrom('}}', '}', '}}}', '', ' }} and {{request.path}}'),
  )
  .map(([start, calls, end]) => `{{${[start, ...calls].join(' |> ')}${end}`)
const text = fc.oneof(
  expression,
  fc.constantFrom(
    '',
    '/',
    '/:x/:x',
    '/[',
    '[...]',
    '_',
    '__proto__',
    'toString',
    '\ud800',
    '\0',
    'x'.repeat(70_000),
  ),
  fc.string(),
)
const junk = fc.oneof(
  text,
  fc.constantFrom<unknown>(null, true, -1, 0.5, 1e308, [], {}, [[]]),
  fc
    .integer({ min: 1, max: 90 })
    .map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown),
  fc.dictionary(fc.oneof(text, fc.constantFrom('type', 'body', 'action')), expression, {
    maxKeys: 3,
  }),
)
const change = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('replace', 'remove', 'add', 'move'),
  key: text,
  value: junk,
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

type Slot = readonly [container: Record<string, unknown>, key: string]

const slotsOf = (value: unknown): Slot[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key) => {
        const container = value as Record<string, unknown>
        return [[container, key] as const, ...slotsOf(container[key])]
      })

const apply = (document: unknown, { at, how, key, value }: Change): void => {
  const slots = slotsOf(document)
  const [container, old] = slots[at % Math.max(1, slots.length)] ?? []
  if (container === undefined || old === undefined) return
  const name = Array.isArray(container) ? old : key
  if (how === 'remove') Reflect.deleteProperty(container, old)
  else if (how === 'replace') setOwn(container as never, old, value as never)
  else
    setOwn(
      container as never,
      name,
      (how === 'add' ? value : structuredClone(container[old])) as never,
    )
}

const environment = { realm: () => ({ authmethods: [], oidcProviders: [] }) }

it('unchanged, it loads', () => {
  expect(compile(VALID, environment)).toMatchObject({ warnings: [] })
})

it('any document is validated', () => {
  let loaded = 0
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const document = structuredClone(VALID)
      for (const each of changes) apply(document, each)
      const outcome = compile(document, environment)
      const diagnostics = 'problems' in outcome ? outcome.problems : outcome.warnings
      if (!('problems' in outcome)) loaded += 1
      expect('problems' in outcome && diagnostics.length === 0).toBe(false)
      for (const { path, message } of diagnostics) {
        expect(path === '' || path.startsWith('/')).toBe(true)
        expect(message.length).toBeGreaterThan(0)
        expect(message.length).toBeLessThan(4096)
      }
      expect(compile(document, environment)).toEqual(outcome)
    }),
    { numRuns: 600 },
  )
  expect(loaded).toBeGreaterThan(0)
})

it('any expression, in any place where one may stand', () => {
  fc.assert(
    fc.property(fc.array(expression, { minLength: 3, maxLength: 3 }), ([one, two, three]) => {
      const document = structuredClone(VALID)
      document.variables.a = one ?? ''
      document.defaults.headers['x-a'] = two ?? ''
      document.versions.v1.paths['/a/:b/[c]'].post.action.body.y = three ?? ''
      const outcome = compile(document, environment)
      const problems = 'problems' in outcome ? outcome.problems : []
      const codes = new Set(problems.map(({ code }) => code))
      codes.delete('invalid_expression')
      // A constant of the wrong type, where the expression came out as one.
      codes.delete('invalid_datatype')
      codes.delete('invalid_value')
      expect([...codes]).toEqual([])
    }),
    { numRuns: 400 },
  )
})

it('text that doubles forty times is refused, soon', () => {
  const variables: Record<string, unknown> = { a0: 'xxxxxxxxxx' }
  for (let i = 1; i <= 40; i += 1)
    variables[`a${i}`] = `{{variables.a${i - 1}}}{{variables.a${i - 1}}}`
  expect(compile({ ...VALID, variables }, environment)).toMatchObject({
    problems: expect.arrayContaining([expect.objectContaining({ code: 'invalid_expression' })]),
  })
})
