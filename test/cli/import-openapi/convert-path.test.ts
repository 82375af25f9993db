// Tests which paths of documents stand for path templates of OpenAPI.

import { expect, it } from '@jest/globals'
import { convertPath } from '../../../cli/import-openapi/convert-path.ts'

it.each([
  ['/', '/[index]', []],
  ['/orders/{id}', '/orders/:id', ['id']],
  ['/{name}.json', '/:name.json', ['name']],
  ['/{id}:cancel', '/:id:cancel', ['id']],
  ['/documents:search', '/documents:search', []],
  ['/:literal', '/%3Aliteral', []],
  ['/a,:literal', '/a,%3Aliteral', []],
  ['/{lat},{lon}', '/:lat,:lon', ['lat', 'lon']],
  ['/{id}-x', '/:id%2Dx', ['id']],
  ['/{id}suffix', '/:id%73uffix', ['id']],
  ['/Products({key})', '/Products(:key)', ['key']],
  ['/{order-id}', '/:order-id', ['order-id']],
  ['/{user.id}/{user_id}', '/:user_id/:user_id_2', ['user_id', 'user_id_2']],
  ['/{_}/{+rest}', '/:parameter/:_rest', ['parameter', '_rest']],
  ['/a[1]/{x}', '/a%5B1%5D/:x', ['x']],
])('%s is %s', (template, path, bindings) => {
  const converted = convertPath(template)
  expect(converted).toMatchObject({ path })
  const names = typeof converted === 'string' ? [] : [...converted.bindings.values()]
  expect(names).toEqual(bindings)
})

it.each([
  ['/v{version}', 'behind a letter'],
  ['/{a}{b}', 'behind a letter or another parameter'],
  ['/{a}/{a}', 'stands twice'],
  ['/a?b=1', 'query'],
  ['/a#b', 'fragment'],
  ['/a//b', 'empty segment'],
  ['/a/../b', "'..'"],
  ['/ws', 'WebSocket'],
])('%s is none', (template, words) => {
  expect(convertPath(template)).toContain(words)
})
