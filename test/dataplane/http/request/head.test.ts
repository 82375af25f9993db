import { describe, expect, it } from '@jest/globals'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { NO_AUTHORITY } from '../../../../language/routes/authority.ts'
import type { HeadError } from '../../../../dataplane/http/request/head-error.ts'
import { hasBody, readHead } from '../../../../dataplane/http/request/head.ts'
import { readTarget } from '../../../../language/routes/request-target.ts'

interface Sent {
  readonly url?: string
  /** `[major, minor]` */
  readonly version?: readonly [number, number]
}

const messageOf = (rawHeaders: readonly string[], { url = '/', version = [1, 1] }: Sent = {}) => {
  const message = new IncomingMessage(new Socket())
  const [httpVersionMajor, httpVersionMinor] = version
  return Object.assign(message, {
    rawHeaders: [...rawHeaders],
    url,
    httpVersionMajor,
    httpVersionMinor,
  })
}

const headOf = (...rawHeaders: string[]) => readHead(messageOf(rawHeaders))

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
    ).toMatchObject({
      error: undefined,
      authority: { host: 'a', port: '' },
      target: { path: '/', query: '' },
      accept: 'x, y',
      acceptLanguage: 'e, f',
      contentType: 't',
      contentLength: 7,
      isChunked: true,
    })
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

describe('the place of a request', () => {
  const HOST = ['Host', 'A.test:81']

  it.each<[string, readonly string[], Sent, string, string]>([
    ['by Host', HOST, { url: '/x?y' }, 'A.test:81', '/x'],
    ['by the target', HOST, { url: 'http://B.test/x?y' }, 'B.test', '/x'],
    ['by a target of https', HOST, { url: 'HTTPS://b.test:8443' }, 'b.test:8443', '/'],
    ['by HTTP/1.0 without Host', [], { version: [1, 0], url: '/x' }, '', '/x'],
    ['by HTTP/1.0 and a target', [], { version: [1, 0], url: 'http://b/x' }, 'b', '/x'],
    ['by an empty Host', ['Host', ''], { url: '/x' }, '', '/x'],
  ])('%s', (...[, rawHeaders, sent, text, path]) => {
    expect(readHead(messageOf(rawHeaders, sent))).toMatchObject({
      error: undefined,
      authority: { text },
      target: { path },
    })
  })

  it.each(['before node has made its map of headers', 'after it'])(
    'the authority of a target takes the place of Host everywhere, %s',
    (moment) => {
      for (const rawHeaders of [
        ['X', 'host', 'hOST', 'evil.test'],
        ['X', 'host'],
      ]) {
        const version = rawHeaders.length === 2 ? ([1, 0] as const) : ([1, 1] as const)
        const message = messageOf(rawHeaders, { url: 'http://b.test:81/x', version })
        const before = moment === 'after it' ? message.headers.host : undefined
        expect(before).not.toBe('b.test:81')
        readHead(message)
        expect(message.headers.host).toBe('b.test:81')
        expect(message.rawHeaders.slice(-1)).toEqual(['b.test:81'])
        expect(message.rawHeaders.slice(0, 2)).toEqual(['X', 'host'])
      }
    },
  )

  it.each<[HeadError, readonly string[], Sent]>([
    ['version', HOST, { version: [0, 9] }],
    ['version', HOST, { version: [2, 0] }],
    ['version', HOST, { version: [1, 2] }],
    ['chunks_by_1_0', [...HOST, 'Transfer-Encoding', 'chunked'], { version: [1, 0] }],
    ['coding', [...HOST, 'Transfer-Encoding', 'gzip, chunked'], {}],
    ['coding', [...HOST, 'Transfer-Encoding', 'gzip', 'Transfer-Encoding', 'chunked'], {}],
    ['coding', [...HOST, 'Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'], {}],
    ['no_path', HOST, { url: '*' }],
    ['no_path', HOST, { url: 'b.test:443' }],
    ['scheme', HOST, { url: 'ftp://b.test/' }],
    ['scheme', HOST, { url: 'ws://b.test/' }],
    ['target', HOST, { url: 'http:///x' }],
    ['target', HOST, { url: 'http://' }],
    ['target', HOST, { url: 'http://u:p@b.test/' }],
    ['target', HOST, { url: 'http://b.test:0/' }],
    ['no_host', [], {}],
    ['no_host', [], { url: 'http://b.test/' }],
    ['two_hosts', [...HOST, ...HOST], {}],
    ['two_hosts', [...HOST, ...HOST], { url: 'http://b.test/' }],
    ['host', ['Host', 'a.test:x'], {}],
    ['host', ['Host', 'a.test:x'], { url: 'http://b.test/' }],
  ])('%s: refused for %j %j', (error, rawHeaders, sent) => {
    const head = readHead(messageOf(rawHeaders, sent))
    expect(head).toMatchObject({ error, authority: NO_AUTHORITY, target: { path: '' } })
  })

  it.each(['chunked', 'Chunked', 'CHUNKED'])('the coding %s is taken', (coding) => {
    expect(headOf(...HOST, 'transfer-encoding', coding)).toMatchObject({
      error: undefined,
      isChunked: true,
    })
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
    ['*', 'no_path'],
    ['h:443', 'no_path'],
    ['', 'no_path'],
    ['x://h/a', 'scheme'],
  ])('%p', (url, target) => {
    expect(readTarget(url)).toEqual(target)
  })
})
