import { describe, expect, it } from '@jest/globals'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { hasBody, readHead, readTarget, splitHost } from '../../../dataplane/http/request-head.ts'

const headOf = (...rawHeaders: string[]) => {
  const message = new IncomingMessage(new Socket())
  message.rawHeaders = rawHeaders
  return readHead(message)
}

describe('readHead', () => {
  it('takes what routing needs, whatever the case of the names', () => {
    expect(
      headOf(
        'HOST',
        'a',
        'Accept',
        'x',
        'accept',
        'y',
        'Accept-Language',
        'e',
        'ACCEPT-LANGUAGE',
        'f',
        'content-TYPE',
        't',
        'Content-Length',
        '7',
        'Transfer-Encoding',
        'chunked',
        'Abcd',
        'no',
        'Abcdef',
        'no',
      ),
    ).toEqual({
      host: 'a',
      hostCount: 1,
      accept: 'x, y',
      acceptLanguage: 'e, f',
      contentType: 't',
      contentLength: 7,
      isChunked: true,
    })
  })

  it('counts hosts', () => {
    expect(headOf('Host', 'a', 'host', 'b').hostCount).toBe(2)
    expect(headOf().hostCount).toBe(0)
  })

  it.each([
    [[], false],
    [['Content-Length', '0'], false],
    [['Content-Length', '1'], true],
    [['Transfer-Encoding', 'chunked'], true],
  ])('a body for %j: %p', (rawHeaders, expected) => {
    expect(hasBody(headOf(...rawHeaders))).toBe(expected)
  })
})

describe('readTarget', () => {
  it.each([
    ['/', { path: '/', query: '', authority: undefined }],
    ['/a?b=/c?d', { path: '/a', query: 'b=/c?d', authority: undefined }],
    ['//a', { path: '//a', query: '', authority: undefined }],
    ['http://h:1/a?b', { path: '/a', query: 'b', authority: 'h:1' }],
    ['http://h', { path: '/', query: '', authority: 'h' }],
    ['http://h?q=/x', { path: '/', query: 'q=/x', authority: 'h' }],
    ['http:///x', { path: '/x', query: '', authority: '' }],
    ['*', undefined],
    ['h:443', undefined],
    ['', undefined],
  ])('%p', (url, target) => {
    expect(readTarget(url)).toEqual(target)
  })
})

describe('splitHost', () => {
  it.each([
    ['a.test', 'a.test', ''],
    ['a.test:80', 'a.test', '80'],
    ['a:', 'a', ''],
    ['[::1]', '[::1]', ''],
    ['[::1]:80', '[::1]', '80'],
    ['', '', ''],
  ])('%p', (host, name, port) => {
    expect(splitHost(host)).toEqual([name, port])
  })
})
