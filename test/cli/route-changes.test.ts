// Tests which changes of routes are found, and which of them loosen security.

import { describe, expect, it } from '@jest/globals'
import { compareHosts, compareRoutes, type HostChanges } from '../../cli/route-changes.ts'
import { type RouteRow, WEB_SOCKET_ACTION } from '../../language/explain/list-routes.ts'

const row = (more: Partial<RouteRow> = {}): RouteRow => ({
  methods: ['GET'],
  host: 'api.example.com',
  path: '/v1/orders',
  version: 'v1',
  active: true,
  action: 'static',
  security: 'basic',
  realm: 'com.example',
  document: 'com.example.orders',
  pointer: '/versions/v1/paths/~1orders/get',
  ...more,
})

const compare = (before: readonly RouteRow[], after: readonly RouteRow[]) =>
  compareRoutes(before, after).map(({ type, method, path, isLoosened }) =>
    [type, method, path, ...(isLoosened ? ['loosened'] : [])].join(' '),
  )

describe('changes', () => {
  it.each<[string, readonly RouteRow[], readonly RouteRow[], readonly string[]]>([
    ['nothing', [row()], [row()], []],
    ['another pointer or version name', [row()], [row({ pointer: '/a', version: 'w' })], []],
    ['a new route', [row()], [row(), row({ path: '/v1/a' })], ['added GET /v1/a']],
    ['a route that goes', [row(), row({ path: '/v1/a' })], [row()], ['removed GET /v1/a']],
    [
      'one method of several',
      [row({ methods: ['GET', 'PUT'] })],
      [row()],
      ['removed PUT /v1/orders'],
    ],
    [
      'another action',
      [row()],
      [row({ action: 'forward → http://a' })],
      ['changed GET /v1/orders'],
    ],
    ['a version that is turned off', [row()], [row({ active: false })], ['removed GET /v1/orders']],
    ['routes of the gateway itself', [], [row({ document: '' })], []],
  ])('%s', (_, before, after, wanted) => {
    expect(compare(before, after)).toEqual(wanted)
  })

  it('name what differs, before and after', () => {
    const [change] = compareRoutes([row()], [row({ security: 'none', action: 'a' })])
    expect(change?.differences).toEqual([
      { what: 'action', before: 'static', after: 'a' },
      { what: 'security', before: 'basic', after: 'none' },
    ])
  })
})

it.each<[string, readonly RouteRow[], readonly RouteRow[], HostChanges]>([
  ['no other host', [row()], [row(), row({ path: '/v1/a' })], { claimed: [], released: [] }],
  [
    'another host',
    [row()],
    [row({ host: 'b.test' })],
    { claimed: ['b.test'], released: ['api.example.com'] },
  ],
  [
    'a host of two',
    [row(), row({ host: 'b.test' })],
    [row()],
    { claimed: [], released: ['b.test'] },
  ],
  ['a host of an inactive version', [], [row({ active: false })], { claimed: [], released: [] }],
  [
    'a host of the gateway itself',
    [row({ document: '', host: '_' })],
    [],
    { claimed: [], released: [] },
  ],
])('hosts: %s', (_, before, after, wanted) => {
  expect(compareHosts(before, after)).toEqual(wanted)
})

describe('security', () => {
  it.each<[string, Partial<RouteRow>, Partial<RouteRow>, boolean]>([
    ['is taken away', { security: 'basic' }, { security: 'none' }, true],
    ['is added', { security: 'none' }, { security: 'basic' }, false],
    ['gets a requirement', { security: 'basic' }, { security: 'basic (groups: staff)' }, false],
    ['loses a requirement', { security: 'basic (groups: staff)' }, { security: 'basic' }, true],
    [
      'has other groups',
      { security: 'basic (groups: a)' },
      { security: 'basic (groups: a, b)' },
      true,
    ],
    ['is another scheme', { security: 'basic' }, { security: 'api_key' }, true],
    ['has another header', { security: 'api_key' }, { security: 'api_key (header_name: x)' }, true],
    ['gets an alternative', { security: 'basic' }, { security: 'basic or api_key' }, true],
    ['becomes optional', { security: 'basic' }, { security: 'basic or none' }, true],
    ['loses an alternative', { security: 'basic or api_key' }, { security: 'api_key' }, false],
    ['was optional', { security: 'basic or none' }, { security: 'api_key or none' }, false],
    [
      'lets a network in without credentials',
      { security: 'basic' },
      { security: 'basic or none (networks: 10.0.0.0/8)' },
      true,
    ],
    [
      'is for one network',
      { security: 'basic or api_key' },
      { security: 'basic (networks: 10.0.0.0/8) or api_key (networks: 10.0.0.0/8)' },
      false,
    ],
    [
      'is for a wider network',
      { security: 'none (networks: 10.0.0.0/16)' },
      { security: 'none (networks: 10.0.0.0/8)' },
      true,
    ],
    [
      'is taken away from a group whose name looks like an alternative',
      { security: 'basic (groups: "a) or none (networks: 10.0.0.0/8")' },
      { security: 'none (networks: 10.0.0.0/8)' },
      true,
    ],
    ['gets pages of other origins', {}, { cors: 'https://a.test' }, true],
    [
      'gets more of them',
      { cors: 'https://a.test' },
      { cors: 'https://a.test, https://b.test' },
      true,
    ],
    ['gets all of them', { cors: 'https://a.test' }, { cors: '*' }, true],
    ['gets fewer', { cors: 'https://a.test, https://b.test' }, { cors: 'https://a.test' }, false],
    ['names them', { cors: '*' }, { cors: 'https://a.test' }, false],
    ['loses them', { cors: 'https://a.test' }, {}, false],
    [
      'gets their cookies',
      { cors: 'https://a.test' },
      { cors: 'https://a.test with credentials' },
      true,
    ],
    ['is open to more pages', { security: 'none' }, { security: 'none', cors: '*' }, true],
    ['is of another realm', { realm: 'a' }, { realm: 'b' }, true],
    [
      'is none in another realm',
      { realm: 'a', security: 'none' },
      { realm: 'b', security: 'none' },
      false,
    ],
  ])('%s', (_, before, after, isLoosened) => {
    const changes = compareRoutes([row(before)], [row(after)])
    expect(changes.map((change) => change.isLoosened)).toEqual([isLoosened])
  })
})

describe('a WebSocket to the router, beside a path', () => {
  const socket = (security: string): RouteRow =>
    row({ path: '/v1/ws', action: WEB_SOCKET_ACTION, security })
  it.each<[string, readonly RouteRow[], readonly RouteRow[], readonly string[]]>([
    [
      'that asks for credentials, is looser if it is new and open',
      [row()],
      [row(), socket('none')],
      ['added GET /v1/ws loosened'],
    ],
    [
      'that comes with it, is looser too',
      [],
      [row(), socket('none')],
      ['added GET /v1/orders', 'added GET /v1/ws loosened'],
    ],
    [
      'that is open, is not',
      [row({ security: 'none' })],
      [row({ security: 'none' }), socket('none')],
      ['added GET /v1/ws'],
    ],
    [
      'of another version that asks for credentials, is not',
      [row({ version: 'v2' })],
      [row({ version: 'v2' }), socket('none')],
      ['added GET /v1/ws'],
    ],
    ['is not looser where it asks too', [row()], [row(), socket('basic')], ['added GET /v1/ws']],
    ['is not looser where it goes', [row(), socket('none')], [row()], ['removed GET /v1/ws']],
  ])('%s', (_, before, after, wanted) => {
    expect(compare(before, after)).toEqual(wanted)
  })
})
