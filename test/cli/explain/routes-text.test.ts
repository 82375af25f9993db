import { expect, it } from '@jest/globals'
import { type PlacedRoute, routesText } from '../../../cli/explain/routes-text.ts'

const ROUTE: PlacedRoute = {
  row: {
    methods: ['GET', 'POST'],
    host: 'api.acme.com',
    path: '/v1/users',
    version: 'v1',
    active: true,
    action: 'static 200',
    security: 'none',
    realm: 'com.acme',
    document: 'users',
    pointer: '/versions/v1/paths/~1users',
  },
  at: 'users.yaml:12:5',
}

it('routes are lines of aligned columns, below their headings', () => {
  const short = { ...ROUTE, row: { ...ROUTE.row, path: '/', active: false } }
  expect(routesText([ROUTE, short]).split('\n')).toEqual([
    'METHODS   HOST          PATH       VERSION        ACTION      SECURITY  REALM     AT',
    'GET,POST  api.acme.com  /v1/users  v1             static 200  none      com.acme  users.yaml:12:5',
    'GET,POST  api.acme.com  /          v1 (inactive)  static 200  none      com.acme  users.yaml:12:5',
    '',
  ])
})

it('a long cell does not move the columns of other lines by more than 60 characters', () => {
  const long = { ...ROUTE, row: { ...ROUTE.row, path: `/${'x'.repeat(200)}` } }
  const [heading = ''] = routesText([ROUTE, long]).split('\n')
  expect(heading.indexOf('VERSION') - heading.indexOf('PATH')).toBe(62)
})

// As arguments of one call so many overflow the stack: ten thousand documents of twenty paths have them.
it('200,000 routes are that many lines', () => {
  expect(routesText(Array<PlacedRoute>(200_000).fill(ROUTE)).split('\n')).toHaveLength(200_002)
})
