import { describe, expect, it } from '@jest/globals'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import {
  encodePart,
  encodePathText,
  encodeQueryText,
  requestTarget,
} from '../../../dataplane/upstream/url.ts'

describe('requestTarget', () => {
  it.each([
    ['/v1/def', 'a=1&a=2&b=%20x', '/v1/def?a=1&a=2&b=%20x'],
    ['/', '', '/'],
    ['', '', '/'],
    ['', 'a=1', '/?a=1'],
    ['/v1.0/file.txt', '', '/v1.0/file.txt'],
    ['/.well-known/x', '', '/.well-known/x'],
    ['/...', '', '/...'],
    ['/a..b/c..', '', '/a..b/c..'],
    ['//evil.test/x', '', '//evil.test/x'],
    ['/enc/a%2Fb', '', '/enc/a%2Fb'],
    ['/a b', '', '/a%20b'],
    ['/ž/日', '', '/%C5%BE/%E6%97%A5'],
    ['/100%', '', '/100%'],
    ['/%zz/%4', '', '/%zz/%4'],
    ['/a"<>[]^`{|}#', '', '/a"<>[]^`{|}%23'],
    ['/a\u00a0b', '', '/a%C2%A0b'],
    ['/%5B%5d', '%5B%5d=%5b', '/%5B%5d?%5B%5d=%5b'],
    ['/x', 'q[]=1&f={"a":"<b>|^`\\"}', '/x?q[]=1&f={"a":"<b>|^`\\"}'],
    ['/lone\uD800', '', '/lone%EF%BF%BD'],
    ['/a:b@c;d=e,f', '', '/a:b@c;d=e,f'],
    ['/@evil', '', '/@evil'],
    ['/search?kind=a', '', '/search?kind=a'],
    ['/search?kind=a', 'x=1', '/search?kind=a&x=1'],
    ['/x?', 'a=1', '/x?a=1'],
    ['/x', '{"v":"%7B"}', '/x?{"v":"%7B"}'],
    ['/x', 'q=a b#ž%', '/x?q=a%20b%23%C5%BE%'],
    ['/x', '#', '/x?%23'],
    ['/x', '?', '/x??'],
    ['/x', 'lone\uD800', '/x?lone%EF%BF%BD'],
    ['/x', 'a=../../y?z', '/x?a=../../y?z'],
  ])('%j + %j → %s', (path, query, target) => {
    expect(requestTarget(path, query)).toBe(target)
  })

  it.each([
    ['@evil.test/x', ''],
    ['http://evil.test/x', ''],
    ['x', ''],
    ['*', ''],
    ['/.', ''],
    ['/..', ''],
    ['/a/./b', ''],
    ['/a/../b', ''],
    ['/a/..', ''],
    ['/%2e%2E/b', ''],
    ['/a/.%2e/b', ''],
    ['/a/%2e', ''],
    ['/a/..%2fb', ''],
    ['/a/x%2F..', ''],
    ['/a/..%5Cb', ''],
    ['/a/..;x/b', ''],
    ['/a/..%3bx/b', ''],
    ['/a/..%3B', ''],
    ['/a/..%00/b', ''],
    ['/a/.%00', ''],
    ['/a%2f..%2fadmin', ''],
    ['/a/..%2Fadmin', ''],
    ['/a/%2e%2e%2fadmin', ''],
    ['/a/%2e%2e%5cadmin', ''],
    ['/a\\..\\admin', ''],
    ['/..//evil.test', ''],
    ['/../..//evil.test/x', ''],
    ['/a/..?x', ''],
    ['/a\\b', ''],
    ['/a\r\nb', ''],
    ['/a\tb', ''],
    ['/a\u0000b', ''],
    ['/a\u007fb', ''],
    ['/a\u0085b', ''],
    ['/a', 'x=\r\n'],
    ['/a', 'x=\u0000'],
  ])('%j + %j is refused', (path, query) => {
    expect(() => requestTarget(path, query)).toThrow(GatewayError)
    expect(() => requestTarget(path, query)).toThrow(
      expect.objectContaining({ code: 'svc.error.invalid_data' }),
    )
  })

  it.each([
    ['path', encodePathText, '/100%', '/100%25'],
    ['path', encodePathText, '/%zz/%4', '/%25zz/%254'],
    ['path', encodePathText, '/a"<>[]^`{|}#', '/a%22%3C%3E%5B%5D%5E%60%7B%7C%7D%23'],
    ['path', encodePathText, '/ž x?a=b', '/%C5%BE%20x?a=b'],
    ['path', encodePathText, '/lone\uD800', '/lone%EF%BF%BD'],
    // For `requestTarget` to refuse: encoded they would pass.
    ['path', encodePathText, '/a\\b\r\n', '/a\\b\r\n'],
    ['query', encodeQueryText, '{"v":"%7B"}', '%7B%22v%22:%22%7B%22%7D'],
    ['query', encodeQueryText, 'q=a b#ž%\\', 'q=a%20b%23%C5%BE%25%5C'],
    ['query', encodeQueryText, 'x=\r\n', 'x=\r\n'],
  ])("a document's %s: %#", (_what, encode, text, expected) => {
    expect(encode(text)).toBe(expected)
    expect(encode(expected)).toBe(expected)
  })

  it.each(['a/b', 'a?b', 'a#b', 'a%2fb', 'a\r\nb', '\uD800', 'a b', '__proto__'])(
    'a segment %j stays one segment',
    (text) => {
      expect(requestTarget(`/x/${encodePart(text)}/y`, '').split('/')).toHaveLength(4)
    },
  )

  it('dots in a segment are refused, not climbed', () => {
    expect(() => requestTarget(`/x/${encodePart('..')}/y`, '')).toThrow(GatewayError)
  })

  it.each(['a&b=c', 'a#b', 'a b', '1 HTTP/1.1\r\nGET /'])('a query value %j stays one', (text) => {
    const target = requestTarget('/x', `v=${encodePart(text)}`)
    expect([...new URL(target, 'http://h').searchParams]).toEqual([['v', text]])
  })
})
