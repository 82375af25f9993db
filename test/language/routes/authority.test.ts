import { describe, expect, it } from '@jest/globals'
import { parseAuthority } from '../../../language/routes/authority.ts'

describe('parseAuthority', () => {
  it.each<[string, string, string, string?]>([
    ['a.test', 'a.test', ''],
    ['A.Test', 'a.test', ''],
    ['a.test:80', 'a.test', '80'],
    ['a.test:1', 'a.test', '1'],
    ['a.test:65535', 'a.test', '65535'],
    ['A.test:65535', 'a.test', '65535'],
    ['_:9', '_', '9'],
    ['a.test:', 'a.test', '', 'a.test'],
    ['.a.test.', '.a.test.', ''],
    ['a_b-c.test', 'a_b-c.test', ''],
    ['xn--bcher-kva.test', 'xn--bcher-kva.test', ''],
    ['127.0.0.1:8080', '127.0.0.1', '8080'],
    ['[::1]', '[::1]', ''],
    ['[::1]:80', '[::1]', '80'],
    ['[0:0:0:0:0:0:0:1]:80', '[::1]', '80'],
    ['[2001:DB8::A]', '[2001:db8::a]', ''],
    ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', ''],
    ['__proto__', '__proto__', ''],
    ['a'.repeat(300), 'a'.repeat(300), ''],
    ['', '', ''],
  ])('%j', (text, host, port, written = text) => {
    expect(parseAuthority(text)).toEqual({ host, port, text: written })
  })

  it.each([
    // More than a host and a port.
    'a.test:443,evil.test',
    'a.test:443 evil.test',
    'a.test:443:444',
    'a.test, evil.test',
    'evil.test,a.test',
    'user@a.test',
    'user:pw@a.test',
    'a.test/x',
    'a.test?x',
    'a.test#x',
    'a.test\\@evil.test',
    'http://a.test',
    // A port that is none.
    'a.test:0',
    'a.test:00',
    'A.test:0',
    'A.test:65536',
    'a.test:65535é',
    `a.test:${'9'.repeat(400)}`,
    'a.test:080',
    'a.test:65536',
    'a.test:99999',
    'a.test:100000',
    'a.test:+80',
    'a.test:-1',
    'a.test:8e1',
    'a.test: 80',
    'a.test:x',
    ':80',
    ':',
    // A name that is none.
    'a b',
    'a%2eb',
    'a;b',
    "a'b",
    'é.test',
    'ａ.test',
    'a\u0000',
    'a.test\n',
    '*.test',
    // An address that is none.
    '[',
    '[]',
    '[::1',
    '::1',
    '[::1]x',
    '[::1]:x',
    '[::1].test',
    '[fe80::1%25eth0]',
    '[v1.a]',
    '[1.2.3.4]',
    '[::12345]',
    '[a.test]',
  ])('%j names no host', (text) => {
    expect(parseAuthority(text)).toBeUndefined()
  })
})
