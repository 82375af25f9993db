import { expect, it } from '@jest/globals'
import { rowsToKeep } from '../../../dataplane/start/prune-request-metrics.ts'
import { packDocument } from '../../../dataplane/store/pack.ts'
import { compiled } from '../../language/documents.ts'

const secured = compiled({
  api: { defaults: { security: { type: 'oidc' } } },
  realm: { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] },
})

const keeps = rowsToKeep({
  put: [packDocument(secured, { since: 0, rank: 0 })],
  remove: ['gone'],
  realms: { put: [], delete: [] },
})

it.each([
  ['a path', { api: 'a', path: '/v1/x', method: 'GET' }, true],
  ['/ws', { api: 'a', path: '/v1/ws', method: 'GET' }, true],
  ['an endpoint', { api: 'a', path: '/v1/oidc/:provider/callback', method: 'OPTIONS' }, true],
  ['a method it has not', { api: 'a', path: '/v1/oidc/login', method: 'POST' }, false],
  ['a method that went', { api: 'a', path: '/v1/x', method: 'PUT' }, false],
  ['a path that went', { api: 'a', path: '/v1/y', method: 'GET' }, false],
  ['a document that went', { api: 'gone', path: '/v1/x', method: 'GET' }, false],
  ['a document that nobody touched', { api: 'b', path: '/v1/y', method: 'GET' }, true],
  ['no document', { api: '', path: '', method: '' }, true],
])('%s', (_, labels, expected) => {
  expect(keeps({ version: 'v1', ...labels })).toBe(expected)
})
