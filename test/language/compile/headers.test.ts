import { describe, expect, it } from '@jest/globals'
import { isHeaderName, isHeaderValue } from '../../../language/compile/headers.ts'
import { faultsOf } from '../documents.ts'

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
