import { describe, expect, it } from '@jest/globals'
import { listExamples } from '../../../language/examples/list-examples.ts'
import { apiOf, compiledApi } from './an-api.ts'

const action = { type: 'static', body: 'a' }
const examples = { one: { expect: {} }, 'a/b': { expect: { status_code: 200 } } }

const listed = (document: unknown) =>
  listExamples(document, compiledApi(document)).map(({ method, operation, examples: found }) => [
    method,
    operation.pointer,
    found.map(({ name, pointer }) => [name, pointer]),
  ])

describe('examples of a document', () => {
  it('are listed with their operations, also those that have none', () => {
    const paths = { '/a': { get: { action, examples }, put: { action } } }
    const at = '/versions/v1/paths/~1a'
    expect(listed(apiOf(paths))).toEqual([
      [
        'get',
        `${at}/get`,
        [
          ['one', `${at}/get/examples/one`],
          ['a/b', `${at}/get/examples/a~1b`],
        ],
      ],
      ['put', `${at}/put`, []],
    ])
  })

  it('are found in a list of versions, and not in a version that is not active', () => {
    const version = (name: string, more: object = {}) => ({
      name,
      base_path: `/${name}`,
      paths: { '/a': { get: { action, examples: { one: { expect: {} } } } } },
      ...more,
    })
    const versions = [version('v1', { is_active: false }), version('v2')]
    const pointer = '/versions/1/paths/~1a/get'
    expect(listed({ ...apiOf({}), versions })).toEqual([
      ['get', pointer, [['one', `${pointer}/examples/one`]]],
    ])
  })

  it('are none where an expression gives the operation', () => {
    const document = {
      ...apiOf({ '/a': { get: '{{variables.get}}' } }),
      variables: { get: { action } },
    }
    expect(listed(document)).toEqual([['get', '/versions/v1/paths/~1a/get', []]])
  })

  it('are of no concern to the OpenAPI description', () => {
    const { versions, ...api } = apiOf({ '/a': { get: { action } } })
    const document = { ...api, versions: { v1: { ...versions.v1, openapi: '/openapi.json' } } }
    expect(listed(document)).toEqual([['get', '/versions/v1/paths/~1a/get', []]])
  })
})
