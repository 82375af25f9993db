import { describe, expect, it } from '@jest/globals'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { RESTRICTING_KEYS } from '../../../language/validate/restricting-keys.ts'
import {
  misspeltRestrictions,
  restrictingKeysOf,
  unknownProperties,
} from '../../../language/validate/unknown-properties.ts'

const documentWith = (path: ValueMap, more: ValueMap = {}): ValueMap => ({
  id: 'a',
  host: 'b',
  realm_uri: 'c',
  versions: { v1: { base_path: '/', paths: { '/a': path } } },
  ...more,
})
const withAction = (action: Value): ValueMap => documentWith({ get: { action } })
const PATH = '/versions/v1/paths/~1a'

describe('unknownProperties', () => {
  it.each<[string, unknown, ...string[]]>([
    ['none', documentWith({ get: { action: { type: 'static' } } })],
    ['no document', 7],
    ['null', null],
    ['in the API', documentWith({}, { hots: 'a', constructor: 1 }), '/hots', '/constructor'],
    ['in a version', documentWith({}, { versions: [{ basepath: '/' }] }), '/versions/0/basepath'],
    ['in a path', documentWith({ trace: {}, 'a/b~': null }), `${PATH}/trace`, `${PATH}/a~1b~0`],
    [
      'in defaults',
      documentWith({ defaults: { time_out: 1 } }, { defaults: { retry: 1 } }),
      `${PATH}/defaults/time_out`,
      '/defaults/retry',
    ],
    ['in an operation', documentWith({ get: { time_out: 1, action: {} } }), `${PATH}/get/time_out`],
    [
      'in an operation of OPTIONS',
      documentWith({ options: { action: {}, x: 1 } }),
      `${PATH}/options/x`,
    ],
    [
      'in a response',
      documentWith({ get: { response: { on_success: {}, on_error: { status: 1 } } } }),
      `${PATH}/get/response/on_success`,
      `${PATH}/get/response/on_error/status`,
    ],
    [
      'of another action type',
      withAction({ type: 'static', host: 'a', timeout: 1 }),
      `${PATH}/get/action/host`,
      `${PATH}/get/action/timeout`,
    ],
    [
      'of one of several hosts',
      withAction({ type: 'forward', hosts: [{ host: 'a', weight: 1, wieght: 2 }] }),
      `${PATH}/get/action/hosts/0/wieght`,
    ],
    [
      'of a WAMP action',
      withAction({ type: 'wamp_call', procedure: 'a', topic: 'b', args: [], retries: 1 }),
      `${PATH}/get/action/topic`,
    ],
    [
      'of an action under options',
      documentWith({ options: { action: { type: 'forward', path: '/', uri: 1 } } }),
      `${PATH}/options/action/uri`,
    ],
    ['an own __proto__', JSON.parse('{"__proto__": {}}'), '/__proto__'],
    [
      'nowhere in free-form maps',
      documentWith(
        {
          variables: { x: 1 },
          headers: { x: 1 },
          get: {
            info: { x: 1 },
            action: { type: 'wamp_call', options: { x: 1 }, kwargs: { x: 1 } },
          },
          put: {
            action: { type: 'static', body: { x: { get: 1 } } },
            response: { on_result: { body: { x: 1 } } },
          },
        },
        { meta: { x: 1 }, variables: { x: { hots: 1 } }, status_codes: { x: 404 }, ts: 1 },
      ),
    ],
    [
      'nowhere in expressions',
      documentWith({ get: '{{variables.op}}', defaults: '{{variables.d}}' }),
    ],
    [
      'in security, where they are faults of their own',
      documentWith({ security: { type: 'basic', x: 1 } }),
      `${PATH}/security/x`,
    ],
  ])('%s', (_name, document, ...expected) => {
    const { problems, warnings } = unknownProperties(document)
    expect(problems).toEqual([])
    expect(warnings.map(({ path }) => path)).toEqual(expected)
    expect(warnings.every(({ code }) => code === 'UnknownProperty')).toBe(true)
  })

  it('names the property, cut to a bounded length', () => {
    const [short, long] = unknownProperties({ hots: 1, ['x'.repeat(5000)]: 1 }).warnings
    expect(short?.message).toBe(
      "There is no property 'hots' here: it has no effect; did you mean 'host'?",
    )
    expect(long?.message.length).toBeLessThan(120)
  })

  it('warns at most 1000 times', () => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`x${i}`, 1]))
    expect(unknownProperties(many).warnings).toHaveLength(1000)
  })
})

describe('a name close to that of a key that restricts', () => {
  it.each<[string, unknown, readonly (readonly [string, string])[]]>([
    [
      'misspelt',
      documentWith({ body_max_byts: 1 }),
      [
        [
          `${PATH}/body_max_byts`,
          "There is no property 'body_max_byts' here; did you mean 'body_max_bytes'? It restricts, so a misspelling is an error; it belongs to a path, an operation or defaults",
        ],
      ],
    ],
    [
      'at a level where it restricts nothing',
      documentWith({ get: { security: {}, action: { type: 'static' } } }),
      [
        [
          `${PATH}/get/security`,
          "'security' belongs to the API, a version, a path or defaults: here it would restrict nothing",
        ],
      ],
    ],
  ])('%s is an error', (_name, document, expected) => {
    const { problems, warnings } = unknownProperties(document)
    expect(problems.map(({ path, message }) => [path, message])).toEqual(expected)
    expect(warnings).toEqual([])
  })

  it.each([
    ['Security', 1],
    ['bodyMaxBytes', 1],
    ['scheme', 1],
    ['poolsize', 1],
    ['poll_size', 1],
    ['isActive', 1],
    ['x-security', 0],
    ['active', 0],
    ['secure', 0],
    ['time_out', 0],
  ])('%s: %j', (name, count) => {
    const { problems, warnings } = unknownProperties(
      documentWith({}, { versions: [{ [name]: 1 }] }),
    )
    expect([problems.length, warnings.length]).toEqual([count, 1 - count])
  })

  it.each<[string, Value, number]>([
    ['is_active', true, 0],
    ['is_active', false, 1],
    ['is_active', 'true', 1],
    ['is_active', '{{variables.on}}', 1],
    ['isActive', true, 1],
  ])('at a path, %j: %j, where only what is served anyway is a warning', (name, value, count) => {
    const { problems, warnings } = unknownProperties(documentWith({ [name]: value }))
    expect([problems.length, warnings.length]).toEqual([count, 1 - count])
  })

  it('counts in what an expression gives', () => {
    const operation = { action: { type: 'static', acepts: 1 }, body_max_byts: 1, time_out: 1 }
    const problems = misspeltRestrictions('operation', operation)
    expect(problems.map(({ path }) => path)).toEqual(['/action/acepts', '/body_max_byts'])
  })
})

describe('restrictingKeysOf', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['no document', 7, []],
    ['none', documentWith({ timeout: 1, get: { action: { type: 'static' } } }), []],
    [
      'of every level',
      documentWith(
        { schemes: ['https'], get: { body_max_bytes: 1, action: { type: 'static' } } },
        { security: {}, defaults: { accepts: ['application/json'] } },
      ),
      ['accepts', 'body_max_bytes', 'schemes', 'security'],
    ],
    [
      'in a list of versions',
      documentWith({}, { versions: [{ is_active: false, pool_size: 1, paths: {} }] }),
      ['is_active', 'pool_size'],
    ],
    [
      'not in a body or a variable',
      documentWith(
        { get: { action: { type: 'static', body: { security: 1 } } } },
        { variables: { accepts: 1 } },
      ),
      [],
    ],
    ...[
      '{{variables.op}}',
      "{{variables.text |> json:decode |> put('pool_size', 1)}}",
      '{{variables.secret}}',
    ].map((get): [string, ValueMap, readonly string[]] => [
      `all where an expression gives an object: ${get}`,
      documentWith({ get }, { variables: { op: { body_max_bytes: 1 }, text: '{}' } }),
      [...RESTRICTING_KEYS.keys()].sort(),
    ]),
    [
      'a default that stands among the variables',
      documentWith({}, { variables: { security: { type: 'basic' } } }),
      ['security'],
    ],
    [
      'not where a Security Object only mentions it',
      documentWith({ security: { type: 'basic', schemes: ['https'] } }),
      ['security'],
    ],
  ])('%s', (_name, document, names) => {
    expect(restrictingKeysOf(document)).toEqual(names)
  })
})
