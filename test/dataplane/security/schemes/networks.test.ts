// Tests which clients are in a network: by the one address that is theirs, in whatever form it is written.

import { describe, expect, it } from '@jest/globals'
import { createClientReader } from '../../../../dataplane/http/request/forwarded.ts'
import { callerOf as callerOfRequest } from '../../../../dataplane/http/authenticate-request.ts'
import { withinNetworks } from '../../../../dataplane/security/schemes/networks.ts'
import type { IncomingRequest } from '../../../../dataplane/http/incoming-request.ts'
import { callerOf, headersOf, REALM, securityHome, statusOf } from '../security-home.ts'
import { quickHash } from '../phc.ts'

const within = (networks: readonly string[], address: string, isAddressRead = true): boolean =>
  withinNetworks([{ type: 'anonymous', networks }], { address, isAddressRead }).length > 0

const OFFICE = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'fe80::/10']

describe('a client', () => {
  it.each<[string, boolean]>([
    ['10.0.0.0', true],
    ['10.255.255.255', true],
    ['11.0.0.0', false],
    ['9.255.255.255', false],
    ['192.0.2.7', true],
    ['192.0.2.6', false],
    ['::ffff:10.1.2.3', true],
    ['::FFFF:10.1.2.3', true],
    ['0:0:0:0:0:ffff:a01:203', true],
    ['::ffff:11.0.0.1', false],
    // Other forms that embed an IPv4 address are addresses of their own.
    ['::10.1.2.3', false],
    ['64:ff9b::10.1.2.3', false],
    ['2002:a01:203::1', false],
    ['2001:db8::1', true],
    ['2001:DB8:0::1', true],
    ['2001:db9::1', false],
    ['fe80::1', true],
    ['fe80::1%eth0', true],
    ['fec0::1', false],
    ['', false],
    ['unknown', false],
    ['10.1.2.3:80', false],
    ['[2001:db8::1]', false],
    ['010.1.2.3', false],
  ])('at %j is in a network of the office: %j', (address, expected) => {
    expect(within(OFFICE, address)).toBe(expected)
  })

  it.each<[string, string, boolean]>([
    ['0.0.0.0/0', '::1', false],
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['0.0.0.0/0', '::ffff:10.0.0.1', true],
  ])('in all of %s, at %s: %j', (network, address, expected) => {
    expect(within([network], address)).toBe(expected)
  })

  it('whose address is not known is in no network, though its proxy is', () => {
    expect(within(['0.0.0.0/0', '::/0'], '10.0.0.1', false)).toBe(false)
  })
})

describe('X-Forwarded-For', () => {
  const addressOf = (trusted: readonly string[], forwardedFor: string | undefined) => {
    const request = {
      socket: { remoteAddress: '::ffff:10.0.0.9', remotePort: 1 },
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    } as unknown as IncomingRequest['request']
    const client = createClientReader(trusted)(request, 'http')
    return callerOfRequest({ request, client, id: 'a' } as unknown as IncomingRequest)
  }

  it.each<[string, readonly string[], string | undefined, boolean]>([
    ['of a proxy that is not trusted counts for nothing', [], '192.0.2.7', false],
    ['of a trusted proxy names the client', ['10.0.0.9'], '192.0.2.7', true],
    ['that the client has begun is not believed', ['10.0.0.9'], '192.0.2.7, 203.0.113.1', false],
    ['with an address in another form', ['10.0.0.9'], '::ffff:192.0.2.7', true],
    ['that is missing', ['10.0.0.9'], undefined, false],
    ['that is empty', ['10.0.0.9'], ' ', false],
  ])('%s', (_, trusted, forwardedFor, expected) => {
    const caller = addressOf(trusted, forwardedFor)
    const security = [{ type: 'anonymous', networks: ['192.0.2.7'] }] as const
    expect(withinNetworks(security, caller).length > 0).toBe(expected)
  })

  it.each([
    ['unknown', false],
    ['203.0.113.9,', false],
    ['203.0.113.9, unknown, 10.0.0.9', false],
    ['203.0.113.9:', false],
    ['203.0.113.9:443:443', false],
    ['[203.0.113.9]:443', false],
    ['2001:db8::1:port', false],
    ['"[2001:db8::1]:443"', false],
    ['_hidden', false],
    // Ports come off first, so these are read, and are clients elsewhere.
    ['203.0.113.9:4711', false],
    ['[2001:db8::1]:443', false],
    ['[2001:db8::1]', false],
    ['203.0.113.9:4711, 10.0.0.9:80', false],
    ['10.0.0.7:4711', true],
    ['10.0.0.9:4711', true],
  ])('%j: the client is in the network of the proxy: %j', (forwardedFor, expected) => {
    const caller = addressOf(['10.0.0.9'], forwardedFor)
    const security = [{ type: 'anonymous', networks: ['10.0.0.0/8'] }] as const
    expect(withinNetworks(security, caller).length > 0).toBe(expected)
  })
})

describe('with credentials', () => {
  const record = {
    uri: REALM,
    users: [{ username: 'alice', password_hash: quickHash('wonderland') }],
  }
  const basicOf = (text: string) =>
    [['Authorization', `Basic ${Buffer.from(text).toString('base64')}`]] as const
  const RIGHT = basicOf('alice:wonderland')
  const WRONG = basicOf('alice:guess')
  const INSIDE = { type: 'anonymous', networks: ['10.0.0.0/8'], pointer: '/security/0' } as const
  const BASIC = { type: 'basic' } as const
  const BASIC_INSIDE = { ...BASIC, networks: ['10.0.0.0/8'], pointer: '/security' } as const

  it.each([
    ['a password that is right, outside', [BASIC_INSIDE], RIGHT, '192.0.2.1', 403],
    ['a password that is wrong, outside', [BASIC_INSIDE], WRONG, '192.0.2.1', 403],
    ['no password, outside', [BASIC_INSIDE], [], '192.0.2.1', 403],
    ['a password that is right, inside', [BASIC_INSIDE], RIGHT, '10.0.0.1', 200],
    ['no password, inside', [BASIC_INSIDE], [], '10.0.0.1', 401],
    ['inside, or a password: nothing, inside', [INSIDE, BASIC], [], '10.0.0.1', 200],
    ['inside, or a password: nothing, outside', [INSIDE, BASIC], [], '192.0.2.1', 401],
    ['inside, or a password: a right one, outside', [INSIDE, BASIC], RIGHT, '192.0.2.1', 200],
    ['inside, or a password: a wrong one, inside', [INSIDE, BASIC], WRONG, '10.0.0.1', 401],
    [
      'an entry that is skipped is not there',
      [BASIC_INSIDE, { type: 'anonymous' }],
      WRONG,
      '192.0.2.1',
      200,
    ],
  ] as const)('%s', async (...[, demand, headers, address, status]) => {
    const home = securityHome({ realms: [record] })
    const result = await home.call(demand, headers, { address })
    expect(statusOf(result)).toBe(status)
  })

  it.each<[string, object, readonly (readonly [string, string])[]]>([
    ['network_connection', {}, []],
    ['network_proxy', {}, [['X-Forwarded-For', '10.0.0.1']]],
    ['network_forwarded', { isForwarded: true }, [['X-Forwarded-For', '192.0.2.1']]],
    ['network_unknown', { isForwarded: true, isAddressKnown: false }, []],
    ['network_unknown', { isForwarded: true, isAddressRead: false }, []],
    ['network_unknown', { address: '' }, []],
  ])('the reason says which address it was: %s, %j', (reason, more, headers) => {
    const home = securityHome({ realms: [record] })
    const result = home.authenticate(BASIC_INSIDE, REALM, callerOf(headers, more))
    expect(result).toMatchObject({ kind: 'refused', error: { reason } })
  })

  it('nothing is requested of a client outside, and the audit log names the reason', () => {
    const home = securityHome({ realms: [record] })
    const result = home.authenticate(BASIC_INSIDE, REALM, callerOf(RIGHT))
    if (result instanceof Promise) throw new Error('it waits')
    expect(result).toMatchObject({
      error: { code: 'svc.error.forbidden', pointer: '/security/networks' },
    })
    expect(headersOf(result)).toEqual({})
    expect(home.audited).toMatchObject([
      { reason: 'network', scheme: 'none', realm: REALM, address: '192.0.2.1' },
    ])
  })
})
