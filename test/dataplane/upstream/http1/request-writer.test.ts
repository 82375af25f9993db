// Heads of requests: how a body is framed, when a connection is closed after it, and that nothing can be injected.

import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import {
  type ClientRequest,
  formatHead,
} from '../../../../dataplane/upstream/http1/request-writer.ts'

const request = (parts: Partial<ClientRequest>): ClientRequest => ({
  method: 'GET',
  path: '/',
  headers: [],
  body: null,
  contentLength: undefined,
  ...parts,
})

const linesOf = (parts: Partial<ClientRequest>): readonly string[] =>
  formatHead(request(parts), 'up:8080').text.split('\r\n')

it('writes the request line, Host, Connection and the fields in their order', () => {
  expect(
    linesOf({ path: '//a%2Fb?x=1', headers: ['x-a', '1', 'x-b', '', 'x-a', '\xe9\t2'] }),
  ).toEqual(
    ['GET //a%2Fb?x=1 HTTP/1.1', 'host: up:8080', 'connection: keep-alive'].concat([
      'x-a: 1',
      'x-b: ',
      'x-a: \xe9\t2',
      '',
      '',
    ]),
  )
})

it('writes the Host that the request names in place of that of the origin', () => {
  expect(linesOf({ hostHeader: '[::1]:80' })[1]).toBe('host: [::1]:80')
})

describe('frames', () => {
  const body = Buffer.from('ab')
  const stream = (): Readable => Readable.from([body])

  it.each<readonly [string, Partial<ClientRequest>, string | undefined, boolean]>([
    ['a GET', {}, undefined, false],
    ['a HEAD, after which some servers send a body', { method: 'HEAD' }, undefined, true],
    ...(
      [
        ['authorization', 'Negotiate YII=', true],
        ['authorization', 'ntlm TlRM', true],
        ['authorization', 'NTLM', true],
        ['proxy-authorization', 'NTLM TlRM', true],
        ['authorization', 'Basic bnRsbTpuZWdvdGlhdGU=', false],
        ['authorization', 'Bearer ntlm', false],
        ['authorization', 'NTLM-like x', false],
        ['x-authorization', 'NTLM TlRM', false],
      ] as const
    ).map(
      ([name, value, closes]) =>
        [`${name}: ${value}`, { headers: ['x-a', '1', name, value] }, undefined, closes] as const,
    ),
    ['a DELETE', { method: 'DELETE' }, undefined, false],
    ['a POST without a body', { method: 'POST' }, 'content-length: 0', false],
    [
      'a POST with an empty body',
      { method: 'POST', body: Buffer.alloc(0) },
      'content-length: 0',
      false,
    ],
    ['a POST', { method: 'POST', body }, 'content-length: 2', false],
    [
      'a GET with a body, which some servers take for a request',
      { body },
      'content-length: 2',
      true,
    ],
    ['a GET with an empty body', { body: Buffer.alloc(0) }, undefined, false],
    ['a stream', { method: 'PUT', body: stream() }, 'transfer-encoding: chunked', false],
    [
      'a stream of known length',
      { method: 'PUT', body: stream(), contentLength: 7 },
      'content-length: 7',
      false,
    ],
    [
      'a DELETE with a stream',
      { method: 'DELETE', body: stream() },
      'transfer-encoding: chunked',
      true,
    ],
  ])('%s', (_, parts, line, closes) => {
    const lines = linesOf(parts)
    expect(lines.filter((each) => /^(?:content-length|transfer-encoding)/.test(each))).toEqual(
      line === undefined ? [] : [line],
    )
    expect(lines[2]).toBe(`connection: ${closes ? 'close' : 'keep-alive'}`)
    expect(formatHead(request(parts), 'up').closes).toBe(closes)
  })
})

describe('refuses', () => {
  it.each<readonly [string, Partial<ClientRequest>]>([
    ...['\r\nx: 1', '\r', '\n', '\0', '\x7f', '\u0100'].map(
      (sign) => [`${JSON.stringify(sign)} in a value`, { headers: ['x', `a${sign}b`] }] as const,
    ),
    ...['', 'a b', 'a:', 'a\r\nb', 'a\0', '\xe9'].map(
      (name) => [`the name ${JSON.stringify(name)}`, { headers: [name, '1'] }] as const,
    ),
    ...['Content-Length', 'transfer-encoding', 'Host', 'connection', 'Upgrade', 'expect'].map(
      (name) =>
        [`${name}, which it writes itself or not at all`, { headers: [name, '1'] }] as const,
    ),
    ...['', '/a b', '/a\r\nHost: b', '/a\n', '/\0', '/\u0100', '/a\x7f'].map(
      (path) => [`the target ${JSON.stringify(path)}`, { path }] as const,
    ),
    ...['a\r\nx: 1', 'a b', 'a/b', 'a@b', 'é'].map(
      (hostHeader) => [`the host ${JSON.stringify(hostHeader)}`, { hostHeader }] as const,
    ),
    ...['', 'G T', 'GET\r\n', 'CONNECT'].map(
      (method) => [`the method ${JSON.stringify(method)}`, { method }] as const,
    ),
  ])('%s', (_, parts) => {
    expect(() => formatHead(request(parts), 'up')).toThrow(TypeError)
  })
})
