import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { canonicalIpv6, hostKey, parseHost } from '../../../language/routes/host-pattern.ts'

const keysOf = (source: string): readonly string[] | string => {
  const parsed = parseHost(source)
  return parsed.ok ? parsed.hosts.map(hostKey) : parsed.message
}

describe('a host pattern', () => {
  it.each([
    ['acme.com', ['acme.com']],
    ['API.Acme.COM', ['api.acme.com']],
    ['.acme.com', ['acme.com']],
    ['acme.com.', ['acme.com']],
    ['.acme.com.', ['acme.com']],
    ['localhost', ['localhost']],
    ['constructor.__proto__', ['constructor.__proto__']],
    ['_dmarc.acme.com', ['_dmarc.acme.com']],
    ['a_b-c.9', ['a_b-c.9']],
    ['_', ['_']],
    ['_.', ['_']],
    ['[...]', ['_']],
    [':_', [':']],
    [':tenant.acme.com', [':.acme.com']],
    ['_.acme.com', [':.acme.com']],
    ['mydomain.:_', ['mydomain.:']],
    [':8080.acme.com', [':.acme.com']],
    ['[www.]acme.com', ['acme.com', 'www.acme.com']],
    ['a.[b.]c', ['a.c', 'a.b.c']],
    ['[[a.]b.]c', ['c', 'b.c', 'a.b.c']],
    ['[a.[b.]]c', ['c', 'a.c', 'a.b.c']],
    ['[a.][a.]c', ['c', 'a.c', 'a.a.c']],
    ['[:x.]a.b', ['a.b', ':.a.b']],
    ['[...]acme.com', ['[...]acme.com']],
    ['[...].acme.com', ['[...]acme.com']],
    ['[...][www.]acme.com', ['[...]acme.com', '[...]www.acme.com']],
    ['[...]:_', ['[...]:']],
    ['127.0.0.1', ['127.0.0.1']],
    ['[::1]', ['[::1]']],
    ['[0:0::0:1]', ['[::1]']],
    ['[2001:DB8::1]', ['[2001:db8::1]']],
  ])('%s stands for %j', (source, keys) => {
    expect(new Set(keysOf(source))).toEqual(new Set(keys))
  })

  it.each([
    ['', 'empty'],
    ['acme.com:8080', 'port'],
    ['acme.com:', 'port'],
    ['[::1]:8080', 'port'],
    [':tenant.acme.com:443', 'port'],
    ['https://acme.com', 'scheme'],
    ['acme.com/v1', 'base_path'],
    ['acme .com', 'blanks'],
    ['\tacme.com', 'blanks'],
    ['acme.com\n', 'blanks'],
    ['a..b', 'empty label'],
    ['..', 'empty label'],
    ['.', 'empty label'],
    ['[www.acme.com', 'not closed'],
    ['www.]acme.com', 'closes nothing'],
    ['a]b[c', 'closes nothing'],
    ['[www]acme.com', 'whole labels'],
    ['www[x.]acme.com', 'whole labels'],
    ['[]acme.com', 'whole labels'],
    ['a.[...]b', 'beginning'],
    ['*.acme.com', ':_'],
    ['münchen.de', 'xn--'],
    ['::1', 'brackets'],
    ['[::1::]', 'IPv6'],
    [':.acme.com', 'needs a name'],
    [':a b.c', 'blanks'],
    [':a!.c', 'needs a name'],
    [':a.:a', 'twice'],
    ['a!b.com', 'no label'],
    ['{{variables.host}}', 'it takes no expression'],
    [`${'x'.repeat(64)}.com`, '63'],
    ['x.'.repeat(300), '512'],
    ['[a.][b.][c.][d.][e.]x', 'more than 16'],
  ])('%j is refused: %s', (source, reason) => {
    expect(keysOf(source)).toContain(reason)
  })

  it('keeps the names of its bindings, case and all', () => {
    expect(parseHost(':Tenant.:_.ACME.com')).toEqual({
      ok: true,
      hosts: [
        {
          labels: [null, null, 'acme', 'com'],
          bindings: ['Tenant', null, null, null],
          tail: false,
        },
      ],
    })
  })

  it('shows no more than 80 characters of what it refuses', () => {
    expect(keysOf('!'.repeat(400)).length).toBeLessThan(250)
  })

  it('never throws, and refuses or gives at least one host', () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', 'B', '.', ':', '_', '[', ']', '[...]', '1', '/') }),
    )
    fc.assert(
      fc.property(anyText, (source) => {
        const parsed = parseHost(source)
        expect(parsed.ok ? parsed.hosts.length > 0 : parsed.message.length > 0).toBe(true)
        if (!parsed.ok) return
        for (const host of parsed.hosts) expect(host.bindings).toHaveLength(host.labels.length)
      }),
    )
  })
})

describe('an IPv6 address', () => {
  it.each([
    ['[::1]', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['[::FFFF:1.2.3.4]', '[::ffff:102:304]'],
    ['[::1', undefined],
    ['::1', undefined],
    ['[gg::]', undefined],
    ['[1.2.3.4]', undefined],
    ['[]', undefined],
  ])('%s is written %s', (text, canonical) => {
    expect(canonicalIpv6(text)).toBe(canonical)
  })
})
