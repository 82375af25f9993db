import { describe, expect, it } from '@jest/globals'
import { readAuthid, readRoles } from '../../../../dataplane/oidc/provider/identity-claims.ts'

describe('authid', () => {
  it.each([
    ['preferred_username', { sub: 's', preferred_username: 'p' }, {}, 'p'],
    ['sub where the claim is absent', { sub: 's' }, {}, 's'],
    ['sub where it is null', { sub: 's', preferred_username: null }, {}, 's'],
    ['the configured claim', { sub: 's', email: 'e@x' }, { authid_claim: 'email' }, 'e@x'],
    [
      'a name with dots',
      { sub: 's', 'https://x.y/id': 'i' },
      { authid_claim: 'https://x.y/id' },
      'i',
    ],
    ['along the dots', { sub: 's', a: { b: 'i' } }, { authid_claim: 'a.b' }, 'i'],
    [
      'the whole name before the dots',
      { a: { b: 'no' }, 'a.b': 'yes' },
      { authid_claim: 'a.b' },
      'yes',
    ],
    ['sub where the walk ends', { sub: 's', a: 'x' }, { authid_claim: 'a.length' }, 's'],
    ['own members alone', { sub: 's' }, { authid_claim: 'constructor.name' }, 's'],
    ['no member of a list', { sub: 's', a: ['x'] }, { authid_claim: 'a.0' }, 's'],
    ['blanks as they are', { preferred_username: ' a b ' }, {}, ' a b '],
  ])('is %s', (_, claims, settings, authid) => {
    expect(readAuthid(claims, settings)).toBe(authid)
  })

  it.each(['', 42, true, [], ['alice'], {}, 'a\u0000b', 'a\nb', 'a\u007f', 'a\u0085b'])(
    'is no identity for %j, whatever sub is',
    (preferred_username) => {
      expect(readAuthid({ sub: 's', preferred_username }, {})).toBeUndefined()
    },
  )
})

describe('roles', () => {
  it.each([
    ['a list', { roles: ['b', 'a', 'b'] }, {}, ['b', 'a', 'b']],
    ['a text', { roles: 'a b' }, {}, ['a b']],
    ['nothing', {}, {}, []],
    ['an empty list, not the fallback', { roles: [], role: 'x' }, {}, []],
    ['the fallback for null', { roles: null, role: 'x' }, {}, ['x']],
    ['Keycloak', { realm_access: { roles: ['a'] } }, { role_claim: 'realm_access.roles' }, ['a']],
    [
      'Auth0',
      { 'https://x.example/roles': ['a'] },
      { role_claim: 'https://x.example/roles' },
      ['a'],
    ],
    ['another fallback', { groups: ['g'] }, { role_claim_fallback: 'groups' }, ['g']],
    ['mapped ones', { roles: ['a', 'b'] }, { role_mapping: { a: 'admin' } }, ['admin', 'b']],
    [
      'names of prototypes',
      { roles: ['constructor', '__proto__'] },
      {},
      ['constructor', '__proto__'],
    ],
    ['an object', { roles: { a: 1 } }, {}, []],
    ['control characters and nothing', { roles: ['a\r\nb', '', 'c'] }, {}, ['c']],
  ])('of %s', (_, claims, settings, roles) => {
    expect(readRoles(claims, settings)).toEqual(roles)
  })
})
