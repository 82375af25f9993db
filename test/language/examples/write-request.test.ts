import { describe, expect, it } from '@jest/globals'
import type { ExampleRequest } from '../../../language/examples/example.ts'
import { writeRequest } from '../../../language/examples/write-request.ts'
import { exampleAt } from './an-api.ts'

const writtenAt = (path: string, request: ExampleRequest, more = {}) =>
  writeRequest(exampleAt(path, { request }, more))

describe('the target of an example', () => {
  it.each<[string, string, ExampleRequest, string]>([
    ['a plain path', '/a', {}, '/v1/a'],
    ['a binding', '/a/:id', { bindings: { id: 7 } }, '/v1/a/7'],
    ['an escaped binding', '/a/:id', { bindings: { id: 'x/y z' } }, '/v1/a/x%2Fy%20z'],
    ['a part of a segment', '/a/:id.json', { bindings: { id: 7 } }, '/v1/a/7.json'],
    ['two parts', '/a/:lat,:lon', { bindings: { lat: 1, lon: 2 } }, '/v1/a/1,2'],
    ['a literal colon', '/a/:id:cancel', { bindings: { id: 7 } }, '/v1/a/7:cancel'],
    ['an optional binding', '/a/[:id]', { bindings: { id: 7 } }, '/v1/a/7'],
    ['an optional binding that is left out', '/a/[:id]', {}, '/v1/a'],
    ['an optional word, which is left out', '/[index]', {}, '/v1'],
    ['a tail as it is sent', '/f/[...rest]', { bindings: { rest: 'a%20b/c' } }, '/v1/f/a%20b/c'],
    ['a tail without a name', '/f/[...]', {}, '/v1/f'],
    ['the whole path', '/a/:id', { path: '/v1/a/8?x=1' }, '/v1/a/8?x=1'],
    [
      'a query',
      '/a',
      { query_params: { tag: ['a', 'b&c'], all: true } },
      '/v1/a?tag=a&tag=b%26c&all=true',
    ],
    [
      'a query behind that of the path',
      '/a',
      { path: '/v1/a?x=1', query_params: { y: 2 } },
      '/v1/a?x=1&y=2',
    ],
  ])('is written with %s', (_name, path, request, target) => {
    expect(writtenAt(path, request, { basePath: '/v1' })).toMatchObject({ target })
  })

  it('is not written where a binding is missing', () => {
    expect(writtenAt('/a/:id/:of', { bindings: { id: 1 } })).toEqual({
      problem: "name 'of' among its bindings, or the whole path",
    })
  })
})

describe('the rest of the request', () => {
  it.each<[string, ExampleRequest, string | undefined]>([
    ['_', {}, undefined],
    ['_', { host: 'a.test' }, 'a.test'],
    ['api.example.com', {}, 'api.example.com'],
    [':tenant.example.com', { bindings: { tenant: 'acme' } }, 'acme.example.com'],
    ['[...].example.com', {}, 'example.com'],
  ])('of a document on %s with %j goes to host %s', (host, request, expected) => {
    const written = writtenAt('/a', request, { host })
    expect('host' in written ? written.host : written).toBe(expected)
  })

  it.each<[ExampleRequest, object]>([
    [{}, { method: 'GET', scheme: 'http', headers: [], body: undefined }],
    [
      { method: 'HEAD', scheme: 'https' },
      { method: 'HEAD', scheme: 'https' },
    ],
    [{ body: { a: 1 } }, { headers: [['content-type', 'application/json']], body: '{"a":1}' }],
    [{ body: 'a' }, { headers: [], body: 'a' }],
    [
      {
        body: { a: 1, b: ['x', 'y z'] },
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      },
      { body: 'a=1&b=x&b=y+z' },
    ],
    [
      { body: [1], headers: { 'content-type': 'application/merge-patch+json', accept: 'a/b' } },
      {
        headers: [
          ['content-type', 'application/merge-patch+json'],
          ['accept', 'a/b'],
        ],
        body: '[1]',
      },
    ],
  ])('is written from %j', (request, expected) => {
    expect(writtenAt('/a', request)).toMatchObject(expected)
  })
})
