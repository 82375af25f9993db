import { describe, expect, it } from '@jest/globals'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { createClientReader } from '../../../../dataplane/http/request/forwarded.ts'

interface Sent {
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

const read = (cidrs: readonly string[], { from = '10.0.0.1', headers = {} }: Sent) => {
  const socket = new Socket()
  Object.defineProperties(socket, {
    remoteAddress: { value: from },
    remotePort: { value: 5000 },
  })
  const message = new IncomingMessage(socket)
  Object.assign(message.headers, headers)
  return createClientReader(cidrs)(message, 'http')
}

const TRUSTED = ['10.0.0.0/8', '::1/128', '192.0.2.7']

describe('who sent a request', () => {
  it('is not read where no proxy is trusted, nor from a peer that we do not trust', () => {
    const headers = { 'x-forwarded-for': '1.2.3.4', 'x-request-id': 'a' }
    expect(read([], { headers })).toBeUndefined()
    expect(read(TRUSTED, { from: '11.0.0.1', headers })).toBeUndefined()
    expect(read(TRUSTED, { from: '', headers })).toBeUndefined()
  })

  it.each([
    ['no client named', undefined, '10.0.0.1:5000'],
    ['the client', '1.2.3.4', '1.2.3.4:0'],
    ['the last untrusted', '9.9.9.9, 1.2.3.4, 10.1.1.1, 192.0.2.7', '1.2.3.4:0'],
    ['all trusted: the first', '10.2.2.2, 10.1.1.1', '10.2.2.2:0'],
    ['IPv6', '2001:db8::1', '[2001:db8::1]:0'],
    ['IPv4 in IPv6', '::ffff:1.2.3.4', '1.2.3.4:0'],
    ['IPv6 written in another way', '2001:DB8:0:0::1', '[2001:db8::1]:0'],
    ['IPv4 in IPv6, in hexadecimal', '0:0:0:0:0:FFFF:0102:0304', '1.2.3.4:0'],
    ['a zone, which is one of the proxy', 'fe80::1%lo', '[fe80::1]:0'],
    ['a port', '1.2.3.4:4711', '1.2.3.4:0'],
    ['a port of IPv6', '[2001:DB8::1]:443', '[2001:db8::1]:0'],
    ['brackets', '[2001:db8::1]', '[2001:db8::1]:0'],
    ['a port of the trusted', '1.2.3.4, 10.1.1.1:80', '1.2.3.4:0'],
    ['no address', 'unknown', '10.0.0.1:5000'],
    ['no address before a comma', '1.2.3.4,', '10.0.0.1:5000'],
    ['no address before the trusted', 'unknown, 10.1.1.1', '10.0.0.1:5000'],
    ['nothing', '', '10.0.0.1:5000'],
    ['the proxy itself', '10.0.0.1', '10.0.0.1:5000'],
  ])('%s', (_, header, peername) => {
    const headers = header === undefined ? {} : { 'x-forwarded-for': header }
    expect(read(TRUSTED, { headers })?.peername).toBe(peername)
  })

  it.each([
    ['no header', undefined, false, false],
    ['an empty one', ' ', false, false],
    ['a client', '1.2.3.4', true, true],
    ['the proxy itself', '10.0.0.1', true, true],
    ['one that can not be read', 'unknown', true, false],
  ])('%s: guesses count for the address: %s; it was read: %s', (_, header, isKnown, isRead) => {
    const headers = header === undefined ? {} : { 'x-forwarded-for': header }
    const client = read(TRUSTED, { headers })
    expect([client?.isAddressKnown, client?.isAddressRead]).toEqual([isKnown, isRead])
  })

  it.each([
    ['::1', true],
    ['::ffff:10.1.2.3', true],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['::2', false],
  ])('%s is trusted: %p', (from, isTrusted) => {
    expect(read(TRUSTED, { from }) !== undefined).toBe(isTrusted)
  })

  it.each([
    ['https', 'https'],
    [' HTTPS ', 'https'],
    ['http', 'http'],
    ['ftp', 'http'],
    ['https, http', 'http'],
    ['', 'http'],
  ])('X-Forwarded-Proto %p is %s', (proto, scheme) => {
    expect(read(TRUSTED, { headers: { 'x-forwarded-proto': proto } })?.scheme).toBe(scheme)
  })

  it.each([
    ['abc-1', 'abc-1'],
    ['a b', undefined],
    ['', undefined],
    ['x'.repeat(200), undefined],
  ])('X-Request-Id %p is %p', (id, expected) => {
    expect(read(TRUSTED, { headers: { 'x-request-id': id } })?.requestId).toBe(expected)
  })
})
