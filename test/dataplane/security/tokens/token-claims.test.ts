import { describe, expect, it } from '@jest/globals'
import {
  mapRoles,
  readAuthid,
  readNamedClaims,
  readTexts,
  unmetRequirement,
} from '../../../../dataplane/security/tokens/token-claims.ts'

describe('the name of a person', () => {
  it.each<[string, object, string | readonly string[], string]>([
    ['the claim', { sub: 's', email: 'e@x' }, 'email', 'e@x'],
    ['sub where the claim is absent', { sub: 's' }, 'email', 's'],
    ['sub where it is null', { sub: 's', email: null }, 'email', 's'],
    ['a name with dots', { sub: 's', 'https://x.y/id': 'i' }, 'https://x.y/id', 'i'],
    ['along the dots', { sub: 's', a: { b: 'i' } }, 'a.b', 'i'],
    ['the whole name before the dots', { a: { b: 'no' }, 'a.b': 'yes' }, 'a.b', 'yes'],
    ['sub where the walk ends', { sub: 's', a: 'x' }, 'a.length', 's'],
    ['own members alone', { sub: 's' }, 'constructor.name', 's'],
    ['own members alone, by a pointer', { sub: 's' }, '/constructor/name', 's'],
    ['no member of a prototype', { sub: 's', a: {} }, '/a/__proto__/x', 's'],
    ['no member of a list by dots', { sub: 's', a: ['x'] }, 'a.0', 's'],
    ['a member of a list by a pointer', { sub: 's', emails: ['e@x'] }, '/emails/0', 'e@x'],
    ['no length of a list', { sub: 's', emails: ['e@x'] }, '/emails/length', 's'],
    ['blanks as they are', { upn: ' a b ' }, 'upn', ' a b '],
    ['the first of several', { sub: 's', b: 'b', c: 'c' }, ['a', 'b', 'c'], 'b'],
    ['a slash in a name by a pointer', { 'a/b': { 'c~d': 'x' } }, '/a~1b/c~0d', 'x'],
    ['a pointer, not a name that looks like it', { '/a': 'no', a: 'yes' }, '/a', 'yes'],
  ])('is %s', (_, claims, paths, authid) => {
    expect(readAuthid({ ...claims }, paths)).toBe(authid)
  })

  it.each(['', 42, true, [], ['alice'], {}, 'a\u0000b', 'a\nb', 'a\u007f', 'a\u0085b'])(
    'is none for %j, whatever sub and the next path have',
    (upn) => {
      expect(readAuthid({ sub: 's', upn, email: 'e' }, ['upn', 'email'])).toBeUndefined()
    },
  )
})

describe('texts', () => {
  it.each<[string, object, string | readonly string[], readonly string[] | undefined]>([
    ['a list', { r: ['b', 'a', 'b'] }, 'r', ['b', 'a', 'b']],
    ['a text', { r: 'a b' }, 'r', ['a b']],
    ['nothing', {}, 'r', undefined],
    ['null', { r: null }, 'r', undefined],
    ['an empty list', { r: [] }, 'r', []],
    ['the names of a map', { r: { a: { 1: 'x' }, b: {}, c: true } }, 'r', ['a', 'b', 'c']],
    ['no names that are switched off', { r: { a: true, b: false, c: null } }, 'r', ['a']],
    ['control characters and nothing', { r: ['a\r\nb', '', 'c'] }, 'r', ['c']],
    ['numbers, lists and maps in a list', { r: [1, ['x'], { x: 1 }, 'c'] }, 'r', ['c']],
    ['a number', { r: 7 }, 'r', []],
    [
      'several, joined, each once',
      { a: ['x', 'y'], b: 'x', c: { z: {} } },
      ['a', 'b', 'c'],
      ['x', 'y', 'z'],
    ],
    ['several of which one is there', { b: ['x'] }, ['a', 'b'], ['x']],
    ['names of prototypes', { r: ['constructor', '__proto__'] }, 'r', ['constructor', '__proto__']],
    [
      'a client called like a host',
      { resource_access: { 'app.acme.test': { roles: ['x'] } } },
      '/resource_access/app.acme.test/roles',
      ['x'],
    ],
    ['below a claim that is a URL', { 'https://a.b/c': { d: 'x' } }, '/https:~1~1a.b~1c/d', ['x']],
  ])('of %s', (_, claims, paths, texts) => {
    expect(readTexts({ ...claims }, paths)).toEqual(texts)
  })

  it('are split where the realm says so', () => {
    expect(readTexts({ r: 'a,b,,c d' }, 'r', { separator: ',' })).toEqual(['a', 'b', 'c d'])
  })

  it('are no names of a map in a claim that the realm does not name', () => {
    expect(readTexts({ roles: { a: 1 } }, undefined, { otherwise: 'roles' })).toEqual([])
    expect(readTexts({ roles: ['a'] }, undefined, { otherwise: 'roles' })).toEqual(['a'])
  })

  it.each([
    ['a list', Array.from({ length: 20_000 }, (_, at) => `r${at}`)],
    ['a text', Array.from({ length: 20_000 }, (_, at) => `r${at}`).join(' ')],
    ['a map', Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`r${at}`, 1]))],
  ])('are 10,000 at most: %s', (_, r) => {
    expect(readTexts({ r }, 'r', { separator: ' ' })).toHaveLength(10_000)
  })
})

describe('roles', () => {
  it.each<[readonly string[], object, readonly string[]]>([
    [['a', 'b'], { role_mapping: { a: 'admin' } }, ['admin', 'b']],
    [['constructor'], { role_mapping: {} }, ['constructor']],
    [['guid', 'hr'], { role_mapping: { guid: 'shop-x' }, role_filter: ['shop-*'] }, ['shop-x']],
    [['shop', 'shop-', 'a-shop-b', 'shop-b'], { role_filter: ['shop-*'] }, ['shop-', 'shop-b']],
    [['a-x-b', 'ab', 'a-b', 'a--b'], { role_filter: ['a-*-b'] }, ['a-x-b', 'a--b']],
    [['aXbYc', 'abc', 'acb'], { role_filter: ['a*b*c'] }, ['aXbYc', 'abc']],
    [['a', 'b.c'], { role_filter: ['b?c', 'a'] }, ['a']],
    [['a', 'b'], { role_filter: ['*'] }, ['a', 'b']],
    [['a', 'b'], { role_filter: [] }, []],
  ])('%j by %j are %j', (roles, settings, expected) => {
    expect(mapRoles(roles, settings)).toEqual(expected)
  })
})

describe('claims that documents see', () => {
  it.each<[string, object, unknown]>([
    ['a text', { tid: 't' }, { t: 't' }],
    ['a number', { tid: 4 }, { t: 4 }],
    ['false', { tid: false }, { t: false }],
    ['a list', { tid: ['a', 1] }, { t: ['a', 1] }],
    ['no map', { tid: { a: 1 } }, {}],
    ['no list of lists', { tid: [['a']] }, {}],
    ['no null', { tid: null }, {}],
    ['the second path', { other: 'o' }, { t: 'o' }],
  ])('%s', (_, claims, expected) => {
    expect(readNamedClaims({ ...claims }, { claims: { t: ['tid', '/other'] } })).toEqual(expected)
  })

  it('may have the name of a prototype', () => {
    const named = readNamedClaims(
      { a: 'x' },
      {
        claims: JSON.parse('{"__proto__": "a"}') as Record<string, string>,
      },
    )
    expect(Object.entries(named ?? {})).toEqual([['__proto__', 'x']])
  })
})

describe('requirements', () => {
  const settings = { claims: { tenant: '/app/tenant' } }

  it.each<[string, object, Readonly<Record<string, string | readonly string[]>>, unknown]>([
    ['met by a text', { hd: 'a.test' }, { hd: 'a.test' }, undefined],
    ['met by one of several', { hd: 'b.test' }, { hd: ['a.test', 'b.test'] }, undefined],
    ['met by a list', { amr: ['pwd', 'mfa'] }, { amr: 'mfa' }, undefined],
    ['met by a boolean', { email_verified: true }, { email_verified: 'true' }, undefined],
    ['met by a name of claims', { app: { tenant: 'x' } }, { tenant: 'x' }, undefined],
    [
      'not met by another text',
      { hd: 'A.test' },
      { hd: 'a.test' },
      { claim: 'hd', expected: 'a.test' },
    ],
    ['not met by nothing', {}, { hd: ['a', 'b'] }, { claim: 'hd', expected: 'a, b' }],
    [
      'not met by a map',
      { hd: { 'a.test': 1 } },
      { hd: 'a.test' },
      { claim: 'hd', expected: 'a.test' },
    ],
    [
      'not met by an inherited member',
      {},
      { constructor: 'x' },
      { claim: 'constructor', expected: 'x' },
    ],
    [
      'not met by a claim of the name',
      { tenant: 'x' },
      { tenant: 'x' },
      { claim: 'tenant', expected: 'x' },
    ],
    [
      'of which the second is not met',
      { a: '1' },
      { a: '1', b: '2' },
      { claim: 'b', expected: '2' },
    ],
  ])('%s', (_, claims, required, unmet) => {
    expect(unmetRequirement({ ...claims }, { ...settings, require: required })).toEqual(unmet)
  })
})
