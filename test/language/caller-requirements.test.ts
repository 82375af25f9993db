import { describe, expect, it } from '@jest/globals'
import {
  callerGroupsOf,
  callerRequirementsOf,
  warnOfRequirements,
} from '../../language/caller-requirements.ts'
import { writtenPlaces } from '../../language/compile/written-place.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { compiled, STATIC } from './documents.ts'

const realm = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] }
const OAUTH2 = { type: 'oauth2', flow: 'client_credentials' }
const PLACE = '/versions/v1/paths/~1x/security'

const requirementsIn = (parts: Parameters<typeof compiled>[0]) =>
  callerRequirementsOf(compiled({ realm, ...parts }))

const requirementsOf = (security: ValueMap) =>
  requirementsIn({ paths: { '/x': { security, get: STATIC, post: STATIC } } })

interface Callers {
  /** null: the realm has no users. */
  readonly groups?: readonly string[] | null
  /** Of users who have an API key; null: the realm has none. */
  readonly ofKeyOwners?: readonly string[] | null
  readonly hasIssuers?: boolean
}

const setOf = (groups: readonly string[] | null) => (groups === null ? undefined : new Set(groups))

const warningsOf = (
  security: ValueMap,
  { groups = ['staff', 'ops'], ofKeyOwners = groups, hasIssuers = false }: Callers = {},
) =>
  warnOfRequirements(
    requirementsOf(security),
    { groups: { ofUsers: setOf(groups), ofKeyOwners: setOf(ofKeyOwners) }, hasIssuers },
    { findPlace: (path) => ({ path, beyond: '' }), hasSecrets: false },
  )

describe('a warning of requirements', () => {
  it.each<[string, ValueMap, Callers]>([
    ['anonymous', {}, {}],
    ['no requirement', { type: 'basic' }, {}],
    ['a group that a user is in', { type: 'basic', groups: ['staff'] }, {}],
    ['one of several groups', { type: 'api_key', groups: ['nobody', 'ops'] }, {}],
    [
      'a group of users without an API key',
      { type: 'basic', groups: ['ops'] },
      { ofKeyOwners: [] },
    ],
    ['a role, which is a group', { type: 'basic', roles: ['ops'] }, {}],
    ['scopes that are groups', { ...OAUTH2, scopes: ['staff', 'ops'] }, {}],
    ['roles that a provider names', { type: 'oidc', groups: ['nobody'], roles: ['nobody'] }, {}],
    ['groups that an issuer names', { ...OAUTH2, groups: ['nobody'] }, { hasIssuers: true }],
    [
      'a flow by which no caller gets in, which has a warning',
      { type: 'oauth2', flow: 'implicit', groups: ['nobody'] },
      {},
    ],
    [
      'a realm without users, which has a warning',
      { type: 'basic', groups: ['staff'] },
      { groups: null, ofKeyOwners: [] },
    ],
    [
      'a realm without keys, which has a warning',
      { type: 'api_key', groups: ['staff'] },
      { ofKeyOwners: null },
    ],
    [
      'scopes in a realm without users, which has a warning',
      { ...OAUTH2, scopes: ['staff'] },
      { groups: null },
    ],
    ['no names at all', { type: 'basic', groups: [], roles: [] }, {}],
  ])('is not made of %s', (_, security, callers) => {
    expect(warningsOf(security, callers)).toEqual([])
  })

  it.each<[ValueMap, string, string, Callers]>([
    [
      { type: 'basic', groups: ['stafff'] },
      'groups',
      "no user of the realm is in the group 'stafff': every request is rejected (403) until one is",
      {},
    ],
    [
      { type: 'api_key', groups: ['a', 'b'] },
      'groups',
      "no user of the realm who has an API key is in any of the groups 'a', 'b': every request is rejected (403) until one is",
      {},
    ],
    [
      { type: 'api_key', groups: ['staff'], roles: ['ops'] },
      'roles',
      "the roles of a user are its groups, and no user of the realm who has an API key is in the group 'ops': every request is rejected (403) until one is",
      { ofKeyOwners: ['staff'] },
    ],
    [
      { type: 'basic', groups: ['staff'], roles: ['constructor'] },
      'roles',
      "the roles of a user are its groups, and no user of the realm is in the group 'constructor': every request is rejected (403) until one is",
      {},
    ],
    [
      { ...OAUTH2, scopes: ['staff', 'read'] },
      'scopes',
      "the scopes of a token are groups of its user, and no user of the realm is in the group 'read': every request is rejected (403) until one is",
      {},
    ],
    [
      { type: 'basic', groups: ['staff'] },
      'groups',
      "no user of the realm is in the group 'staff': every request is rejected (403) until one is",
      { groups: [], hasIssuers: true },
    ],
    [
      { type: 'basic', groups: ['a', 'b', 'c', 'd', 'e', 'f', 'g'.repeat(100)] },
      'groups',
      "no user of the realm is in any of the groups 'a', 'b', 'c', 'd', 'e' and 2 more: every request is rejected (403) until one is",
      {},
    ],
  ])('is made of %j, at its %s', (security, member, message, callers) => {
    expect(warningsOf(security, callers)).toEqual([
      { code: 'UnsatisfiedSecurity', path: `${PLACE}/${member}`, message },
    ])
  })

  it('leads to the variable that has the list, and shows no name where that may be secret', () => {
    const document = {
      variables: { who: ['nobody'] },
      security: { type: 'basic', groups: '{{variables.who}}' },
    }
    const requirements = [{ pointer: '/security', type: 'basic', groups: ['nobody'] }] as const
    const said = (secrets: ValueMap) =>
      warnOfRequirements(
        requirements,
        {
          groups: callerGroupsOf({ uri: 'com.acme', users: [{ username: 'a' }] }),
          hasIssuers: false,
        },
        {
          findPlace: writtenPlaces(document, secrets),
          hasSecrets: Object.keys(secrets).length > 0,
        },
      ).map(({ path, message }) => `${path} ${message}`)
    expect(said({})).toEqual([
      "/variables/who no user of the realm is in the group 'nobody': every request is rejected (403) until one is",
    ])
    expect(said({ who: ['nobody'] })).toEqual([
      '/security/groups no user of the realm is in any group that is required here: every request is rejected (403) until one is',
    ])
  })
})

describe('requirements of a document', () => {
  it('are those of active versions, each once', () => {
    const security = { type: 'basic', groups: ['staff'] }
    expect(
      requirementsIn({
        api: { security },
        paths: { '/x': { get: STATIC }, '/y': { get: STATIC } },
      }),
    ).toEqual([{ pointer: '/security', ...security }])
    expect(
      requirementsIn({
        api: { security },
        version: { is_active: false },
        paths: { '/x': { get: STATIC } },
      }),
    ).toEqual([])
  })

  it('are bounded together, whatever a document has', () => {
    const paths = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `/p${i}`,
        { security: { type: 'basic', groups: [`${i}-${'g'.repeat(2000)}`] }, get: STATIC },
      ]),
    )
    const found = requirementsIn({ paths })
    expect(found.length).toBeGreaterThan(10)
    expect(JSON.stringify(found).length).toBeLessThan(70_000)
  })
})

describe('groups of users', () => {
  it('are those of all users, whatever the realm declares', () => {
    const users = [
      { username: 'a', groups: ['x', 'y'] },
      { username: 'b' },
      { username: 'c', groups: ['z', 'y'] },
    ]
    const keys = ['b', 'c', 'constructor'].map((username) => ({ key_sha256: username, username }))
    const record = { uri: 'com.acme', groups: ['declared'], users, api_keys: keys }
    expect(callerGroupsOf(record)).toEqual({
      ofUsers: new Set(['x', 'y', 'z']),
      ofKeyOwners: new Set(['z', 'y']),
    })
    expect(callerGroupsOf({ uri: 'com.acme' })).toEqual({
      ofUsers: undefined,
      ofKeyOwners: undefined,
    })
    const nameless = [{ key_sha256: 'x', username: 'nobody' }]
    expect(
      callerGroupsOf({ uri: 'com.acme', users: [{ username: 'a' }], api_keys: nameless }),
    ).toEqual({ ofUsers: new Set(), ofKeyOwners: new Set() })
  })
})
