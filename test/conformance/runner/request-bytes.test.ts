// What a declared request looks like on the wire.

import { describe, expect, it } from '@jest/globals'
import type { RequestSpec } from './case-file.ts'
import { partsOf, requestBytes } from './request-bytes.ts'

const textOf = (request: RequestSpec): string =>
  requestBytes(request, 'a.test')
    .map((part) => ('pauseMs' in part ? `<${part.pauseMs}>` : Buffer.from(part).toString('latin1')))
    .join('')

describe('requestBytes', () => {
  it.each<[string, RequestSpec, string]>([
    ['a bare GET', { path: '/x' }, 'GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    [
      'a host of its own, and pairs in order',
      {
        path: '/x',
        headers: [
          ['HOST', 'b'],
          ['x', '1'],
          ['X', '2'],
        ],
      },
      'GET /x HTTP/1.1\r\nHOST: b\r\nx: 1\r\nX: 2\r\n\r\n',
    ],
    [
      'JSON with blanks',
      { method: 'POST', path: '/x', json: { a: [1, 'ž'] } },
      'POST /x HTTP/1.1\r\nHost: a.test\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{"a": [1, "Å¾"]}',
    ],
    [
      'JSON null is a body',
      { method: 'POST', path: '/x', json: null, headers: { 'Content-Type': 'text/x' } },
      'POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Type: text/x\r\ncontent-length: 4\r\n\r\nnull',
    ],
    [
      'a form',
      { method: 'POST', path: '/x', form: { a: '1', 'b c': '&' } },
      'POST /x HTTP/1.1\r\nHost: a.test\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 11\r\n\r\na=1&b+c=%26',
    ],
    [
      'msgpack',
      { method: 'POST', path: '/x', msgpack: [1] },
      'POST /x HTTP/1.1\r\nHost: a.test\r\ncontent-type: application/msgpack\r\ncontent-length: 2\r\n\r\n\x91\x01',
    ],
    [
      'parts with a pause, counted without it',
      {
        path: '/x',
        body: ['a', { pause_ms: 5 }, { text: 'b', times: 3 }, { hex: '6364', times: 2 }],
      },
      'GET /x HTTP/1.1\r\nHost: a.test\r\ncontent-length: 8\r\n\r\na<5>bbbcdcd',
    ],
    [
      'chunks, none of them empty',
      { path: '/x', body: ['ab', '', { pause_ms: 5 }, 'c'], chunked: true },
      'GET /x HTTP/1.1\r\nHost: a.test\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n<5>1\r\nc\r\n0\r\n\r\n',
    ],
    [
      'a length of its own',
      { path: '/x', body: 'ab', headers: { 'Content-Length': '99' } },
      'GET /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 99\r\n\r\nab',
    ],
    [
      'credentials',
      { path: '/x', basic: ['u', { text: 'p', times: 2 }], bearer: 't' },
      'GET /x HTTP/1.1\r\nHost: a.test\r\nauthorization: Basic dTpwcA==\r\nauthorization: Bearer t\r\n\r\n',
    ],
    [
      'long headers and paths',
      { path: ['/', { text: 'a', times: 3 }], headers: { x: { text: 'b', times: 2 } } },
      'GET /aaa HTTP/1.1\r\nHost: a.test\r\nx: bb\r\n\r\n',
    ],
  ])('%s', (_, request, text) => {
    expect(textOf(request)).toBe(text)
  })
})

it('raw parts stay as they stand', () => {
  expect(partsOf(['\u0000\r', { pause_ms: 1 }])).toEqual([Buffer.from([0, 13]), { pauseMs: 1 }])
})
