import { describe, expect, it } from '@jest/globals'
import { isHeaderName, isHeaderValue } from '../../../language/compile/headers.ts'
import type { Value } from '../../../language/expression/value.ts'
import { UNSENT_IN_REQUESTS, UNSENT_IN_RESPONSES } from '../../../language/unsent-headers.ts'
import { compiled, faultsOf } from '../documents.ts'

describe('header names and values', () => {
  it.each(['a', 'X-Y', '__proto__', "!#$%&'*+-.^_`|~09"])('%p is a name', (name) => {
    expect(isHeaderName(name)).toBe(true)
  })

  it.each(['', ' ', 'a b', 'a:', 'a\n', 'ä', '(a)', 'a/b'])('%p is none', (name) => {
    expect(isHeaderName(name)).toBe(false)
  })

  it.each(['', 'a b', 'a\tb', 'é€', '\u0080'])('%p may be sent', (value) => {
    expect(isHeaderValue(value)).toBe(true)
  })

  it.each(['a\r\nb', '\n', '\0', '\x1f', '\x7f'])('%p may not', (value) => {
    expect(isHeaderValue(value)).toBe(false)
  })
})

describe('header maps of a document', () => {
  const headers = {
    'a b': 'x',
    ok: 'y',
    bad: 'a\nb',
    list: ['ok', 'a\r'],
    waits: '{{request.id}}\n',
  }
  const bad = ['a b', 'bad', 'list']
  const get = (action: object, response: object = {}) => ({ get: { action, response } })
  const forward = { type: 'forward', host: 'a' }

  it.each([
    ['defaults', { api: { defaults: { headers } } }, '/defaults'],
    [
      'a path',
      { paths: { '/x': { headers, ...get({ type: 'static' }) } } },
      '/versions/v1/paths/~1x',
    ],
    [
      'a static action',
      { paths: { '/x': get({ type: 'static', headers }) } },
      '/versions/v1/paths/~1x/get/action',
    ],
    [
      'a forward',
      { paths: { '/x': get({ ...forward, headers }) } },
      '/versions/v1/paths/~1x/get/action',
    ],
    [
      'on_result',
      { paths: { '/x': get(forward, { on_result: { headers } }) } },
      '/versions/v1/paths/~1x/get/response/on_result',
    ],
    [
      'on_error',
      { paths: { '/x': get(forward, { on_error: { headers } }) } },
      '/versions/v1/paths/~1x/get/response/on_error',
    ],
    [
      'a given operation',
      {
        api: { variables: { get: get({ type: 'static', headers }).get } },
        paths: { '/x': { get: '{{variables.get}}' } },
      },
      '/variables/get/action',
    ],
  ])('of %s: what is known to be wrong is refused at load', (_, parts, pointer) => {
    expect(faultsOf(parts)).toEqual(
      bad.map((name) => [`${pointer}/headers/${name}`, 'invalid_value']),
    )
  })
})

const GET = '/versions/v1/paths/~1x/get'

/** Of a forward, and of its `on_result`. */
const warningsOf = (sent: Value, returned: Value = {}, variables: Value = {}) => {
  const action = { type: 'forward', host: 'a', headers: sent }
  const get = { action, response: { on_result: { headers: returned } } }
  return compiled({ api: { variables }, paths: { '/x': { get } } }).warnings.map(
    ({ code, path, message }) => {
      expect(code).toBe('UnknownProperty')
      return [path.replace(GET, ''), message]
    },
  )
}

describe('a warning is given at load', () => {
  it.each<[Value, string, string]>([
    [
      { Host: 'b' },
      '/action/headers/Host',
      "'Host' is never sent from here: the upstream gets the host of",
    ],
    [
      { 'content-length': '{{request.id}}' },
      '/action/headers/content-length',
      'how long the body is',
    ],
    [{ X_Forwarded_For: 'b' }, '/action/headers/X_Forwarded_For', 'choose another name'],
    [
      '{{request.headers |> put(Connection, close)}}',
      '/action/headers',
      "'Connection' is never sent",
    ],
    [
      '{{request.headers |> merge({{variables.more}}, _)}}',
      '/action/headers',
      "'TE' is never sent",
    ],
    ['{{variables.more}}', '/variables/more/TE', "'TE' is never sent"],
    [
      '{{variables.sets |> get({{request.id}})}}',
      '/action/headers',
      "'X-Request-Id' is never sent",
    ],
  ])('of a request header that is never sent: %j', (headers, path, message) => {
    const more = { TE: 'trailers' }
    const variables = { more, sets: { a: { 'X-Request-Id': '1' } } }
    expect(warningsOf(headers, {}, variables)).toEqual([[path, expect.stringContaining(message)]])
  })

  it.each(['Connection', 'Content-Length', 'Keep-Alive', 'Transfer-Encoding', 'Upgrade'])(
    'of a response header that is never sent: %s',
    (name) => {
      expect(warningsOf({}, { [name]: 'x' })).toEqual([
        [`/response/on_result/headers/${name}`, expect.stringContaining('never sent')],
      ])
    },
  )

  it.each<[string, object, string]>([
    ['the defaults', { api: { defaults: { headers: { te: 'x' } } } }, '/defaults/headers/te'],
    [
      'a static action',
      { paths: { '/x': { get: { action: { type: 'static', headers: { te: 'x' } } } } } },
      `${GET}/action/headers/te`,
    ],
    [
      'a path',
      { paths: { '/x': { headers: { te: 'x' }, get: { action: { type: 'static' } } } } },
      '/versions/v1/paths/~1x/headers/te',
    ],
  ])('once in the headers of %s', (_, parts, path) => {
    expect(compiled(parts).warnings.map((warning) => warning.path)).toEqual([path])
  })

  it.each<[Value, string]>([
    [{ 'X-A': '1', b: '2', 'x-a': '3' }, '/action/headers/X-A'],
    [{ 'X-A': '{{request.id}}', 'x-a': null }, '/action/headers/X-A'],
    ['{{variables.both}}', '/variables/both/x-A'],
    ['{{variables.both |> put(c, {{request.id}})}}', '/action/headers'],
  ])('of two spellings of a name in one map: %j', (headers, path) => {
    const variables = { both: { 'x-A': '1', 'X-a': '2' } }
    expect(warningsOf(headers, {}, variables)).toEqual([
      [path, expect.stringContaining('is written again as')],
    ])
  })
})

describe('no warning is given', () => {
  it.each<[string, Value, Value]>([
    [
      'of names that are sent',
      { 'x-forwarded-port': '1', 'x-real-ip': '::1', x: '' },
      { host: '' },
    ],
    [
      'of names in other spellings, in responses',
      {},
      { content_length: '1', 'http2-settings': '' },
    ],
    ['of what is passed on', '{{request.headers}}', '{{action.result.headers}}'],
    ['of a name that a function replaces', '{{variables.a |> put(x-a, 2)}}', '{{variables.a}}'],
    ['of a name that one map replaces in another', '{{variables.a |> merge({{variables.b}})}}', {}],
    ['of values that are maps of other names', { a: '{{request.body |> put(host, x)}}' }, {}],
  ])('%s', (_, sent, returned) => {
    const variables = { a: { 'X-A': '1' }, b: { 'x-A': '2' } }
    expect(warningsOf(sent, returned, variables)).toEqual([])
  })
})

it('every name that is never sent has a remedy', () => {
  for (const unsent of [UNSENT_IN_REQUESTS, UNSENT_IN_RESPONSES]) {
    expect(unsent.has('connection')).toBe(true)
    expect(unsent.remedyFor('connection')).toMatch(/: leave it out$/)
    expect(unsent.has('x-user')).toBe(false)
  }
})
