import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import {
  canonicalJson,
  digestOf,
  restrictedDigest,
  withheldBy,
  documentDigest,
  plainDigest,
  type LoadedEntry,
  rootDigest,
} from '../../../language/wire/digest.ts'
import type { Value } from '../../../language/expression/value.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('canonicalJson', () => {
  it.each<[string, Value, string]>([
    [
      'sorts keys at every level',
      { b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }] },
      '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}',
    ],
    ['keeps the order of lists', [3, 1, 2], '[3,1,2]'],
    // RFC 8785 §3.2.3: by UTF-16 code units, so U+1F600 stands before U+FB33.
    [
      'sorts by UTF-16 code units',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
    ],
    // RFC 8785 §3.2.2.
    [
      'writes numbers as ECMAScript does',
      [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0, 500.0],
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,500]',
    ],
    ['escapes what it must', '\u20ac$\u000f\nA\'B"\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\"/"'],
    ['knows scalars', [null, true, false, ''], '[null,true,false,""]'],
    [
      'keeps reserved words',
      JSON.parse('{"constructor":1,"__proto__":{"b":1,"a":2}}') as Value,
      '{"__proto__":{"a":2,"b":1},"constructor":1}',
    ],
    ['knows emptiness', { a: {}, b: [] }, '{"a":{},"b":[]}'],
  ])('%s', (_name, value, expected) => {
    expect(canonicalJson(value)).toBe(expected)
  })

  it.each<[string, unknown]>([
    ['bytes', new Uint8Array(1)],
    ['NaN', { a: NaN }],
    ['undefined', { a: undefined }],
    ['a function', [() => 1]],
  ])('throws for %s', (_name, value) => {
    expect(() => canonicalJson(value as Value)).toThrow(TypeError)
  })

  it('means the same as what it was made of, whatever the order of keys', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, shuffled(item)]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value as Value)
        expect(canonicalJson(JSON.parse(text) as Value)).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(shuffled(value) as Value)).toBe(text)
      }),
    )
  })
})

describe('digests', () => {
  const spec = { id: 'a', variables: {} }
  const one = { name: 'keys', uid: 'u-1', resourceVersion: '7' }
  const two = { name: 'more', uid: 'u-2', resourceVersion: '9' }

  it('of a value are the lower-case hex of its canonical JSON', () => {
    expect(digestOf({ b: 1, a: 'ž' })).toBe(sha256('{"a":"ž","b":1}'))
    expect(digestOf(null)).toMatch(/^[0-9a-f]{64}$/)
  })

  it('of a document without Secrets are that of its value', () => {
    expect(documentDigest({ spec })).toBe(digestOf(spec))
    expect(documentDigest({ spec, secretVersions: [] })).toBe(digestOf(spec))
  })

  it('of a document with Secrets change with any of them, not with their order', () => {
    const digest = documentDigest({ spec, secretVersions: [one, two] })
    expect(digest).toBe(sha256('{"id":"a","variables":{}}\nkeys\tu-1\t7\nmore\tu-2\t9'))
    expect(documentDigest({ spec, secretVersions: [two, one] })).toBe(digest)
    expect(
      documentDigest({ spec, secretVersions: [one, { ...two, resourceVersion: '10' }] }),
    ).not.toBe(digest)
  })

  it('of all that is held depend on the entries, not on their order', () => {
    const entries: readonly LoadedEntry[] = [
      { kind: 'spec', key: 'b', digest: '2' },
      { kind: 'realm', key: 'z', digest: '3' },
      { kind: 'spec', key: 'a', digest: '1' },
    ]
    expect(rootDigest(entries)).toBe(sha256('realm\tz\t3\nspec\ta\t1\nspec\tb\t2'))
    expect(rootDigest(entries.toReversed())).toBe(rootDigest(entries))
    expect(rootDigest([])).toBe(sha256(''))
  })
})

describe('the digest of a document that is confined to a namespace', () => {
  it('differs with the namespace, and gives the plain one back', () => {
    const digest = digestOf({ id: 'a' })
    const digests = [
      digest,
      ...['shop', 'bank'].map((each) =>
        restrictedDigest(digest, { confinedTo: each, withheld: [] }),
      ),
    ]
    expect(new Set(digests).size).toBe(3)
    expect(digests.map(plainDigest)).toEqual([digest, digest, digest])
    expect(restrictedDigest(digest, { confinedTo: undefined, withheld: [] })).toBe(digest)
  })
})

describe('the credentials that a digest withholds', () => {
  const ALL = ['a', 'b', 'c']
  const MANY = Array.from({ length: 9 }, (_, i) => `c${i}`)

  it.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['none', [], ALL, []],
    ['one of several', ['b'], ALL, ['b']],
    ['some', ['a', 'c'], ALL, ['a', 'c']],
    ['all', ALL, ALL, ALL],
    ['some of too many to try: all', ['c0'], MANY, MANY],
    ['another that is not named: all', ['x'], ALL, ALL],
  ])('are reported: %s', (_, withheld, credentials, expected) => {
    for (const confinedTo of [undefined, 'shop']) {
      const digest = restrictedDigest(digestOf({ id: 'a' }), { confinedTo, withheld })
      expect(withheldBy(digest, credentials)).toEqual(expected)
    }
  })
})
