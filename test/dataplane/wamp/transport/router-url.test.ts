import { describe, expect, it } from '@jest/globals'
import {
  describeRouterUrl,
  parseRouterUrl,
  type RouterUrl,
} from '../../../../dataplane/wamp/transport/router-url.ts'

describe('parseRouterUrl', () => {
  it.each<[string, RouterUrl]>([
    ['ws://router.test/ws', { kind: 'websocket', href: 'ws://router.test/ws' }],
    ['WSS://Router.test:8443', { kind: 'websocket', href: 'wss://router.test:8443/' }],
    ['ws://me:secret@h/?a=1', { kind: 'websocket', href: 'ws://me:secret@h/?a=1' }],
    ['ws://[::1]:80/x', { kind: 'websocket', href: 'ws://[::1]/x' }],
    ['rs://h:9000', { kind: 'rawsocket', isSecure: false, host: 'h', port: 9000 }],
    ['rs://h:9000/', { kind: 'rawsocket', isSecure: false, host: 'h', port: 9000 }],
    ['rss://10.0.0.1:1', { kind: 'rawsocket', isSecure: true, host: '10.0.0.1', port: 1 }],
    ['rs://[::1]:65535', { kind: 'rawsocket', isSecure: false, host: '::1', port: 65_535 }],
    ['rs+unix:/run/r.sock', { kind: 'rawsocket-unix', path: '/run/r.sock' }],
    ['unix:/run/r.sock', { kind: 'rawsocket-unix', path: '/run/r.sock' }],
    ['unix:///run/r.sock', { kind: 'rawsocket-unix', path: '/run/r.sock' }],
    ['unix:/run/a b%20%c3%a9', { kind: 'rawsocket-unix', path: '/run/a b é' }],
    [`unix:/${'a'.repeat(106)}`, { kind: 'rawsocket-unix', path: `/${'a'.repeat(106)}` }],
  ])('%s', (text, url) => {
    expect(parseRouterUrl(text)).toEqual(url)
  })

  it.each([
    ['', 'no URL'],
    ['router.test:80', 'its scheme'],
    ['ws://', 'no URL'],
    ['ws://h:99999', 'no URL'],
    ['ws://h:0', 'port'],
    ['ws://h/#x', 'fragment'],
    ['http://h', 'its scheme'],
    ['constructor:x', 'its scheme'],
    ['rs://h', 'host and port'],
    ['rs://h:0', 'host and port'],
    ['rs://:80', 'no URL'],
    ['rs:h:80', 'host and port'],
    ['rs://me@h:80', 'user info'],
    ['rs://h:80/ws', 'ends with its port'],
    ['rs://h:80?x', 'ends with its port'],
    ['rs://%01:80', 'no host name'],
    ['unix:', 'absolute path'],
    ['unix:/', 'absolute path'],
    ['unix:run/r.sock', 'absolute'],
    ['unix://run/r.sock', 'absolute path'],
    ['unix:/r?x', 'absolute path'],
    ['unix:/r%00', 'encoded'],
    ['unix:/r%ff', 'encoded'],
    [`unix:/${'a'.repeat(107)}`, '107 bytes'],
  ])('%s is of no use', (text, why) => {
    expect(parseRouterUrl(text)).toEqual({ kind: 'invalid', why: expect.stringContaining(why) })
  })
})

describe('describeRouterUrl', () => {
  it.each([
    ['wss://me:secret@router.test:8443/ws?token=secret', 'wss://router.test:8443/ws'],
    ['ws://h', 'ws://h/'],
    ['rs://me:secret@h:1', 'rs://h:1'],
    ['unix:/run/r.sock?secret', 'unix:/run/r.sock'],
    ['http://me:secret@h', 'the router URL'],
    ['secret', 'the router URL'],
  ])('%s', (text, description) => {
    expect(describeRouterUrl(text)).toBe(description)
  })
})
