import { networkInterfaces } from 'node:os'
import { describe, expect, it } from '@jest/globals'
import { createGuard, readRules } from '../../../../dataplane/upstream/destinations/guard.ts'

const rules = (...entries: string[]) => readRules(entries).rules

describe('a guard without rules', () => {
  const guard = createGuard()

  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:42::42',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    // AWS: EKS Pod Identity, over IPv4 and IPv6.
    '169.254.170.23',
    'fd00:ec2::23',
    'FD00:0EC2:0:0:0:0:0:0023',
    'fd00:c1::a9fe:a9fe',
    'fd00:a9fe:a9fe::1',
    'fd00:100::100:200',
    // Deprecated addresses of a site.
    'fec0::1',
    'feff::1',
    // NAT64 of a network's own, with prefixes of 48, 56, 64 and 96 bits.
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:a9:fe:a9fe::',
    '64:ff9b:1:0:a9:fea9:fe00:0',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
    // SIIT.
    '::ffff:0:169.254.169.254',
    '::ffff:0:a9fe:a9fe',
    '::ffff:0:8.8.8.8',
    // Teredo.
    '2001:0:4136:e378:8000:63bf:5601:5601',
    '2001::1',
    '2001:0:ffff::',
    // IPv4-compatible.
    '::169.254.169.254',
    '::a9fe:a9fe',
    '::2',
    '::127.0.0.1',
    '::255.255.255.255',
    // ISATAP, local and global.
    'fd00::5efe:169.254.169.254',
    '2001:db8:1:2:200:5efe:a9fe:a9fe',
    '2001:db8:1:2:0:5efe:a83f:8110',
    '2002:808:808:1:0:5efe:a9fe:a9fe',
    // 6to4 and NAT64 of every metadata address of IPv4.
    '2002:6464:64c8::1',
    '2002:a83f:8110:1:2:3:4:5',
    '64:ff9b::100.100.100.200',
    '64:ff9b::c000:c0',
    'not an address',
    '',
  ])('denies %s', (address) => {
    expect(guard.allows('host', address, 80)).toBe(false)
  })

  it.each([
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '192.168.1.1',
    '8.8.8.8',
    '2001:db8::1',
    '100.100.100.201',
    'fd00::1',
    'fd00:ec2::22',
    'fd00:c1::1',
    '2001:1::1',
    '2001:4860:4860::8888',
    '64:ff9b::8.8.8.8',
    '64:ff9b:2::a9fe:a9fe',
    '2002:808:808::1',
    '2001:db8:1:2:0:5efe:808:808',
    '2001:db8:1:2:0:5eff:a9fe:a9fe',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
  ])('allows %s', (address) => {
    expect(guard.allows('host', address, 80)).toBe(true)
  })
})

describe('rules', () => {
  it.each<[string, string[], string[], string, string, boolean]>([
    ['a denied network', [], ['10.0.0.0/8'], 'a', '10.1.2.3', false],
    ['in IPv6 clothes', [], ['10.0.0.0/8'], 'a', '::ffff:10.1.2.3', false],
    ['behind NAT64', [], ['10.0.0.0/8'], 'a', '64:ff9b::10.1.2.3', false],
    ['behind 6to4', [], ['10.0.0.0/8'], 'a', '2002:a01:203::1', false],
    [
      'behind NAT64 of the network',
      ['64:ff9b:1::/48'],
      ['10.0.0.0/8'],
      'a',
      '64:ff9b:1:a01:2:300::',
      false,
    ],
    ['behind SIIT', ['::ffff:0:0:0/96'], ['10.0.0.0/8'], 'a', '::ffff:0:10.1.2.3', false],
    ['behind Teredo', ['2001::/32'], ['10.0.0.0/8'], 'a', '2001:0:1:2:3:4:f5fe:fdfc', false],
    ['behind ISATAP', [], ['10.0.0.0/8'], 'a', '2001:db8::200:5efe:10.1.2.3', false],
    ['IPv4-compatible', ['::/96'], ['10.0.0.0/8'], 'a', '::10.1.2.3', false],
    ['an allowed NAT64 of the network', ['64:ff9b:1::/48'], [], 'a', '64:ff9b:1::8.8.8.8', true],
    [
      'that may be another address than the allowed one',
      ['10.0.0.0/8', '*'],
      [],
      'a',
      '64:ff9b:1:a9fe:a9:fe00:a01:203',
      false,
    ],
    ['an allowed network behind NAT64', ['10.0.0.0/8'], [], 'a', '64:ff9b::10.1.2.3', true],
    ['one that any host gives itself', ['10.0.0.0/8'], [], 'a', '2001:db8::5efe:10.1.2.3', false],
    ['of two', ['10.0.0.0/8'], [], 'a', '2002:a01:203:1:0:5efe:a9fe:a9fe', false],
    ['another network', [], ['10.0.0.0/8'], 'a', '11.1.2.3', true],
    ['defaults stay beside a deny', [], ['10.0.0.0/8'], 'a', '169.254.169.254', false],
    ['a denied address', [], ['::1'], 'localhost', '::1', false],
    ['a denied name', [], ['db.internal'], 'DB.Internal', '1.1.1.1', false],
    ['with a trailing dot', [], ['db.internal'], 'db.internal.', '1.1.1.1', false],
    ['a denied suffix', [], ['*.internal'], 'x.y.internal', '1.1.1.1', false],
    ['a suffix is not its parent', [], ['*.internal'], 'internal', '1.1.1.1', true],
    ['nor part of a label', [], ['*.internal'], 'notinternal', '1.1.1.1', true],
    ['all names', [], ['*'], 'x', '1.1.1.1', false],
    ['an allowed network', ['10.0.0.0/8'], [], 'a', '10.1.2.3', true],
    ['and nothing else', ['10.0.0.0/8'], [], 'a', '8.8.8.8', false],
    ['an allowed name', ['*.example.com'], [], 'a.example.com', '8.8.8.8', true],
    ['and no other', ['*.example.com'], [], 'a.example.org', '8.8.8.8', false],
    [
      'a name opens no metadata service',
      ['*.example.com'],
      [],
      'a.example.com',
      '169.254.169.254',
      false,
    ],
    ['an address does', ['169.254.169.254'], [], 'a', '169.254.169.254', true],
    ['deny beats allow', ['10.0.0.0/8'], ['10.1.0.0/16'], 'a', '10.1.2.3', false],
    ['allow beside deny', ['10.0.0.0/8'], ['10.1.0.0/16'], 'a', '10.2.2.3', true],
    ['reserved words', [], ['constructor'], 'constructor', '1.1.1.1', false],
  ])('%s', (...[, allow, deny, host, address, expected]) => {
    const guard = createGuard({ allow: rules(...allow), deny: rules(...deny) })
    expect(guard.allows(host, address, 80)).toBe(expected)
  })

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/9',
    '::1/129',
    '10.0.0',
    '300.1.1.1',
    'a b',
    '*x.com',
    'http://x',
    '',
  ])('%j is a fault', (entry) => {
    expect(readRules([entry]).errors).toEqual([expect.stringContaining(`'${entry}'`)])
  })
})

describe('own listeners', () => {
  const guard = (...own: [string, number][]) =>
    createGuard({ ownListeners: () => own.map(([address, port]) => ({ address, port })) })
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith('fe80'))

  it.each<[[string, number], string, number, boolean]>([
    [['127.0.0.1', 18081], '127.0.0.1', 18081, false],
    [['127.0.0.1', 18081], '127.0.0.1', 18080, true],
    [['127.0.0.1', 18081], '127.0.0.2', 18081, true],
    [['127.0.0.1', 18081], '::ffff:127.0.0.1', 18081, false],
    [['127.0.0.1', 18081], '64:ff9b::127.0.0.1', 18081, false],
    [['127.0.0.1', 18081], '2002:7f00:1::', 18081, false],
    [['127.0.0.1', 18081], '0.0.0.0', 18081, false],
    [['127.0.0.1', 18081], '::', 18081, false],
    [['0.0.0.0', 18080], '127.0.0.9', 18080, false],
    [['::', 18080], '127.0.0.1', 18080, false],
    [['::', 18080], '::1', 18080, false],
    [['0.0.0.0', 18080], '8.8.8.8', 18080, true],
    [['::1', 18080], '::1', 18080, false],
  ])('%j against %s:%i: %s', (own, address, port, expected) => {
    expect(guard(own).allows('x', address, port)).toBe(expected)
  })

  it('a listener everywhere is reached by every address of the machine', () => {
    expect(outside.map((address) => guard(['0.0.0.0', 1]).allows('x', address, 1))).toEqual(
      outside.map(() => false),
    )
  })

  it('no rule opens them', () => {
    const open = createGuard({
      allow: rules('127.0.0.0/8'),
      ownListeners: () => [{ address: '127.0.0.1', port: 1 }],
    })
    expect(open.allows('x', '127.0.0.1', 1)).toBe(false)
    expect(open.allows('x', '127.0.0.1', 2)).toBe(true)
  })
})

describe('a guard that knows the application beside it', () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const here = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::']
  const guard = createGuard({ localPorts: [8080] })

  it.each([...here, ...own.map(({ address }) => address)])(
    'allows of %s that port only',
    (each) => {
      const isLinkLocal = each.startsWith('fe80') || each.startsWith('169.254.')
      expect(guard.allows('app', each, 8080)).toBe(!isLinkLocal)
      expect(guard.allows('app', each, 8081)).toBe(false)
    },
  )

  it('has nothing against other machines', () => {
    expect(guard.allows('far', '10.255.255.254', 8081)).toBe(true)
    expect(createGuard().allows('app', '127.0.0.1', 8081)).toBe(true)
  })

  it('allows what is allowed by address there no more than this', () => {
    const strict = createGuard({ localPorts: [8080], allow: rules('127.0.0.0/8') })
    expect([8080, 8081].map((port) => strict.allows('a', '127.0.0.1', port))).toEqual([true, false])
  })
})
