import { describe, expect, it } from '@jest/globals'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import { compile } from '../../language/compile.ts'
import { validate, validatePart } from '../../language/validate.ts'
import { caseDocuments } from './case-documents.ts'

const operation = { action: { type: 'static', body: 'ok' }, response: {} }

const documentWith = (more: ValueMap): ValueMap => ({
  id: 'com.acme',
  host: 'acme.test',
  realm_uri: 'com.acme.realm',
  versions: { v1: { base_path: '/v1', paths: { '/a': { get: operation } } } },
  ...more,
})
const versionWith = (more: ValueMap): ValueMap =>
  documentWith({
    versions: { v1: { base_path: '/v1', paths: { '/a': { get: operation } }, ...more } },
  })
const pathWith = (more: ValueMap): ValueMap =>
  versionWith({ paths: { '/a': { get: operation, ...more } } })
const actionWith = (action: Value, method = 'get'): ValueMap =>
  versionWith({ paths: { '/a': { [method]: { action } } } })
const responseWith = (response: Value): ValueMap =>
  versionWith({ paths: { '/a': { get: { action: operation.action, response } } } })

const faults = (document: unknown): readonly string[] =>
  validate(document).map(({ path, code }) => `${path} ${code}`)

const PATH = '/versions/v1/paths/~1a'
const ACTION = `${PATH}/get/action`
const ON_RESULT = `${PATH}/get/response/on_result`

describe('validate accepts', () => {
  it.each<[string, ValueMap]>([
    ['the least there is', documentWith({})],
    ['versions as a list', documentWith({ versions: [{ base_path: '/', paths: {} }] })],
    ['a version without paths in it', versionWith({ paths: {} })],
    ['a document as it was read back', documentWith({ ts: -5.5 })],
    ['unknown properties', documentWith({ 'x-owner': null, constructor: 1 })],
    [
      'an own __proto__ as a path',
      versionWith({
        paths: JSON.parse(`{"__proto__": {"get": ${JSON.stringify(operation)}}}`) as ValueMap,
      }),
    ],
    ['decimals that are whole', pathWith({ timeout: 5000.0 })],
    [
      'expressions for limits',
      pathWith({ timeout: '{{variables.t}}', retries: ' {{variables.r}} ' }),
    ],
    ['an operation that is an expression', pathWith({ put: '{{variables.op}}' })],
    [
      'path variables and defaults that are expressions',
      pathWith({ variables: '{{variables.v}}', defaults: '{{variables.d}}' }),
    ],
    ['security that is an expression', pathWith({ security: '{{variables.locked}}' })],
    ['security {}', pathWith({ security: {} })],
    [
      'expressions within lists',
      pathWith({ accepts: ['{{variables.type}}', 'application/json'], schemes: '{{variables.s}}' }),
    ],
    [
      'an outcome that is an expression',
      responseWith({ on_result: '{{variables.ok}}', on_error: '{{variables.ko}}' }),
    ],
    ['null as a body', actionWith({ type: 'static', body: null })],
    ['null as the body of an outcome', responseWith({ on_result: { body: null } })],
    [
      'a status as text',
      responseWith({ on_result: { status_code: '202' }, on_error: { status_code: 599 } }),
    ],
    ['an empty action under options', actionWith({}, 'options')],
    ['an action under options', actionWith({ type: 'static' }, 'options')],
    ['a forward with its host alone', actionWith({ type: 'forward', host: '{{variables.up}}' })],
    [
      'a forward to several hosts',
      actionWith({
        type: 'forward',
        hosts: [
          { host: 'http://a', weight: 1000 },
          { host: '{{variables.b}}', weight: 0 },
          { host: 'c', weight: '{{request.query_params.c}}' },
        ],
      }),
    ],
    ['hosts that are an expression', actionWith({ type: 'forward', hosts: '{{variables.hosts}}' })],
    [
      'a method that is an expression',
      actionWith({ type: 'forward', host: 'a', http_method: '{{variables.m}}' }),
    ],
    ['a topic', actionWith({ type: 'wamp_publish', topic: 'com.acme.topic' })],
    [
      'a topic called procedure',
      actionWith({ type: 'wamp_subscribe', procedure: 'com.acme.topic' }),
    ],
    [
      'a topic that is an expression',
      actionWith({ type: 'wamp_subscribe', topic: 'a..{{request.bindings.id}}' }),
    ],
    ['ends without a URI', actionWith({ type: 'wamp_unregister', args: ['{{request.body.id}}'] })],
    [
      'arguments in the other spelling',
      actionWith({
        type: 'wamp_call',
        procedure: 'a',
        arguments: [null],
        arguments_kw: '{{request.body}}',
      }),
    ],
    [
      'a registration',
      actionWith({ type: 'wamp_register', procedure: 'a.b', kwargs: { callback: 'http://a' } }),
    ],
    ['an end of a subscription', actionWith({ type: 'wamp_unsubscribe', topic: 'a.b' })],
    [
      'basic',
      pathWith({
        security: {
          type: 'basic',
          schemes: ['https'],
          groups: ['a'],
          roles: [],
          scopes: '{{variables.s}}',
          description: 'd',
        },
      }),
    ],
    ['api_key', pathWith({ security: { type: 'api_key', header_name: 'X-Api-Key' } })],
    [
      'oauth2',
      pathWith({
        security: { type: 'oauth2', flow: 'implicit', token_path: '/t', revoke_token_path: '/r' },
      }),
    ],
    ['oidc', pathWith({ security: { type: 'oidc', provider: 'corp' } })],
    [
      'status codes',
      documentWith({ status_codes: { 'a.b': 404, c: '410', d: '{{variables.gone}}' } }),
    ],
    [
      'info of an operation, a text or a map',
      pathWith({ put: { ...operation, info: 'x' }, post: { ...operation, info: {} } }),
    ],
    [
      '2000 paths',
      versionWith({
        paths: Object.fromEntries(
          Array.from({ length: 2000 }, (_, i) => [`/p${i}`, { get: operation }]),
        ),
      }),
    ],
  ])('%s', (_name, document) => {
    expect(faults(document)).toEqual([])
  })
})

describe('validate rejects', () => {
  it.each<[string, unknown, ...string[]]>([
    ['null', null, ' invalid_datatype'],
    ['a list', [], ' invalid_datatype'],
    ['undefined', undefined, ' invalid_datatype'],
    [
      '{}',
      {},
      '/id missing_required_value',
      '/host missing_required_value',
      '/realm_uri missing_required_value',
      '/versions missing_required_value',
    ],
    ['an empty id', documentWith({ id: '' }), '/id invalid_value'],
    ['an id of the service', documentWith({ id: '_sync' }), '/id invalid_value'],
    [
      'null for an optional property',
      documentWith({ name: null, meta: null }),
      '/name invalid_datatype',
      '/meta invalid_datatype',
    ],
    ['no version in a map', documentWith({ versions: {} }), '/versions invalid_value'],
    ['no version in a list', documentWith({ versions: [] }), '/versions invalid_value'],
    [
      '101 versions',
      documentWith({ versions: Array.from({ length: 101 }, () => ({})) }),
      '/versions invalid_value',
    ],
    [
      'a version in a list that is none',
      documentWith({ versions: [7] }),
      '/versions/0 invalid_datatype',
    ],
    [
      '2001 paths',
      versionWith({
        paths: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`/p${i}`, 0])),
      }),
      '/versions/v1/paths invalid_value',
    ],
    [
      'a path without a method',
      versionWith({ paths: { '/a': { summary: 'x' } } }),
      `${PATH} missing_required_value`,
    ],
    ['a method that is null', pathWith({ get: null }), `${PATH}/get invalid_datatype`],
    ['an operation that is plain text', pathWith({ get: 'x' }), `${PATH}/get invalid_datatype`],
    [
      'an operation without an action',
      pathWith({ get: {} }),
      `${PATH}/get/action missing_required_value`,
    ],
    [
      'an action that is an expression',
      actionWith('{{variables.a}}'),
      `${ACTION} invalid_datatype`,
    ],
    ['an empty action', actionWith({}), `${ACTION}/type missing_required_value`],
    [
      'an action under options without a type',
      actionWith({ body: 1 }, 'options'),
      `${PATH}/options/action/type missing_required_value`,
    ],
    [
      'an action type that is no text',
      actionWith({ type: 5, host: 1 }),
      `${ACTION}/type invalid_datatype`,
    ],
    [
      'an unknown action type',
      actionWith({ type: 'constructor', host: 1 }),
      `${ACTION}/type unsupported_action_type`,
    ],
    [
      'a forward without a host',
      actionWith({ type: 'forward' }),
      `${ACTION}/host missing_required_value`,
    ],
    [
      'a forward with an empty host',
      actionWith({ type: 'forward', host: '' }),
      `${ACTION}/host invalid_value`,
    ],
    [
      'a forward with both host and hosts',
      actionWith({ type: 'forward', host: 'a', hosts: [{ host: 'a', weight: 1 }] }),
      `${ACTION}/host invalid_value`,
    ],
    [
      'hosts without one',
      actionWith({ type: 'forward', hosts: [] }),
      `${ACTION}/hosts invalid_value`,
    ],
    [
      'more hosts than there may be',
      actionWith({ type: 'forward', hosts: Array.from({ length: 17 }, () => 1) }),
      `${ACTION}/hosts invalid_value`,
    ],
    [
      'hosts that are no list',
      actionWith({ type: 'forward', hosts: { host: 'a', weight: 1 } }),
      `${ACTION}/hosts invalid_datatype`,
    ],
    [
      'hosts that are no maps, or lack what they need',
      actionWith({ type: 'forward', hosts: ['a', {}, { host: '', weight: 1 }] }),
      `${ACTION}/hosts/0 invalid_datatype`,
      `${ACTION}/hosts/1/host missing_required_value`,
      `${ACTION}/hosts/1/weight missing_required_value`,
      `${ACTION}/hosts/2/host invalid_value`,
    ],
    [
      'weights that are none',
      actionWith({
        type: 'forward',
        hosts: [-1, 1001, 0.5, '90', null].map((weight, index) => ({ host: `h${index}`, weight })),
      }),
      `${ACTION}/hosts/0/weight invalid_value`,
      `${ACTION}/hosts/1/weight invalid_value`,
      `${ACTION}/hosts/2/weight invalid_datatype`,
      `${ACTION}/hosts/3/weight invalid_datatype`,
      `${ACTION}/hosts/4/weight invalid_datatype`,
    ],
    [
      'an upper-case method',
      actionWith({ type: 'forward', host: 'a', http_method: 'GET' }),
      `${ACTION}/http_method invalid_value`,
    ],
    [
      'a method that is no text',
      actionWith({ type: 'forward', host: 'a', http_method: 1 }),
      `${ACTION}/http_method invalid_datatype`,
    ],
    [
      'a timeout in words',
      actionWith({ type: 'forward', host: 'a', timeout: 'soon' }),
      `${ACTION}/timeout invalid_datatype`,
    ],
    ['a timeout as text', pathWith({ timeout: '5000' }), `${PATH}/timeout invalid_datatype`],
    ['a broken number', pathWith({ retries: 1.5 }), `${PATH}/retries invalid_datatype`],
    [
      'a negative number',
      pathWith({ retries: -1, body_max_byte: -1 }),
      `${PATH}/body_max_byte invalid_value`,
      `${PATH}/retries invalid_value`,
    ],
    [
      'a timeout of more than a day',
      pathWith({ connect_timeout: 86_400_001 }),
      `${PATH}/connect_timeout invalid_value`,
    ],
    [
      'a call without a procedure',
      actionWith({ type: 'wamp_call', topic: 'a' }),
      `${ACTION}/procedure missing_required_value`,
    ],
    [
      'a publication without a topic',
      actionWith({ type: 'wamp_publish' }),
      `${ACTION}/procedure missing_required_value`,
    ],
    [
      'a procedure that is no URI',
      actionWith({ type: 'wamp_call', procedure: 'a..b' }),
      `${ACTION}/procedure invalid_value`,
    ],
    [
      'a topic that is no URI',
      actionWith({ type: 'wamp_subscribe', topic: 'a b', args: 'x' }),
      `${ACTION}/args invalid_datatype`,
      `${ACTION}/topic invalid_value`,
    ],
    [
      'options that are null',
      actionWith({ type: 'wamp_call', procedure: 'a', options: null }),
      `${ACTION}/options invalid_datatype`,
    ],
    [
      'an outcome that is plain text',
      responseWith({ on_result: 'ok' }),
      `${ON_RESULT} invalid_datatype`,
    ],
    [
      'a response that is an expression',
      responseWith('{{variables.r}}'),
      `${PATH}/get/response invalid_datatype`,
    ],
    [
      'a status in words',
      responseWith({ on_result: { status_code: 'ok' } }),
      `${ON_RESULT}/status_code invalid_datatype`,
    ],
    [
      'a status that HTTP has not',
      responseWith({ on_result: { status_code: 99 } }),
      `${ON_RESULT}/status_code invalid_value`,
    ],
    [
      'a uri that is a map',
      responseWith({ on_result: { uri: {} } }),
      `${ON_RESULT}/uri invalid_datatype`,
    ],
    [
      'what is no content type after a good one',
      pathWith({ accepts: ['application/json', 'csv', 5] }),
      `${PATH}/accepts/1 invalid_value`,
      `${PATH}/accepts/2 invalid_datatype`,
    ],
    ['no content type', pathWith({ provides: [] }), `${PATH}/provides invalid_value`],
    [
      'too many content types',
      pathWith({ provides: Array.from({ length: 65 }, () => 1) }),
      `${PATH}/provides invalid_value`,
    ],
    ['null as security', pathWith({ security: null }), `${PATH}/security invalid_datatype`],
    ['security in words', pathWith({ security: 'none' }), `${PATH}/security invalid_datatype`],
    [
      'security without a type',
      pathWith({ security: { flow: 1 } }),
      `${PATH}/security/type missing_required_value`,
    ],
    [
      'an unknown security type',
      pathWith({ security: { type: 'saml', entity: 1 } }),
      `${PATH}/security/type invalid_value`,
    ],
    [
      'an unknown property of security',
      pathWith({ security: { type: 'basic', flow: 'implicit', 'a/b': 1 } }),
      `${PATH}/security/flow invalid_value`,
      `${PATH}/security/a~1b invalid_value`,
    ],
    [
      'security of 33 members',
      pathWith({
        security: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 1])),
      }),
      `${PATH}/security invalid_value`,
    ],
    [
      'oauth2 without a flow',
      documentWith({ defaults: { security: { type: 'oauth2' } } }),
      '/defaults/security/flow missing_required_value',
    ],
    [
      'an unknown flow',
      pathWith({ security: { type: 'oauth2', flow: 'magic' } }),
      `${PATH}/security/flow invalid_value`,
    ],
    [
      'a header name that is none',
      pathWith({ security: { type: 'api_key', header_name: 'x y' } }),
      `${PATH}/security/header_name invalid_value`,
    ],
    [
      'defaults of an API that are an expression',
      documentWith({ defaults: '{{variables.d}}' }),
      '/defaults invalid_datatype',
    ],
    [
      'defaults of a path that are wrong within',
      pathWith({ defaults: { schemes: ['ftp'] } }),
      `${PATH}/defaults/schemes/0 invalid_value`,
    ],
    [
      'status codes in words',
      documentWith({ status_codes: { a: 'gone', b: 99, c: null } }),
      '/status_codes/a invalid_datatype',
      '/status_codes/b invalid_value',
      '/status_codes/c invalid_datatype',
    ],
    [
      'languages that are numbers',
      versionWith({ languages: [1, ''] }),
      '/versions/v1/languages/0 invalid_datatype',
      '/versions/v1/languages/1 invalid_value',
    ],
  ])('%s', (_name, document, ...expected) => {
    expect(faults(document)).toEqual(expected)
  })

  it('reports the faults of all versions, paths and operations at once, each once', () => {
    const bad = {
      id: 1,
      versions: {
        a: {
          base_path: 2,
          paths: { '/x': { get: { action: { type: 'x' } }, post: { action: [] } }, '/y~': {} },
        },
        b: 3,
      },
    }
    expect([...faults(bad)].sort()).toEqual([
      '/host missing_required_value',
      '/id invalid_datatype',
      '/realm_uri missing_required_value',
      '/versions/a/base_path invalid_datatype',
      '/versions/a/paths/~1x/get/action/type unsupported_action_type',
      '/versions/a/paths/~1x/post/action invalid_datatype',
      '/versions/a/paths/~1y~0 missing_required_value',
      '/versions/b invalid_datatype',
    ])
  })

  it('reports at most 1000 faults', () => {
    const paths = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`/p${i}`, {}]))
    expect(faults(versionWith({ paths }))).toHaveLength(1000)
  })
})

describe('messages', () => {
  const messages = (document: unknown): readonly string[] =>
    validate(document).map(({ message }) => message)

  it.each<[ValueMap, string]>([
    [pathWith({ timeout: 'soon' }), 'Expected a whole number or an expression, got "soon".'],
    [pathWith({ summary: false }), 'Expected a text, got false.'],
    [pathWith({ headers: [1] }), 'Expected a map or an expression, got a list of 1 item.'],
    [pathWith({ accepts: { a: 1 } }), 'Expected a list or an expression, got a map of 1 key.'],
    [pathWith({ schemes: ['ftp'] }), 'Expected one of http, https, got "ftp".'],
    [pathWith({ retries: 101 }), 'Expected at most 100, got 101.'],
    [
      responseWith({ on_result: { status_code: null } }),
      'Expected a whole number, a numeric text such as "404" or an expression, got null. Give it a value, or leave the key out: nothing behind a colon is null in YAML.',
    ],
    [pathWith({ get: {} }), "'action' is required here: What to do for the request."],
    [actionWith({ type: 'wamp_publish' }), "'procedure' is required here."],
    [
      versionWith({ paths: { '/a': {} } }),
      'A path needs at least one method: delete, get, head, options, patch, post, put.',
    ],
    [documentWith({ versions: [] }), 'Expected a list of at least 1 item, got a list of 0 items.'],
    [documentWith({ id: '' }), 'Expected a text that is not empty, got "".'],
    [
      pathWith({ security: { type: 'basic', x: 1 } }),
      "There is no property 'x' here. There are type, description, schemes, networks, groups, roles, scopes.",
    ],
    [
      actionWith({ type: 'wamp_call', procedure: 'a b' }),
      '"a b" does not fit here: A WAMP URI, whose parts, separated by dots, are not empty and hold no blanks and no #; or an expression.',
    ],
  ])('say what was expected and what is there (%#)', (document, message) => {
    expect(messages(document)).toEqual([message])
  })

  it.each([
    ['a long text', pathWith({ timeout: 'x'.repeat(60_000) })],
    ['a long name', pathWith({ security: { type: 'basic', ['x'.repeat(60_000)]: 1 } })],
    ['half a character where it is cut', pathWith({ timeout: `${'x'.repeat(59)}😀` })],
  ])('stay short and well-formed with %s', (_name, document) => {
    const [message = ''] = messages(document)
    expect(message.length).toBeLessThan(400)
    expect(message.isWellFormed()).toBe(true)
  })
})

describe('validatePart', () => {
  it.each<[string, unknown, string, ...string[]]>([
    ['operation', operation, '/x'],
    ['operation', {}, '/x', '/x/action missing_required_value'],
    ['optionsOperation', { action: {} }, '/x'],
    [
      'action',
      { type: 'forward', host: '{{…}}', http_method: 'GET' },
      '/a',
      '/a/http_method invalid_value',
    ],
    ['action', null, '/a', '/a invalid_datatype'],
    ['response', { on_error: 1 }, '/r', '/r/on_error invalid_datatype'],
    ['outcome', { status_code: 700 }, '/r', '/r/status_code invalid_value'],
    ['security', { type: 'oidc', proivder: 'a' }, '/s', '/s/proivder invalid_value'],
    [
      'defaults',
      { timeout: 'x', security: { type: 1 } },
      '',
      '/security/type invalid_datatype',
      '/timeout invalid_datatype',
    ],
    ['milliseconds', 0, '/t', '/t invalid_value'],
    ['statusCodes', { a: 404 }, '/c'],
  ])('%s', (part, value, pointer, ...expected) => {
    const problems = validatePart(part, value, pointer)
    expect(problems.map(({ path, code }) => `${path} ${code}`)).toEqual(expected)
  })

  it('shows no value, which may have come from a Secret', () => {
    const problems = validatePart('action', { type: 'hunter2', host: 'x' }, '/a')
    expect(problems).toHaveLength(1)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it('throws for a part that there is not', () => {
    expect(() => validatePart('nothing', {}, '')).toThrow(/no schema/)
  })
})

describe('the conformance cases', () => {
  /** What only compiling finds, such as types that do not suit the operation, is an `invalid_value` too. */
  const found = (document: unknown): readonly string[] => {
    const known = faults(document)
    const placed = { ...(document as ValueMap), host: '_', realm_uri: 'com.acme' }
    const compilation = compile(placed, { realm: () => ({ authmethods: [], oidcProviders: [] }) })
    return known.length > 0 || !('problems' in compilation)
      ? known
      : compilation.problems.map(({ path, code }) => `${path} ${code}`)
  }
  /** Found by other parts of the language: paths, expressions, versions, realms, sizes. */
  const isOurs = (code: string): boolean =>
    [
      'missing_required_value',
      'invalid_datatype',
      'invalid_value',
      'unsupported_action_type',
    ].includes(code)
  const all = caseDocuments()
  const accepted = all.filter(({ fails }) => !fails)
  const rejected = all.filter(({ rejects }) => rejects.some(([, code]) => isOurs(code)))

  it.each(accepted)('accepts $name', ({ document }) => {
    expect(faults(document)).toEqual([])
  })

  it.each(rejected)('rejects $name', ({ document, rejects }) => {
    const all = found(document)
    const matches = (path: string, code: string): boolean =>
      path.startsWith('~')
        ? all.some((fault) => new RegExp(`${path.slice(1, -1)} ${code}`).test(fault))
        : all.includes(`${path} ${code}`)
    const missed = rejects.filter(([path, code]) => isOurs(code) && !matches(path, code))
    expect(missed).toEqual([])
  })

  it('finds nothing else in documents with one fault', () => {
    const single = rejected.filter(({ rejects }) => rejects.length === 1)
    const others = single.filter(({ document }) => found(document).length !== 1)
    expect(single.length).toBeGreaterThan(70)
    expect(others.map(({ name }) => name)).toEqual([])
  })
})
