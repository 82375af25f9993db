import { expect, it } from '@jest/globals'
import { createGatewayRequests } from '../../../dataplane/metrics.ts'
import { followDocuments } from '../../../dataplane/start/follow-documents.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { compiled } from '../../language/documents.ts'

const secured = compiled({
  api: { defaults: { security: { type: 'oidc' } } },
  realm: { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] },
})

const change = {
  put: [packDocument(secured, { since: 0, rank: 0, resource: 'shop/secured' })],
  remove: ['gone'],
}

it.each([
  ['a path', { api: 'a', path: '/v1/x', method: 'GET' }, true],
  ['/ws', { api: 'a', path: '/v1/ws', method: 'GET' }, true],
  ['an endpoint', { api: 'a', path: '/v1/oidc/:provider/callback', method: 'OPTIONS' }, true],
  ['a method it has not', { api: 'a', path: '/v1/oidc/login', method: 'POST' }, false],
  ['a method that went', { api: 'a', path: '/v1/x', method: 'PUT' }, false],
  ['a path that went', { api: 'a', path: '/v1/y', method: 'GET' }, false],
  ['a document that went', { api: 'gone', path: '/v1/x', method: 'GET' }, false],
  ['a document that was not touched', { api: 'b', path: '/v1/y', method: 'GET' }, true],
  ['no document', { api: '', path: '', method: '' }, true],
  ['the rest of the document', { api: 'a', path: 'other', method: 'other' }, true],
])('%s', (_, labels, expected) => {
  const requests = createGatewayRequests()
  requests.rowFor({ version: 'v1', ...labels }).observe(200, 0)
  followDocuments(requests, change)
  expect(requests.takeCounts().rows.map(({ path }) => path)).toEqual(expected ? [labels.path] : [])
})

it('the resource of a document', () => {
  const requests = createGatewayRequests()
  requests.rowFor({ api: 'a', version: 'v1', path: '/v1/x', method: 'GET' }).observe(200, 0)
  followDocuments(requests, change)
  expect(requests.takeCounts().rows[0]?.resource).toBe('shop/secured')
})
